"""Maps from outside: the header's tables of keys, the report, the host program, --verify.

usage: test_maps.py OCCAMYC CC
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OCCAMYC, CC = (os.path.abspath(sys.argv[1]), shlex.split(sys.argv[2])) if len(sys.argv) > 2 else ("occamyc", ["cc"])
ML = "ai.onnx.ml"


def save(path, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", [helper.make_value_info(*i) for i in inputs], [helper.make_value_info(*o) for o in outputs])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)]), path)


def scores(path):
    """Softmax of rows, as maps by text."""
    table = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", 2])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None)))
    save(path, [helper.make_node("Softmax", ["x"], ["p"]), helper.make_node("ZipMap", ["p"], ["y"], domain=ML, classlabels_strings=["no", "a \"y\""])],
         [("x", table)], [("y", maps)])


def dictionary(path):
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    save(path, [helper.make_node("DictVectorizer", ["x"], ["y"], domain=ML, int64_vocabulary=[7, -3, 5])],
         [("x", kind)], [("y", helper.make_tensor_type_proto(TensorProto.FLOAT, [1, 3]))])


def stored_map(keys, values):
    proto = onnx.MapProto(key_type=TensorProto.STRING if isinstance(keys[0], str) else TensorProto.INT64)
    if isinstance(keys[0], str):
        proto.string_keys.extend(k.encode() for k in keys)
    else:
        proto.keys.extend(keys)
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.extend(numpy_helper.from_array(numpy.float32(v)) for v in values)
    return proto


class Maps(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name
        scores(self.folder + "/scores.onnx")
        dictionary(self.folder + "/words.onnx")

    def tearDown(self):
        self.kept.cleanup()

    def run_it(self, *words, status=0):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env={**os.environ, "OCCAMYC_PYTHON": sys.executable})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def store(self, name, message):
        os.makedirs(self.folder + "/sets", exist_ok=True)
        with open(f"{self.folder}/sets/{name}.pb", "wb") as file:
            file.write(message.SerializeToString())

    def test_the_header_and_the_report_hold_the_keys(self):
        self.run_it(OCCAMYC, "scores.onnx", "--dim", "n=1..4", "-o", "m.c", "--report=m.json")
        with open(self.folder + "/m.h") as file:
            header = file.read()
        self.assertIn('scores_keys_out_y[2] = {\n    "no", "a \\"y\\"",\n};', header)
        self.assertIn("float *y; /* [n][2], by scores_keys_out_y */", header)
        with open(self.folder + "/m.json") as file:
            self.assertEqual(json.load(file)["outputs"][0]["keys"], ["no", 'a "y"'])
        with open(self.folder + "/use.c", "w") as file:
            file.write('#include "m.h"\nint main(void) { return scores_keys_out_y[0][0] == \'n\' ? 0 : 1; }\n')
        self.run_it(*CC, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o", "m.o", "m.c")
        self.run_it(*CC, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", "use", "use.c")
        self.run_it("./use")

    def test_the_host_program_takes_keys_in_any_order(self):
        self.run_it(OCCAMYC, "words.onnx", "-o", "m.c", "--main=main.c")
        self.run_it(*CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "m", "main.c", "m.c", "-lm")
        numpy.array([1, 2, 3], numpy.float32).tofile(self.folder + "/v")
        numpy.array([5, 9, 7]).tofile(self.folder + "/k")
        self.run_it("./m", "v@k")
        self.assertEqual(numpy.fromfile(self.folder + "/out/0.bin", numpy.float32).tolist(), [3, 0, 1])
        self.run_it("./m", "v")
        self.assertEqual(numpy.fromfile(self.folder + "/out/0.bin", numpy.float32).tolist(), [1, 2, 3])

    def test_verification_against_the_runtime(self):
        self.assertIn("'y' float[4][2]: max absolute", self.run_it(OCCAMYC, "scores.onnx", "--dim", "n=1..4", "--verify"))
        self.assertIn("'y' float[1][3]: max absolute", self.run_it(OCCAMYC, "words.onnx", "--verify"))

    def test_verification_against_stored_maps(self):
        self.store("input_0", numpy_helper.from_array(numpy.zeros((2, 2), numpy.float32)))
        rows = [stored_map(['a "y"', "no"], [0.5, 0.5]), stored_map(["no", 'a "y"'], [0.5, 0.5])]
        self.store("output_0", onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=rows))
        check = (OCCAMYC, "scores.onnx", "--dim", "n=1..4", "--verify=sets")
        self.assertIn("'y' float[2][2]: max absolute 0", self.run_it(*check))
        rows[1] = stored_map(["no", 'a "y"'], [0.5, 0.25])
        self.store("output_0", onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=rows))
        self.assertIn("1 of 4 elements, the first at 3", self.run_it(*check, status=4))
        rows[1] = stored_map(["no", "yes"], [0.5, 0.5])
        self.store("output_0", onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=rows))
        self.assertIn("other keys than the model's", self.run_it(*check, status=1))
        self.store("input_0", stored_map([5, 9, 7], [1, 2, 3]))
        self.store("output_0", numpy_helper.from_array(numpy.array([[3, 0, 1]], numpy.float32)))
        self.assertIn("max absolute 0", self.run_it(OCCAMYC, "words.onnx", "--verify=sets"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
