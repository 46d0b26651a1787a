"""Every planner, order, placement of inputs and share-out over memories gives the same bits, where results follow their inputs through the same memory.

The networks are such that the best plan overlaps what steps read and write: a plan that does not is a failure too.
"""

import os
import re
import sys

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tools"), os.path.join(HERE, "..", "threads")]

import check_threads as nets
import host

FLAGS = host.LITERAL + " -march=native"
REGIONS = ["--region=fast:64K", "--region=middle:280K:128", "--region=slow:8M"]
VARIANTS = ([], ["--planner=first-fit", "--order=model"], ["--planner=bigger-first"], ["--io=arena"], ["--code=shared"],
            REGIONS, [*REGIONS, "--io=arena"], ["--cascade=off"], ["--cascade=on"], ["--cascade=on", *REGIONS, "--code=shared"])

SHARING = ("--in-place=off", "--overlap=off", "--elision=off")
APART = [["--cascade=off", option] for option in SHARING] + [["--cascade=off", "--order=model", *SHARING]]
VARIANTS = (*VARIANTS, *APART, ["--cascade=on", *SHARING, *REGIONS])

RANDOM = np.random.default_rng(11)


def mobile():
    """Convolutions of single pixels that grow, and depthwise ones with strides: the largest tensor holds two."""
    nodes, constants, x, channels = [], {}, "x", 16
    for i, (outputs, stride) in enumerate([(64, 1), (64, 2), (96, 1)]):
        constants[f"d{i}"], constants[f"p{i}"] = nets.weights(channels, 1, 3, 3), nets.weights(outputs, channels, 1, 1)
        nodes += [("Conv", [x, f"d{i}"], f"a{i}", {"group": channels, "pads": [1] * 4, "strides": [stride] * 2}),
                  ("Relu", [f"a{i}"], f"b{i}", {}), ("Conv", [f"b{i}", f"p{i}"], f"c{i}", {}), ("Relu", [f"c{i}"], f"r{i}", {})]
        x, channels = f"r{i}", outputs
    nodes.append(("GlobalAveragePool", [x], "y", {}))
    return nets.network(nodes, (1, 16, 60, 60), constants), 60 * 60 * 64 * 4


def dense(side=56, beside=28 * 28 * 48 * 4 + 8192):
    """A pool into a concatenation's window, and expressions over it that single-pixel convolutions compute: the concatenation, and
    so many bytes beside it."""
    nodes, constants, x, channels = [("MaxPool", ["x"], "m", {"kernel_shape": [2, 2], "strides": [2, 2]})], {}, "m", 32
    for i in range(3):
        constants |= {f"s{i}": abs(nets.weights(1, channels, 1, 1)) + 1, f"t{i}": nets.weights(1, channels, 1, 1),
                      f"p{i}": nets.weights(48, channels, 1, 1), f"k{i}": nets.weights(16, 48, 3, 3)}
        nodes += [("Mul", [x, f"s{i}"], f"a{i}", {}), ("Add", [f"a{i}", f"t{i}"], f"b{i}", {}), ("Relu", [f"b{i}"], f"e{i}", {}),
                  ("Conv", [f"e{i}", f"p{i}"], f"c{i}", {}), ("Relu", [f"c{i}"], f"f{i}", {}),
                  ("Conv", [f"f{i}", f"k{i}"], f"g{i}", {"pads": [1] * 4}), ("Concat", [x, f"g{i}"], f"z{i}", {"axis": 1})]
        x, channels = f"z{i}", channels + 16
    nodes.append(("GlobalMaxPool", [x], "y", {})) # which may take the pixels in any order
    return nets.network(nodes, (1, 32, side, side), constants), (side // 2) ** 2 * 80 * 4 + beside


def strips():
    """The same with larger images: what lies beside the concatenation are strips of rows."""
    return dense(112, 230000)


def residual():
    """A block with a stride, whose shortcut comes first: then the main branch may take its input's place."""
    constants = {"a": nets.weights(64, 16, 1, 1), "b": nets.weights(32, 64, 1, 1), "c": nets.weights(32, 32, 3, 3),
                 "d": nets.weights(128, 32, 1, 1), "e": nets.weights(128, 64, 1, 1)}
    nodes = [("Conv", ["x", "a"], "t", {}), ("Relu", ["t"], "i", {}), ("Conv", ["i", "b"], "u", {}), ("Relu", ["u"], "j", {}),
             ("Conv", ["j", "c"], "v", {"strides": [2, 2], "pads": [1] * 4}), ("Relu", ["v"], "k", {}), ("Conv", ["k", "d"], "m", {}),
             ("Conv", ["i", "e"], "n", {"strides": [2, 2]}), ("Add", ["m", "n"], "o", {}), ("GlobalAveragePool", ["o"], "y", {})]
    return nets.network(nodes, (1, 16, 48, 48), constants), 48 * 48 * 64 * 4 + 24 * 24 * 128 * 4 + 8192


def tiles():
    """Convolutions by Winograd's tiles: each follows its input by groups of them, beside the scratch of one group."""
    nodes, constants, x = [], {}, "x"
    for i in range(3):
        constants[f"w{i}"] = nets.weights(64, 64, 3, 3)
        nodes += [("Conv", [x, f"w{i}"], f"c{i}", {"pads": [1] * 4}), ("Relu", [f"c{i}"], f"r{i}", {})]
        x = f"r{i}"
    nodes.append(("GlobalAveragePool", [x], "y", {}))
    return nets.network(nodes, (1, 64, 64, 64), constants), 64 * 64 * 64 * 4 + 900000


def room():
    """Winograd's scratch of all 16 tiles would be the peak, that of 6 leaves room: two tensors of 524,288 bytes beside each other
    need 1,048,576, three of 196,608 leave 458,752 of them, which holds the scratch of 8 (373,248)."""
    constants = {"a": nets.weights(32, 16, 3, 3), "b": nets.weights(192, 32, 1, 1), "c": nets.weights(192, 192, 3, 3),
                 "d": nets.weights(192, 192, 3, 3)}
    nodes = [("Conv", ["x", "a"], "s", {"pads": [1] * 4}), ("Relu", ["s"], "t", {}), ("Softmax", ["t"], "u", {"axis": 3}),
             ("Add", ["t", "u"], "v", {}), ("MaxPool", ["v"], "p", {"kernel_shape": [4, 4], "strides": [4, 4]}),
             ("Conv", ["p", "b"], "q", {}), ("Conv", ["q", "c"], "e", {"pads": [1] * 4}), ("Relu", ["e"], "f", {}),
             ("Conv", ["f", "d"], "g", {"pads": [1] * 4}), ("Add", ["g", "q"], "h", {}), ("GlobalAveragePool", ["h"], "y", {})]
    return nets.network(nodes, (1, 16, 64, 64), constants), 2 * 64 * 64 * 32 * 4


def enlarged():
    """Resizes along one axis at a time: each result ends where its input did, and is made from its front on."""
    up = np.array([1, 1, 2, 2], np.float32)
    constants = {"w": nets.weights(16, 16, 1, 1), "up": up, "down": up * np.float32(0.2083334)}
    constants["down"][:2] = 1
    nodes = [("Conv", ["x", "w"], "c", {}), ("Relu", ["c"], "r", {}), ("Resize", ["r", "", "up"], "n", {"mode": "nearest"}),
             ("Resize", ["n", "", "up"], "l", {"mode": "linear"}), ("Relu", ["l"], "s", {}),
             ("Resize", ["s", "", "down"], "d", {"mode": "cubic"}), ("GlobalAveragePool", ["d"], "y", {})]
    return nets.network(nodes, (1, 16, 24, 24), constants), 96 * 96 * 16 * 4 + 4 * 96 * 16 * 4


def cascade():
    """Inverted bottlenecks behind a first convolution, one with a residual and a large window, and a pool: none of the large
    tensors lies in memory as a whole."""
    nodes, constants, x, channels = [], {}, "x", 3

    def conv(name, outputs, size=1, stride=1, group=1, act=True):
        nonlocal x, channels
        constants[name] = nets.weights(outputs, channels // group, size, size)
        nodes.append(("Conv", [x, name], f"{name}c", {"pads": [size // 2] * 4, "strides": [stride] * 2, "group": group}))
        x, channels = f"{name}c", outputs
        if act:
            nodes.append(("Relu", [x], f"{name}r", {}))
            x = f"{name}r"

    conv("a", 32, 3, 2)
    for i, (outputs, size, stride) in enumerate([(16, 3, 1), (24, 3, 2), (24, 5, 1)]):
        before = x
        conv(f"e{i}", channels * 4)
        conv(f"d{i}", channels, size, stride, channels)
        conv(f"p{i}", outputs, act=False)
        if size == 5:
            nodes.append(("Add", [before, x], "sum", {}))
            x = "sum"
    conv("b", 160, 3)
    nodes += [("MaxPool", [x], "m", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}), ("GlobalAveragePool", ["m"], "y", {})]
    return nets.network(nodes, (1, 3, 176, 176), constants), 760000


def quantised():
    """The same of bytes: their padding holds zero points, means and maxima are stages too, and several readers share bytes."""
    nodes, channels = [], 3
    constants = {"s": np.float32(0.04), "z": np.uint8(121)}

    def store(value):
        nodes.extend([("QuantizeLinear", [value, "s", "z"], f"{value}q", {}), ("DequantizeLinear", [f"{value}q", "s", "z"], f"{value}d", {})])
        return f"{value}d"

    def conv(x, name, outputs, size=1, stride=1, group=1, pads=None):
        nonlocal channels
        constants[f"{name}w"] = RANDOM.integers(-127, 128, (outputs, channels // group, size, size), np.int8)
        constants[f"{name}s"] = RANDOM.uniform(1, 2, outputs).astype(np.float32) / (60 * size * (channels // group) ** 0.5)
        nodes.extend([("DequantizeLinear", [f"{name}w", f"{name}s"], f"{name}f", {"axis": 0}),
                      ("Conv", [x, f"{name}f"], name, {"pads": pads or [size // 2] * 4, "strides": [stride] * 2, "group": group})])
        channels = outputs
        return store(name)

    x = conv(store("x"), "a", 24, 3, 2)
    for i, (outputs, size, stride) in enumerate([(16, 3, 1), (24, 3, 2), (24, 5, 1)]):
        before, x = x, conv(x, f"e{i}", channels * 4)
        x = conv(x, f"d{i}", channels, size, stride, channels)
        x = conv(x, f"p{i}", outputs)
        if size == 5:
            nodes.append(("Add", [before, x], "sum", {}))
            x = store("sum")
    x = conv(x, "b", 160, 3, pads=[0, 1, 2, 1])
    nodes.append(("MaxPool", [x], "m", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}))
    x = conv(store("m"), "c", 96)
    nodes.append(("Sigmoid", [x], "g", {}))
    nodes.append(("Mul", [x, store("g")], "t", {}))
    x = store("t")
    nodes.append(("AveragePool", [x], "n", {"kernel_shape": [2, 2], "strides": [2, 2]}))
    nodes.append(("GlobalAveragePool", [store("n")], "y", {}))
    return nets.network(nodes, (1, 3, 176, 176), constants), 128000


def normalised():
    """Normalisation by neighbours needs nothing but its input and its result."""
    nodes = [("Conv", ["x", "w"], "c", {}), ("Relu", ["c"], "r", {}), ("LRN", ["r"], "n", {"size": 5}), ("GlobalAveragePool", ["n"], "y", {})]
    return nets.network(nodes, (1, 8, 48, 48), {"w": nets.weights(32, 8, 1, 1)}), 2 * 48 * 48 * 32 * 4


def halves():
    """One half goes round a convolution, and part of what both join is read on: with the whole's pitch, or copied."""
    constants = {"a": nets.weights(64, 16, 1, 1), "b": nets.weights(32, 32, 3, 3), "c": nets.weights(16, 48, 1, 1)}
    constants |= {"from": np.array([8]), "to": np.array([56]), "axis": np.array([1])}
    nodes = [("Conv", ["x", "a"], "t", {}), ("Relu", ["t"], "r", {}), ("Slice", ["r", "zero", "half", "axis"], "u", {}),
             ("Slice", ["r", "half", "all", "axis"], "v", {}), ("Conv", ["v", "b"], "w", {"pads": [1] * 4}), ("Relu", ["w"], "s", {}),
             ("Concat", ["u", "s"], "j", {"axis": 1}), ("Slice", ["j", "from", "to", "axis"], "p", {}), ("Conv", ["p", "c"], "q", {}),
             ("GlobalAveragePool", ["q"], "y", {})]
    constants |= {"zero": np.array([0]), "half": np.array([32]), "all": np.array([64])}
    return nets.network(nodes, (1, 16, 40, 40), constants), 40 * 40 * 128 * 4


def below_zero():
    """A pool with padding whose input is negative everywhere: what pads a strip is less than any number."""
    constants = {"a": abs(nets.weights(32, 3, 3, 3)), "b": -abs(nets.weights(48, 32, 3, 3))}
    nodes = [("Conv", ["x", "a"], "t", {"pads": [1] * 4}), ("Relu", ["t"], "r", {}), ("Conv", ["r", "b"], "u", {"pads": [1] * 4}),
             ("MaxPool", ["u"], "y", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4})]
    return nets.network(nodes, (1, 3, 176, 176), constants, result=(1, 48, 88, 88)), 191520


def shown():
    """An image of three channels of a wide one, whose strips are read without gaps: lanes run along its inputs, strips or not."""
    constants = {"a": nets.weights(64, 3, 3, 3), "b": nets.weights(3, 64, 5, 5)}
    nodes = [("Conv", ["x", "a"], "t", {"pads": [1] * 4}), ("Relu", ["t"], "r", {}), ("Conv", ["r", "b"], "y", {"pads": [2] * 4})]
    return nets.network(nodes, (1, 3, 96, 96), constants), 96 * 96 * 16 * 4


def cropped():
    """Windows that begin inside their input, which no strip does: padding of fewer than no rows."""
    constants = {"a": nets.weights(16, 3, 3, 3), "b": nets.weights(16, 16, 3, 3), "d": nets.weights(16, 1, 3, 3)}
    nodes = [("Conv", ["x", "a"], "t", {"pads": [1] * 4}), ("Conv", ["t", "b"], "u", {"pads": [-1] * 4}),
             ("Conv", ["u", "d"], "v", {"pads": [-2] * 4, "group": 16}),
             ("MaxPool", ["v"], "m", {"kernel_shape": [2, 2], "strides": [2, 2]}), ("GlobalAveragePool", ["m"], "y", {})]
    return nets.network(nodes, (1, 3, 72, 72), constants, result=(1, 16, 1, 1)), 72 * 72 * 16 * 4 + 16384


def columns():
    """Sums along an axis to which a column is joined: their order must not depend on whether the members are computed in their place."""
    nodes = [("Tanh", ["x"], "t", {}), ("ReduceMax", ["x"], "m", {"axes": [3]}), ("Concat", ["t", "m"], "j", {"axis": 3}),
             ("Softmax", ["j"], "s", {"axis": 3}), ("Sigmoid", ["j"], "g", {}), ("Softmax", ["g"], "h", {"axis": 3}), ("Add", ["s", "h"], "y", {})]
    return nets.network(nodes, (1, 160, 1, 300), {}), 3 * 160 * 301 * 4


MODELS = {"columns": columns, "cascade": cascade, "quantised": quantised, "halves": halves, "below_zero": below_zero, "cropped": cropped, "mobile": mobile, "dense": dense,
          "strips": strips, "shown": shown, "residual": residual, "tiles": tiles, "room": room, "enlarged": enlarged, "normalised": normalised}
BY_WINOGRAD = ("tiles", "room")


def arena_size(folder):
    with open(os.path.join(folder, "model.h")) as file:
        return int(re.search(r"ARENA_SIZE (\d+)", file.read())[1])


def tiles_together(folder):
    """Of each of Winograd's steps, how many tiles it transforms together."""
    with open(os.path.join(folder, "model.c")) as file:
        return [int(n) for n in re.findall(r"const occ_lots lots = \{\d+, (\d+),", file.read())]


def regions_used(folder):
    with open(os.path.join(folder, "model.h")) as file:
        return len(re.findall(r"define \w+_(?:FAST|MIDDLE|SLOW)_SIZE [1-9]", file.read()))


def check_sharing(sizes):
    """Arenas with everything, without each way to share memory, and without any: none makes a plan larger."""
    shared, *single, apart = sizes
    if min(single) < shared or max(single) > apart or apart < shared:
        raise host.Failure("wrong", f"of {SHARING} each alone and all of them make of {shared} bytes {', '.join(map(str, single + [apart]))}")


def check(arguments, name):
    model, most = MODELS[name]()
    path = os.path.join(arguments.work, f"{name}.onnx")
    onnx.save(model, path)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    data = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    tools, first = host.Toolchain(arguments.occamyc, arguments.cc, FLAGS), None
    guarded = host.Toolchain(arguments.occamyc, arguments.cc, FLAGS + " -DOCC_GUARD")
    io = [np.prod([d.dim_value for d in v.type.tensor_type.shape.dim]) * 4 for v in (*model.graph.input, *model.graph.output)]
    least = [f"--max-ram={int(most * 1.03 + sum(io))}"]
    for i, variant in enumerate([*VARIANTS, least]):
        if name in BY_WINOGRAD and "--cascade=on" in variant: # tiles begin at other rows then
            continue
        folder = os.path.join(arguments.work, name, str(i))
        weights = ["--weights=file"] if variant or name == "room" else [] # C compilers take seconds for megabytes of numbers in the text
        host.compile_model(tools, path, folder, ["--winograd=on" if name in BY_WINOGRAD else "--winograd=off", *weights, *variant])
        host.build_program(guarded if REGIONS[0] in variant else tools, folder)
        bits = nets.answer(folder, data)
        if variant == least and arena_size(folder) > most * 1.03:
            raise host.Failure("wrong", f"the arena has {arena_size(folder)} bytes, overlap would need about {most}")
        if name == "room" and variant == least and tiles_together(folder) != [64, 8, 8]:
            raise host.Failure("wrong", f"groups of {tiles_together(folder)} tiles; the arena has room for 64, 8 and 8")
        if REGIONS[0] in variant and regions_used(folder) < 2:
            raise host.Failure("wrong", f"{' '.join(variant)}: all lies in one memory")
        first = bits if first is None else first
        if bits != first:
            raise host.Failure("wrong", f"{' '.join(variant)} gives other bits than no option")
    check_sharing([arena_size(os.path.join(arguments.work, name, str(VARIANTS.index(variant)))) for variant in (["--cascade=off"], *APART)])


host.check_each(check, __doc__, MODELS)
