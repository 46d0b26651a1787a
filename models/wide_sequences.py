"""Networks of speech, series, words and tables, in plain torch.nn. Knows nothing of weights and of ONNX."""

import torch
from torch import nn
from torch.nn import functional as F

from classic_nets import Attention, Block


class Patches(nn.Module):
    """ViT (Dosovitskiy et al., 2021) with DeiT-tiny's width, four of its twelve layers: 224x224, patches of 16."""

    def __init__(self, channels=192, heads=3, layers=4, tokens=197):
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, channels, 16, 16), nn.Parameter(torch.zeros(1, 1, channels))
        self.place = nn.Parameter(torch.zeros(1, tokens, channels))
        self.blocks = nn.ModuleList(Block(channels, heads, True, F.gelu) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(channels), nn.Linear(channels, 1000)

    def forward(self, x):
        x = torch.cat((self.token, self.patch(x).flatten(2).transpose(1, 2)), 1) + self.place
        for block in self.blocks:
            x = block(x, 0.0)
        return self.head(self.norm(x)[:, 0])


class Conformer(nn.Module):
    """A Conformer block of the medium size (Gulati et al., 2020): half feed-forward, attention, convolution of 31, half again."""

    def __init__(self, channels=256, heads=4):
        super().__init__()
        half = lambda: nn.Sequential(nn.LayerNorm(channels), nn.Linear(channels, 4 * channels), nn.SiLU(), nn.Linear(4 * channels, channels))
        self.first, self.last = half(), half()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(channels), Attention(channels, heads), nn.LayerNorm(channels)
        self.convolution = nn.Sequential(nn.Conv1d(channels, 2 * channels, 1), nn.GLU(1),
                                         nn.Conv1d(channels, channels, 31, 1, 15, groups=channels), nn.BatchNorm1d(channels),
                                         nn.SiLU(), nn.Conv1d(channels, channels, 1))
        self.norm3 = nn.LayerNorm(channels)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        x = x + self.attention(self.norm1(x), 0.0)
        x = x + self.convolution(self.norm2(x).transpose(1, 2)).transpose(1, 2)
        return self.norm3(x + 0.5 * self.last(x))


class Tdnn(nn.Module):
    """The x-vector network (Snyder et al., 2018): five layers over time, mean and deviation, two dense layers."""

    def __init__(self, features=30):
        super().__init__()
        shape = ((features, 512, 5, 1), (512, 512, 3, 2), (512, 512, 3, 3), (512, 512, 1, 1), (512, 1500, 1, 1))
        self.frames = nn.Sequential(*(nn.Sequential(nn.Conv1d(a, b, k, dilation=d), nn.ReLU(), nn.BatchNorm1d(b)) for a, b, k, d in shape))
        self.head = nn.Sequential(nn.Linear(3000, 512), nn.ReLU(), nn.Linear(512, 512))

    def forward(self, x):
        y = self.frames(x)
        mean = y.mean(2, keepdim=True)
        deviation = ((y - mean) ** 2).mean(2).add(1e-5).sqrt()
        return self.head(torch.cat((mean.squeeze(2), deviation), 1))


class WaveNet(nn.Module):
    """WaveNet (van den Oord et al., 2016): one stack of ten gated causal layers, rates 1 to 512, 64 channels."""

    def __init__(self, channels=64, skip=256, layers=10):
        super().__init__()
        self.head = nn.Conv1d(1, channels, 1)
        self.gates = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 2, dilation=1 << i) for i in range(layers))
        self.pass_on = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers))
        self.skips = nn.ModuleList(nn.Conv1d(channels, skip, 1) for _ in range(layers))
        self.tail = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, 256, 1), nn.ReLU(), nn.Conv1d(256, 256, 1))

    def forward(self, x):
        x, total = self.head(x), 0.0
        for i, gate in enumerate(self.gates):
            a, b = gate(F.pad(x, (1 << i, 0))).chunk(2, 1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total, x = total + self.skips[i](y), x + self.pass_on[i](y)
        return self.tail(total)


class Stack(nn.Module):
    """Recurrent layers over a batch of one, and a dense layer on every step."""

    def __init__(self, kind, inputs, hidden, layers, outputs):
        super().__init__()
        self.body, self.head = kind(inputs, hidden, layers), nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.head(self.body(x)[0])


class NBeats(nn.Module):
    """Generic N-BEATS (Oreshkin et al., 2020): blocks of four dense layers of 512 that explain a series and foretell the rest."""

    def __init__(self, back=96, ahead=24, blocks=6, hidden=512):
        super().__init__()
        self.back, self.ahead = back, ahead
        dense = lambda: [nn.Linear(hidden, hidden), nn.ReLU()]
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(back, hidden), nn.ReLU(), *dense(), *dense(), *dense(),
                                                  nn.Linear(hidden, back + ahead)) for _ in range(blocks))

    def forward(self, x):
        forecast = 0.0
        for block in self.blocks:
            known, coming = block(x).split((self.back, self.ahead), 1)
            x, forecast = x - known, forecast + coming
        return forecast


class Dlrm(nn.Module):
    """DLRM (Naumov et al., 2019): 13 numbers, 26 categories of 64 each, products of all pairs; a batch of 128."""

    def __init__(self, rows=1000, wide=64, tables=26):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, wide) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, wide), nn.ReLU())
        pairs = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("pairs", pairs[0] * (tables + 1) + pairs[1], persistent=False)
        self.top = nn.Sequential(nn.Linear(wide + pairs.shape[1], 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1), nn.Sigmoid())

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        products = (rows @ rows.transpose(1, 2)).flatten(1)[:, self.pairs]
        return self.top(torch.cat((x, products), 1))


class Encoder(nn.Module):
    """TinyBERT's encoder (Jiao et al., 2020): 4 layers of 312 channels over 128 words already embedded."""

    def __init__(self, channels=312, heads=12, layers=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block(channels, heads, False, F.gelu) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, 0.0)
        return x
