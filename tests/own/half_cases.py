"""Networks of float16 and bfloat16: what lies between two operators is float, or (--float16=rounded) of the narrow type.

The oracle of the first is ONNX Runtime on a twin in float, whose inputs and constants alone are rounded: a rounding in between
differs from it by 1e-3 and more, and 1e-5 is allowed.
"""

import numpy as np
import onnx
import onnxruntime

RANDOM = np.random.default_rng(16)
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
CODE = {"float16": 10, "bfloat16": 16}


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def constant(name, values):
    shape = f"[{','.join(map(str, values.shape))}]" if values.shape else ""
    return f"{name}_float = Constant <value = float{shape} {{{', '.join(repr(float(v)) for v in values.ravel())}}}> ()"


def text(kind, inputs, constants, lines, outputs, twin):
    """The model, or its twin in float; the lines read inputs and constants in the narrow type, and make all of `outputs` in it."""
    names = [*inputs, *constants]
    body = [constant(name, values) for name, values in constants.items()]
    body += [f"{name}{'_narrow' if twin else ''} = Cast <to = {CODE[kind]}> ({name}_float)" for name in names]
    body += [f"{name} = Cast <to = 1> ({name}_narrow)" for name in names if twin]
    body += [line.replace("NARROW", "float" if twin else kind) for line in lines]
    body += [f"{name}_float = Cast <to = 1> ({name})" for name in outputs]
    given = ", ".join(f"float[{', '.join(map(str, v.shape))}] {name}_float" for name, v in inputs.items())
    made = ", ".join(f"float[{', '.join(map(str, shape))}] {name}_float" for name, shape in outputs.items())
    return HEAD + f"main ({given}) => ({made}) {{\n" + "\n".join("    " + line for line in body) + "\n}"


def run(model, feeds):
    model = onnx.parser.parse_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)


def case(name, inputs, constants, outputs, *lines, rounds=False):
    """`rounds`: where a result leaves a body it is rounded in any case."""
    feeds = {f"{key}_float": values for key, values in inputs.items()}
    for kind in CODE:
        model, twin = (text(kind, inputs, constants, lines, outputs, twin) for twin in (False, True))
        both = dict(group="narrow", model=model, inputs=[feeds], wanted=lambda given, twin=twin: run(twin, given))
        rounded = 0.03 if kind == "float16" else 0.3
        yield dict(both, name=f"{kind}_{name}", atol=rounded if rounds else 1e-5)
        yield dict(both, name=f"{kind}_{name}_rounded", flags=("--float16=rounded",), atol=rounded)


IMAGE = dict(x=numbers(1, 3, 8, 8))
LAYER = dict(w=numbers(4, 3, 3, 3), b=numbers(4))
CASES = [
    *case("layers", IMAGE, dict(**LAYER, scale=numbers(1, 4, 1, 1), v=numbers(8, 5)), dict(z=(1, 5)),
          "a = Conv <pads = [1, 1, 1, 1]> (x, w, b)", "r = Relu(a)", "p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)",
          "s = Sigmoid(p)", "m = Mul(s, scale)", "c = Concat <axis = 1> (m, p)", "t = ReduceMean <axes = [2, 3], keepdims = 0> (c)",
          "d = MatMul(t, v)", "z = Softmax(d)"),
    *case("read_as_it_is", IMAGE, LAYER, dict(a=(1, 4, 6, 6), z=(4, 36)), "a = Conv(x, w, b)", "t = Transpose <perm = [1, 0, 2, 3]> (a)",
          "i = Constant <value_ints = [4, 36]> ()", "e = Reshape(t, i)", "z = Abs(e)"),
    *case("branches", dict(IMAGE, u=numbers(1)), LAYER, dict(z=(1, 4, 6, 6)), "a = Conv(x, w, b)", "f = Cast <to = 9> (u)",
          "l = If (f) <then_branch = g () => (NARROW[1, 4, 6, 6] o) { o = Add(a, a) }, "
          "else_branch = h () => (NARROW[1, 4, 6, 6] o) { o = Neg(a) }>", "z = Add(l, a)", rounds=True),
    *case("greatest", dict(x=numbers(3, 16)), dict(w=numbers(16, 12)), dict(z=(3, 4)), "a = MatMul(x, w)",
          "k = Constant <value_ints = [4]> ()", "z, i = TopK(a, k)"),
]
