"""Operators of quantised tensors, alone and joined: scales per tensor, per axis and per block."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_windows import groups, window

BYTES = (d.UINT8, d.INT8)


def scale(net, shape=(), dtype=np.float32):
    return net.constant((0.01 + net.draw.numpy().random(shape)).astype(dtype) * np.array(0.1, dtype))


def zero_point(net, dtype, shape=()):
    kind = d.numpy_type(dtype)
    if dtype == d.INT8 and net.draw.chance(0.5):
        return net.constant(np.zeros(shape, kind), dtype)
    return net.constant(net.draw.array(dtype, shape, "plain"), dtype)


def quantised_types(version):
    return BYTES + ((d.INT16, d.UINT16) if version >= 21 else ())


@recipe("QuantizeLinear", network=0)
def quantize(net):
    draw = net.draw
    version = net.version("QuantizeLinear")
    x = net.some((d.FLOAT, d.HALF) if version >= 19 else (d.FLOAT,), rank=(0, 4), exact=True)
    to = draw.pick(quantised_types(version))
    layout, shape, chosen = parameters(net, x, version)
    y_scale = scale(net, shape, d.numpy_type(x.dtype))
    inputs = [x, y_scale] + ([zero_point(net, to, shape)] if draw.chance(0.8) or to != d.UINT8 else [])
    net.node("QuantizeLinear", inputs, **chosen, **(attributes(draw, saturate=[1]) if version >= 19 else {}))


def parameters(net, x, version):
    """How scales lie: (tensor | axis | block, their extents, the attributes that say so)."""
    draw = net.draw
    layout = draw.weighted({"tensor": 3, "axis": 2 if version >= 13 and x.rank else 0, "block": 1 if version >= 21 and x.rank else 0})
    if layout == "tensor":
        return layout, (), {}
    axis = draw.randrange(x.rank)
    if x.fixed(axis) is None:
        raise Rejected("the extent of the scales' axis is not fixed")
    shown = {"axis": axis - x.rank if draw.chance(0.3) else axis}
    if layout == "axis":
        return layout, (x.fixed(axis),), shown
    shape = [x.fixed(a) for a in range(x.rank)]
    if None in shape:
        raise Rejected("the extents of the scales are not fixed")
    size = draw.pick([n for n in range(1, shape[axis] + 1)] or [1])
    shape[axis] = -(-shape[axis] // size)
    return layout, tuple(shape), shown | {"block_size": size}


@recipe("DequantizeLinear", network=0)
def dequantize(net):
    draw = net.draw
    version = net.version("DequantizeLinear")
    x = net.some(quantised_types(version) + (d.INT32,), rank=(0, 4))
    layout, shape, chosen = parameters(net, x, version)
    zero = x.dtype != d.INT32 and draw.chance(0.7)
    net.node("DequantizeLinear", [x, scale(net, shape)] + ([zero_point(net, x.dtype, shape)] if zero else []), **chosen)


@recipe("DynamicQuantizeLinear", network=0)
def dynamic(net):
    net.version("DynamicQuantizeLinear")
    x = net.some((d.FLOAT,), rank=(0, 4), exact=True)
    if any(not a.any() for a in x.arrays):
        raise Rejected("zeros alone: docs/differences.md")
    net.node("DynamicQuantizeLinear", [x], outputs=3)


@recipe("QLinearConv", "ConvInteger", network=0)
def integer_convolution(net):
    draw = net.draw
    operator = draw.pick(["QLinearConv", "QLinearConv", "ConvInteger"])
    net.version(operator)
    n = draw.pick([1, 2, 2, 3])
    channels = draw.pick([1, 3, 4, 8, 9])
    dtype = draw.pick(BYTES) if operator == "QLinearConv" else d.UINT8
    x = net.input(dtype, [net.extent(2), channels] + [net.extent(10) for _ in range(n)])
    chosen = window(net, x)
    group, outputs = groups(draw, channels)
    kind = dtype if dtype == d.INT8 else draw.pick(BYTES)
    w = net.weights(kind, [outputs, channels // group, *chosen["kernel_shape"]], runtime=0.05)
    if operator == "ConvInteger":
        inputs = [x, w] + ([zero_point(net, dtype)] + ([zero_point(net, kind)] if draw.chance(0.5) else []) if draw.chance(0.7) else [])
        net.node(operator, inputs, group=group, **chosen)
        return
    per_channel = (outputs,) if draw.chance(0.5) else ()
    weight_zero = net.constant(np.zeros(per_channel, d.numpy_type(kind)), kind) if kind == d.INT8 else zero_point(net, kind, ())
    if kind == d.UINT8:
        per_channel = ()
    inputs = [x, scale(net), zero_point(net, dtype), w, scale(net, per_channel), weight_zero, scale(net), zero_point(net, dtype)]
    inputs += [net.weights(d.INT32, [outputs], runtime=0.05)] if draw.chance(0.6) else []
    net.node(operator, inputs, group=group, **chosen)


@recipe("QLinearMatMul", "MatMulInteger", network=0)
def integer_product(net):
    draw = net.draw
    operator = draw.pick(["QLinearMatMul", "MatMulInteger"])
    net.version(operator)
    left, right = draw.pick(BYTES), draw.pick(BYTES)
    batch = [net.extent(3) for _ in range(draw.pick([0, 0, 1, 2]))]
    rows, inner, columns = net.extent(6), draw.pick([1, 2, 3, 4, 7, 16, 33]), draw.pick([1, 2, 4, 5, 8, 17])
    x = net.input(left, [*batch, rows, inner])
    w = net.weights(right, [inner, columns], runtime=0.1)
    if operator == "MatMulInteger":
        inputs = [x, w] + ([zero_point(net, left)] + ([zero_point(net, right, (columns,) if draw.chance(0.3) else ())] if draw.chance(0.6) else []) if draw.chance(0.7) else [])
        net.node(operator, inputs)
        return
    out = draw.pick([left])
    columns_apart = (columns,) if draw.chance(0.3) else ()
    net.node(operator, [x, scale(net), zero_point(net, left), w, scale(net, columns_apart), zero_point(net, right, columns_apart),
                        scale(net), zero_point(net, out)])


@recipe("QuantizeLinear", "DequantizeLinear", "Conv", "Gemm", "MatMul", "Add", network=0)
def wrapped(net):
    """One float operator between quantised tensors, with every form of bias and of scales that a quantiser could write."""
    draw = net.draw
    version = net.version("QuantizeLinear")
    net.loosely = True                              # a sum between two whole numbers may be rounded to either
    dtype = draw.pick(BYTES)
    operator = draw.pick(["Conv", "Gemm", "MatMul", "Add", "Mul", "MaxPool", "AveragePool", "GlobalAveragePool", "Concat", "Sigmoid", "Softmax"])
    rank = 2 if operator in ("Gemm", "MatMul") else 4
    dims = [net.extent(3), draw.pick([1, 3, 5, 8]), *([net.extent(8), net.extent(8)] if rank == 4 else [])]
    x = stored(net, net.input(dtype, dims))
    y = applied(net, operator, x, version)
    made = net.node("QuantizeLinear", [y, scale(net), zero_point(net, dtype)])
    if draw.chance(0.3):
        net.node("DequantizeLinear", [made, scale(net), zero_point(net, dtype)])


def stored(net, x, shape=(), **chosen):
    return net.node("DequantizeLinear", [x, scale(net, shape), zero_point(net, x.dtype, shape)], **chosen)


def constant_stored(net, shape, axis, version):
    """A constant of bytes, dequantised: per tensor or along an axis."""
    kind = net.draw.pick(BYTES)
    value = net.constant(net.draw.array(kind, shape), kind)
    if version < 13 or net.draw.chance(0.5):
        return net.node("DequantizeLinear", [value, scale(net), zero_point(net, kind)])
    count = (shape[axis],)
    inputs = [value, scale(net, count)] + ([net.constant(np.zeros(count, d.numpy_type(kind)), kind)] if net.draw.chance(0.7) else [])
    return net.node("DequantizeLinear", inputs, axis=axis)


def applied(net, operator, x, version):
    draw = net.draw
    channels = x.fixed(1)
    if operator == "Conv":
        chosen = window(net, x)
        group, outputs = groups(draw, channels)
        inputs = [x, constant_stored(net, [outputs, channels // group, *chosen["kernel_shape"]], 0, version)]
        inputs += [bias(net, [outputs])] if draw.chance(0.6) else []
        return net.node("Conv", inputs, group=group, **chosen)
    if operator == "Gemm":
        columns, turned = draw.pick([1, 3, 5, 8]), draw.chance(0.5)
        w = constant_stored(net, [columns, channels] if turned else [channels, columns], 0 if turned else 1, version)
        rows = net.like_axis(x, 0)
        shapes = [[columns], [1, columns], []] + ([[rows, 1], [rows, columns]] if isinstance(rows, int) else [])
        inputs = [x, w] + ([bias(net, draw.pick(shapes))] if draw.chance(0.7) or net.opset < 11 else [])
        return net.node("Gemm", inputs, transB=int(turned))
    if operator == "MatMul":
        return net.node("MatMul", [x, constant_stored(net, [channels, draw.pick([1, 4, 9])], 1, version)])
    if operator in ("Add", "Mul", "Concat"):
        other = stored(net, net.input(draw.pick(BYTES), [net.like_axis(x, a) for a in range(x.rank)]))
        return net.node(operator, [x, other], **({"axis": 1} if operator == "Concat" else {}))
    if operator in ("MaxPool", "AveragePool"):
        chosen = window(net, x)
        chosen.pop("dilations", None)
        return net.node(operator, [x], **chosen)
    return net.node(operator, [x])


def bias(net, shape):
    """A bias as floats or as a dequantised 32-bit integer."""
    if net.draw.chance(0.5):
        return net.constant(net.draw.array(d.FLOAT, shape))
    value = net.constant(net.draw.array(d.INT32, shape, "plain"))
    return net.node("DequantizeLinear", [value, net.constant(np.float32(0.003))])
