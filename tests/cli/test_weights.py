"""Weights from outside: large ones are packed and written block by block, and every form gives the same answers.

usage: test_weights.py OCCAMYC CC
"""
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper

OCCAMYC, CC = (os.path.abspath(sys.argv[1]), shlex.split(sys.argv[2])) if len(sys.argv) > 2 else ("occamyc", ["cc"])
MEGABYTE = 1 << 20


class Network:
    """Nodes and constants; what they hold lies in a file beside the model's, so that no library keeps copies of it."""

    def __init__(self, folder):
        self.folder, self.nodes, self.constants = folder, [], []
        self.random = numpy.random.default_rng(3)
        self.file = open(folder + "/net.bin", "wb")

    def constant(self, name, extents, scale):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=extents, data_location=TensorProto.EXTERNAL)
        data = self.random.standard_normal(extents, dtype=numpy.float32) * numpy.float32(scale)
        for key, text in (("location", "net.bin"), ("offset", str(self.file.tell())), ("length", str(data.nbytes))):
            tensor.external_data.add(key=key, value=text)
        self.file.write(data.tobytes())
        self.constants.append(tensor)
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def save(self, inputs, outputs):
        self.file.close()
        ends = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in side] for side in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, "net", *ends, self.constants)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model, self.folder + "/net.onnx")
        return os.path.getsize(self.folder + "/net.bin")


def network(folder, channels, wide, narrow):
    """A convolution in Winograd's domain, one in panels, products by a matrix and by a transposed one: four orders."""
    net = Network(folder)
    flat = channels * 64
    x = net.node("Conv", ["x", net.constant("w3", [channels, channels, 3, 3], 0.02)], "c3", pads=[1] * 4)
    x = net.node("Conv", [x, net.constant("w1", [channels, channels, 1, 1], 0.05)], "c1")
    x = net.node("Flatten", [x], "flat")
    turned = [net.constant("wt", [wide, flat], 0.01), net.constant("b", [wide], 1.0)]
    x = net.node("Gemm", [x, *turned], "turned", transB=1)
    x = net.node("MatMul", [x, net.constant("wn", [wide, narrow], 0.01)], "y")
    return net.save([("x", [1, channels, 8, 8])], [("y", [1, narrow])])


def attention(folder):
    """An operator that becomes twenty steps: the fetches between them change which buffers live longest."""
    inputs = {"q": (1, [1, 4, 32]), "k": (1, [1, 4, 16]), "v": (1, [1, 4, 16]), "ck": (1, [1, 1, 4, 16]), "cv": (1, [1, 1, 4, 16]), "n": (6, [1])}
    node = helper.make_node("GroupQueryAttention", [*inputs, "all", "cos", "sin"], ["y", "pk", "pv"], domain="com.microsoft", do_rotary=1,
                            kv_num_heads=1, num_heads=2, local_window_size=5)
    angles = numpy.random.default_rng(3).uniform(0, 6, (18, 8)).astype(numpy.float32)
    constants = {"all": numpy.array([8], numpy.int32), "cos": numpy.cos(angles), "sin": numpy.sin(angles)}
    graph = helper.make_graph([node], "attention", [helper.make_tensor_value_info(n, *what) for n, what in inputs.items()],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "pv")],
                              [onnx.numpy_helper.from_array(v, n) for n, v in constants.items()])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=imports), folder + "/attention.onnx")


def pooled(folder):
    """Convolutions of an image of any size, and a pool."""
    net = Network(folder)
    x = net.node("Conv", ["x", net.constant("w0", [6, 3, 3, 3], 0.2)], "c0", pads=[1] * 4)
    x = net.node("Relu", [net.node("Conv", [x, net.constant("w1", [12, 6, 3, 3], 0.2)], "c1", pads=[1] * 4)], "r")
    x = net.node("MaxPool", [x], "pool", kernel_shape=[2, 2], strides=[2, 2])
    net.node("Conv", [x, net.constant("w2", [4, 12, 1, 1], 0.2)], "y")
    net.save([("x", [1, 3, "H", "W"])], [("y", [1, 4, None, None])])
    os.rename(folder + "/net.onnx", folder + "/pooled.onnx")


class Weights(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = self.kept.name

    def tearDown(self):
        self.kept.cleanup()

    def run_it(self, *words, **how):
        environment = {**os.environ, "OCCAMYC_PYTHON": sys.executable}
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=environment, **how)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    @unittest.skipUnless(sys.platform.startswith("linux"), "data segments are limited so on Linux only")
    def test_packed_weights_are_never_in_memory_as_a_whole(self):
        """The model's files are mapped, which is no data of the process; all else has an eighth of their bytes."""
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (16 * MEGABYTE, 16 * MEGABYTE))

        size = network(self.folder, 256, 1250, 10000)
        self.assertGreater(size, 128 * MEGABYTE)
        for form in ("object", "file"):
            self.run_it(OCCAMYC, "net.onnx", "--target=x86-64-v3", f"--weights={form}", "-o", "net.c", preexec_fn=limit)
            self.assertGreater(os.path.getsize(self.folder + "/net.c.weights"), size)

    def test_every_form_gives_the_same_answers(self):
        network(self.folder, 32, 130, 1100)
        for form in ("inline", "object", "file"):
            said = self.run_it(OCCAMYC, "net.onnx", f"--weights={form}", "--verify", "--winograd=on")
            self.assertIn("max absolute", said)

    def test_every_planner_keeps_within_the_budget_that_it_named(self):
        """Whatever --planner: from the least that an exit with 4 names on, each budget is met."""
        attention(self.folder)
        listed = subprocess.check_output([OCCAMYC, "--help"], text=True).split("Planners:\n")[1].split("\n\n")[0]
        for planner in {"auto", *re.findall(r"(?m)^  (\S+)", listed)} - {"best", "exact"}: # best is auto
            words = [OCCAMYC, "attention.onnx", "-o", "net.c", f"--planner={planner}", "--weights=swap", "--load-rate=1M:1us:16"]
            refused = subprocess.run([*words, "--max-ram=1"], cwd=self.folder, capture_output=True, text=True)
            least = int(re.search(r"found (\d+) bytes", refused.stderr)[1])
            for budget in range(least, least + 1300, 100):
                self.run_it(*words, f"--max-ram={budget}")

    def test_listed_sizes_keep_within_the_budget_that_was_named(self):
        """The largest arena and the blocks that stay for any size, together: from the least that an exit with 4 names on,
        with and without the stack, each budget is met; one byte less is refused. One copy of each weight is in the file."""
        pooled(self.folder)
        words = [OCCAMYC, "pooled.onnx", "--weights=swap", "--load-rate=1M:1us:16", "--dim=H=12|17|24", "--dim=W=12|20"]
        for more in ([], ["--cc=" + shlex.join(CC)], ["--io=arena"]):
            refused = subprocess.run([*words, *more, "--max-ram=1"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(refused.returncode, 4)
            least = int(re.search(r"found (\d+) bytes", refused.stderr)[1])
            below = subprocess.run([*words, *more, f"--max-ram={least - 1}"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(below.returncode, 4)
            for budget in range(least, least + 4200, 700):
                said = self.run_it(*words, *more, f"--max-ram={budget}")
                self.assertLessEqual(int(re.search(r"^RAM +(\d+) bytes", said, re.M)[1]), budget)
                self.assertEqual(len(re.findall(r"^ +\d+ for H=\d+ W=\d+, and \d+ are read by a run", said, re.M)), 6)
        listed, pinned = (int(re.search(r"^weights +(\d+)", self.run_it(*some, "--cascade=off"), re.M)[1])
                          for some in (words, [*words[:4], "--dim=H=24", "--dim=W=20"]))
        self.assertEqual(listed, pinned)

    def test_a_wrong_byte_of_the_weights_is_found(self):
        network(self.folder, 32, 130, 1100)
        self.run_it(OCCAMYC, "net.onnx", "--weights=object", "-o", "net.c")
        with open(self.folder + "/check.c", "w") as file:
            file.write("int net_verify(void);\nint main(void) { return -net_verify(); }\n")
        with open(self.folder + "/net.c.weights", "r+b") as file:
            for wrong, wanted in ((False, 0), (True, 7)):
                if wrong:
                    file.seek(os.path.getsize(self.folder + "/net.c.weights") - 5)
                    file.write(b"!")
                    file.flush()
                self.run_it(*CC, "-DNET_VERIFY", "-O1", "-o", "check", "net.c", "check.c", "-lm")
                self.assertEqual(subprocess.run([self.folder + "/check"]).returncode, wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
