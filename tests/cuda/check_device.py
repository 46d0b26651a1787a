"""Programs for CUDA on a device: check_device.py --occamyc=PROGRAM --nvcc=NVCC --emulation=ARCHIVE --work=FOLDER CASE...

Each case is built twice from one text: by nvcc for the device, and for the emulation. On a device both run, on the stored inputs:
the device's outputs are held against the stored ones, within the case's tolerance, and against the emulation's, bit by bit. Device code
that calls functions of CUDA's mathematical library which may round otherwise than the processor's is exempt from the second, and
counted. With --sanitize each of the tools of compute-sanitizer that it names watches a run, too. All that takes place --jobs at a time.
Then ceilings.cu measures the device, and every case is timed alone, with its graph and step by step: WORK/device.md and WORK/profile.txt.
Of networks both tell, and the program prints, which share of the time of their steps each kernel takes, by events of the stream.

Where there is no device, all of it is compiled, and every run that did not take place is counted as skipped; where there is no nvcc, all
is. With --stand-in the emulation takes the device's place, under other orders of threads and of what is enqueued: a test of this program.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases      # noqa: E402
import compare    # noqa: E402
import host       # noqa: E402
import networks   # noqa: E402
import run_case   # noqa: E402

INCLUDES = ["-Icodegen_templates/cuda", *host.KERNELS]
# What CUDA's library does not promise to round as a processor's does.
OTHERWISE = re.compile(r"\b((?:a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p)?|pow|erfc?|[lt]gamma|cbrt|sincos)f?)\(")
TIME = re.compile(r"^run min (\S+) median (\S+) ms$", re.M)
STEP = re.compile(r"^step (\d+) (\d+) (\S+)", re.M)  # of a host program's profile: nanoseconds of a call, steps, kernel
HOOKS = " -DOCC_PROFILE"
NO_DEVICE = 77
SANITIZER = "compute-sanitizer"
FOUND = 99        # its exit code where it found something
TENSOR_CORES = {"--tf32", "--fp16"}
ROUNDED = 2.0 ** -9  # what --verify allows more with one of these, of a value and of the largest


@dataclass
class Found:
    """What became of a case. exempt: functions in it that may round otherwise; times: milliseconds of a run; kernels: (nanoseconds of a run,
    steps) of each, the slowest first; case, device: what runs it."""

    name: str
    case: cases.Case = None
    device: host.Toolchain = None
    built: bool = False
    ran: bool = False
    exempt: str = ""
    wrong: list = field(default_factory=list)
    times: dict = field(default_factory=dict)
    kernels: dict = field(default_factory=dict)


# ------------------------------------------------------------------------------------------------------------------- bits

def other_bits(want, got):
    """A sentence on the first difference of two values of a model, or None. All NaN are one."""
    if want is None or got is None:
        return None if want is got else "one is absent"
    if isinstance(want, list):
        if len(want) != len(got):
            return f"{len(got)} members, {len(want)} wanted"
        return next((text for text in map(other_bits, want, got) if text), None)
    if isinstance(want, dict):
        if list(want) != list(got):
            return "other keys"
        return other_bits(list(want.values()), list(got.values()))
    if (want.dtype, tuple(want.shape)) != (got.dtype, tuple(got.shape)):
        return "another type or shape"
    if want.raw == got.raw:
        return None
    a, b = np.atleast_1d(want.array()).ravel(), np.atleast_1d(got.array()).ravel()
    wide = [compare.widen(x) for x in (a, b)]
    kept = ~(np.isnan(wide[0]) & np.isnan(wide[1])) if wide[0].dtype.kind in "fc" else np.ones(a.shape, bool)
    other = kept & ((wide[0] != wide[1]) | (np.signbit(wide[0]) != np.signbit(wide[1]) if wide[0].dtype.kind == "f" else False))
    if not other.any():
        return None
    at = int(np.flatnonzero(other)[0])
    return f"{int(other.sum())} of {a.size} have other bits; first at {at}: {b[at]!r}, emulated {a[at]!r}"


def rounds_otherwise(text):
    """The functions which may round otherwise that a source text calls, with commas."""
    return ", ".join(sorted(set(OTHERWISE.findall(re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)))))


# ------------------------------------------------------------------------------------------------------------------ cases

def tools_for(options, target, *flags):
    tools = host.Toolchain(os.path.abspath(options.occamyc), flags=["--target=cuda", *options.flag, *flags], device=os.path.abspath(options.emulation))
    if target == "device" and options.stand_in:
        tools.runner = options.runner
    elif target == "device":
        tools.nvcc = f"{options.nvcc} -arch={options.arch}"
    return tools


def build(options, case, folder, target, *flags, hooks=""):
    """A program; hooks: more flags of the C compiler."""
    tools = tools_for(options, target, *flags)
    tools.cflags += hooks
    run_case.compile_case(tools, case, folder)
    host.build_program(tools, folder)
    return tools


def compare_runs(options, case, folder, device, found):
    """Both programs on each set of stored inputs."""
    emulation = build(options, case, os.path.join(folder, "emulated"), "emulated")
    for inputs, stored in case.sets:
        got = host.run_program(device, os.path.join(folder, "device"), case.model, inputs).outputs
        same = host.run_program(emulation, os.path.join(folder, "emulated"), case.model, inputs).outputs
        for info, want, bits, value in zip(case.model.graph.output, stored, same, got):
            rtol, atol = case.rtol, case.atol
            if is_network(found.name):                                   # as check-real holds it
                atol = max([atol, *(compare.scaled_tolerance(t) for t in networks.flat_tensors(want))])
            if TENSOR_CORES & set(options.flag):
                rtol, atol = ROUNDED + rtol, ROUNDED * float(np.abs(want.array()).max()) + atol
            texts = [case.check and compare.CHECKS[case.check](inputs, got, stored) or
                     not case.check and compare.compare_value(want, value, rtol, atol),
                     not found.exempt and not case.check and other_bits(bits, value)]
            found.wrong += [f"output '{info.name}': {text}" for text in texts if text]


def sanitize(options, case, folder, device, found):
    """A run on the first set under each tool that was asked for."""
    for tool in options.sanitize:
        watched = dataclasses.replace(device, runner=f"{SANITIZER} --tool={tool} --error-exitcode={FOUND}")
        try:
            host.run_program(watched, os.path.join(folder, "device"), case.model, case.sets[0][0])
        except host.Failure as failure:
            found.wrong.append(f"{tool}: {failure}")


def time_case(options, found):
    """Milliseconds of a run on the first set, with the graph and without."""
    for label, room in (("graph", "device"), ("steps", "steps")):
        try:
            run = host.run_program(found.device, os.path.join(case_folder(options, found.name), room), found.case.model,
                                   found.case.sets[0][0], ["--repeat", str(options.repeat)])
        except host.Failure as failure:
            found.wrong.append(f"{label}, timed: {failure.state}: {failure}")
            continue
        match = TIME.search(run.text)
        if match:
            found.times[label] = float(match[1])
        else:
            found.wrong.append(f"no times of {label} are told")


def is_network(name):
    return not name.startswith("test_")


def kernel_times(text):
    """{kernel: (nanoseconds of a run, steps)} of a profile, the slowest first."""
    found = {}
    for nanoseconds, steps, kernel in STEP.findall(text):
        before = found.get(kernel, (0, 0))
        found[kernel] = (before[0] + int(nanoseconds) * int(steps), before[1] + int(steps))
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def profile_case(options, found):
    """Which share of the time of a network's steps each kernel takes."""
    folder = os.path.join(case_folder(options, found.name), "steps")
    profile = os.path.join(folder, "steps.txt")
    try:
        host.run_program(found.device, folder, found.case.model, found.case.sets[0][0], ["--repeat", str(options.repeat), "--profile", profile])
    except host.Failure as failure:
        found.wrong.append(f"profile: {failure.state}: {failure}")
        return
    found.kernels = kernel_times(run_case.read_text(profile))
    if not found.kernels:
        found.wrong.append("no times of kernels are told")


def shares(found):
    """(kernel, share of the time of all steps, nanoseconds, steps) of a network's kernels."""
    whole = sum(nanoseconds for nanoseconds, _ in found.kernels.values())
    for kernel, (nanoseconds, steps) in found.kernels.items():
        yield kernel, nanoseconds / max(whole, 1), nanoseconds, steps


def case_folder(options, name):
    return os.path.join(os.path.abspath(options.work), "cases", name)


def check_case(options, path):
    """Builds the programs of a case; where there is a device, runs and compares them."""
    found = Found(os.path.basename(os.path.abspath(path)))
    folder = case_folder(options, found.name)
    try:
        found.case = case = cases.Case(path)
        found.device = build(options, case, os.path.join(folder, "device"), "device")
        found.exempt = "tensor cores" if TENSOR_CORES & set(options.flag) else rounds_otherwise(
            run_case.read_text(os.path.join(folder, "device", "model.cu")))
        if options.runs or is_network(found.name):
            build(options, case, os.path.join(folder, "steps"), "device", "--graph=off", hooks=HOOKS if is_network(found.name) else "")
        if options.runs:
            compare_runs(options, case, folder, found.device, found)
            sanitize(options, case, folder, found.device, found)
        found.built = True
    except host.Failure as failure:
        found.wrong.append(f"{failure.state}: {failure}")
    return found


def finish_case(options, found):
    """Times a case that was built, and takes away what is right."""
    if options.runs and found.built:
        time_case(options, found)
        if is_network(found.name):
            profile_case(options, found)
        found.ran = True
    if not found.wrong:
        shutil.rmtree(case_folder(options, found.name))


# --------------------------------------------------------------------------------------------------------------- ceilings

def ceilings(options):
    """The lines of ceilings.cu by name; None: there is no device. A failure ends the program."""
    program = os.path.join(os.path.abspath(options.work), "ceilings")
    if options.stand_in:
        command = ["g++", *host.EMULATED, *INCLUDES, "-x", "c++", "tests/cuda/ceilings.cu", "-x", "none",
                   options.emulation, "-lpthread", "-o", program]
    else:
        command = [options.nvcc, "-O3", "-std=c++17", "-fmad=false", f"-arch={options.arch}", "-Werror", "all-warnings", *INCLUDES, "-o", program,
                   "tests/cuda/ceilings.cu"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ceilings.cu does not compile:\n{done.stdout}{done.stderr}\n0 passed, 1 failed")
    done = subprocess.run([program, *(["65536", "2"] if options.stand_in else [])], capture_output=True, text=True)
    if done.returncode == NO_DEVICE:
        return None
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\n0 passed, 1 failed")
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


# ------------------------------------------------------------------------------------------------------------------- page

def write_results(options, limits, results):
    """device.md for people, profile.txt for programs."""
    where = "THE EMULATION, whose times mean nothing" if options.stand_in else limits["device"]
    ran = [r for r in results if r.ran]
    same = [r for r in ran if not r.exempt and not r.wrong]
    lines = ["# A device", "", f"Written by `make check-device` on {where}. Times are the least of {options.repeat} runs, inputs and outputs copied.", "",
             "| ceiling | |", "|---|---|", *(f"| {name} | {value} |" for name, value in limits.items()), "",
             f"{len(ran)} programs ran; {sum(not r.wrong for r in ran)} gave the stored outputs. {len(same)} have the emulation's bits; "
             f"{sum(bool(r.exempt) for r in ran)} call functions that may round otherwise and were not held against them.", "",
             "| program | ms with its graph | ms step by step | functions that may round otherwise |", "|---|---|---|---|",
             *(f"| {r.name} | {r.times.get('graph', '-')} | {r.times.get('steps', '-')} | {r.exempt or '-'} |" for r in ran), "",
             "Of networks, the share of each kernel in the time of all steps: medians between the events of the stream before and behind a step.", "",
             "| program | kernel | share | us | steps |", "|---|---|---|---|---|",
             *(f"| {r.name} | {kernel} | {share:.1%} | {ns / 1e3:.1f} | {steps} |" for r in ran for kernel, share, ns, steps in shares(r))]
    with open(os.path.join(options.work, "device.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(options.work, "profile.txt"), "w") as file:
        file.writelines(f"ceiling {name} {value}\n" for name, value in limits.items())
        file.writelines(f"run {r.name} {label} {1e6 * ms:.0f}\n" for r in ran for label, ms in r.times.items())
        file.writelines(f"kernel {r.name} {kernel} {ns} {steps}\n" for r in ran for kernel, _, ns, steps in shares(r))


# ------------------------------------------------------------------------------------------------------------------- main

def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="", help="of nvcc; the device's own, where there is one, else sm_80")
    parser.add_argument("--emulation", required=True, help="archive of the fake CUDA runtime")
    parser.add_argument("--work", required=True, help="folder of what is made")
    parser.add_argument("--repeat", type=int, default=50, help="runs of each case that are timed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases built and compared at the same time")
    parser.add_argument("--sanitize", action="append", default=[], help="a tool of compute-sanitizer: memcheck, racecheck, synccheck or initcheck")
    parser.add_argument("--stand-in", action="store_true", help="the emulation takes the device's place")
    parser.add_argument("--runner", default="env OCC_FAKE_SEED=20250101", help="with --stand-in: what stands in front of the program")
    parser.add_argument("--flag", action="append", default=[], help="one more argument for occamyc")
    parser.add_argument("--list", help="file of names of cases, of --cases")
    parser.add_argument("--cases", default="", help="folder of cases, for --list")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    if options.list:
        options.folders += [os.path.join(options.cases, name) for name in run_case.read_list(options.list)]
    return options


def main():
    options = parse_options()
    os.makedirs(options.work, exist_ok=True)
    options.nvcc = options.stand_in or shutil.which(options.nvcc)
    if not options.nvcc:
        print(f"check-device: SKIPPED, there is no nvcc; make deps-cuda installs it\n0 passed, 0 failed, {2 * len(options.folders) + 1} skipped")
        return 0
    asked, options.arch = options.arch, options.arch or "sm_80"
    limits = ceilings(options)
    options.runs = limits is not None
    if options.runs and not asked:
        options.arch = "native"
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda path: check_case(options, path), options.folders))
    for found in results:
        finish_case(options, found)
        for text in found.wrong:
            print(f"{found.name}: {text}", flush=True)
    if options.runs:
        for found in results:
            if found.kernels:
                print(f"{found.name}:", ", ".join(f"{kernel} {share:.1%}" for kernel, share, _, _ in shares(found)))
        write_results(options, limits, results)
        print(f"{options.work}/device.md and profile.txt: written")
    else:
        print(f"check-device: SKIPPED {len(results)} runs and the ceilings: there is no device. Everything was compiled for {options.arch} only.")
    failed = sum(bool(r.wrong) for r in results)
    skipped = 0 if options.runs else len(results) + 1
    print(f"{sum(r.built for r in results)} programs built, {sum(r.ran for r in results)} run, {sum(bool(r.exempt) for r in results)} exempt from bits")
    print(f"{len(results) - failed + (limits is not None)} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
