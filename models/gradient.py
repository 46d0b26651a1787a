"""Reverse-mode differentiation over numpy arrays, just large enough to train the small models of this folder.

A Node holds a float64 array and, after `backward`, the gradient of the loss by it. What enters a sum is first rounded
so that the sum is exact (`exact`): no order of adding, hence no machine's linear algebra library, changes the result.
"""

import numpy as np

BITS = 20                   # of an operand: a product takes 40, which leaves float64 room for sums of 8,192 terms
GRID = 2.0 ** -12           # exported weights are multiples of this


def exact(array):
    """The array rounded to BITS below its greatest magnitude."""
    largest = np.abs(array).max(initial=0.0)
    if largest == 0.0:
        return array
    grid = 2.0 ** (np.frexp(largest)[1] - BITS)
    return np.round(array / grid) * grid


class Node:
    """`parents`: pairs of (node, function from the gradient of this node to that of the parent)."""

    def __init__(self, value, parents=()):
        self.value = np.asarray(value, dtype=np.float64)
        self.parents = parents
        self.gradient = None

    def __add__(self, other):
        other = as_node(other)
        return Node(self.value + other.value, [(self, lambda g: fit(g, self.value)), (other, lambda g: fit(g, other.value))])

    def __mul__(self, other):
        other = as_node(other)
        return Node(self.value * other.value, [(self, lambda g: fit(g * other.value, self.value)),
                                               (other, lambda g: fit(g * self.value, other.value))])

    def __sub__(self, other):
        return self + as_node(other) * -1.0

    def __matmul__(self, other):
        left, right = exact(self.value), exact(other.value)
        return Node(left @ right, [(self, lambda g: fit(exact(g) @ np.swapaxes(right, -1, -2), self.value)),
                                   (other, lambda g: fit(np.swapaxes(left, -1, -2) @ exact(g), other.value))])

    def __getitem__(self, index):
        def back(g):
            whole = np.zeros_like(self.value)
            np.add.at(whole, index, g)
            return whole
        return Node(self.value[index], [(self, back)])

    def reshape(self, *shape):
        return Node(self.value.reshape(shape), [(self, lambda g: g.reshape(self.value.shape))])

    def transpose(self, *axes):
        return Node(self.value.transpose(axes), [(self, lambda g: g.transpose(np.argsort(axes)))])

    def mean(self, axis):
        count = self.value.shape[axis]
        return Node(exact(self.value).sum(axis, keepdims=True) / count, [(self, lambda g: np.repeat(g / count, count, axis))])

    def apply(self, value, slope):
        """An elementwise function given by its value and its slope."""
        return Node(value, [(self, lambda g: g * slope)])


def as_node(value):
    return value if isinstance(value, Node) else Node(value)


def fit(gradient, value):
    """Undo broadcasting: sum a gradient down to the extents of the value it belongs to."""
    if gradient.shape != value.shape:
        gradient = exact(gradient)
    while gradient.ndim > value.ndim:
        gradient = gradient.sum(0)
    for axis, extent in enumerate(value.shape):
        if extent == 1 and gradient.shape[axis] != 1:
            gradient = gradient.sum(axis, keepdims=True)
    return gradient


def relu(x):
    return x.apply(np.maximum(x.value, 0), (x.value > 0).astype(float))


def tanh(x):
    y = np.tanh(x.value)
    return x.apply(y, 1 - y * y)


def sigmoid(x):
    y = 1 / (1 + np.exp(-x.value))
    return x.apply(y, y * (1 - y))


def inverse_root(x, epsilon):
    y = 1 / np.sqrt(x.value + epsilon)
    return x.apply(y, -0.5 * y * y * y)


def softmax(x):
    """Over the last axis."""
    e = np.exp(x.value - x.value.max(-1, keepdims=True))
    y = e / exact(e).sum(-1, keepdims=True)
    return Node(y, [(x, lambda g: y * (g - exact(g * y).sum(-1, keepdims=True)))])


def layer_norm(x, scale, shift, epsilon=1e-5):
    """Over the last axis."""
    centred = x - x.mean(-1)
    return centred * inverse_root((centred * centred).mean(-1), epsilon) * scale + shift


def cross_entropy(logits, labels):
    """Mean over all rows of [..., classes]; labels hold one class per row."""
    flat, wanted = logits.value.reshape(-1, logits.value.shape[-1]), labels.reshape(-1)
    e = np.exp(flat - flat.max(-1, keepdims=True))
    chance = e / exact(e).sum(-1, keepdims=True)
    rows = np.arange(len(wanted))

    def back(g):
        slope = chance.copy()
        slope[rows, wanted] -= 1
        return (g * slope / len(wanted)).reshape(logits.value.shape)
    return Node(-np.log(chance[rows, wanted] + 1e-30).mean(), [(logits, back)])


def shifted(extent):
    """Slices of a row padded by one on both sides, for the three columns of a 3x3 window."""
    return [slice(k, k + extent) for k in range(3)]


def convolve3x3(x, weight, bias):
    """x [N, C, H, W], weight [M, C, 3, 3], bias [M] -> [N, M, H, W]; padded by one."""
    images, channels, rows, columns = x.value.shape
    padded = np.pad(x.value, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.stack([padded[:, :, i, j]
                        for i in shifted(rows) for j in shifted(columns)], 2)             # [N, C, 9, H, W]
    patches = exact(windows.transpose(0, 3, 4, 1, 2).reshape(-1, channels * 9))           # [N*H*W, C*9]
    flat = exact(weight.value.reshape(len(weight.value), -1))

    def rows_of(g):
        return exact(g.transpose(0, 2, 3, 1).reshape(-1, g.shape[1]))

    def to_input(g):
        parts = (rows_of(g) @ flat).reshape(images, rows, columns, channels, 9).transpose(0, 3, 4, 1, 2)
        whole = np.zeros_like(padded)
        for k, (i, j) in enumerate((i, j) for i in shifted(rows) for j in shifted(columns)):
            whole[:, :, i, j] += parts[:, :, k]
        return whole[:, :, 1:-1, 1:-1]

    value = (patches @ flat.T + bias.value).reshape(images, rows, columns, -1).transpose(0, 3, 1, 2)
    return Node(value, [(x, to_input), (weight, lambda g: (rows_of(g).T @ patches).reshape(weight.value.shape)),
                        (bias, lambda g: exact(g).sum((0, 2, 3)))])


def max_pool2x2(x):
    images, channels, rows, columns = x.value.shape
    blocks = x.value.reshape(images, channels, rows // 2, 2, columns // 2, 2)
    value = blocks.max((3, 5), keepdims=True)
    winner = blocks == value
    share = winner / winner.sum((3, 5), keepdims=True)

    def back(g):
        return (share * g[:, :, :, None, :, None]).reshape(x.value.shape)
    return Node(value[:, :, :, 0, :, 0], [(x, back)])


def backward(loss):
    """Fill in `gradient` of every node that the loss depends on."""
    order, seen = [], set()

    def visit(node):
        stack = [(node, iter(node.parents))]
        seen.add(id(node))
        while stack:
            top, rest = stack[-1]
            fresh = next((p for p, _ in rest if id(p) not in seen), None)
            if fresh is None:
                order.append(top)
                stack.pop()
            else:
                seen.add(id(fresh))
                stack.append((fresh, iter(fresh.parents)))

    visit(loss)
    for node in order:
        node.gradient = np.zeros_like(node.value)
    loss.gradient = np.ones_like(loss.value)
    for node in reversed(order):
        for parent, function in node.parents:
            parent.gradient = parent.gradient + function(node.gradient)


class Adam:
    """Kingma and Ba, "Adam: a method for stochastic optimization", 2015; the rate falls along a cosine to zero."""

    def __init__(self, nodes, rate, steps):
        self.nodes, self.rate, self.steps, self.step = list(nodes), rate, steps, 0
        self.first = [np.zeros_like(n.value) for n in self.nodes]
        self.second = [np.zeros_like(n.value) for n in self.nodes]

    def update(self, loss):
        backward(loss)
        self.step += 1
        rate = self.rate * min(1.0, self.step / 50) * 0.5 * (1 + np.cos(np.pi * self.step / self.steps))
        for node, m, v in zip(self.nodes, self.first, self.second):
            m += 0.1 * (node.gradient - m)
            v += 0.001 * (node.gradient ** 2 - v)
            node.value = node.value - rate * (m / (1 - 0.9 ** self.step)) / (np.sqrt(v / (1 - 0.999 ** self.step)) + 1e-8)


def start(random, *shape, fan_in=None):
    """Starting weights that keep the size of activations."""
    return Node(random.normal(0, (1.0 / (fan_in or shape[0])) ** 0.5, shape))


def rounded(node):
    """What is exported: float32 on a coarse grid."""
    return (np.round(node.value / GRID) * GRID).astype(np.float32)
