"""Times networks whose height and width are known only while running beside the same networks with constants, at the upper bound
and at half of it, by turns on one processor; and their arenas and the C compiler's time.

User time of a process counts, less that of a start without runs, since other programs may take the processor; of all turns the
lower quartile.
"""

import argparse
import json
import os
import resource
import subprocess
from pathlib import Path

import numpy as np
import onnx

import extent_nets
from programs import run_quietly
from report import geometric, processor

TEXT = """# Extents known only while running

Written by `make bench-extents`: networks of seeded random weights (`tests/bench/extent_nets.py`) with constant height and width,
and with bounds (`--dim H=A..B --dim W=A..B`), as programs that run by turns on one processor of {cpu}, load {load} at the end.
Milliseconds of user time, the lower quartile of {rounds} turns; *half*: images of half the bound, against a network of that
constant size. *cc*: user seconds of `{cc}` for the generated file.

| network | bounds | constant, ms | bounded | ratio | half: constant, ms | bounded | ratio | arena, bytes: constant | bounded | ratio | cc, s: constant | bounded |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def user_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run_quietly(command, folder)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


class Program:
    """One network for one size, or for all within bounds."""

    def __init__(self, args, name, kind, height, width, bounds=()):
        self.folder = Path(args.folder).resolve() / "extents" / f"{name}_{kind}"
        self.folder.mkdir(parents=True, exist_ok=True)
        onnx.save(extent_nets.model(name, height, width), self.folder / "net.onnx")
        run_quietly([Path(args.occamyc).resolve(), "net.onnx", "-o", "model.c", "--main=main.c", "--target=native", "--quiet", "--report=report.json",
                     *bounds], self.folder)
        command = [*args.cc.split(), "-O2", "-march=native", "-c"]
        self.compiling = user_seconds([*command, "model.c"], self.folder)
        run_quietly([*command, "main.c"], self.folder)
        run_quietly([*args.cc.split(), "-o", "model", "main.o", "model.o", "-lm", "-pthread"], self.folder)
        self.arena = json.loads((self.folder / "report.json").read_text())["memory"]["arena"]
        self.is_bounded = bool(bounds)

    def seconds(self, args, size, count):
        """Of `count` runs and the start."""
        path = self.folder / f"in{size}.raw"
        if not path.exists():
            np.random.default_rng(size).standard_normal((1, 3, size, size)).astype(np.float32).tofile(path)
        word = f"{path.name}:1x3x{size}x{size}" if self.is_bounded else path.name
        return user_seconds(["taskset", "-c", args.cpu, "./model", word, "-o", "out", "--repeat", str(count)], self.folder)


def quartile(values):
    return sorted(values)[len(values) // 4]


def measure(args, name):
    """Milliseconds at the bound and at half of it, constant and bounded; the programs."""
    _, most, least = extent_nets.NETWORKS[name]
    half = most // 2
    bounded = Program(args, name, "bounded", "H", "W", [f"--dim={d}={least}..{most}" for d in "HW"])
    ways = [(Program(args, name, "constant", most, most), most), (bounded, most), (Program(args, name, "half", half, half), half), (bounded, half)]
    each = [p.seconds(args, size, 2) - p.seconds(args, size, 0) for p, size in ways]
    counts = [max(int(args.seconds / max(e / 2, 1e-3)), 2) for e in each]
    turns = [[] for _ in ways]
    for turn in range(args.rounds):
        for i in range(4) if turn % 2 else range(3, -1, -1):
            p, size = ways[i]
            turns[i].append((p.seconds(args, size, counts[i]) - p.seconds(args, size, 0)) / counts[i] * 1e3)
    return [quartile(t) for t in turns], ways[0][0], bounded


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--networks", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="of the runs of one turn")
    parser.add_argument("--cpu", default=str(max(os.sched_getaffinity(0))))
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--document", default="")
    args = parser.parse_args()
    rows, ratios = [], []
    for name in args.networks.replace(",", " ").split() or extent_nets.NETWORKS:
        (whole, open_whole, half, open_half), constant, bounded = measure(args, name)
        ratio = open_whole / whole, open_half / half, bounded.arena / constant.arena
        bounds = "{2} to {1}".format(*extent_nets.NETWORKS[name])
        ratios.append(ratio)
        rows.append(f"| {name} | {bounds} | {whole:.2f} | {open_whole:.2f} | {ratio[0]:.3f} | {half:.2f} | {open_half:.2f} | {ratio[1]:.3f} | "
                    f"{constant.arena:,} | {bounded.arena:,} | {ratio[2]:.3f} | {constant.compiling:.1f} | {bounded.compiling:.1f} |")
        print(rows[-1], flush=True)
    mean = [geometric(r[i] for r in ratios) for i in range(3)]
    rows.append(f"| geometric mean | | | | {mean[0]:.3f} | | | {mean[1]:.3f} | | | {mean[2]:.3f} | | |")
    print(rows[-1])
    if args.document:
        head = TEXT.format(cpu=processor(), load=f"{os.getloadavg()[0]:.1f}", rounds=args.rounds, cc=f"{args.cc} -O2 -march=native")
        Path(args.document).write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
