"""Models of which every kernel runs on the device: check_stays.py --occamyc=PROGRAM FOLDER...

A kernel that the host runs has a step function in the source file in C.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile


def host_steps(occamyc, folder, room):
    """Names of the step functions in C; None where the model does not compile."""
    with open(os.path.join(folder, "meta.json")) as file:
        flags = json.load(file)["flags"]
    source = os.path.join(room, "m.c")
    done = subprocess.run([occamyc, os.path.join(folder, "model.onnx"), "-o", source, "--target=cuda", *flags],
                          capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
        return None
    with open(source) as file:
        return [line.split("(")[0].split()[-1] for line in file if line.startswith("OCC_STEP ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as room:
            found = host_steps(arguments.occamyc, folder, room)
        if found or found is None:
            failed += 1
            print(f"{os.path.basename(folder)}: on the host: {', '.join(found or ['does not compile'])}")
    print(f"{len(arguments.folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
