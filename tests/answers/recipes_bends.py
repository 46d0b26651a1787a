"""Values at which single elements take another way: borders of images, ties, NaN among keys, blanks in text, divisors of every sign."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_edges import numbers
from recipes_msft import put
from recipes_recurrent import ALPHA, BETA
from recipes_seldom import only_opset
from recipes_text import learning


def placed(draw, arrays, values, share=0.2):
    """The arrays with some elements set to one of some values."""
    random = draw.numpy()
    return [np.where(random.random(a.shape) < share, random.choice(np.array(values, a.dtype), a.shape), a) for a in arrays]


# -- places in images ------------------------------------------------------------------------------------------------------

@recipe("RoiAlign", "MaxRoiPool", network=0)
def regions_beside_images(net):
    """Regions within images, across their borders and beside them."""
    draw, random = net.draw, net.draw.numpy()
    version = net.newer("RoiAlign")
    batch, count, high, wide = draw.randint(1, 2), draw.randint(2, 6), draw.randint(1, 9), draw.randint(1, 9)
    x = net.input(d.FLOAT, [batch, draw.randint(1, 3), high, wide])
    corners = [np.sort(random.uniform(-4, 14, (count, 2, 2)), 1).reshape(count, 4).astype(np.float32) for _ in range(net.count)]
    net.node("RoiAlign", [x, net.input(d.FLOAT, [count, 4], arrays=corners), net.constant(random.integers(0, batch, count))], **attributes(
        draw, mode=["avg", "max"], output_height=[1, 2, 3], output_width=[1, 2, 4], sampling_ratio=[0, 1, 2, 3], spatial_scale=[1.0, 0.5],
        **({"coordinate_transformation_mode": ["half_pixel", "output_half_pixel"]} if version >= 16 else {})))


@recipe("GridSample", network=0)
def far_samples(net):
    """Points within an image, at its corners, and several images away from it."""
    draw = net.draw
    version = net.newer("GridSample")
    n = 2 if version < 20 or draw.chance(0.6) else 3
    batch = draw.randint(1, 2)
    x = net.input(d.FLOAT, [batch, draw.randint(1, 3), *(draw.randint(2, 7) for _ in range(n))])
    grid = net.input(d.FLOAT, [batch, *(draw.randint(1, 4) for _ in range(n)), n], style="plain")
    grid.arrays = placed(draw, [a * draw.pick([0.5, 1, 2, 9]) for a in grid.arrays], [-1.0, 1.0, 0.0, -3.0, 3.0, 7.0])
    modes = ["bilinear", "nearest", "bicubic"] if version < 20 else ["linear", "nearest"] + (["cubic"] if n == 2 else [])
    net.node("GridSample", [x, grid], **attributes(draw, mode=modes, padding_mode=["zeros", "border", "reflection", "reflection"], align_corners=[0, 1]))


@recipe("Resize", network=0)
def resized_to_one(net):
    """Scales that a caller gives or the model has, of images of few pixels: to one pixel, from one, unchanged; opsets 10, 11 and later."""
    draw = net.draw
    if net.nodes:
        raise Rejected("the opset is settled")
    only_opset(net, draw.pick([10, 10, 11, 11, 13, 18, 19]))
    n = draw.pick([1, 2, 2])
    dims = [1, draw.randint(1, 3), *(draw.pick([1, 2, 4, 8]) for _ in range(n))]      # whose scales floats hold: docs/differences.md
    x = net.input(d.FLOAT, dims)
    mode = draw.pick(["nearest", "linear"] + ["cubic"] * (net.opset > 10 and n == 2))

    def scales():
        return np.array([1, 1, *(draw.pick([1 / e, 1.0, 2.0, 0.5 if e > 1 else 3.0]) for e in dims[2:])], np.float32)
    held = [scales() for _ in range(net.count)]
    if any(abs(v - round(v)) > 1e-6 for s in held for v in np.array(dims) * s):
        raise Rejected("a fraction of an extent: docs/differences.md")
    by = net.input(d.FLOAT, [2 + n], arrays=held) if draw.chance(0.6) else net.constant(held[0])
    if net.opset == 10:
        net.node("Resize", [x, by], mode=mode)
        return
    coordinates = draw.pick(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"] + ["tf_half_pixel_for_nn"] * (net.opset == 11) * 3)
    chosen = attributes(draw, nearest_mode=["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]) if mode == "nearest" else {}
    roi = net.constant(np.array([0, 0, *[0] * n, 1, 1, *[1] * n], np.float32)) if net.opset == 11 else None
    net.node("Resize", [x, roi, by], mode=mode, coordinate_transformation_mode=coordinates, **chosen)


# -- choices and keys --------------------------------------------------------------------------------------------------------

@recipe("ArgMax", "ArgMin", "TopK", network=0)
def long_choices(net):
    """Rows longer than what is compared at once: with many equal elements, in order, in reverse order."""
    draw = net.draw
    net.most = max(net.most, 8192)
    operator = draw.pick(["ArgMax", "ArgMin", "TopK", "TopK"])
    if net.newer(operator) < 11:
        only_opset(net, draw.pick([12, 13, 18]))
    types = [d.FLOAT, d.FLOAT, d.INT32] + ([d.INT8, d.UINT8] if operator != "TopK" and net.opset >= 13 else [d.INT64] if operator == "TopK" else [])
    dims = [draw.randint(1, 3), draw.pick([9, 16, 31, 33, 64, 100, 300])] if draw.chance(0.8) else [draw.pick([40, 70]), draw.randint(1, 9)]
    x = net.input(draw.pick(types), dims, draw.pick(["plain", "small", "small", "equal"]))
    order = draw.pick(["drawn", "drawn", "up", "down", "late"])
    if order in ("up", "down"):
        x.arrays = [np.sort(a, -1)[:, ::1 if order == "up" else -1].copy() for a in x.arrays]
    if order == "late":                             # the best of a row near its end, where blocks of others were passed
        for a in x.arrays:
            a[:, -draw.randint(1, min(9, dims[1])):] = draw.pick([5, -5])
    axis = draw.pick([1, 1, 1, 0, -1])
    if operator == "TopK":
        count = draw.randint(1, min(x.extents(axis if axis >= 0 else 1)[0], draw.pick([1, 4, 40])))
        net.node(operator, [x, numbers(net, [count])], 2, axis=axis, **attributes(draw, largest=[0, 1]))
    else:
        last = attributes(draw, select_last_index=[0, 1, 1]) if net.version(operator) >= 12 else {}
        net.node(operator, [x], axis=axis, **last)


@recipe("LabelEncoder", network=0, domain="ai.onnx.ml")
def labels_of_nothing(net):
    """Keys of floats, NaN perhaps among them, and elements that are NaN."""
    draw = net.draw
    keys = draw.sample([float("nan"), 0.0, 1.0, -1.0, 2.5, float("inf")], draw.randint(1, 4))
    x = net.input(d.FLOAT, net.shape(draw.randint(0, 2), 5), "small")
    x.arrays = placed(draw, x.arrays, [np.nan, np.inf, 2.5, 1.0], 0.5)
    target = draw.pick(["int64s", "floats", "strings"])
    values = {"int64s": [draw.randint(-9, 9) for _ in keys], "floats": [round(draw.uniform(-2, 2), 2) for _ in keys], "strings": [f"w{i}" for i in range(len(keys))]}[target]
    learning(net, "LabelEncoder", [x], version=4, keys_floats=keys, **{f"values_{target}": values})


@recipe("TreeEnsembleRegressor", network=0, domain="ai.onnx.ml")
def trees_of_nothing(net):
    """Features that are NaN, infinite or just where a tree splits, and what a tree says of the missing ones."""
    draw, columns = net.draw, net.draw.randint(1, 3)
    x = net.input(d.FLOAT, [net.extent(6), columns])
    x.arrays = placed(draw, x.arrays, [np.nan, np.nan, 0.0, 0.5, 1.0, np.inf, -np.inf], 0.4)
    depth, mode = draw.randint(1, 3), draw.pick(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
    inner, every = 2 ** depth - 1, 2 ** (depth + 1) - 1
    leaf = range(inner, every)
    learning(net, "TreeEnsembleRegressor", [x], n_targets=1, nodes_treeids=[0] * every, nodes_nodeids=list(range(every)),
             nodes_featureids=[draw.randrange(columns) for _ in range(every)], nodes_values=[draw.pick([-1.0, 0.0, 0.5, 1.0]) for _ in range(every)],
             nodes_modes=[mode] * inner + ["LEAF"] * (every - inner), nodes_truenodeids=[2 * i + 1 if i < inner else 0 for i in range(every)],
             nodes_falsenodeids=[2 * i + 2 if i < inner else 0 for i in range(every)], nodes_missing_value_tracks_true=[draw.pick([0, 1]) for _ in range(every)],
             target_treeids=[0] * len(leaf), target_nodeids=list(leaf), target_ids=[0] * len(leaf), target_weights=[round(draw.uniform(-1, 1), 2) for _ in leaf])


@recipe("NonMaxSuppression", network=0)
def boxes_without_limits(net):
    """Limits that are left out, the number of boxes among them: then none is chosen."""
    draw, random = net.draw, net.draw.numpy()
    net.newer("NonMaxSuppression")
    batch, boxes, classes = draw.randint(1, 2), draw.randint(1, 9), draw.randint(1, 3)
    corners = [random.integers(0, 5, (batch, boxes, 4)).astype(np.float32) for _ in range(net.count)]
    scores = [(random.integers(0, 4, (batch, classes, boxes)) / 4).astype(np.float32) for _ in range(net.count)]
    inputs = [net.input(d.FLOAT, [batch, boxes, 4], arrays=corners), net.input(d.FLOAT, [batch, classes, boxes], arrays=scores)]
    limits = [draw.pick([None, numbers(net, draw.randint(0, 5))]), draw.pick([None, net.constant(np.float32(0.3))]), draw.pick([None, net.constant(np.float32(0.25))])]
    while limits and limits[-1] is None:
        limits.pop()
    net.node("NonMaxSuppression", inputs + limits)


# -- text ----------------------------------------------------------------------------------------------------------------------

@recipe("StringSplit", network=0)
def pieces_between_blanks(net):
    """Texts with runs of blanks of every kind, at their ends too, and delimiters that overlap, repeat or begin alike."""
    draw = net.draw
    net.newer("StringSplit")
    parts = ["a", "ab", "aab", "b", ",", ",,", "by", " ", "  ", "\t", "\n", "\r", "\v", "\f", "ü"]
    held = [np.array(["".join(draw.choices(parts, k=draw.randint(0, 7))) for _ in range(5)], object) for _ in range(net.count)]
    for array in held:                              # one of more pieces than ONNX Runtime's spaces make of others
        array[0] = " a b  a b a b a b a b a b ab" + "a" * 30
    most = draw.pick([None, 1, 2, 5, 0])
    if most is not None:                            # behind whose last cut ONNX Runtime drops blanks, and the reference evaluator none
        held = [np.array(["".join(" " if c.isspace() else c for c in w).strip() for w in a], object) for a in held]
    made = net.node("StringSplit", [net.input(d.STRING, list(held[0].shape), arrays=held)], outputs=2,
                    maxsplit=most, **attributes(draw, delimiter=[" ", "ab", ",", "aa", ""]))
    if any(not a.size for v in made for a in v.arrays):
        raise Rejected("no pieces")


@recipe("Tokenizer", network=0, domain="com.microsoft")
def tokens_of_words(net):
    """Tokens by expressions, by one separator, by several, by longer ones, and by character."""
    draw = net.draw
    words = ["aab", "b", " ", "--", "occam", "x1", "12", "", "ü", "AB"]
    dims = draw.pick([[3], [2, 2]])
    arrays = [np.array(["".join(draw.choices(words, k=draw.randint(1, 5))) + "a" for _ in range(int(np.prod(dims)))], object).reshape(dims) for _ in range(net.count)]
    how = draw.pick([{"separators": ["b"]}, {"separators": ["--", " "]}, {"separators": ["-", "a+", " "]}, {"tokenexp": "[a-z]+"}, {"tokenexp": "[0-9]|a*b"},
                     {"separators": [""]}])
    put(net, "Tokenizer", [net.input(d.STRING, dims, arrays=arrays)], mark=draw.pick([0, 1]), pad_value=draw.pick(["#", "pad"]),
        mincharnum=draw.pick([1, 2, 3]) if how.get("separators") != [""] else 1, **how)


# -- numbers -------------------------------------------------------------------------------------------------------------------

@recipe("Mod", "Div", network=0)
def divisors_of_every_sign(net):
    """Whole numbers by divisors of both signs, -1 among them; floats by zero and infinity as well."""
    draw = net.draw
    if net.opset < 13:
        only_opset(net, draw.pick([13, 18]))
    operator = draw.pick(["Mod", "Mod", "Div"])
    whole = draw.chance(0.7)
    dtype = draw.pick([d.INT64, d.INT32, d.INT8, d.INT16, d.UINT8] if whole and operator == "Mod" else [d.INT64, d.INT32] if whole else [d.FLOAT, d.DOUBLE])
    dims = net.shape(draw.randint(1, 2), 9)
    x, y = net.input(dtype, dims, "plain"), net.input(dtype, dims, "plain")
    low = [1] if dtype == d.UINT8 else [-1, -3, -7]
    if whole:
        y.arrays = [np.where(a == 0, 1, a).astype(a.dtype) for a in placed(draw, y.arrays, [1, 2, 3, 7, *low], 0.6)]
        net.node(operator, [x, y], **({"fmod": draw.pick([0, 1])} if operator == "Mod" else {}))
        return
    y.arrays = placed(draw, y.arrays, [2.0, -0.5, np.inf, 0.0, -3.0] if operator == "Div" else [2.0, -0.5, 3.0, -3.0], 0.6)
    net.node(operator, [x, y], **({"fmod": 1} if operator == "Mod" else {}))


@recipe("DFT", "STFT", network=0)
def lengths_of_transforms(net):
    """Transforms longer and shorter than their input, of real and complex numbers, onesided and back."""
    draw = net.draw
    if draw.chance(0.3):
        net.newer("STFT")
        frame, dtype = draw.randint(2, 9), draw.pick([d.FLOAT, d.DOUBLE])
        x = net.input(dtype, [draw.randint(1, 2), frame + draw.randint(0, 12), draw.pick([1, 2, 2])])
        window = net.weights(dtype, [frame], runtime=0) if draw.chance(0.5) else None
        net.node("STFT", [x, net.constant(np.int64(draw.randint(1, 4))), window, net.constant(np.int64(frame))], onesided=0 if x.fixed(2) == 2 else draw.pick([0, 1]))
        return
    version = net.newer("DFT")
    inverse = draw.chance(0.5)
    n, parts = draw.randint(1, 9), draw.pick([1, 2, 2])
    x = net.input(draw.pick([d.FLOAT, d.DOUBLE]), [draw.randint(1, 2), n, parts])
    length = net.constant(np.int64(draw.pick([n, n + 1, n + 5, 2 * n, max(1, n - 1)]))) if draw.chance(0.8) else None
    chosen = {"inverse": int(inverse), "onesided": draw.pick([0, 1]) if parts == 1 or inverse else 0}
    if version < 20:
        net.node("DFT", [x, length] if length else [x], axis=1, **chosen)
    else:
        net.node("DFT", [x, length, net.constant(np.int64(1))], **chosen)


@recipe("Sqrt", "Max", "Min", "Softplus", "Round", "Clip", "Sign", network=0)
def special_numbers(net):
    """NaN, infinities, negative numbers, halves and numbers without fractions, in floats and doubles, in rows longer than vectors."""
    draw = net.draw
    if net.opset < 13:
        only_opset(net, draw.pick([13, 18]))
    dtype = draw.pick([d.FLOAT, d.DOUBLE, d.DOUBLE])
    values = [np.nan, np.inf, -np.inf, -1.0, -0.0, 0.5, 1.5, 2.5, -0.5, 2.0 ** 23 + 1, 2.0 ** 52 + 1, 1e300 if dtype == d.DOUBLE else 1e30]
    x = net.input(dtype, [draw.randint(1, 40)], "plain")
    x.arrays = placed(draw, [4 * a for a in x.arrays], values, 0.4)
    operator = draw.pick(["Sqrt", "Sqrt", "Max", "Min", "Softplus", "Round", "Round", "Sign"])
    if operator in ("Max", "Min"):
        other = net.input(dtype, x.dims, "plain")
        other.arrays = placed(draw, other.arrays, values, 0.4)
        net.node(operator, draw.pick([[x, other], [x, other, x]]))
    else:
        net.node(operator, [x])


@recipe("RNN", "GRU", "LSTM", network=0)
def soft_cells(net):
    """Cells of doubles and floats with Softplus and the activations that bend at two places."""
    draw = net.draw
    operator, dtype = draw.pick(["RNN", "RNN", "GRU", "LSTM"]), draw.pick([d.DOUBLE, d.DOUBLE, d.FLOAT])
    net.newer(operator)
    gates, functions = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}[operator]
    time, batch, features, hidden = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 4)
    bent = [a for a in ("Softplus", "Softplus", "HardSigmoid", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "Elu", "Softsign", "Tanh") if dtype == d.DOUBLE or a != "Softplus"]
    names = [draw.pick(bent) for _ in range(functions)]
    x = net.input(dtype, [time, batch, features], "plain")
    inputs = [x, net.weights(dtype, [1, gates * hidden, features], 1.0, runtime=0), net.weights(dtype, [1, gates * hidden, hidden], 0.4, runtime=0)]
    inputs += [net.weights(dtype, [1, 2 * gates * hidden], 0.5, runtime=0)] if draw.chance(0.5) else [None]
    if operator == "LSTM" and draw.chance(0.5):
        inputs += [None, None, None, net.weights(dtype, [1, 3 * hidden], 0.3, runtime=0)]
    while inputs[-1] is None:
        inputs.pop()
    more = attributes(draw, input_forget=[0, 1]) if operator == "LSTM" else attributes(draw, linear_before_reset=[0, 1]) if operator == "GRU" else {}
    made = net.node(operator, inputs, outputs=draw.pick([[True, True], [False, True], [True, False]]), hidden_size=hidden, activations=names,
                    activation_alpha=[round(draw.uniform(0.1, 0.9), 2) for n in names if n in ALPHA], direction=draw.pick(["forward", "reverse"]),
                    activation_beta=[round(draw.uniform(0.1, 0.9), 2) for n in names if n in BETA], **more)
    if any(not np.all(np.abs(a) < 50) for v in (made if isinstance(made, list) else [made]) for a in v.arrays):
        raise Rejected("beyond what floats, in which ONNX Runtime is asked, say of doubles")
