"""Operators that move elements: transposes, views, slices, joins, pads."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe

ANY = d.NUMBERS + (d.BOOL, d.STRING)


def anything(net, rank=(0, 5), most=9):
    """A value of any type, floats mostly."""
    common = not net.single or net.draw.chance(0.6)
    return net.some((d.FLOAT,) if common else ANY, rank=rank, most=most)


def integers(net, values, dtype=np.int64, runtime=0.08):
    """A constant of integers; in a model of one operator now and then an input, or what a pass makes one again."""
    array = np.array(values, dtype)
    if net.single and net.draw.chance(runtime):
        value = net.input(d.INT64 if dtype == np.int64 else d.INT32, list(array.shape), arrays=[array] * net.count)
        return net.node("Identity", [value]) if net.draw.chance(0.3) else value
    return net.constant(array)


@recipe("Transpose", network=3)
def transpose(net):
    x = anything(net)
    order = list(range(x.rank))
    net.draw.shuffle(order)
    net.node("Transpose", [x], perm=order if net.draw.chance(0.85) else None)


@recipe("Reshape", network=3)
def reshape(net):
    """Axes joined, split, kept (0) and inferred (-1)."""
    draw, x = net.draw, anything(net, rank=(0, 5))
    target, axis = [], 0
    while axis < x.rank:
        run = draw.pick([1, 1, 2, 3])
        extents = [x.fixed(a) for a in range(axis, min(axis + run, x.rank))]
        axis += len(extents)
        if None in extents:
            target.append(0 if len(extents) == 1 and len(target) == axis - 1 else -1)
        else:
            target += split(draw, int(np.prod(extents)))
    if draw.chance(0.2) and -1 not in target:
        target.insert(draw.randint(0, len(target)), 1)
    if target.count(-1) == 0 and target and draw.chance(0.4):
        target[draw.randrange(len(target))] = -1
    net.node("Reshape", [x, integers(net, target)])


def split(draw, extent):
    """Factors of an extent."""
    if extent < 2 or draw.chance(0.6):
        return [extent]
    factor = draw.pick([f for f in range(1, extent + 1) if extent % f == 0])
    return [factor, extent // factor]


@recipe("Flatten", network=1.5)
def flatten(net):
    x = anything(net)
    net.node("Flatten", [x], axis=net.draw.pick([None, net.draw.randint(0 if net.opset < 11 else -x.rank, x.rank)]))


@recipe("Squeeze", "Unsqueeze", network=1.5)
def squeeze(net):
    draw = net.draw
    operator = draw.pick(["Squeeze", "Unsqueeze"])
    x = anything(net, rank=(0, 4) if operator == "Unsqueeze" else (1, 5))
    if operator == "Squeeze":
        axes = draw.several([a for a in range(x.rank) if x.fixed(a) == 1])
        if not axes and not all(x.fixed(a) is not None for a in range(x.rank)):
            raise Rejected("an extent that may be 1")
    else:
        axes = sorted(draw.sample(range(x.rank + 2), draw.randint(1, 2)))
        if axes[-1] >= x.rank + len(axes):
            raise Rejected("an axis beyond the rank")
    if net.version(operator) >= 11 and axes and draw.chance(0.3):
        rank = x.rank + (len(axes) if operator == "Unsqueeze" else 0)
        axes = [a - rank for a in axes]
    if net.version(operator) >= 13:
        net.node(operator, [x, integers(net, axes)] if axes else [x])
    else:
        net.node(operator, [x], axes=axes or None)


@recipe("Slice", network=3)
def slice_(net):
    draw = net.draw
    x = anything(net, rank=(1, 5))
    axes = draw.several(range(x.rank), least=1)
    by_input = net.version("Slice") >= 10
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = min(x.extents(axis))
        step = draw.pick([1, 1, 1, 2, 3, -1, -2]) if by_input else 1
        first, last = sorted([draw.randint(-extent - 1, extent + 1), draw.randint(-extent - 1, extent + 2)])
        bounds = (first, draw.pick([last, 2 ** 31 - 1, 2 ** 63 - 1])) if step > 0 else (draw.pick([last, -1, 2 ** 31]), draw.pick([first, -2 ** 31, -2 ** 63]))
        starts.append(bounds[0])
        ends.append(bounds[1])
        steps.append(step)
    if not by_input:
        net.node("Slice", [x], starts=starts, ends=ends, axes=axes if axes != list(range(len(axes))) or draw.chance(0.5) else None)
        return
    given = [a - x.rank if draw.chance(0.3) else a for a in axes]
    inputs = [x, integers(net, starts), integers(net, ends), integers(net, given)]
    if any(s != 1 for s in steps) or draw.chance(0.3):
        inputs.append(integers(net, steps))
    elif axes == list(range(len(axes))) and draw.chance(0.5):
        inputs.pop()
    net.node("Slice", inputs)


FARTHEST = [2 ** 63 - 1, -2 ** 63, -2 ** 63 + 1, 2 ** 31, -2 ** 31, 2 ** 62]


@recipe("Slice", network=0.3)
def far_slice(net):
    """Bounds and steps, known only while running, at the ends of 64 bits: what is computed of them must not overflow."""
    draw, x = net.draw, anything(net, rank=(1, 3))
    net.newer("Slice")
    if net.version("Slice") < 10:
        raise Rejected("bounds are attributes")
    axis = draw.randrange(x.rank)
    bounds = [[[draw.pick([*FARTHEST, 0, 1, -1, -2])] for _ in range(net.count)] for _ in range(2)]
    steps = [[draw.pick([1, -1, 2, -3, 2 ** 62, -2 ** 62, 2 ** 63 - 1, -2 ** 63 + 1])] for _ in range(net.count)]
    bounds[1] = [[2 ** 63 - 2] if end == [2 ** 63 - 1] and step[0] < 0 else end for end, step in zip(bounds[1], steps)]    # docs/differences.md
    reads = [net.input(d.INT64, [1], arrays=[np.array(v, np.int64) for v in column]) for column in bounds]
    reads += [net.constant(np.array([axis], np.int64)), net.input(d.INT64, [1], arrays=[np.array(v, np.int64) for v in steps])]
    net.node("Slice", [x, *reads])


@recipe("Split", network=2)
def split_node(net):
    draw = net.draw
    x = anything(net, rank=(1, 5))
    axis = draw.randrange(x.rank)
    extent, version = x.fixed(axis), net.version("Split")
    count = draw.randint(1, 4)
    shown = axis if draw.chance(0.7) or version < 11 else axis - x.rank
    if extent is None or extent < count:
        raise Rejected("no extent to split")
    if draw.chance(0.6):
        cuts = sorted(draw.randint(0, extent) for _ in range(count - 1))
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, extent])]
        if version < 13:
            net.node("Split", [x], outputs=count, axis=shown, split=sizes)
        else:
            net.node("Split", [x, integers(net, sizes)], outputs=count, axis=shown)
    elif version >= 18:
        net.node("Split", [x], outputs=count, axis=shown, num_outputs=count)
    elif extent % count == 0:
        net.node("Split", [x], outputs=count, axis=shown)


@recipe("Concat", network=4)
def concat(net):
    """Live values whose other extents agree, and new ones."""
    draw = net.draw
    x = anything(net, rank=(1, 5))
    axis = draw.pick([1, draw.randrange(x.rank)]) if x.rank > 1 else 0
    values = [x]
    for other in net.values:
        if other is not x and other.is_tensor and other.dtype == x.dtype and other.rank == x.rank and len(values) < 4 and \
                all(other.extents(a) == x.extents(a) for a in range(x.rank) if a != axis) and draw.chance(0.7):
            values.append(other)
    if len(values) == 1 or draw.chance(0.2):
        dims = [net.like_axis(x, a) if a != axis else net.extent(5) for a in range(x.rank)]
        fixed = all(isinstance(n, int) for n in dims)
        values.append(net.constant(draw.array(x.dtype, dims), x.dtype) if fixed and draw.chance(0.3) else net.input(x.dtype, dims))
    if draw.chance(0.1):
        values.append(draw.pick(values))
    draw.shuffle(values)
    net.node("Concat", values, axis=axis if draw.chance(0.7) or net.opset < 11 else axis - x.rank)


@recipe("Pad", network=1.5)
def pad(net):
    draw = net.draw
    x = anything(net, rank=(1, 5))
    version = net.version("Pad")
    mode = draw.pick(["constant", "constant", "edge", "reflect"] + (["wrap"] if version >= 19 else []))
    low = -1 if mode == "constant" and draw.chance(0.3) else 0
    pads = [draw.randint(low, 2) if draw.chance(0.6) else 0 for _ in range(2 * x.rank)]
    if version < 11:
        if x.dtype != d.FLOAT:
            raise Rejected("floats only")
        net.node("Pad", [x], pads=pads, mode=mode, **attributes(draw, value=[0.0, 1.5]))
        return
    inputs = [x, integers(net, pads)]
    if mode == "constant" and draw.chance(0.5):
        inputs.append(net.constant(draw.array(x.dtype, ()), x.dtype))
    if version >= 18 and draw.chance(0.3):
        axes = draw.several(range(x.rank), least=1)
        draw.shuffle(axes)
        inputs[1] = integers(net, [pads[i] for i in range(2 * len(axes))])
        inputs += [None] * (3 - len(inputs)) + [integers(net, [a - x.rank if draw.chance(0.3) else a for a in axes])]
    net.node("Pad", inputs, mode=mode if mode != "constant" or draw.chance(0.5) else None)


@recipe("Tile", "Expand", network=1)
def repeat(net):
    draw = net.draw
    x = anything(net, rank=(1, 4), most=5)
    if draw.chance(0.5):
        net.node("Tile", [x, integers(net, [draw.pick([1, 1, 2, 3]) for _ in range(x.rank)])])
        return
    net.version("Expand")
    target = [draw.randint(2, 4) if x.fixed(a) == 1 else 1 for a in range(x.rank)]
    net.node("Expand", [x, integers(net, [draw.randint(1, 3)] * draw.pick([0, 1]) + target)])


@recipe("DepthToSpace", "SpaceToDepth", network=0.7)
def blocks(net):
    draw, size = net.draw, net.draw.pick([1, 2, 3])
    if draw.chance(0.5):
        x = net.input(d.FLOAT, [net.extent(2), size * size * draw.randint(1, 3), net.extent(5), net.extent(5)])
        net.node("DepthToSpace", [x], blocksize=size, **(attributes(draw, mode=["DCR", "CRD"]) if net.opset >= 11 else {}))
    else:
        x = net.input(d.FLOAT, [net.extent(2), draw.randint(1, 4), size * draw.randint(1, 3), size * draw.randint(1, 3)])
        net.node("SpaceToDepth", [x], blocksize=size)


@recipe("Trilu", network=0.5)
def trilu(net):
    net.version("Trilu")
    x = anything(net, rank=(2, 4))
    if x.dtype == d.STRING:
        raise Rejected("numbers only")
    inputs = [x] + ([integers(net, net.draw.randint(-3, 3))] if net.draw.chance(0.7) else [])
    net.node("Trilu", inputs, **attributes(net.draw, upper=[0, 1]))


@recipe("ReverseSequence", network=0.3)
def reverse_sequence(net):
    net.version("ReverseSequence")
    draw, batch, time = net.draw, net.draw.randint(1, 4), net.draw.randint(1, 6)
    first = draw.chance(0.5)
    x = net.input(d.FLOAT, [batch, time, net.extent(3)] if first else [time, batch, net.extent(3)])
    lengths = integers(net, [draw.randint(1, time) for _ in range(batch)], runtime=0.5)
    net.node("ReverseSequence", [x, lengths], batch_axis=0 if first else 1, time_axis=1 if first else 0)


@recipe("CenterCropPad", network=0.3)
def center_crop_pad(net):
    net.version("CenterCropPad")
    draw = net.draw
    x = net.some((d.FLOAT,), rank=(1, 4))
    axes = draw.several(range(x.rank), least=1) if draw.chance(0.6) else None
    net.node("CenterCropPad", [x, integers(net, [draw.randint(1, 9) for _ in (axes or range(x.rank))], runtime=0)], axes=axes)
