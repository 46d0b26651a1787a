"""Models of these tests."""

import numpy
import onnx
from onnx import numpy_helper, parser


def save(path, text, weights, scale=1.0):
    """A model in ONNX's text form with seeded weights, {name: shape}, of this deviation. Returns the generator."""
    model, random = parser.parse_model(text), numpy.random.default_rng(1)
    for name, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array((scale * random.standard_normal(shape)).astype(numpy.float32), name))
    onnx.save(model, path)
    return random
