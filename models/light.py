"""Gives the nine light networks of the package onnx seeded random weights: light.py FOLDER [NAME...]

In the package their large weights are one repeated value and prove structure only. Every constant that feeds a layer is
replaced by an initializer drawn for its role there, scaled to keep activations near unit size.
"""

import glob
import os
import sys
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

# The inputs of BatchNormalization, by place.
SCALE, SHIFT, MEAN, VARIANCE = 1, 2, 3, 4


def draw(random, operator, place, shape, residual):
    """A constant for input `place` of `operator`, or None where its value is no weight (an axis list, say).
    A residual network adds up its branches, so these are drawn smaller: the last softmax must not saturate."""
    if operator in ("Conv", "Gemm") and place == 1:
        fan_in = np.prod(shape[1:])                                     # these Gemms have transB
        return random.normal(0, (1.5 / fan_in) ** 0.5, shape)
    if residual and operator == "BatchNormalization" and place == SCALE:
        return random.uniform(0.5, 1.0, shape)
    if operator == "BatchNormalization" and place in (SCALE, VARIANCE) or operator == "Mul":
        return random.uniform(0.8, 1.25, shape)
    if operator == "BatchNormalization" or operator == "Add" or operator in ("Conv", "Gemm") and place == 2:
        return random.normal(0, 0.05, shape)
    return None


def readers(graph):
    """Per value: the (operator, input place) that reads it first, looking through Unsqueeze and Reshape."""
    found = {}
    for node in reversed(graph.node):
        for place, name in enumerate(node.input):
            through = node.op_type in ("Unsqueeze", "Reshape") and place == 0
            found[name] = found.get(node.output[0]) if through else (node.op_type, place)
    return found


def light_constants(graph):
    """Floating constants by name with their shapes: initializers, and ConstantOfShape of an initializer."""
    held = {t.name: t for t in graph.initializer}
    found = {n: tuple(t.dims) for n, t in held.items() if t.data_type == onnx.TensorProto.FLOAT}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            found[node.output[0]] = tuple(int(n) for n in numpy_helper.to_array(held[node.input[0]]))
    return found


def randomise(model, random):
    graph = model.graph
    reads, residual = readers(graph), any(n.op_type == "Sum" for n in graph.node)
    drawn = {}
    for name, shape in light_constants(graph).items():
        value = draw(random, *reads[name], shape, residual) if reads.get(name) else None
        if value is not None:
            drawn[name] = numpy_helper.from_array(value.astype(np.float32), name)
    nodes = [n for n in graph.node if n.output[0] not in drawn]
    used = {i for n in nodes for i in n.input}
    tensors = [t for t in graph.initializer if t.name not in drawn and t.name in used] + list(drawn.values())
    names = {t.name for t in graph.initializer} | set(drawn)
    inputs = [i for i in graph.input if i.name not in names]
    fresh = helper.make_graph(nodes, graph.name, inputs, list(graph.output), tensors)
    return helper.make_model(fresh, opset_imports=model.opset_import, ir_version=4, producer_name="occamyc")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light")
    os.makedirs(sys.argv[1], exist_ok=True)
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        name = os.path.splitext(os.path.basename(path))[0]
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model = randomise(onnx.load(path), np.random.default_rng(zlib.crc32(name.encode())))
        target = os.path.join(sys.argv[1], name + ".onnx")
        with open(target + ".tmp", "wb") as file:
            file.write(model.SerializeToString(deterministic=True))
        os.replace(target + ".tmp", target)
        print(f"{target}: {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    main()
