"""Random pipelines of scikit-learn as its converter writes them; needs the packages of tests/survey/requirements.txt."""

import warnings

import numpy as np
from onnx import helper

import batch
import oracle
from net import Rejected

ROWS = 90


def preparations(draw, columns):
    """Some steps before the estimator, as (name, transformer); what they keep of the columns is their affair."""
    from sklearn import decomposition, feature_selection, impute, pipeline, preprocessing as p
    made = {
        "standard": lambda: p.StandardScaler(with_mean=draw.chance(0.8)), "range": lambda: p.MinMaxScaler(clip=draw.chance(0.5)),
        "robust": p.RobustScaler, "largest": p.MaxAbsScaler, "unit": lambda: p.Normalizer(norm=draw.pick(["l1", "l2", "max"])),
        "products": lambda: p.PolynomialFeatures(2, interaction_only=draw.chance(0.5), include_bias=draw.chance(0.5)),
        "components": lambda: decomposition.PCA(draw.randint(1, columns), whiten=draw.chance(0.3)),
        "bins": lambda: p.KBinsDiscretizer(draw.randint(2, 4), encode=draw.pick(["onehot-dense", "ordinal"])),
        "filled": lambda: impute.SimpleImputer(strategy=draw.pick(["mean", "median"])), "power": p.PowerTransformer,
        "binary": lambda: p.Binarizer(threshold=draw.pick([0.0, 0.3])), "spread": lambda: feature_selection.VarianceThreshold(0.0),
        "union": lambda: pipeline.FeatureUnion([("a", p.StandardScaler()), ("b", decomposition.PCA(1))]),
    }
    return [(f"step{i}", made[draw.pick(made)]()) for i in range(draw.weighted({0: 1, 1: 3, 2: 2}))]


def estimators(draw):
    """{name: (kind, a function that makes one)}."""
    from sklearn import calibration, cluster, discriminant_analysis, ensemble, linear_model, mixture, multiclass, naive_bayes, neighbors, neural_network, svm, tree
    count, depth = draw.randint(2, 6), draw.randint(1, 4)
    layers = (draw.randint(2, 9),) * draw.randint(1, 2)
    activation = draw.pick(["relu", "tanh", "logistic", "identity"])
    kernel = draw.pick(["linear", "rbf", "poly", "sigmoid"])
    return {
        "logistic": ("class", linear_model.LogisticRegression), "tree": ("class", lambda: tree.DecisionTreeClassifier(max_depth=depth)),
        "forest": ("class", lambda: ensemble.RandomForestClassifier(count, max_depth=depth)),
        "extra": ("class", lambda: ensemble.ExtraTreesClassifier(count, max_depth=depth)),
        "boosted": ("class", lambda: ensemble.GradientBoostingClassifier(n_estimators=count, max_depth=depth)),
        "histogram": ("class", lambda: ensemble.HistGradientBoostingClassifier(max_iter=count)),
        "adaptive": ("class", lambda: ensemble.AdaBoostClassifier(n_estimators=count)),
        "neighbours": ("class", lambda: neighbors.KNeighborsClassifier(draw.randint(1, 5), weights=draw.pick(["uniform", "distance"]))),
        "bayes": ("class", naive_bayes.GaussianNB), "bernoulli": ("class", naive_bayes.BernoulliNB),
        "network": ("class", lambda: neural_network.MLPClassifier(layers, activation=activation, max_iter=30)),
        "machine": ("class", lambda: svm.SVC(kernel=kernel)),
        "margin": ("class", svm.LinearSVC), "discriminant": ("class", discriminant_analysis.LinearDiscriminantAnalysis),
        "quadratic": ("class", discriminant_analysis.QuadraticDiscriminantAnalysis),
        "one": ("class", lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression())),
        "calibrated": ("class", lambda: calibration.CalibratedClassifierCV(linear_model.LogisticRegression(), method=draw.pick(["sigmoid", "isotonic"]), cv=2)),
        "voting": ("class", lambda: ensemble.VotingClassifier([("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=2))],
                                                              voting="soft")),
        "ridge": ("number", linear_model.Ridge), "lasso": ("number", lambda: linear_model.Lasso(0.05)), "bayesian": ("number", linear_model.BayesianRidge),
        "poisson": ("positive", linear_model.PoissonRegressor), "tree_number": ("number", lambda: tree.DecisionTreeRegressor(max_depth=depth)),
        "forest_number": ("number", lambda: ensemble.RandomForestRegressor(count, max_depth=depth)),
        "histogram_number": ("number", lambda: ensemble.HistGradientBoostingRegressor(max_iter=count)),
        "neighbours_number": ("number", lambda: neighbors.KNeighborsRegressor(draw.randint(1, 5))),
        "network_number": ("number", lambda: neural_network.MLPRegressor(layers, activation=activation, max_iter=30)),
        "machine_number": ("number", lambda: svm.SVR(kernel=kernel)), "means": ("none", lambda: cluster.KMeans(draw.randint(2, 4), n_init=2)),
        "mixture": ("none", lambda: mixture.GaussianMixture(2)), "isolation": ("none", lambda: ensemble.IsolationForest(n_estimators=count)),
    }


def wished(draw, kind, x):
    """What is to be learned: numbers, or classes as numbers or words."""
    total = x[:, 0] - 0.7 * x[:, -1] * x[:, 0] + 0.2 * draw.numpy().normal(size=len(x))
    if kind == "class":
        classes = np.digitize(total, np.quantile(total, [0.5] if draw.chance(0.5) else [0.3, 0.7]))
        return classes if draw.chance(0.5) else np.array(["low", "middle", "top"])[classes]
    return None if kind == "none" else np.exp(total / 4) if kind == "positive" else total


def exported(draw, fitted, columns, kind):
    import skl2onnx
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    wide = draw.chance(0.1)
    zipped = kind == "class" and hasattr(fitted, "predict_proba")
    options = {id(fitted): {"zipmap": draw.pick([True, False, "columns"])}} if zipped else None
    opsets = {"": draw.randint(12, 21), "ai.onnx.ml": draw.pick([1, 2, 3])}
    given = [("x", (DoubleTensorType if wide else FloatTensorType)([None, columns]))]
    return skl2onnx.convert_sklearn(fitted, initial_types=given, target_opset=opsets, options=options), np.float64 if wide else np.float32


def granted(value):
    """The absolute error: sums of many terms, in another order."""
    if isinstance(value, list):
        return max([granted(v) for v in value], default=0.0)
    if isinstance(value, dict):
        return granted(np.array(list(value.values())))
    return 2e-4 * (0.1 + float(np.abs(value).max(initial=0.0))) if np.asarray(value).dtype.kind == "f" else 0.0


def learned(draw, table, number):
    """(model, sets, wanted outputs, granted errors). Raises Rejected where something does not fit together."""
    from sklearn import pipeline
    columns = draw.randint(2, 5)
    x = draw.numpy().normal(size=(ROWS, columns)).astype(np.float32)
    kind, make = draw.pick(list(estimators(draw).values()))
    np.random.seed(number)                          # the estimators' own draws
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = pipeline.Pipeline([*preparations(draw, columns), ("last", make())]).fit(x, wished(draw, kind, x))
            model, dtype = exported(draw, fitted, columns, kind)
        sets = [[draw.numpy().normal(size=(rows, columns)).astype(dtype)] for rows in (1, 9, draw.randint(1, 9))]
        answers = oracle.answers(model, sets)
    except Exception as error:                      # scikit-learn and its converter raise many kinds
        raise Rejected(str(error)[:100])
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 11 if dtype == np.float64 else 1, ["rows", columns]))
    return model, sets, [[batch.tensor(v) for v in values] for values in answers], [[granted(v) for v in values] for values in answers]
