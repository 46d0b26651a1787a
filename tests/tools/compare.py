"""Compares computed values with stored ones: type and shape exactly, numbers within rtol and atol, text and integers exactly.

Knows nothing of files or compilers.
"""

import numpy as np

import tensors

# Two units in the last place: what ONNX's own runner grants to bfloat16.
BFLOAT16_RTOL = 2.0 ** -6


def widen(array):
    """Floating point of any width as float64, exact for every type up to it; others unchanged."""
    if array.dtype.kind in "biuO":
        return array
    if array.dtype.kind in "fc":
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return array.astype(np.float32).astype(np.float64)                  # float8, float4, bfloat16, int4, int2


def compare_numbers(want, got, rtol, atol):
    """A sentence on the worst difference, or None. Infinities must match, NaN equals NaN."""
    want, got = np.atleast_1d(widen(want)), np.atleast_1d(widen(got))
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - want)
        bad = ~same & ~(error <= atol + rtol * np.abs(want))            # written so that NaN and infinity fail
    bad |= ~same & ~np.isfinite(want)
    if not bad.any():
        return None
    weight = np.where(bad, np.nan_to_num(error, nan=np.inf), -1.0)
    place = tuple(int(i) for i in np.unravel_index(np.argmax(weight), weight.shape))
    return (f"{int(bad.sum())} of {bad.size} differ; worst at {list(place)}: "
            f"found {got[place]:.9g}, wanted {want[place]:.9g}")


def compare_exact(want, got):
    bad = np.atleast_1d(want != got)
    if not bad.any():
        return None
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    return (f"{int(bad.sum())} of {bad.size} differ; first at {list(place)}: "
            f"found {np.atleast_1d(got)[place]!r}, wanted {np.atleast_1d(want)[place]!r}")


def compare_tensor(want, got, rtol, atol, quantum=0):
    """`quantum`: the difference that integers may have, for quantised models."""
    if want.dtype != got.dtype:
        return f"type {got.dtype} found, {want.dtype} wanted (ONNX's numbers)"
    if tuple(want.shape) != tuple(got.shape):
        return f"extents {list(got.shape)} found, {list(want.shape)} wanted"
    a, b = want.array(), got.array()
    if a.dtype == object or a.dtype.kind == "b":
        return compare_exact(a, b)
    if a.dtype.kind in "iu":
        return compare_exact(a, b) if quantum == 0 else compare_numbers(a.astype(np.float64), b.astype(np.float64), 0, quantum)
    if want.dtype == tensors.BFLOAT16:
        rtol = max(rtol, BFLOAT16_RTOL)
    return compare_numbers(a, b, rtol, atol)


def compare_maps(want, got, rtol, atol, quantum):
    if set(want) != set(got):
        return f"keys {sorted(got)} found, {sorted(want)} wanted"
    reasons = ((key, compare_value(want[key], got[key], rtol, atol, quantum)) for key in want)
    return next((f"key {key!r}: {reason}" for key, reason in reasons if reason), None)


def compare_value(want, got, rtol, atol, quantum=0):
    """None when `got` is as good as `want`, else a sentence that says where they part."""
    if want is None or got is None:
        return None if want is got else f"{'nothing' if got is None else 'a value'} found, " \
                                        f"{'nothing' if want is None else 'a value'} wanted"
    if type(want) is not type(got):
        return "a sequence, a map and a tensor differ in kind"
    if isinstance(want, dict):
        return compare_maps(want, got, rtol, atol, quantum)
    if not isinstance(want, list):
        return compare_tensor(want, got, rtol, atol, quantum)
    if len(want) != len(got):
        return f"{len(got)} members found, {len(want)} wanted"
    for i, (a, b) in enumerate(zip(want, got)):
        reason = compare_value(a, b, rtol, atol, quantum)
        if reason:
            return f"member {i}: {reason}"
    return None


def scaled_tolerance(want):
    """Absolute tolerance for a network's output: 1e-4 of its largest finite magnitude."""
    if isinstance(want, (list, dict)):
        return max([scaled_tolerance(v) for v in (want.values() if isinstance(want, dict) else want)], default=0.0)
    array = widen(want.array())
    if array.dtype.kind not in "f" or array.size == 0:
        return 0.0
    finite = np.abs(array[np.isfinite(array)])
    return 1e-4 * float(finite.max()) if finite.size else 0.0


# -- cases whose source draws random numbers: what every correct answer has in common ---------------------------------

def check_bernoulli(inputs, outputs, stored):
    """Right type and extents, and every element 0 or 1."""
    got, want = outputs[0], stored[0]
    if (got.dtype, tuple(got.shape)) != (want.dtype, tuple(want.shape)):
        return "type or extents differ"
    values = widen(got.array())
    return None if np.isin(values, (0.0, 1.0)).all() else "an element is neither 0 nor 1"


def check_dropout(inputs, outputs, stored):
    """Every element is 0 or the input scaled by 1 / (1 - ratio); a mask says which."""
    x = widen(inputs[0].array())
    ratio = float(widen(inputs[1].array())) if len(inputs) > 1 and inputs[1] is not None else 0.5
    for got, want in zip(outputs, stored):
        if (got.dtype, tuple(got.shape)) != (want.dtype, tuple(want.shape)):
            return "type or extents differ"
    y = widen(outputs[0].array())
    kept = np.isclose(y, x / (1.0 - ratio), rtol=1e-5)
    if not (kept | (y == 0)).all():
        return "an element is neither 0 nor the scaled input"
    if len(outputs) > 1 and (outputs[1].array() != (kept & (y != 0) | (x == 0) & outputs[1].array())).any():
        return "the mask does not say what was kept"
    return None


CHECKS = {"bernoulli": check_bernoulli, "dropout": check_dropout}
