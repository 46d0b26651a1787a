"""The table of recipes: how to draw one use of an operator with unusual attributes. A recipe reads values of the net (or new
inputs, in a model of one operator), adds its nodes and returns nothing; it raises Rejected where a draw does not fit."""

import importlib
from dataclasses import dataclass

RECIPES = []
MODULES = ("recipes_elementwise", "recipes_windows", "recipes_moves", "recipes_sums", "recipes_indices", "recipes_shapes", "recipes_quant",
           "recipes_control", "recipes_recurrent", "recipes_text", "recipes_msft", "recipes_rare", "recipes_patterns", "recipes_deep", "recipes_seldom",
           "recipes_edges", "recipes_digits", "recipes_open", "recipes_corners",
           "recipes_bends")
CONTROL = set("""If Loop Scan SequenceConstruct SequenceAt SplitToSequence LSTM NonZero Compress Unique NonMaxSuppression""".split())
# Operators that networks to be quantised are made of.
QUANTISED = set("""Conv Add Mul Relu Clip LeakyRelu Sigmoid Gemm MatMul MaxPool AveragePool GlobalAveragePool Concat Transpose Reshape
Flatten Pad Resize Softmax Split Gather Squeeze ConvTranspose BatchNormalization Slice Tanh Where ReduceMean""".split())


@dataclass
class Recipe:
    """operators: every operator that the recipe may draw. network: its weight among the nodes of networks (0: never there).
    domain: "" or the operators' domain."""

    draw: object
    operators: tuple
    network: float
    domain: str

    @property
    def quantised(self):
        """Whether networks to be quantised may hold it."""
        return self.network > 0 and not self.domain and bool(set(self.operators) & QUANTISED)

    @property
    def special(self):
        """Whether infinities, NaN and huge numbers have one right answer: each element of the result depends on few others."""
        return self.draw.__module__ in ("recipes_elementwise", "recipes_moves")

    @property
    def inside(self):
        """Whether bodies of control flow may hold it."""
        return self.network > 0 and not self.domain and not set(self.operators) & CONTROL


def recipe(*operators, network=1.0, domain=""):
    def register(function):
        RECIPES.append(Recipe(function, operators, network, domain))
        return function
    return register


def load():
    """Every recipe, in a fixed order."""
    if not RECIPES:
        for module in MODULES:
            importlib.import_module(module)
    return RECIPES


def attributes(draw, **options):
    """Each attribute with one of its values, or left out."""
    chosen = {}
    for name, values in options.items():
        value = draw.pick([None, *values])
        if value is not None:
            chosen[name] = value
    return chosen
