"""Networks of the Occamy paper, planned for a device, beside what PyTorch's caching allocator would take: writes docs/occamy.md.

PyTorch's side is an eager run of the same network without data (eager_trace.py), whose storages go through the allocator's published rules
(caching_allocator.py). Ours is what `occamyc --target=cuda --io=device` plans. Nothing runs on a device. What is absent is skipped, loudly."""

import argparse
import json
import math
import pathlib
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import caching_allocator
import memory

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import pages  # noqa: E402

SIX = ("resnet50", "mobilenet_v2", "ssd300_vgg16_heads", "bert_base", "yolov1", "srgan_x4")
BATCHES = (1, 32)
TRACKER = "The replay, beside PyTorch's own tracker"   # a section that tracker.py writes
MIB = float(1 << 20)

HEAD = """# Memory of a device, beside PyTorch's allocator

Written by `make bench-occamy`. Nothing here ran on a device: the left side is computed from a run of PyTorch {torch} on tensors without data
(eager mode, evaluation, the storages that it makes and drops), the right side is planned by `occamyc --target=cuda --io=device`. Weights
are what each side stores of them (the exporter folds batch norms). Inputs and outputs are counted on both sides, the outputs in ours from the
start, since they are the caller's (which is why SSD300, whose outputs are large, is above *live*). The context of CUDA and the workspaces of
vendor libraries are counted on neither: PyTorch would use such workspaces, ours has none. What PyTorch took on a device, workspaces
included, is in [cuda-figures.md](cuda-figures.md).

The networks are those of the Occamy paper as they can be had here: MobileNetV2 for MobileNet, SSD300 with VGG-16, up to its heads, for
SSD-ResNet50. A batch of {most} is made of the exported batch of 1; that the outputs are those of single runs is checked with ONNX Runtime at a
batch of 2. MiB are 2^20 bytes.

## Activations, in bytes

*eager*: all storages of PyTorch's run, none freed; *live*: those that exist at a time, at most (what a perfect allocator with that order
needs). *tensors*: all of our program, after fusion, each in memory of its own; the four greedy planners, *ours* and its lower bound are of
that program and its order of steps. *proven*: no placement is smaller.

"""

TOTAL = """
## With weights, in MiB, and allocations

*allocated*: most bytes of blocks in use in the caching allocator (512-byte rounding, splitting, best fit); *reserved*: what it takes
from the device, in 2 MiB, 20 MiB and larger segments. *requests*: storages that a run asks of it, which is one for each tensor; *segments*: calls of
`cudaMalloc`. Ours takes one block, before the first run, and asks for nothing in a run. *staged*: all device memory of the same program without
`--io=device`, which copies its inputs to the device and takes over their memory once they are used, through *pinned* bytes of the host.

"""


def reshaped(node, constants, batch):
    """Sets a constant shape that begins with a batch of 1."""
    shape = constants.get(node.input[1]) if node.op_type in ("Reshape", "Expand") else None
    values = None if shape is None else numpy_helper.to_array(shape).copy()
    if values is not None and values.size and values[0] == 1:
        values[0] = batch
        shape.CopyFrom(numpy_helper.from_array(values, shape.name))


def with_batch(path, batch, to):
    """The model for another batch than 1."""
    model = onnx.load(path)
    graph = model.graph
    constants = {t.name: t for t in graph.initializer}
    constants.update({n.output[0]: a.t for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"})
    for node in graph.node:
        reshaped(node, constants, batch)
    for value in graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    for value in graph.output:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    del graph.value_info[:]
    onnx.save(model, to)
    return to


def outputs(path, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def draw(random, value):
    kind = value.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return (random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)).astype(dtype)


def check_batch(path, folder):
    """Two samples at once must give what they give one by one."""
    random, graph = numpy.random.default_rng(0), onnx.load(path).graph
    feeds = [{v.name: draw(random, v) for v in graph.input} for _ in range(2)]
    single = [outputs(path, feed) for feed in feeds]
    both = outputs(with_batch(path, 2, folder / "two.onnx"), {name: numpy.concatenate([f[name] for f in feeds]) for name in feeds[0]})
    (folder / "two.onnx").unlink()
    for k, found in enumerate(both):
        wanted = numpy.concatenate([s[k] for s in single])
        if found.shape != wanted.shape or not numpy.allclose(found, wanted, rtol=1e-3, atol=1e-3 * numpy.abs(wanted).max()):
            sys.exit(f"{path}: a batch of 2 gives other outputs than two runs")


def planned(args, path):
    """The figures of our plan: bytes."""
    report, why = memory.compile_it(args, path, "--target=cuda", "--io=device", "--gpu=h100")
    staged, _ = memory.compile_it(args, path, "--target=cuda", "--gpu=h100")
    if report is None:
        sys.exit(f"{path}: {why}")
    told, device = report["memory"], report["device"]
    region = {r["name"]: r for r in told["regions"]}
    caller, rest = told["inputs"] + told["outputs"], told["arena"] - region["device"]["peak"]
    kinds = ("activation", "scratch")
    tensors = [b["bytes"] for b in report["buffers"] if b["kind"] in kinds and b.get("region") == 0]
    less = device["constants"] + rest                     # of what the planners place: what is no activation
    return {"constants": device["constants"], "tensors": sum(tensors) + caller, "count": len(tensors),
            **{p: told["planners"][p] - less + caller for p in memory.FOUR}, "ours": told["arena"] - less + caller,
            "bound": told["lower_bound"] - less + caller, "proven": told["status"].startswith("optimal"),
            "staged": [r["peak"] for r in staged["memory"]["regions"][:2]],
            "host_steps": sum(s["kind"] == "kernel" and "form" not in s for s in report["steps"])}


def torch_version(python):
    """The version of PyTorch that a Python has; "" where it lacks that or torchvision."""
    done = subprocess.run([python, "-c", "import torch, torchvision; print(torch.__version__)"], capture_output=True, text=True)
    return done.stdout.strip()


def run_script(python, script, name, batch):
    """What a script of this folder prints of a network, which needs a Python with PyTorch."""
    done = subprocess.run([python, "-W", "ignore", f"tests/bench/{script}", "models", name, str(batch)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{script} {name} {batch}: {done.stderr}")
    return json.loads(done.stdout)


def traced(args, name, batch):
    trace = run_script(args.torch, "eager_trace.py", name, batch)
    live, eager = caching_allocator.live_peak(trace)
    allocator = caching_allocator.replay(trace)
    return {"weights": sum(trace["weights"]), "eager": eager, "live": live, "allocated": allocator.most_allocated, "reserved": allocator.reserved,
            "segments": allocator.segments, "requests": sum(len(event) == 2 and event[1] > 0 for event in trace["events"])}


def table(head, rows):
    return f"| {' | '.join(head)} |\n|" + "---|" * len(head) + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def page(args, found):
    """The text of docs/occamy.md. found: by network and batch, the figures of PyTorch and ours."""
    activations, totals, ratios = [], [], {batch: [] for batch in BATCHES}
    for (name, batch), (theirs, ours) in found.items():
        activations.append([name, str(batch), *map(memory.number, (theirs["eager"], theirs["live"], ours["tensors"], *(ours[p] for p in memory.FOUR),
                                                                   ours["ours"], ours["bound"])), "proven" if ours["proven"] else "-"])
        whole = ours["constants"] + ours["ours"]
        ratios[batch].append((whole / theirs["allocated"], whole / theirs["reserved"], ours["ours"] / theirs["live"]))
        totals.append([name, str(batch), *(f"{x / MIB:.1f}" for x in (theirs["weights"], theirs["allocated"], theirs["reserved"], whole, *ours["staged"])),
                       *(f"{x:.2f}" for x in ratios[batch][-1][:2]), str(theirs["requests"]), str(theirs["segments"]), "1"])
    text = HEAD.format(torch=torch_version(args.torch), most=BATCHES[-1])
    text += table(["network", "batch", "eager", "live", "tensors", *memory.FOUR, "ours", "bound", "placement"], activations) + TOTAL
    text += table(["network", "batch", "weights", "allocated", "reserved", "ours", "staged", "pinned", "ours / allocated", "ours / reserved", "requests", "segments",
                   "blocks of ours"], totals)
    for batch, parts in ratios.items():
        if parts:
            allocated, reserved, live = (mean([p[k] for p in parts]) for k in range(3))
            text += (f"\nBatch {batch}, geometric mean of {len(parts)}: {allocated:.2f} of what the allocator has in use, {reserved:.2f} of what it reserves; "
                     f"activations {live:.2f} of PyTorch's live bytes.\n")
    host = [f"{name} {ours['host_steps']}" for (name, batch), (_, ours) in found.items() if ours["host_steps"] and batch == 1]
    return text + (f"\nSteps that the host runs: {', '.join(host)}.\n" if host else "\nAll kernels run on the device.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--torch", default="/usr/bin/python3", help="a Python that has torch and torchvision")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for files on the way")
    parser.add_argument("--write", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=SIX)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if not torch_version(args.torch):
        print(f"SKIPPED: {args.torch} has no torch and torchvision; {args.write} stays as it is")
        return
    found = {}
    for name in args.names:
        path = args.models / f"{name}.onnx"
        if not path.exists():
            print(f"SKIPPED: {path} is absent (make {path})")
            continue
        check_batch(path, args.folder)
        for batch in BATCHES:
            model = path if batch == 1 else with_batch(path, batch, args.folder / "batch.onnx")
            found[name, batch] = traced(args, name, batch), planned(args, model)
            print(name, batch, *found[name, batch], flush=True)
        (args.folder / "batch.onnx").unlink()
    if found:
        kept = pages.section(args.write, TRACKER)
        text = page(args, found) + (f"\n## {TRACKER}\n\n{kept}" if kept else "")
        if pages.replace(args.write, text):
            print(f"{args.write}: written")


if __name__ == "__main__":
    main()
