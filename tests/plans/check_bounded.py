"""Networks whose height and width are known only while running are planned like those with constants: at the upper bounds the arena
is at most a fiftieth larger, the run-time integers not counted. Products of a length known only while running fetch their
weights ahead. Members of a concatenation are computed in their places. Nothing is built."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))

import extent_cases
import extent_nets

DIVIDE = 4  # of the channels: planning alone takes the time
# Options, and how much larger the arena may be. Strips that are wanted whatever they cost: with constants the rows behind the loop
# are no bytes of the loop, and they may be many.
VARIANTS = ([], 1.02), (["--cascade=off"], 1.02), (["--winograd=off", "--io=arena"], 1.02), (["--overlap=off"], 1.02), (["--cascade=on"], 1.2)


def plan(occamyc, path, options):
    """Bytes of the arena, and of the run-time integers."""
    done = subprocess.run([occamyc, path, "--target=x86-64-v3", "--dump=plan", *options], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{path}: exit {done.returncode} with {' '.join(options)}")
    extents = re.search(r"buffer \d+ at (\d+)\.\.(\d+) [^\n]*'\d*:?extents'", done.stdout)
    return int(re.search(r"plan: peak (\d+)", done.stdout).group(1)), int(extents.group(2)) - int(extents.group(1)) if extents else 0


def paces(occamyc, path, bound):
    """Steps of k for each cache line that is fetched ahead, of all convolutions and products: 0 where the kernel chooses."""
    done = subprocess.run([occamyc, path, "--target=x86-64-v3", "--dump=program", f"--dim=L={bound}"], stdout=subprocess.PIPE, text=True)
    return {int(pace) for pace in re.findall(r": conv_f32 [^\n]* \[0,0,(-?\d+)\] ", done.stdout)}


def check_paces(args):
    """Of the 22 tiles that BERT's products have at the bound each fetches some of two lines for every row of a panel: a line in 16 steps."""
    path = os.path.join(args.work, "bert.onnx")
    onnx.save(extent_cases.CASES["bert"].model(None), path)
    found = paces(args.occamyc, path, 128), paces(args.occamyc, path, "1..128"), paces(args.occamyc, path, "1..6")
    good = found == ({0}, {16}, {1})
    print(f"{'pass' if good else 'FAIL'} paces of products {found}")
    return good


def integers(net, name, values):
    net.weights.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
    return name


def focus(height, width):
    """Every second row and column, four times, as channels of a convolution: what YOLOX begins with."""
    net, parts = extent_nets.Network(), []
    for i, (row, column) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
        numbers = [integers(net, f"{name}{i}", value) for name, value in (("from", [row, column]), ("to", [2**31, 2**31]), ("axes", [2, 3]),
                                                                         ("step", [2, 2]))]
        parts.append(net.node("Slice", ["input", *numbers], f"part{i}"))
    y = net.layer(net.layer(net.node("Concat", parts, "parts", axis=1), 12, 16), 16, 16, 3, 2)
    graph = helper.make_graph(net.nodes, "focus", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, height, width])],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None] * 4)], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check_focus(args):
    """The parts are joined in the layout that the convolution reads."""
    sizes = []
    for kind, extents, options in (("constant", (416, 416), []), ("bounded", ("H", "W"), ["--dim=H=32..416", "--dim=W=32..416"])):
        path = os.path.join(args.work, f"focus_{kind}.onnx")
        onnx.save(focus(*extents), path)
        bytes_, own = plan(args.occamyc, path, options)
        sizes.append(bytes_ - own)
    good = sizes[1] <= 1.02 * sizes[0]
    print(f"{'pass' if good else 'FAIL'} focus {sizes}")
    return good


def joins(height, width):
    """Members of one concatenation: a convolution, a pool, and the sum of two."""
    net = extent_nets.Network()
    x = net.layer("input", 3, 16)
    pool = net.node("MaxPool", [x], "pool", kernel_shape=[3, 3], pads=[1] * 4)
    both = net.node("Add", [net.layer(x, 16, 16), net.layer(x, 16, 16, 1)], "both")
    y = net.layer(net.node("Concat", [net.layer(x, 16, 24), pool, both], "parts", axis=1), 56, 16)
    graph = helper.make_graph(net.nodes, "joins", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, height, width])],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None] * 4)], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check_joins(args):
    """Nothing is copied but the result into the caller's memory, with run-time extents as with constants."""
    copies = []
    for kind, extents, options in (("constant", (64, 64), []), ("bounded", ("H", "W"), ["--dim=H=8..64", "--dim=W=8..64"])):
        path = os.path.join(args.work, f"joins_{kind}.onnx")
        onnx.save(joins(*extents), path)
        done = subprocess.run([args.occamyc, path, "--target=x86-64-v3", "--dump=program", *options], stdout=subprocess.PIPE, text=True, check=True)
        copies.append(len(re.findall(r": copy_f32 ", done.stdout)))
    good = copies[0] == copies[1]
    print(f"{'pass' if good else 'FAIL'} copies of members of a concatenation {copies}")
    return good


def check_orders(args):
    """A network of 275 small steps, whose order decides: as good an order is found with bounds. None: its file is not there."""
    case = extent_cases.CASES["gtcrn_simple"]
    model = case.model(Path(args.real))
    if model is None:
        print(f"skipped: {args.real} has no gtcrn_simple")
        return None
    path = os.path.join(args.work, "gtcrn_simple.onnx")
    onnx.save(model, path)
    (constant, own), (bounded, integers) = plan(args.occamyc, path, ["--dim=L=16"]), plan(args.occamyc, path, ["--dim=L=1..16"])
    good = bounded - integers <= 1.02 * (constant - own)
    print(f"{'pass' if good else 'FAIL'} gtcrn_simple {constant} {bounded}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--real", required=True, help="the folder of trained networks")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    checks = [check_paces(args), check_focus(args), check_joins(args), check_orders(args)]
    passed, failed, skipped = checks.count(True), checks.count(False), checks.count(None)
    for name, (_, most, least) in extent_nets.NETWORKS.items():
        paths = [os.path.join(args.work, f"{name}_{kind}.onnx") for kind in ("constant", "bounded")]
        for path, extents in zip(paths, ((most, most), ("H", "W"))):
            onnx.save(extent_nets.model(name, *extents, DIVIDE), path)
        for options, most_ratio in VARIANTS:
            constant, own = plan(args.occamyc, paths[0], options)
            bounded, integers = plan(args.occamyc, paths[1], [f"--dim={d}={least}..{most}" for d in "HW"] + options)
            ratio = (bounded - integers) / (constant - own)
            good = ratio <= most_ratio
            passed, failed = passed + good, failed + (not good)
            print(f"{'pass' if good else 'FAIL'} {name:14} {' '.join(options) or '(default)':28} {constant:9} {bounded:9} {ratio:.4f}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
