"""A standard network that nobody here exports: MobileNetV1 1.0/224 (Howard et al., 2017) with seeded random weights."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

STAGES = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]


class Builder:
    def __init__(self):
        self.random, self.nodes, self.weights = numpy.random.default_rng(0), [], []

    def weight(self, name, shape, scale):
        self.weights.append(numpy_helper.from_array((self.random.standard_normal(shape) * scale).astype(numpy.float32), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, x, inputs, outputs, kernel, stride, groups=1):
        number, depth = len(self.nodes), inputs // groups * kernel * kernel
        w = self.weight(f"w{number}", (outputs, inputs // groups, kernel, kernel), (2 / depth) ** 0.5)
        b = self.weight(f"b{number}", outputs, 0.1)
        y = self.node("Conv", [x, w, b], f"conv{number}", strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
        return self.node("Relu", [y], f"relu{number}")


def mobilenet_v1():
    b = Builder()
    x, channels = b.convolution("input", 3, 32, 3, 2), 32
    for outputs, stride in STAGES:
        x = b.convolution(x, channels, channels, 3, stride, channels)
        x, channels = b.convolution(x, channels, outputs, 1, 1), outputs
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x], "mean")], "flat")
    b.node("MatMul", [x, b.weight("classes", (1024, 1000), 0.03)], "logits")
    graph = helper.make_graph(b.nodes, "mobilenet_v1", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])], b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write(folder):
    """The network's file in the folder."""
    path = folder / "mobilenet_v1.onnx"
    onnx.save(mobilenet_v1(), path)
    return path
