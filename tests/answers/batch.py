"""Compiles, builds and runs many models at once: one link and one process for all of them."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))

import numpy as np
from onnx import numpy_helper

import cases    # noqa: E402
import dims     # noqa: E402
import host     # noqa: E402
import host_parts  # noqa: E402
import kernel_cover  # noqa: E402
import tensors  # noqa: E402
import tuned    # noqa: E402

COMPILE_LIMIT, BUILD_LIMIT = 60, 900


@dataclass
class Trial:
    """A model with its inputs and wanted outputs as tensors.Tensor (lists of them, None), and the ways to compile it."""

    name: str
    model: object                     # onnx.ModelProto
    sets: list                        # per set the inputs' values
    wanted: list                      # per set the outputs' values
    granted: list                     # per set and output: the absolute error
    variants: list
    rare: bool = False                # larger errors than granted are allowed in a few elements: roundings that flip
    said: bool = False                # not ONNX Runtime alone says what is wanted
    flags: list = field(default_factory=list)      # bounds of run-time extents; found by compiling
    outcomes: list = field(default_factory=list)   # per variant an Outcome


@dataclass
class Outcome:
    """state: one of host.STATES. outputs: per set, where it ran."""

    state: str = "pass"
    reason: str = ""
    outputs: list = field(default_factory=list)
    command: str = ""
    said: str = ""                    # by occamyc
    twin: int = -1                    # an earlier variant that is the same program


def compile_variant(occamyc, trial, index, folder):
    """C files of one variant under the name NAME_INDEX; the Outcome."""
    name = f"{trial.name}_{index}"
    variant = trial.variants[index]

    def call(flags):
        command = [occamyc, os.path.join(folder, trial.name + ".onnx"), "-o", os.path.join(folder, name + ".c"), f"--name={name}",
                   "--main=" + os.path.join(folder, name + "_main.c"), "--quiet", *flags, *variant.options]
        code, text = host.run_command(command, COMPILE_LIMIT)
        state = {0: "pass", 3: "refused", 1: "invalid", 2: "invalid", 4: "invalid"}.get(code, "crash")
        return Outcome(state, host.first_error(text) if code else "", command=" ".join([*flags, *variant.options]), said=text)

    path = os.path.join(folder, name + ".tuned")
    if variant.way and tuned.write(path, trial.model, variant.way):
        variant.options = [*variant.options, f"--tuned={path}"]
    if index:                                       # the first variant has found the bounds
        return within_budget(trial, variant, call) if variant.budget is not None else call(trial.flags)
    outcome = call(trial.flags)
    if outcome.state == "refused":
        for more in bounds(trial):
            second = call(trial.flags + more)
            if second.state not in ("refused", "invalid"):
                trial.flags = trial.flags + more
                return second
    return outcome


LEAST = re.compile(r"--max-ram: found (\d+) bytes")


def within_budget(trial, variant, call):
    """A variant with --max-ram: the least bytes that an exit with 4 names, which must do, and a share of the weights above them."""
    refused = call([*trial.flags, "--max-ram=1"])
    least = LEAST.search(refused.said)
    if not least:
        return refused
    variant.options = [*variant.options, f"--max-ram={int(least[1]) + int(variant.budget * trial.model.ByteSize())}"]
    return call(trial.flags)


def bounds(trial):
    """Bounds to try where extents depend on data: of the outputs, of what inputs hold, of both."""
    infos = cases.true_inputs(trial.model)
    outputs = dims.output_flags(trial.model.graph.output, trial.wanted, trial.flags[1::2])
    contents = dims.contents_flags(infos, trial.sets)
    return [b for b in (outputs, contents, outputs + contents) if b]


def build_all(trials, folder, cc):
    """One object per C file, one program of all. Files that do not build make their variants' outcome cc-fail."""
    programs = [(t, i) for t in trials for i in first_of_each(t, folder)]
    for trial, index in programs:
        split_host(folder, f"{trial.name}_{index}", trial.variants[index].alone)
    if not os.path.exists(os.path.join(folder, "host.c")):         # every program has threads, and so its own
        with open(os.path.join(folder, "host.c"), "w") as file:
            file.write("int host_run(const void *model, int argc, char **argv)\n{\n    return 2;\n}\n")
    compile_files(folder, cc, [f"{t.name}_{i}.c" for t, i in programs])
    compile_files(folder, " ".join([cc.split()[0], *sanitizers(cc), "-O0 -w"]), [f"{t.name}_{i}_main.c" for t, i in programs] + ["host.c"] * bool(programs))
    kept = []
    for trial, index in programs:
        parts = [os.path.join(folder, f"{trial.name}_{index}{part}.o") for part in ("", "_main")]
        if all(os.path.exists(p) for p in parts):
            kept.append((trial, index, parts))
        else:
            trial.outcomes[index].state, trial.outcomes[index].reason = "cc-fail", error_of(folder, f"{trial.name}_{index}")
    return link(kept, folder, cc)


COMMENT = re.compile(rb"/\*.*?\*/", re.S)


def first_of_each(trial, folder):
    """The variants that passed and are to be built. One whose files are those of an earlier one, but for comments and the name, is the same
    program: it is not built, and gets that one's outcome."""
    programs = {}
    for index, outcome in enumerate(trial.outcomes):
        if outcome.state == "pass":
            first = programs.setdefault(program_text(folder, f"{trial.name}_{index}"), index)
            outcome.twin = first if first != index else -1
    return list(programs.values())


def program_text(folder, name):
    """All that occamyc wrote of one variant, without comments and the name."""
    parts = []
    for suffix in sorted(f[len(name):] for f in os.listdir(folder) if re.match(name + r"(\.|_main\.)", f)):
        with open(os.path.join(folder, name + suffix), "rb") as file:
            data = file.read()
        if suffix.endswith((".c", ".h")):
            data = COMMENT.sub(b"", data)
        parts.append((suffix, data.replace(name.encode(), b"NAME").replace(name.upper().encode(), b"NAME")))
    return tuple(parts)


def share_outcomes(trials):
    """The outcomes of programs that were not built, as others are the same."""
    for trial in trials:
        for outcome in trial.outcomes:
            if outcome.state == "pass" and outcome.twin >= 0:
                other = trial.outcomes[outcome.twin]
                outcome.state, outcome.reason, outcome.outputs = other.state, other.reason, other.outputs


def sanitizers(cc):
    return [word for word in cc.split() if word.startswith("-fsanitize=")]


def split_host(folder, name, alone):
    """Of a host program only its tables stay; the code, the same for all, goes into host.c. One with threads or a loader is kept whole,
    with a main() of its own name; alone: it lends its threads to nobody."""
    path = os.path.join(folder, name + "_main.c")
    with open(path) as file:
        text = file.read()
    if alone:
        text = text.replace("occ_pool_for, blocks->pool", "NULL, NULL")
    parts = host_parts.split(text, f"{name}.h") if host_parts.is_plain(text) else None
    if not parts:
        text = text.replace("\nint main(", f"\nint main_{name}(int, char **);\nint main_{name}(") + f"const void *const model_{name} = 0;\n"
        open(os.path.join(folder, name + ".threads"), "w").close()
    else:
        types, tables, code = parts
        shared = os.path.join(folder, "host.c")
        if not os.path.exists(shared):
            with open(shared, "w") as file:
                file.write(types + "static const HostModel *host_current;\n#define host_model (*host_current)\n" +
                           code.replace("\nint main(", "\nint host_main(") +
                           "int host_run(const void *model, int argc, char **argv)\n{\n    host_current = model;\n    return host_main(argc, argv);\n}\n")
        text = tables + f"const void *const model_{name} = &host_model;\n"
    with open(path, "w") as file:
        file.write(text)


def error_of(folder, name):
    with open(os.path.join(folder, "cc.log"), errors="replace") as file:
        for line in file:
            if line.startswith(f"{name}.c:") and ("error" in line or "warning" in line):
                return line.strip()
    return "the C compiler failed"


def compile_files(folder, cc, files):
    if files:
        with open(os.path.join(folder, "cc.log"), "a") as log:
            subprocess.run([*cc.split(), "-c", *files], cwd=folder, stdout=log, stderr=log, timeout=BUILD_LIMIT)


def link(kept, folder, cc):
    """The programs that could be linked, in their order; None: none could."""
    names = [f"{t.name}_{i}" for t, i, _ in kept]
    with open(os.path.join(folder, "table.h"), "w") as file:
        file.write("".join(f"extern const void *const model_{n};\n" for n in names))
        threaded = [os.path.exists(os.path.join(folder, n + ".threads")) for n in names]
        file.write("".join(f"int main_{n}(int, char **);\n" for n, t in zip(names, threaded) if t))
        file.write(f"static const void *const *const models[] = {{{', '.join('&model_' + n for n in names) or '0'}}};\n")
        mains = ", ".join("main_" + n if t else "0" for n, t in zip(names, threaded))
        file.write(f"static int (*const programs[])(int, char **) = {{{mains or '0'}}};\n")
    sanitize = sanitizers(cc) + [kernel_cover.FLAG] * (kernel_cover.FLAG in cc)
    counting = ["-DCOUNT_BRANCHES"] if kernel_cover.FLAG in cc else []
    command = [cc.split()[0], "-O1", *sanitize, *counting, "-I" + folder, "-o", os.path.join(folder, "all"), os.path.join(HERE, "dispatch.c"),
               *[p for _, _, parts in kept for p in parts], os.path.join(folder, "host.o"), "-lm", "-pthread"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return kept
    bad = {n for n in names if re.search(rf"\b{n}(_main)?\.[oc]\b", done.stderr)}
    for trial, index, _ in kept:
        if f"{trial.name}_{index}" in bad or not bad:
            trial.outcomes[index].state, trial.outcomes[index].reason = "cc-fail", host.first_error(done.stderr)
    return link([k for k in kept if k[0].outcomes[k[1]].state == "pass"], folder, cc) if bad else []


def run_all(kept, trials, folder):
    """Run every program on every set; its outputs go into the outcomes."""
    if not kept:
        return
    jobs = []
    for number, (trial, index, _) in enumerate(kept):
        for k, arguments in enumerate(written_inputs(trial, folder)):
            place = os.path.join(folder, trial.name, str(k))
            os.makedirs(os.path.join(place, str(index)), exist_ok=True)
            apart = weights_file(trial.variants[index].options, os.path.join(folder, f"{trial.name}_{index}.c.weights"))
            jobs.append("\t".join([f"{trial.name}_{index}.{k}", place, str(number), *arguments, *apart, "-o", f"{index}/out"]))
    path = os.path.join(folder, "jobs")
    with open(path, "w") as file:
        file.write("\n".join(jobs) + "\n")
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([os.path.join(folder, "all"), path], capture_output=True, text=True, env=environment, timeout=40 * len(jobs) + 60)
    status = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    for trial, index, _ in kept:
        outcome = trial.outcomes[index]
        for k in range(len(trial.sets)):
            if not collect(trial, index, k, folder, int(status.get(f"{trial.name}_{index}.{k}", 127)), outcome):
                break


def weights_file(options, path):
    """What a host program is told of its weights; where they are loaded while it runs, a second run has some already."""
    if not os.path.exists(path) or not {"--weights=file", "--weights=swap"} & set(options):
        return []
    return ["--weights", path, *(["--repeat", "2"] if "--weights=swap" in options else [])]


def written_inputs(trial, folder):
    """Per set the host program's arguments; the files are written once."""
    infos = cases.true_inputs(trial.model)
    for k, values in enumerate(trial.sets):
        place = os.path.join(folder, trial.name, str(k))
        os.makedirs(place, exist_ok=True)
        yield [host.write_argument(place, f"in_{i}", info.type, value) for i, (info, value) in enumerate(zip(infos, values))]


def collect(trial, index, k, folder, status, outcome):
    """Read what one run wrote; False where it failed."""
    place = os.path.join(folder, trial.name, str(k))
    with open(os.path.join(place, f"{trial.name}_{index}.{k}.log"), errors="replace") as file:
        text = file.read()
    try:
        if status:
            raise host.Failure("run-fail", f"set {k}: exit {status}: {report_line(text)}")
        arena = host.ARENA.search(text)
        if not arena or int(arena[2]) > int(arena[1]):
            raise host.Failure("wrong", f"set {k}: more than the planned arena was touched")
        outcome.outputs.append(host.read_outputs(os.path.join(place, str(index)), text, trial.model.graph.output))
    except host.Failure as failure:
        outcome.state, outcome.reason = failure.state, str(failure)
    return outcome.state == "pass"


def report_line(text):
    for line in text.splitlines():
        if "ERROR" in line or "runtime error" in line:
            return line.strip()
    return host.last_line(text)


def run(trials, folder, occamyc, cc):
    """Everything for one batch; fills trial.outcomes. Returns the branches of kernels taken and their text, where they are counted."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for trial in trials:
        with open(os.path.join(folder, trial.name + ".onnx"), "wb") as file:
            file.write(trial.model.SerializeToString(deterministic=True))
        trial.flags = dims.input_flags(cases.true_inputs(trial.model), trial.sets)
        trial.outcomes = []
        for index in range(len(trial.variants)):
            trial.outcomes.append(compile_variant(occamyc, trial, index, folder))
            if index == 0 and trial.outcomes[0].state != "pass":
                break
    kept = build_all(trials, folder, cc)
    run_all(kept, trials, folder)
    share_outcomes(trials)
    return kernel_cover.collect(folder, [f"{t.name}_{i}" for t, i, _ in kept]) if kernel_cover.FLAG in cc else ({}, {})


def tensor(value):
    """A numpy value (of a type that numpy lacks, too), list or None as the test tools see it."""
    if isinstance(value, np.ndarray) and value.dtype != object and value.dtype.kind not in "biufcSU":
        return tensors.from_proto(numpy_helper.from_array(value))
    return tensors.from_python(value)
