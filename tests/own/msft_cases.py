"""Operators of com.microsoft as exporters of transformers write them: attributes in combination, each at several extents. Attention:
attention_cases.py."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from node_case import LONG, Feed, case, constant, elsewhere_only, over, run, whole

# ------------------------------------------------------------------------------------------------- activations and norms

WIDTH = 24
X = Feed("b", "s", WIDTH)
HALF = Feed("b", "s", WIDTH, dtype=np.float16)
SCALE, SHIFT, BIAS = (constant(WIDTH, seed=i) for i in (4, 5, 6))

NORMS = [
    case("msft_bias_gelu", "BiasGelu", [X, BIAS], sizes=LONG),
    case("msft_fast_gelu", "FastGelu", [X, BIAS], sizes=LONG),
    case("msft_fast_gelu_alone", "FastGelu", [X], sizes=LONG),
    case("msft_quick_gelu", "QuickGelu", [X], sizes=LONG, alpha=1.3),
    case("msft_gelu", "Gelu", [X], sizes=LONG),
    elsewhere_only("msft_bias_split_gelu", "BiasSplitGelu", [X, BIAS], sizes=LONG),
    elsewhere_only("msft_bias_split_gelu_channels", "BiasSplitGelu", [Feed("b", "s", "d"), Feed("d")], sizes=over(b=(1, 2, 2), s=(1, 4, 7), d=(2, 6, 10))),
    elsewhere_only("nhwc_conv", "NhwcConv", [Feed("b", "h", 9, 6), constant(8, 3, 3, 2), constant(8)], sizes=over(b=(1, 2), h=(4, 9)), group=2,
                   kernel_shape=[3, 2], strides=[2, 1], dilations=[1, 2], pads=[1, 0, 2, 1]),
    elsewhere_only("nhwc_conv_line", "NhwcConv", [Feed("b", "w", 4), Feed(5, 4, 3)], sizes=over(b=(1, 2), w=(3, 8)), kernel_shape=[3],
                   auto_pad="SAME_LOWER"),
    elsewhere_only("nhwc_conv_volume", "NhwcConv", [Feed(1, 3, 4, 5, 2), constant(3, 2, 2, 2, 2)], kernel_shape=[2, 2, 2]),
    case("qlinear_where_extents", "QLinearWhere", [
        Feed("b", 1, dtype=np.bool_, make=whole(0, 1)), Feed("b", "s", dtype=np.int8, make=whole(-128, 127)), np.float32(0.02), np.int8(-5),
        Feed("s", dtype=np.int8, make=whole(-128, 127)), np.float32(0.07), np.int8(9), np.float32(0.05), np.int8(3)], sizes=over(b=(1, 3), s=(2, 9))),
    case("simplified_norm", "SimplifiedLayerNormalization", [X, SCALE], sizes=LONG, domain="", axis=-1, epsilon=1e-6, stash_type=1),
    case("simplified_norm_root", "SimplifiedLayerNormalization", [X, SCALE], 2, LONG, "", axis=2, epsilon=1e-3),
    case("simplified_norm_planes", "SimplifiedLayerNormalization", [Feed("b", 5, 7), constant(5, 7)], 2, over(b=(1, 4)), "", axis=1),
    dict(case("simplified_norm_msft", "SimplifiedLayerNormalization", [X, SCALE], sizes=LONG, epsilon=1e-2),  # unknown to ONNX Runtime
         wanted=lambda given: [given["in0"] / np.sqrt(np.mean(given["in0"]**2, -1, keepdims=True) + np.float32(1e-2)) * SCALE]),
    case("simplified_norm_half", "SimplifiedLayerNormalization", [HALF, SCALE.astype(np.float16)], sizes=LONG, domain=""),
    case("skip_norm", "SkipLayerNormalization", [X, X, SCALE, SHIFT, BIAS], [1, 0, 0, 1], LONG, epsilon=1e-5),
    case("skip_norm_no_shift", "SkipLayerNormalization", [X, X, SCALE], sizes=LONG),
    case("skip_norm_no_batch", "SkipLayerNormalization", [X, Feed("s", WIDTH), SCALE, SHIFT], sizes=LONG),
    case("skip_norm_one_batch", "SkipLayerNormalization", [X, Feed(1, "s", WIDTH), SCALE, None, BIAS], [1, 0, 0, 1], LONG),
    case("skip_norm_half", "SkipLayerNormalization", [HALF, HALF, SCALE.astype(np.float16), SHIFT.astype(np.float16)], sizes=LONG),
    case("skip_simplified", "SkipSimplifiedLayerNormalization", [X, X, SCALE], [1, 0, 0, 1], LONG, epsilon=1e-6),
    case("skip_simplified_bias", "SkipSimplifiedLayerNormalization", [X, X, SCALE, BIAS], sizes=LONG),
    case("skip_simplified_tokens", "SkipSimplifiedLayerNormalization", [Feed("n", WIDTH), Feed("n", WIDTH), SCALE], [1, 0, 0, 1],
         over(n=(1, 4, 9))),
]

def elsewhere():
    """The norm under com.microsoft's name, which ONNX Runtime knows under ONNX's only."""
    inputs = [X, SCALE]
    plain = case("simplified_norm_elsewhere", "SimplifiedLayerNormalization", inputs, sizes=LONG, domain="", epsilon=1e-4)["model"]
    made = case("simplified_norm_elsewhere", "SimplifiedLayerNormalization", inputs, sizes=LONG, epsilon=1e-4)
    return dict(made, wanted=lambda given: run(plain, given))


NORMS.append(elsewhere())

# ------------------------------------------------------------------------------------------------------------ embeddings

IDS = Feed("b", "s", dtype=np.int32, make=whole(0, 10))
SEGMENTS = Feed("b", "s", dtype=np.int32, make=whole(0, 1))
MASK = Feed("b", "s", dtype=np.int32, make=whole(0, 1))
TABLES = [constant(11, WIDTH, seed=1), constant(9, WIDTH, seed=2), constant(2, WIDTH, seed=3)]


def embed(name, segments=True, mask=True, positions=None, outputs=(1, 1), **attributes):
    inputs = [IDS, SEGMENTS if segments else None, *TABLES[:2], TABLES[2] if segments else None, SCALE, SHIFT, MASK if mask else None, positions]
    while inputs[-1] is None:
        inputs.pop()
    return case(name, "EmbedLayerNormalization", inputs, list(outputs), LONG, **attributes)


EMBEDDINGS = [
    embed("embed_norm", epsilon=1e-5),
    embed("embed_norm_no_mask", mask=False),
    embed("embed_norm_sum", segments=False, outputs=(1, 1, 1)),
    embed("embed_norm_positions", positions=Feed("b", "s", dtype=np.int32, make=whole(0, 8)), outputs=(1, 0, 1)),
    embed("embed_norm_one_row", positions=Feed(1, "s", dtype=np.int32, make=whole(0, 8))),
]

# -------------------------------------------------------------------------------------------------------- fused products

SIZES = over(m=(1, 3, 8), k=(1, 5, 9), b=(1, 2, 4))


def stored(rows, columns, swap, apart):
    """[b][3][rows][columns] as FusedMatMul stores it: swapped, and with its batch between both."""
    first, last = (columns, rows) if swap else (rows, columns)
    return Feed(first, "b", 3, last) if apart else Feed("b", 3, first, last)


FUSED = [case(f"fused_matmul_{a}{b}{c}{d}", "FusedMatMul", [stored("m", "k", a, c), stored("k", 7, b, d)], sizes=SIZES, transA=a, transB=b,
              transBatchA=c, transBatchB=d, alpha=0.5) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)]
FUSED += [
    case("fused_matmul_vector", "FusedMatMul", [Feed("m"), Feed("m", 5)], sizes=SIZES, transA=1),
    case("fused_gemm_rows", "FusedGemm", [Feed("k", "m"), constant(7, 9), constant(7)], sizes=over(k=(9, 9), m=(1, 4)), transA=1, transB=1, alpha=0.5,
         beta=2.0, activation="LeakyRelu", activation_alpha=0.2),
    case("fused_gemm_hard", "FusedGemm", [Feed("m", 9), constant(9, 7)], sizes=over(m=(1, 4)), activation="HardSigmoid", activation_alpha=0.3,
         activation_beta=0.4),
]

# ---------------------------------------------------------------------------------------------------- weights of few bits


def few_bits(name, bits=4, block=32, k=64, n=11, zero=None, group=False, bias=False, dtype=np.float32, fed=False, lengths=(1, 5, 4), **attributes):
    """zero: None, "packed" or "float". Rows are 1, 5 and 8: fewer and more than a kernel takes together. The magnitudes of terms add up
    to 33, so that ONNX Runtime and occamyc are off by a millionth each."""
    blocks = -(-k // block)
    weights = constant(n, blocks, block * bits // 8, dtype=np.uint8, make=whole(0, 255), seed=21)
    scales = (constant(n, blocks, seed=22) * 0.05 * 2.0 ** (4 - bits)).astype(dtype)
    zeros = {"packed": constant(n, -(-blocks * bits // 8), dtype=np.uint8, make=whole(0, 255), seed=23),
             "float": (constant(n, blocks, seed=23) * 2 + 2 ** (bits - 1)).astype(dtype), None: None}[zero]
    groups = constant(blocks * block, dtype=np.int32, make=whole(0, blocks - 1), seed=24) if group else None
    if fed:
        weights = Feed(*weights.shape, dtype=np.uint8, make=whole(0, 255))
    inputs = [Feed("b", "s", k, dtype=dtype), weights, scales, zeros, groups, constant(n, seed=25).astype(dtype) if bias else None]
    while inputs[-1] is None:
        inputs.pop()
    return dict(case(name, "MatMulNBits", inputs, 1, over(b=(1, 1, 2), s=lengths), K=k, N=n, bits=bits, block_size=block, **attributes), atol=4e-6)


def groups_wanted(inputs):
    """ONNX Runtime drops packed zero points where there is g_idx; the operator's text has one for each block."""
    values = {t.name: numpy_helper.to_array(t) for t in few_bits("nbits_groups", k=90, group=True, zero="packed")["model"].graph.initializer}
    nibbles = [np.stack([v & 15, v >> 4], -1).reshape(11, -1).astype(np.float64) for v in (values["in1"], values["in3"])]
    block = values["in4"][:90]
    weights = (nibbles[0][:, :90] - nibbles[1][:, block]) * values["in2"][:, block]
    return [(inputs["in0"] @ weights.T).astype(np.float32)]


def groups_of_two_bits_wanted(inputs):
    """ONNX Runtime's answer for 2 bits with g_idx is another one in each session."""
    values = {t.name: numpy_helper.to_array(t) for t in few_bits("nbits_2_groups", 2, k=90, group=True, zero=None)["model"].graph.initializer}
    pairs = np.stack([values["in1"] >> s & 3 for s in (0, 2, 4, 6)], -1).reshape(11, -1).astype(np.float64)
    weights = (pairs[:, :90] - 2) * values["in2"][:, values["in4"][:90]]
    return [(inputs["in0"] @ weights.T).astype(np.float32)]


FEW = [few_bits(f"nbits_{b}_{s}", b, s, k=s * 2 if s < 100 else s + 40) for b in (2, 4, 8) for s in (16, 32, 64, 128, 256)]
FEW += [few_bits(f"nbits_{b}_of_many_rows", b, k=200, n=75, zero=z, bias=True, lengths=(1, 9, 20)) for b, z in ((2, None), (4, "packed"), (8, None))]
FEW += [few_bits(f"nbits_{b}_{z}", b, 32, k=100, zero=z, bias=True) for b, z in ((2, "packed"), (2, "float"), (4, "packed"), (4, "float"), (8, "packed"))]
FEW += [
    dict(few_bits("nbits_groups", k=90, group=True, zero="packed"), wanted=groups_wanted),
    dict(few_bits("nbits_2_groups", 2, k=90, group=True, zero=None), wanted=groups_of_two_bits_wanted),
    few_bits("nbits_groups_float", k=90, group=True, bias=True, zero="float"),
    few_bits("nbits_fed", fed=True, k=70),
    few_bits("nbits_half", dtype=np.float16, bias=True, zero="packed"),
    few_bits("nbits_level", accuracy_level=1),
]
# Inputs rounded to bytes; with zero points of floats ONNX Runtime does not round them.
FEW += [few_bits(f"nbits_bytes_{s}", 4, s, k=s * 2 if s < 100 else s + 40, zero=z, bias=True, lengths=(1, 2, 20), accuracy_level=4)
        for s, z in ((16, None), (32, "packed"), (64, None), (128, "packed"), (256, None))]
FEW += [
    few_bits("nbits_bytes_wide", k=200, n=75, zero="packed", lengths=(3, 4, 70), accuracy_level=4),
    few_bits("nbits_bytes_zeros", k=100, zero="float", accuracy_level=4),
    few_bits("nbits_bytes_groups", k=90, group=True, accuracy_level=4),
    few_bits("nbits_bytes_half", dtype=np.float16, bias=True, zero="packed", accuracy_level=4),
]

def table(name, bits=4, zero=True, width=64, shape=(9,), block=16, dtype=np.uint8, kind=None, gather=0, quantised=None, index=(-12, 12),
          scale=np.float32):
    """kind: "int4" or "uint4", elements of the table; else they are packed in bytes along the last axis. Indices outside pick zeros."""
    each = 1 if kind else 8 // bits
    extents = [*shape, width]
    quantised = len(extents) - 1 if quantised is None else quantised
    blocks = list(extents)
    blocks[quantised] = -(-extents[quantised] // block)
    packed, fewer = list(extents), list(blocks)
    packed[-1] //= each
    fewer[-1] = -(-fewer[-1] // each)
    low, high = {"int4": (-8, 7), "uint4": (0, 15), None: (0, 255)}[kind]
    data, zeros = (constant(*e, dtype=np.int32, make=whole(low, high), seed=s) for e, s in ((packed, 31), (fewer, 32)))
    inputs = [data, Feed("b", "s", dtype=np.int64, make=whole(*index)), constant(*blocks, seed=33).astype(scale), zeros if zero else None]
    code = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, None: TensorProto.UINT8}[kind]
    made = case(name, "GatherBlockQuantized", inputs if zero else inputs[:3], 1, over(b=(1, 2, 3), s=(1, 3, 8)), bits=bits, block_size=block,
                gather_axis=gather, quantize_axis=quantised)
    for tensor in made["model"].graph.initializer:
        if tensor.name in ("in0", "in3"):
            values = numpy_helper.to_array(tensor)
            tensor.CopyFrom(helper.make_tensor(tensor.name, code, values.shape, values.flatten().tolist()))
    return made


TABLES_OF_BITS = [table(f"table_{b}_{z}", b, z) for b in (2, 4, 8) for z in (False, True)]
TABLES_OF_BITS += [table(f"table_{k}_{z}", 4, z, kind=k) for k in ("int4", "uint4") for z in (False, True)]
TABLES_OF_BITS += [
    table("table_short_block", width=72, block=32),
    table("table_odd_blocks", 2, width=100, block=32),
    table("table_deep", shape=(9, 3)),
    table("table_axis", kind="int4", shape=(40,), width=5, gather=1, quantised=0, index=(-6, 6)),
    table("table_axis_odd", kind="uint4", shape=(3, 21), width=7, gather=0, quantised=1, index=(-3, 2)),
    table("table_half", scale=np.float16),
]

# ------------------------------------------------------------------------------------------------- quantised neighbours

BLOCKS = Feed("b", 6, "s")
STEP6, ZERO6 = constant(6, make=lambda g, s, d: g.uniform(0.01, 0.05, s)), constant(6, dtype=np.int32, make=whole(0, 7))


def bytes_of(low, high, dtype):
    return Feed("b", 6, "s", dtype=dtype, make=whole(low, high))


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def product(name, op, a, b, inputs, sizes=None, **attributes):
    return case(name, op, [a, b, *inputs], 1, sizes or over(b=(1, 2, 3), s=(1, 4, 9)), **attributes)


ROWS_U, ROWS_S = (Feed("b", "s", 20, dtype=d, make=whole(*r)) for d, r in ((np.uint8, (0, 255)), (np.int8, (-128, 127))))
COLUMNS_S = constant(20, 7, dtype=np.int8, make=whole(-60, 60))
COLUMNS_U = constant(20, 7, dtype=np.uint8, make=whole(60, 180))
PER_COLUMN = [constant(7, make=lambda g, s, d: g.uniform(0.01, 0.05, s))]

NEIGHBOURS = [
    *[case(f"msft_quantize_{np.dtype(d).name}", "QuantizeLinear", [BLOCKS, number(0.003), number(5, d)], sizes=LONG)
      for d in (np.uint8, np.int8, np.uint16, np.int16)],
    *[case(f"msft_dequantize_{np.dtype(d).name}", "DequantizeLinear", [bytes_of(0, 100, d), number(0.03), number(5, d)], sizes=LONG)
      for d in (np.uint8, np.int8, np.uint16, np.int16)],
    case("msft_quantize_axis", "QuantizeLinear", [BLOCKS, STEP6, ZERO6.astype(np.uint16)], sizes=LONG, axis=1),
    case("msft_dequantize_axis", "DequantizeLinear", [bytes_of(-900, 900, np.int16), STEP6, ZERO6.astype(np.int16)], sizes=LONG, axis=-2),
    case("msft_dequantize_int32", "DequantizeLinear", [bytes_of(-90000, 90000, np.int32), number(0.001)], sizes=LONG),
    case("msft_quantize_half", "QuantizeLinear", [Feed("b", 6, "s", dtype=np.float16), number(0.03125, np.float16), number(7, np.uint8)], sizes=LONG),
    product("integer_to_float", "MatMulIntegerToFloat", ROWS_U, COLUMNS_S, [number(0.02), number(0.03), number(110, np.uint8)]),
    product("integer_to_float_columns", "MatMulIntegerToFloat", ROWS_S, COLUMNS_S,
            [number(0.02), *PER_COLUMN, None, constant(7, dtype=np.int8, make=whole(-5, 5)), constant(7, seed=4)]),
    product("integer_to_float_bytes", "MatMulIntegerToFloat", ROWS_U, COLUMNS_U, [number(0.02), *PER_COLUMN, number(3, np.uint8), number(120, np.uint8)]),
    product("dynamic_product_rows", "DynamicQuantizeMatMul", Feed("b", "s", 20), COLUMNS_S, [number(0.03)]),
    product("dynamic_product_rows_columns", "DynamicQuantizeMatMul", Feed("b", "s", 20), COLUMNS_U,
            [*PER_COLUMN, constant(7, dtype=np.uint8, make=whole(110, 130)), constant(7, seed=4)]),
]

CASES = NEIGHBOURS + TABLES_OF_BITS + FEW + NORMS + EMBEDDINGS + FUSED
