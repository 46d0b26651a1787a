"""Makes digits.onnx, a convolutional recogniser of handwritten digits, its int8 twin digits_int8.onnx, and digits/*.

Data: the 1,797 images of 8x8 pixels that come with scikit-learn; every fifth is kept from training. Prints the accuracy
of both files on those, as ONNX Runtime computes it.
"""

import os
import shutil

import numpy as np
from onnx import helper
from sklearn.datasets import load_digits

import gradient
import quantise
import saving

CHANNELS = (12, 24)
STEPS, BATCH, RATE = 1200, 64, 4e-3
ACTIVATIONS = ("image", "relu1", "relu2", "scores")


def load_images():
    """(training images [N, 1, 8, 8] in 0..1, their labels, test images, their labels)"""
    data = load_digits()
    images, labels = data.images[:, None] / 16.0, data.target
    test = np.arange(len(labels)) % 5 == 0
    return images[~test], labels[~test], images[test], labels[test]


def make_weights(random):
    first, second = CHANNELS
    nodes = [gradient.start(random, first, 1, 3, 3, fan_in=9 / 2), gradient.Node(np.zeros(first)),
             gradient.start(random, second, first, 3, 3, fan_in=first * 9 / 2), gradient.Node(np.zeros(second)),
             gradient.start(random, second * 4, 10), gradient.Node(np.zeros(10))]
    return dict(zip(("weight1", "bias1", "weight2", "bias2", "weight3", "bias3"), nodes))


def forward(w, images):
    """[N, 1, 8, 8] -> [N, 12, 4, 4] -> [N, 24, 2, 2] -> [N, 10]"""
    x = gradient.max_pool2x2(gradient.relu(gradient.convolve3x3(gradient.Node(images), w["weight1"], w["bias1"])))
    x = gradient.max_pool2x2(gradient.relu(gradient.convolve3x3(x, w["weight2"], w["bias2"])))
    return x.reshape(len(images), -1) @ w["weight3"] + w["bias3"]


def shift_images(random, images):
    """Half of a batch moved by a pixel, so that the recogniser does not count on the position."""
    moved = np.roll(images, random.integers(-1, 2, 2), (2, 3))
    return np.where(random.random((len(images), 1, 1, 1)) < 0.5, images, moved)


def train(random, images, labels):
    w = make_weights(random)
    adam = gradient.Adam(w.values(), RATE, STEPS)
    for _ in range(STEPS):
        chosen = random.integers(0, len(labels), BATCH)
        adam.update(gradient.cross_entropy(forward(w, shift_images(random, images[chosen])), labels[chosen]))
    weights = {name: gradient.rounded(node) for name, node in w.items()}
    weights["weight3"] = np.ascontiguousarray(weights["weight3"].T)        # [10, 96], as Gemm's transB wants it
    return weights


def pool(source, target):
    return helper.make_node("MaxPool", [source], [target], kernel_shape=[2, 2], strides=[2, 2])


def ends():
    return [saving.value("image", np.float32, [1, 1, 8, 8])], [saving.value("scores", np.float32, [1, 10])]


def save_float(w):
    nodes = [helper.make_node("Conv", ["image", "weight1", "bias1"], ["conv1"], kernel_shape=[3, 3], pads=[1] * 4),
             helper.make_node("Relu", ["conv1"], ["relu1"]), pool("relu1", "pool1"),
             helper.make_node("Conv", ["pool1", "weight2", "bias2"], ["conv2"], kernel_shape=[3, 3], pads=[1] * 4),
             helper.make_node("Relu", ["conv2"], ["relu2"]), pool("relu2", "pool2"),
             helper.make_node("Flatten", ["pool2"], ["features"]),
             helper.make_node("Gemm", ["features", "weight3", "bias3"], ["scores"], transB=1)]
    return saving.save_model("digits", nodes, *ends(), [saving.constant(n, a) for n, a in w.items()],
                             "Handwritten digits: image in 0..1, dark is 1; the greatest score names the digit.")


def calibrate(w, images):
    """Least and greatest value of each activation over the training images."""
    nodes = {name: gradient.Node(array if name != "weight3" else array.T) for name, array in w.items()}
    relu1 = gradient.relu(gradient.convolve3x3(gradient.Node(images), nodes["weight1"], nodes["bias1"]))
    relu2 = gradient.relu(gradient.convolve3x3(gradient.max_pool2x2(relu1), nodes["weight2"], nodes["bias2"]))
    values = (images, relu1.value, relu2.value, forward(nodes, images).value)
    return {name: (round(float(v.min()), 4), round(float(v.max()), 4)) for name, v in zip(ACTIVATIONS, values)}


def save_int8(w, ranges):
    """Pooling keeps the grid of what it reads, so its QDQ pair repeats it."""
    ranges = ranges | {"pool1": ranges["relu1"], "pool2": ranges["relu2"], "features": ranges["relu2"]}
    q = quantise.Quantiser(ranges)
    q.activation("image")
    for n, source in (("1", "image"), ("2", "pool1")):
        q.layer("Conv", source, "conv" + n, w["weight" + n], w["bias" + n], kernel_shape=[3, 3], pads=[1] * 4)
        q.nodes.append(helper.make_node("Relu", ["conv" + n], ["relu" + n]))
        q.nodes.append(pool(q.activation("relu" + n), "pool" + n))
        q.activation("pool" + n)
    q.nodes.append(helper.make_node("Flatten", ["pool2_rounded"], ["features_rounded"]))
    q.layer("Gemm", "features", "scores", w["weight3"], w["bias3"], transB=1)
    q.nodes[-1].output[0] = "scores_exact"
    q.ranges["scores_exact"] = ranges["scores"]
    q.activation("scores_exact")
    q.nodes[-1].output[0] = "scores"
    return saving.save_model("digits_int8", q.nodes, *ends(), q.constants,
                             "The int8 form of digits.onnx: weights per channel, activations per tensor.")


def accuracy(name, images, labels):
    session = saving.open_session(name)
    right = sum(session.run(None, {"image": image[None].astype(np.float32)})[0].argmax() == label
                for image, label in zip(images, labels))
    return right / len(labels)


def save_images(images, labels):
    """The first two test images of each digit: digits/NN.bin (float32, as the models read it), NN.pgm, labels.txt."""
    folder = os.path.join(saving.HERE, "digits")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    chosen = sorted(i for digit in range(10) for i in np.flatnonzero(labels == digit)[:2])
    with open(os.path.join(folder, "labels.txt"), "w") as truth:
        for n, i in enumerate(chosen):
            images[i].astype("<f4").tofile(os.path.join(folder, f"{n:02}.bin"))
            rows = "\n".join(" ".join(f"{int(round(16 - 16 * p)):2}" for p in row) for row in images[i][0])
            with open(os.path.join(folder, f"{n:02}.pgm"), "w") as file:
                file.write(f"P2\n8 8\n16\n{rows}\n")
            truth.write(f"{n:02} {labels[i]}\n")
    return [{"image": images[i][None].astype(np.float32)} for i in chosen[:3]]


def main():
    random = np.random.default_rng(1)
    images, labels, test_images, test_labels = load_images()
    w = train(random, images, labels)
    feeds = save_images(test_images, test_labels)
    for name, model in (("digits", save_float(w)), ("digits_int8", save_int8(w, calibrate(w, images)))):
        saving.store_sets(name, model, feeds)
        print(f"{name}: {100 * accuracy(name, test_images, test_labels):.2f} % of {len(test_labels)} unseen images right")


if __name__ == "__main__":
    main()
