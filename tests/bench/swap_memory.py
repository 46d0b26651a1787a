"""How little memory networks need whose weights are loaded while they are needed: swap_memory.py --occamyc=P --target=T MODEL.onnx...

Everything here is what occamyc says, so it does not depend on the machine or on what else runs: the least memory that works, and in
budgets of some percent of what all weights in memory take what a run reads, with the times that are predicted. Prints two tables.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

GOALS = {                                                                  # arenas in MB that were asked for; FlexNN's planner, run by us
    "resnet152": (5.4, 30.2), "resnet50": (5.4, None), "vgg19": (7.6, 39.0), "vit_b_16": (4.6, None), "gpt2_small": (2.4, None),
    "bert_base": (3.0, None), "mobilenet_v2": (0.95, None), "squeezenet": (2.0, None), "squeezenet1_1": (2.0, None)}
DIMS = {"gpt2_small": ["--dim", "seq=64"]}
LEAST = """## The least memory

What `--max-ram` needs at least (occamyc refuses one byte less), for {target}: arena, weights that stay, small constants, inputs, outputs and
state. "In memory" is the same with all weights in memory (`--weights=file`). "Asked for" is the largest arena that the design of
swapping calls good. FlexNN's planner was run by us with pieces of 4 MB: the smallest pool that it finds.

| network | weights MB | in memory MB | least, all MB | of memory | arena MB | asked for | FlexNN's planner MB |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
BUDGETS = """
## In a part of the memory

Direct kernels (`--winograd=off`), times predicted for a disk of 2 GB/s and 80 us: resident with all weights there, bound without which no
schedule gets along. On a slower processor, or without its vectors, the times come closer to resident.

| network | budget | memory MB | stays MB | a run reads MB | in loads | predicted ms | / resident | / bound |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def name_of(path):
    return os.path.basename(path)[:-5].removeprefix("light_")


def ask(arguments, path, flags, status=0):
    """What occamyc says of a plan; nothing is written."""
    command = [arguments.occamyc, path, f"--target={arguments.target}", *DIMS.get(name_of(path), []), *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != status:
        sys.exit(f"{shlex.join(command)}: status {done.returncode}, wanted {status}\n{done.stdout[-2000:]}")
    return done.stdout


def number(pattern, text):
    return float(re.search(pattern, text, re.M)[1])


def weights_of(arguments, path):
    return number(r"^weights +(\d+)", ask(arguments, path, ["--weights=file", "--winograd=off"]))


def in_memory(arguments, path):
    """Bytes of everything with all weights in memory."""
    return weights_of(arguments, path) + number(r"^RAM +(\d+)", ask(arguments, path, ["--weights=file", "--winograd=off"]))


def least_row(arguments, path):
    weights, whole = weights_of(arguments, path), in_memory(arguments, path)
    said = ask(arguments, path, ["--weights=swap", "--max-ram=1"], status=4)
    least, arena = number(r"found (\d+) bytes", said), number(r"[; ]arena (\d+)", said)
    goal, theirs = GOALS.get(name_of(path), (None, None))
    return (f"| {name_of(path)} | {weights / 1e6:.1f} | {whole / 1e6:.1f} | {least / 1e6:.2f} | {100 * least / whole:.1f} % | {arena / 1e6:.2f} | "
            f"{goal or ''} | {theirs or ''} |\n")


def budget_row(arguments, path, share, whole):
    budget = int(whole * share / 100)
    said = ask(arguments, path, ["--winograd=off", "--weights=swap", f"--max-ram={budget}"])
    total, kept = number(r"^RAM +(\d+)", said), number(r"^swap +(\d+) bytes of weights stay", said)
    read, loads = number(r"stay, (\d+) are read", said), number(r"in (\d+) loads", said)
    time, resident, bound = (number(rf"{word} ([\d.]+)", said) for word in ("predicted", "resident", "below"))
    return (f"| {name_of(path)} | {share:g} % | {total / 1e6:.2f} | {kept / 1e6:.2f} | {read / 1e6:.1f} | {loads:.0f} | "
            f"{time:.1f} | {time / resident:.2f} | {time / bound:.2f} |\n")


def page(arguments, models):
    text = LEAST.format(target=arguments.target) + "".join(least_row(arguments, path) for path in models) + BUDGETS
    for path in models:
        whole = in_memory(arguments, path)
        least = number(r"found (\d+) bytes", ask(arguments, path, ["--winograd=off", "--weights=swap", "--max-ram=1"], status=4))
        for share in map(float, arguments.shares.split()):
            if whole * share / 100 >= least:
                text += budget_row(arguments, path, share, whole)
            else:
                text += f"| {name_of(path)} | {share:g} % | too few | | | | | | |\n"
            print(text.splitlines()[-1], flush=True)
    return text


def add_arguments(parser):
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--target", default="x86-64-v4")
    parser.add_argument("--shares", default="6 12 25 50", help="budgets in percent of what all weights in memory take")
    parser.add_argument("models", nargs="+")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    arguments = parser.parse_args()
    print(page(arguments, [path for path in arguments.models if os.path.exists(path)]))


if __name__ == "__main__":
    main()
