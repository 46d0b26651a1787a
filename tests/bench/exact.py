"""How far the results of quantised networks lie from those of exact sums: where the processor has no dot product of bytes, the
libraries add pairs of products in 16 bits, which may saturate. The oracle is ONNX Runtime with that turned off."""

import subprocess

import library
import numpy as np
import onnx
import programs

EXACT = "session.x64quantprecision"


def build_host(network, cc):
    """The network's host program, whose path it returns."""
    program = network.folder / "host"
    programs.run_quietly([*cc.split(), "-O2", "-march=native", "main.c", "model.c", "-o", program, "-lm", "-pthread"], network.folder)
    return program


def ours(network, cc, inputs):
    """Results of the host program, one array for each set of inputs."""
    program, results = build_host(network, cc), []
    for path in inputs:
        subprocess.run([program, path, "-o", network.folder / "out"], check=True, stdout=subprocess.DEVNULL)
        results.append(np.fromfile(network.folder / "out" / "0.bin", np.float32))
    return results


def theirs(name, path, sets, **options):
    run = getattr(library, "open_" + name)(getattr(library, "import_" + name)(), path, 1, **options)
    return [np.ravel(list(out.values())[0] if hasattr(out, "values") else out[0]) for out in map(run, sets)]


def step_of(model):
    """The scale of the DequantizeLinear that makes the only output."""
    node = next(n for n in model.graph.node if n.output[0] == model.graph.output[0].name)
    return float(onnx.numpy_helper.to_array(next(t for t in model.graph.initializer if t.name == node.input[1])))


def distances(network, cc, libraries):
    """Engine -> outputs in all, those that differ from exact sums, and by how many steps at most."""
    model, inputs = onnx.load(network.model), network.inputs()
    sets, step = library.read_sets(model, programs.SETS, inputs), step_of(model)
    oracle = np.concatenate(theirs("onnxruntime", network.model, sets, config={EXACT: "1"}))
    found = {"ours": ours(network, cc, inputs), **{name: theirs(name, network.model, sets) for name in libraries}}
    result = {}
    for engine, outputs in found.items():
        away = np.round(np.abs(np.concatenate(outputs) - oracle) / step)
        result[engine] = (int(away.size), int((away > 0).sum()), int(away.max()))
    return result
