"""Forms of elementwise operators, reductions and products."""

import numpy as np

from form import add, between, c, pos, unit, v


def at(opset, *attributes):
    """The same node at a later opset without the named attributes."""
    return lambda i, a: (opset, i, {k: w for k, w in a.items() if k not in attributes})


def placed(axis):
    """Operand 1 of the old broadcasting, as the new one lines it up."""
    def like(i, a):
        from form import Fixed
        rank, shape = i[0].ndim, list(np.shape(i[1]))
        shape = shape + [1] * (rank - len(shape) - axis) if axis is not None else shape
        return 13, [i[0], np.reshape(i[1], shape)], {}
    return like


add("Abs Ceil Cos Cosh Erf Exp Floor HardSwish Identity Mish Neg Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Tan Tanh Asinh Atan"
    " BitwiseNot IsNaN Not", v((2, 3, 4)))
add("Log Sqrt Reciprocal", v(pos(2, 3, 4)))
add("Acos Asin Atanh", v(unit(2, 3, 4)))
add("Acosh", v(between(1, 4, 2, 3, 4)))
add("Size NonZero", v((2, 3, 4)))
add("Det", v((3, 3)), v((2, 3, 3)))
add("GlobalAveragePool GlobalMaxPool", v((2, 3, 4, 5)), v((2, 3, 4)))
add("Celu Elu ThresholdedRelu", v((2, 3, 4)), v((2, 3, 4), alpha=0.75))
add("LeakyRelu", v((2, 3, 4)), v((2, 3, 4), alpha=0.25))
add("Swish", v((2, 3, 4)), v((2, 3, 4), alpha=1.5))
add("Selu", v((2, 3, 4), since=6), v((2, 3, 4), until=5, like=lambda i, a: (6, i, dict(alpha=1.6732, gamma=1.0507))),
    v((2, 3, 4), alpha=1.5, gamma=0.75))
add("HardSigmoid", v((2, 3, 4)), v((2, 3, 4), alpha=0.25, beta=0.375))
add("Gelu", v((2, 3, 4)), v((2, 3, 4), approximate="tanh"), v((2, 3, 4), approximate="none"))
add("Shrink", v((2, 3, 4)), v((2, 3, 4), bias=0.5, lambd=1.5))
add("SwiGLU", v((2, 6), (2, 6)), v((2, 6), (2, 6), alpha=1.5))
add("IsInf", v(c(np.array([1, np.inf, -np.inf, np.nan]))), v(c(np.array([1, np.inf, -np.inf, np.nan])), detect_negative=0),
    v(c(np.array([1, np.inf, -np.inf, np.nan])), detect_positive=0))

add("Add Sub Mul", v((2, 3, 4), (2, 3, 4)), v((2, 3, 4), (3, 1), since=7), v((), (3, 4), since=7))
add("Div", v((2, 3, 4), pos(2, 3, 4)), v((2, 3, 4), pos(3, 1), since=7))
add("Pow", v(pos(2, 3, 4), between(0, 2, 2, 3, 4)), v(pos(2, 3, 4), between(0, 2, 3, 1), since=7), v(pos(2, 3), c(np.array(2.0)), since=7))
add("And Or Xor Greater Less GreaterOrEqual LessOrEqual Equal", v((2, 3, 4), (2, 3, 4)), v((2, 3, 4), (3, 1), since=7))
add("BitwiseAnd BitwiseOr BitwiseXor", v((2, 3, 4), (3, 1)))
for op in "Add Sub Mul Div Pow And Or Xor Greater Less Equal".split():
    b = pos if op in ("Div", "Pow") else lambda *s: s
    a = pos if op == "Pow" else lambda *s: s
    add(op, v(a(2, 3, 4, 5), b(3, 4), broadcast=1, axis=1, like=placed(1)), v(a(2, 3, 4, 5), b(4, 5), broadcast=1, like=placed(None)),
        v(a(2, 3, 4), b(2, 3, 4), broadcast=0, like=placed(None)), v(a(2, 3, 4), b(1), broadcast=1, like=placed(None)),
        v(a(2, 3, 4, 5), b(3, 4), broadcast=1, axis=-3, like=placed(1)))
add("Mod", v((2, 3, 4), pos(2, 3, 4), fmod=1), v((2, 3, 4), pos(3, 1), types=dict(T="int64")),
    v((2, 3, 4), pos(3, 1), types=dict(T="int32"), fmod=0))
add("BitShift", v((2, 3), between(0, 1, 2, 3), direction="LEFT"), v((2, 3), between(0, 1, 3), direction="RIGHT"))
add("Max Min Mean Sum", v((2, 3, 4), (2, 3, 4)), v((2, 3, 4)), v((2, 3), (2, 3), (2, 3)), v((2, 3, 4), (3, 1), (1,), since=8))
add("PRelu", v((2, 3, 4), (2, 3, 4)), v((2, 3, 4), (3, 1), since=7), v((2, 3, 4), (1,)),
    v((2, 3, 4), (3,), until=6, like=lambda i, a: (9, [i[0], np.reshape(i[1], (3, 1))], {})))
add("Clip", v((2, 3, 4)), v((2, 3, 4), c(-1.0), c(1.5)), v((2, 3, 4), None, c(1.5)), v((2, 3, 4), c(-1.0)),
    v((2, 3, 4), min=-1.0, max=1.5, like=at(6, "consumed_inputs")), v((2, 3, 4), min=0.5), v((2, 3, 4), max=0.5))
add("Where", v((2, 3, 4), (2, 3, 4), (2, 3, 4)), v((3, 1), (2, 3, 4), (1,)))

REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
for op in REDUCTIONS.split():
    x = pos if op in ("ReduceLogSum", "ReduceProd") else lambda *s: s
    add(op, v(x(2, 3, 4)), v(x(2, 3, 4), axes=[1]), v(x(2, 3, 4), axes=[0, 2], keepdims=0), v(x(2, 3, 4), axes=[-1], keepdims=1, since=11),
        v(x(2, 3, 4), c([1])), v(x(2, 3, 4), c([0, -1]), keepdims=0), v(x(2, 3, 4), noop_with_empty_axes=1),
        v(x(2, 3, 4), c(np.array([], np.int64)), noop_with_empty_axes=1), v(x(2, 3, 4), c(np.array([], np.int64)), noop_with_empty_axes=0),
        v(x(2, 3, 4), keepdims=0))
for op in ("ArgMax", "ArgMin"):
    add(op, v((2, 3, 4)), v((2, 3, 4), axis=1, keepdims=0), v((2, 3, 4), axis=-1, since=11), v((2, 5), axis=1, select_last_index=1))
add("CumSum CumProd", v((2, 3, 4), c(1)), v((2, 3, 4), c(2), exclusive=1), v((2, 3, 4), c(0), reverse=1), v((2, 3, 4), c(-1), reverse=1, exclusive=1))

add("Softmax LogSoftmax Hardmax", v((2, 3, 4)), v((2, 3, 4), axis=0), v((2, 3, 4), axis=2), v((2, 3, 4), axis=-1, since=11))
add("MatMul", v((2, 3), (3, 4)), v((2, 2, 3), (3, 4)), v((3,), (2, 3, 4)))
add("Gemm", v((2, 3), (3, 4), (4,), since=7), v((2, 3), (3, 4), (2, 4)), v((3, 2), (4, 3), (2, 4), transA=1, transB=1, alpha=0.5, beta=2.0),
    v((2, 3), (3, 4)), v((2, 3), (3, 4), (4,), broadcast=1, alpha=0.5, beta=0.25, like=at(7, "broadcast")),
    v((3, 2), (3, 4), (2, 1), since=7, transA=1), v((2, 3), (4, 3), (1,), broadcast=1, transB=1, like=at(7, "broadcast")))
add("Einsum", v((2, 3), (3, 4), equation="ij,jk->ik"), v((2, 3, 3), equation="bii->b"), v((2, 3), (2, 3), equation="ij,ij"))
