"""Models of LightGBM and XGBoost, converted by onnxmltools. See survey.py."""

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

from scikit import FEATURES, classes, holes, numbers, sums, words

QUIET = dict(n_estimators=5, max_depth=4, random_state=1, n_jobs=1)


def categories():
    """Two columns of numbers, three of small whole numbers that are categories."""
    x = numbers()
    x[:, 2:] = np.floor(np.abs(x[:, 2:]) * 2)
    return x


def light(estimator, x=numbers, y=classes, fit=(), **options):
    def make():
        estimator.set_params(verbose=-1, min_child_samples=5, num_leaves=7)
        estimator.fit(x(), y(), **dict(fit))
        inputs = [("X", FloatTensorType([None, FEATURES]))]
        return onnxmltools.convert_lightgbm(estimator, initial_types=inputs, target_opset=15, **options), {"X": x()}
    return make


def extreme(estimator, x=numbers, y=classes, **options):
    def make():
        estimator.fit(x(), y())
        inputs = [("X", FloatTensorType([None, FEATURES]))]
        return onnxmltools.convert_xgboost(estimator, initial_types=inputs, target_opset=15, **options), {"X": x()}
    return make


def yes():
    return classes(2)


def near():
    """Whole numbers that stand in no table."""
    return np.round(np.exp(0.3 * sums()))


MODELS = {
    "LightGBM-binary": light(lightgbm.LGBMClassifier(**QUIET), y=yes),
    "LightGBM-binary-plain": light(lightgbm.LGBMClassifier(**QUIET), y=yes, zipmap=False),
    "LightGBM-classes": light(lightgbm.LGBMClassifier(**QUIET)),
    "LightGBM-text": light(lightgbm.LGBMClassifier(**QUIET), y=words),
    "LightGBM-missing": light(lightgbm.LGBMClassifier(**QUIET), holes),
    "LightGBM-categories": light(lightgbm.LGBMClassifier(**QUIET), categories, yes, [("categorical_feature", [2, 3, 4])]),
    "LightGBM-forest": light(lightgbm.LGBMClassifier(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7, **QUIET), y=yes),
    "LightGBM-regressor": light(lightgbm.LGBMRegressor(**QUIET), y=sums),
    "LightGBM-poisson": light(lightgbm.LGBMRegressor(objective="poisson", **QUIET), y=near),
    "LightGBM-categories-regressor": light(lightgbm.LGBMRegressor(**QUIET), categories, sums, [("categorical_feature", [2, 3, 4])]),
    "LightGBM-ranker": light(lightgbm.LGBMRanker(**QUIET), fit=[("group", [40, 40, 40])]),
    "XGBoost-binary": extreme(xgboost.XGBClassifier(**QUIET), y=yes),
    "XGBoost-classes": extreme(xgboost.XGBClassifier(**QUIET)),
    "XGBoost-missing": extreme(xgboost.XGBClassifier(**QUIET), holes),
    "XGBoost-forest": extreme(xgboost.XGBRFClassifier(**QUIET)),
    "XGBoost-regressor": extreme(xgboost.XGBRegressor(**QUIET), y=sums),
    "XGBoost-poisson": extreme(xgboost.XGBRegressor(objective="count:poisson", **QUIET), y=near),
    "XGBoost-forest-regressor": extreme(xgboost.XGBRFRegressor(**QUIET), y=sums),
}
