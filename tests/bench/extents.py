"""Times networks with extents that are known only while running beside the same networks with constants, at the upper bounds and
with smaller extents, by turns on one processor or on several; and their arenas and the C compiler's time.

User time of a process on one processor counts, since other programs may take it, and elapsed time on several; less that of a start
without runs; of all turns the least of either.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
import onnx

import extent_cases
from programs import graph_inputs, run_quietly
from report import geometric, processor

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

LONG = 0.025  # seconds

TEXT = """# Extents known only while running

Written by `make bench-extents`: networks of `tests/bench/extent_cases.py` with constant extents, and with bounds (`--dim H=A..B`),
as programs that run by turns on {cpus} of {cpu}, load {load} at the end. Milliseconds of {time} time, the least of {rounds}
turns; *smaller*: a run with smaller extents than the bounds, against a network of those as constants. *cc*: user seconds of
`{cc}` for the generated file. All weights are seeded and random, but those of yolox_nano, silero_vad and gtcrn_simple.
The transformers have BERT-base's widths and 2 layers, the recurrent layers 128 inputs and 256 units.

| network | bounds | constant, ms | bounded | ratio | smaller | constant, ms | bounded | ratio | arena, bytes: constant | bounded | ratio | cc, s: constant | bounded |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def user_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run_quietly(command, folder)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def elapsed_seconds(command, folder):
    before = time.monotonic()
    run_quietly(command, folder)
    return time.monotonic() - before


class Program:
    """One network whose words stand for numbers, or for all within bounds."""

    def __init__(self, args, name, kind, case, model, words):
        self.values = case.values
        self.folder = Path(args.folder).resolve() / f"extents_{args.threads}" / f"{name}_{kind}"
        self.folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, self.folder / "net.onnx")
        bounds = [f"--dim={word}={value}" for word, value in words.items()] + [f"--dim={i}:values={v}" for i, v in case.values.items()]
        run_quietly([Path(args.occamyc).resolve(), "net.onnx", "-o", "model.c", "--main=main.c", "--target=native", "--quiet",
                     f"--threads={args.threads}", "--report=report.json", *bounds], self.folder)
        command = [*args.cc.split(), "-O2", "-march=native", "-c"]
        self.compiling = user_seconds([*command, "model.c"], self.folder)
        run_quietly([*command, "main.c"], self.folder)
        run_quietly([*args.cc.split(), "-o", "model", "main.o", "model.o", "-lm", "-pthread"], self.folder)
        self.arena = json.loads((self.folder / "report.json").read_text())["memory"]["arena"]

    def inputs(self, extents):
        """Drawn values in files, with the numbers that the words stand for, as arguments of the program."""
        words, random = [], np.random.default_rng(1)
        for i, value in enumerate(graph_inputs(self.folder / "net.onnx")):
            shape = [extents[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            is_float = np.issubdtype(dtype, np.floating)
            drawn = random.standard_normal(shape) if is_float else np.full(shape, self.values.get(value.name, 1))
            file = "_".join(["in", str(i), *map(str, shape)]) + ".raw"
            np.asarray(drawn, dtype).tofile(self.folder / file)
            words.append(f"{file}:{'x'.join(map(str, shape))}" if shape else file)
        return words

    def seconds(self, args, inputs, count):
        """Of `count` runs and the start."""
        seconds = user_seconds if args.threads == 1 else elapsed_seconds
        return seconds(["taskset", "-c", args.cpus, "./model", *inputs, "-o", "out", "--repeat", str(count)], self.folder)


class Way:
    """A program and the inputs that it runs with."""

    def __init__(self, args, program, extents):
        self.program, self.inputs, self.starts, self.runs = program, program.inputs(extents), [], []
        start, count, run = program.seconds(args, self.inputs, 0), 1, 0.0
        while run < LONG and count < 1 << 20:  # shorter ones are lost in the differences between two starts
            count *= 2
            run = program.seconds(args, self.inputs, count) - start
        self.count = max(int(args.seconds * count / run), 2)
        self.result = np.fromfile(program.folder / "out" / "0.bin", np.float32)

    def turn(self, args):
        self.starts.append(self.program.seconds(args, self.inputs, 0))
        self.runs.append(self.program.seconds(args, self.inputs, self.count))

    def milliseconds(self):
        return (min(self.runs) - min(self.starts)) / self.count * 1e3


def measure(args, name, case, model):
    """Milliseconds at the bounds and of smaller extents, constant and bounded; the programs."""
    most = {word: bounds[1] for word, bounds in case.bounds.items()}
    constant = Program(args, name, "constant", case, model, most)
    smaller = Program(args, name, "smaller", case, model, case.smaller)
    bounded = Program(args, name, "bounded", case, model, {word: f"{least}..{greatest}" for word, (least, greatest) in case.bounds.items()})
    ways = [Way(args, *way) for way in ((constant, most), (bounded, most), (smaller, case.smaller), (bounded, case.smaller))]
    for constants, words in (ways[:2], ways[2:]):
        if not np.allclose(constants.result, words.result, 1e-3, 1e-3 * abs(constants.result).max()):
            raise SystemExit(f"{name}: the results of both programs differ")
    for turn in range(args.rounds):
        for way in ways if turn % 2 else ways[::-1]:
            way.turn(args)
    return [way.milliseconds() for way in ways], constant, bounded


def spell(extents):
    """`H, W = 3` of a dictionary."""
    values = [f"{v[0]} to {v[1]}" if isinstance(v, tuple) else str(v) for v in extents.values()]
    return f"{', '.join(extents)} = {values[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--real", required=True, type=Path, help="the folder of trained networks")
    parser.add_argument("--networks", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="of the runs of one turn")
    parser.add_argument("--threads", type=int, default=1, help="each on a processor of its own, the last ones")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--document", default="")
    args = parser.parse_args()
    args.cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[-args.threads:]))
    rows, ratios = [], []
    for name in args.networks.replace(",", " ").split() or extent_cases.CASES:
        case = extent_cases.CASES[name]
        model = case.model(args.real)
        if not model:
            print(f"SKIPPED: {name}, which {args.real} does not have", flush=True)
            continue
        (whole, open_whole, part, open_part), constant, bounded = measure(args, name, case, model)
        ratio = open_whole / whole, open_part / part, bounded.arena / constant.arena
        ratios.append(ratio)
        rows.append(f"| {name} | {spell(case.bounds)} | {whole:.3f} | {open_whole:.3f} | {ratio[0]:.3f} | {spell(case.smaller)} | {part:.3f} | "
                    f"{open_part:.3f} | {ratio[1]:.3f} | {constant.arena:,} | {bounded.arena:,} | {ratio[2]:.3f} | {constant.compiling:.1f} | "
                    f"{bounded.compiling:.1f} |")
        print(rows[-1], flush=True)
    mean = [geometric(r[i] for r in ratios) for i in range(3)]
    rows.append(f"| geometric mean | | | | {mean[0]:.3f} | | | | {mean[1]:.3f} | | | {mean[2]:.3f} | | |")
    print(rows[-1])
    if args.document:
        one = args.threads == 1
        head = TEXT.format(cpu=processor(), cpus="one processor" if one else f"{args.threads} processors", time="user" if one else "elapsed",
                           load=f"{os.getloadavg()[0]:.1f}", rounds=args.rounds, cc=f"{args.cc} -O2 -march=native")
        pages.replace(args.document, head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
