"""Compares models with ONNX Runtime on seeded random inputs: compare_ort.py --occamyc=PROGRAM MODEL.onnx...

An extent without a bound in --dim gets that of DIMS below; a bounded extent is tried at its least, a middle and its greatest
value. Integers that index a table are drawn below its rows, other integers are 0 or 1; text is what the model's nodes hold. Files MODEL.INPUT.npy beside a model
replace what is drawn; with --stored=FOLDER the sets of FOLDER/MODEL/test_data_set_N are run as well. Models that are not
there are skipped, loudly and counted.
"""

import argparse
import os
import re
import sys
import zlib

import numpy as np
import onnx
import onnxruntime

import cases
import networks
import pages
import tensors

# Bounds by model and extent, for models whose extents have names only.
DIMS = {"gpt2_small": {"seq": "1..64"}, "reverse": {"seq": "1..16"},
        "ColumnTransformer-text": {"normalized:bytes": "0..600", "tokenized:1": "0..8"}}

# With random weights their scores nearly tie; *_heads and *_select compare what comes before and after.
TIED = {"ssd300_vgg16", "ssdlite320_mobilenet_v3_large"}


def read_bounds(words):
    """("seq=1..8", ...) -> {"seq": (1, 8)}"""
    found = {}
    for word in words:
        name, _, text = word.rpartition("=")
        low, _, high = text.partition("..")
        found[name] = (int(low), int(high or low))
    return found


def table_rows(model):
    """Per value that indexes the first axis of a constant table directly: the number of rows."""
    shapes = {t.name: t.dims for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            shapes.update({node.output[0]: a.t.dims for a in node.attribute if a.name == "value"})
    return {n.input[1]: shapes[n.input[0]][0] for n in model.graph.node
            if n.op_type == "Gather" and n.input[0] in shapes and shapes[n.input[0]]}


def input_shape(info, bounds, position):
    """Extents of an input; position 0, 1, 2 takes the least, a middle, the greatest value of a bounded one."""
    shape = []
    for axis, dim in enumerate(info.type.tensor_type.shape.dim):
        if dim.HasField("dim_value"):
            shape.append(dim.dim_value)
            continue
        low, high = bounds.get(dim.dim_param) or bounds.get(f"{info.name}:{axis}") or (1, 1)
        shape.append((low, (low + high + 1) // 2, high)[position])
    return shape


def words_of(model):
    """All strings that nodes hold: among them are those that mean something to the model."""
    found = {"some", "more"}
    for node in model.graph.node:
        for attribute in node.attribute:
            found.update(word.decode() for word in (*attribute.strings, *attribute.t.string_data))
    return sorted(found)


def draw(random, info, shape, rows, words):
    if info.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        return random.choice(np.array(words, dtype=object), shape)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, rows.get(info.name, 2), shape).astype(dtype)


def make_feeds(path, model, bounds):
    """Input dictionaries, one for each position within the bounds; one in all where nothing is bounded."""
    name = os.path.splitext(path)[0]
    random = np.random.default_rng(zlib.crc32(os.path.basename(name).encode()))
    rows, infos = table_rows(model), cases.true_inputs(model)
    stored = {i.name: f"{name}.{i.name}.npy" for i in infos}
    if all(os.path.exists(file) for file in stored.values()):
        return [{n: np.load(file) for n, file in stored.items()}]
    ranged = any(low != high for low, high in bounds.values())
    words = words_of(model)
    return [{i.name: draw(random, i, input_shape(i, bounds, p), rows, words) for i in infos}
            for p in ((0, 1, 2) if ranged else (2,))]


def answers(path, feeds):
    options = onnxruntime.SessionOptions()
    # as the operators are specified: integer kernels that replace quantised chains part from them by several quanta
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return [session.run(None, feed) for feed in feeds]


def measure_model(arguments, path):
    name = os.path.splitext(os.path.basename(path))[0]
    known = {k: f"{k}={v}" for k, v in DIMS.get(name, {}).items()}
    known.update({word.rpartition("=")[0]: word for word in arguments.dim})
    model = onnx.load(path)
    feeds = make_feeds(path, model, read_bounds(known.values()))
    sets = [([tensors.from_numpy(a) for a in feed.values()], [tensors.from_python(a) for a in outputs])
            for feed, outputs in zip(feeds, answers(path, feeds))]
    sets += cases.read_sets(model, os.path.join(arguments.stored, name)) if arguments.stored else []
    flags = [word for bound in known.values() for word in ("--dim", bound)]
    return networks.measure(networks.toolchain(arguments), name, path, model, sets, flags, arguments.work,
                            tied=name in TIED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    networks.add_arguments(parser)
    parser.add_argument("--dim", action="append", default=[], help="bound of an extent, as for occamyc")
    parser.add_argument("--stored", help="folder of stored sets by model name")
    parser.add_argument("--coverage", help="write the errors to this page")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    arguments = parser.parse_args()
    rows, skipped = [], 0
    print(networks.HEADING)
    for path in arguments.models:
        if not os.path.exists(path):
            print(f"{re.sub(r'.*/', '', path):38} SKIPPED: {path} is not there")
            skipped += 1
            continue
        rows.append(measure_model(arguments, path))
        rows[-1].print()
        if arguments.coverage:
            pages.write_networks(arguments.coverage, rows)
    sys.exit(networks.close(rows, skipped))


if __name__ == "__main__":
    main()
