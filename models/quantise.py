"""Static int8 quantisation in numpy, written as QuantizeLinear/DequantizeLinear pairs around float operators.

Weights: symmetric, one scale per output channel. Activations: asymmetric, one scale per tensor, from the range seen on
calibration data. Biases: int32 in steps of the product of both scales.
"""

import numpy as np
from onnx import helper

from saving import constant


def weight_scale(weight):
    """[M, ...] -> [M]; the largest magnitude of a channel becomes 127."""
    return (np.abs(weight).reshape(len(weight), -1).max(1) / 127).astype(np.float32)


def range_scale(low, high):
    """(scale, zero point) of the int8 grid that covers [low, high] and holds zero exactly."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / 255)
    return scale, np.int8(np.clip(np.round(-128 - low / scale), -128, 127))


class Quantiser:
    """Collects the nodes and constants of a QDQ graph. `ranges`: per activation, its (least, greatest) calibrated value."""

    def __init__(self, ranges):
        self.ranges, self.nodes, self.constants = ranges, [], []

    def hold(self, name, array):
        self.constants.append(constant(name, array))
        return name

    def activation(self, name):
        """Round the value `name` to int8 and back; returns the name of the rounded value."""
        scale, zero = range_scale(*self.ranges[name])
        grid = [self.hold(name + "_scale", scale), self.hold(name + "_zero", zero)]
        self.nodes.append(helper.make_node("QuantizeLinear", [name, *grid], [name + "_int8"]))
        self.nodes.append(helper.make_node("DequantizeLinear", [name + "_int8", *grid], [name + "_rounded"]))
        return name + "_rounded"

    def layer(self, operator, source, target, weight, bias, **attributes):
        """A Conv or Gemm with quantised weight [M, ...] and bias [M], reading what `activation` made of `source`."""
        scale = weight_scale(weight)
        step = scale * range_scale(*self.ranges[source])[0]
        shape = (-1,) + (1,) * (weight.ndim - 1)
        whole = np.clip(np.round(weight / scale.reshape(shape)), -127, 127).astype(np.int8)
        names = [self.hold(f"{target}_weight_int8", whole), self.hold(f"{target}_weight_scale", scale),
                 self.hold(f"{target}_weight_zero", np.zeros(len(weight), np.int8))]
        self.nodes.append(helper.make_node("DequantizeLinear", names, [f"{target}_weight"], axis=0))
        names = [self.hold(f"{target}_bias_int32", np.round(bias / step).astype(np.int32)),
                 self.hold(f"{target}_bias_scale", step)]
        self.nodes.append(helper.make_node("DequantizeLinear", names, [f"{target}_bias"], axis=0))
        self.nodes.append(helper.make_node(operator, [source + "_rounded", f"{target}_weight", f"{target}_bias"], [target],
                                           **attributes))
        return target
