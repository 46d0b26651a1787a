"""Units of test: one node of one version of an operator, with element types chosen."""

import re
import zlib
from dataclasses import dataclass, field

import numpy as np
from onnx import defs, helper

import forms_move   # noqa: F401 each fills FORMS
import forms_nets   # noqa: F401
import forms_plain  # noqa: F401
import forms_rest   # noqa: F401
from form import FORMS, NAMES, WHOLE, Draw, Fixed, draw

PREFERRED = ["tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(uint8)", "tensor(string)", "tensor(int32)"]


@dataclass
class Unit:
    op: str
    domain: str
    version: int
    opset: int
    form: object
    types: dict                              # type variable -> word of the schema
    words: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    known: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    declared: list = field(default_factory=list)   # the outputs' types where the schema ties them to inputs, else None
    name: str = ""
    before: int = 0                          # the opset of the version before, 0: none
    deprecated: bool = False
    who: str = ""
    outputs: list = field(default_factory=list)

    def output_names(self, prefix="o"):
        return ["" if k in self.form.skip else f"{prefix}{k}" for k in range(self.form.outputs)]

    def kept(self):
        return [k for k in range(self.form.outputs) if k not in self.form.skip]


def schemas():
    """(domain, operator) -> its versions, oldest first, of the domains that models use."""
    found = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.ml"):
            found.setdefault((schema.domain, schema.name), []).append(schema)
    return {key: sorted(versions, key=lambda s: s.since_version) for key, versions in sorted(found.items())}


def allowed(schema):
    return {t.type_param_str: list(t.allowed_type_strs) for t in schema.type_constraints}


def default_types(schema, form):
    chosen = {}
    for variable, words in allowed(schema).items():
        asked = form.types.get(variable)
        asked = asked if asked is None or "(" in asked else f"tensor({asked})"
        if asked is not None and asked not in words:
            return None
        chosen[variable] = asked or next((w for w in PREFERRED if w in words), words[0])
    return chosen


def formal(schema, k):
    inputs = schema.inputs
    return inputs[k] if k < len(inputs) else inputs[-1]


def fits(schema, form, version):
    if not form.since <= version <= form.until or not set(form.attributes) <= set(schema.attributes):
        return False
    required = {n for n, a in schema.attributes.items() if a.required}
    return required <= set(form.attributes) and schema.min_input <= len(form.inputs) <= schema.max_input \
        and schema.min_output <= form.outputs <= schema.max_output


def fill(random, word, spec):
    if spec is None:
        return None
    number = NAMES[re.search(r"tensor\((\w+)\)", word)[1]]
    if isinstance(spec, Fixed):
        dtype = spec.dtype if spec.dtype is not None else (object if number == 8 else helper.tensor_dtype_to_np_dtype(number))
        return np.asarray(spec.value, dtype=dtype if dtype == object else None).astype(dtype)
    return draw(random, number, spec if isinstance(spec, Draw) else Draw(spec))


def is_possible(formal_input, types, spec):
    """False: text for a number, or a number for text."""
    text = types.get(formal_input.type_str, formal_input.type_str) == "tensor(string)"
    return not isinstance(spec, Fixed) or text == (np.asarray(spec.value).dtype == object)


# Element types that schemas allow and that have no meaning there, or none that anybody else gets right.
ODD = {"LabelEncoder": "the attributes decide the types", "Imputer": "the attributes decide the types", "SequenceMap": "the body decides the type",
       "If": "the branches decide the type"}

# Nobody says what is right of these: (operator, classes of types).
UNSAID = {"GridSample": (WHOLE, "the reference evaluator gives zeros for whole numbers"),
          "CastLike": ({21, 22, 25, 26}, "tests/own casts to them; the text leaves fractions open"),
          "LRN": ({10, 11, 16}, "the reference evaluator leaves out the last neighbour"),
          "LinearRegressor": ({11}, "the reference evaluator wants intercepts"),
          "SVMRegressor": ({6, 7}, "the reference evaluator cuts the result off"),
          "TreeEnsembleRegressor": ({6, 7}, "the reference evaluator cuts the weights off"),
          "Pad": ({24}, "float8e8m0 has no zero to pad with")}
ROUNDED = {"Resize": (WHOLE, "results are rounded and kept within their type, as the reference does; ONNX Runtime cuts them off"),
           "Gather": ({8}, "ONNX Runtime copies the first string of each row only")}


def note_judge(unit):
    """Who is asked, where ONNX Runtime is wrong about an element type."""
    import copy
    numbers = {NAMES[w[7:-1]] for w in unit.words if w.startswith("tensor(")}
    for table, field_name in ((UNSAID, "unsaid"), (ROUNDED, "text")):
        kinds_of, why = table.get(unit.op, (set(), ""))
        if kinds_of & numbers:
            unit.form = copy.copy(unit.form)
            setattr(unit.form, field_name, why)


def is_odd(schema, form, types, usual):
    """True: this form says nothing about these types."""
    changed = [v for v in types if types[v] != usual[v]]
    small = any("float8" in w or "float4" in w for w in types.values())
    if schema.name in ODD:
        return bool(changed)
    if schema.name == "SequenceInsert":
        return types["S"] != f"seq({types['T']})"
    if schema.name in ("QuantizeLinear", "DequantizeLinear") and small:       # the reference evaluator leaves out their zero points
        return len(form.inputs) > 2 and bool(np.any(form.inputs[2].value)) or types.get("T2") == "tensor(float8e8m0)"
    return False


def all_types(schema, form, usual):
    """Choices of types, one variable away from the usual ones; those that the form ties to another change together."""
    yield usual
    for variable, words in allowed(schema).items():
        for word in words:
            types = dict(usual, **{variable: word})
            if schema.name == "SequenceInsert":
                types = dict(usual, T=word, S=f"seq({word})") if variable == "T" else types
            if "(" in usual[variable][:9] and usual[variable][:4] != word[:4]:
                continue
            yield types


def make(schema, form, types, opset, label):
    unit = Unit(schema.name, schema.domain, schema.since_version, opset, form, types)
    random = np.random.default_rng(zlib.crc32(f"{schema.name} {label}".encode()))
    for k, spec in enumerate(form.inputs):
        word = formal(schema, k).type_str
        word = types.get(word, word)
        unit.words.append(word)
        unit.inputs.append(fill(random, word, spec))
        unit.known.append(isinstance(spec, Fixed) and spec.known and word.startswith("tensor("))
    unit.attributes = {name: value(types) if callable(value) else value for name, value in form.attributes.items()}
    tied = {formal(schema, k).type_str for k in range(len(form.inputs))}
    for k in range(form.outputs):
        word = schema.outputs[min(k, len(schema.outputs) - 1)].type_str
        unit.declared.append(types[word] if word in tied and word in types else word if word.startswith("tensor(") else None)
    unit.name = f"{schema.name}_{schema.since_version}_{label}"
    return unit


def consumed(schema, form):
    """The form again with the attribute that opset 1 had on many operators and that never meant anything."""
    import copy
    more = copy.copy(form)
    more.attributes = dict(form.attributes, consumed_inputs=[0] * len(form.inputs))
    return more


def history():
    """Every version of every operator, in each form that it has."""
    for key, versions in schemas().items():
        for schema in versions:
            before = [s.since_version for s in versions if s.since_version < schema.since_version]
            forms = [f for f in FORMS.get(key, []) if f.opsets and fits(schema, f, schema.since_version)]
            if "consumed_inputs" in schema.attributes and forms and not any("consumed_inputs" in f.attributes for f in forms):
                forms.append(consumed(schema, forms[0]))
            units = [make(schema, f, types, schema.since_version, str(n)) for n, f in enumerate(forms)
                     if (types := default_types(schema, f)) is not None]
            for unit in units:
                unit.before, unit.deprecated = (before or [0])[-1], schema.deprecated
            yield schema, units


def kinds():
    """The newest version of every operator in each element type that its schema allows: one variable away from its usual types,
    or all variables together."""
    for key, versions in schemas().items():
        schema = versions[-1]
        forms = [f for f in FORMS.get(key, []) if fits(schema, f, schema.since_version)]
        units, seen = [], set()
        for n, form in enumerate(forms):
            usual = default_types(schema, form)
            for types in all_types(schema, form, usual) if usual is not None else ():
                used = tuple(types.get(formal(schema, k).type_str) for k in range(len(form.inputs)))
                possible = all(is_possible(formal(schema, k), types, x) for k, x in enumerate(form.inputs))
                if used in seen or not possible or is_odd(schema, form, types, usual):
                    continue
                seen.add(used)
                label = "_".join(re.sub(r"[()]", "_", w) for w in types.values())
                units.append(make(schema, form, types, schema.since_version, f"{n}_{label}"))
                note_judge(units[-1])
                units[-1].before = (versions[-2:-1] or [schema])[0].since_version if len(versions) > 1 else 0
        yield schema, units
