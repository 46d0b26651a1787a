"""A case folder: model.onnx, test_data_set_N/{input_i,output_i}.pb, their raw twins, and meta.json that describes them.

Writes such folders from values and reads them back. A folder that some other tool wrote in ONNX's backend-test layout
(no meta.json) is read too.
"""

import glob
import json
import os
import re

import onnx

import tensors

DEFAULT_RTOL, DEFAULT_ATOL = 1e-3, 1e-7


def domains(end=""):
    """The domains of operators by their words in schemas/ops.def, without our own; `end` stands behind each that has a name."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schemas", "ops.def")) as file:
        rows = re.findall(r'^DOMAIN\((\w+), "(.*)", \d+\)', file.read(), re.M)
    return {word: name and name + end for word, name in rows if word != "ours"}


def true_inputs(model):
    """Graph inputs that are not initializers under another name: older exporters list constants as inputs."""
    constants = {t.name for t in model.graph.initializer} | {t.values.name for t in model.graph.sparse_initializer}
    return [i for i in model.graph.input if i.name not in constants]


def graph_operators(graph, into):
    for node in graph.node:
        into.add(node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}")
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                graph_operators(attribute.g, into)
            for body in attribute.graphs:
                graph_operators(body, into)
    return into


def model_operators(model):
    """Sorted names of every operator that the model uses, nested graphs and model functions included."""
    found = graph_operators(model.graph, set())
    for function in model.functions:
        graph_operators(function, found)
    return sorted(found)


def write_raw(folder, stem, value):
    """Write a value as raw files below `folder`; returns its description for meta.json."""
    if value is None:
        return {"kind": "none"}
    if isinstance(value, list):
        return {"kind": "sequence", "members": [write_raw(folder, f"{stem}.{i}", v) for i, v in enumerate(value)]}
    if isinstance(value, dict):
        return {"kind": "map", "keys": list(value), "members": [write_raw(folder, f"{stem}.{i}", v) for i, v in enumerate(value.values())]}
    name = stem + ".raw"
    with open(os.path.join(folder, name), "wb") as file:
        file.write(value.raw)
    return {"kind": "tensor", "dtype": value.dtype, "shape": list(value.shape), "file": name}


def write_set(folder, model, inputs, outputs):
    """One test_data_set folder: protobuf files, raw files; returns its part of meta.json."""
    os.makedirs(folder, exist_ok=True)
    parts = {"folder": os.path.basename(folder)}
    for side, values, infos in (("input", inputs, true_inputs(model)), ("output", outputs, model.graph.output)):
        described = []
        for i, (value, info) in enumerate(zip(values, infos)):
            with open(os.path.join(folder, f"{side}_{i}.pb"), "wb") as file:
                file.write(tensors.value_proto(value, info.type, info.name).SerializeToString(deterministic=True))
            described.append(write_raw(folder, f"{'in' if side == 'input' else 'out'}_{i}", value))
        parts[side + "s"] = described
    return parts


def write_case(folder, model, sets, group, kind, rtol=DEFAULT_RTOL, atol=DEFAULT_ATOL, check=None, bytes_of_model=None,
               flags=()):
    """`sets`: pairs of input and output values. `group`: the operator (or network) that the summary counts it under."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(bytes_of_model or model.SerializeToString(deterministic=True))
    parts = [write_set(os.path.join(folder, f"test_data_set_{n}"), model, *values) for n, values in enumerate(sets)]
    meta = {"name": os.path.basename(folder), "group": group, "kind": kind, "rtol": rtol, "atol": atol, "check": check,
            "operators": model_operators(model), "inputs": [i.name for i in true_inputs(model)],
            "outputs": [o.name for o in model.graph.output], "flags": list(flags), "sets": parts}
    with open(os.path.join(folder, "meta.json"), "w") as file:
        json.dump(meta, file, indent=1)


def read_sets(model, folder):
    """Pairs of input and output values of every test_data_set_N below `folder`, in the order of N."""
    paths = sorted(glob.glob(os.path.join(folder, "test_data_set_*")), key=lambda p: int(re.search(r"(\d+)$", p)[0]))
    sides = (("input", true_inputs(model)), ("output", model.graph.output))
    return [[[tensors.read_value(path, info.type) for i, info in enumerate(infos)
              if os.path.exists(path := os.path.join(one, f"{side}_{i}.pb"))] for side, infos in sides] for one in paths]


class Case:
    """A folder read back: `model`, `sets` (pairs of input and output values), tolerances and the group it counts under."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.name = os.path.basename(self.folder)
        self.path = os.path.join(self.folder, "model.onnx")
        self.model = onnx.load(self.path, load_external_data=False)
        meta = {}
        if os.path.exists(os.path.join(folder, "meta.json")):
            with open(os.path.join(folder, "meta.json")) as file:
                meta = json.load(file)
        self.rtol, self.atol = meta.get("rtol", DEFAULT_RTOL), meta.get("atol", DEFAULT_ATOL)
        self.flags = meta.get("flags", [])          # that occamyc needs besides the bounds of inputs and outputs
        self.check, self.group = meta.get("check"), meta.get("group", self.name)
        self.sets = read_sets(self.model, folder)
