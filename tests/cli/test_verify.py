"""--verify from outside: what it calls different, values other than tensors, bounds from stored sets, a Python that lacks
something. Usage: test_verify.py OCCAMYC"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
import onnx.parser
from onnx import numpy_helper

OCCAMYC = os.path.abspath(sys.argv[1])
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '

SQRT = HEAD + "main (float[4] x) => (float[4] y) { y = Sqrt(x) }"
JOIN = HEAD + "main (seq(float[n, 3]) s) => (float[m, 3] y, seq(float[n, 3]) t) { y = ConcatFromSequence <axis = 0> (s) t = Identity(s) }"
SECOND = HEAD + """main (optional(seq(float[3])) o, float[3] x) => (seq(float[3]) s) {
    e = OptionalGetElement(o) s = SequenceInsert(e, x) }"""
ASKED = HEAD + """main (optional(seq(float[3])) o) => (bool b) { b = OptionalHasElement(o) }"""
FILLED = HEAD + """main (int64[2] size) => (float[a, b] y) { t = ConstantOfShape(size) u = Neg(t) y = Exp(u) }"""
WORDS = HEAD.replace("17", "20") + """main (string[n] a, int64 at) => (string[n] x) {
    s = StringConcat(a, a) q = SequenceConstruct(a, s) x = SequenceAt(q, at) }"""
CHOSEN = HEAD + "main (float[n, m] x) => (int64[2, k] y) { y = NonZero(x) }"
PAIR = HEAD + "main (float[n] a, float[n, k] b) => (float[n, k] y) { z = Constant <value_ints = [1]> () c = Unsqueeze(a, z) y = Add(b, c) }"

NODES = HEAD + "main (float[n, 3] x) => (float[n, n] y) { s = Sigmoid(x) r = Transpose(s) y = MatMul(s, r) }"
DECIDED = HEAD + """main (float[n, 3] x) => (float[n, 3] y) {
    h = Shape <end = 1> (x) one = Constant <value_ints = [1]> () e = Equal(h, one) c = Squeeze(e) w = Abs(x)
    z = If (c) <then_branch = a () => (float[k, 3] p) { p = Neg(w) }, else_branch = b () => (float[k, 3] q) { r = Sqrt(w) q = Exp(r) }>
    y = Tanh(z) }"""


def packed(bits):
    """A product with packed weights whose input may be rounded to bytes."""
    size = 4 * bits
    w = ", ".join(str(i * 37 % 256) for i in range(2 * size))
    return f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        main (float[3, 32] x) => (float[3, 2] y) <uint8[2, 1, {size}] w = {{{w}}}, float[2] s = {{0.5, 0.25}}> {{
            y = com.microsoft.MatMulNBits <K = 32, N = 2, bits = {bits}, block_size = 32, accuracy_level = 4> (x, w, s) }}"""


def f32(*values):
    return numpy.array(values, numpy.float32)


def proto(value):
    if value is None or (isinstance(value, tuple) and value[0] == "optional"):
        return numpy_helper.from_optional(value and value[1], "stored")
    return numpy_helper.from_list(value, "stored") if isinstance(value, list) else numpy_helper.from_array(value)


class Verify(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = self.holder.name

    def tearDown(self):
        self.holder.cleanup()

    def verify(self, text, *sets, status=0, flags=(), python=sys.executable, program=OCCAMYC):
        """`sets`: (inputs, outputs) to be stored; without any, ONNX Runtime's answers are compared with."""
        path, stored = self.folder + "/net.onnx", self.folder + "/sets"
        onnx.save(onnx.parser.parse_model(text), path)
        for i, sides in enumerate(sets):
            os.makedirs(f"{stored}/test_data_set_{i}", exist_ok=True)
            for role, values in zip(("input", "output"), sides):
                for k, value in enumerate(values):
                    with open(f"{stored}/test_data_set_{i}/{role}_{k}.pb", "wb") as file:
                        file.write(proto(value).SerializeToString())
        done = subprocess.run([program, path, "--verify" + ("=" + stored if sets else ""), "--quiet", *flags], capture_output=True, text=True,
                              env={**os.environ, "OCCAMYC_PYTHON": python}, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_code_for_a_device_runs_in_the_emulation(self):
        nowhere = {"PATH": os.environ["PATH"], "NVCC": "/nowhere/nvcc"}
        os.environ["NVCC"] = nowhere["NVCC"]
        try:
            self.verify(SQRT, ([f32(1, 4, 9, 16)], [f32(1, 2, 3, 4)]), flags=["--target=cuda"])
            self.verify(SQRT, ([f32(1, 4, 9, 16)], [f32(1, 2, 3, 5)]), flags=["--target=cuda"], status=4)
            self.verify(CHOSEN, flags=["--target=cuda", "--dim", "n=2", "--dim", "m=3"])
        finally:
            del os.environ["NVCC"]

    def test_products_that_stay_floats_are_compared_with_floats(self):
        self.verify(packed(4))
        self.verify(packed(8))
        self.verify(packed(4), flags=["--target=cuda"])

    def test_an_interpreter_may_have_a_path_from_here(self):
        self.verify(SQRT, python=os.path.join(os.path.relpath(os.path.dirname(sys.executable)), os.path.basename(sys.executable)))

    def test_nodes_are_compared_at_listed_sizes(self):
        flags, liar = ["--verify-nodes", "--dim=n=2|5"], self.folder + "/liar.py"
        said = self.verify(NODES, flags=flags)
        for n in (2, 5):
            for name, extents in (("s", (n, 3)), ("r", (3, n)), ("y", (n, n))):
                self.assertRegex(said, r"'%s' float\[%d\]\[%d\]: max absolute" % (name, *extents))
        with open(liar, "w") as file:
            file.write("import runpy, sys\nimport onnx\nfrom onnx import numpy_helper\ndel sys.argv[0]\nsys.path.insert(0, '.')\n"
                       "runpy.run_path(sys.argv[0], run_name='__main__')\npath = 'test_data_set_1/output_1.pb'\n"
                       "onnx.save_tensor(numpy_helper.from_array(numpy_helper.to_array(onnx.load_tensor(path)) + 1), path)\n")
        said = self.verify(NODES, flags=flags, status=4, python=sys.executable + " " + liar)
        self.assertIn("test_data_set_1: output 's' differs", said)
        self.assertIn("the values part at 's', which Sigmoid", said)
        self.assertIn("leave other nodes", self.verify(DECIDED, flags=["--verify-nodes", "--dim=n=1|4"], status=1))

    def test_nan_is_no_error_of_zero(self):
        said = self.verify(SQRT, ([f32(1, -1, 4, 9)], [f32(1, 1, 2, 3)]), status=4)
        self.assertIn("1 of 4 elements, the first at 1 (found -nan, wanted 1)", said.replace("found nan", "found -nan"))
        self.assertRegex(said, r"max absolute error -?nan, relative -?nan")
        said = self.verify(SQRT, ([f32(1, 1, 4, 9)], [f32(1, numpy.inf, 2, numpy.nan)]), status=4)
        self.assertIn("2 of 4 elements", said)
        self.verify(SQRT, ([f32(1, -1, 4, numpy.inf)], [f32(1, numpy.nan, 2, numpy.inf)]))

    def test_what_rounding_leaves_is_no_difference_and_more_is(self):
        zero = HEAD + "main (float[4] x) => (float[4] y) { y = Sub(x, x) }"
        self.assertNotIn("DIFFERS", self.verify(zero, ([f32(1, 2, 3, 4)], [f32(6.6e-8, 0, 0, 0)])))
        self.assertIn("differs", self.verify(zero, ([f32(1, 2, 3, 4)], [f32(6.6e-6, 0, 0, 0)]), status=4))
        double = zero.replace("float", "double")
        self.verify(double, ([f32(1, 2, 3, 4).astype(float)], [numpy.array([6.6e-8, 0, 0, 0])]), status=4)
        tiny = HEAD + "main (float[2] x) => (float[2] y) { y = Neg(x) }"
        self.assertIn("says little", self.verify(tiny, ([f32(1e-9, 0)], [f32(-1e-9, 0)])))

    def test_sequences_of_none_and_some(self):
        one, two = f32(1, 2, 3).reshape(1, 3), numpy.ones((2, 3), numpy.float32)
        said = self.verify(JOIN, ([[one, two]], [numpy.concatenate([one, two]), [one, two]]), ([[one]], [one, [one]]))
        self.assertIn("bounded by the stored sets: --dim s:count=1..2 --dim s:0=1..2", said)
        self.assertIn("sequence of 2", said)
        self.assertIn("more than 1 members", self.verify(JOIN, ([[one, two]], [numpy.concatenate([one, two]), [one]]), ([[one]], [one, [one]]), status=4))
        kept = JOIN.replace("y = ConcatFromSequence <axis = 0> (s) ", "").replace("float[m, 3] y, ", "")
        self.holder.cleanup()
        self.setUp()
        self.assertIn("sequence of 0", self.verify(kept, ([[]], [[]]), ([[one]], [[one]])))

    def test_sequences_that_may_be_absent(self):
        x = f32(1, 2, 3)
        self.verify(SECOND, ([("optional", [x]), x], [[x, x]]), ([("optional", []), x], [[x]]))
        self.holder.cleanup()
        self.setUp()
        self.verify(ASKED, ([("optional", [x])], [numpy.array(True)]), ([("optional", [])], [numpy.array(True)]), ([None], [numpy.array(False)]))

    def test_random_sequences_are_compared_with_onnx_runtime(self):
        self.assertIn("sequence of 3", self.verify(JOIN, flags=["--dim=s:count=1..3", "--dim=n=1..2"]))

    def test_every_combination_of_listed_sizes_is_run(self):
        said = self.verify(PAIR, flags=["--dim=n=2|5", "--dim=k=1|3"])
        self.assertEqual(sorted(line.split("float")[1].split(":")[0] for line in said.splitlines()), ["[2][1]", "[2][3]", "[5][1]", "[5][3]"])
        a, b = f32(1, 2), numpy.zeros((2, 5), numpy.float32)
        self.assertIn("EEXTENT", self.verify(PAIR, ([a, b], [a.reshape(2, 1) + b]), flags=["--dim=n=1|3"], status=4))
        self.holder.cleanup()
        self.setUp()
        self.assertIn("--dim k=5..5", self.verify(PAIR, ([a, b], [a.reshape(2, 1) + b]), flags=["--dim=n=2|3"]))

    def test_every_missing_bound_comes_from_the_sets(self):
        size = numpy.array([2, 3], numpy.int64)
        said = self.verify(FILLED, ([size], [numpy.ones((2, 3), numpy.float32)]), ([size[::-1].copy()], [numpy.ones((3, 2), numpy.float32)]))
        self.assertIn("bounded by the stored sets:", said)
        for named in (True, False):
            text = FILLED if named else FILLED.replace("y = Exp(u)", "z = Exp(u) y = ReduceSum <keepdims = 0> (z)").replace("float[a, b]", "float")
            self.holder.cleanup()
            self.setUp()
            said = self.verify(text, ([size], [numpy.ones((2, 3), numpy.float32) if named else numpy.float32(6).reshape(())]))
        self.assertIn("--dim size:values=0..3", said)
        words = numpy.array(["ab", "c"], object)
        self.holder.cleanup()
        self.setUp()
        said = self.verify(WORDS, ([words, numpy.array(1)], [numpy.array(["abab", "cc"], object)]))
        self.assertIn("--dim a:bytes=0..5", said)
        self.holder.cleanup()
        self.setUp()
        self.assertIn("--dim n=2..2 --dim m=3..3", self.verify(CHOSEN, ([numpy.eye(2, 3, dtype=numpy.float32)], [numpy.array([[0, 1], [0, 1]])])))
        self.holder.cleanup()
        self.setUp()
        said = self.verify(PAIR, ([f32(1, 2), numpy.zeros((2, 5), numpy.float32)], [numpy.array([[1] * 5, [2] * 5], numpy.float32)]),
                           ([f32(1), numpy.zeros((1, 4), numpy.float32)], [numpy.ones((1, 4), numpy.float32)]))
        self.assertIn("--dim n=1..2 --dim k=4..5", said)

    def script(self, name, line):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{line}\n")
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_the_virtual_environment_beside_the_program_is_asked(self):
        beside = os.path.join(self.folder, "a build")
        asked = self.script("a build/venv/bin/python", f'echo asked >> "{self.folder}/log"\nexec {sys.executable} "$@"')
        program = shutil.copy(OCCAMYC, beside)
        self.verify(SQRT, python="", program=program)
        self.assertTrue(os.path.exists(self.folder + "/log"))
        self.script("bin/python3", "exit 127")
        os.remove(asked)
        before = os.environ["PATH"]
        try:
            os.environ["PATH"] = f"{self.folder}/bin:{before}"
            said = self.verify(SQRT, python="", program=program, status=1).splitlines()
        finally:
            os.environ["PATH"] = before
        self.assertIn("'python3' was asked for ONNX Runtime's answers and cannot be started", said[0])
        self.assertIn(f"set OCCAMYC_PYTHON=venv/bin/python; or have them in '{beside}/venv', which `make deps` does", said[1])

    def test_a_python_that_lacks_modules_is_named_with_what_to_type(self):
        bare = self.script("bare", f'exec {sys.executable} -I -S "$@"')
        said = self.verify(SQRT, status=1, python=bare)
        self.assertEqual(len(said.splitlines()), 2)
        self.assertIn(f"'{bare}' was asked for ONNX Runtime's answers and lacks numpy, onnx, onnxruntime", said.splitlines()[0])
        self.assertIn("type python3 -m venv venv && venv/bin/pip install onnx onnxruntime", said.splitlines()[1])
        self.assertIn("cannot be started", self.verify(SQRT, status=1, python="no-such-python"))

    def test_what_onnx_runtime_cannot_run_is_named_by_its_cause(self):
        elsewhere = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> main (float[2, 3, 2560] x) => (float[2, 3, 1280] y)
            <float[2560] b = {""" + ", ".join(["0.5"] * 2560) + """}> { y = com.microsoft.BiasSplitGelu (x, b) }"""
        said = self.verify(elsewhere, status=1)
        self.assertRegex(said, r"could not run the model \(--verify=DIR compares with stored sets\): onnxruntime.*BiasSplitGelu")
        self.assertNotIn("Traceback", said)
        self.assertNotIn("?", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
