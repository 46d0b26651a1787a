"""The same bits under every budget: check_budgets.py --occamyc=PROGRAM --work=FOLDER [--count=8] [--most=BYTES] [--real=FOLDER] MODEL.onnx...

Each network is built with its weights in the program, then with weights that are loaded while it runs, in budgets from the least that works to
one in which all weights stay, and runs on the same inputs, stored or random, twice each: what a second run does with weights that stay is
other than in the first. One byte less than the least is refused (exit 4). No budget takes more RAM than it has, the largest reads
nothing, and every report is what its schema says. With --most no least is above so many bytes, with --loads the largest budget in which
something is read begins at most so many loads a run.
"""

import argparse
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("tools", "plans", "emit")]

import onnx

import check_networks
import check_report
import host
import networks

DIRECT = "--winograd=off" # its kernels are chosen by the budget, and give other bits
SCHEMA = os.path.join(HERE, "..", "..", "schemas", "report.schema.json")
REFUSED = re.compile(r"--max-ram: found (\d+) bytes")
SUMMARY = re.compile(r"^RAM +(\d+) bytes")


def compile_only(tools, path, flags):
    """(exit status, what was printed)."""
    return host.run_command([tools.occamyc, path, *flags, *tools.flags], tools.compile_limit)


def ram_of(tools, path, flags):
    """Bytes of RAM that a plan takes, or that a refused one would take."""
    status, text = compile_only(tools, path, flags)
    found = next((m for line in text.splitlines() for m in [REFUSED.search(line) if status == 4 else SUMMARY.match(line)] if m), None)
    if status not in (0, 4) or not found:
        raise host.Failure("crash", f"{' '.join(flags)}: exit {status}: {host.last_line(text)}")
    return int(found[1])


def report_of(tools, path, flags, file):
    """The report of a plan, after it was held against its schema and its loads against what can be."""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    status, text = compile_only(tools, path, [*flags, f"--report={file}"])
    if status:
        raise host.Failure("crash", f"{' '.join(flags)}: exit {status}: {host.last_line(text)}")
    with open(file) as report, open(SCHEMA) as schema:
        report, schema = json.load(report), json.load(schema)
    for complaint in [*check_report.complaints(report, schema, schema), *check_report.loads(report)]:
        raise host.Failure("wrong", f"{' '.join(flags)}: the report: {complaint}")
    return report


def budgets(tools, path, flags, count, limit):
    """From the least that works to one in which everything stays, each the same part larger than the one before."""
    least, most = ram_of(tools, path, [*flags, "--max-ram=1"]), ram_of(tools, path, [*flags, "--max-ram=1000000000000"])
    if compile_only(tools, path, [*flags, f"--max-ram={least - 1}"])[0] != 4:
        raise host.Failure("wrong", f"{least} bytes are not the least")
    if limit and least > limit:
        raise host.Failure("wrong", f"the least budget is {least} bytes, wanted at most {limit}")
    steps = max(count - 1, 1)
    return sorted({round(least * (most / least) ** (i / steps)) for i in range(count)} | {least})


def check(tools, arguments, name, path, dims):
    model, before = onnx.load(path), None
    sets = check_networks.inputs_of(path, model, dims)
    sets = [inputs for inputs in sets for _ in range(2)]
    fixed = [*dims, DIRECT]
    wanted = check_networks.answers(tools, os.path.join(arguments.work, name), path, model, sets, fixed)
    swap, loads = [*fixed, "--weights=swap"], 0
    for budget in budgets(tools, path, swap, arguments.count, arguments.most):
        flags = [*swap, f"--max-ram={budget}"]
        if ram_of(tools, path, flags) > budget:
            raise host.Failure("wrong", f"{' '.join(flags)}: the plan takes more")
        swapped = report_of(tools, path, flags, os.path.join(arguments.work, name, "report.json"))["memory"].get("swap")
        read = swapped["read"] + swapped["row_bytes"] if swapped else 0
        loads = swapped["loads"] if read else loads
        if check_networks.answers(tools, os.path.join(arguments.work, name), path, model, sets, flags) != wanted:
            raise host.Failure("wrong", f"{' '.join(flags)} gives other bits than weights in the program")
    if arguments.loads and loads > arguments.loads:
        raise host.Failure("wrong", f"a run begins {loads} loads in the last budget but one")
    if read:
        raise host.Failure("wrong", f"in {budget} bytes all weights have room, and a run reads {read}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    networks.add_arguments(parser)
    parser.add_argument("--real", help="folder of real networks")
    parser.add_argument("--count", type=int, default=8, help="budgets for each network")
    parser.add_argument("--most", type=int, help="bytes that the least budget may be, at most")
    parser.add_argument("--loads", type=int, help="loads of a run, at most, in the last budget in which any is needed")
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    arguments = parser.parse_args()
    tools = networks.toolchain(arguments)
    listed = check_networks.models(arguments) if arguments.real else check_networks.own_models(arguments)
    check_networks.run_all(listed, lambda *network: check(tools, arguments, *network), "the same bits in every budget")


if __name__ == "__main__":
    main()
