"""Elementwise kernels that move four floats at once: check_fours.py --occamyc=PROGRAM [--nvcc=PROGRAM] FOLDER...

Each folder is a case of tests/own/four_cases.py, for which the table says how many such kernels are made. Where there is nvcc, each
of them must read and write the device's memory by instructions of 16 bytes, and none may have a stack frame.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

KERNELS = dict(even=1, odd_8209=1, odd_8210=1, odd_8211=1, rest_of_rows=2, unaligned_result=0, unaligned_operand=2, repeated=1,
               open_rows=1, open_count=1, open_window=1)


def compiled(nvcc, source, room):
    """What nvcc says of a stack frame, or of kernels without fours; None: nothing."""
    ptx = os.path.join(room, "m.ptx")
    done = [subprocess.run([nvcc, "-arch=sm_80", "-O3", "-fmad=false", "-Werror", "all-warnings", "-Xptxas", "-v", *way, source],
                           capture_output=True, text=True) for way in (["-ptx", "-o", ptx], ["-cubin", "-o", os.path.join(room, "m.cubin")])]
    if any(d.returncode for d in done):
        return "".join(d.stderr for d in done)
    with open(source) as file:
        fours = set(re.findall(r"void (\w+)_four\(", file.read()))
    with open(ptx) as file:
        made = re.findall(r"\.entry (\w+)\((.*?)\n}", file.read(), re.S)
    lacks = [name for name, text in made if any(f + "_kernel" in name for f in fours)
             and not (re.search(r"ld\.global\.v4\..32", text) and re.search(r"st\.global\.v4\..32", text))]
    frames = [f for f in re.findall(r"(\d+) bytes stack frame", done[1].stderr) if f != "0"]
    return f"no accesses of 16 bytes: {lacks}" if lacks else f"stack frames of {frames} bytes" if frames else None


def complaint(arguments, folder):
    name = os.path.basename(folder).removeprefix("test_fours_")
    with open(os.path.join(folder, "meta.json")) as file:
        flags = json.load(file)["flags"]
    with tempfile.TemporaryDirectory() as room:
        source = os.path.join(room, "m.c")
        done = subprocess.run([arguments.occamyc, os.path.join(folder, "model.onnx"), "-o", source, "--target=cuda", *flags],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        source = source.replace(".c", ".cu")
        with open(source) as file:
            found = len(re.findall(r"OCC_STEP void \w+_four\(", file.read()))
        if found != KERNELS[name]:
            return f"{found} kernels by fours, wanted {KERNELS[name]}"
        return compiled(arguments.nvcc, source, room) if found and shutil.which(arguments.nvcc) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        wrong = complaint(arguments, folder)
        if wrong:
            failed += 1
            print(f"{os.path.basename(folder)}: {wrong}")
    if not shutil.which(arguments.nvcc):
        print(f"check_fours: there is no {arguments.nvcc}: kernels are counted, none is compiled")
    print(f"{len(arguments.folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
