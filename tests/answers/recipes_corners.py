"""Forms at which kernels that do not convolve change their ways: products of few bits by rows and columns, saturated extents, long axes."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_edges import numbers
from recipes_msft import MSFT, bytes_of, put
from recipes_seldom import only_opset


# -- products ----------------------------------------------------------------------------------------------------------------

@recipe("MatMulNBits", network=0, domain=MSFT)
def rows_of_few_bits(net):
    """Rows on both sides of what a panel is decoded for, columns on both sides of a panel, blocks wider and narrower than vectors."""
    draw = net.draw
    net.most = max(net.most, 16 * 1024)
    bits, block = draw.pick([4, 4, 8, 8, 2]), draw.pick([16, 32, 64, 128, 256])
    blocks = draw.pick([1, 2, 3, 5] + ([70] if block == 16 else []))
    inner, columns = block * blocks - draw.pick([0, 0, 1, 5, 8, block - 1]), draw.pick([1, 2, 3, 7, 16, 32, 33, 40, 64, 70])
    most = draw.pick([1, 2, 3, 4, 5, 6, 8, 9, 12, 21, 40])
    rows = net.name_extent([1, most, draw.randint(1, most), draw.randint(1, most)]) if net.runtime and draw.chance(0.5) else most
    x = net.input(d.FLOAT, [*draw.pick([[], [], [1], [2]]), rows, inner])
    scales = net.constant((draw.numpy().standard_normal((columns, blocks)) * 0.1).astype(np.float32))
    zeros = draw.pick([None, bytes_of(net, (columns, -(-blocks * bits // 8)))])
    if zeros is None and draw.chance(0.4):
        zeros = net.constant((draw.numpy().random((columns, blocks)) * 2 + 2 ** (bits - 1)).astype(np.float32))
    group = None
    if bits > 2 and (zeros is None or zeros.dtype == d.FLOAT) and draw.chance(0.4):     # with others ONNX Runtime differs: docs/differences.md
        order = draw.numpy().permutation(block * blocks)[:inner] // block
        group = net.constant(np.concatenate([order, np.zeros(block * blocks - inner, np.int64)]).astype(np.int32))
    bias = net.weights(d.FLOAT, [columns], runtime=0) if draw.chance(0.4) else None
    put(net, "MatMulNBits", [x, bytes_of(net, (columns, blocks, block * bits // 8)), scales, zeros, group, bias], K=inner, N=columns, bits=bits,
        block_size=block)


# -- extents -----------------------------------------------------------------------------------------------------------------

ENDS = (-2 ** 63, 2 ** 63 - 1, -2 ** 62, 2 ** 31, -2 ** 31)


@recipe("Shape", "Gather", "Add", "Sub", "Mul", "Div", "Mod", "Slice", "Range", "Expand", network=0)
def far_extents(net):
    """Bounds computed of extents, with numbers at the ends of 64 bits, zeros and negative divisors; none leaves 64 bits, where C defines nothing."""
    draw = net.draw
    if net.opset < 13:
        only_opset(net, draw.pick([13, 18, 21]))
    rank = draw.randint(1, 3)
    x = net.input(d.FLOAT, [net.name_extent([0 if draw.chance(0.2) else 1, *(draw.randint(1, 9) for _ in range(3))]) if net.runtime else draw.randint(1, 9) for _ in range(rank)])
    axis, shape = draw.randrange(rank), net.node("Shape", [x])
    at = net.node("Gather", [shape, numbers(net, [draw.randrange(rank)])], axis=0)
    for _ in range(draw.randint(1, 3)):
        operator = draw.pick(["Add", "Sub", "Mul", "Mul", "Mul", "Div", "Div", "Mod", "Neg", "Min", "Max"])
        value = draw.pick([-7, -2, -1, 1, 1, 2, 5, 0, *ENDS])
        if value == 0 and operator in ("Div", "Mod"):
            value = -1
        exact = [{"Add": int(v) + value, "Sub": int(v) - value, "Mul": int(v) * value, "Div": abs(int(v)), "Neg": -int(v)}.get(operator, 0)
                 for a in at.arrays for v in a.reshape(-1)]
        if any(not -2 ** 63 <= v < 2 ** 63 for v in exact) or operator == "Neg" and -2 ** 63 in exact:
            continue
        other = numbers(net, [value])
        at = net.node(operator, [at] if operator == "Neg" else [at, other] if operator in ("Div", "Mod", "Sub") else draw.pick([[at, other], [other, at]]))
    bounds = draw.pick([[numbers(net, [0]), at], [at, numbers(net, [2 ** 63 - 1])], [numbers(net, [-1]), at], [at, numbers(net, [-2 ** 63 + 1])]])
    back = bounds[0].constant and bounds[0].arrays[0][0] == -1 or bounds[1].constant and bounds[1].arrays[0][0] < 0
    net.node("Slice", [x, *bounds, numbers(net, [axis]), numbers(net, [draw.pick([-1, -2]) if back else draw.pick([1, 1, 2])])])


# -- axes --------------------------------------------------------------------------------------------------------------------

@recipe("LRN", "Conv", "Transpose", network=0)
def neighbours(net):
    """Windows of channels that follow each other in memory, or whose pixels do, or neither; longer than lines and chunks."""
    draw = net.draw
    net.most = max(net.most, 96 * 1024)
    channels = draw.pick([1, 3, 16, 40, 260, 300, 530])
    x = net.input(d.FLOAT, [draw.pick([1, 2]), channels, *draw.pick([[1, 1], [2, 3], [3, 20], [1, 300], [5]])])
    if x.elements() > net.most:
        raise Rejected("too large")
    kind = draw.pick(["plain", "conv", "conv", "turned", "turned"])
    if kind == "conv":
        weights = net.weights(d.FLOAT, [draw.pick([16, 40, 280]), channels, *[1] * (x.rank - 2)], channels ** -0.5, runtime=0)
        x = net.node("Conv", [x, weights])
    elif kind == "turned":                          # channels become the innermost axis, or the outermost
        order = draw.pick([[0, 1, *range(2, x.rank)], [0, x.rank - 1, *range(1, x.rank - 1)], [1, 0, *range(2, x.rank)], [0, 1, *reversed(range(2, x.rank))]])
        x = net.node("Transpose", [x], perm=order)
    y = net.node("LRN", [x], size=draw.pick([1, 2, 3, 5, 64, 127, 128, 129, 131, 258, 301]), alpha=draw.pick([0.01, 1.0]), **attributes(draw, beta=[0.5, 0.75, 0.6]))
    if draw.chance(0.3):
        net.node("Relu", [y])


@recipe("Pad", "Conv", "Transpose", network=0)
def pads_of_views(net):
    """Padding, and cutting, of what a Transpose or a convolution made, whose innermost axis may lie anywhere in memory; extents of one and none."""
    draw = net.draw
    if net.opset < 11:
        only_opset(net, draw.pick([11, 13, 18, 19, 21]))
    rank = draw.randint(2, 4)
    low = 0 if draw.chance(0.1) else 1
    dims = [net.name_extent([low, draw.randint(1, 7), draw.randint(1, 7), draw.randint(1, 7)]) if net.runtime and draw.chance(0.5) else draw.randint(1, 7) for _ in range(rank)]
    if rank == 4 and draw.chance(0.5):
        dims[:2] = [1, draw.pick([3, 8])]
        x = net.input(d.FLOAT, dims)
        x = net.node("Conv", [x, net.weights(d.FLOAT, [draw.pick([8, 16, 20]), dims[1], 3, 3], 0.3, runtime=0)], pads=[1] * 4)
    else:
        x = net.input(draw.pick([d.FLOAT, d.FLOAT, d.INT8, d.DOUBLE, d.INT64]), dims)
        order = list(range(rank))
        draw.shuffle(order)
        x = net.node("Transpose", [x], perm=order)
    mode = draw.pick([None, "constant", "edge", "reflect"] + (["wrap", "wrap"] if net.version("Pad") >= 19 else []))
    least = [min(x.extents(a)) for a in range(rank)]
    most = [3 if mode in (None, "constant", "edge") else max(0, n - 1) for n in least]
    pads = [draw.randint(0, m) if draw.chance(0.6) else 0 for m in most * 2]
    if mode in (None, "constant"):
        pads = [p if draw.chance(0.8) else -draw.randint(0, max(0, least[i % rank] // 3)) for i, p in enumerate(pads)]
    value = [net.constant(np.array(draw.randint(-3, 3), d.numpy_type(x.dtype)), x.dtype)] if mode in (None, "constant") and draw.chance(0.5) else []
    net.node("Pad", [x, numbers(net, pads), *value], mode=mode)
