"""Maps: scores by class (ZipMap), dictionaries that become rows (DictVectorizer, CastMap).

ONNX Runtime's Python module takes dictionaries of floats only; for others what the operator's text says is written out here.
"""

import numpy as np
from onnx import TensorProto, helper

ML = "ai.onnx.ml"
FLOAT, DOUBLE, INT, TEXT = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING
SCORES = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)


def tensor_type(dtype, shape=None):
    return helper.make_tensor_type_proto(dtype, shape)


def map_type(key, value):
    return helper.make_map_type_proto(key, tensor_type(value))


def mapped(name, nodes, inputs, outputs, feeds, flags=()):
    """`nodes`: (operator, input, output, attributes); `inputs`, `outputs`: name -> type."""
    made = [helper.make_node(op, [x], [y], domain=ML if op in ("ZipMap", "CastMap", "DictVectorizer") else "", **more) for op, x, y, more in nodes]
    info = [[helper.make_value_info(n, kind) for n, kind in side.items()] for side in (inputs, outputs)]
    model = helper.make_model(helper.make_graph(made, name, *info), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)])
    return dict(name=name, group=nodes[0][0], model=model, inputs=feeds, flags=flags)


def zipped(name, x, shape, **labels):
    key = TEXT if "classlabels_strings" in labels else INT
    feeds = [dict(x=rows) for rows in x]
    return mapped(name, [("ZipMap", "x", "maps", labels)], {"x": tensor_type(FLOAT, shape)},
                  {"maps": helper.make_sequence_type_proto(map_type(key, FLOAT))}, feeds)


NUMPY = {FLOAT: np.float32, DOUBLE: np.float64, INT: np.int64, TEXT: object}


def typed(feeds, value):
    """Dictionaries with values of just that type."""
    return [dict(x={k: np.array(v, NUMPY[value]) if value in (DOUBLE, INT) else v for k, v in feed.items()}) for feed in feeds]


def rows_of(case, value, keys):
    """The wanted rows: a key's value, 0 or empty text where the dictionary has none."""
    if value != FLOAT:
        empty = "" if value == TEXT else 0
        case["wanted"] = lambda inputs: [np.array([[inputs["x"].get(k, empty) for k in keys or sorted(inputs["x"])]], NUMPY[value])]
    return case


def vectorised(name, key, value, feeds, **vocabulary):
    keys = next(iter(vocabulary.values()))
    return rows_of(mapped(name, [("DictVectorizer", "x", "row", vocabulary)], {"x": map_type(key, value)},
                          {"row": tensor_type(value, [1, len(keys)])}, typed(feeds, value)), value, keys)


def cast(name, value, to, feeds, flags=(), **more):
    result = {"TO_FLOAT": FLOAT, "TO_INT64": INT, "TO_STRING": TEXT}[to]
    return rows_of(mapped(name, [("CastMap", "x", "row", dict(cast_to=to, **more))], {"x": map_type(INT, value)},
                          {"row": tensor_type(result, [1, None])}, typed(feeds, value), flags), value, range(more.get("max_map", 0)))


WORDS = ["pear", "apple", "fig \"x\"\n", "ö"]
COUNTED = [{"apple": 2, "ö": 7}, {"pear": 1, "apple": 2, "fig \"x\"\n": 3, "ö": 4}, {"plum": 9}]
NUMBERED = [{4: 1.5, -7: 2.5}, {100: 9.0, 1: 0.25}]
SPARSE = {"map_form": "SPARSE", "max_map": 4}

CASES = [
    zipped("zip_map_numbers", [SCORES], [5, 3], classlabels_int64s=[7, -2, 2 ** 40]),
    zipped("zip_map_text", [SCORES, SCORES[:2], SCORES[:1]], ["n", 3], classlabels_strings=["b", "a b", "ö"]),
    zipped("zip_map_of_vector", [SCORES[0]], [3], classlabels_int64s=[3, 1, 2]),
    zipped("zip_map_of_one_class", [SCORES[:, :1]], [5, 1], classlabels_strings=["only"]),
    mapped("zip_map_behind_softmax", [("Softmax", "x", "p", {}), ("ZipMap", "p", "maps", dict(classlabels_int64s=[0, 1, 2]))],
           {"x": tensor_type(FLOAT, ["n", 3])},
           {"p": tensor_type(FLOAT, ["n", 3]), "maps": helper.make_sequence_type_proto(map_type(INT, FLOAT))}, [dict(x=SCORES), dict(x=SCORES[:2])]),
    vectorised("dictionary_text_float", TEXT, FLOAT, [{k: v / 4 for k, v in d.items()} for d in COUNTED], string_vocabulary=WORDS),
    vectorised("dictionary_text_int64", TEXT, INT, COUNTED, string_vocabulary=WORDS),
    vectorised("dictionary_text_double", TEXT, DOUBLE, [{k: v / 4 for k, v in d.items()} for d in COUNTED], string_vocabulary=WORDS),
    vectorised("dictionary_int64_float", INT, FLOAT, NUMBERED, int64_vocabulary=[-7, 4, 1]),
    vectorised("dictionary_int64_double", INT, DOUBLE, NUMBERED, int64_vocabulary=[-7, 4, 1]),
    vectorised("dictionary_int64_text", INT, TEXT, [{4: "four", 1: "one"}, {9: "nine"}], int64_vocabulary=[-7, 4, 1]),
    vectorised("dictionary_repeated_key", TEXT, FLOAT, [{"a": 1.0, "b": 2.0}], string_vocabulary=["a", "b", "a"]),
    mapped("dictionary_read_twice", [("DictVectorizer", "x", "p", dict(string_vocabulary=["c", "a"])),
                                     ("DictVectorizer", "x", "q", dict(string_vocabulary=["a", "b"]))],
           {"x": map_type(TEXT, FLOAT)}, {"p": tensor_type(FLOAT, [1, 2]), "q": tensor_type(FLOAT, [1, 2])},
           [dict(x={"a": 1.0, "b": 2.0, "c": 3.0}), dict(x={"b": 2.0})]),
    cast("cast_map_dense", FLOAT, "TO_FLOAT", [{9: 1.5, -3: 2.0, 4: -1.0}, {5: 7.0}], ["--dim", "x:0=1..3"]),
    cast("cast_map_dense_int64", FLOAT, "TO_INT64", [{9: 1.75, -3: -2.5}], ["--dim", "x:0=2"]),
    cast("cast_map_dense_text", TEXT, "TO_STRING", [{9: "nine", 3: "three"}], ["--dim", "x:0=2"]),
    cast("cast_map_sparse", FLOAT, "TO_FLOAT", [{0: 1.5, 2: 2.5}, {3: 1.0}, {1: 4.0, 7: 5.0}], **SPARSE),
    cast("cast_map_sparse_int64", FLOAT, "TO_INT64", [{0: 1.5, 2: 2.5}], **SPARSE),
    cast("cast_map_sparse_text", TEXT, "TO_STRING", [{0: "null", 2: "two"}], **SPARSE),
]
