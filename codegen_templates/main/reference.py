# reference.py - what ONNX Runtime makes of random inputs, as stored test sets: test_data_set_0 with every run-time extent at
# its largest, test_data_set_1 at its smallest where that differs.
# Usage: python3 reference.py MODEL.onnx NAME=LO..HI,LO..HI ... (one argument for each input; a scalar is NAME alone)
import os
import sys

import numpy
import onnx
from onnx import numpy_helper
import onnxruntime


def random_tensor(generator, element_type, extents):
    """Standard normal floats, small integers, fair booleans."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element_type)
    if element_type == onnx.TensorProto.STRING:
        return numpy.array(["text%d" % i for i in range(int(numpy.prod(extents)))], dtype=object).reshape(extents)
    if element_type == onnx.TensorProto.BOOL:
        return generator.integers(0, 2, extents).astype(bool)
    if numpy.issubdtype(dtype, numpy.integer):
        return generator.integers(0, 4, extents).astype(dtype)
    return generator.standard_normal(extents).astype(dtype)


def parse(argument):
    name, _, bounds = argument.rpartition("=") if ".." in argument else (argument, "", "")
    return name, [tuple(int(end) for end in axis.split("..")) for axis in bounds.split(",") if axis]


def save_set(folder, session, names, types, tensors):
    os.makedirs(folder)
    for i, name in enumerate(names):
        with open(os.path.join(folder, "input_%d.pb" % i), "wb") as file:
            file.write(numpy_helper.from_array(tensors[i], name).SerializeToString())
    for i, value in enumerate(session.run(None, dict(zip(names, tensors)))):
        with open(os.path.join(folder, "output_%d.pb" % i), "wb") as file:
            file.write(numpy_helper.from_array(numpy.asarray(value), session.get_outputs()[i].name).SerializeToString())


def main():
    model = onnx.load(sys.argv[1], load_external_data=False)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL # as the operators are specified
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    inputs = [parse(argument) for argument in sys.argv[2:]]
    generator = numpy.random.default_rng(1)
    shapes = [[[axis[end] for axis in bounds] for _, bounds in inputs] for end in (1, 0)]
    for i, shape in enumerate(shapes if shapes[0] != shapes[1] else shapes[:1]):
        tensors = [random_tensor(generator, types[name], extents) for (name, _), extents in zip(inputs, shape)]
        save_set("test_data_set_%d" % i, session, [name for name, _ in inputs], types, tensors)


main()
