"""Programs whose convolutions engines of the fake library compute: test_steps.py OCCAMYC ENGINES LIBRARY RUNTIME [CUDNN] [-v]

ENGINES is occam-engines with the fake library, LIBRARY and RUNTIME the objects of the fake library and the archive of the fake CUDA runtime,
CUDNN the folder of the real one (its headers compile the program, too), "" where it is absent."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

import nets

ROOT = pathlib.Path(__file__).parent.parent.parent
DEVICE = ROOT / "engines" / "devices" / "orin.json"
MODEL = """<ir_version: 9, opset_import: ["" : 17]>
net (float[2,4,10,8] x) => (float[2,8,5,4] y) {
    first = Conv <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (x, w1, b1)
    leaky = LeakyRelu <alpha=0.125> (first)
    second = Conv <kernel_shape=[3,1], dilations=[2,1], pads=[2,0,2,0]> (leaky, w2)
    side = Conv <kernel_shape=[1,1], strides=[2,2]> (x, w5)
    sum = Add (second, side)
    residual = Relu (sum)
    third = Conv <kernel_shape=[1,1], group=2> (residual, w3, b1)
    grouped = Relu (third)
    fourth = Conv <kernel_shape=[1,1]> (grouped, w4, b1)
    y = Tanh (fourth)
}"""
WEIGHTS = {"w1": (8, 4, 3, 3), "w2": (8, 8, 3, 1), "w3": (8, 4, 1, 1), "w4": (8, 8, 1, 1), "w5": (8, 4, 1, 1), "b1": (8,)}
STEPS = 4                                   # of which engines compute all: the last one's tanh is its own
STRICT = "-std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror".split()
ENGINE = "A:1:3:{asked}:0:0:{needed}:7 "    # an entry of FAKE_CUDNN; asked: the planned workspace
OTHER = "F:1:5:0:0:0:0:-1 "
SEEDS = 10


def run(command, folder=None, status=0, **environment):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.room.name)
        random = nets.save(cls.folder / "net.onnx", MODEL, WEIGHTS, 0.1)
        random.standard_normal((2, 4, 10, 8)).astype(numpy.float32).tofile(cls.folder / "x.bin")
        cls.programs = {}
        cls.own = cls.answer("plain", workspace=None)[0]

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    @classmethod
    def tuned(cls, workspace):
        """The file of --tuned with engines of so much workspace."""
        lines = cls.folder / "lines.txt"
        lines.write_text(run([cls.occamyc, cls.folder / "net.onnx", "--target=cuda", "--dump=libraries"]).stdout)
        answers = cls.folder / f"engines_{workspace}.txt"
        answers.write_text(run([cls.engines, f"--device={DEVICE}", "--growth=1000000", lines],
                               FAKE_CUDNN=ENGINE.format(asked=workspace, needed=workspace)).stdout)
        return answers

    @classmethod
    def build(cls, name, workspace, *options, library=True):
        """The folder of a program, built once."""
        room = cls.folder / name
        if name in cls.programs:
            return room
        cls.programs[name] = True
        (room / "out").mkdir(parents=True)
        tuned = [] if workspace is None else [f"--tuned={cls.tuned(workspace)}"]
        run([cls.occamyc, cls.folder / "net.onnx", "--target=cuda", *tuned, *options, "-o", room / "model.c", "--name=model", f"--main={room}/main.c"])
        fake, emulation = ROOT / "tests" / "engines" / "fake", ROOT / "runtime" / "emulation"
        flags = ["-DOCC_CUDNN", f"-I{fake}"] if library else []
        for compiler in ("clang", "gcc"):
            run([compiler, *STRICT, *flags, f"-I{emulation}", "-c", "model.c"], room)
        run(["gcc", "-std=c99", "-O1", f"-I{emulation}", "-c", "main.c"], room)
        run(["g++", "-std=c++17", "-O1", "-ffp-contract=off", *(["-mfma"] if os.uname().machine == "x86_64" else []), "-DOCC_EMULATE", f"-I{emulation}",
             "-x", "c++", "-c", "model.cu", "-o", "device.o"], room)
        run(["g++", "-o", "model", "main.o", "model.o", "device.o", *cls.library, cls.runtime, "-lm", "-lpthread"], room)
        return room

    @classmethod
    def answer(cls, name, script="", status=0, workspace=1000, options=(), library=True, **environment):
        """(output, [enqueued, run] steps of the library, counts of the runtime) of a run; nothing may be left behind."""
        room = cls.build(name, workspace, *options, library=library)
        runs, report, output = room / "runs.txt", room / "report.txt", room / "out" / "0.bin"
        for path in (runs, report, output):
            path.unlink(missing_ok=True)
        done = run(["./model", cls.folder / "x.bin"], room, status, FAKE_CUDNN=script, FAKE_CUDNN_RUNS=str(runs), OCC_FAKE_REPORT=str(report),
                   **environment)
        counts = {name: int(value) for name, value in (line.split() for line in report.read_text().splitlines())}
        enqueued, ran, handles = map(int, runs.read_text().split())
        if handles or "descriptors are left" in done.stderr or counts["live_blocks"] or counts["live_handles"] or counts["wrong"]:
            raise AssertionError(f"{handles} handles of the library, {counts}: {done.stderr}")
        return output.read_bytes() if output.exists() else None, [enqueued, ran], counts

    @staticmethod
    def distance(a, b):
        """The largest difference, in shares of the largest value."""
        a, b = (numpy.frombuffer(x, numpy.float32) for x in (a, b))
        return numpy.abs(a - b).max() / numpy.abs(b).max()

    def close(self, found):
        """The library's sums differ from ours by rounding, and do differ."""
        self.assertNotEqual(found, self.own)
        self.assertLess(self.distance(found, self.own), 1e-5)

    def test_engines_compute_the_steps(self):
        script, outputs = ENGINE.format(asked=1000, needed=1000), set()
        for name, options in (("graph", ()), ("steps", ["--graph=off"])):
            for seed in range(1, SEEDS + 1):
                found, steps, _ = self.answer(name, script, options=options, OCC_FAKE_SEED=str(seed))
                outputs.add(found)
                self.assertEqual(steps, [2 * STEPS, 2 * STEPS])          # once in open, and in the run or its capture
        self.assertEqual(len(outputs), 1)
        self.close(outputs.pop())

    def test_without_workspace(self):
        found, steps, _ = self.answer("lean", ENGINE.format(asked=0, needed=0), workspace=0)
        self.assertEqual(steps, [2 * STEPS, 2 * STEPS])
        self.close(found)

    def test_another_engine_takes_the_place_of_one_that_the_library_refuses(self):
        for script in (ENGINE.format(asked=1000, needed=-1), ENGINE.format(asked=1000, needed=1001), ENGINE.replace(":7", ":8").format(asked=2000, needed=2000),
                       ""):
            found, steps, _ = self.answer("graph", script + OTHER)
            self.assertEqual(steps, [2 * STEPS, 2 * STEPS])
            self.close(found)

    def test_own_kernels_take_the_place_of_engines(self):
        for script in ("", ENGINE.format(asked=1000, needed=-1), ENGINE.format(asked=1000, needed=1001), "A:1:3:1000:1:0:1000:7 ", "A:1:3:1000:16:0:1000:7 ",
                       "A:1:3:1000:0:1:1000:7 ", OTHER.replace(":0:0:0:-1", ":0:0:1001:-1")):
            found, steps, _ = self.answer("graph", script)
            self.assertEqual((found, steps), (self.own, [0, 0]), script)
        for call in ("create", "execute"):
            found, steps, _ = self.answer("graph", ENGINE.format(asked=1000, needed=1000), FAKE_CUDNN_FAIL=call)
            self.assertEqual((found, steps), (self.own, [0, 0]), call)

    def test_programs_need_no_library(self):
        found, steps, _ = self.answer("without", ENGINE.format(asked=1000, needed=1000), library=False)
        self.assertEqual((found, steps), (self.own, [0, 0]))

    def test_calls_of_the_runtime_that_fail(self):
        script = ENGINE.format(asked=1000, needed=1000)
        right, _, counts = self.answer("graph", script)
        for call in range(1, counts["calls"] + 1):
            found, _, _ = self.answer("graph", script, status=None, OCC_FAKE_FAIL=str(call))
            self.assertTrue(found is None or self.distance(found, right) < 1e-5, call)

    def test_workspaces_are_planned(self):
        sizes = []
        for workspace in (0, 1000, 100000):
            header = (self.build(f"size_{workspace}", workspace) / "model.h").read_text()
            sizes.append(int(re.search(r"MODEL_DEVICE_SIZE +(\d+)", header)[1]))
        self.assertLessEqual(sizes[1] - sizes[0], 1024)
        self.assertGreaterEqual(sizes[2], 100000)
        self.assertLess(sizes[2], 2 * 100000)                            # one workspace at a time

    def test_tensors_of_the_caller_keep_their_kernels(self):
        source = (self.build("caller", 1000, "--io=device") / "model.c").read_text()
        self.assertEqual(len(re.findall(r"OCC_GIVE\(\d+, OCC_ENGINE\(", source)), STEPS - 2)

    def test_expressions_that_no_engine_computes_keep_their_kernels(self):
        """Even if the file says otherwise."""
        tuned = self.tuned(0)
        self.assertEqual(tuned.read_text().count("epilogue=own :"), 1)
        (self.folder / "all.txt").write_text(tuned.read_text().replace("=own    #", "=library    #"))
        shown = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/all.txt", "--dump=program"]).stdout
        self.assertEqual(shown.count("conv_work_f32"), STEPS)

    def test_wrong_lines_are_named(self):
        good = self.tuned(0).read_text().splitlines()[1].split("    #")[0]
        for line, wanted in ((good.replace(" : ", " "), "a colon and an engine"), (good.replace("cudnn", "cublas"), "own, or cudnn engine="),
                             (good.replace("2:7", "2;7"), "knobs=TYPE:VALUE"), (good.replace("=0 notes", "=-1 notes"), "workspace=BYTES"),
                             (good.replace(" notes=-", ""), "notes="), (good.replace("epilogue=library", "epilogue=both"), "epilogue=library or"),
                             (good + " more", "nothing more"), (good + "\n" + good, "one line for each")):
            (self.folder / "wrong.txt").write_text(line + "\n")
            done = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/wrong.txt"], status=2)
            self.assertIn(wanted, done.stderr)
            self.assertIn("wrong.txt, line ", done.stderr)
        run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/absent.txt"], status=1)

    def test_the_real_headers(self):
        if not self.cudnn:
            self.skipTest("cuDNN is not installed (make deps-engines)")
        room = self.build("graph", 1000)
        run(["gcc", *STRICT, "-DOCC_CUDNN", "-isystem", f"{self.cudnn}/nvidia/cudnn/include", "-isystem", f"{self.cudnn}/nvidia/cu13/include",
             "-c", "model.c", "-o", "real.o"], room)


if __name__ == "__main__":
    Steps.occamyc, Steps.engines, objects, Steps.runtime, Steps.cudnn = (sys.argv.pop(1) for _ in range(5))
    Steps.occamyc, Steps.engines, Steps.runtime = map(os.path.abspath, (Steps.occamyc, Steps.engines, Steps.runtime))
    Steps.library, Steps.cudnn = [os.path.abspath(path) for path in objects.split(",")], Steps.cudnn and os.path.abspath(Steps.cudnn)
    unittest.main()
