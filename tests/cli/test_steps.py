"""Steps from outside: those that compute and read run-time integers say for which node they do, as those of kernels do.

A sum of bytes is scaled once. Extents that do not broadcast stop the run.

usage: test_steps.py OCCAMYC [CC]
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OCCAMYC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "occamyc"
CC = shlex.split(sys.argv[2]) if len(sys.argv) > 2 else ["cc"]


def value(name, extents, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, extents)


def one_hot():
    """The depth is read from an input."""
    return [helper.make_node("OneHot", ["at", "depth", "values"], ["y"], name="spread")], \
        [value("at", [3], TensorProto.INT64), value("depth", [], TensorProto.INT64), value("values", [2])], \
        [value("y", [3, "d"])], ["--dim", "y:1=1..8"]


def loop():
    """The condition is read before the loop and in each iteration, and the number of iterations is read too."""
    body = helper.make_graph([helper.make_node("Add", ["v", "v"], ["w"], name="double"),
                              helper.make_node("ReduceSum", ["w"], ["s"], name="sum", keepdims=0),
                              helper.make_node("Less", ["s", "most"], ["go"], name="again")], "body",
                             [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [2])],
                             [value("go", [], TensorProto.BOOL), value("w", [2])])
    return [helper.make_node("Loop", ["n", "first", "x"], ["y"], name="repeat", body=body)], \
        [value("n", [], TensorProto.INT64), value("first", [], TensorProto.BOOL), value("x", [2]), value("most", [])], \
        [value("y", [2])], []


def reshaped():
    """Each iteration reshapes what is carried by extents that are read."""
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["go"], name="again"),
                              helper.make_node("Identity", ["v"], ["w"], name="keep"),
                              helper.make_node("Reshape", ["v", "shape"], ["r"], name="turn"),
                              helper.make_node("Relu", ["r"], ["o"], name="cut")], "body",
                             [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", ["p", "q"])],
                             [value("go", [], TensorProto.BOOL), value("w", ["p", "q"]), value("o", ["a", "b"])])
    return [helper.make_node("Loop", ["n", "first", "x"], ["y", "z"], name="repeat", body=body)], \
        [value("n", [], TensorProto.INT64), value("first", [], TensorProto.BOOL), value("x", ["h", "w"]), value("shape", [2], TensorProto.INT64)], \
        [value("y", ["h", "w"]), value("z", ["k", "a", "b"])], \
        [f"--dim={bound}" for bound in ("h=1..8", "w=1..8", "p=1..8", "q=1..8", "a=1..64", "b=1..64", "k=0..4")]


def branches():
    """The result's extent is that of the branch that is taken."""
    bodies = {}
    for branch, name, source in (("then_branch", "grow", "x"), ("else_branch", "keep", "z")):
        node = helper.make_node("Relu", [source], [name], name=name)
        bodies[branch] = helper.make_graph([node], branch, [], [value(name, [None, 2])])
    return [helper.make_node("If", ["c"], ["y"], name="choose", **bodies)], \
        [value("c", [], TensorProto.BOOL), value("x", ["a", 2]), value("z", ["b", 2])], [value("y", ["d", 2])], \
        ["--dim", "a=1..3", "--dim", "b=1..5"]


def sequence():
    """A member's place and extent are read from the sequence's own words."""
    return [helper.make_node("SequenceConstruct", ["x", "z"], ["s"], name="both"),
            helper.make_node("SequenceAt", ["s", "k"], ["m"], name="pick"),
            helper.make_node("Relu", ["m"], ["y"], name="cut")], \
        [value("x", ["a", 2]), value("z", ["b", 2]), value("k", [], TensorProto.INT64)], [value("y", ["c", 2])], \
        ["--dim", "a=1..3", "--dim", "b=1..5"]


def sum_of_bytes(*between):
    """A product of bytes, quantised again, perhaps behind other operators."""
    constants = {"xs": numpy.float32(0.3), "ws": numpy.linspace(0.01, 0.05, 24, dtype=numpy.float32), "ys": numpy.float32(0.7),
                 "xz": numpy.uint8(3), "wz": numpy.zeros(24, numpy.int8), "w": numpy.arange(16 * 24).reshape(16, 24).astype(numpy.int8)}
    names = ["sum", *(f"between{i}" for i in range(len(between)))]
    return [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["a"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["b"], axis=1), helper.make_node("MatMul", ["a", "b"], ["sum"]),
            *(helper.make_node(op, [names[i]], [names[i + 1]]) for i, op in enumerate(between)),
            helper.make_node("QuantizeLinear", [names[-1], "ys", "xz"], ["y"])], \
        [value("x", [5, 16], TensorProto.UINT8)], [value("y", [5, 24], TensorProto.UINT8)], \
        [numpy_helper.from_array(numpy.asarray(array), name) for name, array in constants.items()]


def behind_product(domain, op):
    """An activation whose argument is a product's result."""
    weights = numpy_helper.from_array(numpy.ones((8, 5), numpy.float32), "w")
    return [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node(op, ["p"], ["y"], domain=domain)], \
        [value("x", [3, 8])], [value("y", [3, 5])], [weights]


class Steps(unittest.TestCase):
    def made(self, file, nodes, inputs, outputs, options=(), constants=()):
        """The text of one of the files that are written."""
        graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
        with tempfile.TemporaryDirectory() as folder:
            model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)])
            onnx.save(model, folder + "/m.onnx")
            words = [OCCAMYC, "m.onnx", "-o", "m.c", *options, "--report=m.json"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(f"{folder}/{file}") as text:
                return text.read()

    def test_every_step_names_its_node(self):
        wanted = ((one_hot, {"read"}), (loop, {"read", "loop"}), (branches, {"set", "if"}), (sequence, {"read"}))
        for make, kinds in wanted:
            steps = json.loads(self.made("m.json", *make()))["steps"]
            self.assertLessEqual(kinds, {s["kind"] for s in steps}, make.__name__)
            self.assertEqual([s for s in steps if not s["nodes"]], [], make.__name__)

    def test_a_condition_is_checked_once(self):
        checks = re.findall(r"OCC_CHECK\((d\[\d+\])\);", self.made("m.c", *reshaped()))
        self.assertGreater(len(checks), 5)
        self.assertEqual(len(checks), len(set(checks)))

    def test_a_sum_of_bytes_is_scaled_once(self):
        """Both quantisation steps are one factor; a logistic function in between needs the sum itself."""
        for between, products in (((), 1), (("Relu",), 1), (("Sigmoid",), 2)):
            nodes, inputs, outputs, constants = sum_of_bytes(*between)
            text = self.made("m.c", nodes, inputs, outputs, constants=constants)
            expression = re.search(r"^OCC_INLINE \w+ m_expr_1\(.*?^}", text, re.DOTALL | re.MULTILINE)
            self.assertEqual(expression[0].count("mul("), products, between)

    def test_activations_join_the_product_before_them(self):
        for name in "Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish Relu Selu Shrink Softplus Softsign Swish ThresholdedRelu msft.QuickGelu".split():
            domain, op = ("com.microsoft", name[5:]) if "." in name else ("", name)
            nodes, inputs, outputs, constants = behind_product(domain, op)
            steps = json.loads(self.made("m.json", nodes, inputs, outputs, constants=constants))["steps"]
            self.assertEqual(len(steps), 1, name)

    def test_an_activation_of_halves_is_rounded_once(self):
        for domain, op in (("", "Swish"), ("", "Mish"), ("com.microsoft", "QuickGelu")):
            text = self.made("m.c", [helper.make_node(op, ["x"], ["y"], domain=domain)], [value("x", [9], TensorProto.FLOAT16)],
                             [value("y", [9], TensorProto.FLOAT16)])
            expressions = re.findall(r"^OCC_INLINE \w+ m_expr_\d+\(.*?^}", text, re.DOTALL | re.MULTILINE)
            self.assertEqual("".join(expressions).count("occ_f16_to_f32(occ_f32_to_f16("), 1, op)

    def test_extents_that_do_not_broadcast_stop_the_run(self):
        """The second extent is known while running, or a constant."""
        for extent, good, bad in (("b", (1, 3), (2, 4)), (2, (), (2,))):
            graph = helper.make_graph([helper.make_node("Add", ["x", "z"], ["y"])], "net", [value("x", ["a"]), value("z", [extent])],
                                      [value("y", ["c"])])
            with tempfile.TemporaryDirectory() as folder:
                onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), folder + "/m.onnx")
                bounds = ["--dim", "a=1..4", *(["--dim", "b=1..4"] if extent == "b" else [])]
                subprocess.run([OCCAMYC, "m.onnx", "-o", "m.c", "--main=main.c", "--quiet", *bounds], cwd=folder, check=True)
                subprocess.run([*CC, "m.c", "main.c", "-o", "m", "-lm"], cwd=folder, check=True)
                for elements in {3, *good, *bad}:
                    numpy.ones(elements, numpy.float32).tofile(f"{folder}/f{elements}")
                for elements in (*good, *bad):
                    done = subprocess.run(["./m", "x=f3", f"z=f{elements}"], cwd=folder, capture_output=True, text=True)
                    self.assertEqual(done.returncode, int(elements in bad), done.stdout + done.stderr)
                    self.assertEqual("ESHAPE" in done.stderr, elements in bad)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
