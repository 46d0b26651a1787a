"""Writes the official ONNX test cases as folders that the host program can be fed from: onnx_cases.py FOLDER [NAME...]

2,033 cases of the package onnx 1.23.2: one-operator cases, simple models, models converted from PyTorch, and nine
networks with constant weights that prove structure only. The package makes or contains all of them.
"""

import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

import cases
import tensors

WANTED = 2033


def node_group(case):
    """The operator a case is counted under; a case that spells out an operator's function body counts as that operator."""
    if "_expanded" not in case.name:
        return case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else "several"
    return None


def node_check(name):
    if name.startswith("test_bernoulli"):
        return "bernoulli"
    return "dropout" if name.startswith("test_training_dropout") and "zero_ratio" not in name else None


def write_node_cases(root, wanted):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        import onnx.backend.test.case.node as generator
        found = generator.collect_testcases(None)
    groups = {case.name: node_group(case) for case in found}
    for case in found:
        if wanted and case.name not in wanted:
            continue
        group = groups[case.name] or groups.get(case.name.split("_expanded")[0]) or "several"
        sets = [tuple([tensors.from_python(v) for v in side] for side in pair) for pair in case.data_sets]
        cases.write_case(os.path.join(root, case.name), case.model, sets, group, "node", case.rtol, case.atol,
                         node_check(case.name))
    return len(found)


def write_folder_cases(root, kind, wanted):
    """Cases that lie in the package as folders."""
    from onnx.backend.test.loader import load_model_tests
    found = load_model_tests(kind=kind)
    for case in found:
        if wanted and case.name not in wanted:
            continue
        source = cases.Case(case.model_dir)
        with open(source.path, "rb") as file:
            content = file.read()
        cases.write_case(os.path.join(root, case.name), source.model, source.sets, "models: " + kind, kind,
                         case.rtol, case.atol, bytes_of_model=content)
    return len(found)


def ramp_input(info):
    """The input that ONNX's own runner feeds to its networks: 0, 1/n, 2/n, ..."""
    shape = tuple(d.dim_value if d.HasField("dim_value") else 1 for d in info.type.tensor_type.shape.dim)
    count = int(np.prod(shape))
    return tensors.from_numpy((np.arange(count).reshape(shape) / count).astype(np.float32))


def write_light_cases(root, wanted):
    """Real architectures whose large weights are one repeated value."""
    from onnx.backend.test.loader import load_model_tests
    top = os.path.dirname(os.path.dirname(os.path.abspath(onnx.__file__)))
    found = load_model_tests(kind="real")
    for case in found:
        if wanted and case.name not in wanted:
            continue
        path = os.path.join(top, case.url)
        model = onnx.load(path)
        outputs = []
        for i in range(len(model.graph.output)):
            with open(f"{os.path.splitext(path)[0]}_output_{i}.pb", "rb") as file:
                outputs.append(tensors.from_proto(onnx.TensorProto.FromString(file.read())))
        inputs = [ramp_input(info) for info in cases.true_inputs(model)]
        cases.write_case(os.path.join(root, case.name), model, [(inputs, outputs)], "models: light", "light",
                         case.rtol, case.atol)
    return len(found)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root, wanted = sys.argv[1], set(sys.argv[2:])
    count = write_node_cases(root, wanted)
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        count += write_folder_cases(root, kind, wanted)
    count += write_light_cases(root, wanted)
    if count != WANTED:
        sys.exit(f"found {count} official cases, wanted {WANTED}: is onnx the pinned version?")
    print(f"{count} official cases in {root}")


if __name__ == "__main__":
    main()
