"""What a model of one node must give: by ONNX Runtime at its opset, else by what is said to be equal to it, else by the reference."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from form import NAMES, WORDS

NEWEST = 26                                 # the newest opset that the pinned ONNX Runtime runs
NOT_FLOATS = {"tensor(float16)", "tensor(bfloat16)", "tensor(double)"}   # of which ONNX Runtime has no recurrent cells
FED = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
onnxruntime.set_default_logger_severity(4)


def contents(name, kind, array):
    """An initializer of any element type."""
    if kind == TensorProto.STRING:
        return helper.make_tensor(name, kind, array.shape, [str(s).encode() for s in array.reshape(-1)])
    return numpy_helper.from_array(array, name)


def value_info(name, word, array):
    """`word`: as schemas write types."""
    if word.startswith("seq("):
        return helper.make_tensor_sequence_value_info(name, NAMES[word[11:-2]], None)
    if word.startswith("optional("):
        inner = helper.make_tensor_type_proto(NAMES[word[16:-2]], array.shape)
        return helper.make_value_info(name, helper.make_optional_type_proto(inner))
    return helper.make_tensor_value_info(name, NAMES[word[7:-1]], array.shape)


def session_model(unit, opset, inputs, attributes, cast=(), op=None):
    """All tensors are initializers, so that types which Python cannot feed can be read; `cast`: outputs turned into floats."""
    names = [f"i{n}" if x is not None else "" for n, x in enumerate(inputs)]
    node = helper.make_node(op or unit.op, names, unit.output_names(), domain=unit.domain, **attributes)
    held = [(n, w, x) for n, w, x in zip(names, unit.words, inputs) if n]
    fed = [t for t in held if not t[1].startswith("tensor(")]
    constants = [contents(n, NAMES[w[7:-1]], x) for n, w, x in held if w.startswith("tensor(")]
    nodes = [node] + [helper.make_node("Cast", [f"o{k}"], [f"c{k}"], to=TensorProto.FLOAT) for k in cast]
    outputs = [onnx.ValueInfoProto(name=f"c{k}" if k in cast else f"o{k}") for k in unit.kept()]
    graph = helper.make_graph(nodes, "g", [value_info(*t) for t in fed], outputs, constants)
    opsets = [helper.make_opsetid("", opset if not unit.domain else 20)] + ([helper.make_opsetid(unit.domain, opset)] if unit.domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), {n: x for n, _, x in fed}


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def by_runtime(unit, opset, inputs, attributes, op=None):
    """[(type as schemas write it, value)] for each named output."""
    model, fed = session_model(unit, opset, inputs, attributes, (), op)
    session = open_session(model)
    words = [o.type for o in session.get_outputs()]
    strange = [k for k, w in zip(unit.kept(), words) if w.startswith("tensor(") and NAMES[w[7:-1]] not in FED]
    if strange:
        model, fed = session_model(unit, opset, inputs, attributes, strange, op)
        session = open_session(model)
    values = session.run(None, fed)
    return [(w, v.astype(helper.tensor_dtype_to_np_dtype(NAMES[w[7:-1]])) if k in strange else v) for k, w, v in zip(unit.kept(), words, values)]


def word_of(value):
    if value is None:
        return "optional(tensor(float))"
    if isinstance(value, list):
        return "seq(" + (word_of(value[0]) if value else "tensor(float)") + ")"
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        return "tensor(string)"
    number = helper.np_dtype_to_tensor_dtype(array.dtype)
    return "tensor(" + next(w for w, n in NAMES.items() if n == number) + ")"


def by_reference(unit, opset, inputs, attributes, op=None):
    model, fed = session_model(unit, opset, inputs, attributes, (), op)
    typed = {o.name: o.type for o in onnx.shape_inference.infer_shapes(model).graph.output}
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, fed)
    return [said(typed[f"o{k}"], value, unit.declared[k]) for k, value in zip(unit.kept(), values)]


def said(kind, value, declared):
    """(type, value), of the element type that the schema says where the reference forgets it."""
    number = NAMES[declared[7:-1]] if declared and declared.startswith("tensor(") else kind.tensor_type.elem_type
    if kind.HasField("optional_type"):
        value = (value[0] if value else None) if isinstance(value, list) else value
        return f"optional(tensor({WORDS[kind.optional_type.elem_type.tensor_type.elem_type]}))", value
    if isinstance(value, list) or number in (0, TensorProto.STRING):
        return word_of(value), value if isinstance(value, list) else np.asarray(value)
    return f"tensor({WORDS[number]})", np.asarray(value).astype(helper.tensor_dtype_to_np_dtype(number))


def by_floats(unit, opset, inputs, attributes, op=None):
    """What ONNX Runtime says of floats, rounded: for the floats that it does not take itself."""
    import copy
    wide = copy.copy(unit)
    other = next(w for w in unit.words if w in NOT_FLOATS)
    wide.words = ["tensor(float)" if w in NOT_FLOATS else w for w in unit.words]
    inputs = [x.astype(np.float32) if x is not None and w in NOT_FLOATS else x for w, x in zip(unit.words, inputs)]
    return [(other, v.astype(helper.tensor_dtype_to_np_dtype(NAMES[other[7:-1]]))) for _, v in by_runtime(wide, opset, inputs, attributes, op)]


def other_opsets(unit):
    """Opsets at which the same node means the same where ONNX Runtime does not run its own: before opset 7 up to the next version
    it knows, later the version before, as newer ones only take more types."""
    if unit.domain or unit.opset >= 7:
        return ([NEWEST] if unit.opset > NEWEST else []) + ([unit.before] if unit.before else [])
    return [o for o in (6, 7, 8, 9) if o > unit.opset]


def askable(unit):
    """[(who, function, opset, inputs, attributes)], the best first."""
    plain = {k: w for k, w in unit.attributes.items() if k != "consumed_inputs"}
    reference = [("the reference evaluator", by_reference, unit.opset, unit.inputs, unit.attributes)]
    tries = [("ONNX Runtime", by_runtime, unit.opset, unit.inputs, unit.attributes)] if unit.opset <= NEWEST else []
    if unit.form.text:
        return reference
    if unit.op in ("RNN", "GRU", "LSTM") and NOT_FLOATS & set(unit.words):
        return [("ONNX Runtime in floats", by_floats, unit.opset, unit.inputs, plain)]
    if unit.form.like:
        opset, inputs, attributes = unit.form.like(list(unit.inputs), dict(plain))
        return tries + [(f"ONNX Runtime, as opset {opset} says it", by_runtime, opset, [np.asarray(x) if x is not None else None for x in inputs],
        attributes)]
    others = [(f"ONNX Runtime at opset {o}", by_runtime, o, unit.inputs, plain) for o in other_opsets(unit)]
    return tries + (others + reference if unit.opset < 7 or unit.deprecated else reference + others)


def wanted(unit):
    """(who said so, [(type, value)]); who is empty where nobody runs it, with the reasons instead of values."""
    reasons = []
    if unit.form.unsaid:
        return "", [unit.form.unsaid]
    if unit.form.hand:
        try:
            return "hand", [(word_of(x), x) for x in unit.form.hand(unit.inputs)]
        except ValueError as error:                  # text that is no number
            return "", [str(error)]
    for who, function, opset, inputs, attributes in askable(unit):
        try:
            return who, function(unit, opset, inputs, attributes)
        except Exception as error:  # noqa: BLE001 whatever it cannot run is asked of the next
            reasons.append(f"{who}: {' '.join(str(error).split())[:300]}")
    return "", reasons
