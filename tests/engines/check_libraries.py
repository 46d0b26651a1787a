"""--dump=libraries of one model that has each form of line, against tests/engines/libraries.txt, and what it says of memory against the
plan of --report: check_libraries.py --occamyc=PROGRAM [--write]."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

import nets

HERE = pathlib.Path(__file__).parent
ALIGN = 256      # bytes, of a workspace
MODEL = """<ir_version: 9, opset_import: ["" : 17]>
net (float[2,4,10,8] x, float[2,3,5,6] a, float[2,3,6,7] b, float[2,4,L] open)
    => (float[2,8,5,4] tanh, float[2,8,5,4] grouped, float[2,3,5,7] product, float[2,6,M] opened, float[2,3,5,6] linear) {
    first = Conv <kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (x, w1, b1)
    leaky = LeakyRelu <alpha=0.125> (first)
    second = Conv <kernel_shape=[3,1], dilations=[2,1], pads=[2,0,2,0]> (leaky, w2)
    side = Conv <kernel_shape=[1,1], strides=[2,2]> (x, w6)
    sum = Add (second, side)
    residual = Relu (sum)
    third = Conv <kernel_shape=[1,1], group=2> (residual, w3, b1)
    grouped = Relu (third)
    fourth = Conv <kernel_shape=[1,1]> (residual, w4, b1)
    tanh = Tanh (fourth)
    product = MatMul (a, b)
    opened = Conv <kernel_shape=[1]> (open, w5)
    wide = MatMul (a, w7)
    shifted = Add (wide, b2)
    bent = LeakyRelu <alpha=0.25> (shifted)
    narrow = MatMul (bent, w8)
    moved = Add (narrow, b3)
    linear = Add (moved, a)
}"""
WEIGHTS = {"w1": (8, 4, 3, 3), "w2": (8, 8, 3, 1), "w3": (8, 4, 1, 1), "w4": (8, 8, 1, 1), "w5": (6, 4, 1), "w6": (8, 4, 1, 1), "w7": (6, 9), "w8": (9, 6), "b1": (8,), "b2": (9,), "b3": (6,)}


def room(report, step):
    """(live, hole) of a step: bytes of the device's memory in use, and of the largest aligned gap between them."""
    device = report["memory"]["regions"][0]
    used = {(b["offset"] + lo, b["offset"] + hi) for b in report["buffers"] if b.get("region") == 0
            for begin, end, lo, hi in b["spans"] if begin <= step < end}
    busy = numpy.zeros(device["peak"] + 1, bool)
    for lo, hi in used:
        busy[lo:hi] = True
    live, hole = int(busy.sum()), 0
    busy[-1] = True
    for start in range(0, device["peak"], ALIGN):
        hole = max(hole, int(busy[start:].argmax()))
    return live, hole


def fields(text):
    return dict(word.split("=") for word in text.split(" key=")[0].split())


def check_memory(report, lines):
    """What is wrong with the memory that the lines tell of."""
    head = fields(lines[0].removeprefix("memory "))
    resident = sum(b["bytes"] for b in report["buffers"] if b["kind"] == "resident" and b.get("region") == 0)
    if (int(head["peak"]), int(head["constants"])) != (report["memory"]["regions"][0]["peak"], resident):
        yield f"{lines[0]}: the report has another peak or other constants"
    for line in lines[1:]:
        told = fields(line.split(" : ")[1])
        if (int(told["live"]), int(told["hole"])) != room(report, int(told["step"])):
            yield f"{line}: the report's plan leaves {room(report, int(told['step']))}"
        if int(told["shared"]) != (4 * 2 * 8 * 5 * 4 if "=add+relu " in line else 4 * 2 * 3 * 5 * 6 if "=add " in line else 0):
            yield f"{line}: all of the residual is overwritten in place, and nothing else"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--occamyc", required=True)
    arguments.add_argument("--write", action="store_true")
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, report = f"{folder}/net.onnx", f"{folder}/net.json"
        nets.save(model, MODEL, WEIGHTS)
        command = [args.occamyc, model, "--target=cuda", "--dim", "L=1..9"]
        done = subprocess.run([*command, "--dump=libraries"], capture_output=True, text=True, check=True)
        subprocess.run([*command, "--quiet", f"--report={report}"], check=True)
        told = json.loads(pathlib.Path(report).read_text())
        tensor = subprocess.run([*command, "--tf32", "--dump=libraries"], capture_output=True, text=True, check=True)
    golden = HERE / "libraries.txt"
    if args.write:
        golden.write_text(done.stdout)
    wrong = list(check_memory(told, done.stdout.splitlines()))
    if done.stdout != golden.read_text():
        wrong.append(f"{golden}: --dump=libraries prints\n{done.stdout}")
    if tensor.stdout != done.stdout.replace("factors=f32", "factors=tf32"):
        wrong.append(f"--tf32 changes more than the factors:\n{tensor.stdout}")
    print("\n".join([*wrong, f"{3 - len(wrong[:3])} passed, {len(wrong[:3])} failed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
