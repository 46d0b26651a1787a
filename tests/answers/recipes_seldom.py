"""Forms and attributes that other recipes seldom or never draw: what the list of docs/answers.md said was never reached."""

import numpy as np
from onnx import TensorProto, helper

import draw as d
from net import Rejected, Value
from recipes import attributes, recipe
from recipes_control import Body, finish
from recipes_text import POST, WORDS, learning, table


def only_opset(net, opset):
    """The model takes this opset; it must be new."""
    if net.nodes:
        raise Rejected("the opset is settled")
    net.opset = net.opsets[""] = opset


# -- control and sequences -------------------------------------------------------------------------------------------------

@recipe("Scan", network=0)
def old_scan(net):
    """Scan of opset 8: a batch before the scanned axis, lengths perhaps."""
    draw = net.draw
    only_opset(net, 8)
    batch, length = net.extent(3), net.extent(5)
    x = net.input(d.FLOAT, [batch, length, *net.shape(draw.randint(0, 2), 4)])
    if any(not a.size for a in x.arrays) or any(isinstance(n, str) for n in x.dims[2:]):
        raise Rejected("nothing to scan, or what ONNX Runtime wants to know of its body")
    slices = Value(net.fresh("e"), d.FLOAT, [a[0, 0] for a in x.arrays])
    start = net.input(d.FLOAT, [batch, *x.dims[2:]]) if draw.chance(0.7) else None
    net.serial += 1000
    formal = ([Value(net.fresh("s"), d.FLOAT, [a[0] for a in start.arrays])] if start else []) + [slices]
    body = Body(net, formal, [])
    body.grow(1, 2)
    back = [body.result(formal[0])] if start else []
    made = [*back, body.result()]
    graph = body.graph(made, "body")
    for info, value in zip(graph.output, made):        # ONNX Runtime wants to know
        info.CopyFrom(helper.make_tensor_value_info(value.name, value.dtype, value.arrays[0].shape))
    names = [net.fresh() for _ in made]
    proto = helper.make_node("Scan", ["", *([start.name] if start else []), x.name], names, body=graph, num_scan_inputs=1,
                             **attributes(draw, directions=[[0], [1]]))
    finish(net, [proto], [*([start] if start else []), x], names)


@recipe("SequenceLength", "SequenceAt", "ConcatFromSequence", "SequenceErase", network=0)
def given_sequence(net):
    """A sequence that the caller gives, of another length each time."""
    draw = net.draw
    net.newer("SequenceLength")
    rank, dtype = draw.randint(1, 2), draw.pick([d.FLOAT, d.INT64])
    dims = [draw.randint(1, 4) for _ in range(rank)]
    arrays = [[draw.array(dtype, dims) for _ in range(draw.randint(1, 4))] for _ in range(net.count)]
    x = net.sequence_input(dtype, arrays, rank)
    operator = draw.pick(["SequenceLength", "SequenceLength", "SequenceAt", "ConcatFromSequence", "SequenceErase"])
    if operator in ("SequenceAt", "SequenceErase"):
        net.node(operator, [x, net.constant(np.array(draw.pick([0, -1]), np.int64))])
    else:
        net.node(operator, [x], **(attributes(draw, new_axis=[0, 1]) | {"axis": 0} if operator == "ConcatFromSequence" else {}))


@recipe("Loop", "Optional", "OptionalHasElement", "OptionalGetElement", network=0)
def filled_list(net):
    """A Loop that carries a list which is absent at first and filled by its iterations: what exporters write of a cache."""
    draw = net.draw
    net.newer("Optional")
    if net.opset < 16:
        only_opset(net, 16)
    x = net.input(d.FLOAT, [draw.randint(1, 4)])
    trips = net.constant(np.array(draw.randint(1, 4), np.int64))
    of_list = helper.make_sequence_type_proto(helper.make_tensor_type_proto(d.FLOAT, None))
    optional = helper.make_optional_type_proto(of_list)
    empty, names = net.fresh(), [net.fresh(), net.fresh()]

    def branch(nodes, name):
        return helper.make_graph(nodes, name, [], [helper.make_value_info("l" + name, of_list)])
    then = branch([helper.make_node("OptionalGetElement", ["p"], ["lthen"])], "then")
    other = branch([helper.make_node("SequenceEmpty", [], ["lelse"], dtype=1)], "else")
    inner = [helper.make_node("OptionalHasElement", ["p"], ["h"]), helper.make_node("If", ["h"], ["q"], then_branch=then, else_branch=other),
             helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), helper.make_node(draw.pick(["Add", "Mul"]), [x.name, "f"], ["e"]),
             helper.make_node("SequenceInsert", ["q", "e"], ["r"]), helper.make_node("Identity", ["g"], ["k"])]
    body = helper.make_graph(inner, "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("g", TensorProto.BOOL, []),
                                             helper.make_value_info("p", optional)],
                             [helper.make_tensor_value_info("k", TensorProto.BOOL, []), helper.make_value_info("r", of_list)])
    nodes = [helper.make_node("Optional", [], [empty], type=of_list), helper.make_node("Loop", [trips.name, "", empty], [names[0]], body=body),
             helper.make_node("ConcatFromSequence", [names[0]], [names[1]], axis=0)]
    net.add(nodes, [x, trips], names)


# -- elements and axes -----------------------------------------------------------------------------------------------------

@recipe("TopK", network=0)
def unsorted(net):
    """TopK in any order, put in order by another one: what is chosen is compared, not where it stands."""
    draw = net.draw
    if net.opset < 11:
        only_opset(net, draw.pick([11, 13, 24]))
    x = net.some((d.FLOAT, d.DOUBLE, d.INT32, d.INT64), rank=(1, 3), exact=True)
    axis = draw.randrange(x.rank)
    k = net.constant(np.array([draw.randint(1, max(1, min(x.extents(axis))))], np.int64))
    names = [net.fresh() for _ in range(4)]
    net.add([helper.make_node("TopK", [x.name, k.name], names[:2], axis=axis, sorted=0, **attributes(draw, largest=[0, 1])),
             helper.make_node("TopK", [names[0], k.name], names[2:], axis=axis, sorted=1)], [x, k], names[2:3])


@recipe("ReduceSum", "ReduceMax", "ReduceMean", "ReduceProd", "ReduceL2", network=0)
def chosen_axes(net):
    """A reduction over axes that an input says."""
    draw = net.draw
    operator = draw.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"])
    if net.opset < 18:
        only_opset(net, draw.pick([18, 20, 25]))
    x = net.some((d.FLOAT, d.FLOAT, d.INT32, d.HALF) if operator not in ("ReduceProd",) else (d.FLOAT,), rank=(1, 4), most=5)
    if any(not a.size for a in x.arrays):
        raise Rejected("nothing to reduce")
    count = draw.randint(1, x.rank)
    axes = net.input(d.INT64, [count], arrays=[np.array(draw.sample(range(x.rank), count)) - (x.rank if draw.chance(0.3) else 0) for _ in range(net.count)])
    net.node(operator, [x, axes], keepdims=1)


@recipe("Sum", "Mean", "Max", "Min", network=0)
def many_operands(net):
    """More operands than one loop reads."""
    draw = net.draw
    x = net.some((d.FLOAT, d.DOUBLE, d.HALF), rank=(0, 3))
    others = [net.partner(x) for _ in range(draw.randint(5, 11))]
    net.node(draw.pick(["Sum", "Mean", "Max", "Min"]), [x, *others])


@recipe("CastLike", "Cast", network=0)
def cast_to_few_bits(net):
    """To eight bits and back, with what says how they are rounded."""
    draw = net.draw
    if net.opset < 19:
        only_opset(net, draw.pick([19, 21, 23, 25]))
    x = net.some((d.FLOAT, d.HALF), rank=(0, 3), exact=True)
    to = draw.pick([TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ, TensorProto.INT8, d.FLOAT])
    if to == TensorProto.INT8 and any(np.abs(np.nan_to_num(a.astype(np.float64), nan=999)).max(initial=0) > 99 for a in x.arrays):
        raise Rejected("no number of that type")
    few, name = net.fresh(), net.fresh()
    given = attributes(draw, saturate=[0, 1]) | (attributes(draw, round_mode=["up", "down", "nearest"]) if net.opset >= 25 else {})
    if draw.chance(0.5):
        like = net.fresh("c")
        first = [helper.make_node("Cast", [x.name], [like + "s"], to=to), helper.make_node("CastLike", [x.name, like + "s"], [few], **given)]
    else:
        first = [helper.make_node("Cast", [x.name], [few], to=to, **given)]
    net.add([*first, helper.make_node("Cast", [few], [name], to=TensorProto.FLOAT)], [x], [name])


@recipe("Cast", network=0.7)
def cut(net):
    """Floats cut to whole numbers, or to yes and no, and back."""
    draw = net.draw
    x = net.some((d.FLOAT,) if not net.single else (d.FLOAT, d.DOUBLE, d.HALF), exact=True)
    to = draw.pick([d.INT8, d.UINT8, d.INT8, d.UINT8, d.INT16, d.INT32, d.INT64, d.BOOL])
    if to != d.BOOL and any(not (np.abs(a) < 100).all() for a in x.arrays):
        raise Rejected("no number of that type")
    x = net.node("Abs", [x]) if to == d.UINT8 else x
    whole = net.node("Cast", [x], to=to)
    net.node("Cast", [whole], to=draw.pick([d.FLOAT, d.FLOAT, x.dtype, d.INT32]))


@recipe("Cast", "Equal", network=0)
def text_and_numbers(net):
    """Numbers as text, text as numbers, texts compared."""
    draw = net.draw
    if net.opset < 9:
        only_opset(net, draw.pick([9, 13, 19]))
    kind = draw.pick(["read", "write", "equal"])
    if kind == "equal":
        if net.opset < 19:
            only_opset(net, draw.pick([19, 22]))
        x = net.input(d.STRING, net.shape(draw.randint(0, 2), 5))
        net.node("Equal", [x, net.partner(x)])
    elif kind == "write":
        x = net.input(draw.pick([d.FLOAT, d.DOUBLE, d.INT32, d.INT64, d.UINT8, d.BOOL, d.INT8]), net.shape(draw.randint(0, 2), 5))
        net.node("Cast", [x], to=d.STRING)
    else:
        to = draw.pick([d.FLOAT, d.DOUBLE, d.INT32, d.INT64, d.UINT8])
        words = ["0", "1", "12", "007"] + (["-3", "+4"] if to != d.UINT8 else []) + (["2.5", "-1e3", ".5", "1e-3", "NaN", "INF", "-INF"] if to in d.FLOATS else [])
        dims = net.shape(draw.randint(0, 2), 5)
        arrays = [np.array([draw.pick(words) for _ in range(int(np.prod(s)))], object).reshape(s) for s in net.settle(dims)]
        net.node("Cast", [net.input(d.STRING, dims, arrays=arrays)], to=to)


# -- ai.onnx.ml --------------------------------------------------------------------------------------------------------------

@recipe("LabelEncoder", network=0, domain="ai.onnx.ml")
def label_tensors(net):
    """LabelEncoder of version 4: keys and values as tensors of any of its types."""
    draw = net.draw
    types = {d.STRING: WORDS, d.INT64: range(-3, 6), d.FLOAT: (0.0, 1.0, 2.0, -1.0, 0.5), d.DOUBLE: (0.0, 1.0, 2.0, -1.0, 0.25), d.INT16: range(-2, 7)}
    source, target = draw.pick([d.STRING, d.INT64, d.FLOAT, d.DOUBLE]), draw.pick(types)
    count = draw.randint(1, 4)

    def tensor(kind, values):
        values = [v.encode() for v in values] if kind == d.STRING else list(values)
        return helper.make_tensor("t", kind, [len(values)], values)
    keys, values = draw.sample(list(types[source]), count), draw.choices(list(types[target]), k=count)
    x = net.input(source, net.shape(draw.randint(0, 2), 4), style="small")
    net.newer("Identity")
    learning(net, "LabelEncoder", [x], version=4, keys_tensor=tensor(source, keys), values_tensor=tensor(target, values),
             default_tensor=tensor(target, [types[target][0]]))


@recipe("SVMClassifier", network=0, domain="ai.onnx.ml")
def linear_machine(net):
    """A machine without support vectors: coefficients of each class."""
    draw, columns, classes = net.draw, net.draw.randint(1, 4), net.draw.randint(2, 4)
    coefficients = [round(draw.uniform(-2, 2), 2) for _ in range(classes * columns)]
    if draw.chance(0.3):
        coefficients = [abs(v) for v in coefficients]
    names = {"classlabels_ints": draw.sample(range(10), classes)} if draw.chance(0.5) else {"classlabels_strings": draw.sample(WORDS, classes)}
    learning(net, "SVMClassifier", [table(net, columns)], outputs=2, coefficients=coefficients, rho=[round(draw.uniform(-1, 1), 2)],
             kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], post_transform=draw.pick(POST[:-1]), **names)


def as_tensor(kind, values):
    return helper.make_tensor("t", kind, [len(values)], values)


@recipe("TreeEnsembleRegressor", "TreeEnsembleClassifier", network=0, domain="ai.onnx.ml")
def trees_of_doubles(net):
    """The forms whose numbers are tensors, for features in double."""
    from recipes_text import grow_tree, labels, numbers
    draw, columns, targets, classifier = net.draw, net.draw.randint(1, 4), net.draw.randint(1, 3), net.draw.chance(0.4)
    targets = 3 if classifier else targets              # of two classes ONNX Runtime gives numbers for labels: docs/differences.md
    nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(draw.randint(1, 3)):
        grow_tree(draw, tree, columns, targets, draw.pick(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]), nodes, leaves)
    side = "class" if classifier else "target"
    chosen = {f"nodes_{k}": v for k, v in nodes.items() if k != "values"} | {f"{side}_{k}": v for k, v in leaves.items() if k != "weights"}
    chosen |= {"nodes_values_as_tensor": as_tensor(d.DOUBLE, nodes["values"]), f"{side}_weights_as_tensor": as_tensor(d.DOUBLE, leaves["weights"])}
    if draw.chance(0.5):
        chosen["nodes_hitrates_as_tensor"] = as_tensor(d.DOUBLE, [1.0] * len(nodes["values"]))
    if targets == 1 and draw.chance(0.5):               # where no leaf names a target ONNX Runtime leaves them out
        chosen["base_values_as_tensor"] = as_tensor(d.DOUBLE, numbers(draw, targets))
    x = table(net, columns, (d.DOUBLE,))
    if classifier:
        learning(net, "TreeEnsembleClassifier", [x], outputs=2, **chosen, **labels(draw, targets))
    else:
        learning(net, "TreeEnsembleRegressor", [x], n_targets=targets, **chosen, **attributes(draw, aggregate_function=["SUM", "AVERAGE", "MIN", "MAX"]))


LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)


@recipe("TreeEnsemble", network=0, domain="ai.onnx.ml")
def forest(net):
    """The newest form of trees: leaves beside the nodes, tests of membership."""
    draw, columns, targets = net.draw, net.draw.randint(1, 4), net.draw.randint(1, 3)
    dtype = draw.pick([d.FLOAT, d.FLOAT, d.DOUBLE])
    grower = Forest(draw, columns, targets)
    roots = [grower.tree() for _ in range(draw.randint(1, 4))]
    columns_of = grower.columns()
    splits, members = as_tensor(dtype, columns_of.pop("splits")), grower.members
    chosen = {"nodes_" + k: v for k, v in columns_of.items()} | {"nodes_splits": splits, "nodes_modes": as_tensor(d.UINT8, grower.modes()),
              "leaf_targetids": [t for t, _ in grower.leaves], "leaf_weights": as_tensor(dtype, [w for _, w in grower.leaves])}
    if members:
        chosen["membership_values"] = as_tensor(dtype, members)
    if draw.chance(0.3) and dtype == d.FLOAT:          # ONNX Runtime takes no doubles there, nor floats beside doubles
        chosen["nodes_hitrates"] = as_tensor(d.FLOAT, [1.0] * len(grower.nodes))
    if draw.chance(0.6):
        missing = draw.pick([[0] * len(grower.nodes), [1] * len(grower.nodes), [draw.randint(0, 1) for _ in grower.nodes]])
        chosen["nodes_missing_value_tracks_true"] = missing
    x = net.input(dtype, [net.extent(6), columns], style=draw.pick(["small", "plain"]))
    learning(net, "TreeEnsemble", [x], version=5, n_targets=targets, tree_roots=roots, aggregate_function=draw.randint(0, 3), post_transform=0, **chosen)


class Forest:
    """Nodes of all trees, each [feature, mode, split, true (number, is a leaf), false (the same)], and leaves (target, weight)."""

    def __init__(self, draw, columns, targets):
        self.draw, self.width, self.targets = draw, columns, targets
        self.nodes, self.leaves, self.members = [], [], []

    def tree(self, depth=0):
        """Adds a subtree whose top is no leaf; its number."""
        draw, place = self.draw, len(self.nodes)
        node = [draw.randrange(self.width), draw.pick([LEQ, LT, GTE, GT, EQ, NEQ, MEMBER]), draw.pick([-1.0, 0.0, 0.5, 1.0]), None, None]
        self.nodes.append(node)
        sides = [self.side(depth) for _ in range(2)]
        node[3:] = sides
        return place

    def side(self, depth):
        if depth < 2 and self.draw.chance(0.5):
            return self.tree(depth + 1), 0
        self.leaves.append((self.draw.randrange(self.targets), round(self.draw.uniform(-1, 1), 2)))
        return len(self.leaves) - 1, 1

    def columns(self):
        """The lists of attributes; of each node that tests membership its values, in the nodes' order."""
        for node in self.nodes:
            if node[1] == MEMBER:
                self.members += [*self.draw.sample([-2.0, -1.0, 0.0, 1.0, 2.0], self.draw.randint(1, 3)), float("nan")]
        return {"featureids": [n[0] for n in self.nodes], "splits": [n[2] for n in self.nodes], "truenodeids": [n[3][0] for n in self.nodes],
                "trueleafs": [n[3][1] for n in self.nodes], "falsenodeids": [n[4][0] for n in self.nodes], "falseleafs": [n[4][1] for n in self.nodes]}

    def modes(self):
        return [n[1] for n in self.nodes]
