"""Networks whose weights are slices of every kind: make_networks.py FOLDER. In small budgets groups of channels come one by one, and of
panels of 32 output channels a part at a time; channels that are no multiple of 4 are at the end of some. And sums that slices keep apart."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(17)


class Builder:
    def __init__(self, element):
        self.nodes, self.weights, self.element = [], [], element

    def constant(self, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, operator, inputs, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [f"t{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def save(self, path, x, y):
        ports = [helper.make_tensor_value_info(name, self.element, shape) for name, shape in (x, y)]
        graph = helper.make_graph(self.nodes, path.stem, ports[:1], ports[1:], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def conv(b, x, inputs, outputs, kernel, groups=1):
    shape = (outputs, inputs // groups, kernel, kernel)
    w = (RANDOM.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5).astype(np.float32)
    bias = RANDOM.standard_normal(outputs).astype(np.float32) * np.float32(0.1)
    return b.node("Conv", [x, b.constant(w), b.constant(bias)], group=groups, pads=[kernel // 2] * 4)


def floats(path):
    b = Builder(TensorProto.FLOAT)
    y = b.node("Relu", [conv(b, "x", 64, 96, 3, groups=8)])                  # 8 inputs and 12 outputs in each group
    y = b.node("Relu", [b.node("Add", [conv(b, y, 96, 96, 3, groups=3), y])])
    y = b.node("Relu", [conv(b, y, 96, 40, 3)])                             # a whole panel and a quarter
    y = b.node("Sigmoid", [conv(b, y, 40, 21, 3)])                          # a part of one
    y = b.node("Flatten", [y])
    y = b.node("Gemm", [y, b.constant(RANDOM.standard_normal((21 * 36, 50)).astype(np.float32)),
                        b.constant(RANDOM.standard_normal(50).astype(np.float32))])
    b.save(path, ("x", [1, 64, 6, 6]), (y, [1, 50]))


def bottlenecks(path):
    """Three sums that are made in place of one of their terms, if the convolution in front of each is one step: all three are equally full."""
    b = Builder(TensorProto.FLOAT)
    y = b.node("Relu", [conv(b, "x", 3, 64, 1)])
    for _ in range(3):
        t = b.node("Relu", [conv(b, y, 64, 16, 1)])
        t = b.node("Relu", [conv(b, t, 16, 16, 3)])
        y = b.node("Relu", [b.node("Add", [conv(b, t, 16, 64, 1), y])])
    b.save(path, ("x", [1, 3, 24, 24]), (b.node("GlobalAveragePool", [y]), [1, 64, 1, 1]))


def products(path):
    """Four products that take no time beside their weights: in most budgets each load costs a share of its latency."""
    b, y = Builder(TensorProto.FLOAT), "x"
    for _ in range(4):
        y = b.node("MatMul", [y, b.constant((RANDOM.standard_normal((64, 2048)) / 8).astype(np.float32))])
        y = b.node("ReduceMean", [b.node("Reshape", [y, b.constant(np.array([2, 32, 64]))])], axes=[1], keepdims=0)
    b.save(path, ("x", [2, 64]), (y, [2, 64]))


def conv_bytes(b, x, inputs, outputs, kernel, groups=1):
    shape = (outputs, inputs // groups, kernel, kernel)
    depth = int(np.prod(shape[1:]))
    scale = [b.constant(np.float32(s)) for s in (0.02, 0.02 / depth ** 0.5, 0.02)]
    zero = [b.constant(np.uint8(120)), b.constant(np.int8(0)), b.constant(np.uint8(128))]
    w = b.constant(RANDOM.integers(-100, 100, shape).astype(np.int8))
    bias = b.constant(RANDOM.integers(-1000, 1000, outputs).astype(np.int32))
    return b.node("QLinearConv", [x, scale[0], zero[0], w, scale[1], zero[1], scale[2], zero[2], bias], group=groups,
                  pads=[kernel // 2] * 4)


def integers(path):
    b = Builder(TensorProto.UINT8)
    y = conv_bytes(b, "x", 64, 192, 3, groups=4)
    y = conv_bytes(b, y, 192, 72, 3)
    y = conv_bytes(b, y, 72, 21, 3)
    b.save(path, ("x", [1, 64, 6, 6]), (y, [1, 21, 6, 6]))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    floats(folder / "channels.onnx")
    integers(folder / "channels_int8.onnx")
    bottlenecks(folder / "bottlenecks.onnx")
    products(folder / "products.onnx")


if __name__ == "__main__":
    main()
