#!/usr/bin/python3
"""Exports networks that differ from the classic ones, with seeded weights: export_wide.py FOLDER NAME... (see export_classic.py)"""

import os
import zlib

import torch
from torch import nn

import export_classic
import wide_attention as attention
import wide_sequences as sequences
import wide_series as series
import wide_vision as vision


def drawn(*shape):
    return (torch.randn(*shape),)


def click():
    return torch.randn(128, 13), torch.randint(0, 1000, (128, 26))


def graph():
    return torch.randn(2708, 256), torch.randint(0, 2, (2, 10556))


# name: a function that makes the module, one that draws an example of its inputs
NETWORKS = {
    "aspp_224": (vision.Aspp, lambda: drawn(1, 3, 224, 224)),
    "dilated_context_64": (vision.Context, lambda: drawn(1, 21, 64, 64)),
    "unet_256": (vision.Unet, lambda: drawn(1, 3, 256, 256)),
    "unet_512": (lambda: vision.Unet(8), lambda: drawn(1, 3, 512, 512)),
    "pose_256x192": (vision.Pose, lambda: drawn(1, 3, 256, 192)),
    "text_detector_320": (vision.TextDetector, lambda: drawn(1, 3, 320, 320)),
    "crnn_32x100": (vision.Crnn, lambda: drawn(1, 1, 32, 100)),
    "style_128": (vision.Style, lambda: drawn(1, 3, 128, 128)),
    "fastdepth_224": (vision.Depth, lambda: drawn(1, 3, 224, 224)),
    "pointnet_1024": (vision.PointNet, lambda: drawn(1, 3, 1024)),
    "deit_tiny_4": (sequences.Patches, lambda: drawn(1, 3, 224, 224)),
    "conformer_block_200": (sequences.Conformer, lambda: drawn(1, 200, 256)),
    "xvector_300": (sequences.Tdnn, lambda: drawn(1, 30, 300)),
    "wavenet_1024": (sequences.WaveNet, lambda: drawn(1, 1, 1024)),
    "lstm_2x256": (lambda: sequences.Stack(nn.LSTM, 64, 256, 2, 64), lambda: drawn(100, 1, 64)),
    "gru_3x128": (lambda: sequences.Stack(nn.GRU, 40, 128, 3, 40), lambda: drawn(200, 1, 40)),
    "nbeats_96": (sequences.NBeats, lambda: drawn(1, 96)),
    "dlrm_128": (sequences.Dlrm, click),
    "tinybert_encoder_128": (sequences.Encoder, lambda: drawn(1, 128, 312)),
    "svtr_tiny_32x100": (attention.Svtr, lambda: drawn(1, 3, 32, 100)),
    "mobilevit_xs_256": (attention.MobileVit, lambda: drawn(1, 3, 256, 256)),
    "poolformer_s12_128": (attention.PoolFormer, lambda: drawn(1, 3, 128, 128)),
    "levit_128s_224": (attention.Levit, lambda: drawn(1, 3, 224, 224)),
    "cait_xxs_4": (attention.Cait, lambda: drawn(1, 3, 224, 224)),
    "patchtst_512": (series.PatchTst, lambda: drawn(1, 7, 512)),
    "autoformer_336": (series.Autoformer, lambda: drawn(1, 336, 7)),
    "tcn_1024": (series.Tcn, lambda: drawn(1, 8, 1024)),
    "tsmixer_336": (series.TsMixer, lambda: drawn(1, 336, 321)),
    "dlinear_336": (series.DLinear, lambda: drawn(1, 336, 321)),
    "graphsage_2708": (series.Graph, graph),
}


def seed(network):
    """As the classic networks, and what these have besides: layers over time, transposed and recurrent ones."""
    export_classic.seed_module(network)
    for module in network.modules():
        if isinstance(module, (nn.Conv1d, nn.ConvTranspose2d)):
            export_classic.seed_matrix(module)
        elif isinstance(module, nn.RNNBase):
            for name, parameter in module.named_parameters():
                nn.init.normal_(parameter, 0.0, parameter.shape[-1] ** -0.5 if name.startswith("weight") else 0.05)


def export(name, path):
    torch.manual_seed(zlib.crc32(name.encode()))
    build, draw = NETWORKS[name]
    network, example = build(), draw()
    with torch.no_grad():
        seed(network)
        export_classic.calibrate(network, example)
        network.eval()
        torch.onnx.export(network, example, path + ".tmp", opset_version=17)
    os.replace(path + ".tmp", path)
    print(f"{path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    export_classic.command(__doc__, NETWORKS, export)
