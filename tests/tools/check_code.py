"""Proofs about generated code, whatever it computes: check_code.py --occamyc=PROGRAM [--models MODEL.onnx...] [FOLDER OF CASES...]

For each model, half of them with inputs and outputs in the arena: no warning from GCC, at one of five levels, and Clang with
everything on; the object references the functions that the report lists and no others but those that every C compiler may
call, none of them allocates, reads or writes files, and it has no writable data; the guarded build, at that level, runs clean
on the stored inputs; under the address and undefined-behaviour sanitizers the stored inputs run clean, and hostile ones
(extreme integers, NaN, infinities, extents and counts that nobody promised) end with status 0 or with one of the header's
codes. Cases are sampled by the hash of their name; --all takes every one.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx

import cases
import dims
import host
import run_case
import tensors

WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"
# Without optimisation: with it, checks of the kernels' inlined loops take minutes to compile.
SANITIZED = f"{WARNINGS} -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
GUARDED = f"{WARNINGS} -DOCC_GUARD"
LEVELS = ("-O1", "-O2", "-Os", "-Og", "-O3")            # one of these, by the hash of the name: GCC warns by what it inlines
PLAIN = f"{WARNINGS} -O0 -DOCC_FORCE_SCALAR -fno-builtin"     # every function that the source names is called by its name
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99"}

# What a freestanding compiler may call of its own accord; what else a model may need: mathematics, and looking at text.
COMPILER_OWN = {"memcpy", "memmove", "memset", "memcmp"}
TEXT = {"strlen", "strcmp", "strncmp", "memchr"}
MATHEMATICS = {name + ending for ending in ("", "f") for name in (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod "
    "frexp hypot ldexp lgamma log log10 log1p log2 lrint llrint modf nearbyint pow remainder rint round scalbn sin sinh sqrt "
    "tan tanh tgamma trunc").split()}
WRITABLE = re.compile(r"^\.(data(?!\.rel\.ro)|bss|tbss|tdata|ldata|lbss)")
# What the host program says when the model, or the program itself, refuses an input.
REFUSAL = re.compile(r"the run failed: E[A-Z]+ \(-\d\)|model was compiled for|\bextents\b|\bmembers\b")
HOSTILE_ROUNDS = 3


@dataclasses.dataclass
class Subject:
    """What run_case's compile step reads of a case, for a model that is no case."""

    name: str
    path: str
    folder: str
    model: onnx.ModelProto
    sets: list
    flags: list


# ------------------------------------------------------------------------------------------------------ symbols and sections

def symbols(folder, command, pattern):
    code, text = host.run_command(command, 60, folder)
    if code:
        raise host.Failure("run-fail", host.last_line(text))
    return re.findall(pattern, text, re.M)


def prove_symbols(tools, folder):
    """Compiled without builtins, so that nothing that the source names is hidden by an instruction."""
    host.run_compiler(folder, [*tools.gcc, *PLAIN.split(), "-c", "model.c", "-o", "plain.o"], tools.build_limit)
    outside = set(symbols(folder, ["nm", "-u", "plain.o"], r"^\s*U (\w+)$")) - {"_GLOBAL_OFFSET_TABLE_"}
    with open(os.path.join(folder, "report.json")) as file:
        said = set(json.load(file)["code"]["libc"])
    foreign = outside - COMPILER_OWN - TEXT - MATHEMATICS - set(symbols(folder, ["nm", "plain.o"], r"^\s*U (\w*weights\w*)$"))
    if foreign:
        raise host.Failure("wrong", f"the object references {sorted(foreign)}")
    if outside - COMPILER_OWN != said - COMPILER_OWN:
        raise host.Failure("wrong", f"the object references {sorted(outside)}, the report lists {sorted(said)}")
    for name, size in symbols(folder, ["size", "-A", "-d", "plain.o"], r"^(\.\S+)\s+(\d+)\s+\d+$"):
        if WRITABLE.match(name) and int(size):
            raise host.Failure("wrong", f"{size} bytes of writable data in {name}")
    common = symbols(folder, ["nm", "plain.o"], r"^[0-9a-f]+ C (\w+)$")
    if common:
        raise host.Failure("wrong", f"common symbols {common}")


# ------------------------------------------------------------------------------------------------------------ hostile inputs

def hostile_numbers(generator, dtype, count):
    """Raw bytes of `count` elements, each of them extreme, random or small."""
    if dtype == onnx.TensorProto.BOOL:
        return bytes(generator.choices((0, 1), k=count))
    if dtype == tensors.STRING:
        return tensors.join_text([generator.randbytes(generator.randrange(40)).replace(b"\0", b"\1") for _ in range(count)])
    size = tensors.raw_size(dtype, (count,))
    if dtype in tensors.BITS:
        return generator.randbytes(size)
    width = size // count if count else 1
    extremes = [b"\0" * width, b"\xff" * width, b"\xff" * (width - 1) + b"\x7f", b"\0" * (width - 1) + b"\x80",
                b"\1" + b"\0" * (width - 1), b"\0" * (width - 2) + b"\x80\x7f" if width > 1 else b"\x7c"]
    numpy_type = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    small = np.arange(-3, 8).astype(numpy_type if numpy_type.kind in "iuf" else np.int8)
    kinds = [lambda: generator.choice(extremes), lambda: generator.randbytes(width),
             lambda: small[generator.randrange(11):][:1].tobytes().ljust(width, b"\0")[:width]]
    mixed = generator.choice(([0, 1, 2], [0, 2], [2], [2, 2, 2, 2, 2, 2, 0]))
    return b"".join(kinds[generator.choice(mixed)]() for _ in range(count))


def hostile_value(generator, value, kind, reshape):
    """A value of the same type; with `reshape`, of extents or members that the model may not be ready for."""
    if value is None:
        return None
    if isinstance(value, list):
        inner = dims.strip_optional(kind).sequence_type.elem_type
        members = [hostile_value(generator, v, inner, reshape) for v in value]
        return members * generator.randrange(3) if reshape else members
    if isinstance(value, dict):                          # a map: its keys are the model's, its values stay
        return value
    shape = value.shape
    if reshape and shape and dims.is_open(kind):
        shape = tuple(generator.choice((0, 1, n, n, n + 1, 2 * n)) for n in shape)
    return tensors.Tensor(value.dtype, shape, hostile_numbers(generator, value.dtype, int(np.prod(shape, dtype=np.int64))))


def prove_hostile(tools, folder, subject):
    generator = random.Random(subject.name)
    infos = cases.true_inputs(subject.model)
    for turn in range(HOSTILE_ROUNDS if infos else 0):
        inputs = [hostile_value(generator, value, info.type, turn == HOSTILE_ROUNDS - 1)
                  for info, value in zip(infos, subject.sets[0][0])]
        try:
            host.run_program(tools, folder, subject.model, inputs)
        except host.Failure as failure:
            if failure.state != "run-fail" or not REFUSAL.search(failure.reason):
                raise host.Failure("wrong", f"hostile inputs, turn {turn}: {failure.reason}") from failure


# ------------------------------------------------------------------------------------------------------------------ one model

def build(tools, folder, compiler, flags):
    built = host.Toolchain(tools.occamyc, " ".join(compiler), flags, build_limit=tools.build_limit, run_limit=120)
    host.build_program(built, folder)
    return built


def prove_guarded(tools, folder, subject):
    level = LEVELS[hash_of(subject.name + " level") % len(LEVELS)]
    built = build(tools, folder, tools.gcc, f"{GUARDED} {level}")
    for inputs, _ in subject.sets:
        host.run_program(built, folder, subject.model, inputs)


def prove_sanitized(tools, folder, subject):
    built = build(tools, folder, tools.clang, SANITIZED)
    for inputs, _ in subject.sets:
        host.run_program(built, folder, subject.model, inputs)
    prove_hostile(built, folder, subject)


def prove(tools, subject, work, key):
    """A line of the result, as run_case's; the folder stays where a proof failed."""
    folder, mark = os.path.join(work, subject.name), os.path.join(work, subject.name + ".proved")
    place = ["--io=arena"] if hash_of(subject.name + " place") % 2 else [] # the hash of the name alone is even where it is sampled
    asked = dataclasses.replace(tools.toolchain, flags=[f"--report={folder}/report.json", *place])
    try:
        run_case.compile_case(asked, subject, folder)
        now = run_case.case_key(subject, folder, key)
        if run_case.read_text(mark) != now:
            prove_symbols(tools, folder)
            prove_guarded(tools, folder, subject)
            prove_sanitized(tools, folder, subject)
            with open(mark, "w") as file:
                file.write(now)
        shutil.rmtree(folder)
        return run_case.Result(subject.name, "", "pass", "")
    except host.Failure as failure:
        return run_case.Result(subject.name, "", failure.state, failure.reason)


# ----------------------------------------------------------------------------------------------------------------------- all

@dataclasses.dataclass
class Tools:
    occamyc: str
    gcc: list
    clang: list
    build_limit: float = 300

    @property
    def toolchain(self):
        return host.Toolchain(self.occamyc)


def hash_of(name):
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)


def is_sampled(name, rate):
    return hash_of(name) % rate == 0


def choose(arguments):
    """Own models with their stored sets, then the cases of each folder that are listed (where there is a list) and sampled."""
    for path in arguments.models:
        name = os.path.splitext(os.path.basename(path))[0]
        stored = os.path.join(os.path.dirname(path), "stored", name)
        model = onnx.load(path)
        yield Subject(name, os.path.abspath(path), stored, model, cases.read_sets(model, stored), [])
    listed = set(run_case.read_list(arguments.list)) if arguments.list else None
    for folder in arguments.folders:
        for name in sorted(os.listdir(folder)):
            wanted = name.startswith("test_") if listed is None or folder in arguments.unlisted else name in listed
            if wanted and (arguments.all or name in arguments.also or is_sampled(name, arguments.rate)):
                yield cases.Case(os.path.join(folder, name))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--gcc", default="gcc")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--models", nargs="*", default=[], help="models with stored sets in a folder `stored` beside them")
    parser.add_argument("--list", help="file of case names: others are left out")
    parser.add_argument("--unlisted", action="append", default=[], help="a folder of cases that --list says nothing of")
    parser.add_argument("--rate", type=int, default=24, help="one case in so many is taken")
    parser.add_argument("--also", action="append", default=[], help="a case that is taken in any event")
    parser.add_argument("--all", action="store_true", help="every case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", default="build/code_runs", help="folder of generated files; failures stay there")
    parser.add_argument("folders", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    start, work = time.time(), os.path.abspath(arguments.work)
    arguments.folders += [f for f in arguments.unlisted if f not in arguments.folders]
    os.environ.update(SANITIZER_OPTIONS)
    os.makedirs(work, exist_ok=True)
    tools = Tools(os.path.abspath(arguments.occamyc), arguments.gcc.split(), arguments.clang.split())
    versions = b"".join(subprocess.run([*c, "--version"], capture_output=True).stdout for c in (tools.gcc, tools.clang))
    key = run_case.tools_key(tools.toolchain) + hashlib.sha256(versions).hexdigest()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda subject: prove(tools, subject, work, key), choose(arguments)))
    count = collections.Counter(r.state for r in results)
    for result in results:
        if result.state != "pass":
            print(f"{result.state:9} {result.name}: {result.reason}")
    failed = len(results) - count["pass"] - count["refused"]
    print(f"generated code of {len(results)} models, {time.time() - start:.0f} s")
    print(f"{count['pass']} passed, {failed} failed, {count['refused']} skipped")
    sys.exit(1 if failed or not count["pass"] else 0)


if __name__ == "__main__":
    main()
