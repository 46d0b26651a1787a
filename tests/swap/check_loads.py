"""Models whose weights are loaded while they run, against loaders that misbehave: check_loads.py --occamyc=P --work=FOLDER

Each model is built with drive.c plainly, with -DOCC_GUARD and under ThreadSanitizer; what the runs give has the bits of
a build with its weights inside. The host program of --main tells what it loaded and writes a profile.
"""

import itertools
import json
import os
import re
import shlex
import sys

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("tools", "own", "plans")]

import check_sizes  # noqa: E402
import host  # noqa: E402

WARN = "-std=gnu11 -Wall -Wextra -Werror -pthread"
BUILDS = {"plain": "-O1", "guard": f"{host.CALLS} -DOCC_GUARD", "race": f"{host.CALLS} -g1 -fsanitize=thread"}
# Name: model, options, threads. Blocks of a disk are whole pages; small ones make many loads. Without a budget all blocks
# stay, with the least none does.
CASES = {
    "tones": ("tones", ["--load-rate=20M:300us:4096"], 1),
    "tones_least": ("tones", ["--load-rate=20M:300us:4096", "--max-ram=9000"], 1),
    "tones_small": ("tones", ["--load-rate=1M:1us:16", "--max-ram=12000"], 1),
    "digits_small": ("digits", ["--load-rate=1M:1us:16"], 1),
    "tones_threads": ("tones", ["--load-rate=20M:300us:4096", "--max-ram=14000", "--threads=2"], 2),
}
# Networks of listed sizes: the network, the lists by member of the inputs, options, threads. Where all blocks stay, in less
# memory, where none does, and rows of a table.
LISTS = {
    "sizes": (check_sizes.image(), {"H": (12, 17), "W": (12, 20)}, ["--load-rate=1M:1us:16"], 1),
    "sizes_small": (check_sizes.image(), {"H": (12, 17), "W": (12, 20)}, ["--load-rate=1M:1us:16", "--max-ram=11100"], 1),
    "sizes_least": (check_sizes.image(), {"H": (12, 17), "W": (12, 20)}, ["--load-rate=1M:1us:16", "--max-ram=9760"], 1),
    "sizes_words": (check_sizes.words(), {"batch": (1, 2), "n": (3, 8)}, ["--load-rate=1M:1us:64", "--max-ram=20000"], 1),
    "sizes_threads": (check_sizes.image(), {"H": (12, 40), "W": (12, 40)}, ["--load-rate=20M:300us:64", "--threads=2"], 2),
}


def run(command, folder, limit=600):
    code, text = host.run_command(command, limit, folder)
    if code:
        raise host.Failure("run-fail", f"{shlex.join(command)}: status {code}\n{text[-2000:]}")
    return text


def compile_model(arguments, model, folder, flags):
    """Of a model's name, or of a file."""
    os.makedirs(folder, exist_ok=True)
    run([arguments.occamyc, model if os.path.isabs(model) else os.path.join(ROOT, "models", model + ".onnx"), "-o", "model.c", "--name=model", "--quiet",
         "--main=main.c", "--report=report.json", *flags], folder)


def bytes_of(port):
    return int(np.prod(port["extents"])) * {"float": 4, "int64": 8}[port["type"]]


def combinations(lists):
    return [dict(zip(lists, values)) for values in itertools.product(*lists.values())]


def write_sizes(lists):
    """The sizes of the next run, and behind the listed ones some that are not."""
    sizes = [*combinations(lists), {member: max(listed) - 1 for member, listed in lists.items()}]
    return [f"}}\n#define CASE_SIZES {len(sizes) - 1}\nstatic void case_take(int size)\n{{",
            *(f"    static const int64_t all_{member}[] = {{{', '.join(str(s[member]) for s in sizes)}}};" for member in lists),
            "    (void)size;",
            *(f"    case_inputs.{member} = all_{member}[size];" for member in lists)]


def write_case(folder, threads, lists={}):
    """case.h: inputs that are the same everywhere, outputs, their bytes in a row."""
    with open(os.path.join(folder, "report.json")) as file:
        report = json.load(file)
    text = ["#include \"model.h\"", f"#define CASE_THREADS {threads}"]
    for kind, ports in (("in", report["inputs"]), ("out", report["outputs"])):
        for i, port in enumerate(ports):
            text.append(f"static unsigned char case_{kind}{i}[{bytes_of(port)}] __attribute__((aligned(64)));")
        text.append(f"static model_{kind}puts case_{kind}puts = {{" +
                    ", ".join(f".{p['member']} = (void *)case_{kind}{i}" for i, p in enumerate(ports)) + "};")
    text.append(f"#define CASE_OUT_BYTES {sum(map(bytes_of, report['outputs']))}")
    text.append("static void case_fill(void)\n{\n    unsigned random = 1;")
    for i, port in enumerate(report["inputs"]):
        kind, value = {"float": ("float", "(float)(random >> 8) * 0x1p-24f"), "int64": ("int64_t", "(int64_t)(random >> 8) % 40 - 20")}[port["type"]]
        text.append(f"    for (unsigned i = 0; i < sizeof case_in{i}; i += sizeof({kind})) {{\n        {kind} x;\n"
                    f"        random = random * 1664525U + 1013904223U;\n        x = {value};\n"
                    f"        memcpy(case_in{i} + i, &x, sizeof x);\n    }}")
    text.append("}\nstatic void case_clear(void)\n{")
    text += [f"    memset(case_out{i}, 0, sizeof case_out{i});" for i in range(len(report["outputs"]))]
    text += write_sizes(lists)
    text.append("}\nstatic void case_gather(unsigned char *to)\n{")
    text += [f"    memcpy(to, case_out{i}, sizeof case_out{i});\n    to += sizeof case_out{i};"
             for i in range(len(report["outputs"]))]
    text.append("}\nstatic void case_print(const unsigned char *at)\n{\n    printf(\"outputs \");\n"
                "    for (int i = 0; i < CASE_OUT_BYTES; i++)\n        printf(\"%02x\", at[i]);\n    printf(\"\\n\");\n}")
    with open(os.path.join(folder, "case.h"), "w") as file:
        file.write("\n".join(text) + "\n")
    return report


def outputs(text):
    """Of each size."""
    return re.findall(r"^outputs ([0-9a-f]+)$", text, re.M)


def build(arguments, folder, program, sources, flags):
    run([*shlex.split(arguments.cc), *shlex.split(WARN), *shlex.split(flags), "-I.", "-o", program, *sources, "-lm"], folder)


def check_host(arguments, folder, report, ram):
    """What the host program says of loads, and its profile; ram: bytes that occamyc told."""
    sizes = [bytes_of(port) for port in report["inputs"]]
    names = []
    for i, size in enumerate(sizes):
        with open(os.path.join(folder, f"in_{i}.raw"), "wb") as file:
            file.write(np.linspace(0, 1, size // 4, dtype="f4").tobytes())
        names.append(f"in_{i}.raw")
    build(arguments, folder, "profiled", ["main.c", "model.c"], "-O2 -DOCC_PROFILE")
    said = run(["./profiled", *names, "-o", "out", "--repeat", "3", "--profile", "profile.txt"], folder)
    told = re.search(r"^swap read (\d+) bytes a run in (\d+) loads, waited [\d.]+ ms, by (threads|io_uring|blocking), \w+", said, re.M)
    peak = re.search(r"^peak (\d+) bytes", said, re.M)
    if not told or not peak or int(peak[1]) < int(told[1]) // 2:
        raise host.Failure("wrong", f"the host program says '{said}'")
    with open(os.path.join(folder, "profile.txt")) as file:
        lines = [line.split() for line in file.read().splitlines()]
    counts = {word: sum(int(line[2]) for line in lines if line[0] == word) for word in ("step", "load", "stream")}
    loaded = sum(int(line[2]) * int(line[3]) for line in lines if line[0] == "load")
    kernels = sum(step["kind"] == "kernel" for step in report["steps"])
    if lines[0] != ["occamyc", "profile", "1"] or counts != {"step": kernels, "load": int(told[2]), "stream": int(told[2])} or \
            loaded != int(told[1]):
        raise host.Failure("wrong", f"the profile has {counts} and {loaded} bytes, wanted {kernels} steps, {told[2]} loads of {told[1]}")
    runs = [line[2:] for line in lines if line[0] == "run"]
    if runs != [["3", ram]]:
        raise host.Failure("wrong", f"the profile has runs {runs}, wanted 3 in {ram} bytes")


def check_curve(arguments, model, folder, flags):
    """The measured run is in the picture of time over memory."""
    os.makedirs(os.path.join(folder, "curve"), exist_ok=True)
    compile_model(arguments, model, os.path.join(folder, "curve"),
                  ["--weights=swap", *flags, f"--profile={folder}/profile.txt", f"--budget-curve={folder}/curve.svg"])
    with open(os.path.join(folder, "curve.svg")) as file:
        if len(re.findall("class='run'.*measured: \\d+ bytes", file.read())) != 1:
            raise host.Failure("wrong", "the measured run is not in the curve's picture")


def check_lists(arguments, name):
    """Sizes that change from run to run: each has the bits of a file of this size alone, with its weights loaded or inside."""
    net, lists, flags, threads = LISTS[name]
    folder = os.path.abspath(os.path.join(arguments.work, name))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "net.onnx")
    onnx.save(net.model(), path)
    dims = [f"--dim={extent}={'|'.join(map(str, listed))}" for extent, listed in lists.items()]
    compile_model(arguments, path, folder, ["--weights=swap", *dims, *flags])
    write_case(folder, threads, lists)
    inside = os.path.join(folder, "inside")
    compile_model(arguments, path, inside, ["--weights=inline", *dims])
    write_case(inside, 1, lists)
    build(arguments, inside, "plain", [os.path.join(HERE, "plain.c"), "model.c"], "-O1")
    wanted = outputs(run(["./plain"], inside))
    for kind, options in BUILDS.items():
        build(arguments, folder, kind, [os.path.join(HERE, "changes.c"), "model.c"], options)
        said = run([f"./{kind}", "model.c.weights", "model.c.weights", "."], folder)
        print(f"{name} {kind}: {said.splitlines()[-1]}", flush=True)
        if outputs(said) != wanted:
            raise host.Failure("wrong", f"{kind}: the outputs differ from those with the weights inside")


def check(arguments, name):
    if name in LISTS:
        return check_lists(arguments, name)
    model, flags, threads = CASES[name]
    folder = os.path.abspath(os.path.join(arguments.work, name))
    inside, other = os.path.join(folder, "inside"), os.path.join(folder, "other")
    compile_model(arguments, model, inside, ["--weights=inline"])
    write_case(inside, 1)
    build(arguments, inside, "plain", [os.path.join(HERE, "plain.c"), "model.c"], "-O1")
    wanted = outputs(run(["./plain"], inside))
    compile_model(arguments, "digits" if model == "tones" else "tones", other, ["--weights=swap"])
    compile_model(arguments, model, folder, ["--weights=swap", *flags])
    report = write_case(folder, threads)
    for kind, options in BUILDS.items():
        build(arguments, folder, kind, [os.path.join(HERE, "drive.c"), "model.c"], options)
        said = run([f"./{kind}", "model.c.weights", os.path.join(other, "model.c.weights"), "."], folder)
        print(f"{name} {kind}: {said.splitlines()[-1]}", flush=True)
        if "SKIPPED" in said:
            print(re.search("SKIPPED.*", said)[0])
        if outputs(said) != wanted:
            raise host.Failure("wrong", f"{kind}: the outputs differ from those with the weights inside")
    if threads == 1:
        told = run([arguments.occamyc, os.path.join(ROOT, "models", model + ".onnx"), "--weights=swap", *flags], folder)
        check_host(arguments, folder, report, re.search(r"^RAM +(\d+) bytes", told, re.M)[1])
        check_curve(arguments, model, folder, flags)


if __name__ == "__main__":
    host.check_each(check, __doc__, [*CASES, *LISTS])
