"""com.microsoft's transformer operators in forms that are refused: one node each, inputs by name and extents. See make_errors.py."""
from onnx import TensorProto, helper

FLOAT, INT, LONG, BYTE = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8
HEADS = dict(num_heads=2)
GROUP = dict(num_heads=2, kv_num_heads=1)
Q, KV, LENGTHS = ("q", (1, 3, 16)), ("k", (1, 3, 8)), [("l", (1,), INT), ("t", (), INT)]
GROUPED = [Q, KV, ("v", (1, 3, 8)), None, None, *LENGTHS]
ROWS = [("x", (1, 3, 10)), ("w", (10, 48))]
CACHE = ("c", (1, 2, 5, 8))
BITS = [("x", (1, 64)), ("w", (4, 2, 16), BYTE), ("s", (4, 2))]
TABLE = [("w", (9, 32), BYTE), ("i", (2,), LONG), ("s", (9, 4))]

FORMS = {
    "group_of_quantised_caches": ("GroupQueryAttention", GROUPED, dict(GROUP, k_quant_type="PER_TENSOR")),
    "group_of_window_caches": ("GroupQueryAttention", GROUPED, dict(GROUP, sliding_window_cache=1)),
    "group_of_normed_rows": ("GroupQueryAttention", [*GROUPED, *[None] * 7, ("n", (8,)), ("m", (8,))], GROUP),
    "group_of_shown_scores": ("GroupQueryAttention", GROUPED, GROUP, ["y", "p", "v2", "z"]),
    "group_of_odd_heads": ("GroupQueryAttention", GROUPED, dict(num_heads=3, kv_num_heads=2)),
    "group_of_one_past": ("GroupQueryAttention", [*GROUPED[:3], CACHE, None, *LENGTHS], GROUP),
    "group_without_angles": ("GroupQueryAttention", GROUPED, dict(GROUP, do_rotary=1)),
    "heads_of_shared_caches": ("MultiHeadAttention", [Q, Q, Q, None, None, None, CACHE, CACHE, ("n", (1,), INT)], HEADS),
    "heads_of_wide_mask": ("MultiHeadAttention", [Q, Q, Q, None, ("m", (1, 1, 3, 3), INT)], HEADS),
    "heads_of_short_mask": ("MultiHeadAttention", [Q, Q, Q, None, ("m", (1, 2), INT)], HEADS),
    "attention_of_turned_rows": ("Attention", [*ROWS, ("b", (48,))], dict(HEADS, do_rotary=1)),
    "attention_of_shared_caches": ("Attention", [*ROWS, ("b", (48,))], dict(HEADS, past_present_share_buffer=1)),
    "attention_of_uneven_cache": ("Attention", [("x", (1, 3, 10)), ("w", (10, 56)), None, None, ("p", (2, 1, 2, 4, 8))],
                                  dict(HEADS, qkv_hidden_sizes=[16, 16, 24])),
    "turned_by_long_angles": ("RotaryEmbedding", [("x", (1, 3, 16)), ("p", (1, 3), LONG), ("c", (9, 6)), ("s", (9, 6))], {}),
    "product_of_three_bits": ("MatMulNBits", BITS, dict(K=64, N=4, bits=3, block_size=32)),
    "product_packed_elsewhere": ("MatMulNBits", BITS, dict(K=64, N=4, bits=4, block_size=32, weight_prepacked=1)),
    "product_of_few_weights": ("MatMulNBits", BITS, dict(K=64, N=5, bits=4, block_size=32)),
    "product_of_fed_groups": ("MatMulNBits", [*BITS, None, ("g", (64,), INT)], dict(K=64, N=4, bits=4, block_size=32)),
    "table_of_three_bits": ("GatherBlockQuantized", TABLE, dict(bits=3, block_size=16)),
    "table_gathered_last": ("GatherBlockQuantized", TABLE, dict(bits=4, block_size=16, gather_axis=1, quantize_axis=0)),
    "norm_with_mean": ("SkipSimplifiedLayerNormalization", [Q, Q, ("s", (16,))], {}, ["y", "mean"]),
}


def make(op, inputs, attributes, outputs=("y",)):
    names, feeds = [], {}
    for given in inputs:
        names.append(given[0] if given else "")
        if given:
            feeds[given[0]] = helper.make_tensor_value_info(given[0], given[2] if len(given) > 2 else FLOAT, given[1])
    node = helper.make_node(op, names, list(outputs), "node", domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "g", list(feeds.values()), [helper.make_tensor_value_info(outputs[0], FLOAT, None)])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def add(case):
    """Each form as a case: case(function)."""
    for name, form in FORMS.items():
        function = (lambda f: lambda: make(*f))(form)
        function.__name__ = name
        case(function)
