"""Models of scikit-learn: small, trained on seeded numbers, one of each kind that skl2onnx converts. See survey.py.

An entry is (estimator, x, y[, options of the converter]); x and y are functions, y may be None.
"""

import numpy as np
import pandas
from sklearn import calibration, cluster, compose, cross_decomposition, decomposition, discriminant_analysis, ensemble
from sklearn import feature_extraction, feature_selection, gaussian_process, impute, linear_model, mixture
from sklearn import model_selection, multiclass, multioutput, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree
from sklearn.feature_extraction import text

FEATURES = 5
ROWS = 120
WORDS = "the a small large cat dog house tree runs sleeps under over green red quickly slowly and or not very".split()


def generator():
    return np.random.default_rng(7)


def numbers(rows=ROWS):
    return generator().normal(size=(rows, FEATURES)).astype(np.float32)


def sums():
    x = numbers()
    return x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.1 * generator().normal(size=ROWS)


def classes(count=3):
    return np.digitize(sums(), np.quantile(sums(), np.arange(1, count) / count))


def words():
    return np.array(["low", "middle", "top"])[classes()]


def targets():
    return np.stack([sums(), numbers()[:, 3] - sums()], 1)


def whole(top=4):
    return generator().integers(0, top, size=(ROWS, FEATURES)).astype(np.int64)


def named():
    return np.array([["red", "green", "blue", "grey"][v] for v in whole().ravel()], dtype=object).reshape(ROWS, FEATURES)


def holes():
    x = numbers()
    x[generator().random(x.shape) < 0.2] = np.nan
    return x


def sentences(rows=ROWS):
    draw = generator()
    return np.array([" ".join(draw.choice(WORDS, size=draw.integers(1, 9))) for _ in range(rows)], dtype=object)


def dictionaries():
    draw = generator()
    return [{w: float(draw.integers(1, 5)) for w in draw.choice(WORDS[:8], size=draw.integers(1, 5), replace=False)} for _ in range(ROWS)]


def table():
    """Columns of numbers, whole numbers and words."""
    return pandas.DataFrame({"height": numbers()[:, 0], "width": numbers()[:, 1], "colour": named()[:, 0], "size": whole()[:, 1],
                             "words": sentences()}).astype({"colour": object, "words": object})


def pipe(*steps):
    return pipeline.make_pipeline(*steps)


def three(estimator):
    return estimator, numbers, classes


def two(estimator):
    return estimator, numbers, lambda: classes(2)


def real(estimator):
    return estimator, numbers, sums


def positive(estimator):
    return estimator, numbers, lambda: np.exp(0.3 * sums())


def several(estimator):
    return estimator, numbers, targets


def plain(estimator, x=numbers):
    return estimator, x, classes


LINEAR = {
    "LogisticRegression": three(linear_model.LogisticRegression()),
    "LogisticRegression-binary": two(linear_model.LogisticRegression()),
    "LogisticRegression-text": (linear_model.LogisticRegression(), numbers, words),
    "LogisticRegressionCV": three(linear_model.LogisticRegressionCV(Cs=3, cv=2)),
    "SGDClassifier-log": three(linear_model.SGDClassifier(loss="log_loss", random_state=1)),
    "SGDClassifier-hinge": three(linear_model.SGDClassifier(random_state=1)),
    "Perceptron": three(linear_model.Perceptron(random_state=1)),
    "PassiveAggressiveClassifier": three(linear_model.PassiveAggressiveClassifier(random_state=1)),
    "RidgeClassifier": three(linear_model.RidgeClassifier()),
    "RidgeClassifierCV": three(linear_model.RidgeClassifierCV()),
    "LinearSVC": three(svm.LinearSVC(random_state=1)),
    "LinearDiscriminantAnalysis": three(discriminant_analysis.LinearDiscriminantAnalysis()),
    "QuadraticDiscriminantAnalysis": three(discriminant_analysis.QuadraticDiscriminantAnalysis()),
    "LinearRegression": real(linear_model.LinearRegression()),
    "LinearRegression-targets": several(linear_model.LinearRegression()),
    "Ridge": real(linear_model.Ridge()),
    "RidgeCV": real(linear_model.RidgeCV()),
    "Lasso": real(linear_model.Lasso(alpha=0.01)),
    "LassoCV": real(linear_model.LassoCV(cv=2)),
    "LassoLars": real(linear_model.LassoLars(alpha=0.01)),
    "LassoLarsIC": real(linear_model.LassoLarsIC()),
    "Lars": real(linear_model.Lars()),
    "ElasticNet": real(linear_model.ElasticNet(alpha=0.01)),
    "ElasticNetCV": real(linear_model.ElasticNetCV(cv=2)),
    "MultiTaskLasso": several(linear_model.MultiTaskLasso(alpha=0.01)),
    "MultiTaskElasticNet": several(linear_model.MultiTaskElasticNet(alpha=0.01)),
    "OrthogonalMatchingPursuit": real(linear_model.OrthogonalMatchingPursuit()),
    "BayesianRidge": real(linear_model.BayesianRidge()),
    "ARDRegression": real(linear_model.ARDRegression()),
    "HuberRegressor": real(linear_model.HuberRegressor()),
    "TheilSenRegressor": real(linear_model.TheilSenRegressor(random_state=1, max_subpopulation=100)),
    "RANSACRegressor": real(linear_model.RANSACRegressor(random_state=1)),
    "QuantileRegressor": real(linear_model.QuantileRegressor(alpha=0.01)),
    "SGDRegressor": real(linear_model.SGDRegressor(random_state=1)),
    "PassiveAggressiveRegressor": real(linear_model.PassiveAggressiveRegressor(random_state=1)),
    "PoissonRegressor": positive(linear_model.PoissonRegressor()),
    "GammaRegressor": positive(linear_model.GammaRegressor()),
    "TweedieRegressor": positive(linear_model.TweedieRegressor(power=1.5)),
    "LinearSVR": real(svm.LinearSVR(random_state=1)),
    "PLSRegression": several(cross_decomposition.PLSRegression(n_components=2)),
}

VECTORS = {
    "SVC": three(svm.SVC()),
    "SVC-probability": three(svm.SVC(probability=True, random_state=1)),
    "SVC-binary": two(svm.SVC(probability=True, random_state=1)),
    "SVC-linear": three(svm.SVC(kernel="linear")),
    "SVC-poly": three(svm.SVC(kernel="poly")),
    "NuSVC": three(svm.NuSVC()),
    "SVR": real(svm.SVR()),
    "NuSVR": real(svm.NuSVR()),
    "OneClassSVM": real(svm.OneClassSVM()),
}

TREES = {
    "DecisionTreeClassifier": three(tree.DecisionTreeClassifier(max_depth=5, random_state=1)),
    "DecisionTreeRegressor": real(tree.DecisionTreeRegressor(max_depth=5, random_state=1)),
    "ExtraTreeClassifier": three(tree.ExtraTreeClassifier(max_depth=5, random_state=1)),
    "ExtraTreeRegressor": real(tree.ExtraTreeRegressor(max_depth=5, random_state=1)),
    "RandomForestClassifier": three(ensemble.RandomForestClassifier(6, max_depth=5, random_state=1)),
    "RandomForestClassifier-text": (ensemble.RandomForestClassifier(6, max_depth=5, random_state=1), numbers, words),
    "RandomForestRegressor": real(ensemble.RandomForestRegressor(6, max_depth=5, random_state=1)),
    "RandomForestRegressor-targets": several(ensemble.RandomForestRegressor(6, max_depth=5, random_state=1)),
    "ExtraTreesClassifier": three(ensemble.ExtraTreesClassifier(6, max_depth=5, random_state=1)),
    "ExtraTreesRegressor": real(ensemble.ExtraTreesRegressor(6, max_depth=5, random_state=1)),
    "GradientBoostingClassifier": three(ensemble.GradientBoostingClassifier(n_estimators=5, random_state=1)),
    "GradientBoostingClassifier-binary": two(ensemble.GradientBoostingClassifier(n_estimators=5, random_state=1)),
    "GradientBoostingRegressor": real(ensemble.GradientBoostingRegressor(n_estimators=5, random_state=1)),
    "HistGradientBoostingClassifier": three(ensemble.HistGradientBoostingClassifier(max_iter=5, random_state=1)),
    "HistGradientBoostingClassifier-binary": two(ensemble.HistGradientBoostingClassifier(max_iter=5, random_state=1)),
    "HistGradientBoostingRegressor": (ensemble.HistGradientBoostingRegressor(max_iter=5, random_state=1), holes, sums),
    "AdaBoostClassifier": three(ensemble.AdaBoostClassifier(n_estimators=5, random_state=1)),
    "AdaBoostRegressor": real(ensemble.AdaBoostRegressor(n_estimators=5, random_state=1)),
    "BaggingClassifier": three(ensemble.BaggingClassifier(n_estimators=4, random_state=1)),
    "BaggingRegressor": real(ensemble.BaggingRegressor(n_estimators=4, random_state=1)),
    "IsolationForest": real(ensemble.IsolationForest(n_estimators=5, random_state=1)),
}

NEIGHBOURS = {
    "KNeighborsClassifier": three(neighbors.KNeighborsClassifier()),
    "KNeighborsClassifier-distance": three(neighbors.KNeighborsClassifier(weights="distance")),
    "KNeighborsRegressor": real(neighbors.KNeighborsRegressor()),
    "KNeighborsRegressor-targets": several(neighbors.KNeighborsRegressor(3)),
    "KNeighborsTransformer": plain(neighbors.KNeighborsTransformer(n_neighbors=3)),
    "NearestNeighbors": plain(neighbors.NearestNeighbors(n_neighbors=3, radius=None)),
    "LocalOutlierFactor": real(neighbors.LocalOutlierFactor(novelty=True, n_neighbors=5)),
    "NeighborhoodComponentsAnalysis": three(neighbors.NeighborhoodComponentsAnalysis(n_components=2, random_state=1)),
}

BAYES = {
    "GaussianNB": three(naive_bayes.GaussianNB()),
    "BernoulliNB": three(naive_bayes.BernoulliNB()),
    "MultinomialNB": (naive_bayes.MultinomialNB(), lambda: np.abs(numbers()), classes),
    "ComplementNB": (naive_bayes.ComplementNB(), lambda: np.abs(numbers()), classes),
    "CategoricalNB": (naive_bayes.CategoricalNB(), whole, classes),
    "MLPClassifier": three(neural_network.MLPClassifier(hidden_layer_sizes=(8,), max_iter=30, random_state=1)),
    "MLPClassifier-binary": two(neural_network.MLPClassifier(hidden_layer_sizes=(8,), max_iter=30, random_state=1)),
    "MLPRegressor": real(neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=30, random_state=1)),
    "GaussianProcessRegressor": real(gaussian_process.GaussianProcessRegressor(alpha=0.1)),
}

CLUSTERS = {
    "KMeans": plain(cluster.KMeans(3, n_init=1, random_state=1)),
    "MiniBatchKMeans": plain(cluster.MiniBatchKMeans(3, n_init=1, random_state=1)),
    "GaussianMixture": plain(mixture.GaussianMixture(2, random_state=1)),
    "GaussianMixture-diag": plain(mixture.GaussianMixture(2, covariance_type="diag", random_state=1)),
    "BayesianGaussianMixture": plain(mixture.BayesianGaussianMixture(n_components=2, random_state=1)),
}

TRANSFORMS = {
    "StandardScaler": plain(preprocessing.StandardScaler()),
    "MinMaxScaler": plain(preprocessing.MinMaxScaler()),
    "MinMaxScaler-clip": plain(preprocessing.MinMaxScaler(clip=True)),
    "MaxAbsScaler": plain(preprocessing.MaxAbsScaler()),
    "RobustScaler": plain(preprocessing.RobustScaler()),
    "Normalizer": plain(preprocessing.Normalizer()),
    "Normalizer-max": plain(preprocessing.Normalizer("max")),
    "Binarizer": plain(preprocessing.Binarizer(threshold=0.3)),
    "KBinsDiscretizer": plain(preprocessing.KBinsDiscretizer(4, encode="ordinal", subsample=None)),
    "KBinsDiscretizer-onehot": plain(preprocessing.KBinsDiscretizer(4, encode="onehot-dense", subsample=None)),
    "PolynomialFeatures": plain(preprocessing.PolynomialFeatures(2)),
    "PowerTransformer": plain(preprocessing.PowerTransformer()),
    "PowerTransformer-boxcox": plain(preprocessing.PowerTransformer("box-cox"), lambda: np.abs(numbers()) + 0.1),
    "QuantileTransformer": plain(preprocessing.QuantileTransformer(n_quantiles=20)),
    "KernelCenterer": plain(preprocessing.KernelCenterer(), lambda: (numbers() @ numbers().T).astype(np.float32)),
    "FunctionTransformer": plain(preprocessing.FunctionTransformer()),
    "OneHotEncoder": plain(preprocessing.OneHotEncoder(), named),
    "OneHotEncoder-int": plain(preprocessing.OneHotEncoder(handle_unknown="ignore"), whole),
    "OrdinalEncoder": plain(preprocessing.OrdinalEncoder(), named),
    "OrdinalEncoder-int": plain(preprocessing.OrdinalEncoder(), whole),
    "LabelEncoder": (preprocessing.LabelEncoder(), lambda: named()[:, 0], None),
    "LabelBinarizer": (preprocessing.LabelBinarizer(), lambda: whole()[:, :1], None),
    "TargetEncoder": (preprocessing.TargetEncoder(random_state=1), named, sums),
    "SimpleImputer": plain(impute.SimpleImputer(), holes),
    "SimpleImputer-text": plain(impute.SimpleImputer(strategy="most_frequent", missing_values="red"), named),
    "PCA": plain(decomposition.PCA(3)),
    "IncrementalPCA": plain(decomposition.IncrementalPCA(3)),
    "TruncatedSVD": plain(decomposition.TruncatedSVD(3, random_state=1)),
    "KernelPCA": plain(decomposition.KernelPCA(2, kernel="rbf")),
    "SelectKBest": plain(feature_selection.SelectKBest(k=2)),
    "SelectPercentile": plain(feature_selection.SelectPercentile(percentile=50)),
    "SelectFpr": plain(feature_selection.SelectFpr(alpha=0.5)),
    "VarianceThreshold": plain(feature_selection.VarianceThreshold()),
    "RFE": plain(feature_selection.RFE(linear_model.LogisticRegression(), n_features_to_select=2)),
}

# ONNX Runtime cannot lower the case of letters where the system lacks the converter's own locale.
LOCALE = {text.CountVectorizer: {"locale": "C.utf8"}, text.TfidfVectorizer: {"locale": "C.utf8"}}
TEXTS = {
    "CountVectorizer": (text.CountVectorizer(), sentences, classes, LOCALE),
    "CountVectorizer-pairs": (text.CountVectorizer(ngram_range=(1, 2)), sentences, classes, LOCALE),
    "CountVectorizer-chars": (text.CountVectorizer(analyzer="char", lowercase=False), sentences, classes),
    "TfidfVectorizer": (text.TfidfVectorizer(), sentences, classes, LOCALE),
    "TfidfTransformer": (text.TfidfTransformer(), lambda: whole().astype(np.float32), classes),
    "FeatureHasher": (feature_extraction.FeatureHasher(8, input_type="string"), lambda: named()[:, :1], classes),
    "DictVectorizer": (feature_extraction.DictVectorizer(sparse=False), dictionaries, None),
    "text-pipeline": (pipe(text.TfidfVectorizer(), linear_model.LogisticRegression()), sentences, words, LOCALE),
}

LOGISTIC = linear_model.LogisticRegression
VOTERS = [("a", LOGISTIC()), ("b", tree.DecisionTreeClassifier(max_depth=3)), ("c", naive_bayes.GaussianNB())]
COMPOSED = {
    "Pipeline": three(pipe(preprocessing.StandardScaler(), decomposition.PCA(3), LOGISTIC())),
    "Pipeline-imputed": (pipe(impute.SimpleImputer(), preprocessing.MinMaxScaler(), ensemble.RandomForestClassifier(4, random_state=1)),
                         holes, words),
    "FeatureUnion": plain(pipeline.make_union(preprocessing.StandardScaler(), decomposition.PCA(2))),
    "VotingClassifier-hard": three(ensemble.VotingClassifier(VOTERS, flatten_transform=False)),
    "VotingClassifier-soft": three(ensemble.VotingClassifier(VOTERS[::2], voting="soft", flatten_transform=False)),
    "VotingRegressor": real(ensemble.VotingRegressor([("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=3))])),
    "StackingClassifier": three(ensemble.StackingClassifier([("a", LOGISTIC()), ("b", naive_bayes.GaussianNB())], cv=2)),
    "StackingRegressor": real(ensemble.StackingRegressor([("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=3))],
                                                         cv=2)),
    "OneVsRestClassifier": three(multiclass.OneVsRestClassifier(LOGISTIC())),
    "OneVsOneClassifier": three(multiclass.OneVsOneClassifier(LOGISTIC())),
    "MultiOutputClassifier": (multioutput.MultiOutputClassifier(LOGISTIC()), numbers, lambda: (targets() > 0).astype(np.int64)),
    "MultiOutputRegressor": several(multioutput.MultiOutputRegressor(linear_model.Ridge())),
    "CalibratedClassifierCV-sigmoid": three(calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), cv=2)),
    "CalibratedClassifierCV-isotonic": two(calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), cv=2, method="isotonic")),
    "ColumnTransformer": (compose.ColumnTransformer([("n", preprocessing.StandardScaler(), ["height", "width"]),
                                                     ("c", preprocessing.OneHotEncoder(), ["colour", "size"])]), table, classes),
    "ColumnTransformer-text": (pipe(compose.ColumnTransformer([("n", preprocessing.MinMaxScaler(), ["height", "width"]),
                                                               ("c", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["colour"]),
                                                               ("w", text.TfidfVectorizer(), "words")]), LOGISTIC()), table, words, LOCALE),
    "GridSearchCV": three(model_selection.GridSearchCV(LOGISTIC(), {"C": [0.1, 1.0]}, cv=2)),
}

MODELS = {**LINEAR, **VECTORS, **TREES, **NEIGHBOURS, **BAYES, **CLUSTERS, **TRANSFORMS, **TEXTS, **COMPOSED}


def wide():
    return numbers().astype(np.float64)


PLAIN, COLUMNS = {"zipmap": False}, {"zipmap": "columns"}
# The same in double precision, as far as ONNX Runtime takes it: there are no maps to doubles.
WIDE = {name + "-double": (MODELS[name][0], wide, MODELS[name][2])
        for name in ("LinearRegression", "TweedieRegressor", "KNeighborsRegressor", "MLPRegressor", "GaussianProcessRegressor", "KMeans",
                     "GaussianMixture", "StandardScaler", "MinMaxScaler", "PCA", "IncrementalPCA", "SelectKBest", "RandomForestClassifier")}
WIDE.update({name + "-double": (MODELS[name][0], wide, MODELS[name][2], PLAIN)
             for name in ("LogisticRegression", "LinearDiscriminantAnalysis", "SVC", "GaussianNB", "KNeighborsClassifier", "MLPClassifier",
                          "OneVsRestClassifier", "CalibratedClassifierCV-sigmoid", "Pipeline")})
OPTIONS = {
    "LogisticRegression-plain": (*three(LOGISTIC()), PLAIN),
    "LogisticRegression-columns": (*three(LOGISTIC()), COLUMNS),
    "RandomForestClassifier-plain": (*two(ensemble.RandomForestClassifier(4, max_depth=3, random_state=1)), PLAIN),
    "RandomForestClassifier-columns": (ensemble.RandomForestClassifier(4, max_depth=3, random_state=1), numbers, words, COLUMNS),
    "LogisticRegression-raw": (*three(LOGISTIC()), {"raw_scores": True, "zipmap": False}),
    "GaussianProcessRegressor-deviation": (gaussian_process.GaussianProcessRegressor(alpha=0.1), wide, sums, {"return_std": True}),
    "KNeighborsClassifier-cdist": (*three(neighbors.KNeighborsClassifier()), {"optim": "cdist"}),
    "KNeighborsRegressor-cdist": (*real(neighbors.KNeighborsRegressor()), {"optim": "cdist"}),
}

# What occamyc must be told besides the batch: how long texts are, and how many tokens they have.
WORDS_MADE = ("normalized:bytes=0..600", "tokenized:1=0..8")
BOUNDS = {"CountVectorizer": WORDS_MADE, "CountVectorizer-pairs": WORDS_MADE, "TfidfVectorizer": WORDS_MADE, "text-pipeline": WORDS_MADE,
          "ColumnTransformer-text": WORDS_MADE, "CountVectorizer-chars": ("tokenized:1=0..64", "tokenized:bytes=0..1200")}

# Where the converter's own choice is one that it does not support.
OPSETS = {"IsolationForest": {"": 18, "ai.onnx.ml": 3}}

MODELS.update({**WIDE, **OPTIONS})
