"""Models of which every kernel runs on the device, none by a kernel that is slow there: check_stays.py --occamyc=PROGRAM
[--without=KERNEL] FOLDER...

A kernel that the host runs has a step function in the source file in C, one that the device runs in the source file in CUDA.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def steps(file):
    """Names of the step functions in a source file."""
    with open(file) as lines:
        return [line.split("(")[0].split()[-1] for line in lines if line.startswith("OCC_STEP ")]


def wrong_steps(occamyc, folder, room, without):
    """Names of the step functions in C, and of those of one kernel in CUDA; None where the model does not compile."""
    with open(os.path.join(folder, "meta.json")) as file:
        flags = json.load(file)["flags"]
    source = os.path.join(room, "m.c")
    done = subprocess.run([occamyc, os.path.join(folder, "model.onnx"), "-o", source, "--target=cuda", *flags],
                          capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
        return None
    return steps(source) + [name for name in steps(source + "u") if without and re.search(rf"_{without}_\d+", name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--without")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as room:
            found = wrong_steps(arguments.occamyc, folder, room, arguments.without)
        if found or found is None:
            failed += 1
            print(f"{os.path.basename(folder)}: not on the device, or slow: {', '.join(found or ['does not compile'])}")
    print(f"{len(arguments.folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
