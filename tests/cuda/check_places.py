"""Networks whose nodes run on the host or on the device at random: check_places.py --occamyc=PROGRAM --device=ARCHIVE --work=FOLDER MODEL.onnx...

Each placement (--place=FILE) is built for the emulation and run under several orders of what is enqueued. Its outputs must agree with
those that are stored beside the model, or with ONNX Runtime's on random inputs, and have the same bits in each order. A name that the
model does not have is refused. Models that are not there are skipped, loudly and counted.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import onnx  # noqa: E402

import cases  # noqa: E402
import compare_ort  # noqa: E402
import compare_real  # noqa: E402
import host  # noqa: E402
import networks  # noqa: E402
import tensors  # noqa: E402


class Network:
    """A network with sets of inputs and wanted outputs: those stored beside it, or random inputs and ONNX Runtime's answers."""

    def __init__(self, path):
        folder, file = os.path.split(os.path.abspath(path))
        self.path, self.name = path, os.path.basename(folder) if file == "model.onnx" else os.path.splitext(file)[0]
        self.model = onnx.load(path)
        self.sets = cases.read_sets(self.model, folder)
        if self.sets:
            self.flags = compare_real.read_dims(os.path.join(folder, "..", "dims.txt")).get(self.name, [])
            return
        bounds = [f"{extent}={bound}" for extent, bound in compare_ort.DIMS.get(self.name, {}).items()]
        self.flags = [word for bound in bounds for word in ("--dim", bound)]
        feeds = compare_ort.make_feeds(path, self.model, compare_ort.read_bounds(bounds))
        self.sets = [([tensors.from_numpy(a) for a in feed.values()], [tensors.from_python(a) for a in outputs])
                     for feed, outputs in zip(feeds, compare_ort.answers(path, feeds))]

    def nodes(self):
        """Names of results, which every node has."""
        return [name for node in self.model.graph.node for name in node.output if name]


def draw_places(network, seed, path):
    """Writes a file for --place."""
    draw = random.Random(f"{network.name}_{seed}")
    share = draw.choice([0.1, 0.3, 0.5, 0.8])
    with open(path, "w") as out:
        out.writelines(f"{name}\n" for name in network.nodes() if draw.random() < share)


def run_orders(tools, folder, network, orders):
    """Every set of inputs under every order: outputs as they should be, the same bits."""
    for inputs, wanted in network.sets:
        first = None
        for seed in range(1, orders + 1):
            steered = dataclasses.replace(tools, runner=f"env OCC_FAKE_SEED={seed}")
            found = host.run_program(steered, folder, network.model, inputs).outputs
            if first is None:
                first = found
                networks.check_outputs(networks.Row(network.name), network.model, wanted, found)
            elif [networks.flat_tensors(value) for value in found] != [networks.flat_tensors(value) for value in first]:
                raise host.Failure("wrong", f"order {seed} gives other bits than order 1")


def try_placement(arguments, network, seed):
    """What is wrong with a placement; None: nothing. What failed stays in its folder."""
    folder = os.path.join(os.path.abspath(arguments.work), f"{network.name}_{seed}")
    places = folder + ".txt"
    tools = host.Toolchain(os.path.abspath(arguments.occamyc), device=os.path.abspath(arguments.device), run_limit=1200,
                           flags=["--target=cuda", f"--place={places}", *arguments.flag])
    draw_places(network, seed, places)
    try:
        host.compile_model(tools, os.path.abspath(network.path), folder, network.flags)
        host.build_program(tools, folder)
        run_orders(tools, folder, network, arguments.orders)
    except host.Failure as failure:
        return f"{network.path} with {places}: {failure.state}: {failure.reason}"
    shutil.rmtree(folder)
    return None


def refuses(arguments, path):
    file = os.path.join(arguments.work, "unknown.txt")
    with open(file, "w") as out:
        out.write("no such node\n")
    done = subprocess.run([arguments.occamyc, path, "--target=cuda", f"--place={file}"], capture_output=True, text=True)
    right = done.returncode == 2 and "line 1: found 'no such node', wanted the name of a node" in done.stderr
    return [] if right else [f"{path}: a name that it does not have: exit {done.returncode}: {done.stderr}"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--device", required=True, help="archive of the fake CUDA runtime")
    parser.add_argument("--work", required=True)
    parser.add_argument("--seeds", type=int, default=3, help="placements of each network")
    parser.add_argument("--orders", type=int, default=3, help="orders of what is enqueued, for each placement")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--flag", action="append", default=[], help="an option of occamyc, repeated")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    os.makedirs(arguments.work, exist_ok=True)
    there = [path for path in arguments.models if os.path.exists(path)]
    for path in sorted(set(arguments.models) - set(there)):
        print(f"SKIPPED: {path} is not there")
    wrong = refuses(arguments, there[0])
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path in there:
            start, network = time.time(), Network(path)
            tried = pool.map(lambda seed: try_placement(arguments, network, seed), range(arguments.seeds))
            found = [complaint for complaint in tried if complaint]
            print(*found, f"{network.name:36} {arguments.seeds - len(found)} of {arguments.seeds} placements, {arguments.orders} orders each, "
                  f"{time.time() - start:.0f} s", sep="\n", flush=True)
            wrong += found
    print(f"{len(there)} networks")
    print(f"{1 + arguments.seeds * len(there) - len(wrong)} passed, {len(wrong)} failed, "
          f"{len(arguments.models) - len(there)} skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
