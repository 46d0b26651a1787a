"""Attention of com.microsoft, with rotary positions, caches, masks and addends in combination, each at several extents."""

import numpy as np
from onnx import TensorProto, helper

from node_case import LONG, Feed, case, constant, over, run, whole

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

CASES = ROTARY + GROUPS + MULTI + JOINT + BYTES
