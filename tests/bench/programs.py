"""Builds a network as a program of its own, writes inputs for it, and talks to running programs: what both benchmarks share."""

import hashlib
import re
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import onnx

SETS = 4  # of inputs, which rotate
BUSY, WALL = "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_MONOTONIC"  # what steps are timed by: of processors, of the wall
HERE = Path(__file__).resolve().parent


def run_quietly(command, folder):
    """Seconds that it took; ends the benchmark with its words where it fails."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return time.monotonic() - start


def graph_inputs(model):
    """What a caller of the model of this file must give: initialisers are listed as inputs in old files."""
    graph = onnx.load(model, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


class Network:
    """One model, generated into a folder and built there in one or several ways."""

    def __init__(self, model, folder, occamyc, options=()):
        self.model, self.name = Path(model).resolve(), Path(model).stem
        self.folder = Path(folder).resolve() / self.name / ("_".join(o.strip("-").replace("=", "-") for o in options) or "plain")
        self.folder.mkdir(parents=True, exist_ok=True)
        run_quietly([occamyc, self.model, "-o", "model.c", "--name=model", "--main=main.c", "--quiet", *options], self.folder)
        self.source = self.folder / "model.c"

    def weights_changed(self):
        """A short mark of the side file of weights, which the source includes."""
        side = self.folder / "model.c.weights"
        return f"{side.stat().st_size} {zlib.crc32(side.read_bytes())}" if side.exists() else ""

    def build(self, cc, flags, steps=None):
        """The program, made anew only where its text or its flags differ from those of the last time; `steps`: the clock that
        times each step, BUSY or WALL."""
        timed = ["-include", str(HERE / "profile.h"), f"-DBENCH_STEP_CLOCK={steps}"] if steps else []
        words = cc.split() + flags.split() + timed
        mark = hashlib.sha256(" ".join(words).encode())
        for file in (self.source, self.folder / "main.c", HERE / "driver.c"):
            mark.update(file.read_bytes())
        mark.update(self.weights_changed().encode())
        program = self.folder / f"program-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:8]}"
        stamp = program.with_suffix(".mark")
        if program.exists() and stamp.exists() and stamp.read_text().split()[0] == mark.hexdigest():
            return program
        target = program.with_suffix(".o")
        took = run_quietly([*words, "-c", "-o", target, "model.c"], self.folder)
        driver = [*cc.split(), "-O2", f'-DBENCH_HOST="{self.folder / "main.c"}"', f"-I{self.folder}"]
        run_quietly([*driver, *timed, HERE / "driver.c", target, "-o", program, "-lm", "-pthread"], self.folder)
        stamp.write_text(f"{mark.hexdigest()} {took:.2f}\n")
        return program

    def inputs(self):
        """Raw files, all of set 0 first; drawn once. Integers index tables of at least two rows."""
        values, paths = graph_inputs(self.model), []
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        for s in range(SETS):
            for i, value in enumerate(values):
                shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
                dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                drawn = random.standard_normal(shape) if np.issubdtype(dtype, np.floating) else random.integers(0, 2, shape)
                paths.append(self.folder / f"in_{s}_{i}.bin")
                drawn.astype(dtype).tofile(paths[-1])
        return [str(p) for p in paths]


def build_time(program):
    return float(program.with_suffix(".mark").read_text().split()[1])


def shipped_bytes(program):
    """Code and constants of the model besides its weights."""
    text = subprocess.run(["size", "-A", program.with_suffix(".o")], stdout=subprocess.PIPE, text=True).stdout
    weights = re.search(r"_WEIGHTS_SIZE (\d+)", (program.parent / "model.h").read_text())
    loaded = sum(int(line.split()[1]) for line in text.splitlines() if line.startswith((".text", ".rodata", ".eh_frame", ".data")))
    return loaded - (int(weights[1]) if weights else 0)


class Running:
    """A program that obeys 'run N': see driver.c."""

    def __init__(self, command, cpus):
        self.started = time.monotonic_ns()
        self.words = tempfile.TemporaryFile("w+", errors="replace")  # a pipe that nobody reads would hold up who warns much
        self.process = subprocess.Popen(["taskset", "-c", cpus, *map(str, command)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.words, text=True)
        self.first, self.grown = self.number("first"), self.number("grown")
        self.times, self.busy = [], []

    def fail(self):
        self.process.wait()
        self.words.seek(0)
        raise RuntimeError(self.words.read()[-300:].strip().splitlines()[-1:] or "it ended early")

    def number(self, word):
        for line in self.process.stdout:
            if line.startswith(word + " "):
                return int(line.split()[1])
        self.fail()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def run(self, count):
        """`count` timed runs after one that warms the caches; milliseconds are kept, of the wall's clock and of processors."""
        self.ask(f"run {count + 1}")
        lines = [(self.process.stdout.readline() or self.fail()).split() for _ in range(count + 1)]
        self.times += [int(line[0]) * 1e-6 for line in lines[1:]]
        self.busy += [int(line[1]) * 1e-6 for line in lines[1:]]

    def steps(self):
        """Of each step, nanoseconds in the fastest run, and how often a run executes it."""
        self.ask("steps")
        return [[int(word) for word in self.process.stdout.readline().split()] for _ in range(2)]

    def end(self):
        self.process.communicate()
        self.words.close()
