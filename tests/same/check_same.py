"""The same model and options give the same bytes: check_same.py --occamyc=A --other=B MODEL.onnx...

Each model is compiled once as it comes, then from another folder under another path, in a locale whose decimal point is a
comma, by the occamyc that another C compiler built, and on a machine whose cores are all busy. Source, header, host program,
report and map must be equal to the byte. One planning problem is made that the search cannot finish. A sample of the official
cases is taken by the hash of their name.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import cases
import check_code
import compare_ort
import dims
import run_case

FILES = ("model.c", "model.h", "main.c", "report.json", "map.svg", "map.html")
RATE = 40       # one official case in so many


def write_hard_problem(path, pieces=150, steps=60, size=6000):
    """Buffers that fill a rectangle of `steps` times `size` bytes without a gap, shuffled: the search finds no such plan within
    its default effort."""
    generator = random.Random(1)
    whole = [(0, steps, 0, size)]
    while len(whole) < pieces:
        whole.sort(key=lambda r: (r[1] - r[0]) * (r[3] - r[2]) * (0.5 + generator.random()))
        begin, end, low, high = whole.pop()
        if end - begin > 1 and (generator.random() < 0.5 or high - low < 2):
            middle = generator.randrange(begin + 1, end)
            whole += [(begin, middle, low, high), (middle, end, low, high)]
        else:
            middle = generator.randrange(low + 1, high)
            whole += [(begin, end, low, middle), (begin, end, middle, high)]
    generator.shuffle(whole)
    with open(path, "w") as file:
        file.write("id,lower,upper,size\n")
        file.writelines(f"{i},{begin},{end},{high - low}\n" for i, (begin, end, low, high) in enumerate(whole))


def compile_in(folder, occamyc, model, flags, environment=None):
    """What was written, by file name; None where the model is refused or needs more bounds."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [occamyc, model, "-o", os.path.join(folder, "model.c"), "--name=model", "--quiet", *flags,
               *(f"--{option}={os.path.join(folder, name)}" for option, name in (("main", "main.c"), ("report", "report.json")))]
    for name in ("map.svg", "map.html"):
        done = subprocess.run([*command, f"--map={os.path.join(folder, name)}"], capture_output=True, timeout=600,
                              env={**os.environ, **(environment or {})})
        if done.returncode:
            return None
    return {name: open(os.path.join(folder, name), "rb").read() for name in FILES}


class Load:
    """Every core busy twice over while it lives."""

    def __enter__(self):
        loop = [sys.executable, "-c", "while True: pass"]
        self.busy = [subprocess.Popen(loop) for _ in range(2 * (os.cpu_count() or 1))]

    def __exit__(self, *_):
        for process in self.busy:
            process.kill()
            process.wait()


def variants(arguments, work, model, flags):
    """(what is different, files) for each way to compile the model again."""
    other_name = os.path.join(work, "a folder", "model.onnx")
    os.makedirs(os.path.dirname(other_name), exist_ok=True)
    shutil.copyfile(model, other_name)
    comma = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": os.path.abspath(arguments.locales), "TZ": "Asia/Tokyo"}
    yield "folder", compile_in(os.path.join(work, "else where"), arguments.occamyc, os.path.abspath(other_name), flags)
    yield "locale", compile_in(os.path.join(work, "locale"), arguments.occamyc, other_name, flags, comma)
    yield "compiler", compile_in(os.path.join(work, "compiler"), arguments.other, other_name, flags)
    with Load():
        yield "load", compile_in(os.path.join(work, "load"), arguments.occamyc, other_name, flags)


def check(arguments, name, path, flags):
    """(state, reason) of one model."""
    work = os.path.join(arguments.work, name)
    os.makedirs(work, exist_ok=True)
    plain = os.path.join(work, "model.onnx")
    shutil.copyfile(path, plain)
    first = compile_in(os.path.join(work, "first"), arguments.occamyc, plain, flags, {"LC_ALL": "C"})
    if first is None:
        return "refused", "not compiled with the bounds of its inputs"
    for what, files in variants(arguments, work, plain, flags):
        differ = [f for f in FILES if files is None or files[f] != first[f]]
        if differ:
            return "wrong", f"another {what}: {', '.join(differ)} differ; see {work}"
    shutil.rmtree(work)
    return "pass", ""


def plan_hard(planner, path):
    """The placement and what is said of it, without the seconds."""
    done = subprocess.run([planner, f"--input={path}"], capture_output=True, text=True, timeout=600, check=True)
    return done.stdout, re.sub(r"(?m), [0-9.]+ s$", "", done.stderr.strip())


def check_hard(arguments):
    """Where the search stops is decided by the nodes it looked at, not by the time it took."""
    path = os.path.join(arguments.work, "hard.csv")
    write_hard_problem(path)
    planners = [os.path.join(os.path.dirname(program), "occamplan") for program in (arguments.occamyc, arguments.other)]
    first = plan_hard(planners[0], path)
    if "optimal" in first[1]:
        return "wrong", "the search finished: this problem no longer shows where it stops"
    with Load():
        loaded = plan_hard(planners[0], path)
    if loaded != first or plan_hard(planners[1], path) != first:
        return "wrong", f"the plan of {path} depends on the load or the C compiler"
    return "pass", first[1]


def choose(arguments):
    """(name, path, flags)"""
    for path in arguments.models:
        name = os.path.splitext(os.path.basename(path))[0]
        yield name, path, [word for k, v in compare_ort.DIMS.get(name, {}).items() for word in ("--dim", f"{k}={v}")]
    for name in run_case.read_list(arguments.list):
        if check_code.is_sampled(name, RATE):
            case = cases.Case(os.path.join(arguments.cases, name))
            yield name, case.path, case.flags + dims.input_flags(cases.true_inputs(case.model), [i for i, _ in case.sets])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--other", required=True, help="the same, built by another C compiler")
    parser.add_argument("--locales", required=True, help="folder of locales")
    parser.add_argument("--work", default="build/same")
    parser.add_argument("--list", required=True, help="file of official case names")
    parser.add_argument("--cases", required=True, help="folder of the official cases")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    arguments.work = os.path.abspath(arguments.work)
    os.makedirs(arguments.work, exist_ok=True)
    if not os.path.isdir(os.path.join(arguments.locales, "de_DE.UTF-8")):
        print("SKIPPED: the locale with a comma could not be made")
    count = {"pass": 0, "wrong": 0, "refused": 0}
    results = [("plan", *check_hard(arguments))]
    results += [(name, *check(arguments, name, path, flags)) for name, path, flags in choose(arguments)]
    for name, state, reason in results:
        count[state] += 1
        if reason:
            print(f"{state:9} {name}: {reason}")
    print(f"{count['pass']} passed, {count['wrong']} failed, {count['refused']} skipped")
    sys.exit(1 if count["wrong"] or not count["pass"] else 0)


if __name__ == "__main__":
    main()
