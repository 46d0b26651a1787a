"""Where windows meet the end of an image, and images whose extents are known only while running.

Windows of one element and pads on each side by themselves, for each kernel that slides windows; networks of convolutions
with run-time extents, at their least, their most and two sizes between; views whose strides are known only while running;
channels, heads and sizes likewise; what is added to products."""

import itertools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(15)
FLOAT, OPSET = TensorProto.FLOAT, 21
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(np.float16): TensorProto.FLOAT16,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(np.int64): TensorProto.INT64}


def numbers(shape, dtype=np.float32):
    if np.issubdtype(dtype, np.integer):
        return RANDOM.integers(-20 if np.iinfo(dtype).min else 0, 100, shape).astype(dtype)
    return RANDOM.standard_normal(shape).astype(dtype)


class Net:
    """A model in the making: `add` appends a node and returns its result's name."""

    def __init__(self, **inputs):
        """Shapes, with words for run-time extents; or (shape, dtype)."""
        self.inputs = {k: v if isinstance(v, tuple) and isinstance(v[0], list) else (v, np.float32) for k, v in inputs.items()}
        self.nodes, self.constants, self.outputs = [], [], []

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operator, *inputs, **attributes):
        names = [i if isinstance(i, str) else "" if i is None else self.constant(i) for i in inputs]
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [name], **attributes))
        return name

    def give(self, name, rank, dtype=np.float32):
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], [None] * rank))

    def model(self):
        given = [helper.make_tensor_value_info(k, TYPES[np.dtype(t)], s) for k, (s, t) in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "g", given, self.outputs, self.constants)
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9))

    def feed(self, **extents):
        return {k: numbers([extents.get(d, d) for d in s], t) for k, (s, t) in self.inputs.items()}


def case(name, net, feeds=None, flags=(), **more):
    return dict(name=name, group="geometry", model=net.model(), inputs=feeds or [net.feed()], flags=flags, **dict(dict(atol=1e-5), **more))


# ---------------------------------------------------------------------------------------------------------- ends of images

SPACE = [4, 3, 5]


def pads_of(rank):
    """Two elements on each side by itself, and one on all ends."""
    sides = [[2 * (i == k) for i in range(2 * rank)] for k in range(2 * rank)]
    return [*sides, [0] * rank + [1] * rank]


def single_taps(name, rank, inputs, outputs, group=1, dtype=np.float32, by_pad=False, given=False, **more):
    """Convolutions of one element over the same image, a pad each."""
    w = numbers([outputs, inputs // group] + [1] * rank, dtype)
    net = Net(x=([1, inputs] + SPACE[:rank], dtype), **(dict(w=(list(w.shape), dtype)) if given else {}))
    for pads in pads_of(rank):
        x, own = "x", dict(pads=pads)
        if by_pad:
            x, own = net.add("Pad", "x", np.array([0, 0] + pads[:rank] + [0, 0] + pads[rank:], np.int64)), {}
        net.give(net.add("Conv", x, "w" if given else w, numbers(outputs, dtype), group=group, **own), rank + 2, dtype)
    return case("single_taps_" + name, net, **more)


def single_taps_of_bytes(name, rank, inputs, outputs, group=1, dtype=np.uint8, operator="QLinearConv"):
    w = numbers([outputs, inputs // group] + [1] * rank, np.int8)
    net = Net(x=([1, inputs] + SPACE[:rank], dtype))
    zero, scale, per = dtype(7), np.float32(0.05), RANDOM.uniform(0.01, 0.02, outputs).astype(np.float32)
    for pads in pads_of(rank):
        if operator == "QLinearConv":
            y = net.add(operator, "x", scale, zero, w, per, np.zeros(outputs, np.int8), np.float32(0.2), dtype(3), pads=pads, group=group)
        elif operator == "ConvInteger":
            y = net.add("Cast", net.add(operator, "x", w, zero, pads=pads, group=group), to=FLOAT)
        else:
            x = net.add("DequantizeLinear", "x", scale, zero)
            weights = net.add("DequantizeLinear", w, per, np.zeros(outputs, np.int8), axis=0)
            y = net.add("QuantizeLinear", net.add("Conv", x, weights, pads=pads, group=group), np.float32(0.2), dtype(3))
        net.give(y, rank + 2, np.float32 if operator == "ConvInteger" else dtype)
    return case("single_taps_" + name, net)


def transposed_ends(name, rank, dtype=np.float32, group=1, **more):
    """As many taps as steps, and results behind the last of them."""
    net = Net(x=([1, 4] + SPACE[:rank], dtype))
    for k in range(rank):
        w = numbers([4, 3 * group] + [2] * rank, dtype)
        net.give(net.add("ConvTranspose", "x", w, strides=[2] * rank, output_padding=[int(i == k) for i in range(rank)], group=group),
                 rank + 2, dtype)
    return case("transposed_ends_" + name, net, **more)


def pooled_ends(name, rank, channels, dtype=np.float32, operators=("AveragePool", "MaxPool", "LpPool"), **more):
    net = Net(x=([1, channels] + SPACE[:rank], dtype))
    for operator, pads in itertools.product(operators, pads_of(rank)):
        own = dict(count_include_pad=1) if operator == "AveragePool" and pads[-1] else {}
        net.give(net.add(operator, "x", kernel_shape=[3] * rank, pads=pads, **own), rank + 2, dtype)
    return case("pooled_ends_" + name, net, **more)


def far_pad(name, dtype):
    """A window whose last tap alone meets the image: the first one lies nearly 2^31 elements in front of it."""
    net, own = Net(x=([1, 5, 4], dtype)), dict(pads=[2**31 - 1, 0], dilations=[2**30 + 1])
    if dtype == np.float32:
        y = net.add("Conv", "x", numbers([6, 5, 3]), **own)
    else:
        y = net.add("QLinearConv", "x", np.float32(0.1), dtype(3), numbers([6, 5, 3], np.int8), np.float32(0.02), np.int8(0), np.float32(0.2),
                    dtype(3), **own)
    net.give(y, 3, dtype)
    return case("far_pad_" + name, net)


def halves(name, size, pads, dtype, whole=False):
    """Means of bytes between two steps of the result, where half of them are: rounded to even, which sums of floats do not."""
    net, zero = Net(x=([1, 3, 9, 10], dtype)), dtype(5)
    x = net.add("DequantizeLinear", "x", np.float32(0.1), zero)
    if whole:
        y = net.add("GlobalAveragePool", x)
    else:
        y = net.add("AveragePool", x, kernel_shape=[size, size], pads=[pads] * 4, count_include_pad=1)
    net.give(net.add("QuantizeLinear", y, np.float32(0.1), zero), 4, dtype)

    def wanted(inputs):
        grown = np.pad(inputs["x"].astype(np.int64) - 5, [(0, 0), (0, 0), (pads, pads), (pads, pads)])
        windows = np.lib.stride_tricks.sliding_window_view(grown, (9, 10) if whole else (size, size), axis=(2, 3))
        return [(np.rint(windows.sum(axis=(4, 5)) / windows[0, 0, 0, 0].size) + 5).astype(dtype)]

    return case("halves_" + name, net, [net.feed() for _ in range(3)], wanted=wanted)


HALVES = [halves("i8_2", 2, 0, np.int8), halves("u8_2", 2, 0, np.uint8), halves("i8_4", 4, 0, np.int8), halves("padded", 2, 1, np.int8),
          halves("whole", 0, 0, np.uint8, whole=True)]

REFERENCE = dict(oracle="reference")
HALF = dict(oracle="reference", atol=1e-2)
ENDS = [
    *[single_taps(f"{rank}d", rank, 3, 5) for rank in (1, 2, 3)],
    *[single_taps(f"many_{rank}d", rank, 40, 33) for rank in (1, 2)],
    *[single_taps(f"few_outputs_{rank}d", rank, 24, 2) for rank in (1, 2)],
    *[single_taps(f"groups_{rank}d", rank, 6, 4, group=2) for rank in (1, 2)],
    *[single_taps(f"each_channel_{rank}d", rank, 8, 8, group=8) for rank in (1, 2)],
    *[single_taps(f"behind_pad_{rank}d", rank, 9, 4, by_pad=True) for rank in (1, 2, 3)],
    *[single_taps(f"of_given_weights_{rank}d", rank, 9, 8, given=True) for rank in (1, 2)],
    far_pad("float", np.float32), far_pad("u8", np.uint8),
    single_taps("cascade", 2, 9, 8, flags=("--cascade=on",)),
    single_taps("double", 2, 3, 5, dtype=np.float64, **REFERENCE),
    single_taps("half", 2, 3, 5, dtype=np.float16, **HALF),
    *[single_taps_of_bytes(f"u8_{rank}d", rank, 5, 6) for rank in (1, 2, 3)],
    *[single_taps_of_bytes(f"i8_many_{rank}d", rank, 32, 40, dtype=np.int8) for rank in (1, 2)],
    single_taps_of_bytes("u8_each_channel", 2, 8, 8, group=8),
    *[single_taps_of_bytes(f"qdq_{rank}d", rank, 5, 6, operator="QDQ") for rank in (1, 2)],
    single_taps_of_bytes("qdq_many", 2, 32, 24, operator="QDQ"),
    single_taps_of_bytes("qdq_each_channel", 2, 8, 8, group=8, operator="QDQ"),
    single_taps_of_bytes("integer", 2, 5, 6, operator="ConvInteger"),
    *[transposed_ends(f"{rank}d", rank) for rank in (1, 2, 3)],
    transposed_ends("groups", 2, group=2),
    transposed_ends("double", 2, dtype=np.float64, **REFERENCE),
    *[pooled_ends(f"{rank}d", rank, 3) for rank in (1, 2, 3)],
    pooled_ends("many", 2, 24),
    pooled_ends("bytes", 2, 5, dtype=np.uint8, operators=("MaxPool",)),
    pooled_ends("double", 2, 3, dtype=np.float64, operators=("MaxPool",)),
    pooled_ends("double_means", 2, 3, dtype=np.float64, operators=("AveragePool",), **REFERENCE),
]


# ------------------------------------------------------------------------------------------------------- run-time extents

NAMES = "DHW"


def conv(net, x, inputs, outputs, rank, kernel=3, stride=1, group=1):
    w = numbers([outputs, inputs // group] + [kernel] * rank) / np.float32(np.sqrt(inputs * kernel ** rank))
    return net.add("Conv", x, w, numbers(outputs), pads=[kernel // 2] * (2 * rank), strides=[stride] * rank, group=group)


def residual(net, x, c, rank):
    y = net.add("Relu", net.add("Add", conv(net, x, c, c, rank), x))
    return net.add("Add", conv(net, y, c, c, rank, kernel=1), net.add("Mul", y, x))


def gated(net, x, c, rank):
    return net.add("Mul", x, net.add("Sigmoid", conv(net, x, c, c, rank, group=c)))


def pooled(net, x, c, rank):
    y = conv(net, x, c, 5, rank)
    one = dict(kernel_shape=[3] * rank, pads=[1] * (2 * rank))
    y = net.add("Concat", net.add("MaxPool", y, **one), x, net.add("AveragePool", x, **one), axis=1)
    return net.add("Sub", x, conv(net, y, 5 + 2 * c, c, rank, kernel=1))


def resized(net, x, c, rank):
    y = net.add("Resize", conv(net, x, c, c, rank), None, np.array([1, 1] + [2] * rank, np.float32), mode="nearest")
    y = net.add("AveragePool", conv(net, y, c, c, rank), kernel_shape=[2] * rank, strides=[2] * rank)
    return net.add("Add", x, y)


def raised(net, x, c, rank):
    """Half the size and back: extents are even."""
    y = net.add("Relu", conv(net, x, c, 6, rank, stride=2))
    w = numbers([6, c] + [2] * rank)
    return net.add("Add", net.add("ConvTranspose", y, w, strides=[2] * rank), x)


def normalised(net, x, c, rank):
    y = net.add("InstanceNormalization", conv(net, x, c, c, rank), numbers(c), numbers(c))
    mean = net.add("GlobalAveragePool", x)
    return net.add("Add", net.add("Mul", y, mean), x)


def turned(net, x, c, rank):
    """Channels last and back, with a norm and a product of rows between."""
    order = [0, *range(2, rank + 2), 1]
    y = net.add("Transpose", conv(net, x, c, c, rank), perm=order)
    y = net.add("LayerNormalization", y, numbers(c), numbers(c))
    y = net.add("Add", net.add("MatMul", y, numbers([c, c])), net.add("Transpose", x, perm=order))
    y = net.add("Transpose", y, perm=[0, rank + 1, *range(1, rank + 1)])
    return net.add("Add", y, x)


def sized(name, block, rank, least, most, channels=5, batch=1, flags=()):
    """The block between convolutions, at the least and the most of each extent and two sizes between."""
    space = list(NAMES[3 - rank:])
    net = Net(x=[batch, channels, *space])
    y = block(net, "x", channels, rank)
    net.give(conv(net, y, channels, 4, rank), rank + 2)
    if block not in (raised, resized):
        net.give(y, rank + 2)
    grain = 2 if block is raised else 1
    steps = [least, least + (most - least) // 3 // grain * grain, least + 2 * (most - least) // 3 // grain * grain, most]
    feeds = [net.feed(**{d: steps[(i * (1 + (i in (1, 2)) * k) + k * (i == 2)) % 4] for k, d in enumerate(space)}, B=1 + i % 3)
             for i in range(4)]
    bounds = [f"--dim={d}={least}..{most}" for d in space] + (["--dim=B=1..3"] if batch == "B" else [])
    return case(f"sized_{name}_{rank}d", net, feeds, (*bounds, *flags))


BLOCKS = dict(residual=residual, gated=gated, pooled=pooled, resized=resized, raised=raised, normalised=normalised, turned=turned)
SIZED = [
    *[sized(name, block, rank, 2, 8) for name, block in BLOCKS.items() for rank in (1, 2)],
    *[sized(name, BLOCKS[name], 3, 2, 6, channels=3) for name in ("residual", "pooled", "raised")],
    *[sized(name + "_batch", BLOCKS[name], 2, 2, 8, batch="B") for name in ("residual", "turned")],
    *[sized(name + "_many", BLOCKS[name], 2, 4, 10, channels=16) for name in ("residual", "gated", "pooled")],
    *[sized(name + "_one", BLOCKS[name], 2, 2, 8, channels=1) for name in ("residual", "pooled")],
    sized("residual_unfused", residual, 2, 2, 8, flags=("--elision=off", "--in-place=off", "--overlap=off")),
    sized("residual_threads", residual, 2, 2, 8, flags=("--threads=2",)),
    sized("residual_shared", residual, 2, 2, 8, flags=("--code=shared",)),
]


# --------------------------------------------------------------------------------------------------------- run-time strides

def views(rank, operators, sizes):
    """Elementwise work between a tensor and each permutation of another."""
    names = "ABCD"[:rank]
    orders = list(itertools.permutations(range(rank)))[1:]
    net = Net(x=list(names), **{f"z{n}": [names[a] for a in order] for n, order in enumerate(orders)}, row=[names[-1]],
              column=[names[0]] + [1] * (rank - 1))
    for n, order in enumerate(orders):
        y = net.add(operators[n % len(operators)], net.add("Transpose", "x", perm=order), f"z{n}")
        y = net.add("Mul", net.add("Transpose", y, perm=list(np.argsort(order))), net.add("Add", "row", "column"))
        net.give(y, rank)
        net.give(net.add("Softmax", net.add("Add", y, "row"), axis=n % rank), rank)
    feeds = [net.feed(**dict(zip(names, size))) for size in sizes]
    return case(f"run_time_strides_{rank}d", net, feeds, [f"--dim={d}=1..6" for d in names])


VIEWS = [
    views(2, ["Add", "Div"], [(1, 1), (2, 5), (4, 3), (6, 6)]),
    views(3, ["Add", "Sub", "Mul", "Max"], [(1, 1, 1), (2, 5, 3), (4, 1, 3), (6, 6, 6)]),
]


# ---------------------------------------------------------------------------------------- channels known only while running

def open_channels(name, operator, extents, dtype=np.float32, kind=np.float32, flags=("--dim=C=1..9", "--dim=M=1..5"), **attributes):
    """Weights that are computed, with channels that are not known."""
    net = Net(x=([1, "C", 5, 4], dtype), w=([*extents, 3, 2], dtype))
    y = net.add(operator, "x", "w", **attributes)
    if operator == "ConvInteger":
        y = net.add("Cast", y, to=FLOAT)
    net.give(y, 4, kind)
    group = attributes.get("group", 1)
    sizes = [(1, 1), (3, 5), (6, 2), (9, 5)] if group == 1 else [(2, 2), (4, 4), (8, 2)]
    feeds = [net.feed(**{"C": c, "M": m, "S": c // group}) for c, m in sizes]
    return case("open_channels_" + name, net, feeds, flags)


def open_strides(name, operator, outputs):
    """Weights that are a part of something longer, at distances known only while running."""
    net = Net(x=[1, 6, 7], big=[outputs, 6, "L"])
    part = net.add("Slice", "big", np.array([0], np.int64), np.array([1], np.int64), np.array([2], np.int64))
    net.give(net.add(operator, "x", part) if operator == "Conv" else net.add(operator, "x", net.add("Transpose", part, perm=[1, 0, 2])), 3)
    return case("open_strides_" + name, net, [net.feed(L=n) for n in (1, 3, 5, 8)], ("--dim=L=1..8",))


def open_width(name, pads, **attributes):
    """A depthwise convolution of every width up to three of its tiles, and pads wider than its window now and then."""
    net = Net(x=[1, 19, 4, "W"])
    net.give(net.add("Conv", "x", numbers([19, 1, 3, 3]), numbers([19]), group=19, pads=pads, **attributes), 4)
    return case("depthwise_of_any_width_" + name, net, [net.feed(W=w) for w in range(1, 26)], ("--dim=W=1..25",))


def open_width_of_bytes(name, pads, **attributes):
    """The same of bytes."""
    net, zero = Net(x=([1, 19, 4, "W"], np.uint8)), np.uint8(7)
    per = RANDOM.uniform(0.01, 0.02, 19).astype(np.float32)
    net.give(net.add("QLinearConv", "x", np.float32(0.05), zero, numbers([19, 1, 3, 3], np.int8), per, np.zeros(19, np.int8), np.float32(0.2), np.uint8(3),
                     group=19, pads=pads, **attributes), 4, np.uint8)
    return case("depthwise_bytes_of_any_width_" + name, net, [net.feed(W=w) for w in range(1, 26)], ("--dim=W=1..25",))


WIDTHS = [
    open_width("near", [1, 1, 1, 1]),
    open_width("in_steps", [1, 1, 1, 1], strides=[2, 2]),
    open_width("dilated", [2, 2, 2, 2], dilations=[2, 2]),
    open_width("first_taps_alone", [1, 0, 1, 2]),
    open_width("far_ends", [1, 4, 1, 6]),
    open_width("far_ends_in_steps", [0, 5, 0, 8], strides=[1, 2]),
    open_width_of_bytes("near", [1, 1, 1, 1]),
    open_width_of_bytes("in_steps", [1, 1, 1, 1], strides=[2, 2]),
    open_width_of_bytes("first_taps_alone", [1, 0, 1, 2]),
    open_width_of_bytes("dilated", [2, 2, 2, 2], dilations=[2, 2]),
    open_width_of_bytes("far_ends", [1, 4, 1, 6]),
]

GROUPS = ("--dim=C=2..8", "--dim=M=2..4", "--dim=S=1..4")
OPEN = [
    open_channels("conv", "Conv", ["M", "C"], pads=[1, 0, 1, 0]),
    open_channels("conv_groups", "Conv", ["M", "S"], flags=GROUPS, group=2),
    open_channels("conv_double", "Conv", ["M", "C"], dtype=np.float64, kind=np.float64) | REFERENCE,
    open_channels("conv_half", "Conv", ["M", "C"], dtype=np.float16, kind=np.float16) | HALF,
    open_channels("transposed", "ConvTranspose", ["C", "M"], strides=[2, 1]),
    open_channels("integer", "ConvInteger", ["M", "C"], dtype=np.uint8),
    open_strides("conv", "Conv", 40),
    open_strides("transposed", "ConvTranspose", 40),
]


# ------------------------------------------------------------------------------------------------------------ heads and sizes

def heads(name, inputs, sizes, flags, **attributes):
    net = Net(**inputs)
    net.give(net.add("Attention", "q", "k", "v", **attributes), len(inputs["q"]))
    made = case("attention_" + name, net, [net.feed(**size) for size in sizes], flags)
    made["model"].opset_import[0].version = 23
    made["model"].ir_version = 11
    return made


FOUR = dict(q=[1, "H", 3, "D"], k=[1, "H", 5, "D"], v=[1, "H", 5, 3])
OPEN_HEADS = [
    heads("open_sizes", FOUR, [dict(H=2, D=d) for d in (1, 3, 6, 8)], ("--dim=H=2", "--dim=D=1..8")),
    heads("open_heads", FOUR, [dict(H=h, D=4) for h in (1, 2, 5, 6)], ("--dim=H=1..6", "--dim=D=4")),
    heads("open_sizes_shared", dict(FOUR, q=[1, 4, 3, "D"], k=[1, 2, 5, "D"], v=[1, 2, 5, 3]), [dict(D=d) for d in (1, 4, 7)],
          ("--dim=D=1..7",)),
    heads("open_sizes_packed", dict(q=[2, 3, "P"], k=[2, 5, "P"], v=[2, 5, 6]), [dict(P=p) for p in (2, 6, 8)], ("--dim=P=2..8",),
          q_num_heads=2, kv_num_heads=2),
]


# --------------------------------------------------------------------------------------------------------- addends of products

def addend(name, rows, columns, shape, kind):
    """A product and what is added to it: of floats, or dequantised, whose addend may be floats or integers."""
    net = Net(x=([rows, 6], np.uint8)) if kind != "float" else Net(x=[rows, 6])
    w, c = numbers([6, columns], np.int8), numbers(shape)
    if kind == "float":
        y = net.add("Gemm", "x", w.astype(np.float32), c)
    else:
        x = net.add("DequantizeLinear", "x", np.float32(0.1), np.uint8(9))
        weights = net.add("DequantizeLinear", w, np.float32(0.02), np.int8(0))
        if kind == "integers":
            c = net.add("DequantizeLinear", RANDOM.integers(-900, 900, shape).astype(np.int32), np.float32(0.002))
        y = net.add("Gemm", x, weights, c)
    net.give(y, 2)
    return case(f"addend_{kind}_{name}", net)


ADDENDS = [addend(name, rows, columns, shape, kind) for kind in ("float", "floats", "integers")
           for name, rows, columns, shape in [("column", 5, 5, [5, 1]), ("row", 5, 5, [1, 5]), ("vector", 4, 5, [5]), ("one", 5, 5, [1, 1]),
                                              ("whole", 3, 5, [3, 5]), ("column_of_one", 1, 5, [1, 1]), ("one_column", 5, 1, [5, 1])]]


# -------------------------------------------------------------------------------------------------------------- affine grids

def grid(name, size, corners):
    net = Net(theta=[1, len(size) - 2, len(size) - 1])
    net.give(net.add("AffineGrid", "theta", np.array(size, np.int64), align_corners=corners), len(size))
    return case("affine_grid_" + name, net, **REFERENCE)


GRIDS = [grid("one_column", [1, 1, 3, 1], 0), grid("one_column_corners", [1, 1, 3, 1], 1), grid("one_point_corners", [1, 2, 1, 1], 1),
         grid("one_plane_corners", [1, 2, 1, 3, 4], 1)]

# ----------------------------------------------------------------------------------------------------- pads of results in pixels

def padded(name, rank, words=(), feeds=None, flags=()):
    """Between convolutions, whose channels lie side by side: pads in each mode of the image, of channels, and of less than nothing."""
    extents = list(words) or SPACE[:rank]
    net = Net(x=[2, 3] + extents)
    y = net.add("Conv", "x", numbers([6, 3] + [1] * rank))
    image = [0, 0] + [1, 2, 1][:rank] + [0, 0] + [2, 1, 2][:rank]
    channels = [0, 2] + [0] * rank + [1, 3] + [1] * rank
    less = [0, -1] + [-1] * rank + [0, 2] + [1] * rank
    for mode in ("constant", "reflect", "edge", "wrap"):
        for pads in (image, channels, less)[: 3 if mode == "constant" else 1 if words else 2]:
            value = [numbers([])] if mode == "constant" else []
            if mode == "constant" or not pads[rank + 2]:
                x = net.add("Pad", y, np.array(pads, np.int64), *value, mode=mode)
                net.give(net.add("Conv", x, numbers([5, 6 + pads[1] + pads[rank + 3]] + [1] * rank)), rank + 2)
    return case("padded_" + name, net, feeds and [net.feed(**feed) for feed in feeds], flags)


PADDED = [padded("1d", 1), padded("2d", 2), padded("3d", 3),
          padded("any_2d", 2, "HW", [dict(H=h, W=w) for h, w in ((3, 3), (7, 4), (5, 9))], ("--dim=H=3..7", "--dim=W=3..9"))]

CASES = ENDS + PADDED + HALVES + SIZED + VIEWS + OPEN + WIDTHS + OPEN_HEADS + ADDENDS + GRIDS
