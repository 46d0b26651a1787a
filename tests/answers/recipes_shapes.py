"""Shapes that a model computes: Shape, Size, Range, ConstantOfShape, EyeLike, and chains of them behind Reshape and Slice."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_moves import anything


@recipe("Shape", "Size", network=0.3)
def shape_of(net):
    draw = net.draw
    x = anything(net)
    if draw.chance(0.3):
        net.node("Size", [x])
        return
    chosen = attributes(draw, start=[0, 1, -1, -2], end=[1, 2, -1, 4]) if net.version("Shape") >= 15 else {}
    net.node("Shape", [x], **chosen)


@recipe("Range", network=0.3)
def range_(net):
    draw = net.draw
    net.version("Range")
    dtype = draw.pick([np.int64, np.int32, np.float32])
    start, count, step = draw.randint(-3, 3), draw.randint(0, 8), draw.pick([1, 2, -1, 3])
    limits = [net.constant(np.array(v, dtype)) for v in (start, start + count * step, step)]
    net.node("Range", limits)


@recipe("ConstantOfShape", "EyeLike", "Constant", network=0.3)
def created(net):
    draw = net.draw
    kind = draw.pick(["ConstantOfShape", "EyeLike", "Constant"])
    net.version(kind)
    if kind == "EyeLike":
        x = net.some((d.FLOAT, d.INT64, d.INT32), rank=2)
        net.node("EyeLike", [x], **attributes(draw, k=[0, 1, -1, 5], dtype=[1, 7, 6, 11]))
    elif kind == "ConstantOfShape":
        shape = [draw.randint(1, 4) for _ in range(draw.randint(0, 3))]
        value = draw.array(draw.pick(d.NUMBERS), (1,))
        from net import tensor_proto
        net.node(kind, [net.constant(np.array(shape, np.int64))],
                 value=tensor_proto(value, d.helper.np_dtype_to_tensor_dtype(value.dtype), "value") if draw.chance(0.7) else None)
    else:
        from net import tensor_proto
        net.node(kind, [], value=tensor_proto(draw.array(d.FLOAT, (2, 3)), d.FLOAT, "value"))


@recipe("Shape", "Gather", "Concat", "Reshape", "Mul", "Slice", "Unsqueeze", network=2)
def computed_reshape(net):
    """What exporters write of x.view(x.size(0), -1) and x.flatten(a)."""
    draw = net.draw
    x = net.some((d.FLOAT,), rank=(2, 5))
    axis = draw.randrange(x.rank)
    whole = net.node("Shape", [x])
    one = net.node("Gather", [whole, net.constant(np.array(axis, np.int64))], axis=0)
    axes = net.constant(np.array([0], np.int64))
    one = net.node("Unsqueeze", [one, axes]) if net.version("Unsqueeze") >= 13 else net.node("Unsqueeze", [one], axes=[0])
    rest = net.constant(np.array([-1], np.int64))
    target = net.node("Concat", [one, rest] if draw.chance(0.6) else [rest, one], axis=0)
    net.node("Reshape", [x, target])


@recipe("Shape", "ConstantOfShape", "Add", network=0.7)
def zeros_like(net):
    net.version("ConstantOfShape")
    x = net.some((d.FLOAT,), rank=(1, 4))
    zeros = net.node("ConstantOfShape", [net.node("Shape", [x])])
    net.node("Add", [x, zeros])


@recipe("Shape", "Expand", network=0.7)
def expanded(net):
    net.version("Expand")
    x = net.some((d.FLOAT,), rank=(1, 4))
    y = net.partner(x)
    net.node("Expand", [y, net.node("Shape", [x])])


@recipe("Shape", "Resize", network=0.5)
def resized_like(net):
    """An image brought to the size of another one."""
    draw = net.draw
    if net.opset < 13:
        raise Rejected("older forms are drawn by Resize")
    images = [v for v in net.values if v.is_tensor and v.rank == 4 and v.dtype == d.FLOAT and v.fixed(1) and min(min(a.shape) for a in v.arrays)]
    if len(images) < 2:
        raise Rejected("two images are needed")
    x, like = draw.sample(images, 2)
    if x.extents(0) != like.extents(0):
        raise Rejected("batches differ")
    size = net.node("Slice", [net.node("Shape", [like]), *(net.constant(np.array([n], np.int64)) for n in (2, 4))])
    front = net.node("Slice", [net.node("Shape", [x]), *(net.constant(np.array([n], np.int64)) for n in (0, 2))])
    net.node("Resize", [x, None, None, net.node("Concat", [front, size], axis=0)], mode=draw.pick(["nearest", "linear"]),
             **attributes(draw, coordinate_transformation_mode=["half_pixel", "align_corners", "asymmetric"]))
