"""Operators that read or write by index, sort, select and count."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_moves import anything


def indices(net, extent, shape, dtype=None):
    """Indices into an axis whose extent is `extent` at least; negative ones where the opset has them."""
    draw = net.draw
    if extent < 1:
        raise Rejected("an empty axis has no index")
    dtype = dtype or draw.pick([np.int64, np.int64, np.int32])
    low = -extent if net.opset >= 11 and draw.chance(0.4) else 0
    if draw.chance(0.5):
        return net.constant(draw.numpy().integers(low, extent, shape).astype(dtype))
    random = draw.numpy()
    dims = [net.extent(4) for _ in shape]
    arrays = [random.integers(low, extent, s).astype(dtype) for s in net.settle(dims)]
    return net.input(d.INT64 if dtype == np.int64 else d.INT32, dims, arrays=arrays)


def small_shape(draw, most=3):
    return [draw.randint(1, 4) for _ in range(draw.randint(0, most))]


@recipe("Gather", network=2)
def gather(net):
    draw = net.draw
    x = anything(net, rank=(1, 4))
    axis = draw.randrange(x.rank)
    index = indices(net, min(x.extents(axis)), small_shape(draw, 2))
    shown = axis - x.rank if net.opset >= 11 and draw.chance(0.3) else axis
    net.node("Gather", [x, index], axis=shown if axis or draw.chance(0.3) else None)


@recipe("GatherElements", "ScatterElements", "Scatter", network=0.5)
def by_element(net):
    draw = net.draw
    x = anything(net, rank=(1, 4))
    axis = draw.randrange(x.rank)
    if any(x.fixed(a) is None or x.fixed(a) == 0 for a in range(x.rank)):
        raise Rejected("the extents are not fixed")
    shape = [draw.randint(1, x.fixed(a)) if a != axis else draw.randint(1, 5) for a in range(x.rank)]
    shown = axis if draw.chance(0.7) or net.opset < 11 else axis - x.rank
    if draw.chance(0.5):
        net.version("GatherElements")
        net.node("GatherElements", [x, indices(net, x.fixed(axis), shape)], axis=shown)
        return
    shape[axis] = draw.randint(1, x.fixed(axis))
    operator = "ScatterElements" if net.opset >= 11 else "Scatter"
    version = net.version(operator)
    order = np.argsort(draw.numpy().random([*shape[:axis], x.fixed(axis), *shape[axis + 1:]]), axis)
    unique = np.take(order, range(shape[axis]), axis).astype(np.int64)
    chosen = {}
    if version >= 16 and x.dtype in (d.FLOAT, d.INT32, d.INT64):
        chosen = attributes(draw, reduction=["none", "add", "mul"] + (["max", "min"] if version >= 18 else []))
        if chosen.get("reduction", "none") != "none":
            unique = draw.numpy().integers(0, x.fixed(axis), shape)
    updates = net.constant(draw.array(x.dtype, shape), x.dtype)
    net.node(operator, [x, net.constant(unique), updates], axis=shown, **chosen)


@recipe("GatherND", "ScatterND", network=0.5)
def by_tuple(net):
    draw = net.draw
    x = anything(net, rank=(1, 4))
    if any(not x.fixed(a) for a in range(x.rank)):
        raise Rejected("the extents are not fixed")
    depth = draw.randint(1, x.rank)
    count = draw.randint(1, 4)
    tuples = np.stack([draw.numpy().integers(0, x.fixed(a), count) for a in range(depth)], -1)
    if draw.chance(0.5):
        if net.version("GatherND") >= 12 and x.rank > 1 and draw.chance(0.3):
            axis = draw.randint(1, x.rank - 1)
            tuples = draw.numpy().integers(0, x.fixed(axis), (*(x.fixed(a) for a in range(axis)), 1))
            net.node("GatherND", [x, net.constant(tuples)], batch_dims=axis)
            return
        net.version("GatherND")
        net.node("GatherND", [x, net.constant(tuples)])
        return
    version = net.version("ScatterND")
    chosen = {}
    if version >= 16 and x.dtype in (d.FLOAT, d.INT32, d.INT64):
        chosen = attributes(draw, reduction=["none", "add", "mul"] + (["max", "min"] if version >= 18 else []))
    if chosen.get("reduction", "none") == "none":
        tuples = np.unique(tuples, axis=0)
    shape = [len(tuples)] + [x.fixed(a) for a in range(depth, x.rank)]
    net.node("ScatterND", [x, net.constant(tuples), net.constant(draw.array(x.dtype, shape), x.dtype)], **chosen)


@recipe("ArgMax", "ArgMin", network=0.7)
def extreme(net):
    draw = net.draw
    operator = draw.pick(["ArgMax", "ArgMin"])
    x = net.some((d.FLOAT,) if not net.single else (d.FLOAT, d.DOUBLE, d.INT32, d.INT8, d.UINT8), rank=(1, 4), exact=True)
    axis = draw.randint(-x.rank if net.opset >= 11 else 0, x.rank - 1)
    chosen = attributes(draw, keepdims=[0, 1], **({"select_last_index": [0, 1]} if net.version(operator) >= 12 else {}))
    net.node(operator, [x], axis=draw.pick([None, axis]), **chosen)


@recipe("TopK", network=0.7)
def top_k(net):
    draw = net.draw
    x = net.some((d.FLOAT,) if not net.single else (d.FLOAT, d.DOUBLE, d.INT32, d.INT64), rank=(1, 4), exact=True)
    axis = draw.randrange(x.rank)
    k = draw.randint(0 if draw.chance(0.05) else 1, max(1, min(x.extents(axis))))
    version = net.version("TopK")
    chosen = {"axis": draw.pick([axis, axis - x.rank]) if version >= 11 else axis}
    if version >= 11:
        chosen |= attributes(draw, largest=[0, 1], sorted=[1])
    if version < 10:
        net.node("TopK", [x], outputs=2, k=k, **chosen)
    else:
        net.node("TopK", [x, net.constant(np.array([k], np.int64))], outputs=2, **chosen)


@recipe("OneHot", network=0.5)
def one_hot(net):
    draw = net.draw
    net.version("OneHot")
    depth = draw.randint(1, 6)
    dtype = draw.pick([d.INT64, d.INT32, d.FLOAT]) if net.single else d.INT64
    dims = net.shape(draw.randint(0, 3), 4)
    low = -depth - 1 if net.opset >= 11 else 0
    arrays = [draw.numpy().integers(low, depth + 2, s).astype(d.numpy_type(dtype)) for s in net.settle(dims)]
    x = net.input(dtype, dims, arrays=arrays)
    values = net.constant(np.array([draw.pick([0, -1]), draw.pick([1, 5])], draw.pick([np.float32, np.int64])))
    rank = len(dims) + 1
    net.node("OneHot", [x, net.constant(np.array(depth, np.int64)), values],
             axis=draw.pick([None, draw.randint(-rank if net.opset >= 11 else 0, rank - 1)]))


@recipe("NonZero", network=0.3)
def non_zero(net):
    net.version("NonZero")
    x = net.some((d.FLOAT, d.INT64, d.BOOL, d.INT32, d.UINT8), rank=(1 if not net.single else 0, 3), exact=True, style="small")
    net.node("NonZero", [x])


@recipe("Compress", network=0.3)
def compress(net):
    draw = net.draw
    net.version("Compress")
    x = anything(net, rank=(1, 3))
    axis = draw.pick([None, draw.randrange(x.rank)])
    extent = min(a.size for a in x.arrays) if axis is None else min(x.extents(axis))
    mask = draw.numpy().integers(0, 2, draw.randint(min(1, extent), extent)).astype(bool)
    fixed = net.constant(mask) if draw.chance(0.5) else net.input(d.BOOL, [len(mask)], arrays=[mask] * net.count)
    net.node("Compress", [x, fixed], axis=axis)


@recipe("Unique", network=0.2)
def unique(net):
    draw = net.draw
    net.version("Unique")
    x = net.some((d.FLOAT, d.INT64, d.INT8, d.STRING, d.DOUBLE), rank=(1, 3), exact=True, style="small")
    if any(np.isnan(a).any() for a in x.arrays if a.dtype.kind == "f"):
        raise Rejected("ONNX Runtime loses NaN or numbers")
    net.node("Unique", [x], outputs=draw.randint(1, 4), axis=draw.pick([None, draw.randrange(x.rank)]), **attributes(draw, sorted=[0, 1]))


@recipe("NonMaxSuppression", network=0.1)
def suppression(net):
    draw = net.draw
    net.version("NonMaxSuppression")
    batch, boxes, classes = draw.randint(1, 2), draw.randint(1, 8), draw.randint(1, 3)
    random = draw.numpy()
    corners = random.integers(0, 6, (batch, boxes, 4)).astype(np.float32)
    corners[..., 2:] += corners[..., :2] + 1
    x = net.input(d.FLOAT, [batch, boxes, 4], arrays=[corners] * net.count)
    scores = net.input(d.FLOAT, [batch, classes, boxes], style="plain")
    inputs = [x, scores, net.constant(np.array(draw.randint(0, 4), np.int64))]
    inputs += [net.constant(np.float32(draw.pick([0.0, 0.3, 0.5, 1.0])))] * draw.pick([0, 1])
    inputs += [net.constant(np.float32(draw.pick([-1.0, 0.0, 0.2])))] * (len(inputs) == 4)
    net.node("NonMaxSuppression", inputs, **attributes(draw, center_point_box=[0, 1]))


@recipe("GridSample", "RoiAlign", network=0.3)
def sample(net):
    draw = net.draw
    if draw.chance(0.6):
        version = net.version("GridSample")
        n = 2 if version < 20 or draw.chance(0.7) else 3
        batch = draw.randint(1, 2)
        x = net.input(d.FLOAT, [batch, draw.randint(1, 3)] + [net.extent(6) for _ in range(n)])
        grid = net.input(d.FLOAT, [batch] + [net.extent(5) for _ in range(n)] + [n], style="plain")
        modes = ["bilinear", "nearest", "bicubic"] if version < 20 else ["linear", "nearest"] + (["cubic"] if n == 2 else [])
        net.node("GridSample", [x, grid], **attributes(draw, mode=modes, padding_mode=["zeros", "border", "reflection"], align_corners=[0, 1]))
        return
    version = net.version("RoiAlign")
    batch, count = draw.randint(1, 2), draw.randint(1, 4)
    x = net.input(d.FLOAT, [batch, draw.randint(1, 3), draw.randint(3, 9), draw.randint(3, 9)])
    random = draw.numpy()
    boxes = np.sort(random.uniform(0, 9, (count, 2, 2)), 1).reshape(count, 4).astype(np.float32)
    rois = net.input(d.FLOAT, [count, 4], arrays=[boxes] * net.count)
    index = net.constant(random.integers(0, batch, count))
    net.node("RoiAlign", [x, rois, index], **attributes(
        draw, mode=["avg", "max"], output_height=[1, 2, 3], output_width=[1, 2], sampling_ratio=[0, 1, 2], spatial_scale=[1.0, 0.5],
        **({"coordinate_transformation_mode": ["half_pixel", "output_half_pixel"]} if version >= 16 else {})))
