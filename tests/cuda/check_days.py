"""Good and bad days of a program for CUDA, on the fake runtime: check_days.py --occamyc=PROGRAM --device=ARCHIVE --cases=FOLDER --own=FOLDER

models/digits.onnx, with a graph and without: the same bits, in two contexts too (contexts.c). Under every seed the same bits. When the n-th call of the runtime fails, for every n: an end with a message, or a right answer,
and the sentences of `said_of`; nothing is left that was taken. Graphs of run-time extents (sizes.c), and of stretches between steps of the host (stretches.c), and branches
that the device decides (decided.c); a graph for each of the sizes that --dim lists (listed.c); state that is kept from run to run (kept.c). No device, an old driver or too little memory: the code that says so.
"""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import host  # noqa: E402
import onnx  # noqa: E402

MODEL, INPUT = "models/digits.onnx", "models/digits/00.bin"
SEEDS = 20

# Two products and two Softmax are four steps. --place puts `turned` on the host.
LAYERS = "{0}1 = MatMul({0}, w) {0}2 = Softmax({0}1) {0}3 = MatMul({0}2, w) "

# The tensors {0} and {1} are float[1, 16]. Two iterations, of two more each: all of these are in the graph that is made in open.
SCAN = """{0}r = Reshape({0}, rows)
      {0}s, {0}h = Scan <num_scan_inputs = 1, body = {0}step (float[1, 8] {0}a, float[8] {0}b) => (float[1, 8] {0}c, float[1, 8] {0}d) {{
          {0}m = MatMul({0}a, v)
          {0}n = Add({0}m, {0}b)
          {0}c = Loop (two, , {0}n) <body = {0}turn (int64 {0}i, bool {0}p, float[1, 8] {0}e) => (bool {0}q, float[1, 8] {0}f) {{
              {0}q = Identity({0}p)
              {0}g = MatMul({0}e, v)
              {0}f = Tanh({0}g)
            }}>
          {0}d = Softmax({0}c)
        }}> (zeros, {0}r)
      {1} = Reshape({0}h, line)"""
CONSTANTS = "float[8, 8] v = {%s}, int64[2] rows = {2, 8}, int64[2] line = {1, 16}, float[1, 8] zeros = {0, 0, 0, 0, 0, 0, 0, 0}, int64 two = {2}" % \
    ", ".join(str((i * 5 % 7 - 3) / 4) for i in range(64))

CAPTURED = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[1, 16] x) => (float[1, 16] y) <%s> {
      %s
      y = Add(z, x)
    }""" % (CONSTANTS, SCAN.format("x", "z"))
STRETCHES = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[1, 16] x, int64 n, bool c) => (float[1, 16] y) <float[16, 16] w = {%s}, %s> {
      %s k = Softmax(x3)
      %s
      a = Loop (n, , h) <body = turn (int64 i, bool p, float[1, 16] b) => (bool q, float[1, 16] d) {
          q = Identity(p)
          %s d = Add(b3, b)
        }>
      e = If (c) <then_branch = yes () => (float[1, 16] f) { %s f = Softmax(a3) },
                  else_branch = no () => (float[1, 16] g) { g = Neg(a) }>
      turned = Neg(e)
      %s y = Softmax(turned3)
    }""" % (", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)), CONSTANTS, LAYERS.format("x"), SCAN.format("k", "h"),
          *(LAYERS.format(name) for name in ("b", "a", "turned")))

# The loop is a stretch. Its first iteration reshapes one element to two.
CHECKED = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[8] x, bool c) => (float[8] y) <int64 three = {3}, int64 one = {1}, int64[1] zero = {0}, int64[1] two = {2}> {
      e = If (c) <then_branch = yes () => (float[8] f) { f = Softmax(x) }, else_branch = no () => (float[8] g) { g = Neg(x) }>
      y = Loop (three, , e) <body = turn (int64 i, bool p, float[8] a) => (bool q, float[8] d) {
          q = Identity(p)
          n = Add(i, one)
          m = Unsqueeze(n, zero)
          s = Slice(a, zero, m, zero)
          t = Reshape(s, two)
          u = ReduceSum <keepdims = 0> (t)
          d = Add(a, u)
        }>
    }"""

DECIDED = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[1, 16] x) => (float[1, 16] y) <float[16, 16] w = {%s}, float zero = {0}, float one = {1}, %s> {
      %s s = ReduceSum <keepdims = 0> (x)
      c = Greater(s, zero)
      e = If (c) <then_branch = yes () => (float[1, 16] f) { %s o = Softmax(x33) %s },
                  else_branch = no () => (float[1, 16] g) { g = Neg(x3) }>
      m = ReduceMax <keepdims = 0> (x)
      k = Greater(m, one)
      a = If (k) <then_branch = also () => (float[1, 16] h) { h = Exp(e) },
                  else_branch = not () => (float[1, 16] i) { j = Sigmoid(e) %s i = Softmax(j3) }>
      %s y = Softmax(a3)
    }""" % (", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)), CONSTANTS, LAYERS.format("x"), LAYERS.format("x3"),
          SCAN.format("o", "f"), LAYERS.format("j"), LAYERS.format("a"))


LISTED = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[n, 16] x, float[1, 16] s) => (float[n, 16] y, float[1, 16] t) <float[16, 16] w = {%s}, float half = {0.5}> {
      %s
      m = ReduceMean <axes = [0]> (x3)
      h = Mul(s, half)
      t = Add(h, m)
      y = Add(x3, t)
    }""" % (", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)), LAYERS.format("x"))

# The state is written by `t`, and read by `h`, which is one step with it, and by `n`.
KEPT = """<ir_version: 8, opset_import: ["" : 17]>
    main (float[2, 16] x, float[1, 16] s) => (float[2, 16] y, float[1, 16] t) <float[16, 16] w = {%s}, float half = {0.5}> {
      a = MatMul(x, w)
      m = ReduceMean <axes = [0]> (a)
      h = Mul(s, half)
      t = Add(h, m)
      n = ReduceMin <axes = [1]> (s)
      u = Sub(t, n)
      y = Add(a, u)
    }""" % ", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256))


NO_DEVICE, NO_GRAPH = "there is no device that can be used", "no graph can be made: runs put their steps into the stream"


def said_of(graph):
    """What MODEL says when its first, second, ... call of the runtime fails: taking memory, open with six kernels and six constants, a capture
    of eight steps, a run. Behind the run nothing is said."""
    taken = [NO_DEVICE, "the device has too little memory", "page-locked memory of the host cannot be had", "no stream can be made"]
    opened = [NO_DEVICE, *6 * ["the device cannot load the kernels: they were compiled for others, or the driver is too old"],
              *6 * ["a constant cannot be copied to the device"], "the device has failed before the first run"]
    steps = [f"step {n}: the step cannot be given to the device" for n in range(1, 9)]
    ended = "the device has failed in a step before this wait"
    if not graph:
        return [[one] for one in (*taken, *opened, *steps, ended)]
    # Between the two that end the list of graphs is the call that destroys what the graph was made of.
    graphs = [[NO_GRAPH], *([step, NO_GRAPH] for step in steps), [NO_GRAPH], [NO_GRAPH], [], [NO_GRAPH]]
    return [*([one] for one in (*taken, *opened)), *graphs, ["the graph cannot be launched"], [ended]]


def sentences(text):
    """What a program has said through `note`, each with the words of the CUDA runtime, which are left out here."""
    lines = [line.partition("; the CUDA runtime says: ") for line in text.splitlines() if line.startswith("model: ") and "the run failed" not in line]
    return [line.removeprefix("model: ") if why and why != "no error" else f"no reason behind {line}" for line, _, why in lines]


def run(folder, data, **environment):
    """(exit code, everything printed, the first output or None, the runtime's counts)"""
    report, output = os.path.join(folder, "report.txt"), os.path.join(folder, "out", "0.bin")
    for path in (report, output):
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run(["./model", data], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "OCC_FAKE_REPORT": report, **environment})
    counts, answer = {}, None
    if os.path.exists(report):
        with open(report) as file:
            counts = {name: int(value) for name, value in (line.split() for line in file)}
    if os.path.exists(output):
        with open(output, "rb") as file:
            answer = file.read()
    return done.returncode, done.stdout + done.stderr, answer, counts


def failures(folder, data, said):
    code, text, right, counts = run(folder, data)
    if code or not right or counts["wrong"] or sentences(text):
        yield f"a plain run: exit {code}: {text}"
        return
    if counts["device_blocks"] != 1 or counts["pinned_blocks"] > 1:
        yield f"{counts['device_blocks']} blocks of the device, {counts['pinned_blocks']} of pinned memory"
    for seed in range(1, SEEDS + 1):
        code, text, answer, _ = run(folder, data, OCC_FAKE_SEED=str(seed))
        if code or answer != right or sentences(text):
            yield f"seed {seed}: exit {code}, other bits"
    for call in range(1, counts["calls"] + 1):
        code, text, answer, after = run(folder, data, OCC_FAKE_FAIL=str(call))
        if code not in (0, 1) or (code == 1 and "(-1" not in text) or (code == 0 and answer != right):
            yield f"call {call} fails: exit {code}: {text}"
        if sentences(text) != (said[call - 1] if call <= len(said) else []):
            yield f"call {call} fails: said {sentences(text)}, wanted {said[call - 1:call]}"
        if after.get("live_blocks") or after.get("live_handles"):
            yield f"call {call} fails: {after['live_blocks']} blocks, {after['live_handles']} handles are left"
    for name, value, what, why in (("OCC_FAKE_DEVICES", "0", NO_DEVICE, "no CUDA-capable device"),
                                   ("OCC_FAKE_DRIVER", "old", NO_DEVICE, "driver version is insufficient"),
                                   ("OCC_FAKE_MEMORY", "1000", "the device has too little memory", "out of memory")):
        code, text, _, _ = run(folder, data, **{name: value})
        if code != 1 or "EDEVICE (-12)" not in text or f"model: {what}; the CUDA runtime says: {why}" not in text:
            yield f"{name}={value}: exit {code}: {text}"


def build(arguments, model, folder, *flags, main=None):
    """The program of a model; `main` in the place of the host program."""
    tools = host.Toolchain(os.path.abspath(arguments.occamyc), flags=["--target=cuda", *flags],
                           device=os.path.abspath(arguments.device))
    host.compile_model(tools, os.path.abspath(model), folder, [])
    if main:
        for header in ("runtime/cuda.h", "tests/cuda/expect.h", "tests/cuda/failing.h", "tests/cuda/heard.h", "tests/cuda/taken.h"):
            shutil.copy(header, folder)
        with open(main) as file, open(os.path.join(folder, "main.c"), "w") as to:
            to.write(("" if "--graph=off" in flags else "#define WITH_GRAPH\n") + f"#define {os.path.basename(folder).upper()}\n" + file.read())
    host.build_program(tools, folder)


def context_failures(arguments, folder):
    """contexts.c with a graph and without, under several orders."""
    answers = set()
    for flag in ("--graph=auto", "--graph=off"):
        build(arguments, MODEL, folder, flag, main="tests/cuda/contexts.c")
        for seed in range(1, SEEDS + 1):
            done = subprocess.run(["./model", os.path.abspath(INPUT)], cwd=folder, capture_output=True,
                                  env={**os.environ, "OCC_FAKE_SEED": str(seed)})
            answers.add(done.stdout)
            if done.returncode:
                yield f"contexts.c, {flag}, seed {seed}: exit {done.returncode}: {done.stdout}{done.stderr}"
                break
    if len(answers) != 1:
        yield "contexts.c: the graph decides bits"


def size_failures(arguments, folder):
    """sizes.c: graphs of run-time extents, and none."""
    for flag in ("--graph=auto", "--graph=off"):
        build(arguments, os.path.join(arguments.own, "test_fours_open_rows", "model.onnx"), folder, flag, "--dim=N=1..300", "--dim=W=1..64",
              main="tests/cuda/sizes.c")
        for seed in range(1, SEEDS + 1):
            done = subprocess.run(["./model"], cwd=folder, capture_output=True, text=True, env={**os.environ, "OCC_FAKE_SEED": str(seed)})
            if done.returncode:
                yield f"sizes.c, {flag}, seed {seed}: exit {done.returncode}: {done.stdout}{done.stderr}"
                break


def saved(folder, name, text):
    path = os.path.join(folder, f"{name}.onnx")
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def host_failures(arguments, folder, name, main, model, wanted, *flags):
    """tests/cuda/MAIN.c with a network: graphs and the host's part in turn, and without graphs. `wanted`: what launches a graph, how often."""
    at, answers = os.path.join(folder, name), set()
    for flag in ("--graph=auto", "--graph=off"):
        build(arguments, model, at, flag, *flags, main=f"tests/cuda/{main}.c")
        with open(os.path.join(at, "model.c")) as file:
            text = file.read()
        for line, count in wanted.items():
            if text.count(line) != (count if flag == "--graph=auto" else 0):
                yield f"{name}, {flag}: {text.count(line)} of {line!r}"
        for seed in (1, 2):
            done = subprocess.run(["./model"], cwd=at, capture_output=True, env={**os.environ, "OCC_FAKE_SEED": str(seed)})
            answers.add(done.stdout)
            if done.returncode:
                yield f"{name}: {main}.c, {flag}, seed {seed}: exit {done.returncode}: {done.stdout}{done.stderr}"
                break
    if len(answers) != 1:
        yield f"{name}: graphs decide bits"


def stretch_failures(arguments, folder):
    """stretches.c: graphs between steps of the host; decided.c: branches in a graph, and loops in that of the run."""
    place = os.path.join(folder, "turned.txt")
    with open(place, "w") as file:
        file.write("turned\n")
    lines = {f"status = model_launch(memory, {i}); /* steps ": 1 if i < 4 else 0 for i in range(5)}
    yield from host_failures(arguments, folder, "stretches", "stretches", saved(folder, "stretches", STRETCHES), lines, f"--place={place}")
    one = {"if (memory->context->decided[0]) {": 1, "decided[1]) {": 0}
    yield from host_failures(arguments, folder, "decided", "decided", saved(folder, "decided", DECIDED), one)
    nested = os.path.join(arguments.own, "test_if_in_if_conditions_computed", "model.onnx")
    yield from host_failures(arguments, folder, "nested", "decided", nested, {**one, "model_branch(stream, &graph[3], ": 1})
    shared = os.path.join(arguments.own, "test_if_conditions_shared", "model.onnx")
    yield from host_failures(arguments, folder, "shared", "decided", shared, {**one, "model_branch(stream, &graph[": 5})
    looped = os.path.join(arguments.own, "test_if_in_loops_of_constants", "model.onnx")
    yield from host_failures(arguments, folder, "looped", "decided", looped, {**one, "model_branch(stream, &graph[": 4})
    captured = {"cudaGraphLaunch((cudaGraphExec_t)memory->context->graph": 1}
    yield from host_failures(arguments, folder, "captured", "decided", saved(folder, "captured", CAPTURED), captured)


def listed_failures(arguments, folder):
    """listed.c: a graph for each listed size, three of the same network, whose one constant lies on the device once."""
    lines = {f"status = model_launch(memory, {i}); /* steps ": 1 if i < 3 else 0 for i in range(4)}
    yield from host_failures(arguments, folder, "listed", "listed", saved(folder, "listed", LISTED), lines, "--dim=n=2|5|1", "--state=t:s")
    with open(os.path.join(folder, "listed", "model.c")) as file:
        text = file.read()
    if text.count(" OCC_CONSTANT(device") != 1:
        yield f"listed: {text.count(' OCC_CONSTANT(device')} constants are copied to the device, wanted one"


def kept_failures(arguments, folder):
    """kept.c: state that stays on the device; that a step of the host reads there, too; that only the host needs."""
    for name, nodes in (("kept", ""), ("kept_read", "n\n"), ("kept_here", "h\nt\nn\n")):
        with open(os.path.join(folder, name + ".txt"), "w") as file:
            file.write(nodes)
        graphs = {"cudaGraphLaunch((cudaGraphExec_t)memory->context->graph": 1} if name == "kept" else {}
        yield from host_failures(arguments, folder, name, "kept", saved(folder, name, KEPT), graphs, "--state=t:s", f"--place={folder}/{name}.txt")


def check_failures(arguments, folder):
    """A check of the host's that fails in a stretch, of which no graph is then made: its code."""
    for flag in ("--graph=auto", "--graph=off"):
        build(arguments, saved(os.path.dirname(folder), "checked", CHECKED), folder, flag)
        for name, data in (("x", struct.pack("8f", *range(8))), ("c", b"\1")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        with open(os.path.join(folder, "model.c")) as file:
            stretches = file.read().count("model_launch(memory, 0)")
        done = subprocess.run(["./model", "x", "c"], cwd=folder, capture_output=True, text=True)
        if stretches != (flag == "--graph=auto") or done.returncode != 1 or "(-6)" not in done.stderr + done.stdout:
            yield f"a false check, {flag}: {stretches} stretches, exit {done.returncode}: {done.stdout}{done.stderr}"


def index_failures(arguments, folder):
    """A kernel that finds an index outside its axis: its code, from a graph and from the stream."""
    for flag in ("--graph=auto", "--graph=off"):
        build(arguments, os.path.join(arguments.cases, "test_gather_0", "model.onnx"), folder, flag)
        for name, indices, wanted in (("good", (0, 1, 3), None), ("bad", (0, 1, 99), "(-4)")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(struct.pack("3q", *indices))
            with open(os.path.join(folder, "data"), "wb") as file:
                file.write(bytes(4 * 5 * 4 * 3 * 2))
            done = subprocess.run(["./model", "data", name], cwd=folder, capture_output=True, text=True)
            if (wanted or "") not in done.stderr + done.stdout or bool(done.returncode) != bool(wanted):
                yield f"{name} indices, {flag}: exit {done.returncode}: {done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--device", required=True, help="archive of the fake CUDA runtime")
    parser.add_argument("--cases", required=True, help="folder of the official cases")
    parser.add_argument("--own", required=True, help="folder of our own cases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, "days")
        found = []
        for flag in ("--graph=auto", "--graph=off"):
            build(arguments, MODEL, folder, flag)
            found += failures(folder, os.path.abspath(INPUT), said_of(flag == "--graph=auto"))
        found += context_failures(arguments, folder)
        found += size_failures(arguments, folder)
        found += stretch_failures(arguments, folder)
        found += listed_failures(arguments, folder)
        found += kept_failures(arguments, folder)
        found += index_failures(arguments, folder)
        found += check_failures(arguments, folder)
    print(*found, f"{1 if not found else 0} passed, {len(found)} failed, 0 skipped", sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
