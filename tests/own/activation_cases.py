"""Activations and padding as exporters spell them out, and what only looks like it."""

import numpy as np

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
X = np.linspace(-7.0, 7.0, 46, dtype=np.float32).reshape(2, 23)


def case(name, *lines):
    body = "\n".join("          " + line for line in lines)
    model = HEAD + f"""
        main (float[2, 23] x) => (float[2, 23] y) {{
          one = Constant <value_float = 1.0> ()
          two = Constant <value_float = 2.0> ()
          half = Constant <value_float = 0.5> ()
          root = Constant <value_float = 1.4142135> ()
          inverse = Constant <value_float = 0.70710678> ()
{body}
        }}"""
    return dict(name=name, group="activation", model=model, inputs=[dict(x=X)])


GAUSS = ("a = Div(x, root)", "b = Erf(a)", "c = Add(one, b)")

CASES = [
    case("gelu_halved_last", *GAUSS, "d = Mul(x, c)", "y = Mul(d, half)"),
    case("gelu_halved_first", "h = Mul(half, x)", *GAUSS, "y = Mul(c, h)"),
    case("gelu_half_of_quotient", "h = Div(x, two)", "a = Mul(inverse, x)", "b = Erf(a)", "c = Add(b, one)", "y = Mul(h, c)"),
    case("gelu_of_another_root", "a = Div(x, two)", "b = Erf(a)", "c = Add(one, b)", "d = Mul(x, c)", "y = Mul(d, half)"),
    case("gelu_times_something_else", "z = Abs(x)", *GAUSS, "d = Mul(z, c)", "y = Mul(d, half)"),
    case("gelu_whose_middle_is_read_twice", *GAUSS, "d = Mul(x, c)", "e = Mul(d, half)", "y = Add(e, c)"),
    case("swish", "s = Sigmoid(x)", "y = Mul(s, x)"),
    case("swish_whose_gate_is_read_twice", "s = Sigmoid(x)", "p = Mul(x, s)", "y = Add(p, s)"),
    case("gate_of_something_else", "z = Neg(x)", "s = Sigmoid(z)", "y = Mul(x, s)"),
    case("hard_swish", "s = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)", "y = Mul(x, s)"),
    case("hard_swish_of_another_slope", "s = HardSigmoid <alpha = 0.2, beta = 0.5> (x)", "y = Mul(x, s)"),
    case("square_of_sigmoid", "s = Sigmoid(x)", "y = Mul(s, s)"),
]


def pooled(name, attributes, pads):
    model = HEAD + f"""
        main (float[1, 5, 6, 7] x) => (float[1, 5, M, N] y) {{
          pads = Constant <value_ints = {pads}> ()
          p = Pad (x, pads)
          y = AveragePool <kernel_shape = [3, 3]{attributes}> (p)
        }}"""
    return dict(name=name, group="padding", model=model, inputs=[dict(x=np.arange(210, dtype=np.float32).reshape(1, 5, 6, 7))])


CASES += [
    pooled("padding_of_a_mean", "", [0, 0, 1, 1, 0, 0, 1, 1]),
    pooled("padding_of_a_mean_in_steps", ", strides = [2, 2]", [0, 0, 1, 0, 0, 0, 2, 1]),
    pooled("padding_of_a_mean_that_pads_itself", ", pads = [1, 1, 1, 1]", [0, 0, 1, 1, 0, 0, 1, 1]),
    pooled("padding_of_a_mean_that_counts_its_own", ", pads = [1, 1, 1, 1], count_include_pad = 1", [0, 0, 1, 1, 0, 0, 1, 1]),
]

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, 3e38, -3e38, 0.7, 1e-30]


def power(exponent, dtype="float"):
    x = np.concatenate([np.array(EDGES, np.float32), np.linspace(-5.0, 9.0, 57, dtype=np.float32)])
    model = HEAD + f"""
        main (float[{len(x)}] x) => (float[{len(x)}] y) {{
          n = Constant <value = {dtype} {{{exponent}}}> ()
          y = Pow (x, n)
        }}"""
    name = f"power_{exponent}_{dtype}".replace("-", "minus_").replace(".", "_")
    return dict(name=name, group="power", model=model, inputs=[dict(x=x)])


def neighbours(name, dtype, shape, size, alpha, beta, bias):
    """ONNX Runtime takes neither doubles nor windows of even extent, and the reference sums for as many channels as images."""
    def wanted(inputs):
        squares = np.pad(np.square(inputs["x"].astype(np.float64)), ((0, 0), ((size - 1) // 2, size // 2), (0, 0), (0, 0)))
        sums = sum(squares[:, i:i + shape[1]] for i in range(size))
        return [(inputs["x"] / (bias + alpha / size * sums) ** beta).astype(inputs["x"].dtype)]

    extents = ", ".join(map(str, shape))
    attributes = f"size = {size}, alpha = {alpha}, beta = {beta}, bias = {bias}"
    model = HEAD + f"main ({dtype}[{extents}] x) => ({dtype}[{extents}] y) {{ y = LRN <{attributes}> (x) }}"
    x = np.linspace(-4.0, 5.0, int(np.prod(shape)), dtype=np.float64 if dtype == "double" else np.float32).reshape(shape)
    return dict(name=name, group="neighbours", model=model, inputs=[dict(x=x)], wanted=wanted)


CASES += [
    *(power(exponent) for exponent in ("0.5", "-0.5", "2.0", "3.0", "-1.0", "2.5", "-3.0", "0.0")),
    power("2", "int64"),
    power("5", "int32"),
    neighbours("neighbours_of_four", "float", (2, 7, 3, 5), 4, 0.3, 0.6, 2.0),
    neighbours("neighbours_beyond_all", "float", (1, 3, 4, 9), 9, 0.3, 0.5, 1.0),
    neighbours("neighbours_of_doubles", "double", (1, 9, 4, 3), 3, 0.3, 0.75, 1.0),
]

WEIGHTS = ", ".join(f"{v:.3f}" for v in np.linspace(-1.0, 1.0, 40))
RUNS = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>'


def alone(name, call, kind="float", atol=1e-6):
    """Float16: ONNX Runtime rounds each of the operators that such a one is made of, here the result is rounded once."""
    x = np.concatenate([np.clip(EDGES, -6e4, 6e4), [np.inf], np.linspace(-7.0, 7.0, 51)]).astype(np.float16 if kind == "float16" else np.float32)
    model = f"{RUNS} main ({kind}[n] x) => ({kind}[n] y) {{ y = {call} (x) }}"
    return dict(name=name, group="activation", model=model, inputs=[dict(x=x[:n]) for n in (1, 13, 64)], atol=atol)


def behind_product(name, call, kind="float", atol=1e-6):
    x = np.sin(np.arange(72)).reshape(9, 8).astype(np.float16 if kind == "float16" else np.float32)
    model = f"""{RUNS} main ({kind}[n, 8] x) => ({kind}[n, 5] y) {{
          w = Constant <value = float[8, 5] {{{WEIGHTS}}}> ()
          v = Cast <to = {10 if kind == "float16" else 1}> (w)
          p = MatMul (x, v)
          y = {call} (p)
        }}"""
    return dict(name=name, group="activation", model=model, inputs=[dict(x=x[:n]) for n in (1, 3, 9)], atol=atol)


CASES += [
    alone("mish_of_any", "Mish"), behind_product("mish_behind_product", "Mish"),
    alone("quick_gelu_of_any", "com.microsoft.QuickGelu <alpha = 1.25>"), alone("quick_gelu_of_halves", "com.microsoft.QuickGelu", "float16", 0.006),
    behind_product("quick_gelu_behind_product", "com.microsoft.QuickGelu"),
    behind_product("quick_gelu_of_halves_behind_product", "com.microsoft.QuickGelu", "float16", 0.004),
]
