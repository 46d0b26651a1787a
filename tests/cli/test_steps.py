"""Steps from outside: those that compute and read run-time integers say for which node they do, as those of kernels do.

usage: test_steps.py OCCAMYC
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

OCCAMYC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "occamyc"


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


class Steps(unittest.TestCase):
    def steps_of(self, nodes, inputs, outputs, options):
        graph = helper.make_graph(nodes, "net", inputs, outputs)
        with tempfile.TemporaryDirectory() as folder:
            model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
            onnx.save(model, folder + "/m.onnx")
            words = [OCCAMYC, "m.onnx", *options, "--report=m.json"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder + "/m.json") as file:
                return json.load(file)["steps"]

    def test_every_step_names_its_node(self):
        wanted = ((one_hot, {"read"}), (loop, {"read", "loop"}), (branches, {"set", "if"}), (sequence, {"read"}))
        for make, kinds in wanted:
            steps = self.steps_of(*make())
            self.assertLessEqual(kinds, {s["kind"] for s in steps}, make.__name__)
            self.assertEqual([s for s in steps if not s["nodes"]], [], make.__name__)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
