"""Operators of com.microsoft as exporters of transformers write them: attributes in combination, each at several extents.

A case is one node. An input is a constant (an array), fed (Feed: extents are numbers or names), or omitted (None); the case runs at
each set of extents, so that names are bounded by the least and the greatest of them.
"""

import os
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import spelled  # noqa: E402

CODE = {np.dtype(k): v for k, v in {
    np.float32: TensorProto.FLOAT, np.float16: TensorProto.FLOAT16, np.int32: TensorProto.INT32, np.int64: TensorProto.INT64,
    np.bool_: TensorProto.BOOL, np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.uint16: TensorProto.UINT16, np.int16: TensorProto.INT16}.items()}


def normal(generator, shape, dtype):
    return generator.normal(size=shape).astype(dtype)


def run(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)


class Feed:
    """What a case is fed: make(generator, shape, dtype) or make(generator, shape, dtype, sizes) draws it."""

    def __init__(self, *shape, dtype=np.float32, make=normal, sized=False):
        self.shape, self.dtype, self.make, self.sized = shape, dtype, make, sized

    def draw(self, generator, sizes):
        shape = tuple(sizes[d] if isinstance(d, str) else d for d in self.shape)
        value = self.make(generator, shape, self.dtype, sizes) if self.sized else self.make(generator, shape, self.dtype)
        return np.asarray(value, self.dtype).reshape(shape)


def whole(low, high):
    """Integers low .. high."""
    return lambda generator, shape, dtype: generator.integers(low, high + 1, size=shape)


def constant(*shape, dtype=np.float32, seed=3, make=normal):
    return np.asarray(make(np.random.default_rng(seed), shape, dtype), dtype)


def case(name, op, inputs, outputs=1, sizes=({},), domain="com.microsoft", before=None, **attributes):
    """`outputs`: how many, or a list of flags (0: omitted). before: what is fed by name, and nodes that make inputs given as names."""
    feeds, nodes = before or ({}, [])
    wanted = [1] * outputs if isinstance(outputs, int) else outputs
    names = ["" if v is None else v if isinstance(v, str) else f"in{i}" for i, v in enumerate(inputs)]
    made = [f"y{i}" if w else "" for i, w in enumerate(wanted)]
    fed = [(n, v) for n, v in zip(names, inputs) if isinstance(v, Feed)] + list(feeds.items())
    node = helper.make_node(op, names, made, name=name, domain=domain, **attributes)
    graph = helper.make_graph(
        [*nodes, node], name, [helper.make_tensor_value_info(n, CODE[np.dtype(v.dtype)], v.shape) for n, v in fed],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) if n == "y3" else helper.make_empty_tensor_value_info(n) for n in made if n],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in zip(names, inputs) if isinstance(v, (np.ndarray, np.generic))])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    sets = []
    for i, size in enumerate(sizes):
        generator = np.random.default_rng(100 + i)
        sets.append({n: v.draw(generator, size) for n, v in fed})
    return dict(name=name, group=op, model=model, inputs=sets)


def elsewhere_only(*what, **how):
    """A case of an operator that ONNX Runtime runs on other devices only."""
    made = case(*what, **how)
    return dict(made, wanted=lambda given: run(spelled.spelled_model(made["model"]), given))


def over(**names):
    """Sets of extents: over(b=(1, 2), s=(1, 5)) pairs them."""
    return [dict(zip(names, row)) for row in zip(*names.values())]


# ------------------------------------------------------------------------------------------------- activations and norms

WIDTH = 24
LONG = over(b=(1, 2, 3), s=(1, 4, 7))
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
    case("fused_gemm", "FusedGemm", [Feed("k", "m"), constant(7, 9), constant(7)], sizes=over(k=(9, 9), m=(1, 4)), transA=1, transB=1, alpha=0.5,
         beta=2.0, activation="LeakyRelu", activation_alpha=0.2),
    case("fused_gemm_hard", "FusedGemm", [Feed("m", 9), constant(9, 7)], sizes=over(m=(1, 4)), activation="HardSigmoid", activation_alpha=0.3,
         activation_beta=0.4),
]

# ------------------------------------------------------------------------------------------------------------- attention

ANGLES = constant(40, 8, seed=9)
CACHES = [np.cos(ANGLES), np.sin(ANGLES)]


def ids(low, high):
    return Feed("b", "s", dtype=np.int64, make=whole(low, high))


ROTARY = [
    case("msft_rotary", "RotaryEmbedding", [Feed("b", "s", 64), ids(0, 39), *CACHES], sizes=LONG),
    case("msft_rotary_start", "RotaryEmbedding", [Feed("b", "s", 64), Feed(1, dtype=np.int64, make=whole(0, 30)), *CACHES], sizes=LONG,
         interleaved=1),
    case("msft_rotary_part", "RotaryEmbedding", [Feed("b", "s", 72), ids(0, 39), *CACHES], sizes=LONG, num_heads=3, rotary_embedding_dim=16),
    case("msft_rotary_heads", "RotaryEmbedding", [Feed("b", 3, "s", 16), ids(0, 39), *CACHES], sizes=LONG, interleaved=1, scale=2.0),
    case("msft_rotary_heads_part", "RotaryEmbedding", [Feed("b", 3, "s", 24), Feed(1, dtype=np.int64, make=whole(0, 30)), *CACHES], sizes=LONG,
         num_heads=3, rotary_embedding_dim=16, is_packed_batching=1),
]

STEPS = {  # batch, rows of the cache before, new rows, rows in all
    "prompt": over(b=(1, 2, 1), p=(0, 0, 0), s=(1, 5, 9), t=(1, 5, 9)),
    "token": over(b=(1, 2, 3), p=(1, 7, 12), s=(1, 1, 1), t=(2, 8, 13)),
    "more": over(b=(1, 1, 1), p=(1, 6, 12), s=(2, 3, 5), t=(3, 9, 17)),
    "room": over(b=(1, 2, 1), p=(20, 20, 20), s=(1, 1, 1), t=(4, 9, 20)),
    "padded": over(b=(1, 2, 3), p=(0, 0, 12), s=(2, 5, 9), t=(2, 5, 9), padded=(1, 1, 1)),
    "alone": over(b=(1, 1, 1), p=(20, 20, 0), s=(1, 3, 5), t=(4, 9, 5)),
    "any": over(b=(1, 1, 1, 1), p=(0, 5, 3, 16), s=(4, 1, 3, 1), t=(4, 6, 6, 17)),
}


def mask_of(generator, shape, dtype, sizes):
    """Ones up to a length of each sequence that leaves room for the new rows; the longest is the mask's."""
    length = generator.integers(max(sizes["s"], 1), sizes["t"] + 1, size=shape[0])
    length[0] = sizes["t"]
    if sizes["s"] == sizes["t"]:
        length[1:] = generator.integers(1, sizes["t"] + 1, size=shape[0] - 1) if sizes.get("padded") else sizes["t"]
    return np.arange(shape[1])[None] < length[:, None]


def lengths_of_mask():
    """seqlens_k and total_sequence_length as onnxruntime-genai's builder makes them of the attention mask."""
    mask = Feed("b", "t", dtype=np.int64, make=mask_of, sized=True)
    integer = dict(to=TensorProto.INT32)
    nodes = [
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        helper.make_node("ReduceSum", ["mask", "one"], ["sum"], keepdims=0),
        helper.make_node("Sub", ["sum", "one"], ["last"]),
        helper.make_node("Cast", ["last"], ["seqlens_k"], **integer),
        helper.make_node("Shape", ["mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["all"], axis=0),
        helper.make_node("Cast", ["all"], ["total"], **integer),
    ]
    return {"mask": mask}, nodes


def group(name, steps="any", heads=4, kv=2, size=16, packed=False, past=True, extra=(), outputs=3, **attributes):
    rows = [Feed("b", "s", (heads + 2 * kv) * size), None, None] if packed else [Feed("b", "s", n * size) for n in (heads, kv, kv)]
    cache = [Feed("b", kv, "p", size) for _ in range(2)] if past else [None, None]
    inputs = [*rows, *cache, "seqlens_k", "total", *extra]
    return case(name, "GroupQueryAttention", inputs, outputs, STEPS[steps], before=lengths_of_mask(), num_heads=heads, kv_num_heads=kv, **attributes)


ROTATED = dict(extra=CACHES, do_rotary=1)
ADDEND = Feed("b", 4, "s", "t")
GROUPS = [group(f"gqa_{k}", k) for k in STEPS] + [group(f"gqa_{k}_rotary", k, **ROTATED) for k in STEPS] + [
    group("gqa_no_past", "prompt", past=False),
    group("gqa_one_kv", kv=1, scale=0.3),
    group("gqa_all_kv", kv=4, **ROTATED, rotary_interleaved=1),
    group("gqa_packed", packed=True),
    group("gqa_packed_rotary", "token", packed=True, **ROTATED),
    group("gqa_softcap", softcap=2.0),
    group("gqa_window", local_window_size=4),
    group("gqa_scores", "alone", outputs=4, qk_output=1, softcap=2.0),
    group("gqa_scores_grow", "more", outputs=4, qk_output=1, extra=[None, None, None, ADDEND]),
    group("gqa_probabilities", "alone", outputs=4, qk_output=2, local_window_size=3),
    group("gqa_window_padded", "padded", local_window_size=2),
    group("gqa_all_padded", "padded", causal=0),
    group("gqa_window_more", "more", local_window_size=3, **ROTATED),
    group("gqa_smooth", smooth_softmax=1),
    group("gqa_sink", extra=[None, None, None, None, constant(4, seed=8)]),
    group("gqa_bias", extra=[None, None, None, ADDEND], softcap=3.0),
    group("gqa_bias_one", "more", extra=[None, None, None, Feed(1, 1, "s", "t")]),
    group("gqa_bias_room", "room", extra=[None, None, None, Feed("b", 1, "s", "t")]),
    group("gqa_part", size=32, **ROTATED),
    group("gqa_positions", "more", extra=[*CACHES, ids(0, 30)], do_rotary=1),
    group("gqa_positions_prompt", "prompt", extra=[*CACHES, ids(0, 20)], do_rotary=1),
    group("gqa_positions_token", "token", extra=[*CACHES, ids(0, 30)], do_rotary=1),
    group("gqa_everything", "more", packed=True, extra=[*CACHES, None, Feed(1, 4, "s", "t"), constant(4, seed=8)], do_rotary=1,
          local_window_size=5, softcap=2.5, scale=0.2, rotary_interleaved=1),
]

HEADS, SIZE = 2, 8
ROWS = HEADS * SIZE
MEET = over(b=(1, 2, 1, 3), s=(1, 3, 6, 4), l=(4, 3, 2, 9), p=(0, 1, 5, 3))
for _size in MEET:
    _size.update(t=_size["l"] + _size["p"], u=_size["s"] + _size["p"])
FIXED = [dict(size, b=2) for size in MEET]


def ends(generator, shape, dtype, sizes):
    return generator.integers(1, sizes["l"] + 1, size=shape)


def bits(*shape):
    return Feed(*shape, dtype=np.int32, make=whole(0, 1))


QKV = [Feed("b", "s", ROWS), Feed("b", "l", ROWS), Feed("b", "l", ROWS)]
SELF = [Feed("b", "s", ROWS)] * 3
PAST = [Feed("b", HEADS, "p", SIZE)] * 2
SUM = constant(3 * ROWS, seed=12)


def heads(name, inputs, outputs=1, sizes=MEET, **attributes):
    return case(name, "MultiHeadAttention", inputs, outputs, sizes, num_heads=HEADS, **attributes)


def unpacked_heads(name, parts, sizes=MEET, bias=None, **attributes):
    """Packed forms, which ONNX Runtime has for other devices only: it is asked for the same rows apart."""
    packed, apart = (Feed("b", "s" if parts == 3 else "l", HEADS, parts, SIZE), [])
    inputs = [packed, None, None, bias] if parts == 3 else [Feed("b", "s", ROWS), packed]
    one = heads(name, inputs[:4 if bias is not None else 3 - (parts == 3) * 2], sizes=sizes, **attributes)
    length = "s" if parts == 3 else "l"
    plain = heads(name, [Feed("b", "s", ROWS), *[Feed("b", length, ROWS)] * 2, bias], sizes=sizes, **attributes)["model"]

    def wanted(inputs):
        rows = [inputs["in0" if parts == 3 else "in1"][:, :, :, i] for i in range(parts)]
        rows = [np.ascontiguousarray(r.reshape(*r.shape[:2], ROWS)) for r in rows]
        rows = rows if parts == 3 else [inputs["in0"], *rows]
        return run(plain, {f"in{i}": r for i, r in enumerate(rows)})
    return dict(one, wanted=wanted)


MULTI = [
    heads("mha_self", SELF),
    heads("mha_cross", QKV),
    heads("mha_bias", [*QKV, SUM], scale=0.2),
    heads("mha_value_size", [*QKV[:2], Feed("b", "l", HEADS * 5), constant(HEADS * 21, seed=12)]),
    heads("mha_causal", SELF, unidirectional=1),
    heads("mha_causal_cross", QKV, unidirectional=1),
    heads("mha_mask_ends", [*QKV, None, Feed("b", dtype=np.int32, make=ends, sized=True)]),
    heads("mha_mask_keys", [*QKV, None, bits("b", "l")], mask_filter_value=-3.0),
    heads("mha_mask_whole", [*QKV, SUM, bits("b", "s", "l")]),
    heads("mha_mask_causal", [*SELF, None, bits("b", "s")], unidirectional=1),
    heads("mha_addend", [*QKV, None, None, Feed("b", HEADS, "s", "l")]),
    heads("mha_addend_one", [*QKV, None, bits("b", "l"), Feed(1, 1, "s", "l")]),
    heads("mha_past", [*SELF, SUM, None, None, *PAST], 3),
    heads("mha_past_cross", [*QKV, None, None, None, *PAST], 3),
    heads("mha_past_causal", [*SELF, None, None, None, *PAST], 3, unidirectional=1),
    heads("mha_past_mask", [*SELF, None, bits("b", "u"), Feed("b", 1, "s", "u"), *PAST], 3),
    heads("mha_past_cross_mask", [*QKV, None, bits("b", "s", "t"), None, *PAST], [1, 1, 1]),
    heads("mha_by_heads", [Feed("b", "s", ROWS), *[Feed("b", HEADS, "l", SIZE)] * 2], 3),
    heads("mha_by_heads_bias", [Feed("b", "s", ROWS), *[Feed("b", HEADS, "l", SIZE)] * 2, SUM, bits("b", "l")]),
    unpacked_heads("mha_packed_kv", 2),
    unpacked_heads("mha_packed_qkv", 3, unidirectional=1),
    unpacked_heads("mha_packed_qkv_bias", 3, bias=SUM),
]

WEIGHTS, UNEVEN = (constant(10, columns, seed=13) * np.float32(0.3) for columns in (3 * ROWS, 2 * ROWS + 24))
DEEP = Feed("b", "s", 10)
WHOLE_PAST = Feed(2, "b", HEADS, "p", SIZE)


def joint(name, inputs, outputs=1, sizes=MEET, **attributes):
    return case(name, "Attention", inputs, outputs, sizes, num_heads=HEADS, **attributes)


def own_ends(generator, shape, dtype, sizes):
    return generator.integers(1, sizes["s"] + 1, size=shape)


def ends_and_starts(generator, shape, dtype, sizes):
    end = generator.integers(1, sizes["s"] + 1, size=shape[0] // 2)
    return np.concatenate([end, generator.integers(0, end)])


JOINT = [
    joint("attention", [DEEP, WEIGHTS, SUM], 2),
    joint("attention_sizes", [DEEP, UNEVEN, constant(2 * ROWS + 24, seed=15)], qkv_hidden_sizes=[ROWS, ROWS, 24], scale=0.3),
    joint("attention_causal", [DEEP, WEIGHTS, SUM], unidirectional=1),
    joint("attention_ends", [DEEP, WEIGHTS, SUM, Feed("b", dtype=np.int32, make=own_ends, sized=True)]),
    joint("attention_starts", [DEEP, WEIGHTS, SUM, Feed(4, dtype=np.int32, make=ends_and_starts, sized=True)], sizes=FIXED, unidirectional=1),
    joint("attention_mask", [DEEP, WEIGHTS, SUM, bits("b", "s")], mask_filter_value=-100.0),
    joint("attention_mask_whole", [DEEP, WEIGHTS, SUM, bits("b", "s", "s")], unidirectional=1),
    joint("attention_mask_dummy", [DEEP, WEIGHTS, SUM, bits(1, 1)]),
    joint("attention_past", [DEEP, WEIGHTS, SUM, None, WHOLE_PAST], 2, unidirectional=1),
    joint("attention_past_mask", [DEEP, WEIGHTS, SUM, bits("b", "u"), WHOLE_PAST], 2),
    joint("attention_addend", [DEEP, WEIGHTS, SUM, None, None, Feed("b", HEADS, "s", "s")]),
]


def byte_heads(name, extra=(), outputs=1, dtype=np.uint8, columns=False, weight=np.int8, **attributes):
    rows = Feed("b", "s", 10, dtype=dtype, make=whole(0 if dtype == np.uint8 else -128, 255 if dtype == np.uint8 else 127))
    count = (3 * ROWS,) if columns else ()
    low = 60 if weight == np.uint8 else -60
    weights = constant(10, 3 * ROWS, dtype=weight, make=whole(low, low + 120))
    inputs = [rows, weights, SUM, np.float32(0.02).reshape(()), constant(*count, make=lambda g, s, d: g.uniform(0.01, 0.03, s)), *extra]
    inputs[3] = np.array(0.02, np.float32)
    return case(name, "QAttention", inputs, outputs, MEET, num_heads=HEADS, **attributes)


BYTES = [
    byte_heads("qattention", [None, np.array(110, np.uint8), np.array(0, np.int8)]),
    byte_heads("qattention_columns", [bits("b", "s"), np.array(110, np.uint8)], columns=True, unidirectional=1),
    byte_heads("qattention_past", [None, np.array(7, np.uint8), np.array(120, np.uint8), WHOLE_PAST], 2, weight=np.uint8, unidirectional=1),
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
    product("dynamic_product", "DynamicQuantizeMatMul", Feed("b", "s", 20), COLUMNS_S, [number(0.03)]),
    product("dynamic_product_columns", "DynamicQuantizeMatMul", Feed("b", "s", 20), COLUMNS_U,
            [*PER_COLUMN, constant(7, dtype=np.uint8, make=whole(110, 130)), constant(7, seed=4)]),
]

MSFT = NEIGHBOURS + TABLES_OF_BITS + FEW + NORMS + EMBEDDINGS + FUSED + ROTARY + GROUPS + MULTI + JOINT + BYTES
