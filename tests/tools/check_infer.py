"""Compares the types that occamyc infers with the stored outputs of case folders: check_infer.py --occamyc=PROGRAM FOLDER...

A static extent must equal the stored one, element types must be equal. An extent known only while running must have the
stored one within its bound, and where its expression reads nothing but inputs it must come out as exactly that. Bounds of
inputs come from the stored inputs, those of outputs only when occamyc asks for more. With --free every extent of every
input is made a run-time integer first and nothing is declared of outputs. Exit status 1 when a type differs.
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import re
import subprocess
import tempfile

import onnx

import cases
import dims

EXTENT = re.compile(r"(?:(e\d+)<=)?(\d+)$")
LEAF = re.compile(r"(extent|element) (-?\d+) of (.*)$")
OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b > 0 else 0, "ceildiv": lambda a, b: -(-a // b) if b else 0, "min": min, "max": max,
    "==": lambda a, b: int(a == b), "<": lambda a, b: int(a < b), "broadcast": lambda a, b: b if a == 1 else a,
}


def dtype_name(code):
    return onnx.TensorProto.DataType.Name(code).lower()


def symbol_value(text, inputs):
    """Extent or element of a stored input; None: something that only a run finds out."""
    match = LEAF.match(text)
    value = inputs.get(match[3]) if match else None
    if value is None or isinstance(value, list):
        return None
    index = int(match[2])
    if match[1] == "extent":
        return value.shape[index] if index >= 0 else None
    return int(value.array().reshape(-1)[index])


def choice_value(text, known):
    """`if eC eA or else eB`; None: not one of these."""
    match = re.match(r"if (e\d+) (e\d+) or else (e\d+)$", text)
    if not match or known.get(match[1]) is None:
        return None
    return known.get(match[2] if known[match[1]] else match[3])


def run_time_integers(dump, inputs):
    """e0, e1, ... of a dump by name, as far as the stored inputs decide them; each must lie in its interval."""
    known = {}
    for name, text, lo, hi in re.findall(r"^  (e\d+) = (.*?)(?: in \[(-?\d+),(-?\d+)\])?$", dump, re.M):
        match = re.match(r"(e\d+) (\S+) (e\d+)$", text)
        if not lo:
            known[name] = int(text)
        elif match:
            a, b = known.get(match[1]), known.get(match[3])
            known[name] = None if a is None or b is None else OPERATORS[match[2]](a, b)
            if known[name] is not None and not -2**63 <= known[name] < 2**63:
                known[name] = None      # of a comparison that was decided at compile time
        else:
            known[name] = choice_value(text, known) if text.startswith("if ") else symbol_value(text, inputs)
        if lo and known[name] is not None and not int(lo) <= known[name] <= int(hi):
            raise ValueError(f"{name} = {text} is {known[name]}, outside [{lo},{hi}]")
    return known


def extent_fits(known, text, extent):
    match = EXTENT.match(text)
    if not match or not match[1]:
        return bool(match) and extent == int(match[2])
    return extent <= int(match[2]) and known.get(match[1]) in (None, extent)


def tensor_fits(known, text, value):
    match = re.match(r"(\w+)\[(.*)\]", text)
    if not match or match[1] != dtype_name(value.dtype):
        return False
    if match[2] == "...":
        return True
    extents = [e for e in match[2].split(",") if e]
    return len(extents) == len(value.shape) and all(extent_fits(known, e, x) for e, x in zip(extents, value.shape))


def fits(known, text, value):
    """Whether a value may be of the type that `text` spells."""
    match = re.match(r"(optional|sequence)\((\S+) of (.*)\)", text)
    if match and match[1] == "optional":
        return value is None or fits(known, match[3], value)
    if isinstance(value, list):
        return bool(match) and extent_fits(known, match[2], len(value)) and all(fits(known, match[3], v) for v in value)
    return value is not None and not match and tensor_fits(known, text, value)


def set_free(case, folder):
    """Every extent of an input gets a name of its own (not of lists of integers, which are shapes and axes); those of
    outputs and other values are declared no more."""
    for i, info in enumerate(cases.true_inputs(case.model)):
        kind = info.type.tensor_type
        if not info.type.HasField("tensor_type") or (kind.elem_type in (6, 7) and len(kind.shape.dim) < 2):
            continue
        for a, dim in enumerate(kind.shape.dim):
            dim.dim_param = f"free_{i}_{a}"
    for info in [*case.model.graph.output, *case.model.graph.value_info]:
        for dim in info.type.tensor_type.shape.dim if info.type.HasField("tensor_type") else []:
            dim.Clear()
    case.path = os.path.join(folder, case.name + ".onnx")
    with open(case.path, "wb") as file:
        file.write(case.model.SerializeToString())


def wider(flags):
    """Bounds of inputs from 1 (0 where the stored extent is 0) to twice what is stored."""
    extents = [f.rsplit("=", 1) for f in flags[1::2] if f.startswith("free_")]
    others = [f for f in flags[1::2] if not f.startswith("free_")]
    bounds = [f"{name}={min(1, int(n))}..{2 * int(n) + 1}" for name, n in ((n, x.split("..")[-1]) for n, x in extents)]
    return [part for flag in bounds + others for part in ("--dim", flag)]


def dump_graph(occamyc, path, flags):
    return subprocess.run([occamyc, path, *flags, "--dump=graph"], capture_output=True, text=True, errors="replace", timeout=300)


def inferred(occamyc, case, free):
    """The completed process; bounds of outputs are given when it refuses without."""
    flags = dims.input_flags(cases.true_inputs(case.model), [inputs for inputs, _ in case.sets])
    flags = wider(flags) if free else flags
    run = dump_graph(occamyc, case.path, flags)
    more = dims.output_flags(case.model.graph.output, [outputs for _, outputs in case.sets], flags[1::2])
    return dump_graph(occamyc, case.path, flags + more) if run.returncode == 3 and more else run


def compare_types(case, dump):
    types = re.findall(r"^  out (?:.*): (\S.*)$", dump, re.M)
    names = [i.name for i in cases.true_inputs(case.model)]
    for inputs, outputs in case.sets:
        try:
            known = run_time_integers(dump, dict(zip(names, inputs)))
        except ValueError as error:
            return "differs", str(error)
        for text, value in zip(types, outputs):
            if not fits(known, text, value):
                found = "nothing" if value is None else len(value) if isinstance(value, list) else value.shape
                return "differs", f"inferred {text}, stored {found}"
    return "bounded" if any("<=" in t for t in types) else "same", ""


def check_case(occamyc, free, folder):
    """Name, state (same, bounded, refused, differs, failed) and reason."""
    case = cases.Case(folder)
    with tempfile.TemporaryDirectory() as scratch:
        if free:
            set_free(case, scratch)
        run = inferred(occamyc, case, free)
    if run.returncode:
        return case.name, "refused" if run.returncode == 3 else "failed", run.stderr.strip().split(".onnx: ")[-1]
    return case.name, *compare_types(case, run.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--free", action="store_true")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    folders = [f for f in arguments.folders if os.path.isdir(f)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(functools.partial(check_case, arguments.occamyc, arguments.free), folders))
    count = collections.Counter(state for _, state, _ in results)
    for name, state, reason in results:
        if state not in ("same", "bounded"):
            print(f"{state}: {name}: {reason}")
    print(f"types of {len(results)} cases: {count['same']} the same, {count['bounded']} within bounds, {count['refused']} refused, "
          f"{count['failed']} found invalid, {count['differs']} different")
    print(f"{count['same'] + count['bounded']} passed, {count['differs']} failed, {count['refused'] + count['failed']} skipped")
    return 1 if count["differs"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
