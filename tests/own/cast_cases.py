"""Cast between all pairs of element types of numbers: values that both hold, and fractions; and DynamicSlice of the first opset."""

import numpy as np
from onnx import TensorProto, helper
from onnx.helper import tensor_dtype_to_np_dtype
from onnx.reference import ReferenceEvaluator

NAMES = ("FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 UINT64 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 "
         "FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 UINT2 INT2").split()
NARROW = ("UINT2", "INT2")


def values_of(name):
    if name in NARROW:
        return [0, 1, 1, 0]
    if "FLOAT" in name or name == "DOUBLE":
        return [0, 0.5, 1, 1.5, 2, 3]
    return [0, 1, 2, 3, 5, 7]


def reference(model, x, targets):
    """One cast at a time, from floats, which hold all values: ONNX's reference evaluator casts no numbers of four or two bits."""
    found, x = [], x.astype(np.float32)
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    for node, name in zip(model.graph.node, targets):
        if name == "BOOL":
            found.append(x != 0)
            continue
        outputs = [o for o in model.graph.output if o.name == node.output[0]]
        graph = helper.make_graph([node], "g", info, outputs)
        one = helper.make_model(graph, ir_version=11, opset_imports=model.opset_import)
        found.append(ReferenceEvaluator(one).run(None, {"x": x})[0])
    return found


def casts(source):
    kind = getattr(TensorProto, source)
    x = np.array(values_of(source), np.float32).astype(tensor_dtype_to_np_dtype(kind))
    targets = [name for name in NAMES if name != source]
    nodes = [helper.make_node("Cast", ["x"], ["y_" + name], to=getattr(TensorProto, name)) for name in targets]
    outputs = [helper.make_tensor_value_info("y_" + name, getattr(TensorProto, name), x.shape) for name in targets]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, x.shape)], outputs)
    model = helper.make_model(graph, ir_version=11, opset_imports=[helper.make_opsetid("", 25)])
    return dict(name=f"cast_from_{source.lower()}", group="Cast", model=model, inputs=[dict(x=x)],
                wanted=lambda inputs: reference(model, inputs["x"], targets))


def exponents(source):
    """To float8e8m0 in each mode, what is out of range saturated and not; ONNX Runtime decides: the reference rounds the least numbers up."""
    x = 2.0 ** np.array([-149, -128, -127, -126, -24, -14, 0, 15, 127]) * np.array([1, 1.25, 1.5, 1.75]).reshape(4, 1)
    with np.errstate(over="ignore"):
        x = np.append(x, [0, np.inf, np.nan, 3.4e38]).astype(tensor_dtype_to_np_dtype(getattr(TensorProto, source)))
    ways = [(mode, saturate) for mode in ("up", "down", "nearest") for saturate in (0, 1)]
    nodes, outputs = [], []
    for mode, saturate in ways:
        nodes += [helper.make_node("Cast", ["x"], [f"z_{mode}{saturate}"], to=TensorProto.FLOAT8E8M0, round_mode=mode, saturate=saturate),
                  helper.make_node("Cast", [f"z_{mode}{saturate}"], [f"y_{mode}{saturate}"], to=TensorProto.FLOAT)]
        outputs.append(helper.make_tensor_value_info(f"y_{mode}{saturate}", TensorProto.FLOAT, x.shape))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", getattr(TensorProto, source), x.shape)], outputs)
    model = helper.make_model(graph, ir_version=11, opset_imports=[helper.make_opsetid("", 25)])
    return dict(name=f"exponents_of_{source.lower()}", group="Cast", model=model, inputs=[dict(x=x)], atol=0)


def there_and_back(name, behind_conv):
    """Fractions to each type with arithmetic and back to float within one loop, or a convolution's epilogue, which must cut them."""
    x = np.linspace(-8, 8, 2 * 3 * 13, dtype=np.float32).reshape(1, 2, 3, 13)
    nodes, outputs = [], []
    for to in "UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL UINT32 UINT64".split():
        first = helper.make_node("Conv", ["x", "w"], ["c_" + to]) if behind_conv else helper.make_node("Neg", ["x"], ["c_" + to])
        nodes += [first, helper.make_node("Abs" if to[0] == "U" else "Identity", ["c_" + to], ["a_" + to]),
                  helper.make_node("Cast", ["a_" + to], ["b_" + to], to=getattr(TensorProto, to)),
                  helper.make_node("Cast", ["b_" + to], ["d_" + to], to=TensorProto.FLOAT), helper.make_node("Sub", ["d_" + to, "h"], ["y_" + to])]
        outputs.append(helper.make_tensor_value_info("y_" + to, TensorProto.FLOAT, x.shape))
    held = [helper.make_tensor("h", TensorProto.FLOAT, [], [0.25]), helper.make_tensor("w", TensorProto.FLOAT, [2, 2, 1, 1], [1.5, 0.5, -2, 1])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)], outputs, held if behind_conv else held[:1])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    return dict(name=name, group="Cast", model=model, inputs=[dict(x=x)])


def dynamic_slice():
    given = dict(x=np.arange(24, dtype=np.float32).reshape(2, 3, 4), starts=np.array([1, -3], np.int64), ends=np.array([9, 3], np.int64),
                 axes=np.array([1, 2], np.int64))
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given.items()]
    graph = helper.make_graph([helper.make_node("DynamicSlice", list(given), ["y"])], "g", info,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, ir_version=3, opset_imports=[helper.make_opsetid("", 1)])
    return dict(name="dynamic_slice_of_opset_1", group="DynamicSlice", model=model, inputs=[given],
                wanted=lambda inputs: [inputs["x"][:, 1:9, -3:3]])


CASES = [casts(name) for name in NAMES] + [dynamic_slice(), there_and_back("cast_there_and_back", False), there_and_back("cast_behind_conv", True)] + [exponents(name) for name in ("FLOAT", "DOUBLE", "FLOAT16")]
