"""A decoder as onnxruntime-genai's builder and optimum's quantiser write it: com.microsoft operators, weights of four bits,
rotary positions, grouped heads, one pair of caches for each layer."""

import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32  # weights with one scale


@dataclasses.dataclass(frozen=True)
class Shape:
    """deep: width between the two products of a layer's end; size: of a head; longest: tokens that have positions; level:
    accuracy_level of the products, 4 where their inputs may be rounded to bytes."""

    vocabulary: int
    width: int
    deep: int
    heads: int
    kv: int
    size: int
    longest: int
    layers: int
    level: int = 0


SMALL = Shape(vocabulary=50, width=64, deep=96, heads=4, kv=2, size=16, longest=64, layers=2)


class Writer:
    def __init__(self, shape, seed=5):
        self.shape, self.nodes, self.constants, self.generator = shape, [], [], np.random.default_rng(seed)

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def floats(self, name, *shape, around=0.0, scale=1.0):
        return self.constant(name, (around + scale * self.generator.normal(size=shape)).astype(np.float32))

    def add(self, op, inputs, outputs, domain="com.microsoft", **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(helper.make_node(op, inputs, outputs, name="/" + outputs[0], domain=domain, **attributes))
        return outputs[0]

    def product(self, x, name, k, n, zero=False):
        """MatMulNBits with weights of four bits."""
        blocks = -(-k // BLOCK)
        inputs = [x, self.constant(name + ".qweight", self.generator.integers(0, 256, (n, blocks, BLOCK // 2)).astype(np.uint8)),
                  self.floats(name + ".scales", n, blocks, around=0.24 / k ** 0.5, scale=0.04 / k ** 0.5)]
        if zero:
            inputs.append(self.constant(name + ".qzeros", self.generator.integers(100, 160, (n, -(-blocks // 2))).astype(np.uint8)))
        return self.add("MatMulNBits", inputs, name + ".out", K=k, N=n, bits=4, block_size=BLOCK,
                        accuracy_level=self.shape.level)

    def skip(self, x, branch, name, sum_name):
        scale = self.floats(name + ".weight", self.shape.width, around=1.0, scale=0.1)
        return self.add("SkipSimplifiedLayerNormalization", [x, branch, scale], [name, "", "", sum_name], epsilon=1e-5), sum_name


def lengths(w):
    """seqlens_k and total_sequence_length from the attention mask."""
    one = w.constant("one", np.array([1], np.int64))
    w.add("ReduceSum", ["attention_mask", one], "sum", "", keepdims=0)
    w.add("Sub", ["sum", one], "last", "")
    w.add("Cast", ["last"], "seqlens_k", "", to=TensorProto.INT32)
    w.add("Shape", ["attention_mask"], "mask_shape", "")
    w.add("Gather", ["mask_shape", w.constant("axis", np.array(1, np.int64))], "mask_length", "", axis=0)
    w.add("Cast", ["mask_length"], "total_length", "", to=TensorProto.INT32)


def attention(w, x, layer):
    """Layer 0 turns its pairs inside the attention, layer 1 by nodes of their own; layer 1's rows come packed."""
    name, at = f"layers.{layer}.attn", w.shape
    caches = [f"past_key_values.{layer}.{k}" for k in ("key", "value")]
    if layer == 0:
        rows = [w.product(x, f"{name}.{k}", at.width, n * at.size, zero=True) for k, n in (("q", at.heads), ("k", at.kv), ("v", at.kv))]
        angles = ["cos_cache", "sin_cache"]
    else:
        rows = [w.product(x, f"{name}.{k}", at.width, n * at.size) for k, n in (("q", at.heads), ("k", at.kv), ("v", at.kv))]
        for i in range(2):
            rows[i] = w.add("RotaryEmbedding", [rows[i], "position_ids", "cos_cache", "sin_cache"], f"{name}.turned.{i}")
        angles = ["", ""]
    w.add("GroupQueryAttention", [*rows, *caches, "seqlens_k", "total_length", *angles],
          [f"{name}.joined", f"present.{layer}.key", f"present.{layer}.value"], num_heads=at.heads, kv_num_heads=at.kv, do_rotary=int(layer == 0),
          local_window_size=-1 if layer == 0 else 7, scale=1 / np.sqrt(at.size))
    return w.product(f"{name}.joined", f"{name}.o", at.heads * at.size, at.width)


def feed_forward(w, x, layer):
    name, at = f"layers.{layer}.mlp", w.shape
    gate, up = (w.product(x, f"{name}.{k}", at.width, at.deep) for k in ("gate", "up"))
    w.add("Sigmoid", [gate], f"{name}.sigmoid", "")
    w.add("Mul", [gate, f"{name}.sigmoid"], f"{name}.swish", "")
    w.add("Mul", [f"{name}.swish", up], f"{name}.both", "")
    return w.product(f"{name}.both", f"{name}.down", at.deep, at.width)


def write(path, at=SMALL):
    w = Writer(at)
    frequency = 10000.0 ** -(np.arange(at.size // 2) / (at.size // 2))
    angle = np.arange(at.longest)[:, None] * frequency
    w.constant("cos_cache", np.cos(angle).astype(np.float32))
    w.constant("sin_cache", np.sin(angle).astype(np.float32))
    lengths(w)
    table = [w.constant("embed.qweight", w.generator.integers(0, 256, (at.vocabulary, at.width // 2)).astype(np.uint8)), "input_ids",
             w.floats("embed.scales", at.vocabulary, at.width // BLOCK, around=0.1, scale=0.02)]
    x = w.add("GatherBlockQuantized", table, "embed", bits=4, block_size=BLOCK, gather_axis=0, quantize_axis=1)
    norm = w.add("SimplifiedLayerNormalization", [x, w.floats("norm.0", at.width, around=1.0, scale=0.1)], "norm.0.out", "", axis=-1, epsilon=1e-5,
                 stash_type=1)
    for layer in range(at.layers):
        norm, x = w.skip(x, attention(w, norm, layer), f"layers.{layer}.post", f"layers.{layer}.sum")
        norm, x = w.skip(x, feed_forward(w, norm, layer), f"layers.{layer}.next", f"layers.{layer}.sum2")
    w.product(norm, "lm_head", at.width, at.vocabulary)
    w.nodes[-1].output[0] = "logits"

    def info(name, code, *shape):
        return helper.make_tensor_value_info(name, code, shape)
    names = [f"{i}.{k}" for i in range(at.layers) for k in ("key", "value")]
    inputs = [info("input_ids", TensorProto.INT64, "batch_size", "sequence_length"),
              info("attention_mask", TensorProto.INT64, "batch_size", "total_sequence_length"),
              info("position_ids", TensorProto.INT64, "batch_size", "sequence_length")]
    inputs += [info("past_key_values." + n, TensorProto.FLOAT, "batch_size", at.kv, "past_sequence_length", at.size) for n in names]
    outputs = [info("logits", TensorProto.FLOAT, "batch_size", "sequence_length", at.vocabulary)]
    outputs += [info("present." + n, TensorProto.FLOAT, "batch_size", at.kv, "total_sequence_length", at.size) for n in names]
    graph = helper.make_graph(w.nodes, "decoder", inputs, outputs, w.constants)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return names
