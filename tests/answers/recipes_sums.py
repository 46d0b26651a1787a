"""Products of matrices, reductions, softmax, normalisation over axes."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe

REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare")


def scaled(rows):
    return 1 / max(1, rows) ** 0.5


@recipe("MatMul", network=4)
def matmul(net):
    draw = net.draw
    dtypes = (d.FLOAT,) if not net.single or draw.chance(0.7) else (d.DOUBLE, d.HALF, d.INT32, d.INT64, d.UINT32, d.UINT64)
    x = net.some(dtypes, rank=(1, 4))
    inner = x.fixed(x.rank - 1)
    columns = draw.pick([1, 2, 3, 4, 7, 8, 16, 17])
    if inner is not None and draw.chance(0.7):
        shape = [inner] if draw.chance(0.08) else [inner, columns]
        if x.rank > 2 and draw.chance(0.2):
            shape = [x.fixed(0) or 1] + ([1] * (x.rank - 3)) + shape if len(shape) == 2 else shape
        net.node("MatMul", [x, net.weights(x.dtype, shape, scaled(inner))])
        return
    if x.rank < 2:
        raise Rejected("a vector of unknown extent")
    batch = [net.like_axis(x, a) if draw.chance(0.8) else 1 for a in range(x.rank - 2)]
    y = net.input(x.dtype, [*batch, net.like_axis(x, x.rank - 1), net.extent(8)])
    net.node("MatMul", [x, y])


@recipe("MatMul", "Transpose", "Softmax", "Mul", network=1)
def attention(net):
    """Softmax(x x') x: what exporters write of attention."""
    draw = net.draw
    x = net.some((d.FLOAT,), rank=(2, 4))
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    scores = net.node("MatMul", [x, net.node("Transpose", [x], perm=order)])
    scores = net.node("Mul", [scores, net.constant(np.float32(draw.pick([0.1, 0.35, 1.0])))])
    net.node("MatMul", [net.node("Softmax", [scores], axis=-1 if net.opset >= 11 else x.rank - 1), x])


@recipe("Gemm", network=3)
def gemm(net):
    draw = net.draw
    x = net.some((d.FLOAT,) if not net.single or draw.chance(0.7) else (d.DOUBLE, d.HALF), rank=2)
    across, turned = draw.chance(0.25), draw.chance(0.5)
    inner = x.fixed(0 if across else 1)
    columns = draw.pick([1, 2, 3, 5, 8, 16, 17])
    if inner is not None:
        y = net.weights(x.dtype, [columns, inner] if turned else [inner, columns], scaled(inner))
    else:
        extent = net.like_axis(x, 0 if across else 1)
        y = net.input(x.dtype, [columns, extent] if turned else [extent, columns])
    inputs = [x, y]
    if draw.chance(0.7) or net.version("Gemm") < 11:
        rows = net.like_axis(x, 1 if across else 0)
        dims = draw.pick([[columns], [1, columns], [rows, 1], [rows, columns], [1, 1], [1], []])
        if all(isinstance(n, int) for n in dims) and draw.chance(0.8):
            inputs.append(net.constant(draw.array(x.dtype, dims), x.dtype))
        else:
            inputs.append(net.input(x.dtype, dims))
    chosen = attributes(draw, alpha=[1.0, 0.5, -2.0], beta=[1.0, 0.0, 0.5])
    net.node("Gemm", inputs, transA=int(across) or None, transB=int(turned) or None, **chosen)


@recipe("Einsum", network=0.5)
def einsum(net):
    draw = net.draw
    net.version("Einsum")
    x = net.some((d.FLOAT,), rank=(1, 3))
    letters = "abc"[:x.rank]
    if draw.chance(0.3):
        kept = draw.several(letters)
        draw.shuffle(kept)
        net.node("Einsum", [x], equation=letters + draw.pick(["->" + "".join(kept), ""]))
        return
    shared = draw.several(letters, least=1)
    dims = [net.like_axis(x, letters.index(c)) for c in shared] + [net.extent(5)]
    y = net.input(d.FLOAT, dims) if any(isinstance(n, str) for n in dims) or draw.chance(0.4) else net.constant(draw.array(d.FLOAT, dims))
    out = draw.several(letters + "z")
    draw.shuffle(out)
    net.node("Einsum", [x, y], equation=f"{letters},{''.join(shared)}z->{''.join(out)}")


@recipe(*REDUCTIONS, network=3)
def reduction(net):
    draw = net.draw
    operator = draw.pick(REDUCTIONS)
    version = net.version(operator)
    dtypes = (d.FLOAT,) if not net.single or draw.chance(0.6) else (d.DOUBLE, d.INT32, d.INT64) + ((d.INT8, d.UINT8) if operator in ("ReduceMax", "ReduceMin") and version >= 12 else ())
    x = net.some(dtypes, rank=(0 if net.single and draw.chance(0.1) else 1, 5))
    if operator == "ReduceLogSum" and x.dtype in (d.INT32, d.INT64):
        # The logarithm of a sum below 1 is NaN or -infinity, which no integer holds.
        if any(a.size == 0 for a in x.arrays):
            raise Rejected("the logarithm of an empty sum")
        x.arrays = [abs(a % 100) + 1 for a in x.arrays]
    if operator == "ReduceLogSumExp" and x.dtype in (d.INT32, d.INT64):
        # ONNX Runtime cuts every exponential to a whole number: apart by 16, all but the largest are 0 on both sides.
        x.arrays = [a % 100 * 16 for a in x.arrays]
    axes = draw.several(range(x.rank), least=1) if x.rank else []
    if version >= 11 and all(a.size for a in x.arrays):                      # of an axis without elements: docs/differences.md
        axes = [a - x.rank if draw.chance(0.3) else a for a in axes]
    chosen = attributes(draw, keepdims=[0, 1])
    by_input = version >= (13 if operator == "ReduceSum" else 18)
    if not by_input:
        net.node(operator, [x], axes=axes if axes and draw.chance(0.8) else None, **chosen)
        return
    chosen |= attributes(draw, noop_with_empty_axes=[0, 1])
    style = draw.weighted({"given": 8, "none": 1.5, "empty": 0.7, "input": 0.3 if net.single else 0})
    if style == "none":
        inputs = [x]
    elif style == "input" and axes:
        values = np.array(axes, np.int64)
        inputs = [x, net.input(d.INT64, [len(axes)], arrays=[values] * net.count)]
    else:
        inputs = [x, net.constant(np.array(axes if style == "given" else [], np.int64))]
    net.node(operator, inputs, **chosen)


@recipe("Softmax", "LogSoftmax", "Hardmax", network=2)
def softmax(net):
    draw = net.draw
    operator = draw.weighted({"Softmax": 5, "LogSoftmax": 2, "Hardmax": 1})
    x = net.some((d.FLOAT,) if not net.single or draw.chance(0.7) else (d.DOUBLE, d.HALF), rank=(1, 5), exact=operator == "Hardmax")
    low = -x.rank if net.opset >= 11 else 0
    net.node(operator, [x], axis=draw.pick([None, draw.randint(low, x.rank - 1)]))


@recipe("LayerNormalization", "RMSNormalization", "LpNormalization", "MeanVarianceNormalization", network=2)
def normalization(net):
    draw = net.draw
    operator = draw.weighted({"LayerNormalization": 5, "RMSNormalization": 2, "LpNormalization": 2, "MeanVarianceNormalization": 1})
    net.version(operator)
    dtype = draw.pick([d.DOUBLE, d.HALF]) if operator == "RMSNormalization" and net.single and draw.chance(0.3) else d.FLOAT
    x = net.some((dtype,), rank=4 if operator == "MeanVarianceNormalization" else (1, 4))
    if operator == "LpNormalization":
        net.node(operator, [x], **attributes(draw, axis=[-1, 0, x.rank - 1], p=[1, 2]))
        return
    if operator == "MeanVarianceNormalization":
        net.node(operator, [x], **attributes(draw, axes=[[0, 2, 3], [1], [2, 3], [0, 1, 2, 3]]))
        return
    axis = draw.randrange(x.rank)
    extents = [x.fixed(a) for a in range(axis, x.rank)]
    if None in extents:
        raise Rejected("the normalised extents are not fixed")
    inputs = [x, net.weights(dtype, extents)]
    if operator == "LayerNormalization" and draw.chance(0.6):
        inputs.append(net.weights(d.FLOAT, extents))
    chosen = attributes(draw, epsilon=[1e-5, 1e-2])
    outputs = draw.pick([1, 1, 1, 3]) if operator == "LayerNormalization" else 1
    net.node(operator, inputs, outputs=outputs, axis=axis if draw.chance(0.7) else axis - x.rank, **chosen)


@recipe("CumSum", network=0.5)
def cumulative(net):
    draw = net.draw
    net.version("CumSum")
    x = net.some((d.FLOAT,) if not net.single else (d.FLOAT, d.DOUBLE, d.INT32, d.INT64), rank=(1, 4))
    axis = np.array(draw.randint(-x.rank, x.rank - 1), draw.pick([np.int32, np.int64]))
    net.node("CumSum", [x, net.constant(axis)], **attributes(draw, exclusive=[0, 1], reverse=[0, 1]))


@recipe("Det")
def determinant(net):
    net.version("Det")
    n = net.draw.randint(1, 4)
    net.node("Det", [net.input(d.FLOAT, [*net.shape(net.draw.randint(0, 2), 3), n, n])])
