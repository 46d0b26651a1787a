"""Makes broken models, one for each way in which a model can be wrong, into the folder given: NAME.onnx for each NAME.err here.
NAME.arguments beside it: what else occamyc is told, where the model is good and the command line is not.

The same bytes every time. `check_errors.py` runs occamyc over them and compares what it says with the .err files.
"""
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import transformer_errors  # noqa: E402

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def asked(*arguments):
    """A case with arguments besides the model's name."""
    def keep(function):
        function.arguments = arguments
        return case(function)
    return keep


def info(name, shape=(2,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, ir=8, **more):
    inputs = [info("x")] if inputs is None else inputs
    outputs = [info("y")] if outputs is None else outputs
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers), sparse_initializer=more.pop("sparse", []))
    imports = more.pop("imports", [helper.make_opsetid("", opset)])
    made = helper.make_model(graph, opset_imports=imports, **more)
    made.ir_version = ir
    made.producer_name = ""
    return made


def relu(i="x", o="y", **more):
    return helper.make_node("Relu", [i], [o], **more)


def weight(name="w", shape=(2,), kind=TensorProto.FLOAT):
    count = int(np.prod(shape))
    return helper.make_tensor(name, kind, shape, [1] * count)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


# ------------------------------------------------------------------------------------------------ files that are no models

@case
def empty():
    return b""


@case
def not_onnx():
    return b"This is the readme of a model, not the model.\n" * 20


@case
def not_onnx_picture():
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


@case
def truncated():
    whole = model([relu()], initializers=[weight(shape=(64,))]).SerializeToString()
    return whole[:len(whole) * 2 // 3]


@case
def truncated_length():
    return model([relu()]).SerializeToString() + varint(7 << 3 | 2) + b"\xff"


@case
def nested_type():
    content = b""
    for _ in range(2000):
        content = field(4, field(1, content))
    return b"\x08\x08" + field(7, field(11, field(1, b"x") + field(2, content)))


@case
def nested_graphs():
    content = b""
    for _ in range(400):
        content = field(1, field(5, field(1, b"body") + field(6, content)))
    return b"\x08\x08" + field(7, content)


@case
def many_messages():
    return b"\x08\x08" + field(7, b"\x0a\x00" * 4100000)


@case
def group_wire_type():
    return model([relu()]).SerializeToString() + b"\x3b"


# ---------------------------------------------------------------------------------------------------------------- versions

@case
def newer_opset():
    return model([relu()], opset=29)


@case
def newer_opset_of_function():
    function = helper.make_function("own", "F", ["a"], ["b"], [relu("a", "b")], [helper.make_opsetid("", 99)])
    return model([helper.make_node("F", ["x"], ["y"], domain="own")], functions=[function],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])


@case
def newer_ir():
    return model([relu()], ir=15)


@case
def no_opset():
    return model([relu()], imports=[])


@case
def zero_opset():
    return model([relu()], opset=0)


@case
def no_graph():
    made = model([relu()])
    made.ClearField("graph")
    return made


# --------------------------------------------------------------------------------------------------------------- operators

@case
def unknown_operator():
    return model([helper.make_node("Convv", ["x"], ["y"], name="first")])


@case
def unknown_domain():
    return model([helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)])


@case
def operator_that_only_passes_make():
    return model([helper.make_node("IntegerPool", ["x", "x"], ["y"], domain="occamyc")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("occamyc", 1)])


@case
def operator_of_another_domain():
    return model([helper.make_node("FusedConv", ["x"], ["y"])])


@case
def too_few_inputs():
    return model([helper.make_node("Add", ["x"], ["y"])])


@case
def too_many_inputs():
    return model([helper.make_node("Relu", ["x", "x"], ["y"])])


@case
def more_axes_than_supported():
    """Reshape to nine axes: a limit, and no fault of the model's."""
    sizes = numpy_helper.from_array(np.ones(9, np.int64), "shape")
    return model([helper.make_node("Reshape", ["x", "shape"], ["y"])], inputs=[info("x", (1,))], outputs=[info("y", None)], initializers=[sizes])


@case
def more_elements_than_given():
    """Five run-time extents of at most 128 each: only their product is known to be 128."""
    return model([helper.make_node("Reshape", ["x", "shape"], ["y"])], inputs=[info("x", (128,)), info("shape", (5,), TensorProto.INT64)],
                 outputs=[info("y", ("A", "B", "C", "D", "E"))])


@case
def too_many_outputs():
    return model([helper.make_node("Relu", ["x"], ["y", "z"])])


@case
def no_body():
    return model([helper.make_node("Loop", ["", "", "x"], ["y"])])


@case
def one_branch():
    branch = helper.make_graph([relu("x", "b")], "then", [], [info("b")])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=branch)], inputs=[info("x"), info("c", (), TensorProto.BOOL)])


@case
def graph_in_plain_operator():
    return model([helper.make_node("Relu", ["x"], ["y"], extra=helper.make_graph([], "g2", [], []))])


# ------------------------------------------------------------------------------------------------------------------- edges

@case
def missing_input():
    return model([helper.make_node("Add", ["x", "nowhere"], ["y"], name="sum")])


@case
def missing_input_in_body():
    branch = helper.make_graph([relu("nowhere", "b")], "branch", [], [info("b")])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)],
                 inputs=[info("c", (), TensorProto.BOOL)])


@case
def missing_output():
    return model([relu("x", "z")])


@case
def no_outputs():
    return model([relu()], outputs=[])


@case
def cycle():
    return model([helper.make_node("Add", ["x", "b"], ["a"], name="one"), relu("a", "b", name="two"), relu("b", "y")])


@case
def cycle_of_one():
    return model([helper.make_node("Add", ["x", "y"], ["y"], name="self")])


@case
def cycle_through_body():
    branch = helper.make_graph([relu("y", "b")], "branch", [], [info("b")])
    return model([helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)],
                 inputs=[info("c", (), TensorProto.BOOL)])


@case
def name_twice():
    return model([relu("x", "y"), helper.make_node("Abs", ["x"], ["y"])])


@case
def name_of_input_twice():
    return model([relu()], inputs=[info("x"), info("x")])


@case
def name_of_input_made():
    return model([relu("x", "x")], outputs=[info("x")])


@case
def initializer_twice():
    return model([relu("w", "y")], inputs=[], initializers=[weight(), weight()])


@case
def attribute_twice():
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    node.attribute.append(helper.make_attribute("axis", 1))
    return model([node])


@case
def attribute_of_nothing():
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    node.attribute[0].ClearField("type")
    node.attribute[0].ClearField("i")
    return model([node])


@case
def attribute_refers_to_nothing():
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    node.attribute[0].ref_attr_name = "axis"
    return model([node])


@case
def constant_of_nothing():
    return model([helper.make_node("Constant", [], ["y"])], inputs=[])


# ----------------------------------------------------------------------------------------------------------------- tensors

def with_weight(tensor, **more):
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[tensor], **more)


@case
def contents_too_short():
    tensor = weight()
    tensor.ClearField("float_data")
    tensor.raw_data = b"1234567"
    return with_weight(tensor)


@case
def contents_too_long():
    tensor = weight()
    tensor.float_data.append(1.0)
    return with_weight(tensor)


@case
def contents_missing():
    tensor = weight()
    tensor.ClearField("float_data")
    return with_weight(tensor)


@case
def contents_in_wrong_field():
    tensor = weight()
    tensor.ClearField("float_data")
    tensor.int64_data.extend([1, 2])
    return with_weight(tensor)


@case
def strings_too_few():
    tensor = helper.make_tensor("w", TensorProto.STRING, (2,), [b"one", b"two"])
    tensor.dims[0] = 3
    return with_weight(tensor)


@case
def extent_negative():
    tensor = weight()
    tensor.dims[0] = -2
    return with_weight(tensor)


@case
def size_overflow():
    tensor = weight()
    tensor.dims[:] = [1 << 31, 1 << 31, 4]
    return with_weight(tensor)


@case
def size_that_no_file_holds():
    tensor = weight()
    tensor.dims[:] = [1 << 40]
    return with_weight(tensor)


@case
def too_many_axes():
    tensor = weight(shape=(1,) * 9)
    return with_weight(tensor)


@case
def too_many_axes_of_input():
    return model([relu()], inputs=[info("x", (1,) * 9)])


@case
def element_type_unknown():
    tensor = weight()
    tensor.data_type = 99
    return with_weight(tensor)


@case
def element_type_of_six_bits():
    tensor = weight()
    tensor.data_type = 27
    return with_weight(tensor)


@case
def segmented():
    tensor = weight()
    tensor.segment.begin = 0
    tensor.segment.end = 1
    return with_weight(tensor)


@case
def wrong_type_of_initializer():
    return with_weight(weight(), inputs=[info("x"), info("w", (2,), TensorProto.INT64)])


@case
def input_without_type():
    made = model([relu()])
    made.graph.input[0].ClearField("type")
    return made


@case
def input_of_maps():
    made = model([relu()])
    made.graph.input[0].type.map_type.key_type = TensorProto.INT64
    made.graph.input[0].type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return made


def of_maps(op, key=TensorProto.STRING, value=TensorProto.FLOAT, **attributes):
    """A node that reads a map 'x'."""
    nodes = [helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)]
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, None))
    graph = helper.make_graph(nodes, "g", [helper.make_value_info("x", kind)], [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])


def zip_map(columns=2, outputs=("y",), more=(), **attributes):
    nodes = [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **attributes), *more]
    graph = helper.make_graph(nodes, "g", [info("x", (3, columns))], [helper.make_empty_tensor_value_info(n) for n in outputs])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])


@case
def map_without_vocabulary():
    return of_maps("DictVectorizer")


@case
def map_with_two_vocabularies():
    return of_maps("DictVectorizer", string_vocabulary=["a"], int64_vocabulary=[1])


def either_rank(reader, output):
    """s is a scalar or [1]; what reads it decides whether that matters."""
    branches = [helper.make_graph([helper.make_node(op, [source], [name])], name, [], [info(name, shape)])
                for op, source, name, shape in (("Neg", "a", "p", ()), ("Neg", "b", "q", (1,)))]
    choice = helper.make_node("If", ["c"], ["s"], name="choice", then_branch=branches[0], else_branch=branches[1])
    return model([choice] + reader, [info("c", (), TensorProto.BOOL), info("a", ()), info("b", (1,))], [output])


@case
def either_rank_joined():
    return either_rank([helper.make_node("Concat", ["s", "b"], ["y"], name="joined", axis=0)], info("y"))


@case
def either_rank_given():
    return either_rank([helper.make_node("Add", ["s", "a"], ["y"], name="sum")], info("y", (1,)))


@case
def map_with_other_keys():
    return of_maps("DictVectorizer", int64_vocabulary=[1])


@case
def map_cast_between_text_and_numbers():
    return of_maps("CastMap", key=TensorProto.INT64, map_form="SPARSE", max_map=3, cast_to="TO_STRING")


@case
def map_cast_beyond_counting():
    return of_maps("CastMap", key=TensorProto.INT64, map_form="SPARSE", max_map=1 << 40)


@case
def map_cast_without_bound():
    return of_maps("CastMap", key=TensorProto.INT64)


@case
def zip_map_of_other_columns():
    return zip_map(columns=3, classlabels_int64s=[1, 2])


@case
def zip_map_of_equal_labels():
    return zip_map(classlabels_strings=["a", "a"])


@case
def zip_map_without_labels():
    return zip_map()


@case
def zip_map_read_by_an_operator():
    return zip_map(outputs=("z",), more=[helper.make_node("Identity", ["y"], ["z"])], classlabels_int64s=[1, 2])


@case
def zip_map_of_another_type():
    made = zip_map(classlabels_int64s=[1, 2])
    made.graph.output[0].CopyFrom(info("y", (3, 2)))
    return made


def sparse(values, indices, dims):
    tensor = numpy_helper.from_array(np.array(values, np.float32), "w")
    return helper.make_sparse_tensor(tensor, numpy_helper.from_array(np.array(indices, np.int64)), dims)


def tokenizer(**attributes):
    settings = dict(mark=0, mincharnum=1, pad_value="")
    nodes = [helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **{**settings, **attributes})]
    graph = helper.make_graph(nodes, "g", [info("x", (3,), TensorProto.STRING)], [info("y", (3, 4), TensorProto.STRING)])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


BYTES = "--dim", "y:bytes=0..99"


@asked(*BYTES)
def tokens_at_the_edges_of_words():
    return tokenizer(tokenexp="\\b[a-z]+\\b")


@asked(*BYTES)
def tokens_between_empty_separators():
    return tokenizer(separators=[" *"])


@asked(*BYTES)
def tokens_between_several_patterns():
    return tokenizer(separators=[" ", "and|or"])


@asked(*BYTES)
def tokens_by_nothing():
    return tokenizer()


@case
def sparse_index_outside():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 9], [4])])


@case
def sparse_without_fit():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 1, 2], [4])])


@case
def sparse_too_large():
    return model([helper.make_node("Add", ["x", "w"], ["y"])], sparse=[sparse([1, 2], [0, 1], [1 << 33])])


# ----------------------------------------------------------------------------------------------------------- external data

def external(location, offset=None, length=None, shape=(2,)):
    tensor = weight(shape=shape)
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
    return with_weight(tensor)


@case
def external_missing():
    return external("nowhere.bin")


@case
def external_above():
    return external("../occamyc_outside.bin")


@case
def external_absolute():
    return external("/etc/hostname")


@case
def external_through_link(folder):
    link = os.path.join(folder, "link.bin")
    if not os.path.islink(link):
        os.symlink("/etc/passwd", link)
    return external("link.bin")


@case
def external_folder(folder):
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    return external("sub")


@case
def external_too_short(folder):
    with open(os.path.join(folder, "seven.bin"), "wb") as file:
        file.write(b"1234567")
    return external("seven.bin")


@case
def external_offset_outside():
    return external("seven.bin", offset=1 << 62)


@case
def external_offset_no_number():
    return external("seven.bin", offset="-4")


@case
def external_length_wrong(folder):
    with open(os.path.join(folder, "sixteen.bin"), "wb") as file:
        file.write(bytes(16))
    return external("sixteen.bin", offset=0, length=12)


@case
def external_without_place():
    return external(None)


# --------------------------------------------------------------------------------------------------------------- functions

def with_functions(functions, node=None):
    node = node or helper.make_node("F", ["x"], ["y"], domain="own", name="call")
    return model([node], functions=functions, imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])


def function(name, inputs, outputs, nodes):
    return helper.make_function("own", name, inputs, outputs, nodes, [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])


@case
def function_calls_itself():
    return with_functions([function("F", ["a"], ["b"], [helper.make_node("G", ["a"], ["b"], domain="own")]),
                           function("G", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="own")])])


@case
def function_twice():
    return with_functions([function("F", ["a"], ["b"], [relu("a", "b")])] * 2)


@case
def function_with_other_inputs():
    return with_functions([function("F", [], ["b"], [relu("a", "b")])])


@case
def function_makes_nothing():
    return with_functions([function("F", ["a"], ["b"], [relu("a", "c")])])


@case
def function_reads_outside():
    return with_functions([function("F", ["a"], ["b"], [helper.make_node("Add", ["a", "x"], ["b"])])])


@case
def function_grows_without_end():
    chain = [function("F%d" % i, ["a"], ["b"], [helper.make_node("F%d" % (i + 1), ["a"], ["c"], domain="own"),
                                               helper.make_node("F%d" % (i + 1), ["c"], ["b"], domain="own")]) for i in range(40)]
    return with_functions(chain + [function("F40", ["a"], ["b"], [relu("a", "b")])],
                          helper.make_node("F0", ["x"], ["y"], domain="own"))


# ---------------------------------------------------------------------------------------------------------- older versions

@case
def old_slice_without_ends():
    return model([helper.make_node("Slice", ["x"], ["y"], starts=[0])], opset=9)


@case
def old_cast_to_nonsense():
    return model([helper.make_node("Cast", ["x"], ["y"], to="FLOTA")], opset=5, ir=3)


@case
def old_batch_norm_that_trains():
    node = helper.make_node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y", "a", "b", "c", "d"])
    return model([node], initializers=[weight()], opset=9)


@case
def old_scan_with_lengths():
    body = helper.make_graph([relu("a", "b")], "body", [info("a")], [info("b")])
    node = helper.make_node("Scan", ["n", "x"], ["y"], body=body, num_scan_inputs=1)
    return model([node], inputs=[info("x", (1, 2)), info("n", (1,), TensorProto.INT64)], opset=8)


# -------------------------------------------------------------------------------------------------------- types and shapes

@case
def wrong_operand_type():
    return model([helper.make_node("Add", ["x", "w"], ["y"], "sum")], initializers=[weight(kind=TensorProto.INT64)])


@case
def bad_shape():
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], inputs=[info("x", (2, 3))],
                 outputs=[info("y", (2, 5))], initializers=[weight(shape=(4, 5))])


@case
def extents_that_do_not_broadcast():
    return model([helper.make_node("Add", ["x", "w"], ["y"], "sum")], initializers=[weight(shape=(3,))])


@asked("--dim=n=0..5")
def extent_that_can_only_be_zero():
    to = helper.make_tensor("to", TensorProto.INT64, (2,), [0, 7])
    return model([helper.make_node("Reshape", ["x", "to"], ["y"], "fold")], inputs=[info("x", ("n", 0))], outputs=[info("y", ("n", 7))],
                 initializers=[to])


@case
def attention_of_unknown_mode():
    return model([helper.make_node("Attention", ["q", "q", "q"], ["y", "", "", "s"], "look", qk_matmul_output_mode=4)],
                 inputs=[info("q", (1, 2, 3, 4))], outputs=[info("y", (1, 2, 3, 4)), info("s", (1, 2, 3, 3))], opset=23)


@case
def indices_larger_than_data():
    index = helper.make_tensor("w", TensorProto.INT64, (3, 2), [0] * 6)
    return model([helper.make_node("GatherElements", ["x", "w"], ["y"], "pick", axis=1)], inputs=[info("x", (2, 2))],
                 outputs=[info("y", (3, 2))], initializers=[index])


@case
def updates_larger_than_data():
    index = helper.make_tensor("w", TensorProto.INT64, (3, 2), [0] * 6)
    return model([helper.make_node("ScatterElements", ["x", "w", "u"], ["y"], "put", axis=1)],
                 inputs=[info("x", (2, 2)), info("u", (3, 2))], outputs=[info("y", (2, 2))], initializers=[index])


@case
def scale_beyond_counting():
    scales = helper.make_tensor("w", TensorProto.FLOAT, (1,), [1e8])
    return model([helper.make_node("Resize", ["x", "", "w"], ["y"], "grow")], inputs=[info("x", (1 << 40,))],
                 outputs=[info("y", ("n",))], initializers=[scales])


@case
def axis_too_long_to_index():
    return model([helper.make_node("ArgMax", ["x"], ["y"], "most")], inputs=[info("x", (1 << 31, 2))],
                 outputs=[info("y", (1, 2), TensorProto.INT64)])


@case
def axis_too_long_to_index_backwards():
    return model([helper.make_node("ArgMin", ["x"], ["y"], "least", axis=-2, select_last_index=1)], inputs=[info("x", (1 << 31, 2))],
                 outputs=[info("y", (1, 2), TensorProto.INT64)])


@case
def one_hot_of_no_categories():
    return model([helper.make_node("OneHotEncoder", ["x"], ["y"], "code", domain="ai.onnx.ml")], outputs=[info("y", (2, 0))],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)])


@case
def scan_of_fewer_than_no_inputs():
    body = helper.make_graph([helper.make_node("Relu", ["u"], ["v"])], "b", [info("u", ())], [info("v", ())])
    return model([helper.make_node("Scan", ["x"], ["y"], "walk", body=body, num_scan_inputs=-(1 << 31))])


@case
def size_beyond_counting():
    sizes = helper.make_tensor("w", TensorProto.INT64, (2,), [7, (1 << 63) - 1])
    return model([helper.make_node("Resize", ["x", "", "", "w"], ["y"], "grow", keep_aspect_ratio_policy="not_smaller")], opset=18,
                 inputs=[info("x", (3, 1))], outputs=[info("y", ("n", "m"))], initializers=[sizes])


@case
def quantized_to_text():
    return model([helper.make_node("QuantizeLinear", ["x", "s"], ["y"], "round", output_dtype=TensorProto.STRING)], opset=21,
                 inputs=[info("x"), info("s", ())], outputs=[info("y", (2,), TensorProto.STRING)])


@case
def dequantized_to_text():
    return model([helper.make_node("DequantizeLinear", ["x", "s"], ["y"], "back", output_dtype=TensorProto.STRING)], opset=23,
                 inputs=[info("x", (2,), TensorProto.INT8), info("s", ())], outputs=[info("y", (2,), TensorProto.STRING)])


@case
def filled_with_text():
    text = helper.make_tensor("value", TensorProto.STRING, (1,), [b"a"])
    shape = helper.make_tensor("w", TensorProto.INT64, (1,), [2])
    return model([helper.make_node("ConstantOfShape", ["w"], ["y"], "fill", value=text)],
                 outputs=[info("y", (2,), TensorProto.STRING)], initializers=[shape])


@case
def concat_without_axis():
    return model([helper.make_node("Concat", ["x", "x"], ["y"], "join")], outputs=[info("y", (4,))])


@case
def kernel_without_elements():
    return model([helper.make_node("ConvTranspose", ["x", "w"], ["y"], "spread")], inputs=[info("x", (1, 1, 3))],
                 outputs=[info("y", (1, 1, "n"))], initializers=[weight(shape=(1, 1, 0))])


@case
def pool_of_wide_integers():
    return model([helper.make_node("MaxPool", ["x"], ["y"], "most", kernel_shape=[2])], inputs=[info("x", (1, 1, 4), TensorProto.INT32)],
                 outputs=[info("y", (1, 1, 3), TensorProto.INT32)])


@case
def complex_numbers_of_doubles():
    kind = TensorProto.COMPLEX128
    return model([helper.make_node("Transpose", ["x"], ["y"], "turn")], inputs=[info("x", (2, 3), kind)], outputs=[info("y", (3, 2), kind)])


@case
def choice_of_complex_numbers():
    kind = TensorProto.COMPLEX64
    return model([helper.make_node("Where", ["c", "x", "x"], ["y"], "choose")], inputs=[info("c", (2,), TensorProto.BOOL), info("x", (2,), kind)],
                 outputs=[info("y", (2,), kind)])


@case
def padding_of_text():
    kind = TensorProto.STRING
    return model([helper.make_node("Pad", ["x", "by"], ["y"], "pad")], inputs=[info("x", (2,), kind)], outputs=[info("y", (4,), kind)],
                 initializers=[numpy_helper.from_array(np.array([1, 1], np.int64), "by")])


@case
def statistics_of_doubles():
    nodes = [helper.make_node("BatchNormalization", ["x", "s", "s", "m", "m"], ["y"], "norm")]
    return model(nodes, inputs=[info("x", (1, 2)), info("s"), info("m", (2,), TensorProto.DOUBLE)], outputs=[info("y", (1, 2))])


@asked("--dim=n=1..4")
def weights_of_unknown_extents():
    return model([helper.make_node("RNN", ["x", "w", "r"], ["y"], "cell", hidden_size=3)],
                 inputs=[info("x", (2, 1, 4)), info("w", ("n", 3, 4)), info("r", (1, 3, 3))], outputs=[info("y", (2, 1, 1, 3))])


@asked("--dim=h=4..8", "--dim=k=2..8")
def heads_known_only_while_running():
    return model([helper.make_node("Attention", ["q", "x", "v"], ["y"], "heads")],
                 inputs=[info("q", (1, "h", 3, 4)), info("x", (1, "k", 5, 4)), info("v", (1, "k", 5, 4))],
                 outputs=[info("y", (1, "h", 3, 4))], opset=23)


@asked("--dim=y:0=1..7")
def iteration_above_its_bound():
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Concat", ["a", "x"], ["e"], axis=0)], "body",
                             [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL), info("a", ("p",))],
                             [info("d", (), TensorProto.BOOL), info("e", ("q",))])
    return model([helper.make_node("Loop", ["n", "", "x"], ["y"], "grow", body=body)],
                 inputs=[info("x", (8,)), info("n", (), TensorProto.INT64)], outputs=[info("y", ("m",))])


@case
def unbounded_extent():
    return model([relu()], inputs=[info("x", ("n", 4))], outputs=[info("y", ("n", 4))])


@case
def unbounded_everywhere():
    members = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, ("k", 2)))
    inputs = [info("x", ("n", "my axis", "n")), info("z", ("n", None)), helper.make_value_info("s", members)]
    return model([relu()], inputs=inputs, outputs=[info("y", ("n", "my axis", "n"))])


@asked("--dim=rows=2..3")
def grid_of_unknown_rows():
    sizes = helper.make_tensor("size", TensorProto.INT64, [4], [1, 1, 2, 2])
    return model([helper.make_node("AffineGrid", ["theta", "size"], ["y"])], inputs=[info("theta", (1, "rows", 3))], outputs=[info("y", (1, 2, 2, 2))],
                 initializers=[sizes], opset=20, ir=9)


@asked("--dim=n=1..4")
def classified_by_unknown_features():
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    node = helper.make_node("LinearRegressor", ["x"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0], intercepts=[0.5])
    return model([node], inputs=[info("x", (3, "n"))], outputs=[info("y", (3, 1))], imports=imports)


@case
def unbounded_rank():
    return model([relu()], inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
                 outputs=[helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])


@case
def extent_that_data_decides():
    return model([helper.make_node("ConstantOfShape", ["x"], ["y"], "fill")], inputs=[info("x", (1,), TensorProto.INT64)],
                 outputs=[info("y", ("n",))])


# -------------------------------------------------------------------------------------------- good models, bad command lines

@asked("--dim=m=1..4")
def bound_of_nothing():
    return model([relu()])


@asked("--dim=n=0..9223372036854775807")
def bound_too_large():
    return unbounded_extent()


def sizes(what, *arguments):
    """A case of lists of sizes, named sizes_WHAT."""
    def make():
        return unbounded_extent()
    make.__name__ = "sizes_" + what
    asked(*arguments)(make)


sizes("twice", "--dim=n=3|3")
sizes("missing", "--dim=n=3|")
sizes("no_number", "--dim=n=3|few")
sizes("too_many", "--dim=n=" + "|".join(map(str, range(1, 18))))
sizes("of_no_input", "--dim=n=3|4", "--dim=y:0=6|8")
sizes("with_loads", "--dim=n=3|4", "--weights=swap")
sizes("in_memories", "--dim=n=3|4", "--region=a:1K", "--region=b:1K", "--io=arena")
sizes("on_a_device", "--dim=n=3|4", "--target=cuda")


@asked("--dim=n=3|4", "--state=y:x")
def state_of_listed_extents():
    return unbounded_extent()


@asked("--state=y:x")
def state_of_other_extents():
    return model([helper.make_node("Concat", ["x", "x"], ["y"], axis=0)], outputs=[info("y", (4,))])


@asked("--state=y:nothing")
def state_of_nothing():
    return model([relu()])


@asked("-o", "nowhere/net.c")
def output_not_writable():
    return model([relu()])


@asked("--report=/dev/full")
def disk_full():
    return model([relu()])


@asked("-o", "disk_full_of_source.c", "limit=1024")
def disk_full_of_source():
    return model([relu()])


@asked("--max-ram=100")
def more_ram_than_allowed():
    return model([helper.make_node("MatMul", ["x", "w"], ["h"], "product"), helper.make_node("Softmax", ["h"], ["y"], "soft")],
                 inputs=[info("x", (1, 16))], outputs=[info("y", (1, 8))], initializers=[weight(shape=(16, 8))])


@asked("--max-flash=1K")
def flash_without_compiler():
    return model([relu()])


@asked("--baseline=nowhere.json")
def baseline_missing():
    return model([relu()])


@asked("--verify=nowhere")
def stored_sets_missing():
    return model([relu()])


def einsum(equation, *shapes):
    names = ["x%d" % i for i in range(len(shapes))]
    return model([helper.make_node("Einsum", names, ["y"], "sums", equation=equation)],
                 inputs=[info(n, shape) for n, shape in zip(names, shapes)], outputs=[info("y", None)])


@asked("--weights=swap", "--load-rate=20M:300us:32", "--dim=W=3..6", "--max-ram=8000", "--target=portable")
def channels_apart_by_run_time_width():
    """The weights of a convolution are only cut where the distance between the channels of its result is constant."""
    return model([helper.make_node("Conv", ["x", w], [y], "conv_" + w) for w, y in ("vy", "wz")], inputs=[info("x", (1, 8, 3, "W"))],
                 outputs=[info(y, (1, 24, 1, None)) for y in "yz"], initializers=[weight(w, (24, 8, 3, 3)) for w in "vw"])


@case
def einsum_of_many_operands():
    return einsum(",".join("a" * 17) + "->a", *[(2,)] * 17)


@case
def einsum_of_many_axes():
    """The product of the first two has ten axes: the others name all of them."""
    return einsum("abcde,fghij,abcdefgh,ij->a", (1,) * 5, (1,) * 5, (1,) * 8, (1,) * 2)


@case
def einsum_of_digits():
    return einsum("a1->a", (2, 3))


transformer_errors.add(case)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, make in CASES.items():
        made = make(folder) if make.__code__.co_argcount else make()
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(made if isinstance(made, bytes) else made.SerializeToString(deterministic=True))
        if hasattr(make, "arguments"):
            with open(os.path.join(folder, name + ".arguments"), "w") as file:
                file.write("\n".join(make.arguments))
    print("%d broken models in %s" % (len(CASES), folder))


main()
