"""Holds the outcomes of a model against ONNX Runtime's answers, and against each other."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import compare  # noqa: E402


def same_bits(a, b):
    if isinstance(a, dict) or isinstance(b, dict):
        return isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b) and all(map(same_bits, a.values(), b.values()))
    if isinstance(a, list) or isinstance(b, list):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(map(same_bits, a, b))
    if a is None or b is None:
        return a is b
    return (a.dtype, tuple(a.shape), a.raw) == (b.dtype, tuple(b.shape), b.raw)


def compare_most(want, got, granted, reason):
    """None where only a few elements differ, or some by little (steps of 16 bits): a sum that lies between two whole numbers may be
    rounded to either. `reason` else."""
    if isinstance(want, (list, dict)) or want is None or got is None or want.dtype != got.dtype or tuple(want.shape) != tuple(got.shape):
        return reason
    a, b = (compare.widen(v.array()).astype(np.float64) for v in (want, got))
    with np.errstate(invalid="ignore"):
        gap, most = np.abs(a - b), np.abs(a).max(initial=0)
        far = gap > max(granted, 1e-5 * most)
        few = 0.1 if not (gap > 1e-3 * most).any() else 0.02
    return None if far.sum() <= max(2, few * far.size) else reason


def judge_set(trial, k, outputs):
    """A sentence on the first output of set k that is wrong, or None."""
    for info, want, got, granted in zip(trial.model.graph.output, trial.wanted[k], outputs, trial.granted[k]):
        with np.errstate(all="ignore"):
            reason = compare.compare_value(want, got, 1e-5, granted)
            if reason and trial.rare:
                reason = compare_most(want, got, granted, reason)
        if reason:
            return f"set {k}, output '{info.name}': {reason}"
    return None


def judge(trial):
    """Per variant its state and reason; fills outcomes of those that ran."""
    first = trial.outcomes[0]
    for variant, outcome in zip(trial.variants, trial.outcomes):
        if outcome.state != "pass":
            continue
        for k, outputs in enumerate(outcome.outputs):
            reason = judge_set(trial, k, outputs)
            if reason is None and variant.equal and first.outputs and not all(map(same_bits, outputs, first.outputs[k])):
                reason = f"set {k}: other bits than with {' '.join(trial.variants[0].options) or 'no option'}"
            if reason:
                outcome.state, outcome.reason = "wrong", reason
                break
    return trial.outcomes
