"""LSTM, GRU and RNN with every input, attribute and direction."""

import numpy as np

import draw as d
from net import Rejected
from recipes import attributes, recipe

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
PER_DIRECTION = {"LSTM": 3, "GRU": 2, "RNN": 1}
ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"]
ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"}
BETA = {"Affine", "ScaledTanh", "HardSigmoid"}


def activations(draw, count):
    """Names, with alphas and betas for those that take them, in order; or none: the defaults."""
    if draw.chance(0.5):
        return {}
    names = [draw.pick(ACTIVATIONS) for _ in range(count)]
    chosen = {"activations": names}
    alphas = [round(draw.uniform(0.1, 0.9), 2) for n in names if n in ALPHA]
    betas = [round(draw.uniform(0.1, 0.9), 2) for n in names if n in BETA]
    if alphas or betas:                             # defaults differ between implementations: all are given
        chosen |= {"activation_alpha": alphas} if alphas else {}
        chosen |= {"activation_beta": betas} if betas else {}
    return chosen


@recipe("LSTM", "GRU", "RNN", network=0.7)
def recurrent(net):
    draw = net.draw
    operator = draw.pick(["LSTM", "LSTM", "GRU", "RNN", "RNN"])
    version = net.version(operator)
    direction = draw.pick(["forward", "forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1
    x = net.some((d.DOUBLE if net.single and draw.chance(0.3) else d.FLOAT,), rank=3, most=6)
    features = x.fixed(2)
    if features is None or not features or min(a.size for a in x.arrays) == 0:
        raise Rejected("the features are not fixed")
    hidden, gates = draw.weighted({1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 8: 1, 32: 0.3, 40: 0.3}), GATES[operator]
    time, batch = net.like_axis(x, 0), net.like_axis(x, 1)
    inputs = [x, net.weights(x.dtype, [directions, gates * hidden, features], 0.5, runtime=0.03),
              net.weights(x.dtype, [directions, gates * hidden, hidden], 0.5, runtime=0.03)]
    inputs.append(net.weights(x.dtype, [directions, 2 * gates * hidden], 0.5, runtime=0.03) if draw.chance(0.6) else None)
    inputs.append(lengths(net, x, batch) if draw.chance(0.2) else None)
    inputs.append(net.input(x.dtype, [directions, batch, hidden]) if draw.chance(0.4) else None)
    if operator == "LSTM":
        inputs.append(net.input(x.dtype, [directions, batch, hidden]) if draw.chance(0.4) else None)
        inputs.append(net.weights(x.dtype, [directions, 3 * hidden], 0.5, runtime=0) if draw.chance(0.3) else None)
    while inputs[-1] is None:
        inputs.pop()
    chosen = activations(draw, PER_DIRECTION[operator] * directions)
    if direction != "forward" or draw.chance(0.3):
        chosen["direction"] = direction
    chosen |= attributes(draw, clip=[0.5, 3.0]) if draw.chance(0.3) else {}
    if operator == "GRU":
        chosen |= attributes(draw, linear_before_reset=[0, 1])
    if operator == "LSTM" and draw.chance(0.1):
        chosen["input_forget"] = 1
    wanted = [draw.chance(0.7) for _ in range(3 if operator == "LSTM" else 2)]
    if not any(wanted):
        wanted[0] = True
    made = net.node(operator, inputs, outputs=wanted, hidden_size=hidden, **chosen)
    if "Softplus" in chosen.get("activations", []) and not all(np.isfinite(a).all() for v in (made if isinstance(made, list) else [made]) for a in v.arrays):
        raise Rejected("ONNX Runtime's Softplus overflows: docs/differences.md")
    if x.dtype == d.DOUBLE and any(not np.all(np.abs(a) < 50) for v in (made if isinstance(made, list) else [made]) for a in v.arrays):
        raise Rejected("beyond what floats, in which ONNX Runtime is asked, say of doubles")


def lengths(net, x, batch):
    """Lengths of each sequence of the batch."""
    random = net.draw.numpy()
    arrays = [random.integers(1, a.shape[0] + 1, a.shape[1]).astype(np.int32) for a in x.arrays]
    return net.input(d.INT32, [batch], arrays=arrays)
