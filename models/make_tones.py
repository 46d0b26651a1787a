"""Makes tones.onnx, a streaming recogniser: which of four tones, if any, sounds under loud noise, frame after frame.

One frame is too noisy to tell; a gated recurrent unit (GRU) carries what the earlier frames said from `state_in` to
`state_out`, so the model suits --state=state_out:state_in. Prints the share of right answers with and without memory.
"""

import numpy as np
from onnx import helper

import gradient
import saving

FRAME, HIDDEN, CLASSES = 32, 24, 5                 # samples in a frame; state and hidden values; silence and four tones
CYCLES = np.array([2.3, 3.4, 4.9, 7.1])            # per frame
AMPLITUDE, NOISE = 0.4, 0.5
STEPS, BATCH, LENGTH, RATE = 900, 32, 20, 4e-3     # frames in a training sequence


def make_streams(random, count, length):
    """(samples [count, length, FRAME], class of each frame [count, length]); a sound lasts 4 to 10 frames."""
    kinds = np.zeros((count, length), int)
    for row in kinds:
        start = 0
        while start < length:
            lasts = random.integers(4, 11)
            row[start:start + lasts] = random.integers(0, CLASSES)
            start += lasts
    time = np.arange(length * FRAME).reshape(length, FRAME) / FRAME
    phase = random.uniform(0, 2 * np.pi, (count, 1, 1))
    pitch = np.concatenate([[0.0], CYCLES])[kinds][..., None]
    sound = np.where(kinds[..., None] > 0, AMPLITUDE * np.sin(2 * np.pi * pitch * time + phase), 0.0)
    return sound + NOISE * random.normal(size=sound.shape), kinds


def make_weights(random):
    zeros = lambda n: gradient.Node(np.zeros(n))
    return {"front_weight": gradient.start(random, FRAME, HIDDEN), "front_bias": zeros(HIDDEN),
            "input_weight": gradient.start(random, HIDDEN, 3 * HIDDEN), "input_bias": zeros(3 * HIDDEN),
            "state_weight": gradient.start(random, HIDDEN, 3 * HIDDEN), "state_bias": zeros(3 * HIDDEN),
            "back_weight": gradient.start(random, HIDDEN, CLASSES), "back_bias": zeros(CLASSES)}


def step(w, frame, state):
    """One frame [N, FRAME] and the state [N, HIDDEN] to (scores [N, CLASSES], new state): ONNX's GRU, the gates in its
    order update, reset, candidate, with linear_before_reset."""
    x = gradient.relu(frame @ w["front_weight"] + w["front_bias"])
    from_input = x @ w["input_weight"] + w["input_bias"]
    from_state = state @ w["state_weight"] + w["state_bias"]
    part = [(slice(None), slice(k * HIDDEN, (k + 1) * HIDDEN)) for k in range(3)]
    update = gradient.sigmoid(from_input[part[0]] + from_state[part[0]])
    reset = gradient.sigmoid(from_input[part[1]] + from_state[part[1]])
    candidate = gradient.tanh(from_input[part[2]] + reset * from_state[part[2]])
    state = candidate + update * (state - candidate)
    return state @ w["back_weight"] + w["back_bias"], state


def train(random):
    w = make_weights(random)
    adam = gradient.Adam(w.values(), RATE, STEPS)
    for _ in range(STEPS):
        frames, kinds = make_streams(random, BATCH, LENGTH)
        state, loss = gradient.Node(np.zeros((BATCH, HIDDEN))), gradient.Node(0.0)
        for t in range(LENGTH):
            scores, state = step(w, gradient.Node(frames[:, t]), state)
            loss = loss + gradient.cross_entropy(scores, kinds[:, t])
        adam.update(loss * (1.0 / LENGTH))
    return {name: gradient.rounded(node) for name, node in w.items()}


def save(w):
    held = {"front_weight": w["front_weight"], "front_bias": w["front_bias"], "back_weight": w["back_weight"],
            "back_bias": w["back_bias"], "input_weight": w["input_weight"].T[None],
            "state_weight": w["state_weight"].T[None],
            "gate_bias": np.concatenate([w["input_bias"], w["state_bias"]])[None], "first_axis": np.array([0], np.int64)}
    nodes = [helper.make_node("Gemm", ["frame", "front_weight", "front_bias"], ["front"]),
             helper.make_node("Relu", ["front"], ["features"]),
             helper.make_node("Unsqueeze", ["features", "first_axis"], ["sequence"]),
             helper.make_node("GRU", ["sequence", "input_weight", "state_weight", "gate_bias", "", "state_in"],
                              ["", "state_out"], hidden_size=HIDDEN, linear_before_reset=1),
             helper.make_node("Squeeze", ["state_out", "first_axis"], ["memory"]),
             helper.make_node("Gemm", ["memory", "back_weight", "back_bias"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["chances"])]
    inputs = [saving.value("frame", np.float32, [1, FRAME]), saving.value("state_in", np.float32, [1, 1, HIDDEN])]
    outputs = [saving.value("chances", np.float32, [1, CLASSES]), saving.value("state_out", np.float32, [1, 1, HIDDEN])]
    return saving.save_model("tones", nodes, inputs, outputs, [saving.constant(n, a) for n, a in held.items()],
                             "Tone under noise, 32 samples a frame: chances of silence and of four tones.")


def listen(session, frames, remember):
    """Answers for one stream, frame by frame, and what was fed: the state is carried over or cleared each time."""
    state, answers, feeds = np.zeros((1, 1, HIDDEN), np.float32), [], []
    for frame in frames.astype(np.float32):
        feeds.append({"frame": frame[None], "state_in": state if remember else np.zeros_like(state)})
        chances, state = session.run(None, feeds[-1])
        answers.append(chances.argmax())
    return np.array(answers), feeds


def main():
    random = np.random.default_rng(2)
    model = save(train(random))
    session = saving.open_session("tones")
    streams, kinds = make_streams(random, 20, 60)
    for remember, word in ((True, "with"), (False, "without")):
        right = np.mean([listen(session, s, remember)[0] == k for s, k in zip(streams, kinds)])
        print(f"tones: {100 * right:.1f} % of {kinds.size} frames right {word} memory")
    saving.store_sets("tones", model, listen(session, streams[0][:6], True)[1])


if __name__ == "__main__":
    main()
