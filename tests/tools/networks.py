"""Measures one whole network: compile, build, run each set of inputs, compare; one printed row.

Tolerance: |error| <= 1e-3 |wanted| + 1e-4 of the output's largest magnitude; where the output of a quantised model is
dequantised, or that and then a softmax, one quantum: integer and rounded float arithmetic part at ties.
"""

import math
import os
import shutil
import time
from dataclasses import dataclass

import numpy as np
from onnx import numpy_helper

import compare
import host

RTOL = 1e-3
HEADING = f"{'network':38} {'state':9} {'sets':>4} {'arena bytes':>12} {'touched':>12} {'error':>9} {'occamyc':>8} {'cc':>7}"


@dataclass
class Row:
    """error: greatest difference over the largest wanted magnitude, of all outputs and sets; tied: only types and ranks were
    compared; times in seconds."""

    name: str
    state: str = "pass"
    reason: str = ""
    outputs: int = 0
    tied: bool = False
    sets: int = 0
    planned: int = 0
    touched: int = 0
    error: float = 0.0
    compile_time: float = 0.0
    build_time: float = 0.0

    def print(self):
        print(f"{self.name:38} {self.state:9} {self.sets:4} {self.planned:12} {self.touched:12} {self.error:9.2e} "
              f"{self.compile_time:7.2f}s {self.build_time:6.1f}s", flush=True)
        if self.reason:
            print(f"    {self.reason}", flush=True)


def flat_tensors(value):
    if isinstance(value, (list, dict)):
        return [t for member in (value.values() if isinstance(value, dict) else value) for t in flat_tensors(member)]
    return [] if value is None else [value]


def scaled_error(want, got):
    """Greatest difference over the largest magnitude of `want`; infinite where they cannot be compared."""
    a, b = compare.widen(want.array()), compare.widen(got.array())
    if a.dtype == object or a.size == 0:
        return 0.0
    if a.shape != b.shape:
        return np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return 0.0
    return float(np.abs(a - b)[both].max() / max(np.abs(a[both]).max(), 1e-30))


def output_quantum(model, name):
    """(relative, absolute) difference that one quantum makes in a float output; zeros where nothing is dequantised."""
    makers = {output: node for node in model.graph.node for output in node.output}
    constants = {t.name: t for t in model.graph.initializer}
    constants.update({n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"})
    node = makers.get(name)
    softmax = node is not None and node.op_type == "Softmax"
    node = makers.get(node.input[0]) if softmax else node
    if node is None or node.op_type != "DequantizeLinear" or node.input[1] not in constants:
        return 0.0, 0.0
    step = 1.001 * float(numpy_helper.to_array(constants[node.input[1]]).max())
    return (math.expm1(step), 0.0) if softmax else (0.0, step)


def check_outputs(row, model, wanted, got):
    for info, want, value in zip(model.graph.output, wanted, got):
        pairs = list(zip(flat_tensors(want), flat_tensors(value)))
        row.error = max([row.error, *(scaled_error(a, b) for a, b in pairs)])
        scale = max([0.0, *(compare.scaled_tolerance(t) for t in flat_tensors(want))])
        relative, absolute = output_quantum(model, info.name)
        quantum = int(any(n.op_type == "QuantizeLinear" for n in model.graph.node))
        reason = compare.compare_value(want, value, RTOL + relative, scale + absolute, quantum)
        if reason:
            raise host.Failure("wrong", f"output '{info.name}': {reason}")


def check_kinds(model, wanted, got):
    for info, want, value in zip(model.graph.output, wanted, got):
        if value is None or (value.dtype, len(value.shape)) != (want.dtype, len(want.shape)):
            raise host.Failure("wrong", f"output '{info.name}' differs in type or rank")


def measure(tools, name, path, model, sets, flags, work, tied=False):
    """`sets`: pairs of input values and wanted values in graph order. The folder stays where something failed.
    `tied`: the network picks among equal scores, so that only types and ranks can be held against the wanted values."""
    row, folder = Row(name, outputs=len(model.graph.output), tied=tied), os.path.join(os.path.abspath(work), name)
    try:
        start = time.time()
        host.compile_model(tools, os.path.abspath(path), folder, flags)
        row.compile_time, start = time.time() - start, time.time()
        host.build_program(tools, folder)
        row.build_time = time.time() - start
        for inputs, wanted in sets:
            run = host.run_program(tools, folder, model, inputs)
            row.sets, row.planned, row.touched = row.sets + 1, run.planned, max(row.touched, run.touched)
            check_kinds(model, wanted, run.outputs) if tied else check_outputs(row, model, wanted, run.outputs)
        shutil.rmtree(folder)
    except host.Failure as failure:
        row.state, row.reason = failure.state, failure.reason
    return row


def close(rows, skipped):
    """Print the closing line; the exit code."""
    failed = sum(row.state != "pass" for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def add_arguments(parser):
    parser.add_argument("--occamyc", required=True, help="the compiler under test")
    parser.add_argument("--cc", default="cc", help="C compiler and its target flags")
    parser.add_argument("--cflags", default=host.STRICT.replace("-O1", "-O2"), help="replace the strict C99 flags")
    parser.add_argument("--literal", action="store_const", const=host.LITERAL, dest="cflags", help="kernels as calls: quick to build")
    parser.add_argument("--runner", default="", help="emulator that the host program is run by")
    parser.add_argument("--flag", action="append", default=[], help="one more argument for occamyc")
    parser.add_argument("--work", default="build/network_runs", help="folder of generated files; failures stay there")


def toolchain(arguments):
    return host.Toolchain(os.path.abspath(arguments.occamyc), arguments.cc, arguments.cflags, flags=arguments.flag, runner=arguments.runner)
