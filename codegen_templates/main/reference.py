# reference.py - what ONNX Runtime makes of random inputs, as stored test sets: test_data_set_0 with every run-time extent at
# its largest, test_data_set_1 at its smallest where that differs, or one for each combination of the sizes that --dim lists.
# With SETS: of the inputs stored in that folder.
# Usage: python3 reference.py MODEL.onnx [SETS]
# ports.json beside it holds the names of the inputs, what to draw for them, the names of the values to store, of which those
# that no node makes are left out, and whether the code is for a device. Ends with status 3, and the names of modules that are missing.
import importlib.util
import json
import os
import sys

MISSING = [name for name in ("numpy", "onnx", "onnxruntime") if not importlib.util.find_spec(name)]
if MISSING:
    print(", ".join(MISSING))
    sys.exit(3)

import numpy
import onnx
from onnx import numpy_helper
import onnxruntime

from exact_sums import exact_sums, floats_stay


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


def random_value(generator, kind, port, end):
    """`end`: which of the drawn extents and counts, the last for the largest. What may be absent is there."""
    extents = [axis[end] for axis in port["extents"]]
    if kind.HasField("optional_type"):
        return random_value(generator, kind.optional_type.elem_type, port, end)
    if kind.HasField("sequence_type"):
        element = kind.sequence_type.elem_type.tensor_type.elem_type
        return [random_tensor(generator, element, extents) for _ in range(port["count"][end])]
    if kind.HasField("map_type"):
        values = random_tensor(generator, kind.map_type.value_type.tensor_type.elem_type, extents).tolist()
        text = kind.map_type.key_type == onnx.TensorProto.STRING
        return dict(zip(port["keys"] or [str(i) if text else i for i in range(len(values))], values))
    return random_tensor(generator, kind.tensor_type.elem_type, extents)


def random_inputs(kinds, ports):
    generator = numpy.random.default_rng(1)
    drawn = [values for port in ports for values in [*port["extents"], port.get("count", [])]]
    most = max(map(len, drawn), default=1)
    ends = range(most - 1, -1, -1) if any(len(set(values)) > 1 for values in drawn) else [most - 1]
    return [[random_value(generator, kinds[port["name"]], port, end) for port in ports] for end in ends]


def map_proto(value):
    """A dictionary as a MapProto; ONNX Runtime gives Python's floats for float and ints for int64."""
    proto = onnx.MapProto(key_type=onnx.TensorProto.INT64)
    if any(isinstance(key, str) for key in value):
        proto.key_type = onnx.TensorProto.STRING
        proto.string_keys.extend(key.encode() for key in value)
    else:
        proto.keys.extend(value)
    types = {float: numpy.float32, int: numpy.int64, str: object}
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.extend(numpy_helper.from_array(numpy.array(v, types.get(type(v)))) for v in value.values())
    return proto


def from_map(proto):
    keys = [key.decode() for key in proto.string_keys] or proto.keys
    return {key: numpy_helper.to_array(v).item() for key, v in zip(keys, proto.values.tensor_values)}


def to_proto(kind, value, name):
    """`kind`: the declared type; None: a tensor."""
    if kind is not None and kind.HasField("optional_type"):
        return numpy_helper.from_optional(value, name)
    if isinstance(value, dict):
        return map_proto(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=[map_proto(row) for row in value])
    if isinstance(value, list):
        return numpy_helper.from_list(value, name)
    return numpy_helper.from_array(numpy.asarray(value), name)


def from_file(kind, path):
    """None where there is no such file."""
    if kind.HasField("optional_type"):
        proto, convert = onnx.OptionalProto(), numpy_helper.to_optional
    elif kind.HasField("sequence_type"):
        proto, convert = onnx.SequenceProto(), numpy_helper.to_list
    elif kind.HasField("map_type"):
        proto, convert = onnx.MapProto(), from_map
    else:
        proto, convert = onnx.TensorProto(), numpy_helper.to_array
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        proto.ParseFromString(file.read())
    return convert(proto)


def save(folder, stem, index, proto):
    with open(os.path.join(folder, "%s_%d.pb" % (stem, index)), "wb") as file:
        file.write(proto.SerializeToString())


def save_set(folder, session, kinds, names, values, wanted):
    """`wanted`: (index, name) of the outputs to store."""
    os.makedirs(folder)
    for i, name in enumerate(names):
        save(folder, "input", i, to_proto(kinds[name], values[i], name))
    for (i, name), value in zip(wanted, session.run([name for _, name in wanted], dict(zip(names, values)))):
        save(folder, "output", i, to_proto(kinds.get(name), value, name))


def stored_inputs(folder, kinds, names):
    """The values of each stored set, in the order of `names`."""
    found = [folder] if os.path.exists(os.path.join(folder, "input_0.pb")) else sorted(
        path for path in (os.path.join(folder, name) for name in os.listdir(folder))
        if os.path.exists(os.path.join(path, "input_0.pb")))
    return [[from_file(kinds[name], os.path.join(path, "input_%d.pb" % i)) for i, name in enumerate(names)] for path in found]


def expose(model, names):
    """Make outputs of what nodes of the graph make; whether there were such, and (index, name) of those of `names` that are there."""
    declared = {output.name for output in model.graph.output}
    made = {name for node in model.graph.node for name in node.output} | declared
    more = [name for name in names if name in made and name not in declared]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more)
    return bool(more), [(i, name) for i, name in enumerate(names) if name in made]


def main():
    path, sets = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    model = onnx.load(path, load_external_data=False)
    with open("ports.json", encoding="utf-8") as file:
        ports = json.load(file)
    kinds = {value.name: value.type for value in [*model.graph.input, *model.graph.output]}
    exposed, wanted = expose(model, ports["outputs"])
    changed = any([exact_sums(model), floats_stay(model, ports["device"]), exposed])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL # as the operators are specified
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.path.dirname(path))
    session = onnxruntime.InferenceSession(model.SerializeToString() if changed else path, options, providers=["CPUExecutionProvider"])
    names = [port["name"] for port in ports["inputs"]]
    inputs = stored_inputs(sets, kinds, names) if sets else random_inputs(kinds, ports["inputs"])
    for i, values in enumerate(inputs):
        save_set("test_data_set_%d" % i, session, kinds, names, values, wanted)


main()
