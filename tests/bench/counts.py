"""Instructions that one run of a network executes, counted by valgrind: counts.py --occamyc=P --document=F.md MODEL...

They are the same on every machine that the flags fit and however busy it is, so that a change of a kernel shows where timings
hide it. The page is written anew; how far each figure is from that of the page before is printed.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import programs

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

HEAD = """# Instructions of a run

Written by `make bench-counts`. Instructions that one run executes, of the default output for one thread; C compiler:
`{cc}` ({version}).

| network | instructions |
|---|---:|
"""


def is_fixed(model):
    return all(d.dim_value > 0 for value in programs.graph_inputs(model) for d in value.type.tensor_type.shape.dim)


def count(args, model):
    """Instructions from the call of the run to its return. The last run is counted alone: the host program runs a network twice
    where bytes of the arena seem untouched."""
    network = programs.Network(model, args.folder, args.occamyc)
    programs.run_quietly([*args.cc.split(), "main.c", "model.c", "-o", "counted", "-lm", "-pthread"], network.folder)
    inputs = network.inputs()
    first = inputs[:len(inputs) // programs.SETS]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=model_run",
                           "--zero-before=model_run", "./counted", *first], cwd=network.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found or not int(found[1]):
        sys.exit(f"{network.name}: {done.stderr[-500:]}")
    return network.name, int(found[1])


def read_page(path):
    """Network -> instructions, of the page that is there."""
    rows = re.findall(r"^\| (\S+) \| ([\d,]+) \|$", path.read_text() if path.exists() else "", re.M)
    return {name: int(figure.replace(",", "")) for name, figure in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True, type=Path)
    parser.add_argument("--cc", required=True, help="with its flags; valgrind knows no AVX-512")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--document", required=True, type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    args = parser.parse_args()
    args.occamyc = args.occamyc.resolve()
    before, rows = read_page(args.document), []
    for model in args.models:
        if not is_fixed(model):
            print(f"{model.stem}: SKIPPED, extents are known only while running")
            continue
        name, instructions = count(args, model)
        change = f"  {100 * (instructions / before[name] - 1):+.2f} %" if name in before else ""
        print(f"{name:20} {instructions:16,}{change}", flush=True)
        rows.append(f"| {name} | {instructions:,} |\n")
    version = subprocess.run([args.cc.split()[0], "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    pages.replace(args.document, HEAD.format(cc=args.cc, version=version) + "".join(rows))


if __name__ == "__main__":
    main()
