"""Builds a random model node by node. ONNX Runtime computes every node as soon as it is added, at every setting of the
run-time extents, so each value's extents and contents are known and an invalid node is never kept.

A setting is one choice of all run-time extents: the least, the most, and two between.
"""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import draw as d
import oracle

# Operators whose result may jump where an input moves by a rounding error: their inputs must be exact.
JUMPS = set("""Floor Ceil Round Sign ArgMax ArgMin TopK NonZero Unique Hardmax Mod IsNaN IsInf Equal Less LessOrEqual Greater
GreaterOrEqual NonMaxSuppression Compress QuantizeLinear DynamicQuantizeLinear Not And Or Xor Shrink ThresholdedRelu
MaxUnpool BitCast RoiAlign""".split())
# Operators whose floating results carry no rounding error of their own.
EXACT = set("""Abs Neg Relu Max Min Clip Identity Transpose Reshape Squeeze Unsqueeze Flatten Concat Split Slice Gather
GatherElements GatherND ScatterElements ScatterND Pad Tile Expand Where MaxPool GlobalMaxPool ReduceMax ReduceMin DepthToSpace
SpaceToDepth Trilu EyeLike OneHot Constant ConstantOfShape Shape Size Range CastLike Cast Floor Ceil Round Sign ArgMax ArgMin
TopK NonZero Unique Compress ReverseSequence CenterCropPad SequenceConstruct SequenceAt SequenceInsert SequenceErase
SplitToSequence ConcatFromSequence SequenceEmpty SequenceLength Optional OptionalGetElement OptionalHasElement Upsample Mod
Scatter MaxUnpool Dropout Not And Or Xor IsNaN IsInf Hardmax""".split())
NEWEST = 28                                         # opset of ONNX; ONNX Runtime is asked at an older one (oracle.py)
# Operators that move a window, and which input has its extents where no attribute does.
WEIGHTS_OF = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3, "MaxPool": 0, "AveragePool": 0, "LpPool": 0, "QLinearAveragePool": 0}
LARGEST = 1e6                                       # a network's values beyond this are not kept


class Rejected(Exception):
    """A node that ONNX Runtime refuses, or whose values are of no use: another choice is made."""


@dataclass(eq=False)
class Value:
    """arrays: per setting a numpy array, or a list of them for a sequence. noisy: with rounding errors."""

    name: str
    dtype: int
    arrays: list
    noisy: bool = False
    constant: bool = False
    readers: int = 0
    dims: list = field(default_factory=list)        # of an input: per axis its extent, or the name of a run-time extent

    @property
    def is_sequence(self):
        return isinstance(self.arrays[0], list)

    @property
    def is_tensor(self):
        return isinstance(self.arrays[0], np.ndarray)

    @property
    def rank(self):
        return self.arrays[0].ndim if self.is_tensor else -1

    def extents(self, axis):
        """The extent along an axis at each setting."""
        return [a.shape[axis] for a in self.arrays]

    def fixed(self, axis):
        """The extent along an axis where it is the same at every setting, else None."""
        extents = set(self.extents(axis))
        return extents.pop() if len(extents) == 1 else None

    def elements(self):
        return max(a.size for a in self.arrays)


def value_type(value):
    """The onnx.TypeProto of a value without its extents (inputs have theirs from `input_type`)."""
    if value.is_sequence:
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(value.dtype, None))
    return helper.make_tensor_type_proto(value.dtype, None)


class Net:
    """A model while it grows. `runtime`: whether extents may be known only at run time."""

    def __init__(self, draw, opset, runtime, single, most=400):
        self.draw, self.opset, self.single, self.most = draw, opset, single, most
        self.count = 4 if runtime else draw.pick([1, 2])
        self.runtime = runtime
        self.named = {}                             # name of a run-time extent: its value at each setting
        self.inputs, self.constants, self.values, self.nodes = [], [], [], []
        self.opsets = {"": opset}
        self.style = "plain" if draw.chance(0.8) else draw.pick(["small", "small", "equal"])
        self.serial = 0
        self.loosely = False                        # a few elements may differ by a rounding that flips

    # -- names, extents, values -----------------------------------------------------------------------------------

    def fresh(self, stem="v"):
        self.serial += 1
        return f"{stem}{self.serial}"

    def uses(self, domain, version=1):
        self.opsets[domain] = version

    def version(self, operator, domain=""):
        """The version of an operator that the model's opset means, or raises Rejected where it has none."""
        try:
            return onnx.defs.get_schema(operator, self.opset if not domain else self.opsets.get(domain, 1), domain).since_version
        except onnx.defs.SchemaError:
            raise Rejected(f"{operator} is not in opset {self.opset}")

    def newer(self, operator):
        """The version of an operator; a model that has no node yet takes an opset that has it."""
        while not self.nodes and self.opset < NEWEST:
            try:
                return self.version(operator)
            except Rejected:
                self.opset += 1
                self.opsets[""] = self.opset
        return self.version(operator)

    def runtime_extent(self, most):
        """The name of a run-time extent of at most `most`: an earlier one now and then."""
        draw = self.draw
        known = [n for n, sizes in self.named.items() if max(sizes) <= most]
        if known and draw.chance(0.5):
            return draw.pick(known)
        high = draw.randint(max(1, most // 2), max(1, most))
        low = draw.randint(0 if draw.chance(0.05) else 1, high)
        return self.name_extent([low, high, draw.randint(low, high), draw.randint(low, high)])

    def name_extent(self, sizes):
        for name, known in self.named.items():
            if known == list(sizes) and self.draw.chance(0.8):
                return name
        name = self.draw.pick("NCHWLTKBSPQ") + str(len(self.named))
        self.named[name] = list(sizes)
        return name

    def extent(self, most=9):
        """A fixed extent, or the name of a run-time one."""
        if self.runtime and self.draw.chance(0.35):
            return self.runtime_extent(most)
        return self.draw.randint(0, most) if self.draw.chance(0.02) else self.draw.randint(1, most)

    def shape(self, rank, most=9):
        """Extents whose product stays below the model's limit."""
        while True:
            dims = [self.extent(most) for _ in range(rank)]
            if max(int(np.prod(s, dtype=np.int64)) for s in self.settle(dims)) <= self.most:
                return dims
            most = max(2, most - 1)

    def settle(self, dims):
        """The extents at each setting."""
        return [[self.named[n][i] if isinstance(n, str) else n for n in dims] for i in range(self.count)]

    def input(self, dtype, dims, style=None, arrays=None):
        style = style or self.style
        arrays = arrays or [self.draw.array(dtype, s, style) for s in self.settle(dims)]
        value = Value(self.fresh("x"), dtype, arrays, dims=list(dims))
        self.inputs.append(value)
        self.values.append(value)
        return value

    def sequence_input(self, dtype, arrays, ranks):
        value = Value(self.fresh("x"), dtype, arrays, dims=[None] * ranks)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def constant(self, array, dtype=None, live=False):
        """An initializer. live: later nodes may read it too."""
        array = np.asarray(array)
        if dtype is None:
            dtype = d.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
        value = Value(self.fresh("c"), dtype, [array] * self.count, constant=True)
        self.constants.append(value)
        if live:
            self.values.append(value)
        return value

    def weights(self, dtype, shape, scale=1.0, style=None, runtime=0.1):
        """A tensor of fixed extents: mostly a constant, now and then an input."""
        array = self.draw.array(dtype, shape, style or ("small" if self.style in ("small", "equal") else "plain"))
        if scale != 1.0 and array.dtype.kind == "f":
            array = (array * scale).astype(array.dtype)
        if self.draw.chance(runtime):
            return self.input(dtype, list(shape), arrays=[array.copy() for _ in range(self.count)])
        return self.constant(array, dtype)

    def like_axis(self, value, axis):
        """An extent, for a new input, that equals that of a value along an axis at every setting."""
        return value.fixed(axis) if value.fixed(axis) is not None else self.name_extent(value.extents(axis))

    def some(self, dtypes=(d.FLOAT,), rank=(0, 5), exact=False, style=None, most=9, accept=None, own=0.2):
        """A value to read: one that is there, or a new input (always so for models of one operator)."""
        low, high = (rank, rank) if isinstance(rank, int) else rank
        found = [v for v in self.values if v.is_tensor and v.dtype in dtypes and low <= v.rank <= high and
                 not (exact and v.noisy) and (accept is None or accept(v)) and not v.constant]
        if found and not self.draw.chance(1.0 if self.single and self.draw.chance(0.8) else own):
            recent = found[-3:] if self.draw.chance(0.7) else found
            return self.draw.pick(recent)
        for _ in range(20):
            value = self.input(self.draw.pick(dtypes), self.shape(self.draw.randint(low, high), most), style)
            if accept is None or accept(value):
                return value
            self.drop_input(value)
        raise Rejected("no input fits")

    def drop_input(self, value):
        self.inputs.remove(value)
        self.values.remove(value)

    def partner(self, value, dtype=None, style=None, runtime=0.4):
        """A value that broadcasts against another: the same extents, extents of 1, fewer axes."""
        draw = self.draw
        dtype = value.dtype if dtype is None else dtype
        same = [v for v in self.values if v is not value and v.is_tensor and v.dtype == dtype and
                [a.shape for a in v.arrays] == [a.shape for a in value.arrays]]
        if same and draw.chance(0.5):
            return draw.pick(same)
        start = draw.randint(0, value.rank) if draw.chance(0.4) else 0
        axes = range(start, value.rank)
        dims = [1 if draw.chance(0.3) else self.like_axis(value, a) for a in axes]
        if all(isinstance(n, int) for n in dims) and not draw.chance(runtime):
            return self.constant(draw.array(dtype, dims, style or self.style), dtype)
        return self.input(dtype, dims, style)

    # -- nodes -----------------------------------------------------------------------------------------------------

    def node(self, operator, inputs, outputs=1, domain="", **attributes):
        """Adds one node; returns its value, or a list where it has several. An input may be None: omitted. `outputs`:
        how many, or a list of booleans that says which are wanted."""
        if operator in WEIGHTS_OF:
            check_room(operator, inputs, attributes)
        if self.single and operator != "Identity":
            inputs = [self.node("Identity", [v]) if v and v.is_tensor and not v.constant and self.draw.chance(HIDDEN) else v for v in inputs]
        wanted = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = [self.fresh() if w else "" for w in wanted]
        given = {k: v for k, v in attributes.items() if v is not None and v != []}
        if self.draw.chance(SPELLED):
            given = defaults(operator, domain, self.opset) | given
        proto = helper.make_node(operator, [v.name if v else "" for v in inputs], names, domain=domain, **given)
        made = self.add([proto], [v for v in inputs if v], [n for n in names if n])
        return made[0] if len(made) == 1 else made

    def add(self, protos, reads, results, ranks=()):
        """Adds nodes that belong together. reads: every outside value that they use, bodies included. ranks: of the last results."""
        arrays, dtypes = oracle.evaluate(protos, reads, results, self.opsets, self.count)
        if any(a.ndim != rank or a.shape[:1] == (0,) and 0 in a.shape[1:] for rank, values in zip(reversed(ranks), reversed(arrays)) for a in values):
            raise Rejected("a result of another rank than said, or of extents that ONNX Runtime does not know")
        jumps = any(p.op_type in JUMPS or (p.op_type == "Cast" and jumping_cast(p)) for p in protos)
        noisy = any(v.noisy for v in reads)
        if noisy and jumps and not self.loosely:
            raise Rejected("a rounding error may decide")
        if not all(p.op_type in EXACT for p in protos):
            noisy = True
        made = []
        for name, dtype, values in zip(results, dtypes, arrays):
            if not self.useful(values):
                raise Rejected("values of no use")
            made.append(Value(name, dtype, values, noisy and dtype not in d.INTEGERS + (d.BOOL, d.STRING)))
        for value in reads:
            value.readers += 1
        self.nodes += protos
        self.values += made
        return made

    def useful(self, values):
        """Whether later nodes may go on with these values: neither vast nor, in a network, infinite."""
        for value in values:
            for array in value if isinstance(value, list) else [value]:
                if array is None:
                    continue
                if array.size > 40 * self.most:
                    return False
                if not self.single and self.style != "special" and array.dtype.kind == "f" and array.size and \
                        not (np.abs(array).max() < LARGEST):
                    return False
        return True

    # -- the model ---------------------------------------------------------------------------------------------------

    def input_type(self, value):
        if value.is_sequence:
            return helper.make_sequence_type_proto(helper.make_tensor_type_proto(value.dtype, value.dims))
        return helper.make_tensor_type_proto(value.dtype, value.dims)

    def outputs(self):
        """Every value that nobody reads, and others now and then."""
        made = {name for node in self.nodes for name in node.output}
        keep = [v for v in self.values if v.name in made and (v.readers == 0 or self.draw.chance(0.1))]
        if not keep:
            raise Rejected("no output")
        return keep

    def model(self):
        outputs = self.outputs()
        used = {name for node in self.nodes for name in names_read(node)}
        inputs = [v for v in self.inputs if v.name in used]
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_value_info(v.name, self.input_type(v)) for v in inputs],
            [helper.make_value_info(v.name, value_type(v)) for v in outputs],
            [tensor_proto(v.arrays[0], v.dtype, v.name) for v in self.constants if v.name in used])
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version(self.opset), producer_name="")
        sets = [[v.arrays[i] for v in inputs] for i in range(self.count)]
        return model, sets


def check_room(operator, inputs, attributes):
    """A window larger than the padded input is invalid; ONNX Runtime takes some, by a division that rounds towards zero."""
    sizes = attributes.get("kernel_shape") or inputs[WEIGHTS_OF[operator]].arrays[0].shape[2:]
    pads, dilations = attributes.get("pads"), attributes.get("dilations")
    if (attributes.get("auto_pad") or "NOTSET").startswith("SAME"):
        return
    for axis, size in enumerate(sizes):
        spanned = (size - 1) * (dilations[axis] if dilations else 1) + 1
        beside = pads[axis] + pads[len(sizes) + axis] if pads else 0
        if min(inputs[0].extents(2 + axis)) < spanned - beside:
            raise Rejected("a window larger than its input")


HIDDEN = 0.03                       # of the inputs of a lone operator come through an Identity, so that only inference knows their types
SPELLED = 0.15                      # of the nodes write out all their defaults, as some exporters do
WITHOUT_SCHEMA = {                  # defaults of operators that are ONNX Runtime's own
    "FusedConv": {"auto_pad": "NOTSET"}, "FusedGemm": {"transA": 0, "transB": 0},
    "QLinearAveragePool": {"auto_pad": "NOTSET", "ceil_mode": 0, "channels_last": 0, "count_include_pad": 0},
    "GroupQueryAttention": {"do_rotary": 0, "rotary_interleaved": 0, "k_quant_type": "NONE", "v_quant_type": "NONE"},
    "Attention": {"do_rotary": 0, "past_present_share_buffer": 0, "unidirectional": 0},
    "QAttention": {"do_rotary": 0, "past_present_share_buffer": 0, "unidirectional": 0},
    "RotaryEmbedding": {"interleaved": 0, "is_packed_batching": 0, "scale": 1.0}, "QuantizeLinear": {"axis": 1}, "DequantizeLinear": {"axis": 1}}


def defaults(operator, domain, opset):
    """What an operator's attributes of one number or word are where they are not given."""
    if domain == "com.microsoft":
        return WITHOUT_SCHEMA.get(operator, {})
    try:
        schema = onnx.defs.get_schema(operator, opset if not domain else onnx.defs.onnx_opset_version(), domain)
    except onnx.defs.SchemaError:
        return {}
    kinds = (onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT, onnx.AttributeProto.STRING)
    return {n: helper.get_attribute_value(a.default_value) for n, a in schema.attributes.items() if a.default_value.type in kinds}


def names_read(node):
    """Names that a node reads, those that its bodies read included."""
    names = list(node.input)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names += names_read(inner)
        names += [o.name for o in attribute.g.output]
    return names


def jumping_cast(node):
    to = [a.i for a in node.attribute if a.name == "to"]
    return bool(to) and to[0] not in d.FLOATS


def ir_version(opset):
    return min(max(helper.OP_SET_ID_VERSION_MAP.get(("ai.onnx", opset), 8), 4), 10)


def tensor_proto(array, dtype, name):
    if dtype == d.STRING:
        return helper.make_tensor(name, TensorProto.STRING, array.shape, [s.encode() for s in array.reshape(-1)])
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
