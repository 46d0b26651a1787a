"""Operators where the official suite leaves element types, attributes or weights that are known only while running untried."""

import numpy as np
from onnx import TensorProto, helper
from onnx.helper import np_dtype_to_tensor_dtype
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(7)


def normal(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


def case(name, op, inputs, outputs, opset=20, oracle="runtime", feeds=None, flags=(), domain="", **attributes):
    """One node; `inputs`: name -> array, all of them given while running; `outputs`: name -> (element type, shape)."""
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    node = helper.make_node(op, [n if v is not None else "" for n, v in inputs.items()], list(outputs), domain=domain, **attributes)
    given = {n: v for n, v in inputs.items() if v is not None}
    info = [helper.make_tensor_value_info(n, np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given.items()]
    model = helper.make_model(helper.make_graph([node], name, info, [helper.make_tensor_value_info(n, *w) for n, w in outputs.items()]),
                              ir_version=9, opset_imports=opsets)
    return dict(name=name, group=op, model=model, inputs=feeds or [given], oracle=oracle, flags=flags)


F, D, H, I = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64


def recurrent(name, op, gates, directions=1, **more):
    """Weights, biases, states and lengths as inputs."""
    t, b, i, h = 4, 2, 3, 5
    inputs = dict(x=normal(t, b, i), w=normal(directions, gates * h, i), r=normal(directions, gates * h, h),
                  bias=normal(directions, 2 * gates * h), lengths=np.array([3, 4], np.int32), start=normal(directions, b, h))
    outputs = dict(y=(F, [t, directions, b, h]), last=(F, [directions, b, h]))
    if op == "LSTM":
        inputs.update(cell=normal(directions, b, h), peep=normal(directions, 3 * h))
        outputs.update(last_cell=(F, [directions, b, h]))
    return case(name, op, inputs, outputs, opset=14, hidden_size=h, **more)


def resize(name, x, y, scales=None, sizes=None, roi=None, flags=(), **more):
    inputs = dict(x=x, roi=roi, scales=np.array(scales, np.float32) if scales else None)
    if sizes:
        inputs["sizes"] = np.array(sizes, np.int64)
    kind = np_dtype_to_tensor_dtype(x.dtype)
    return case(name, "Resize", inputs, dict(y=(kind, y)), opset=19, oracle="reference", flags=flags, **more)


def wide(**shapes):
    return {name: normal(*shape, dtype=np.float64) for name, shape in shapes.items()}


def of_a_layer(a, b, c):
    s = a @ b + c
    return np.sum(s / (1 + np.exp(-np.exp(np.tanh(s)) / c)) - np.maximum(s, 0) * np.cos(s))


def by_differences(inputs, total=of_a_layer):
    """Derivatives of `total` by each input, from differences in double precision."""
    at = [x.astype(np.float64) for x in inputs.values()]
    found = [np.zeros_like(x) for x in at]
    for x, out in zip(at, found):
        for i in np.ndindex(x.shape):
            keep, ends = x[i], []
            for step in (1e-6, -1e-6):
                x[i] = keep + step
                ends.append(total(*at))
            x[i] = keep
            out[i] = (ends[0] - ends[1]) / 2e-6
    return [x.astype(np.float32) for x in found]


def unique_places(name):
    """Only the place of each element among the distinct ones, and how often each occurs: the elements themselves have no name."""
    x = np.array([2, 7, 2, 5, 7, 2], np.float32)
    outputs = [helper.make_tensor_value_info("place", I, [6]), helper.make_tensor_value_info("count", I, ["k"])]
    graph = helper.make_graph([helper.make_node("Unique", ["x"], ["", "", "place", "count"])], name,
                              [helper.make_tensor_value_info("x", F, [6])], outputs)
    return dict(name=name, group="Unique", inputs=[dict(x=x)], model=helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)]),
                wanted=lambda inputs: list(np.unique(inputs["x"], return_inverse=True, return_counts=True)[1:]))


def unique_of(kind, axis, sorted_):
    """Every second element occurs twice; text as equal strings at different addresses, some of bytes above 127."""
    x = np.array([3, -1, 2, 3, -1, 0, 2, 2, 3, 3, -1, 2]).reshape(4, 3)
    if kind == TensorProto.STRING:
        x = np.array([{-1: "b", 0: "", 2: "ü", 3: "bc"}[n] for n in x.reshape(-1)], object).reshape(x.shape)
    elif kind != F:
        x = x.astype(helper.tensor_dtype_to_np_dtype(kind))
    node = helper.make_node("Unique", ["x"], ["y", "first", "place", "count"], sorted=sorted_, **({} if axis is None else {"axis": axis}))
    outputs = [helper.make_tensor_value_info(n, k, None) for n, k in (("y", kind), ("first", I), ("place", I), ("count", I))]
    name = f"unique_{TensorProto.DataType.Name(kind).lower()}_{axis}_{sorted_}"
    graph = helper.make_graph([node], name, [helper.make_tensor_value_info("x", kind, x.shape)], outputs)
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    return dict(name=name, group="Unique", inputs=[dict(x=x if kind != F else x.astype(np.float32))], model=model,
                wanted=lambda inputs: unique_by_text(inputs["x"], axis, sorted_))


def unique_by_text(x, axis, sorted_):
    """Unique by its definition: slices compared element by element, in the order of their first appearance or sorted."""
    slices = list(np.moveaxis(x, axis, 0)) if axis is not None else list(x.reshape(-1, 1))
    keys = [tuple(np.asarray(s).reshape(-1).tolist()) for s in slices]
    different = sorted(set(keys)) if sorted_ else list(dict.fromkeys(keys))
    first = [keys.index(k) for k in different]
    y = np.take(x, first, axis) if axis is not None else x.reshape(-1)[first]
    return [y, np.array(first), np.array([different.index(k) for k in keys]), np.array([keys.count(k) for k in different])]


def unique_with_nan(kind, sorted_):
    """A NaN is equal to a NaN and comes behind every number, as the reference evaluator has it; ONNX Runtime drops numbers or NaNs."""
    x = np.array([np.nan, 2, 1, 5, np.nan, -np.inf, 2, np.inf], helper.tensor_dtype_to_np_dtype(kind))
    node = helper.make_node("Unique", ["x"], ["y", "first", "place", "count"], sorted=sorted_)
    outputs = [helper.make_tensor_value_info(n, k, None) for n, k in (("y", kind), ("first", I), ("place", I), ("count", I))]
    name = f"unique_nan_{TensorProto.DataType.Name(kind).lower()}_{sorted_}"
    graph = helper.make_graph([node], name, [helper.make_tensor_value_info("x", kind, x.shape)], outputs)
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    return dict(name=name, group="Unique", inputs=[dict(x=x)], model=model, wanted=lambda inputs: ReferenceEvaluator(model).run(None, inputs))


UNIQUE_TYPES = (F, I, TensorProto.STRING, TensorProto.INT8, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.UINT16)
def narrow_softmax(op, narrow, shapes, axis):
    """Of float16 or bfloat16 whose extents are known only while running; rounded as the type has it, hence the tolerance."""
    letters = "nmk"[:len(shapes[0])]
    model = f"""<ir_version: 9, opset_import: ["" : 20]>
        main (float[{", ".join(letters)}] x) => (float[{", ".join(letters)}] y) {{
          a = Cast <to = {narrow}> (x)
          b = {op} <axis = {axis}> (a)
          y = Cast <to = {F}> (b)
        }}"""

    def wanted(given):
        rounded = helper.tensor_dtype_to_np_dtype(narrow)
        x = given["x"].astype(rounded).astype(np.float32)
        e = x - x.max(axis, keepdims=True)
        total = np.exp(e).sum(axis, keepdims=True)
        return [(np.exp(e) / total if op == "Softmax" else e - np.log(total)).astype(rounded).astype(np.float32)]
    return dict(name=f"{op.lower()}_open_{'half' if narrow == H else 'bfloat16'}_axis_{axis}_of_{len(letters)}", group=op, model=model,
                flags=[f"--dim={n}=1..9" for n in letters], inputs=[dict(x=normal(*shape)) for shape in shapes], wanted=wanted,
                atol=2e-3 if narrow == H else 2e-2)


IMAGE = normal(1, 2, 5, 6)
GRID = RNG.uniform(-1.3, 1.3, size=(1, 4, 3, 2)).astype(np.float32)
ROIS = np.array([[0, 0, 0, 3, 3], [0, 1, 2, 5, 4], [0, 2, 2, 2, 2]], np.float32)

OTHER = np.random.default_rng(8)  # the numbers of the cases before stay as they are
TIES, LINES, BLOCK = OTHER.integers(0, 40, (3, 200)), OTHER.random((3, 20), np.float32), OTHER.random((3, 9, 30), np.float32)


def topk(name, x, **more):
    k = np.array([9], np.int64)
    kind = np_dtype_to_tensor_dtype(x.dtype)
    return case(name, "TopK", dict(x=x, k=k), dict(value=(kind, [3, 9]), place=(I, [3, 9])), flags=("--dim=value:1=9", "--dim=place:1=9"), **more)


CASES = [
    topk("topk_of_many_equal", TIES.astype(np.float32)),
    topk("topk_least_of_many_equal", TIES.astype(np.float32), largest=0),
    topk("topk_of_integers", TIES.astype(np.int64)),
    case("gather_doubles", "Gather", dict(x=LINES, at=np.arange(40) // 2), dict(y=(F, [3, 40])), axis=1),
    case("gather_single_from_behind", "Gather", dict(x=LINES, at=np.arange(20) // 2 - 20), dict(y=(F, [3, 20])), axis=1),
    case("pad_reflect_and_cut", "Pad", dict(x=BLOCK, by=np.array([1, -2, 5, 0, 3, -7], np.int64)), dict(y=(F, [4, 10, 28])),
         mode="reflect", flags=("--dim=y:0=4", "--dim=y:1=10", "--dim=y:2=28")),
    recurrent("lstm_computed_weights", "LSTM", 4, 2, direction="bidirectional"),
    recurrent("gru_computed_weights", "GRU", 3, 2, direction="bidirectional"),
    recurrent("gru_computed_reset_late", "GRU", 3, linear_before_reset=1),
    recurrent("rnn_computed_weights", "RNN", 1, direction="reverse"),
    case("convtranspose_computed_groups", "ConvTranspose", dict(x=normal(2, 6, 4), w=normal(6, 2, 3), b=normal(6)),
         dict(y=(F, [2, 6, 9])), group=3, strides=[2]),
    resize("resize_to_sizes_while_running", IMAGE, [1, 2, 7, 4], sizes=[1, 2, 7, 4], mode="linear"),
    resize("resize_of_bytes", (IMAGE * 20 + 100).astype(np.uint8), [1, 2, 10, 12], scales=[1.0, 1.0, 2.0, 2.0], mode="linear"),
    resize("resize_of_doubles", IMAGE.astype(np.float64), [1, 2, 8, 10], scales=[1.0, 1.0, 1.7, 1.7], mode="cubic"),
    *[case(f"gridsample_{m}_{p}_{'corners' if c else 'edges'}", "GridSample", dict(x=IMAGE, grid=GRID), dict(y=(F, [1, 2, 4, 3])),
           mode=m, padding_mode=p, align_corners=c, oracle="reference")
      for m in ("linear", "nearest", "cubic") for p in ("border", "reflection") for c in (0, 1)],
    case("gridsample_double", "GridSample", dict(x=IMAGE.astype(np.float64), grid=GRID.astype(np.float64)),
         dict(y=(D, [1, 2, 4, 3])), oracle="reference", mode="linear"),
    case("maxroipool", "MaxRoiPool", dict(x=IMAGE, rois=ROIS), dict(y=(F, [3, 2, 2, 3])), opset=16, pooled_shape=[2, 3], spatial_scale=0.9),
    case("roialign_several_samples", "RoiAlign", dict(x=IMAGE, rois=ROIS[:, 1:], image=np.array([0, 0, 0], np.int64)),
         dict(y=(F, [3, 2, 2, 2])), opset=16, output_height=2, output_width=2, sampling_ratio=3, spatial_scale=1.0),
    case("dft_of_a_prime_length", "DFT", dict(x=normal(2, 7, 3, 2)), dict(y=(F, [2, 7, 3, 2])), opset=17, axis=1,
         oracle="reference"),
    case("dft_of_doubles_padded", "DFT", dict(x=normal(1, 6, 1, dtype=np.float64), n=np.array(12, np.int64)), dict(y=(D, [1, 7, 2])),
         opset=17, axis=1, onesided=1, flags=("--dim", "n:values=0..12")),
    case("det_of_a_stack", "Det", dict(x=normal(2, 3, 4, 4)), dict(y=(F, [2, 3]))),
    case("cumsum_half", "CumSum", dict(x=np.arange(12, dtype=np.float16).reshape(3, 4) / 4, axis=np.array(-1, np.int64)), dict(y=(H, [3, 4])),
         oracle="reference"),
    case("maxpool_half", "MaxPool", dict(x=normal(1, 2, 6, 6, dtype=np.float16)), dict(y=(H, [1, 2, 3, 3])), kernel_shape=[2, 2],
         strides=[2, 2]),
    case("bitcast_to_half", "BitCast", dict(x=np.arange(8, dtype=np.uint16) + 0x3c00), dict(y=(H, [8])), opset=26, oracle="reference",
         to=H),
    case("conv_double_groups", "Conv", wide(x=(2, 4, 7, 6), w=(6, 2, 3, 2), b=(6,)), dict(y=(D, [2, 6, 4, 6])), oracle="reference",
         group=2, strides=[2, 1], pads=[1, 0, 1, 1]),
    case("conv_double_of_a_line", "Conv", wide(x=(1, 2, 9), w=(3, 2, 3)), dict(y=(D, [1, 3, 5])), oracle="reference", dilations=[2]),
    case("convtranspose_double", "ConvTranspose", wide(x=(1, 4, 3, 3), w=(4, 2, 3, 3), b=(2,)), dict(y=(D, [1, 2, 6, 6])),
         oracle="reference", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
    *[case(f"averagepool_double_{n}", "AveragePool", wide(x=(1, 2, 5, 5)), dict(y=(D, [1, 2, 3, 3])), oracle="reference",
           kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=n) for n in (0, 1)],
    case("lppool_double", "LpPool", wide(x=(1, 2, 6, 6)), dict(y=(D, [1, 2, 3, 3])), oracle="reference", kernel_shape=[2, 2], strides=[2, 2], p=3),
    case("matmul_double_of_stacks", "MatMul", wide(a=(2, 1, 3, 4), b=(3, 4, 2)), dict(y=(D, [2, 3, 3, 2]))),
    case("matmul_double_of_vectors", "MatMul", wide(a=(4,), b=(2, 4, 3)), dict(y=(D, [2, 3]))),
    case("matmul_whole", "MatMul", dict(a=np.arange(-6, 6, dtype=np.int32).reshape(3, 4), b=np.arange(8, dtype=np.int32).reshape(4, 2) * 2**28),
         dict(y=(TensorProto.INT32, [3, 2])), oracle="reference"),
    case("gemm_double", "Gemm", wide(a=(4, 3), b=(2, 4), c=(2,)), dict(y=(D, [3, 2])), transA=1, transB=1, alpha=0.5, beta=2.0),
    case("reduce_l2_whole", "ReduceL2", dict(x=np.arange(12, dtype=np.int64).reshape(3, 4), axes=np.array([1], np.int64)), dict(y=(I, [3])),
         oracle="reference", keepdims=0),
    case("log_sum_exp_of_infinities", "ReduceLogSumExp", dict(x=np.array([[1e4, 1e4], [-np.inf, -np.inf], [np.inf, 0]], np.float64),
         axes=np.array([1], np.int64)), dict(y=(D, [3])), opset=18, keepdims=0),
    case("scatter_adds_half", "ScatterElements", dict(x=normal(3, 4, dtype=np.float16), at=np.array([[0, 2]], np.int64),
         u=normal(1, 2, dtype=np.float16)), dict(y=(H, [3, 4])), opset=18, oracle="reference", reduction="add"),
    dict(name="gradient_of_a_layer", group="Gradient", wanted=by_differences,
         inputs=[dict(a=normal(3, 4), b=normal(4, 2), c=np.float32([1.5, -2.5]))], model="""
        <ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
        agraph (float[3,4] a, float[4,2] b, float[2] c) => (float[3,4] da, float[4,2] db, float[2] dc) {
            p = MatMul(a, b)
            s = Add(p, c)
            t = Tanh(s)
            e = Exp(t)
            q = Div(e, c)
            r = Sigmoid(q)
            u = Mul(r, s)
            v = Relu(s)
            w = Cos(s)
            z = Mul(v, w)
            y = Sub(u, z)
            da, db, dc = ai.onnx.preview.training.Gradient <xs = ["a", "b", "c"], y = "y"> (a, b, c)
        }"""),
    dict(name="gradient_of_functions", group="Gradient", inputs=[dict(a=np.abs(normal(3, 4)) + np.float32(0.5))],
         wanted=lambda inputs: by_differences(inputs, lambda a: np.sum(np.log(a) * np.sin(a) - np.sqrt(a))), model="""
        <ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
        agraph (float[3,4] a) => (float[3,4] da) {
            p = Log(a)
            q = Sin(a)
            r = Sqrt(a)
            s = Neg(r)
            t = Mul(p, q)
            u = Identity(t)
            y = Add(u, s)
            da = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
        }"""),
    dict(name="empty_in_parts", group="IsInf", inputs=[dict(x=np.zeros((9, 9, 0, 1)))], flags=("--io=arena", "--threads=3", "--part-time=0"), model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (double[9,9,0,1] x) => (bool[9,9,0,1] y) {
            y = IsInf(x)
        }"""),
    dict(name="dropout_keeps_all_at_rest", group="Dropout", oracle="runtime", inputs=[dict(x=IMAGE, training=np.array(False))], model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[1,2,5,6] x, bool training) => (float[1,2,5,6] y, bool[1,2,5,6] mask) <float ratio = {0.4}> {
            y, mask = Dropout(x, ratio, training)
        }"""),
    unique_places("unique_without_its_elements"),
    *(unique_with_nan(kind, sorted_) for kind in (F, TensorProto.DOUBLE, TensorProto.FLOAT16) for sorted_ in (0, 1)),
    *(unique_of(kind, axis, sorted_) for kind in UNIQUE_TYPES for axis in (None, 0, 1) for sorted_ in (0, 1)),
    # parts that read the caller's input from a place behind its beginning only, as bytes
    case("complex_halves_in_parts", "Split", {"x": (normal(64, 30) + 1j * normal(64, 30)).astype(np.complex64)},
         {"a": (TensorProto.COMPLEX64, (32, 30)), "b": (TensorProto.COMPLEX64, (32, 30))}, oracle="reference",
         flags=("--threads=2", "--part-time=0"), num_outputs=2),
    dict(name="count_found_in_a_queue", group="NonZero", flags=("--queues=3",), model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[1,1] x, float[3] v) => (int64[2,k] y, float[3] z) {
            y = NonZero(x)
            z = Relu(v)
        }""", inputs=[dict(x=np.float32([[2]]), v=np.float32([1, -1, 2]))]),
    dict(name="nonzero_count_is_given", group="NonZero", flags=("--dim=y:1=3",), model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[5] x) => (int64[1,k] y) {
            y = NonZero(x)
        }""", inputs=[dict(x=np.float32([0, 1, 2, 0, -1]))]),
    dict(name="split_into_known_and_unknown", group="Split", inputs=[dict(x=normal(1, n, 3)) for n in (2, 5)], model="""
        <ir_version: 8, opset_import: ["" : 18]>
        agraph (float[1,n,3] x) => (float[a,b,c,d] y, int64[2] z) {
            s = Shape(x)
            two = Constant <value_ints = [2]> ()
            t = Concat <axis = 0> (two, s)
            first, last = Split <axis = 0, num_outputs = 2> (t)
            four = Constant <value_ints = [2, 2]> ()
            z, w = Split(t, four)
            u = Concat <axis = 0> (first, last)
            y = Expand(x, u)
        }"""),
    *(narrow_softmax(op, narrow, shapes, axis) for op in ("Softmax", "LogSoftmax") for narrow in (H, TensorProto.BFLOAT16)
      for shapes, axis in ((((3, 5), (9, 9), (1, 1)), 1), (((3, 5), (9, 9)), 0), (((2, 3, 5), (9, 1, 9)), 1))),
    dict(name="memory_that_no_step_touches", group="Shape", flags=("--io=arena", "--region=fast:256", "--region=slow:1M"), inputs=[dict(x=normal(9, 30), y=normal(4))],
         model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[9,30] x, float[4] y) => (int64[2] s, float[4] z) {
            s = Shape(x)
            z = Relu(y)
        }"""),
    dict(name="empty_tensor_inside_another", group="Concat", flags=("--io=arena",), inputs=[dict(a=normal(0, 1, 1), b=normal(0, 1, 1), c=normal(1, 4, 4))],
         model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[0,1,1] a, float[0,1,1] b, float[1,4,4] c) => (float[0,2,1] y, float[1,4,4] z) <float half = {0.5}> {
            y = Concat <axis = 1> (a, b)
            z = Mul(c, half)
        }"""),
    *(dict(name=f"empty_constant_at_the_end_{form}", group="Concat", flags=(f"--weights={form}",), inputs=[dict(x=normal(3))], model="""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[3] x) => (float[3] y, float[0] z) <float[3] a = {1, 2, 3}, float[0] b = {}> {
            y = Add(x, a)
            z = Identity(b)
        }""") for form in ("object", "file")),
    *(dict(name=f"{op.lower()}_wraps_around_{kind}", group=op, inputs=[dict(x=np.array([[5, limit, limit], [-limit, -limit, 3]], kind))], model=f"""
        <ir_version: 8, opset_import: ["" : 18]>
        agraph ({kind}[2,3] x) => ({kind}[a] y) <int64[1] one = {{1}}> {{
            y = {op} <keepdims = 0> (x, one)
        }}""", wanted=lambda inputs, call=call: [call(inputs["x"].astype(inputs["x"].dtype))])
      for kind, limit in (("int64", 2 ** 63 - 1), ("int32", 2 ** 31 - 1))
      for op, call in (("ReduceSum", lambda x: x.sum(1, dtype=x.dtype)), ("ReduceProd", lambda x: x.prod(1, dtype=x.dtype)),
                       ("ReduceSumSquare", lambda x: (x * x).sum(1, dtype=x.dtype)))),
]
