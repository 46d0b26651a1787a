"""Writes our own cases where the official suite has none: make_cases.py FOLDER [NAME...]

Activations, fusions, control flow, sequences, optionals, text, ai.onnx.ml and quantised operators, as models in ONNX's text form with a few inputs
each; the wanted outputs come from ONNX Runtime (or from the reference implementation, where a case says so).
"""

import os
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases       # noqa: E402
import tensors     # noqa: E402
from activation_cases import ACTIVATION  # noqa: E402
from attention_cases import ATTENTION  # noqa: E402
from attribute_cases import ATTRIBUTES  # noqa: E402
from cast_cases import CASTS          # noqa: E402
from control_cases import CONTROL     # noqa: E402
from empty_cases import EMPTY         # noqa: E402
from extent_cases import EXTENTS      # noqa: E402
from four_cases import FOURS           # noqa: E402
from fusion_cases import FUSION       # noqa: E402
from geometry_cases import GEOMETRY  # noqa: E402
from half_cases import HALF            # noqa: E402
from index_cases import INDICES       # noqa: E402
from learning_cases import LEARNING   # noqa: E402
from many_cases import MANY           # noqa: E402
from map_cases import MAPS            # noqa: E402
from msft_cases import MSFT           # noqa: E402
from number_cases import NUMBERS    # noqa: E402
from operator_cases import OPERATORS  # noqa: E402
from quant_cases import QUANTISED     # noqa: E402
from random_cases import RANDOM       # noqa: E402
from rare_cases import RARE           # noqa: E402
from recurrent_cases import RECURRENT  # noqa: E402
from resize_cases import RESIZE       # noqa: E402
from rows_cases import ROWS            # noqa: E402
from sequence_cases import SEQUENCES  # noqa: E402
from text_cases import TEXT           # noqa: E402
from tie_cases import TIES             # noqa: E402
from token_cases import TOKENS         # noqa: E402


def wanted_by_runtime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def wanted_by_reference(model, inputs):
    from onnx.reference import ReferenceEvaluator
    return ReferenceEvaluator(model).run(None, inputs)


def write_case(root, case):
    model = case["model"] if isinstance(case["model"], onnx.ModelProto) else onnx.parser.parse_model(case["model"])
    oracle = wanted_by_reference if case.get("oracle") == "reference" else wanted_by_runtime
    sets = []
    for inputs in case["inputs"]:
        outputs = case["wanted"](inputs) if "wanted" in case else oracle(model, inputs)
        sides = [inputs[i.name] for i in cases.true_inputs(model)], outputs
        sets.append(tuple([tensors.from_python(v) for v in side] for side in sides))
    cases.write_case(os.path.join(root, "test_" + case["name"]), model, sets, case["group"], "own", 1e-5, case.get("atol", 1e-6),
                     flags=case.get("flags", ()))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = (ACTIVATION + CONTROL + SEQUENCES + TEXT + LEARNING + MAPS + OPERATORS + QUANTISED + RANDOM + RARE + FUSION + EMPTY +
             MSFT + ATTENTION + GEOMETRY + EXTENTS + FOURS)
    found += RESIZE + ATTRIBUTES + TOKENS + HALF
    found += CASTS + MANY + NUMBERS + TIES + RECURRENT + ROWS + INDICES
    names = [case["name"] for case in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        sys.exit(f"several cases have one name: {' '.join(twice)}")
    unknown = sorted(set(sys.argv[2:]) - set(names))
    if unknown:
        sys.exit(f"no case has the name {' '.join(unknown)}")
    chosen = [case for case in found if len(sys.argv) == 2 or case["name"] in sys.argv[2:]]
    for case in chosen:
        write_case(sys.argv[1], case)
    print(f"{len(chosen)} cases of our own in {sys.argv[1]}")


if __name__ == "__main__":
    main()
