"""Forms of control flow, sequences, optionals, text and ai.onnx.ml."""

import os
import sys

import numpy as np
from onnx import TensorProto, helper

from form import NAMES, add, c, g, many, pos, v

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "own"))
import learning_cases as ml  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, **more):
    return helper.make_node(op, inputs.split(), outputs.split(), **more)


def branch(op):
    return helper.make_graph([node("Constant", "", "k", value=helper.make_tensor("k", F, [2], [1.5, -2.0])), node(op, "k", "r")], op, [], [info("r",
    F, [2])])


def turn(accumulates):
    """A Loop's body: s doubles; the condition holds until the last turn; each s is kept where it accumulates."""
    nodes = [node("Add", "s s", "n"), node("Identity", "go", "again")] + ([node("Identity", "n", "each")] if accumulates else [])
    outs = [info("again", B, []), info("n", F, [2])] + ([info("each", F, [2])] if accumulates else [])
    return helper.make_graph(nodes, "turn", [info("i", I, []), info("go", B, []), info("s", F, [2])], outs)


def sums(row=2):
    return helper.make_graph([node("Add", "s e", "n"), node("Identity", "n", "o")], "sums", [info("s", F, [row]), info("e", F, [row])],
                             [info("n", F, [row]), info("o", F, [row])])


def turning(types):
    """A Loop's body that hands its value on, of any type."""
    kind = NAMES[types["V"][7:-1]]
    return helper.make_graph([node("Identity", "s", "n"), node("Identity", "n", "each"), node("Identity", "go", "again")], "turn",
                             [info("i", I, []), info("go", B, []), info("s", kind, [2])], [info("again", B, []), info("n", kind, [2]), info("each",
                             kind, [2])])


def passing(types):
    kind = NAMES[types["V"][7:-1]]
    return helper.make_graph([node("Identity", "e", "n"), node("Identity", "s", "o")], "passing", [info("s", kind, [2]), info("e", kind, [2])],
                             [info("n", kind, [2]), info("o", kind, [2])])


add("If", *[v(g(np.array(yes), bool), then_branch=branch("Neg"), else_branch=branch("Abs")) for yes in (True, False)])
add("Loop", v(c(np.array(3)), c(np.array(True), bool), (2,), out=2, body=turning, types=dict(V="float")),
    v(c(np.array(3)), c(np.array(True), bool), (2,), out=2, body=turn(True)), v(c(np.array(3)), None, (2,), body=turn(False), since=7),
    v(None, g(np.array(False), bool), (2,), body=turn(False)))
add("Scan", v((2,), (4, 2), body=passing, num_scan_inputs=1, out=2, since=9, types=dict(V="float")),
    v((2,), (4, 2), body=sums(), num_scan_inputs=1, out=2, since=9),
    v((2,), (4, 2), body=sums(), num_scan_inputs=1, out=2, scan_input_directions=[1], scan_output_directions=[1]),
    v((2,), (2, 4), body=sums(), num_scan_inputs=1, out=2, scan_input_axes=[1], scan_output_axes=[1]),
    v(None, (3, 2), (3, 4, 2), body=sums(), num_scan_inputs=1, out=2, until=8),
    v(None, (3, 2), (3, 4, 2), body=sums(), num_scan_inputs=1, out=2, directions=[1]))
S = dict(S="seq(tensor(float))")
add("SequenceMap", v(many(3, 2, 2), types=S, body=helper.make_graph([node("Exp", "e", "r")], "b", [info("e", F, [2, 2])], [info("r", F, [2, 2])])))
add("SequenceConstruct", v((2, 3), (2, 3)))
add("SequenceEmpty", v(), v(dtype=I))
add("SequenceAt", v(many(3, 2, 2), c(np.array(1)), types=S), v(many(3, 2, 2), c(np.array(-1)), types=S))
add("SequenceLength", v(many(3, 2, 2), types=S))
add("SequenceErase", v(many(3, 2, 2), types=S), v(many(3, 2, 2), c(np.array(0)), types=S))
add("SequenceInsert", v(many(3, 2, 2), (2, 2), types=S), v(many(3, 2, 2), (2, 2), c(np.array(1)), types=S))
add("ConcatFromSequence", v(many(3, 2, 2), axis=0, types=S), v(many(3, 2, 2), axis=1, new_axis=1, types=S),
    v(many(3, 2, 2), axis=-1, new_axis=0, types=S))
add("SplitToSequence", v((4, 3)), v((4, 3), c([1, 3]), axis=0), v((4, 3), axis=1, keepdims=0), v((4, 3), c(np.array(3)), keepdims=1),
    v((4, 3), c(np.array(2)), axis=-1))
add("Optional", v((2, 3)), v(type=helper.make_tensor_type_proto(F, [2])))
add("OptionalHasElement", v((2, 3), since=18, types=dict(O="tensor(float)")), v((2, 3), types=dict(O="optional(tensor(float))")))
add("OptionalGetElement", v((2, 3), since=18, types=dict(O="tensor(float)")), v((2, 3), types=dict(O="optional(tensor(float))")))

WORDS = np.array(["monday", "Tuesday", "wed", "monday"], dtype=object)
add("StringConcat", v((2, 3), (3,)))
add("StringSplit", v(c(np.array(["a,b", "c", ""], dtype=object)), delimiter=",", out=2,
    text="an empty string has one part (as the reference splits it)"), v(c(np.array(["a b  c d", "e"], dtype=object)), maxsplit=1, out=2))
add("StringNormalizer", v(c(WORDS)), v(c(WORDS), case_change_action="UPPER", stopwords=["wed"], is_case_sensitive=0, locale="C"),
    v(c(WORDS), case_change_action="LOWER", stopwords=["monday"], is_case_sensitive=1))
add("RegexFullMatch", v(c(WORDS), pattern="[a-z]+day"))
GRAMS = dict(min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4])
add("TfIdfVectorizer", *[v(g([[1, 2, 3, 2], [3, 1, 1, 2]]), mode=m, pool_int64s=[1, 2, 3, 1, 2, 3, 1], **GRAMS) for m in ("TF", "IDF", "TFIDF")],
    v(g([[1, 2, 3, 2]]), mode="TFIDF", weights=[1.0, 2.0, 0.5, 0.25, 3.0], pool_int64s=[1, 2, 3, 1, 2, 3, 1], **GRAMS),
    v(c(WORDS), mode="TF", pool_strings=["monday", "wed", "x", "monday", "Tuesday", "x", "y"], types=dict(T="string"), **GRAMS))


def learn(op, *forms):
    add(op, *forms, domain="ai.onnx.ml")


X = (5, 4)
learn("ArrayFeatureExtractor", v(X, c([[0, 3]])))
learn("Binarizer", v(X), v(X, threshold=0.5))
learn("FeatureVectorizer", v((2, 3), (2, 2), inputdimensions=[3, 2]))
learn("Imputer", v(X, imputed_value_floats=[9.0], replaced_value_float=1.0),
    v(g([[1, 2, 1, 3]]), imputed_value_int64s=[5, 6, 7, 8], replaced_value_int64=1, types=dict(T="int64")))
learn("Normalizer", *[v(pos(5, 4), norm=n) for n in ("MAX", "L1", "L2")], v(X))
learn("Scaler", v(X, offset=[0.5, 1.0, -1.0, 0.25], scale=[2.0, 0.5, 1.0, 3.0]), v(X, offset=[0.5], scale=[2.0]))
learn("OneHotEncoder", v(g([1, 3, 7]), cats_int64s=[1, 2, 3], types=dict(T="int64")),
    v(g([1, 3]), cats_int64s=[1, 2, 3], zeros=0, types=dict(T="int64")),
      v(c(WORDS), cats_strings=["monday", "wed"], types=dict(T="string")))
learn("CategoryMapper", v(c(WORDS), cats_int64s=[1, 2], cats_strings=["monday", "wed"], default_int64=-7, types=dict(T1="string")),
      v(g([1, 2, 5]), cats_int64s=[1, 2], cats_strings=["monday", "wed"], default_string="?", types=dict(T1="int64")))
learn("LabelEncoder", v(c(WORDS), classes_strings=["monday", "wed"], default_int64=-7, types=dict(T1="string")),
      v(g([0, 1, 5]), classes_strings=["monday", "wed"], default_string="?", types=dict(T1="int64")),
      v(c(WORDS), keys_strings=["monday", "wed"], values_int64s=[4, 5], default_int64=-7, types=dict(T1="string")),
      v(g([1, 2, 5]), keys_int64s=[1, 2], values_strings=["a", "b"], default_string="?", types=dict(T1="int64")),
      v(g([1, 2, 5]), keys_int64s=[1, 2], values_floats=[0.5, 1.5], default_float=9.0, types=dict(T1="int64")),
      v(g([1.0, 2.0, 5.0]), keys_floats=[1.0, 2.0], values_int64s=[7, 8], types=dict(T1="float")),
      v(g([1.0, 2.0, 5.0]), keys_floats=[1.0, 2.0], values_floats=[7.5, 8.0], default_float=-1.0, types=dict(T1="float")),
      v(g([1, 2, 5]), keys_tensor=helper.make_tensor("k", I, [2], [1, 2]), values_tensor=helper.make_tensor("v", F, [2], [0.5, 1.5]),
        default_tensor=helper.make_tensor("d", F, [1], [9.0]), types=dict(T1="int64")))
W12, W4 = ml.COEFFICIENTS, ml.COEFFICIENTS[:4]
learn("LinearRegressor", v(X, coefficients=W4), v(X, coefficients=W12, intercepts=[0.5, -0.5, 1.0], targets=3),
      *[v(X, coefficients=W12, targets=3, post_transform=p) for p in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")])
learn("LinearClassifier", v(X, coefficients=W12, intercepts=[0.5, -0.5, 1.0], classlabels_ints=[3, 4, 5], out=2),
      *[v(X, coefficients=W12, intercepts=[0.5, -0.5, 1.0], classlabels_strings=["a", "b", "c"], multi_class=m, post_transform=p, out=2)
        for m, p in ((0, "NONE"), (1, "LOGISTIC"), (0, "SOFTMAX"), (0, "SOFTMAX_ZERO"))])
SVM = dict(coefficients=[0.5, -0.25, 1.0], support_vectors=W12, rho=[0.25], n_supports=3)
learn("SVMRegressor", *[v(X, kernel_type=k, kernel_params=[0.25, 0.5, 2.0], **SVM) for k in ("LINEAR", "POLY", "RBF", "SIGMOID")],
      v(X, kernel_type="RBF", kernel_params=[0.25, 0.5, 2.0], one_class=1, **SVM), v(X, coefficients=W4, rho=[0.5], post_transform="NONE"),
      v(X, kernel_type="RBF", kernel_params=[0.25, 0.5, 2.0], post_transform="LOGISTIC", **SVM))


def support(classes, probable=False, **more):
    keep = ml.svm("x", classes, classes, probable, **more)["model"].graph.node[0]
    return {a.name: helper.get_attribute_value(a) for a in keep.attribute}


learn("SVMClassifier", v(X, out=2, **support(3)), v(X, out=2, **support(2)), v(X, out=2, **support(3, True)),
    v(X, out=2, **support(3, post_transform="SOFTMAX")),
      v(X, out=2, **support(3, classlabels_strings=["a", "b", "c"])), v(X, out=2, **support(3, kernel_type="POLY")))


def grown(prefix, weights, **more):
    return ml.trees(prefix, weights, **more)


def as_tensors(names, settings, kind=TensorProto.DOUBLE):
    out = dict(settings)
    for name in names:
        values = out.pop(name, [0.5] * 15 if "hitrates" in name else [0.25, -0.25, 0.5])
        out[name + "_as_tensor"] = helper.make_tensor(name, kind, [len(values)], values)
    return out


one = [[(0, w)] for w, in ml.ONE]
for op, prefix, base in (("TreeEnsembleRegressor", "target", dict(n_targets=3)), ("TreeEnsembleClassifier", "class", dict(classlabels_int64s=[3, 4,
    5]))):
    outs = 2 if prefix == "class" else 1
    learn(op, v(X, out=outs, **grown(prefix, ml.THREE, **base)), v(X, out=outs, **grown(prefix, ml.THREE, **base, base_values=[0.5, -0.5, 1.0]),
            text="" if prefix == "class" else "base_values are added to a target that no leaf names, too ('added to final class score')"),
          *[v(X, out=outs, **grown(prefix, ml.THREE, **base, post_transform=p)) for p in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")],
          v(X, out=outs, **grown(prefix, ml.THREE, **base, nodes_hitrates=[1.0] * 15)),
          v(X, out=outs, types={"T": "double", "T1": "double"}, 
            text="" if prefix == "class" else "base_values, as above", **as_tensors(["nodes_values", f"{prefix}_weights", "base_values",
            "nodes_hitrates"], grown(prefix, ml.THREE, **base))))
learn("TreeEnsembleRegressor", *[v(X, **grown("target", ml.THREE, n_targets=3, aggregate_function=f)) for f in ("SUM", "AVERAGE", "MIN", "MAX")])
learn("TreeEnsembleClassifier",
    v(X, out=2, text="of two scores the greater one decides ('the top class')", **grown("class", ml.TWO, classlabels_strings=["a", "b"])),
    v(X, out=2, **grown("class", one, classlabels_int64s=[0, 1])))


def tensor(kind, values):
    return helper.make_tensor("t", kind, [len(values)], values)


FOREST = dict(n_targets=2, tree_roots=[0, 2], nodes_featureids=[0, 2, 1], nodes_modes=tensor(TensorProto.UINT8, [0, 1, 6]), nodes_splits=tensor(F,
    [0.5, -0.25, 9.0]),
              nodes_truenodeids=[1, 0, 2], nodes_falsenodeids=[2, 1, 3], nodes_trueleafs=[0, 1, 1], nodes_falseleafs=[1, 1, 1],
              leaf_targetids=[0, 1, 0, 1], leaf_weights=tensor(F, [0.5, 1.5, -1.0, 2.0]), membership_values=tensor(F, [1.0, 2.0, float("nan")]))
SWAPPED = "'SOFTMAX' (1), 'LOGISTIC' (2): ONNX Runtime takes them the other way round, the reference evaluator leaves them out"
learn("TreeEnsemble", *[v(g([[1, 2, 1, 0], [0, 5, -1, 2]]), aggregate_function=a, post_transform=p, **FOREST,
                          unsaid=SWAPPED if p in (1, 2) else "") for a, p in ((0,
                          0), (1, 0), (2, 0), (3, 0), (1, 1), (1, 2), (1, 3))],
      v(g([[1, 2, 1, 0], [0, 5, np.nan, 2]]), nodes_hitrates=tensor(F, [1.0, 0.5, 0.5]), nodes_missing_value_tracks_true=[0, 1, 0], **FOREST))
