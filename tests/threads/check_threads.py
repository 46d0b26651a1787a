"""The code of --threads=N: equal to ONNX Runtime, the same bits for every N, free of data races (ThreadSanitizer).

Each model is large enough that its steps are cut in every way that compiler/plan/slices.c knows; what is cut is read from
the generated code, so a rule that stops cutting fails the test. The same models with extents that only the run knows are
run at their bounds, at half of them and at less.
"""

import os
import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))

import host

THREADS = (1, 4)
RACING = 3                              # at once under ThreadSanitizer
os.environ.setdefault("TSAN_OPTIONS", "atexit_sleep_ms=0")  # else a second in each run, in which nothing runs
NATIVE = "-std=c99 -O1 -march=native -Wall -Wextra -Wpedantic -Wconversion -Werror"
LITERAL = host.LITERAL + " -march=native"

RANDOM = np.random.default_rng(7)


def weights(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(np.prod(shape[1:]) or 1))


def network(nodes, shape, constants=(), opset=17, result=None):
    """A model of one input x; nodes are (operator, inputs, output or outputs, attributes); the last output is the model's, of shape result
    where onnx cannot infer it."""
    graph = helper.make_graph(
        [helper.make_node(op, ins, out if isinstance(out, list) else [out], **attributes) for op, ins, out, attributes in nodes], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(nodes[-1][2], TensorProto.FLOAT, result)],
        [numpy_helper.from_array(value, name) for name, value in dict(constants).items()])
    model = onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8))
    onnx.checker.check_model(model)
    return model


def convolution(shape, outputs, kernel, flags=(), **attributes):
    group = attributes.get("group", 1)
    model = network([("Conv", ["x", "w", "b"], "c", attributes), ("Relu", ["c"], "y", {})], shape,
                    {"w": weights(outputs, shape[1] // group, *kernel), "b": weights(outputs)})
    return model, list(flags)


def residual(images=1):
    """The sum reads its operand at the pixel and channel that it writes."""
    w = {"w": weights(48, 48, 1, 1), "v": weights(48, 48, 1, 1)}
    return network([("Conv", ["x", "w"], "a", {}), ("Conv", ["a", "v"], "b", {}), ("Add", ["b", "x"], "y", {})],
                   (images, 48, 41, 37), w), []


def transformed():
    """Cut along channels: each part's weights of a frequency lie between others'."""
    nodes = [("Conv", ["x", "w", "b"], "c", {"pads": [1] * 4}), ("Add", ["c", "x"], "y", {})]
    return network(nodes, (1, 160, 14, 14), {"w": weights(160, 160, 3, 3), "b": weights(160)}), ["--winograd=on"]


def strips(*flags):
    """Strips of rows are cut as whole tensors are."""
    constants = {"w": weights(24, 8, 3, 3), "v": weights(24, 1, 3, 3), "u": weights(4, 24, 3, 3)}
    nodes = [("Conv", ["x", "w"], "a", {"pads": [1] * 4}), ("Relu", ["a"], "b", {}),
             ("Conv", ["b", "v"], "c", {"pads": [1] * 4, "group": 24}), ("Conv", ["c", "u"], "y", {"pads": [1] * 4, "strides": [2, 2]})]
    return network(nodes, (1, 8, 96, 90), constants), ["--winograd=off", "--part-time=0", *flags]


def attention(shape):
    nodes = [("Transpose", ["x"], "k", {"perm": [0, 1, 3, 2]}), ("MatMul", ["x", "k"], "s", {}), ("Softmax", ["s"], "p", {}),
             ("MatMul", ["p", "x"], "y", {})]
    return network(nodes, shape), []


def stacked():
    """Products whose softmax is along another axis than theirs: steps of their own."""
    nodes = [("Transpose", ["x"], "k", {"perm": [0, 1, 3, 2]}), ("MatMul", ["x", "k"], "s", {}), ("Softmax", ["s"], "y", {"axis": 2})]
    return network(nodes, (1, 6, 150, 64)), []


def product():
    nodes = [("Transpose", ["x"], "k", {"perm": [1, 0]}), ("MatMul", ["x", "k"], "s", {}), ("Relu", ["s"], "y", {})]
    return network(nodes, (301, 96)), []


def norm():
    constants = {"g": weights(192), "b": weights(192)}
    return network([("LayerNormalization", ["x", "g", "b"], "n", {"axis": -1}), ("Tanh", ["n"], "y", {})], (1, 1000, 192),
                   constants), []


def moved():
    return network([("Transpose", ["x"], "t", {"perm": [0, 2, 1, 3]}), ("Sigmoid", ["t"], "s", {}),
                    ("ReduceMean", ["s"], "m", {"axes": [3], "keepdims": 1}), ("Sub", ["s", "m"], "y", {})], (3, 70, 90, 33)), []


def pooled():
    return network([("MaxPool", ["x"], "m", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
                    ("AveragePool", ["m"], "a", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
                    ("GlobalAveragePool", ["a"], "g", {}), ("Mul", ["a", "g"], "y", {})], (1, 160, 91, 77)), []


def resized():
    return network([("Resize", ["x", "", "s"], "r", {"mode": "linear"}), ("Relu", ["r"], "y", {})], (2, 24, 40, 40),
                   {"s": np.array([1, 1, 2, 2], np.float32)}), []


def of_bytes(shape, outputs, kernel, flags=(), **attributes):
    """Sums of bytes; weights of 7 bits, with which ONNX Runtime is exact everywhere."""
    inputs = shape[1] // attributes.get("group", 1)
    constants = {"s": np.float32(0.02), "z": np.uint8(119), "w": RANDOM.integers(-64, 64, (outputs, inputs, *kernel)).astype(np.int8),
                 "t": RANDOM.uniform(0.01, 0.02, outputs).astype(np.float32), "n": np.zeros(outputs, np.int8)}
    nodes = [("QuantizeLinear", ["x", "s", "z"], "q", {}), ("DequantizeLinear", ["q", "s", "z"], "d", {}),
             ("DequantizeLinear", ["w", "t", "n"], "v", {"axis": 0}), ("Conv", ["d", "v"], "y", attributes)]
    return network(nodes, shape, constants), list(flags)


def packed():
    """Weights of four bits, a short last grain of columns, zero points, bias."""
    k, n, block = 200, 1003, 32
    blocks = -(-k // block)
    constants = [("w", RANDOM.integers(0, 256, (n, blocks, block // 2)).astype(np.uint8)), ("s", RANDOM.uniform(0.01, 0.02, (n, blocks)).astype(np.float32)),
                 ("z", RANDOM.integers(0, 256, (n, -(-blocks // 2))).astype(np.uint8)), ("b", weights(n))]
    node = helper.make_node("MatMulNBits", ["x", "w", "s", "z", "", "b"], ["y"], domain="com.microsoft", K=k, N=n, bits=4, block_size=block)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, k])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, n])], [numpy_helper.from_array(v, name) for name, v in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10), []


def members():
    """Members of a sequence lie where the loop's counter says."""
    shape = (16, 64, 64)
    body = helper.make_graph([helper.make_node("Tanh", ["m"], ["t"]), helper.make_node("Transpose", ["t"], ["u"], perm=[1, 0, 2]),
                              helper.make_node("Exp", ["u"], ["e"]), helper.make_node("Softmax", ["e"], ["s"], axis=1)], "body",
                             [helper.make_tensor_value_info("m", TensorProto.FLOAT, shape)],
                             [helper.make_tensor_value_info("s", TensorProto.FLOAT, (64, 16, 64))])
    return network([("Scan", ["x"], "y", {"body": body, "num_scan_inputs": 1})], (3, *shape), result=(3, 64, 16, 64)), ["--part-time=0"]


def doubles():
    """The kernel of other types than float reads a number more, the value of no terms: all parts the same one."""
    nodes = [("Cast", ["x"], "d", {"to": TensorProto.DOUBLE}), ("ReduceSumSquare", ["d"], "r", {"axes": [1], "keepdims": 0}),
             ("Cast", ["r"], "y", {"to": TensorProto.FLOAT})]
    return network(nodes, (60, 50, 60)), []


def recurrent(op, gates, **attributes):
    """Cut along hidden units, whose slices wait for each other in each time step. One time step alone has only its first state to
    wait for, and no result but the final one."""
    hidden, states = 160, ["h", "c"] if op == "LSTM" else ["h"]
    constants = {"w": weights(2, gates * hidden, 24), "r": weights(2, gates * hidden, hidden), "b": weights(2, 2 * gates * hidden),
                 "front": np.array([0]), **{f"{s}0": weights(2, 3, hidden) for s in states}}
    inputs, attributes = ["w", "r", "b", "", *(f"{s}0" for s in states)], {"hidden_size": hidden, "direction": "bidirectional", **attributes}
    nodes = [(op, ["x", *inputs], ["a", *states], attributes), ("Gather", ["x", "front"], "f", {}), (op, ["f", *inputs], ["", "o"], attributes)]
    nodes += [("Unsqueeze", [s, "front"], f"{s}1", {}) for s in (*states, "o")]
    return network([*nodes, ("Concat", ["a", *(f"{s}1" for s in states), "o1"], "y", {"axis": 0})], (9, 3, 24), constants), ["--part-time=0"]


def padded():
    """Slices begin before, in and behind the operand; one axis is cut off in front."""
    constants = {"mirrored": np.array([0, 0, 9, 5, 0, 0, 9, 5]), "moved": np.array([0, 2, -3, 40, 0, 3, 50, -2])}
    return network([("Pad", ["x", "mirrored"], "a", {"mode": "reflect"}), ("Pad", ["a", "moved"], "y", {})], (1, 24, 90, 100), constants), []


# name: the model and its flags, and the kernels that must be cut
MODELS = {
    "doubles": (doubles(), {"reduce"}),
    "members": (members(), {"map", "copy"}),
    "rows": (convolution((1, 24, 61, 53), 40, (3, 3), ["--winograd=off"], pads=[1, 1, 1, 1]), {"conv"}),
    "strided": (convolution((1, 3, 131, 129), 36, (5, 5), pads=[2, 1, 2, 2], strides=[2, 2], dilations=[2, 1]), {"conv"}),
    "channels": (convolution((1, 160, 7, 7), 352, (3, 3), ["--winograd=off"], pads=[1, 1, 1, 1]), {"conv"}),
    "few_outputs": (convolution((1, 24, 61, 53), 3, (5, 5), pads=[2, 1, 2, 2]), {"conv"}),
    "images": (convolution((5, 32, 20, 20), 64, (1, 1)), {"conv"}),
    "groups": (convolution((1, 64, 40, 40), 64, (3, 3), pads=[1, 1, 1, 1], group=4), {"conv"}),
    "line": (convolution((1, 64, 3001), 64, (9,), pads=[4, 4]), {"conv"}),
    "solid": (convolution((1, 16, 12, 20, 20), 32, (3, 3, 3), pads=[1] * 6), {"conv"}),
    "winograd": (convolution((1, 64, 45, 39), 64, (3, 3), ["--winograd=on"], pads=[1, 1, 1, 1]), {"winograd"}),
    "transformed": (transformed(), {"winograd"}),
    "depthwise": (convolution((1, 96, 57, 59), 96, (3, 3), pads=[0, 1, 1, 0], group=96), {"depthwise"}),
    "depthwise_channels": (convolution((1, 672, 7, 7), 672, (5, 5), pads=[2, 2, 2, 2], group=672), {"depthwise"}),
    "channels_and_rows": (convolution((1, 480, 7, 7), 160, (1, 1)), {"conv"}),
    "last_grain": (convolution((1, 512, 13, 13), 1000, (1, 1)), {"conv"}), # which is not full: no rest for another cut
    "one_pixel": (convolution((1, 960, 1, 1), 240, (1, 1)), {"conv"}),
    "residual": (residual(), {"conv"}),
    "residual_images": (residual(4), {"conv"}),
    "bytes_rows": (of_bytes((1, 36, 47, 43), 52, (3, 3), ["--winograd=off"], pads=[1, 1, 1, 1]), {"conv"}),
    "bytes_winograd": (of_bytes((1, 64, 45, 39), 68, (3, 3), ["--winograd=on"], pads=[1, 1, 1, 1]), {"winograd"}),
    "bytes_channels": (of_bytes((1, 160, 7, 7), 352, (3, 3), pads=[1, 1, 1, 1], strides=[2, 2]), {"conv"}),
    "bytes_both": (of_bytes((1, 480, 7, 7), 160, (1, 1)), {"conv"}),
    "bytes_apart": (of_bytes((1, 96, 57, 59), 96, (3, 3), pads=[0, 1, 1, 0], group=96), {"depthwise"}),
    "strips": (strips("--cascade=on"), {"conv", "depthwise"}),
    "strips_in_budget": (strips("--max-ram=700K"), {"conv", "depthwise"}),      # 1.9 MB where tensors are whole
    "attention": (attention((1, 6, 150, 64)), {"attention"}),
    "many_keys": (attention((1, 1, 1100, 24)), {"attention"}),
    "stacked": (stacked(), {"matmul", "softmax"}),
    "product": (product(), {"matmul"}),
    "norm": (norm(), {"moments", "map"}),
    "moved": (moved(), {"map", "reduce"}),
    "pooled": (pooled(), {"pool", "map"}),
    "resized": (resized(), {"resample"}),
    "padded": (padded(), {"pad"}),
    "packed": (packed(), {"matmul_nbits"}),
    "lstm": (recurrent("LSTM", 4), {"lstm"}),
    "gru": (recurrent("GRU", 3), {"gru"}),
    "gru_before": (recurrent("GRU", 3, linear_before_reset=1), {"gru"}),
    "rnn": (recurrent("RNN", 1), {"rnn"}),
}


# The axes of x that are known while running only, where they are not all behind the channels.
OPEN = {"images": [0], "residual_images": [0], "doubles": [0, 2], "attention": [1, 2], "many_keys": [2], "stacked": [1, 2], "product": [0], "norm": [1],
        "moved": [0, 1, 2, 3], "packed": [0], **dict.fromkeys(["lstm", "gru", "gru_before", "rnn"], [0])}
CONSTANT = {"members", "one_pixel", "strips_in_budget"}
# Cut as others are whose kernels are the same: their constant extents are built with LITERAL, too. GCC fuses multiplications and
# additions from -O1 on, perhaps not as often in a slice as in the whole.
ALIKE = {"strided", "images", "groups", "transformed", "depthwise_channels", "channels_and_rows", "last_grain", "one_pixel", "residual", "residual_images",
         "bytes_channels", "bytes_both", "strips_in_budget", "many_keys", "gru_before", "rnn"}


def compiled(arguments, name, path, flags, threads, cflags, folder):
    tools = host.Toolchain(arguments.occamyc, arguments.cc, cflags + " -pthread")
    folder = os.path.join(arguments.work, name, folder)
    weights = ["--weights=file"] if threads > 1 else [] # C compilers take seconds for megabytes of numbers in the text
    host.compile_model(tools, path, folder, [*flags, *weights, f"--threads={threads}"])
    host.build_program(tools, folder)
    return folder


def functions_cut(folder):
    """What the parts call: conv_f32_1 of kernel conv_f32, step 1."""
    with open(os.path.join(folder, "model.c")) as file:
        text = file.read()
    parts = re.findall(r"static void model_parts_\d+\((.*?\n}\n)", text, re.S)
    return {match for part in parts for match in re.findall(r"model_([a-z]\w*)\(", part)}


def kernels_whole(folder, kernels):
    """Those of the kernels, each named by one word or more (conv, matmul_nbits), that no part calls."""
    found = functions_cut(folder)
    return {kernel for kernel in kernels if not any(function.startswith(kernel + "_") for function in found)}


def answer(folder, data):
    with open(os.path.join(folder, "x.bin"), "wb") as file:
        file.write(data.tobytes())
    done = subprocess.run(["./model", f"x.bin:{'x'.join(map(str, data.shape))}"], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise host.Failure("run-fail", host.last_line(done.stdout + done.stderr))
    with open(os.path.join(folder, "out", "0.bin"), "rb") as file:
        return file.read()


def check_model(arguments, name, model, flags, shapes):
    """Answers for inputs of each shape with one thread and more."""
    path = os.path.join(arguments.work, f"{name}.onnx")
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    build = NATIVE if name in MODELS and name not in ALIKE else LITERAL
    folders = {threads: compiled(arguments, name, path, flags, threads, build, str(threads)) for threads in THREADS}
    racing = compiled(arguments, name, path, flags, RACING, host.RACE, "race")
    for threads, folder in folders.items():
        wrong = kernels_whole(folder, MODELS[name.split(".")[0]][1]) if threads > 1 else functions_cut(folder)
        if wrong:
            raise host.Failure("wrong", f"{threads} threads: {'not cut' if threads > 1 else 'cut'}: {', '.join(sorted(wrong))}")
    for shape in shapes:
        data = RANDOM.standard_normal(shape).astype(np.float32)
        truth = session.run(None, {"x": data})[0]
        bits = {threads: answer(folder, data) for threads, folder in folders.items()}
        if len(set(bits.values())) > 1:
            raise host.Failure("wrong", f"{THREADS[-1]} threads give other bits than one for {shape}")
        error = np.abs(np.frombuffer(bits[1], np.float32).reshape(truth.shape) - truth).max()
        if not error <= 1e-4 * max(1.0, np.abs(truth).max()):
            raise host.Failure("wrong", f"{error:g} from ONNX Runtime for {shape}")
        if len(shapes) == 1 or shape != shapes[0]:                  # of open extents at less than their bounds, which takes a third of the time
            answer(racing, data)


def opened(model, axes):
    """The model, of which these axes of x are known while running only."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for axis in axes:
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = f"n{axis}"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model


def check(arguments, name):
    (model, flags), _ = MODELS[name]
    most = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    check_model(arguments, name, model, flags, [most])
    if name in CONSTANT:
        return
    axes = OPEN.get(name, range(2, len(most)))
    sizes = {axis: (most[axis], -(-most[axis] // 2), max(2, most[axis] // 4) if axis else 1) for axis in axes}
    bounds = [f"--dim=n{axis}={size[2]}..{size[0]}" for axis, size in sizes.items()]
    shapes = [[sizes[axis][i] if axis in sizes else n for axis, n in enumerate(most)] for i in range(3)]
    check_model(arguments, f"{name}.open", opened(model, axes), [*flags, *bounds], shapes)


if __name__ == "__main__":
    host.check_each(check, __doc__, MODELS)
