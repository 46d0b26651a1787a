"""Extents of which --dim lists the sizes: at each combination of sizes the outputs are those of ONNX Runtime and, to the
bit, those of a file that is compiled with these sizes pinned; the arena is that of the largest of these files, with
--io=arena too, where each input and output has one place for all sizes; weights exist once; a size that is not listed
stops the run with the code for extents. --device=ARCHIVE: likewise of programs for CUDA, in the emulation: as much of
each memory as the largest file takes, or what the sizes need that take most of it, with the constants once."""

import argparse
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("tools", "own")]

import host
import tensors
from extent_cases import conv
from geometry_cases import Net, numbers


def image():
    """Convolutions and a pool, of which strips can be made."""
    net = Net(x=[1, 3, "H", "W"])
    y = conv(net, conv(net, "x", 3, 6), 6, 6, group=6)
    y = net.add("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    net.give(conv(net, y, 6, 4, k=1), 4)
    return net


def batch():
    """Two inputs of one batch."""
    net = Net(x=["batch", 6], z=["batch", 6])
    y = net.add("Gemm", "x", numbers([6, 40]), numbers([40]))
    y = net.add("Add", net.add("Relu", y), net.add("Gemm", "z", numbers([6, 40]), numbers([40])))
    net.give(net.add("Softmax", y, axis=-1), 2)
    return net


def sequence():
    """Self-attention with computed shapes, and a recurrent layer behind it; of small weights, so that rounding does not grow."""
    net = Net(x=["batch", "seq", 16])
    shape = net.add("Concat", net.add("Slice", net.add("Shape", "x"), np.array([0]), np.array([2])), np.array([2, 8]), axis=0)
    heads = [net.add("Transpose", net.add("Reshape", net.add("MatMul", "x", numbers([16, 16]) / 4), shape), perm=order)
             for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
    scores = net.add("Softmax", net.add("MatMul", heads[0], heads[1]), axis=-1)
    net.give(scores, 4)
    y = net.add("Transpose", net.add("MatMul", scores, heads[2]), perm=[2, 0, 1, 3])
    y = net.add("Reshape", y, np.array([0, 0, 16]))
    net.give(net.add("GRU", y, numbers([1, 24, 16]) / 4, numbers([1, 24, 8]) / 4, hidden_size=8), 4)
    return net


def found():
    """An extent that the run finds out, and a result of a constant shape."""
    net = Net(x=["n", 5])
    net.give(net.add("NonZero", net.add("Greater", "x", np.float32(0))), 2, np.int64)
    net.give(net.add("ReduceSum", "x", np.array([0]), keepdims=0), 1)
    return net


def in_place():
    """An input that its one result may lie over, and two that trade their sizes."""
    net = Net(x=["H", "W"], a=["H", 24], b=["W", 24])
    net.give(net.add("Relu", "x"), 2)
    net.give(net.add("Softmax", "a", axis=-1), 2)
    net.give(net.add("MatMul", "b", numbers([24, 3])), 2)
    return net


def shrinking():
    """Results that are longer where the input is shorter: beside the largest input there is no room for them."""
    net = Net(x=["n", 40])
    length = net.add("Sub", np.array([30]), net.add("Mul", net.add("Slice", net.add("Shape", "x"), np.array([0]), np.array([1])), np.array([3])))
    total = net.add("Unsqueeze", net.add("ReduceSum", "x", np.array([0, 1]), keepdims=0), np.array([0]))
    for factor in (1, 2):
        net.give(net.add("Expand", net.add("Mul", total, np.float32(factor)), length), 1)
    return net


def words():
    """A table of which rows are picked, and products behind it."""
    net = Net(ids=(["batch", "n"], np.int64))
    y = net.add("Gather", numbers([120, 32]), "ids", axis=0)
    y = net.add("Relu", net.add("MatMul", y, numbers([32, 64])))
    net.give(net.add("Softmax", net.add("MatMul", y, numbers([64, 24])), axis=-1), 3)
    return net


def state():
    """A state that each run halves and adds a mean to, whatever the size of its input."""
    net = Net(x=["n", 8], s=[3, 8])
    after = net.add("Add", net.add("Mul", "s", np.float32(0.5)), net.add("ReduceMean", "x", np.array([0]), keepdims=1))
    net.give(net.add("MatMul", "x", net.add("Transpose", after, perm=[1, 0])), 2)
    net.give(after, 2)
    return net


def cache():
    """A state that grows by the rows of the input."""
    net = Net(x=["n", 4], s=["past", 4])
    rows = net.add("Concat", "s", "x", axis=0)
    net.give(net.add("Softmax", net.add("MatMul", "x", net.add("Transpose", rows, perm=[1, 0])), axis=-1), 2)
    net.give(rows, 2)
    return net


class Written:
    """A model as text, whose inputs of floats are fed with numbers."""

    def __init__(self, text, **inputs):
        self.text, self.inputs = '<ir_version: 9, opset_import: ["" : 17]>\n' + text, inputs

    def model(self):
        return onnx.parser.parse_model(self.text)

    def feed(self, **extents):
        return {k: v if isinstance(v, np.ndarray) else numbers([extents.get(d, d) for d in v]) for k, v in self.inputs.items()}


def rows():
    """A loop of constants over two constants, rows with a branch that the device decides, a lookup that may fail and a branch
    of the caller's, of as many rows as the run has. The host turns the sign."""
    def values(count, seed):
        return ", ".join(str(v) for v in np.random.default_rng(seed).integers(-4, 5, count) / 4)
    layers = "{0}1 = MatMul({0}, m) {0}2 = Softmax({0}1) {0}3 = MatMul({0}2, m) {0}4 = Tanh({0}3)"
    return Written("""
        main (float[n, 4] x, int64[2] i, bool c) => (float[n, 4] y, float[3, n, 4] z, float[2, 4] g)
        <float[3, 4, 4] u = {%s}, float[3, 4, 4] v = {%s}, float[4, 4] m = {%s}, float zero = {0}> {
          s, z = Scan <num_scan_inputs = 2, body = body (float[n, 4] p, float[4, 4] a, float[4, 4] b) => (float[n, 4] q, float[n, 4] r) {
              first = MatMul(p, a)
              tame = Tanh(first)
              q = MatMul(tame, b)
              r = Neg(q)
            }> (x, u, v)
          h = ReduceSum <keepdims = 0> (s)
          k = Greater(h, zero)
          %s
          t = If (k) <then_branch = yes () => (float[n, 4] f) { f = Exp(s4) }, else_branch = no () => (float[n, 4] o) { o = Sigmoid(s3) }>
          turned = Neg(t)
          %s
          e = If (c) <then_branch = is () => (float[n, 4] j) { j = Sin(turned4) }, else_branch = not () => (float[n, 4] l) { l = Cos(turned3) }>
          %s
          y = Add(e4, x)
          g = Gather(m, i)
        }""" % (values(48, 1), values(48, 2), values(16, 3), *(layers.format(name) for name in ("s", "turned", "e"))),
        x=["n", 4], i=np.array([3, 1]), c=np.array(True))


def decided():
    """A branch that the size decides: one has a lookup that may fail, and they read constants in orders of their own."""
    values = [", ".join(str(v) for v in np.random.default_rng(seed).integers(-4, 5, 16) / 4) for seed in range(3)]
    return Written("""
        main (float[n, 4] x, int64[2] i) => (float[n, 4] y)
        <float[4, 4] u = {%s}, float[4, 4] v = {%s}, float[4, 4] w = {%s}, int64[1] one = {1}> {
          rows = Shape <start = 0, end = 1> (x)
          k = Equal(rows, one)
          c = Squeeze(k)
          y = If (c) <then_branch = is () => (float[n, 4] a) {
              b = MatMul(x, u)
              d = Softmax(b)
              e = MatMul(d, v)
              f = Gather(w, i)
              g = ReduceSum <keepdims = 0> (f)
              a = Add(e, g)
            }, else_branch = not () => (float[n, 4] h) {
              j = MatMul(x, v)
              l = Tanh(j)
              m = MatMul(l, u)
              h = Exp(m)
            }>
        }""" % tuple(values), x=["n", 4], i=np.array([3, 1]))


LOADS = ("--weights=swap", "--load-rate=1M:1us:16")

# Model, lists, other bounds with the sizes to try, flags, bytes that the arena may be larger by: run-time integers that
# only some of the branches need, and with --io=arena results that must lie apart.
CASES = {
    "images": (image(), {"H": (12, 17), "W": (12, 20)}, {}, (), 0),
    "strips": (image(), {"x:2": (20, 40), "x:3": (24,)}, {}, ("--cascade=on", "--weights=file"), 0),
    "sliced": (batch(), {"batch": (4, 1)}, {}, ("--threads=2", "--weights=object"), 0),
    "sequence": (sequence(), {"seq": (4, 7)}, {"batch": (1, 3, 2)}, (), 64),
    "both": (sequence(), {"seq": (3, 8), "batch": (2,)}, {}, ("--code=shared",), 0),
    "queues": (sequence(), {"seq": (4, 70)}, {"batch": (1, 3, 2)}, ("--queues=2",), 64),
    "found": (found(), {"n": (4, 9)}, {}, ("--order=model",), 8),
    "in place": (in_place(), {"H": (3, 9), "W": (2, 12)}, {}, (), 0),
    "memories": (image(), {"H": (12, 17), "W": (12, 20)}, {}, ("--region=fast:4K", "--region=slow:1M"), 0),
    "ports": (in_place(), {"H": (3, 9), "W": (2, 12)}, {}, ("--region=fast:600", "--region=slow:1M"), 0),
    "apart": (shrinking(), {"n": (2, 9)}, {}, ("--region=fast:150", "--region=slow:1M"), 220),
    "few bytes": (image(), {"x:2": (20, 40), "x:3": (24,)}, {}, ("--region=fast:300", "--region=slow:1M:256", "--cascade=on"), 0),
    "bounds": (sequence(), {"seq": (4, 7)}, {"batch": (1, 3, 2)}, ("--region=fast:600", "--region=slow:1M"), 64),
    "shrinking": (shrinking(), {"n": (2, 9)}, {}, (), 220),
    "loaded": (image(), {"H": (12, 17), "W": (12, 20)}, {}, LOADS, 0),
    "few loaded": (image(), {"H": (12, 17), "W": (12, 20)}, {}, (*LOADS, "--max-ram=12000"), 0),
    "few stay": (image(), {"H": (12, 17), "W": (12, 20)}, {}, (*LOADS, "--max-ram=11100"), 0),
    "from a disk": (batch(), {"batch": (4, 1)}, {}, ("--weights=swap", "--threads=2"), 0),
    "by rows": (words(), {"n": (3, 8)}, {"batch": (1, 3, 2)}, (*LOADS, "--max-ram=24000"), 0),
    "by bounds": (sequence(), {"seq": (4, 7)}, {"batch": (1, 3, 2)}, LOADS, 0),
    "in memories": (image(), {"H": (12, 17), "W": (12, 20)}, {}, (*LOADS, "--region=fast:4K", "--region=slow:1M"), 0),
}


# Likewise of programs for CUDA. Branches have no slots in common, 8 bytes each.
DEVICE_CASES = {
    "images": (image(), {"H": (12, 17), "W": (20, 12)}, {}, (), 0),
    "bounds": (sequence(), {"seq": (4, 7)}, {"batch": (1, 3, 2)}, ("--weights=file",), 64),
    "found": (found(), {"n": (4, 9)}, {}, (), 8),
    "in place": (in_place(), {"H": (3, 9), "W": (12,)}, {}, ("--graph=off",), 0),
    "shrinking": (shrinking(), {"n": (2, 9)}, {}, (), 0),
    "rows": (rows(), {"n": (5, 2, 8)}, {}, ("--place=",), 256),
    "decided": (decided(), {"n": (1, 3)}, {}, (), 0),
    "on the host": (image(), {"H": (12, 17)}, {"W": (12, 20, 17)}, ("--place=host",), 96),
}


class Case:
    def __init__(self, tools, work, name, io):
        self.tools, self.work, self.name = tools, work, name.replace(" ", "_") + "_" + io
        cases = DEVICE_CASES if tools.device else {**CASES, **{state: STATES[state][0] for state in STATES}}
        self.net, self.lists, self.bounds, self.flags, self.slack = cases[name]
        self.flags = tuple(os.path.join("--place=" + work, "turned.txt") if flag == "--place=" else flag for flag in self.flags) + ("--io=" + io,)
        self.path = os.path.join(work, self.name + ".onnx")
        self.model = self.net.model()
        onnx.save(self.model, self.path)
        self.session = onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])

    def compile(self, label, sizes):
        """Flags for a file of these lists, each a tuple; builds it."""
        folder = os.path.join(self.work, self.name + label)
        dims = [f"--dim={d}={'|'.join(map(str, s))}" for d, s in sizes.items()]
        dims += [f"--dim={d}={low}..{high}" for d, (low, high, _) in self.bounds.items()]
        host.compile_model(self.tools, self.path, folder, [*dims, *self.flags])
        host.build_program(self.tools, folder)
        return folder

    def feed(self, sizes):
        names = {d: n for d, n in sizes.items() if ":" not in d}
        names.update({"HW"[int(d[-1]) - 2]: n for d, n in sizes.items() if ":" in d})
        return self.net.feed(**names)

    def run(self, folder, feed):
        options = ("--weights", "model.c.weights") if {"--weights=file", "--weights=swap"} & {*self.flags} else ()
        return host.run_program(self.tools, folder, self.model, [tensors.from_numpy(a) for a in feed.values()], options)

    def check_sizes(self, folder, pinned, sizes):
        for feed in (self.feed({**sizes, **dict(zip(self.bounds, b))}) for b in itertools.product(*self.bounds.values())):
            run, alone = self.run(folder, feed), self.run(pinned, feed)
            for ours, same, theirs in zip(run.outputs, alone.outputs, self.session.run(None, feed)):
                if ours.shape != theirs.shape or not np.allclose(ours.array(), theirs, rtol=1e-3, atol=1e-4):
                    raise host.Failure("wrong", f"{sizes}: differs from ONNX Runtime")
                if ours.shape != same.shape or ours.raw != same.raw:
                    raise host.Failure("wrong", f"{sizes}: differs from the file with pinned sizes")

    def check_refusal(self, folder, sizes):
        """A size below those of the list, and one between two of them; the host program itself refuses larger ones."""
        for extent, listed in self.lists.items():
            for size in (min(listed) - 1, min(listed) + 1) if len(listed) > 1 else ():
                try:
                    self.run(folder, self.feed({**sizes, extent: size, **{d: b[0] for d, b in self.bounds.items()}}))
                except host.Failure as failure:
                    if "EEXTENT" in failure.reason:
                        continue
                raise host.Failure("wrong", f"{extent}={size} is not refused")

    def check(self):
        folder = self.compile("", self.lists)
        weights, peaks = [weight_bytes(folder)], [memories(folder)]
        for values in itertools.product(*self.lists.values()):
            sizes = dict(zip(self.lists, values))
            pinned = self.compile("_" + "_".join(map(str, values)), {d: (n,) for d, n in sizes.items()})
            self.check_sizes(folder, pinned, sizes)
            peaks.append(memories(pinned))
            weights.append(weight_bytes(pinned))
        self.check_refusal(folder, sizes)
        several = len(peaks[0]) > 1 # an input or output in one of them for all sizes may lie elsewhere than where its size is pinned
        for arena, *alone in zip(*peaks):
            if "--weights=swap" in self.flags: # the arena is as large as blocks that stay leave it
                continue
            if not (max(alone) <= arena or several and "--io=arena" in self.flags) or arena > max(alone) + self.slack:
                raise host.Failure("wrong", f"an arena of {arena} bytes, the largest of pinned sizes has {max(alone)}")
        if weights[0] > max(weights[1:]) and "--max-ram" not in " ".join(self.flags):
            raise host.Failure("wrong", f"{weights[0]} bytes of weights, with pinned sizes {max(weights[1:])}")
        return f"{len(peaks) - 1} combinations, arena {peaks[0]} ({[max(p) for p in zip(*peaks[1:])]}), weights {weights[0]}"


# Models with a state: a case as above, then of the driver the output, columns of x, the state at first, and flags.
STATES = {
    "kept": ((state(), {"n": (2, 3)}, {}, ("--state=t2:s",), 0), "t4", 8, np.zeros((3, 8), np.float32), []),
    "grows": ((cache(), {"n": (2, 3)}, {"past": (0, 8, 0)}, ("--state=t0:s",), 0), "t3", 4, np.zeros((0, 4), np.float32), ["-DGROWS"]),
}


def check_runs(tools, work, name, io):
    """Runs of both sizes, one after another, leave each other the state."""
    (*_, (pair,), _), output, columns, kept, flags = STATES[name]
    case, sizes, wanted = Case(tools, work, name, io), (2, 3, 3, 2), []
    folder = case.compile("", case.lists)
    program = os.path.join(folder, "drive")
    subprocess.run([*tools.cc.split(), "-std=c11", "-fsanitize=address,undefined", f"-DCOLUMNS={columns}", f"-DOUTPUT={output}",
                    f"-DPLACE=MODEL_OUT_{output}", *flags, "-I", folder, os.path.join(HERE, "drive_state.c"),
                    os.path.join(folder, "model.c"), "-o", program, "-lm"], check=True)
    feeds = [numbers([n, columns]) for n in sizes]
    for x in feeds:
        y, kept = (case.session.run([name], {"x": x, "s": kept})[0] for name in (output, pair[len("--state="):-2]))
        wanted.append(y.ravel())
    done = subprocess.run([program, *map(str, sizes)], input=b"".join(x.tobytes() for x in feeds), stdout=subprocess.PIPE)
    if done.returncode or not np.allclose(np.frombuffer(done.stdout, np.float32), np.concatenate(wanted), rtol=1e-4, atol=1e-5):
        raise host.Failure("wrong", f"runs that share a state differ from ONNX Runtime, status {done.returncode}")
    return "4 runs share a state"


def memories(folder):
    """Bytes of the arena in each memory."""
    with open(os.path.join(folder, "model.h")) as file:
        return [int(size) for size in re.findall(r"_SIZE (\d+) /\* bytes: the planned peak", file.read())]


def weight_bytes(folder):
    with open(os.path.join(folder, "model.h")) as file:
        size = re.search(r"WEIGHTS_SIZE (\d+)", file.read())
    return int(size[1]) if size else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--work", required=True)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="", help="archive of the fake CUDA runtime")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    with open(os.path.join(args.work, "turned.txt"), "w") as file:
        file.write("turned\n")
    tools = host.Toolchain(os.path.abspath(args.occamyc), args.cc, host.STRICT.replace("-O1", "-O0"), device=os.path.abspath(args.device) if args.device else "",
                           flags=["--target=cuda"] if args.device else [])
    failed = passed = 0
    for name, io in itertools.product(args.names or (DEVICE_CASES if args.device else [*CASES, *STATES]), ("caller", "device" if args.device else "arena")):
        try:
            said = check_runs(tools, args.work, name, io) if name in STATES else Case(tools, args.work, name, io).check()
            print(f"pass {name:10} {io:6} {said}")
            passed += 1
        except host.Failure as failure:
            failed += 1
            print(f"FAIL {name:10} {io:6} {failure.state}: {failure.reason}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
