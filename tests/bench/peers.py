"""What the benchmark compares with, and how each peer gets from a model to what it runs: files are made once, in the network's folder.

The file that a peer opens is the model itself for ONNX Runtime and OpenVINO, a converted network for ncnn, and a library of the
C that emx-onnx-cgen generates.
"""

import subprocess
import sys
from pathlib import Path

import onnx

import programs

RUNTIMES = ("onnxruntime", "openvino") # that take any model
LIBRARIES = (*RUNTIMES, "ncnn")
PEERS = (*LIBRARIES, "emx")
TITLES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "ncnn": "ncnn", "emx": "emx-onnx-cgen"}
PACKAGES = ("onnxruntime", "openvino", "ncnn", "emx-onnx-cgen")


def run(command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    if done.returncode:
        raise RuntimeError((done.stdout.strip().splitlines() or [f"{command[0]} failed"])[-1][:200])


def takes_images(model):
    """One input of floats, of fixed extents: what ncnn's converter is used for here."""
    inputs = [value.type.tensor_type for value in programs.graph_inputs(model)]
    return len(inputs) == 1 and inputs[0].elem_type == onnx.TensorProto.FLOAT and len(inputs[0].shape.dim) == 4


def to_ncnn(model, folder, python):
    """In single precision, as everybody else."""
    made = folder / "net.ncnn.param"
    if not takes_images(model):
        raise RuntimeError("only networks of one image are converted")
    if not made.exists() or made.stat().st_mtime < model.stat().st_mtime:
        copy = folder / "net.onnx" # the converter writes beside its input
        copy.unlink(missing_ok=True)
        copy.symlink_to(model)
        run([Path(python).with_name("pnnx"), copy, "fp16=0"], folder)
    return made


def to_emx(model, folder, python):
    made, source = folder / "net.so", folder / "net.c"
    if not made.exists() or made.stat().st_mtime < model.stat().st_mtime:
        run([Path(python).with_name("emx-onnx-cgen"), "compile", "--model-name=net", model, source], folder)
        run(["cc", "-O2", "-w", "-shared", "-fPIC", "-o", made, source, "-lm"], folder)
    return made


CONVERSIONS = {"ncnn": to_ncnn, "emx": to_emx}


def prepare(library, model, folder, python=sys.executable):
    """The file that this peer opens. RuntimeError: it does not take the model."""
    if library not in CONVERSIONS:
        return model
    folder = Path(folder) / library
    folder.mkdir(parents=True, exist_ok=True)
    return CONVERSIONS[library](Path(model), folder, python)
