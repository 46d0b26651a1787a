"""Bounds for extents that a model leaves open, taken from stored values and written as --dim flags.

An extent goes by its name where it has one, else by value and axis; a value of unknown rank by its axes, or by `elements`
where stored values differ in rank; a sequence by `count`, text that the model creates by `bytes`, what small integer inputs hold by `values`.
"""

import math


def axis_names(kind, name):
    """Per axis of a tensor type: None where the extent is fixed, else what --dim calls it. None in all: rank unknown."""
    if not kind.HasField("shape"):
        return None
    names = []
    for axis, dim in enumerate(kind.shape.dim):
        fixed = dim.HasField("dim_value") and dim.dim_value >= 0
        names.append(None if fixed else dim.dim_param or f"{name}:{axis}")
    return names


def strip_optional(kind):
    return kind.optional_type.elem_type if kind.HasField("optional_type") else kind


def is_open(kind):
    """True when a caller must say the extents of a value of this type."""
    kind = strip_optional(kind)
    if kind.HasField("sequence_type"):
        return True
    names = axis_names(kind.tensor_type, "")
    return names is None or any(n is not None for n in names)


def note_tensor(found, kind, name, value):
    names = axis_names(kind.tensor_type, name)
    if names is None:
        found.setdefault(f"{name}:shape", []).append(value.shape)
        return
    for axis, extent in zip(names, value.shape):
        if axis is not None:
            found.setdefault(axis, []).append(extent)


def note_value(found, kind, name, value):
    kind = strip_optional(kind)
    if value is None or isinstance(value, dict):
        return
    if isinstance(value, list) and kind.sequence_type.elem_type.HasField("map_type"):
        return                                                          # rows of scores: their number is known
    if not isinstance(value, list):
        note_tensor(found, kind, name, value)
        return
    found.setdefault(f"{name}:count", []).append(len(value))
    for member in value:
        note_value(found, kind.sequence_type.elem_type, name, member)


def text_bytes(value):
    """Bytes of all strings of a value, closing zeros included; 0 where there is no text."""
    if isinstance(value, (list, dict)):
        return sum(text_bytes(v) for v in (value.values() if isinstance(value, dict) else value))
    return len(value.raw) if value is not None and value.dtype == 8 else 0


def split_shapes(found):
    """Replace "value:shape", the stored shapes of a value without a declared rank, by what --dim can say of them."""
    for key in [k for k in found if k.endswith(":shape")]:
        shapes, name = found.pop(key), key.rpartition(":")[0]
        if len({len(shape) for shape in shapes}) == 1 and shapes[0]:
            found.update({f"{name}:{axis}": list(extents) for axis, extents in enumerate(zip(*shapes))})
        else:
            found[f"{name}:elements"] = [math.prod(shape) for shape in shapes]


def print_bounds(found, pin):
    flags = []
    split_shapes(found)
    for name, extents in found.items():
        low, high = min(extents), max(extents)
        flags += ["--dim", f"{name}={high}" if pin and low == high else f"{name}={0 if low == 0 else 1}..{high}"]
    return flags


def input_flags(infos, sets, pin=True):
    """`sets`: per stored set the list of input values. `pin`: fix an extent that is the same in all sets."""
    found = {}
    for values in sets:
        for info, value in zip(infos, values):
            note_value(found, info.type, info.name, value)
    return print_bounds(found, pin)


def contents_flags(infos, sets):
    """Bounds for what small integer inputs hold, from which a model may compute extents."""
    found = {}
    for values in sets:
        for info, value in zip(infos, values):
            small = hasattr(value, "shape") and value.dtype in (6, 7) and math.prod(value.shape) <= 64
            if small and math.prod(value.shape) and value.array().min() >= 0:
                found.setdefault(f"{info.name}:values", []).append(int(value.array().max()))
    return [flag for name, most in found.items() for flag in ("--dim", f"{name}=0..{max(most)}")]


def output_flags(infos, sets, known):
    """Bounds for what a model decides itself: extents of outputs, and text it creates; `known`: flags already given."""
    found = {}
    for values in sets:
        for info, value in zip(infos, values):
            note_value(found, info.type, info.name, value)
            if text_bytes(value):
                found.setdefault(f"{info.name}:bytes", []).append(text_bytes(value))
    split_shapes(found)
    named = {flag.rsplit("=", 1)[0] for flag in known}
    return print_bounds({k: v for k, v in found.items() if k not in named}, False)
