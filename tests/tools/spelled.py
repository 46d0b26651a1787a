"""Operators of com.microsoft that ONNX Runtime declares, but runs on other devices only, as the operators that they stand for."""

from onnx import helper

CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def bias_split_gelu(node, opset):
    x, bias = node.input
    y = node.output[0]
    halves = {"num_outputs": 2} if opset >= 18 else {}
    return [helper.make_node("Add", [x, bias], [y + "_sum"]),
            helper.make_node("Split", [y + "_sum"], [y + "_left", y + "_right"], axis=-1 if opset >= 11 else 2, **halves),
            helper.make_node("Gelu", [y + "_right"], [y + "_gate"], domain="com.microsoft"),
            helper.make_node("Mul", [y + "_left", y + "_gate"], [y])]


def nhwc_conv(node, opset):
    given, y = attributes(node), node.output[0]
    axes = len(given["kernel_shape"])
    return [helper.make_node("Transpose", node.input[:1], [y + "_x"], perm=[0, axes + 1, *range(1, axes + 1)]),
            helper.make_node("Conv", [y + "_x", *node.input[1:]], [y + "_y"], **{k: v for k, v in given.items() if k in CONV}),
            helper.make_node("Transpose", [y + "_y"], [y], perm=[0, *range(2, axes + 2), 1])]


def qlinear_reduce_mean(node, opset):
    """With zero points: without one QuantizeLinear would make uint8 of int8."""
    given, y = attributes(node), node.output[0]
    made = [helper.make_node("DequantizeLinear", node.input[:3], [y + "_x"])]
    reads, chosen = [y + "_x"], {"keepdims": given["keepdims"]}
    if opset >= 18 and given["axes"]:
        made.append(helper.make_node("Constant", [], [y + "_axes"], value_ints=given["axes"]))
        reads.append(y + "_axes")
    elif given["axes"]:
        chosen["axes"] = given["axes"]
    return [*made, helper.make_node("ReduceMean", reads, [y + "_mean"], **chosen),
            helper.make_node("QuantizeLinear", [y + "_mean", *node.input[3:]], [y])]


RULES = {"BiasSplitGelu": bias_split_gelu, "NhwcConv": nhwc_conv, "QLinearReduceMean": qlinear_reduce_mean}


def spelled_out(nodes, opset):
    """The nodes with those of RULES spelled out."""
    found = []
    for node in nodes:
        rule = RULES.get(node.op_type) if node.domain == "com.microsoft" else None
        found += rule(node, opset) if rule else [node]
    return found


def spelled_model(model):
    """A copy of the model that ONNX Runtime can run."""
    opset = next(o.version for o in model.opset_import if not o.domain)
    other = type(model)()
    other.CopyFrom(model)
    del other.graph.node[:]
    other.graph.node.extend(spelled_out(model.graph.node, opset))
    return other
