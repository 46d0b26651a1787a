"""Elementwise operators: arithmetic, comparison, activations, casts, and the chains of them that fusion looks for."""

import draw as d
from net import Rejected
from recipes import attributes, recipe

UNARY = {"Abs": d.NUMBERS, "Neg": d.FLOATS + d.SIGNED, "Ceil": d.FLOATS, "Floor": d.FLOATS, "Round": d.FLOATS,
         "Exp": d.FLOATS, "Log": d.FLOATS, "Sqrt": d.FLOATS, "Reciprocal": d.FLOATS, "Sign": d.NUMBERS, "Erf": d.FLOATS,
         "Sin": d.FLOATS, "Cos": d.FLOATS, "Tan": d.FLOATS, "Asin": d.FLOATS, "Acos": d.FLOATS, "Atan": d.FLOATS,
         "Sinh": d.FLOATS, "Cosh": d.FLOATS, "Tanh": d.FLOATS, "Asinh": d.FLOATS, "Acosh": d.FLOATS, "Atanh": d.FLOATS,
         "Sigmoid": d.FLOATS, "Relu": d.FLOATS + d.SIGNED, "Softsign": d.FLOATS, "Identity": d.NUMBERS + (d.BOOL, d.STRING),
         "IsNaN": d.FLOATS, "Not": (d.BOOL,), "BitwiseNot": d.INTEGERS, "HardSwish": d.FLOATS, "Mish": d.FLOATS,
         "Softplus": d.FLOATS}
ALPHA = {"Elu": ("alpha",), "LeakyRelu": ("alpha",), "Celu": ("alpha",), "ThresholdedRelu": ("alpha",),
         "Selu": ("alpha", "gamma"), "HardSigmoid": ("alpha", "beta"), "Shrink": ("lambd", "bias"), "Swish": ("alpha",)}
BINARY = {"Add": d.NUMBERS, "Sub": d.NUMBERS, "Mul": d.NUMBERS, "Div": d.NUMBERS, "Pow": d.FLOATS + (d.INT32, d.INT64),
          "And": (d.BOOL,), "Or": (d.BOOL,), "Xor": (d.BOOL,), "Equal": d.NUMBERS + (d.BOOL, d.STRING), "Less": d.NUMBERS,
          "Greater": d.NUMBERS, "LessOrEqual": d.NUMBERS, "GreaterOrEqual": d.NUMBERS, "Mod": d.NUMBERS,
          "BitwiseAnd": d.INTEGERS, "BitwiseOr": d.INTEGERS, "BitwiseXor": d.INTEGERS, "PRelu": d.FLOATS + (d.INT32, d.INT64)}
EXACT_INPUTS = {"Ceil", "Floor", "Round", "Sign", "IsNaN", "ThresholdedRelu", "Shrink", "Equal", "Less", "Greater", "Mod",
                "LessOrEqual", "GreaterOrEqual"}


def mostly_float(net, dtypes):
    """The types to draw from: floats in networks, mostly."""
    if not net.single and d.FLOAT in dtypes and net.draw.chance(0.9):
        return (d.FLOAT,)
    if net.single and net.draw.chance(0.5):
        return (dtypes[0],)
    return dtypes


@recipe(*UNARY)
def unary(net):
    operator = net.draw.pick(UNARY)
    net.version(operator)
    x = net.some(mostly_float(net, UNARY[operator]), exact=operator in EXACT_INPUTS)
    net.node(operator, [x])


@recipe("IsInf")
def is_inf(net):
    x = net.some((d.FLOAT, d.DOUBLE), exact=True, style="special")
    net.node("IsInf", [x], **attributes(net.draw, detect_negative=[0, 1], detect_positive=[0, 1]))


@recipe(*ALPHA)
def activation(net):
    draw, operator = net.draw, net.draw.pick(ALPHA)
    net.version(operator)
    x = net.some(mostly_float(net, d.FLOATS), exact=operator in EXACT_INPUTS)
    net.node(operator, [x], **attributes(draw, **{name: [0.0, 0.01, 0.3, 1.0, 1.7, -0.5] for name in ALPHA[operator]}))


@recipe("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Clip", network=3)
def common_activation(net):
    """The activations that fuse into convolutions."""
    operator = net.draw.pick(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish"])
    net.version(operator)
    x = net.some((d.FLOAT,))
    net.node(operator, [x])


@recipe("Gelu")
def gelu(net):
    net.version("Gelu")
    net.node("Gelu", [net.some(mostly_float(net, d.FLOATS))], **attributes(net.draw, approximate=["none", "tanh"]))


@recipe("Clip", network=2)
def clip(net):
    draw = net.draw
    if net.version("Clip") < 11:
        x = net.some((d.FLOAT,))
        net.node("Clip", [x], **attributes(draw, min=[-1.0, 0.0, 0.5], max=[0.5, 1.0, 6.0]))
        return
    x = net.some(mostly_float(net, d.NUMBERS if net.version("Clip") >= 12 else d.FLOATS))
    low, high = (net.constant(d.np.array(draw.pick(v), d.numpy_type(x.dtype))) if draw.chance(0.7) else None
                 for v in ([0, 1, 2], [1, 3, 6]))
    net.node("Clip", [x, low, high][:3 if high else 2 if low else 1])


@recipe(*BINARY, network=2)
def binary(net):
    draw = net.draw
    operator = draw.pick(BINARY)
    net.version(operator)
    dtypes = mostly_float(net, BINARY[operator])
    x = net.some(dtypes, exact=operator in EXACT_INPUTS)
    y = net.partner(x, style="positive" if operator == "Div" and x.dtype in d.INTEGERS else None)
    if operator in EXACT_INPUTS and y.noisy:
        raise Rejected("noisy")
    if operator == "Mod":
        return modulo(net, x, y)
    if operator == "Pow" and x.dtype in d.INTEGERS: # what is beyond the type is not said
        return net.node("Pow", [x, net.constant(draw.array(x.dtype, [1] * draw.randint(0, x.rank), "positive") % 4)])
    if operator == "PRelu" or not draw.chance(0.3) or operator == "Div" and x.dtype in d.INTEGERS:
        net.node(operator, [x, y])
    else:
        net.node(operator, [y, x])


def modulo(net, x, y):
    fmod = 1 if x.dtype in d.FLOATS else net.draw.pick([None, 0, 1])
    if x.dtype in d.INTEGERS:
        y = net.constant(net.draw.array(x.dtype, y.arrays[0].shape if y.constant else (), "positive"))
    net.node("Mod", [x, y], fmod=fmod)


@recipe("Add", "Mul", "Sub", "Div", network=4)
def affine(net):
    """Scales and biases per channel, residuals: the forms that fold into convolutions."""
    draw = net.draw
    operator = draw.pick(["Add", "Add", "Mul", "Sub", "Div"])
    x = net.some((d.FLOAT,), rank=(1, 5))
    if draw.chance(0.4):
        other = net.partner(x)
    else:
        axis = 1 if x.rank > 1 and draw.chance(0.7) else draw.randrange(x.rank)
        extent = x.fixed(axis)
        if extent is None:
            raise Rejected("the channels are not fixed")
        style = "positive" if operator == "Div" else None
        other = net.weights(d.FLOAT, [extent] + [1] * (x.rank - axis - 1), style=style)
    net.node(operator, [x, other] if draw.chance(0.8) else [other, x])


@recipe("Max", "Min", "Sum", "Mean")
def variadic(net):
    draw = net.draw
    operator = draw.pick(["Max", "Min", "Sum", "Mean"])
    numbers = operator in ("Max", "Min") and net.version(operator) >= 12
    x = net.some(mostly_float(net, d.NUMBERS if numbers else d.FLOATS))
    if x.dtype in (d.INT8, d.INT16, d.UINT8, d.UINT16):
        raise Rejected("ONNX Runtime has no such kernel")
    more = [net.partner(x) for _ in range(draw.pick([0, 1, 1, 2, 3]))]
    values = [x, *more]
    draw.shuffle(values)
    net.node(operator, values)


@recipe("Where")
def where(net):
    x = net.some(mostly_float(net, d.NUMBERS + (d.STRING, d.BOOL)))
    y = net.partner(x)
    net.version("Where")
    condition = net.partner(x, d.BOOL)
    net.node("Where", [condition, x, y] if net.draw.chance(0.5) else [condition, y, x])


@recipe("BitShift")
def shift(net):
    net.version("BitShift")
    x = net.some(d.UNSIGNED)
    y = net.partner(x, style="positive")
    net.node("BitShift", [x, y], direction=net.draw.pick(["LEFT", "RIGHT"]))


@recipe("Cast", network=0.5)
def cast(net):
    draw = net.draw
    to = draw.pick(d.NUMBERS + (d.BOOL,))
    x = net.some(d.NUMBERS + (d.BOOL,), exact=to not in d.FLOATS)
    check_range(x, to)
    net.node("Cast", [x], to=to)


def check_range(x, to):
    """What a float beyond an integer's range becomes is not said."""
    if x.dtype in d.FLOATS and to in d.INTEGERS:
        limits = d.np.iinfo(d.numpy_type(to))
        if not all(((a > limits.min) & (a < limits.max)).all() for a in x.arrays):
            raise Rejected("a float beyond an integer's range")


@recipe("CastLike")
def cast_like(net):
    net.version("CastLike")
    to = net.draw.pick(d.NUMBERS + (d.BOOL,))
    x = net.some(d.NUMBERS + (d.BOOL,), exact=to not in d.FLOATS)
    check_range(x, to)
    net.node("CastLike", [x, net.constant(net.draw.array(to, (1,)))])


@recipe("Mul", "Sigmoid", "Add", "Clip", "Div", "Erf", network=1.5)
def composed_activation(net):
    """What exporters write for SiLU, hard swish and GELU."""
    draw = net.draw
    x = net.some((d.FLOAT,), rank=(1, 4))
    kind = draw.pick(["hardswish", *["gelu", "silu"] * (net.style != "special")])     # docs/differences.md: GELU and sigmoid far from zero
    number = lambda v: net.constant(d.np.array(v, d.np.float32))
    if kind == "silu":
        net.node("Mul", [x, net.node("Sigmoid", [x])])
    elif kind == "hardswish":
        y = net.node("Add", [x, number(3)])
        y = net.node("Clip", [y, number(0), number(6)]) if net.version("Clip") >= 11 else net.node("Clip", [y], min=0.0, max=6.0)
        net.node("Div", [net.node("Mul", [x, y]), number(6)])
    else:
        y = net.node("Erf", [net.node("Div", [x, number(1.4142135)])])
        net.node("Mul", [net.node("Mul", [x, net.node("Add", [y, number(1)])]), number(0.5)])
