"""Memory of networks whose height and width are known only while running: chains whose results follow their inputs through
the same memory, strips of rows whose count is known while running, at the least and the most of each extent and two sizes
between."""

import numpy as np

from geometry_cases import Net, case, numbers


def conv(net, x, inputs, outputs, k=3, stride=1, group=1, relu=True, pads=None, dilation=1):
    w = numbers([outputs, inputs // group, k, k]) / np.float32(np.sqrt(inputs // group * k * k))
    y = net.add("Conv", x, w, numbers([outputs]), strides=[stride] * 2, pads=pads or [k // 2 * dilation] * 4, group=group,
                dilations=[dilation] * 2)
    return net.add("Relu", y) if relu else y


def mobile(net, x):
    """Blocks of a narrow, a wide and a depthwise layer, as in MobileNetV2."""
    x = conv(net, x, 3, 8, stride=2)
    for inputs, outputs, stride in ((8, 12, 2), (12, 12, 1), (12, 16, 2), (16, 16, 1)):
        y = conv(net, x, inputs, 6 * inputs, k=1)
        y = conv(net, y, 6 * inputs, 6 * inputs, stride=stride, group=6 * inputs)
        y = conv(net, y, 6 * inputs, outputs, k=1, relu=False)
        x = net.add("Add", x, y) if inputs == outputs else y
    return x


def plain(net, x):
    """Convolutions and pools in a row, as in VGG."""
    x = conv(net, conv(net, x, 3, 16), 16, 16)
    x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = conv(net, conv(net, x, 16, 24), 24, 24, k=5)
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return conv(net, x, 24, 8, k=1)


def residual(net, x):
    x = conv(net, x, 3, 16, k=7, stride=2)
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stride in (1, 2):
        y = conv(net, conv(net, x, 16, 16, stride=stride), 16, 16, relu=False)
        x = net.add("Relu", net.add("Add", y, conv(net, x, 16, 16, k=1, stride=stride, relu=False)))
    return x


def raised(net, x):
    """Larger images from smaller ones, as in super-resolution."""
    x = conv(net, x, 3, 16)
    x = net.add("Add", x, conv(net, conv(net, x, 16, 16), 16, 16, relu=False))
    for mode in ("CRD", "DCR"):
        x = net.add("Relu", net.add("DepthToSpace", conv(net, x, 16, 64, relu=False), blocksize=2, mode=mode))
    return net.add("Tanh", conv(net, x, 16, 3, k=5, relu=False))


def dense(net, x):
    """Each layer reads what all layers before it made."""
    x = conv(net, x, 3, 8)
    for n in range(3):
        x = net.add("Concat", x, conv(net, conv(net, x, 8 + 8 * n, 16, k=1), 16, 8, relu=False), axis=1)
    return net.add("AveragePool", conv(net, x, 32, 16, k=1), kernel_shape=[2, 2], strides=[2, 2])


def odd(net, x):
    """Windows without padding, with padding on one side, dilated, and of two rows and columns."""
    x = conv(net, x, 3, 8, k=2, pads=[1, 1, 0, 0])
    x = conv(net, x, 8, 24, k=3, dilation=2)
    x = conv(net, x, 24, 8, k=2, pads=[0, 0, 1, 1], stride=2)
    return conv(net, x, 8, 20, k=3, pads=[0] * 4)


def transposed(net, x):
    """Transposed convolutions of several phases, between strided ones; the last one's phases skip inputs."""
    x = conv(net, x, 3, 8)
    for k, stride, pad, more, group in ((2, 2, 0, 0, 1), (4, 2, 1, 0, 1), (3, 2, 1, 1, 1), (3, 1, 1, 0, 1), (3, 3, 0, 0, 1), (4, 2, 1, 0, 8), (3, 2, 3, 0, 1)):
        w = numbers([8, 8 // group, k, k]) / np.float32(np.sqrt(8 // group * k * k))
        x = net.add("Relu", net.add("ConvTranspose", x, w, numbers([8]), strides=[stride] * 2, pads=[pad] * 4, output_padding=[more] * 2, group=group))
        x = conv(net, x, 8, 8, stride=stride)
    return x


def resized(net, x):
    """Resize of images whose channels are neighbours, between convolutions."""
    x = conv(net, x, 3, 8)
    for mode, scale, more in (("linear", 2.0, {}), ("nearest", 2.0, {}), ("cubic", 1.5, {}), ("linear", 0.5, dict(antialias=1)),
                              ("linear", 3.0, dict(coordinate_transformation_mode="align_corners"))):
        y = net.add("Resize", x, None, np.float32([1, 1, scale, 1]), mode=mode, **more)
        y = net.add("Resize", y, None, np.float32([1, 1, 1, scale]), mode=mode, **more)
        x = conv(net, y, 8, 8, stride=2 if scale > 1 else 1)
    return net.add("Resize", x, None, np.float32([1, 1, 2, 2]), mode="linear")


def quantised(net, x):
    """Bytes of x, as floats. All scales are powers of two, so that the floats between bytes are exact."""
    terms = np.float32(0.0625), np.uint8(120)
    return net.add("DequantizeLinear", net.add("QuantizeLinear", x, *terms), *terms)


def conv_of_bytes(net, x, inputs, outputs, k=3, stride=1, group=1, dilation=1):
    """Weights of 7 bits, with which ONNX Runtime is exact everywhere."""
    shape = outputs, inputs // group, k, k
    w = np.random.default_rng(len(net.nodes)).integers(-64, 64, shape).astype(np.int8)
    w = net.add("DequantizeLinear", w, np.float32(2.0 ** -np.ceil(5 + np.log2(shape[1] * k * k) / 2)), np.int8(0))
    return quantised(net, net.add("Conv", x, w, strides=[stride] * 2, pads=[k // 2 * dilation] * 4, group=group, dilations=[dilation] * 2))


def bytes_mobile(net, x):
    """A few channels, then blocks of a narrow, a wide and a depthwise layer."""
    x = conv_of_bytes(net, quantised(net, x), 3, 16, stride=2)
    for inputs, outputs, stride in ((16, 24, 2), (24, 24, 1)):
        y = conv_of_bytes(net, x, inputs, 3 * inputs, k=1)
        y = conv_of_bytes(net, y, 3 * inputs, 3 * inputs, stride=stride, group=3 * inputs)
        y = conv_of_bytes(net, y, 3 * inputs, outputs, k=1)
        x = quantised(net, net.add("Add", x, y)) if inputs == outputs else y
    return x


def bytes_plain(net, x):
    """Strided, dilated and grouped windows over many channels, and odd ones."""
    x = conv_of_bytes(net, quantised(net, x), 3, 9, k=5)
    x = conv_of_bytes(net, conv_of_bytes(net, x, 9, 32), 32, 40, stride=2)
    x = conv_of_bytes(net, conv_of_bytes(net, x, 40, 32, dilation=2), 32, 48, group=2)
    return conv_of_bytes(net, x, 48, 20, k=1, stride=2)


def deep(net, x):
    """Many inputs: small images keep their sums and read each block of weights once, larger ones are computed by rows."""
    x = conv(net, x, 3, 32, k=5, stride=2)
    y = conv(net, x, 32, 160)
    y = conv(net, y, 160, 32, stride=2, relu=False)
    y = net.add("Relu", net.add("Add", y, conv(net, x, 32, 32, k=1, stride=2, relu=False)))
    return conv(net, conv(net, y, 32, 160, dilation=2), 160, 32, stride=2)


def lines(net, x):
    """1x1 convolutions between wide images, one with a residual: the larger ones are lines of pixels in blocks of rows."""
    x = conv(net, x, 3, 32)
    y = conv(net, conv(net, x, 32, 128, k=1), 128, 32, k=1, relu=False)
    return conv(net, net.add("Add", x, y), 32, 8, k=1)


def joined(net, x):
    """Members of several kinds, computed inside the whole: a convolution, pools, a smaller concatenation, one that is read twice; and
    in rows, where a member's place begins at a run-time number of elements."""
    x = conv(net, x, 3, 8)
    same = dict(kernel_shape=[3, 3], pads=[1] * 4)
    inner = net.add("Concat", net.add("MaxPool", x, **same), net.add("AveragePool", x, **same), axis=1)
    y = net.add("Concat", x, conv(net, x, 8, 12), inner, net.add("Sigmoid", x), axis=1)
    y = conv(net, y, 44, 6, k=1)
    return net.add("Concat", net.add("Tanh", net.add("Transpose", y, perm=[0, 1, 3, 2])), net.add("Neg", net.add("Transpose", y, perm=[0, 1, 3, 2])),
                   axis=1)


NETS = dict(mobile=(mobile, 1, 40), plain=(plain, 3, 30), residual=(residual, 1, 44), raised=(raised, 1, 9),
            dense=(dense, 2, 20), odd=(odd, 6, 25), transposed=(transposed, 5, 14), resized=(resized, 4, 17),
            bytes_mobile=(bytes_mobile, 1, 60), bytes_plain=(bytes_plain, 1, 41), deep=(deep, 1, 60),
            joined=(joined, 1, 23), lines=(lines, 1, 32))


def extents(name, sort, flags=(), axes="HW"):
    make, least, most = NETS[sort]
    shape = [1, 3, "H" if "H" in axes else 24, "W" if "W" in axes else 24]
    net = Net(x=shape)
    net.give(make(net, "x"), 4)
    step = (most - least) // 3
    sizes = [(least, least), (most, most), (least + step, most - step), (most - 1, least + step), (most, least), (least, most)]
    feeds = [net.feed(H=h, W=w) for h, w in sizes]
    return case(f"extents_{name}", net, feeds, (*[f"--dim={a}={least}..{most}" for a in axes], *flags))


CASES = [
    *[extents(sort, sort) for sort in NETS],
    *[extents(sort + "_strips", sort, ("--cascade=on",)) for sort in NETS],
    *[extents(sort + "_winograd", sort, ("--winograd=on", "--io=arena")) for sort in ("plain", "residual", "raised")],
    *[extents(sort + "_rows", sort, axes="H") for sort in ("mobile", "plain")],
    *[extents(sort + "_rows_strips", sort, ("--cascade=on",), axes="H") for sort in ("mobile", "plain")],
    *[extents(sort + "_columns_strips", sort, ("--cascade=on",), axes="W") for sort in ("mobile", "plain", "bytes_plain")],
]
