"""Forms of operators that move, pick and make elements."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from form import add, c, g, many, pos, v
from forms_plain import at

S = (2, 3, 4)
F = TensorProto.FLOAT

add("Cast", v(S, to=TensorProto.INT32, since=6), v(S, to=TensorProto.DOUBLE, since=6), v(S, to=TensorProto.BOOL, since=6),
    v(S, to=TensorProto.FLOAT, types=dict(T1="int64"), since=6), v(S, to=TensorProto.FLOAT8E4M3FN, saturate=0),
    v(S, to=TensorProto.FLOAT8E5M2, saturate=1),
    v(pos(*S), to=TensorProto.FLOAT8E8M0, round_mode="down"), v(pos(*S), to=TensorProto.FLOAT8E8M0, round_mode="up"),
    v(pos(*S), to=TensorProto.FLOAT8E8M0, round_mode="nearest"),
    *[v(pos(*S), to=name, until=5, like=lambda i, a: (9, i, dict(to=getattr(TensorProto, a["to"]))))
      for name in ("INT32", "DOUBLE", "FLOAT16", "BOOL", "UINT8")])
add("CastLike", v(pos(*S), c(np.ones(1)), types=dict(T2="int32")), v(pos(*S), c(np.ones(1)), types=dict(T2="double")),
    v(S, c(np.ones(1)), types=dict(T2="float8e4m3fn"), saturate=0), v(pos(*S), c(np.ones(1)), types=dict(T2="float8e8m0"), round_mode="nearest",
      text="round_mode as in Cast; ONNX Runtime rounds up whatever it says, the reference does not take it",
      hand=lambda i: [numpy_helper.to_float8e8m0(i[0], True, "nearest")]))
add("BitCast", v(S, to=TensorProto.INT32), v(S, to=TensorProto.UINT32))
add("Concat", v(S, (2, 1, 4), axis=1), v(S, S, axis=-1, since=11), v(S, axis=0), v(S, (2, 2, 4), until=3, like=lambda i, a: (4, i, dict(axis=1))))
add("Expand", v((3, 1), c([2, 3, 4])), v((1,), c([2, 1])))
add("Flatten", v(S), v(S, axis=0), v(S, axis=2), v(S, axis=-1, since=11))
add("Reshape", v(S, c([4, -1])), v(S, c([0, -1])), v(S, shape=[0, -1], like=lambda i, a: (5, [i[0], np.array(a["shape"])], {})),
    v(S, shape=[6, 4], consumed_inputs=[0], like=lambda i, a: (5, [i[0], np.array(a["shape"])], {})), v((0, 3), c([3, 0]), allowzero=1))
add("Shape", v(S), v(S, start=1), v(S, start=-2, end=-1))
add("Squeeze", v((1, 3, 1, 2)), v((1, 3, 1, 2), axes=[0]), v((1, 3, 1, 2), axes=[-2], since=11), v((1, 3, 1, 2), c([0, 2])), v((1, 3, 1, 2), c([-2])))
add("Unsqueeze", v(S, axes=[0, 2]), v(S, axes=[-1], since=11), v(S, c([0, -1])))
add("Transpose", v(S), v(S, perm=[1, 2, 0]))
add("Tile", v(S, c([1, 2, 3]), since=6), v(S, c([3]), c([2]), until=5, like=lambda i, a: (6, [i[0], np.array([1, 1, 3])], {})))
add("Trilu", v((2, 3, 4)), v((3, 4), c(1)), v((3, 4), c(-1), upper=0))
add("Identity", v(many(2, 2, 3), since=14, types=dict(V="seq(tensor(float))"), opsets=False))
add("Slice", v(S, c([1, 0]), c([2, 3]), since=10), v(S, c([1]), c([1000]), c([2])), v(S, c([-1]), c([-1000]), c([1]), c([-1])),
    v(S, c([0]), c([4]), c([-1]), c([2])), v(S, starts=[0, 1], ends=[2, -1]), v(S, starts=[-2], ends=[1000], axes=[2]))
add("Split", v(S, axis=2, out=2, until=17), v(S, out=2, until=17), v(S, c([3, 1]), axis=2, out=2, since=13), v(S, axis=2, num_outputs=3, out=3),
    v(S, split=[1, 3], axis=2, out=2, since=2), v(S, split=[1, 3], axis=2, out=2, until=1, like=at(2)), v(S, split=[1, 2], axis=-2, out=2, since=11),
    v(S, c([3, 1]), axis=2, out=2, until=1, like=lambda i, a: (2, i[:1], dict(axis=2, split=[3, 1]))))
P = [0, 1, 2, 1, 0, 1]
add("Pad", v(S, pads=P), v(S, pads=P, value=1.5), v(S, pads=P, mode="reflect"), v(S, pads=P, mode="edge"), v(S, pads=[0, -1, 1, 0, 0, -1]),
    v(S, paddings=P, like=lambda i, a: (2, i, dict(pads=a["paddings"]))),
    v(S, paddings=P, value=0.5, mode="constant", like=lambda i, a: (2, i, dict(pads=a["paddings"], value=0.5))),
    v(S, paddings=P, mode="reflect", like=lambda i, a: (2, i, dict(pads=a["paddings"], mode="reflect"))),
    v(S, c(P), since=11), v(S, c(P), c(1.0), mode="constant"), v(S, c(P), mode="edge"), v(S, c(P), mode="reflect"), v(S, c(P), mode="wrap", since=19),
    v(S, c([1, 2]), None, c([-1])), v(S, c([0, -1, 1, 0, 0, -1])))
add("CenterCropPad", v(S, c([4, 2, 3])), v(S, c([6]), axes=[-1]))
add("SpaceToDepth", v((1, 2, 4, 6), blocksize=2), v((1, 2, 4, 6), blocksize=2, mode="DCR"), v((1, 2, 4, 6), blocksize=2, mode="CRD"))
add("DepthToSpace", v((1, 8, 2, 3), blocksize=2), v((1, 8, 2, 3), blocksize=2, mode="CRD"), v((1, 8, 2, 3), blocksize=2, mode="DCR"))
add("ReverseSequence", v((4, 3, 2), g([4, 1, 2])), v((3, 4, 2), g([4, 1, 2]), batch_axis=0, time_axis=1))
add("Compress", v((3, 4), g([0, 1, 1], bool), axis=0), v((3, 4), g([0, 1, 1, 0, 1], bool)), v((3, 4), g([1, 0, 1, 0], bool), axis=-1, since=11))

add("Gather", v((3, 1), g([[0, 2], [1, 0]])), v((3, 4), g([[0, 2], [1, 0]])), v((3, 4), g([0, 3]), axis=1), v((3, 4), g([-1, 0]), axis=-1, since=11))
add("GatherElements", v((3, 4), g([[0, 2, 1, 0]])), v((3, 4), g([[1], [0], [-3]]), axis=1))
add("GatherND", v((3, 4), g([[0, 1], [2, 3]])), v((2, 3, 4), g([[[1], [0]], [[2], [-1]]]), batch_dims=1), v((3, 4), g([[0], [2]])))
add("Scatter ScatterElements", v((3, 4), g([[1, 0, 2, 0]]), (1, 4)), v((3, 4), g([[1], [0], [3]]), (3, 1), axis=1),
    v((3, 4), g([[1], [0], [-1]]), (3, 1), axis=-1, since=11))
add("ScatterElements", *[v((3, 4), g([[1, 0, 2, 0], [1, 1, 0, 2]]), (2, 4), reduction=r, since=18 if r in ("max", "min") else 16) for r in ("none",
    "add", "mul", "max", "min")][1:])
add("ScatterND", v((3, 4), g([[2], [0]]), (2, 4)), *[v((3, 4), g([[1, 2], [1, 2], [0, 0]]), (3,), reduction=r, since=18 if r in ("max",
    "min") else 16) for r in ("add", "mul", "max", "min")])
add("OneHot", v(g([0, 2, 1, 5]), c(np.array(3)), c([0, 1])), v(g([0, 2, -1, 5]), c(np.array(3)), c([0, 1]), types=dict(T1="int64")),
    v(g(np.array([0, 2, 2 ** 64 - 1, 5], np.uint64)), c(np.array(3)), c([0, 1]), types=dict(T1="uint64")),
    v(g([[0, 2]]), c(np.array([3])), c([2, 5]), axis=0), v(g([0, 2]), c(np.array(3)), c([0, 1]), axis=-1))
add("TopK", v((3, 5), c([2]), out=2), v((5, 3), c([2]), axis=0, largest=0, out=2), v((3, 5), c([5]), sorted=1, largest=1, out=2),
    v((3, 5), k=2, out=2),
    v((3, 5), k=3, axis=0, out=2), v((5, 3), c([2]), axis=0, out=2))
add("Unique", v(g([2, 1, 1, 3, 4, 3]), out=4), v(g([2, 1, 1, 3, 4, 3]), sorted=0, out=4), v(g([[1, 0], [1, 0], [2, 3]]), axis=0, out=4),
    v(g([[1, 0], [1, 0]]), out=1))
add("EyeLike", v((3, 4)), v((3, 4), k=1), v((4, 3), k=-1, dtype=TensorProto.INT32), v((3, 3), dtype=TensorProto.DOUBLE))
add("Range", v(c(1), c(7), c(2)), v(c(5), c(0), c(-1), types=dict(T="int64")),
    v(c(1.0), c(2.0), c(0.25), types=dict(T="float"), stash_type=1, opsets=True))


def tensor(kind, shape, values, name="t"):
    return helper.make_tensor(name, kind, shape, values)


def sparse():
    return helper.make_sparse_tensor(tensor(F, [2], [1.5, -2.0], "values"), tensor(7, [2], [1, 4], "indices"), [6])


add("Constant", v(value=tensor(F, [2, 2], [1, 2, 3, 4])), v(value=tensor(7, [], [5])), v(value_float=1.5), v(value_floats=[1.0, 2.5]), v(value_int=3),
    v(value_ints=[3, 4]), v(value_string="a"), v(value_strings=["a", "bc"]),
    v(sparse_value=sparse(), like=lambda i, a: (13, [], dict(value=tensor(F, [6], [0, 1.5, 0, 0, -2, 0])))))
add("ConstantOfShape", v(c([2, 3])), v(c([2, 3]), value=tensor(7, [1], [5])), v(c(np.array([], np.int64)), value=tensor(9, [1], [1])))
add("HannWindow HammingWindow BlackmanWindow", v(c(8)), v(c(7), periodic=0), v(c(6), output_datatype=11),
    v(c(6), periodic=1, output_datatype=10, loose=2e-3))
add("MelWeightMatrix", v(c(8), c(16), c(8192), c(0.0), c(4096.0)), v(c(4), c(16), c(8192), c(10.0), c(2000.0), output_datatype=11))
add("AffineGrid", v((2, 2, 3), c([2, 3, 4, 5])), v((2, 3, 4), c([2, 3, 2, 3, 4]), align_corners=1))
add("Col2Im", v((1, 8, 4), c([3, 3]), c([2, 2])), v((1, 8, 6), c([5, 5]), c([2, 2]), pads=[0, 0, 1, 1], strides=[2, 2], dilations=[2, 1]))
add("TensorScatter", v((2, 4, 3), (2, 2, 3)), v((2, 4, 3), (2, 2, 3), g([1, 2]), axis=-2, mode="linear"),
    v((2, 4, 3), (2, 2, 3), g([3, 0]), axis=1, mode="circular"))
