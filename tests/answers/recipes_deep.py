"""Extents that the blocks, strips and lines of kernels begin at: many channels, long rows, many keys."""

import numpy as np
from onnx import TensorProto, helper

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_quant import BYTES, scale, zero_point

ROOM = 64 * 1024                                # elements of one value


def deep_input(net, dims, dtype=d.FLOAT):
    """A new input; in one of two models with run-time extents the last one is such."""
    net.most = max(net.most, ROOM)
    if net.runtime and net.draw.chance(0.5):
        dims = [*dims[:-1], net.runtime_extent(dims[-1])]
    return net.input(dtype, dims)


def filters(net, outputs, inputs, sizes):
    return net.weights(d.FLOAT, [outputs, inputs, *sizes], 1 / max(1, inputs * int(np.prod(sizes))) ** 0.5, runtime=0)


@recipe("Conv", network=0.4)
def lines(net):
    """Rows of many channels, one pixel wide or a few."""
    draw = net.draw
    inputs, outputs = draw.pick([16, 32, 48, 64, 100, 132]), draw.pick([16, 32, 33, 64, 96])
    x = deep_input(net, [draw.pick([1, 1, 2]), inputs, draw.randint(20, 160)])
    size, step = draw.pick([1, 1, 3, 5]), draw.pick([1, 1, 2])
    y = net.node("Conv", [x, filters(net, outputs, inputs, [size]), *([net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.5) else [])],
                 strides=[step], pads=draw.pick([[0, 0], [size // 2] * 2, [size - 1, 0]]), dilations=[draw.pick([1, 1, 2])])
    if draw.chance(0.5):
        net.node("Conv", [y, filters(net, draw.pick([32, 64]), outputs, [1])])


@recipe("Conv", network=0.2)
def heavy(net):
    """Small images of weights that leave the cache: a panel of them meets a block of rows."""
    draw = net.draw
    inputs, outputs, side = draw.pick([64, 96, 128]), draw.pick([64, 96, 128]), draw.pick([4, 6, 7, 8, 10])
    size, net.most = draw.pick([1, 3, 3]), max(net.most, ROOM)
    x = net.input(d.FLOAT, [1, inputs, side, draw.pick([side, 2 * side])])
    y = net.node("Conv", [x, filters(net, outputs, inputs, [size] * 2)], pads=[size // 2] * 4, strides=[draw.pick([1, 1, 2])] * 2)
    if draw.chance(0.5):
        net.node("Relu", [y])


@recipe("Conv", network=0.2)
def cubes(net):
    draw = net.draw
    inputs, outputs = draw.pick([4, 8, 16]), draw.pick([8, 16, 40])
    x = deep_input(net, [draw.pick([1, 2]), inputs, draw.randint(2, 5), draw.randint(3, 8), draw.randint(6, 24)])
    sizes = [draw.pick([1, 2, 3]), draw.pick([1, 3]), draw.pick([1, 3])]
    try:
        net.node("Conv", [x, filters(net, outputs, inputs, sizes)], pads=[n // 2 for n in sizes] * 2, strides=[draw.pick([1, 2]) for _ in sizes])
    except Rejected:
        net.drop_input(x)
        raise


@recipe("QLinearConv", "ConvInteger", network=0)
def deep_bytes(net):
    """Integer convolutions of panels and strips: dense, by channel, in rows."""
    draw = net.draw
    operator = draw.weighted({"QLinearConv": 3, "ConvInteger": 1})
    net.newer(operator)
    net.most, net.loosely = max(net.most, ROOM), True
    channels, spatial = draw.pick([4, 8, 16, 32, 36, 64]), draw.pick([1, 2, 2, 2])
    extents = [draw.randint(8, 20) for _ in range(spatial - 1)] + [net.extent(24) if draw.chance(0.3) else draw.randint(8, 40)]
    dtype = draw.pick(BYTES) if operator == "QLinearConv" else d.UINT8
    x = net.input(dtype, [draw.pick([1, 1, 2]), channels, *extents])
    group = channels if draw.chance(0.35) else draw.pick([1, 1, 2])
    outputs = channels if group == channels else group * draw.pick([8, 16, 20, 32, 48])
    size = draw.pick([1, 3, 3, 5])
    kind = d.INT8 if draw.chance(0.7) else draw.pick(BYTES)
    w = net.weights(kind, [outputs, channels // group, *[size] * spatial], runtime=0)
    chosen = {"group": group, "strides": [draw.pick([1, 1, 2])] * spatial, "pads": [draw.pick([size // 2, size // 2, 0])] * 2 * spatial}
    if draw.chance(0.2):
        chosen["dilations"] = [2] * spatial
    if operator == "ConvInteger":
        net.node(operator, [x, w, zero_point(net, dtype)] if draw.chance(0.7) else [x, w], **chosen)
        return
    per = (outputs,) if kind == d.INT8 and draw.chance(0.5) else ()
    zero = net.constant(np.zeros(per, d.numpy_type(kind)), kind) if kind == d.INT8 else zero_point(net, kind)
    bias = [net.weights(d.INT32, [outputs], runtime=0)] if draw.chance(0.6) else []
    y_scale = net.constant(np.float32(draw.pick([0.1, 0.5, 2.0])))
    net.node(operator, [x, scale(net), zero_point(net, dtype), w, scale(net, per), zero, y_scale, zero_point(net, dtype), *bias], **chosen)


@recipe("QLinearConv", network=0)
def rows_of_bytes(net):
    """Rows so long, and of so few weights, that these are widened once for many results."""
    draw, dtype = net.draw, net.draw.pick(BYTES)
    net.newer("QLinearConv")
    net.most, net.loosely = max(net.most, 2 * ROOM), True
    size, channels, outputs = draw.pick([1, 1, 3]), draw.pick([16, 16, 20, 32]), draw.pick([16, 24, 32, 40])
    x = net.input(dtype, [1, channels, draw.randint(24, 40), draw.randint(48, 70)])
    w = net.weights(d.INT8, [outputs, channels, size, size], runtime=0)
    zero = net.constant(np.int8(0))
    net.node("QLinearConv", [x, scale(net), zero_point(net, dtype), w, scale(net), zero, net.constant(np.float32(0.7)), zero_point(net, dtype)],
             pads=[draw.pick([0, size // 2])] * 4, dilations=[draw.pick([1, 1, 2])] * 2)


@recipe("MatMul", "Softmax", "Transpose", "Add", network=0.2)
def many_keys(net):
    """Softmax(q k + mask) v over rows and keys of every number, its weights read by nobody else or by somebody."""
    draw = net.draw
    net.most = max(net.most, ROOM)
    stack = draw.pick([[], [2], [1, 2]])
    rows, keys = draw.pick([1, 2, 3, 5, 13, 40, 70]), draw.pick([5, 16, 33, 100, 800, 1100])
    depth, wide = draw.pick([1, 3, 8, 16, 33]), draw.pick([1, 3, 8, 17, 32])
    q = net.input(d.FLOAT, [*stack, net.runtime_extent(rows) if net.runtime and draw.chance(0.5) else rows, depth])
    turned = draw.chance(0.4)
    k = net.input(d.FLOAT, [*stack, keys, depth] if turned else [*stack, depth, keys])
    v = net.input(d.FLOAT, [*stack, keys, wide])
    if turned:
        order = list(range(len(stack)))
        k = net.node("Transpose", [k], perm=[*order, len(stack) + 1, len(stack)])
    scores = net.node("MatMul", [q, k])
    if draw.chance(0.5):
        scores = net.node("Mul", [scores, net.constant(np.float32(0.3))])
    if draw.chance(0.4):
        scores = net.node("Add", [scores, net.constant(draw.array(d.FLOAT, draw.pick([(keys,), (1, keys)])))])
    y = net.node("MatMul", [net.node("Softmax", [scores], axis=-1 if net.opset >= 13 else scores.rank - 1), v])
    if len(stack) == 2 and draw.chance(0.5):
        net.node("Transpose", [y], perm=[0, 2, 1, 3])


@recipe("Conv", "LRN", "Softmax", "ReduceMean", "ArgMax", "InstanceNormalization", "Transpose", network=0.3)
def behind_channels(net):
    """What reads a convolution, whose channels may follow each other in memory."""
    draw = net.draw
    x = deep_input(net, [draw.pick([1, 1, 2]), draw.pick([3, 8, 16]), draw.randint(3, 12), draw.randint(6, 24)])
    channels = draw.pick([5, 16, 24, 40])
    y = net.node("Conv", [x, filters(net, channels, x.fixed(1), [3, 3])], pads=[1] * 4)
    operator = draw.pick(["LRN", "LRN", "Softmax", "LogSoftmax", "ReduceMean", "ReduceMax", "ReduceL2", "InstanceNormalization", "GlobalAveragePool", "Transpose",
                          "DepthToSpace", "Concat", "Slice", "MaxPool", "AveragePool", "ConvTranspose", "Resize", "Gather", "LpNormalization", "BatchNormalization"])
    if operator == "LRN":
        net.node(operator, [y], size=draw.pick([3, 5, 7]), **attributes(draw, beta=[0.5, 0.75, 0.6], alpha=[0.01]))
    elif operator in ("Softmax", "LogSoftmax"):
        net.node(operator, [y], axis=draw.pick([1, 2, 3]))
    elif operator.startswith("Reduce"):
        axes, by_input = draw.several(range(4), least=1), net.version(operator) >= 18
        net.node(operator, [y, net.constant(np.array(axes, np.int64))] if by_input else [y], axes=None if by_input else axes, **attributes(draw, keepdims=[0, 1]))
    elif operator == "InstanceNormalization":
        net.node(operator, [y, *(net.weights(d.FLOAT, [channels], runtime=0) for _ in range(2))])
    elif operator == "BatchNormalization":
        net.node(operator, [y, *(net.input(d.FLOAT, [channels]) for _ in range(3)), net.input(d.FLOAT, [channels], "positive")])
    elif operator == "Transpose":
        net.node(operator, [y], perm=draw.pick([[0, 2, 3, 1], [0, 3, 1, 2], [1, 0, 2, 3], [0, 1, 3, 2]]))
    elif operator == "DepthToSpace":
        if channels % 4:
            raise Rejected("no blocks")
        net.node(operator, [y], blocksize=2)
    elif operator == "Concat":
        net.node(operator, [y, x], axis=1)
    elif operator == "Slice":
        if net.opset < 10:
            raise Rejected("newer forms only")
        net.node(operator, [y, *(net.constant(np.array(v, np.int64)) for v in ([1, 1], [channels - 1, 9], [1, 3]))])
    elif operator in ("MaxPool", "AveragePool"):
        net.node(operator, [y], kernel_shape=[draw.pick([1, 2, 3])] * 2, strides=[draw.pick([1, 2])] * 2)
    elif operator == "ConvTranspose":
        net.node(operator, [y, net.weights(d.FLOAT, [channels, draw.pick([3, 16]), 2, 2], 0.2, runtime=0)], strides=[2, 2])
    elif operator == "Resize":
        if net.opset < 13:
            raise Rejected("newer forms only")
        net.node(operator, [y, None, net.constant(np.float32([1, 1, 2, 2]))], mode=draw.pick(["linear", "nearest", "cubic"]))
    elif operator == "Gather":
        net.node(operator, [y, net.constant(np.array([1, 0, 3]))], axis=1)
    elif operator == "LpNormalization":
        net.node(operator, [y], axis=1, p=draw.pick([1, 2]))
    else:
        net.node(operator, [y])


@recipe("Cast", network=0)
def small_floats(net):
    """To a float of 8 or 16 bits and back, from everything that such a type rounds, cuts or lacks."""
    draw = net.draw
    if net.newer("Cast") < 19:
        raise Rejected("no such types")
    x = net.input(d.FLOAT, [draw.randint(20, 60)], "special")
    x.arrays = [np.where(draw.numpy().random(a.shape) < 0.5, a, draw.numpy().standard_normal(a.shape) * 10.0 ** draw.numpy().integers(-8, 6, a.shape)).astype(np.float32)
                for a in x.arrays]
    between, name = net.fresh(), net.fresh()
    to = draw.pick([TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ])
    more = {} if to == TensorProto.BFLOAT16 else attributes(draw, saturate=[0, 1])
    net.add([helper.make_node("Cast", [x.name], [between], to=to, **more), helper.make_node("Cast", [between], [name], to=d.FLOAT)], [x], [name])


@recipe("Sin", "Cos", network=0)
def far_angles(net):
    """Angles of which many turns are taken off."""
    x = deep_input(net, [net.draw.randint(1, 40)])
    x.arrays = [(a * 10.0 ** net.draw.numpy().integers(0, 6, a.shape)).astype(np.float32) for a in x.arrays]
    net.node(net.draw.pick(["Sin", "Cos"]), [x])


@recipe("ReduceSum", "ReduceMax", "ReduceMean", "ReduceLogSumExp", "Softmax", "LogSoftmax", "ArgMax", "ArgMin", "TopK", "LayerNormalization",
        "InstanceNormalization", "LRN", network=0.3)
def long_rows(net):
    """Rows, columns and planes longer than vectors, lines and blocks."""
    draw = net.draw
    operator = draw.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceMean", "ReduceLogSumExp", "Softmax", "LogSoftmax", "Hardmax", "ArgMax",
                          "ArgMin", "TopK", "LayerNormalization", "InstanceNormalization", "LRN", "CumSum"])
    dims = draw.pick([[draw.randint(2, 9), draw.randint(100, 300)], [2, draw.randint(8, 70), draw.randint(3, 40)],
                      [draw.randint(1, 3), draw.randint(10, 30), draw.randint(130, 300)], [1, 24, 9, 20]])
    if draw.chance(0.1):
        dims[draw.randrange(len(dims))] = 0
    sorts = operator in ("ArgMax", "ArgMin", "TopK", "Hardmax")
    x = deep_input(net, dims, draw.pick([d.FLOAT, d.FLOAT, d.INT8, d.UINT8, d.INT32]) if operator in ("ArgMax", "ArgMin") and net.opset >= 13 else d.FLOAT)
    if sorts and draw.chance(0.5):
        x.arrays = [net.draw.array(x.dtype, a.shape, "small") for a in x.arrays]
    axis = draw.randint(0, len(dims) - 1)
    if operator.startswith("Reduce"):
        axes = draw.several(range(len(dims)), least=1)
        by_input = net.version(operator) >= (13 if operator == "ReduceSum" else 18)
        net.node(operator, [x, net.constant(np.array(axes, np.int64))] if by_input else [x], axes=None if by_input else axes)
    elif operator in ("ArgMax", "ArgMin"):
        last = attributes(draw, select_last_index=[0, 1]) if net.version(operator) >= 12 else {}
        net.node(operator, [x], axis=axis, **last)
    elif operator == "TopK":
        if net.version("TopK") < 11:
            raise Rejected("newer forms only")
        count = draw.randint(1, min(x.extents(axis)))
        net.node(operator, [x, net.constant(np.array([count], np.int64))], 2, axis=axis, **attributes(draw, largest=[0, 1]))
    elif operator == "LayerNormalization":
        net.version(operator)
        if x.fixed(len(dims) - 1) is None:
            raise Rejected("the normalised extents are not fixed")
        net.node(operator, [x, net.weights(d.FLOAT, [x.fixed(len(dims) - 1)])], axis=-1)
    elif operator == "InstanceNormalization":
        if len(dims) < 3 or not x.fixed(1):
            raise Rejected("no channels")
        net.node(operator, [x, *(net.weights(d.FLOAT, [x.fixed(1)], runtime=0) for _ in range(2))])
    elif operator == "LRN":
        if len(dims) < 3:
            raise Rejected("no planes")
        net.node(operator, [x], size=draw.pick([1, 3, 5, 8]))
    elif operator == "CumSum":
        net.version(operator)
        net.node(operator, [x, net.constant(np.array(axis, np.int64))])
    else:
        net.node(operator, [x], axis=axis)
