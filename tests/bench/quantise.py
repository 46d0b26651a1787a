"""Quantises a model of floats with ONNX Runtime's tools: unsigned bytes between operators (QDQ), signed weights with a scale for
each output channel, ranges from a few drawn inputs.

quantise.py MODEL.onnx QUANTISED.onnx
"""

import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

INPUTS = 8  # drawn to find the ranges


class Drawn(quantization.CalibrationDataReader):
    """As the benchmark draws its inputs."""

    def __init__(self, model):
        random = np.random.default_rng(zlib.crc32(Path(model).stem.encode()))
        graph = onnx.load(model, load_external_data=False).graph
        value = graph.input[0]
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        self.feeds = iter([{value.name: random.standard_normal(shape).astype(np.float32)} for _ in range(INPUTS)])

    def get_next(self):
        return next(self.feeds, None)


def prepared(model, convert):
    """convert(PATH) with the model folded and its extents inferred, of an opset that has a scale for each channel (13 and later)."""
    with tempfile.TemporaryDirectory() as folder:
        newer, path = Path(folder) / "newer.onnx", Path(folder) / Path(model).name
        found = onnx.load(model)
        if next(i.version for i in found.opset_import if i.domain in ("", "ai.onnx")) < 13:
            found = onnx.version_converter.convert_version(found, 17)
        onnx.save(found, newer)
        quant_pre_process(newer, path, skip_symbolic_shape=True)
        convert(path)


def quantise(model, target, form=quantization.QuantFormat.QDQ):
    prepared(model, lambda path: quantization.quantize_static(path, target, Drawn(path), quant_format=form, per_channel=True,
                                                              activation_type=quantization.QuantType.QUInt8,
                                                              weight_type=quantization.QuantType.QInt8))


if __name__ == "__main__":
    quantise(Path(sys.argv[1]), Path(sys.argv[2]))
