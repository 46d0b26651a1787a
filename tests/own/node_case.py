"""A case of one node, as msft_cases.py and attention_cases.py list them.

An input is a constant (an array), fed (Feed: extents are numbers or names), or omitted (None); the case runs at each set of extents, so
that names are bounded by the least and the greatest of them.
"""

import os
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import spelled  # noqa: E402

CODE = {np.dtype(k): v for k, v in {
    np.float32: TensorProto.FLOAT, np.float16: TensorProto.FLOAT16, np.int32: TensorProto.INT32, np.int64: TensorProto.INT64,
    np.bool_: TensorProto.BOOL, np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.uint16: TensorProto.UINT16, np.int16: TensorProto.INT16}.items()}


def normal(generator, shape, dtype):
    return generator.normal(size=shape).astype(dtype)


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)


class Feed:
    """What a case is fed: make(generator, shape, dtype) or make(generator, shape, dtype, sizes) draws it."""

    def __init__(self, *shape, dtype=np.float32, make=normal, sized=False):
        self.shape, self.dtype, self.make, self.sized = shape, dtype, make, sized

    def draw(self, generator, sizes):
        shape = tuple(sizes[d] if isinstance(d, str) else d for d in self.shape)
        value = self.make(generator, shape, self.dtype, sizes) if self.sized else self.make(generator, shape, self.dtype)
        return np.asarray(value, self.dtype).reshape(shape)


def whole(low, high):
    """Integers low .. high."""
    return lambda generator, shape, dtype: generator.integers(low, high + 1, size=shape)


def constant(*shape, dtype=np.float32, seed=3, make=normal):
    return np.asarray(make(np.random.default_rng(seed), shape, dtype), dtype)


def case(name, op, inputs, outputs=1, sizes=({},), domain="com.microsoft", before=None, **attributes):
    """`outputs`: how many, or a list of flags (0: omitted). before: what is fed by name, and nodes that make inputs given as names."""
    feeds, nodes = before or ({}, [])
    wanted = [1] * outputs if isinstance(outputs, int) else outputs
    names = ["" if v is None else v if isinstance(v, str) else f"in{i}" for i, v in enumerate(inputs)]
    made = [f"y{i}" if w else "" for i, w in enumerate(wanted)]
    fed = [(n, v) for n, v in zip(names, inputs) if isinstance(v, Feed)] + list(feeds.items())
    node = helper.make_node(op, names, made, name=name, domain=domain, **attributes)
    graph = helper.make_graph(
        [*nodes, node], name, [helper.make_tensor_value_info(n, CODE[np.dtype(v.dtype)], v.shape) for n, v in fed],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) if n == "y3" else helper.make_empty_tensor_value_info(n) for n in made if n],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in zip(names, inputs) if isinstance(v, (np.ndarray, np.generic))])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    sets = []
    for i, size in enumerate(sizes):
        generator = np.random.default_rng(100 + i)
        sets.append({n: v.draw(generator, size) for n, v in fed})
    return dict(name=name, group=op, model=model, inputs=sets)


def elsewhere_only(*what, **how):
    """A case of an operator that ONNX Runtime runs on other devices only."""
    made = case(*what, **how)
    return dict(made, wanted=lambda given: run(spelled.spelled_model(made["model"]), given))


def over(**names):
    """Sets of extents: over(b=(1, 2), s=(1, 5)) pairs them."""
    return [dict(zip(names, row)) for row in zip(*names.values())]


LONG = over(b=(1, 2, 3), s=(1, 4, 7))
