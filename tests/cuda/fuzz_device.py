"""Random models for a device: fuzz_device.py --occamyc=PROGRAM --device=ARCHIVE --work=FOLDER [--models=N] [--minutes=M] [--seed=S] [--kind=K]

Those of fuzz_answers.py, each compiled with --target=cuda, every second one with random nodes on the host (--place) and one in three with
a state (--state), of which the stored input is the first, and run in the emulation. What does not give ONNX Runtime's answers must give those of the same model on the processor. A model that gives neither is kept
in WORK/found, with the inputs' bounds beside it.
"""

import collections
import dataclasses
import os
import shlex
import shutil
import sys

import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tools"), os.path.join(HERE, "..", "answers")]

import batch     # noqa: E402
import cases     # noqa: E402
import dims      # noqa: E402
import fuzz_answers  # noqa: E402
import host      # noqa: E402
import judge     # noqa: E402
import kinds     # noqa: E402
import variants  # noqa: E402
from draw import Draw  # noqa: E402

QUICK = "-std=c99 -O0 -w"


def compile_trial(tools, trial, path, folder, options):
    """Bounds of outputs and of contents only where occamyc asks for more."""
    tries = [[], *batch.bounds(trial)]
    for n, more in enumerate(tries):
        try:
            return host.compile_model(tools, path, folder, [*options, *trial.flags, *more])
        except host.Failure as failure:
            if failure.state not in ("refused", "invalid") or n == len(tries) - 1:
                raise


def answers_of(tools, trial, path, folder, options):
    """Per set of inputs the outputs of the program."""
    compile_trial(tools, trial, path, folder, options)
    host.build_program(tools, folder)
    return [host.run_program(tools, folder, trial.model, inputs, named=True).outputs for inputs in trial.sets]


def can_compile(tools, trial, path, folder, options):
    """A state is refused where the extents that the model declares are not those that follow from its nodes."""
    try:
        compile_trial(tools, trial, path, folder, options)
    except host.Failure as failure:
        return failure.state not in ("refused", "invalid")
    return True


def first_wrong(trial, answers):
    return next(filter(None, (judge.judge_set(trial, k, outputs) for k, outputs in enumerate(answers))), None)


def places(draw, model, path):
    """--place for two of five nodes, or nothing."""
    names = [name for node in model.graph.node for name in node.output if name and draw.chance(0.4)]
    with open(path, "w") as file:
        file.write("\n".join(names) + "\n")
    return ["--place=" + path] if names and draw.chance(0.5) else []


def shape_of(info):
    """Element type and extents of a tensor, those known while running as 0."""
    tensor = info.type.tensor_type
    return tensor.elem_type, [d.dim_value for d in tensor.shape.dim]


def state_of(draw, model):
    """--state of an output and an input of one shape, or nothing."""
    pairs = [f"--state={o.name}:{i.name}" for o in model.graph.output for i in cases.true_inputs(model)
             if shape_of(o)[0] not in (0, onnx.TensorProto.STRING) and all(shape_of(o)[1]) and shape_of(o) == shape_of(i)]
    return [draw.pick(pairs)] if pairs and draw.chance(0.33) else []


def try_trial(arguments, trial, draw, folder):
    """(state, reason); the state is one of host.STATES."""
    path = folder + ".onnx"
    with open(path, "wb") as file:
        file.write(trial.model.SerializeToString(deterministic=True))
    trial.flags = dims.input_flags(cases.true_inputs(trial.model), trial.sets)
    tools = host.Toolchain(arguments["occamyc"], cflags=QUICK, device=arguments["device"])
    options = ["--target=cuda", *places(draw, trial.model, folder + ".place")]
    pair = state_of(draw, trial.model)
    if pair and can_compile(tools, trial, path, folder, [*options, *pair]):
        trial.flags += pair
    try:
        answers = answers_of(tools, trial, path, folder, options)
        reason = first_wrong(trial, answers)
        if reason:
            here = answers_of(dataclasses.replace(tools, device=""), trial, path, folder + ".here", [])
            reason = first_wrong(dataclasses.replace(trial, wanted=here), answers)
        return ("wrong", reason) if reason else ("pass", "")
    except host.Failure as failure:
        return failure.state, str(failure)


def finding(arguments, trial, state, reason, folder):
    """Keeps the model, and says what it shows."""
    kept = os.path.join(arguments["work"], "found")
    os.makedirs(kept, exist_ok=True)
    for ending in (".onnx", ".place"):
        shutil.copy(folder + ending, kept)
    return {"name": trial.name, "state": state, "line": f"{os.path.join(kept, trial.name)}.onnx {shlex.join(trial.flags)}: {reason}"}


def run_batch(task):
    """Numbers [first, first + count) of a seed; a dictionary of what was found."""
    arguments, first, count = task
    work = os.path.join(arguments["work"], f"batch-{first}")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    stats, found = collections.Counter(), []
    for number in range(first, first + count):
        kind, within = kinds.kind_of(number, arguments["kind"])
        name = fuzz_answers.name_of(arguments, number)
        try:
            trial = fuzz_answers.make_trial(arguments["seed"], kind, within, name, variants.Build("", ""), stats, device=True)
        except Exception as error:
            stats[f"generator: {type(error).__name__}"] += 1
            continue
        if not trial:
            continue
        folder = os.path.join(work, trial.name)
        state, reason = try_trial(arguments, trial, Draw(f"{arguments['seed']}/places/{number}"), folder)
        stats.update(["models", "variants", state])
        stats["runs"] += len(trial.sets)
        stats["models refused"] += state == "refused"
        if state not in ("pass", "refused"):
            found.append(finding(arguments, trial, state, reason, folder))
    shutil.rmtree(work)
    return {"first": first, "count": count, "stats": dict(stats), "found": found, "seen": {}}


if __name__ == "__main__":
    fuzz_answers.main(run_batch)
