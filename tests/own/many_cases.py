"""Operators of many operands, more than one loop reads: the same answers as of few."""

import numpy as np
from onnx import TensorProto, helper
from onnx.helper import np_dtype_to_tensor_dtype

from operator_cases import case, normal

COUNTS = (9, 17, 40)


def operands(count, dtype, shapes=((3, 4), (4,), (3, 1), (), (1, 4))):
    """Numbers of widely different size, so that another order of sums shows; every shape in turn."""
    random = np.random.default_rng(count)
    whole = np.issubdtype(dtype, np.integer)
    size = np.iinfo(dtype).max if whole else 1
    drawn = [random.integers(-size, size, shapes[i % len(shapes)]) if whole else
             random.normal(size=shapes[i % len(shapes)]) * 10.0 ** random.integers(-3, 4) for i in range(count)]
    return {f"x{i}": np.array(x, dtype) for i, x in enumerate(drawn)}


def many(op, count, dtype=np.float32, **more):
    given = operands(count, dtype, **more)
    shape = list(np.broadcast_shapes(*(v.shape for v in given.values())))
    return case(f"{op.lower()}_of_{count}_{np.dtype(dtype).name}", op, given, dict(y=(np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)))


def rounded_once(op, count):
    """Of float16, which ONNX Runtime sums as float."""
    made = many(op, count, np.float16)

    def wanted(given):
        total = np.float32(0)
        for x in given.values():
            total = total + x.astype(np.float32)
        return [(total / np.float32(count) if op == "Mean" else total).astype(np.float16)]
    return dict(made, wanted=wanted)


def with_nan(op):
    given = operands(17, np.float32)
    given["x3"][...], given["x12"][0, 0] = -np.inf, np.nan
    return case(f"{op.lower()}_of_17_with_nan", op, given, dict(y=(TensorProto.FLOAT, [3, 4])))


def of_one(op, count):
    """The same operand again and again, joined with the operators around it."""
    model = f"""<ir_version: 9, opset_import: ["" : 20]>
        main (float[n, 3] x) => (float[n, 3] y) {{
          e = Exp(x)
          s = {op}(e{", x, e" * (count // 2)})
          y = Relu(s)
        }}"""
    return dict(name=f"{op.lower()}_of_one_{count}_times", group=op, model=model, flags=("--dim=n=1..9",),
                inputs=[dict(x=normal(n, 3)) for n in (1, 9)])


def side_by_side(count):
    """Concat and the sequence of many tensors."""
    given = operands(count, np.float32, shapes=((2, 1), (2, 3)))
    names = list(given)
    nodes = [helper.make_node("Concat", names, ["x"], axis=-1), helper.make_node("SequenceConstruct", names, ["s"]),
             helper.make_node("ConcatFromSequence", ["s"], ["z"], axis=1), helper.make_node("Sub", ["x", "z"], ["y"])]
    width = sum(v.shape[1] for v in given.values())
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in given.items()]
    out = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, width]) for n in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "many", info, out), ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    return dict(name=f"concat_of_{count}", group="Concat", model=model, inputs=[given])


CASES = [
    *(many(op, count) for op in ("Sum", "Mean", "Max", "Min") for count in COUNTS),
    *(dict(many(op, 17, np.float64), oracle="reference") for op in ("Sum", "Mean", "Max", "Min")),
    *(many(op, 17, np.int32) for op in ("Max", "Min")),
    many("Max", 17, np.float16),
    many("Sum", 8), many("Mean", 15), many("Sum", 16),
    rounded_once("Sum", 17), rounded_once("Mean", 40),
    with_nan("Max"), with_nan("Min"), with_nan("Sum"),
    *(of_one(op, count) for op in ("Sum", "Mean", "Max") for count in (9, 39)),
    *(side_by_side(count) for count in (17, 40)),
]
