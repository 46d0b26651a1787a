"""Instructions, code and stack of models on microcontrollers: measure.py --occamyc=P --plugin=P --folder=F MODEL

Each model is compiled for the target cortex-m, built by the cross compiler at several levels, and run once by QEMU on a
board: the instructions of the run are counted one by one (count.c), its stack is what it changes of painted memory,
its outputs must have the bits of the portable code on this machine, one lane at a time. The first core runs all levels,
further ones the first level of short models only. Fails: one above `--limit=MODEL:LEVEL:WHAT=NUMBER`, on the first core; there,
instructions or stack of any level above those of the first by more than builds for debugging may cost.
"""

import argparse
import dataclasses
import json
import os
import platform
import re
import shlex
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Core:
    """A core as the page names it, QEMU's board, the cross compiler's flags, those of a host that rounds alike."""

    name: str
    board: str
    flags: str
    host_flags: str = ""


CORES = {
    "m4": Core("Cortex-M4", "mps2-an386", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "-mfma"),
    "m7": Core("Cortex-M7", "mps2-an500", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16", "-mfma"),
    "m3": Core("Cortex-M3", "mps2-an385", "-mcpu=cortex-m3 -mthumb"),
    "m0plus": Core("Cortex-M0+", "mps2-an385", "-mcpu=cortex-m0plus -mthumb"),   # the M3 has all its instructions
}
LEVELS = ["-O2", "-Os", "-O3", "-Og", "-O0", "-O2 -ffreestanding"]
MOST_INSTRUCTIONS, MOST_STACK = 1.3, 1.5                                 # of any level, times those of the first
SHORT = 10e6                                                             # instructions of a model that all cores run
STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"
HEAD = """# Firmware

Written by `make check-cortex-m`: `--target=cortex-m`, GCC {version}, cores emulated by QEMU.

Instructions are those of one run, counted one by one; they are no cycles. Code: bytes of machine code in the object,
constants and weights not counted; at -O0 GCC keeps functions that nothing calls, which linkers leave out under
`-ffunction-sections`. Stack: bytes that the run changed, with those of the C library. The outputs of every row have
the same bits as those of the portable code on the machine that wrote this page, one lane at a time.

{cores}
GCC compiles generated code at -O2 on processors without an operating system and vectors, whatever the command line
says, unless that is -Os: a debug build of firmware (-O0, -Og) runs the model as fast and in as little stack.
`-DOCC_LEVEL_AS_GIVEN` leaves the level alone. Clang has no such switch.

| model | core | level | instructions | code | stack |
|---|---|---|---:|---:|---:|
"""


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def model_name(path):
    folder, file = os.path.split(path)
    return os.path.basename(folder) if file == "model.onnx" else file[:-5]


def stored_inputs(path):
    """The first stored set of inputs, beside a model or under models/stored."""
    for folder in (os.path.dirname(path), os.path.join(os.path.dirname(path), "stored", model_name(path))):
        first = os.path.join(folder, "test_data_set_0")
        if os.path.isdir(first):
            break
    arrays = []
    while os.path.exists(file := os.path.join(first, f"input_{len(arrays)}.pb")):
        tensor = onnx.TensorProto()
        with open(file, "rb") as data:
            tensor.ParseFromString(data.read())
        arrays.append(numpy_helper.to_array(tensor))
    return arrays


# ------------------------------------------------------------------------------------------------------------- the case

def port_bytes(port):
    width = np.dtype({"float": "f4", "double": "f8", "bool": "u1"}.get(port["type"], port["type"])).itemsize
    return int(np.prod(port["extents"])) * width


def write_case(folder, inputs):
    """case.h: the memory, inputs and outputs of the model in `folder`, whose report tells them."""
    with open(os.path.join(folder, "report.json")) as file:
        report = json.load(file)
    aligned = "__attribute__((aligned(64)))"
    text = ["#include \"model.h\"\n", f"static uint8_t case_arena[MODEL_ARENA_SIZE + 1] {aligned};",
            "static const model_memory case_memory = {case_arena};"]
    for i, array in enumerate(inputs):
        text.append(f"static const uint8_t case_in{i}[] {aligned} = {{{','.join(map(str, array.tobytes()))}}};")
    for i, port in enumerate(report["outputs"]):
        text.append(f"static uint8_t case_out{i}[{port_bytes(port)}] {aligned};")
    for const, kind in (("const ", "in"), ("", "out")):
        members = [f".{p['member']} = (void *)case_{kind}{i}" for i, p in enumerate(report[kind + "puts"])]
        text.append(f"static {const}model_{kind}puts case_{kind}puts = {{{', '.join(members)}}};")
    text.append("static const struct { const uint8_t *bytes; uint32_t count; } case_output[] = {")
    text.append(",".join(f"{{case_out{i}, sizeof case_out{i}}}" for i in range(len(report["outputs"]))) + "};")
    text.append("#define CASE_RUN model_run\n")
    with open(os.path.join(folder, "case.h"), "w") as file:
        file.write("\n".join(text))
    return [np.dtype({"float": "f4", "double": "f8"}.get(p["type"], "u1")) for p in report["outputs"]]


def generate(arguments, path, target):
    folder = os.path.join(arguments.folder, model_name(path), target)
    os.makedirs(folder, exist_ok=True)
    run([os.path.abspath(arguments.occamyc), os.path.abspath(path), "-o", "model.c", "--name=model", "--weights=inline",
         "--quiet", f"--target={target}", "--report=report.json", *arguments.flag], folder)
    return folder, write_case(folder, stored_inputs(path))


def outputs_of(text, types):
    if "status 00000000" not in text:
        sys.exit(f"the run failed: {text[-500:]}")
    raw = [bytes.fromhex(line) for line in re.findall(r"^output ([0-9a-f]*)$", text, re.M)]
    return [np.frombuffer(r, t) for r, t in zip(raw, types)]


def host_outputs(arguments, core, path):
    folder, types = generate(arguments, path, "portable")
    fused = shlex.split(core.host_flags) if platform.machine() == "x86_64" else []
    run([*shlex.split(arguments.host_cc), "-O2", "-DOCC_FORCE_SCALAR", *fused, "-o", "host", "-I.",
         os.path.join(HERE, "host.c"), "model.c", "-lm"], folder)
    return outputs_of(run(["./host"], folder), types), types


# ------------------------------------------------------------------------------------------------------------ the board

def build(arguments, core, folder, flags):
    """Bytes of the model's machine code; board.elf is left in `folder`."""
    compiler = [arguments.cc, *shlex.split(core.flags)]
    run([*compiler, *shlex.split(STRICT), *shlex.split(flags), "-c", "model.c", "-o", "model.o"], folder)
    run([*compiler, "-O1", "-I.", "-c", os.path.join(HERE, "board.c"), "-o", "board.o"], folder)
    run([*compiler, "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-T", os.path.join(HERE, "board.ld"),
         "board.o", "model.o", "-lm", "-o", "board.elf"], folder)
    sizes = run([re.sub("gcc$", "size", arguments.cc), "-A", "-d", "model.o"], folder)
    return sum(int(n) for n in re.findall(r"^\.text\S*\s+(\d+)", sizes, re.M))


def emulate(arguments, core, folder):
    """What the board printed, and the counter behind it."""
    symbols = run([re.sub("gcc$", "nm", arguments.cc), "board.elf"], folder)
    mark = {name: re.search(rf"^([0-9a-f]+) \w board_count_{name}$", symbols, re.M)[1] for name in ("from", "to")}
    plugin = f"{os.path.abspath(arguments.plugin)},from={mark['from']},to={mark['to']}"
    if arguments.profile:
        plugin += ",profile=profile.txt"
    return run(["qemu-system-arm", "-machine", core.board, "-nographic", "-monitor", "none", "-serial", "none",
                "-semihosting-config", "enable=on,target=native", "-kernel", "board.elf", "-plugin", plugin],
               folder, timeout=600)


def difference(found, wanted):
    """None: the same bits; else the largest difference over the largest magnitude."""
    if all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted)):
        return None
    return max(float(np.max(np.abs(a - b.astype("f8"))) / max(np.max(np.abs(b)), 1e-30)) for a, b in zip(found, wanted))


def measure(arguments, core, folder, wanted, types, flags):
    code = build(arguments, core, folder, flags)
    said = emulate(arguments, core, folder)
    return dict(code=code, instructions=int(re.search(r"^instructions (\d+)", said, re.M)[1]),
                stack=int(re.search(r"^stack ([0-9a-f]+)", said, re.M)[1], 16),
                error=difference(outputs_of(said, types), wanted))


def differs(row):
    return [] if row["error"] is None else [f"the outputs differ by {row['error']:.1e}"]


def check(arguments, model_level, row, first):
    """Messages about what is not as it must be on the first core; `first` is the row of the first level."""
    limits = [(what, limit) for where, what, limit in arguments.limits if where == model_level]
    limits += [("instructions", MOST_INSTRUCTIONS * first["instructions"]), ("stack", MOST_STACK * first["stack"])]
    wrong = [f"{row[what]:,} {what}, at most {int(limit):,} are wanted" for what, limit in limits if row[what] > limit]
    return wrong + differs(row)


def read_limit(text):
    where, _, rest = text.rpartition(":")
    what, _, limit = rest.partition("=")
    return where, what, float(limit)


def add_tools(parser):
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--plugin", required=True, help="count.c as a shared object")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cc", default="arm-none-eabi-gcc")
    parser.add_argument("--host-cc", default="cc")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_tools(parser)
    parser.add_argument("--core", action="append", choices=sorted(CORES), help="repeated; m4")
    parser.add_argument("--level", action="append", help="flags of a row, repeated")
    parser.add_argument("--flag", action="append", default=[], help="an option of occamyc, repeated")
    parser.add_argument("--limit", dest="limits", action="append", type=read_limit, default=[],
                        help="MODEL:LEVEL:WHAT=NUMBER")
    parser.add_argument("--profile", action="store_true", help="leave profile.txt, the count of each instruction")
    parser.add_argument("--document")
    parser.add_argument("models", nargs="+")
    return parser.parse_args()


def model_rows(arguments, path):
    """(core, level, row, messages) of one model."""
    name = model_name(path)
    first = None
    for index, core in enumerate(CORES[c] for c in arguments.core or ["m4"]):
        if first and first["instructions"] > SHORT:
            break
        wanted, types = host_outputs(arguments, core, path)
        folder, _ = generate(arguments, path, "cortex-m")
        levels = arguments.level or LEVELS
        for level in levels if index == 0 else levels[:1]:
            row = measure(arguments, core, folder, wanted, types, level)
            first = first or row
            yield core, level, row, check(arguments, f"{name}:{level}", row, first) if index == 0 else differs(row)


def main():
    arguments = read_arguments()
    version = run([arguments.cc, "-dumpfullversion"], ".").strip()
    cores = "".join(f"- {CORES[c].name}: `{CORES[c].flags}`\n" for c in arguments.core or ["m4"])
    page, passed, failed, skipped = HEAD.format(cores=cores, version=version), 0, 0, 0
    for path in arguments.models:
        if not os.path.exists(path):
            print(f"SKIPPED: {path} is not there")
            skipped += 1
            continue
        for core, level, row, wrong in model_rows(arguments, path):
            figures = " | ".join(f"{row[what]:,}" for what in ("instructions", "code", "stack"))
            line = f"| {model_name(path)} | {core.name} | `{level}` | {figures} |\n"
            print(line, end="", flush=True)
            page += line
            failed, passed = failed + bool(wrong), passed + (not wrong)
            for message in wrong:
                print(f"FAILED: {model_name(path)} {core.name} {level}: {message}")
    if arguments.document and not failed and not skipped:
        with open(arguments.document, "w") as file:
            file.write(page)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
