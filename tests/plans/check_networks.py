"""The same bits of whole networks whatever the plan: check_networks.py --occamyc=PROGRAM --work=FOLDER [--real=FOLDER] MODEL.onnx...

Each network is built under several planners, orders and ways to share memory, and run on the same inputs, stored or random. Every build must
give the same bits and touch no arena byte beyond those planned. What is not there is skipped, loudly and counted.
"""

import argparse
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))

import onnx

import cases
import compare_ort
import compare_real
import host
import networks
import tensors

# Winograd's tiles begin at other rows where a plan cuts strips elsewhere: with them cascades stay off.
DIRECT, TILES = "--winograd=off", "--cascade=off"
GROUPS = (([DIRECT], [DIRECT, "--planner=first-fit", "--order=model"], [DIRECT, "--planner=bigger-first", "--io=arena"],
           [DIRECT, "--cascade=off", "--in-place=off", "--overlap=off", "--elision=off"]),
          ([TILES], [TILES, "--planner=best-fit", "--order=model", "--io=arena"]))


def models(arguments):
    """(name, path, --dim flags) of every network."""
    flags = compare_real.read_dims(os.path.join(arguments.real, "dims.txt"))
    for name in compare_real.NETWORKS:
        yield name, os.path.join(arguments.real, name, "model.onnx"), flags.get(name, [])
    yield from own_models(arguments)


def own_models(arguments):
    """The same of those named by their files."""
    for path in arguments.models:
        name = os.path.splitext(os.path.basename(path))[0]
        yield name, path, [word for bound in compare_ort.DIMS.get(name, {}).items() for word in ("--dim", "=".join(bound))]


def inputs_of(path, model, dims):
    """Sets of inputs: those stored beside the model, or random ones."""
    stored = cases.Case(os.path.dirname(path)).sets if os.path.basename(path) == "model.onnx" else []
    feeds = [] if stored else compare_ort.make_feeds(path, model, compare_ort.read_bounds(dims[1::2]))
    return [inputs for inputs, _ in stored] or [[tensors.from_numpy(a) for a in feed.values()] for feed in feeds]


def answers(tools, folder, path, model, sets, flags):
    """The outputs of one build, as bytes."""
    host.compile_model(tools, path, folder, flags)
    host.build_program(tools, folder)
    runs = [host.run_program(tools, folder, model, inputs) for inputs in sets]
    shutil.rmtree(folder)
    return [[t.raw if isinstance(t, tensors.Tensor) else t for t in run.outputs] for run in runs]


def check(tools, arguments, name, path, dims):
    model = onnx.load(path)
    sets = inputs_of(path, model, dims)
    for group in GROUPS:
        first = None
        for i, variant in enumerate(group):
            bits = answers(tools, os.path.join(arguments.work, f"{name}-{i}"), path, model, sets, [*dims, *variant])
            if first is not None and bits != first:
                raise host.Failure("wrong", f"{' '.join(variant)} gives other bits than {' '.join(group[0])}")
            first = bits


def run_all(listed, check_one, said):
    """check_one(name, path, dims) of each network in the list; ends the program with what passed."""
    passed = failed = skipped = 0
    for name, path, dims in listed:
        if not os.path.exists(path):
            print(f"{name}: SKIPPED: {path} is not there", flush=True)
            skipped += 1
            continue
        try:
            check_one(name, path, dims)
            passed += 1
            print(f"{name}: {said}", flush=True)
        except host.Failure as failure:
            failed += 1
            print(f"{name}: {failure.state}: {failure}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    networks.add_arguments(parser)
    parser.add_argument("--real", required=True, help="folder of real networks")
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    arguments = parser.parse_args()
    tools = networks.toolchain(arguments)
    run_all(models(arguments), lambda *network: check(tools, arguments, *network), "the same bits")


if __name__ == "__main__":
    main()
