"""A library as a process that a benchmark talks to, with the words of driver.c.

library.py onnxruntime|openvino|ncnn|emx THREADS MODEL.onnx OPENED SETS FILE... (raw inputs, all of set 0 first)
OPENED is the file that the library reads: see peers.py. Time to the first result counts from before the library is imported,
memory from after that: both to its favour.
"""

import ctypes
import os
import sys
import time

import numpy as np
import onnx

WARM, SLOW_WARM = 10, 2
SECOND = 10**9


def resident():
    """Bytes of this process in memory, its files' pages included."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def tensors(values):
    """(name, element type, extents) of inputs or outputs."""
    return [(v.name, onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type),
             [d.dim_value for d in v.type.tensor_type.shape.dim]) for v in values]


def read_sets(model, count, paths):
    """The inputs of each set by name, as the model's element types and extents say."""
    constants = {t.name for t in model.graph.initializer}
    inputs = tensors(i for i in model.graph.input if i.name not in constants)
    return [{name: np.fromfile(path, dtype).reshape(shape)
             for (name, dtype, shape), path in zip(inputs, paths[s * len(inputs):])} for s in range(count)]


def import_onnxruntime():
    import onnxruntime

    return onnxruntime


def open_onnxruntime(onnxruntime, path, threads, model=None, config=()):
    options = onnxruntime.SessionOptions()
    for key in config:
        options.add_session_config_entry(key, config[key])
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def import_openvino():
    import openvino

    return openvino


def open_openvino(openvino, path, threads, model=None):
    core = openvino.Core()
    model = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                             "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1})
    request = model.create_infer_request()
    return lambda feeds: request.infer(feeds, share_inputs=True)


def import_ncnn():
    import ncnn

    return ncnn


def open_ncnn(ncnn, path, threads, model):
    net = ncnn.Net()
    net.opt.num_threads = threads
    for half in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic"): # single precision, as everybody else
        setattr(net.opt, half, False)
    if net.load_param(path) or net.load_model(path.removesuffix("param") + "bin"):
        raise SystemExit("ncnn cannot read the converted network")

    def run(feeds):
        extractor = net.create_extractor()
        for name, image in zip(net.input_names(), feeds.values()):
            extractor.input(name, ncnn.Mat(image[0]))
        return [np.array(extractor.extract(name)[1]) for name in net.output_names()]

    return run


def import_emx():
    return ctypes


def open_emx(module, path, threads, model):
    """The function takes its inputs and outputs in order, as plain arrays."""
    code, results = module.CDLL(path), [np.zeros(shape, dtype) for _, dtype, shape in tensors(model.graph.output)]
    weights = path.removesuffix("so") + "bin"
    if os.path.exists(weights) and not module.c_bool(code.net_load(weights.encode())):
        raise SystemExit("the weights cannot be read")

    def run(feeds):
        code.net(*(module.c_void_p(array.ctypes.data) for array in (*feeds.values(), *results)))
        return results

    return run


def main():
    library, threads, path, opened, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
    model = onnx.load(path, load_external_data=False)
    sets = read_sets(model, count, sys.argv[6:])
    start = time.monotonic_ns()
    module = globals()["import_" + library]()
    before = resident()
    run = globals()["open_" + library](module, opened, threads, model)
    ready, done = time.monotonic_ns(), 1
    run(sets[0])
    print("first", time.monotonic_ns() - start)
    while done < (WARM if time.monotonic_ns() - ready < SECOND * done else SLOW_WARM):
        run(sets[done % count])
        done += 1
    print("grown", resident() - before, flush=True)
    for line in sys.stdin:
        word, _, number = line.partition(" ")
        if word != "run":
            break
        for _ in range(int(number)):
            begin, busy = time.monotonic_ns(), time.process_time_ns()
            run(sets[done % count])
            busy = time.process_time_ns() - busy
            print(time.monotonic_ns() - begin, busy)
            done += 1
        sys.stdout.flush()


if __name__ == "__main__":
    main()
