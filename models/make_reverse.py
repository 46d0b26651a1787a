"""Makes reverse.onnx, a small transformer that says a sequence of up to 15 digits backwards; its extent `seq` is bounded.

The last token is an end mark, so that the first layer can learn how long the sequence is and the second look back from
there. Compile with --dim seq=1..16. Prints the share of whole sequences that come out right, for each length.
"""

import numpy as np
from onnx import helper

import gradient
import saving

DIGITS, LONGEST = 10, 15
TOKENS, WIDTH, HEADS, LAYERS, HIDDEN = LONGEST + 1, 32, 2, 2, 64      # the end mark is one token more
END = DIGITS
STEPS, BATCH, RATE = 3000, 48, 3e-3


def make_batch(random, count, length):
    """(tokens [count, length + 1], wanted [count, length + 1]): the end mark stays last."""
    digits = random.integers(0, DIGITS, (count, length))
    end = np.full((count, 1), END)
    return np.concatenate([digits, end], 1), np.concatenate([digits[:, ::-1], end], 1)


def make_weights(random):
    w = {"token_table": gradient.start(random, DIGITS + 1, WIDTH, fan_in=4),
         "place_table": gradient.start(random, TOKENS, WIDTH, fan_in=4)}
    for n in range(LAYERS):
        shapes = {"query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH), "mix": (WIDTH, WIDTH),
                  "widen": (WIDTH, HIDDEN), "narrow": (HIDDEN, WIDTH)}
        for name, shape in shapes.items():
            w[f"{name}{n}"] = gradient.start(random, *shape)
            w[f"{name}{n}_bias"] = gradient.Node(np.zeros(shape[1]))
        for name in ("before", "after"):
            w[f"{name}{n}"] = gradient.Node(np.ones(WIDTH))
            w[f"{name}{n}_bias"] = gradient.Node(np.zeros(WIDTH))
    w["last"], w["last_bias"] = gradient.start(random, WIDTH, DIGITS + 1), gradient.Node(np.zeros(DIGITS + 1))
    return w


def split(x):
    """[N, T, C] -> [N, H, T, D]"""
    count, tokens, _ = x.value.shape
    return x.reshape(count, tokens, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)


def forward(w, tokens):
    """[N, T] -> scores [N, T, 11]"""
    count, length = tokens.shape
    dense = lambda x, name: x @ w[name] + w[name + "_bias"]
    x = w["token_table"][tokens] + w["place_table"][:length]
    for n in range(LAYERS):
        y = gradient.layer_norm(x, w[f"before{n}"], w[f"before{n}_bias"])
        query, key, value = (split(dense(y, f"{name}{n}")) for name in ("query", "key", "value"))
        weights = gradient.softmax(query @ key.transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(count, length, WIDTH)
        x = x + dense(mixed, f"mix{n}")
        y = gradient.layer_norm(x, w[f"after{n}"], w[f"after{n}_bias"])
        x = x + dense(gradient.relu(dense(y, f"widen{n}")), f"narrow{n}")
    return dense(x, "last")


def train(random):
    w = make_weights(random)
    adam = gradient.Adam(w.values(), RATE, STEPS)
    for number in range(STEPS):
        length = int((LONGEST + 1) * random.random() ** 0.5)            # the long ones are harder
        tokens, wanted = make_batch(random, BATCH, length)
        loss = gradient.cross_entropy(forward(w, tokens), wanted)
        adam.update(loss)
        if number % 500 == 499:
            print(f"step {number + 1}: loss {float(loss.value):.4f}")
    return {name: gradient.rounded(node) for name, node in w.items()}


class Builder:
    """Nodes and constants of the graph; every method returns the name of a value."""

    def __init__(self, weights):
        self.nodes, self.held = [], dict(weights)

    def add(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def hold(self, name, array):
        self.held[name] = array
        return name

    def dense(self, x, name):
        return self.add("Add", [self.add("MatMul", [x, name], name + "_product"), name + "_bias"], name + "_out")

    def split(self, x):
        parted = self.add("Reshape", [x, "head_extents"], x + "_parted")
        return self.add("Transpose", [parted], x + "_heads", perm=[0, 2, 1, 3])

    def attention(self, y, n):
        query, key, value = (self.split(self.dense(y, f"{name}{n}")) for name in ("query", "key", "value"))
        turned = self.add("Transpose", [key], f"turned{n}", perm=[0, 1, 3, 2])
        scores = self.add("Mul", [self.add("MatMul", [query, turned], f"match{n}"), "scale"], f"scores{n}")
        weights = self.add("Softmax", [scores], f"weights{n}", axis=-1)
        mixed = self.add("Transpose", [self.add("MatMul", [weights, value], f"mixed{n}")], f"ordered{n}", perm=[0, 2, 1, 3])
        return self.dense(self.add("Reshape", [mixed, "joined_extents"], f"joined{n}"), f"mix{n}")

    def block(self, x, n):
        y = self.add("LayerNormalization", [x, f"before{n}", f"before{n}_bias"], f"before{n}_out", axis=-1)
        x = self.add("Add", [x, self.attention(y, n)], f"attended{n}")
        y = self.add("LayerNormalization", [x, f"after{n}", f"after{n}_bias"], f"after{n}_out", axis=-1)
        wide = self.add("Relu", [self.dense(y, f"widen{n}")], f"wide{n}")
        return self.add("Add", [x, self.dense(wide, f"narrow{n}")], f"block{n}")

    def embed(self):
        """Token and place tables; how many places there are is read from the input, as exporters do."""
        self.hold("zero", np.array([0], np.int64))
        length = self.add("Gather", [self.add("Shape", ["tokens"], "extents"), self.hold("one", np.array([1], np.int64))],
                          "length")
        places = self.add("Slice", ["place_table", "zero", length, "zero"], "places")
        return self.add("Add", [self.add("Gather", ["token_table", "tokens"], "embedded"), places], "placed")


def save(w):
    graph = Builder(w)
    graph.hold("head_extents", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    graph.hold("joined_extents", np.array([0, 0, WIDTH], np.int64))
    graph.hold("scale", np.float32((WIDTH // HEADS) ** -0.5))
    x = graph.embed()
    for n in range(LAYERS):
        x = graph.block(x, n)
    graph.dense(x, "last")
    graph.nodes[-1].output[0] = "scores"
    return saving.save_model("reverse", graph.nodes, [saving.value("tokens", np.int64, [1, "seq"])],
                             [saving.value("scores", np.float32, [1, "seq", DIGITS + 1])],
                             [saving.constant(n, a) for n, a in graph.held.items()],
                             "Says digits backwards: tokens are 0..9 and 10 at the end; the greatest score names the token.")


def main():
    random = np.random.default_rng(3)
    model = save(train(random))
    session = saving.open_session("reverse")
    shares = []
    for length in range(LONGEST + 1):
        tokens, wanted = make_batch(random, 40, length)
        answers = [session.run(None, {"tokens": t[None]})[0][0].argmax(-1) for t in tokens]
        shares.append(np.mean([(a == b).all() for a, b in zip(answers, wanted)]))
    print("reverse: % of whole sequences right, by length: " + " ".join(f"{100 * s:.0f}" for s in shares))
    saving.store_sets("reverse", model, [{"tokens": make_batch(random, 1, length)[0]} for length in (0, 6, LONGEST)])


if __name__ == "__main__":
    main()
