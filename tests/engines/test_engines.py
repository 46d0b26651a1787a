"""occam-engines with the fake library: test_engines.py PROGRAM [--write] [-v]."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
DEVICE = HERE.parent.parent / "engines" / "devices" / "orin.json"
LINES = HERE / "libraries.txt"
GRAPHS = HERE / "graphs.txt"
LINE = ("conv_krsc_f32 batch=1 groups=1 inputs=4 outputs=8 in=1,5,5 out=1,5,5 kernel=1,3,3 stride=1,1,1 dilation=1,1,1 pad=0,1,1 "
        "x=0,1,0,20,4 y=0,1,0,40,8 factors={factors} bias=1 epilogue={epilogue}")
TENSOR_CORE, DOWN, FFT, NONDETERMINISTIC, WINOGRAD, STRICT, NEW = 1, 2, 8, 16, 32, 512, 1 << 20


def engine(mode, index, workspace=0, notes=0, behaviour=0, needed=None, knob=-1, epilogue=1):
    return f"{mode}:{epilogue}:{index}:{workspace}:{notes}:{behaviour}:{workspace if needed is None else needed}:{knob} "


class Engines(unittest.TestCase):
    program = None
    write = False

    def ask(self, script, *lines, options=(), status=0, device=DEVICE):
        """(answers by question, standard error); the memory has a peak of 11000 bytes, 1000 of them constants."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lines.txt"
            path.write_text("memory peak=11000 constants=1000\n" + "".join(line + "\n" for line in lines))
            done = subprocess.run([self.program, f"--device={device}", *options, path], capture_output=True, text=True,
                                  env={**os.environ, "FAKE_CUDNN": script})
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("descriptors are left", done.stderr)
        return [line.split(" : ", 1)[1] for line in done.stdout.splitlines()[1:]], done.stderr

    def one(self, script, live=(10000,), factors="f32", epilogue="relu", options=(), shared=0):
        question = LINE.format(factors=factors, epilogue=epilogue)
        answers, _ = self.ask(script, *(f"{question} : step={i} live={b} hole=100 shared={shared}" for i, b in enumerate(live)), options=options)
        self.assertEqual(len(answers), 1)
        return answers[0]

    def test_the_first_allowed_engine_is_taken(self):
        self.assertEqual(self.one(engine("A", 3, 64, knob=7) + engine("A", 4)),
                         "cudnn engine=3 knobs=2:7 workspace=64 notes=- epilogue=library    "
                         "# steps=1 offered=2 allowed=2 first=64 gap=1000 hole=100 shared=0 growth=0")
        self.assertIn("engine=5 knobs=- workspace=0 notes=strict_nan", self.one(engine("F", 5, notes=STRICT)))

    def test_engines_are_refused_for_what_the_library_says_of_them(self):
        for notes, behaviour, needed, why in ((TENSOR_CORE, 0, 0, "tensor_core"), (DOWN, 0, 0, "reduced"), (FFT, 0, 0, "winograd"),
                                              (WINOGRAD | TENSOR_CORE, 0, 0, "winograd"), (NONDETERMINISTIC, 0, 0, "nondeterministic"),
                                              (NEW, 0, 0, "reduced"), (0, 1, 0, "compiled"), (0, 0, -1, "unbuilt"), (0, 0, 1, "unbuilt")):
            answer = self.one(engine("A", 3, 0, notes, behaviour, needed) + engine("F", 4))
            self.assertIn("engine=4 ", answer)
            self.assertIn(f"offered=2 allowed=1 {why}=1 ", answer)
            self.assertTrue(self.one(engine("A", 3, 0, notes, behaviour, needed)).startswith("own "))

    def test_tensor_cores_serve_rounded_factors(self):
        self.assertIn("engine=3 knobs=- workspace=0 notes=tensor_core ", self.one(engine("A", 3, notes=TENSOR_CORE), factors="tf32"))
        self.assertIn("engine=3 knobs=- workspace=0 notes=tensor_core ", self.one(engine("A", 3, notes=TENSOR_CORE), factors="fp16"))

    def test_a_workspace_must_find_room(self):
        script = engine("A", 3, 1500) + engine("A", 4, 1000) + engine("A", 5, 0)
        self.assertIn("engine=3 knobs=- workspace=1500 notes=- epilogue=library    # steps=1 offered=3 allowed=3 first=1500 gap=1000 hole=100 shared=0 growth=500",
                      self.one(script))
        self.assertIn("engine=4 ", self.one(script, options=["--growth=4"]))
        self.assertIn("engine=4 ", self.one(script, options=["--workspace=1499"]))
        self.assertIn("engine=5 ", self.one(script, options=["--workspace=999"]))
        self.assertIn("engine=5 knobs=- workspace=0 notes=- epilogue=library    # steps=2 offered=3 allowed=3 first=1500 gap=0 hole=100 shared=0 growth=0",
                      self.one(script, live=(10000, 11000), options=["--growth=0"]))
        self.assertTrue(self.one(engine("A", 3, 1501)).startswith("own    # steps=1 offered=1 allowed=1 first=1501 "))

    def test_a_result_that_leaves_the_addend_must_find_room(self):
        self.assertIn("engine=3 knobs=- workspace=0 notes=- epilogue=library    # steps=1 offered=1 allowed=1 first=0 gap=-500 hole=100 shared=1500 growth=500",
                      self.one(engine("A", 3), epilogue="add+relu", shared=1500))
        self.assertTrue(self.one(engine("A", 3), epilogue="add+relu", shared=1501).startswith("own "))

    def test_the_sum_alone_is_asked_where_the_epilogue_has_no_engine(self):
        script = engine("A", 3, notes=TENSOR_CORE) + engine("F", 4, epilogue=0)
        self.assertIn("engine=4 knobs=- workspace=0 notes=- epilogue=own ", self.one(script))
        self.assertIn("engine=4 knobs=- workspace=0 notes=- epilogue=own ", self.one(script, epilogue="own"))
        self.assertIn("engine=4 knobs=- workspace=0 notes=- epilogue=library ", self.one(script, epilogue="-"))

    def test_equal_engines_count_once(self):
        self.assertIn(" offered=2 ", self.one(engine("A", 3, knob=1) + engine("F", 3, knob=1) + engine("F", 3, knob=2)))

    def test_graphs(self):
        """What the library is asked, for each form of line."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            done = subprocess.run([self.program, f"--device={DEVICE}", LINES], capture_output=True, text=True, check=True,
                                  env={**os.environ, "FAKE_CUDNN": engine("A", 1), "FAKE_CUDNN_LOG": log})
            asked = pathlib.Path(log).read_text()
        self.assertEqual(done.stdout.count(" : cudnn engine=1 "), 6)                # the last result finds no room beside its addend
        self.assertRegex(done.stdout, r"(?m)^matmul_f32 .* : own    # steps=1 a product")
        if self.write:
            GRAPHS.write_text(asked)
        self.assertEqual(asked, GRAPHS.read_text())

    def test_questions_that_are_no_graph(self):
        question = LINE.format(factors="f32", epilogue="-") + " : step=0 live=0 hole=0 shared=0"
        for old, new, why in (("in=1,5,5", "in=2,5,5", "three spatial axes"), ("out=1,5,5", "out=1,3,5", "left out")):
            answers, _ = self.ask(engine("A", 1), question.replace(old, new))
            self.assertIn(why, answers[0])
        answers, _ = self.ask(engine("A", 1), question.replace("stride=1,1,1", "stride=1,2,2").replace("out=1,5,5", "out=1,2,2")
                              .replace("pad=0,1,1", "pad=0,0,0"))
        self.assertIn("engine=1 ", answers[0])

    def test_what_is_wrong_is_named(self):
        good = LINE.format(factors="f32", epilogue="relu") + " : step=0 live=0 hole=0 shared=0"
        for line, wanted in (("pool_f32 : step=1", "memory, conv_krsc_f32"), (good.replace("groups=1", "groups=x"), "1 numbers of groups"),
                             (good.replace("kernel=1,3,3", "kernel=1,3"), "3 numbers of kernel"), (good.replace("f32 bias", "f64 bias"), "factors"),
                             (good.replace("relu", "swish"), "an epilogue"), (good.split(" : ")[0], "a question, a colon"), (good.replace(" live=0", ""), "live=")):
            _, said = self.ask(engine("A", 1), line, status=2)
            self.assertIn("line 2: ", said)
            self.assertIn("wanted " + wanted, said)
        for options in (["--growth=x"], ["--workspace=-1"], ["--fast"], ["another.txt"]):
            _, said = self.ask(engine("A", 1), options=options, status=1)
            self.assertIn("found '", said)
        self.ask(engine("A", 1), device="no_such.json", status=1)
        _, said = self.ask(engine("A", 1), device=LINES, status=2)
        self.assertIn("cuDNN refuses the device's description: BAD_PARAM. the description is no object", said)


if __name__ == "__main__":
    Engines.program = os.path.abspath(sys.argv.pop(1))
    Engines.write = "--write" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--write"]
    unittest.main()
