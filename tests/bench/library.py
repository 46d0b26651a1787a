"""ONNX Runtime or OpenVINO as a process that a benchmark talks to, with the words of driver.c.

library.py onnxruntime|openvino THREADS MODEL.onnx SETS FILE... (raw inputs, all of set 0 first)
Time to the first result counts from before the library is imported, memory from after that: both to its favour.
"""

import os
import sys
import time

import numpy as np
import onnx

WARM = 10


def resident():
    """Bytes of this process in memory, its files' pages included."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def read_sets(model, count, paths):
    """The inputs of each set by name, as the model's element types and extents say."""
    constants = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    sets = []
    for s in range(count):
        feeds = {}
        for i, path in zip(inputs, paths[s * len(inputs):]):
            tensor = i.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            feeds[i.name] = np.fromfile(path, dtype).reshape([d.dim_value for d in tensor.shape.dim])
        sets.append(feeds)
    return sets


def import_onnxruntime():
    import onnxruntime

    return onnxruntime


def open_onnxruntime(onnxruntime, path, threads, config=()):
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


def open_openvino(openvino, path, threads):
    core = openvino.Core()
    model = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                             "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1})
    request = model.create_infer_request()
    return lambda feeds: request.infer(feeds, share_inputs=True)


def main():
    library, threads, path, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    sets = read_sets(onnx.load(path, load_external_data=False), count, sys.argv[5:])
    start = time.monotonic_ns()
    module = globals()["import_" + library]()
    before = resident()
    run = globals()["open_" + library](module, path, threads)
    run(sets[0])
    print("first", time.monotonic_ns() - start)
    for i in range(1, WARM):
        run(sets[i % count])
    print("grown", resident() - before, flush=True)
    done = WARM
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
