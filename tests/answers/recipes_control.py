"""If, Loop and Scan with random bodies, sequences and optionals."""

import numpy as np
import onnx
from onnx import helper

import draw as d
import oracle
from net import Net, Rejected, Value, names_read, value_type
from recipes import attributes, recipe


class Body:
    """A nested graph that grows like a net: values from outside are read directly, `formal` ones are the body's inputs."""

    def __init__(self, net, formal, outside):
        self.inner = Net(net.draw, net.opset, False, single=False, most=net.most)
        self.inner.count, self.inner.named, self.inner.runtime = net.count, net.named, False
        self.inner.style = "plain"
        self.inner.serial = net.serial + 1000
        self.formal, self.outside = formal, outside
        self.inner.values = formal + outside

    def grow(self, least, most):
        """Some nodes that compute from what is there; new inputs are turned into constants."""
        from kinds import fill
        import recipes
        usable = [r for r in recipes.load() if r.inside]
        fill(self.inner, usable, self.inner.draw.randint(least, most))
        for value in self.inner.inputs:
            if any(a.shape != value.arrays[0].shape for a in value.arrays):
                raise Rejected("a body has no inputs of its own with run-time extents")
            value.arrays, value.constant = [value.arrays[0]] * self.inner.count, True
        self.inner.constants += self.inner.inputs

    def made(self):
        names = {n for node in self.inner.nodes for n in node.output}
        return [v for v in self.inner.values if v.name in names]

    def graph(self, outputs, name):
        from net import tensor_proto
        nodes = list(self.inner.nodes)
        used = {n for node in nodes for n in names_read(node)} | {o.name for o in outputs}
        return helper.make_graph(
            nodes, name, [helper.make_value_info(v.name, formal_type(v)) for v in self.formal],
            [helper.make_value_info(v.name, value_type(v)) for v in outputs],
            [tensor_proto(v.arrays[0], v.dtype, v.name) for v in self.inner.constants if v.name in used])

    def reads(self, graph):
        """The outside values that a finished graph reads."""
        names = {n for node in graph.node for n in names_read(node)} | {o.name for o in graph.output}
        return [v for v in self.outside if v.name in names]

    def changed(self, value):
        """The value after one elementwise operator."""
        if value.dtype != d.FLOAT:
            return value
        operator = self.inner.draw.pick(["Tanh", "Relu", "Add", "Mul"])
        other = [] if operator in ("Tanh", "Relu") else [self.inner.constant(np.float32(self.inner.draw.pick([0.5, 1.5])))]
        return self.inner.node(operator, [value, *other])

    def result(self, like=None, alike=True):
        """A value to hand out: floats, or of the type and rank of `like`. alike: of its extents too."""
        dtype = like.dtype if like else d.FLOAT
        found = [v for v in self.made() + self.formal + self.outside if v.is_tensor and v.dtype == dtype and
                 (like is None or v.rank == like.rank) and
                 (like is None or not alike or [a.shape for a in v.arrays] == [a.shape for a in like.arrays])]
        if not found:
            raise Rejected("the body makes nothing that fits")
        recent = [v for v in found if v in self.made()] or [self.changed(found[0])]
        value = self.inner.draw.pick(recent)
        name = self.inner.fresh("r")
        self.inner.nodes.append(helper.make_node("Identity", [value.name], [name]))
        return Value(name, value.dtype, value.arrays)


def formal_type(value):
    """Scalars say so: a Loop's number and condition must."""
    scalar = value.is_tensor and value.rank == 0
    return helper.make_tensor_type_proto(value.dtype, []) if scalar else value_type(value)


def finish(net, protos, reads, results, ranks=()):
    """Adds a control node; its bodies' names stay theirs. ranks: of its last results, which ONNX Runtime gives another rank where no
    iteration makes them and it does not know their extents (docs/differences.md)."""
    net.serial += 5000
    return net.add(protos, reads, results, ranks)


def live(net, count):
    """Outside values that bodies may read, at least one of floats."""
    first = net.some((d.FLOAT,), rank=(1, 3))
    others = [v for v in net.values if v.is_tensor and v is not first and v.dtype in (d.FLOAT, d.INT64)]
    return [first] + net.draw.sample(others, min(len(others), count))


def condition(net, varying=True):
    """A boolean scalar, another one in each set of inputs."""
    arrays = [np.array(net.draw.chance(0.5)) for _ in range(net.count)]
    if not varying or net.draw.chance(0.15):
        return net.constant(arrays[0])
    return net.input(d.BOOL, [], arrays=arrays)


@recipe("If", network=0.6)
def branches(net):
    """Two branches whose results may differ in extents."""
    outside = live(net, 2)
    graphs, reads = [], []
    count = net.draw.pick([1, 1, 2])
    results = None
    for name in ("then", "else"):
        net.serial += 1000
        body = Body(net, [], outside)
        body.grow(1, 3)
        chosen = []
        for i in range(count):
            like = results[i] if results else None
            chosen.append(body.result(like, alike=net.draw.chance(0.6)))
        results = results or chosen
        graphs.append(body.graph(chosen, name))
        reads += body.reads(graphs[-1])
    test = condition(net)
    names = [net.fresh() for _ in range(count)]
    proto = helper.make_node("If", [test.name], names, then_branch=graphs[0], else_branch=graphs[1])
    finish(net, [proto], [test, *unique(reads)], names)


def unique(values):
    return list({v.name: v for v in values}.values())


@recipe("Loop", network=0.4)
def loop(net):
    """Carried values, results of every iteration, a trip count and a condition that may end it early."""
    draw = net.draw
    outside = live(net, 1)
    carried = [outside[0]] + ([net.constant(np.float32(1.0).reshape(()))] if draw.chance(0.3) else [])
    if net.single is False and outside[0].rank == 0:
        raise Rejected("a scalar")
    net.serial += 1000
    step = Value(net.fresh("i"), d.INT64, [np.array(0)] * net.count)
    go = Value(net.fresh("b"), d.BOOL, [np.array(True)] * net.count)
    formal = [step, go] + [Value(net.fresh("s"), v.dtype, v.arrays, noisy=True) for v in carried]
    body = Body(net, formal, outside)
    body.inner.values = formal[2:] + outside
    body.grow(1, 3)
    scans = [body.result() for _ in range(draw.pick([0, 1, 1]))]
    back = [body.result(v) for v in formal[2:]]
    keep_on = Value(body.inner.fresh("g"), d.BOOL, go.arrays)
    early = draw.chance(0.4)
    if early:
        limit = body.inner.constant(np.array(draw.randint(0, 3)))
        body.inner.nodes.append(helper.make_node("Less", [step.name, limit.name], [keep_on.name]))
    else:
        body.inner.nodes.append(helper.make_node("Identity", [go.name], [keep_on.name]))
    graph = body.graph([keep_on, *back, *scans], "body")
    trips = [np.array(draw.randint(0 if draw.chance(0.2) else 1, 4)) for _ in range(net.count)]
    trip = net.constant(trips[0]) if draw.chance(0.4) else net.input(d.INT64, [], arrays=trips)
    first = net.constant(np.array(True)) if draw.chance(0.7) else None
    names = [net.fresh() for _ in range(len(back) + len(scans))]
    proto = helper.make_node("Loop", [trip.name, first.name if first else "", *(v.name for v in carried)], names, body=graph)
    finish(net, [proto], unique([trip] + ([first] if first else []) + carried + body.reads(graph)), names, [s.rank + 1 for s in scans])


@recipe("Scan", network=0.4)
def scan(net):
    draw = net.draw
    net.version("Scan") if net.opset >= 9 else net.version("no older Scan")
    x = net.some((d.FLOAT,), rank=(2, 3))
    axis = draw.randrange(x.rank)
    slices = Value(net.fresh("e"), d.FLOAT, [np.take(a, 0, axis) if a.shape[axis] else None for a in x.arrays])
    if any(a is None for a in slices.arrays):
        raise Rejected("nothing to scan")
    start = net.partner(slices) if draw.chance(0.7) else None
    if start is not None and [a.shape for a in start.arrays] != [a.shape for a in slices.arrays]:
        start = None
    net.serial += 1000
    formal = ([Value(net.fresh("s"), d.FLOAT, start.arrays)] if start is not None else []) + [slices]
    body = Body(net, formal, [])
    body.grow(1, 3)
    back = [body.result(formal[0])] if start is not None else []
    outs = [body.result() for _ in range(draw.pick([1, 1, 2]))]
    graph = body.graph([*back, *outs], "body")
    names = [net.fresh() for _ in range(len(back) + len(outs))]
    chosen = {"num_scan_inputs": 1, "scan_input_axes": [axis]} | attributes(draw, scan_input_directions=[[0], [1]],
                                                                         scan_output_directions=[[0] * len(outs), [1] * len(outs)])
    proto = helper.make_node("Scan", ([start.name] if start is not None else []) + [x.name], names, body=graph, **chosen)
    finish(net, [proto], unique(([start] if start is not None else []) + [x]), names)


# -- sequences and optionals --------------------------------------------------------------------------------------------

def sequences(net):
    return [v for v in net.values if v.is_sequence]


@recipe("SequenceConstruct", "SplitToSequence", "SequenceEmpty", network=0.5)
def make_sequence(net):
    draw = net.draw
    if draw.chance(0.5):
        x = net.some((d.FLOAT, d.INT64), rank=(0, 3))
        others = [v for v in net.values if v.is_tensor and v.dtype == x.dtype]
        net.version("SequenceConstruct")
        net.node("SequenceConstruct", [x] + [draw.pick(others) for _ in range(draw.randint(0, 2))])
        return
    net.version("SplitToSequence")
    x = net.some((d.FLOAT,), rank=(1, 3))
    axis = draw.randrange(x.rank)
    extent = x.fixed(axis)
    if draw.chance(0.4) or not extent:
        net.node("SplitToSequence", [x], axis=axis, **attributes(draw, keepdims=[0, 1]))
    elif draw.chance(0.5): # where the parts are said, ONNX ignores keepdims
        net.node("SplitToSequence", [x, net.constant(np.array(draw.randint(1, extent)))], axis=axis)
    else:
        cut = draw.randint(0, extent)
        net.node("SplitToSequence", [x, net.constant(np.array([cut, extent - cut]))], axis=axis)


@recipe("SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", "ConcatFromSequence", network=0.8)
def use_sequence(net):
    draw = net.draw
    if not sequences(net) or net.single:
        make_sequence(net)
    value = draw.pick(sequences(net))
    operator = draw.pick(["SequenceAt", "SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", "ConcatFromSequence"])
    shortest = min(len(a) for a in value.arrays)
    place = net.constant(np.array(draw.randint(-shortest, max(0, shortest - 1))))
    if operator == "SequenceInsert":
        x = net.some((value.dtype,), rank=(0, 3))
        net.node(operator, [value, x] + ([place] if draw.chance(0.6) else []))
    elif operator in ("SequenceAt", "SequenceErase"):
        if shortest == 0:
            raise Rejected("an empty sequence")
        net.node(operator, [value, place] if operator == "SequenceAt" or draw.chance(0.6) else [value])
    elif operator == "SequenceLength":
        net.node(operator, [value])
    else:
        if any(a.size == 0 for sequence in value.arrays for a in sequence):
            raise Rejected("a member without elements: docs/differences.md")
        net.node(operator, [value], axis=draw.randint(0, 2), **attributes(draw, new_axis=[0, 1]))
