"""What is computed in one step though the model has several: attention, and what must move out of its way; layouts."""

import numpy as np

RANDOM = np.random.default_rng(3)
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def case(name, inputs, output, constants, *lines, extents="", flags=(), feeds=None, **more):
    """Constants are (name, values); int64 lists for shapes, float arrays else. `extents`: the inputs' types, where not all are
    constant; `more`: of the case, such as its tolerance."""
    body = []
    for key, value in constants:
        value = np.asarray(value)
        kind = "float" if value.dtype == np.float32 else "int64"
        text = ", ".join(repr(float(v)) if kind == "float" else str(int(v)) for v in value.ravel())
        shape = f"[{','.join(map(str, value.shape))}]" if value.shape else ""
        body.append(f"{key} = Constant <value = {kind}{shape} {{{text}}}> ()")
    declared = extents or ", ".join(f"float[{', '.join(map(str, value.shape))}] {key}" for key, value in inputs.items())
    body = "\n".join("          " + line for line in [*body, *lines])
    model = HEAD + f"main ({declared}) => ({output}) {{\n{body}\n}}"
    return dict(name=name, group="fusion", model=model, inputs=feeds or [inputs], flags=flags, **more)


QKV = dict(q=numbers(2, 3, 7, 5), k=numbers(2, 3, 5, 9), v=numbers(2, 3, 9, 4))
Y = "float[2, 3, 7, 4] y"
EIGHTH = ("scale", np.float32(0.125))
IMAGE = dict(x=numbers(1, 6, 5, 4))
WEIGHTS = ("w", numbers(6, 6, 1, 1))



def transposed(name, x, kernel, out, *after, group=1, outputs=4, **attributes):
    """A transposed convolution of constant weights, by phases; `after`: what is done to its result c, in the end y."""
    given = "".join(f", {key} = {value}" for key, value in attributes.items())
    lines = [f"{'c' if after else 'y'} = ConvTranspose <group = {group}{given}> (x, w, b)", *after]
    constants = [("w", numbers(x[1], outputs // group, *kernel)), ("b", numbers(outputs)), ("per_channel", numbers(outputs, 1, 1)),
                 ("full", numbers(x[0], outputs, *out))]
    return case("transposed_" + name, dict(x=numbers(*x)), f"float[{x[0]}, {outputs}, {', '.join(map(str, out))}] y", constants, *lines)


TRANSPOSED = [
    transposed("kernel_twice_stride", (2, 9, 5, 6), (4, 4), (10, 12), "y = Relu(c)", strides=[2, 2], pads=[1, 1, 1, 1]),
    transposed("kernel_is_stride", (1, 9, 5, 6), (2, 2), (10, 12), "d = Mul(c, per_channel)", "y = Sigmoid(d)", strides=[2, 2]),
    transposed("output_padding", (1, 3, 5, 6), (3, 3), (10, 12), "y = Add(c, full)", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
    transposed("uneven_pads", (1, 8, 4, 3), (5, 4), (13, 5), strides=[3, 2], pads=[0, 1, 1, 2]),
    transposed("cut_input", (1, 8, 6, 5), (3, 3), (4, 3), pads=[2, 2, 2, 2]),
    transposed("cut_deep", (1, 8, 7, 8), (2, 2), (8, 8), strides=[2, 2], pads=[3, 5, 3, 3]),
    transposed("dilated", (1, 8, 4, 5), (3, 3), (8, 11), dilations=[2, 3]),
    transposed("dilated_stride", (1, 8, 4, 5), (3, 3), (11, 13), strides=[2, 2], dilations=[2, 2]),
    transposed("groups", (1, 6, 4, 5), (3, 3), (9, 11), strides=[2, 2], group=2),
    transposed("depthwise", (1, 4, 4, 5), (4, 4), (8, 10), "y = Relu(c)", strides=[2, 2], pads=[1, 1, 1, 1], group=4),
    transposed("few_taps", (1, 8, 4, 5), (2, 3), (11, 15), strides=[3, 3]),
    transposed("line", (1, 9, 7), (8,), (28,), "y = Relu(c)", strides=[4], pads=[2, 2]),
    transposed("line_many", (1, 9, 7), (20,), (140,), strides=[20]),
    transposed("cube", (1, 5, 3, 2, 4), (3, 3, 3), (5, 3, 7), strides=[2, 2, 2], pads=[1, 1, 1, 1, 1, 1]),
]



def many_keys(queries, keys):
    """More than are taken together; the mask hides all of the first ones, some amidst, the last, and those of every third place."""
    mask = numbers(queries, keys)
    mask[:, :300] = mask[:, 512:768] = mask[:, -40:] = mask[:, ::3] = -np.inf
    return dict(q=numbers(2, queries, 4), k=2 * numbers(2, keys, 4), v=numbers(2, keys, 3), m=mask)


MANY = ("t = Transpose <perm = [0, 2, 1]> (k)", "s = MatMul(q, t)", "a = Add(s, m)", "p = Softmax(a)", "y = MatMul(p, v)")
MANY_EXTENTS = "float[2, i, 4] q, float[2, n, 4] k, float[2, n, 3] v, float[i, n] m"

def norms(count):
    """Inputs of so many batch norms in a row."""
    made = {f"{word}{i}": numbers(6) for i in range(count) for word in ("scale", "bias", "mean")}
    return dict(IMAGE, **made, **{f"var{i}": np.abs(numbers(6)) + np.float32(0.5) for i in range(count)})


def planes(name, channels, rows, columns):
    """An image with channels last, as convolutions make it, meets planes as the caller gives them."""
    shape = (1, channels, rows, columns)
    return case("planes_meet_channels" + name, dict(x=numbers(*shape), p=numbers(*shape)),
                f"float[{', '.join(map(str, shape))}] y, float[{', '.join(map(str, shape))}] z",
                [("w", numbers(channels, channels, 1, 1)), ("per_channel", numbers(channels, 1, 1))], "c = Conv(x, w)", "d = Sub(p, x)",
                "e = Mul(d, per_channel)", "f = Add(c, e)", "y = Conv(f, w)", "z = Conv(c, w)", atol=1e-4)


def choices(name, *lines):
    """Choices by comparisons, whose Booleans something else reads in part; equal numbers, infinities and no numbers among them."""
    x = np.arange(-12, 13, dtype=np.float32)
    x[::5], x[1], x[24] = np.nan, np.inf, -np.inf
    return case("choices" + name, dict(x=x, c=np.roll(x, 1) * np.float32(0.5), d=numbers(25)), "float[25] y", [], *lines)


CASES = [
    *TRANSPOSED,
    case("batch_norms_with_parameters_given", norms(3), "float[1, 6, 5, 4] y", [],
         *(f"{'y' if i == 2 else f'y{i}'} = BatchNormalization ({f'y{i - 1}' if i else 'x'}, scale{i}, bias{i}, mean{i}, var{i})" for i in range(3))),
    case("attention_many_keys", many_keys(45, 5000), "float[2, 45, 3] y", [], *MANY),
    case("attention_many_keys_one_query", many_keys(1, 1500), "float[2, 1, 3] y", [], *MANY),
    case("attention_many_keys_bounded", many_keys(300, 900), "float[2, i, 3] y", [], *MANY, extents=MANY_EXTENTS,
         flags=("--dim=i=1..400", "--dim=n=1..6000"), feeds=[many_keys(300, 900), many_keys(7, 5003), many_keys(1, 1024)]),
    case("attention_alone", QKV, Y, [], "s = MatMul(q, k)", "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_scaled_query", QKV, Y, [EIGHTH], "a = Mul(scale, q)", "s = MatMul(a, k)", "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_divided_key", QKV, Y, [EIGHTH], "a = Div(k, scale)", "s = MatMul(q, a)", "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_query_read_twice", QKV, Y + ", float[2, 3, 7, 5] a", [EIGHTH], "a = Mul(q, scale)", "s = MatMul(a, k)",
         "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_weights_read_twice", QKV, Y + ", float[2, 3, 7, 9] p", [], "s = MatMul(q, k)", "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_scores_read_twice", QKV, Y + ", float[2, 3, 7, 9] s", [], "s = MatMul(q, k)", "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_along_another_axis", QKV, Y, [], "s = MatMul(q, k)", "p = Softmax <axis = 2> (s)", "y = MatMul(p, v)"),
    case("attention_as_second_factor", dict(q=numbers(4, 6), k=numbers(6, 4), v=numbers(3, 4)), "float[3, 4] y", [], "s = MatMul(q, k)",
         "p = Softmax(s)", "y = MatMul(v, p)"),
    case("attention_of_more_places", dict(q=numbers(7, 5), k=numbers(5, 9), v=numbers(2, 3, 9, 4)), Y, [], "s = MatMul(q, k)",
         "p = Softmax(s)", "y = MatMul(p, v)"),
    case("attention_masked_by_place", dict(QKV, m=numbers(3, 1, 9)), Y, [], "s = MatMul(q, k)", "a = Add(s, m)", "p = Softmax(a)",
         "y = MatMul(p, v)"),
    case("attention_transposed_result", QKV, "float[2, 7, 12] y", [("flat", [2, 7, 12])], "s = MatMul(q, k)", "p = Softmax(s)",
         "o = MatMul(p, v)", "t = Transpose <perm = [0, 2, 1, 3]> (o)", "y = Reshape(t, flat)"),
    case("attention_mask_over_one_more_axis", QKV, Y, [("wide", [1, 2, 3, 7, 9]), ("back", [2, 3, 7, 9]), ("mask", numbers(1, 2, 1, 7, 9))],
         "s = MatMul(q, k)", "r = Reshape(s, wide)", "a = Add(r, mask)", "b = Reshape(a, back)", "p = Softmax(b)", "y = MatMul(p, v)"),
    case("reshape_that_does_not_come_back", dict(x=numbers(2, 3, 4)), "float[6, 4] y",
         [("wide", [1, 2, 3, 4]), ("back", [6, 4]), ("mask", numbers(1, 2, 1, 4))], "r = Reshape(x, wide)", "a = Add(r, mask)",
         "y = Reshape(a, back)"),
    case("channel_shuffle", IMAGE, "float[1, 6, 5, 4] y", [WEIGHTS, ("split", [1, 2, 3, 5, 4]), ("join", [1, 6, 5, 4])],
         "a = Conv(x, w)", "b = Reshape(a, split)", "c = Transpose <perm = [0, 2, 1, 3, 4]> (b)", "d = Reshape(c, join)", "y = Conv(d, w)"),
    case("reductions_of_whole_images", dict(x=numbers(2, 6, 5, 4)), "float[2, 6] a, float[] b, float[2, 5, 4] c, float[2, 6] d, float[2, 6, 4] e",
         [WEIGHTS, ("rows", [2])], "i = Conv(x, w)", "a = ReduceMean <axes = [2, 3], keepdims = 0> (i)",
         "b = ReduceMin <keepdims = 0> (i)", "c = ReduceL2 <axes = [1], keepdims = 0> (i)", "d = ReduceMax <axes = [2, 3], keepdims = 0> (i)",
         "e = ReduceSum <keepdims = 0> (i, rows)"),
    case("reductions_of_whole_images_bounded", dict(x=numbers(2, 6, 5, 4)), "float[2, 6] a, float[] b, float[2, 6, 4] e",
         [WEIGHTS, ("rows", [2])], "i = Conv(x, w)", "a = ReduceMean <axes = [2, 3], keepdims = 0> (i)",
         "b = ReduceLogSumExp <keepdims = 0> (i)", "e = ReduceSum <keepdims = 0> (x, rows)", extents="float[2, 6, h, 4] x", flags=("--dim=h=1..9",),
         feeds=[dict(x=numbers(2, 6, k, 4)) for k in (5, 1, 9)]),
    case("channels_flattened", IMAGE, "float[1, 120] y", [WEIGHTS, ("join", [1, 120])], "a = Conv(x, w)", "y = Reshape(a, join)"),
    case("short_rows", dict(x=numbers(1, 91, 5), c=numbers(3)), "float[1, 91, 3] y, float[1, 91, 3] z",
         [("from", [1]), ("to", [4]), ("axis", [2])], "a = Slice(x, from, to, axis)", "b = Mul(a, c)", "d = Add(b, a)", "y = Sigmoid(d)",
         "e = Softmax(d)", "f = Mul(e, c)", "z = Tanh(f)"),
    case("short_rows_side_by_side", dict(x=numbers(1, 150, 4), c=numbers(1, 150, 2)), "float[1, 150, 4] y",
         [("none", [0]), ("two", [2]), ("four", [4]), ("axis", [2])], "a = Slice(x, none, two, axis)", "b = Slice(x, two, four, axis)",
         "d = Mul(a, c)", "e = Exp(b)", "f = Mul(e, c)", "g = Sub(d, f)", "h = Add(d, f)", "y = Concat <axis = 2> (g, h)"),
    case("short_rows_bounded", dict(x=numbers(70, 2), c=numbers(2)), "float[n, 2] y", [], "a = Mul(x, c)", "b = Softmax(a)", "d = Mul(b, c)",
         "y = Add(d, x)", extents="float[n, 2] x, float[2] c", flags=("--dim=n=1..200",), feeds=[dict(x=numbers(k, 2), c=numbers(2)) for k in (70, 1, 200)]),
    case("winograd_of_outputs_beyond_a_block", dict(x=numbers(1, 16, 8, 8)), "float[1, 140, 8, 8] y",
         [("a", numbers(140, 1, 1, 1)), ("b", numbers(1, 16, 3, 3))], "w = Mul(a, b)", "y = Conv <pads = [1, 1, 1, 1]> (x, w)",
         flags=("--winograd=on", "--winograd-error=1"), atol=1e-4), # sums reach 45, and F4 rounds to less than a millionth of that
    case("winograd_of_lines", dict(x=numbers(1, 64, 96)), "float[1, 140, 96] y", [("a", numbers(140, 1, 1)), ("b", numbers(1, 64, 3))],
         "w = Mul(a, b)", "y = Conv <pads = [2, 2], dilations = [2]> (x, w)", flags=("--winograd=on", "--winograd-error=1"), atol=1e-4),
    choices("", "a = Less(x, c)", "b = Where(a, d, x)", "e = LessOrEqual(x, d)", "f = Where(e, b, c)", "g = Equal(x, f)", "y = Where(g, d, f)"),
    choices("_read_twice", "a = Less(x, c)", "n = Not(a)", "b = Where(a, d, x)", "f = Where(n, c, b)", "e = Cast <to = 1> (a)", "y = Add(f, e)"),
    choices("_of_themselves", "a = Equal(x, c)", "b = Where(a, x, c)", "e = LessOrEqual(b, b)", "y = Where(e, b, d)"),
    planes("", 32, 8, 6),
    planes("_odd_pixels", 32, 5, 7),
    planes("_odd_channels", 20, 8, 6),
]
