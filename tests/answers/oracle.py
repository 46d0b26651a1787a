"""What ONNX Runtime makes of a model, without its graph optimisations, and how far its answers can be held against ours."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tools"), os.path.join(HERE, "..", "..", "codegen_templates", "main")]
os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import exact_sums
import net as nets
import spelled

onnxruntime.set_default_logger_severity(4)


KNOWN = 27                                          # the newest opset of ONNX Runtime


def same_rule(operator, opset):
    """Whether an operator of a newer opset is, but for its types, the one that ONNX Runtime knows."""
    try:
        newer, known = (onnx.defs.get_schema(operator, version) for version in (opset, KNOWN))
    except onnx.defs.SchemaError:
        return False
    return newer.since_version == known.since_version or (newer.doc == known.doc and sorted(newer.attributes) == sorted(known.attributes))


def operators(nodes):
    """Names of ONNX's own operators of nodes and their bodies."""
    found = {n.op_type for n in nodes if not n.domain}
    return found.union(*(operators(a.g.node) for n in nodes for a in n.attribute if a.type == onnx.AttributeProto.GRAPH))


def known_opset(nodes, opset):
    """The opset to ask ONNX Runtime at; raises Rejected where it has none."""
    if opset <= KNOWN:
        return opset
    if not all(same_rule(name, opset) for name in operators(nodes)):
        raise nets.Rejected(f"ONNX Runtime does not know opset {opset}")
    return KNOWN


def session(model, device=False):
    """device: the code that is compared is for one, where products with packed weights stay floats."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    exact_sums.exact_sums(model)
    exact_sums.floats_stay(model, device)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


# -- what ONNX Runtime computes in floats only -------------------------------------------------------------------------

CELLS = {"LSTM", "GRU", "RNN"}


def in_floats(protos, doubles):
    """The nodes with recurrent cells of doubles between casts, since ONNX Runtime lacks these. doubles: names of such values."""
    found = []
    for node in protos:
        if node.op_type not in CELLS or node.input[0] not in doubles:
            found.append(node)
            continue
        cell, stem = type(node)(), node.output[0] or node.output[1]
        cell.CopyFrom(node)
        for k, name in enumerate(node.input):
            if name and k != LENGTHS:
                cell.input[k] = f"{stem}_in{k}"
                found.append(helper.make_node("Cast", [name], [cell.input[k]], to=1))
        for k, name in enumerate(node.output):
            cell.output[k] = name and f"{stem}_out{k}"
        found.append(cell)
        found += [helper.make_node("Cast", [made], [name], to=11) for made, name in zip(cell.output, node.output) if name]
    return found


LENGTHS = 4                                         # the input of a cell that says how long sequences are


def doubles_of(graph):
    return {i.name for i in graph.input if i.type.tensor_type.elem_type == 11} | {t.name for t in graph.initializer if t.data_type == 11}


def readable(model):
    """The model as ONNX Runtime can run it."""
    model = spelled.spelled_model(model)
    found = in_floats(model.graph.node, doubles_of(model.graph))
    opset = next((o.version for o in model.opset_import if not o.domain), 0)
    asked = known_opset(model.graph.node, opset)
    if len(found) == len(model.graph.node) and asked == opset:
        return model
    other = type(model)()
    other.CopyFrom(model)
    for imported in other.opset_import:
        imported.version = imported.version if imported.domain else asked
    del other.graph.node[:]
    other.graph.node.extend(found)
    return other


# -- answers ---------------------------------------------------------------------------------------------------------------

def evaluate(protos, reads, results, opsets, count):
    """Per result its values at each setting, and its element type. Raises Rejected where ONNX Runtime does."""
    protos = spelled.spelled_out(protos, opsets.get("", 1))
    by_name = {v.name: v for v in reads}
    fed = [v for v in by_name.values() if not v.constant]
    graph = helper.make_graph(
        in_floats(protos, {v.name for v in reads if v.dtype == 11}), "nodes", [helper.make_value_info(v.name, nets.value_type(v)) for v in fed],
        [helper.make_empty_tensor_value_info(name) for name in results],
        [nets.tensor_proto(v.arrays[0], v.dtype, v.name) for v in by_name.values() if v.constant])
    asked = {k: v if k else known_opset(protos, v) for k, v in opsets.items()}
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(k, v) for k, v in asked.items()], ir_version=10)
    try:
        runner = session(model)
        outputs = [runner.run(results, {v.name: v.arrays[i] for v in fed}) for i in range(count)]
        types = [element_type(info.type) for info in runner.get_outputs()]
    except Exception as error:                       # ONNX Runtime raises some ten kinds
        raise nets.Rejected(str(error).splitlines()[0])
    return [list(values) for values in zip(*outputs)], types


ELEMENT = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
           "float16": 10, "double": 11, "uint32": 12, "uint64": 13}


def element_type(text):
    """ONNX's number of "tensor(float)", "seq(tensor(int64))"."""
    inner = text.rsplit("(", 1)[1].rstrip(")")
    if inner not in ELEMENT:
        raise nets.Rejected(f"ONNX Runtime returns no {text}")
    return ELEMENT[inner]


def answers(model, sets, device=False):
    """Wanted outputs of every set of inputs."""
    names = [i.name for i in model.graph.input]
    runner = session(readable(model), device)
    return [runner.run(None, dict(zip(names, values))) for values in sets]


# -- how exact an answer can be ---------------------------------------------------------------------------------------

EPSILON = {np.dtype(np.float16): 2.0 ** -11, np.dtype(np.float32): 2.0 ** -24, np.dtype(np.float64): 2.0 ** -53}


def disturb(value, seed):
    """The value with every float moved by a few roundings; seeded."""
    if isinstance(value, list):
        return [disturb(v, seed + i) for i, v in enumerate(value)]
    if value is None or value.dtype not in EPSILON:
        return value
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return (value * (1 + 4 * EPSILON[value.dtype] * random.uniform(-1, 1, value.shape))).astype(value.dtype)


def narrowest(model):
    """The rounding of the narrowest float type that occurs in a model."""
    text = {t.data_type for t in model.graph.initializer} | {i.type.tensor_type.elem_type for i in model.graph.input}
    for node in model.graph.node:
        text |= {a.i for a in node.attribute if a.name in ("to", "dtype", "output_datatype")}
    wide = 11 in text and 1 not in text and len(in_floats(model.graph.node, doubles_of(model.graph))) == len(model.graph.node)
    return 2.0 ** -11 if 10 in text else 2.0 ** -53 if wide else 2.0 ** -24


def spread(want, other):
    """The largest finite difference of two answers."""
    if isinstance(want, list):
        return max([spread(a, b) for a, b in zip(want, other)], default=0.0) if isinstance(other, list) else 0.0
    if want is None or other is None or want.dtype.kind != "f" or want.shape != other.shape or not want.size:
        return 0.0
    with np.errstate(all="ignore"):
        gap = np.abs(want.astype(np.float64) - other.astype(np.float64))
    return float(np.max(gap[np.isfinite(gap)], initial=0.0))


def magnitude(value):
    if isinstance(value, list):
        return max([magnitude(v) for v in value], default=0.0)
    if value is None or value.dtype.kind != "f":
        return 0.0
    finite = np.abs(value[np.isfinite(value)].astype(np.float64))
    return float(finite.max(initial=0.0))


def tolerances(model, sets, wanted):
    """Per set and output the absolute error that is granted: roundings of the largest magnitude, and what moving each input
    by a few roundings changes."""
    unit = narrowest(model)
    try:
        moved = answers(disturbed_constants(model), [[disturb(v, i + 7) for i, v in enumerate(values)] for values in sets])
    except Exception:
        moved = wanted
    # ONNX Runtime's tanh errs so far near zero; GELU's 1 + erf(x) by half of it at x = -2, where nearly all cancels
    least = 1e-7 if any(n.op_type in CELLS or n.op_type.endswith("Gelu") for n in model.graph.node) else 0.0
    least += 16 * 2.0 ** -149           # floats below the normal ones are so far apart, whatever their size
    return [[400 * unit * magnitude(w) + 16 * spread(w, m) + least for w, m in zip(want, other)] for want, other in zip(wanted, moved)]


def disturbed_constants(model):
    """The model with its float constants of more than eight elements moved: smaller ones may be parameters."""
    other = type(model)()
    other.CopyFrom(model)
    for i, tensor in enumerate(other.graph.initializer):
        array = nets.numpy_helper.to_array(tensor) if tensor.data_type in (1, 10, 11) else None
        if array is not None and array.size > 8:
            tensor.CopyFrom(nets.tensor_proto(disturb(array, i), tensor.data_type, tensor.name))
    return other
