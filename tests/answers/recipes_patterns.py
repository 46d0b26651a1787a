"""Groups of operators that a pass or a plan looks for, and operators with enough work to be cut for threads."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_msft import MSFT, bytes_of, put
from recipes_windows import image

ENOUGH = 64 * 1024                              # elements, of operators that are cut for threads


def convolved(net, x, outputs, size=3, group=1):
    inputs = [x, net.weights(d.FLOAT, [outputs, x.fixed(1) // group, size, size], 0.2, runtime=0)]
    inputs += [net.weights(d.FLOAT, [outputs], runtime=0)] if net.draw.chance(0.5) else []
    return net.node("Conv", inputs, group=group, pads=[size // 2] * 4)


def picture(net, channels=(4, 8, 16)):
    return net.input(d.FLOAT, [1, net.draw.pick(channels), net.draw.randint(4, 16), net.draw.randint(4, 16)])


@recipe("Conv", "BatchNormalization", "Relu", network=1.5)
def normalised_convolution(net):
    """Scales and shifts that are folded into a convolution, plain or transposed."""
    draw, x = net.draw, image(net, spatial=2)
    if x.fixed(1) is None:
        raise Rejected("the channels are not fixed")
    outputs = draw.pick([1, 4, 8, 9])
    if draw.chance(0.3):
        y = net.node("ConvTranspose", [x, net.weights(d.FLOAT, [x.fixed(1), outputs, 2, 2], 0.3, runtime=0)], strides=[2, 2])
    else:
        y = convolved(net, x, outputs, draw.pick([1, 3]))
    scale, bias, mean = (net.weights(d.FLOAT, [outputs], runtime=0) for _ in range(3))
    y = net.node("BatchNormalization", [y, scale, bias, mean, net.weights(d.FLOAT, [outputs], style="positive", runtime=0)],
                 **attributes(draw, epsilon=[1e-3]))
    if draw.chance(0.5):
        net.node("Relu", [y])


@recipe("Split", "Mul", "Sigmoid", "Conv", network=1)
def parts_of_channels(net):
    """What lies inside a larger buffer is computed block by block for a convolution of single pixels."""
    draw = net.draw
    x = picture(net, (4, 8))
    count = draw.pick([8, 16, 24])
    y = convolved(net, x, 2 * count)
    sizes = net.constant(np.array([count, count], np.int64))
    if net.version("Split") >= 13:
        parts = net.node("Split", [y, sizes], 2, axis=1)
    else:
        parts = net.node("Split", [y], 2, axis=1, split=[count, count])
    kind = draw.pick(["gate", "sum", "relu", "joined"])
    if kind == "gate":
        z = net.node("Mul", [parts[0], net.node("Sigmoid", [parts[1]])])
    elif kind == "sum":
        z = net.node("Add", parts)
    else:
        z = net.node("Relu", [parts[1]])
    if kind == "joined":
        z = net.node("Concat", [z, parts[0]], axis=1)
    net.node("Conv", [z, net.weights(d.FLOAT, [draw.pick([8, 16, 17]), z.fixed(1), 1, 1], 0.3, runtime=0)])


@recipe("Reshape", "Mul", "Add", network=0.7)
def unit_axes(net):
    """Axes of one element put in and taken out again around an operator."""
    draw = net.draw
    x = net.some((d.FLOAT,), rank=(2, 3), accept=lambda v: all(v.fixed(a) for a in range(v.rank)))
    shape = [x.fixed(a) for a in range(x.rank)]
    wide = shape[:]
    wide.insert(draw.randint(0, len(wide)), 1)
    y = net.node("Reshape", [x, net.constant(np.array(wide, np.int64))])
    other = net.constant(draw.array(d.FLOAT, wide if draw.chance(0.5) else wide[-1:]))
    y = net.node(draw.pick(["Mul", "Add"]), [y, other] if draw.chance(0.5) else [other, y])
    net.node("Reshape", [y, net.constant(np.array(shape, np.int64))])


@recipe("HardSigmoid", "Mul", network=0.5)
def hard_gate(net):
    x = net.some((d.FLOAT,), rank=(1, 4))
    net.node("Mul", [x, net.node("HardSigmoid", [x], alpha=net.draw.pick([1 / 6, 1 / 6, 0.2]), beta=0.5)])


@recipe("Pad", "AveragePool", "MaxPool", network=0.7)
def padded_pool(net):
    draw, x = net.draw, image(net, spatial=2)
    pads = [0, 0, 1, draw.randint(0, 2), 0, 0, draw.randint(0, 2), 1]
    if net.version("Pad") >= 11:
        y = net.node("Pad", [x, net.constant(np.array(pads, np.int64))])
    else:
        y = net.node("Pad", [x], pads=pads)
    net.node("AveragePool", [y], kernel_shape=[2, 2], **attributes(draw, pads=[[0, 0, 0, 0], [1, 0, 0, 1]], count_include_pad=[0, 1]))


@recipe("MatMul", "Softmax", "ReduceSum", "LRN", "InstanceNormalization", "Resize", "MaxPool", "AveragePool", "LayerNormalization", network=0.3)
def enough_work(net):
    """So much work that threads share it."""
    draw = net.draw
    net.most = max(net.most, ENOUGH)
    operator = draw.pick(["MatMul", "Gemm", "Softmax", "ReduceSum", "ReduceMax", "LRN", "InstanceNormalization", "Resize", "MaxPool", "AveragePool",
                          "Tanh", "Transpose", "MatMulNBits", "Conv"])
    if operator in ("MatMul", "Gemm"):
        rows, inner, columns = draw.randint(40, 130), draw.randint(32, 96), draw.randint(40, 130)
        x = net.input(d.FLOAT, [rows, inner])
        net.node(operator, [x, net.weights(d.FLOAT, [inner, columns], 0.1, runtime=0.3)])
        return
    if operator == "MatMulNBits":
        x = net.input(d.FLOAT, [draw.randint(1, 9), 256])
        scales = net.constant((draw.numpy().standard_normal((200, 8)) * 0.02).astype(np.float32))
        put(net, operator, [x, bytes_of(net, (200, 8, 16)), scales], domain=MSFT, K=256, N=200, bits=4, block_size=32)
        return
    x = net.input(d.FLOAT, [draw.pick([1, 2]), draw.pick([8, 16, 24]), draw.randint(20, 50), draw.randint(20, 50)])
    if operator == "Conv":
        net.node("Conv", [x, net.weights(d.FLOAT, [16, 1 if x.fixed(1) == 16 else x.fixed(1), 5, 5], 0.1, runtime=0)], group=16 if x.fixed(1) == 16 else 1)
    elif operator == "Softmax":
        net.node(operator, [x], axis=draw.pick([1, 2, 3]))
    elif operator in ("ReduceSum", "ReduceMax"):
        axes = draw.several(range(4), least=1)
        by_input = net.version(operator) >= (13 if operator == "ReduceSum" else 18)
        net.node(operator, [x, net.constant(np.array(axes, np.int64))] if by_input else [x], axes=None if by_input else axes)
    elif operator == "LRN":
        net.node(operator, [x], size=3)
    elif operator == "InstanceNormalization":
        net.node(operator, [x, *(net.weights(d.FLOAT, [x.fixed(1)], runtime=0) for _ in range(2))])
    elif operator == "Resize":
        if net.opset < 13:
            raise Rejected("newer forms only")
        net.node(operator, [x, None, net.constant(np.array([1, 1, 2, 1.5], np.float32))], mode=draw.pick(["linear", "nearest", "cubic"]))
    elif operator in ("MaxPool", "AveragePool"):
        net.node(operator, [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    elif operator == "Transpose":
        net.node(operator, [x], perm=draw.pick([[0, 2, 3, 1], [0, 1, 3, 2], [3, 1, 2, 0]]))
    else:
        net.node(operator, [x])
