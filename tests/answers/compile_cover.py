"""What of the compiler random models reach: compile_cover.py --occamyc=PROGRAM --build=FOLDER --out=FILE [--models=N] [--seed=S] [--kind=K]
or cases that have names do: [...] CASES...

PROGRAM is built with --coverage in FOLDER. Random models, or those of folders of cases, are compiled with several sets of options, nothing
is run (cases: besides what tests/cli asks); then gcov says which functions and lines of passes, rules of rewriting, overlaps and lowerings were reached. FILE: JSON, added
to by later calls.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tools")]

import batch     # noqa: E402
import cases     # noqa: E402
import dims      # noqa: E402
import kinds     # noqa: E402
import oracle    # noqa: E402
import seen      # noqa: E402
import tuned     # noqa: E402
import variants  # noqa: E402
from draw import Draw  # noqa: E402

WAYS = 4                            # sets of options for each model
PART = 50                           # models of one process
KERNEL = re.compile(r"^(?:static |inline |OCC_\w+ |const )*[a-zA-Z_][\w *]*?\bocc_(\w+)\([^;]*$", re.M)


def options(draw):
    """What variants.py draws from, more often, and every target."""
    chosen = variants.draw_options(draw) + variants.draw_options(draw)
    single = {word.split("=")[0]: word for word in chosen if not word.startswith("--region")}
    regions = [word for word in chosen if word.startswith("--region")]
    target = draw.pick(["", "", *[t for t in variants.TARGETS if t]])
    winograd = draw.pick(["", "--winograd=on", "--winograd=off", "--winograd-error=0.01", "--winograd-error=1e-6"])
    return [*single.values(), *dict.fromkeys(regions[:3]), *filter(None, [target, winograd])]


def state_of(draw, model):
    """--state of an output and an input of the same type, where there are such and the draw says so."""
    sides = [[i for i in infos if i.type.tensor_type.elem_type] for infos in (model.graph.output, cases.true_inputs(model))]
    pairs = [f"--state={o.name}:{i.name}" for o in sides[0] for i in sides[1] if o.type.tensor_type.elem_type == i.type.tensor_type.elem_type]
    return [draw.pick(pairs)] if pairs and draw.chance(0.2) else []


def answers(drawn):
    """What ONNX Runtime gives: extents that depend on data get their bounds from it."""
    try:
        return [[batch.tensor(v) for v in values] for values in oracle.answers(drawn.model, drawn.sets)]
    except Exception:
        return [[] for _ in drawn.sets]


def compile_model(occamyc, seed, kind, number, folder):
    """The Trial after it was compiled in several ways."""
    drawn = kinds.draw_model(seed, kind, number)
    if not drawn:
        return None
    draw = Draw(f"{seed}/{kind}/{number}/ways")
    wanted = drawn.wanted or answers(drawn)
    ways = [variants.Variant([])] + [variants.Variant(options(draw) + state_of(draw, drawn.model), way=draw.pick(tuned.WAYS) if draw.chance(0.2) else "")
                                     for _ in range(WAYS - 1)]
    trial = batch.Trial("m", drawn.model, [[batch.tensor(v) for v in values] for values in drawn.sets], wanted, [], ways)
    with open(os.path.join(folder, "m.onnx"), "wb") as file:
        file.write(drawn.model.SerializeToString())
    trial.flags = dims.input_flags(cases.true_inputs(trial.model), trial.sets)
    for index in range(len(ways)):
        trial.outcomes.append(batch.compile_variant(occamyc, trial, index, folder))
        if index == 0 and trial.outcomes[0].state != "pass":
            break
    return trial


def part(occamyc, seed, only, first, last):
    """Numbers [first, last) as JSON: [what was seen, kernels, states]."""
    covered, kernels, states = seen.Seen(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            kind, within = kinds.kind_of(number, only)
            trial = compile_model(occamyc, seed, kind, within, folder)
            states[trial.outcomes[0].state if trial else "not drawn"] += 1
            if not trial:
                continue
            if trial.outcomes[0].state not in ("pass", "refused"):
                print(f"{seed}/{kind}/{within}: {trial.outcomes[0].state}: {trial.outcomes[0].reason}", file=sys.stderr)
            covered.note(trial)
            for path in glob.glob(os.path.join(folder, "m_*.c")):
                if not path.endswith("_main.c"):
                    with open(path) as file:
                        kernels.update(set(KERNEL.findall(file.read())))
                os.remove(path)
    return json.dumps([covered.data, kernels, states])


def call(arguments, first, last):
    """A part in a process of its own, since now and then ONNX Runtime ends one; what it found, or nothing."""
    done = subprocess.run([sys.executable, "-Wignore", os.path.abspath(__file__), f"--part={first},{last}", *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else [{}, {}, {"lost": last - first}]


def forget(build):
    for path in glob.glob(os.path.join(build, "compiler", "**", "*.gcda"), recursive=True):
        os.remove(path)


def functions_and_lines(build):
    """{source: {function: [calls, lines, lines reached, numbers of lines not reached]}} of the program's counters."""
    found = {}
    for path in sorted(glob.glob(os.path.join(build, "compiler", "**", "*.gcda"), recursive=True)):
        done = subprocess.run(["gcov", "--json-format", "--stdout", path], capture_output=True, text=True)
        for file in json.loads(done.stdout.splitlines()[0])["files"] if done.stdout else []:
            if not file["file"].startswith("compiler/") or not file["file"].endswith(".c"):
                continue
            table = found.setdefault(file["file"], {})
            for function in file["functions"]:
                table[function["name"]] = [function["execution_count"], 0, 0, []]
            for line in file["lines"]:
                row = table.get(line.get("function_name"))
                if row:
                    row[1] += 1
                    row[2] += line["count"] > 0
                    row[3] += [line["line_number"]] if not line["count"] else []
    return found


def joined(earlier, found):
    """Counts of two calls. Those of a source that has changed since are left out."""
    for path, table in found.items():
        for name, row in table.items():
            before = earlier.get(path, {}).get(name)
            if before and before[1] == row[1]:
                missed = sorted(set(before[3]) & set(row[3]))
                table[name] = [before[0] + row[0], row[1], row[1] - len(missed), missed]
    return found


def compile_random(arguments, data):
    first = data["models"]
    starts = range(first, first + arguments.models, PART)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for covered, kernels, states in pool.map(lambda n: call(arguments, n, min(n + PART, first + arguments.models)), starts):
            data["seen"] = seen.merge(data["seen"], covered)
            seen.merge(data, {"kernels": kernels, "states": states})
    data["models"] += arguments.models
    print(f"{data['models']} models: {data['states']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--build", required=True, help="folder of the counters")
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--seed", default="cover")
    parser.add_argument("--kind", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", default="", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", help="folders of cases; instead of random models")
    arguments = parser.parse_args()
    if arguments.part:
        first, last = map(int, arguments.part.split(","))
        print(part(os.path.abspath(arguments.occamyc), arguments.seed, arguments.kind, first, last))
        return
    data = {"models": 0, "kernels": {}, "states": {}, "seen": {}}
    if os.path.exists(arguments.out):
        with open(arguments.out) as file:
            data = json.load(file)
    forget(arguments.build)
    if arguments.cases:
        subprocess.run([sys.executable, os.path.join(HERE, "..", "tools", "sweep.py"), f"--occamyc={arguments.occamyc}", f"--jobs={arguments.jobs}",
                        "--count=2", *arguments.cases], check=True)
        for test in ("test_cli.py", "test_limits.py"):
            subprocess.run([sys.executable, os.path.join(HERE, "..", "cli", test), arguments.occamyc], check=True)
    else:
        compile_random(arguments, data)
    kept = "named" if arguments.cases else "functions"
    data[kept] = joined(data.get(kept, {}), functions_and_lines(arguments.build))
    with open(arguments.out, "w") as file:
        json.dump(data, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
