"""Extents and values at which kernels take their seldom ways: what `make answers-branches` said was never taken."""

import numpy as np
from onnx import TensorProto, helper

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_recurrent import ACTIVATIONS, ALPHA, BETA
from recipes_seldom import only_opset


def numbers(net, values, dtype=np.int64):
    return net.constant(np.array(values, dtype))


# -- nothing, or one element -----------------------------------------------------------------------------------------------

def empty_dims(net, rank):
    """Extents, one of which is 0: always, or at some settings."""
    draw = net.draw
    dims = [draw.randint(1, 6) for _ in range(rank)]
    dims[draw.randrange(rank)] = net.name_extent([0, *(draw.randint(0, 5) for _ in range(3))]) if net.runtime else 0
    return dims


def empty_reduction(net, x, axis):
    operator = net.draw.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare"] +
                             ["ReduceMean", "ReduceLogSumExp"] * (x.dtype not in d.INTEGERS))        # of whole numbers undefined
    by_input = net.version(operator) >= (13 if operator == "ReduceSum" else 18)
    net.node(operator, [x, numbers(net, [axis])] if by_input else [x], axes=None if by_input else [axis], **attributes(net.draw, keepdims=[0, 1]))


def empty_norm(net, x, axis):
    del axis
    draw, last = net.draw, x.fixed(x.rank - 1)
    operator = draw.pick(["LayerNormalization", "LRN", "InstanceNormalization", "LpNormalization", "GlobalAveragePool", "GlobalMaxPool"])
    if operator == "LayerNormalization" and last:
        net.newer(operator)
        net.node(operator, [x, net.weights(x.dtype, [last], runtime=0)])
    elif operator == "LRN" and x.rank > 2:
        net.node(operator, [x], size=3)
    elif operator == "InstanceNormalization" and x.rank > 2 and x.fixed(1):
        net.node(operator, [x, *(net.weights(x.dtype, [x.fixed(1)], runtime=0) for _ in range(2))])
    elif operator == "LpNormalization":
        net.node(operator, [x], axis=draw.randrange(x.rank))
    elif operator.startswith("Global") and x.rank > 2:
        net.node(operator, [x])
    else:
        raise Rejected("no such extents")


def empty_choice(net, x, axis):
    draw = net.draw
    operator = draw.pick(["ArgMax", "ArgMin", "TopK", "Softmax", "LogSoftmax", "Hardmax", "CumSum", "NonZero"])
    if operator == "TopK":
        if net.version(operator) < 11:
            raise Rejected("newer forms only")
        net.node(operator, [x, numbers(net, [draw.randint(0, 1)])], 2, axis=axis)
    elif operator == "CumSum":
        net.newer(operator)
        net.node(operator, [x, numbers(net, axis)])
    elif operator == "NonZero":
        net.node(operator, [x])
    else:
        net.node(operator, [x], axis=axis)


def empty_move(net, x, axis):
    draw = net.draw
    operator = draw.pick(["Transpose", "Concat", "Pad", "Tile", "Gather", "Slice", "Unsqueeze", "MatMul", "Where", "Cast"])
    if operator == "Transpose":
        order = list(range(x.rank))
        draw.shuffle(order)
        net.node(operator, [x], perm=order)
    elif operator == "Concat":
        dims = [net.like_axis(x, a) if a != axis else draw.randint(0, 3) for a in range(x.rank)]
        net.node(operator, [x, net.input(x.dtype, dims)], axis=axis)
    elif operator == "Pad":
        net.newer(operator)
        net.node(operator, [x, numbers(net, [draw.randint(0, 2) for _ in range(2 * x.rank)])] if net.version(operator) >= 11 else [x],
                 **({} if net.version(operator) >= 11 else {"pads": [draw.randint(0, 2) for _ in range(2 * x.rank)]}))
    elif operator == "Tile":
        net.node(operator, [x, numbers(net, [draw.randint(0, 2) for _ in range(x.rank)])])
    elif operator == "Gather":
        net.node(operator, [x, net.input(d.INT64, [net.name_extent([0, 2, 1, 3]) if net.runtime else 0],
                                         arrays=[np.zeros(n, np.int64) for n in ([0, 2, 1, 3] if net.runtime else [0] * net.count)])], axis=axis)
    elif operator == "Slice":
        net.newer(operator)
        if net.version(operator) < 10:
            raise Rejected("newer forms only")
        net.node(operator, [x, *(numbers(net, [v]) for v in (draw.randint(-2, 2), draw.randint(0, 3), axis))])
    elif operator == "MatMul" and x.rank > 1 and isinstance(x.fixed(x.rank - 1), int):
        net.node(operator, [x, net.weights(x.dtype, [x.fixed(x.rank - 1), draw.randint(1, 5)], runtime=0.5)])
    elif operator == "Cast":
        net.node(operator, [x], to=draw.pick([d.INT32, d.DOUBLE, d.HALF]))
    else:
        net.node("Add", [x, net.partner(x)])


@recipe("ReduceSum", "ReduceMax", "Softmax", "LRN", "LayerNormalization", "TopK", "ArgMax", "Concat", "Pad", "Gather", "MatMul", network=0)
def nothing(net):
    """Tensors without an element: always, or at some settings of the run-time extents."""
    draw = net.draw
    x = net.input(draw.pick([d.FLOAT, d.FLOAT, d.FLOAT, d.DOUBLE, d.INT32, d.INT64]), empty_dims(net, draw.randint(1, 4)))
    draw.pick([empty_reduction, empty_reduction, empty_norm, empty_choice, empty_move])(net, x, draw.randrange(x.rank))


# -- values ----------------------------------------------------------------------------------------------------------------

@recipe("Cast", network=0)
def powers(net):
    """To the type that has an exponent alone and back, from everything that it rounds, cuts or lacks."""
    draw, random = net.draw, net.draw.numpy()
    if net.opset < 25:
        only_opset(net, 25)
    x = net.input(draw.pick([d.FLOAT, d.FLOAT, d.DOUBLE, d.HALF]), [draw.randint(20, 60)])
    with np.errstate(all="ignore"):
        x.arrays = [np.where(random.random(a.shape) < 0.2, random.choice([0.0, 2.0 ** -127, 2.0 ** -126, 2.0 ** 127, 3.4e38, np.inf, np.nan, 1.0], a.shape),
                             2.0 ** random.integers(-149, 128, a.shape) * random.choice([1, 1.25, 1.5, 1.75], a.shape)).astype(a.dtype) for a in x.arrays]
    between, name = net.fresh(), net.fresh()
    more = attributes(draw, saturate=[0, 1], round_mode=["up", "down", "nearest"])
    net.add([helper.make_node("Cast", [x.name], [between], to=TensorProto.FLOAT8E8M0, **more), helper.make_node("Cast", [between], [name], to=d.FLOAT)], [x], [name])


@recipe("NonMaxSuppression", network=0)
def boxes_of_any_corners(net):
    """Boxes whose first corner is any of the four, boxes without an area, scores that are equal."""
    draw, random = net.draw, net.draw.numpy()
    net.newer("NonMaxSuppression")
    batch, boxes, classes = draw.randint(1, 2), draw.randint(2, 12), draw.randint(1, 3)
    corners = [random.integers(0, 5, (batch, boxes, 4)).astype(np.float32) for _ in range(net.count)]
    center = draw.pick([None, 0, 0, 1])
    scores = [(random.integers(0, 4, (batch, classes, boxes)) / 4).astype(np.float32) for _ in range(net.count)]
    inputs = [net.input(d.FLOAT, [batch, boxes, 4], arrays=corners), net.input(d.FLOAT, [batch, classes, boxes], arrays=scores),
              numbers(net, draw.randint(1, 6)), net.constant(np.float32(draw.pick([0.0, 0.1, 0.5])))]
    inputs += [net.constant(np.float32(draw.pick([-1.0, 0.0, 0.25])))] * draw.pick([0, 1])
    net.node("NonMaxSuppression", inputs, center_point_box=center)


@recipe("RNN", "GRU", "LSTM", network=0)
def cells_of_doubles(net):
    """Each activation, of numbers on both sides of its bends."""
    draw = net.draw
    operator = draw.pick(["RNN", "RNN", "GRU", "LSTM"])
    net.newer(operator)
    gates, functions = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}[operator]
    time, batch, features, hidden = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 4)
    names = [draw.pick([a for a in ACTIVATIONS if a != "Softplus"]) for _ in range(functions)]
    alphas = [round(draw.uniform(0.1, 0.9), 2) for n in names if n in ALPHA]
    betas = [round(draw.uniform(0.1, 0.9), 2) for n in names if n in BETA]
    x = net.input(d.DOUBLE, [time, batch, features])
    x.arrays = [4 * a for a in x.arrays]
    inputs = [x, net.weights(d.DOUBLE, [1, gates * hidden, features], 1.0, runtime=0), net.weights(d.DOUBLE, [1, gates * hidden, hidden], 0.4, runtime=0)]
    inputs += [net.weights(d.DOUBLE, [1, 2 * gates * hidden], 0.5, runtime=0)] if draw.chance(0.5) else []
    wanted = draw.pick([[True, True], [False, True], [True, False]])
    made = net.node(operator, inputs, outputs=wanted, hidden_size=hidden, activations=names, activation_alpha=alphas, activation_beta=betas,
                    clip=draw.pick([None, 0.7, 1.5]))
    if any(not np.all(np.abs(a) < 50) for v in (made if isinstance(made, list) else [made]) for a in v.arrays):
        raise Rejected("beyond what floats, in which ONNX Runtime is asked, say of doubles")


# -- extents ---------------------------------------------------------------------------------------------------------------

@recipe("Shape", "Gather", "Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Slice", network=0)
def arithmetic_of_extents(net):
    """Numbers computed of extents, as bounds of a Slice."""
    draw = net.draw
    if net.opset < 13:
        only_opset(net, draw.pick([13, 18, 21]))
    x = net.some((d.FLOAT,), rank=(1, 4))
    axis = draw.randrange(x.rank)
    shape = net.node("Shape", [x])
    at = net.node("Gather", [shape, numbers(net, [draw.randrange(x.rank)])], axis=0)
    for _ in range(draw.randint(1, 4)):
        operator = draw.pick(["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Neg", "Abs"])
        other = numbers(net, [draw.pick([-3, -2, -1, 1, 2, 3, 7] + ([0] if operator not in ("Div", "Mod") else []))])
        at = net.node(operator, [at] if operator in ("Neg", "Abs") else draw.pick([[at, other], [at, other], [other, at]]) if operator not in ("Div", "Mod") else [at, other])
    bounds = draw.pick([[numbers(net, [0]), at], [at, numbers(net, [2 ** 31 - 1])], [numbers(net, [-1]), at]])
    net.node("Slice", [x, *bounds, numbers(net, [axis]), numbers(net, [-1 if len(bounds[0].arrays[0]) and bounds[0].arrays[0][0] == -1 and bounds[0].constant else 1])])


@recipe("Resize", network=0)
def resized_while_running(net):
    """An image whose scales, and whose region, are known only while running."""
    draw = net.draw
    if net.opset < 13:
        only_opset(net, draw.pick([13, 18, 19]))
    n = draw.pick([1, 2, 2])
    dims = [draw.randint(1, 2), draw.randint(1, 9), *(draw.randint(1, 7) for _ in range(n))]
    x = net.input(d.FLOAT, dims)
    mode = draw.pick(["nearest", "linear", "linear", "cubic"])
    coordinates = draw.pick(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"])
    scales = [np.array([1, 1, *(draw.pick([0.5, 1.0, 2.0, 3.0, 1 / e]) for e in dims[2:])], np.float32) for _ in range(net.count)]
    if mode == "nearest" and coordinates == "tf_crop_and_resize" and any((s[2:] == 1).any() for s in scales):
        raise Rejected("an axis whose scale is 1: docs/differences.md")
    if any((np.floor(np.array(dims) * s) < 1).any() or ((np.array(dims) * s) % 1).any() for s in scales):
        raise Rejected("a fraction of an extent: docs/differences.md")
    region = None
    if coordinates == "tf_crop_and_resize":
        regions = [np.array([0, 0, *(draw.pick([0, 0.2, -0.3]) for _ in range(n)), 1, 1, *(draw.pick([1, 0.7, 1.3]) for _ in range(n))], np.float32)
                   for _ in range(net.count)]
        region = net.input(d.FLOAT, [4 + 2 * n], arrays=regions) if draw.chance(0.7) else net.constant(regions[0])
    chosen = attributes(draw, extrapolation_value=[0.0, 10.0]) if region else {}
    if mode == "cubic":
        chosen |= attributes(draw, exclude_outside=[0, 1])
    if mode != "nearest" and net.opset >= 18:
        chosen |= attributes(draw, antialias=[0, 1])
    net.node("Resize", [x, region, net.input(d.FLOAT, [2 + n], arrays=scales)], mode=mode, coordinate_transformation_mode=coordinates, **chosen)


@recipe("Conv", "LRN", network=0)
def wide_windows(net):
    """Normalisation over more neighbours than a line keeps, of channels that follow each other in memory or do not."""
    draw = net.draw
    net.most = 64 * 1024
    x = net.input(d.FLOAT, [draw.randint(1, 2), draw.pick([1, 5, 40, 300]), draw.randint(1, 4), draw.randint(1, 20)])
    if draw.chance(0.5):
        x = net.node("Conv", [x, net.weights(d.FLOAT, [draw.pick([5, 16, 280]), x.fixed(1), 1, 1], 0.2, runtime=0)])
    net.node("LRN", [x], size=draw.pick([1, 3, 63, 131, 150, 301]), alpha=draw.pick([0.01, 1.0]), **attributes(draw, beta=[0.5, 0.75, 0.6]))


# -- sizes -----------------------------------------------------------------------------------------------------------------

@recipe("Conv", network=0)
def large_images(net):
    """Images and weights on both sides of what blocks of rows are chosen by, and lines of more tiles than are kept."""
    draw = net.draw
    kind = draw.pick(["image", "image", "weights", "line", "line"])
    if kind == "image":
        dims, outputs, size = [1, draw.pick([8, 16]), draw.randint(80, 100), draw.randint(80, 100)], draw.pick([8, 16, 20]), draw.pick([1, 3])
    elif kind == "weights":
        dims, outputs, size = [1, 512, 9, 9], 512, 1
    else:
        dims, outputs, size = [1, draw.pick([100, 132, 200]), draw.randint(150, 420)], draw.pick([16, 32, 40, 64]), 1
    net.most = max(net.most, int(np.prod(dims)))
    if net.runtime and kind == "line" and draw.chance(0.3):
        dims[-1] = net.runtime_extent(dims[-1])
    x = net.input(d.FLOAT, dims)
    axes = len(dims) - 2
    w = net.weights(d.FLOAT, [outputs, dims[1], *[size] * axes], (dims[1] * size ** axes) ** -0.5, runtime=0)
    y = net.node("Conv", [x, w], pads=[draw.pick([0, size // 2])] * 2 * axes, strides=[draw.pick([1, 1, 2]) if kind == "image" else 1] * axes)
    if draw.chance(0.5):
        net.node(draw.pick(["Relu", "Sigmoid"]), [y])


@recipe("QLinearConv", network=0)
def heavy_bytes(net):
    """Bytes whose transformed weights leave the caches, or whose channels are odd."""
    draw, dtype = net.draw, net.draw.pick([d.UINT8, d.INT8])
    net.newer("QLinearConv")
    net.most, net.loosely = 64 * 1024, True
    channels, outputs = draw.pick([(64, 64), (64, 96), (33, 40), (17, 16), (48, 64), (16, 33), (128, 128)])
    x = net.input(dtype, [draw.pick([1, 1, 2]), channels, draw.randint(6, 16), draw.randint(6, 20)])
    w = net.weights(d.INT8, [outputs, channels, 3, 3], runtime=0)
    inputs = [x, net.constant(np.float32(0.02)), net.constant(draw.array(dtype, ()), dtype), w, net.constant(np.float32(0.01)), net.constant(np.int8(0)),
              net.constant(np.float32(draw.pick([0.5, 2.0]))), net.constant(draw.array(dtype, ()), dtype)]
    inputs += [net.weights(d.INT32, [outputs], runtime=0)] if draw.chance(0.5) else []
    net.node("QLinearConv", inputs, pads=[draw.pick([0, 1])] * 4)


@recipe("QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger", network=0)
def zero_while_running(net):
    """Zero points that the caller gives."""
    draw, dtype = net.draw, net.draw.pick([d.UINT8, d.INT8])
    operator = draw.pick(["QLinearConv", "QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger"])
    net.newer(operator)
    net.most, net.loosely = 64 * 1024, True
    dtype = d.UINT8 if operator == "ConvInteger" else dtype
    zero = net.input(dtype, [])
    channels = draw.pick([3, 8, 16, 20])
    if operator.endswith(("MatMul", "MatMulInteger")):
        x, w = net.input(dtype, [draw.randint(1, 40), channels]), net.weights(d.INT8, [channels, draw.pick([4, 16, 33])], runtime=0)
        window = {}
    else:
        group = channels if draw.chance(0.3) else 1
        outputs, size = channels if group > 1 else draw.pick([4, 16, 33]), draw.pick([1, 3, 3])
        x = net.input(dtype, [draw.randint(1, 2), channels, draw.randint(3, 20), draw.randint(3, 40)])
        w = net.weights(d.INT8, [outputs, channels // group, size, size], runtime=0)
        window = {"group": group, "pads": [draw.pick([0, size // 2])] * 4, "strides": [draw.pick([1, 1, 2])] * 2}
    if operator.endswith("Integer"):
        net.node(operator, [x, w, zero], **window)
        return
    y_zero = zero if draw.chance(0.5) else net.constant(draw.array(dtype, ()), dtype)
    net.node(operator, [x, net.constant(np.float32(0.02)), zero, w, net.constant(np.float32(0.01)), net.constant(np.int8(0)), net.constant(np.float32(0.7)), y_zero],
             **window)
