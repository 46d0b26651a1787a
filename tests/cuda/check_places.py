"""Networks whose nodes run on the host or on the device at random: check_places.py --occamyc=PROGRAM --work=FOLDER [--seeds=3] MODEL.onnx...

Each placement (--place=FILE) is built for the emulation, runs on the stored sets beside the model, or on random inputs, and must agree with
ONNX Runtime, or with what is stored, as --verify sees it. A name that the model does not have is refused.
"""

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys

import onnx


def names_of(path):
    """Names of results, which every node has."""
    return [name for node in onnx.load(path, load_external_data=False).graph.node for name in node.output if name]


def verify(arguments, path, seed):
    """What is wrong with a placement; None: nothing."""
    folder = os.path.dirname(path)
    name = f"{os.path.basename(folder)}_{os.path.basename(path)}_{seed}"
    draw, file = random.Random(name), os.path.join(arguments.work, name + ".txt")
    share = draw.choice([0.1, 0.3, 0.5, 0.8])
    with open(file, "w") as out:
        out.writelines(f"{name}\n" for name in names_of(path) if draw.random() < share)
    stored = f"--verify={folder}" if os.path.isdir(os.path.join(folder, "test_data_set_0")) else "--verify"
    done = subprocess.run([arguments.occamyc, path, "--target=cuda", f"--place={file}", stored, *arguments.flag], capture_output=True, text=True)
    return None if done.returncode == 0 else f"{path} with {file}: exit {done.returncode}\n{(done.stdout + done.stderr)[-1500:]}"


def refuses(arguments, path):
    file = os.path.join(arguments.work, "unknown.txt")
    with open(file, "w") as out:
        out.write("no such node\n")
    done = subprocess.run([arguments.occamyc, path, "--target=cuda", f"--place={file}"], capture_output=True, text=True)
    right = done.returncode == 2 and "line 1: found 'no such node', wanted the name of a node" in done.stderr
    return None if right else f"{path}: a name that it does not have: exit {done.returncode}: {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--seeds", type=int, default=3, help="placements of each network")
    parser.add_argument("--flag", action="append", default=[], help="an option of occamyc, repeated")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda one: verify(arguments, *one), [(path, seed) for path in arguments.models for seed in range(arguments.seeds)]))
    found.append(refuses(arguments, arguments.models[0]))
    wrong = [complaint for complaint in found if complaint]
    print("\n".join(wrong + [f"{len(found) - len(wrong)} passed, {len(wrong)} failed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
