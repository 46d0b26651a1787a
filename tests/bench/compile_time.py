"""Processor time of the C compiler on whole networks: compile_time.py --occamyc=P --flags=F --flags=F --document=F.md FOLDERS...

Seconds are of the processor, so that a busy machine shows little in them; bytes are of machine code. How far each figure is from
that of the page before is printed; networks that are absent keep their row.
"""

import argparse
import re
import resource
import subprocess
import sys
from pathlib import Path

import memory
import programs

MOST = 15.0  # seconds of one network at the first flags
HEAD = """# Time of the C compiler

Written by `make bench-compile`. Processor seconds that `{cc}` ({version}) takes for the generated file of a
network, and bytes of machine code. At most {most:g} s are wanted of each network at `{first}`.

| network | {titles} |
|---|{rules}|
"""


def compile_once(args, folder, flags):
    """(processor seconds, bytes of code) of the object."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    programs.run_quietly([*args.cc.split(), *flags.split(), "-c", "model.c", "-o", "model.o"], folder)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    said = subprocess.run(["size", "-A", "-d", "model.o"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    return seconds, sum(int(line.split()[1]) for line in said.splitlines() if line.startswith(".text"))


def read_page(path):
    """Network -> cells of its row, of the page that is there."""
    rows = re.findall(r"^\| (\w+) \| (\d.*) \|$", path.read_text() if path.exists() else "", re.M)
    return {name: cells.split(" | ") for name, cells in rows}


def measure(args, name, model, dims):
    """The cells of one row."""
    folder, cells = args.folder / name, []
    folder.mkdir(parents=True, exist_ok=True)
    programs.run_quietly([args.occamyc, model, "-o", "model.c", "--name=model", "--quiet", *dims], folder)
    for flags in args.flags:
        seconds, code = compile_once(args, folder, flags)
        cells += [f"{seconds:.1f}", f"{code:,}"]
    for file in folder.iterdir():  # weights, half a gigabyte of some
        file.unlink()
    return cells


def write_page(args, rows):
    version = subprocess.run([args.cc.split()[0], "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    titles = " | ".join(f"`{flags}`, s | bytes" for flags in args.flags)
    head = HEAD.format(cc=f"{args.cc} -c", version=version, most=MOST, first=args.flags[0], titles=titles,
                       rules="|".join(["---:"] * 2 * len(args.flags)))
    args.document.write_text(head + "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True, type=Path)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--flags", action="append", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--document", required=True, type=Path)
    parser.add_argument("--real", required=True, type=Path, help="folder of trained networks")
    parser.add_argument("--models", required=True, type=Path, help="folder of exported networks")
    parser.add_argument("--networks", default="", help="only those named")
    args = parser.parse_args()
    args.occamyc, args.folder = args.occamyc.resolve(), args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows, slow = read_page(args.document), 0
    for name, model, dims in memory.networks(args):
        if args.networks and name not in args.networks.split():
            continue
        before, rows[name] = rows.get(name), measure(args, name, Path(model).resolve(), dims)
        slow += float(rows[name][0]) > MOST
        print(f"{name:40} {'  '.join(rows[name])}{'   before: ' + '  '.join(before) if before else ''}", flush=True)
        write_page(args, rows)
    if slow:
        sys.exit(f"{slow} networks take more than {MOST:g} s at {args.flags[0]}")


if __name__ == "__main__":
    main()
