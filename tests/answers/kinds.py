"""Kinds of random models, and how one is drawn from its number. The same (seed, kind, number) gives the same model."""

import argparse
import math
from dataclasses import dataclass

from onnx import helper

import quantise
import recipes
import typed
from draw import Draw
from net import NEWEST, Net, Rejected

TRIES = 40                     # draws of one model before its number is given up


def operator_model(draw, table, aim):
    """One use of one operator, alone. aim: the recipe to take, so that all get their turn."""
    net, recipe = Net(draw, draw_opset(draw), runtime=draw.chance(0.5), single=True), table[aim % len(table)]
    if recipe.special and draw.chance(0.15):
        net.style = "special"
    recipe.draw(net)
    return net


def network(draw, table, aim):
    """Up to twelve nodes over few values, so that they meet: residuals, joins, views, shapes."""
    net = Net(draw, draw_opset(draw, least=9), runtime=draw.chance(0.6), single=False, most=draw.pick([200, 600, 2500]))
    fill(net, [r for r in table if r.network > 0 and not r.domain], draw.randint(2, 12))
    return net


def fill(net, usable, wanted):
    """Recipes by their weights, until the net has so many nodes."""
    failures = 0
    while len(net.nodes) < wanted and failures < 30:
        recipe = net.draw.choices(usable, [r.network for r in usable])[0]
        try:
            keep(net, recipe)
        except Rejected:
            failures += 1


def keep(net, recipe):
    """Apply a recipe; what a rejected one had added is taken back, its finished nodes excepted."""
    before = len(net.inputs)
    try:
        recipe.draw(net)
    except Rejected:
        used = {name for node in net.nodes for name in node.input}
        for value in net.inputs[before:]:
            if value.name not in used:
                net.drop_input(value)
        raise


def draw_opset(draw, least=7):
    return draw.weighted({v: 4 if v in (11, 13, 17, 18, 21) else 1 for v in range(least, NEWEST + 1)})


@dataclass
class Drawn:
    """A model and its sets of inputs. rare: as in batch.Trial. wanted, granted: as there, where not ONNX Runtime alone says it."""

    model: object
    sets: list
    rare: bool = False
    wanted: list = None
    granted: list = None


def grown(kind):
    """A kind whose models are nets as they have grown."""
    def draw_one(draw, table, number):
        net = kind(draw, table, number)
        return Drawn(*net.model(), rare=net.loosely)
    return draw_one


def quantised(draw, table, number):
    """A network that ONNX Runtime's own quantiser has turned into 8 or 16 bits."""
    net = Net(draw, draw.pick([11, 13, 13, 17, 21]), runtime=draw.chance(0.4), single=False, most=draw.pick([200, 600]))
    net.style = "plain"
    fill(net, [r for r in table if r.quantised], draw.randint(2, 9))
    model, sets = net.model()
    if any(may_tie(node) or between(node) for node in model.graph.node):
        raise Rejected("ONNX Runtime's means of bytes round ties either way, its Resize of bytes cuts off: docs/differences.md")
    return Drawn(quantise.quantise(draw, model, sets), sets, rare=True)


def may_tie(node):
    """A mean of an even number of bytes may lie between two."""
    if node.op_type != "AveragePool":
        return False
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return math.prod(given["kernel_shape"]) % 2 == 0 or any(given.get("pads", [])) or "auto_pad" in given or given.get("ceil_mode", 0)


def between(node):
    """A Resize of bytes may make numbers between two."""
    return node.op_type == "Resize" and any(a.name == "mode" and a.s != b"nearest" for a in node.attribute)


def every_type(draw, table, number):
    """Some nodes side by side, in any element type."""
    model, sets, wanted, granted = typed.typed(draw, table, number)
    return Drawn(model, sets, wanted=wanted, granted=granted)


def pipeline(draw, table, number):
    """What scikit-learn's converter writes of a random pipeline; drawn only where KIND asks for it, as it needs packages of its own."""
    import learned
    model, sets, wanted, granted = learned.learned(draw, table, number)
    return Drawn(model, sets, wanted=wanted, granted=granted)


KINDS = {"operator": grown(operator_model), "network": grown(network), "quantised": quantised, "typed": every_type, "pipeline": pipeline}
SHARES = {"operator": 8, "network": 5, "quantised": 1, "typed": 2}


def known(kind):
    """A name of KINDS; behind a colon part of the name of recipes, or of their module, that alone are to be drawn."""
    if kind.partition(":")[0] not in ("", *KINDS) or not chosen_recipes(kind):
        raise argparse.ArgumentTypeError(f"wanted one of {', '.join(KINDS)}, or with :RECIPE")
    return kind


def chosen_recipes(kind):
    part = kind.partition(":")[2]
    return [r for r in recipes.load() if part in f"{r.draw.__module__}.{r.draw.__name__}"]


def draw_model(seed, kind, number):
    """A Drawn, or None where no draw was accepted."""
    table = chosen_recipes(kind)
    for attempt in range(TRIES):
        try:
            return KINDS[kind.partition(":")[0]](Draw(f"{seed}/{kind}/{number}/{attempt}"), table, number)
        except Rejected:
            continue
    return None


def kind_of(number, only):
    """The kind whose turn a number is, and its number within the kind."""
    if only:
        return only, number
    names = [name for name, share in SHARES.items() for _ in range(share)]
    turn, place = divmod(number, len(names))
    kind = names[place]
    return kind, turn * SHARES[kind] + names[:place].count(kind)
