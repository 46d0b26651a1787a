"""How tests/history says what a node of an operator may look like, whatever its version and its element types.

A Form holds inputs and attributes; it stands for a node in each version of its operator that knows all of these attributes and
takes that many inputs. An input is a tuple (extents of random contents), a Draw, a Fixed array, or None where it is left out.
"""

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper

FORMS = {}                                  # (domain, operator) -> list of Form


@dataclass
class Draw:
    """Random contents between two bounds; `kind` names a type where the schema leaves it open, `members`: a sequence of such."""

    shape: tuple
    low: float = -3.0
    high: float = 3.0
    members: int = 0


@dataclass
class Fixed:
    """Contents that decide what is computed. `known`: an initializer; `dtype`: in place of the schema's choice."""

    value: object
    known: bool = True
    dtype: object = None


@dataclass
class Form:
    inputs: list
    attributes: dict
    outputs: int = 1
    since: int = 1
    until: int = 999
    like: object = None                     # (inputs, attributes) -> (opset, inputs, attributes[, operator]): the same, as later versions say it
    types: dict = field(default_factory=dict)
    label: str = ""
    loose: float = 0.0                      # tolerance where the rounding of the operator itself is coarser
    skip: tuple = ()                        # indices of outputs without a name
    opsets: bool = True                     # False: only for the table of types
    text: str = ""                          # why ONNX Runtime is wrong here: the reference evaluator is asked alone
    unsaid: str = ""                        # why nobody says what is right
    hand: object = None                     # inputs -> outputs, as the text says where nobody else follows it


def v(*inputs, out=1, since=1, until=999, like=None, types=None, label="", loose=0.0, skip=(), opsets=True, text="", hand=None, unsaid="",
      **attributes):
    return Form(list(inputs), attributes, out, since, until, like, types or {}, label, loose, skip, opsets, text, unsaid, hand)


def add(names, *forms, domain=""):
    for name in names.split():
        FORMS.setdefault((domain, name), []).extend(forms)


def pos(*shape):
    return Draw(shape, 0.25, 3.0)


def unit(*shape):
    return Draw(shape, -0.9, 0.9)


def between(low, high, *shape):
    return Draw(shape, low, high)


def many(members, *shape):
    return Draw(shape, members=members)


def c(value, dtype=None):
    return Fixed(value, True, dtype)


def g(value, dtype=None):
    return Fixed(value, False, dtype)


TEXT = ["a", "bc", "", "a b", "Ünï", "B"]
NAMES = {TensorProto.DataType.Name(n).lower(): n for n in TensorProto.DataType.values() if n}   # as schemas write them
WORDS = {number: word for word, number in NAMES.items()}
WHOLE = {2, 3, 4, 5, 6, 7, 12, 13, 21, 22, 25, 26}


def draw(random, kind, spec):
    """Contents of one tensor of an element type (ONNX's number): few distinct values that every type holds exactly."""
    if spec.members:
        one = Draw(spec.shape, spec.low, spec.high)
        return [draw(random, kind, one) for _ in range(spec.members)]
    if kind == TensorProto.STRING:
        return np.array(random.choice(TEXT, spec.shape), dtype=object).reshape(spec.shape)
    if kind == TensorProto.BOOL:
        return random.random(spec.shape) < 0.5
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    if kind in (1, 11):
        return np.asarray(random.uniform(spec.low, spec.high, spec.shape), dtype)
    if kind in (14, 15):
        return (random.uniform(spec.low, spec.high, spec.shape) + 1j * random.uniform(-2, 2, spec.shape)).astype(dtype)
    if kind in WHOLE:
        signed = kind in (3, 5, 6, 7, 22, 26)
        most = {22: 7, 21: 15, 25: 3, 26: 1}.get(kind, 9)
        low = max(int(np.floor(spec.low * 2)), -most - 1) if signed else max(int(np.ceil(spec.low)), 0)
        return np.asarray(random.integers(low, max(low + 1, min(int(spec.high * 3), most) + 1), spec.shape)).astype(dtype)
    if kind == NAMES["float8e8m0"]:
        return np.asarray(2.0 ** random.integers(-2, 3, spec.shape)).astype(dtype)
    step = 0.5 if kind in (17, 18, 19, 20, 23) else 0.125
    low, high = (max(spec.low, -2), min(spec.high, 2)) if step == 0.5 else (spec.low, spec.high)
    return np.asarray(np.round(random.uniform(low, high, spec.shape) / step) * step, np.float32).astype(dtype)
