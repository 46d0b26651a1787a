"""The code of --queues=N: equal to ONNX Runtime, the same bits as on one queue whoever runs the tasks (a pool, fewer threads than
queues, one after another in either order, nobody), the same code where a step fails, free of data races (ThreadSanitizer).

What runs beside what is read from the generated code, so a network whose branches are no longer spread fails the test.
"""

import itertools
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

NATIVE = host.LITERAL + " -march=native"   # stress.c asks what an optimiser makes of the waits
os.environ.setdefault("TSAN_OPTIONS", "atexit_sleep_ms=0")  # else a second in each run, in which nothing runs
RANDOM = np.random.default_rng(11)

# Legal callers: the text that stands for the pool in the host program, and what it needs.
SERIAL = """
static void {name}(void *nothing, void (*part)(void *context, int64_t index), void *context, int64_t parts)
{{
    (void)nothing;
    for (int64_t i = 0; i < parts; i++)
        part(context, {index});
}}
"""
CALLERS = {"null": (", 0, 0", ""),
           "forward": (", forward, 0", SERIAL.format(name="forward", index="i")),
           "backward": (", backward, 0", SERIAL.format(name="backward", index="parts - 1 - i"))}
POOL = ", occ_pool_for, blocks->pool"


class Net:
    """A graph that grows; values are names."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape):
        return self.constant((RANDOM.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32))

    def input(self, shape, kind=TensorProto.FLOAT, name="x"):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def add(self, operator, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def output(self, value, rank, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(value, kind, [None] * rank))

    def conv(self, x, inputs, outputs, kernel=1, **attributes):
        pad = kernel // 2
        return self.add("Relu", self.add("Conv", x, self.weights(outputs, inputs, kernel, kernel), self.weights(outputs),
                                         pads=[pad] * 4, **attributes))

    def model(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        return model


def inception():
    """GoogLeNet's modules: the members of a concatenation lie beside each other, and no two writers wait for each other."""
    net = Net()
    x, channels = net.input([1, 24, 20, 20]), 24
    for _ in range(3):
        x = net.add("Concat", net.conv(x, channels, 32), net.conv(net.conv(x, channels, 24), 24, 48, 3),
                    net.conv(net.conv(x, channels, 16), 16, 24, 5),
                    net.conv(net.add("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4), channels, 24), axis=1)
        channels = 128
    net.output(net.add("GlobalAveragePool", x), 4)
    return net.model()


def sized():
    """Rows of which --dim lists the numbers: each combination has queues of its own, or one where memory is short."""
    net = Net()
    x, z = net.input(["n", 4]), net.input(["m", 4], name="z")
    ends = [net.add("MatMul", net.add("Tanh", net.add("MatMul", x, net.weights(4, 8))), net.weights(8, 4 + i)) for i in range(3)]
    joined = net.add("Concat", *ends, net.add("Exp", net.add("MatMul", x, net.weights(4, 4))), axis=1)
    net.output(net.add("MatMul", joined, net.weights(19, 4)), 2)
    net.output(net.add("Softmax", joined, axis=1), 2)
    net.output(net.add("MatMul", z, net.weights(4, 4)), 2)
    return net.model()


def factorised():
    """Inception-v3's: kernels of 1 x 7 and 7 x 1, two outputs."""
    net = Net()
    x = net.input([1, 32, 17, 17])
    y = net.add("Conv", x, net.weights(32, 32, 1, 7), pads=[0, 3, 0, 3])
    y = net.add("Relu", net.add("Conv", y, net.weights(48, 32, 7, 1), pads=[3, 0, 3, 0]))
    z = net.add("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4)
    x = net.add("Concat", net.conv(x, 32, 48), y, net.conv(z, 32, 48), axis=1)
    net.output(net.conv(x, 144, 40, 3, strides=[2, 2]), 4)
    net.output(net.add("Softmax", net.conv(x, 144, 64), axis=1), 4)
    return net.model()


def fire():
    """SqueezeNet's modules, with more channels in the branch of one tap: else it is not worth a queue."""
    net = Net()
    x, channels = net.conv(net.input([1, 3, 47, 47]), 3, 32, 3, strides=[2, 2]), 32
    for _ in range(3):
        s = net.conv(x, channels, 16)
        x, channels = net.add("Concat", net.conv(s, 16, 256), net.conv(s, 16, 32, 3), axis=1), 288
    net.output(net.add("GlobalAveragePool", x), 4)
    return net.model()


def fan():
    """Products that share nothing but the input; sums in place of operands."""
    net = Net()
    x = net.input([64, 96])
    ends = []
    for i in range(12):
        y = net.add("MatMul", x, net.weights(96, 96))
        y = net.add("Add", net.add("Tanh", y), x)
        ends.append(net.add("MatMul", y, net.weights(96, 32 + i)))
    net.output(net.add("Concat", *ends[:6], axis=1), 2)
    for end in ends[6:]:
        net.output(end, 2)
    return net.model()


def open_extents():
    """Extents that only the run knows, computed in one branch and needed in others."""
    net = Net()
    x = net.input(["n", 64])
    picked = net.add("Compress", x, net.add("ReduceMax", net.add("Greater", x, net.constant(np.float32(2.4)))) if False else
                     net.add("Squeeze", net.add("Greater", net.add("ReduceMean", x, axes=[1], keepdims=1), net.constant(np.float32(0))),
                             net.constant(np.array([1], np.int64))), axis=0)
    a = net.add("MatMul", net.add("MatMul", picked, net.weights(64, 256)), net.weights(256, 32))
    b = net.add("Tanh", net.add("MatMul", net.add("MatMul", x, net.weights(64, 256)), net.weights(256, 32)))
    c = net.add("Reshape", net.add("Exp", net.add("MatMul", x, net.weights(64, 128))), net.constant(np.array([-1, 32], np.int64)))
    net.output(net.add("Concat", a, b, c, axis=0), 2)
    return net.model()


def loops():
    """A recurrent branch, a loop with a body, and convolutions beside them."""
    net = Net()
    x = net.input([40, 1, 96])
    h = 64
    net.nodes.append(helper.make_node("LSTM", [x, net.weights(1, 4 * h, 96), net.weights(1, 4 * h, h)], ["lstm"], hidden_size=h))
    body = helper.make_graph([helper.make_node("MatMul", ["s", "bw"], ["t"]), helper.make_node("Tanh", ["t"], ["u"]),
                              helper.make_node("Identity", ["u"], ["o"])], "body",
                             [helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 96]),
                              helper.make_tensor_value_info("e", TensorProto.FLOAT, [1, 96])],
                             [helper.make_tensor_value_info("u", TensorProto.FLOAT, [1, 96]),
                              helper.make_tensor_value_info("o", TensorProto.FLOAT, [1, 96])],
                             [numpy_helper.from_array((RANDOM.standard_normal((96, 96)) / 10).astype(np.float32), "bw")])
    net.nodes.append(helper.make_node("Scan", [net.constant(np.ones((1, 96), np.float32)), x], ["last", "scanned"], body=body, num_scan_inputs=1))
    y = net.add("Reshape", x, net.constant(np.array([1, 1, 40, 96], np.int64)))
    net.output("lstm", 4)
    net.output("scanned", 3)
    net.output(net.conv(net.conv(y, 1, 16, 3), 16, 8, 3), 4)
    return net.model()


def picks():
    """Rows by indices of the caller, in two branches: the second ends earlier in the numbering."""
    net = Net()
    x, i, k = net.input([64, 96]), net.input([8], TensorProto.INT64, "i"), net.input([8], TensorProto.INT64, "k")
    a = net.add("MatMul", net.add("MatMul", x, net.weights(96, 256)), net.weights(256, 96))
    b = net.add("MatMul", net.add("MatMul", x, net.weights(96, 256)), net.weights(256, 96))
    a, b = net.add("Gather", a, i, axis=0), net.add("Gather", b, k, axis=0)
    net.output(net.add("MatMul", a, net.weights(96, 96)), 2)
    net.output(net.add("MatMul", b, net.weights(96, 96)), 2)
    return net.model()


def chain():
    net = Net()
    x = net.input([1, 24, 20, 20])
    for _ in range(4):
        x = net.conv(x, 24, 24, 3)
    net.output(x, 4)
    return net.model()


# name: the model, flags of occamyc, values of open extents, steps of the second queue at least (0: there must be none)
MODELS = {
    "inception": (inception, [], {}, 6),
    "inception_arena": (inception, ["--io=arena", "--in-place=off", "--overlap=off"], {}, 6),
    "inception_regions": (inception, ["--region=fast:100K", "--region=slow:64M:128"], {}, 6),
    "inception_shared": (inception, ["--code=shared", "--weights=file", "--winograd=off"], {}, 6),
    "sized": (sized, ["--dim=n=0|200|900", "--dim=m=1..3", "--io=arena"], {"m": 3}, 4),
    "sized_tight": (sized, ["--dim=n=0|200|900", "--dim=m=1..3", "--io=arena", "--max-ram=160000"], {"m": 3}, 4), # n=900 on one queue
    "factorised": (factorised, ["--cascade=off"], {}, 2),
    "fire": (fire, [], {}, 2),
    "fan": (fan, ["--weights=file"], {}, 8),
    "open_extents": (open_extents, ["--dim", "n=1..128"], {"n": 100}, 2),
    "loops": (loops, [], {}, 1),
    "picks": (picks, [], {}, 2),
    "chain": (chain, [], {}, 0),
}
THOROUGH = ("inception", "sized", "open_extents", "loops", "picks") # with three queues and the guarded build, too


def built(arguments, name, flags, queues, cflags, folder):
    """The program with the pool of its host program, and its objects."""
    tools = host.Toolchain(arguments.occamyc, arguments.cc, cflags + " -pthread")
    folder = os.path.join(arguments.work, name, folder)
    weights = ["--weights=file"] if queues > 1 and "--weights=file" not in flags else [] # else megabytes of numbers in the text
    host.compile_model(tools, os.path.join(arguments.work, f"{name}.onnx"), folder, [*flags, *weights, f"--queues={queues}"])
    host.build_program(tools, folder)
    return tools, folder


def lend(tools, folder, caller):
    """Another caller than the pool of the host program, or fewer threads."""
    path = os.path.join(folder, "main.c")
    with open(path) as file:
        text = file.read()
    call, needs = CALLERS.get(caller, (POOL, ""))
    if text.count(POOL) != 1:
        raise host.Failure("wrong", "the host program passes no pool")
    threads = re.sub(r"#define HOST_THREADS \d+", "#define HOST_THREADS 2", text)
    with open(path, "w") as file:
        file.write(threads.replace('#include "model.h"\n', '#include "model.h"\n' + needs).replace(POOL, call))
    others = [name for name in os.listdir(folder) if name.endswith(".o") and not name.startswith("main")]
    command = [*tools.cc.split(), *tools.cflags.split(), "-O0", "-Wno-unused", "-o", "model", "main.c", *others, "-lm"]
    host.run_compiler(folder, command, tools.build_limit)
    with open(path, "w") as file:
        file.write(text)


def units_beside(folder):
    """Units of all queues but the first, as the table of the generated code has them; the most of several tables."""
    with open(os.path.join(folder, "model.c")) as file:
        tables = re.findall(r"_item\w*\[\] = \{\n(.*?)\n\};", file.read(), re.S)
    return max((len(re.findall(r"\{\d+, ", table.split("/* queue 1 */")[1])) for table in tables), default=0)


def answer(folder, inputs, repeat=1):
    """The bits of all outputs, or the line that says why there are none."""
    words = []
    for name, value in inputs.items():
        with open(os.path.join(folder, f"{name}.bin"), "wb") as file:
            file.write(value.tobytes())
        words.append(f"{name}={name}.bin:{'x'.join(map(str, value.shape))}")
    done = subprocess.run(["./model", *words, "-o", "out", "--repeat", str(repeat)], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        text = done.stdout + done.stderr
        if "ThreadSanitizer" in text or done.returncode < 0:
            raise host.Failure("run-fail", f"status {done.returncode}: {next((l for l in text.splitlines() if 'Sanitizer' in l), '')}")
        return host.last_line(text)
    names = sorted(os.listdir(os.path.join(folder, "out")), key=lambda name: int(name.split(".")[0]))
    return [open(os.path.join(folder, "out", name), "rb").read() for name in names]


def draw_inputs(model, values):
    drawn = {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        shape = [values.get(d.dim_param, d.dim_value) for d in kind.shape.dim]
        drawn[info.name] = RANDOM.integers(0, 64, shape) if kind.elem_type == TensorProto.INT64 else RANDOM.standard_normal(shape).astype(np.float32)
    return drawn


def hold_against_truth(model, inputs, bits):
    truth = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)
    for wanted, found in zip(truth, bits, strict=True):
        error = np.abs(np.frombuffer(found, wanted.dtype).reshape(wanted.shape) - wanted).max(initial=0)
        if not error <= 1e-4 * np.abs(wanted).max(initial=1):
            raise host.Failure("wrong", f"{error:g} from ONNX Runtime")


# label: queues, flags of the C compiler, and other callers than a pool of as many threads as queues
BUILDS = {"1": (1, NATIVE, ()), "2": (2, NATIVE, CALLERS), "3": (3, NATIVE, [*CALLERS, "two threads"]),
          "1 scalar": (1, host.LITERAL, ()), "2 guarded": (2, host.LITERAL + " -DOCC_GUARD", ()),
          "2 race": (2, host.RACE, ()), "3 race": (3, host.RACE, ["two threads"])}
QUICK = ("1 scalar", "2 race")


def answers(arguments, name, flags, sets):
    """Label -> what each set of inputs gives, for one queue and for every way to run several."""
    found = {}
    for label, (queues, cflags, callers) in BUILDS.items():
        if label not in QUICK and name not in THOROUGH:
            continue
        tools, folder = built(arguments, name, flags, queues, cflags, label.replace(" ", "_"))
        repeat = 1 if queues == 1 or "guarded" in label else 2 if "race" in label else 5 # the sanitizer sees a race whoever wins it
        found[label] = [answer(folder, inputs, repeat) for inputs in sets]
        for caller in callers:
            lend(tools, folder, caller)
            found[f"{label} {caller}"] = [answer(folder, inputs, repeat) for inputs in sets]
    return found


def check_measured(arguments, name, least):
    """Queues follow the times of --profile: steps of a nanosecond are not worth a second queue, those of 100 microseconds are."""
    work = os.path.join(arguments.work, name)
    with open(os.path.join(work, "1_scalar", "main.c")) as file:
        table = re.search(r"host_step\[\] = \{\n(.*?)\n\};", file.read(), re.S)[1]
    for time, wanted in ((1, 0), (100000, least)):
        path, folder = os.path.join(work, f"times_{time}.txt"), os.path.join(work, f"measured_{time}")
        with open(path, "w") as file:
            file.write("occamyc profile 1\n" + "".join(f"step {time} 1 {key}\n" for key in sorted(set(re.findall(r'"(.+)"', table)))))
        host.compile_model(host.Toolchain(arguments.occamyc, arguments.cc, NATIVE), os.path.join(arguments.work, f"{name}.onnx"), folder,
                           ["--weights=file", "--queues=2", f"--profile={path}"])
        beside = units_beside(folder)
        if beside < wanted or (not wanted and beside):
            raise host.Failure("wrong", f"{beside} units in the second queue where each step took {time} ns")


def check(arguments, name):
    make, flags, values, least = MODELS[name]
    model = make()
    onnx.save(model, os.path.join(arguments.work, f"{name}.onnx"))
    lists = {dim: sizes.split("|") for dim, sizes in (flag[len("--dim="):].split("=") for flag in flags if "|" in flag)}
    combinations = [dict(zip(lists, map(int, sizes))) for sizes in itertools.product(*lists.values())]
    sets = [draw_inputs(model, {**given, **combination}) for combination in combinations
            for given in (values, {key: 1 + value // 3 for key, value in values.items()})]
    if name == "picks": # outside their axis: in one branch, in both
        sets += [{**sets[0], "k": sets[0]["k"] + 60}, {**sets[0], "i": sets[0]["i"] + 60, "k": sets[0]["k"] - 200}]
    found = answers(arguments, name, flags, sets)
    for inputs, bits in list(zip(sets, found["1 scalar"]))[:2 * len(combinations)]:
        hold_against_truth(model, inputs, bits)
    for label, bits in found.items():
        if bits != found["1 scalar" if re.search("scalar|guarded|race", label) else "1"]:
            raise host.Failure("wrong", f"queues {label}: other answers than one queue gives")
    if name == "inception":
        check_measured(arguments, name, least)
    beside = units_beside(os.path.join(arguments.work, name, "2_race"))
    if beside < least or (not least and beside):
        raise host.Failure("wrong", f"{beside} units in the second queue, wanted {least or 'none'}")


if __name__ == "__main__":
    host.check_each(check, __doc__, MODELS)
