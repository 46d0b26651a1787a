"""Programs whose products the fake cuBLASLt computes: test_products.py OCCAMYC ENGINES LIBRARY RUNTIME [REAL] [-v]

ENGINES is occam-engines with the fake cuDNN, LIBRARY and RUNTIME the objects of the fake libraries and the archive of the fake CUDA
runtime, REAL the folder of headers of the real cuBLASLt (they compile the program, too), "" where they are absent."""

import os
import pathlib
import re
import sys
import unittest

from programs import ROOT, SEEDS, STRICT, Programs, run

DEVICE = ROOT / "engines" / "devices" / "orin.json"
# Softmax takes each result as it is: nothing else joins the product's expression. `far` has an axis between those of its stack.
MODEL = """<ir_version: 9, opset_import: ["" : 17]>
net (float[3,5,8] x, float[3,8,6] z, float[8,7] v, float[7] c, float[3,5,6] d, float[2,5,3,8] q, float[2,3,8,5] k, float[1,8] r)
    => (float[3,5,6] plain, float[3,5,6] turned, float[3,5,7] biased, float[3,5,6] added, float[3,5,6] own, float[2,3,5,5] far,
        float[1,7] row, float[3,5,5] square) {
    x1 = Softmax (x)
    z1 = Softmax <axis=1> (z)
    v1 = Softmax <axis=0> (v)
    c1 = Softmax <axis=0> (c)
    d1 = Softmax (d)
    q1 = Softmax (q)
    k1 = Softmax <axis=2> (k)
    r1 = Softmax (r)
    p0 = MatMul (x1, z1)
    plain = Softmax (p0)
    zt = Transpose <perm=[0,2,1]> (z1)
    zs = Softmax <axis=2> (zt)
    zu = Transpose <perm=[0,2,1]> (zs)
    t0 = MatMul (x1, zu)
    tr = Relu (t0)
    turned = Softmax (tr)
    b0 = MatMul (x1, v1)
    b1 = Add (b0, c1)
    b2 = Relu (b1)
    biased = Softmax (b2)
    x2 = Softmax <axis=1> (x)
    a0 = MatMul (x2, z1)
    a1 = Add (a0, d1)
    added = Softmax (a1)
    x3 = Softmax <axis=0> (x)
    o0 = MatMul (x3, z1)
    o1 = Tanh (o0)
    own = Softmax (o1)
    qt = Transpose <perm=[0,2,1,3]> (q1)
    f0 = MatMul (qt, k1)
    far = Softmax <axis=2> (f0)
    r0 = MatMul (r1, v1)
    row = Softmax (r0)
    xt = Transpose <perm=[0,2,1]> (x2)
    s0 = MatMul (x2, xt)
    square = Softmax <axis=1> (s0)
}"""
INPUTS = {"x": (3, 5, 8), "z": (3, 8, 6), "v": (8, 7), "c": (7,), "d": (3, 5, 6), "q": (2, 5, 3, 8), "k": (2, 3, 8, 5), "r": (1, 8)}
STEPS = 6                                   # of which the library computes all: not those of `own` and `far`
FMA, HMMA, SUMS, HALF, TF32, FLOAT = (1 << i for i in range(6))
EXACT = FMA | SUMS | FLOAT
OWN = "cuBLASLt does not compute the step within its planned workspace: its own kernel does"
CLOSED = "cuBLASLt cannot be opened: its steps run their own kernels"
MADE = {"create", "layout", "operation", "preference", "set", "tell"}


def algorithm(workspace=0, needed=None, scheme=0, parts=1, flags=EXACT, apart=1, align=16):
    """An entry of FAKE_CUBLASLT."""
    return f"{workspace}:{workspace if needed is None else needed}:{scheme}:{parts}:{flags}:{apart}:{align} "


class Products(Programs):
    MODEL, INPUTS, DEFINES = MODEL, INPUTS, ("OCC_CUBLASLT",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.answer("plain", workspace=None)[0]

    @classmethod
    def tuned(cls, workspace, *options):
        """The file of --tuned of products with so much workspace."""
        path = cls.folder / f"products_{workspace}{''.join(options)}.txt"
        path.write_text(re.sub(r" : .*", f" : cublaslt workspace={workspace}", cls.questions(*options)).split("\n", 1)[1])
        return path

    @classmethod
    def make(cls, name, workspace, *options, library=True):
        kind = [option for option in options if option in ("--tf32", "--fp16")]
        return cls.build(name, None if workspace is None else cls.tuned(workspace, *kind), *options, library=library)

    @classmethod
    def answer(cls, name, script="", status=0, workspace=1000, options=(), library=True, **environment):
        """(outputs, lines of the library's calls, counts of the runtime) of a run; nothing may be left behind."""
        room = cls.make(name, workspace, *options, library=library)
        log = room / "log.txt"
        found, counts, _ = cls.outcome(room, status, FAKE_CUBLASLT=script, FAKE_CUBLASLT_LOG=str(log), **environment)
        *lines, ran, left = log.read_text().splitlines()
        if left != "left 0":
            raise AssertionError(left)
        return found, lines, int(ran.removeprefix("ran "))

    def served(self, lines, ran, steps=STEPS):
        """So many steps ran on the library, each once in open and once in the run or its capture, which calls nothing else."""
        self.assertEqual([line for line in lines if line.startswith("refused")], [])
        self.assertEqual(ran, 2 * steps)
        in_run = lines[max(i for i, line in enumerate(lines) if line in MADE or line.startswith("heuristics")) + 1:]
        self.assertEqual([line for line in in_run if line != "destroy"], ["product"] * (steps + 1))

    def test_the_library_computes_the_steps(self):
        outputs = set()
        for name, options in (("graph", ()), ("steps", ["--graph=off"])):
            for seed in range(1, SEEDS + 1):
                found, lines, ran = self.answer(name, algorithm(1000), options=options, OCC_FAKE_SEED=str(seed))
                outputs.add(found)
                self.served(lines, ran)
                self.said()
        self.assertEqual(len(outputs), 1)
        self.close(outputs.pop(), self.own)

    def test_without_workspace(self):
        found, lines, ran = self.answer("lean", algorithm(), workspace=0)
        self.served(lines, ran)
        self.close(found, self.own)

    def test_the_first_allowed_algorithm_is_taken(self):
        for wrong in (algorithm(1001), algorithm(scheme=1, parts=4), algorithm(parts=4), algorithm(flags=EXACT | HMMA), algorithm(flags=EXACT | TF32),
                      algorithm(flags=EXACT | 1 << 40)):
            found, lines, ran = self.answer("graph", wrong + algorithm(8))
            self.served(lines, ran)
            self.close(found, self.own)
            found, lines, ran = self.answer("graph", wrong)
            self.assertEqual((found, ran, lines.count("product")), (self.own, 0, 0), wrong)
            self.said((OWN, STEPS))

    def test_an_algorithm_that_fails_is_followed_by_the_next(self):
        for wrong in (algorithm(needed=-1), algorithm(8, needed=1001), algorithm(align=4096)):
            found, _, ran = self.answer("graph", wrong + algorithm())
            self.assertEqual(ran, 2 * STEPS)
            self.close(found, self.own)
            found, lines, ran = self.answer("graph", wrong)
            self.assertEqual((found, ran), (self.own, 0), wrong)
            self.assertIn("product", lines)

    def test_an_addend_elsewhere_needs_an_algorithm_that_takes_it(self):
        found, lines, ran = self.answer("graph", algorithm(apart=0))
        self.assertEqual(ran, 2 * (STEPS - 1))
        self.said((OWN, 1))
        self.close(found, self.own)

    def test_compute_types(self):
        """Pedantic sums first, plain ones where the library has no others; rounded factors with the flags that allow them."""
        _, lines, _ = self.answer("graph", algorithm())
        self.assertEqual({line for line in lines if line.startswith("heuristics")}, {"heuristics p"})
        found, lines, ran = self.answer("graph", algorithm(), FAKE_CUBLASLT_COMPUTE="f")
        self.assertEqual((lines.count("heuristics p"), lines.count("heuristics f"), ran), (STEPS, STEPS, 2 * STEPS))
        self.close(found, self.own)
        for option, letters, flags in (("--tf32", "tf", HMMA | SUMS | TF32), ("--fp16", "ht", HMMA | SUMS | HALF)):
            own = self.answer(f"own{option}", workspace=None, options=[option])[0]
            for letter in letters:
                found, lines, ran = self.answer(f"rounded{option}", algorithm(flags=flags), options=[option], FAKE_CUBLASLT_COMPUTE=letter)
                self.assertEqual(ran, 2 * STEPS)
                self.close(found, own, 1e-3)
        self.assertEqual(self.answer("rounded--tf32", algorithm(flags=HMMA | SUMS | HALF), options=["--tf32"])[2], 0)

    def test_calls_of_the_library_that_fail(self):
        script = algorithm(1000)
        _, lines, _ = self.answer("graph", script)
        in_run = [i for i, line in enumerate(lines, 1) if line == "product"][-STEPS:]
        for call, line in enumerate(lines, 1):
            if line == "destroy":
                continue
            found, _, ran = self.answer("graph", script, status=None if call in in_run else 0, FAKE_CUBLASLT_FAIL=str(call))
            self.assertTrue(found is not None or call in in_run, f"{call} {line}")
            self.assertTrue(found is None or self.distance(found, self.own) < 1e-5, f"{call} {line}")
            self.assertTrue(self.notes or ran == 2 * STEPS, f"{call} {line}")
            if line == "create":
                self.said((CLOSED, 1))

    def test_calls_of_the_runtime_that_fail(self):
        script, room = algorithm(1000), self.make("graph", 1000)
        log = room / "log.txt"
        _, counts, _ = self.outcome(room, FAKE_CUBLASLT=script)
        for call in range(1, counts["calls"] + 1):
            found, _, _ = self.outcome(room, None, FAKE_CUBLASLT=script, FAKE_CUBLASLT_LOG=str(log), OCC_FAKE_FAIL=str(call))
            self.assertTrue(found is None or self.distance(found, self.own) < 1e-5, call)
            self.assertEqual(log.read_text().splitlines()[-1], "left 0", call)

    def test_programs_need_no_library(self):
        found, lines, ran = self.answer("without", algorithm(), library=False)
        self.assertEqual((found, lines, ran), (self.own, [], 0))

    def test_workspaces_are_planned(self):
        sizes = [self.device_bytes(self.make(f"size_{workspace}", workspace)) for workspace in (0, 100000)]
        self.assertGreaterEqual(sizes[1], 100000)
        self.assertLess(sizes[1], sizes[0] + 100000 + 512)               # one workspace at a time

    def test_which_steps_the_library_may_compute(self):
        """Even if the file lists all."""
        shown = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={self.tuned(0)}", "--dump=program"]).stdout
        self.assertEqual((shown.count("matmul_work_f32"), shown.count("matmul_f32")), (STEPS, 2))

    def test_what_occam_engines_writes(self):
        lines = self.folder / "lines.txt"
        lines.write_text(self.questions())
        told = {options: run([self.engines, f"--device={DEVICE}", *options, lines], FAKE_CUDNN="").stdout
                for options in ((), ("--products",), ("--products=64",), ("--products=64", "--workspace=32"))}
        self.assertEqual(told[()].count(" : own    # steps=1 a product, listed with --products only"), STEPS + 2)
        self.assertEqual(told["--products",].count(" : cublaslt workspace=0    # steps=1 gap="), STEPS)
        self.assertEqual(told["--products",].count("# steps=1 an expression of another form"), 1)
        self.assertEqual(told["--products",].count("# steps=1 a stack whose axes do not make one"), 1)
        for options, most in (("--products=64",), 64), (("--products=64", "--workspace=32"), 32):
            found = re.findall(r"cublaslt workspace=(\d+) .* gap=(-?\d+) .* growth=(\d+)", told[options])
            self.assertEqual(len(found), STEPS)
            for workspace, gap, growth in found:
                self.assertEqual((int(workspace), int(growth)), (min(most, max(int(gap), 0)), max(-int(gap), 0)))
        answers = self.folder / "answers.txt"
        answers.write_text(told["--products",])
        shown = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={answers}", "--dump=program"]).stdout
        self.assertEqual(shown.count("matmul_work_f32"), STEPS)

    def test_wrong_lines_are_named(self):
        good = self.tuned(0).read_text().splitlines()[0]
        self.refuse_lines(((good.replace("cublaslt", "cudnn"), "own, or cublaslt workspace="), (good.replace("workspace=0", "workspace=-1"), "own, or cublaslt"),
                           (good + " notes=-", "nothing more"), (good + "\n" + good, "one line for each")))
        for option in ("--products=x", "--products=-1"):
            self.assertIn(option, run([self.engines, f"--device={DEVICE}", option, "lines"], status=1).stderr)

    def test_the_real_headers(self):
        if not self.real:
            self.skipTest("no cublasLt.h is installed (a CUDA toolkit, or make deps-engines)")
        room = self.make("graph", 1000)
        for compiler in ("gcc", "clang"):
            run([compiler, *STRICT, "-DOCC_CUBLASLT", "-isystem", self.real, "-c", "model.c", "-o", "real.o"], room)

    def test_the_real_descriptors(self):
        folder = pathlib.Path(self.real).parent / "lib"
        if not list(folder.glob("libcublasLt.so.*")):
            self.skipTest("cuBLASLt is not installed (make deps-engines)")
        run(["gcc", *STRICT, "-fkeep-inline-functions", f"-I{ROOT}", "-isystem", self.real, ROOT / "tests" / "engines" / "real_cublaslt.c", "-o", "real",
             *(next(folder.glob(f"lib{name}.so.*")) for name in ("cublasLt", "cudart")), f"-Wl,-rpath,{folder}", "-lm"], self.folder)
        self.assertRegex(run(["./real"], self.folder).stdout, r"36 descriptors taken, 0 refused")


class Both(Programs):
    """A convolution and a product in one program, each by its own library, or one of them alone."""
    MODEL = """<ir_version: 9, opset_import: ["" : 17]>
    net (float[1,4,6,8] x, float[6,8] z, float[8,5] u) => (float[1,8,6,8] y, float[6,5] p) {
        c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (x, w, b)
        y = Softmax (c)
        s = Softmax (z)
        t = Softmax <axis=0> (u)
        m = MatMul (s, t)
        p = Softmax (m)
    }"""
    WEIGHTS, INPUTS = {"w": (8, 4, 3, 3), "b": (8,)}, {"x": (1, 4, 6, 8), "z": (6, 8), "u": (8, 5)}
    DEFINES = ("OCC_CUDNN", "OCC_CUBLASLT")

    def test_each_library_has_its_steps(self):
        lines, answers, log = (self.folder / name for name in ("lines.txt", "answers.txt", "log.txt"))
        runs, engine = self.folder / "runs.txt", "A:1:3:64:0:0:64:7 "
        lines.write_text(self.questions())
        answers.write_text(run([self.engines, f"--device={DEVICE}", "--growth=1000000", "--products", lines], FAKE_CUDNN=engine).stdout)
        self.assertEqual((answers.read_text().count(" : cudnn "), answers.read_text().count(" : cublaslt ")), (1, 1))
        own = self.outcome(self.build("own", None))[0]
        room = self.build("both", answers)
        for convolutions in (engine, ""):
            for products in (algorithm(), ""):
                found, _, _ = self.outcome(room, FAKE_CUDNN=convolutions, FAKE_CUDNN_RUNS=str(runs), FAKE_CUBLASLT=products, FAKE_CUBLASLT_LOG=str(log))
                self.assertEqual(runs.read_text().split()[1:], ["2" if convolutions else "0", "0"])
                self.assertEqual(log.read_text().splitlines()[-2:], ["ran 2" if products else "ran 0", "left 0"])
                self.assertLess(self.distance(found, own), 1e-5 if convolutions or products else 1e-30)


class Linear(Programs):
    """Products with constant weights and convolutions of one tap: `d` has nine, and the places of `e` lie in no lines."""
    MODEL = """<ir_version: 9, opset_import: ["" : 17]>
    net (float[2,6,8] x, float[1,8,4,6] z) => (float[2,6,8] y, float[1,5,4,6] d, float[1,5,4,6] e) {
        wide = MatMul (x, w1)
        biased = Add (wide, b1)
        positive = Relu (biased)
        narrow = MatMul (positive, w2)
        shifted = Add (narrow, b2)
        y = Add (shifted, x)
        c = Conv <kernel_shape=[1,1]> (z, w3, b3)
        r = Relu (c)
        d = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (r, w4)
        e = Conv <kernel_shape=[1,1]> (r, w5)
    }"""
    WEIGHTS = {"w1": (8, 16), "b1": (16,), "w2": (16, 8), "b2": (8,), "w3": (5, 8, 1, 1), "b3": (5,), "w4": (5, 5, 3, 3), "w5": (5, 5, 1, 1)}
    INPUTS, DEFINES = {"x": (2, 6, 8), "z": (1, 8, 4, 6)}, ("OCC_CUBLASLT",)

    def listed(self, *options):
        """The file of --tuned, whose lines are of cuBLASLt where occam-engines finds that it can."""
        lines, answers = self.folder / "lines.txt", self.folder / f"answers{''.join(options)}.txt"
        lines.write_text(self.questions(*options))
        answers.write_text(run([self.engines, f"--device={DEVICE}", "--growth=1000000", "--linear", lines], FAKE_CUDNN="A:1:3:0:0:0:0:-1 ").stdout)
        return answers

    def test_layers_of_one_tap(self):
        text = self.listed().read_text()
        self.assertEqual((text.count(" : cublaslt workspace=0 "), text.count(" : cudnn ")), (3, 2))
        log = self.folder / "log.txt"
        for name, flags in (("f32", EXACT), ("--tf32", HMMA | SUMS | TF32), ("--fp16", HMMA | SUMS | HALF)):
            options = [name] if name.startswith("--") else []
            own = self.outcome(self.build(f"own{name}", None, *options))[0]
            found = self.outcome(self.build(f"linear{name}", self.listed(*options), *options), FAKE_CUBLASLT=algorithm(flags=flags),
                                 FAKE_CUBLASLT_LOG=str(log))[0]
            self.assertEqual(log.read_text().splitlines()[-2:], ["ran 6", "left 0"])
            self.close(found, own, 1e-3 if options else 1e-5)

    def test_lines_of_steps_that_are_no_product(self):
        path = self.folder / "all.txt"
        path.write_text(re.sub(r" : .*", " : cublaslt workspace=0", self.questions()).split("\n", 1)[1])
        shown = run([self.occamyc, self.folder / "net.onnx", "--target=cuda", f"--tuned={path}", "--dump=program"]).stdout
        self.assertEqual((shown.count("conv_work_f32"), shown.count("conv_krsc_f32")), (3, 2))


if __name__ == "__main__":
    Programs.occamyc, Programs.engines, objects, Programs.runtime, Products.real = \
        (",".join(map(os.path.abspath, path.split(","))) if path else "" for path in (sys.argv.pop(1) for _ in range(5)))
    Programs.library = objects.split(",")
    unittest.main()
