"""Compiles a model with occamyc, builds the host program with a C compiler, feeds it raw files and reads what it wrote.

This is the outside check: nothing here trusts a word of occamyc but its exit code. Every failure is a Failure with one
of the states below and a sentence.
"""

import argparse
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import numpy as np

import cases
import dims
import host_parts
import objects
import tensors

# refused: exit 3, says why. invalid: exit 1, 2 or 4 on a good model. crash: exit 70, a signal, no exit at all.
STATES = ("pass", "wrong", "refused", "invalid", "crash", "cc-fail", "run-fail")
STRICT = "-std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"
# What GCC need not do for -O1 in tests: a quarter of the time that it takes for kernels.
SPARED = ["-fno-guess-branch-probability", "-fno-ivopts", "-fno-tree-ccp"]
# For tests of what occamyc decides: kernels are calls, told that their arguments are literals as they are where they are inlined. A tenth
# of the time of -O1, and the same branches of kernels.
CALLS = "-O0 -D__builtin_constant_p(n)=1"
LITERAL = STRICT.replace("-O1", CALLS)
# A race is one at any level: ThreadSanitizer sees accesses that nothing orders, whichever came first.
RACE = LITERAL + " -g1 -fsanitize=thread"
KEYS = re.compile(r"^(\d+)\.keys .*? (\S+) (\[\d+\])$", re.M)
LINE = re.compile(r"^(\d+)(?:\.(\d+))? (.*?) (\S+) (\[[][\d, x]*\])$")
ABSENT = re.compile(r"^(\d+) (.*) none\b")
ARENA = re.compile(r"^arena planned (\d+) touched (\d+)$", re.M)


class Failure(Exception):
    def __init__(self, state, reason):
        super().__init__(reason)
        self.state, self.reason = state, reason


@dataclass
class Toolchain:
    """The compiler under test, the C compiler and the limits of each step, in seconds."""

    occamyc: str
    cc: str = "cc"
    cflags: str = STRICT
    literal_above: int = 0                                           # bytes of a model.c that is built with LITERAL; 0: none is
    compile_limit: float = 120
    build_limit: float = 600
    run_limit: float = 300
    flags: list = field(default_factory=list)
    device: str = ""                                                 # archive of the fake CUDA runtime
    nvcc: str = ""                                                   # with its -arch: device code is built for a device
    runner: str = ""                                                 # an emulator in front of the host program


@dataclass
class Run:
    """What one run gave: values in graph order, arena bytes planned and touched, everything printed."""

    outputs: list
    planned: int
    touched: int
    text: str


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def first_error(text):
    for line in text.splitlines():
        if "error" in line or "undefined reference" in line:
            return line.strip()
    return last_line(text)


def run_command(arguments, limit, folder=None):
    """(exit code, output and errors together); a code below zero is a signal; SIGALRM stands for the time limit."""
    try:
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, cwd=folder,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM, f"still running after {limit:g} s"


def compile_model(tools, model, folder, flags):
    """Write model.c, model.h and main.c into a fresh `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [tools.occamyc, model, "-o", os.path.join(folder, "model.c"), "--name=model",
               "--main=" + os.path.join(folder, "main.c"), "--quiet", *flags, *tools.flags]
    code, text = run_command(command, tools.compile_limit)
    with open(os.path.join(folder, "command.txt"), "w") as file:
        file.write(shlex.join(command) + "\n" + text)
    if code == 3:
        raise Failure("refused", first_error(text))
    if code in (1, 2, 4):
        raise Failure("invalid", f"exit {code}: {first_error(text)}")
    if code != 0:
        raise Failure("crash", f"occamyc exit {code}: {last_line(text)}")


def run_compiler(folder, command, limit):
    code, text = run_command(command, limit, folder)
    with open(os.path.join(folder, "command.txt"), "a") as file:
        file.write(shlex.join(command) + "\n" + text)
    if code != 0:
        raise Failure("cc-fail", first_error(text))


def flags_of(tools, folder):
    is_long = 0 < tools.literal_above < os.path.getsize(os.path.join(folder, "model.c"))
    return LITERAL if is_long else tools.cflags


def build_program(tools, folder):
    """Link everything that was written into `folder`/model. The host program itself is not optimised: it is the larger
    part of what a small case costs."""
    sources = sorted(os.path.basename(p) for ending in ("c", "S", "s") for p in glob.glob(os.path.join(folder, "*." + ending)))
    sources = [source for source in sources if source not in ("main.c", *host_parts.FILES)] # those of an earlier build in the folder, too
    compiler = [*shlex.split(tools.cc), *shlex.split(flags_of(tools, folder))]
    if "-O1" in compiler and b"clang" not in objects.version_of(compiler[0]):
        compiler += SPARED
    if tools.nvcc:
        compiler += ["-isystem", os.path.join(os.path.dirname(shlex.split(tools.nvcc)[0]), "..", "include")]
    elif tools.device:
        compiler += ["-isystem", EMULATION]
    for source in sources:
        compile_source(tools, folder, compiler, source)
    made = [os.path.splitext(source)[0] + ".o" for source in sources]
    if tools.nvcc:
        build_for_device(tools, folder, compiler, made)
    elif tools.device:
        build_emulated(tools, folder, compiler, made)
    else:
        made += build_host(tools, folder, [*compiler, "-O0"])
        run_compiler(folder, [*compiler, "-o", "model", *made, "-lm"], tools.build_limit)


def compile_source(tools, folder, compiler, source):
    """An object from one of the files; of C that includes nothing from elsewhere, perhaps one that a test made before."""
    def run(command):
        run_compiler(folder, command, tools.build_limit)

    if tools.nvcc or not source.endswith(".c"):
        run([*compiler, "-c", source])
    else:
        store = os.path.join(os.path.dirname(os.path.abspath(tools.occamyc)), "objects")
        objects.compile_once(store, folder, compiler, source, run, [os.path.join(EMULATION, "cuda_runtime_api.h")] if tools.device else [])


def build_host(tools, folder, compiler):
    """The objects of main.c."""
    sources = ["main.c"]
    if "OCC_PROFILE" not in tools.cflags and host_parts.write_two_files(folder):
        sources = host_parts.FILES
    for source in sources:
        compile_source(tools, folder, compiler, source)
    return [os.path.splitext(source)[0] + ".o" for source in sources]


def build_for_device(tools, folder, compiler, made):
    """The device's code by nvcc, as docs/cuda.md says."""
    nvcc = shlex.split(tools.nvcc)
    if os.path.exists(os.path.join(folder, "model.cu")):
        run_compiler(folder, [*nvcc, "-O3", "-fmad=false", "-Werror", "all-warnings", "-c", "model.cu", "-o", "model_cu.o"], tools.build_limit)
        made = [*made, "model_cu.o"]
    run_compiler(folder, [*compiler, "-O0", "-c", "main.c"], tools.build_limit)
    run_compiler(folder, [*nvcc, "-o", "model", "main.o", *made, "-lm"], tools.build_limit)


EMULATION = os.path.abspath("runtime/emulation")
KERNELS = ["-I" + folder for folder in ("codegen_templates/c", *sorted(glob.glob("codegen_templates/c/*/")))]  # folders of kernel templates
EMULATED = ["-std=c++17", "-O1", "-ffp-contract=off", "-mfma", "-DOCC_EMULATE", "-Wall", "-Wextra", "-Werror", "-I" + EMULATION]


def precompiled(tools):
    """Flags that take in emulate.h as g++ left it when it had read it once, which it takes longer for than for most programs.
    Where g++ cannot use that, as of another version, it reads the header itself."""
    folder = os.path.join(os.path.dirname(tools.device), "emulated")
    header, done = (os.path.join(folder, "emulated.h" + ending) for ending in ("", ".gch"))
    if not os.path.exists(done) or os.path.getmtime(done) < max(os.path.getmtime(path) for path in glob.glob(EMULATION + "/*.h")):
        os.makedirs(folder, exist_ok=True)
        with open(header, "w") as file:
            file.write('#include "emulate.h"\n')
        handle, whole = tempfile.mkstemp(dir=folder)
        os.close(handle)
        run_compiler(folder, ["g++", *EMULATED, "-x", "c++-header", header, "-o", whole], tools.build_limit)
        os.replace(whole, done)                                 # other tests look for it at the same time
    return ["-I" + folder, "-include", "emulated.h"]


def build_emulated(tools, folder, compiler, made):
    """The device's code as C++ for the processor, linked with the fake runtime of runtime/emulation, `tools.device`."""
    if os.path.exists(os.path.join(folder, "model.cu")):
        run_compiler(folder, ["g++", *EMULATED, *precompiled(tools), "-x", "c++", "-c", "model.cu", "-o", "model_cu.o"], tools.build_limit)
        made = [*made, "model_cu.o"]
    made += build_host(tools, folder, [*compiler, "-O0"])
    run_compiler(folder, ["g++", "-o", "model", *made, tools.device, "-lm", "-lpthread"], tools.build_limit)


def write_map(folder, stem, kind, value):
    keys = np.array(list(value), dtype=object if kind.map_type.key_type == tensors.STRING else np.int64)
    names = f"{stem}.raw", f"{stem}.keys.raw"
    for name, raw in zip(names, (b"".join(v.raw for v in value.values()), tensors.from_numpy(keys).raw)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(raw)
    return "@".join(names)


def write_argument(folder, stem, kind, value):
    """The raw files of one input, and the host program's argument for it."""
    if value is None:
        return "none"
    if isinstance(value, list):
        inner = dims.strip_optional(kind).sequence_type.elem_type
        return ",".join(write_argument(folder, f"{stem}.{i}", inner, v) for i, v in enumerate(value))
    if isinstance(value, dict):
        return write_map(folder, stem, kind, value)
    name = stem + ".raw"
    with open(os.path.join(folder, name), "wb") as file:
        file.write(value.raw)
    spoken = dims.is_open(kind) or stem.count(".")                      # members of a sequence always say their extents
    return f"{name}:{'x'.join(map(str, value.shape))}" if spoken and value.shape else name


def read_member(folder, label, type_name, extents):
    dtype = tensors.PRINTED.get(type_name.lower())
    if dtype is None:
        raise Failure("run-fail", f"output {label} has the unknown type '{type_name}'")
    shape = tuple(int(n) for n in re.findall(r"\d+", extents))
    path = os.path.join(folder, "out", label + ".bin")
    if not os.path.exists(path):
        raise Failure("run-fail", f"out/{label}.bin was not written")
    with open(path, "rb") as file:
        raw = file.read()
    wanted = tensors.raw_size(dtype, shape)
    if wanted is not None and wanted != len(raw):
        raise Failure("run-fail", f"out/{label}.bin has {len(raw)} bytes, {type_name} {list(shape)} needs {wanted}")
    return tensors.Tensor(dtype, shape, raw)


def read_table(folder, text, index):
    """The tensor that stands for maps."""
    match = next(m for m in map(LINE.match, text.splitlines()) if m and m[1] == index)
    return read_member(folder, index, match[4], match[5])


def read_outputs(folder, text, infos):
    """Values in graph order, from the printed lines and out/*.bin."""
    outputs = [[] if dims.strip_optional(i.type).HasField("sequence_type") else None for i in infos]
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        index, member, _, type_name, extents = match.groups()
        if int(index) >= len(outputs):
            raise Failure("run-fail", f"output {index} does not exist: '{line}'")
        if member is not None:
            outputs[int(index)].append(read_member(folder, f"{index}.{member}", type_name, extents))
        elif not isinstance(outputs[int(index)], list):
            outputs[int(index)] = read_member(folder, index, type_name, extents)
    for index, type_name, extents in KEYS.findall(text):
        keys = read_member(folder, f"{index}.keys", type_name, extents).array()
        outputs[int(index)] = tensors.join_maps(read_table(folder, text, index), keys.tolist())
    for line in text.splitlines():
        absent = ABSENT.match(line)
        if absent and int(absent[1]) < len(outputs):
            outputs[int(absent[1])] = None
    return outputs


def run_program(tools, folder, model, inputs, options=(), named=False):
    """Feed one set of input values; returns a Run. `named`: by their names, as first states need."""
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    infos = cases.true_inputs(model)
    arguments = [write_argument(folder, f"in_{i}", info.type, value) for i, (info, value) in enumerate(zip(infos, inputs))]
    if named:
        arguments = [f"{info.name}={argument}" for info, argument in zip(infos, arguments)]
    command = [*shlex.split(tools.runner), "./model", *arguments, "-o", "out", *options]
    code, text = run_command(command, tools.run_limit, folder)
    with open(os.path.join(folder, "command.txt"), "a") as file:
        file.write(shlex.join(command) + "\n" + text)
    if code != 0:
        raise Failure("run-fail", f"host program exit {code}: {last_line(text)}")
    arena = ARENA.search(text)
    if not arena:
        raise Failure("run-fail", "no line 'arena planned N touched M'")
    if int(arena[2]) > int(arena[1]):
        raise Failure("wrong", f"touched {arena[2]} arena bytes, planned {arena[1]}")
    return Run(read_outputs(folder, text, model.graph.output), int(arena[1]), int(arena[2]), text)


def check_each(check, about, names, skipped=0):
    """The main program of a test that calls check(arguments, name) for each of the names, or for those on the command line.
    `skipped`: how many more there would be."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--work", required=True, help="folder of what is made")
    parser.add_argument("names", nargs="*", default=list(names))
    arguments = parser.parse_args()
    arguments.occamyc = os.path.abspath(arguments.occamyc)
    os.makedirs(arguments.work, exist_ok=True)
    failed = 0
    for name in arguments.names:
        try:
            check(arguments, name)
        except Failure as failure:
            failed += 1
            print(f"{name}: {failure.state}: {failure}")
    print(f"{len(arguments.names) - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
