"""Text, and the operators of ai.onnx.ml."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe

WORDS = [w for w in d.WORDS if w]


def text(net, rank=(0, 2)):
    return net.some((d.STRING,), rank=rank, most=4)


@recipe("StringConcat", "StringSplit", "RegexFullMatch", network=0)
def strings(net):
    draw = net.draw
    operator = draw.pick(["StringConcat", "StringSplit", "RegexFullMatch"])
    net.newer(operator)
    x = text(net)
    if operator == "StringConcat":
        net.node(operator, [x, net.partner(x)])
    elif operator == "StringSplit":
        net.node(operator, [x], outputs=2, **attributes(draw, delimiter=[" ", "a", "by", ""], maxsplit=[1, 2]))
    else:
        net.node(operator, [x], pattern=draw.pick(["a|b", ".*", "[a-z]+", "[^ ]* .*", "o(cc)?am", r"-?\d+(\.\d+)?", "Pl.n"]))


@recipe("StringNormalizer", network=0)
def normalizer(net):
    draw = net.draw
    net.newer("StringNormalizer")
    x = net.input(d.STRING, [draw.randint(1, 5)] if draw.chance(0.7) else [1, draw.randint(1, 5)])
    net.node("StringNormalizer", [x], is_case_sensitive=draw.pick([0, 1]), locale="C.utf8", stopwords=draw.sample(WORDS, draw.randint(1, 3)),
             **attributes(draw, case_change_action=["LOWER", "UPPER", "NONE"]))


def same_in_other_case(c):
    """Whether both cases of a letter are single letters of as many bytes."""
    forms = (chr(c).lower(), chr(c).upper())
    return all(len(f) == 1 and len(f.encode()) == len(chr(c).encode()) for f in forms)


LETTERS = [chr(c) for c in [*range(0x30, 0x7b), 0xb5, *range(0xc0, 0x180), *range(0x386, 0x3cf), *range(0x400, 0x460)] if same_in_other_case(c)] + ["€", "七"]


@recipe("StringNormalizer", network=0)
def other_alphabets(net):
    draw = net.draw
    net.newer("StringNormalizer")
    words = ["".join(draw.choices(LETTERS, k=draw.randint(0, 9))) for _ in range(6)]
    held = [draw.pick([w, w.upper(), w.lower()]) for w in words]
    x = net.input(d.STRING, [6], arrays=[np.array(draw.sample(held, 6), object) for _ in range(net.count)])
    net.node("StringNormalizer", [x], is_case_sensitive=draw.pick([0, 1]), locale="C.utf8", stopwords=words[:draw.randint(1, 2)],
             **attributes(draw, case_change_action=["LOWER", "UPPER", "UPPER", "NONE"]))


@recipe("TfIdfVectorizer", network=0)
def tf_idf(net):
    draw = net.draw
    net.version("TfIdfVectorizer")
    least = draw.randint(1, 2)
    most = draw.randint(least, 2)
    words, use_text = 3, draw.chance(0.5)
    singles, pairs = draw.randint(1, 3) if least == 1 else 0, draw.randint(1, 2) if most == 2 else 0
    items = [draw.randint(0, words) for _ in range(singles + 2 * pairs)]
    grams = [tuple(items[:singles][i:i + 1]) for i in range(singles)] + [tuple(items[singles + 2 * i:singles + 2 * i + 2]) for i in range(pairs)]
    if len(set(grams)) < len(grams):
        raise Rejected("grams twice")
    dims = net.shape(draw.pick([1, 2]), 6)
    count = len(grams)
    chosen = {"min_gram_length": least, "max_gram_length": most, "max_skip_count": draw.randint(0, 2), "mode": draw.pick(["TF", "IDF", "TFIDF"]),
              "ngram_counts": [0, singles][:most] if most == 2 else [0], "ngram_indexes": draw.sample(range(count), count)}
    chosen |= attributes(draw, weights=[[round(draw.uniform(0.5, 2), 2) for _ in range(count)]])
    if use_text:
        names = WORDS[:words + 1]
        arrays = [np.array(draw.choices(names, k=int(np.prod(s))), object).reshape(s) for s in net.settle(dims)]
        net.node("TfIdfVectorizer", [net.input(d.STRING, dims, arrays=arrays)], pool_strings=[names[i] for i in items], **chosen)
    else:
        arrays = [draw.numpy().integers(0, words + 1, s) for s in net.settle(dims)]
        net.node("TfIdfVectorizer", [net.input(d.INT64, dims, arrays=arrays)], pool_int64s=items, **chosen)


# -- ai.onnx.ml ------------------------------------------------------------------------------------------------------------

def learning(net, operator, inputs, outputs=1, version=None, **chosen):
    net.uses("ai.onnx.ml", version or 3)
    return net.node(operator, inputs, outputs, domain="ai.onnx.ml", **chosen)


def table(net, columns, dtypes=(d.FLOAT,), exact=True):
    """Rows of features; how many rows may be known only at run time."""
    return net.input(net.draw.pick(dtypes), [net.extent(6), columns])


@recipe("Scaler", "Imputer", "Normalizer", "Binarizer", network=0, domain="ai.onnx.ml")
def prepare(net):
    draw, columns = net.draw, net.draw.randint(1, 5)
    operator = draw.pick(["Scaler", "Imputer", "Normalizer", "Binarizer"])
    numbers = [round(draw.uniform(-2, 2), 2) for _ in range(columns)]
    if operator == "Scaler":
        x = table(net, columns, (d.FLOAT, d.DOUBLE, d.INT64, d.INT32))
        count = draw.pick([1, columns])             # of both, as ONNX Runtime wants it
        learning(net, operator, [x], offset=numbers[:count], scale=numbers[::-1][:count])
    elif operator == "Imputer":
        x = table(net, columns, (d.FLOAT, d.INT64))
        kind = "float" if x.dtype == d.FLOAT else "int64"
        values = numbers if kind == "float" else [int(5 * n) for n in numbers]
        learning(net, operator, [x], **{f"imputed_value_{kind}s": draw.pick([values, values[:1]]),
                                        f"replaced_value_{kind}": draw.pick([0.0, float("nan"), 1.0]) if kind == "float" else draw.pick([0, 1])})
    elif operator == "Normalizer":
        learning(net, operator, [table(net, columns, (d.FLOAT, d.DOUBLE, d.INT64, d.INT32))], norm=draw.pick(["MAX", "L1", "L2"]))
    else:
        learning(net, operator, [table(net, columns)], **attributes(draw, threshold=[0.0, 0.5, -1.0]))


@recipe("OneHotEncoder", "LabelEncoder", "CategoryMapper", "ArrayFeatureExtractor", "FeatureVectorizer", network=0, domain="ai.onnx.ml")
def categories(net):
    draw = net.draw
    operator = draw.pick(["OneHotEncoder", "LabelEncoder", "LabelEncoder", "CategoryMapper", "ArrayFeatureExtractor", "FeatureVectorizer"])
    if operator == "OneHotEncoder":
        x = net.input(draw.pick([d.INT64, d.FLOAT, d.INT32]), net.shape(draw.randint(1, 2), 5), style="small") if draw.chance(0.6) else text(net, (1, 2))
        known = {"cats_strings": draw.sample(WORDS, 3)} if x.dtype == d.STRING else {"cats_int64s": draw.sample(range(-2, 4), 3)}
        learning(net, operator, [x], zeros=1, **known)
    elif operator == "LabelEncoder":
        label_encoder(net)
    elif operator == "CategoryMapper":
        names, numbers = draw.sample(WORDS, 3), draw.sample(range(5), 3)
        x = text(net) if draw.chance(0.5) else net.input(d.INT64, net.shape(2, 4), style="small")
        learning(net, operator, [x], cats_strings=names, cats_int64s=numbers, **attributes(draw, default_int64=[-7], default_string=["?"]))
    elif operator == "ArrayFeatureExtractor":
        x = net.input(draw.pick([d.FLOAT, d.DOUBLE, d.INT64, d.INT32, d.STRING]), net.shape(draw.randint(1, 3), 4))
        if not min(x.extents(x.rank - 1)):
            raise Rejected("an empty axis")
        index = draw.numpy().integers(0, min(x.extents(x.rank - 1)), draw.randint(1, 4))
        learning(net, operator, [x, net.constant(index.astype(np.int64))])
    else:
        sizes, rows = [draw.randint(1, 3) for _ in range(draw.randint(1, 3))], net.extent(4)
        dtype = draw.pick([d.FLOAT, d.INT64, d.INT32, d.DOUBLE])
        learning(net, operator, [net.input(dtype, [rows, n]) for n in sizes], inputdimensions=sizes)


def label_encoder(net):
    draw = net.draw
    if draw.chance(0.2):                            # the first version, whose classes have numbers
        x = text(net) if draw.chance(0.5) else net.input(d.INT64, net.shape(draw.randint(0, 2), 4), style="positive")
        learning(net, "LabelEncoder", [x], version=1, classes_strings=WORDS[:9], **attributes(draw, default_int64=[-3], default_string=["none"]))
        return
    kinds = ["strings", "int64s", "floats"]
    source, target = draw.pick(kinds), draw.pick(kinds)
    values = {"strings": draw.sample(WORDS, 3), "int64s": draw.sample(range(-2, 4), 3), "floats": [float(v) for v in draw.sample(range(-2, 4), 3)]}
    result = {"strings": draw.sample(WORDS, 3), "int64s": draw.sample(range(9), 3), "floats": [0.5, 1.5, -2.0]}
    x = text(net) if source == "strings" else net.input(d.INT64 if source == "int64s" else d.FLOAT, net.shape(draw.randint(0, 2), 4), style="small")
    default = {"strings": ("default_string", "none"), "int64s": ("default_int64", -9), "floats": ("default_float", 7.5)}[target]
    chosen = {default[0]: default[1]} if draw.chance(0.5) else {}
    learning(net, "LabelEncoder", [x], **{f"keys_{source}": values[source], f"values_{target}": result[target]}, **chosen)


POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


@recipe("LinearClassifier", "LinearRegressor", network=0, domain="ai.onnx.ml")
def linear(net):
    draw, columns = net.draw, net.draw.randint(1, 5)
    x = table(net, columns)
    if draw.chance(0.4):
        targets = draw.randint(1, 3)
        posts = [p for p in POST if targets > 1 or p != "LOGISTIC"]     # of one target: docs/differences.md
        learning(net, "LinearRegressor", [x], targets=targets, coefficients=numbers(draw, targets * columns),
                 **attributes(draw, intercepts=[numbers(draw, targets)], post_transform=posts))
        return
    classes = draw.randint(2, 4)
    learning(net, "LinearClassifier", [x], outputs=2, coefficients=numbers(draw, classes * columns), intercepts=numbers(draw, classes),
             post_transform=draw.pick(POST), **labels(draw, classes, "classlabels_ints"))


def numbers(draw, count):
    return [round(draw.uniform(-2, 2), 2) for _ in range(count)]


def labels(draw, classes, name_of_ints="classlabels_int64s"):
    if draw.chance(0.5):
        return {name_of_ints: draw.sample(range(10), classes)}
    return {"classlabels_strings": draw.sample(WORDS, classes)}


@recipe("TreeEnsembleRegressor", "TreeEnsembleClassifier", network=0, domain="ai.onnx.ml")
def trees(net):
    draw, columns = net.draw, net.draw.randint(1, 4)
    x = table(net, columns, (d.FLOAT, d.FLOAT, d.DOUBLE, d.INT64))
    nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves, classifier = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}, draw.chance(0.5)
    targets = draw.randint(2 if classifier else 1, 3)
    mode = draw.pick(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
    for tree in range(draw.randint(1, 4)):
        grow_tree(draw, tree, columns, targets, mode, nodes, leaves)
    # base_values where the reference evaluator decides, or every target has a leaf: docs/differences.md
    chosen = {f"nodes_{k}": v for k, v in nodes.items()} | attributes(draw, post_transform=POST)
    decided = x.dtype == d.FLOAT and chosen.get("post_transform") != "PROBIT"
    if classifier:
        chosen |= {f"class_{k}": v for k, v in leaves.items()} | labels(draw, targets)
        chosen |= attributes(draw, base_values=[numbers(draw, targets)]) if decided else {}
        learning(net, "TreeEnsembleClassifier", [x], outputs=2, **chosen)
    else:
        if targets == 1 and chosen.get("post_transform") == "LOGISTIC":
            del chosen["post_transform"]            # docs/differences.md; the reference evaluator does not know it either
        chosen |= {f"target_{k}": v for k, v in leaves.items()} | {"n_targets": targets}
        chosen |= attributes(draw, aggregate_function=["SUM", "AVERAGE", "MIN", "MAX"])
        chosen |= attributes(draw, base_values=[numbers(draw, targets)]) if decided or targets == 1 else {}
        learning(net, "TreeEnsembleRegressor", [x], **chosen)


def grow_tree(draw, tree, columns, targets, mode, nodes, leaves):
    """A tree of up to three levels; every leaf votes for one or more targets."""
    rows, waiting = [], [(0, 0)]
    while waiting:
        place, depth = waiting.pop(0)
        split = depth < 3 and (depth == 0 or draw.chance(0.5))
        if split:
            left, right = len(rows) + len(waiting) + 1, len(rows) + len(waiting) + 2
            rows.append((place, draw.randrange(columns), draw.pick([-1.0, 0.0, 0.5, 1.0]), mode, left, right))
            waiting += [(left, depth + 1), (right, depth + 1)]
        else:
            rows.append((place, 0, 0.0, "LEAF", 0, 0))
            for target in draw.several(range(targets), least=1):
                for key, value in zip(leaves, (tree, place, target, round(draw.uniform(-1, 1), 2))):
                    leaves[key].append(value)
    missing = draw.pick([0, 1])
    for row in rows:
        for key, value in zip(nodes, (tree, *row, missing)):
            nodes[key].append(value)


@recipe("SVMRegressor", "SVMClassifier", network=0, domain="ai.onnx.ml")
def vectors(net):
    draw, columns, count = net.draw, net.draw.randint(1, 4), net.draw.randint(2, 5)
    x = table(net, columns)
    kernel = {"kernel_type": draw.pick(["LINEAR", "POLY", "RBF", "SIGMOID"]), "kernel_params": [0.3, 0.5, 2.0],
              "support_vectors": numbers(draw, count * columns)}
    if draw.chance(0.5):
        learning(net, "SVMRegressor", [x], n_supports=count, coefficients=numbers(draw, count), rho=numbers(draw, 1), **kernel,
                 **attributes(draw, one_class=[0, 1], post_transform=POST))
        return
    classes = draw.randint(2, 3)
    per = [1 + i % 2 for i in range(classes)]
    kernel["support_vectors"] = numbers(draw, sum(per) * columns)
    pairs = classes * (classes - 1) // 2
    chosen = {"prob_a": numbers(draw, pairs), "prob_b": numbers(draw, pairs)} if draw.chance(0.4) else {}      # near 1 PROBIT is all rounding
    post = POST[:-1] if chosen or classes == 2 else POST    # of two ONNX Runtime gives but one score under PROBIT: docs/differences.md
    net.loosely = post is POST                      # near a half 1 - x * x cancels
    learning(net, "SVMClassifier", [x], outputs=2, coefficients=numbers(draw, (classes - 1) * sum(per)), rho=numbers(draw, pairs),
             vectors_per_class=per, post_transform=draw.pick(post), **kernel, **labels(draw, classes, "classlabels_ints"), **chosen)
