"""Measures what a second thread gains: each step of whole networks by our programs for one and for two threads, by turns on the
same processors, and a loop in registers, which tells what the machine gives in the same minutes.

The least time of a step counts over all turns, summed over the steps: other programs take a processor now and then, which
medians of whole runs show and what we generate cannot change. Results are kept in FOLDER/results.json as bench.py's are.
"""

import subprocess
from pathlib import Path

import bench
import kernels
import programs

THREADS = 2
SECONDS, TURNS = 40.0, (100, 1000)  # for each network, about; turns, at least and at most
PACE_TURNS = 500  # of about three milliseconds
HERE = Path(__file__).resolve().parent


def build_pace(args):
    program = args.folder / "pace"
    templates = HERE.parents[1] / "codegen_templates" / "c" / "base"
    programs.run_quietly([*args.cc.split(), *args.flags.split(), f"-I{templates}", "-o", program, HERE / "pace.c", "-lm", "-pthread"], args.folder)
    return program


def pace(program, cpus, turns=PACE_TURNS):
    """Nanoseconds of a chunk on one thread and of two on two."""
    done = subprocess.run(["taskset", "-c", cpus, program, str(turns)], stdout=subprocess.PIPE, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def start(args, model, options):
    network = programs.Network(model, args.folder, args.occamyc, options)
    program = network.build(args.cc, args.flags, steps=programs.WALL)
    return network, programs.Running([program, programs.SETS, *network.inputs()], args.cpus)


def least_steps(args, model):
    """For one thread and for two: the network, and by step its least nanoseconds in a run."""
    options = args.options.split()
    pairs = [start(args, model, [*options, *threads]) for threads in ([], [f"--threads={THREADS}"])]
    for _, running in pairs:
        running.run(1)
    each = sum(running.times[0] for _, running in pairs) * 2e-3
    for _ in range(min(max(int(args.seconds / each), TURNS[0]), TURNS[1])):
        for _, running in pairs:
            running.run(1)
    result = [(network, running.steps()[0]) for network, running in pairs]
    for _, running in pairs:
        running.end()
    return result


def describe(network):
    """Step -> its kernel and what it computes."""
    return {int(step): words for step, _, words in kernels.STEP.findall(network.source.read_text())}


def print_steps(steps, least):
    """Those that lose as many microseconds as `least` to an even share, most first; only where both programs have the same steps."""
    (network, one), (_, two) = steps
    words = describe(network)
    if words != describe(steps[1][0]):
        print("  the programs differ: see --options=--cascade=off")
        return
    rows = sorted(((b - a / THREADS) * 1e-3, i) for i, (a, b) in enumerate(zip(one, two)) if a)
    for lost, i in reversed(rows):
        if lost >= least:
            print(f"  {i:>4} {one[i] * 1e-3:9.1f} us, two threads {two[i] * 1e-3:9.1f}  {one[i] / max(two[i], 1):.2f}  {words.get(i, '')[:90]}")


def measure(args, name, program):
    steps = least_steps(args, Path(args.models) / f"{name}.onnx")
    result = {"one": sum(steps[0][1]) * 1e-6, "two": sum(steps[1][1]) * 1e-6, "pace": pace(program, args.cpus)}
    print(f"{name:20} {result['one']:.2f} ms, two threads {result['two']:.2f}  {result['one'] / result['two']:.2f}  "
          f"in registers {THREADS * result['pace'][0] / result['pace'][1]:.2f}", flush=True)
    if args.lost:
        print_steps(steps, args.lost)
    return result


def main():
    parser = bench.arguments()
    parser.description = __doc__
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each network, about")
    parser.add_argument("--options", default="", help="of occamyc, for both programs")
    parser.add_argument("--lost", type=float, default=0.0, help="list steps that lose as many microseconds to an even share at least")
    parser.set_defaults(threads=THREADS)
    args = bench.parse(parser)
    program = build_pace(args)
    bench.renew(args, "speedup", lambda name: measure(args, name, program))


if __name__ == "__main__":
    main()
