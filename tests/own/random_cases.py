"""Operators that draw numbers. What they draw is nobody's to say; these models ask whether it has the range, the mean and the
spread that were wanted, and answer with booleans."""

import numpy as np

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
YES = [np.array(True)]


def case(name, draw, *checks, x=np.zeros((40, 50), dtype=np.float32)):
    """draw makes r, checks make the booleans; all of them must hold."""
    numbers = dict(low=-2.0, high=3.0, near=0.15, two=2.0, half=0.5, one=1.0, three=3.0, zero=0.0)
    lines = [f"{key} = Constant <value_float = {value}> ()" for key, value in numbers.items()]
    lines += [draw, *checks, "y = And(first, second)"]
    shape = ", ".join(map(str, x.shape))
    model = HEAD + f"main (float[{shape}] x) => (bool y) {{\n" + "\n".join(lines) + "\n}"
    return dict(name=name, group="random", model=model, inputs=[dict(x=x)], wanted=lambda inputs: YES)


RANGE = ("least = ReduceMin <keepdims = 0> (r)", "first = GreaterOrEqual(least, low)", "most = ReduceMax <keepdims = 0> (r)",
         "second = Less(most, high)")
MOMENTS = ("mean = ReduceMean <keepdims = 0> (r)", "away = Sub(mean, two)", "distance = Abs(away)", "first = Less(distance, near)",
           "d = Sub(r, mean)", "s = Mul(d, d)", "v = ReduceMean <keepdims = 0> (s)", "spread = Sqrt(v)", "off = Sub(spread, half)",
           "apart = Abs(off)", "second = Less(apart, near)")
CHOICE = ("f = Cast <to = 1> (r)", "least = ReduceMin <keepdims = 0> (f)", "first = GreaterOrEqual(least, one)",
          "most = ReduceMax <keepdims = 0> (f)", "second = Less(most, three)")

CASES = [
    case("random_uniform", "r = RandomUniform <shape = [40, 50], low = -2.0, high = 3.0, seed = 1.0> ()", *RANGE),
    case("random_normal", "r = RandomNormal <shape = [40, 50], mean = 2.0, scale = 0.5, seed = 1.0> ()", *MOMENTS),
    case("random_normal_like", "r = RandomNormalLike <mean = 2.0, scale = 0.5, seed = 2.0> (x)", *MOMENTS),
    case("multinomial_of_two_likely_classes", "r = Multinomial <sample_size = 30, seed = 3.0> (x)", *CHOICE,
         x=np.log(np.tile(np.array([1e-30, 0.4, 0.6, 1e-30], dtype=np.float32), (5, 1)))),
]
