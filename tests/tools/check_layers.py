"""Files of compiler/ include only what lies below them, and no two have one name; no two structs of the project have one:
check_layers.py FOLDER [MORE ...], where the structs of MORE count too.

The rooms stand on each other in the order of ROOMS. A room may include those of lower lines, and itself; rooms of one line know
nothing of each other. Files of FOLDER itself may include everything.
"""

import collections
import os
import re
import sys

ROOMS = """
support
graph
infer
program
kernels
lower
ops
ops/infer
ops/text
ops/lower
ops/quant
ops/expand ops/ml
onnx passes
plan
swap
device
emit
limits
alternatives trial
"""

LEVEL = {room: line for line, rooms in enumerate(ROOMS.split("\n")) for room in rooms.split()}


def files(folder):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def")):
                yield os.path.relpath(os.path.join(path, name), folder)


def included(folder, name):
    with open(os.path.join(folder, name)) as file:
        for line, text in enumerate(file, 1):
            found = re.match(r'#include "([^"]+)"', text)
            if found and os.path.exists(os.path.join(folder, found.group(1))):
                yield line, found.group(1)


def structs(folder):
    """Every struct, union and enum that a file defines, with the file."""
    for name in files(folder):
        with open(os.path.join(folder, name)) as file:
            for found in re.finditer(r"^(?:typedef )?(?:struct|union|enum) (\w+)\s*\{", file.read(), re.MULTILINE):
                yield found.group(1), os.path.join(folder, name)


def main(folder, *more):
    bad = []
    defined = collections.defaultdict(list)
    names = collections.defaultdict(list)
    for name in files(folder):
        room = os.path.dirname(name)
        names[os.path.basename(name)].append(name)
        if room and room not in LEVEL:
            bad.append(f"{name}: {room} is no room that check_layers.py knows")
            continue
        for line, other in included(folder, name):
            below = os.path.dirname(other)
            if room and below != room and not LEVEL.get(below, len(LEVEL)) < LEVEL[room]:
                bad.append(f"{name}:{line}: {room} includes {other}, which does not lie below it")
    bad += [f"{' and '.join(same)}: one name" for same in names.values() if len(same) > 1]
    for one in (folder, *more):
        for name, path in structs(one):
            if "/emulation/" in path:                                  # C++: its namespaces keep the names apart
                continue
            defined[name].append(path)
    bad += [f"{' and '.join(same)}: both define {name}" for name, same in defined.items() if len(same) > 1]
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
