"""Times single operators, ours against ONNX Runtime and OpenVINO as bench.py times networks, and writes a table, worst first.

Each is a model of its own that reads and writes tensors in ONNX order: what layouts save between the steps of a network does
not count here.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

import bench
import peers
import report

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

RANDOM = np.random.default_rng(0)
HEAD = """# Single operators

Written by `make bench-operators`: least processor time in milliseconds, one thread; a ratio below 1 means that ours is faster
than the better of the two libraries. Each operator is a model of its own that reads and writes tensors in ONNX order.

| operator | ours | ONNX Runtime | OpenVINO | ours / best |
|---|---:|---:|---:|---:|
"""


def weights(*shape, dtype=np.float32):
    return (RANDOM.standard_normal(shape) * (0.1 if dtype == np.float32 else 40)).astype(dtype)


def one(op, x, *constants, opset=17, outputs=1, dtype=np.float32, **attributes):
    """A model of one node; `x`: the extents of its first input, the others are constants."""
    names = [f"c{i}" for i in range(len(constants))]
    nodes = [helper.make_node(op, ["x", *names], [f"y{i}" for i in range(outputs)], **attributes)]
    return model(nodes, dict(x=(x, dtype)), dict(zip(names, constants)), nodes[0].output, opset)


def model(nodes, inputs, constants, outputs, opset=17):
    graph = helper.make_graph(nodes, "operator", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(d)), s)
                                                  for n, (s, d) in inputs.items()],
                              [helper.make_empty_tensor_value_info(y) for y in outputs],
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    made = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9))
    onnx.checker.check_model(made)
    return made


def whole(*numbers):
    return np.array(numbers, np.int64)


def chain(inputs, constants, *lines, opset=17):
    """Lines are (operator, inputs, output, attributes); the last output is the model's."""
    nodes = [helper.make_node(op, given.split(), made.split(), **attributes) for op, given, made, attributes in lines]
    return model(nodes, {n: (s, np.float32) for n, s in inputs.items()}, constants, [lines[-1][2]], opset)


ROI, TWICE = np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)
TOKENS, IMAGE = [512, 768], [1, 64, 56, 56]


def operators():
    yield from ((op.lower(), one(op, TOKENS)) for op in "Exp Log Sqrt Tanh Sigmoid Erf Softplus Sin Elu".split())
    yield "gelu", one("Gelu", TOKENS, opset=20)
    yield "pow", one("Pow", TOKENS, np.float32(2.5))
    yield "where", chain(dict(x=TOKENS, z=TOKENS), {}, ("Greater", "x z", "c", {}), ("Where", "c x z", "y", {}))
    yield "add per channel", one("Add", IMAGE, weights(1, 64, 1, 1))
    yield "prelu", one("PRelu", IMAGE, weights(64, 1, 1))
    yield "softmax, last axis", one("Softmax", [128, 1000])
    yield "softmax, channels", one("Softmax", [1, 21, 256, 256], axis=1)
    yield "layer norm", one("LayerNormalization", TOKENS, weights(768), weights(768))
    yield "instance norm", one("InstanceNormalization", [1, 64, 128, 128], weights(64), weights(64))
    yield "lrn", one("LRN", [1, 96, 55, 55], size=5)
    yield "mean, last axis", one("ReduceMean", [512, 1024], axes=[1])
    yield "sum, first axis", one("ReduceSum", [512, 1024], whole(0))
    yield "maximum, middle axis", one("ReduceMax", [8, 256, 1024], axes=[1])
    yield "argmax, channels", one("ArgMax", [1, 21, 256, 256], axis=1)
    yield "topk", one("TopK", [100, 1000], whole(10), outputs=2)
    yield "cumsum", one("CumSum", TOKENS, np.int64(1))
    yield "transpose", one("Transpose", TOKENS, perm=[1, 0])
    yield "transpose, heads", one("Transpose", [1, 128, 12, 64], perm=[0, 2, 1, 3])
    yield "transpose, channels last", one("Transpose", [1, 64, 112, 112], perm=[0, 2, 3, 1])
    yield "concat", chain(dict(a=IMAGE, b=[1, 32, 56, 56]), {}, ("Concat", "a b", "y", dict(axis=1)))
    yield "slice, steps", one("Slice", [1, 64, 128, 128], whole(0, 0), whole(128, 128), whole(2, 3), whole(2, 2))
    yield "pad, reflect", one("Pad", [1, 32, 128, 128], whole(0, 0, 3, 3, 0, 0, 3, 3), mode="reflect")
    yield "depth to space", one("DepthToSpace", [1, 64, 64, 64], blocksize=4)
    yield "grid sample", chain(dict(x=[1, 32, 64, 64], g=[1, 64, 64, 2]), {}, ("GridSample", "x g", "y", {}))
    yield "resize, nearest", one("Resize", [1, 64, 64, 64], ROI, TWICE, mode="nearest", nearest_mode="floor",
                                 coordinate_transformation_mode="asymmetric")
    yield "resize, linear", one("Resize", [1, 64, 64, 64], ROI, TWICE, mode="linear")
    yield "resize, cubic", one("Resize", [1, 3, 128, 128], ROI, TWICE, mode="cubic")
    yield "max pool", one("MaxPool", [1, 64, 112, 112], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    yield "average pool", one("AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1] * 4)
    yield "global average pool", one("GlobalAveragePool", [1, 512, 28, 28])
    yield "conv 1-D", one("Conv", [1, 64, 4000], weights(64, 64, 9), pads=[4, 4])
    yield "conv 3-D", one("Conv", [1, 16, 16, 32, 32], weights(32, 16, 3, 3, 3), pads=[1] * 6)
    yield "conv 5x5", one("Conv", [1, 32, 64, 64], weights(64, 32, 5, 5), pads=[2] * 4)
    yield "conv, dilated", one("Conv", [1, 128, 32, 32], weights(128, 128, 3, 3), pads=[4] * 4, dilations=[4, 4])
    yield "conv, 32 groups", one("Conv", [1, 128, 28, 28], weights(128, 4, 3, 3), pads=[1] * 4, group=32)
    yield "depthwise 5x5", one("Conv", [1, 128, 28, 28], weights(128, 1, 5, 5), pads=[2] * 4, group=128)
    yield "transposed conv 4x4", one("ConvTranspose", [1, 64, 64, 64], weights(64, 32, 4, 4), strides=[2, 2], pads=[1] * 4)
    yield "transposed conv 2x2", one("ConvTranspose", [1, 256, 32, 32], weights(256, 128, 2, 2), strides=[2, 2])
    yield "matmul, one row", one("MatMul", [1, 1024], weights(1024, 4096))
    yield "matmul, odd extents", one("MatMul", [77, 333], weights(333, 555))
    yield "matmul of inputs", chain(dict(a=[12, 128, 64], b=[12, 64, 128]), {}, ("MatMul", "a b", "y", {}))
    yield "matmul of a transposed", chain(dict(a=[384, 384], b=[384, 384]), {}, ("Transpose", "b", "t", dict(perm=[1, 0])),
                                          ("MatMul", "a t", "y", {}))
    yield "einsum", chain(dict(a=[8, 64, 32], b=[8, 64, 32]), {}, ("Einsum", "a b", "y", dict(equation="bik,bjk->bij")))
    yield "lstm", one("LSTM", [50, 1, 128], weights(1, 512, 128), weights(1, 512, 128), weights(1, 1024), hidden_size=128)
    yield "gru, two directions", one("GRU", [50, 4, 64], weights(2, 288, 64), weights(2, 288, 96), weights(2, 576), hidden_size=96,
                                     direction="bidirectional")
    yield "dynamic int8 matmul", chain(
        dict(x=[128, 768]), dict(w=weights(768, 768, dtype=np.int8), scale=np.float32(0.01), bias=weights(768)),
        ("DynamicQuantizeLinear", "x", "q s z", {}), ("MatMulInteger", "q w z", "i", {}), ("Cast", "i", "f", dict(to=1)), ("Mul", "s scale", "t", {}), ("Mul", "f t", "g", {}),
        ("Add", "g bias", "y", {}))


def write_models(folder):
    """Name -> file stem."""
    names = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in operators():
        names[name] = name.replace(", ", "_").replace(" ", "_")
        onnx.save(made, folder / f"{names[name]}.onnx")
    return names


def main():
    args = bench.parse(bench.arguments())
    names = write_models(Path(args.models))
    store = args.folder / "operators.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    chosen = args.networks.replace(",", " ").split()
    for name, stem in names.items():
        if chosen and stem not in chosen:
            continue
        results[name] = bench.measure(args, stem)
        bench.print_row(stem, results[name])
        store.write_text(json.dumps(results, indent=1))
    rows = sorted(((report.ratios(r)[2], name) for name, r in results.items() if name in names), reverse=True)
    lines = []
    for ratio, name in rows:
        least = [f"{results[name][engine]['busy']:.3g}" if engine in results[name] else "-" for engine in ("ours", *peers.RUNTIMES)]
        lines.append(f"| {name} | {' | '.join(least)} | {ratio:.2f} |\n")
    if args.document:
        pages.replace(args.document, HEAD + "".join(lines))


if __name__ == "__main__":
    main()
