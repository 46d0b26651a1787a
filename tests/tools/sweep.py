"""Compiles cases under many sets of options and looks at the exit status alone: sweep.py --occamyc=PROGRAM FOLDER...

Whatever the options, a compilation ends with status 0, with 3 (not supported, and a message says why), with 4 under --max-ram, or
as it does without them: never with 70, by a signal, or not at all. Of all sets each case sees a few, chosen by its name; --all: every
one; --pairs=N: also two sets together, N times, which may be refused as options that exclude each other (1).
"""

import argparse
import collections
import concurrent.futures
import functools
import glob
import hashlib
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile

import cases
import dims

DONE, USAGE, REFUSED, EXCEEDED, BUG, HANG = 0, 1, 3, 4, 70, "hang"
LIMIT = 120                                             # seconds of one compilation; the exact search has a limit of its own
TWO = ["--region=fast:256", "--region=slow:64M"]
CARD = ["--load-rate=1M:1us:16"]                         # small blocks: a tiny model has some
THREE = ["--region=tiny:64", "--region=fast:1K:32", "--region=slow:64M"]

SETS = [
    ["--io=arena"], ["--in-place=off"], ["--overlap=off"], ["--elision=off"], ["--cascade=on"], ["--cascade=off", "--winograd=off"],
    ["--winograd=on", "--winograd-error=1"], ["--threads=4"], ["--queues=2"], ["--code=shared"], ["--order=model"], TWO, THREE,
    ["--io=arena", *TWO], ["--io=arena", "--order=model", *THREE], ["--weights=object"], ["--weights=file"], ["--weights=inline"],
    ["--main={out}_main.c", "--report={out}.json", "--map={out}.svg", "--explain-peak"], ["--map={out}.html", "--dump=program"],
    ["--io=arena", "--threads=3", "--code=shared", "--order=model"],
    ["--io=arena", "--cascade=on", "--winograd=on", "--in-place=off"],
    ["--io=arena", "--in-place=off", "--overlap=off", "--elision=off", "--order=model", "--weights=object"],
    ["--io=arena", "--cascade=on", "--threads=4", "--weights=file"],
    ["--io=arena", "--queues=3", "--main={out}_main.c", "--report={out}.json", *TWO],
    ["--weights=swap", *CARD, "--main={out}_main.c", "--report={out}.json", "--map={out}.svg", "--explain-peak"],
    ["--weights=swap", *CARD, "--io=arena", *TWO], ["--weights=swap", *CARD, "--threads=4", "--cascade=on"],
    ["--weights=swap", "--code=shared", "--io=arena"], ["--weights=swap", "--max-ram=400K"], ["--max-ram=4M"],
]

TOO_LONG = {"--region", "--weights"}                    # regions of 60 blocks and more that are loaded: minutes for each budget
AT_ODDS = [("--queues=", "--threads="), ("--queues=", "--weights=swap"), ("--region=", "--region=")]


def names_of(occamyc, option):
    """What an option with a fixed list of words takes, from the message about another word."""
    done = subprocess.run([occamyc, "none.onnx", f"{option}=?"], capture_output=True, text=True)
    found = re.search(r"wanted (?:one of )?(.*)", done.stderr)
    return re.findall(r"[\w-]+", found[1].replace(" or ", " ")) if found else []


def option_sets(occamyc):
    targets, planners = (names_of(occamyc, option) for option in ("--target", "--planner"))
    if not targets or not planners:
        sys.exit("sweep.py: the messages about --target and --planner name no words")
    searches = [["--planner=exact", "--time-limit=5"] if p == "exact" else [f"--planner={p}"] for p in planners]
    return SETS + [[f"--target={t}"] for t in targets] + [[*s, *more] for s in searches for more in ((), ("--io=arena",))]


def chosen(sets, name, count):
    """`count` neighbours of the list, all of it seen in turn from case to case."""
    start = int(hashlib.sha256(name.encode()).hexdigest(), 16)
    return [sets[(start + i * (len(sets) // count)) % len(sets)] for i in range(min(count, len(sets)))]


def pairs_of(sets):
    """Every two sets together that do not name the same option, nor those that take too long."""
    named = [{o.split("=")[0] for o in options} for options in sets]
    return [[*sets[i], *sets[j]] for i, j in itertools.combinations(range(len(sets)), 2)
            if named[i].isdisjoint(named[j]) and not TOO_LONG <= named[i] | named[j]]


def run(arguments, flags, out=None):
    """(exit status, or HANG; the message)."""
    extension = ".txt" if "--target=null" in flags else ".c"
    command = [arguments.occamyc, *flags, "--quiet", *(["-o", out + extension] if out else [])]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return HANG, f"no end after {LIMIT} s"
    return done.returncode, done.stderr.decode(errors="replace").strip()


def plain_run(arguments, case):
    """Flags and exit status without options: bounds of outputs and contents where it is refused without, as in run_case."""
    inputs = cases.true_inputs(case.model)
    given, wanted = ([pair[side] for pair in case.sets] for side in (0, 1))
    flags = [case.path, *case.flags, *dims.input_flags(inputs, given)]
    status, message = run(arguments, flags)
    if status != REFUSED:
        return flags, status, message
    more = dims.output_flags(case.model.graph.output, wanted, [b for w, b in zip(flags, flags[1:]) if w == "--dim"])
    contents = dims.contents_flags(inputs, given)
    for bounds in (more, contents, more + contents):
        again, words = run(arguments, flags + bounds) if bounds else (REFUSED, "")
        if again not in (REFUSED, 2):
            return flags + bounds, again, words
    return flags, status, message


def are_at_odds(flags, options):
    """Options that refuse those of the case itself."""
    return any(any(w.startswith(a) for w in flags) and any(w.startswith(b) for w in options) for pair in AT_ODDS for a, b in (pair, pair[::-1]))


def is_bug(status, plain, options=(), message=""):
    """`options`: the case's own ones and those of the set, of which two may exclude each other; `plain`: the status without the set."""
    if status in (BUG, HANG) or status < 0:
        return True
    exceeded = status == EXCEEDED and any(o.startswith("--max-ram=") for o in options)
    excluded = status == USAGE and len(options) > 1 and re.search(r"--.*\bwanted\b", message)
    return status not in (DONE, REFUSED, plain) and not exceeded and not excluded


def sweep_case(arguments, sets, pairs, folder):
    """(how often each status came, lines about what must not be)."""
    case = cases.Case(folder)
    flags, plain, message = plain_run(arguments, case)
    counts, found = collections.Counter({plain: 1}), []
    tried = [[]]
    if plain == DONE:
        tried += (sets if arguments.all else chosen(sets, case.name, arguments.count)) + chosen(pairs, case.name, arguments.pairs)
    tried = [options for options in tried if not are_at_odds(flags, options)]
    with tempfile.TemporaryDirectory() as work:
        for options in tried:
            options = [o.replace("{out}", os.path.join(work, "m")) for o in options]
            status, words = run(arguments, flags + options, os.path.join(work, "m")) if options else (plain, message)
            counts[status] += bool(options)
            if is_bug(status, plain, case.flags + options, words):
                found.append(f"{case.name}: status {status} of {shlex.join(flags + options)}: {words}")
    return counts, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="every set of options for every case")
    parser.add_argument("--count", type=int, default=2, help="sets of options for each case (default: 2)")
    parser.add_argument("--pairs", type=int, default=0, help="pairs of sets for each case (default: 0)")
    parser.add_argument("folders", nargs="+", help="case folders, or folders of them")
    arguments = parser.parse_args()
    arguments.occamyc = os.path.abspath(arguments.occamyc)
    found = [p for f in arguments.folders for p in ([f] if os.path.exists(f + "/model.onnx") else sorted(glob.glob(f + "/test_*/")))]
    sets = option_sets(arguments.occamyc)
    work = functools.partial(sweep_case, arguments, sets, pairs_of(sets))
    counts, failed = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for counted, lines in pool.map(work, [p.rstrip("/") for p in found]):
            counts += counted
            failed += len(lines)
            for line in lines:
                print(line, flush=True)
    print(", ".join(f"status {s}: {n}" for s, n in sorted(counts.items(), key=str)))
    print(f"{sum(counts.values()) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not counts else 0)


if __name__ == "__main__":
    main()
