"""ai.onnx.ml: tables, scalings, linear models, trees."""

import numpy as np
from onnx import TensorProto, helper

from text_cases import text

ML = "ai.onnx.ml"
FEATURES = 4


def rows(count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, FEATURES)).astype(np.float32)


def single(name, op, inputs, outputs, feeds, ml_opset=3, oracle="runtime", **attributes):
    """A model of one node; `inputs`, `outputs`: name -> (element type, shape)."""
    node = helper.make_node(op, list(inputs), list(outputs), domain=ML, **attributes)
    info = [[helper.make_tensor_value_info(n, *what) for n, what in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph([node], name, *info)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, ml_opset)])
    return dict(name=name, group=op, model=model, inputs=feeds, oracle=oracle)


def first_label_encoder(name, source, feed):
    """LabelEncoder of version 1, which maps text to places or back as its input's type says; behind Identity that is known to inference only."""
    other = TensorProto.INT64 if source == TensorProto.STRING else TensorProto.STRING
    nodes = [helper.make_node("Identity", ["x"], ["same"]),
             helper.make_node("LabelEncoder", ["same"], ["y"], domain=ML, classes_strings=["b", "a"], default_int64=-7, default_string="?")]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", source, [4])], [helper.make_tensor_value_info("y", other, [4])])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)])
    return dict(name=name, group="LabelEncoder", model=model, inputs=[dict(x=feed)], oracle="runtime")


def logistic(given):
    """The transform of one score, of COEFFICIENTS and 0.5."""
    score = given["x"].astype(np.float64) @ np.array(COEFFICIENTS[:FEATURES]) + 0.5
    return [(1 / (1 + np.exp(-score))).astype(np.float32).reshape(-1, 1)]


X = {"x": (TensorProto.FLOAT, [5, FEATURES])}
FEED = [dict(x=rows(5))]
COEFFICIENTS = [float(v) for v in np.random.default_rng(2).normal(size=3 * FEATURES)]


def classifier(name, op, classes, feeds=None, **attributes):
    label = TensorProto.STRING if "classlabels_strings" in attributes else TensorProto.INT64
    return single(name, op, X, {"label": (label, [5]), "scores": (TensorProto.FLOAT, [5, classes])}, feeds or FEED, **attributes)


def svm(name, classes, columns, probable=False, **more):
    """Two support vectors of each class."""
    draw, pairs = np.random.default_rng(5), classes * (classes - 1) // 2
    values = lambda n: [float(v) for v in draw.normal(size=n)]
    settings = dict(vectors_per_class=[2] * classes, support_vectors=values(2 * classes * FEATURES), kernel_type="RBF",
                    coefficients=values((classes - 1) * 2 * classes), rho=values(pairs), kernel_params=[0.3, 0.7, 3.0])
    if "classlabels_strings" not in more:
        settings["classlabels_ints"] = list(range(10, 10 + classes))
    if probable:
        settings.update(prob_a=[-abs(v) for v in values(pairs)], prob_b=values(pairs))
    return classifier(name, "SVMClassifier", columns, **{**settings, **more})


def tree(weights, branches=1, trees=2):
    """Stumps: tree t asks feature t; `weights`: per leaf in order (true, false, ...) a list of (target, weight)."""
    out = dict(nodes_treeids=[], nodes_nodeids=[], nodes_featureids=[], nodes_values=[], nodes_modes=[], nodes_truenodeids=[],
               nodes_falsenodeids=[], nodes_missing_value_tracks_true=[])
    votes = dict(treeids=[], nodeids=[], ids=[], weights=[])
    modes = ["BRANCH_LEQ", "BRANCH_GT", "BRANCH_LT", "BRANCH_GTE"]
    for t in range(trees):
        for n, (mode, yes, no) in enumerate([(modes[t % 4], 1, 2), ("LEAF", 0, 0), (modes[(t + 1) % 4], 3, 4), ("LEAF", 0, 0), ("LEAF", 0, 0)]):
            out["nodes_treeids"].append(t)
            out["nodes_nodeids"].append(n)
            out["nodes_featureids"].append((t + n) % FEATURES)
            out["nodes_values"].append(0.25 * t - 0.2 * n)
            out["nodes_modes"].append(mode)
            out["nodes_truenodeids"].append(yes)
            out["nodes_falsenodeids"].append(no)
            out["nodes_missing_value_tracks_true"].append(int(n == 2))
            if mode == "LEAF":
                for target, weight in weights[(3 * t + n) % len(weights)]:
                    votes["treeids"].append(t)
                    votes["nodeids"].append(n)
                    votes["ids"].append(target)
                    votes["weights"].append(weight)
    return out, votes


def trees(prefix, weights, **more):
    nodes, votes = tree(weights, trees=3)
    return {**nodes, **{f"{prefix}_{k}": v for k, v in votes.items()}, **more}


THREE = [[(0, 0.5), (1, 0.3)], [(1, 1.0)], [(2, -0.7), (0, 0.2)], [(2, 0.9)]]
TWO = [[(0, 0.5), (1, 0.25)], [(1, 0.75)], [(0, 0.125)], [(0, 0.25), (1, 0.5)]]
ONE = [[0.4], [0.1], [0.3], [0.05]]
SIGNED = [[0.4], [-0.9], [0.3], [-0.2]]
REGRESS = [[(0, 0.5), (1, 1.5)], [(1, -2.0)], [(0, 3.0)], [(0, -1.25), (1, 0.5)]]
MISSING = [dict(x=np.where(np.abs(rows(5)) > 1.0, np.float32(np.nan), rows(5)))]



def votes_for(target, weights):
    return [[(target, w) for w in leaf] for leaf in weights]


CASES = [
    # leaves vote for the first class and the last one: the second has its base value alone, and wins where that is greatest
    single("tree_classifier_base_without_votes", "TreeEnsembleClassifier", {"x": (TensorProto.FLOAT, [2, 1])},
           {"label": (TensorProto.INT64, [2]), "scores": (TensorProto.FLOAT, [2, 3])}, [dict(x=np.float32([[-1], [1]]))],
           base_values=[0.1, 0.6, 0.2], class_ids=[0, 2], class_nodeids=[1, 2], class_treeids=[0, 0], class_weights=[0.2, 0.9],
           classlabels_int64s=[7, 3, 4], nodes_falsenodeids=[2, 0, 0], nodes_featureids=[0, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
           nodes_nodeids=[0, 1, 2], nodes_treeids=[0, 0, 0], nodes_truenodeids=[1, 0, 0], nodes_values=[0.0, 0.0, 0.0], post_transform="NONE"),
    single("label_text_to_float", "LabelEncoder", {"x": (TensorProto.STRING, [2, 2])}, {"y": (TensorProto.FLOAT, [2, 2])},
           [dict(x=text("a", "b", "zz", "").reshape(2, 2))], keys_strings=["b", "a", ""], values_floats=[1.5, 2.5, 3.5],
           default_float=-9.0),
    single("label_float_to_text", "LabelEncoder", {"x": (TensorProto.FLOAT, [4])}, {"y": (TensorProto.STRING, [4])},
           [dict(x=np.array([1.0, np.nan, 2.0, -0.0], dtype=np.float32))], keys_floats=[0.0, 1.0, float("nan")],
           values_strings=["zero", "one", "none"], default_string="?", ml_opset=4),
    # "If a key is repeated, the last key takes precedence": ONNX Runtime takes the first
    dict(single("label_of_repeated_keys", "LabelEncoder", {"x": (TensorProto.INT64, [5])}, {"y": (TensorProto.STRING, [5])},
                [dict(x=np.array([1, 2, 3, 4, 1]))], keys_int64s=[1, 2, 1, 3, 2], values_strings=["a", "b", "c", "d", "e"],
                default_string="?", ml_opset=4), wanted=lambda inputs: [text("c", "e", "d", "?", "c")]),
    first_label_encoder("label_of_version_1", TensorProto.STRING, text("a", "b", "zz", "")),
    first_label_encoder("text_of_version_1", TensorProto.INT64, np.array([1, 0, 2, -1], dtype=np.int64)),
    single("binarizer", "Binarizer", X, {"y": (TensorProto.FLOAT, [5, FEATURES])}, FEED, threshold=0.3),
    single("scaler_by_column", "Scaler", X, {"y": (TensorProto.FLOAT, [5, FEATURES])}, FEED, offset=[1.0, 2.0, -1.0, 0.5],
           scale=[2.0, 0.5, 1.0, -3.0]),
    single("scaler_of_integers", "Scaler", {"x": (TensorProto.INT64, [2, 3])}, {"y": (TensorProto.FLOAT, [2, 3])},
           [dict(x=np.arange(6, dtype=np.int64).reshape(2, 3))], offset=[1.0], scale=[0.25]),
    single("imputer", "Imputer", X, {"y": (TensorProto.FLOAT, [5, FEATURES])}, MISSING, imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
           replaced_value_float=float("nan")),
    *[single(f"normalizer_{n}", "Normalizer", X, {"y": (TensorProto.FLOAT, [5, FEATURES])}, FEED, norm=n.upper())
      for n in ("l1", "l2", "max")],
    single("one_hot_of_text", "OneHotEncoder", {"x": (TensorProto.STRING, [2, 2])}, {"y": (TensorProto.FLOAT, [2, 2, 3])},
           [dict(x=text("a", "c", "b", "q").reshape(2, 2))], cats_strings=["a", "b", "c"], zeros=1),
    single("one_hot_of_integers", "OneHotEncoder", {"x": (TensorProto.INT64, [3])}, {"y": (TensorProto.FLOAT, [3, 2])},
           [dict(x=np.array([7, 9, 7], dtype=np.int64))], cats_int64s=[7, 9], zeros=0),
    single("array_feature_extractor", "ArrayFeatureExtractor", {**X, "at": (TensorProto.INT64, [1, 3])},
           {"y": (TensorProto.FLOAT, [5, 3])}, [dict(x=rows(5), at=np.array([[3, 0, 3]], dtype=np.int64))]),
    single("linear_regressor", "LinearRegressor", X, {"y": (TensorProto.FLOAT, [5, 3])}, FEED, coefficients=COEFFICIENTS,
           intercepts=[0.5, -1.0, 2.0], targets=3),
    *[single(f"linear_regressor_{post.lower()}_{n}", "LinearRegressor", X, {"y": (TensorProto.FLOAT, [5, n])}, FEED, targets=n, post_transform=post,
             coefficients=COEFFICIENTS[:n * FEATURES], intercepts=[0.5, -1.0, 2.0][:n])
      for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT") for n in (1, 2, 3) if (post, n) != ("LOGISTIC", 1) and (post, n) != ("PROBIT", 3)],
    dict(single("linear_regressor_logistic_1", "LinearRegressor", X, {"y": (TensorProto.FLOAT, [5, 1])}, FEED, targets=1, post_transform="LOGISTIC",
                coefficients=COEFFICIENTS[:FEATURES], intercepts=[0.5]), wanted=logistic),     # ONNX Runtime: docs/differences.md
    *[single(f"svm_regressor_{k.lower()}", "SVMRegressor", X, {"y": (TensorProto.FLOAT, [5, 1])}, FEED, kernel_type=k, n_supports=3,
             support_vectors=COEFFICIENTS, coefficients=[0.5, -1.0, 2.0], rho=[0.25], kernel_params=[0.3, 0.7, 3.0])
      for k in ("LINEAR", "POLY", "RBF", "SIGMOID")],
    *[single(f"svm_regressor_{post.lower()}", "SVMRegressor", X, {"y": (TensorProto.FLOAT, [5, 1])}, FEED, kernel_type="RBF", n_supports=3,
             post_transform=post, coefficients=[0.5, -1.0, 0.75], rho=[0.25], kernel_params=[0.5, 0.5, 3.0], support_vectors=COEFFICIENTS)
      for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")],
    single("svm_regressor_one_class", "SVMRegressor", X, {"y": (TensorProto.FLOAT, [5, 1])}, FEED, kernel_type="LINEAR",
           coefficients=COEFFICIENTS[:4], rho=[0.1], kernel_params=[0.0, 0.0, 0.0], one_class=1),
    *[svm(f"svm_classifier_{k.lower()}", 3, 3, kernel_type=k) for k in ("LINEAR", "POLY", "RBF", "SIGMOID")],
    *[svm(f"svm_classifier_of_two_{p.lower()}", 2, 2, post_transform=p) for p in ("NONE", "LOGISTIC", "SOFTMAX")],
    svm("svm_classifier_of_four", 4, 6),
    svm("svm_classifier_of_text", 4, 4, probable=True, classlabels_strings=["a", "b", "c", "d"]),
    svm("svm_classifier_two_probable", 2, 2, probable=True),
    svm("svm_classifier_probable_softmax", 3, 3, probable=True, post_transform="SOFTMAX"),
    *[classifier(f"svm_classifier_without_vectors_{n}", "SVMClassifier", n, coefficients=COEFFICIENTS[:n * FEATURES], rho=[0.1],
                 classlabels_ints=list(range(n)), kernel_params=[0.0, 0.0, 0.0], kernel_type="LINEAR") for n in (2, 3)],
    *[classifier(f"linear_classifier_{p.lower()}", "LinearClassifier", 3, coefficients=COEFFICIENTS, intercepts=[0.1, -0.2, 0.3],
                 classlabels_ints=[4, 5, 6], post_transform=p) for p in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")],
    classifier("linear_classifier_of_text", "LinearClassifier", 2, coefficients=COEFFICIENTS[:8], intercepts=[0.1, -0.2],
               classlabels_strings=["no", "yes"], post_transform="SOFTMAX"),
    *[single(f"tree_regressor_{f.lower()}", "TreeEnsembleRegressor", X, {"y": (TensorProto.FLOAT, [5, 2])}, FEED + MISSING,
             **trees("target", REGRESS, n_targets=2, aggregate_function=f, base_values=[0.5, -0.5]))
      for f in ("SUM", "AVERAGE", "MIN", "MAX")],
    *[classifier(f"tree_classifier_of_three_{p.lower()}", "TreeEnsembleClassifier", 3,
                 **trees("class", THREE, classlabels_int64s=[3, 1, 2], post_transform=p)) for p in ("NONE", "SOFTMAX", "LOGISTIC")],
    # The top class is the one with the highest score; ONNX Runtime takes the second of two as soon as its score is positive.
    classifier("tree_classifier_of_two", "TreeEnsembleClassifier", 2, oracle="reference",
               **trees("class", TWO, classlabels_int64s=[7, 8])),
    # A class without votes in a row has the score 0, more than a vote below it.
    single("tree_classifier_of_two_below_zero", "TreeEnsembleClassifier", {"x": (TensorProto.FLOAT, [3, 1])},
           {"label": (TensorProto.INT64, [3]), "scores": (TensorProto.FLOAT, [3, 2])}, [dict(x=np.float32([[-1], [1], [3]]))], oracle="reference",
           class_ids=[0, 1, 0], class_nodeids=[1, 3, 4], class_treeids=[0, 0, 0], class_weights=[0.5, -0.25, -0.5],
           classlabels_int64s=[7, 3], nodes_falsenodeids=[2, 0, 4, 0, 0], nodes_featureids=[0] * 5,
           nodes_modes=["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"], nodes_nodeids=[0, 1, 2, 3, 4], nodes_treeids=[0] * 5,
           nodes_truenodeids=[1, 0, 3, 0, 0], nodes_values=[0.0, 0.0, 2.0, 0.0, 0.0], post_transform="NONE"),
    *[classifier(f"tree_classifier_one_sided_{t}", "TreeEnsembleClassifier", 2,
                 **trees("class", votes_for(t, ONE), classlabels_int64s=[5, 6])) for t in (0, 1)],
    *[classifier(f"tree_classifier_signed_{t}_{p.lower()}", "TreeEnsembleClassifier", 2,
                 **trees("class", votes_for(t, SIGNED), classlabels_strings=["no", "yes"], post_transform=p))
      for p in ("NONE", "LOGISTIC") for t in (0, 1)],
]
