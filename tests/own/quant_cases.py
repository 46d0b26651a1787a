"""com.microsoft's quantised operators, and forms of ONNX's own that its suite does not have."""

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.bool_): TensorProto.BOOL, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(np.int32): TensorProto.INT32,
         np.dtype(np.float32): TensorProto.FLOAT}
SCALAR = np.float32


def draw(dtype, *shape, seed=1, weight=False):
    """Weights of 7 bits: with 8, ONNX Runtime saturates sums of two products on machines without VNNI."""
    generator = np.random.default_rng(seed)
    if dtype == np.float32:
        return generator.normal(size=shape).astype(dtype)
    limits = np.iinfo(np.int16 if dtype == np.int32 else dtype)
    half = 2 if weight and dtype == np.int8 else 1
    return generator.integers(limits.min // half, limits.max // half + 1, size=shape).astype(dtype)


def single(name, op, inputs, result, constant=(), domain="com.microsoft", **attributes):
    """A model of one node. `inputs`: arrays in order, None where omitted; those whose position is in `constant` are part of
    the model, the others are fed."""
    names = ["" if v is None else f"in{i}" for i, v in enumerate(inputs)]
    fed = [i for i, v in enumerate(inputs) if v is not None and i not in constant]
    node = helper.make_node(op, names, ["y"], domain=domain, **attributes)
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info(names[i], TYPES[inputs[i].dtype], inputs[i].shape) for i in fed],
        [helper.make_tensor_value_info("y", TYPES[np.dtype(result[0])], result[1])],
        [numpy_helper.from_array(inputs[i], names[i]) for i in constant if inputs[i] is not None])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    return dict(name=name, group=op, model=model, inputs=[{names[i]: inputs[i] for i in fed}])


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def binary(name, op, dtype, zeros, constant=(1, 2, 3, 4, 5, 6, 7)):
    a, b = draw(dtype, 2, 3, 5), draw(dtype, 5, seed=2)
    scales = [number(v) for v in (0.031, 0.017, 0.043 if op == "QLinearAdd" else 0.03)]
    inputs = [a, scales[0], number(zeros[0], dtype), b, scales[1], number(zeros[1], dtype), scales[2], number(zeros[2], dtype)]
    return single(name, op, inputs, (dtype, [2, 3, 5]), constant)


def unary(name, op, dtype, shape, result, scale, zero, **attributes):
    inputs = [draw(dtype, *shape), number(0.05), number(3, dtype), number(scale), number(zero, dtype)]
    return single(name, op, inputs, (dtype, result), (1, 2, 3, 4), **attributes)


def mean(name, dtype, zeros, axes, keep):
    """QLinearReduceMean of [4][3][5], which no device of ONNX Runtime's runs here. zeros: of the input and of the result, or None."""
    inputs = [draw(dtype, 4, 3, 5), number(0.05), *(None if z is None else number(z, dtype) for z in zeros[:1]), number(0.043),
              *(number(z, dtype) for z in zeros[1:] if z is not None)]
    gone = [a % 3 for a in axes] or [0, 1, 2]
    shape = [1 if i in gone else n for i, n in enumerate((4, 3, 5)) if keep or i not in gone]

    def wanted(given):
        real = (given["in0"].astype(np.float64) - (zeros[0] or 0)) * np.float32(0.05)
        levels = np.rint(real.mean(tuple(gone), keepdims=bool(keep)) / np.float32(0.043)) + (zeros[1] or 0)
        return [np.clip(levels, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)]
    made = single(name, "QLinearReduceMean", inputs, (dtype, shape), range(1, len(inputs)), keepdims=keep)
    made["model"].graph.node[0].attribute.append(helper.make_attribute("axes", axes, attr_type=AttributeProto.INTS))
    return dict(made, wanted=wanted)


def conv(name, x, w, constant, group=1, per_channel=False, bias=True, zero=3, wzero=0, result=None, **attributes):
    outputs = w.shape[0]
    scales = np.linspace(0.01, 0.02, outputs, dtype=np.float32) if per_channel else number(0.013)
    wzeros = np.full(outputs, wzero, w.dtype) if per_channel else number(wzero, w.dtype)
    inputs = [x, number(0.02), number(zero, x.dtype), w, scales, wzeros, number(0.3), number(7, x.dtype),
              draw(np.int32, outputs, seed=5) if bias else None]
    return single(name, "QLinearConv", inputs, (x.dtype, result), constant, domain="", group=group, **attributes)


ALL = tuple(range(1, 9))
IMAGE_U, IMAGE_S = draw(np.uint8, 1, 5, 9, 11), draw(np.int8, 1, 5, 9, 11)
WEIGHT_S, WEIGHT_U = draw(np.int8, 7, 5, 3, 3, seed=3, weight=True), draw(np.uint8, 7, 5, 3, 3, seed=3)
SAME = dict(pads=[1, 1, 1, 1], result=[1, 7, 9, 11])

CONVOLUTIONS = [
    conv("qconv_constant", IMAGE_U, WEIGHT_S, ALL, **SAME),
    conv("qconv_constant_int8", IMAGE_S, WEIGHT_S, ALL, per_channel=True, zero=-5, **SAME),
    conv("qconv_weight_zero", IMAGE_U, WEIGHT_U, ALL, wzero=131, **SAME),
    conv("qconv_run_time_weights", IMAGE_U, WEIGHT_U, (1, 2, 4, 6, 7), wzero=120, **SAME),
    conv("qconv_strided", IMAGE_U, WEIGHT_S, ALL, strides=[2, 3], dilations=[2, 1], pads=[2, 0, 1, 2], result=[1, 7, 4, 4]),
    conv("qconv_grouped", draw(np.uint8, 2, 6, 5, 5), draw(np.int8, 4, 3, 3, 3, seed=3, weight=True), ALL, group=2, result=[2, 4, 3, 3]),
    conv("qconv_depthwise", draw(np.uint8, 1, 19, 8, 8), draw(np.int8, 19, 1, 3, 3, seed=3, weight=True), ALL, group=19, per_channel=True,
         pads=[1, 1, 1, 1], strides=[2, 2], result=[1, 19, 4, 4]),
    conv("qconv_depthwise_int8", draw(np.int8, 1, 40, 8, 8), draw(np.int8, 40, 1, 3, 3, seed=3, weight=True), ALL, group=40, zero=-128,
         pads=[1, 1, 1, 1], result=[1, 40, 8, 8]),
    conv("qconv_point", draw(np.uint8, 1, 37, 6, 7), draw(np.int8, 45, 37, 1, 1, seed=3, weight=True), ALL, result=[1, 45, 6, 7]),
]


def gemm(name, dtype, a, b, result, bias=None, float_result=False, alpha=1.0, constant=(1, 2, 3, 4, 5, 6, 7, 8), scale=0.01, zero=0, **attributes):
    """scale and zero: of b, one number or one for each column."""
    inputs = [a, number(0.02), number(4, a.dtype), b, number(scale), number(zero, b.dtype), bias]
    if not float_result:
        inputs += [number(0.5), number(2, a.dtype)]
    return single(name, "QGemm", inputs, (np.float32 if float_result else dtype, result),
                  tuple(i for i in constant if i < len(inputs)), alpha=alpha, **attributes)


A, B = draw(np.uint8, 6, 37), draw(np.int8, 37, 21, seed=2, weight=True)
PRODUCTS = [
    gemm("qgemm_bias", np.uint8, A, B, [6, 21], draw(np.int32, 21, seed=3)),
    gemm("qgemm_float", np.uint8, A, B, [6, 21], None, True, alpha=0.5),
    gemm("qgemm_transposed", np.uint8, A, np.ascontiguousarray(B.T), [6, 21], None, transB=1),
    gemm("qgemm_columns", np.uint8, A, B, [6, 21], draw(np.int32, 21, seed=3), scale=np.linspace(0.01, 0.03, 21), zero=np.zeros(21)),
    gemm("qgemm_columns_transposed", np.int8, A.astype(np.int8), np.ascontiguousarray(B.T), [6, 21], draw(np.int32, 1, 21, seed=3), alpha=0.75,
         scale=np.linspace(0.01, 0.03, 21), zero=np.zeros(21), transB=1),
    gemm("qgemm_columns_float", np.float32, A, draw(np.uint8, 37, 21, seed=2) // 2 + np.uint8(64), [6, 21], draw(np.int32, 21, seed=3), True,
         scale=np.linspace(0.01, 0.03, 21), zero=np.full(21, 128)),
    gemm("qgemm_bias_of_rows", np.uint8, A, B, [6, 21], draw(np.int32, 6, 1, seed=3)),
    gemm("qgemm_run_time", np.uint8, A, B, [6, 21], None, constant=(1, 2, 4, 5, 7, 8)),
    single("qmatmul_constant", "QLinearMatMul",
           [A, number(0.02), number(9, np.uint8), B, np.linspace(0.01, 0.03, 21, dtype=np.float32), np.zeros(21, np.int8), number(0.5),
            number(120, np.uint8)], (np.uint8, [6, 21]), (1, 2, 3, 4, 5, 6, 7), ""),
    single("matmul_integer_to_float", "MatMulIntegerToFloat",
           [A, B, number(0.1), draw(np.float32, 21, seed=4), number(9, np.uint8), None, draw(np.float32, 21, seed=5)],
           (np.float32, [6, 21]), (1, 2, 3, 4, 6)),
    single("dynamic_quantize_matmul", "DynamicQuantizeMatMul",
           [draw(np.float32, 4, 37), B, number(0.1), number(2, np.int8), draw(np.float32, 21, seed=5)], (np.float32, [4, 21]), (1, 2, 3, 4)),
    single("matmul_integer_constant", "MatMulInteger", [A, B, number(9, np.uint8), number(0, np.int8)], (np.int32, [6, 21]), (1, 2, 3), ""),
    single("matmul_integer_columns", "MatMulInteger", [A, B, number(9, np.uint8), draw(np.int8, 21, seed=8)], (np.int32, [6, 21]), (1, 2, 3), ""),
    single("matmul_integer_stack", "MatMulInteger", [draw(np.uint8, 2, 3, 5), draw(np.int8, 2, 5, 4, weight=True)], (np.int32, [2, 3, 4]), (), ""),
]

PARTS = [number(0.05), number(11, np.uint8)]
for i, shape in enumerate(((2, 3, 4), (2, 5, 4))):
    PARTS += [draw(np.uint8, *shape, seed=i), number(0.02 + 0.03 * i), number(7 * i, np.uint8)]

BETWEEN = [
    binary("qlinear_add", "QLinearAdd", np.uint8, (3, 120, 60)),
    binary("qlinear_add_int8", "QLinearAdd", np.int8, (3, -120, 6)),
    binary("qlinear_mul", "QLinearMul", np.uint8, (3, 120, 60)),
    binary("qlinear_mul_run_time", "QLinearMul", np.int8, (3, -100, 6), ()),
    unary("qlinear_sigmoid", "QLinearSigmoid", np.uint8, (2, 9), [2, 9], 1 / 256, 0),
    unary("qlinear_leaky_relu", "QLinearLeakyRelu", np.int8, (2, 9), [2, 9], 0.04, -4, alpha=0.2),
    unary("qlinear_softmax", "QLinearSoftmax", np.uint8, (2, 9), [2, 9], 1 / 256, 0, axis=-1, opset=13),
    unary("qlinear_global_average_pool", "QLinearGlobalAveragePool", np.uint8, (2, 9, 5, 7), [2, 9, 1, 1], 0.04, 1),
    unary("qlinear_average_pool", "QLinearAveragePool", np.uint8, (2, 9, 6, 8), [2, 9, 3, 4], 0.0613, 1, kernel_shape=[2, 2], strides=[2, 2]),
    unary("qlinear_average_pool_padded", "QLinearAveragePool", np.uint8, (1, 9, 6, 8), [1, 9, 6, 8], 0.0613, 1, kernel_shape=[3, 3],
          pads=[1, 1, 1, 1]),
    single("qlinear_where", "QLinearWhere", [draw(np.uint8, 2, 3, 1, seed=3) > 99, draw(np.uint8, 2, 1, 5), number(0.02), number(7, np.uint8),
                                             draw(np.uint8, 3, 5, seed=2), number(0.07), number(99, np.uint8), number(0.05), number(30, np.uint8)],
           (np.uint8, [2, 3, 5]), (2, 3, 5, 6, 7, 8)),
    *[mean(f"qlinear_reduce_mean_{n}", dtype, zeros, axes, keep) for n, (dtype, zeros, axes, keep) in enumerate([
        (np.uint8, (7, 20), [1], 1), (np.int8, (-3, 5), [-1, 0], 0), (np.uint8, (None, None), [], 0), (np.int8, (4, None), [0, 1, 2], 1)])],
    single("qlinear_concat", "QLinearConcat", PARTS, (np.uint8, [2, 8, 4]), (0, 1, 3, 4, 6, 7), axis=1),
    single("msft_dequantize", "DequantizeLinear", [draw(np.uint8, 2, 3, 4), draw(np.float32, 3) ** 2, draw(np.uint8, 3)],
           (np.float32, [2, 3, 4]), (1, 2), axis=1),
    single("msft_quantize", "QuantizeLinear", [draw(np.float32, 2, 3, 4), draw(np.float32, 3) ** 2 + SCALAR(0.01), draw(np.int8, 3)],
           (np.int8, [2, 3, 4]), (1, 2), axis=1),
]

# QDQ graphs: what a pass turns into integers, and where it must not.


class Graph:
    """Builds a QDQ graph around one float input `x`; scales are chosen so that no result lies halfway between two steps."""

    def __init__(self, *shape):
        self.shape, self.nodes, self.constants, self.count = shape, [], [], 0

    def constant(self, value):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{self.count}"))
        return f"c{self.count}"

    def add(self, op, *inputs, **attributes):
        self.count += 1
        names = [v if isinstance(v, str) else self.constant(v) for v in inputs]
        self.nodes.append(helper.make_node(op, names, [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def quantise(self, value, scale=0.0313, zero=np.uint8(121)):
        return self.add("QuantizeLinear", value, np.float32(scale), zero)

    def through(self, value, scale=0.0313, zero=np.uint8(121)):
        return self.add("DequantizeLinear", self.quantise(value, scale, zero), np.float32(scale), zero)

    def weight(self, *shape, axis=0, seed=3, small=True):
        scale = np.linspace(0.011, 0.017, shape[axis], dtype=np.float32)
        return self.add("DequantizeLinear", draw(np.int8, *shape, seed=seed, weight=small), scale, np.zeros(shape[axis], np.int8), axis=axis)

    def case(self, name, *outputs):
        info = [helper.make_empty_tensor_value_info(v) for v in outputs]
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)], info,
                                  self.constants)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        x = np.random.default_rng(4).normal(size=self.shape).astype(np.float32)
        return dict(name=name, group="QDQ", model=model, inputs=[dict(x=x)])


def qdq_conv(name, zero, relu=False, shared=False, bias=None, shape=(1, 5, 9, 9), **attributes):
    g = Graph(*shape)
    x = g.through("x", zero=zero)
    operands = [x, g.weight(6, 5 // attributes.get("group", 1), 3, 3)]
    y = g.add("Conv", *operands, *([bias] if bias is not None else []), pads=[1, 1, 1, 1], **attributes)
    outputs = [y] if shared else []
    y = g.add("Relu", y) if relu else y
    return g.case(name, *outputs, g.through(y, 0.0931, zero))


def qdq_short_rows(name, kernel, zero, step, shape=(2, 64, 27, 29)):
    """Rows of 15 results, of which one is left over by tiles: windows of several rows are gathered."""
    g = Graph(*shape)
    weight = g.weight(72, shape[1], kernel, kernel, small=False)
    y = g.add("Conv", g.through("x", zero=zero), weight, strides=[2, 2], pads=[kernel // 2] * 4)
    return g.case(name, g.through(y, step, zero))


def qdq_conv_transpose(name, zero, kernel, bias=None, shape=(1, 5, 6, 7), relu=False, outputs=6, **attributes):
    g = Graph(*shape)
    x = g.through("x", zero=zero)
    weight = g.weight(shape[1], outputs // attributes.get("group", 1), *kernel, axis=1)
    y = g.add("ConvTranspose", x, weight, *([bias] if bias is not None else []), kernel_shape=kernel, **attributes)
    y = g.add("Relu", y) if relu else y
    return g.case(name, g.through(y, 0.0931, zero))


def qdq_table(name, zero, to, *steps, shape=(1, 40, 6, 6)):
    """A chain of operators of one quantised tensor, which is a table of its bytes where the tensor is large."""
    g = Graph(*shape)
    bytes_ = g.quantise("x", zero=zero)
    x = y = g.add("DequantizeLinear", bytes_, np.float32(0.0313), zero)
    for op in steps:
        y = g.through(g.add(op, y, x) if op == "Mul" else g.add(op, y), 0.0171, zero)
    return g.case(name, bytes_, g.quantise(y, 0.0131, to))


def qdq_gelu(shape=(1, 40, 6, 6)):
    """A chain whose numbers are quantised constants: it depends on one byte only, as one with numbers of floats does."""
    g = Graph(*shape)
    number_of = lambda value: g.add("DequantizeLinear", np.uint8(255), np.float32(value / 255), np.uint8(0))
    bytes_ = g.quantise("x")
    x = g.add("DequantizeLinear", bytes_, np.float32(0.0313), np.uint8(121))
    y = g.through(g.add("Erf", g.through(g.add("Div", x, number_of(1.4142135)), 0.0171)), 0.0079, np.uint8(127))
    y = g.through(g.add("Mul", x, g.through(g.add("Add", y, number_of(1.0)), 0.0083, np.uint8(0))), 0.0457)
    return g.case("qdq_gelu", bytes_, g.quantise(g.add("Mul", y, number_of(0.5)), 0.0233, np.uint8(9)))


def qdq_residual():
    g = Graph(1, 8, 6, 6)
    x = g.through("x")
    y = g.through(g.add("Conv", x, g.weight(8, 8, 3, 3), pads=[1, 1, 1, 1]), 0.0731)
    y = g.through(g.add("Relu", g.add("Add", y, x)), 0.0517)
    y = g.through(g.add("GlobalAveragePool", y), 0.0113)
    y = g.through(g.add("Flatten", y), 0.0113)
    return g.case("qdq_residual", g.add("Gemm", y, g.weight(7, 8, axis=0), draw(np.float32, 7, seed=5), transB=1))


def qdq_strips_of_floats():
    """Strips of a convolution of floats, whose kernel does not store the bytes that the next one reads."""
    g = Graph(1, 5, 10, 9)
    y = g.through(g.add("Conv", "x", draw(np.float32, 5, 5, 3, 3, seed=6), pads=[1, 1, 1, 1]), 0.0931)
    y = g.through(g.add("Conv", y, g.weight(5, 1, 3, 3), pads=[1, 1, 1, 1], group=5), 0.0513)
    return g.case("qdq_strips_of_floats", y) | {"flags": ["--cascade=on"]}


def qdq_moves():
    g = Graph(1, 4, 8, 8)
    x = g.through("x")
    a = g.through(g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    b = g.through(g.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.0291)
    y = g.through(g.add("Concat", a, b, axis=1))
    y = g.through(g.add("Transpose", y, perm=[0, 2, 3, 1]))
    return g.case("qdq_moves", g.add("MatMul", y, g.weight(8, 5, axis=1)))


def qdq_resize():
    """Nearest neighbours are picked among bytes; what is computed between elements stays among floats."""
    g = Graph(1, 4, 6, 5)
    y = g.through(g.add("Conv", g.through("x"), g.weight(6, 4, 1, 1)), 0.0931)
    sizes, scales = np.array([1, 6, 12, 10], np.int64), np.array([1, 1, 2, 1.5], np.float32)
    picked = [g.add("Resize", y, "", "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
              g.add("Resize", y, "", scales), g.add("Resize", y, "", scales, mode="linear")]
    crop = g.add("Resize", y, np.array([0, 0, 0.13, 0.22, 1, 1, 1.2, 0.9], np.float32), "", sizes,
                 coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=1.7)
    return g.case("qdq_resize", *[g.through(v, scale) for v, scale in zip((*picked, crop), (0.0931, 0.0931, 0.0517, 0.0931))])


def qdq_turned():
    """A product of floats becomes bytes of a concatenation, whose rows are columns in memory as those of its other member are."""
    g = Graph(5, 4, 2)
    turned = g.add("Transpose", "x", perm=[0, 2, 1])
    x, copied = g.through(turned), g.through(turned)
    y = g.through(g.add("MatMul", g.through(g.add("MatMul", x, "x"), 0.0713), turned), 0.0607)
    return g.case("qdq_turned", g.through(g.add("Concat", copied, y, axis=0)))


def qdq_bytes():
    """The bytes themselves are the result, of a convolution with and without integers."""
    g = Graph(1, 4, 5, 5)
    x = g.through("x")
    y = g.quantise(g.add("Conv", x, g.weight(3, 4, 1, 1)), 0.0931, np.int8(-7))
    z = g.quantise(g.add("Conv", "x", draw(np.float32, 3, 4, 1, 1, seed=6)), 0.0931, np.int8(-7))
    return g.case("qdq_bytes", y, z)


def dynamic(name, op, weights, zero=None, more=(), rescaled=True, channels=5, **attributes):
    """Bytes whose scale and zero point the run finds, times constant ones; the sums are needed as floats, or as they are too."""
    g = Graph(*((1, channels, 9, 9) if op == "ConvInteger" else (2, 6, 37)))
    outputs = ["q", "scale", "zero"]
    g.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], outputs))
    sums = g.add(op, "q", weights, "zero", *([] if zero is None else [zero]), **attributes)
    y = g.add("Cast", sums, to=TensorProto.FLOAT)
    if rescaled:
        y = g.add("Add", g.add("Mul", y, g.add("Mul", "scale", np.float32(0.013))), draw(np.float32, *more, seed=6))
    return g.case(name, y, *([] if rescaled else [sums]))


DYNAMIC = [
    dynamic("dynamic_product", "MatMulInteger", draw(np.int8, 37, 21, seed=2, weight=True), np.int8(0), (21,)),
    dynamic("dynamic_product_columns", "MatMulInteger", draw(np.uint8, 37, 21, seed=2) // 2 + np.uint8(64), np.full(21, 128, np.uint8), (21,)),
    dynamic("dynamic_product_wide_weights", "MatMulInteger", draw(np.uint8, 37, 21, seed=2), np.uint8(3), (21,)),
    dynamic("dynamic_product_sums_too", "MatMulInteger", draw(np.int8, 37, 21, seed=2, weight=True), np.int8(0), rescaled=False),
    dynamic("dynamic_conv", "ConvInteger", draw(np.int8, 6, 5, 3, 3, seed=3, weight=True), np.int8(0), (6, 1, 1), pads=[1, 1, 1, 1]),
    dynamic("dynamic_conv_patches", "ConvInteger", draw(np.int8, 6, 3, 4, 4, seed=3, weight=True), np.int8(0), (6, 1, 1), channels=3, strides=[4, 4]),
    dynamic("dynamic_conv_few_channels", "ConvInteger", draw(np.int8, 6, 2, 3, 3, seed=3, weight=True), np.int8(0), (6, 1, 1), channels=2,
            pads=[1, 2, 0, 1]),
    dynamic("dynamic_conv_depthwise", "ConvInteger", draw(np.uint8, 5, 1, 3, 3, seed=3) // 2 + np.uint8(64), np.uint8(120), (5, 1, 1),
            pads=[2, 0, 1, 1], strides=[2, 1], group=5),
]

QDQ = [
    qdq_conv("qdq_conv", np.uint8(121)),
    qdq_short_rows("qdq_short_rows", 3, np.uint8(121), 0.37),
    qdq_short_rows("qdq_short_rows_of_points", 1, np.int8(-3), 0.13),
    qdq_conv("qdq_conv_relu_int8", np.int8(-3), relu=True, bias=draw(np.float32, 6, seed=5)),
    qdq_conv("qdq_conv_needed_elsewhere", np.int8(-3), relu=True, shared=True),
    qdq_conv("qdq_conv_dilated", np.uint8(121), dilations=[2, 2]),
    qdq_conv_transpose("qdq_conv_transpose", np.uint8(121), [4, 4], draw(np.float32, 6, seed=5), strides=[2, 2], pads=[1, 1, 1, 1]),
    qdq_conv_transpose("qdq_conv_transpose_relu_int8", np.int8(-3), [2, 3], relu=True, strides=[2, 3]),
    qdq_conv_transpose("qdq_conv_transpose_overlaps", np.uint8(90), [5, 3], strides=[2, 1], pads=[4, 0, 2, 2]),
    qdq_conv_transpose("qdq_conv_transpose_line", np.uint8(3), [4], shape=(2, 17, 9), outputs=33, strides=[3], pads=[0, 1]),
    qdq_conv_transpose("qdq_conv_transpose_grouped", np.uint8(121), [3, 3], shape=(1, 6, 4, 4), strides=[2, 2], group=2),
    qdq_conv_transpose("qdq_conv_transpose_longer", np.uint8(121), [3, 3], strides=[2, 2], output_padding=[1, 0]),
    qdq_table("qdq_table", np.uint8(121), np.uint8(90), "Sigmoid", "Mul"),
    qdq_table("qdq_table_int8", np.int8(-3), np.int8(7), "Erf", "Mul", "Tanh"),
    qdq_table("qdq_table_small", np.uint8(121), np.uint8(90), "Sigmoid", "Mul", shape=(1, 4, 6, 6)),
    qdq_gelu(), qdq_residual(), qdq_strips_of_floats(), qdq_moves(), qdq_resize(), qdq_turned(), qdq_bytes(),
]


def blocked(*shape):
    """Scales and zero points for blocks of every axis, in sizes that divide it and that leave a last block of less; then back."""
    nodes, constants, outputs = [], {}, []
    for axis in range(len(shape)):
        for block in (2, 3, 4, 50):
            name = f"{axis}_{block}"
            of = [-(-n // block) if i == axis else n for i, n in enumerate(shape)]
            constants[f"s{name}"] = np.random.default_rng(block).uniform(0.01, 0.1, of).astype(np.float32)
            constants[f"z{name}"] = draw(np.int8, *of, seed=axis) // np.int8(4)
            for op, given, made in (("Quantize", "x", "q"), ("Dequantize", f"q{name}", "y")):
                nodes.append(helper.make_node(f"{op}Linear", [given, f"s{name}", f"z{name}"], [f"{made}{name}"], axis=axis, block_size=block))
            outputs += [helper.make_tensor_value_info(f"q{name}", TensorProto.INT8, shape),
                        helper.make_tensor_value_info(f"y{name}", TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "blocked", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], outputs,
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    return dict(name=f"blocked_of_{len(shape)}_axes", group="QuantizeLinear", model=model, inputs=[dict(x=draw(np.float32, *shape) * 3)],
                oracle="runtime" if len(shape) > 1 else "reference")  # ONNX Runtime takes a block of a whole vector for no block


QDQ += [blocked(7), blocked(6, 7), blocked(3, 6, 5)]

CASES = CONVOLUTIONS + PRODUCTS + BETWEEN + QDQ + DYNAMIC
