"""Signals, attention of the newest opsets, and operators that few exporters write."""

import numpy as np
from onnx import helper

import draw as d
from recipes import attributes, recipe
from recipes_control import finish
from recipes_msft import along, cosines, settings


def number(net, value, dtype=np.int64):
    return net.constant(np.array(value, dtype))


# -- signals ------------------------------------------------------------------------------------------------------------------

@recipe("HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix", network=0)
def window_of_signal(net):
    draw = net.draw
    operator = draw.pick(["HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"])
    net.newer(operator)
    chosen = attributes(draw, output_datatype=[1, 11])
    if operator == "MelWeightMatrix":
        values = [draw.randint(1, 8), draw.pick([8, 16, 32]), draw.pick([8000, 16000])]
        edges = [np.array(draw.pick([0.0, 20.0, 100.0]), np.float32), np.array(draw.pick([1000.0, 4000.0]), np.float32)]
        net.node(operator, [*(number(net, v) for v in values), *(net.constant(e) for e in edges)], **chosen)
        return
    net.node(operator, [number(net, draw.randint(1, 17), draw.pick([np.int32, np.int64]))], **chosen, **attributes(draw, periodic=[0, 1]))


@recipe("DFT", network=0)
def transform(net):
    draw = net.draw
    version = net.newer("DFT")
    inverse = draw.chance(0.4)
    parts = 2 if inverse or draw.chance(0.4) else 1
    onesided = (parts == 1 or inverse) and draw.chance(0.4)
    dims = [*net.shape(draw.randint(1, 2), 5), draw.randint(2, 17)]
    axis = len(dims) - 1 if draw.chance(0.6) else draw.randint(1, len(dims) - 1)
    x = net.input(draw.pick([d.FLOAT, d.FLOAT, d.DOUBLE]), [*dims, parts])
    length = number(net, draw.randint(1, 19)) if draw.chance(0.4) else None
    chosen = {"inverse": int(inverse) or draw.pick([0, None]), "onesided": int(onesided) or draw.pick([0, None])}
    if version < 20:
        net.node("DFT", [x, length] if length else [x], axis=axis, **chosen)
        return
    place = number(net, axis - len(dims) - 1 if draw.chance(0.4) else axis)
    net.node("DFT", [x, length, place], **chosen)


@recipe("STFT", network=0)
def short_transform(net):
    draw = net.draw
    net.newer("STFT")
    frame, step = draw.randint(2, 9), draw.randint(1, 5)
    dtype = draw.pick([d.FLOAT, d.DOUBLE])
    x = net.input(dtype, [net.extent(3), frame + draw.randint(0, 20), 1])
    shaped = draw.chance(0.6)
    inputs = [x, number(net, step), net.weights(dtype, [frame], runtime=0) if shaped else None]
    if not shaped or draw.chance(0.5):
        inputs.append(number(net, frame))
    net.node("STFT", inputs, **attributes(draw, onesided=[0, 1] if not shaped else [1]))


# -- attention ----------------------------------------------------------------------------------------------------------------

@recipe("Attention", network=0)
def attention(net):
    draw, kv, size = net.draw, net.draw.randint(1, 2), net.draw.pick([2, 4, 8])
    net.newer("Attention")
    heads = kv * draw.pick([1, 1, 2])
    batch, rows, keys, past = settings(net, 1, 3), settings(net, 1, 5), settings(net, 1, 6), settings(net, 1, 4)
    if draw.chance(0.3):
        keys = rows
    carries = draw.chance(0.3)
    every = [a + b for a, b in zip(keys, past)] if carries else keys
    b, s, k, t, p = (along(net, v) for v in (batch, rows, keys, every, past))
    last = draw.pick([size, size, 3])
    flat = draw.chance(0.4)
    if flat:
        inputs = [net.input(d.FLOAT, [b, s, heads * size]), net.input(d.FLOAT, [b, k, kv * size]), net.input(d.FLOAT, [b, k, kv * last])]
    else:
        inputs = [net.input(d.FLOAT, [b, heads, s, size]), net.input(d.FLOAT, [b, kv, k, size]), net.input(d.FLOAT, [b, kv, k, last])]
    mask = None
    if draw.chance(0.5):
        dims = draw.pick([[s, t], [b, 1, s, t], [b, heads, s, t], [1, heads, s, t]])
        if draw.chance(0.5):
            mask = net.input(d.FLOAT, dims)
        else:
            arrays = [draw.numpy().integers(0, 2, n).astype(bool) for n in net.settle(dims)]
            for array in arrays:
                array[..., 0] = True
            mask = net.input(d.BOOL, dims, arrays=arrays)
    cache = [net.input(d.FLOAT, [b, kv, p, n]) for n in (size, last)] if carries else []
    inputs = inputs + ([mask] if mask or cache else []) + cache
    chosen = {"q_num_heads": heads, "kv_num_heads": kv} if flat else {}
    chosen |= attributes(draw, is_causal=[0, 1], scale=[0.3], softcap=[0.0, 2.0], softmax_precision=[1])
    outputs = [True, carries, carries, draw.chance(0.2)]
    if outputs[3]:
        outputs[1:3] = [True, True] if carries else [False, False]
        chosen |= attributes(draw, qk_matmul_output_mode=[0, 1, 2, 3])
    while not outputs[-1]:
        outputs.pop()
    net.node("Attention", inputs, outputs, **chosen)


@recipe("RotaryEmbedding", network=0)
def rotary(net):
    draw, heads, size = net.draw, net.draw.randint(1, 3), net.draw.pick([4, 8])
    net.newer("RotaryEmbedding")
    batch, rows = settings(net, 1, 3), settings(net, 1, 6)
    b, s = along(net, batch), along(net, rows)
    flat, part = draw.chance(0.4), draw.chance(0.3)
    turned = size // 2 if part else size
    x = net.input(d.FLOAT, [b, s, heads * size] if flat else [b, heads, s, size])
    chosen = ({"num_heads": heads} if flat else {}) | ({"rotary_embedding_dim": turned} if part else {}) | attributes(draw, interleaved=[0, 1])
    if draw.chance(0.5):
        where = net.input(d.INT64, [b, s], arrays=[draw.numpy().integers(0, 20, n) for n in net.settle([b, s])])
        net.node("RotaryEmbedding", [x, *cosines(net, 20, turned // 2), where], **chosen)
    else:
        net.node("RotaryEmbedding", [x, *(net.input(d.FLOAT, [b, s, turned // 2]) for _ in range(2))], **chosen)


@recipe("TensorScatter", network=0)
def cache_write(net):
    draw = net.draw
    net.newer("TensorScatter")
    batch, room, width = draw.randint(1, 3), draw.randint(2, 8), draw.randint(1, 4)
    rows = draw.randint(1, room)
    mode = draw.pick(["linear", "circular"])
    cache = net.input(draw.pick([d.FLOAT, d.DOUBLE, d.INT32, d.HALF]), [batch, room, width])
    update = net.input(cache.dtype, [batch, rows, width])
    where = net.input(d.INT64, [batch], arrays=[draw.numpy().integers(0, room - rows + 1 if mode == "linear" else room, batch) for _ in range(net.count)])
    net.node("TensorScatter", [cache, update, where], axis=draw.pick([-2, 1]), mode=mode)


# -- images ---------------------------------------------------------------------------------------------------------------------

@recipe("Col2Im", network=0)
def columns_to_image(net):
    draw = net.draw
    net.newer("Col2Im")
    n, channels = draw.pick([1, 2, 2, 2]), draw.randint(1, 3)
    block, extent = [draw.randint(1, 3) for _ in range(n)], [draw.randint(5, 9) for _ in range(n)]
    strides, dilations = [draw.randint(1, 2) for _ in range(n)], [draw.randint(1, 2) for _ in range(n)]
    pads = [draw.randint(0, 1) for _ in range(2 * n)]
    count = [(e + pads[i] + pads[n + i] - dilations[i] * (b - 1) - 1) // s + 1 for i, (e, b, s) in enumerate(zip(extent, block, strides))]
    x = net.input(d.FLOAT, [net.extent(3), channels * int(np.prod(block)), int(np.prod(count))])
    net.node("Col2Im", [x, number(net, extent), number(net, block)], pads=pads, strides=strides, dilations=dilations)


@recipe("MaxPool", "MaxUnpool", network=0)
def pooled_back(net):
    draw = net.draw
    net.newer("MaxUnpool")
    n = draw.pick([1, 2, 2])
    size = [draw.randint(1, 3) for _ in range(n)]
    x = net.input(d.FLOAT, [net.extent(2), draw.randint(1, 3), *(s * draw.randint(1, 4) for s in size)])
    y, places = net.node("MaxPool", [x], 2, kernel_shape=size, strides=size)
    net.node("MaxUnpool", [y, places], kernel_shape=size, strides=size)


@recipe("MaxRoiPool", network=0)
def regions(net):
    draw, count = net.draw, net.draw.randint(1, 4)
    net.newer("MaxRoiPool")
    batch = draw.randint(1, 2)
    x = net.input(d.FLOAT, [batch, draw.randint(1, 3), draw.randint(3, 9), draw.randint(3, 9)])
    corners = np.sort(draw.numpy().integers(0, 8, (count, 2, 2)), 1).reshape(count, 4)
    rows = np.concatenate([draw.numpy().integers(0, batch, (count, 1)), corners], 1).astype(np.float32)
    net.node("MaxRoiPool", [x, net.input(d.FLOAT, [count, 5], arrays=[rows] * net.count)], pooled_shape=[draw.randint(1, 3), draw.randint(1, 3)],
             **attributes(draw, spatial_scale=[1.0, 0.5]))


@recipe("DeformConv", network=0)
def deformed(net):
    draw = net.draw
    net.newer("DeformConv")
    group, shifts = draw.pick([1, 1, 2]), draw.pick([1, 1, 2])
    channels, outputs = 2 * draw.randint(1, 2), group * draw.randint(1, 3)
    size, pad, stride, spread = draw.randint(1, 3), draw.randint(0, 1), draw.randint(1, 2), draw.pick([1, 1, 2])
    extent = [draw.randint(5, 8) for _ in range(2)]
    made = [(e + 2 * pad - spread * (size - 1) - 1) // stride + 1 for e in extent]
    batch = net.extent(2)
    x = net.input(d.FLOAT, [batch, channels, *extent])
    inputs = [x, net.weights(d.FLOAT, [outputs, channels // group, size, size], 0.5), net.input(d.FLOAT, [batch, 2 * shifts * size * size, *made], "plain"),
              net.weights(d.FLOAT, [outputs]) if draw.chance(0.5) else None,
              net.input(d.FLOAT, [batch, shifts * size * size, *made]) if draw.chance(0.5) else None]
    while inputs[-1] is None:
        inputs.pop()
    net.node("DeformConv", inputs, group=group, offset_group=shifts, strides=[stride] * 2, pads=[pad] * 4, dilations=[spread] * 2)


@recipe("AffineGrid", network=0)
def grid(net):
    draw, n = net.draw, net.draw.pick([2, 2, 3])
    net.newer("AffineGrid")
    batch = draw.randint(1, 3)
    theta = net.input(draw.pick([d.FLOAT, d.FLOAT, d.DOUBLE]), [batch, n, n + 1])
    net.node("AffineGrid", [theta, number(net, [batch, draw.randint(1, 3), *(draw.randint(2, 6) for _ in range(n))])], **attributes(draw, align_corners=[0, 1]))


@recipe("Conv", "Relu", "Add", "MaxPool", network=4)
def deep(net):
    """Channels and extents that Winograd's tiles, vectors, cascades of rows and overlap are worth while for."""
    draw = net.draw
    found = [v for v in net.values if v.is_tensor and v.rank == 4 and v.dtype == d.FLOAT and v.fixed(1) and not v.constant]
    x = draw.pick(found[-2:]) if found and not net.single and draw.chance(0.8) else None
    if x is None:
        side = draw.randint(8, 40)
        x = net.input(d.FLOAT, [1, draw.pick([3, 8, 16, 32, 64]), net.runtime_extent(side) if net.runtime and draw.chance(0.4) else side, draw.randint(8, 40)])
    net.most = max(net.most, 16 * 1024)
    y = x
    for _ in range(draw.randint(1, 3)):
        inner, size = y.fixed(1), draw.pick([3, 3, 3, 1, 5])
        kind = draw.weighted({"dense": 5, "depthwise": 2, "pool": 1})
        if kind == "pool":
            y = net.node("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
            continue
        outputs = inner if kind == "depthwise" else draw.pick([8, 16, 24, 32, inner])
        shape = [outputs, 1 if kind == "depthwise" else inner, size, size]
        inputs = [y, net.weights(d.FLOAT, shape, 1 / np.prod(shape[1:]) ** 0.5, runtime=0)]
        inputs += [net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.5) else []
        stride = 2 if draw.chance(0.2) else 1
        y = net.node("Conv", inputs, group=inner if kind == "depthwise" else 1, pads=[size // 2] * 4, strides=[stride] * 2)
        if draw.chance(0.6):
            y = net.node("Relu", [y])
    if [a.shape for a in y.arrays] == [a.shape for a in x.arrays]:
        net.node("Add", [y, x])


# -- sequences, bits, training --------------------------------------------------------------------------------------------------

@recipe("Optional", "OptionalHasElement", "OptionalGetElement", network=0)
def optional(net):
    draw = net.draw
    net.newer("Optional")
    x = net.some((d.FLOAT, d.INT64, d.BOOL), rank=(0, 3))
    has, get, result = net.fresh(), net.fresh(), net.fresh()
    nodes = [helper.make_node("Optional", [x.name], [has]), helper.make_node("OptionalGetElement", [has], [get])]
    if draw.chance(0.5):
        nodes.append(helper.make_node("OptionalHasElement", [has], [result]))
        net.add(nodes, [x], [get, result])
    else:
        net.add(nodes, [x], [get])


@recipe("SequenceMap", network=0)
def mapped(net):
    draw = net.draw
    net.newer("SequenceMap")
    x = net.some((d.FLOAT,), rank=(1, 3), accept=lambda v: v.fixed(0))
    other = net.weights(d.FLOAT, [1], runtime=0.5)
    net.node("SplitToSequence", [x], axis=0)
    sequence = net.values[-1]
    body = helper.make_graph([helper.make_node(draw.pick(["Tanh", "Relu", "Exp"]), ["e"], ["f"]), helper.make_node("Add", ["f", "o"], ["r"])], "each",
                             [helper.make_tensor_value_info("e", 1, None), helper.make_tensor_value_info("o", 1, None)],
                             [helper.make_tensor_value_info("r", 1, None)])
    name = net.fresh()
    finish(net, [helper.make_node("SequenceMap", [sequence.name, other.name], [name], body=body)], [sequence, other], [name])


@recipe("BitCast", "CumProd", network=0)
def newest(net):
    draw = net.draw
    operator = draw.pick(["BitCast", "CumProd"])
    net.newer(operator)
    if operator == "BitCast":
        sizes = {d.FLOAT: (d.INT32, d.UINT32), d.DOUBLE: (d.INT64, d.UINT64), d.INT32: (d.FLOAT, d.UINT32), d.INT8: (d.UINT8,), d.HALF: (d.INT16, d.UINT16)}
        x = net.some(tuple(sizes), exact=True)
        net.node(operator, [x], to=draw.pick(sizes[x.dtype]))
    else:
        x = net.some((d.FLOAT, d.DOUBLE, d.INT32, d.INT64), rank=(1, 3))
        net.node(operator, [x, number(net, draw.randint(-x.rank, x.rank - 1))], **attributes(draw, exclusive=[0, 1], reverse=[0, 1]))


@recipe("Dropout", network=0.5)
def dropout(net):
    draw = net.draw
    x = net.some((d.FLOAT,) if not net.single else (d.FLOAT, d.DOUBLE))
    if net.version("Dropout") >= 12:
        inputs = [x] + ([number(net, 0.5, np.float32)] if draw.chance(0.5) else [])
        net.node("Dropout", inputs, draw.pick([1, 1, 2]))
    else:
        net.node("Dropout", [x], **attributes(draw, ratio=[0.25, 0.5]))


@recipe("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", network=0)
def loss(net):
    draw, classes = net.draw, net.draw.randint(2, 5)
    operator = draw.pick(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
    net.newer(operator)
    batch, more = settings(net, 1, 4), [settings(net, 1, 3) for _ in range(draw.randint(0, 2))]
    dims = [along(net, v) for v in (batch, *more)]
    scores = net.input(d.FLOAT, [dims[0], classes, *dims[1:]])
    labels = net.input(d.INT64, dims, arrays=[draw.numpy().integers(0, classes, s) for s in net.settle(dims)])
    weights = [net.weights(d.FLOAT, [classes], style="positive")] if draw.chance(0.4) else []
    chosen = attributes(draw, reduction=["none", "mean", "sum"], ignore_index=[1, -1])
    net.node(operator, [scores, labels, *weights], draw.pick([1, 2]) if operator[0] == "S" else 1, **chosen)
