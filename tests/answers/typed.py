"""Random models of every element type and version: nodes of the forms of tests/history, in any type that their schemas allow, contents drawn
anew, extents drawn or known only at run time. What is right is said as tests/history says it, since ONNX Runtime lacks many types."""

import copy
import functools
import importlib.util
import os
import random
import sys

import numpy as np
import onnx
from onnx import helper

import batch
import seen
from net import Rejected

HERE = os.path.dirname(os.path.abspath(__file__))
HISTORY = os.path.join(HERE, "..", "history")
NODES = 4                           # nodes of one model; they share nothing
FIRST_TURNS = 2
EMPTY = 0.08                        # of the choices of extents make tensors without elements
ROUNDED = {"CastLike": "round_mode"}          # the reference evaluator leaves the attribute out
REFUSED = ("complex128", "float6")  # exit 3, all of them: docs/types.md
OLDEST = 7
# ONNX Runtime does not hold their extents against each other, their attributes and constants; Resize's scales may make fractions of
# an extent, where it differs from the text (docs/differences.md).
BOUND = {"AffineGrid", "FeatureVectorizer", "GatherND", "Resize", "RotaryEmbedding"}
# Never without elements: ONNX Runtime differs there (docs/differences.md), or a condition would be longer than its axis. Nor is ai.onnx.ml,
# whose constants would not fit the features.
WHOLE = {"Compress", "DynamicQuantizeLinear"}
PRODUCTS = {"ReduceProd", "CumProd"}            # of whole numbers: beyond the type nobody says what is right
OPEN = {"NonZero", "Unique", "Compress", "NonMaxSuppression", "StringSplit", "SequenceMap"}


@functools.cache
def history():
    """The modules units, form and oracle of tests/history; the last one shares its name with one here."""
    sys.path.append(HISTORY)
    import form
    import units
    spec = importlib.util.spec_from_file_location("history_oracle", os.path.join(HISTORY, "oracle.py"))
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    return units, form, oracle


@functools.cache
def groups():
    """Lists of units that one model can hold: those of one opset and domain."""
    found, units = {}, history()[0]
    for _, members in [*units.kinds(), *units.history()]:
        for unit in members:
            if (unit.opset >= OLDEST or unit.domain) and ROUNDED.get(unit.op) not in unit.attributes and not any(word in text for text in [*unit.words, *unit.types.values()] if text for word in REFUSED):
                found.setdefault((unit.domain, unit.opset), []).append(unit)
    return found


def newest():
    """{(domain, operator): its newest version with a form}."""
    found = {}
    for members in groups().values():
        for unit in members:
            found[(unit.domain, unit.op)] = max(unit.version, found.get((unit.domain, unit.op), 0))
    return found


def features(unit, is_newest):
    """What a unit brings: values of attributes in classes; of the newest version a type of each variable."""
    named = {(name, word) for name, value in unit.attributes.items() if not isinstance(value, onnx.GraphProto)
             for word in seen.value_classes(helper.make_attribute(name, value))}
    return {(unit.domain, unit.op, *pair) for pair in {*(unit.types.items() if is_newest else ()), *named}}


def first_of_each():
    """groups() with those units alone that bring what no unit before them has; the newest first."""
    versions, claimed, found = newest(), set(), {}
    for key, members in sorted(groups().items(), reverse=True):
        for unit in members:
            brought = features(unit, unit.version == versions[(unit.domain, unit.op)])
            if not brought <= claimed:
                claimed |= brought
                found.setdefault(key, []).append(unit)
    return found


@functools.lru_cache(4)
def rounds(turn):
    """Lists of at most NODES units, in another order each turn. The first turns hold each type of each variable and each class of
    each attribute's values once, so that all are met soon, also where one that is refused takes its neighbours along; later ones every unit."""
    order, lists = random.Random(turn), []
    for _, members in sorted((first_of_each() if turn < FIRST_TURNS else groups()).items()):
        members = members[:]
        order.shuffle(members)
        lists += [members[i:i + NODES] for i in range(0, len(members), NODES)]
    order.shuffle(lists)
    return lists


def chosen_units(number):
    """The list whose turn a number is."""
    first = len(rounds(0))
    if number < FIRST_TURNS * first:
        turn, place = divmod(number, first)
    else:
        turn, place = divmod(number - FIRST_TURNS * first, len(rounds(FIRST_TURNS)))
        turn += FIRST_TURNS
    return rounds(turn)[place]


def grown(spec, extents):
    """A form's input with its extents exchanged."""
    if isinstance(spec, tuple):
        return tuple(extents.get(n, n) for n in spec)
    if hasattr(spec, "shape"):
        spec = copy.copy(spec)
        spec.shape = tuple(extents.get(n, n) for n in spec.shape)
    return spec


def drawn_extents(draw, unit):
    """Another extent for some of those that a form names; none is smaller, since its indices stay, but for one that is nothing now and then."""
    if unit.op in BOUND:
        return {}
    shapes = [s if isinstance(s, tuple) else getattr(s, "shape", ()) for s in unit.form.inputs if s is not None]
    named = sorted({n for shape in shapes for n in shape if n > 1})
    if named and unit.op not in WHOLE and not unit.domain and draw.chance(EMPTY):
        return {draw.pick(named): 0}
    return {n: n + draw.randint(0, 6) for n in named if draw.chance(0.7)}


def filled(draw, unit, extents):
    """The unit with other contents, and what its node must give; Rejected where nobody says."""
    units, _, oracle = history()
    unit = copy.copy(unit)
    generator = draw.numpy()
    unit.inputs = [units.fill(generator, word, grown(spec, extents)) for word, spec in zip(unit.words, unit.form.inputs)]
    if unit.op in PRODUCTS and unit.inputs[0].dtype.kind in "iu":
        small = np.ones_like(unit.inputs[0])
        small.reshape(-1)[:2] = (3, 5)[:small.size]
        unit.inputs[0] = small
    unit.who, unit.outputs = oracle.wanted(unit)
    if not unit.who:
        raise Rejected("nobody says what is right")
    if extents and not unit.who.startswith("ONNX Runtime"):
        raise Rejected("the reference takes what is no model")
    return unit


def settings(draw, unit, count, runtime):
    """The unit at each setting of its extents, which differ where `runtime`."""
    for _ in range(3):
        extents = drawn_extents(draw, unit) if draw.chance(0.7) else {}
        try:
            return [filled(draw, unit, drawn_extents(draw, unit) if runtime and i else extents) for i in range(count)]
        except Rejected:
            continue
    return [filled(draw, unit, {}) for _ in range(count)]


def info(word, name, values):
    """An input's type: an extent that differs between the settings has a name."""
    form = history()[1]
    if word.startswith("optional("):
        inner = info(word[9:-1], name, values)
        return helper.make_value_info(name, helper.make_optional_type_proto(inner.type))
    if word.startswith("seq("):
        return helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(
            form.NAMES[word[11:-2]], [None] * values[0][0].ndim if values[0] else None)))
    dims = [sizes[0] if len(set(sizes)) == 1 else f"{name}_{axis}" for axis, sizes in enumerate(zip(*(v.shape for v in values)))]
    return helper.make_tensor_value_info(name, form.NAMES[word[7:-1]], dims)


def output_info(word, name, value):
    form = history()[1]
    if word.startswith("optional("):
        kind = helper.make_optional_type_proto(output_info(word[9:-1], name, None).type)
    elif word.startswith("seq("):
        kind = helper.make_sequence_type_proto(output_info(word[4:-1], name, None).type)
    else:
        kind = helper.make_tensor_type_proto(form.NAMES[word[7:-1]], [None] * value.ndim if value is not None else None)
    return helper.make_value_info(name, kind)


def same_names(infos, columns):
    """Run-time extents that are equal at every setting share a name."""
    names = {}
    for made, values in zip(infos, columns):
        if not made.type.HasField("tensor_type"):
            continue
        for axis, dim in enumerate(made.type.tensor_type.shape.dim):
            if dim.dim_param:
                dim.dim_param = names.setdefault(tuple(v.shape[axis] for v in values), dim.dim_param)


class Parts:
    """A model of nodes that share nothing."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.held = [], [], [], []
        self.columns, self.wanted = [], []          # per input and output its value at each setting

    def add(self, prefix, held):
        """held: a unit at each setting."""
        form, oracle, unit = history()[1], history()[2], held[0]
        names = [f"{prefix}i{k}" if x is not None else "" for k, x in enumerate(unit.inputs)]
        self.nodes.append(helper.make_node(unit.op, names, unit.output_names(prefix + "o"), domain=unit.domain, **unit.attributes))
        for k, (name, word, known) in enumerate(zip(names, unit.words, unit.known)):
            values = [h.inputs[k] for h in held]
            if name and known:
                self.held.append(oracle.contents(name, form.NAMES[word[7:-1]], values[0]))
            elif name:
                self.inputs.append(info(word, name, values))
                self.columns.append(values)
        for place, k in enumerate(unit.kept()):
            word = unit.outputs[place][0]
            self.outputs.append(output_info(word, f"{prefix}o{k}", unit.outputs[place][1]))
            self.wanted.append([h.outputs[place][1] for h in held])

    def model(self, unit):
        same_names(self.inputs, self.columns)
        graph = helper.make_graph(self.nodes, "typed", self.inputs, self.outputs, self.held)
        opsets = [helper.make_opsetid("", 20 if unit.domain else unit.opset)] + ([helper.make_opsetid(unit.domain, unit.opset)] if unit.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=10 if unit.opset < 25 else onnx.IR_VERSION)


def granted(unit, word, value):
    """The absolute error: of types of few digits two units in the last place, of what may be a sum of larger terms."""
    if isinstance(value, list):
        return max([granted(unit, word, v) for v in value], default=0.0)
    if value is None or value.dtype.kind in "OSU":
        return 0.0
    words = " ".join([*unit.words, word])
    relative = 2.0 ** -6 if "bfloat16" in words else 2.0 ** -9 if "float8" in words or "float4" in words or "float16" in words else 1e-4
    if unit.form.loose:
        relative = max(relative, unit.form.loose)
    wide = np.abs(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))
    return float(relative * (0.5 + wide[np.isfinite(wide)].max(initial=0.0)))


def typed(draw, table, number):
    """(model, sets, wanted outputs, granted errors)."""
    runtime = draw.chance(0.4)
    count, parts, chosen = 3 if runtime else 2, Parts(), []
    for n, unit in enumerate(chosen_units(number)):
        try:
            held = settings(draw, unit, count, runtime and unit.op not in OPEN)
        except Rejected:
            continue
        types = [[w for w, _ in h.outputs] for h in held]
        if any(t != types[0] for t in types):
            continue
        parts.add(f"u{n}_", held)
        chosen.append(held)
    if not chosen:
        raise Rejected("nobody says what is right")
    sets = [[column[i] for column in parts.columns] for i in range(count)]
    wanted = [[batch.tensor(column[i]) for column in parts.wanted] for i in range(count)]
    errors = [[granted(h[i], w, v) for h in chosen for w, v in h[i].outputs] for i in range(count)]
    return parts.model(chosen[0][0]), sets, wanted, errors

