"""Code and data bytes for a Cortex-M4 at -Os: size.py --occamyc=PROGRAM --cc='arm-none-eabi-gcc ...' --document=F.md MODEL...

For each model: machine code, constants beside the weights (quantisation tables, lengths), the weights as the model stores them
and as they are packed, arena, state, worst-case stack. The sizes are those of the object that the cross compiler makes, told
by its own `size`; occamyc's word is taken for weights, arena and stack. Says where packing adds more than the 3 % that are wanted.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import pages  # noqa: E402

MOST_PACKING = 0.03
HEAD = """# Code size on a Cortex-M4

Made by `make bench-size`. C compiler: `{cc}` ({version}).

All in bytes. Code: machine code of the generated file; constants: read-only data of the object beside the weights; packing: what
the layout of the kernels adds to the weights that the model stores: elements that vectors may read past the last channel,
channels of integer weights padded to a multiple of four, and the bytes of quantised weights that are computed with as floats;
at most 3 % is wanted. Not counted: the functions of the C library that the last column names.

| model | code | constants | weights in the model | packed | packing | arena | state | stack | C library |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---|
"""


def graph_bytes(graph):
    """Bytes of all constants; text and nested graphs have none that count here."""
    arrays = [numpy_helper.to_array(t) for t in graph.initializer]
    arrays += [numpy_helper.to_array(a.t) for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"]
    return sum(a.nbytes for a in arrays if a.dtype.kind in "fiu" and np.size(a))


def section_sizes(arguments, folder):
    """(text, read-only data, writable data) of the object that the cross compiler makes."""
    compiler = shlex.split(arguments.cc)
    subprocess.run([*compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "model.c", "-o", "model.o"], cwd=folder, check=True)
    size = re.sub(r"(gcc|clang)(-\d+)?$", "size", compiler[0])
    text = subprocess.run([size, "-A", "-d", "model.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    found = {name: int(count) for name, count in re.findall(r"^(\.\S+)\s+(\d+)", text, re.M)}
    total = lambda start: sum(n for name, n in found.items() if name.startswith(start))      # noqa: E731
    return total(".text"), total(".rodata") + total(".data.rel.ro"), total(".data") - total(".data.rel.ro") + total(".bss")


def measure(arguments, path):
    name = os.path.basename(path)[:-5] if os.path.basename(path) != "model.onnx" else os.path.basename(os.path.dirname(path))
    folder = os.path.join(arguments.folder, name)
    os.makedirs(folder, exist_ok=True)
    report = os.path.join(folder, "report.json")
    subprocess.run([arguments.occamyc, path, "-o", os.path.join(folder, "model.c"), "--name=model", "--quiet", "--weights=inline",
                    f"--target={arguments.target}", f"--cc={arguments.cc}", f"--report={report}"], check=True)
    with open(report) as file:
        said = json.load(file)
    text, constants, data = section_sizes(arguments, folder)
    memory, stored = said["memory"], graph_bytes(onnx.load(path).graph)
    if data:
        sys.exit(f"{name}: {data} bytes of writable data")
    return dict(name=name, text=text, constants=constants - memory["weights"], stored=stored, packed=memory["weights"],
                packing=memory["weights"] / stored - 1, arena=memory["arena"], state=memory["state"],
                stack=said["code"]["stack"], libc=", ".join(said["code"]["libc"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--cc", required=True, help="the target's compiler and its flags")
    parser.add_argument("--target", default="cortex-m")
    parser.add_argument("--folder", default="build/bench/size")
    parser.add_argument("--document", help="the page that is written")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    version = subprocess.run([shlex.split(arguments.cc)[0], "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    page, failed = HEAD.format(cc=arguments.cc, version=version), 0
    for path in arguments.models:
        if not os.path.exists(path):
            print(f"SKIPPED: {path} is not there")
            continue
        row = measure(arguments, path)
        failed += row["packing"] > MOST_PACKING
        page += (f"| {row['name']} | {row['text']} | {row['constants']} | {row['stored']} | {row['packed']} | "
                 f"{100 * row['packing']:+.1f} % | {row['arena']} | {row['state']} | {row['stack']} | {row['libc']} |\n")
    print(page)
    if arguments.document:
        pages.replace(arguments.document, page)
    print(f"packing adds more than {100 * MOST_PACKING:.0f} % to {failed} models")


if __name__ == "__main__":
    main()
