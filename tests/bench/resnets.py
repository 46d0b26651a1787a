"""Residual networks that need no exporter: resnets.py FOLDER writes ResNet-50 and -152 (He et al., 2015) with seeded
random weights, normalisations folded into the convolutions, as an export for inference has them."""

import pathlib
import sys

import nets
import onnx
from onnx import TensorProto, helper

DEPTHS = {"resnet50": (3, 4, 6, 3), "resnet152": (3, 8, 36, 3)}


class Residual(nets.Builder):
    def conv(self, x, inputs, outputs, kernel, stride, relu=True, scale=1.0):
        number, depth = len(self.nodes), inputs * kernel * kernel
        w = self.weight(f"w{number}", (outputs, inputs, kernel, kernel), scale * (2 / depth) ** 0.5)
        y = self.node("Conv", [x, w, self.weight(f"b{number}", outputs, 0.1)], f"conv{number}", strides=[stride] * 2,
                      pads=[kernel // 2] * 4)
        return self.node("Relu", [y], f"relu{number}") if relu else y

    def bottleneck(self, x, inputs, width, stride):
        """Branches are drawn smaller, since they are added up."""
        y = self.conv(self.conv(x, inputs, width, 1, 1), width, width, 3, stride)
        y = self.conv(y, width, 4 * width, 1, 1, False, 0.3)
        if inputs != 4 * width:
            x = self.conv(x, inputs, 4 * width, 1, stride, False)
        number = len(self.nodes)
        return self.node("Relu", [self.node("Add", [y, x], f"add{number}")], f"out{number}")


def resnet(name):
    b = Residual()
    x = b.node("MaxPool", [b.conv("input", 3, 64, 7, 2)], "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, count in enumerate(DEPTHS[name]):
        for i in range(count):
            x = b.bottleneck(x, channels, 64 << stage, 2 if stage and not i else 1)
            channels = 256 << stage
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x], "mean")], "flat")
    b.node("Gemm", [x, b.weight("classes", (1000, 2048), 0.03), b.weight("bias", 1000, 0.1)], "logits", transB=1)
    graph = helper.make_graph(b.nodes, name, [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])], b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    nets.write(folder)
    for name in DEPTHS:
        onnx.save(resnet(name), folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
