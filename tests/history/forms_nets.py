"""Forms of the operators of networks: windows, normalisations, recurrence, attention, losses, quantised numbers."""

import numpy as np

from form import add, between, c, g, pos, unit, v
from forms_plain import at

IMAGE = (1, 2, 6, 5)
K = dict(kernel_shape=[3, 2])

add("MaxPool AveragePool", v(IMAGE, **K), v(IMAGE, **K, pads=[1, 0, 1, 1], strides=[2, 1]), v(IMAGE, **K, auto_pad="SAME_UPPER"),
    v(IMAGE, **K, auto_pad="SAME_LOWER", strides=[2, 2]), v(IMAGE, **K, auto_pad="VALID", strides=[2, 2]), v(IMAGE, **K, strides=[2, 2], ceil_mode=1),
    v(IMAGE, **K, dilations=[2, 1]), v((1, 2, 7), kernel_shape=[3]))
add("MaxPool", v(IMAGE, **K, out=2, since=8), v(IMAGE, **K, storage_order=1, out=2), v(IMAGE, **K, dilations=[1, 2], ceil_mode=1, out=2))
add("AveragePool", v(IMAGE, **K, pads=[1, 1, 1, 1], count_include_pad=1), v(IMAGE, **K, pads=[1, 1, 1, 1], strides=[2, 2], ceil_mode=1))
add("LpPool", v(IMAGE, **K, since=2), v(IMAGE, **K, p=1, pads=[1, 0, 1, 1], strides=[2, 1], since=2),
    v(IMAGE, **K, auto_pad="SAME_UPPER", p=3, since=2),
    v(IMAGE, **K, dilations=[2, 1], ceil_mode=1), v(IMAGE, **K, auto_pad="VALID", since=2),
    v(IMAGE, **K, p=3.0, until=1, like=lambda i, a: (2, i, dict(a, p=3))), v(IMAGE, **K, pads=[1, 0, 1, 1], strides=[2, 1], until=1, like=at(2)),
    v(IMAGE, **K, auto_pad="SAME_LOWER", until=1, like=at(2)))
add("GlobalLpPool", v(IMAGE), v(IMAGE, p=1, since=2), v(IMAGE, p=1.0, until=1, like=lambda i, a: (2, i, dict(p=1))))
add("MaxUnpool", v(pos(1, 1, 2, 2), g([[[[1, 3], [9, 10]]]]), kernel_shape=[2, 2], strides=[2, 2]),
    v(pos(1, 1, 2, 2), g([[[[1, 3], [9, 10]]]]), c([1, 1, 5, 5]), kernel_shape=[2, 2], strides=[2, 2],
      text="indices count places of the result without output_shape (stored outputs of test_maxunpool_export_with_output_shape)"),
    v(pos(1, 1, 2, 2), g([[[[1, 3], [5, 7]]]]), kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0]))
add("MaxRoiPool", v(IMAGE, c([[0, 0, 0, 3, 3], [0, 1, 2, 4, 4]]), pooled_shape=[2, 2]),
    v(IMAGE, c([[0, 0, 0, 6, 6]]), pooled_shape=[2, 2], spatial_scale=0.5))
ROIS = [[0.0, 0.0, 3.0, 3.0], [1.0, 2.0, 4.0, 4.0]]
add("RoiAlign", v(IMAGE, c(ROIS), c([0, 0])),
    v(IMAGE, c(ROIS), c([0, 0]), output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.5, mode="avg"),
    v(IMAGE, c(ROIS), c([0, 0]), output_height=2, output_width=2, mode="max", sampling_ratio=1),
    v(IMAGE, c(ROIS), c([0, 0]), output_height=2, output_width=2, coordinate_transformation_mode="output_half_pixel"))
W = (4, 2, 3, 2)
add("Conv", v(IMAGE, W), v(IMAGE, W, (4,), pads=[1, 0, 1, 1], strides=[2, 1]), v(IMAGE, (4, 1, 3, 2), group=2, dilations=[2, 1], kernel_shape=[3, 2]),
    v(IMAGE, W, auto_pad="SAME_UPPER", strides=[2, 2]), v(IMAGE, W, auto_pad="SAME_LOWER"), v(IMAGE, W, auto_pad="VALID"), v((1, 2, 7), (3, 2, 3)))
add("ConvTranspose", v(IMAGE, (2, 3, 3, 2)), v(IMAGE, (2, 3, 3, 2), (3,), strides=[2, 2], pads=[1, 0, 0, 1], output_padding=[1, 0]),
    v(IMAGE, (2, 2, 3, 2), group=2, dilations=[2, 1], kernel_shape=[3, 2]), v(IMAGE, (2, 3, 3, 2), strides=[2, 2], output_shape=[12, 10]),
    v(IMAGE, (2, 3, 3, 2), strides=[2, 2], auto_pad="SAME_LOWER"), v(IMAGE, (2, 3, 3, 2), strides=[2, 2], auto_pad="SAME_UPPER"))
add("DeformConv", v((1, 1, 4, 4), (1, 1, 2, 2), unit(1, 8, 3, 3)),
    v((1, 1, 4, 4), (1, 1, 2, 2), unit(1, 8, 5, 5), (1,), pos(1, 4, 5, 5), pads=[1, 1, 1, 1], kernel_shape=[2, 2]),
    v((1, 2, 4, 4), (2, 1, 2, 2), unit(1, 16, 1, 1), group=2, offset_group=2, strides=[2, 2], dilations=[2, 2]))
add("CausalConvWithState", v((1, 2, 5), (2, 1, 3), out=2), v((1, 2, 5), (2, 1, 3), (2,), (1, 2, 2), activation="silu", out=2),
    v((1, 2, 5), (2, 1, 3), (2,), activation="none", out=2),
    v((1, 2, 5), (2, 1, 3), activation="swish", out=2))

N = (2, 3, 4)
P5 = [(3,), (3,), (3,), pos(3)]
add("BatchNormalization", v(N, *P5, since=7), v(N, *P5, is_test=1, like=at(7, "is_test", "consumed_inputs")),
    v(N, *P5, is_test=1, spatial=1, epsilon=0.125, momentum=0.5, like=at(7, "is_test", "consumed_inputs")),
    v(N, *P5, is_test=1, spatial=1, epsilon=0.125, momentum=0.5, consumed_inputs=[0, 0, 0, 1, 1], like=at(7, "is_test", "consumed_inputs")),
    v(N, *P5, epsilon=0.125, momentum=0.75, since=7), v(N, (3, 4), (3, 4), (3, 4), pos(3, 4), spatial=0, since=7),
    v(N, (3, 4), (3, 4), (3, 4), pos(3, 4), spatial=0, is_test=1, like=at(7, "is_test", "consumed_inputs")),
    v(N, *P5, training_mode=1, out=3), v(N, *P5, training_mode=0))
add("InstanceNormalization", v(N, (3,), (3,)), v(N, (3,), (3,), epsilon=0.125))
add("GroupNormalization", v((2, 6, 4), (2,), (2,), num_groups=2, until=20), v((2, 6, 4), (6,), (6,), num_groups=2, since=21),
    v((2, 6, 4), (3,), (3,), num_groups=3, epsilon=0.125, until=20), v((2, 6, 4), (6,), (6,), num_groups=3, epsilon=0.125, stash_type=1))
add("LayerNormalization", v(N, (4,)), v(N, (3, 4), (3, 4), axis=1, epsilon=0.125, out=3), v(N, (4,), (4,), stash_type=1))
add("RMSNormalization", v(N, (4,)), v(N, (3, 4), axis=1, epsilon=0.125), v(N, (4,), stash_type=1))
def lrn_of_four(inputs):
    x, last = inputs[0], inputs[0].shape[1] - 1
    sums = [(x[:, max(0, k - 1):min(last, k + 2) + 1] ** 2).sum(1) for k in range(last + 1)]
    return [x / (2 + x.dtype.type(0.25 / 4) * np.stack(sums, 1)) ** x.dtype.type(0.5)]


add("LRN", v((1, 5, 2, 3), size=3), v((1, 5, 2, 3), size=5, alpha=0.25, beta=0.5, bias=2.0),
    v((1, 5, 2, 3), size=4, alpha=0.25, beta=0.5, bias=2.0, hand=lrn_of_four,
      text="even sizes: 'c - floor((size - 1) / 2) <= i <= c + ceil((size - 1) / 2)'; ONNX Runtime refuses them, the reference leaves the last out"))
add("LpNormalization", v(N), v(N, p=1), v(N, axis=1, p=2))
add("MeanVarianceNormalization", v((2, 3, 4, 5)), v((2, 3, 4), axes=[1, 2]))
add("Dropout", v(N, since=7), v(N, ratio=0.25, out=2, since=7,
      text="a mask of what was not dropped holds ones (so from version 12 on; ONNX Runtime gives zeros before)"),
      v(N, is_test=1, like=at(7, "is_test", "consumed_inputs")),
    v(N, is_test=1, ratio=0.25, like=lambda i, a: (7, i, dict(ratio=0.25))),
    v(N, is_test=1, ratio=0.25, out=2, hand=lambda i: [i[0], np.ones_like(i[0])], text="a mask of what was not dropped holds ones"),
    v(N, is_test=1, consumed_inputs=[0], like=at(7, "is_test", "consumed_inputs")),
    v(N, c(0.25), c(False, bool)), v(N, c(0.5), seed=3))

for op, gates, more in (("RNN", 1, []), ("GRU", 3, []), ("LSTM", 4, [])):
    h, outs = 3, 3 if op == "LSTM" else 2
    def weights(d, h=h, gates=gates):
        return unit(d, gates * h, 2), unit(d, gates * h, h)
    states = [unit(2, 2, h), unit(2, 2, h), unit(2, 3 * h)] if op == "LSTM" else [unit(2, 2, h)]
    bias = unit(2, 2 * gates * h)
    x, one = (4, 2, 2), (unit(1, 2 * gates * h), c([3, 4]), unit(1, 2, h))
    default = dict(RNN=["Tanh"], GRU=["Sigmoid", "Tanh"], LSTM=["Sigmoid", "Tanh", "Tanh"])[op]
    other = dict(RNN=["Affine"], GRU=["HardSigmoid", "LeakyRelu"], LSTM=["HardSigmoid", "LeakyRelu", "ScaledTanh"])[op]
    numbers = dict(RNN=([0.5], [0.25]), GRU=([0.25, 0.125], [0.5]), LSTM=([0.25, 0.125, 0.5], [0.5, 0.75]))[op]
    drop = at(7, "output_sequence")
    add(op, v(x, *weights(1), hidden_size=h, out=outs, since=7), v(x, *weights(1), hidden_size=h, output_sequence=1, out=outs, like=drop),
        v(x, *weights(1), hidden_size=h, out=2, skip=(0,), like=drop),
        v(x, *weights(1), hidden_size=h, output_sequence=0, out=2, skip=(0,), like=drop),
        v(x, *weights(2), bias, c([3, 4]), *states, hidden_size=h, direction="bidirectional", out=outs, since=7),
        v(x, *weights(2), bias, None, states[0], hidden_size=h, direction="bidirectional", out=outs, output_sequence=1, like=drop),
        v(x, *weights(1), *one, hidden_size=h, direction="reverse", clip=0.5, out=outs, since=7),
        v(x, *weights(1), *one, hidden_size=h, direction="reverse", clip=0.5, output_sequence=1, out=outs, like=drop),
        v(x, *weights(1), hidden_size=h, direction="forward", activations=default, out=outs, since=7),
        v(x, *weights(1), hidden_size=h, activations=other, activation_alpha=numbers[0], activation_beta=numbers[1], out=outs, since=7),
        v(x, *weights(1), hidden_size=h, activations=other, activation_alpha=numbers[0], activation_beta=numbers[1], output_sequence=1, out=outs,
        like=drop),
        v((2, 4, 2), *weights(1), hidden_size=h, layout=1, out=outs))
add("GRU", v((4, 2, 2), unit(1, 9, 2), unit(1, 9, 3), unit(1, 18), hidden_size=3, linear_before_reset=1, out=2, since=7),
    v((4, 2, 2), unit(1, 9, 2), unit(1, 9, 3), unit(1, 18), hidden_size=3, linear_before_reset=1, output_sequence=1, out=2, like=at(7,
    "output_sequence")))
add("LSTM", v((4, 2, 2), unit(1, 12, 2), unit(1, 12, 3), hidden_size=3, input_forget=1, out=3, since=7),
    v((4, 2, 2), unit(1, 12, 2), unit(1, 12, 3), hidden_size=3, input_forget=1, output_sequence=1, out=3, like=at(7, "output_sequence")))

Q = unit(1, 2, 3, 4)
add("Attention", v(Q, unit(1, 2, 5, 4), unit(1, 2, 5, 4)), v(unit(1, 3, 8), unit(1, 5, 8), unit(1, 5, 8), q_num_heads=2, kv_num_heads=2, is_causal=1),
    v(Q, unit(1, 2, 5, 4), unit(1, 2, 5, 4), scale=0.75, softcap=2.0), v(Q, unit(1, 1, 5, 4), unit(1, 1, 5, 4), unit(3, 5)),
    v(Q, unit(1, 2, 2, 4), unit(1, 2, 2, 4), None, unit(1, 2, 3, 4), unit(1, 2, 3, 4), out=4, qk_matmul_output_mode=1),
    v(Q, unit(1, 2, 5, 4), unit(1, 2, 5, 4), softmax_precision=1), v(Q, unit(1, 2, 5, 4), unit(1, 2, 5, 4), None, None, None, c([4])),
    v(Q, unit(1, 2, 5, 4), unit(1, 2, 5, 4), left_window_size=1, right_window_size=0))
add("LinearAttention", v(unit(1, 3, 8), unit(1, 3, 8), unit(1, 3, 8), q_num_heads=2, kv_num_heads=2, update_rule="linear", out=2),
    v(unit(1, 3, 8), unit(1, 3, 8), unit(1, 3, 8), unit(1, 2, 4, 4), q_num_heads=2, kv_num_heads=2, update_rule="linear", scale=0.5, chunk_size=2,
    out=2),
    v(unit(1, 3, 8), unit(1, 3, 8), unit(1, 3, 8), unit(1, 2, 4, 4), unit(1, 3, 8), q_num_heads=2, kv_num_heads=2, update_rule="gated", out=2),
    v(unit(1, 3, 8), unit(1, 3, 8), unit(1, 3, 8), unit(1, 2, 4, 4), None, unit(1, 3, 2), q_num_heads=2, kv_num_heads=2, update_rule="delta", out=2),
    v(unit(1, 3, 8), unit(1, 3, 4), unit(1, 3, 4), unit(1, 1, 4, 4), unit(1, 3, 1), unit(1, 3, 1), q_num_heads=2, kv_num_heads=1,
    update_rule="gated_delta", out=2))
add("RotaryEmbedding", v((1, 2, 3, 4), (5, 2), (5, 2), c([[0, 1, 2]])), v((1, 3, 8), (1, 3, 2), (1, 3, 2), num_heads=2, interleaved=1),
    v((1, 2, 3, 8), (5, 2), (5, 2), c([[0, 1, 4]]), rotary_embedding_dim=4))

SCORES = (2, 3, 4)
LABELS = [[0, 2, 1, 1], [2, 2, 0, 1]]
for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
    outs = 1 if op[0] == "N" else 2
    add(op, v(SCORES, g(LABELS), out=outs), v(SCORES, g(LABELS), pos(3), reduction="sum", out=outs),
    v(SCORES, g(LABELS), reduction="none", ignore_index=2, out=outs),
        v(SCORES, g(LABELS), pos(3), reduction="mean", ignore_index=1, out=outs))
BOXES = [[[0, 0, 2, 2], [0, 0.25, 2, 2], [3, 3, 5, 5], [0, 0, 2, 1.5]]]
add("NonMaxSuppression", v(g(BOXES, np.float32), g([[[0.9, 0.75, 0.6, 0.95]]], np.float32), c([3]), c([0.5], np.float32), c([0.1], np.float32)),
    v(g(BOXES, np.float32), g([[[0.9, 0.75, 0.6, 0.95]]], np.float32), c([3]), c([0.5], np.float32), center_point_box=1))
G = between(-1.25, 1.25, 1, 3, 4, 2)
add("GridSample", *[v(IMAGE, G, mode=m, padding_mode=p, align_corners=a, until=u, since=s,
        text="bicubic with border: each of the 16 neighbours is clamped by itself ('use border values for out-of-bound grid locations')" if (m[-5:],
        p) == ("cubic", "border") else "") for s, u, ms in ((16, 19, "bilinear nearest bicubic"), (20, 99, "linear nearest cubic"))
                    for m in ms.split() for p, a in (("zeros", 0), ("border", 1), ("reflection", 0))], v(IMAGE, G))
SC = np.array([1, 1, 2, 1.5])
add("Upsample", v((1, 1, 3, 4), scales=[1.0, 1.0, 2.0, 3.0]), v((1, 1, 3, 4), scales=[1.0, 1.0, 2.0, 1.5], mode="linear"),
    v((1, 1, 3, 4), c(np.array([1, 1, 2, 3.0]))),
    v((1, 1, 3, 4), c(SC), mode="linear"), v((1, 1, 3, 4), c(SC), mode="nearest"), v((1, 1, 3, 4), scales=[1.0, 1.0, 1.5, 2.5], mode="nearest"),
    v((1, 1, 3, 4), height_scale=2.0, width_scale=3.0, like=lambda i, a: (7, i, dict(scales=[1.0, 1.0, 2.0, 3.0]))),
    v((1, 1, 3, 4), height_scale=2.0, width_scale=3.0, mode="bilinear", like=lambda i, a: (7, i, dict(scales=[1.0, 1.0, 2.0, 3.0], mode="linear"))),
    v((1, 1, 3, 4), height_scale=2.0, width_scale=3.0, mode="nearest", like=lambda i, a: (7, i, dict(scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"))))
R = (1, 1, 4, 6)
add("Resize", v(R, c(SC), until=10), v(R, c(SC), mode="linear", until=10), v(R, c(np.array([1, 1, 0.5, 0.5])), mode="nearest", until=10),
    v(R, c(np.array([1, 1, 0.6, 0.7])), mode="linear", until=10),
    *[v(R, c([], np.float32), c(np.array([1, 1, 1.75, 0.6])), mode=m, coordinate_transformation_mode=t, since=11)
      for m in ("nearest", "linear", "cubic") for t in ("half_pixel", "pytorch_half_pixel", "asymmetric")],
    *[v(R, c([], np.float32), c(np.array([1, 1, 1.75, 0.6])), mode=m, coordinate_transformation_mode="align_corners", since=11,
        text="align_corners divides by the unrounded length times scale (stored outputs of test_resize_downsample_scales_linear_align_corners)")
      for m in ("nearest", "linear", "cubic")],
    *[v(R, c([], np.float32), c(np.array([1, 1, 2.5, 0.75])), nearest_mode=m, since=11) for m in ("round_prefer_floor", "round_prefer_ceil", "floor",
    "ceil")],
    v(R, c([], np.float32), c(np.array([1, 1, 2.5, 0.75])), coordinate_transformation_mode="tf_half_pixel_for_nn", until=12, since=11),
    v(R, None, c(np.array([1, 1, 2.5, 0.75])), coordinate_transformation_mode="half_pixel_symmetric", mode="linear", since=19),
    v(R, c(np.array([0, 0, 0.25, 0.25, 1, 1, 0.75, 1.25])), None, c([1, 1, 3, 4]), coordinate_transformation_mode="tf_crop_and_resize",
    extrapolation_value=9.0, mode="linear", since=13),
    v(R, c([], np.float32), c(np.array([1, 1, 2, 1.5])), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1, since=11),
    v(R, c(np.array([0, 0, 0.25, 0.25, 1, 1, 0.75, 1.25])), c(np.array([1, 1, 1.5, 1.5])), coordinate_transformation_mode="tf_crop_and_resize",
    extrapolation_value=9.0,
      mode="linear", since=11),
    v(R, None, c(np.array([1, 1, 2, 1.5])), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1, since=13),
    v(R, None, c(np.array([2, 1.5])), axes=[2, 3], mode="linear"),
    v(R, None, None, c([5, 7]), axes=[3, 2], mode="linear", keep_aspect_ratio_policy="stretch"),
    v(R, None, None, c([7, 7]), axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_larger"),
    v(R, None, None, c([7, 7]), axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_smaller"),
    v(R, None, c(np.array([1, 1, 0.5, 0.6])), mode="linear", antialias=1), v(R, None, None, c([1, 1, 3, 3]), mode="cubic", antialias=1))

add("DFT", v((1, 6, 1), since=20), v((1, 6, 1), inverse=0, onesided=0), v((1, 4, 2), inverse=1, onesided=1), v((1, 6, 2), inverse=1), v((2, 6, 1), onesided=1), v((1, 3, 6, 2), axis=1), v((1, 3, 6, 2), axis=2, inverse=1),
    v((1, 6, 2), c(8), since=20), v((1, 6, 2), c(8), until=19), v((1, 3, 6, 2), None, c(1)), v((1, 6, 1), until=19))
add("STFT", v((1, 16, 1), c(4), c([0.5, 1, 1, 1, 1, 1, 1, 0.5])), v((1, 16, 1), c(4), None, c(8), onesided=0),
    v((1, 16, 1), c(4), c([0.5, 1, 1, 1, 1, 1, 1, 0.5]), c(8), onesided=1))

X = c(np.array([[1.5, -2, 300], [0, 7.25, -0.5]]))
add("QuantizeLinear", v((2, 6), c(0.25), c(3)), v((2, 6), c(0.25), c(0)), v((2, 6), c(0.25)), v((2, 6), c([0.25, 0.5]), c([3, 4]), axis=0),
    v((2, 6), c(0.25), c(0), types=dict(T2="int8", T3="int8"), until=12),
    v((2, 6), c(0.25), c(0), types=dict(T3="int8"), since=23), v((2, 6), c([[0.25, 0.5], [1, 2]]), c([[1, 2], [3, 4]]), axis=1, block_size=3),
    v((2, 6), c(0.25), output_dtype=3),
    v((2, 6), c(0.25), c(0.0), types=dict(T2="float8e4m3fn", T3="float8e4m3fn"), saturate=0),
    v((2, 6), c(0.25), c(0.0), types=dict(T3="float8e4m3fn"), saturate=0), v((2, 6), c(0.25), precision=1))
add("DequantizeLinear", v((2, 6), c(0.25), c(0), types=dict(T="uint8", T1="uint8")), v((2, 6), c(0.25), c(3), types=dict(T="uint8", T1="uint8")),
    v((2, 6), c(0.25), types=dict(T="int8", T1="int8")),
    v((2, 6), c([0.25, 0.5]), c([3, 4]), axis=0, types=dict(T="uint8", T1="uint8")),
    v((2, 6), c([[0.25, 0.5], [1, 2]]), c([[1, 2], [3, 4]]), axis=1, block_size=3),
    v((2, 6), c(0.25), c(3), output_dtype=1), v((2, 6), c(0.25), types=dict(T="int32", T1="int32")))
add("DynamicQuantizeLinear", v((3, 4), out=3))
add("MatMulInteger", v((2, 3), (3, 4)), v((2, 3), (3, 4), c(3), c(2)), v((2, 3), (3, 4), c(3), c([1, 2, 3, 4])))
add("ConvInteger", v((1, 2, 5, 4), W), v((1, 2, 5, 4), W, auto_pad="VALID", strides=[2, 1]), v((1, 2, 5, 4), W, c(3), c(2), pads=[1, 0, 1, 1], strides=[2, 1]),
    v((1, 2, 7, 4), (4, 1, 3, 2), c(3), group=2, dilations=[2, 1], kernel_shape=[3, 2]),
    v((1, 2, 5, 4), W, auto_pad="SAME_UPPER"))
QX = [c(0.125), c(3)]
add("QLinearMatMul", v((2, 3), *QX, (3, 4), c(0.25), c(2), c(0.5), c(4)))
add("QLinearConv", v((1, 2, 5, 4), *QX, W, c(0.25), c(2), c(0.5), c(4)),
    v((1, 2, 5, 4), *QX, W, c(0.25), c(2), c(0.5), c(4), auto_pad="VALID"),
    v((1, 2, 5, 4), *QX, W, c(0.25), c(2), c(0.5), c(4), (4,), pads=[1, 0, 1, 1], strides=[2, 1]),
    v((1, 2, 7, 4), *QX, (4, 1, 3, 2), c(0.25), c(2), c(0.5), c(4), group=2, dilations=[2, 1], kernel_shape=[3, 2]),
    v((1, 2, 5, 4), *QX, W, c(0.25), c(2), c(0.5), c(4), auto_pad="SAME_LOWER"))
