"""Writes our own models byte-reproducibly, with stored inputs and what ONNX Runtime answers to them."""

import os
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "tools"))
import tensors  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def constant(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


def save_model(name, nodes, inputs, outputs, constants, about):
    """Write models/NAME.onnx. `about` is the documentation string that the file carries."""
    for i, node in enumerate(nodes):
        node.name = node.name or f"{node.op_type.lower()}_{i}"
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="occamyc", doc_string=about)
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))
    path = os.path.join(HERE, name + ".onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    print(f"{name}.onnx: {os.path.getsize(path)} bytes")
    return model


def open_session(name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # as the operators are specified
    return onnxruntime.InferenceSession(os.path.join(HERE, name + ".onnx"), options, providers=["CPUExecutionProvider"])


def store_sets(name, model, feeds):
    """Write models/stored/NAME/test_data_set_N for each dictionary of inputs."""
    folder = os.path.join(HERE, "stored", name)
    shutil.rmtree(folder, ignore_errors=True)
    session = open_session(name)
    for n, feed in enumerate(feeds):
        target = os.path.join(folder, f"test_data_set_{n}")
        os.makedirs(target)
        for side, infos, arrays in (("input", model.graph.input, [feed[i.name] for i in model.graph.input]),
                                    ("output", model.graph.output, session.run(None, feed))):
            for i, (info, array) in enumerate(zip(infos, arrays)):
                proto = tensors.value_proto(tensors.from_numpy(array), info.type, info.name)
                with open(os.path.join(target, f"{side}_{i}.pb"), "wb") as file:
                    file.write(proto.SerializeToString(deterministic=True))
