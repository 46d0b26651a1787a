"""Figures of the planner library on the benchmark data beside the repository: writes docs/planner.md.

Runs occamplan on every instance and the order search on every graph; what occamplan claims is checked again by
`occamplan --check` from its own output. Instances that are absent are counted and said aloud."""

import argparse
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"peak (\d+) bytes, bound (\d+), (.*), (\d+) nodes, ([\d.]+) s")
HARD = "ABCDEFGHIJK"
MIB = 1 << 20

# Capacities below 1 MiB that can be reached, and the processor time that each is given at most.
TIGHT = [("C", 1039360, 60), ("D", 1007616, 300), ("J", 1003520, 300)]

IDEALLOC = [("somas_tensors/resnet50", "the bound in 0.1 s"), ("iopddl/G_1", "the bound in 0.3 s"),
            ("iopddl/Y_1", "the bound in 5 s"), ("iopddl/S_1", "1.0018 of it in 5 s"),
            ("somas_tensors/pangu_2.6B", "1.0076 of it in 2 s")]

HEAD = """# The planner on benchmark instances

Written by `make bench-plan` from the instances in `../shared/data` (origins and licences are listed there); one thread,
{machine}. Every placement was read back and found right by `occamplan --check`. Sizes are bytes, except where the
instance has its own unit; *nodes* are decisions tried; *state* says what is proven.
"""


def run_planner(args, problem, *options):
    """One run of occamplan, its placement checked: (peak, bound, state, nodes, seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        placed = f"{folder}/placed.csv"
        done = subprocess.run([args.occamplan, f"--input={problem}", f"--output={placed}", *options],
                              capture_output=True, text=True)
        found = LINE.search(done.stdout)
        if done.returncode not in (0, 4) or not found:
            sys.exit(f"plan.py: {problem}: {done.stdout}{done.stderr}")
        if done.returncode == 0:
            subprocess.run([args.occamplan, f"--input={problem}", f"--check={placed}"], check=True,
                           stdout=subprocess.DEVNULL)
    peak, bound, state, nodes, seconds = found.groups()
    return int(peak), int(bound), state, int(nodes), float(seconds)


def table(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(map(str, r))} |" for r in rows)])


def hard(args):
    rows, spent = [], []
    for name in HARD:
        peak, bound, state, nodes, seconds = run_planner(args, args.data / f"minimalloc/{name}.{MIB}.csv", f"--capacity={MIB}")
        rows.append([name, peak, bound, state, nodes, f"{seconds:.3f}"])
        spent.append(seconds)
    tight = []
    for name, capacity, limit in TIGHT:
        peak, bound, state, nodes, seconds = run_planner(args, args.data / f"minimalloc/{name}.{MIB}.csv",
                                                         f"--capacity={capacity}", f"--time-limit={limit}")
        tight.append([name, capacity, peak, bound, state, nodes, f"{seconds:.3f}"])
    return f"""## The 11 hard instances of MiniMalloc, capacity 1,048,576

{table(["instance", "peak", "bound", "state", "nodes", "seconds"], rows)}

Sum {sum(spent):.3f} s, worst {max(spent):.3f} s (to reach: 3.0 and 1.5). MiniMalloc (google/minimalloc, exact search, ASPLOS 2024),
as measured once on another core: 29 to 35 s in sum, worst 5.4 s. Capacities below 1 MiB:

{table(["instance", "capacity", "peak", "bound", "state", "nodes", "seconds"], tight)}
"""


def gaps(args):
    rows = []
    for path in sorted((args.data / "dsa_gap").glob("*.csv")):
        wanted = int(re.search(r"OPT(\d+)", path.name).group(1))
        peak, bound, state, nodes, seconds = run_planner(args, path)
        if peak != wanted or not state.startswith("optimal"):
            sys.exit(f"plan.py: {path.name}: peak {peak}, {state}")
        rows.append([path.name.split(".")[0], peak, state, nodes, f"{seconds:.3f}"])
    return f"""## Instances whose optimum is above the live bytes

All {len(rows)} optima are those in the files' names, and proven; slowest {max(float(r[-1]) for r in rows):.3f} s (to reach: 0.010).

{table(["instance", "peak", "state", "nodes", "seconds"], rows)}
"""


def large(args):
    rows = []
    for name, wanted in IDEALLOC:
        problem = args.data / f"idealloc/{name}.csv"
        buffers = sum(1 for _ in open(problem)) - 1
        for options in ([], ["--planner=skyline"]):
            peak, bound, state, nodes, seconds = run_planner(args, problem, *options)
            rows.append([name.split("/")[1], buffers, options[0][10:] if options else "best", peak, f"{peak / bound:.5f}", state, nodes,
                         f"{seconds:.3f}", wanted])
    return f"""## Training tables and sharding problems (idealloc)

{table(["instance", "buffers", "planner", "peak", "of bound", "state", "nodes", "seconds", "to reach"], rows)}
"""


def networks(args):
    rows = []
    for path in sorted((args.data / "nets").glob("*.csv")):
        peak, bound, state, nodes, seconds = run_planner(args, path)
        four = [run_planner(args, path, f"--planner={p}")[0] for p in ("first-fit", "best-fit", "longer-first", "bigger-first")]
        rows.append([path.stem, *four, peak, bound, state, f"{seconds:.3f}"])
    return f"""## Seven standard networks, one buffer per tensor

{table(["network", "first-fit", "best-fit", "longer-first", "bigger-first", "peak", "bound", "state", "seconds"], rows)}
"""


def orders(args):
    lines = subprocess.run([args.time_orders, args.data / "ordering/ws_ordering.txt"], capture_output=True, text=True, check=True)
    rows = [line.split(",") for line in lines.stdout.split()]
    for row in rows:
        if row[2] != row[4] or row[6] != "optimal":
            sys.exit(f"plan.py: {row[0]}: peak {row[4]}, proven optimum {row[2]}")
    return f"""## Orders of {len(rows)} random-wired graphs

All peaks are the proven optima; slowest {max(float(r[-1]) for r in rows):.4f} s (to reach: 0.1 to 34 nodes, 1 to 42).

{table(["graph", "nodes", "optimum", "given order", "peak", "bound", "state", "states", "seconds"], rows)}
"""


PARTS = [("minimalloc", hard), ("dsa_gap", gaps), ("idealloc", large), ("nets", networks), ("ordering", orders)]


def machine():
    """The processor's name, for the page's head."""
    found = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read()) if platform.system() == "Linux" else None
    return found.group(1) if found else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamplan", required=True)
    parser.add_argument("--time-orders", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--write", required=True, type=pathlib.Path, help="the page; kept as it is when data is absent")
    args = parser.parse_args()
    absent = [folder for folder, _ in PARTS if not (args.data / folder).is_dir()]
    if absent:
        print(f"SKIPPED: {len(absent)} of {len(PARTS)} tables, {args.data} lacks {', '.join(absent)}; {args.write} stays as it is")
        return
    args.write.write_text("\n".join([HEAD.format(machine=machine()), *(part(args) for _, part in PARTS)]))
    print(f"{args.write}: written")


main()
