"""Programs whose convolutions engines of the fake library compute: test_steps.py OCCAMYC ENGINES LIBRARY RUNTIME [CUDNN] [-v]

ENGINES is occam-engines with the fake library, LIBRARY and RUNTIME the objects of the fake library and the archive of the fake CUDA runtime,
CUDNN the folder of the real one (its headers compile the program, too), "" where it is absent."""

import os
import re
import sys
import unittest

from programs import ROOT, SEEDS, STRICT, Programs, run

DEVICE = ROOT / "engines" / "devices" / "orin.json"
MODEL = """<ir_version: 9, opset_import: ["" : 17]>
net (float[2,4,10,8] x) => (float[2,8,5,8] y) {
    first = Conv <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (x, w1, b1)
    leaky = LeakyRelu <alpha=0.125> (first)
    second = Conv <kernel_shape=[3,1], dilations=[2,1], pads=[2,0,2,0]> (leaky, w2)
    side = Conv <kernel_shape=[1,1], strides=[2,2]> (x, w5)
    sum = Add (second, side)
    residual = Relu (sum)
    third = Conv <kernel_shape=[1,1], group=2> (residual, w3, b1)
    grouped = Relu (third)
    fourth = Conv <kernel_shape=[1,1]> (grouped, w4, b1)
    fifth = Tanh (fourth)
    rows = MatMul (fifth, w6)
    biased = Add (rows, b1)
    positive = Relu (biased)
    last = MatMul (positive, w7)
    shifted = Add (b1, last)
    y = Add (shifted, positive)
}"""
WEIGHTS = {"w1": (8, 4, 3, 3), "w2": (8, 8, 3, 1), "w3": (8, 4, 1, 1), "w4": (8, 8, 1, 1), "w5": (8, 4, 1, 1), "w6": (4, 8), "w7": (8, 8), "b1": (8,)}
STEPS = 6                                   # of which engines compute all: the tanh of `fourth` is its own
ENGINE = "A:1:3:{asked}:0:0:{needed}:7 "    # an entry of FAKE_CUDNN; asked: the planned workspace
OTHER = "F:1:5:0:0:0:0:-1 "
# What the program says.
ANOTHER = "cuDNN refuses the listed engine, or it needs more than its planned workspace: another one is used"
OWN = "cuDNN does not compute the step within its planned workspace: its own kernel does"
CLOSED = "cuDNN cannot be opened: its steps run their own kernels"


class Engines(Programs):
    """Programs with engines. A subclass may name options that all of them have."""
    MODEL, WEIGHTS, INPUTS, DEFINES = MODEL, WEIGHTS, {"x": (2, 4, 10, 8)}, ("OCC_CUDNN",)
    OPTIONS = ()

    @classmethod
    def tuned(cls, workspace):
        """The file of --tuned with engines of so much workspace."""
        lines = cls.folder / "lines.txt"
        lines.write_text(cls.questions(*cls.OPTIONS))
        answers = cls.folder / f"engines_{workspace}.txt"
        answers.write_text(run([cls.engines, f"--device={DEVICE}", "--growth=1000000", lines],
                               FAKE_CUDNN=ENGINE.format(asked=workspace, needed=workspace)).stdout)
        return answers

    @classmethod
    def make(cls, name, workspace, *options, library=True):
        return cls.build(name, None if workspace is None else cls.tuned(workspace), *cls.OPTIONS, *options, library=library)

    @classmethod
    def answer(cls, name, script="", status=0, workspace=1000, options=(), library=True, **environment):
        """(output, [enqueued, run] steps of the library, counts of the runtime) of a run; nothing may be left behind."""
        room = cls.make(name, workspace, *options, library=library)
        runs = room / "runs.txt"
        runs.unlink(missing_ok=True)
        found, counts, said = cls.outcome(room, status, FAKE_CUDNN=script, FAKE_CUDNN_RUNS=str(runs), **environment)
        enqueued, ran, handles = map(int, runs.read_text().split())
        if handles or "descriptors are left" in said:
            raise AssertionError(f"{handles} handles of the library: {said}")
        return found, [enqueued, ran], counts


class Steps(Engines):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.answer("plain", workspace=None)[0]

    def test_engines_compute_the_steps(self):
        script, outputs = ENGINE.format(asked=1000, needed=1000), set()
        for name, options in (("graph", ()), ("steps", ["--graph=off"])):
            for seed in range(1, SEEDS + 1):
                found, steps, _ = self.answer(name, script, options=options, OCC_FAKE_SEED=str(seed))
                outputs.add(found)
                self.assertEqual(steps, [2 * STEPS, 2 * STEPS])          # once in open, and in the run or its capture
                self.said()
        self.assertEqual(len(outputs), 1)
        self.close(outputs.pop(), self.own)

    def test_listed_engines_may_be_compiled_here(self):
        found, steps, _ = self.answer("graph", "A:1:3:1000:0:1:1000:7 ")
        self.assertEqual(steps, [2 * STEPS, 2 * STEPS])
        self.close(found, self.own)

    def test_without_workspace(self):
        found, steps, _ = self.answer("lean", ENGINE.format(asked=0, needed=0), workspace=0)
        self.assertEqual(steps, [2 * STEPS, 2 * STEPS])
        self.close(found, self.own)

    def test_another_engine_takes_the_place_of_one_that_the_library_refuses(self):
        for script in (ENGINE.format(asked=1000, needed=-1), ENGINE.format(asked=1000, needed=1001), ENGINE.replace(":7", ":8").format(asked=2000, needed=2000),
                       ""):
            found, steps, _ = self.answer("graph", script + OTHER)
            self.assertEqual(steps, [2 * STEPS, 2 * STEPS])
            self.said((ANOTHER, STEPS))
            self.close(found, self.own)

    def test_own_kernels_take_the_place_of_engines(self):
        for script in ("", ENGINE.format(asked=1000, needed=-1), ENGINE.format(asked=1000, needed=1001), "A:1:3:1000:1:0:1000:7 ", "A:1:3:1000:16:0:1000:7 ",
                       "A:1:4:1000:0:1:1000:7 ", OTHER.replace(":0:0:0:-1", ":0:0:1001:-1")):
            found, steps, _ = self.answer("graph", script)
            self.assertEqual((found, steps), (self.own, [0, 0]), script)
            self.said((OWN, STEPS))
        for call, said in (("create", (CLOSED, 1)), ("execute", (OWN, STEPS))):
            found, steps, _ = self.answer("graph", ENGINE.format(asked=1000, needed=1000), FAKE_CUDNN_FAIL=call)
            self.assertEqual((found, steps), (self.own, [0, 0]), call)
            self.said(said)

    def test_programs_need_no_library(self):
        found, steps, _ = self.answer("without", ENGINE.format(asked=1000, needed=1000), library=False)
        self.assertEqual((found, steps), (self.own, [0, 0]))
        self.said()

    def test_calls_of_the_runtime_that_fail(self):
        script = ENGINE.format(asked=1000, needed=1000)
        right, _, counts = self.answer("graph", script)
        for call in range(1, counts["calls"] + 1):
            found, _, _ = self.answer("graph", script, status=None, OCC_FAKE_FAIL=str(call))
            self.assertTrue(found is None or self.distance(found, right) < 1e-5, call)
            self.assertTrue(self.notes or found == right, call)

    def test_workspaces_are_planned(self):
        sizes = [self.device_bytes(self.make(f"size_{workspace}", workspace)) for workspace in (0, 1000, 100000)]
        self.assertLessEqual(sizes[1] - sizes[0], 1024)
        self.assertGreaterEqual(sizes[2], 100000)
        self.assertLess(sizes[2], 2 * 100000)                            # one workspace at a time

    def test_tensors_of_the_caller_keep_their_kernels(self):
        source = (self.make("caller", 1000, "--io=device") / "model.c").read_text()
        self.assertEqual(len(re.findall(r"OCC_GIVE\(\d+, OCC_ENGINE\(", source)), STEPS - 3)

    def test_steps_of_the_host_keep_their_kernels(self):
        """And no engine is given memory of the host."""
        (self.folder / "place.txt").write_text("second\n")
        source = (self.make("placed", 1000, f"--place={self.folder}/place.txt") / "model.c").read_text()
        self.assertEqual(len(re.findall(r"OCC_ENGINE\(\d+, \d+, ", source)), STEPS - 1)
        self.assertEqual(source.count("occ_cudnn_give(&d"), STEPS - 1)

    def test_expressions_that_no_engine_computes_keep_their_kernels(self):
        """Even if the file says otherwise."""
        tuned = self.tuned(0)
        self.assertEqual(tuned.read_text().count("epilogue=own :"), 1)
        (self.folder / "all.txt").write_text(tuned.read_text().replace("=own    #", "=library    #"))
        shown = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/all.txt", "--dump=program"]).stdout
        self.assertEqual(shown.count("conv_work_f32"), STEPS)

    def test_wrong_lines_are_named(self):
        good = self.tuned(0).read_text().splitlines()[1].split("    #")[0]
        self.refuse_lines(((good.replace(" : ", " "), "a colon and an engine"), (good.replace("cudnn", "cublas"), "own, or cudnn engine="),
                           (good.replace("cudnn", "cublaslt"), "own, or cublaslt workspace="),
                           (good.replace("2:7", "2;7"), "knobs=TYPE:VALUE"), (good.replace("=0 notes", "=-1 notes"), "workspace=BYTES"),
                           (good.replace(" notes=-", ""), "notes="), (good.replace("epilogue=library", "epilogue=both"), "epilogue=library or"),
                           (good + " more", "nothing more"), (good + "\n" + good, "one line for each")))
        run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.folder}/absent.txt"], status=1)

    def test_the_real_headers(self):
        if not self.cudnn:
            self.skipTest("cuDNN is not installed (make deps-engines)")
        room = self.make("graph", 1000)
        run(["gcc", *STRICT, "-DOCC_CUDNN", "-isystem", f"{self.cudnn}/nvidia/cudnn/include", "-isystem", f"{self.cudnn}/nvidia/cu13/include",
             "-c", "model.c", "-o", "real.o"], room)


class Pinned(Engines):
    MODEL, OPTIONS = MODEL.replace("float[2,", "float[N,"), ("--dim=N=2",)


class Listed(Pinned):
    """Engines of three listed sizes: open tries all of them, and a run of one size has the bits of a program that pins it."""
    OPTIONS, SIZES = ("--dim=N=1|2|3",), 3

    def test_each_size_has_its_engines(self):
        Pinned.setUpClass()
        self.addCleanup(Pinned.tearDownClass)
        for workspace, options in ((1000, ()), (0, ["--graph=off"])):
            script, name = ENGINE.format(asked=workspace, needed=workspace), f"with_{workspace}"
            alone, _, _ = Pinned.answer(name, script, workspace=workspace, options=options)
            found, (_, ran), _ = self.answer(name, script, workspace=workspace, options=options)
            self.assertEqual(found, alone)
            self.assertEqual(ran, self.SIZES * STEPS + STEPS)
            self.close(found, Pinned.answer("plain", workspace=None)[0])
            source = (self.folder / name / "model.c").read_text()
            self.assertIn(f"void       *given[{self.SIZES * STEPS}];", source + (self.folder / name / "model.h").read_text())


if __name__ == "__main__":
    Engines.occamyc, Engines.engines, objects, Engines.runtime, Engines.cudnn = (sys.argv.pop(1) for _ in range(5))
    Engines.occamyc, Engines.engines, Engines.runtime = map(os.path.abspath, (Engines.occamyc, Engines.engines, Engines.runtime))
    Engines.library, Engines.cudnn = [os.path.abspath(path) for path in objects.split(",")], Engines.cudnn and os.path.abspath(Engines.cudnn)
    unittest.main()
