"""Networks some of whose extents are words, and what the words stand for: images of `extent_nets.py`, transformers and recurrent
layers of seeded random weights, and trained networks of a folder."""

from collections import namedtuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import extent_nets
from nets import Builder

WIDTH, HEADS, LAYERS, WORDS = 768, 12, 2, 4


class Transformer(Builder):
    def matrix(self, x, inputs, outputs):
        number = len(self.nodes)
        y = self.node("MatMul", [x, self.weight(f"w{number}", (inputs, outputs), inputs ** -0.5)], f"product{number}")
        return self.node("Add", [y, self.weight(f"b{number}", outputs, 0.1)], f"sum{number}")

    def constant(self, array):
        name = f"constant{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def plus(self, x, y):
        return self.node("Add", [x, y], f"plus{len(self.nodes)}")

    def norm(self, x):
        scale, bias = self.constant(np.ones(WIDTH, np.float32)), self.constant(np.zeros(WIDTH, np.float32))
        return self.node("LayerNormalization", [x, scale, bias], f"norm{len(self.nodes)}", axis=-1)

    def heads(self, x, perm):
        x = self.node("Reshape", [x, self.constant([0, 0, HEADS, WIDTH // HEADS])], f"heads{len(self.nodes)}")
        return self.node("Transpose", [x], f"turned{len(self.nodes)}", perm=perm)

    def embed(self, most):
        """Rows of words and of the first places."""
        x = self.node("Gather", [self.weight("words", (WORDS, WIDTH), 1), "input"], "embedded")
        length = self.node("Shape", ["input"], "length", start=1, end=2)
        places = self.node("Slice", [self.weight("places", (most, WIDTH), 1), self.constant([0]), length, self.constant([0])], "rows")
        return self.node("Add", [x, places], "first"), length

    def attention(self, x, mask=None, past=None):
        """Of rows to all rows, those of the past first."""
        q, k, v = (self.heads(self.matrix(x, WIDTH, WIDTH), [0, 2, 1, 3]) for _ in range(3))
        if past:
            k, v = (self.node("Concat", [p, n], f"all{len(self.nodes)}", axis=2) for p, n in zip(past, (k, v)))
        number = len(self.nodes)
        y = self.node("MatMul", [q, self.node("Transpose", [k], f"columns{number}", perm=[0, 1, 3, 2])], f"scores{number}")
        y = self.node("Mul", [y, self.constant(np.float32((WIDTH // HEADS) ** -0.5))], f"scaled{number}")
        y = self.node("Add", [y, mask], f"masked{number}") if mask else y
        y = self.node("MatMul", [self.node("Softmax", [y], f"shares{number}", axis=-1), v], f"mixed{number}")
        y = self.node("Transpose", [y], f"back{number}", perm=[0, 2, 1, 3])
        return self.matrix(self.node("Reshape", [y, self.constant([0, 0, WIDTH])], f"joined{number}"), WIDTH, WIDTH), k, v

    def gelu(self, x):
        number = len(self.nodes)
        y = self.node("Erf", [self.node("Mul", [x, self.constant(np.float32(0.5 ** 0.5))], f"arg{number}")], f"erf{number}")
        y = self.node("Add", [y, self.constant(np.float32(1))], f"shifted{number}")
        return self.node("Mul", [self.node("Mul", [x, y], f"double{number}"), self.constant(np.float32(0.5))], f"gelu{number}")

    def wide(self, x):
        return self.matrix(self.gelu(self.matrix(x, WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH)


def bert(net):
    x, _ = net.embed(128)
    for _ in range(LAYERS):
        x = net.norm(net.plus(x, net.attention(x)[0]))
        x = net.norm(net.plus(x, net.wide(x)))
    return [x]


def gpt2_prefill(net):
    """Each row sees itself and those before it; keys and values are results."""
    x, length = net.embed(128)
    mask = net.constant(np.triu(np.full((128, 128), -1e9, np.float32), 1))
    both = net.node("Concat", [length, length], "square", axis=0)
    mask, results = net.node("Slice", [mask, net.constant([0, 0]), both, net.constant([0, 1])], "mask"), []
    for _ in range(LAYERS):
        y, k, v = net.attention(net.norm(x), mask)
        x, results = net.plus(x, y), [*results, k, v]
        x = net.plus(x, net.wide(net.norm(x)))
    return [net.norm(x), *results]


def gpt2_decode(net):
    """One token after a past."""
    x, results = net.node("Gather", [net.weight("words", (WORDS, WIDTH), 1), "input"], "embedded"), []
    for layer in range(LAYERS):
        y, k, v = net.attention(net.norm(x), None, (f"key{layer}", f"value{layer}"))
        x, results = net.plus(x, y), [*results, k, v]
        x = net.plus(x, net.wide(net.norm(x)))
    return [net.norm(x), *results]


def recurrent(op, gates):
    def function(net, inputs=128, hidden=256):
        w, r = net.weight("w", (1, gates * hidden, inputs), 0.05), net.weight("r", (1, gates * hidden, hidden), 0.05)
        return [net.node(op, ["input", w, r, net.weight("b", (1, 2 * gates * hidden), 0.1)], "rows", hidden_size=hidden)]
    return function


def make(function, inputs):
    """`inputs`: name -> its extents; those of two are ids of tokens."""
    net = Transformer()
    results = function(net)
    kinds = {name: TensorProto.INT64 if len(extents) == 2 else TensorProto.FLOAT for name, extents in inputs.items()}
    graph = helper.make_graph(net.nodes, function.__name__, [helper.make_tensor_value_info(n, kinds[n], e) for n, e in inputs.items()],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in results], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def trained(name, **extents):
    """A network of a folder whose inputs get these extents; None where it is not there."""
    def read(folder):
        path = folder / name / "model.onnx"
        if not path.exists():
            return None
        model = onnx.load(path)
        for value in model.graph.input:
            if value.name in extents:
                dtype = value.type.tensor_type.elem_type
                value.CopyFrom(helper.make_tensor_value_info(value.name, dtype, extents[value.name]))
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        del model.graph.value_info[:]
        return model
    return read


# What makes the model (of the folder of trained ones), least and most of each word, the smaller extents that are measured besides,
# what integers inputs hold.
Case = namedtuple("Case", "model bounds smaller values", defaults=({},))


def images(name):
    _, most, least = extent_nets.NETWORKS[name]
    return Case(lambda _: extent_nets.model(name, "H", "W"), {"H": (least, most), "W": (least, most)}, {"H": most // 2, "W": most // 2})


def batches(name):
    most = extent_nets.NETWORKS[name][1]
    return Case(lambda _: extent_nets.model(name, most, most, 1, "N"), {"N": (1, 4)}, {"N": 1})


def sequence(function, most, **inputs):
    return Case(lambda _: make(function, inputs), {"L": (1, most)}, {"L": most // 2})


PAST = {f"{kind}{layer}": [1, HEADS, "L", WIDTH // HEADS] for layer in range(LAYERS) for kind in ("key", "value")}
CASES = {name: images(name) for name in extent_nets.NETWORKS}
CASES["yolox_nano"] = Case(trained("yolox_nano", images=[1, 3, "H", "W"]), {"H": (32, 416), "W": (32, 416)}, {"H": 224, "W": 224})
CASES |= {f"{name}_batch": batches(name) for name in ("resnet18", "resnet50", "mobilenet_v2", "efficientnet_b0")}
CASES |= {
    "bert": sequence(bert, 128, input=[1, "L"]),
    "gpt2_prefill": sequence(gpt2_prefill, 128, input=[1, "L"]),
    "gpt2_decode": sequence(gpt2_decode, 128, input=[1, 1], **PAST),
    "lstm": sequence(recurrent("LSTM", 4), 64, input=["L", 1, 128]),
    "gru": sequence(recurrent("GRU", 3), 64, input=["L", 1, 128]),
    "silero_vad": Case(trained("silero_vad", input=[1, "L"], state=[2, 1, 128]), {"L": (64, 576)}, {"L": 320}, {"sr": 16000}),
    "gtcrn_simple": Case(trained("gtcrn_simple", mix=[1, 257, "L", 2]), {"L": (1, 16)}, {"L": 8}),
}
