"""Measures what --queues=2 gains: graphs of independent tasks of some microseconds each, and networks with branches and without,
as programs for one queue, for two, and for --threads=2, by turns on the same two processors; and what a wait costs.

The least time of a run counts over all turns, since other programs may take a processor; medians stand beside it.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import bench
import programs

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

WAYS = {"one": [], "queues": ["--queues=2"], "threads": ["--threads=2"]}
# microseconds of a task, about: rows, depth and columns of its product
TASKS = {1: (24, 64, 64), 10: (48, 160, 160), 100: (192, 256, 256)}
FANS = [(count, size) for count in (8, 32, 83) for size in TASKS]
NETWORKS = "googlenet inception_v3 squeezenet1_1 resnet50".split()
SECONDS, TURNS = 30.0, (30, 2000)  # for each graph, about; turns, at least and at most
HERE = Path(__file__).resolve().parent


def fan(count, size):
    """Products of one input with `count` matrices, each an output."""
    rows, depth, columns = TASKS[size]
    random = np.random.default_rng(count)
    weights = [numpy_helper.from_array(random.standard_normal((depth, columns)).astype(np.float32), f"w{i}") for i in range(count)]
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [rows, columns]) for i in range(count)]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", f"w{i}"], [f"y{i}"]) for i in range(count)], "fan",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, depth])], outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def models(args):
    """Name -> file; networks that were not exported are left out."""
    found = {}
    for count, size in FANS:
        path = args.folder / f"fan_{count}_{size}us.onnx"
        onnx.save(fan(count, size), path)
        found[path.stem] = path
    for name in NETWORKS:
        path = (Path(args.models) / f"{name}.onnx").resolve()
        if path.exists():
            found[name] = path
        else:
            print(f"{name:20} SKIPPED: no such model in {args.models}", flush=True)
    chosen = args.networks.replace(",", " ").split()
    return {name: path for name, path in found.items() if not chosen or name in chosen}


def measure(args, path):
    """Way -> milliseconds of its runs."""
    running = {}
    for way, options in WAYS.items():
        network = programs.Network(path, args.folder, args.occamyc, [*args.options.split(), *options])
        command = [*args.before.split(), network.build(args.cc, args.flags), programs.SETS, *network.inputs()]
        running[way] = programs.Running(command, args.cpus)
        running[way].run(3)
    each = sum(r.times[-1] for r in running.values()) * 1e-3 * 2
    for turn in range(min(max(int(args.seconds / each), TURNS[0]), TURNS[1])):
        for way in list(running) if turn % 2 else list(running)[::-1]:
            running[way].run(1)
    times = {way: r.times[3:] for way, r in running.items()}
    for r in running.values():
        r.end()
    return times


def most_gain(args, path):
    """What two queues could gain, as a word."""
    report = args.folder / "report.json"
    programs.run_quietly([args.occamyc, path, "--queues=2", "--quiet", f"--report={report}", *args.options.split()], args.folder)
    queues = json.loads(report.read_text()).get("queues")
    return f"{min(queues['one_ns'] / max(queues['path_ns'], 1), 2.0):.2f}" if queues else ""


def row(args, name, path, times):
    least = {way: min(t) for way, t in times.items()}
    median = {way: statistics.median(t) for way, t in times.items()}
    words = [f"{least[way]:.3f} ({median[way]:.3f})" for way in WAYS]
    gain = [f"{least['one'] / least[way]:.2f} ({median['one'] / median[way]:.2f})" for way in ("queues", "threads")]
    return [name, *words, gain[0], most_gain(args, path), gain[1]]


def crossing(args):
    program = args.folder / "crossing"
    templates = HERE.parents[1] / "codegen_templates" / "c" / "base"
    programs.run_quietly([*args.cc.split(), *args.flags.split(), f"-I{templates}", "-o", program, HERE / "crossing.c", "-lm", "-pthread"], args.folder)
    command = ["taskset", "-c", args.cpus, *args.before.split(), program, "3000"]
    said = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split() for _ in range(9)]
    crossings = sorted(float(words[1].rstrip(",")) for words in said)
    return f"{crossings[4]:.0f} ns ({crossings[0]:.0f} to {crossings[-1]:.0f}), in one queue {min(float(words[-2]) for words in said):.1f}"


HEAD = """# Independent branches on two queues

`make bench-queues` writes this page: milliseconds of a run for one queue, for `--queues=2` and for `--threads=2`, by turns on the same
two processors; the least of all turns, and in brackets the median. Then the times of one queue over those of both. A fan is so many
products of one input, of so many microseconds each. "At most" is what two processors could gain by what is predicted: the time of
all steps over that of the longest way through them, and never above 2; where nothing stands there, one queue was left, since
too little would be gained.

| graph | one | queues | threads | one / queues | at most | one / threads |
|---|---|---|---|---|---|---|
"""


def main():
    parser = bench.arguments()
    parser.description = __doc__
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each graph, about")
    parser.add_argument("--options", default="", help="of occamyc, for all programs")
    parser.add_argument("--before", default="", help="of each program: 'chrt -f 1' keeps others from its processors for its runs")
    parser.set_defaults(threads=2)
    args = bench.parse(parser)
    lines = []
    for name, path in models(args).items():
        lines.append(row(args, name, path, measure(args, path)))
        print("  ".join(f"{word:>16}" for word in lines[-1]), flush=True)
    words = crossing(args)
    print(words)
    if args.document:
        table = "".join("| " + " | ".join(line) + " |\n" for line in lines)
        pages.replace(args.document, f"{HEAD}{table}\nAn empty unit that waits for one of the other queue, median of nine programs (least to most, by the distance of the processors): {words}.\n")


if __name__ == "__main__":
    main()
