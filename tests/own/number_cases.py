"""Casts between text and numbers, each type both ways; extents at run time; what is printed is joined and read again."""

import numpy as np
from onnx import TensorProto, helper
from onnx.helper import tensor_dtype_to_np_dtype

from text_cases import HEAD20, text

FLOATS = [0.0, -0.0, 1.0, 1.5, -3.14159265, 1e-5, 1e-4, 0.0001234567891, 123456789, 12345678, 99999999.6, 65504, 0.1, 1 / 3, 6e-8, 3e38, 1e-40,
          1e300, 5e-324, np.inf, -np.inf, np.nan]
TEXTS = ["1", "  2", "\t\n3", "4 ", "+5", "-6", "7e1", "8.75", "9.5abc", "-0", "010", "127", "-128"]
FLOAT_TEXTS = TEXTS + ["inf", "-INF", "NaN", "0x10", "-0x1p3", ".5", "5.", "1e", "1e39", "1e-46", "1.17549435e-38", "3.4028236e38", "1e5",
                       "0.333333333333333333333333333333", "16777217", "16777217.0000000000000000000000001"]
WHOLE = "INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 BOOL".split()
NARROW = "BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ".split()


def code(name):
    return getattr(TensorProto, name)


def model_of(nodes, source, targets):
    """One input x of a run-time extent; an output for each target type."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", code(source), ["n"])],
                              [helper.make_tensor_value_info("y_" + t, code("FLOAT" if t in NARROW else t), ["n"]) for t in targets])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])


def printed(source):
    kind = tensor_dtype_to_np_dtype(code(source))
    if source in WHOLE:
        low, high = (0, 1) if source == "BOOL" else (np.iinfo(kind).min, np.iinfo(kind).max)
        x = np.array([0, 1, low, high] + ([7, 10, 99, 100] if high > 1 else []), dtype=kind)
    else:
        with np.errstate(all="ignore"):
            x = np.array(FLOATS).astype(kind)
    model = model_of([helper.make_node("Cast", ["x"], ["y_STRING"], to=TensorProto.STRING)], source, ["STRING"])
    return dict(name=f"text_of_{source.lower()}", group="Cast", model=model, inputs=[dict(x=x), dict(x=x[1:2])])


def read(targets, values, name):
    nodes = []
    for t in targets:
        nodes.append(helper.make_node("Cast", ["x"], [("z_" if t in NARROW else "y_") + t], to=code(t)))
        if t in NARROW:
            nodes.append(helper.make_node("Cast", ["z_" + t], ["y_" + t], to=TensorProto.FLOAT))
    return dict(name=f"text_to_{name}", group="Cast", model=model_of(nodes, "STRING", targets), inputs=[dict(x=text(*values)), dict(x=text(*values[:2]))])


def bounds_through(name, maker, repeated=""):
    """A Slice and an Expand by integers of the run that came through an operator which a pass takes away again."""
    model = HEAD20 + f"""
        main (float[1, 6] x, int64[1] first, int64[1] end, int64[2] shape) => (float[1, n] y, float[p, q] z)
             <int64[1] one = {{1}}, int64[1] two = {{2}}> {{
          b = {maker.format("end", "one")}
          s = {maker.format("shape", "two")}
          {repeated}
          y = Slice(x, first, {"b2" if repeated else "b"}, one)
          z = Expand(y, {"s2" if repeated else "s"})
        }}"""
    whole = lambda *v: np.array(v, np.int64)
    sets = [dict(x=np.arange(6, dtype=np.float32).reshape(1, 6) - 2, first=whole(a), end=whole(b), shape=whole(p, 1)) for a, b, p in
            ((0, 2, 1), (1, -1, 3), (5, 2 ** 62, 2), (-2 ** 63, 4, 1))]
    return dict(name=f"bounds_through_{name}", group="Slice", model=model, inputs=sets, flags=["--dim=z:0=1..4", "--dim=z:1=0..6"])


def compared(source, constants, values):
    """Integers beside constants: small ones are compared as floats, in vectors; above 2^24 floats do not tell neighbours apart."""
    kind = tensor_dtype_to_np_dtype(code(source))
    weight = helper.make_tensor("c", code(source), [len(constants), 1], constants)
    nodes = [helper.make_node(op, pair, [op + pair[0]]) for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
             for pair in (["x", "c"], ["c", "x"])]
    nodes += [helper.make_node("Cast", [n.output[0]], ["y_" + n.output[0]], to=TensorProto.FLOAT) for n in nodes]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", code(source), ["n"])],
                              [helper.make_tensor_value_info(n.output[0], TensorProto.FLOAT, [len(constants), "n"]) for n in nodes[10:]], [weight])
    x = np.array(values * 5, kind)
    return dict(name=f"compared_{source.lower()}_{len(constants)}", group="Equal", model=helper.make_model(
        graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)]), inputs=[dict(x=x), dict(x=x[:7])], oracle="reference")


MANY = 2 ** 24
CASES = [compared("INT32", [0, -3, MANY - 1, 1 - MANY], [0, 1, -3, -4, MANY - 2, MANY - 1, MANY, MANY + 1, -MANY, -MANY - 1, 2 ** 31 - 1, -2 ** 31]),
           compared("INT32", [MANY, -MANY, MANY + 1], [0, MANY - 1, MANY, MANY + 1, MANY + 2, -MANY - 1, -MANY, 2 ** 31 - 1]),
           compared("UINT8", [0, 127, 128, 255], [0, 1, 126, 127, 128, 129, 254, 255]),
           compared("INT8", [0, 127, -128, -1], [0, 1, -1, 126, 127, -128, -127])]
CASES += [bounds_through("identity", "Identity({0})"), bounds_through("cast", "Cast <to = 7> ({0})"), bounds_through("reshape", "Reshape({0}, {1})"),
           bounds_through("a_repeated_operator", "Abs({0})", "b2 = Abs(end) s2 = Abs(shape) unused = Add(b, b2) unused2 = Add(s, s2)")]
CASES += [printed(source) for source in WHOLE + ["FLOAT", "DOUBLE", "FLOAT16"]]
CASES += [read(WHOLE, TEXTS, "whole"), read(["FLOAT", "DOUBLE", "FLOAT16"], FLOAT_TEXTS, "floats"), read(NARROW, TEXTS, "narrow")]
CASES += [
    dict(name="rms_norm_of_doubles", group="RMSNormalization", flags=("--dim=n=1..3",), model='<ir_version: 10, opset_import: ["" : 23]>' + """
        main (double[n, 4, 5] x, double[4, 5] s) => (double[n, 4, 5] y) { y = RMSNormalization <axis = 1, epsilon = 0.001> (x, s) }""",
         inputs=[dict(x=np.random.default_rng(n).normal(size=(n, 4, 5)), s=np.random.default_rng(9).normal(size=(4, 5))) for n in (1, 2, 3)]),
    dict(name="text_like_numbers", group="CastLike", model=HEAD20 + """
        main (float[3] x, string[2] s, string[3] t, int32[1] i) => (string[3] y, int32[3] z, string[3] both, float[3] again) {
          y = CastLike(x, s)
          z = CastLike(t, i)
          both = StringConcat(y, t)
          again = Cast <to = 1> (both)
        }""", flags=["--dim", "t:bytes=32"],
         inputs=[dict(x=np.array(x, np.float32), s=text("", ""), t=text("12", "0", "7"), i=np.array([1], np.int32)) for x in ([1.5, -2, 3e9], [0, 0.25, 1e-9])]),
]
