"""Convolutions, pools, normalisation of images, resizing: everything that moves a window."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe


def image(net, spatial=None, dtypes=(d.FLOAT,), channels=None):
    """A value of one, two or three spatial axes with fixed channels."""
    draw = net.draw
    spatial = spatial or draw.weighted({1: 2, 2: 6, 3: 1})
    found = [v for v in net.values if v.is_tensor and v.rank == spatial + 2 and v.dtype in dtypes and v.fixed(1) and not v.constant]
    if found and not net.single and draw.chance(0.95):
        return draw.pick(found[-2:])
    most = {1: 24, 2: 14, 3: 6}[spatial]
    dims = [draw.pick([1, 1, 1, 2]) if not net.runtime or draw.chance(0.8) else net.extent(3), channels or draw.pick([1, 2, 3, 4, 5, 8, 16, 17])]
    if net.runtime and net.single and draw.chance(0.1):
        dims[1] = net.extent(8)
    dims += [net.runtime_extent(most) if net.runtime and draw.chance(0.6) else draw.randint(1, most) for _ in range(spatial)]
    return net.input(draw.pick(dtypes), dims)


def window(net, x, transpose=False):
    """Attributes of a window over the spatial axes of x."""
    draw, n = net.draw, x.rank - 2
    square = draw.chance(0.6)
    sizes = [draw.weighted({1: 4, 2: 2, 3: 5, 4: 1, 5: 1, 7: 0.5})] * n if square else [draw.pick([1, 2, 3, 4]) for _ in range(n)]
    chosen = {"kernel_shape": sizes}
    if draw.chance(0.5):
        chosen["strides"] = [draw.pick([1, 2, 2, 3])] * n if draw.chance(0.6) else [draw.pick([1, 2, 3]) for _ in range(n)]
    if draw.chance(0.15):
        chosen["dilations"] = [draw.pick([1, 2, 3]) for _ in range(n)]
    style = draw.weighted({"none": 3, "same": 4, "sides": 3, "auto": 1.5})
    if style == "same":
        chosen["pads"] = [s // 2 for s in sizes] * 2
    if style == "sides":
        chosen["pads"] = [draw.randint(0, max(1, s - 1) if not transpose else s - 1) for s in sizes * 2]
    if style == "auto":
        chosen["auto_pad"] = draw.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    return chosen


def groups(draw, channels, transpose=False):
    """Group and channels made: dense, depthwise, grouped."""
    kind = draw.weighted({"dense": 6, "depthwise": 3, "grouped": 1.5})
    if kind == "depthwise":
        return channels, channels * draw.pick([1, 1, 1, 2])
    if kind == "grouped":
        group = draw.pick([g for g in range(1, channels + 1) if channels % g == 0])
        return group, group * draw.pick([1, 2, 3, 5])
    return 1, draw.pick([1, 2, 3, 4, 6, 8, 9, 16, 17, 20])


@recipe("Conv", network=10)
def convolution(net):
    draw = net.draw
    x = image(net, dtypes=(d.FLOAT,) if not net.single else draw.pick([(d.FLOAT,), (d.FLOAT,), (d.DOUBLE,), (d.HALF,)]))
    channels = x.fixed(1)
    chosen = window(net, x)
    if channels is None:
        return convolution_of_unknown_channels(net, x, chosen)
    group, outputs = groups(draw, channels)
    shape = [outputs, channels // group, *chosen["kernel_shape"]]
    inputs = [x, net.weights(x.dtype, shape, 1 / max(1, np.prod(shape[1:])) ** 0.5, runtime=0.06)]
    if draw.chance(0.5):
        inputs.append(net.weights(x.dtype, [outputs], runtime=0.06))
    if draw.chance(0.4):
        del chosen["kernel_shape"]
    net.node("Conv", inputs, group=group if group > 1 or draw.chance(0.1) else None, **chosen)


def convolution_of_unknown_channels(net, x, chosen):
    outputs = net.draw.randint(1, 5)
    weights = net.input(x.dtype, [outputs, net.like_axis(x, 1), *chosen["kernel_shape"]])
    net.node("Conv", [x, weights], **chosen)


@recipe("ConvTranspose", network=2)
def transposed(net):
    draw = net.draw
    x = image(net, dtypes=(d.FLOAT,) if not net.single or draw.chance(0.8) else (d.DOUBLE,))
    channels, n = x.fixed(1), x.rank - 2
    if channels is None:
        raise Rejected("the channels are not fixed")
    chosen = window(net, x, transpose=True)
    group, outputs = groups(draw, channels)
    strides = chosen.get("strides", [1] * n)
    if "auto_pad" in chosen and any(s > k for s, k in zip(strides, chosen["kernel_shape"])):
        raise Rejected("ONNX Runtime makes fewer elements than the text says")
    if draw.chance(0.3):
        chosen["output_padding"] = [draw.randint(0, max(0, s - 1)) for s in strides]
    elif draw.chance(0.5) and "auto_pad" in chosen:
        chosen["output_shape"] = [max(x.extents(2 + i)) * s + draw.randint(0, 1) for i, s in enumerate(strides)]
    shape = [channels, outputs // group, *chosen["kernel_shape"]]
    inputs = [x, net.weights(x.dtype, shape, 1 / max(1, np.prod(shape[1:])) ** 0.5, runtime=0.06)]
    if draw.chance(0.5):
        inputs.append(net.weights(x.dtype, [outputs], runtime=0.06))
    if draw.chance(0.4):
        del chosen["kernel_shape"]
    net.node("ConvTranspose", inputs, group=group if group > 1 else None, **chosen)


@recipe("MaxPool", "AveragePool", "LpPool", network=4)
def pool(net):
    draw = net.draw
    operator = draw.weighted({"MaxPool": 4, "AveragePool": 4, "LpPool": 1})
    version = net.version(operator)
    types = (d.FLOAT,) if not net.single or draw.chance(0.7) else (d.DOUBLE, d.HALF) + ((d.INT8, d.UINT8) if operator == "MaxPool" and version >= 12 else ())
    x = image(net, dtypes=types)
    chosen = window(net, x)
    if operator == "MaxPool" and version < 10 or operator == "AveragePool" and version < 19 or operator == "LpPool" and version < 18:
        chosen.pop("dilations", None)
    if chosen.get("auto_pad", "").startswith("SAME"):
        chosen.pop("dilations", None)               # of which ONNX Runtime's padding knows nothing: docs/differences.md
    if version >= (18 if operator == "LpPool" else 10) and draw.chance(0.3):
        chosen["ceil_mode"] = draw.pick([0, 1])
    if operator == "AveragePool" and draw.chance(0.4):
        chosen["count_include_pad"] = draw.pick([0, 1])
    if operator == "LpPool":
        chosen |= attributes(draw, p=[1, 2, 3])
    if operator == "MaxPool" and version >= 8 and draw.chance(0.15) and x.dtype == d.FLOAT and not x.noisy:
        made = net.node("MaxPool", [x], outputs=2, **chosen, **(attributes(draw, storage_order=[0, 1])))[0]
    else:
        made = net.node(operator, [x], **chosen)
    if "dilations" in chosen and operator == "MaxPool" and x.dtype in d.FLOATS and any((a == np.finfo(a.dtype).min).any() for a in made.arrays):
        raise Rejected("a window that meets no element: docs/differences.md")


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", network=1)
def global_pool(net):
    operator = net.draw.weighted({"GlobalAveragePool": 4, "GlobalMaxPool": 2, "GlobalLpPool": 1})
    x = image(net)
    net.node(operator, [x], **(attributes(net.draw, p=[1, 2, 3]) if operator == "GlobalLpPool" else {}))


@recipe("BatchNormalization", network=3)
def batch_normalization(net):
    x = image(net)
    channels = x.fixed(1)
    if channels is None:
        raise Rejected("the channels are not fixed")
    scale, bias, mean = (net.weights(d.FLOAT, [channels], runtime=0.05) for _ in range(3))
    variance = net.weights(d.FLOAT, [channels], style="positive", runtime=0.05)
    older = attributes(net.draw, spatial=[1]) if net.version("BatchNormalization") < 9 else {}
    net.node("BatchNormalization", [x, scale, bias, mean, variance], **attributes(net.draw, epsilon=[1e-5, 1e-3]), **older)


@recipe("InstanceNormalization", "GroupNormalization", "LRN", network=1)
def image_normalization(net):
    draw = net.draw
    operator = draw.pick(["InstanceNormalization", "LRN", "GroupNormalization"])
    version, x = net.version(operator), image(net)
    channels = x.fixed(1)
    if channels is None:
        raise Rejected("the channels are not fixed")
    if operator == "LRN":
        net.node("LRN", [x], size=draw.pick([1, 3, 5, 2]), **attributes(draw, alpha=[1e-4, 0.1], beta=[0.75, 0.5], bias=[1.0, 2.0]))
    elif operator == "InstanceNormalization":
        net.node(operator, [x, net.weights(d.FLOAT, [channels]), net.weights(d.FLOAT, [channels])], **attributes(draw, epsilon=[1e-5, 1e-2]))
    else:
        count = draw.pick([g for g in range(1, channels + 1) if channels % g == 0])
        extent = count if version < 21 else channels
        net.node(operator, [x, net.weights(d.FLOAT, [extent]), net.weights(d.FLOAT, [extent])], num_groups=count,
                 **attributes(draw, epsilon=[1e-5, 1e-2], **({"stash_type": [1]} if version >= 21 else {})))


@recipe("Pad", "Conv", network=2)
def padded_convolution(net):
    """A Pad that may fold into the convolution or pool behind it."""
    draw = net.draw
    x = image(net)
    pads = [0, 0] + [draw.randint(0, 2) for _ in range(x.rank - 2)] + [0, 0] + [draw.randint(0, 2) for _ in range(x.rank - 2)]
    if net.version("Pad") >= 11:
        y = net.node("Pad", [x, net.constant(np.array(pads, np.int64))])
    else:
        y = net.node("Pad", [x], pads=pads)
    channels = y.fixed(1)
    if channels is None or draw.chance(0.2):
        return
    group, outputs = groups(draw, channels)
    sizes = [draw.pick([1, 1, 2, 3])] * (x.rank - 2)
    weights = net.weights(d.FLOAT, [outputs, channels // group, *sizes], 0.3, runtime=0)
    more = attributes(draw, pads=[[0] * 2 * len(sizes), [1] * 2 * len(sizes)])
    net.node("Conv", [y, weights], group=group, **more)


RESIZE_MODES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", "half_pixel_symmetric",
                "tf_half_pixel_for_nn"]


@recipe("Resize", "Upsample", network=1.5)
def resize(net):
    draw = net.draw
    if net.opset < 10:
        return upsample(net)
    version = net.version("Resize")
    x = image(net, dtypes=(d.FLOAT,) if not net.single or draw.chance(0.7) else (d.UINT8, d.INT8, d.DOUBLE))
    mode = draw.pick(["nearest", "linear", "cubic"] if version > 10 else ["nearest", "linear"])
    n = x.rank - 2
    scales = [draw.pick([0.5, 0.6, 1.0, 1.3, 1.5, 2.0, 2.0, 3.0]) for _ in range(n)]
    if version == 10:
        net.node("Resize", [x, net.constant(np.array([1, 1, *scales], np.float32))], mode=mode)
        return
    chosen = {"mode": mode, "coordinate_transformation_mode": draw.pick([None, *RESIZE_MODES[:6 if version >= 19 else 5]])}
    if version == 11 and draw.chance(0.1):
        chosen["coordinate_transformation_mode"] = "tf_half_pixel_for_nn"
    if mode == "nearest":
        chosen |= attributes(draw, nearest_mode=["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        chosen |= attributes(draw, cubic_coeff_a=[-0.5, -0.75], exclude_outside=[0, 1])
    crop = chosen["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if mode == "nearest" or crop or chosen["coordinate_transformation_mode"] == "align_corners":
        scales = [draw.pick([0.5, 1.0, 1.5, 2.0, 2.0, 3.0]) for _ in range(n)]
        if crop and mode == "nearest":
            scales = [2.0 if s == 1 else s for s in scales]  # docs/differences.md
        if mode != "nearest" and not all(v.shape[2 + i] * s % 1 == 0 for v in x.arrays for i, s in enumerate(scales)):
            raise Rejected("a fraction of an extent: docs/differences.md")
    region = net.constant(np.array([0] * 2 + [draw.pick([0, 0.1, 0.25]) for _ in range(n)] + [1] * 2 +
                                   [draw.pick([1, 0.9, 0.75, 1.2]) for _ in range(n)], np.float32)) if crop or version == 11 else None
    if crop:
        chosen |= attributes(draw, extrapolation_value=[0.0, -1.0, 10.0])
    if version >= 18:
        chosen |= attributes(draw, antialias=[0, 1]) if mode != "nearest" else {}
    resize_by(net, x, region, scales, chosen)


def resize_by(net, x, region, scales, chosen):
    """By scales or by sizes, constant."""
    if region is None and net.version("Resize") >= 18 and net.draw.chance(0.3):
        return resize_axes(net, x, scales, chosen)
    if net.draw.chance(0.6) or not all(x.fixed(i) for i in range(x.rank)):
        net.node("Resize", [x, region, net.constant(np.array([1, 1, *scales], np.float32))], **chosen)
        return
    sizes = [max(1, int(x.fixed(2 + i) * s)) for i, s in enumerate(scales)]
    scales_input = net.constant(np.array([], np.float32)) if net.version("Resize") == 11 else None
    net.node("Resize", [x, region, scales_input, net.constant(np.array([x.fixed(0), x.fixed(1), *sizes], np.int64))], **chosen)


def resize_axes(net, x, scales, chosen):
    """The spatial axes alone, by scales or by sizes that keep the aspect."""
    draw, axes = net.draw, list(range(2, x.rank))
    chosen = chosen | {"axes": axes}
    if draw.chance(0.5) or not all(x.fixed(a) for a in axes):
        net.node("Resize", [x, None, net.constant(np.array(scales, np.float32))], **chosen)
        return
    sizes = [max(1, int(x.fixed(a) * s)) for a, s in zip(axes, scales)]
    net.node("Resize", [x, None, None, net.constant(np.array(sizes, np.int64))], **chosen,
             **attributes(draw, keep_aspect_ratio_policy=["stretch", "not_larger", "not_smaller"]))


def upsample(net):
    draw, x = net.draw, image(net)
    scales = [1.0, 1.0] + [draw.pick([1.0, 1.5, 2.0, 3.0]) for _ in range(x.rank - 2)]
    mode = draw.pick(["nearest", "linear"])
    if net.version("Upsample") >= 9:
        net.node("Upsample", [x, net.constant(np.array(scales, np.float32))], mode=mode)
    else:
        net.node("Upsample", [x], mode=mode, scales=scales)


@recipe("Conv", "Add", "Relu", "BatchNormalization", "Clip", network=6)
def block(net):
    """A residual block, an inverted bottleneck, or a chain of small convolutions: what cascades and overlap look for."""
    draw = net.draw
    x = image(net, spatial=draw.weighted({1: 1, 2: 5}))
    channels, n = x.fixed(1), x.rank - 2
    if channels is None:
        raise Rejected("the channels are not fixed")
    y = x
    for _ in range(draw.randint(1, 3)):
        size, inner = draw.pick([1, 3, 3, 5]), y.fixed(1)
        depthwise = draw.chance(0.4)
        outputs = inner if depthwise else draw.pick([channels, channels, 2 * channels, 8])
        group = inner if depthwise else 1
        shape = [outputs, inner // group] + [size] * n
        inputs = [y, net.weights(d.FLOAT, shape, 1 / max(1, np.prod(shape[1:])) ** 0.5, runtime=0.02)]
        inputs += [net.weights(d.FLOAT, [outputs], runtime=0.02)] if draw.chance(0.6) else []
        y = net.node("Conv", inputs, group=group, pads=[size // 2] * 2 * n)
        if draw.chance(0.7):
            y = net.node(draw.pick(["Relu", "Relu", "Sigmoid", "LeakyRelu", "HardSwish"] if net.opset >= 14 else ["Relu", "Tanh"]), [y])
    if [a.shape for a in y.arrays] == [a.shape for a in x.arrays] and draw.chance(0.8):
        y = net.node("Add", [x, y] if draw.chance(0.5) else [y, x])
        if draw.chance(0.5):
            net.node("Relu", [y])
