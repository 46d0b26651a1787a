"""Memory of whole networks: writes docs/memory.md.

For every network: the bytes of its tensors, of Occamy's four greedy plans (bigger-first is the greedy-by-size plan of the same
program that ExecuTorch and TFLite Micro make), of the plan that is taken, its lower bound and proof; under other options; and
beside them TiGrIS's whole-plan figure and what ONNX Runtime's process really grows by in its first run. With --touched
every network is built and run as well, and the arena bytes that it touched are compared with the plan."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
sys.path.append(str(TOOLS))
import pages  # noqa: E402

FOUR = ("first-fit", "best-fit", "longer-first", "bigger-first")

HEAD = """# Memory of whole networks

Written by `make bench-memory`. Bytes of activations: weights, and unless said otherwise the caller's inputs and outputs, are not
in them. *tensors*: all buffers of the compiled program side by side, after fusion and views. The four greedy plans are of
that same program and know what may overlap (*bigger-first* is greedy by size, what ExecuTorch and TFLite Micro do). *plan* is
what `occamyc` takes; a proof by the bound says that no placement of this order of steps is smaller, *order* that no order of
these steps needs less. *without cascades* is `--cascade=off`, *without Winograd* `--winograd=off`, *io* adds `--io=arena` to that: then inputs and outputs are
counted. *TiGrIS*: {tigris}, inputs and outputs counted. *ONNX Runtime*: growth of the process in its first run, one
thread, inputs and outputs counted (of {ort}). *ms*: planning of one compilation: order, placement and proof of every program that is
weighed (with and without cascades, with copies), and the check of what is taken{touched}.

"""


def networks(args):
    """(name, path, --dim flags) of every network that is there; says how many folders are not."""
    sys.path.insert(0, str(TOOLS))
    import compare_ort
    import compare_real
    import nets
    found, absent = [], []
    flags = compare_real.read_dims(str(args.real / "dims.txt"))
    for folder, paths in ((args.real, [args.real / n / "model.onnx" for n in compare_real.NETWORKS]),
                          (args.models, sorted(args.models.glob("*.onnx"))),
                          (args.models / "light", sorted((args.models / "light").glob("*.onnx")))):
        there = [p for p in paths if p.exists()]
        if not there:
            absent.append(str(folder))
        for p in there:
            name = p.parent.name if p.name == "model.onnx" else p.stem
            bounds = compare_ort.DIMS.get(name, {})
            found.append((name, p, flags.get(name) or [word for d in bounds for word in ("--dim", f"{d}={bounds[d]}")]))
    found.append(("mobilenet_v1", nets.write(args.folder), []))
    for folder in absent:
        print(f"SKIPPED: networks of {folder}, which is absent", flush=True)
    return found


def compile_it(args, path, *options):
    """(report, summary) of one compilation, or (None, why)."""
    report = args.folder / "report.json"
    done = subprocess.run([args.occamyc, path, f"--report={report}", *options], capture_output=True, text=True)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["?"])[0]
    return json.loads(report.read_text()), done.stdout


def planning_seconds(args, path, flags):
    """Processor time of all planning in one compilation: the least of some."""
    done = subprocess.run([args.time_plan, path, *flags], capture_output=True, text=True, check=True)
    return min(sum(map(float, part.split())) for part in done.stdout.split("\n\n") if part.strip()) / 1000


def growth(args, path, flags):
    """Bytes that ONNX Runtime's process grows by in its first run; None where it does not run the model."""
    done = subprocess.run([sys.executable, __file__, "--grow", path, *flags[1::2]], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def grow(path, bounds):
    """Run in a process of its own: prints how far the first run raises the process's peak."""
    import ctypes
    import numpy
    import onnxruntime

    def status(key):
        return int(re.search(rf"{key}:\s+(\d+)", pathlib.Path("/proc/self/status").read_text()).group(1)) * 1024

    extents = {n: int(v.split("..")[-1]) for n, _, v in (b.rpartition("=") for b in bounds)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = {}
    for i in session.get_inputs():
        shape = [d if isinstance(d, int) else extents.get(d, extents.get(f"{i.name}:{a}", 1)) for a, d in enumerate(i.shape)]
        kind = {"float": "float32", "double": "float64"}.get(i.type[7:-1], i.type[7:-1])
        feeds[i.name] = numpy.zeros(shape, kind)
    ctypes.CDLL(None).malloc_trim(0)  # what making the session left behind is no memory of the run
    before = status("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    session.run(None, feeds)
    print(status("VmHWM") - before)


def tigris_peak(args, path):
    if not args.tigris or not os.path.exists(args.tigris):
        return None
    try:
        done = subprocess.run([args.tigris, "analyze", "--json", "-m", "1024M", path], capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout)["fast"]["scheduled_peak_bytes"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError, TypeError):
        return None


def touched_bytes(args, path, flags):
    """(planned, touched) of a run against ONNX Runtime, or None."""
    done = subprocess.run([sys.executable, TOOLS / "compare_ort.py", f"--occamyc={args.occamyc}", f"--cc={args.cc}",
                           f"--work={args.folder}/runs", *flags, path], capture_output=True, text=True)
    row = re.search(r"(?m)^\S+ +pass +\d+ +(\d+) +(\d+) ", done.stdout)
    return (int(row.group(1)), int(row.group(2))) if row else None


def number(value):
    return "-" if value is None else f"{value:,}"


def row_of(args, name, path, flags):
    report, summary = compile_it(args, path, *flags)
    if report is None:
        return None, f"{name}: {summary}"
    memory, kinds = report["memory"], ("activation", "scratch")
    tensors = sum(b["bytes"] for b in report["buffers"] if b["kind"] in kinds)
    proof = "proven" if memory["status"].startswith("optimal") else memory["status"]
    whole, _ = compile_it(args, path, *flags, "--cascade=off")
    slim, _ = compile_it(args, path, *flags, "--winograd=off")
    io, _ = compile_it(args, path, *flags, "--winograd=off", "--io=arena")
    row = [name, f"{len(report['steps'])}", number(tensors), *(number(memory["planners"][p]) for p in FOUR), number(memory["arena"]),
           number(memory["lower_bound"]), proof, "proven" if "no order of these steps" in summary else "-",
           number(whole["memory"]["arena"]), number(slim["memory"]["arena"]), number(io["memory"]["arena"]), number(tigris_peak(args, path)),
           number(growth(args, path, flags)), f"{1000 * planning_seconds(args, path, flags):.0f}"]
    if args.touched:
        run = touched_bytes(args, path, flags)
        row.append("-" if run is None else "yes" if run[0] == run[1] else number(run[1]))
    return row, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--real", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for files on the way")
    parser.add_argument("--tigris", help="its program, where it is installed")
    parser.add_argument("--time-plan", required=True, help="tests/bench/time_plan.c, built")
    parser.add_argument("--touched", action="store_true")
    parser.add_argument("--write", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="only these networks")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    head = ["network", "steps", "tensors", *FOUR, "plan", "bound", "placement", "order", "without cascades", "without Winograd", "io", "TiGrIS",
            "ONNX Runtime", "ms"] + (["all touched"] if args.touched else [])
    rows, refused = [], []
    for name, path, flags in networks(args):
        if args.names and name not in args.names:
            continue
        row, why = row_of(args, name, path, flags)
        print("  ".join(row) if row else why, flush=True)
        (rows if row else refused).append(row or why)
    if len(rows) < 2 and not args.names:
        print(f"SKIPPED: no networks; {args.write} stays as it is")
        return
    import onnxruntime
    proven = sum(r[9] == "proven" for r in rows)
    text = HEAD.format(tigris="`tigris analyze` of tigris-ml" if args.tigris else "not installed", ort=onnxruntime.__version__,
                       touched="; *all touched*: a run touched every byte of the plan and none beyond" if args.touched else "")
    text += f"The placement is proven least for {proven} of {len(rows)} networks.\n\n"
    text += f"| {' | '.join(head)} |\n|" + "---|" * len(head) + "\n"
    text += "".join(f"| {' | '.join(r)} |\n" for r in rows)
    text += "".join(f"\nNot compiled: {why}\n" for why in refused)
    if pages.replace(args.write, text):
        print(f"{args.write}: written")


if __name__ == "__main__":
    grow(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--grow"] else main()
