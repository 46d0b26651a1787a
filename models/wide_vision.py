"""Networks of images that export_classic.py lacks, in plain torch.nn: segmentation, pose, text, style, depth, small transformers.

Widths and extents are those published; depth is reduced where a run would take long. Knows nothing of weights and of ONNX.
"""

import torch
from torch import nn
from torch.nn import functional as F


def layer(inputs, outputs, kernel=3, stride=1, dilation=1, groups=1, act=nn.ReLU):
    """Convolution, batch norm and activation."""
    pad = dilation * (kernel // 2)
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, pad, dilation, groups, bias=False), nn.BatchNorm2d(outputs), act())


def grow(x, size):
    return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class Aspp(nn.Module):
    """DeepLabV3's atrous pyramid on a trunk of stride 8 (Chen et al., 2017): 1x1, rates 12, 24, 36 and the image's mean."""

    def __init__(self, channels=512, wide=256, classes=21):
        super().__init__()
        self.trunk = nn.Sequential(layer(3, 64, 7, 2), layer(64, 128, 3, 2), layer(128, 256, 3, 2), layer(256, channels, 3, 1, 2))
        self.rates = nn.ModuleList([layer(channels, wide, 1)] + [layer(channels, wide, 3, 1, r) for r in (12, 24, 36)])
        self.mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, wide, 1), nn.ReLU())
        self.project, self.head = layer(5 * wide, wide, 1), nn.Conv2d(wide, classes, 1)

    def forward(self, x):
        y = self.trunk(x)
        parts = [rate(y) for rate in self.rates] + [grow(self.mean(y), (28, 28))]
        return grow(self.head(self.project(torch.cat(parts, 1))), (224, 224))


class Context(nn.Module):
    """The dilated context module in its basic form (Yu and Koltun, 2016): seven 3x3 layers of 21 channels, rates 1 to 16."""

    def __init__(self, classes=21):
        super().__init__()
        rates = [nn.Sequential(nn.Conv2d(classes, classes, 3, 1, r, r), nn.ReLU()) for r in (1, 1, 2, 4, 8, 16, 1)]
        self.body = nn.Sequential(*rates, nn.Conv2d(classes, classes, 1))

    def forward(self, x):
        return self.body(x)


class Unet(nn.Module):
    """U-Net (Ronneberger et al., 2015), padded, first stage of `width` channels, transposed convolutions upward."""

    def __init__(self, width=16, depth=4):
        super().__init__()
        wide = [width << i for i in range(depth + 1)]
        self.down = nn.ModuleList(nn.Sequential(layer(a, b), layer(b, b)) for a, b in zip([3] + wide[:-1], wide))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(wide[:-1], wide[1:]))
        self.join = nn.ModuleList(nn.Sequential(layer(2 * a, a), layer(a, a)) for a in wide[:-1])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for stage in self.down:
            kept.append(stage(F.max_pool2d(kept[-1], 2) if kept else x))
        y = kept.pop()
        for up, join in reversed(list(zip(self.up, self.join))):
            y = join(torch.cat((kept.pop(), up(y)), 1))
        return self.head(y)


class Pose(nn.Module):
    """SimpleBaseline's head (Xiao et al., 2018) on a trunk of stride 32, 256x192: three transposed convolutions, 17 heat maps."""

    def __init__(self):
        super().__init__()
        wide = (3, 32, 64, 128, 256, 512)
        self.trunk = nn.Sequential(*(layer(a, b, 3, 2) for a, b in zip(wide, wide[1:])))
        ups = [nn.Sequential(nn.ConvTranspose2d(i, 128, 4, 2, 1, bias=False), nn.BatchNorm2d(128), nn.ReLU()) for i in (512, 128, 128)]
        self.head = nn.Sequential(*ups, nn.Conv2d(128, 17, 1))

    def forward(self, x):
        return self.head(self.trunk(x))


class TextDetector(nn.Module):
    """DBNet's neck and head (Liao et al., 2020): a pyramid of four strides, each to 64 channels, and a map of text."""

    def __init__(self):
        super().__init__()
        wide = (16, 24, 56, 120)
        self.stem = layer(3, 16, 3, 2)
        self.stages = nn.ModuleList(nn.Sequential(layer(a, a, 3, 2, groups=a, act=nn.Hardswish), layer(a, b, 1, act=nn.Hardswish))
                                    for a, b in zip((16,) + wide[:-1], wide))
        self.side, self.smooth = nn.ModuleList(nn.Conv2d(c, 96, 1) for c in wide), nn.ModuleList(nn.Conv2d(96, 24, 3, 1, 1) for _ in wide)
        self.head = nn.Sequential(layer(96, 24), nn.ConvTranspose2d(24, 24, 2, 2), nn.ReLU(), nn.ConvTranspose2d(24, 1, 2, 2), nn.Sigmoid())

    def forward(self, x):
        x, levels = self.stem(x), []
        for stage, side in zip(self.stages, self.side):
            x = stage(x)
            levels.append(side(x))
        for i in (2, 1, 0):
            levels[i] = levels[i] + F.interpolate(levels[i + 1], scale_factor=2.0, mode="nearest")
        parts = [F.interpolate(s(y), scale_factor=float(1 << i), mode="nearest") for i, (s, y) in enumerate(zip(self.smooth, levels))]
        return self.head(torch.cat(parts, 1))


class Crnn(nn.Module):
    """CRNN (Shi et al., 2015): seven convolutions on 32x100 pixels, two bidirectional LSTMs of 256, 37 letters."""

    def __init__(self):
        super().__init__()
        conv = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, 1, 1), nn.ReLU())
        self.features = nn.Sequential(conv(1, 64), nn.MaxPool2d(2), conv(64, 128), nn.MaxPool2d(2), conv(128, 256), conv(256, 256),
                                      nn.MaxPool2d((2, 1)), layer(256, 512), layer(512, 512), nn.MaxPool2d((2, 1)),
                                      nn.Conv2d(512, 512, 2), nn.ReLU())
        self.recurrent, self.head = nn.LSTM(512, 256, 2, bidirectional=True), nn.Linear(512, 37)

    def forward(self, x):
        return self.head(self.recurrent(self.features(x).squeeze(2).permute(2, 0, 1))[0])


class Style(nn.Module):
    """Fast style transfer (Johnson et al., 2016) with instance norms, two residual blocks, enlarging by nearest neighbours."""

    def __init__(self):
        super().__init__()
        conv = lambda a, b, k, s=1: nn.Sequential(nn.ReflectionPad2d(k // 2), nn.Conv2d(a, b, k, s), nn.InstanceNorm2d(b, affine=True), nn.ReLU())
        self.down = nn.Sequential(conv(3, 32, 9), conv(32, 64, 3, 2), conv(64, 128, 3, 2))
        self.blocks = nn.ModuleList(nn.Sequential(conv(128, 128, 3), conv(128, 128, 3)) for _ in range(2))
        up = nn.Upsample(scale_factor=2.0, mode="nearest")
        self.up = nn.Sequential(up, conv(128, 64, 3), up, conv(64, 32, 3), nn.ReflectionPad2d(4), nn.Conv2d(32, 3, 9))

    def forward(self, x):
        y = self.down(x)
        for block in self.blocks:
            y = y + block(y)
        return self.up(y)


class Depth(nn.Module):
    """FastDepth (Wofk et al., 2019): MobileNet's separable layers down, separable 5x5 layers with added skips up, 224x224."""

    def __init__(self):
        super().__init__()
        apart = lambda a, b, k, s=1: nn.Sequential(layer(a, a, k, s, groups=a), layer(a, b, 1))
        wide = (32, 64, 128, 256, 512)
        self.stem = layer(3, 32, 3, 2)
        self.down = nn.ModuleList(apart(a, b, 3, 2) for a, b in zip(wide, wide[1:]))
        self.up = nn.ModuleList(apart(b, a, 5) for a, b in reversed(list(zip(wide, wide[1:]))))
        self.head = layer(32, 1, 1)

    def forward(self, x):
        kept = [self.stem(x)]
        for stage in self.down:
            kept.append(stage(kept[-1]))
        y = kept.pop()
        for up in self.up:
            y = F.interpolate(up(y), scale_factor=2.0, mode="nearest") + kept.pop()
        return self.head(y)


class PointNet(nn.Module):
    """PointNet's classifier (Qi et al., 2017) without its alignment nets: 1024 points, shared layers, a maximum, 40 classes."""

    def __init__(self):
        super().__init__()
        shared = lambda a, b: nn.Sequential(nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())
        self.points = nn.Sequential(shared(3, 64), shared(64, 64), shared(64, 64), shared(64, 128), shared(128, 1024))
        self.head = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 40))

    def forward(self, x):
        return self.head(self.points(x).amax(2))
