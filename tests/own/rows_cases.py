"""Rows of large constants, picked by index while the model runs: with --weights=swap they are loaded row by row."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(17)
WIDE, FEW = 40, 160                                                         # 25,600 bytes: more than a slice of 1 KiB
TABLE = RNG.standard_normal((FEW, WIDE)).astype(np.float32)
# Neighbours, repeated rows, rows from behind, the first and the last.
PICKED = [3, 4, 5, 6, -1, -2, 0, 0, 159, 158, 159, 7, -160, 20, 21, 40]


def model(name, nodes, inputs, outputs, tables):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info(*p) for p in inputs],
                              [helper.make_tensor_value_info(*p) for p in outputs],
                              [numpy_helper.from_array(table, n) for n, table in tables.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rows(name, nodes, shape, picked, tables=None, out=None, index=TensorProto.INT64, rank=1):
    dims = {1: list(np.shape(picked[0])), 0: []}[rank] if not isinstance(shape, str) else [shape]
    out = out or (TensorProto.FLOAT, [*dims, WIDE])
    made = model(name, nodes, [("ids", index, dims)], [("y", *out)], tables or {"table": TABLE})
    kind = np.int32 if index == TensorProto.INT32 else np.int64
    return dict(name=name, group="Gather", model=made, inputs=[dict(ids=np.array(p, kind)) for p in picked])


def gather(out="y", table="table", ids="ids"):
    return helper.make_node("Gather", [table, ids], [out], name="at_" + out)


def with_positions():
    """Words and places, as language models begin; both tables are constants of the same step."""
    nodes = [gather("word"), gather("place", "places"), helper.make_node("Add", ["word", "place"], ["y"])]
    return rows("rows_with_positions", nodes, None, [PICKED], {"table": TABLE, "places": TABLE[::-1].copy()})


def read_otherwise():
    """The table is a matrix of a product, too."""
    nodes = [gather("word"), helper.make_node("Transpose", ["table"], ["turned"], perm=[1, 0]),
             helper.make_node("MatMul", ["word", "turned"], ["y"])]
    return rows("rows_and_product", nodes, None, [PICKED], out=(TensorProto.FLOAT, [len(PICKED), FEW]))


def bytes_in_a_row():
    table = RNG.integers(0, 255, (FEW, 96)).astype(np.uint8)
    return rows("rows_of_bytes", [gather()], None, [PICKED], {"table": table}, (TensorProto.UINT8, [len(PICKED), 96]))


def in_a_loop():
    """One row for each iteration, added up."""
    inner = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Gather", ["ids", "i"], ["id"]),
         helper.make_node("Gather", ["table", "id"], ["word"]), helper.make_node("Add", ["sum", "word"], ["next"])],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                 helper.make_tensor_value_info("sum", TensorProto.FLOAT, [WIDE])],
        [helper.make_tensor_value_info("goes", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [WIDE])])
    nodes = [helper.make_node("Loop", ["count", "", "start"], ["y"], body=inner)]
    tables = {"table": TABLE, "count": np.array(5, np.int64), "start": np.zeros(WIDE, np.float32)}
    return rows("rows_in_a_loop", nodes, None, [PICKED], tables, (TensorProto.FLOAT, [WIDE]))


CASES = [
    rows("rows_of_a_table", [gather()], None, [PICKED, PICKED[::-1]]),
    rows("rows_by_short_numbers", [gather()], None, [PICKED], index=TensorProto.INT32),
    rows("rows_one", [gather()], None, [5, -7], out=(TensorProto.FLOAT, [WIDE]), rank=0),
    rows("rows_as_many_as_come", [gather()], "n", [PICKED, [1], [158, 159]]),
    with_positions(),
    read_otherwise(),
    bytes_in_a_row(),
    in_a_loop(),
]
