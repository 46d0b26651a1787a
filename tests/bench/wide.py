"""Times networks that differ from those of bench.py, with its engines and turns, compares every result with ONNX Runtime's, and
names for each network that loses the steps that take longest.

Results are kept in FOLDER/results.json, so that a run of a few networks renews only these; the page is written from all of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import bench
import exact
import forms
import kernels
import library
import numpy as np
import onnx
import programs
import report

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

# Distances allowed, in parts of the largest result: the largest one, and the mean one of quantised forms, where sums of floats in
# another order move a value on the border of two bytes by one byte, which the layers behind it spread.
LARGEST, LARGEST_HALF, MEAN_QUANTISED = 1e-3, 1e-2, 0.02
STEPS, PROFILED = 3, 10  # steps named of a network that loses, runs that they are timed in

HEAD = """# Other networks

Written by `make bench-wide`; do not edit. Networks of `models/export_wide.py` with seeded weights and trained ones
(`real_`) with fixed extents; batch 1 where nothing else is said. The tables hold the networks timed so far, not all that there are.
One process for each engine, pinned, taking turns on inputs that rotate, {rounds} rounds. Times of one thread are minima of processor
time, since other programs used the machine: {load:.0f} wanted a core when this was written. Those of two threads are minima of elapsed
time: of the other threads of a process Linux knows the processor time only as of the last tick, up to 4 ms ago.

- Machine: {machine}.
- Versions: {versions}. Ours: the default output, `{flags}`.
- Distance: the largest difference (of quantised forms the mean one) from ONNX Runtime's results over {sets} sets of inputs, in parts of
  the largest result. Its sums of bytes are exact there; in its default mode, which is the one timed, two products may saturate.
- `_qdq`, `_qop`, `_dyn`, `_f16`: forms of a network that `tests/bench/forms.py` makes with ONNX Runtime's tools: static quantisation as pairs of
  QuantizeLinear and DequantizeLinear or as operators on bytes, dynamic quantisation, float16 between inputs and outputs of float.
"""

LOSERS = """## Steps of networks that lose

Share: of the processor time of all steps. Peak: multiplications and additions of the step in parts of the measured peak of one
core; steps without products have none.

| network | step | share | of peak |
|---|---|---|---|
"""


def fix_extents(real, models):
    """Copies of the trained networks whose inputs have the extents of dims.txt; what has others left is not taken."""
    chosen = dict(line.split(": ", 1) for line in (real / "dims.txt").read_text().splitlines() if line[:1] != "#")
    for path in sorted(real.glob("*/model.onnx")):
        model, target = onnx.load(path), models / f"real_{path.parent.name}.onnx"
        extents = dict(word.split("=") for word in chosen.get(path.parent.name, "").split() if ".." not in word)
        fixed = [d for value in (*model.graph.input, *model.graph.output) for d in value.type.tensor_type.shape.dim]
        for extent in fixed:
            if extents.get(extent.dim_param):
                extent.dim_value = int(extents[extent.dim_param])
        inputs = [d for value in model.graph.input for d in value.type.tensor_type.shape.dim]
        if all(d.dim_value for d in inputs) and not target.exists():
            onnx.save(model, target)


def form_of(name):
    """qdq, qop, dyn, f16, or nothing."""
    found = name.rpartition("_")[2]
    return found if found in forms.FORMS else ""


def distance(network, cc, mean=False):
    """The largest or mean difference from ONNX Runtime, in parts of the largest result; infinite where a result is missing or no number."""
    model, inputs = onnx.load(network.model), network.inputs()
    program, count, most = exact.build_host(network, cc), len(inputs) // programs.SETS, 0.0
    oracle = library.open_onnxruntime(library.import_onnxruntime(), network.model, 1, config={exact.EXACT: "1"})
    for s, feeds in enumerate(library.read_sets(model, programs.SETS, inputs)):
        subprocess.run([program, *inputs[s * count:(s + 1) * count], "-o", network.folder / "out"], check=True, stdout=subprocess.DEVNULL)
        for i, wanted in enumerate(oracle(feeds)):
            most = max(most, apart(np.fromfile(network.folder / "out" / f"{i}.bin", wanted.dtype), np.ravel(wanted), mean))
    return most


def apart(found, wanted, mean=False):
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    if found.size != wanted.size or not np.isfinite(found).all():
        return float("inf")
    return float((np.mean if mean else np.max)(np.abs(found - wanted)) / max(np.abs(wanted).max(), 1e-30))


def longest_steps(network, cc, flags, cpus, peak):
    """The steps that take longest: words, share of the whole, share of the peak."""
    running = programs.Running([network.build(cc, flags, steps=programs.BUSY), programs.SETS, *network.inputs()], cpus)
    running.run(PROFILED)
    times, calls = running.steps()
    running.end()
    text, found = network.source.read_text(), []
    bodies = dict(kernels.FUNCTION.findall(text))
    for step, function, words in kernels.STEP.findall(text):
        products, nanoseconds = kernels.multiplications(bodies[function])[1] * calls[int(step)], times[int(step)]
        found.append((words, nanoseconds / sum(times), 2.0 * products / nanoseconds / peak if nanoseconds else 0.0))
    return sorted(found, key=lambda row: -row[1])[:STEPS]


def measure(args, name):
    """None: nobody else takes the network. A wrong result ends the run."""
    network = programs.Network(Path(args.models) / f"{name}.onnx", args.folder, args.occamyc)
    form = form_of(name)
    mean = form not in ("", "f16")
    away = distance(network, args.cc, mean)
    if away > (MEAN_QUANTISED if mean else LARGEST_HALF if form else LARGEST):
        raise SystemExit(f"{name}: results differ from ONNX Runtime's by {away:.2g} of the largest")
    result = bench.measure_row(args, name)
    if result:
        result["ours"]["distance"] = away
        if args.threads == 1 and report.ratios(result)[2] > 1.0:
            result["ours"]["steps"] = longest_steps(network, args.cc, args.flags, args.cpus, args.peak)
    return result


def table(part, key):
    """The times named `key`: "busy" or "least"."""
    which = report.RATIOS.index(key)
    lines = ["| network | ours, ms | ONNX Runtime | OpenVINO | ours / best | distance |", "|---|---|---|---|---|---|"]
    for name, result in sorted(part.items()):
        times = " | ".join(report.cell(result, e, key) for e in ("ours", *bench.peers.RUNTIMES))
        lines.append(f"| {name} | {times} | {report.ratios(result)[which]:.2f} | {result['ours']['distance']:.1g} |")
    return [*lines, f"| geometric mean of {len(part)} | | | | {report.means(part.values())[which]:.3f} | |", ""]


def page(results, rounds, flags):
    lines = [HEAD.format(rounds=rounds, load=os.getloadavg()[1], machine=report.processor(), versions=report.versions(), flags=flags,
                         sets=programs.SETS)]
    for key, part in sorted(results.items()):
        lines += [f"## {key} thread{'' if key == '1' else 's'}", "", *table(part, "busy" if key == "1" else "least")]
    rows = [f"| {name} | {words} | {100 * share:.0f} % | {f'{100 * peak:.0f} %' if peak else '-'} |"
            for name, result in sorted(results.get("1", {}).items()) for words, share, peak in result["ours"].get("steps", ())]
    return "\n".join(lines + ([LOSERS + "\n".join(rows)] if rows else [])).rstrip() + "\n"


def main():
    parser = bench.arguments()
    parser.description = __doc__
    parser.set_defaults(peers=" ".join(bench.peers.RUNTIMES))
    parser.add_argument("--real", default="", help="folder of trained networks")
    parser.add_argument("--forms", default="", help="networks that are timed in the forms of forms.py as well")
    parser.add_argument("--peak", required=True, help="the program of peak.c")
    args = bench.parse(parser)
    args.peak = float(subprocess.run([Path(args.peak).resolve()], stdout=subprocess.PIPE, text=True, check=True).stdout)
    if args.real and (Path(args.real) / "dims.txt").exists():
        fix_extents(Path(args.real), Path(args.models))
    for name in args.forms.split():
        for form in forms.FORMS:
            if not args.networks or f"{name}_{form}" in args.networks.replace(",", " ").split():
                forms.make(Path(args.models), name, form)
    args.networks = args.networks or " ".join(sorted(p.stem for p in Path(args.models).glob("*.onnx")))
    document, args.document = args.document, ""
    part = bench.renew(args, str(args.threads), lambda name: measure(args, name))
    if document:
        pages.replace(document, page(json.loads((args.folder / "results.json").read_text()), args.rounds, args.flags), ["Steps of networks that lose"])
    means = report.means(part.values())
    print(f"geometric mean of ours / best of the others: by minima {means[1]:.3f}, by processor time {means[2]:.3f}")


if __name__ == "__main__":
    main()
