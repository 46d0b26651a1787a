"""Constant indices: ScatterND as exporters write an assignment to a slice, x[:, 1:5:2] = u, Gather as they write windows of an
unfolded row; and indices that are no regular grid."""

import itertools

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SHAPE = (3, 6, 4)
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.uint8): TensorProto.UINT8,
         np.dtype(np.bool_): TensorProto.BOOL, np.dtype(np.float16): TensorProto.FLOAT16}


def tuples(*ranges):
    """One tuple for each choice of an index from each range, in the ranges' order: [len(r) ...][count of ranges]."""
    return np.array(list(itertools.product(*ranges)), np.int64).reshape(*(len(r) for r in ranges), len(ranges))


def case(name, operator, nodes, given, made, index, dtype, last):
    """given and made: shapes by name, for an extent of the last axis; last: a word where that is known only while running."""
    random, sizes = np.random.default_rng(len(name)), (1, 4, 7) if last else SHAPE[-1:]
    inputs, outputs = ([helper.make_tensor_value_info(n, TYPES[np.dtype(dtype)], s) for n, s in shapes(last or SHAPE[-1]).items()]
                       for shapes in (given, made))
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(index, "i")])
    return dict(name=name, group=operator, flags=(f"--dim={last}=1..7",) if last else (),
                model=helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)]),
                inputs=[{n: np.array(4 * random.normal(size=s), dtype) for n, s in given(size).items()} for size in sizes])


def data(size):
    return [*SHAPE[:-1], size]


def scatter(name, index, dtype=np.float32, last=None, reduction="none"):
    node = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    return case(f"scatter_{name}", "ScatterND", [node], lambda n: dict(x=data(n), u=[*index.shape[:-1], *data(n)[index.shape[-1]:]]),
                lambda n: dict(y=data(n)), index, dtype, last)


def gather(name, index, axis=1, dtype=np.float32, last=None):
    """Relu, or a sum, of what is gathered, so that a view of it is read along with other operands."""
    index, floats = np.array(index, np.int64), np.issubdtype(dtype, np.floating)
    nodes = [helper.make_node("Gather", ["x", "i"], ["g"], axis=axis), helper.make_node("Relu" if floats else "Identity", ["g"], ["r"]),
             helper.make_node("Gather", ["x", "i"], ["y"], axis=axis),
             helper.make_node("Add", ["r", "g"], ["z"]) if floats else helper.make_node("Identity", ["r"], ["z"])]
    return case(f"gather_{name}", "Gather", nodes, lambda n: dict(x=data(n)),
                lambda n: dict.fromkeys("yz", [*data(n)[:axis], *index.shape, *data(n)[axis + 1:]]), index, dtype, last)


WINDOWS = np.add.outer(range(3), range(4))
SLICE = tuples(range(3), range(1, 5, 2))
TWICE, BENT, BACK = (np.array(t, np.int64) for t in ([[0, 1], [2, 3], [0, 1]], [[0, 0], [1, 2], [2, 3]], [[2], [1]]))

CASES = [
    scatter("rows", tuples(range(1, 3))), scatter("row", tuples([2])), scatter("slice", SLICE),
    *(scatter(f"slice_{np.dtype(t).name}", SLICE, t) for t in (np.int64, np.uint8, np.bool_, np.float16)),
    scatter("elements", tuples(range(0, 3, 2), range(6), range(1, 3))), scatter("one", np.array([1, 5, 2], np.int64)),
    scatter("from_the_end", tuples([0, 1], range(-4, -1))), scatter("over_the_end", tuples(range(-2, 1))),
    scatter("turned", np.swapaxes(SLICE, 0, 1).copy()), scatter("all", tuples(range(3), range(6))),
    scatter("twice", TWICE), scatter("bent", BENT), scatter("backwards", BACK), scatter("diagonal", np.array([[0, 0], [1, 1], [2, 2]], np.int64)),
    scatter("adds", SLICE, reduction="add"),
    gather("windows", WINDOWS), gather("windows_last", np.add.outer(range(0, 3, 2), range(2)), 2), gather("windows_open", WINDOWS, last="N"),
    gather("every_second", range(0, 6, 2)), gather("from_the_end", range(-4, 0)), gather("one", [-1]), gather("again", [2, 2, 2]),
    gather("over_the_end", range(-2, 2)), gather("backwards", range(5, 0, -2)), gather("bent", [0, 1, 3]), gather("of_one", [[1]], 0),
    gather("open_first", range(1, 3), 0, last="N"), gather("whole_numbers", WINDOWS, dtype=np.int64),
    scatter("open_slice", SLICE, last="N"), scatter("open_rows", tuples(range(1, 3)), last="N"), scatter("open_bent", BENT, last="N"),
]
