"""Image networks of several shapes with seeded random weights, with constant extents or run-time ones."""

from onnx import TensorProto, helper

from nets import Builder


class Network(Builder):
    """`width`: what all numbers of channels are divided by."""

    def __init__(self, width=1):
        super().__init__()
        self.width = width

    def channels(self, count):
        return max(count // self.width, 8)

    def layer(self, x, inputs, outputs, kernel=3, stride=1, groups=1, activation="Relu"):
        """A convolution and its activation; None: none."""
        number = len(self.nodes)
        w = self.weight(f"w{number}", (outputs, inputs // groups, kernel, kernel), (2 / (inputs // groups * kernel * kernel)) ** 0.5)
        b = self.weight(f"b{number}", outputs, 0.1)
        y = self.node("Conv", [x, w, b], f"conv{number}", strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
        if activation == "Swish":
            return self.node("Mul", [y, self.node("Sigmoid", [y], f"gate{number}")], f"act{number}")
        return self.node(activation, [y], f"act{number}") if activation else y

    def pool(self, x, kernel=3, stride=2, pad=1):
        return self.node("MaxPool", [x], f"pool{len(self.nodes)}", kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def add(self, x, y):
        return self.node("Add", [x, y], f"add{len(self.nodes)}")

    def classify(self, x, channels, classes=1000):
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x], "mean")], "flat")
        return self.node("MatMul", [x, self.weight("classes", (channels, classes), 0.03)], "logits")


def resnet18(net):
    c = net.channels(64)
    x = net.pool(net.layer("input", 3, c, 7, 2))
    for stage in range(4):
        outputs = net.channels(64) << stage
        for block in range(2):
            stride = 2 if stage and not block else 1
            y = net.layer(net.layer(x, c, outputs, 3, stride), outputs, outputs, 3, activation=None)
            x = net.layer(x, c, outputs, 1, stride, activation=None) if c != outputs else x
            x, c = net.node("Relu", [net.add(y, x)], f"relu{len(net.nodes)}"), outputs
    return net.classify(x, c)


def resnet50(net):
    c = net.channels(64)
    x = net.pool(net.layer("input", 3, c, 7, 2))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        middle = net.channels(64) << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.layer(net.layer(net.layer(x, c, middle, 1), middle, middle, 3, stride), middle, 4 * middle, 1, activation=None)
            x = net.layer(x, c, 4 * middle, 1, stride, activation=None) if not block else x
            x, c = net.node("Relu", [net.add(y, x)], f"relu{len(net.nodes)}"), 4 * middle
    return net.classify(x, c)


def mobilenet_v2(net):
    c = net.channels(32)
    x = net.layer("input", 3, c, 3, 2)
    for factor, outputs, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        outputs = net.channels(outputs)
        for block in range(blocks):
            stride, wide = 1 if block else first, c * factor
            y = net.layer(x, c, wide, 1) if factor > 1 else x
            y = net.layer(net.layer(y, wide, wide, 3, stride, wide), wide, outputs, 1, activation=None)
            x, c = net.add(x, y) if stride == 1 and c == outputs else y, outputs
    return net.classify(net.layer(x, c, net.channels(1280), 1), net.channels(1280))


def excite(net, x, channels, inner):
    """Each channel times a factor that the means of all channels make."""
    y = net.node("GlobalAveragePool", [x], f"squeeze{len(net.nodes)}")
    y = net.layer(net.layer(y, channels, inner, 1, activation="Swish"), inner, channels, 1, activation="Sigmoid")
    return net.node("Mul", [x, y], f"excite{len(net.nodes)}")


def efficientnet_b0(net):
    c = net.channels(32)
    x = net.layer("input", 3, c, 3, 2, activation="Swish")
    for factor, outputs, blocks, first, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                                                   (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        outputs = net.channels(outputs)
        for block in range(blocks):
            stride, wide = 1 if block else first, c * factor
            y = net.layer(x, c, wide, 1, activation="Swish") if factor > 1 else x
            y = excite(net, net.layer(y, wide, wide, kernel, stride, wide, "Swish"), wide, max(c // 4, 1))
            y = net.layer(y, wide, outputs, 1, activation=None)
            x, c = net.add(x, y) if stride == 1 and c == outputs else y, outputs
    return net.classify(net.layer(x, c, net.channels(1280), 1, activation="Swish"), net.channels(1280))


def vgg16(net):
    x, c = "input", 3
    for outputs, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x, c = net.layer(x, c, net.channels(outputs)), net.channels(outputs)
        x = net.pool(x, 2, 2, 0)
    return net.classify(x, c)


def srgan(net):
    c = net.channels(64)
    first = x = net.layer("input", 3, c, 9)
    for _ in range(4):
        x = net.add(x, net.layer(net.layer(x, c, c), c, c, activation=None))
    x = net.add(net.layer(x, c, c, activation=None), first)
    for _ in range(2):
        x = net.node("DepthToSpace", [net.layer(x, c, 4 * c, activation=None)], f"up{len(net.nodes)}", blocksize=2, mode="CRD")
        x = net.node("Relu", [x], f"relu{len(net.nodes)}")
    return net.node("Tanh", [net.layer(x, c, 3, 9, activation=None)], "image")


# name: function, height and width at most and at least
NETWORKS = {"resnet18": (resnet18, 224, 32), "resnet50": (resnet50, 224, 32), "mobilenet_v2": (mobilenet_v2, 224, 32),
            "efficientnet_b0": (efficientnet_b0, 224, 32), "vgg16": (vgg16, 224, 32), "srgan": (srgan, 64, 16)}


def model(name, height, width, divide=1, batch=1):
    """The network for a batch, a height and a width, which are numbers or words; all channels divided by `divide`."""
    net = Network(divide)
    y = NETWORKS[name][0](net)
    rank = 4 if name == "srgan" else 2
    graph = helper.make_graph(net.nodes, name, [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, 3, height, width])],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None] * rank)], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
