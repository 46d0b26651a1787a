"""Elementwise steps of many floats, which a device moves by fours: lengths that are no multiple of four, rows with a rest, results and
operands that begin between two fours, rows whose length or number is known while running only."""

import numpy as np

RNG = np.random.default_rng(41)


def floats(*shape):
    return (RNG.integers(-64, 64, shape) / np.float32(16)).astype(np.float32)


def four(name, shapes, results, lines, feeds, flags=()):
    """Inputs by name -> shape, as text; a feed gives each symbol its size."""
    inputs = ", ".join(f"float[{shape}] {name}" for name, shape in shapes.items())
    made = [{name: floats(*[int(feed.get(s.strip(), 0) or s) for s in shape.split(",")]) for name, shape in shapes.items()} for feed in feeds]
    text = f'<ir_version: 8, opset_import: ["": 17]>\nfours ({inputs}) => ({results}) {{\n{lines}\n}}'
    return dict(name="fours_" + name, group="Add", model=text, inputs=made, flags=flags)


def window(axis, begin, end):
    """Constants s and e of a slice."""
    return f"s = Constant <value_ints = [{begin}]> () e = Constant <value_ints = [{end}]> () a = Constant <value_ints = [{axis}]> ()"


OPEN = [dict(N=300, W=64), dict(N=300, W=33), dict(N=7, W=4), dict(N=1, W=1), dict(N=299, W=63)]
GATED = "g = Sigmoid (x) h = Mul (g, y) z = Add (h, y)"

CASES = [
    four("even", dict(x="2, 8200", y="2, 8200"), "float[2, 8200] z", GATED, [{}]),
    *[four(f"odd_{n}", dict(x=f"{n}", y=f"{n}"), f"float[{n}] z", GATED, [{}]) for n in (8209, 8210, 8211)],
    four("rest_of_rows", dict(x="300, 36", y="300, 3", b="300, 1", c="33"), "float[300, 36] z, float[36] w",
         "t = Tanh (x) w = ReduceMax <axes = [0], keepdims = 0> (t) " + window(1, 0, 33) +
         " v = Slice (t, s, e, a) m = Mul (v, b) r = Add (m, c) z = Concat <axis = 1> (r, y)", [{}]),
    four("unaligned_result", dict(x="9001", y="3"), "float[9004] z", "r = Tanh (x) z = Concat <axis = 0> (y, r)", [{}]),
    four("unaligned_operand", dict(x="9001", y="9000"), "float[9000] z",
         window(0, 1, 9001) + " t = Tanh (x) v = Slice (t, s, e, a) q = Exp (t) w = ReduceSum <keepdims = 0> (q) m = Mul (v, y) z = Add (m, w)", [{}]),
    four("repeated", dict(x="64, 1, 132", y="64, 5, 1"), "float[64, 5, 132] z", "r = Sub (x, y) z = Relu (r)", [{}]),
    four("open_rows", dict(x="N, W", y="N, 1", b="W"), "float[N, W] z", "m = Mul (x, b) r = Add (m, y) z = Relu (r)", OPEN,
         ("--dim=N=1..300", "--dim=W=1..64")),
    four("open_count", dict(x="N, 43", y="N, 43"), "float[N, 43] z", GATED, OPEN, ("--dim=N=1..300",)),
    four("open_window", dict(x="N, 44", y="N, 4"), "float[M, 44] z",
         "t = Tanh (x) r = Concat <axis = 1> (t, y) " + window(1, 1, 45) + " v = Slice (r, s, e, a) q = Neg (v) z = Concat <axis = 0> (q, t)", OPEN,
         ("--dim=N=1..300",)),
]
