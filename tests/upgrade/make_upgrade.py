"""Makes case folders for the older versions of operators, expected values computed here with numpy: make_upgrade.py FOLDER.

One case for each upgrade rule and each way in which it can go wrong; run like the official cases. The reference below is
written from the text of the older specification, not from the rule.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases  # noqa: E402
import tensors  # noqa: E402

RANDOM = np.random.RandomState(7)
FOLDER = sys.argv[1]
MADE = []


def rand(*shape):
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


def write(name, opset, nodes, inputs, outputs, constants=None, shapes=True, domain="", atol=1e-6):
    """inputs, outputs, constants: name -> array. shapes False: the outputs' shapes are not declared."""
    def info(key, array, known=True):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(key, kind, array.shape if known else None)
    constants = constants or {}
    graph = helper.make_graph(nodes, name, [info(k, v) for k, v in inputs.items()], [info(k, v, shapes) for k, v in outputs.items()],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    imports = [helper.make_opsetid("", opset if not domain else 17)] + ([helper.make_opsetid(domain, opset)] if domain else [])
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = 3 if opset < 9 and not domain else 8
    if model.ir_version < 4:  # then initializers are inputs as well
        graph = model.graph
        graph.input.extend([info(k, v) for k, v in constants.items()])
    sets = [([tensors.from_python(v) for v in inputs.values()], [tensors.from_python(v) for v in outputs.values()])]
    cases.write_case(os.path.join(FOLDER, "test_" + name), model, sets, nodes[0].op_type, "node", 1e-4, atol, None)
    MADE.append(name)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def write_broadcasting():
    a, b = rand(2, 3, 4, 5), rand(3, 4)
    wide = b.reshape(3, 4, 1)
    write("add6_axis_input", 6, [node("Add", "a b", "y", broadcast=1, axis=1)], {"a": a, "b": b}, {"y": a + wide})
    write("sub6_axis_constant", 6, [node("Sub", "a b", "y", broadcast=1, axis=1)], {"a": a}, {"y": a - wide}, {"b": b})
    write("mul1_axis_negative", 1, [node("Mul", "a b", "y", broadcast=1, axis=-3, consumed_inputs=[0, 0])], {"a": a}, {"y": a * wide}, {"b": b})
    write("div6_suffix", 6, [node("Div", "a b", "y", broadcast=1)], {"a": a}, {"y": a / a[0, 0]}, {"b": a[0, 0]})
    write("add6_axis_unknown_rank", 6, [node("Reshape", "a s", "r"), node("Add", "r b", "y", broadcast=1, axis=1)], {"a": a, "b": b},
          {"y": a + wide}, {"s": np.array([2, 3, 4, 5], np.int64)}, shapes=False)
    write("greater1_axis", 1, [node("Greater", "a b", "y", broadcast=1, axis=1)], {"a": a}, {"y": a > wide}, {"b": b})
    truth = a > 0
    write("and1_axis", 1, [node("And", "a b", "y", broadcast=1, axis=1)], {"a": truth}, {"y": truth & (wide > 0)}, {"b": b > 0})
    write("pow1_scalar", 1, [node("Pow", "a b", "y", broadcast=1)], {"a": np.abs(a)}, {"y": np.abs(a) ** np.float32(1.5)},
          {"b": np.array([1.5], np.float32)})
    slope = rand(3)
    write("prelu6_channels", 6, [node("PRelu", "a s", "y")], {"a": a}, {"y": np.where(a > 0, a, a * slope.reshape(3, 1, 1))}, {"s": slope})
    write("prelu1_scalar", 1, [node("PRelu", "a s", "y", consumed_inputs=[0, 0])], {"a": a}, {"y": np.where(a > 0, a, a * slope[0])}, {"s": slope[:1]})
    m, w, c = rand(4, 5), rand(5, 6), rand(6)
    write("gemm6_broadcast", 6, [node("Gemm", "m w c", "y", broadcast=1, alpha=0.5)], {"m": m}, {"y": 0.5 * (m @ w) + c}, {"w": w, "c": c})


def softmax(x, axis):
    flat = x.reshape(int(np.prod(x.shape[:axis])), -1)
    e = np.exp(flat - flat.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).reshape(x.shape)


def write_softmax():
    x = rand(2, 3, 4)
    write("softmax11_default_axis", 11, [node("Softmax", "x", "y")], {"x": x}, {"y": softmax(x, 1)})
    write("softmax1_axis0", 1, [node("Softmax", "x", "y", axis=0)], {"x": x}, {"y": softmax(x, 0)})
    write("softmax11_last", 11, [node("Softmax", "x", "y", axis=2)], {"x": x}, {"y": softmax(x, 2)})
    write("logsoftmax11", 11, [node("LogSoftmax", "x", "y")], {"x": x}, {"y": np.log(softmax(x, 1))})
    best = softmax(x, 1).reshape(2, -1)
    write("hardmax11", 11, [node("Hardmax", "x", "y")], {"x": x},
          {"y": (np.arange(12) == best.argmax(1)[:, None]).astype(np.float32).reshape(x.shape)})
    for axis in (-3, -2, -1, 0, 1, 2):  # of a product, whose rank no declaration tells
        write(f"softmax11_rank_unknown{axis}", 11, [node("MatMul", "x w", "m"), node("Softmax", "m", "y", axis=axis)], {"x": x},
              {"y": softmax(2 * x, axis % 3)}, {"w": 2 * np.eye(4, dtype=np.float32)}, shapes=False)


def write_norms():
    x, s, b, m, v = rand(2, 3, 4, 5), rand(3), rand(3), rand(3), np.abs(rand(3)) + 0.1
    c = (slice(None), None, None)
    y = s[c] * (x - m[c]) / np.sqrt(v[c] + 1e-5) + b[c]
    constants = {"s": s, "b": b, "m": m, "v": v}
    write("batchnorm6_test", 6, [node("BatchNormalization", "x s b m v", "y", is_test=1)], {"x": x}, {"y": y}, constants)
    write("batchnorm1_consumed", 1, [node("BatchNormalization", "x s b m v", "y", is_test=1, consumed_inputs=[0, 0, 0, 1, 1])], {"x": x}, {"y": y}, constants)
    write("batchnorm7", 7, [node("BatchNormalization", "x s b m v", "y")], {"x": x}, {"y": y}, constants)
    each = {k: np.abs(rand(3, 4, 5)) + 0.1 for k in "sbmv"}
    write("batchnorm7_each_place", 7, [node("BatchNormalization", "x s b m v", "y", spatial=0)], {"x": x},
          {"y": each["s"] * (x - each["m"]) / np.sqrt(each["v"] + 1e-5) + each["b"]}, each)
    gs, gb = rand(2), rand(2)
    x6 = rand(2, 6, 4)
    g = x6.reshape(2, 2, 3, 4)
    n = (g - g.mean((2, 3), keepdims=True)) / np.sqrt(g.var((2, 3), keepdims=True) + 1e-5)
    write("groupnorm18", 18, [node("GroupNormalization", "x s b", "y", num_groups=2)], {"x": x6},
          {"y": (n * gs[None, :, None, None] + gb[None, :, None, None]).reshape(x6.shape)}, {"s": gs, "b": gb}, atol=1e-5)
    write("dropout6_mask", 6, [node("Dropout", "x", "y k", ratio=0.3, is_test=1)], {"x": x}, {"y": x, "k": np.ones_like(x)})
    write("dropout7", 7, [node("Dropout", "x", "y", ratio=0.5)], {"x": x}, {"y": x})
    write("dropout10_mask", 10, [node("Dropout", "x", "y k", ratio=0.5)], {"x": x}, {"y": x, "k": np.ones(x.shape, bool)})


def write_axes():
    x = rand(2, 3, 4, 5)
    i64 = np.int64
    write("slice1", 1, [node("Slice", "x", "y", starts=[1, -2], ends=[3, 1000], axes=[1, 3])], {"x": x}, {"y": x[:, 1:3, :, -2:]})
    write("slice9_no_axes", 9, [node("Slice", "x", "y", starts=[0, 1], ends=[2, -1])], {"x": x}, {"y": x[0:2, 1:-1]})
    write("split2_sizes", 2, [node("Split", "x", "a b", axis=2, split=[1, 3])], {"x": x}, {"a": x[:, :, :1], "b": x[:, :, 1:]})
    write("split11_equal", 11, [node("Split", "x", "a b")], {"x": x}, {"a": x[:1], "b": x[1:]})
    write("split13_equal", 13, [node("Split", "x", "a b", axis=2)], {"x": x}, {"a": x[:, :, :2], "b": x[:, :, 2:]})
    write("split1_input", 1, [node("Split", "x s", "a b", axis=2)], {"x": x}, {"a": x[:, :, :3], "b": x[:, :, 3:]}, {"s": np.array([3, 1], i64)})
    one = rand(1, 3, 1, 2)
    write("squeeze1", 1, [node("Squeeze", "x", "y", axes=[0, 2])], {"x": one}, {"y": one.reshape(3, 2)})
    write("squeeze11_all", 11, [node("Squeeze", "x", "y")], {"x": one}, {"y": one.reshape(3, 2)})
    write("unsqueeze11", 11, [node("Unsqueeze", "x", "y", axes=[0, -1])], {"x": x}, {"y": x[None, ..., None]})
    for kind, function in (("Sum", np.sum), ("Mean", np.mean), ("Max", np.max), ("Prod", np.prod)):
        write("reduce_%s11_axes" % kind.lower(), 11, [node("Reduce" + kind, "x", "y", axes=[1, -1], keepdims=0)], {"x": x}, {"y": function(x, (1, 3))})
        write("reduce_%s1_all" % kind.lower(), 1, [node("Reduce" + kind, "x", "y")], {"x": x}, {"y": function(x, keepdims=True)}, atol=1e-4)
    write("reduce_l2_17", 17, [node("ReduceL2", "x", "y", axes=[2])], {"x": x}, {"y": np.sqrt((x * x).sum(2, keepdims=True))})
    pads = ((0, 0), (0, 0), (1, 0), (2, 1))
    write("pad1_paddings", 1, [node("Pad", "x", "y", paddings=[0, 0, 1, 2, 0, 0, 0, 1])], {"x": x}, {"y": np.pad(x, pads)})
    write("pad2_value", 2, [node("Pad", "x", "y", pads=[0, 0, 1, 2, 0, 0, 0, 1], value=1.5)], {"x": x}, {"y": np.pad(x, pads, constant_values=1.5)})
    write("pad10_reflect", 10, [node("Pad", "x", "y", pads=[0, 0, 1, 2, 0, 0, 0, 1], mode="reflect")], {"x": x}, {"y": np.pad(x, pads, mode="reflect")})
    order = np.argsort(-x, axis=3, kind="stable")[..., :3]
    write("topk1", 1, [node("TopK", "x", "y i", axis=3, k=3)], {"x": x}, {"y": np.take_along_axis(x, order, 3), "i": order.astype(i64)})
    write("reshape1", 1, [node("Reshape", "x", "y", shape=[0, -1, 10])], {"x": x}, {"y": x.reshape(2, -1, 10)})
    write("concat1_default_axis", 1, [node("Concat", "x x", "y")], {"x": x}, {"y": np.concatenate([x, x], 1)})
    write("tile1", 1, [node("Tile", "x t a", "y")], {"x": x}, {"y": np.tile(x, (1, 1, 3, 1))},
          {"t": np.array([3], i64), "a": np.array([2], i64)})
    spectrum = np.fft.fft(x[..., 0], axis=1)
    write("dft17_axis", 17, [node("DFT", "x", "y", axis=1)], {"x": x[..., :1].copy()},
          {"y": np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)}, atol=1e-4)


def write_resizing():
    x = rand(1, 2, 3, 4)
    up = x.repeat(2, 2).repeat(3, 3)
    scales = np.array([1, 1, 2, 3], np.float32)
    write("upsample1", 1, [node("Upsample", "x", "y", height_scale=2.0, width_scale=3.0)], {"x": x}, {"y": up})
    write("upsample7", 7, [node("Upsample", "x", "y", scales=[1.0, 1.0, 2.0, 3.0])], {"x": x}, {"y": up})
    write("upsample9", 9, [node("Upsample", "x s", "y", mode="nearest")], {"x": x}, {"y": up}, {"s": scales})
    write("resize10_up", 10, [node("Resize", "x s", "y")], {"x": x}, {"y": up}, {"s": scales})
    d = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 4)
    write("resize10_down", 10, [node("Resize", "x s", "y", mode="nearest")], {"x": d}, {"y": d[:, :, :1, [0, 2]]},
          {"s": np.array([1, 1, 0.6, 0.6], np.float32)})
    w = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 1, 2, 2)
    corner = np.array([[1, 1.5, 2, 2], [2, 2.5, 3, 3], [3, 3.5, 4, 4], [3, 3.5, 4, 4]], np.float32).reshape(1, 1, 4, 4)
    write("upsample9_linear", 9, [node("Upsample", "x s", "y", mode="linear")], {"x": w}, {"y": corner}, {"s": np.array([1, 1, 2, 2], np.float32)})
    write("resize10_linear", 10, [node("Resize", "x s", "y", mode="linear")], {"x": w}, {"y": corner}, {"s": np.array([1, 1, 2, 2], np.float32)})


def write_types():
    x = rand(3, 4)
    write("cast1_to_int", 1, [node("Cast", "x", "y", to="INT32")], {"x": x}, {"y": x.astype(np.int32)})
    write("cast5_to_double", 5, [node("Cast", "x", "y", to="DOUBLE")], {"x": x}, {"y": x.astype(np.float64)})
    write("clip6", 6, [node("Clip", "x", "y", min=-0.5, max=1.0)], {"x": x}, {"y": np.clip(x, -0.5, 1)})
    write("clip1_max_only", 1, [node("Clip", "x", "y", max=0.25, consumed_inputs=[0])], {"x": x}, {"y": np.minimum(x, np.float32(0.25))})
    write("clip6_double", 6, [node("Clip", "x", "y", min=-0.5)], {"x": x.astype(np.float64)}, {"y": np.maximum(x.astype(np.float64), -0.5)})
    write("clip6_half", 6, [node("Clip", "x", "y", min=-0.5, max=0.5)], {"x": x.astype(np.float16)}, {"y": np.clip(x.astype(np.float16), -0.5, 0.5)})
    write("clip6_unknown_type", 6, [node("Cast", "x", "c", to=TensorProto.DOUBLE), node("Clip", "c", "y", max=0.5)], {"x": x},
          {"y": np.minimum(x.astype(np.float64), 0.5)}, shapes=True)
    write("selu1", 1, [node("Selu", "x", "y")], {"x": x}, {"y": (1.0507 * np.where(x > 0, x, 1.6732 * (np.exp(x) - 1))).astype(np.float32)}, atol=1e-5)
    image = rand(1, 2, 4, 4)
    patches = np.stack([image[:, :, i:i + 3, j:j + 3] for i in range(2) for j in range(2)], -1).reshape(1, 2, 3, 3, 2, 2)
    write("lppool1", 1, [node("LpPool", "x", "y", p=2.0, kernel_shape=[2, 2])], {"x": image}, {"y": np.sqrt((patches ** 2).sum((4, 5)))})
    write("globallppool1", 1, [node("GlobalLpPool", "x", "y", p=1.0)], {"x": image}, {"y": np.abs(image).sum((2, 3), keepdims=True)})
    indices, updates = np.array([[1, 0, 2, 0]], np.int64), rand(1, 4)
    scattered = x.copy()
    for column, row in enumerate(indices[0]):
        scattered[row, column] = updates[0, column]
    write("scatter9", 9, [node("Scatter", "x i u", "y", axis=0)], {"x": x, "i": indices, "u": updates}, {"y": scattered})
    write("max6_consumed", 1, [node("Max", "x x", "y", consumed_inputs=[0, 0])], {"x": x}, {"y": x})
    write("relu1_consumed", 1, [node("Relu", "x", "y", consumed_inputs=[0])], {"x": x}, {"y": np.maximum(x, 0)})


def write_recurrent():
    t, b, i, h = 3, 1, 2, 4
    x, w, r = rand(t, b, i), rand(1, h, i), rand(1, h, h)
    state, states = np.zeros((b, h), np.float32), []
    for step in x:
        state = np.tanh(step @ w[0].T + state @ r[0].T)
        states.append(state)
    write("rnn1_output_sequence", 1, [node("RNN", "x w r", "y z", hidden_size=h, output_sequence=1)], {"x": x},
          {"y": np.stack(states)[:, None], "z": state[None]}, {"w": w, "r": r}, atol=1e-5)


def write_scan():
    body = helper.make_graph([node("Add", "s e", "n"), node("Identity", "n", "o")], "body",
                             [helper.make_tensor_value_info("s", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("e", TensorProto.FLOAT, [2])],
                             [helper.make_tensor_value_info("n", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("o", TensorProto.FLOAT, [2])])
    x, start = rand(3, 4, 2), rand(3, 2)
    sums = start[:, None] + np.cumsum(x, 1)
    scan = helper.make_node("Scan", ["", "start", "x"], ["last", "all"], body=body, num_scan_inputs=1)
    write("scan8_batch", 8, [scan], {"start": start, "x": x}, {"last": sums[:, -1], "all": sums}, atol=1e-5)
    back = start[:, None] + np.cumsum(x[:, ::-1], 1)
    scan = helper.make_node("Scan", ["", "start", "x"], ["last", "all"], body=body, num_scan_inputs=1, directions=[1])
    write("scan8_reverse", 8, [scan], {"start": start, "x": x}, {"last": back[:, -1], "all": back}, atol=1e-5)


def main():
    write_broadcasting()
    write_softmax()
    write_norms()
    write_axes()
    write_resizing()
    write_types()
    write_recurrent()
    write_scan()
    print("%d cases of older operator versions in %s" % (len(MADE), FOLDER))


main()
