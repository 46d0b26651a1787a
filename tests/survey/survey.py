"""Trains small models of scikit-learn, LightGBM and XGBoost, exports them as users do, and compares with ONNX Runtime.

survey.py --occamyc=PROGRAM [--document=PAGE] [NAME...]: each model is converted with the converter's default options (so that
classifiers end in maps) unless its name says otherwise, compiled for batches of 1 to 8 rows and run with 1, 4 and 8.
"""

import argparse
import concurrent.futures
import os
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
import onnxruntime
import pandas
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DictionaryType, DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import boosted     # noqa: E402
import host        # noqa: E402
import networks    # noqa: E402
import pages       # noqa: E402
import scikit      # noqa: E402
import tensors     # noqa: E402

BATCHES = (1, 4, 8)
TYPES = {"d": DoubleTensorType, "f": FloatTensorType, "l": Int64TensorType, "O": StringTensorType}
MODELS = {**scikit.MODELS, **boosted.MODELS}

ABOUT = """# Exports of scikit-learn, LightGBM and XGBoost

Made by `make check-survey`: small models, trained on seeded numbers, exported by skl2onnx and onnxmltools with their default
options unless the name says otherwise (so that classifiers end in maps), compiled for batches of 1 to 8 rows and run with 1, 4
and 8 of them against ONNX Runtime. Labels must be equal, numbers within 1e-3 relative + 1e-4 of the output's largest magnitude.
The error is the largest difference over that magnitude; code and constants are those of `-Os` on this machine, the arena that of
8 rows. `make check` holds the few models of `tests/survey/kept` instead.

"""

LEFT_OUT = """
Not in the survey: what the converters of these versions do not convert (ClassifierChain, RegressorChain, OutputCodeClassifier,
RandomizedSearchCV, FastICA, FactorAnalysis, Nystroem, RBFSampler, RandomTreesEmbedding, XGBRanker), and what they convert to models
that ONNX Runtime itself refuses or fails in (RadiusNeighborsClassifier and -Regressor, GaussianProcessClassifier, SelectFromModel,
LightGBM's forests of several classes).
KNNImputer is refused by occamyc: its export holds an If whose branches differ in rank, and fails in ONNX Runtime too once it takes
the one of rank 3.
"""


@dataclass
class Row(networks.Row):
    nodes: int = 0
    code: int = 0               # bytes of the generated code and its constants


def input_type(x):
    if isinstance(x, list):
        return DictionaryType(StringTensorType([1]), FloatTensorType([1]))
    return TYPES[x.dtype.char]([None, *x.shape[1:]])


def columns(x):
    """Input tensors by name; a table has one for each column."""
    if isinstance(x, pandas.DataFrame):
        return {name: np.asarray(x[name], dtype=x[name].dtype if x[name].dtype.kind in "fi" else object)[:, None] for name in x.columns}
    return {"X": x}


def convert(entry):
    """An entry of scikit.MODELS as ONNX, and the values that its inputs are taken from."""
    estimator, make_x, make_y, *options = entry
    x = make_x()
    estimator.fit(x, make_y()) if make_y else estimator.fit(x)
    options = options[0] if options else None
    if options and isinstance(next(iter(options)), str):
        options = {id(estimator): options}
    inputs = columns(x)
    return convert_sklearn(estimator, initial_types=[(n, input_type(v)) for n, v in inputs.items()], options=options,
                           target_opset=scikit.OPSETS.get(type(estimator).__name__)), inputs


def export(name):
    """The model, every open extent of its inputs named "batch", and input values by name."""
    entry = MODELS[name]
    model, inputs = (entry() if callable(entry) else convert(entry))
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if not dim.HasField("dim_value"):
                dim.dim_param = "batch"
    return model, inputs


def feeds_of(inputs):
    """One for each size of batch; a map has none."""
    return [{n: v[k] if isinstance(v, list) else v[3:3 + rows] for n, v in inputs.items()} for k, rows in enumerate(BATCHES)]


def answers(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [session.run(None, feed) for feed in feeds]


def code_bytes(folder):
    code, text = host.run_command(["size", os.path.join(folder, "model.o")], 60)
    return sum(int(n) for n in text.splitlines()[1].split()[:2]) if code == 0 else 0


def flags_of(name, model):
    """The bound of the batch, and what else a model needs."""
    batched = any(d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim)
    bounds = ([f"batch=1..{BATCHES[-1]}"] if batched else []) + list(scikit.BOUNDS.get(name, ()))
    return [word for bound in bounds for word in ("--dim", bound)]


def run_all(arguments, row, path, model, inputs):
    folder, feeds = os.path.abspath(os.path.join(arguments.work, row.name)), feeds_of(inputs)
    tools = networks.toolchain(arguments)
    tools.cflags = host.STRICT.replace("-O1", "-Os")
    start = time.time()
    host.compile_model(tools, os.path.abspath(path), folder, flags_of(row.name, model))
    row.compile_time, start = time.time() - start, time.time()
    host.build_program(tools, folder)
    row.build_time, row.code, row.nodes = time.time() - start, code_bytes(folder), len(model.graph.node)
    for feed, wanted in zip(feeds, answers(model, feeds)):
        run = host.run_program(tools, folder, model, [tensors.from_python(feed[i.name]) for i in model.graph.input])
        row.sets, row.planned, row.touched = row.sets + 1, run.planned, max(row.touched, run.touched)
        networks.check_outputs(row, model, [tensors.from_python(v) for v in wanted], run.outputs)


def look(arguments, name):
    warnings.filterwarnings("ignore")
    row, path = Row(name), os.path.join(arguments.work, name + ".onnx")
    try:
        model, inputs = export(name)
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        row.outputs = len(model.graph.output)
        run_all(arguments, row, path, model, inputs)
    except host.Failure as failure:
        row.state, row.reason = failure.state, failure.reason
    except Exception as error:          # the converter's or ONNX Runtime's: of any type
        row.state, row.reason = "oracle", f"{type(error).__name__}: {str(error)[:200]}"
    row.print()
    return row


def write_page(path, rows):
    passed = sum(row.state == "pass" for row in rows)
    text = ABOUT + f"**{passed} of {len(rows)} compile and match.**\n\n" \
        "| model | result | nodes | code and constants, bytes | arena, bytes | largest error |\n|---|---|---:|---:|---:|---:|\n"
    for row in rows:
        text += f"| {row.name} | {row.state} | {row.nodes} | {row.code} | {row.planned} | {row.error:.1e} |\n"
    pages.replace(path, text + LEFT_OUT)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    networks.add_arguments(parser)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--document", help="the page to write")
    parser.add_argument("names", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    print(networks.HEADING)
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(look, [arguments] * len(arguments.names), arguments.names))
    if arguments.document:
        write_page(arguments.document, rows)
    sys.exit(networks.close(rows, 0))


if __name__ == "__main__":
    main()
