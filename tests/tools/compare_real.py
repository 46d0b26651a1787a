"""Runs real trained networks on their stored inputs: compare_real.py --occamyc=PROGRAM FOLDER [NAME...]

FOLDER holds one folder per network in ONNX's test layout, and dims.txt with the bounds of those that have run-time
extents ("NAME: VALUE:AXIS=N ..."). Where it is absent every network is skipped, loudly and counted.
"""

import argparse
import os
import sys

import cases
import networks

NETWORKS = ("basic_pitch_nmp", "dtln_model_1", "gtcrn_simple", "magika_standard_v3_3", "mlperf_tiny_kws_int8_qdq",
            "mlperf_tiny_vww_96_float", "mnist_8", "silero_vad", "silero_vad_openvino_16k", "super_resolution_10",
            "ultraface_rfb320", "yolox_nano")


def read_dims(path):
    """Per network, its --dim flags."""
    found = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                name, separator, bounds = line.split("#")[0].strip().partition(": ")
                if separator:
                    found[name] = [word for bound in bounds.split() for word in ("--dim", bound)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    networks.add_arguments(parser)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    flags = read_dims(os.path.join(arguments.folder, "dims.txt"))
    rows, skipped = [], 0
    print(networks.HEADING)
    for name in arguments.names or NETWORKS:
        path = os.path.join(arguments.folder, name)
        if not os.path.exists(os.path.join(path, "model.onnx")):
            print(f"{name:38} SKIPPED: {path}/model.onnx is not there")
            skipped += 1
            continue
        case = cases.Case(path)
        rows.append(networks.measure(networks.toolchain(arguments), name, case.path, case.model, case.sets,
                                     flags.get(name, []), arguments.work))
        rows[-1].print()
    sys.exit(networks.close(rows, skipped))


if __name__ == "__main__":
    main()
