"""Graphs that are wrong: files that are no models, versions, operators, edges, functions. See make_errors.py."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from broken import case, field, info, model, relu, varint, weight


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
def newer_opset_of_another_domain():
    return model([relu()], imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 2)])


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
def operator_mistyped_in_its_domain():
    """As near to ONNX's Gelu as to the one of its own domain."""
    return model([helper.make_node("Gelo", ["x"], ["y"], domain="com.microsoft")], imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)])


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
