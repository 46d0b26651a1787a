"""Random models against ONNX Runtime: fuzz_answers.py --occamyc=PROGRAM --work=FOLDER [--models=N] [--minutes=M] [--seed=S] [--kind=K]

Draws models, compiles each in several ways, builds many in one program, runs them at every setting of their run-time extents, and
compares with ONNX Runtime and with each other. A failure is made small and kept as a case folder below WORK/found. The work
goes on where an earlier call with the same seed and kind ended; WORK/state-SEED-KIND.json says how far that was.
"""

import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import json
import os
import re
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import batch     # noqa: E402
import judge     # noqa: E402
import kinds     # noqa: E402
import oracle    # noqa: E402
import seen      # noqa: E402
import shrink    # noqa: E402
import variants  # noqa: E402
from draw import Draw  # noqa: E402

BATCH = 16                          # models that share one program


def machine_flags():
    with open("/proc/cpuinfo") as file:
        return set(next((line for line in file if line.startswith("flags")), "").split())


def name_of(arguments, number):
    """A C identifier for a model, unlike those of other seeds and kinds."""
    return re.sub(r"\W", "_", "_".join(["m", arguments["seed"], *([arguments["kind"]] if arguments["kind"] else []), str(number)]))


def make_trial(seed, kind, number, name, build, stats, device=False):
    """The Trial of one number, or None where none could be drawn."""
    drawn = kinds.draw_model(seed, kind, number)
    if not drawn:
        stats["given up"] += 1
        return None
    model, sets, wanted, granted = drawn.model, drawn.sets, drawn.wanted, drawn.granted
    if not wanted:
        try:
            answers = oracle.answers(model, sets, device)
        except Exception as error:
            stats["ONNX Runtime refuses the whole model: " + str(error).splitlines()[0][:120]] += 1
            return None
        granted = oracle.tolerances(model, sets, answers)
        wanted = [[batch.tensor(v) for v in values] for values in answers]
    draw = Draw(f"{seed}/{kind}/{number}/variants")
    return batch.Trial(name, model, [[batch.tensor(v) for v in values] for values in sets], wanted, granted,
                       variants.draw_variants(draw, build), rare=drawn.rare, said=bool(drawn.wanted))


def run_batch(task):
    """One batch; where the tool itself fails, that is a finding too."""
    try:
        return try_batch(task)
    except Exception:
        line = f"batch {task[1]}: {traceback.format_exc(limit=-3)}"
        return {"first": task[1], "count": task[2], "stats": {}, "seen": {}, "found": [{"name": f"batch {task[1]}", "state": "tool", "line": line}]}


def try_batch(task):
    """Numbers [first, first + count) of a seed; a dictionary of what was found."""
    arguments, first, count = task
    folder = os.path.join(arguments["work"], f"batch-{arguments['seed']}-{arguments['kind'].replace(':', '-')}-{first}")
    build = variants.draw_build(Draw(f"{arguments['seed']}/build/{first}"), machine_flags(), arguments["counted"])
    stats, trials = collections.Counter(), []
    for number in range(first, first + count):
        kind, within = kinds.kind_of(number, arguments["kind"])
        try:
            trial = make_trial(arguments["seed"], kind, within, name_of(arguments, number), build, stats)
        except Exception:
            stats["generator: " + traceback.format_exc(limit=-2).replace("\n", " ")[-200:]] += 1
            continue
        if trial:
            trials.append(trial)
            stats[f"kind {kind}"] += 1
    branches, texts = batch.run(trials, folder, arguments["occamyc"], build.cc)
    found, coverage = [], seen.Seen()
    coverage.data["taken"] = branches
    for trial in trials:
        judge.judge(trial)
        coverage.note(trial)
        note_outcomes(trial, stats)
        bad = [i for i, o in enumerate(trial.outcomes) if o.state not in ("pass", "refused")]
        found.append(finding(trial, bad, build, arguments, stats))
    batch.shutil.rmtree(folder, ignore_errors=True)
    return {"first": first, "count": count, "stats": dict(stats), "found": [f for f in found if f], "seen": coverage.data, "texts": texts}


def finding(trial, bad, build, arguments, stats):
    """What the first of the variants that failed shows; None where the reference evaluator says what all of them do, with equal bits where
    these are promised."""
    agreed = None
    for index in bad:
        outcome = trial.outcomes[index]
        if agreed and trial.variants[index].equal and outcome.state == "wrong":
            if judge.same_bits(outcome.outputs, agreed.outputs):
                continue
            outcome.reason = "other bits than another variant's, of which the reference evaluator says the same"
        kept = shrink.keep(trial, index, build, arguments, stats)
        if kept:
            return kept
        agreed = outcome if trial.variants[index].equal and not agreed else agreed
    return None


def note_outcomes(trial, stats):
    stats["models"] += 1
    for outcome in trial.outcomes:
        stats["variants"] += 1
        stats[outcome.state] += 1
        stats["runs"] += len(outcome.outputs) if outcome.twin < 0 else 0
    if trial.outcomes[0].state == "refused":
        stats["models refused"] += 1
        reason = trial.outcomes[0].reason
        stats["refused: " + seen.without_names(reason)] += 1


class State:
    """How far the work is; kept in a file after each batch."""

    def __init__(self, path, seed, kind):
        self.path = path
        self.data = {"seed": seed, "kind": kind, "next": 0, "seconds": 0.0, "stats": {}, "found": [], "since": 0, "seen": {}, "texts": {}}
        if os.path.exists(path):
            with open(path) as file:
                self.data = json.load(file)

    def add(self, result, seconds):
        data = self.data
        data["next"] = max(data["next"], result["first"] + result["count"])
        data["seconds"] = seconds
        for key, count in result["stats"].items():
            data["stats"][key] = data["stats"].get(key, 0) + count
        data["found"] += result["found"]
        data["since"] = 0 if result["found"] else data.get("since", 0) + result["stats"].get("models", 0)
        data.setdefault("texts", {}).update(result.get("texts", {}))
        data["seen"] = seen.merge(data["seen"], result["seen"])
        with open(self.path + ".tmp", "w") as file:
            json.dump(data, file, indent=1, sort_keys=True)
        os.replace(self.path + ".tmp", self.path)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--work", required=True, help="folder of state, batches and what was found")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kind", default="", type=kinds.known, help="this kind of model alone; operator:NAME: its recipes of that name")
    parser.add_argument("--models", type=int, default=1 << 40, help="stop at this number of models")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--from", dest="start", type=int, default=-1, help="begin at this number")
    parser.add_argument("--device", default="", help="archive of the fake CUDA runtime, for fuzz_device.py")
    parser.add_argument("--counted", action="store_true", help="every batch counts the branches of kernels")
    arguments = parser.parse_args()
    arguments.occamyc, arguments.work = os.path.abspath(arguments.occamyc), os.path.abspath(arguments.work)
    arguments.device = os.path.abspath(arguments.device)
    return arguments


class Workers:
    """Batches in processes of their own. One that ONNX Runtime ends takes the batches under way with it: these are given up."""

    def __init__(self, arguments, run):
        self.arguments, self.run, self.pending = arguments, run, {}
        self.pool = self.start()

    def start(self):
        return concurrent.futures.ProcessPoolExecutor(self.arguments.jobs, max_tasks_per_child=20)

    def submit(self, number, count):
        self.pending[self.pool.submit(self.run, (vars(self.arguments), number, count))] = (number, count)

    def results(self):
        """Of every batch that has ended, at least one."""
        done, _ = concurrent.futures.wait(self.pending, return_when=concurrent.futures.FIRST_COMPLETED)
        if any(isinstance(future.exception(), concurrent.futures.process.BrokenProcessPool) for future in done):
            self.pool.shutdown(wait=False)
            lost, self.pool, self.pending = list(self.pending.values()), self.start(), {}
            return [{"first": n, "count": c, "stats": {"models lost as ONNX Runtime ended the process": c}, "seen": {}, "found": []} for n, c in lost]
        for future in done:
            del self.pending[future]
        return [future.result() for future in done]


def work(arguments, state, run):
    """Batches until the time or the numbers are used up; the findings of this call."""
    begun, found, workers = time.time(), [], Workers(arguments, run)
    earlier, number = state.data["seconds"], state.data["next"] if arguments.start < 0 else arguments.start
    end = number + arguments.models if arguments.models < 1 << 40 else 1 << 41

    def more():
        return number < end and time.time() - begun < 60 * arguments.minutes

    while workers.pending or more():
        while len(workers.pending) < arguments.jobs and more():
            count = min(BATCH, end - number)
            workers.submit(number, count)
            number += count
        for result in workers.results():
            state.add(result, earlier + time.time() - begun)
            found += result["found"]
            for item in result["found"]:
                print(f"{item['state']:9} {item['line']}", flush=True)
    return found


def main(run=run_batch):
    arguments = parse_arguments()
    sys.stdout.reconfigure(encoding="utf-8")        # findings may hold any text
    os.makedirs(arguments.work, exist_ok=True)
    kept = "-".join(["state", arguments.seed, *([arguments.kind.replace(":", "-")] if arguments.kind else [])])
    state = State(os.path.join(arguments.work, kept + ".json"), arguments.seed, arguments.kind)
    before = dict(state.data["stats"])
    begun = time.time()
    found = work(arguments, state, run)
    stats = {k: n - before.get(k, 0) for k, n in state.data["stats"].items() if n > before.get(k, 0)}
    for key, count in sorted(stats.items(), key=lambda item: -item[1]):
        if ":" in key:
            print(f"{count:6} {key}")
    models, seconds = stats.get("models", 0), time.time() - begun
    print(f"{models} models, {stats.get('variants', 0)} variants, {stats.get('runs', 0)} runs in {seconds:.0f} s "
          f"({3600 * models / max(seconds, 1):.0f} models an hour); numbers up to {state.data['next']} of seed {arguments.seed}")
    print(f"{models - len(found) - stats.get('models refused', 0)} passed, {len(found)} failed, {stats.get('models refused', 0)} skipped")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
