"""Convolutions at the extents where kernels change their ways: widths known only while running, lines of many inputs, strips of bytes."""

import numpy as np

import draw as d
from net import Rejected
from recipes import recipe
from recipes_quant import BYTES, scale, zero_point

ROOM = 96 * 1024                                # elements of one value


def made_room(net):
    net.most = max(net.most, ROOM)


def extent(net, low, high, chance=0.8):
    """An extent between two bounds: known only while running, in models that have such, or fixed."""
    draw = net.draw
    if net.runtime and draw.chance(chance):
        return net.name_extent([low, high, draw.randint(low, high), draw.randint(low, high)])
    return draw.randint(low, high)


def filters(net, outputs, inputs, sizes):
    return net.weights(d.FLOAT, [outputs, inputs, *sizes], 1 / max(1, inputs * int(np.prod(sizes))) ** 0.5, runtime=0)


def behind(net, y):
    """What may be fused behind a convolution."""
    draw = net.draw
    kind = draw.pick(["none", "none", "Relu", "Sigmoid", "Add", "Mul", "HardSwish"])
    if kind in ("Add", "Mul"):
        dims = [net.like_axis(y, a) for a in range(y.rank)]
        net.node(kind, [y, net.input(y.dtype, dims)])
    elif kind == "HardSwish" and net.opset >= 14 or kind in ("Relu", "Sigmoid"):
        net.node(kind, [y])


# -- floats ----------------------------------------------------------------------------------------------------------------

@recipe("Conv", network=0)
def wide_lines(net):
    """1x1 windows over more inputs than a block of k has, one row or an image that is one, perhaps behind another of them."""
    draw = net.draw
    made_room(net)
    inputs, outputs = draw.pick([97, 100, 128, 132, 196, 200, 388]), draw.pick([16, 24, 32, 33, 64, 70, 96, 128])
    most = ROOM // max(inputs, outputs)
    width = extent(net, draw.pick([1, 1, 3, 30]), min(draw.pick([9, 40, 90, 400]), most) + 30)
    x = net.input(d.FLOAT, [draw.pick([1, 1, 1, 2]), inputs, *draw.pick([[], [], [1], [2], [3]]), width])
    axes = x.rank - 2
    y = net.node("Conv", [x, filters(net, outputs, inputs, [1] * axes), *([net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.5) else [])],
                 strides=[draw.pick([1, 1, 1, 2])] * axes)
    if draw.chance(0.4) and outputs > 30:
        y = net.node("Conv", [y, filters(net, draw.pick([32, 40, 64]), outputs, [1] * axes)])
    behind(net, y)


@recipe("Conv", network=0)
def open_windows(net):
    """Windows of every form, dense, grouped and by channel, over images wider and narrower than tiles; widths known only while running."""
    draw = net.draw
    made_room(net)
    channels, axes = draw.pick([3, 4, 8, 16, 17, 32, 40]), draw.pick([1, 2, 2, 2, 3])
    most = draw.pick([6, 20, 50, 90]) if axes < 3 else 20
    sizes = [draw.pick([1, 2, 3])] * (axes - 2) + [draw.pick([1, 3, 3, 5])] * min(axes - 1, 1) + [draw.pick([1, 2, 3, 3, 5, 7, 17])]
    dilation = draw.pick([1, 1, 1, 2, 5, 9])
    reach = (sizes[-1] - 1) * dilation + 1
    pads = [s // 2 for s in sizes[:-1]] + [draw.pick([0, 0, reach // 2, reach // 2, reach - 1])]
    width = extent(net, max(1, reach - 2 * pads[-1]), max(reach, most))
    dims = [draw.pick([1, 1, 2]), channels, *(extent(net, max(1, s - 2 * (s // 2)), draw.pick([3, 9]) + s, 0.4) for s in sizes[:-1]), width]
    x = net.input(d.FLOAT, dims)
    kind = draw.pick(["dense", "dense", "depthwise", "depthwise", "grouped"])
    group = {"dense": 1, "depthwise": channels, "grouped": draw.pick([g for g in range(1, channels + 1) if channels % g == 0])}[kind]
    outputs = channels * draw.pick([1, 1, 1, 2]) if kind == "depthwise" else group * draw.pick([1, 3, 8, 16, 20, 33] if group < 4 else [1, 2, 4, 5])
    y = net.node("Conv", [x, filters(net, outputs, channels // group, sizes), *([net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.6) else [])],
                 group=group, pads=pads * 2, strides=[1] * (axes - 1) + [draw.pick([1, 1, 2, 3])], dilations=[1] * (axes - 1) + [dilation])
    behind(net, y)


@recipe("Conv", network=0)
def small_and_heavy(net):
    """Small images under weights that leave the cache, and images of few rows beside them: tiles of whole images, narrow rows."""
    draw = net.draw
    made_room(net)
    inputs, outputs = draw.pick([64, 96, 128, 160]), draw.pick([32, 64, 96, 128, 40])
    size, dims = draw.pick([1, 3, 3, 5]), [draw.pick([1, 1, 1, 2]), inputs, draw.randint(1, 16), draw.randint(1, 16)]
    x = net.input(d.FLOAT, dims)
    w = filters(net, outputs, inputs, draw.pick([[size, size], [size, size], [1, size]]))
    pads = [n // 2 for n in w.arrays[0].shape[2:]] * 2
    y = net.node("Conv", [x, w], pads=draw.pick([pads, pads, [0] * 4]), strides=[draw.pick([1, 1, 2])] * 2, dilations=[draw.pick([1, 1, 1, 2])] * 2)
    behind(net, y)


@recipe("Conv", network=0)
def open_and_heavy(net):
    """Weights that leave the cache over images whose extents are known only while running, or none."""
    draw = net.draw
    made_room(net)
    inputs, outputs, size = draw.pick([(64, 96, 3), (96, 64, 3), (200, 256, 1), (256, 192, 1), (128, 40, 3), (64, 33, 5)])
    low = draw.pick([0, 1, 1]) if size == 1 else 1
    dims = [1, inputs, *([extent(net, 1, 6)] if draw.chance(0.6) else []), extent(net, low, draw.pick([3, 9, 20]))]
    axes = len(dims) - 2
    x = net.input(d.FLOAT, dims)
    y = net.node("Conv", [x, filters(net, outputs, inputs, [size] * axes)], pads=[size // 2] * 2 * axes, dilations=[draw.pick([1, 1, 2])] * axes)
    behind(net, y)


# -- bytes -----------------------------------------------------------------------------------------------------------------

def integers(net, x, group, outputs, sizes, **chosen):
    """QLinearConv of x, now and then ConvInteger."""
    draw, channels = net.draw, x.fixed(1)
    kind = d.INT8 if draw.chance(0.8) else draw.pick(BYTES)
    w = net.weights(kind, [outputs, channels // group, *sizes], runtime=0, style=draw.pick([None, None, "special"]))
    if x.dtype == d.UINT8 and draw.chance(0.15):
        net.node("ConvInteger", [x, w, zero_point(net, x.dtype)] if draw.chance(0.7) else [x, w], group=group, **chosen)
        return
    per = (outputs,) if kind == d.INT8 and draw.chance(0.5) else ()
    zero = net.constant(np.zeros(per, d.numpy_type(kind)), kind) if kind == d.INT8 else zero_point(net, kind)
    x_zero = net.input(x.dtype, []) if draw.chance(0.15) else zero_point(net, x.dtype)
    bias = [net.weights(d.INT32, [outputs], runtime=0)] if draw.chance(0.6) else []
    y_scale = net.constant(np.float32(draw.pick([0.1, 0.5, 2.0, 8.0])))
    net.node("QLinearConv", [x, scale(net), x_zero, w, scale(net, per), zero, y_scale, zero_point(net, x.dtype), *bias], group=group, **chosen)


@recipe("QLinearConv", "ConvInteger", network=0)
def open_bytes(net):
    """Images of bytes whose extents are known only while running: tiles along rows, columns and what is left of them."""
    draw = net.draw
    net.newer("QLinearConv")
    made_room(net)
    net.loosely = True
    channels, axes, dtype = draw.pick([3, 4, 8, 12, 16, 17, 32, 36]), draw.pick([1, 2, 2, 2]), draw.pick(BYTES)
    size, dilation = draw.pick([1, 2, 3, 3, 5, 7]), draw.pick([1, 1, 1, 2, 4])
    reach = (size - 1) * dilation + 1
    pad = draw.pick([0, reach // 2, reach // 2, reach - 1])
    width = extent(net, max(1, reach - 2 * pad), max(reach, draw.pick([6, 20, 60])))
    x = net.input(dtype, [draw.pick([1, 1, 2]), channels, *([extent(net, size, 9 + size)] if axes == 2 else []), width])
    kind = draw.pick(["dense", "dense", "dense", "depthwise", "depthwise", "grouped"])
    group = {"dense": 1, "depthwise": channels, "grouped": draw.pick([g for g in range(1, channels + 1) if channels % g == 0])}[kind]
    outputs = channels * draw.pick([1, 1, 2]) if kind == "depthwise" else group * draw.pick([1, 4, 8, 17, 32, 40] if group < 4 else [1, 4, 5])
    integers(net, x, group, outputs, [size] * axes, pads=[size // 2] * (axes - 1) + [pad] + [size // 2] * (axes - 1) + [pad],
             strides=[draw.pick([1, 1, 2, 3])] * axes, dilations=[1] * (axes - 1) + [dilation])


@recipe("QLinearConv", "ConvInteger", network=0)
def strips_of_bytes(net):
    """Images of bytes large enough for strips of widened ones, of few weights and of many, of one tap and of more."""
    draw = net.draw
    net.newer("QLinearConv")
    made_room(net)
    net.loosely = True
    channels, outputs, dtype = draw.pick([16, 20, 32, 36, 48]), draw.pick([16, 18, 24, 32, 40, 48]), draw.pick(BYTES)
    size = draw.pick([1, 1, 3, 3, 5])
    width = extent(net, draw.pick([1, 12, 48]), draw.randint(48, 110), 0.5)
    high = 40000 // (channels + outputs) // (width if isinstance(width, int) else max(net.named[width])) + 1
    step = draw.pick([1, 1, 1, 2])
    x = net.input(dtype, [1, channels, max(size, high * step), width])
    group = 2 if channels % 8 == 0 and channels >= 32 and outputs % 2 == 0 and draw.chance(0.2) else 1
    window = draw.pick([[size, size], [1, size], [size, 1]])
    integers(net, x, group, outputs, window, pads=draw.pick([[n // 2 for n in window] * 2, [0] * 4 if isinstance(width, int) else [2] * 4]), strides=[step] * 2,
             dilations=[1, draw.pick([1, 1, 2])])
    if any(a.size == 0 for v in net.values for a in v.arrays):
        raise Rejected("no pixel")
