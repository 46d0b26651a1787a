"""What GCC takes for a convolution, as the memory that it asks for in all (-ftime-report), which other work on the machine does not
change: code that no step needs, and forms of a kernel whose geometry GCC knows too late, make it several times as much.

Skipped where the C compiler is not GCC. The limits are a quarter above what GCC 12 takes.
"""

import os
import re
import subprocess
import sys

import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tools"), os.path.join(HERE, "..", "threads")]

import check_threads as nets
import host

TOTAL = re.compile(r"^ *TOTAL +:.* (\d+)M$", re.M)


def conv(shape, outputs, flags=(), pad=1, **attributes):
    return nets.convolution(shape, outputs, (3, 3), flags, pads=[pad] * 4, **attributes)


# name: the model and its flags, megabytes of GCC 12
MODELS = {
    "usual": (conv((1, 24, 61, 53), 40, ["--winograd=off"]), 54),
    "dilated": (conv((1, 16, 61, 53), 40, ["--winograd=off"], 12, dilations=[12, 12]), 68),
    "depthwise": (conv((1, 96, 57, 59), 96, group=96), 20),
    "winograd": (conv((1, 64, 45, 39), 64, ["--winograd=on"]), 93),
    "open_bytes": (nets.of_bytes((1, 24, "h", "w"), 40, (3, 3), ["--dim", "h=8..61", "--dim", "w=8..53"], pads=[1] * 4, strides=[2, 2]), 90),
    "open": (conv((1, 24, "h", "w"), 40, ["--winograd=off", "--dim", "h=8..61", "--dim", "w=8..53"]), 86),
}


def check(arguments, name):
    (model, flags), usual = MODELS[name]
    path, folder = os.path.join(arguments.work, f"{name}.onnx"), os.path.join(arguments.work, name)
    onnx.save(model, path)
    host.compile_model(host.Toolchain(arguments.occamyc), path, folder, flags)
    report = subprocess.run([arguments.cc, "-std=c99", "-O2", "-ftime-report", "-c", "model.c"], cwd=folder, capture_output=True, text=True).stderr
    taken = int(TOTAL.search(report)[1])
    if taken > usual * 1.25:
        raise host.Failure("wrong", f"GCC takes {taken} MB, {usual} are usual")


def main():
    compiler = sys.argv[sys.argv.index("--cc") + 1]
    if "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        print(f"skipped: {compiler} is not GCC\n0 passed, 0 failed, {len(MODELS)} skipped")
        return
    host.check_each(check, __doc__, MODELS)


main()
