"""Means of bytes that lie halfway between two bytes: they go to the even one, whatever the steps and the padding."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def axis_windows(extent, kernel, stride=1, pads=(0, 0), dilation=1, ceil=False):
    """The places inside the image that each window of one axis takes."""
    span = (kernel - 1) * dilation + 1
    room = extent + sum(pads) - span
    count = (-(-room // stride) if ceil else room // stride) + 1
    while (count - 1) * stride >= extent + pads[0]:     # a window must begin before the padding behind
        count -= 1
    places = [[o * stride - pads[0] + k * dilation for k in range(kernel)] for o in range(count)]
    return [[p for p in window if 0 <= p < extent] for window in places]


def means(x, dtype, zero, ratio, kernel, strides, pads, counts_padding, **more):
    axes = [axis_windows(x.shape[2 + a], kernel[a], strides[a], (pads[a], pads[2 + a]), **more) for a in range(2)]
    y = np.empty((*x.shape[:2], len(axes[0]), len(axes[1])))
    for i, rows in enumerate(axes[0]):
        for j, columns in enumerate(axes[1]):
            taps = kernel[0] * kernel[1] if counts_padding else len(rows) * len(columns)
            sums = (x[:, :, rows][:, :, :, columns].astype(np.int64) - zero[0]).sum((2, 3))
            y[:, :, i, j] = np.rint(sums / (taps * ratio))     # a quotient that lies halfway is exact, and goes to the even one
    return np.clip(y + zero[1], np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def pool(name, dtype, shape, kernel, strides=(1, 1), pads=(0, 0, 0, 0), step=0.1, ratio=1.0, zero=(3, 5), auto_pad=None, ceil=False,
         padding=False, dilation=1, open_extents=None, shared=False):
    """A pool between DequantizeLinear and QuantizeLinear; `ratio`: of their steps. shared: the floats have another reader, too."""
    limits = np.iinfo(dtype)
    x = np.random.default_rng(len(name)).integers(limits.min, limits.max + 1, shape).astype(dtype)
    x[:, ::2] = x[:, ::2] // 16 + zero[0]                      # small ones lie halfway more often
    how = dict(kernel_shape=kernel, strides=strides, ceil_mode=int(ceil), count_include_pad=int(padding))
    how.update({"auto_pad": auto_pad} if auto_pad else {"pads": pads}, **({"dilations": [dilation] * 2} if dilation > 1 else {}))
    nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["a"]), helper.make_node("AveragePool", ["a"], ["b"], **how),
             helper.make_node("QuantizeLinear", ["b", "ys", "yz"], ["y"])]
    wanted = means(x, dtype, zero, ratio, kernel, strides, pads, padding, dilation=dilation, ceil=ceil)
    outputs = [helper.make_tensor_value_info("y", TYPES[dtype], None if open_extents else wanted.shape)]
    given = [wanted]
    if shared:
        nodes.append(helper.make_node("Neg", ["a"], ["c"]))
        outputs.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, shape))
        given.append(-(x.astype(np.float32) - zero[0]) * np.float32(step))
    parameters = dict(xs=np.float32(step), xz=dtype(zero[0]), ys=np.float32(np.float32(step) * ratio), yz=dtype(zero[1]))
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TYPES[dtype], open_extents or shape)], outputs,
                              [numpy_helper.from_array(np.array(v), n) for n, v in parameters.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])
    return dict(name=f"ties_of_{name}", group="AveragePool", model=model, inputs=[dict(x=x)], wanted=lambda given_inputs: given)


def whole(name, operator, dtype, shapes, axes, declared, step=0.1, ratio=1.0, zero=(3, 5), **how):
    """Means over whole axes between DequantizeLinear and QuantizeLinear, at several extents."""
    limits, generator = np.iinfo(dtype), np.random.default_rng(len(name))
    feeds = [generator.integers(limits.min, limits.max + 1, s) for s in shapes]
    feeds = [dict(x=(x if i % 2 else x // 16 + zero[0]).astype(dtype)) for i, x in enumerate(feeds)]
    parameters = dict(xs=np.float32(step), xz=dtype(zero[0]), ys=np.float32(np.float32(step) * ratio), yz=dtype(zero[1]))
    reads = ["a"] + ["axes"] * (operator == "ReduceMean")
    parameters.update({"axes": np.array(axes)} if operator == "ReduceMean" else {})
    nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["a"]), helper.make_node(operator, reads, ["b"], **how),
             helper.make_node("QuantizeLinear", ["b", "ys", "yz"], ["y"])]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TYPES[dtype], declared)],
                              [helper.make_tensor_value_info("y", TYPES[dtype], None)], [numpy_helper.from_array(np.array(v), n) for n, v in parameters.items()])

    def wanted(given):
        sums = (given["x"].astype(np.int64) - zero[0]).sum(tuple(axes), keepdims=bool(how.get("keepdims", 1)))
        count = np.prod([given["x"].shape[a] for a in axes])
        return [np.clip(np.rint(sums / (count * ratio)) + zero[1], limits.min, limits.max).astype(dtype)]
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])
    return dict(name=f"ties_of_{name}", group=operator, model=model, inputs=feeds, wanted=wanted)


AROUND = (1, 1, 1, 1)
EXTENTS = [(1, 6, 2, 5), (2, 6, 4, 5), (1, 6, 7, 2), (3, 6, 8, 9), (1, 6, 6, 7), (1, 6, 5, 4)]

CASES = [
    pool("padded", np.uint8, (1, 8, 7, 9), (3, 3), pads=AROUND),
    pool("padded_step_of_one", np.int8, (1, 8, 7, 9), (3, 3), pads=AROUND, step=1.0, zero=(-3, 4)),
    pool("padded_twice_the_step", np.int8, (2, 5, 6, 7), (2, 2), pads=AROUND, ratio=2.0, zero=(0, 0)),
    pool("padded_half_the_step", np.uint8, (2, 5, 6, 7), (2, 4), pads=(1, 2, 0, 1), step=0.013, ratio=0.5, zero=(100, 7)),
    pool("padded_strides", np.uint8, (1, 6, 9, 11), (3, 3), (2, 2), AROUND, step=0.37),
    pool("padded_ceil", np.uint8, (1, 6, 8, 10), (3, 3), (2, 2), AROUND, ceil=True),
    pool("ceil", np.uint8, (1, 6, 8, 8), (3, 3), (2, 2), ceil=True),
    pool("same", np.uint8, (1, 6, 8, 9), (4, 4), pads=(1, 1, 2, 2), auto_pad="SAME_UPPER"),
    pool("same_lower", np.uint8, (1, 6, 8, 9), (4, 2), pads=(2, 1, 1, 0), auto_pad="SAME_LOWER"),
    pool("dilated", np.int8, (1, 6, 9, 9), (2, 2), pads=AROUND, dilation=2, zero=(-3, 4)),
    pool("padded_open", np.uint8, (2, 6, 8, 9), (3, 3), pads=AROUND, open_extents=["n", 6, "h", "w"]),
    pool("padded_shared", np.uint8, (1, 8, 7, 9), (3, 3), pads=AROUND, shared=True),
    pool("padding_counted", np.uint8, (1, 8, 7, 9), (2, 2), pads=AROUND, padding=True),
    *(pool(f"{rows}_by_{columns}", np.uint8, (1, 6, 16, 16), (rows, columns), (2, 3), step=0.37)
      for rows, columns in ((2, 7), (2, 13), (4, 7), (5, 6), (4, 13), (7, 8), (6, 10))),
    pool("2_by_7_twice_the_step", np.int8, (1, 6, 16, 16), (2, 7), (2, 3), ratio=2.0, zero=(-3, 4)),
    whole("a_whole_image", "GlobalAveragePool", np.uint8, EXTENTS, (2, 3), ["n", 6, "h", "w"], step=0.37),
    whole("a_whole_image_twice_the_step", "GlobalAveragePool", np.int8, EXTENTS, (2, 3), ["n", 6, "h", "w"], ratio=2.0, zero=(-3, 4)),
    whole("a_whole_image_of_any_channels", "GlobalAveragePool", np.uint8, EXTENTS, (2, 3), ["n", "c", "h", "w"], zero=(0, 0)),
    whole("a_whole_line", "GlobalAveragePool", np.uint8, [(2, 5, n) for n in (1, 2, 6, 14, 26)], (2,), ["n", 5, "w"]),
    whole("axes", "ReduceMean", np.uint8, EXTENTS, (1, 3), ["n", 6, "h", "w"], step=0.37, keepdims=0),
    whole("constant_axes", "ReduceMean", np.int8, [(2, 6, 7, 10)] * 2, (0, 2), [2, 6, 7, 10], ratio=0.5, zero=(-3, 4)),
]
