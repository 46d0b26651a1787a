# exact_sums.py - a model whose products ONNX Runtime computes as the generated code does.
# On an x86 processor without a dot product of bytes it adds pairs of products of unsigned by signed bytes in 16 bits, which
# saturate: 255 * 127 + 255 * 127 = 64770 becomes 32767. Bytes that are unsigned on both sides are summed in 32 bits, so the weights
# and their zero points move up by 128; their difference stays. accuracy_level lets it round factors to bytes; where the generated
# code does not, the attribute goes.
import onnx
from onnx import helper

# operator: the inputs that are the activation and its zero point, the weight and its own; -1: floats, made unsigned bytes by the operator
PRODUCTS = {"QLinearConv": (0, 2, 3, 5), "QLinearMatMul": (0, 2, 3, 5), "ConvInteger": (0, 2, 1, 3), "MatMulInteger": (0, 2, 1, 3),
            "MatMulIntegerToFloat": (0, 4, 1, 5), "QGemm": (0, 2, 3, 5), "QAttention": (0, 6, 1, 7), "DynamicQuantizeMatMul": (-1, -1, 1, 3)}
HALF = "occamyc_half"


def types_of(model):
    """Element types by name, of the values of the main graph that have one."""
    found = {t.name: t.data_type for t in model.graph.initializer}
    for value in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
        found[value.name] = value.type.tensor_type.elem_type
    return found


def moved_up(name, made):
    """The name of int8 values moved up by 128; the nodes that do it join `made`."""
    up = name + "_up"
    if up not in [node.output[0] for node in made if node.output]:
        wide, total = name + "_wide", name + "_total"
        made += [helper.make_node("Cast", [name], [wide], to=onnx.TensorProto.INT32),
                 helper.make_node("Add", [wide, HALF + "_wide"], [total]),
                 helper.make_node("Cast", [total], [up], to=onnx.TensorProto.UINT8)]
    return up


def type_of(node, value, zero, types):
    """The element type of an input. That of its zero point, which is the same, where no type is inferred: behind a node of com.microsoft."""
    known = types.get(node.input[value])
    return known or (types.get(node.input[zero]) if zero < len(node.input) else None)


def is_unsigned(node, activation, zero, types):
    return activation < 0 or type_of(node, activation, zero, types) == onnx.TensorProto.UINT8


def exact_sums(model):
    """Makes such weights unsigned, in the main graph; whether there were any."""
    if not any(node.op_type in PRODUCTS for node in model.graph.node):
        return False
    types, nodes, changed = types_of(onnx.shape_inference.infer_shapes(model)), [], False
    for node in model.graph.node:
        activation, at, weight, zero = PRODUCTS.get(node.op_type, (None, None, None, None))
        if weight and is_unsigned(node, activation, at, types) and type_of(node, weight, zero, types) == onnx.TensorProto.INT8:
            node.input.extend([""] * (zero + 1 - len(node.input)))
            node.input[weight] = moved_up(node.input[weight], nodes)
            node.input[zero] = moved_up(node.input[zero], nodes) if node.input[zero] else HALF
            changed = True
        nodes.append(node)
    if changed:
        model.graph.initializer.extend([helper.make_tensor(HALF, onnx.TensorProto.UINT8, [], [128]),
                                        helper.make_tensor(HALF + "_wide", onnx.TensorProto.INT32, [], [128])])
        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del model.graph.node[:]
        model.graph.node.extend(nodes)
    return changed


def floats_stay(model, device):
    """Takes accuracy_level from products with packed weights, in the main graph, that the code computes in floats; whether there were any."""
    changed = False
    for node in model.graph.node:
        if node.op_type != "MatMulNBits" or (not device and all(a.i == 4 for a in node.attribute if a.name == "bits")):
            continue
        kept = [attribute for attribute in node.attribute if attribute.name != "accuracy_level"]
        changed = changed or len(kept) < len(node.attribute)
        del node.attribute[:]
        node.attribute.extend(kept)
    return changed
