"""Programs for the fake CUDA runtime that libraries of our own take part in: what test_steps.py and test_products.py share."""

import collections
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy

import nets

ROOT = pathlib.Path(__file__).parent.parent.parent
STRICT = "-std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror".split()
SEEDS = 10


def run(command, folder=None, status=0, **environment):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Programs(unittest.TestCase):
    """A model whose programs are built once each. A subclass names its text, weights and inputs."""
    MODEL, WEIGHTS, INPUTS = "", {}, {}
    DEFINES = ()                             # the libraries that programs are built with
    notes = ()                               # what the last run has said through the member `note`

    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.room.name)
        random = nets.save(cls.folder / "net.onnx", cls.MODEL, cls.WEIGHTS, 0.1)
        for name, shape in cls.INPUTS.items():
            random.standard_normal(shape).astype(numpy.float32).tofile(cls.folder / f"{name}.bin")
        cls.programs = {}

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    @classmethod
    def questions(cls, *options):
        return run([cls.occamyc, cls.folder / "net.onnx", "--target=cuda", *options, "--dump=libraries"]).stdout

    @classmethod
    def build(cls, name, tuned, *options, library=True):
        """The folder of a program, built once; tuned: the file of --tuned, or None."""
        room = cls.folder / name
        if name in cls.programs:
            return room
        cls.programs[name] = True
        (room / "out").mkdir(parents=True)
        engines = [f"--tuned={tuned}"] if tuned else []
        run([cls.occamyc, cls.folder / "net.onnx", "--target=cuda", *engines, *options, "-o", room / "model.c", "--name=model", f"--main={room}/main.c"])
        fake, emulation = ROOT / "tests" / "engines" / "fake", ROOT / "runtime" / "emulation"
        flags = [*(f"-D{define}" for define in cls.DEFINES), f"-I{fake}"] if library else []
        for compiler in ("clang", "gcc"):
            run([compiler, *STRICT, *flags, f"-I{emulation}", "-c", "model.c"], room)
        run(["gcc", "-std=c99", "-O1", f"-I{emulation}", "-c", "main.c"], room)
        run(["g++", "-std=c++17", "-O1", "-ffp-contract=off", *(["-mfma"] if os.uname().machine == "x86_64" else []), "-DOCC_EMULATE", f"-I{emulation}",
             "-x", "c++", "-c", "model.cu", "-o", "device.o"], room)
        run(["g++", "-o", "model", "main.o", "model.o", "device.o", *cls.library, cls.runtime, "-lm", "-lpthread"], room)
        return room

    @classmethod
    def outcome(cls, room, status=0, **environment):
        """(outputs, counts of the runtime, standard error) of a run, which may leave nothing behind; outputs: None where it failed."""
        report = room / "report.txt"
        for path in (report, *(room / "out").iterdir()):
            path.unlink(missing_ok=True)
        done = run(["./model", *(cls.folder / f"{name}.bin" for name in cls.INPUTS)], room, status, OCC_FAKE_REPORT=str(report), **environment)
        cls.notes = re.findall(r"^model: (?:step \d+: )?(?!the run failed)(.*)$", done.stderr, re.M)
        counts = {name: int(value) for name, value in (line.split() for line in report.read_text().splitlines())}
        if counts["live_blocks"] or counts["live_handles"] or counts["wrong"]:
            raise AssertionError(f"{counts}: {done.stderr}")
        outputs = [path.read_bytes() for path in sorted((room / "out").iterdir())]
        return b"".join(outputs) if outputs else None, counts, done.stderr

    def said(self, *wanted):
        """The last run has said these (sentence, how often), and nothing else."""
        self.assertEqual(collections.Counter(self.notes), dict(wanted))

    @staticmethod
    def distance(a, b):
        """The largest difference, in shares of the largest value."""
        a, b = (numpy.frombuffer(x, numpy.float32) for x in (a, b))
        return numpy.abs(a - b).max() / numpy.abs(b).max()

    def close(self, found, own, tolerance=1e-5):
        """The library's sums differ from ours by rounding, and do differ."""
        self.assertNotEqual(found, own)
        self.assertLess(self.distance(found, own), tolerance)

    @staticmethod
    def device_bytes(room):
        return int(re.search(r"MODEL_DEVICE_SIZE +(\d+)", (room / "model.h").read_text())[1])

    def refuse_lines(self, lines):
        """Each (text of --tuned, what its message wants) is refused with its line."""
        for text, wanted in lines:
            (self.folder / "wrong.txt").write_text(text + "\n")
            done = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/wrong.txt"], status=2)
            self.assertIn(wanted, done.stderr)
            self.assertIn("wrong.txt, line ", done.stderr)
