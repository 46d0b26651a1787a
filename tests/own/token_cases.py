"""com.microsoft's operators that scikit-learn's converter writes: Tokenizer by expressions, separators and characters,
MurmurHash3 of every type, CDist."""

import numpy as np
from onnx import TensorProto, helper

TEXT = TensorProto.STRING
LINES = ["the  quick, brown fox", "", "a b", "äöü ß-x", ",,;;", "x\ty 42_7"]


BOUND = "--dim", "y:bytes=0..200"


def model(op, x, kind, outputs, **attributes):
    info = helper.make_tensor_value_info("x", *x), helper.make_tensor_value_info("y", kind, outputs)
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="com.microsoft", **attributes)], "g", [info[0]], [info[1]])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def tokens(name, lines=None, shape=("n",), flags=BOUND, **attributes):
    settings = dict(mark=0, mincharnum=1, pad_value="#")
    feeds = [dict(x=np.array(rows, dtype=object)) for rows in lines or (LINES, LINES[:3], LINES[:1])]
    made = model("Tokenizer", (TEXT, shape), TEXT, [*shape, "t"], **{**settings, **attributes})
    return dict(name="tokenizer_" + name, group="com.microsoft.Tokenizer", model=made, inputs=feeds, flags=flags)


def hashed(dtype, positive, seed=0):
    values = np.array([0, 1, 7, 123, 100], helper.tensor_dtype_to_np_dtype(dtype)) if dtype != TEXT else \
        np.array(["", "a", "bc", "def", "1234", "fives", "äö", "a longer one"], dtype=object)
    name = f"murmur_{TensorProto.DataType.Name(dtype).lower()}_{positive}_{seed}"
    made = model("MurmurHash3", (dtype, values.shape), TensorProto.UINT32 if positive else TensorProto.INT32, values.shape, positive=positive, seed=seed)
    return dict(name=name, group="com.microsoft.MurmurHash3", model=made, inputs=[dict(x=values)])


def distances(name, metric, dtype, rows=7):
    info = [helper.make_tensor_value_info(n, dtype, [e, 3]) for n, e in (("a", "n"), ("b", rows))]
    graph = helper.make_graph([helper.make_node("CDist", ["a", "b"], ["y"], domain="com.microsoft", metric=metric)], "g", info,
                              [helper.make_tensor_value_info("y", dtype, ["n", rows])])
    made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    draw = np.random.default_rng(4).normal(size=(rows + 5, 3)).astype(helper.tensor_dtype_to_np_dtype(dtype))
    return dict(name="cdist_" + name, group="com.microsoft.CDist", model=made, inputs=[dict(a=draw[:n], b=draw[5:]) for n in (5, 1, 2)])


NUMBERS = TensorProto.INT32, TensorProto.UINT32, TensorProto.INT64, TensorProto.UINT64, TensorProto.FLOAT, TensorProto.DOUBLE
CASES = [
    tokens("words", tokenexp="[a-zA-Z0-9_]+"),
    tokens("long_words", tokenexp="[a-z]+", mincharnum=3),
    tokens("longest_of_several", tokenexp="a|ab|abc|q[a-z]*|fo"),
    tokens("often_nothing", tokenexp="[0-9]*"),
    tokens("letters_beyond_ascii", tokenexp="[ä-ü]+|ß"),
    tokens("marks", tokenexp="[a-z]+", mark=1, pad_value=""),
    tokens("of_nothing", lines=[["", ",", ""]], tokenexp="[a-z]+", mark=1),
    tokens("matrix", lines=[[LINES[:3], LINES[3:]]], shape=(2, 3), tokenexp="[a-z]+"),
    tokens("characters", tokenexp="."),
    tokens("characters_by_separator", separators=[""]),
    tokens("characters_with_marks", tokenexp=".", mark=1, pad_value="pad"),
    tokens("separator", separators=[" +"]),
    tokens("separator_and_length", separators=["[ ,;]"], mincharnum=2),
    tokens("separators", separators=[" ", ",", ";", "\\t"]),
    tokens("weights_in_a_file", tokenexp="[a-z]+", flags=("--weights=file", *BOUND)),
    tokens("weights_in_an_object", tokenexp="[a-z]+", flags=("--weights=object", *BOUND)),
    tokens("separators_escaped", lines=[["a.b c|d", "..", "x.y|z"]], separators=["\\.", "\\|"]),
] + [hashed(dtype, positive) for dtype in (TEXT, *NUMBERS) for positive in (0, 1)] + [hashed(TEXT, 0, 42)] + [
    distances(f"{metric}_{'double' if dtype == TensorProto.DOUBLE else 'float'}", metric, dtype)
    for metric in ("euclidean", "sqeuclidean") for dtype in (TensorProto.FLOAT, TensorProto.DOUBLE)]
