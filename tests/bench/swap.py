"""Weights that are loaded while they are needed, against weights in memory: swap.py --occamyc=P --folder=F MODEL.onnx...

First what needs no measuring (swap_memory.py). Then of each network and budget, by turns in one run: all weights in memory with the same kernels (`resident`), loaded by the
plan (`swapped`), each block read when it is needed (`demand`), a mapping of the file held to the same memory by a control
group (`mapped`), and the loads of a run alone (`raw`). Medians and spread; a page is written. --row=MODEL.onnx:TARGET:PERCENT
measures one more, for another instruction set. --memory writes the page without times.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "swap"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))

import check_memory  # noqa: E402
import pages  # noqa: E402
import swap_memory  # noqa: E402

MORE = 3 << 20                                                             # bytes of a process beside the printed total
MARCH = {"x86-64-v2": ["-march=x86-64-v2"], "x86-64-v3": ["-march=x86-64-v3"], "portable": []}
DRIFT = 0.2                                                                # of raw reads, from the first round to the last
HEAD = """# Weights from a disk: memory and times

Written by `make bench-swap`; `make bench-swap-memory` writes it without times. Networks have seeded random weights. MB are 10^6 bytes.

"""
TIMES = """
## Times, measured

On {machine}, one thread, direct kernels for {target} unless a row says otherwise.

- memory: what occamyc printed, everything counted, and its part of what the network takes with all weights in memory;
- rho: computing with all weights in memory, over reading all of them at the rate of the raw reads;
- resident: all weights in memory, the same kernels; swapped: by the plan; on demand: each block is read when it is waited for;
- mmap: a mapping of the file, in a control group that is held to the printed total and 3 MiB;
- bound: without which no schedule gets along, in so much memory, with the times of steps and loads that this very program measured
  (`-DOCC_PROFILE`, `--profile`); foretold: the time that occamyc predicts of a plan made with them, over the time that the run took;
- raw: the loads of a run and nothing else, in the same minutes.

Times are medians of {rounds} turns in ms, after +- half of the span between the quartiles.

| network | memory MB | rho | a run reads MB | resident | swapped | / resident | / bound | foretold | on demand | mmap | raw GB/s |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
UNMEASURED = """
## Times, measured

None yet: rows are only written by a machine that does nothing else, since those whose raw reads drift are refused. `make bench-swap` measures
them; it wants two idle processors.
"""
THEIRS = """
Others, as they report it (other machines, other loaders; nothing of theirs was run here): FlexNN (MobiCom 2024) runs ResNet-152 in 6.2 % of
its memory at +3.64 % of its time and VGG-19 in 7 %, on a phone whose rho is above 1; its planner's least memory for pieces of 4 MB, run by us, is
30.2 MB for ResNet-152 and 39.0 MB for VGG-19. SwapNet (2024) takes +6.2 % on average at 1/2.3 to 1/5.8 of the memory, Demand
Layering (RTSS 2022) +14.8 % at -96.5 %. Where rho is below 1, no loader can reach such figures: the column "/ bound" is what to compare.
"""


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def write_inputs(path, folder):
    """Raw files of seeded values for the inputs that are no initializers; integers are 0 or 1, which are tokens, masks and segments alike."""
    model = onnx.load(path, load_external_data=False)
    weights, names, random = {t.name for t in model.graph.initializer}, [], np.random.default_rng(1)
    pinned = dict(option.split("=") for option in swap_memory.DIMS.get(swap_memory.name_of(path), [])[1::2])
    for port in model.graph.input:
        if port.name not in weights:
            shape = [int(pinned.get(d.dim_param, d.dim_value)) for d in port.type.tensor_type.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
            values = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
            values.astype(dtype).tofile(os.path.join(folder, f"in_{len(names)}.raw"))
            names.append(f"in_{len(names)}.raw")
    return names


def compile_model(arguments, path, folder, budget, target, flags):
    """What occamyc said; where the budget is too small it is asked again for the least that it found."""
    command = [os.path.abspath(arguments.occamyc), os.path.abspath(path), "-o", "model.c", "--name=model", "--main=main.c",
               f"--target={target}", *swap_memory.DIMS.get(swap_memory.name_of(path), []), *flags]
    limit = [f"--max-ram={budget}"] if budget else []
    done = subprocess.run(command + limit, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 4:
        return done.stdout if not done.returncode else sys.exit(f"{shlex.join(command + limit)}: {done.stdout[-3000:]}")
    least = re.search(r"--max-ram: found (\d+) bytes", done.stdout)[1]
    print(f"{os.path.basename(path)}: {budget} bytes are too few, {least} are taken", flush=True)
    return run([*command, f"--max-ram={least}"], folder)


def build(arguments, path, folder, budget, target, flags):
    """The driver in `folder`; what occamyc said. budget: bytes, or 0."""
    os.makedirs(folder, exist_ok=True)
    said = compile_model(arguments, path, folder, budget, target, flags)
    compiler = [*shlex.split(arguments.cc), "-O2", *MARCH.get(target, ["-march=native"])]
    run([*compiler, "-o", "driver", "-I.", "-DBENCH_HOST=\"main.c\"", os.path.join(HERE, "swap_driver.c"), "model.c",
         "-lm", "-pthread"], folder)
    return said


class Driver:
    """One mode of a model, running."""

    def __init__(self, folder, mode, inputs, group=None):
        def enter():
            if group:
                check_memory.write(os.path.join(group, "cgroup.procs"), str(os.getpid()))
        command = [os.path.join(folder, "driver"), mode, os.path.join(folder, "model.c.weights"),
                   *(os.path.join(os.path.dirname(folder), name) for name in inputs)]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=enter)
        self.lines, self.fits = [], self.child.stdout.readline() == "ready\n"
        if not self.fits and not group:
            sys.exit(f"{shlex.join(command)}: it does not run")

    def run(self):
        """One more run; the system ends a mapping that does not fit in its control group, perhaps after some."""
        try:
            self.child.stdin.write("run 1\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            self.fits = False
        line = self.child.stdout.readline().split()
        if line:
            self.lines.append([int(word) for word in line])
        self.fits = self.fits and bool(line)

    def end(self):
        try:
            self.child.stdin.close()
        except BrokenPipeError:
            pass
        self.child.wait()

    def time(self):
        """(median, half of the span between the quartiles) in ms."""
        times = sorted(line[0] * 1e-6 for line in self.lines)
        return statistics.median(times), (times[len(times) * 3 // 4] - times[len(times) // 4]) / 2


def profiled(arguments, folder, target):
    """The host program in `folder` that measures steps and loads."""
    compiler = [*shlex.split(arguments.cc), "-O2", "-DOCC_PROFILE", *MARCH.get(target, ["-march=native"])]
    run([*compiler, "-o", "profiled", "main.c", "model.c", "-lm", "-pthread"], folder)


def foretell(arguments, path, folder, total, target, inputs):
    """(predicted, bound) in ms of the plan for `total` bytes, by times of steps and loads that its program measures now."""
    run(["./profiled", *(os.path.join("..", name) for name in inputs), "--weights", "model.c.weights", "-o", "out", "--repeat", "9",
         "--profile", "times.txt"], folder)
    said = swap_memory.ask(argparse.Namespace(occamyc=arguments.occamyc, target=target), path,
                           ["--weights=swap", *arguments.flag, f"--max-ram={total}", f"--profile={os.path.join(folder, 'times.txt')}"])
    return tuple(float(re.search(rf"{word} ([\d.]+)", said)[1]) for word in ("predicted", "below"))


def total_of(said):
    return int(re.search(r"^RAM +(\d+)", said, re.M)[1])


def measure(arguments, name, path, folder, total, target, resident, whole, weights, inputs):
    """One row of the page; folder, resident: of the builds whose weights are loaded and all in memory."""
    group = check_memory.make_group(f"occ_bench_swap_{os.getpid()}")
    if group:
        check_memory.write(os.path.join(group[0], group[1]), str(total + MORE))
    drivers = {"resident": Driver(resident, "resident", inputs), "swapped": Driver(folder, "swapped", inputs),
               "demand": Driver(folder, "demand", inputs), "raw": Driver(folder, "raw", inputs)}
    if group: # pages that others brought in would be theirs
        check_memory.forget(os.path.join(resident, "model.c.weights"))
        drivers["mapped"] = Driver(resident, "mapped", inputs, group[0])
    for turn in range(arguments.rounds):
        for mode, driver in drivers.items():
            if driver.fits and (mode != "mapped" or turn % 3 == 0):         # which takes long
                driver.run()
    for driver in drivers.values():
        driver.end()
    if group:
        time.sleep(0.2)
        os.rmdir(group[0])
    return row(name, total, whole, weights, drivers, *foretell(arguments, path, folder, total, target, inputs))


def row(name, total, whole, weights, drivers, predicted, bound):
    took = {mode: driver.time() for mode, driver in drivers.items() if driver.lines}
    read = drivers["swapped"].lines[-1][3]
    rate = read / took["raw"][0] * 1e-6 if read else 0.0                    # GB/s
    raw = [line[0] for line in drivers["raw"].lines]
    third = max(len(raw) // 3, 1)
    drift = statistics.median(raw[-third:]) / statistics.median(raw[:third]) - 1
    rho = took["resident"][0] / (weights / rate * 1e-6) if rate else float("inf")
    spread = {mode: f"{t:.2f} +- {s:.2f}" for mode, (t, s) in took.items()}
    refused = f"REFUSED, raw reads drifted by {drift:+.0%}: " if abs(drift) > DRIFT else ""
    return (f"{refused}| {name} | {total / 1e6:.2f} ({100 * total / whole:.0f} %) | {rho:.2f} | {read / 1e6:.1f} | {spread['resident']} | "
            f"{spread['swapped']} | {took['swapped'][0] / took['resident'][0]:.2f} | {took['swapped'][0] / bound:.2f} | "
            f"{predicted / took['swapped'][0]:.2f} | "
            f"{spread['demand']} | {spread.get('mapped', 'does not fit' if 'mapped' in drivers else 'no control group')} | {rate:.2f} |\n")


def machine():
    with open("/proc/cpuinfo") as file:
        name = re.search(r"model name\s*: (.*)", file.read())
    return f"{os.cpu_count()} processors ({name[1] if name else 'unknown'})"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    swap_memory.add_arguments(parser)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", default="6 25", help="the budgets that are measured, in percent")
    parser.add_argument("--row", action="append", default=[], help="one more that is measured: MODEL.onnx:TARGET:PERCENT, repeated")
    parser.add_argument("--memory", action="store_true", help="no times")
    parser.add_argument("--memory-of", action="append", default=[], help="a network of which no times are measured, repeated")
    parser.add_argument("--flag", action="append", default=[], help="an option of occamyc, repeated")
    parser.add_argument("--resident-flag", action="append", default=[], help="the same, of the build with all weights in memory")
    parser.add_argument("--document")
    return parser.parse_args()


def rows_of(arguments, path, target, shares):
    """The rows of one network; all its programs are built first, two at a time."""
    name = swap_memory.name_of(path) + ("" if target == arguments.target else f", {target}")
    top = os.path.abspath(os.path.join(arguments.folder, f"{swap_memory.name_of(path)}_{target}"))
    resident = os.path.join(top, "resident")
    os.makedirs(top, exist_ok=True)
    inputs, whole = write_inputs(path, top), swap_memory.in_memory(argparse.Namespace(occamyc=arguments.occamyc, target=target), path)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        memory = pool.submit(build, arguments, path, resident, 0, target, ["--weights=file", *arguments.resident_flag])
        builds = [(os.path.join(top, f"swap{share:g}"), pool.submit(build, arguments, path, os.path.join(top, f"swap{share:g}"),
                                                                    int(whole * share / 100), target, ["--weights=swap", *arguments.flag]))
                  for share in shares]
        memory.result()
        builds = [(folder, said.result()) for folder, said in builds]
        list(pool.map(lambda built: profiled(arguments, built[0], target), builds))
    weights = os.path.getsize(os.path.join(resident, "model.c.weights"))
    for folder, said in builds:
        yield measure(arguments, name, path, folder, total_of(said), target, resident, whole, weights, inputs)


def main():
    arguments = read_arguments()
    models = [path for path in arguments.models if os.path.exists(path)]
    for path in sorted(set(arguments.models) - set(models)):
        print(f"SKIPPED: {path} is not there")
    page = HEAD + swap_memory.page(arguments, [*models, *(path for path in arguments.memory_of if os.path.exists(path))])
    page += UNMEASURED if arguments.memory else TIMES.format(machine=machine(), rounds=arguments.rounds, target=arguments.target)
    wanted = [(path, arguments.target, list(map(float, arguments.times.split()))) for path in models]
    wanted += [(path, target, [float(share)]) for path, target, share in (row.split(":") for row in arguments.row) if os.path.exists(path)]
    for path, target, shares in [] if arguments.memory else wanted:
        for line in rows_of(arguments, path, target, shares):
            print(line, end="", flush=True)
            page += "" if line.startswith("REFUSED") else line
    if arguments.document:
        pages.replace(arguments.document, page + THEIRS, ["Times, measured"] if arguments.memory else [])
    print(f"{len(models)} networks, {len(arguments.models) - len(models)} skipped")


if __name__ == "__main__":
    main()
