"""Compares the types that occamyc infers with the stored outputs of case folders: check_infer.py --occamyc=PROGRAM FOLDER...

A static extent must equal the stored one, a bounded one must not be below it, element types must be equal. Bounds of
inputs come from the stored inputs, those of outputs only when occamyc asks for more. Exit status 1 when a type differs.
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import re
import subprocess

import onnx

import cases
import dims

EXTENT = re.compile(r"(e\d+<=)?(\d+)$")


def dtype_name(code):
    return onnx.TensorProto.DataType.Name(code).lower()


def extent_fits(text, extent):
    match = EXTENT.match(text)
    return bool(match) and (extent <= int(match[2]) if match[1] else extent == int(match[2]))


def tensor_fits(text, value):
    match = re.match(r"(\w+)\[(.*)\]", text)
    if not match or match[1] != dtype_name(value.dtype):
        return False
    if match[2] == "...":
        return True
    extents = [e for e in match[2].split(",") if e]
    return len(extents) == len(value.shape) and all(map(extent_fits, extents, value.shape))


def fits(text, value):
    """Whether a value may be of the type that `text` spells."""
    match = re.match(r"(optional|sequence)\((\S+) of (.*)\)", text)
    if match and match[1] == "optional":
        return value is None or fits(match[3], value)
    if isinstance(value, list):
        return bool(match) and extent_fits(match[2], len(value)) and all(fits(match[3], v) for v in value)
    return value is not None and not match and tensor_fits(text, value)


def dump_graph(occamyc, path, flags):
    return subprocess.run([occamyc, path, *flags, "--dump=graph"], capture_output=True, text=True, errors="replace", timeout=300)


def inferred(occamyc, case):
    """The completed process; bounds of outputs are given when it refuses without."""
    flags = dims.input_flags(cases.true_inputs(case.model), [inputs for inputs, _ in case.sets])
    run = dump_graph(occamyc, case.path, flags)
    more = dims.output_flags(case.model.graph.output, [outputs for _, outputs in case.sets], flags[1::2])
    return dump_graph(occamyc, case.path, flags + more) if run.returncode == 3 and more else run


def check_case(occamyc, folder):
    """Name, state (same, bounded, refused, differs, failed) and reason."""
    case = cases.Case(folder)
    run = inferred(occamyc, case)
    if run.returncode:
        return case.name, "refused" if run.returncode == 3 else "failed", run.stderr.strip().split("model.onnx: ")[-1]
    types = re.findall(r"^  out (?:.*): (\S.*)$", run.stdout, re.M)
    for _, outputs in case.sets:
        for text, value in zip(types, outputs):
            if not fits(text, value):
                found = "nothing" if value is None else len(value) if isinstance(value, list) else value.shape
                return case.name, "differs", f"inferred {text}, stored {found}"
    return case.name, "bounded" if any("<=" in t for t in types) else "same", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    folders = [f for f in arguments.folders if os.path.isdir(f)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(functools.partial(check_case, arguments.occamyc), folders))
    count = collections.Counter(state for _, state, _ in results)
    for name, state, reason in results:
        if state not in ("same", "bounded"):
            print(f"{state}: {name}: {reason}")
    print(f"types of {len(results)} cases: {count['same']} the same, {count['bounded']} within bounds, {count['refused']} refused, "
          f"{count['failed']} failed, {count['differs']} different")
    return 1 if count["differs"] or count["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
