"""Every operator that occamyc claims has a case that runs: check_table.py --list=supported.txt --cases=FOLDER FOLDER...

Walks schemas/ops.def and compiler/ops/expand/expand.def: a row with a lowering, or one that is written as other operators by a rule, must occur
in a listed official case, in a case of our own or in one of our models. Models count with their nested graphs and functions.
Every kernel of schemas/kernels.def has one home in schemas/device.def, and docs/cuda.md says how many have which.
"""

import argparse
import glob
import os
import re
import sys

import onnx

import cases
import run_case

DOMAINS = cases.domains(".")
ROW = re.compile(r'^OP\(\s*(\w+)\s*,\s*(\w+)\s*,(.*),\s*(\w+)\s*,\s*"[^"]*"\s*\)\s*(?:/\*.*)?$', re.M)
EXPANDED = re.compile(r"^EXPAND(?:_WHEN)?\(\s*(\w+)\s*,\s*(\w+)\s*,", re.M)


def read(path):
    with open(path) as file:
        return file.read()


def claimed_operators():
    """Names as cases.model_operators() writes them. What is made of random numbers is refused with them; what only passes make
    is in no model."""
    rows = ROW.findall(read("schemas/ops.def"))
    lowered = {(domain, name) for domain, name, _, lower in rows if lower != "lower_none"}
    drawn = {(domain, name) for domain, name, more, _ in rows if "OP_RANDOM" in more}
    expanded = set(EXPANDED.findall(read("compiler/ops/expand/expand.def"))) - (drawn if not lowered & drawn else set())
    return {DOMAINS[domain] + name for domain, name in lowered | expanded if domain != "ours"}


def tried_operators(arguments):
    paths = [os.path.join(arguments.cases, name, "model.onnx") for name in run_case.read_list(arguments.list)]
    paths += [path for folder in arguments.folders for path in glob.glob(os.path.join(folder, "test_*", "model.onnx"))]
    paths += arguments.models
    found = set()
    for path in paths:
        found.update(cases.model_operators(onnx.load(path, load_external_data=False)))
    return found


def unread_types():
    """Rows of ops.def with a word of the last column that compiler/infer/infer_types.c does not know."""
    suffixes, letters = zip(*re.findall(r"^DTYPE\(.*,\s*(\w+)\s*,\s*(\w)\s*\)", read("schemas/dtypes.def"), re.M))
    classes = f"[{''.join(sorted(set(letters)))}]+"
    one = f"(?:{classes}|{'|'.join(suffixes)})"
    word = re.compile(rf"\.|\??(?:\*|{classes}-{classes}|{one}(?:\|{one})*)(?:\[\d+(?:\.\.\d*)?\])?!?(?:=\d+)?\+?")
    rows = re.findall(r'^OP\(\s*(\w+)\s*,\s*(\w+)\s*,.*"([^"]*)"\s*\)', read("schemas/ops.def"), re.M)
    return [f"{domain}.{name}: '{one}'" for domain, name, types in rows for one in types.split() if not word.fullmatch(one)]


KERNEL = re.compile(r"^KERNEL\(\s*(\w+)\s*,", re.M)
HOME = re.compile(r"^HOME\(\s*(\w+)\s*,\s*(\w+)\s*,", re.M)


PAGE = "docs/cuda.md"


def homes_of_kernels():
    """(kernel, form) of each row of kernels.def, and what is wrong: a kernel without a home or with several, a home of no kernel."""
    kernels, homes = KERNEL.findall(read("schemas/kernels.def")), HOME.findall(read("schemas/device.def"))
    names = [name for name, _ in homes]
    wrong = [f"schemas/device.def has {names.count(name)} rows for the kernel {name}; HOME({name}, HOST, 0) lets it run on the host"
             for name in kernels if names.count(name) != 1]
    return homes, wrong + [f"schemas/device.def: {name} is no kernel of schemas/kernels.def" for name in sorted(set(names) - set(kernels))]


def miscounted(homes):
    """The sentence that the page lacks: how many kernels have which home."""
    count = {form: sum(1 for _, other in homes if other == form) for form in ("TWIN", "UNITS", "ONE", "HOST")}
    wanted = (f"{count['TWIN']} of {len(homes)} kernels are twins, {count['UNITS']} run by units, {count['ONE']} on one thread, "
              f"{count['HOST']} on the host")
    return [] if wanted in " ".join(read(PAGE).split()) else [f"{PAGE} does not say: {wanted}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", required=True, help="file of official case names that must pass")
    parser.add_argument("--cases", required=True, help="folder of the official cases")
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("folders", nargs="*", help="folders of cases of our own")
    arguments = parser.parse_args()
    claimed, tried = claimed_operators(), tried_operators(arguments)
    homes, wrong = homes_of_kernels()
    wrong += miscounted(homes)
    for name in sorted(claimed - tried):
        print(f"no case: {name}")
    wrong += [f"not a word for types in schemas/ops.def: {row}" for row in unread_types()]
    for line in wrong:
        print(line)
    failed = len(claimed - tried) + len(wrong)
    print(f"{len(claimed & tried)} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed or not claimed else 0)


if __name__ == "__main__":
    main()
