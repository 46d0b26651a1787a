# reference.py - what ONNX Runtime makes of random inputs, as stored test sets: test_data_set_0 with every run-time extent at
# its largest, test_data_set_1 at its smallest where that differs. With --sets FOLDER: of the inputs stored there.
# Usage: python3 reference.py MODEL.onnx [--sets FOLDER] NAME=LO..HI,LO..HI ... (one for each input; a scalar is NAME alone)
# outputs.txt beside it holds the names of the values to store, a line each; those that no node makes are left out.
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


def map_message(value):
    """A dictionary as a MapProto; ONNX Runtime gives Python's floats for float and ints for int64."""
    message = onnx.MapProto(key_type=onnx.TensorProto.INT64)
    if any(isinstance(key, str) for key in value):
        message.key_type = onnx.TensorProto.STRING
        message.string_keys.extend(key.encode() for key in value)
    else:
        message.keys.extend(value)
    types = {float: numpy.float32, int: numpy.int64, str: object}
    message.values.elem_type = onnx.SequenceProto.TENSOR
    message.values.tensor_values.extend(numpy_helper.from_array(numpy.array(v, types.get(type(v)))) for v in value.values())
    return message


def message_of(value, name):
    if isinstance(value, dict):
        return map_message(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=[map_message(row) for row in value])
    return numpy_helper.from_array(numpy.asarray(value), name)


def read_message(path, is_map):
    if not is_map:
        return numpy_helper.to_array(onnx.load_tensor(path))
    with open(path, "rb") as file:
        message = onnx.MapProto.FromString(file.read())
    keys = [key.decode() for key in message.string_keys] or message.keys
    return {key: numpy_helper.to_array(v).item() for key, v in zip(keys, message.values.tensor_values)}


def save(folder, stem, index, name, value):
    with open(os.path.join(folder, "%s_%d.pb" % (stem, index)), "wb") as file:
        file.write(message_of(value, name).SerializeToString())


def save_set(folder, session, names, tensors, wanted):
    """`wanted`: (index, name) of the outputs to store."""
    os.makedirs(folder)
    for i, name in enumerate(names):
        save(folder, "input", i, name, tensors[i])
    for (i, name), value in zip(wanted, session.run([name for _, name in wanted], dict(zip(names, tensors)))):
        save(folder, "output", i, name, value)


def stored_inputs(folder, names):
    """The values of each stored set, in the order of `names`."""
    found = [folder] if os.path.exists(os.path.join(folder, "input_0.pb")) else sorted(
        path for path in (os.path.join(folder, name) for name in os.listdir(folder))
        if os.path.exists(os.path.join(path, "input_0.pb")))
    return [[read_message(os.path.join(path, "input_%d.pb" % i), os.path.exists("input_%d.keys" % i)) for i in range(len(names))] for path in found]


def as_map(index, values):
    """The values as a map, where input `index` is one: with the keys that the compiler found, or any."""
    path = "input_%d.keys" % index
    if not os.path.exists(path):
        return values
    with open(path, encoding="utf-8") as file:
        kind, *keys = file.read().split("\0")[:-1]
    keys = keys or range(len(values))
    return dict(zip(keys if kind == "text" else map(int, keys), values.tolist()))


def element_type(value):
    kind = value.type.map_type.value_type if value.type.HasField("map_type") else value.type
    return kind.tensor_type.elem_type


def random_inputs(model, inputs):
    types = {value.name: element_type(value) for value in model.graph.input}
    generator = numpy.random.default_rng(1)
    shapes = [[[axis[end] for axis in bounds] for _, bounds in inputs] for end in (1, 0)]
    return [[as_map(i, random_tensor(generator, types[name], extents)) for i, ((name, _), extents) in enumerate(zip(inputs, shape))]
            for shape in (shapes if shapes[0] != shapes[1] else shapes[:1])]


def expose(model, names):
    """Make outputs of what nodes of the graph make; whether there were such, and (index, name) of those of `names` that are there."""
    declared = {output.name for output in model.graph.output}
    made = {name for node in model.graph.node for name in node.output} | declared
    more = [name for name in names if name in made and name not in declared]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more)
    return bool(more), [(i, name) for i, name in enumerate(names) if name in made]


def main():
    path, words = sys.argv[1], sys.argv[2:]
    sets = words[1] if words[:1] == ["--sets"] else ""
    inputs = [parse(word) for word in (words[2:] if sets else words)]
    model = onnx.load(path, load_external_data=False)
    with open("outputs.txt", encoding="utf-8") as file:
        changed, wanted = expose(model, file.read().split("\n")[:-1])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL # as the operators are specified
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.path.dirname(path))
    session = onnxruntime.InferenceSession(model.SerializeToString() if changed else path, options, providers=["CPUExecutionProvider"])
    names = [name for name, _ in inputs]
    for i, tensors in enumerate(stored_inputs(sets, names) if sets else random_inputs(model, inputs)):
        save_set("test_data_set_%d" % i, session, names, tensors, wanted)


main()
