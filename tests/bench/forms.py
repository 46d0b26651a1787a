"""Other forms of a network of floats, as users get them from ONNX Runtime's tools: NAME_qdq and NAME_qop (static, bytes between
operators, as pairs of QuantizeLinear and DequantizeLinear or as operators on bytes), NAME_dyn (ranges found in each run), NAME_f16.

forms.py FOLDER NAME...: makes FOLDER/NAME_FORM.onnx of FOLDER/NAME.onnx for every form, where it is not there; NAME_FORM: for this form.
"""

import sys
from pathlib import Path

import onnx
import quantise
from onnxruntime import quantization
from onnxruntime.transformers import float16


def make_dynamic(model, target):
    quantise.prepared(model, lambda path: quantization.quantize_dynamic(path, target, weight_type=quantization.QuantType.QInt8))


def make_half(model, target):
    onnx.save(float16.convert_float_to_float16(onnx.load(model), keep_io_types=True), target)


FORMS = {
    "qdq": quantise.quantise,
    "qop": lambda model, target: quantise.quantise(model, target, quantization.QuantFormat.QOperator),
    "dyn": make_dynamic,
    "f16": make_half,
}


def make(folder, name, form):
    target = folder / f"{name}_{form}.onnx"
    if not target.exists():
        print(target, flush=True)
        unfinished = target.with_suffix(".tmp")
        FORMS[form](folder / f"{name}.onnx", unfinished)
        unfinished.rename(target)


def main(folder, names):
    for name in names:
        plain, _, form = name.rpartition("_")
        if form in FORMS:
            make(Path(folder), plain, form)
        else:
            for each in FORMS:
                make(Path(folder), name, each)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
