"""Operators that no official case shows: those of com.microsoft that exporters emit, and a few of ONNX."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
MSFT, ML = "com.microsoft", "ai.onnx.ml"


def draw(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def single(name, op, feeds, out, domain="", constants=None, kind=FLOAT, **attributes):
    """One node: its inputs are the feeds, then the constants; `out`: shape of the output."""
    constants = constants or {}
    node = helper.make_node(op, [*feeds, *constants], ["y"], domain=domain, **attributes)
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype) if v.dtype != object else TensorProto.STRING,
                                            v.shape) for n, v in feeds.items()]
    graph = helper.make_graph([node], name, inputs, [helper.make_tensor_value_info("y", kind, out)],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MSFT, 1),
                                                                   helper.make_opsetid(ML, 1)])
    return dict(name=name, group=op, model=model, inputs=[feeds])


ROWS = {"x": draw(2, 3, 8)}
IMAGE = {"x": draw(1, 3, 6, 5)}

CASES = [
    single("gelu_of_msft", "Gelu", ROWS, (2, 3, 8), MSFT),
    single("quick_gelu", "QuickGelu", ROWS, (2, 3, 8), MSFT, alpha=1.5),
    single("fast_gelu", "FastGelu", ROWS, (2, 3, 8), MSFT),
    single("fast_gelu_bias", "FastGelu", ROWS, (2, 3, 8), MSFT, {"bias": draw(8, seed=4)}),
    single("skip_layer_norm", "SkipLayerNormalization", {**ROWS, "skip": draw(2, 3, 8, seed=5)}, (2, 3, 8), MSFT,
           {"gamma": draw(8, seed=6), "beta": draw(8, seed=7), "bias": draw(8, seed=8)}, epsilon=1e-4),
    single("fused_matmul", "FusedMatMul", {"a": draw(2, 4, 3), "b": draw(2, 5, 4, seed=9)}, (2, 3, 5), MSFT,
           alpha=0.5, transA=1, transB=1),
    single("fused_gemm", "FusedGemm", {"a": draw(3, 4)}, (3, 5), MSFT, {"b": draw(4, 5, seed=9), "c": draw(5, seed=4)},
           activation="LeakyRelu", activation_alpha=0.1, alpha=0.5, beta=2.0),
    single("fused_conv", "FusedConv", IMAGE, (1, 4, 6, 5), MSFT, {"w": draw(4, 3, 3, 3, seed=9), "b": draw(4, seed=4)},
           activation="Relu", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    single("fused_conv_clip", "FusedConv", IMAGE, (1, 4, 4, 3), MSFT, {"w": draw(4, 3, 3, 3, seed=9)}, activation="Clip",
           activation_params=[0.0, 2.0]),
    single("global_lp_pool", "GlobalLpPool", IMAGE, (1, 3, 1, 1)),
    single("global_lp_pool_1", "GlobalLpPool", IMAGE, (1, 3, 1, 1), p=1),
    single("max_roi_pool", "MaxRoiPool", {**IMAGE, "rois": np.array([[0, 0, 0, 4, 5], [0, 1, 2, 3, 4]], np.float32)},
           (2, 3, 2, 2), pooled_shape=[2, 2]),
    single("feature_vectorizer", "FeatureVectorizer", {"a": draw(2, 3), "b": draw(2, 2, seed=9)}, (2, 5), ML,
           inputdimensions=[3, 2]),
    single("category_mapper_to_text", "CategoryMapper", {"x": np.array([[2, 7, 5]])}, (1, 3), ML, kind=TensorProto.STRING,
           cats_int64s=[5, 7], cats_strings=["five", "seven"], default_string="none"),
    single("category_mapper_to_numbers", "CategoryMapper", {"x": np.array([["seven", "five", "two"]], object)}, (1, 3), ML,
           kind=INT64, cats_int64s=[5, 7], cats_strings=["five", "seven"], default_int64=-1),
]
