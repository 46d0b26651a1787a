"""Whole networks at every width of vectors: the same C file, built for 1, 4 and 8 lanes, and 16 where the machine has them (with and
without dot products of bytes), must give the same answers.

Networks of floats agree within what other orders of additions explain, those of bytes in every bit. The scalar build is the
oracle of the others: it shares no tile with them.
"""

import concurrent.futures
import os
import platform
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))

import cases
import compare_ort
import compare_real
import host
import networks
import tensors

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
SHARED = os.path.join(ROOT, "..", "shared", "models")
OWN = ("digits", "digits_int8", "tones", "reverse")
REAL = ("mlperf_tiny_kws_int8_qdq", "mnist_8", "magika_standard_v3_3")
STRIPS = ("digits_int8", "bytes", "mnist_8")  # with --cascade=on, too
BYTES = ("digits_int8", "bytes")
TOLERANCE = 1e-5  # of the largest magnitude of an output
STRICT = host.LITERAL + " -Wno-psabi"


def machine_has(flag):
    try:
        with open("/proc/cpuinfo") as file:
            return f" {flag} " in file.read().replace("\n", " ")
    except OSError:
        return False


def widths():
    """Lanes, or lanes and what else -> flags of the C compiler; 4 and 8 are made of what there is where the machine has other vectors."""
    found = {1: "-DOCC_FORCE_SCALAR", 4: "-DOCC_FORCE_WIDTH=4", 8: "-DOCC_FORCE_WIDTH=8"}
    if platform.machine() == "x86_64":
        found[4] = "-msse2"
        found[8] = "-mavx2 -mfma" if machine_has("avx2") else found[8]
        if machine_has("avx512bw"):
            found[16] = "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma"
        if machine_has("avx512_vnni"):
            found["16vnni"] = f"{found[16]} -mavx512vnni"
    elif platform.machine() == "aarch64":
        found[4] = ""
    return found


# ----------------------------------------------------------------------------------------------- a network of odd channels


class Bytes:
    """Quantised nodes, one after another: every kernel of bytes, with channels that no vector divides."""

    def __init__(self):
        self.random, self.nodes, self.constants, self.last = np.random.default_rng(3), [], {}, "x"

    def constant(self, value, dtype):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def quantise(self, value, scale, zero):
        parameters = [self.constant(scale, np.float32), self.constant(zero, np.uint8)]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [value, *parameters]), *parameters])

    def weights(self, *shape):
        w = self.constant(self.random.integers(-127, 128, shape), np.int8)
        scales = self.random.uniform(0.5, 1.5, shape[0]) * 0.02 / np.sqrt(np.prod(shape[1:]))
        return self.node("DequantizeLinear", [w, self.constant(scales, np.float32), self.constant(np.zeros(shape[0]), np.int8)], axis=0)

    def convolution(self, value, inputs, outputs, kernel, group=1, **attributes):
        y = self.node("Conv", [value, self.weights(outputs, inputs // group, kernel, kernel)], group=group, **attributes)
        return self.quantise(y, 0.03, 121)


def bytes_network():
    b = Bytes()
    x = b.quantise("x", 0.02, 128)
    x = b.convolution(x, 3, 33, 3, pads=[1] * 4)
    x = b.convolution(x, 33, 33, 3, group=33, pads=[1] * 4, strides=[2, 2])
    wide = x = b.convolution(x, 33, 52, 1)
    x = b.convolution(x, 52, 52, 1)
    x = b.quantise(b.node("Add", [x, wide]), 0.04, 120)
    x = b.convolution(x, 52, 76, 3, group=2, pads=[0, 1, 1, 0], strides=[2, 2])
    x = b.node("MaxPool", [x], kernel_shape=[2, 2])
    x = b.quantise(b.node("GlobalAveragePool", [x]), 0.02, 117)
    y = b.quantise(b.node("Gemm", [b.node("Flatten", [x]), b.weights(37, 76)], transB=1), 0.02, 130)
    graph = helper.make_graph(b.nodes, "bytes", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 30, 26])],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, name) for name, value in b.constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# -------------------------------------------------------------------------------------------------------------- the test


def network(name, work):
    """Path, flags and input sets of a network; options may follow its name."""
    name, *options = name.split()
    path, flags, sets = plain_network(name, work)
    return path, [*flags, *options], sets


def plain_network(name, work):
    bounds = compare_ort.DIMS.get(name, {})
    flags = [word for bound in bounds.items() for word in ("--dim", "=".join(bound))]
    path = os.path.join(ROOT, "models", f"{name}.onnx")
    if name in REAL:
        path = os.path.join(SHARED, name, "model.onnx")
        flags = compare_real.read_dims(os.path.join(SHARED, "dims.txt")).get(name, [])
        return path, flags, [inputs for inputs, _ in cases.Case(os.path.dirname(path)).sets]
    if name == "bytes":
        path = os.path.join(work, "bytes.onnx")
        onnx.save(onnx.shape_inference.infer_shapes(bytes_network()), path)
    model = onnx.load(path)
    ranges = compare_ort.read_bounds("=".join(bound) for bound in bounds.items())
    feeds = compare_ort.make_feeds(path, model, ranges)
    return path, flags, [[tensors.from_numpy(a) for a in feed.values()] for feed in feeds]


def answers(arguments, name, found, lanes, flags):
    """All tensors of all outputs, for each set of inputs."""
    path, options, sets = found
    tools = host.Toolchain(arguments.occamyc, f"{arguments.cc} {flags}", STRICT)
    folder = os.path.join(arguments.work, name.replace(" ", ""), str(lanes))
    host.compile_model(tools, path, folder, options)
    host.build_program(tools, folder)
    model = onnx.load(path)
    runs = [host.run_program(tools, folder, model, inputs) for inputs in sets]
    return [t for run in runs for value in run.outputs for t in networks.flat_tensors(value)]


def check(arguments, name):
    found = network(name, arguments.work)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {lanes: pool.submit(answers, arguments, name, found, lanes, flags) for lanes, flags in widths().items()}
    results = {lanes: job.result() for lanes, job in jobs.items()}
    if not any(np.asarray(t.array()).size for t in results[1]):
        raise host.Failure("wrong", "no outputs to compare")
    for lanes, result in results.items():
        for scalar, vector in zip(results[1], result, strict=True):
            error = networks.scaled_error(scalar, vector)
            if scalar.raw != vector.raw if name.split()[0] in BYTES else not error <= TOLERANCE:
                raise host.Failure("wrong", f"{lanes} lanes differ from one by {error:g} of the largest magnitude")


if __name__ == "__main__":
    absent = [name for name in REAL if not os.path.exists(os.path.join(SHARED, name, "model.onnx"))]
    for missing in absent:
        print(f"{missing}: SKIPPED: {SHARED}/{missing} is not there")
    names = (*OWN, *REAL, "bytes", *(f"{name} --cascade=on" for name in STRIPS))
    host.check_each(check, __doc__, [name for name in names if name.split()[0] not in absent], len(absent))
