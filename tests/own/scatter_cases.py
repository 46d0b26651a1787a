"""ScatterND whose indices are constant: what exporters write for an assignment to a slice, x[:, 1:5:2] = u, and other tuples."""

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


SLICE = tuples(range(3), range(1, 5, 2))
TWICE, BENT, BACK = (np.array(t, np.int64) for t in ([[0, 1], [2, 3], [0, 1]], [[0, 0], [1, 2], [2, 3]], [[2], [1]]))

SCATTER = [
    scatter("rows", tuples(range(1, 3))), scatter("row", tuples([2])), scatter("slice", SLICE),
    *(scatter(f"slice_{np.dtype(t).name}", SLICE, t) for t in (np.int64, np.uint8, np.bool_, np.float16)),
    scatter("elements", tuples(range(0, 3, 2), range(6), range(1, 3))), scatter("one", np.array([1, 5, 2], np.int64)),
    scatter("from_the_end", tuples([0, 1], range(-4, -1))), scatter("over_the_end", tuples(range(-2, 1))),
    scatter("turned", np.swapaxes(SLICE, 0, 1).copy()), scatter("all", tuples(range(3), range(6))),
    scatter("twice", TWICE), scatter("bent", BENT), scatter("backwards", BACK), scatter("diagonal", np.array([[0, 0], [1, 1], [2, 2]], np.int64)),
    scatter("adds", SLICE, reduction="add"),
    scatter("open_slice", SLICE, last="N"), scatter("open_rows", tuples(range(1, 3)), last="N"), scatter("open_bent", BENT, last="N"),
]
