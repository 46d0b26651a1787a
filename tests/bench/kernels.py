"""Times each step of whole networks: microseconds, what occamyc's cost model predicts, GF/s, percent of the measured peak of
one core, what oneDNN takes for the same convolution, and what the steps are.

Predictions are those of the report, for the vectors of --target, scaled to the measured peak. The least processor time of
all runs counts, for each step by itself. Multiplications are those of the direct algorithm, so that a step in Winograd's domain
may pass 100 %. oneDNN's convolutions run one after another as the network's do, without what our steps compute besides.
"""

import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import programs
from bench import NETWORKS

STEP = re.compile(r"OCC_(?:RUN|TRY)\((\d+), (\w+)\(.*\)\); /\* \d+ (.*) \*/$", re.M)
FUNCTION = re.compile(r"^OCC_STEP \w+ (\w+)\([^\n]*\)\n\{\n(.*?)^\}", re.M | re.S)
LOCAL = re.compile(r"const occ_(\w+) (\w+)(?:\[\])? = \{(.*)\};")
CALL = re.compile(r"occ_(\w+)\((.*)\);")


def numbers(text):
    return [int(n) if re.fullmatch(r"-?\d+", n) else 0 for n in text.split(", ")]


def arguments_of(body):
    """The lists of numbers that a step function gives its kernel, by name: of the image x_at "xdim" and "xstride", of a window
    "kernel", "stride", "dilation" and "pad", of other structs their numbers in order."""
    found = {}
    for kind, name, text in LOCAL.findall(body):
        lists = [numbers(inner) for inner in re.findall(r"\{([^{}]*)\}", text)]
        if kind in ("image", "stack"):
            pointer = name.removesuffix("_at")
            found[f"{pointer}dim"], found[f"{pointer}stride"] = lists
        elif kind in ("window", "q_form"):
            found |= dict(zip(("kernel", "stride", "dilation", "pad"), lists))
            found["form"] = numbers(text.rpartition("}, ")[2]) if kind == "q_form" else []
        elif kind == "extent":
            found[name] = numbers(text)
    return found


def groups_of(kernel, arrays, words):
    if kernel.startswith("conv_q"):
        return arrays["form"][0]
    return int(words[7]) if kernel == "conv_f32" else 1


def multiplications(body):
    """(kernel, multiplications of the direct algorithm; 0: it is no product) of a step function."""
    arrays = arguments_of(body)
    kernel, arguments = CALL.findall(body)[-1]
    words = arguments.split(", ")
    if kernel == "conv_after_f32":
        return kernel, math.prod(arrays["ydim"]) * arrays["blockdim"][1]
    if kernel.startswith(("conv_", "depthwise_", "winograd_")):
        inputs = 1 if kernel.startswith("depthwise_") else arrays["xdim"][1] // groups_of(kernel, arrays, words)
        return kernel, math.prod(arrays["kernel"]) * inputs * math.prod(arrays["ydim"])
    if kernel == "matmul_f32":
        return kernel, math.prod(arrays["ydim"]) * arrays["adim"][-1]
    return kernel, 0


def layer_of(body):
    """The convolution of a step as onednn.c reads it; None: it is another step, or has more axes."""
    arrays = arguments_of(body)
    kernel, arguments = CALL.findall(body)[-1]
    if kernel not in ("conv_f32", "depthwise_f32", "winograd_f32") or arrays["xdim"][2] != 1 or arrays["xdim"][0] != 1:
        return None
    x, y = arrays["xdim"], arrays["ydim"]
    groups = x[1] if kernel == "depthwise_f32" else groups_of(kernel, arrays, arguments.split(", "))
    return [groups, x[1] // groups, y[1] // groups, *x[3:], *y[3:], *arrays["kernel"][1:], *arrays["stride"][1:],
            *arrays["dilation"][1:], *arrays["pad"][1:]]


def onednn_times(args, layers):
    """Microseconds of each layer, by one thread."""
    text = "\n".join(" ".join(map(str, layer)) for layer in layers)
    done = subprocess.run(["taskset", "-c", args.cpu, Path(args.onednn).resolve(), str(2 * args.rounds)], input=text, text=True,
                          stdout=subprocess.PIPE, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return [float(line) for line in done.stdout.split()]


def print_onednn(args, steps, bodies, times):
    """Ours against oneDNN's, step by step from the worst, and in sum; `times`: nanoseconds of a run."""
    chosen = [(int(step), function, words, layer_of(bodies[function])) for step, function, words in steps]
    chosen = [c for c in chosen if c[3]]
    theirs = onednn_times(args, [layer for *_, layer in chosen])
    ours = [times[step] * 1e-3 for step, *_ in chosen]
    for mine, its, (step, function, words, layer) in sorted(zip(ours, theirs, chosen), key=lambda row: row[1] - row[0]):
        if args.least and mine >= args.least * 1e-5 * sum(times):
            print(f"  {step:>4} {mine:9.1f} us, oneDNN {its:9.1f}  {mine / its:5.2f}  {words[:60]}  {' '.join(map(str, layer))}")
    if ours:
        print(f"  {len(ours)} convolutions: {sum(ours) / 1e3:.3f} ms, oneDNN {sum(theirs) / 1e3:.3f} ms, ours / oneDNN {sum(ours) / sum(theirs):.3f}")


def shape_of(body):
    """What tells one instance from another, briefly."""
    arrays = arguments_of(body)
    keys = ("xdim", "ydim", "kernel", "stride", "dim", "tile")
    return " ".join(f"{k}={','.join(map(str, arrays[k]))}" for k in keys if k in arrays)


def predictions(network, peak):
    """Microseconds of every step, from the report."""
    report = json.loads((network.folder / "report.json").read_text())
    scale = report["core"]["mflops"] * 1e-3 / peak
    return [step["predicted_ns"] * 1e-3 * scale for step in report["steps"]]


def ratio_text(pairs):
    """How far predictions are from measurements: the geometric mean of predicted / measured, and the factor that holds two thirds."""
    logs = [math.log(predicted / measured) for predicted, measured in pairs if predicted > 0 and measured > 0]
    if not logs:
        return ""
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs))
    return f"predicted / measured {math.exp(mean):.2f}, within {math.exp(spread):.2f}"


def print_network(args, name, peak):
    whole = ["--cascade=off"] if args.onednn else [] # strips of an image are other convolutions
    options = [f"--target={args.target}", "--report=report.json", *whole, *args.options.split()]
    network = programs.Network(Path(args.models) / f"{name}.onnx", args.folder, args.occamyc, options)
    program = network.build(args.cc, args.flags, steps=programs.BUSY)
    running = programs.Running([program, programs.SETS, *network.inputs()], args.cpu)
    for _ in range(args.rounds):
        running.run(2)
    times, calls = running.steps()
    whole = sum(times) * 1e-6
    running.end()
    text = network.source.read_text()
    bodies = dict(FUNCTION.findall(text))
    by_kernel = collections.defaultdict(lambda: [0, 0.0, 0])
    predicted, pairs = predictions(network, peak), collections.defaultdict(list)
    print(f"{name}: {whole:.2f} ms in all, peak {peak:.0f} GF/s")
    for step, function, words in STEP.findall(text):
        kernel, products = multiplications(bodies[function])
        micro, products, guess = times[int(step)] * 1e-3, products * calls[int(step)], predicted[int(step)] * calls[int(step)]
        rate = 2e-3 * products / micro if micro else 0.0
        for total, value in zip(range(3), (1, micro, products)):
            by_kernel[kernel][total] += value
        pairs[kernel].append((guess, micro))
        if micro >= args.least * 1e3 * whole / 100:
            print(f"  {step:>4} {micro:9.1f} us, predicted {guess:9.1f}  {100 * micro / whole / 1e3:5.1f} % {rate:7.1f} GF/s {100 * rate / peak:5.1f} % of peak  "
                  f"{kernel:14} {words[:70]}  {shape_of(bodies[function]) if args.shapes else ''}")
    for kernel, (count, micro, products) in sorted(by_kernel.items(), key=lambda item: -item[1][1]):
        rate = 2e-3 * products / micro if micro else 0.0
        print(f"  {kernel:24} {count:4} steps {micro / 1e3:9.3f} ms {100 * micro / whole / 1e3:5.1f} % {rate:7.1f} GF/s {100 * rate / peak:5.1f} % of peak  "
              f"{ratio_text(pairs[kernel])}")
    if args.onednn:
        print_onednn(args, STEP.findall(text), bodies, times)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--peak", required=True, help="the program of peak.c")
    parser.add_argument("--onednn", default="", help="the program of onednn.c; cascades are off then")
    parser.add_argument("--networks", default="")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--least", type=float, default=0.0, help="list steps of at least this many percent of the whole")
    parser.add_argument("--options", default="", help="of occamyc")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--cpu", default="0")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--target", default="native", help="one whose code this machine runs, built with --flags")
    parser.add_argument("--flags", default="-O2 -march=native")
    args = parser.parse_args()
    args.folder, args.occamyc = Path(args.folder).resolve(), Path(args.occamyc).resolve()
    peak = float(subprocess.run([Path(args.peak).resolve()], stdout=subprocess.PIPE, text=True).stdout)
    for name in args.networks.replace(",", " ").split() or NETWORKS:
        if (Path(args.models) / f"{name}.onnx").exists():
            print_network(args, name, peak)
        else:
            print(f"{name}: SKIPPED, no such model in {args.models}")


if __name__ == "__main__":
    main()
