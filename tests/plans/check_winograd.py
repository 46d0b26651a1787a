"""Rounding in the transformed domain: what --winograd-error estimates is what happens, against sums in double precision.

A limit just above the estimate takes the larger tiles, one just below it the smaller ones or none; the error measured at the
last result of each tile is at most the estimate, and not far below it.
"""

import os
import re
import sys

import numpy as np
import onnx

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "threads"))

import check_threads as nets
import host

FLAGS = "-std=c99 -O2 -march=native"
SIZE, OUTPUTS = 28, 32
G = {2: [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
     4: [[1 / 4, 0, 0], [-1 / 6] * 3, [-1 / 6, 1 / 6, -1 / 6], [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]]}
FACTORS = {2: [0, 2, 2, 2], 4: [0, 34, 34, 640, 640, 42]}  # last row of A squared, times the squares of a row of B
SLACK = 2.5  # that the estimate may lie above the error


def ordinary(inputs, rows=3, outputs=OUTPUTS):
    return nets.RANDOM.standard_normal((outputs, inputs, rows, 3)).astype(np.float32)


def amplified(inputs):
    """Every filter a multiple of that which the larger transform treats worst."""
    line = np.array([1.0, 2.2, 4.6])
    return (np.outer(line, line) * nets.RANDOM.standard_normal((OUTPUTS, inputs, 1, 1))).astype(np.float32)


# name: (weights, largest tile, dilation along a row)
CASES = {"ordinary64": (ordinary(64), 4, 1), "ordinary256": (ordinary(256), 4, 1), "ordinary256small": (ordinary(256), 2, 1),
         "amplified64": (amplified(64), 4, 1), "line64": (ordinary(64, 1), 4, 1), "line128apart": (ordinary(128, 1, 128), 4, 2)}


def estimate(w, m):
    """By elementwise squares of the transformed filters; a kernel of one row is transformed along the row only."""
    g, factors = np.array(G[m]), np.array(FACTORS[m], np.float64)
    down, weight = (g, factors) if w.shape[2] == 3 else (np.eye(1), np.ones(1))
    u = np.einsum("fi,ocik,gk->ocfg", down, w.astype(np.float64), g)
    variance = np.einsum("ocfg,f,g->o", u * u, weight, factors) / (w.astype(np.float64) ** 2).sum((1, 2, 3))
    return 2.0**-25 * np.sqrt((9 + w.shape[1] / 2) * variance.max())


def tile_of(folder):
    with open(os.path.join(folder, "model.c")) as file:
        found = re.search(r"const occ_lots lots = \{(\d)", file.read())
    return int(found[1]) if found else 0


def exact(w, x, apart):
    rows = w.shape[2]
    padded, y = np.pad(x[0].astype(np.float64), ((0, 0), (rows // 2, rows // 2), (apart, apart))), 0.0
    for i in range(rows):
        for k in range(3):
            y = y + np.tensordot(w[:, :, i, k].astype(np.float64), padded[:, i:i + SIZE, k * apart:k * apart + SIZE], 1)
    return y


def check(arguments, name):
    w, m, apart = CASES[name]
    pads, last = [w.shape[2] // 2, apart] * 2, np.arange(SIZE) // apart % m == m - 1
    path, tools = os.path.join(arguments.work, f"{name}.onnx"), host.Toolchain(arguments.occamyc, arguments.cc, FLAGS)
    convolution = ("Conv", ["x", "w"], "y", {"pads": pads, "dilations": [1, apart]})
    onnx.save(nets.network([convolution], (1, w.shape[1], SIZE, SIZE), {"w": w}), path)
    expected, folders = estimate(w, m), [os.path.join(arguments.work, name, side) for side in ("above", "below")]
    for folder, factor in zip(folders, (1.001, 0.999)):
        host.compile_model(tools, path, folder, ["--winograd=on", f"--winograd-error={expected * factor}"])
    if tile_of(folders[0]) != m or tile_of(folders[1]) >= m:
        raise host.Failure("wrong", f"tiles of {tile_of(folders[0])} and {tile_of(folders[1])} at the estimate of those of {m}")
    host.build_program(tools, folders[0])
    x = np.random.default_rng(5).standard_normal((1, w.shape[1], SIZE, SIZE)).astype(np.float32)
    reference = exact(w, x, apart)
    error = np.frombuffer(nets.answer(folders[0], x), np.float32).reshape(reference.shape) - reference
    error = error[:, :, last] if w.shape[2] == 1 else error[:, last][:, :, last]
    measured = np.sqrt((error**2).mean() / (reference**2).mean())
    if not expected / SLACK <= measured <= expected:
        raise host.Failure("wrong", f"an error of {measured:.2g} where {expected:.2g} is estimated")


host.check_each(check, __doc__, CASES)
