"""Files for --tuned: one way to compute each convolution of a model whose extents are known."""

import os

import onnx
from onnx import helper

WAYS = ("direct 1 0", "direct 2 0", "direct 4 0", "direct 4 0", "direct 0 -1", "direct 4 -1", "winograd 2", "winograd 4")


def known_extents(model):
    """{value: its extents, all of which are numbers}."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    found = {t.name: list(t.dims) for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        dims = info.type.tensor_type.shape.dim
        if dims and all(d.HasField("dim_value") for d in dims):
            found[info.name] = [d.dim_value for d in dims]
    return found


def shape_of(node, extents):
    """A convolution as a line of --tuned names it, or None."""
    x, w, y = (extents.get(name) for name in (node.input[0], node.input[1], node.output[0]))
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if not x or not w or not y or given.get("auto_pad", b"NOTSET") != b"NOTSET":
        return None
    axes, group = len(x) - 2, given.get("group", 1)

    def three(name, values, fill=1):
        return f"{name}=" + ",".join(map(str, [fill] * (3 - axes) + list(values)))
    ones = [1] * axes
    return " ".join([f"conv_f32 batch={x[0]} groups={group} inputs={w[1]} outputs={w[0] // group}", three("in", x[2:]), three("out", y[2:]),
                     three("kernel", w[2:]), three("stride", given.get("strides", ones)), three("dilation", given.get("dilations", ones)),
                     three("pad", given.get("pads", [0] * axes)[:axes], 0)])


def write(path, model, way):
    """Whether there is a convolution to write of."""
    try:
        extents = known_extents(model)
    except Exception:                                # inference refuses what it does not know
        return False
    shapes = [shape_of(node, extents) for node in model.graph.node if node.op_type == "Conv"]
    lines = dict.fromkeys(f"{shape} : {way}\n" for shape in shapes if shape)
    with open(path, "w") as file:
        file.writelines(lines)
    return bool(lines)


def keep(options, folder):
    """The options, a file of --tuned among them copied to a folder."""
    kept = []
    for option in options:
        name, _, path = option.partition("=")
        if name == "--tuned":
            with open(path) as file, open(os.path.join(folder, "ways.tuned"), "w") as copy:
                copy.write(file.read())
            option = "--tuned=" + os.path.join(folder, "ways.tuned")
        kept.append(option)
    return kept
