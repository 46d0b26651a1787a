"""Small models for the tests of the command line: sound ones, and one broken in each way that a file can be."""
import os

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name, extents, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, extents)


def build(nodes, inputs, outputs, constants=(), opset=21):
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def small():
    """A result of [16][8] that two others need: the arena holds something."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], name="turn", perm=[1, 0]),
        helper.make_node("Sigmoid", ["t"], ["s"], name="squash"),
        helper.make_node("Gather", ["s", "rows"], ["g"], name="pick", axis=0),
        helper.make_node("Add", ["g", "s"], ["a"], name="join"),
        helper.make_node("Add", ["a", "c"], ["y"], name="shift"),
    ]
    constant = numpy_helper.from_array(numpy.arange(16, dtype=numpy.float32).reshape(16, 1), "c")
    rows = numpy_helper.from_array(numpy.arange(15, -1, -1, dtype=numpy.int64), "rows")
    return build(nodes, [value("x", [8, 16])], [value("y", [16, 8])], [constant, rows])


def numbers():
    """Text that becomes numbers."""
    return build([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], [value("x", [2], TensorProto.STRING)], [value("y", [2])])


def convolution():
    """One that Winograd's kernels take, with scratch of their own."""
    weights = numpy_helper.from_array(numpy.ones((64, 64, 3, 3), dtype=numpy.float32), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="wide", pads=[1, 1, 1, 1])]
    return build(nodes, [value("x", [1, 64, 32, 32])], [value("y", [1, 64, 32, 32])], [weights])


def convolution_of_sizes():
    """A smaller one, for images of any height."""
    weights = numpy_helper.from_array(numpy.ones((16, 16, 3, 3), dtype=numpy.float32), "w")
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="wide", pads=[1, 1, 1, 1])]
    return build(nodes, [value("x", [1, 16, "H", 32])], [value("y", [1, 16, "H", 32])], [weights])


def chain():
    """Two convolutions with a large value between them."""
    weights = [numpy_helper.from_array(numpy.ones((c, n, 3, 3), dtype=numpy.float32), f"w{c}") for n, c in ((3, 16), (16, 4))]
    nodes = [
        helper.make_node("Conv", ["x", "w16"], ["h"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["h", "w4"], ["y"], name="second", pads=[1, 1, 1, 1]),
    ]
    return build(nodes, [value("x", [1, 3, 96, 96])], [value("y", [1, 4, 96, 96])], weights)


def attention(keys):
    """Scores of many keys for every query, of which the kernel keeps those of a few."""
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"], name="match"),
        helper.make_node("Softmax", ["scores"], ["weights"], name="weigh"),
        helper.make_node("MatMul", ["weights", "v"], ["y"], name="mix"),
    ]
    inputs = [value("q", [4, 512, 8]), value("k", [4, 8, keys]), value("v", [4, keys, 8])]
    return build(nodes, inputs, [value("y", [4, 512, 8])])


def fragmented():
    """In the model's order, products whose sizes and lives fit into no arena as small as what is ever live together."""
    made = [(0, 16), (1, 40), (1, 8), (3, 48), (3, 56), (4, 8), (6, 8), (7, 48), (8, 48)]  # from which one, columns
    columns = [48] + [count for _, count in made]
    weights = [numpy_helper.from_array(numpy.ones((columns[a], count), dtype=numpy.float32), f"w{i}") for i, (a, count) in enumerate(made, 1)]
    nodes = [helper.make_node("MatMul", [f"t{a}", f"w{i}"], [f"t{i}"], name=f"product{i}") for i, (a, _) in enumerate(made, 1)]
    nodes.append(helper.make_node("Concat", ["t2", "t5", "t9"], ["y"], name="join", axis=1))
    return build(nodes, [value("t0", [1, 48])], [value("y", [1, 144])], weights)


def twins():
    """Two layers with the same weights, and constants that no step reads."""
    twin = numpy.ones((32, 32), dtype=numpy.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"], name="first"),
        helper.make_node("Softmax", ["h"], ["s"], name="between"),
        helper.make_node("MatMul", ["s", "w2"], ["y"], name="second"),
    ]
    weights = [numpy_helper.from_array(twin, name) for name in ("w1", "w2", "unused")]
    return build(nodes, [value("x", [4, 32])], [value("y", [4, 32])], weights)


def words():
    """Four rows picked from a table of four thousand."""
    table = numpy_helper.from_array(numpy.zeros((4096, 256), dtype=numpy.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "ids"], ["y"], name="look")]
    return build(nodes, [value("ids", [4], TensorProto.INT64)], [value("y", [4, 256])], [table])


def gated():
    """Two tensors of bytes: a sigmoid of the one, times a number that is a byte as well, plus the other."""
    numbers = {"s": numpy.float32(0.03), "t": numpy.float32(0.004), "z": numpy.uint8(120), "none": numpy.uint8(0), "byte": numpy.uint8(250)}
    constants = [numpy_helper.from_array(numpy.asarray(v), k) for k, v in numbers.items()]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["b"], name="squash"),
        helper.make_node("QuantizeLinear", ["b", "t", "none"], ["c"]),
        helper.make_node("DequantizeLinear", ["c", "t", "none"], ["d"]),
        helper.make_node("DequantizeLinear", ["byte", "t", "none"], ["one"]),
        helper.make_node("Mul", ["d", "one"], ["e"], name="scale"),
        helper.make_node("QuantizeLinear", ["e", "t", "none"], ["f"]),
        helper.make_node("DequantizeLinear", ["f", "t", "none"], ["g"]),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["h"]),
        helper.make_node("Add", ["g", "h"], ["i"], name="join"),
        helper.make_node("QuantizeLinear", ["i", "s", "z"], ["y"]),
    ]
    bytes_ = [value(name, [1, 2048], TensorProto.UINT8) for name in "xwy"]
    return build(nodes, bytes_[:2], bytes_[2:], constants)


def changed(what):
    """A small network as it was, or with one change that costs memory in a way of its own."""
    nodes = [
        helper.make_node("Softmax", ["x"], ["soft"], name="first"),
        helper.make_node("Sigmoid", ["soft"], ["squashed"], name="squash"),
        helper.make_node("Exp", ["squashed"], ["grown"], name="grow"),
        helper.make_node("Softmax", ["grown"], ["last"], name="last"),
        helper.make_node("Neg", ["soft" if what == "lifetime" else "last"], ["other"], name="turn"),
        helper.make_node("Concat", ["last", "other"], ["both"], name="join", axis=0),
        helper.make_node("ReduceMax", ["both"], ["y"], name="most", keepdims=0),
    ]
    outputs = [value("y", [])]
    if what == "fusion":
        nodes[3] = helper.make_node("Softmax", ["grown"], ["later"], name="last")
        nodes.insert(4, helper.make_node("Add", ["later", "squashed"], ["last"], name="again"))
    if what == "view":
        outputs.append(value("last", [16, 64]))
    if what == "new":
        nodes[6].input[0] = "end"
        nodes.insert(6, helper.make_node("Softmax", ["both"], ["end"], name="end"))
    return build(nodes, [value("x", [16, 64])], outputs)


def in_place(kept):
    """The exponentials take the memory of the softmax, unless that is kept: it is read once more."""
    nodes = [
        helper.make_node("Softmax", ["x"], ["soft"], name="first"),
        helper.make_node("Exp", ["soft"], ["grown"], name="grow"),
        helper.make_node("ReduceMax", ["grown"], ["most"], name="most", keepdims=1),
        helper.make_node("Sub", ["grown", "most"], ["below"], name="below"),
        helper.make_node("Mul", ["below", "soft" if kept else "x"], ["y"], name="weigh"),
    ]
    return build(nodes, [value("x", [16, 64])], [value("y", [16, 64])])


def lopsided():
    """A concatenation whose first member is a column: made in its place, all of it would live while the other is made."""
    rows = numpy_helper.from_array(numpy.arange(63, -1, -1, dtype=numpy.int64), "rows")
    nodes = [
        helper.make_node("Gather", ["x", "rows"], ["a"], name="first"),
        helper.make_node("ReduceMax", ["a"], ["column"], name="small", axes=[1]),
        helper.make_node("Gather", ["a", "rows"], ["b"], name="second", axis=1),
        helper.make_node("Gather", ["b", "rows"], ["c"], name="third", axis=0),
        helper.make_node("Concat", ["column", "c"], ["both"], name="join", axis=1),
        helper.make_node("ReduceMax", ["both"], ["y"], name="most", keepdims=0),
    ]
    return build(nodes, [value("x", [64, 64])], [value("y", [])], [rows], opset=13)


def bounded():
    nodes = [helper.make_node("Sigmoid", ["x:0"], ["y"], name="squash")]
    return build(nodes, [value("x:0", ["n", 4])], [value("y", ["n", 4])])


def two_states():
    """Two values of three numbers each, which the state keeps apart by its alignment."""
    nodes = [helper.make_node("Add", ["x", "a"], ["c"], name="one"), helper.make_node("Mul", ["x", "b"], ["d"], name="other")]
    return build(nodes, [value(name, [3]) for name in "xab"], [value("c", [3]), value("d", [3])])


def stateful():
    nodes = [helper.make_node("Add", ["x", "s"], ["y"], name="sum")]
    return build(nodes, [value("x", [4]), value("s", [4])], [value("y", [4])])


def named_node(op, inputs, **attributes):
    return build([helper.make_node(op, inputs, ["y"], name="odd", **attributes)], [value("x", [2, 3])], [value("y", None)])


def cycle():
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="one"), helper.make_node("Relu", ["a"], ["b"], name="two")]
    return build(nodes, [value("x", [2])], [value("b", [2])])


def external(location):
    model = small()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return model


def field(number, data):
    """A protobuf field of wire type 2."""
    length, size = b"", len(data)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def deep_nesting(levels=3000):
    """Bytes of a model whose only node holds a graph, which holds a node, and so on; Python's protobuf would refuse it."""
    graph = field(2, b"innermost")
    for _ in range(levels):
        attribute = field(1, b"body") + field(6, graph)
        graph = field(1, field(4, b"Loop") + field(5, attribute))
    return b"\x08\x0a" + field(8, b"\x10\x15") + field(7, graph)


def huge():
    model = small()
    tensor = model.graph.initializer[0]
    del tensor.dims[:]
    tensor.dims.extend([1 << 40, 1 << 40])
    return model


def short_payload():
    model = small()
    model.graph.initializer[0].raw_data = b"123"
    return model


def newer_opset():
    return build([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2])], [value("y", [2])], opset=4000)


def unknown_operator():
    node = helper.make_node("Frobnicate", ["x"], ["y"], name="odd")
    return build([node], [value("x", [2])], [value("y", [2])])


def wrong_type():
    nodes = [helper.make_node("Add", ["x", "i"], ["y"], name="odd")]
    return build(nodes, [value("x", [2]), value("i", [2], TensorProto.INT32)], [value("y", [2])])


def bad_shape():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="odd")]
    return build(nodes, [value("x", [2, 3]), value("w", [4, 5])], [value("y", [2, 5])])


def duplicate_name():
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="one"), helper.make_node("Abs", ["x"], ["y"], name="two")]
    return build(nodes, [value("x", [2])], [value("y", [2])])


def write_all(folder):
    models = {
        "small": small(), "numbers": numbers(), "convolution": convolution(), "convolution_of_sizes": convolution_of_sizes(), "chain": chain(), "attention": attention(512), "words": words(), "gated": gated(),
        "twins": twins(),
        "attention_5000": attention(5000), "attention_90000": attention(90000), "lopsided": lopsided(), "fragmented": fragmented(), "bounded": bounded(),
        "in_place": in_place(False), "in_place_not": in_place(True), **{"changed_" + what: changed(what) for what in ("not", "new", "fusion", "view", "lifetime")}, "stateful": stateful(), "two_states": two_states(), "cycle": cycle(),
        "missing_input": named_node("Relu", ["nowhere"]), "wrong_arity": named_node("Add", ["x"]),
        "external_missing": external("not_there.bin"), "external_outside": external("../../etc/passwd"),
        "huge": huge(), "short_payload": short_payload(), "newer_opset": newer_opset(),
        "unknown_operator": unknown_operator(), "wrong_type": wrong_type(), "bad_shape": bad_shape(),
        "duplicate_name": duplicate_name(),
    }
    for name, model in models.items():
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(model.SerializeToString())
    whole = models["small"].SerializeToString()
    for name, data in {"truncated": whole[: len(whole) * 2 // 3], "not_onnx": b"PK\x03\x04 no model at all", "empty": b"",
                       "deep_nesting": deep_nesting()}.items():
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(data)
