"""Where there is nothing to compute: loops that never run, attention without tokens."""

import numpy as np

from control_cases import HEAD, f32, ramp

NEWEST = '<ir_version: 11, opset_import: ["" : 27]>\n'


def attended(query, key, value, heads, kv_heads):
    """Attention over packed heads without masks, by the formula; ONNX's reference cannot reshape what has no elements."""
    def split(x, count, size):
        return x.reshape(*x.shape[:2], count, size).transpose(0, 2, 1, 3)
    size, value_size = key.shape[2] // kv_heads, value.shape[2] // kv_heads
    q, k, v = split(query, heads, size), split(key, kv_heads, size), split(value, kv_heads, value_size)
    scores = np.exp(q @ np.repeat(k, heads // kv_heads, 1).swapaxes(2, 3) / np.sqrt(size))
    y = scores / scores.sum(3, keepdims=True) @ np.repeat(v, heads // kv_heads, 1)
    return y.transpose(0, 2, 1, 3).reshape(*query.shape[:2], heads * value_size).astype(np.float32)


def attention(name, declared, sizes, flags=()):
    """`sizes`: batch and queries of each run; four query heads of 2 share two key heads."""
    model = NEWEST + f"main ({declared}) => (float[n, s, 12] y) {{ y = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v) }}"
    return dict(name=name, group="Attention", model=model, flags=flags, wanted=lambda given: [attended(*given.values(), 4, 2)],
                inputs=[dict(q=ramp(n, s, 8) / 40, k=ramp(n, 3, 4) / 10, v=-ramp(n, 3, 6)) for n, s in sizes])


def reductions_of_nothing(word, dtype, operators=("ReduceMax", "ReduceMin", "ReduceProd")):
    """Of rows of n elements, n down to none, along an axis that is constant and along one known only while running."""
    nodes = [(f"{axis}_{op.lower()}", f"{op} <keepdims = 0> (x, {axis})") for op in operators for axis in ("one", "axis")]
    outputs = ", ".join(f"{word}[2] {name}" for name, _ in nodes)
    nodes = " ".join(f"{name} = {call}" for name, call in nodes)
    model = NEWEST + f"main ({word}[2, n] x, int64[1] axis) => ({outputs}) <int64[1] one = {{1}}> {{ {nodes} }}"
    return dict(name=f"reductions_of_no_{word}", group="ReduceMax", model=model, flags=("--dim=n=0..3",), oracle="reference",
                inputs=[dict(x=ramp(2, n).astype(dtype), axis=np.array([1])) for n in (0, 1, 3)])


CASES = [
    *(dict(name=f"shape_of_a_scalar_{weights}", group="Shape", flags=(f"--weights={weights}",), model=HEAD + """
        agraph (bool x) => (int64[0] y) {
            y = Shape(x)
        }""", inputs=[dict(x=np.array(True))]) for weights in ("inline", "file", "object")),
    dict(name="transpose_of_nothing", group="Transpose", flags=("--io=arena", "--code=shared"), model=HEAD + """
        main (float[2, 0, 3] a) => (float[3, 2, 0] x) { x = Transpose <perm = [2, 0, 1]> (a) }""", inputs=[dict(a=ramp(2, 0, 3))]),
    dict(name="scan_of_nothing", group="Scan", model=HEAD + """
        main (float[2] s0, float[0, 2] a) => (float[2] s, float[2, 0] x) {
          s, x = Scan <num_scan_inputs = 1, scan_output_axes = [1], body = body (float[2] p, float[2] u) => (float[2] q, float[2] k) {
              q = Add(p, u)
              k = Mul(q, u)
            }> (s0, a)
        }""", inputs=[dict(s0=f32(1, 2), a=ramp(0, 2))], wanted=lambda given: [given["s0"], ramp(2, 0)]),  # ONNX Runtime refuses it
    dict(name="loop_that_never_runs", group="Loop", model=HEAD + """
        main (float[2] a) => (float[2] x, float[0, 2] s) {
          none = Constant <value_int = 0> ()
          x, s = Loop (none, , a) <body = body (int64 i, bool c, float[2] u) => (bool d, float[2] v, float[2] w) {
              d = Identity(c)
              v = Neg(u)
              w = Exp(u)
            }>
        }""", inputs=[dict(a=f32(1, 2))]),
    dict(name="sequence_of_nothing_mapped", group="SequenceMap", model=HEAD + """
        main (float[0, 2] a) => (int64 n) {
          s = SplitToSequence <axis = 0> (a)
          x = SequenceMap (s) <body = body (float[1, 2] v) => (float[1, 2] u) { u = Neg(v) }>
          n = SequenceLength(x)
        }""", inputs=[dict(a=ramp(0, 2))], wanted=lambda given: [np.int64(0)]),
    *(reductions_of_nothing(word, dtype) for word, dtype in (
        ("double", np.float64), ("float16", np.float16), ("int32", np.int32), ("int64", np.int64), ("uint32", np.uint32), ("uint64", np.uint64))),
    *(reductions_of_nothing(word, dtype, ("ReduceMax", "ReduceMin")) for word, dtype in (("int8", np.int8), ("uint8", np.uint8), ("bool", np.bool_))),
    attention("attention_without_queries", "float[2, 0, 8] q, float[2, 3, 4] k, float[2, 3, 6] v", [(2, 0)]),
    attention("attention_of_maybe_nothing", "float[n, s, 8] q, float[n, 3, 4] k, float[n, 3, 6] v",
              [(2, 3), (2, 0), (0, 2), (0, 0), (1, 1)], ("--dim=n=0..2", "--dim=s=0..3")),
    dict(name="product_of_no_rows", group="Gemm", model=HEAD + """
        main (float[1, 0] x, float[4, 1] w) => (float[0, 4] y) { y = Gemm <transA = 1, transB = 1> (x, w) }""",
         inputs=[dict(x=ramp(1, 0), w=ramp(4, 1))]),
    dict(name="parts_of_nothing", group="Conv", flags=("--threads=3", "--part-time=0"), model=HEAD + """
        main (float[0, 2, 2, 2] x) => (float[0, 5, 4] y) <float[2, 2, 1, 1] w = {1, 2, 3, 4}, float[1, 2, 2, 2] f = {1, 2, 3, 4, 5, 6, 7, 8},
              int64[3] s = {0, 5, 4}> {
          a = Conv <pads = [0, 0, 0, 0]> (x, w)
          b = HardSwish (a)
          c = Mul (b, f)
          y = Reshape <allowzero = 1> (c, s)
        }""", inputs=[dict(x=ramp(0, 2, 2, 2))]),
    dict(name="attention_of_values_without_size", group="Attention", oracle="reference", model=NEWEST + """
        main (float[2, 4, 3, 5] q, float[2, 2, 3, 5] k, float[2, 2, 3, 0] v) => (float[2, 4, 3, 0] y) {
          y = Attention <is_causal = 1> (q, k, v)
        }""", inputs=[dict(q=ramp(2, 4, 3, 5), k=ramp(2, 2, 3, 5), v=ramp(2, 2, 3, 0))]),
    dict(name="linear_attention_without_tokens", group="LinearAttention", oracle="reference", model=NEWEST + """
        main (float[2, 0, 8] q, float[2, 0, 4] k, float[2, 0, 6] v, float[2, 2, 2, 3] s) => (float[2, 0, 12] y, float[2, 2, 2, 3] t) {
          y, t = LinearAttention <q_num_heads = 4, kv_num_heads = 2, update_rule = "linear"> (q, k, v, s)
        }""", inputs=[dict(q=ramp(2, 0, 8), k=ramp(2, 0, 4), v=ramp(2, 0, 6), s=ramp(2, 2, 2, 3))]),
    dict(name="reshape_by_an_extent_that_may_be_nothing", group="Reshape", flags=("--dim=n=0..4",), model=HEAD + """
        main (float[2, 3, n] a) => (float[p, q] y) {
          sizes = Shape (a)
          third = Constant <value_ints = [2]> ()
          rest = Constant <value_ints = [-1]> ()
          n = Gather (sizes, third)
          row = Concat <axis = 0> (n, rest)
          y = Reshape (a, row)
        }""", inputs=[dict(a=ramp(2, 3, n)) for n in (4, 0, 1)]),
    dict(name="reshape_of_nothing_to_a_run_time_size", group="Reshape", flags=("--dim=n=0..4", "--dim=y:0=0", "--dim=y:1=0..6"),
         model=HEAD + """
        main (float[n, 0, 3] a, int64[2] size) => (float[p, q] y, float[n, 3] z) {
          y = Reshape <allowzero = 1> (a, size)
          axis = Constant <value_ints = [1]> ()
          z = ReduceSum <keepdims = 0> (a, axis)
        }""", inputs=[dict(a=ramp(n, 0, 3), size=np.array(s, np.int64)) for n, s in ((2, (0, 6)), (4, (0, 5)), (1, (0, 0)), (0, (0, 3)))]),
    dict(name="reshape_of_nothing_and_more_to_a_run_time_size", group="Reshape", flags=("--dim=n=0..4", "--dim=y:0=0..8", "--dim=y:1=0..12"),
         model=HEAD + """
        main (float[n, 3] a, int64[2] size) => (float[p, q] y) {
          b = Neg(a)
          c = Reshape <allowzero = 1> (b, size)
          y = Abs(c)
        }""", inputs=[dict(a=ramp(n, 3), size=np.array(s, np.int64)) for n, s in ((2, (1, 6)), (0, (5, 0)), (4, (3, 4)), (0, (0, 7)))]),
]
