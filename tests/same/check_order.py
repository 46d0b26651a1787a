"""No result hangs on the order in which C evaluates arguments: check_order.py [--flags=FLAGS] SOURCE.c...

C leaves open which argument of a call, operand or member of an initialiser comes first, and compilers differ. Where two of them
call functions that change something, the nodes, expressions or texts that they add come out in another order. Clang's syntax
tree tells: a call counts as changing something when it is given a pointer to what is not const, memory to allocate from apart.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile

UNORDERED = ("CallExpr", "BinaryOperator", "InitListExpr", "CompoundAssignOperator", "ArraySubscriptExpr")
ORDERED = ("&&", "||", ",", "=")
SAMPLE = "int take(int *x);\nint add(int a, int b);\nint both(int *x);\nint both(int *x) { return add(take(x), take(x)); }\n"


def changes(kind):
    """Whether an argument of this type lets the function that takes it change something that is seen outside."""
    return "*" in kind and not kind.startswith("const ") and kind.replace(" ", "") != "Arena*" and "(*)" not in kind


def name_of(call):
    node = call["inner"][0]
    while "inner" in node:
        node = node["inner"][0]
    return node.get("referencedDecl", {}).get("name", "?")


def begin_of(node):
    """(offset, known): where the text of a node begins in the source; None in what another file holds."""
    place = node["range"]["begin"]
    place = place.get("expansionLoc", place)
    return None if "includedFrom" in place else place.get("offset")


def visit(node, found):
    """The functions called below `node` that change something; appends (offset, names) of what has no order to `found`."""
    if node.get("kind") == "GenericSelectionExpr": # only the type of what it looks at counts; it chooses a function's name
        return []
    parts = [visit(child, found) for child in node.get("inner", ())]
    called = [name for part in parts for name in part]
    if node.get("kind") in UNORDERED and node.get("opcode") not in ORDERED:
        names = [part[0] for part in parts if part]
        if len(names) > 1:
            found.append((begin_of(node), names))
    if node.get("kind") == "CallExpr" and any(changes(a["type"]["qualType"]) for a in node["inner"][1:]):
        called.insert(0, name_of(node))
    return called


def check(path, flags):
    """A line for each place of the file."""
    done = subprocess.run(["clang", "-fsyntax-only", "-Xclang", "-ast-dump=json", *flags, path], capture_output=True, text=True)
    if done.returncode:
        return [f"{path}: not compiled: {done.stderr.strip()}"]
    found = []
    visit(json.loads(done.stdout), found)
    text = open(path, "rb").read()
    return [f"{path}:{text[:offset or 0].count(10) + 1}: no order between {' and '.join(names)}: name their results first"
            for offset, names in found]


def can_find():
    """Whether a file that is wrong is found to be."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample.c")
        with open(path, "w") as file:
            file.write(SAMPLE)
        return [line.split(": ", 1)[1] for line in check(path, [])] == ["no order between take and take: name their results first"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flags", default="", help="what the C compiler is given")
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(check, arguments.sources, itertools.repeat(arguments.flags.split())))
    for line in (line for report in reports for line in report):
        print(line)
    wrong = sum(map(bool, reports))
    if not can_find():
        print("a file that is wrong was not found to be")
        wrong += 1
    print(f"{len(reports) - wrong} passed, {wrong} failed, 0 skipped")
    sys.exit(1 if wrong else 0)


main()
