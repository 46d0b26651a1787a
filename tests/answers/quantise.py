"""ONNX Runtime's own static quantiser, with its options drawn. Knows nothing of how the network was made."""

import contextlib
import io
import logging
import os
import tempfile

import onnx
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from net import Rejected

logging.getLogger().setLevel(logging.ERROR)      # the quantiser advises about preprocessing


class Sets(CalibrationDataReader):
    """The sets of inputs, one after another."""

    def __init__(self, names, sets):
        self.rows = iter([dict(zip(names, values)) for values in sets])

    def get_next(self):
        return next(self.rows, None)


def quantise(draw, model, sets):
    """The quantised model; Rejected where the quantiser fails."""
    opset = model.opset_import[0].version
    wide = [QuantType.QInt16, QuantType.QUInt16] if opset >= 21 and draw.chance(0.3) else []
    chosen = {
        "quant_format": draw.weighted({QuantFormat.QDQ: 5, QuantFormat.QOperator: 1}),
        "per_channel": opset >= 13 and draw.chance(0.5), "reduce_range": draw.chance(0.2),
        "activation_type": draw.pick([QuantType.QUInt8, QuantType.QUInt8, QuantType.QInt8, *wide]),
        "weight_type": draw.pick([QuantType.QInt8, QuantType.QInt8, QuantType.QUInt8]),
        "calibrate_method": draw.pick([CalibrationMethod.MinMax, CalibrationMethod.Entropy]) if draw.chance(0.1) else CalibrationMethod.MinMax,
        "extra_options": {"ActivationSymmetric": draw.chance(0.2), "WeightSymmetric": draw.chance(0.7),
                          "QuantizeBias": draw.chance(0.8), "DedicatedQDQPair": draw.chance(0.2)}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                quantize_static(model, path, Sets([i.name for i in model.graph.input], sets), **chosen)
            made = onnx.load(path)
        except Exception as error:                # it raises whatever its parts raise
            raise Rejected(str(error))
    if any(n.op_type == "QLinearSoftmax" for n in made.graph.node):
        raise Rejected("of one element ONNX Runtime's wraps to 0")
    if not any("Linear" in n.op_type or "Integer" in n.op_type for n in made.graph.node):
        raise Rejected("nothing was quantised")
    return made
