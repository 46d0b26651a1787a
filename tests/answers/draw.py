"""Random choices for one model, all from one seed. Knows nothing of operators."""

import random

import numpy as np
from onnx import TensorProto, helper

FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16
INT8, INT16, INT32, INT64 = TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64
UINT8, UINT16, UINT32, UINT64 = TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64
BOOL, STRING = TensorProto.BOOL, TensorProto.STRING
FLOATS = (FLOAT, DOUBLE, HALF)
SIGNED = (INT8, INT16, INT32, INT64)
UNSIGNED = (UINT8, UINT16, UINT32, UINT64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
WORDS = ("", "a", "b", "occam", "razor", "Plan", "byte by byte", "ünïcode", "0", "1", "-2.5", "zz top")
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan)


def numpy_type(dtype):
    return np.dtype(object) if dtype == STRING else helper.tensor_dtype_to_np_dtype(dtype)


class Draw(random.Random):
    """random.Random with the choices that models need."""

    def chance(self, probability):
        return self.random() < probability

    def pick(self, options):
        return self.choice(list(options))

    def several(self, options, least=0):
        """Some of the options, in their order."""
        options = list(options)
        kept = set(self.sample(range(len(options)), self.randint(min(least, len(options)), len(options))))
        return [option for i, option in enumerate(options) if i in kept]

    def weighted(self, weights):
        """A key of a dictionary of weights."""
        return self.choices(list(weights), list(weights.values()))[0]

    def numpy(self):
        return np.random.default_rng(self.getrandbits(64))

    def array(self, dtype, shape, style="plain"):
        """plain: moderate values; small: whole numbers with many equal ones; equal: one value; special: with infinities,
        NaN, denormals and huge numbers; positive: above 0.1."""
        random = self.numpy()
        kind = numpy_type(dtype)
        if dtype == STRING:
            return np.array([WORDS[i] for i in random.integers(0, len(WORDS), shape).reshape(-1)], object).reshape(shape)
        if dtype == BOOL:
            return random.integers(0, 2, shape).astype(bool)
        if style == "equal":
            return np.full(shape, random.integers(0, 4), kind)
        if kind.kind in "iu":
            return self.integers(random, kind, shape, style)
        values = random.integers(-3, 4, shape).astype(float) if style == "small" else random.standard_normal(shape)
        if style == "positive":
            values = np.abs(values) + 0.1
        if style == "special" and values.size:
            mask = random.random(shape) < 0.3
            values = np.where(mask, random.choice(SPECIALS, shape), values)
        with np.errstate(over="ignore"):
            return values.astype(kind)

    @staticmethod
    def integers(random, kind, shape, style):
        limits = np.iinfo(kind)
        low, high = max(limits.min, -20), min(limits.max, 20)
        if style == "small":
            low, high = max(limits.min, -2), 3
        if style == "positive":
            low, high = 1, 7
        if style == "special":
            low, high = limits.min, limits.max
        return random.integers(low, high, shape, dtype=kind, endpoint=True)
