"""occam-engines where there is a device: test_measure.py PROGRAM, built with the fake libraries and the fake runtime, whose virtual clock
gives a kernel 3000 ns."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_engines import LINE, TENSOR_CORE, engine

KEY = "conv_krsc_f32 Conv+Relu 1x4x1x5x5 8x9x4 8 1x8x1x5x5"
PRODUCT = ("matmul_f32 result=2,4,8 terms=16 a=64,16,1 b=128,8,1 y=32,8,1 factors=f32 bias=0 epilogue=- "
           ": step=2 live=10000 hole=100 shared=0 key=matmul_f32 MatMul 2x4x16 2x16x8 2x4x8")
COMPILED = 1  # the note of behaviour


class Measure(unittest.TestCase):
    program = None

    def ask(self, script, *lines, own=None, options=(), status=0, **environment):
        """(what is written behind the question, by line; standard error)"""
        with tempfile.TemporaryDirectory() as folder:
            path, times = pathlib.Path(folder) / "lines.txt", pathlib.Path(folder) / "times.txt"
            path.write_text("memory peak=11000 constants=1000\n" + "".join(line + "\n" for line in lines))
            if own:
                times.write_text(f"occamyc profile 1\nstep {own} 3 {KEY}\nstep 77 1 another\n")
                options = (*options, f"--own={times}")
            done = subprocess.run([self.program, "--device=here", *options, path], capture_output=True, text=True,
                                  env={**os.environ, "FAKE_CUDNN": script, **environment})
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("are left", done.stderr)
        return [line.split(" : ", 1)[1] for line in done.stdout.splitlines()[1:]], done.stderr

    def one(self, script, factors="f32", **more):
        answers, _ = self.ask(script, LINE.format(factors=factors, epilogue="relu") + f" : step=1 live=10000 hole=100 shared=0 key={KEY}", **more)
        self.assertEqual(len(answers), 1)
        return answers[0]

    def test_the_fastest_engine_is_taken(self):
        script = engine("A", 3) + engine("A", 4) + engine("F", 5)
        self.assertEqual(self.one(script, FAKE_CUDNN_SLOW="3:4 5:2"),
                         "cudnn engine=4 knobs=- workspace=0 notes=- epilogue=library    # ns: own=0 cudnn=3000 cublaslt=0 steps=1 offered=3 "
                         "allowed=3 first=0 gap=1000 hole=100 shared=0 growth=0")
        self.assertIn("engine=5 knobs=- workspace=0 notes=- epilogue=library    # ns: own=0 cudnn=6000 ",
                      self.one(script, FAKE_CUDNN_SLOW="3:4 4:3 5:2"))

    def test_of_equal_ones_the_library_s_favourite_is_taken(self):
        self.assertIn("engine=3 ", self.one(engine("A", 3) + engine("A", 4)))

    def test_a_faster_kernel_of_the_step_stays(self):
        self.assertTrue(self.one(engine("A", 3), own=2999).startswith("own    # ns: own=2999 cudnn=0 "))
        self.assertTrue(self.one(engine("A", 3), own=3000).startswith("own "))
        self.assertIn("engine=3 knobs=- workspace=0 notes=- epilogue=library    # ns: own=3001 cudnn=3000 ", self.one(engine("A", 3), own=3001))

    def test_workspaces_must_find_room_and_are_given(self):
        self.assertIn("engine=4 ", self.one(engine("A", 3, 1501) + engine("A", 4, 1500), FAKE_CUDNN_SLOW="4:9"))
        self.assertIn(" growth=500", self.one(engine("A", 4, 1500)))

    def test_an_engine_that_does_not_run_is_refused(self):
        answer = self.one(engine("A", 3) + engine("A", 4), FAKE_CUDNN_FAIL="execute3", FAKE_CUDNN_SLOW="4:5")
        self.assertIn("engine=4 ", answer)
        self.assertIn(" allowed=1 unbuilt=1 ", answer)
        self.assertTrue(self.one(engine("A", 3, needed=-1)).startswith("own "))

    def test_what_is_compiled_here_can_be_measured(self):
        self.assertIn("engine=3 ", self.one(engine("A", 3, behaviour=COMPILED) + engine("A", 4), FAKE_CUDNN_SLOW="4:2"))

    def test_factors_keep_their_precision(self):
        script = engine("A", 3, notes=TENSOR_CORE) + engine("A", 4)
        self.assertIn("engine=4 ", self.one(script, FAKE_CUDNN_SLOW="4:5"))
        self.assertIn("engine=3 ", self.one(script, factors="tf32", FAKE_CUDNN_SLOW="4:5"))
        self.assertIn("engine=3 ", self.one(script, factors="fp16", FAKE_CUDNN_SLOW="4:5"))

    def test_products(self):
        exact = 1 + 4 + 32                                     # float32 factors and sums, FMA: as test_products.py numbers them
        answers, _ = self.ask("", PRODUCT, options=["--products=64"], FAKE_CUBLASLT=f"64:64:0:1:{exact}:1:16")
        self.assertRegex(answers[0], r"^cublaslt workspace=64    # ns: own=0 cudnn=0 cublaslt=3000 ")
        answers, _ = self.ask("", PRODUCT, options=["--products"], FAKE_CUBLASLT=f"64:64:0:1:{exact}:1:16")
        self.assertTrue(answers[0].startswith("own "))         # it needs more than there is
        answers, _ = self.ask("", PRODUCT)
        self.assertTrue(answers[0].startswith("own "))

    def test_no_device_is_told(self):
        _, said = self.ask("", PRODUCT, status=1, OCC_FAKE_DEVICES="0")
        self.assertIn("wanted a device: the CUDA runtime finds none", said)

    def test_what_cannot_be_taken_is_told(self):
        """Each call of the runtime fails in turn: an answer, or a message, and nothing is left."""
        line = LINE.format(factors="f32", epilogue="relu") + " : step=1 live=10000 hole=100 shared=0"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lines.txt"
            path.write_text(f"memory peak=11000 constants=1000\n{line}\n")
            for call in range(1, 120):
                done = subprocess.run([self.program, "--device=here", path], capture_output=True, text=True,
                                      env={**os.environ, "FAKE_CUDNN": engine("A", 3), "OCC_FAKE_FAIL": str(call)})
                self.assertIn(done.returncode, (0, 1), f"call {call}: {done.stderr}")
                self.assertEqual(done.returncode == 1, "--device=here" in done.stderr, f"call {call}: {done.stderr}")
                self.assertNotIn("are left", done.stderr)


if __name__ == "__main__":
    Measure.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
