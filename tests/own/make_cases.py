"""Writes our own cases where the official suite has none: make_cases.py FOLDER [NAME...]

Each file <family>_cases.py of this folder holds a list CASES, which is found here without being named. A case is a dict:
  name     of its folder, behind test_
  group    the operator or family that it is counted with
  model    in ONNX's text form, or a ModelProto
  inputs   a list of dicts from input names to arrays, one for each run
  wanted   a function of such a dict that returns the outputs. Without it ONNX Runtime computes them, or with oracle="reference" the
           reference implementation of onnx
  flags    of occamyc, and atol, the absolute tolerance; where they differ from none and 1e-6
`case` of node_case.py makes one of a single node.
"""

import importlib
import os
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases       # noqa: E402
import tensors     # noqa: E402


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


def cases_of_folder():
    """The list CASES of every <family>_cases.py beside this file."""
    here = os.path.dirname(os.path.abspath(__file__))
    files = sorted(name for name in os.listdir(here) if name.endswith("_cases.py") and name != "make_cases.py")
    return [case for name in files for case in importlib.import_module(name[:-len(".py")]).CASES]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = cases_of_folder()
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
