"""What the random models have covered: each operator with its element types and versions, each attribute with classes of its
values, every refusal. Plain dictionaries of counts, so that they merge and are kept as JSON."""

import re

import onnx


def without_names(reason):
    """A refusal without the names and numbers of its model."""
    reason = re.sub(r"^\S+: (node \d+ ('[^']*' )?)?", "", reason)
    return re.sub(r"'[^']*'", "'...'", re.sub(r"\d+", "N", reason))[:140]


def merge(a, b):
    for table, counts in b.items():
        mine = a.setdefault(table, {})
        for key, count in counts.items():
            mine[key] = mine.get(key, 0) + count
    return a


WORDS = {"activations", "nodes_modes"}                # lists whose words say what is computed


def value_classes(attribute):
    """Words for the classes of an attribute's value."""
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.STRING:
        return [value.decode("utf-8", "replace")]
    if attribute.type in (onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT):
        return ["0" if value == 0 else "1" if value == 1 else "negative" if value < 0 else "more" if value > 1 else "fraction"]
    if attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS):
        kinds = {("0" if v == 0 else "1" if v == 1 else "negative" if v < 0 else "more") for v in value}
        return ["+".join(sorted(kinds)) or "none"]
    if attribute.type == onnx.AttributeProto.STRINGS and attribute.name in WORDS:
        return sorted({word.decode() for word in value})
    return ["given"]


def type_word(proto):
    """A type as schemas write it, a tensor's without "tensor": "float", "seq(float)", "optional(seq(float))"; "" where it is not known."""
    for kind, word in (("sequence_type", "seq"), ("optional_type", "optional")):
        if proto.HasField(kind):
            return f"{word}({type_word(getattr(proto, kind).elem_type)})"
    return onnx.TensorProto.DataType.Name(proto.tensor_type.elem_type).lower() if proto.tensor_type.elem_type else ""


def element_types(model):
    """Element type of every value that ONNX's own inference knows."""
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:                                # it refuses what it does not know
        pass
    infos = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    return {i.name: type_word(i.type) for i in infos} | {t.name: onnx.TensorProto.DataType.Name(t.data_type).lower() for t in model.graph.initializer}


def variables(node, opsets, types):
    """{(type variable, type)} of a node's inputs and outputs, as its schema names them."""
    try:
        schema = onnx.defs.get_schema(node.op_type, opsets.get(node.domain, 1), node.domain)
    except onnx.defs.SchemaError:
        return {("T", types[n]) for n in node.input[:1] if types.get(n)}
    found = set()
    for formal, names in ((schema.inputs, node.input), (schema.outputs, node.output)):
        found |= {(formal[min(k, len(formal) - 1)].type_str, types[n]) for k, n in enumerate(names) if types.get(n)}
    return found


class Seen:
    def __init__(self):
        self.data = {"rows": {}, "types": {}, "versions": {}, "attributes": {}, "options": {}}

    def count(self, table, key):
        self.data[table][key] = self.data[table].get(key, 0) + 1

    def note(self, trial):
        """Only what compiled and ran counts as covered."""
        if trial.outcomes[0].state != "pass":
            return
        types = element_types(trial.model)
        self.note_nodes(trial.model.graph, types, {o.domain: o.version for o in trial.model.opset_import})
        for variant, outcome in zip(trial.variants, trial.outcomes):
            if outcome.state == "pass":
                for option in variant.options or ["no option"]:
                    self.count("options", re.sub(r":.*|(=).*tuned.*", r"\1", option))

    def note_nodes(self, graph, types, opsets):
        for node in graph.node:
            name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            self.count("rows", name)
            for variable, word in variables(node, opsets, types):
                self.count("types", f"{name} {variable} {word}")
            self.count("versions", f"{name} {version(node, opsets)}")
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    self.note_nodes(attribute.g, types, opsets)
                else:
                    for word in value_classes(attribute):
                        self.count("attributes", f"{name}.{attribute.name}={word}")


def version(node, opsets):
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(node.domain, 1), node.domain).since_version
    except onnx.defs.SchemaError:
        return 1
