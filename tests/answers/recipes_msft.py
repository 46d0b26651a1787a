"""Operators of com.microsoft as exporters write them: activations, norms, products of few bits, quantised neighbours."""

import numpy as np
from onnx import TensorProto, helper

import draw as d
from net import Rejected
from recipes import attributes, recipe
from recipes_quant import BYTES, scale, zero_point
from recipes_windows import groups, window

MSFT = "com.microsoft"


def put(net, operator, inputs, outputs=1, domain=MSFT, **chosen):
    if domain:
        net.uses(domain)
    while inputs and inputs[-1] is None:
        inputs.pop()
    return net.node(operator, inputs, outputs, domain=domain, **chosen)


def along(net, sizes):
    """An extent that is sizes[i] at setting i: a number where all are equal."""
    return sizes[0] if len(set(sizes)) == 1 else net.name_extent(sizes)


def settings(net, low, high):
    """A size for each setting; the same everywhere where extents are not known at run time only."""
    if not net.runtime or net.draw.chance(0.4):
        return [net.draw.randint(low, high)] * net.count
    return [net.draw.randint(low, high) for _ in range(net.count)]


def common_type(net):
    return d.FLOAT if net.draw.chance(0.8) else d.HALF


@recipe("Gelu", "FastGelu", "QuickGelu", "BiasGelu", network=0, domain=MSFT)
def gelu(net):
    draw = net.draw
    operator = draw.pick(["Gelu", "FastGelu", "QuickGelu", "BiasGelu"])
    width = draw.pick([1, 5, 8, 17])
    x = net.input(d.FLOAT, [*net.shape(draw.randint(0, 2), 5), width])
    bias = net.weights(d.FLOAT, [width]) if operator == "BiasGelu" or operator == "FastGelu" and draw.chance(0.5) else None
    put(net, operator, [x, bias], **(attributes(draw, alpha=[1.0, 1.3]) if operator == "QuickGelu" else {}))


@recipe("SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", network=0, domain=MSFT)
def skip_norm(net):
    draw, width = net.draw, net.draw.pick([1, 3, 8, 24, 33])
    operator = draw.pick(["SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
    dtype = common_type(net)
    batch, rows = net.extent(3), net.extent(5)
    x, gain = net.input(dtype, [batch, rows, width]), net.weights(dtype, [width], runtime=0)
    if operator == "SimplifiedLayerNormalization":
        put(net, operator, [x, gain], [True, draw.chance(0.3)], domain="", **attributes(draw, axis=[-1, 2], epsilon=[1e-6, 1e-3], stash_type=[1]))
        return
    skip = net.input(dtype, draw.pick([[batch, rows, width]] * 2 + [[1, rows, width], [rows, width]]))
    extra = [net.weights(dtype, [width], runtime=0) if draw.chance(0.5) else None for _ in range(2 if operator == "SkipLayerNormalization" else 1)]
    put(net, operator, [x, skip, gain, *extra], [True, False, False, True] if draw.chance(0.5) else 1, **attributes(draw, epsilon=[1e-6, 1e-3]))


@recipe("EmbedLayerNormalization", network=0, domain=MSFT)
def embedding_norm(net):
    draw, width = net.draw, net.draw.pick([3, 8, 24])
    sizes, rows = settings(net, 1, 3), settings(net, 1, 7)
    dims = [along(net, sizes), along(net, rows)]

    def numbers(most):
        return net.input(d.INT32, dims, arrays=[draw.numpy().integers(0, most, s).astype(np.int32) for s in net.settle(dims)])
    segments, mask = draw.chance(0.5), draw.chance(0.5)
    inputs = [numbers(10), numbers(2) if segments else None, *(net.weights(d.FLOAT, [n, width], runtime=0) for n in (10, 9)),
              net.weights(d.FLOAT, [2, width], runtime=0) if segments else None, *(net.weights(d.FLOAT, [width], runtime=0) for _ in range(2)),
              numbers(2) if mask else None, numbers(9) if draw.chance(0.3) else None]
    put(net, "EmbedLayerNormalization", inputs, [True, mask, draw.chance(0.4)], **attributes(draw, epsilon=[1e-5, 1e-3], mask_index_type=[0, 1]))


@recipe("BiasSplitGelu", "NhwcConv", network=0, domain=MSFT)
def of_other_devices(net):
    """What ONNX Runtime declares but runs elsewhere: tests/tools/spelled.py says what it is."""
    draw, dtype = net.draw, common_type(net)
    if draw.chance(0.4):
        x = net.input(dtype, [net.extent(3), net.extent(6), 2 * draw.randint(1, 9)])
        put(net, "BiasSplitGelu", [x, net.weights(dtype, [x.fixed(2)], runtime=0.2)])
        return
    plain = net.input(d.FLOAT, [net.extent(2), draw.pick([1, 3, 4, 8]), *(net.extent(9) for _ in range(draw.pick([1, 2, 2, 2, 3])))])
    chosen = window(net, plain)
    group, outputs = groups(draw, plain.fixed(1))
    last = [0, *range(2, plain.rank), 1]
    x = net.input(d.FLOAT, [plain.dims[a] for a in last], arrays=[np.ascontiguousarray(a.transpose(last)) for a in plain.arrays])
    inputs = [x, net.weights(d.FLOAT, [outputs, plain.fixed(1) // group, *chosen["kernel_shape"]], 0.3, runtime=0.05)]
    inputs += [net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.6) else []
    net.drop_input(plain)
    put(net, "NhwcConv", inputs, group=group, **chosen)


FUSED = {"Relu": (), "Tanh": (), "Sigmoid": (), "LeakyRelu": (0.2,), "HardSigmoid": (0.3, 0.4), "Clip": (-0.5, 0.7)}


@recipe("FusedConv", network=0, domain=MSFT)
def fused_convolution(net):
    draw, name = net.draw, net.draw.pick(FUSED)
    x = net.input(d.FLOAT, [net.extent(2), draw.pick([1, 3, 8]), net.extent(9), net.extent(9)])
    chosen = window(net, x)
    group, outputs = groups(draw, x.fixed(1))
    inputs = [x, net.weights(d.FLOAT, [outputs, x.fixed(1) // group, *chosen["kernel_shape"]], 0.3, runtime=0)]
    inputs += [net.weights(d.FLOAT, [outputs], runtime=0)] if draw.chance(0.6) else []
    more = {"activation_params": list(FUSED[name])} if FUSED[name] else {}
    put(net, "FusedConv", inputs, group=group, activation=name, **more, **chosen)


@recipe("FusedMatMul", "FusedGemm", network=0, domain=MSFT)
def fused(net):
    draw = net.draw
    operator, name = draw.pick(["FusedMatMul", "FusedGemm"]), draw.pick(FUSED)
    a, b = draw.chance(0.5), draw.chance(0.5)
    rows, inner, columns = net.extent(5), draw.pick([1, 3, 8, 17]), draw.pick([1, 4, 9])
    left, right = [inner, rows] if a else [rows, inner], [columns, inner] if b else [inner, columns]
    if operator == "FusedGemm":
        inputs = [net.input(d.FLOAT, left), net.weights(d.FLOAT, right), net.weights(d.FLOAT, [columns]) if draw.chance(0.6) else None]
        more = dict(zip(("activation_alpha", "activation_beta"), FUSED[name])) | attributes(draw, activation_gamma=[0.5])
        put(net, operator, inputs, transA=int(a), transB=int(b), activation=name, **more, **attributes(draw, alpha=[0.5], beta=[2.0]))
        return
    chosen = {}
    if draw.chance(0.5):
        batch, swapped = net.extent(3), [draw.chance(0.5), draw.chance(0.5)]
        left, right = ([m[0], batch, m[1]] if s else [batch, *m] for m, s in zip((left, right), swapped))
        chosen = {"transBatchA": int(swapped[0]), "transBatchB": int(swapped[1])}
    put(net, operator, [net.input(d.FLOAT, left), net.input(d.FLOAT, right)], transA=int(a), transB=int(b), **chosen, **attributes(draw, alpha=[0.5, 1.0]))


# -- weights of few bits ---------------------------------------------------------------------------------------------------

def bytes_of(net, shape):
    return net.constant(net.draw.numpy().integers(0, 256, shape).astype(np.uint8))


@recipe("MatMulNBits", network=0, domain=MSFT)
def few_bits(net):
    draw, dtype = net.draw, common_type(net)
    bits, block = draw.pick([4, 4, 4, 8, 8, 2]), draw.pick([16, 16, 32, 64])
    inner, columns = draw.pick([block, 2 * block, 3 * block, block + 8, 2 * block + 5, 40]), draw.pick([1, 3, 4, 9, 16, 33])
    blocks = -(-inner // block)
    x = net.input(dtype, [*net.shape(draw.randint(0, 1), 3), net.extent(6), inner], "plain" if net.style == "special" else None)
    scales = net.constant((draw.numpy().standard_normal((columns, blocks)) * 0.1).astype(d.numpy_type(dtype)))
    zeros = draw.pick([None, bytes_of(net, (columns, -(-blocks * bits // 8)))])
    if zeros is None and draw.chance(0.2):
        zeros = net.constant((draw.numpy().random((columns, blocks)) * 2 + 2 ** (bits - 1)).astype(d.numpy_type(dtype)))
    bias = net.weights(dtype, [columns], runtime=0) if draw.chance(0.3) else None
    put(net, "MatMulNBits", [x, bytes_of(net, (columns, blocks, block * bits // 8)), scales, zeros, None, bias], K=inner, N=columns, bits=bits,
        block_size=block, **attributes(draw, accuracy_level=[0, 1, 4], weight_prepacked=[0]))


@recipe("GatherBlockQuantized", network=0, domain=MSFT)
def table_of_bits(net):
    draw, bits, block = net.draw, net.draw.pick([4, 8]), net.draw.pick([16, 32])
    rows, width = draw.randint(1, 9), draw.pick([block, 2 * block, 3 * block])
    blocks, each = width // block, 8 // bits
    dims = net.shape(draw.randint(0, 2), 4)
    arrays = [draw.numpy().integers(-rows, rows, s) for s in net.settle(dims)]
    scales = net.constant((draw.numpy().standard_normal((rows, blocks)) * 0.1).astype(d.numpy_type(common_type(net))))
    zeros = bytes_of(net, (rows, -(-blocks // each))) if draw.chance(0.5) else None
    put(net, "GatherBlockQuantized", [bytes_of(net, (rows, width // each)), net.input(d.INT64, dims, arrays=arrays), scales, zeros], bits=bits,
        block_size=block, gather_axis=0, quantize_axis=1)


# -- quantised neighbours --------------------------------------------------------------------------------------------------

@recipe("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", network=0, domain=MSFT)
def quantised_elements(net):
    draw, dtype = net.draw, net.draw.pick(BYTES)
    net.loosely = True
    operator = draw.pick(["QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"])
    x = net.input(dtype, net.shape(draw.randint(1, 4), 6))
    parameters = [scale(net), zero_point(net, dtype)]
    if operator in ("QLinearAdd", "QLinearMul"):
        y = net.partner(x)
        put(net, operator, [x, *parameters, y, scale(net), zero_point(net, dtype), scale(net), zero_point(net, dtype)])
    elif operator == "QLinearSoftmax":
        y_scale, y_zero = net.constant(np.float32(1 / 256)), net.constant(np.array(0 if dtype == d.UINT8 else -128, d.numpy_type(dtype)))
        axis = draw.randint(-x.rank, x.rank - 1)
        if 1 in x.extents(axis):
            raise Rejected("of one element ONNX Runtime's wraps to 0: docs/differences.md")
        put(net, operator, [x, *parameters, y_scale, y_zero], axis=axis, opset=draw.pick([13, 13, net.opset]))
    else:
        put(net, operator, [x, *parameters, scale(net), zero_point(net, dtype)],
            **(attributes(draw, alpha=[0.2, 0.01]) if operator == "QLinearLeakyRelu" else {}))


@recipe("QLinearWhere", "QLinearReduceMean", network=0, domain=MSFT)
def quantised_choice(net):
    draw, dtype = net.draw, net.draw.pick(BYTES)
    net.loosely = True
    x = net.input(dtype, net.shape(draw.randint(1, 4), 6))
    if draw.chance(0.5):
        condition, y = net.partner(x, d.BOOL), net.partner(x)
        put(net, "QLinearWhere", [condition, x, scale(net), zero_point(net, dtype), y, scale(net), zero_point(net, dtype), scale(net), zero_point(net, dtype)])
        return
    axes = [a - x.rank if draw.chance(0.3) else a for a in draw.several(range(x.rank), least=1)]
    put(net, "QLinearReduceMean", [x, scale(net), zero_point(net, dtype), scale(net), zero_point(net, dtype)], axes=axes, keepdims=draw.pick([0, 1]))


@recipe("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearConcat", network=0, domain=MSFT)
def quantised_images(net):
    draw, dtype = net.draw, net.draw.pick(BYTES)
    net.loosely = True
    operator = draw.pick(["QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearConcat"])
    dims = [net.extent(2), draw.randint(1, 9), net.extent(8), net.extent(8)]
    x = net.input(dtype, dims)
    if operator == "QLinearConcat":
        y = net.input(dtype, [dims[0], draw.randint(1, 5), *dims[2:]])
        put(net, operator, [scale(net), zero_point(net, dtype), x, scale(net), zero_point(net, dtype), y, scale(net), zero_point(net, dtype)], axis=1)
        return
    inputs = [x, scale(net), zero_point(net, dtype), scale(net), zero_point(net, dtype)]
    if operator == "QLinearGlobalAveragePool":
        put(net, operator, inputs, channels_last=0)
        return
    chosen = window(net, x)
    chosen.pop("dilations", None)
    more = attributes(draw, count_include_pad=[0, 1], ceil_mode=[0, 1], channels_last=[0])
    if more.get("count_include_pad") and more.get("ceil_mode"):
        raise Rejected("what lies behind the padding is not counted: docs/differences.md")
    put(net, operator, inputs, **chosen, **more)


@recipe("QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", network=0, domain=MSFT)
def quantised_products(net):
    draw = net.draw
    operator = draw.pick(["QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"])
    left, right = draw.pick(BYTES), draw.pick(BYTES)
    rows, inner, columns = net.extent(6), draw.pick([1, 3, 8, 17]), draw.pick([1, 4, 9, 17])
    per = (columns,) if draw.chance(0.4) else ()
    bias = net.constant(draw.array(d.FLOAT, (columns,))) if draw.chance(0.5) else None
    if operator == "DynamicQuantizeMatMul":
        net.loosely = True
        w = net.weights(right, [inner, columns], runtime=0)
        put(net, operator, [net.input(d.FLOAT, [rows, inner]), w, scale(net, per), zero_point(net, right, per) if draw.chance(0.6) else None, bias])
        return
    if operator == "MatMulIntegerToFloat":
        w = net.weights(right, [inner, columns], runtime=0.1)
        zeros = [zero_point(net, left) if draw.chance(0.7) else None, zero_point(net, right, per) if draw.chance(0.6) else None]
        put(net, operator, [net.input(left, [rows, inner]), w, scale(net), scale(net, per), *zeros, bias])
        return
    net.loosely = True
    a, b = draw.chance(0.3), draw.chance(0.5)
    x = net.input(left, [inner, rows] if a else [rows, inner])
    w = net.weights(right, [columns, inner] if b else [inner, columns], runtime=0)
    c = net.constant(draw.array(d.INT32, (columns,))) if draw.chance(0.5) else None
    out = [scale(net), zero_point(net, left)] if draw.chance(0.6) else []
    put(net, operator, [x, scale(net), zero_point(net, left), w, scale(net, per), zero_point(net, right, per), c, *out], transA=int(a), transB=int(b),
        **attributes(draw, alpha=[1.0, 0.5]))


@recipe("QuantizeLinear", "DequantizeLinear", network=0, domain=MSFT)
def steps(net):
    """The forms of com.microsoft, which had 16 bits first."""
    draw, dtype = net.draw, net.draw.pick([*BYTES, d.INT16, d.UINT16])
    dims, per, chosen = net.shape(draw.randint(1, 3), 6), (), {}
    if draw.chance(0.5):
        axis = draw.randrange(len(dims))
        dims[axis] = draw.randint(1, 6)
        per, chosen = (dims[axis],), {"axis": draw.pick([axis, axis - len(dims)])}
    if draw.chance(0.5):
        put(net, "QuantizeLinear", [net.input(d.FLOAT, dims, "plain"), scale(net, per), zero_point(net, dtype, per)], **chosen)
    else:
        put(net, "DequantizeLinear", [net.input(dtype, dims), scale(net, per), zero_point(net, dtype, per)], **chosen)


# -- the rest ---------------------------------------------------------------------------------------------------------------

@recipe("CDist", network=0, domain=MSFT)
def distances(net):
    draw, columns = net.draw, net.draw.randint(1, 9)
    dtype = draw.pick([d.FLOAT, d.DOUBLE])
    x, y = net.input(dtype, [net.extent(6), columns]), net.input(dtype, [net.extent(6), columns])
    put(net, "CDist", [x, y], metric=draw.pick(["sqeuclidean", "euclidean"]))


@recipe("MurmurHash3", network=0, domain=MSFT)
def hashed(net):
    draw = net.draw
    x = net.input(draw.pick([d.INT32, d.INT64, d.UINT32, d.UINT64, d.FLOAT, d.DOUBLE, d.STRING]), net.shape(draw.randint(0, 2), 5))
    put(net, "MurmurHash3", [x], **attributes(draw, seed=[0, 7, 12345], positive=[0, 1]))


@recipe("Tokenizer", network=0, domain=MSFT)
def tokens(net):
    draw = net.draw
    x = net.some((d.STRING,), rank=(1, 2), most=4)
    if any(a.size == 0 for a in x.arrays):
        raise Rejected("no text")
    how = draw.pick([{"separators": [" "]}, {"separators": ["b", " "]}, {"tokenexp": "[a-z]+"}, {"separators": [""]}])
    put(net, "Tokenizer", [x], mark=draw.pick([0, 1]), mincharnum=draw.pick([1, 2]) if how.get("separators") != [""] else 1, pad_value=draw.pick(["#", "pad"]),
        **how)


def cosines(net, rows, half, dtype=d.FLOAT):
    angles = net.draw.numpy().uniform(0, 6, (rows, half))
    return [net.constant(f(angles).astype(d.numpy_type(dtype))) for f in (np.cos, np.sin)]


@recipe("RotaryEmbedding", network=0, domain=MSFT)
def rotary(net):
    draw, heads, size = net.draw, net.draw.randint(1, 3), net.draw.pick([8, 16])
    batch, rows = settings(net, 1, 3), settings(net, 1, 6)
    dims = [along(net, batch), along(net, rows)]
    by_head = draw.chance(0.4)
    x = net.input(d.FLOAT, [dims[0], heads, dims[1], size] if by_head else [*dims, heads * size])
    if draw.chance(0.5):
        where = net.input(d.INT64, dims, arrays=[draw.numpy().integers(0, 20, s) for s in net.settle(dims)])
    else:
        where = net.input(d.INT64, [1], arrays=[draw.numpy().integers(0, 14, 1) for _ in range(net.count)])
    part = draw.chance(0.3)
    turned = size // 2 if part else size
    chosen = {"num_heads": heads, "rotary_embedding_dim": turned} if part else {}
    put(net, "RotaryEmbedding", [x, where, *cosines(net, 20, turned // 2)], **chosen,
        **attributes(draw, interleaved=[0, 1], is_packed_batching=[0], scale=[1.0, 0.5]))


# -- attention ----------------------------------------------------------------------------------------------------------------

@recipe("MultiHeadAttention", network=0, domain=MSFT)
def many_heads(net):
    draw, heads, size = net.draw, net.draw.randint(1, 3), net.draw.pick([2, 8])
    width = heads * size
    batch, rows, past = settings(net, 1, 3), settings(net, 1, 6), settings(net, 1, 4)
    own = draw.chance(0.5)
    keys = rows if own else settings(net, 1, 7)
    carries = draw.chance(0.3)
    every = [k + p for k, p in zip(keys, past)] if carries else keys
    b, s, k, t, p = (along(net, v) for v in (batch, rows, keys, every, past))
    packed = draw.weighted({"": 3, "all": 1 if own and not carries else 0, "keys": 1 if not carries else 0})
    q = net.input(d.FLOAT, [b, s, heads, 3, size] if packed == "all" else [b, s, width])
    kv = {"": lambda: [net.input(d.FLOAT, [b, k, width]) for _ in range(2)], "all": lambda: [None, None],
          "keys": lambda: [net.input(d.FLOAT, [b, k, heads, 2, size]), None]}[packed]()
    bias = net.weights(d.FLOAT, [3 * width], runtime=0) if draw.chance(0.4) and not packed else None
    mask = draw.pick([None, None, [b, t], [b, s, t]])
    mask = net.input(d.INT32, mask, arrays=[first_kept(draw.numpy().integers(0, 2, n).astype(np.int32)) for n in net.settle(mask)]) if mask else None
    addend = net.input(d.FLOAT, [draw.pick([1, b]), draw.pick([1, heads]), s, t]) if draw.chance(0.3) else None
    cache = [net.input(d.FLOAT, [b, heads, p, size]) for _ in range(2)] if carries else []
    put(net, "MultiHeadAttention", [q, *kv, bias, mask, addend, *cache], 3 if carries else 1, num_heads=heads,
        **attributes(draw, unidirectional=[0, 1], scale=[0.3], mask_filter_value=[-100.0]))


def first_kept(mask):
    mask[..., 0] = 1
    return mask


@recipe("Attention", "QAttention", network=0, domain=MSFT)
def joint(net):
    draw, heads, size = net.draw, net.draw.randint(1, 3), net.draw.pick([2, 8])
    width, features = heads * size, draw.pick([3, 10])
    batch, rows = settings(net, 1, 3), settings(net, 1, 6)
    b, s = along(net, batch), along(net, rows)
    quantised = draw.chance(0.4)
    x = net.input(d.UINT8 if quantised else d.FLOAT, [b, s, features])
    kind = draw.pick(BYTES) if quantised else d.FLOAT
    w, mask = net.weights(kind, [features, 3 * width], 0.3, runtime=0), None
    bias = net.weights(d.FLOAT, [3 * width], runtime=0)
    carries = draw.chance(0.3)
    past = settings(net, 1, 4) if carries else [0] * net.count
    p, t = along(net, past), along(net, [x + y for x, y in zip(past, rows)])
    if draw.chance(0.5):
        mask = mask_of(net, draw.pick([[b, t], [b, s, t]] if not quantised else [[b, t]]))
        mask = lengths(net, batch, rows, past) if draw.chance(0.4) else mask
    chosen = attributes(draw, unidirectional=[0, 1], do_rotary=[0], past_present_share_buffer=[0], scale=[0.3], mask_filter_value=[-100.0])
    cache = net.input(d.FLOAT, [2, b, heads, p, size]) if carries else None
    if quantised:
        extra = [zero_point(net, d.UINT8), zero_point(net, kind)] if draw.chance(0.7) or carries else [None, None]
        columns = (3 * width,) if draw.chance(0.3) and not (extra[0] and kind == d.UINT8) else ()
        put(net, "QAttention", [x, w, bias, scale(net), scale(net, columns), mask, *extra, cache], 2 if carries else 1, num_heads=heads, **chosen)
        return
    addend = net.input(d.FLOAT, [b, heads, s, t]) if draw.chance(0.3) else None
    chosen |= attributes(draw, qkv_hidden_sizes=[[width, width, width]], rotary_embedding_dim=[0, 32])
    put(net, "Attention", [x, w, bias, mask, cache, addend], 2 if carries else 1, num_heads=heads, **chosen)


def mask_of(net, dims):
    return net.input(d.INT32, dims, arrays=[first_kept(net.draw.numpy().integers(0, 2, n).astype(np.int32)) for n in net.settle(dims)])


def lengths(net, batch, rows, past):
    """A mask that says where the keys of each row of the batch end, and perhaps where they begin."""
    draw, both = net.draw, net.draw.chance(0.4) and len(set(batch)) == 1
    arrays = []
    for n, all_keys in zip(batch, [r + p for r, p in zip(rows, past)]):
        ends = draw.numpy().integers(1, all_keys + 1, n)
        begins = [draw.randint(0, int(end) - 1) for end in ends] if both else []
        arrays.append(np.array([*ends, *begins], np.int32))
    return net.input(d.INT32, [along(net, [len(a) for a in arrays])], arrays=arrays)


@recipe("GroupQueryAttention", network=0, domain=MSFT)
def grouped_queries(net):
    """With its lengths as exporters compute them from the attention mask."""
    draw, kv, turned = net.draw, net.draw.randint(1, 2), net.draw.chance(0.5)
    size = 16 if turned else draw.pick([8, 16])            # ONNX Runtime turns heads of multiples of 16
    if net.opset < 13:                                     # ReduceSum with axes as an input
        net.opset = net.opsets[""] = draw.pick([13, 17, 24])
    heads, kind = kv * draw.randint(1, 3), draw.pick(["prompt", "token", "more"])
    batch = settings(net, 1, 3) if kind != "more" else [1] * net.count
    past = [0] * net.count if kind == "prompt" else settings(net, 1, 9)
    rows = {"prompt": settings(net, 1, 7), "token": [1] * net.count, "more": settings(net, 2, 5)}[kind]
    every = [p + r for p, r in zip(past, rows)]
    b, p, s, t = (along(net, v) for v in (batch, past, rows, every))
    packed = draw.chance(0.3)
    if packed:
        inputs = [net.input(d.FLOAT, [b, s, (heads + 2 * kv) * size]), None, None]
    else:
        inputs = [net.input(d.FLOAT, [b, s, n * size]) for n in (heads, kv, kv)]
    cache = [net.input(d.FLOAT, [b, kv, p, size]) for _ in range(2)]
    masks = []
    for n, r, (wide, total) in zip(batch, rows, net.settle([b, t])):
        length = draw.numpy().integers(r, total + 1, wide) if kind == "token" else np.full(wide, total)
        length[0] = total
        masks.append((np.arange(total)[None] < length[:, None]).astype(np.int64))
    mask = net.input(d.INT64, [b, t], arrays=masks)
    one = net.constant(np.array([1], np.int64))
    last, total, result = net.fresh(), net.fresh(), [net.fresh() for _ in range(3)]
    names = [net.fresh() for _ in range(4)]
    extra = cosines(net, 20, size // 2) if turned else []
    nodes = [helper.make_node("ReduceSum", [mask.name, one.name], [names[0]], keepdims=0), helper.make_node("Sub", [names[0], one.name], [names[1]]),
             helper.make_node("Cast", [names[1]], [last], to=TensorProto.INT32)]
    if isinstance(t, str):
        nodes += [helper.make_node("Shape", [mask.name], [names[2]]), helper.make_node("Gather", [names[2], one.name], [names[3]], axis=0),
                  helper.make_node("Cast", [names[3]], [total], to=TensorProto.INT32)]
    else:                                                  # ONNX Runtime would take the Shape for a constant, and for one of 64 bits
        extra.append(net.constant(np.array([t], np.int32)))
        total = extra[-1].name
    net.uses(MSFT)
    chosen = {"num_heads": heads, "kv_num_heads": kv} | ({"do_rotary": 1} | attributes(draw, rotary_interleaved=[0, 1]) if turned else {})
    chosen |= attributes(draw, scale=[0.3], softcap=[2.0], local_window_size=[3, 5], smooth_softmax=[0, 1], causal=[1], k_quant_type=["NONE"],
                         v_quant_type=["NONE"], kv_cache_bit_width=[0], qk_norm_epsilon=[1e-6], sliding_window_cache=[0])
    chosen |= {} if turned else attributes(draw, do_rotary=[0])
    if kind != "token" and draw.chance(0.2):               # behind a shorter sequence ONNX Runtime leaves what was in memory
        chosen["qk_output"] = draw.pick([1, 2])
        result.append(net.fresh())
    fed = [v.name if v else "" for v in inputs] + [v.name for v in cache] + [last, total] + [v.name for v in extra if v.name != total]
    nodes.append(helper.make_node("GroupQueryAttention", fed, result, domain=MSFT, **chosen))
    net.add(nodes, [v for v in inputs if v] + cache + [mask, one] + extra, result)
