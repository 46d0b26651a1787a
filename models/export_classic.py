#!/usr/bin/python3
"""Exports the classic networks, with seeded weights, to ONNX files for tests and benchmarks: export_classic.py FOLDER NAME...

Run with Debian's python3-torch and python3-torchvision (1.13, 0.14); `--list` prints the names. Nothing is downloaded:
weights are random, but drawn and calibrated so that every activation stays near unit size, as in a trained network;
constants that training leaves at 0 or 1 (biases, normalisation statistics, layer scales) are drawn too, so that a
compiler that drops one is found out.
"""

import argparse
import os
import zlib

import numpy
import torch
import torchvision
from torch import nn

import classic_nets

NORMS = (nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm)


def image(size, count=1):
    return (torch.randn(count, 3, size, size),)


def vision(name, size=224, opset=17, keep_norms=False, **options):
    """A torchvision classifier: (module, example inputs, export options). The exporter folds batch norms unless told."""
    build = getattr(torchvision.models, name)
    mode = torch.onnx.TrainingMode.PRESERVE if keep_norms else torch.onnx.TrainingMode.EVAL
    return lambda: (build(weights=None, **options), image(size), dict(
        opset_version=opset, input_names=["input"], output_names=["logits"], training=mode))


def vit():
    """Eval mode takes a fused attention that this exporter does not know; train mode without dropout computes the same."""
    module = torchvision.models.vit_b_16(weights=None, dropout=0.0, attention_dropout=0.0)
    return module, image(224), dict(opset_version=17, input_names=["input"], output_names=["logits"],
                                    training=torch.onnx.TrainingMode.PRESERVE)


def bert():
    example = (torch.randint(0, 30522, (1, 128)), torch.ones(1, 128, dtype=torch.int64),
               torch.zeros(1, 128, dtype=torch.int64))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    return classic_nets.Bert(), example, dict(opset_version=17, input_names=names,
                                              output_names=["hidden", "pooled"])


def gpt2():
    axes = {"input_ids": {1: "seq"}, "logits": {1: "seq"}}
    return classic_nets.Gpt2(), (torch.randint(0, 50257, (1, 24)),), dict(
        opset_version=17, input_names=["input_ids"], output_names=["logits"], dynamic_axes=axes)


def srgan():
    return classic_nets.Srgan(), image(96), dict(opset_version=13, input_names=["low"], output_names=["high"])


def yolo():
    return classic_nets.Yolo(), image(448), dict(opset_version=12, input_names=["input"], output_names=["grid"])


class Heads(nn.Module):
    """A detector up to the tensors of its heads: with random weights scores nearly tie, so selection is compared apart."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, x):
        features = list(self.detector.backbone(x).values())
        heads = self.detector.head(features)
        return heads["bbox_regression"], heads["cls_logits"]


def detector(name, size, opset, heads_only):
    def build():
        module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None)
        if heads_only:
            return Heads(module), image(size), dict(opset_version=opset, input_names=["input"],
                                                    output_names=["boxes", "classes"])
        example = ([torch.rand(3, size, size)],)
        return module, example, dict(opset_version=opset, input_names=["image"],
                                     output_names=["boxes", "scores", "labels"])
    return build


class Selection(nn.Module):
    """What a detector does after its heads: decode boxes, keep the best of each class, suppress overlaps."""

    def __init__(self, detector, size):
        super().__init__()
        self.detector = detector.eval()
        self.size = size
        features = detector.backbone(torch.zeros(1, 3, size, size))
        images = torchvision.models.detection.image_list.ImageList(torch.zeros(1, 3, size, size), [(size, size)])
        self.anchors = detector.anchor_generator(images, list(features.values()))

    def forward(self, boxes, classes):
        heads = {"bbox_regression": boxes, "cls_logits": classes}
        found = self.detector.postprocess_detections(heads, self.anchors, [(self.size, self.size)])[0]
        return found["boxes"], found["scores"], found["labels"]


def synthetic_heads(anchors, classes=91, objects=60):
    """Background everywhere but at `objects` anchors, whose scores differ enough for every order to be certain."""
    logits = torch.zeros(1, anchors, classes)
    logits[..., 0] = 12.0
    places = torch.randperm(anchors)[:objects]
    for rank, place in enumerate(places):
        logits[0, place, 1 + rank % 7] = 10.0 + 0.1 * rank
    return 0.5 * torch.randn(1, anchors, 4), logits


def selection(name, size, opset):
    def build():
        module = Selection(getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None), size)
        return module, synthetic_heads(len(module.anchors[0])), dict(
            opset_version=opset, input_names=["boxes_in", "classes"], output_names=["boxes", "scores", "labels"])
    return build


NETWORKS = {
    "resnet50": vision("resnet50"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "resnet18": vision("resnet18", opset=11, keep_norms=True),
    "resnet152": vision("resnet152"),
    "mobilenet_v3_large": vision("mobilenet_v3_large"),
    "efficientnet_b0": vision("efficientnet_b0", opset=13),
    "vgg16": vision("vgg16", opset=9),
    "vgg19": vision("vgg19"),
    "alexnet": vision("alexnet", opset=9),
    "squeezenet1_1": vision("squeezenet1_1", opset=12),
    "densenet121": vision("densenet121"),
    "inception_v3": vision("inception_v3", 299, aux_logits=False, init_weights=False),
    "googlenet": vision("googlenet", aux_logits=False, init_weights=False),
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "mnasnet1_0": vision("mnasnet1_0", opset=15, keep_norms=True),
    "convnext_tiny": vision("convnext_tiny"),
    "swin_t": vision("swin_t"),
    "vit_b_16": vit,
    "bert_base": bert,
    "gpt2_small": gpt2,
    "srgan_x4": srgan,
    "yolov1": yolo,
    "ssdlite320_mobilenet_v3_large": detector("ssdlite320_mobilenet_v3_large", 320, 13, False),
    "ssdlite320_mobilenet_v3_large_heads": detector("ssdlite320_mobilenet_v3_large", 320, 13, True),
    "ssdlite320_mobilenet_v3_large_select": selection("ssdlite320_mobilenet_v3_large", 320, 13),
    "ssd300_vgg16": detector("ssd300_vgg16", 300, 11, False),
    "ssd300_vgg16_heads": detector("ssd300_vgg16", 300, 11, True),
    "ssd300_vgg16_select": selection("ssd300_vgg16", 300, 11),
}


def seed_matrix(module):
    """Scale weights to keep the second moment of activations; give biases a visible size."""
    weight = module.weight
    fan_in = weight[0].numel()
    nn.init.normal_(weight, 0.0, (1.5 / fan_in) ** 0.5)
    if module.bias is not None:
        nn.init.normal_(module.bias, 0.0, 0.05)


def seed_norm(module):
    if module.weight is not None:
        nn.init.uniform_(module.weight, 0.5, 1.5)
        nn.init.normal_(module.bias, 0.0, 0.1)


def seed_loose(name, parameter):
    """Parameters that belong to no ordinary layer: position tables, class tokens, layer scales, attention projections."""
    if "layer_scale" in name:
        nn.init.uniform_(parameter, 0.1, 0.5)
    elif "in_proj_weight" in name:
        nn.init.normal_(parameter, 0.0, (1.5 / parameter.shape[1]) ** 0.5)
    else:
        nn.init.normal_(parameter, 0.0, 0.05)


def soften_branch(block):
    """As in a trained residual network, a block adds little to what passes it by: hundreds of full-sized random branches
    amplify every rounding until no two implementations agree."""
    last = block.bn3 if isinstance(block, torchvision.models.resnet.Bottleneck) else block.bn2
    nn.init.uniform_(last.weight, 0.1, 0.4)


def seed_module(network):
    touched = set()
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            seed_matrix(module)
        elif isinstance(module, NORMS):
            seed_norm(module)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, 0.0, 0.05)
        elif isinstance(module, nn.PReLU):
            nn.init.uniform_(module.weight, 0.1, 0.4)
        else:
            continue
        touched.update(id(p) for p in module.parameters(recurse=False))
    for module in network.modules():
        if isinstance(module, (torchvision.models.resnet.Bottleneck, torchvision.models.resnet.BasicBlock)):
            soften_branch(module)
    for name, parameter in network.named_parameters():
        if id(parameter) not in touched:
            seed_loose(name, parameter)


def calibrate(network, example):
    """Set batch-norm statistics to those of one random batch, then disturb them mildly: random, yet fitting."""
    norms = [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    kept = [m.momentum for m in norms]
    network.eval()
    for module in norms:
        module.train()
        module.momentum = 1.0
    for module in network.modules():
        if isinstance(module, torchvision.models.detection.ssd.SSD):
            network = module.backbone                        # its own transform wants lists; the backbone has the norms
            example = (torch.randn(2, *example[0][0].shape),) if isinstance(example[0], list) else example
    if example[0].shape[0] == 1:                             # one value per channel has no variance
        example = (example[0].repeat(2, *[1] * (example[0].dim() - 1)) + 0.5 * torch.randn(2, *example[0].shape[1:]),)
    network(*example)
    for module, momentum in zip(norms, kept):
        module.momentum = momentum
        module.running_mean += 0.1 * torch.randn_like(module.running_mean) * module.running_var.sqrt()
        module.running_var *= torch.empty_like(module.running_var).uniform_(0.8, 1.25)


def folds_wrongly(options):
    """The exporter warns that folding may spoil parameters of a module that it must not treat as frozen."""
    return options.get("training") == torch.onnx.TrainingMode.PRESERVE


def store_inputs(path, names, arrays):
    """Inputs that belong to the model, where drawn ones would say nothing: MODEL.INPUT.npy beside it."""
    for name, array in zip(names, arrays):
        numpy.save(f"{os.path.splitext(path)[0]}.{name}.npy", array.numpy())


def export(name, path):
    torch.manual_seed(zlib.crc32(name.replace("_heads", "").encode()))   # a detector and its heads share their weights
    network, example, options = NETWORKS[name]()
    with torch.no_grad():
        if isinstance(network, Selection):
            store_inputs(path, options["input_names"], example)
        else:
            seed_module(network)
            calibrate(network, example)
        network.train(name == "vit_b_16")
        finite = network(*example)
        torch.onnx.export(network, example, path + ".tmp", do_constant_folding=not folds_wrongly(options), **options)
    os.replace(path + ".tmp", path)
    first = finite[0] if isinstance(finite, (tuple, list)) else finite
    if isinstance(first, torch.Tensor):
        print(f"{path}: {os.path.getsize(path)} bytes, output mean {first.mean():.4g} deviation {first.std():.4g}")
    else:
        print(f"{path}: {os.path.getsize(path)} bytes")


def command(description, networks, export):
    """The command line of an exporter: export(name, path) for each name that is asked for, or for all networks."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(networks))
        return
    os.makedirs(arguments.folder, exist_ok=True)
    for name in arguments.names or networks:
        export(name, os.path.join(arguments.folder, name + ".onnx"))


if __name__ == "__main__":
    command(__doc__.splitlines()[0], NETWORKS, export)
