"""Instructions of single operators whose height and width are bounded, over those of programs with constant extents of the
same size, counted by valgrind: extent_counts.py --occamyc=P --document=F.md [FAMILY...]

Each program computes one operator of seeded random weights. One program has the constant size, the other takes any size of
its bounds and is run at that size. Both must give the same bytes, or floats that hardly differ.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from programs import run_quietly

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

HEAD = """# Instructions with bounded extents

Written by `make bench-extent-counts`. Instructions of one run, counted by valgrind: of programs with constant height and
width, and of programs with bounds (`--dim h=1..512 --dim w=1..512`) that are run at the same size. Each program computes one
operator of `tests/bench/extent_counts.py` on an image whose channels are neighbours; `int8` operators stand between
DequantizeLinear and QuantizeLinear. C compiler: `{cc}` ({version}).

| operator | input | constant | bounded | ratio |
|---|---|---:|---:|---:|
"""

BOUNDS = ["--dim=h=1..512", "--dim=w=1..512"]


class Graph:
    def __init__(self):
        self.random, self.nodes, self.constants = np.random.default_rng(3), [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def drawn(self, name, shape):
        return self.constant(name, (self.random.standard_normal(shape) * 0.1).astype(np.float32))

    def scaled(self, name, scale, zero, dtype):
        return [self.constant(f"{name}_scale", np.float32(scale)), self.constant(f"{name}_zero", dtype(zero))]


def quantised(op, channels, shape, **attributes):
    """Unsigned bytes with a zero point, signed weights of `shape`."""
    g = Graph()
    w = g.constant("w", g.random.integers(-127, 128, shape).astype(np.int8))
    x = g.node("DequantizeLinear", ["x", *g.scaled("x", 0.02, 120, np.uint8)], "dx")
    w = g.node("DequantizeLinear", [w, *g.scaled("w", 0.01, 0, np.int8)], "dw")
    y = g.node(op, [x, w], "dy", **attributes)
    g.node("QuantizeLinear", [y, *g.scaled("y", 0.1, 130, np.uint8)], "y")
    return g, channels, TensorProto.UINT8


def floats(op, channels, shape=None, **attributes):
    g = Graph()
    g.node(op, ["x", *([g.drawn("w", shape)] if shape else [])], "y", **attributes)
    return g, channels, TensorProto.FLOAT


def normed():
    g = Graph()
    g.node("InstanceNormalization", ["x", g.drawn("scale", 64), g.drawn("b", 64)], "y")
    return g, 64, TensorProto.FLOAT


def resized(channels, **attributes):
    g = Graph()
    g.node("Resize", ["x", "", g.constant("scales", np.float32([1, 1, 2, 2]))], "y", **attributes)
    return g, channels, TensorProto.FLOAT


def rows(op, channels, shape=None, **attributes):
    """Of the image's last axis."""
    g = Graph()
    g.node(op, ["image", *([g.drawn("w", shape)] if shape else [])], "result", **attributes)
    return g, channels, TensorProto.FLOAT


def padded(stride, pad, **attributes):
    return dict(strides=[stride] * 2, pads=[pad] * 4, **attributes)


# name: the operator's graph, channels and type of its input; height and width
FAMILIES = {
    "conv_int8_3x3_s2": (lambda: quantised("Conv", 64, (64, 64, 3, 3), **padded(2, 1)), 56),
    "conv_int8_3x3": (lambda: quantised("Conv", 64, (64, 64, 3, 3), **padded(1, 1)), 28),
    "conv_int8_1x1": (lambda: quantised("Conv", 96, (96, 96, 1, 1)), 28),
    "conv_int8_stem": (lambda: quantised("Conv", 3, (32, 3, 3, 3), **padded(2, 1)), 112),
    "depthwise_int8_3x3": (lambda: quantised("Conv", 96, (96, 1, 3, 3), **padded(1, 1, group=96)), 28),
    "conv_3x3": (lambda: floats("Conv", 64, (64, 64, 3, 3), **padded(1, 1)), 28),
    "conv_3x3_s2": (lambda: floats("Conv", 64, (64, 64, 3, 3), **padded(2, 1)), 56),
    "conv_1x1": (lambda: floats("Conv", 96, (96, 96, 1, 1)), 28),
    "conv_stem": (lambda: floats("Conv", 3, (32, 3, 3, 3), **padded(2, 1)), 112),
    "conv_few_outputs": (lambda: floats("Conv", 32, (3, 32, 3, 3), **padded(1, 1)), 56),
    "depthwise_3x3": (lambda: floats("Conv", 96, (96, 1, 3, 3), **padded(1, 1, group=96)), 28),
    "convtranspose_2x2_s2": (lambda: floats("ConvTranspose", 64, (64, 32, 2, 2), **padded(2, 0)), 28),
    "convtranspose_4x4_s2": (lambda: floats("ConvTranspose", 64, (64, 32, 4, 4), **padded(2, 1)), 28),
    "convtranspose_3x3": (lambda: floats("ConvTranspose", 64, (64, 32, 3, 3), **padded(1, 1)), 28),
    "maxpool_3x3_s2": (lambda: floats("MaxPool", 64, kernel_shape=[3, 3], **padded(2, 1)), 56),
    "maxpool_2x2_s2": (lambda: floats("MaxPool", 64, kernel_shape=[2, 2], **padded(2, 0)), 56),
    "averagepool_3x3": (lambda: floats("AveragePool", 64, kernel_shape=[3, 3], **padded(1, 1)), 28),
    "globalaveragepool": (lambda: floats("GlobalAveragePool", 64), 28),
    "resize_linear": (lambda: resized(32, mode="linear"), 28),
    "resize_nearest": (lambda: resized(32, mode="nearest"), 28),
    "resize_cubic": (lambda: resized(32, mode="cubic"), 28),
    "transpose": (lambda: rows("Transpose", 64, perm=[0, 3, 1, 2]), 28),
    "depthtospace": (lambda: floats("DepthToSpace", 64, blocksize=2), 28),
    "softmax_channels": (lambda: rows("Softmax", 96, axis=3), 28),
    "softmax_columns": (lambda: rows("Softmax", 32, axis=2), 28),
    "matmul_rows": (lambda: rows("MatMul", 96, (96, 96)), 28),
    "reducemean_rows": (lambda: rows("ReduceMean", 96, axes=[1, 2]), 28),
    "relu": (lambda: rows("Relu", 96), 28),
    "instancenorm": (normed, 28),
    "lrn": (lambda: floats("LRN", 64, size=5), 28),
}


def save(name, height, width, path):
    graph, channels, dtype = FAMILIES[name][0]()
    x = helper.make_tensor_value_info("image", dtype, [1, height, width, channels])
    y = helper.make_tensor_value_info("result", dtype, [None] * 4)
    nodes = graph.nodes
    if nodes[0].input[0] == "x":
        nodes = [helper.make_node("Transpose", ["image"], ["x"], perm=[0, 3, 1, 2]), *nodes,
                 helper.make_node("Transpose", ["y"], ["result"], perm=[0, 2, 3, 1])]
    made = helper.make_graph(nodes, name, [x], [y], graph.constants)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return channels, helper.tensor_dtype_to_np_dtype(dtype)


def count(args, name, size, kind, height, width, bounds=()):
    """Instructions of one run at that size, and its result."""
    folder = Path(args.folder).resolve() / name / kind
    folder.mkdir(parents=True, exist_ok=True)
    channels, dtype = save(name, height, width, folder / "net.onnx")
    run_quietly([args.occamyc, "net.onnx", "-o", "model.c", "--main=main.c", "--name=model", "--quiet", *bounds], folder)
    run_quietly([*args.cc.split(), "main.c", "model.c", "-o", "counted", "-lm", "-pthread"], folder)
    drawn = np.random.default_rng(1)
    shape = 1, size, size, channels
    x = drawn.standard_normal(shape) if dtype == np.float32 else drawn.integers(0, 256, shape)
    x.astype(dtype).tofile(folder / "x.raw")
    word = f"x.raw:1x{size}x{size}x{channels}" if bounds else "x.raw"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out", "--toggle-collect=model_run",
                           "--zero-before=model_run", "./counted", word, "-o", "made"], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found or not int(found[1]):
        raise SystemExit(f"{name}: {done.stderr[-500:]}")
    return int(found[1]), np.fromfile(folder / "made" / "0.bin", dtype)


def is_near(wanted, made):
    """Sums of floats may be taken in another order."""
    return np.allclose(wanted, made, 1e-4, 1e-4) if made.dtype == np.float32 else np.array_equal(wanted, made)


def measure(args, name):
    """The row of one operator."""
    size = FAMILIES[name][1]
    constant, wanted = count(args, name, size, "constant", size, size)
    bounded, made = count(args, name, size, "bounded", "h", "w", BOUNDS)
    if wanted.shape != made.shape or not is_near(wanted, made):
        raise SystemExit(f"{name}: the results of both programs differ")
    return f"| {name} | {size} x {size} | {constant:,} | {bounded:,} | {bounded / constant:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True, type=Path)
    parser.add_argument("--cc", required=True, help="with its flags; valgrind knows no AVX-512")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--document", type=Path)
    parser.add_argument("families", nargs="*")
    args = parser.parse_args()
    args.occamyc = args.occamyc.resolve()
    rows = []
    for name in args.families or FAMILIES:
        rows.append(measure(args, name))
        print(rows[-1], flush=True)
    if args.document and not args.families:
        version = subprocess.run([args.cc.split()[0], "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
        pages.replace(args.document, HEAD.format(cc=args.cc, version=version) + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
