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


def scatter(name, index, dtype=np.float32, last=None, reduction="none"):
    """last: a word for the last extent, known only while running."""
    random, sizes = np.random.default_rng(len(name)), (SHAPE[-1],) if last is None else (1, 4, 7)
    made = [SHAPE[:-1] + (size,) for size in sizes]
    shapes = [(x, index.shape[:-1] + x[index.shape[-1]:]) for x in made]
    declared = [[*shape[:-1], last or shape[-1]] if len(shape) > (0, index.ndim - 1)[i] else [*shape] for i, shape in enumerate(shapes[0])]
    kind = TYPES[np.dtype(dtype)]
    node = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    graph = helper.make_graph([node], "scatter", [helper.make_tensor_value_info(n, kind, s) for n, s in zip("xu", declared)],
                              [helper.make_tensor_value_info("y", kind, declared[0])], [numpy_helper.from_array(index, "i")])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    inputs = [{n: np.array(4 * random.normal(size=s), dtype) for n, s in zip("xu", pair)} for pair in shapes]
    return dict(name=f"scatter_{name}", group="ScatterND", model=model, flags=(f"--dim={last}=1..7",) if last else (), inputs=inputs)


def gather(name, index, axis=1, dtype=np.float32, last=None):
    """Relu, or a sum, of what is gathered, so that a view of it is read along with other operands."""
    random, sizes = np.random.default_rng(len(name)), (SHAPE[-1],) if last is None else (1, 4, 7)
    kind, index = TYPES[np.dtype(dtype)], np.array(index, np.int64)
    floats = np.issubdtype(dtype, np.floating)
    shape = [*SHAPE[:-1], last or SHAPE[-1]]
    nodes = [helper.make_node("Gather", ["x", "i"], ["g"], axis=axis), helper.make_node("Relu", ["g"], ["r"]) if floats else
             helper.make_node("Identity", ["g"], ["r"]), helper.make_node("Gather", ["x", "i"], ["y"], axis=axis)]
    nodes += [helper.make_node("Add", ["r", "g"], ["z"])] if floats else [helper.make_node("Identity", ["r"], ["z"])]
    out = [*shape[:axis], *index.shape, *shape[axis + 1:]]
    graph = helper.make_graph(nodes, "gather", [helper.make_tensor_value_info("x", kind, shape)],
                              [helper.make_tensor_value_info(n, kind, out) for n in "yz"], [numpy_helper.from_array(index, "i")])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    inputs = [{"x": np.array(4 * random.normal(size=SHAPE[:-1] + (size,)), dtype)} for size in sizes]
    return dict(name=f"gather_{name}", group="Gather", model=model, flags=(f"--dim={last}=1..7",) if last else (), inputs=inputs)


WINDOWS = np.add.outer(range(3), range(4))
SLICE = tuples(range(3), range(1, 5, 2))
TWICE, BENT, BACK = (np.array(t, np.int64) for t in ([[0, 1], [2, 3], [0, 1]], [[0, 0], [1, 2], [2, 3]], [[2], [1]]))

INDICES = [
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
