"""Runs case folders through occamyc, a C compiler and the host program: run_case.py --occamyc=PROGRAM FOLDER...

Compares with the stored outputs, prints what did not pass and a table by operator, and closes with 'N passed, N failed,
N skipped', where skipped means refused with a message. A case whose generated text, stored data and tools are all
unchanged since it last passed is not built again.
"""

import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

import cases
import compare
import dims
import host
import pages


PROGRESS = 60               # seconds from one line of progress to the next


@dataclass
class Result:
    name: str
    group: str
    state: str
    reason: str
    kept: bool = False          # passed earlier with the same text, data and tools


def hash_files(paths, start=b""):
    digest = hashlib.sha256(start)
    for path in paths:
        with open(path, "rb") as file:
            digest.update(os.path.basename(path).encode() + b"\0" + file.read())
    return digest.hexdigest()


def tools_key(tools):
    """Changes when the C compiler, its flags or these scripts do."""
    version = subprocess.run([*shlex.split(tools.cc), "--version"], capture_output=True).stdout
    here = os.path.dirname(os.path.abspath(__file__))
    return hash_files(sorted(glob.glob(os.path.join(here, "*.py"))), version + f"{tools.cc}{tools.cflags}{tools.literal_above}".encode())


def case_key(case, folder, key):
    generated = [p for p in sorted(glob.glob(os.path.join(folder, "*"))) if not p.endswith("command.txt")]
    stored = sorted(glob.glob(os.path.join(case.folder, "test_data_set_*", "*.pb")))
    return hash_files(generated + stored, key.encode())


def read_text(path):
    """The contents of a small file, empty when it does not exist."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def compile_case(tools, case, folder):
    """Bounds of inputs come from the stored ones; those of outputs and of contents only when occamyc asks for more."""
    flags = case.flags + dims.input_flags(cases.true_inputs(case.model), [inputs for inputs, _ in case.sets])
    try:
        host.compile_model(tools, case.path, folder, flags)
    except host.Failure as failure:
        known = [bound for word, bound in zip(flags, flags[1:]) if word == "--dim"]
        more = dims.output_flags(case.model.graph.output, [outputs for _, outputs in case.sets], known)
        contents = dims.contents_flags(cases.true_inputs(case.model), [inputs for inputs, _ in case.sets])
        tries = [bounds for bounds in (more, contents, more + contents) if bounds]
        if failure.state != "refused" or not tries:
            raise
        for n, bounds in enumerate(tries):
            try:
                host.compile_model(tools, case.path, folder, flags + bounds)
                break
            except host.Failure as second:
                if n == len(tries) - 1:
                    raise (failure if second.state == "invalid" else second)    # a bound that does not apply is no finding


def check_set(tools, case, folder, inputs, stored, rtol, atol, quantum):
    run = host.run_program(tools, folder, case.model, inputs)
    if case.check:
        reason = compare.CHECKS[case.check](inputs, run.outputs, stored)
        if reason:
            raise host.Failure("wrong", reason)
        return
    for info, want, got in zip(case.model.graph.output, stored, run.outputs):
        scaled = atol(want) if callable(atol) else atol
        reason = compare.compare_value(want, got, rtol, scaled, quantum)
        if reason:
            raise host.Failure("wrong", f"output '{info.name}': {reason}")


def run_case(tools, case_folder, work, key="", rtol=None, atol=None, quantum=0, flags=None):
    """One case; `flags` replaces the bounds taken from stored inputs; `atol` may be a function of the wanted tensor."""
    name = os.path.basename(os.path.abspath(case_folder))
    folder = os.path.join(os.path.abspath(work), name)
    group = name
    try:
        case = cases.Case(case_folder)
        group = case.group
        if flags is None:
            compile_case(tools, case, folder)
        else:
            host.compile_model(tools, case.path, folder, flags)
        mark, now = folder + ".passed", case_key(case, folder, key) if key else ""
        if key and read_text(mark) == now:
            shutil.rmtree(folder)
            return Result(name, group, "pass", "", True)
        host.build_program(tools, folder)
        for inputs, outputs in case.sets:
            check_set(tools, case, folder, inputs, outputs, case.rtol if rtol is None else rtol,
                      case.atol if atol is None else atol, quantum)
        shutil.rmtree(folder)
        if key:
            with open(mark, "w") as file:
                file.write(now)
        return Result(name, group, "pass", "")
    except host.Failure as failure:
        return Result(name, group, failure.state, failure.reason)
    except (OSError, ValueError) as error:
        return Result(name, group, "run-fail", f"{type(error).__name__}: {error}")


def run_all(tools, folders, work, jobs, verbose=False):
    """Results in the order of `folders`; failures are printed as they come."""
    os.makedirs(work, exist_ok=True)
    key, results, said = tools_key(tools), [], time.time()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(lambda f: run_case(tools, f, work, key), folders):
            results.append(result)
            if verbose or result.state not in ("pass", "refused"):
                print(f"{result.state:9} {result.name}: {result.reason}", flush=True)
            if time.time() - said > PROGRESS:
                said = time.time()
                print(f"{len(results)} of {len(folders)} cases are through", flush=True)
    return results


def table_rows(results):
    """Per group: its count of each state, largest shortfall last in reading order of the name."""
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        rows[result.group][result.state] += 1
    return sorted(rows.items())


def print_table(results, everything):
    print(f"\n{'operator':34} " + " ".join(f"{s:>8}" for s in host.STATES))
    for group, count in table_rows(results):
        if everything or count["pass"] != sum(count.values()):
            print(f"{group:34} " + " ".join(f"{count[s] or '.':>8}" for s in host.STATES))
    total = collections.Counter(r.state for r in results)
    print(f"{'all':34} " + " ".join(f"{total[s]:>8}" for s in host.STATES))


def print_refusals(results, most=25):
    """The commonest refusals, names and numbers taken out: what to build next."""
    import re
    reasons = collections.Counter(re.sub(r"'[^']*'|\d+|^\S+: ", "", r.reason) for r in results if r.state == "refused")
    for reason, count in reasons.most_common(most):
        print(f"{count:6} refused: {reason.strip()}")


def write_coverage(path, results):
    total = collections.Counter(r.state for r in results)
    text = ("Made by `make check-onnx-all` from the package onnx pinned in `tests/requirements.txt`. A case passes when the\n"
            "generated program, fed raw files, gives the stored outputs; refused means that occamyc says at compile time\n"
            "what it does not support; other means a wrong answer, a crash or generated code that does not build.\n\n"
            f"**{total['pass']} of {len(results)} pass**, {total['refused']} are refused, "
            f"{len(results) - total['pass'] - total['refused']} are other.\n\n"
            "| operator | cases | pass | refused | other |\n|---|---:|---:|---:|---:|\n")
    for group, count in table_rows(results):
        cells = sum(count.values())
        text += f"| {group} | {cells} | {count['pass']} | {count['refused']} | {cells - count['pass'] - count['refused']} |\n"
    pages.write_section(path, "Official ONNX cases", text)


def read_list(path):
    """Names, one a line; # starts a comment."""
    with open(path) as file:
        return [line for line in (raw.split("#")[0].strip() for raw in file) if line]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--cc", default="cc", help="C compiler and its target flags")
    parser.add_argument("--cflags", default=host.STRICT, help="replace the strict C99 flags")
    parser.add_argument("--literal", action="store_const", const=host.LITERAL, dest="cflags", help="kernels as calls: quick to build")
    parser.add_argument("--literal-above", type=int, default=0, metavar="BYTES", help="the same for a longer model.c")
    parser.add_argument("--runner", default="", help="emulator that the host program is run by")
    parser.add_argument("--run-limit", type=float, default=host.Toolchain.run_limit, help="seconds of one run at most")
    parser.add_argument("--device", default="", help="archive of the fake CUDA runtime: device code is emulated")
    parser.add_argument("--flag", action="append", default=[], help="one more argument for occamyc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", default="build/case_runs", help="folder of generated files; failures stay there")
    parser.add_argument("--cases", default="", help="folder of case folders, for --list")
    parser.add_argument("--list", help="file of case names; each of them must pass")
    parser.add_argument("--all", action="store_true", help="with --list: run the others too")
    parser.add_argument("--coverage", help="write the page that counts cases by operator")
    parser.add_argument("--write-list", help="write the names of the cases that pass")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("folders", nargs="*")
    return parser.parse_args()


def choose_folders(arguments, listed):
    if arguments.folders:
        return arguments.folders
    names = listed if arguments.list and not arguments.all else sorted(n for n in os.listdir(arguments.cases) if n.startswith("test_"))
    return [os.path.join(arguments.cases, n) for n in names]


def main():
    arguments = parse_arguments()
    start = time.time()
    tools = host.Toolchain(os.path.abspath(arguments.occamyc), arguments.cc, arguments.cflags, flags=arguments.flag,
                           device=os.path.abspath(arguments.device) if arguments.device else "", runner=arguments.runner, run_limit=arguments.run_limit,
                           literal_above=arguments.literal_above)
    listed = read_list(arguments.list) if arguments.list else []
    results = run_all(tools, choose_folders(arguments, listed), arguments.work, arguments.jobs, arguments.verbose)
    print_table(results, arguments.verbose)
    print_refusals(results)
    if arguments.coverage:
        write_coverage(arguments.coverage, results)
    if arguments.write_list:
        with open(arguments.write_list, "w") as file:
            file.write("".join(sorted(r.name + "\n" for r in results if r.state == "pass")))
    must = set(listed)
    failed = [r for r in results if r.state != "pass" and (r.state != "refused" or r.name in must)]
    for result in failed:
        if result.name in must:
            print(f"was supported: {result.name}: {result.state}: {result.reason}")
    passed = sum(r.state == "pass" for r in results)
    print(f"{time.time() - start:.0f} s, {sum(r.kept for r in results)} passed earlier with the same text and data")
    print(f"{passed} passed, {len(failed)} failed, {len(results) - passed - len(failed)} skipped")
    sys.exit(1 if (any(r.name in must for r in failed) or (failed and not listed)) else 0)


if __name__ == "__main__":
    main()
