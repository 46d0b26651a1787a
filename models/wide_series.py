"""Networks that foretell series, and one of a graph, in plain torch.nn. Knows nothing of weights and of ONNX."""

import torch
from torch import nn
from torch.nn import functional as F


class PatchBlock(nn.Module):
    """PatchTST's layer: attention over patches; batch norms over channels come after the sums."""

    def __init__(self, channels, heads, hidden):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.query, self.key, self.value, self.project = (nn.Linear(channels, channels) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(channels, hidden), nn.GELU(), nn.Linear(hidden, channels))
        self.norm1, self.norm2 = nn.BatchNorm1d(channels), nn.BatchNorm1d(channels)

    def forward(self, x):
        n, t, c = x.shape
        query = self.query(x).view(n, t, self.heads, -1).transpose(1, 2)
        key = self.key(x).view(n, t, self.heads, -1).permute(0, 2, 3, 1)
        value = self.value(x).view(n, t, self.heads, -1).transpose(1, 2)
        mixed = torch.softmax(query @ key * self.scale, -1) @ value
        x = x + self.project(mixed.transpose(1, 2).contiguous().view(n, t, c))
        x = self.norm1(x.transpose(1, 2)).transpose(1, 2)
        return self.norm2((x + self.mlp(x)).transpose(1, 2)).transpose(1, 2)


class PatchTst(nn.Module):
    """PatchTST (Nie et al., 2023): 7 series of 512 values, each on its own; patches of 16 every 8, three layers, 96 values ahead."""

    def __init__(self, back=512, ahead=96, patch=16, step=8, channels=128, heads=16):
        super().__init__()
        self.patch, self.step, self.patches = patch, step, (back - patch) // step + 2
        self.embed, self.place = nn.Linear(patch, channels), nn.Parameter(torch.zeros(self.patches, channels))
        self.blocks = nn.Sequential(*(PatchBlock(channels, heads, 2 * channels) for _ in range(3)))
        self.head = nn.Linear(channels * self.patches, ahead)

    def forward(self, x):
        mean = x.mean(2, keepdim=True)
        deviation = torch.sqrt(((x - mean) ** 2).mean(2, keepdim=True) + 1e-5)
        y = (x - mean) / deviation
        y = torch.cat((y, y[:, :, -1:].expand(-1, -1, self.step)), 2)            # as ReplicationPad1d, whose extents this exporter loses
        y = self.embed(y.unfold(2, self.patch, self.step)) + self.place
        y = self.blocks(y.flatten(0, 1)).reshape(*x.shape[:2], self.patches, -1)
        return self.head(y.transpose(2, 3).flatten(2)) * deviation + mean


class Decompose(nn.Module):
    """A moving mean over time, padded with the first and the last value, and what is left without it: [N, T, C]."""

    def __init__(self, width=25):
        super().__init__()
        self.side, self.pool = (width - 1) // 2, nn.AvgPool1d(width, 1)

    def forward(self, x):
        padded = torch.cat((x[:, :1].repeat(1, self.side, 1), x, x[:, -1:].repeat(1, self.side, 1)), 1)
        trend = self.pool(padded.transpose(1, 2)).transpose(1, 2)
        return x - trend, trend


class DecomposedLayer(nn.Module):
    """Autoformer's encoder layer with plain attention by Einsum: after each half the moving mean is taken away."""

    def __init__(self, channels, heads, hidden):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.query, self.key, self.value, self.project = (nn.Linear(channels, channels) for _ in range(4))
        self.widen, self.narrow = nn.Conv1d(channels, hidden, 1, bias=False), nn.Conv1d(hidden, channels, 1, bias=False)
        self.first, self.second = Decompose(), Decompose()

    def forward(self, x):
        n, t, c = x.shape
        query, key, value = (f(x).view(n, t, self.heads, -1) for f in (self.query, self.key, self.value))
        scores = torch.softmax(self.scale * torch.einsum("nlhe,nshe->nhls", query, key), -1)
        x = x + self.project(torch.einsum("nhls,nshd->nlhd", scores, value).contiguous().view(n, t, c))
        x, _ = self.first(x)
        y = self.narrow(F.gelu(self.widen(x.transpose(-1, 1)))).transpose(-1, 1)
        return self.second(x + y)[0]


class Distill(nn.Module):
    """Informer's distilling (Zhou et al., 2021): a circular convolution, batch norm, ELU, every second place by a maximum."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(channels, channels, 3, padding=1, padding_mode="circular"), nn.BatchNorm1d(channels), nn.ELU(),
                                  nn.MaxPool1d(3, 2, 1))

    def forward(self, x):
        return self.body(x.transpose(1, 2)).transpose(1, 2)


class Autoformer(nn.Module):
    """An encoder in the way of Autoformer (Wu et al., 2021) and Informer: 336 steps of 7 values, two layers with distilling between."""

    def __init__(self, back=336, values=7, channels=256, heads=8, ahead=96):
        super().__init__()
        self.token = nn.Conv1d(values, channels, 3, padding=1, padding_mode="circular", bias=False)
        self.layers, self.distill = nn.ModuleList(DecomposedLayer(channels, heads, 4 * channels) for _ in range(2)), Distill(channels)
        self.split, self.norm, self.trend = Decompose(), nn.LayerNorm(channels), nn.Linear(back, ahead)
        self.time, self.head = nn.Linear(back // 2, ahead), nn.Linear(channels, values)

    def forward(self, x):
        season, trend = self.split(x)
        y = self.token(season.permute(0, 2, 1)).transpose(1, 2)
        y = self.norm(self.layers[1](self.distill(self.layers[0](y))))
        y = y - y.mean(1, keepdim=True)
        season = self.head(self.time(y.transpose(1, 2)).transpose(1, 2))
        return season + self.trend(trend.transpose(1, 2)).transpose(1, 2)


class Causal(nn.Module):
    """TCN's block: two dilated convolutions padded on both sides, whose end is cut off, beside a short cut."""

    def __init__(self, inputs, outputs, kernel, dilation):
        super().__init__()
        self.cut = (kernel - 1) * dilation
        conv = lambda a: nn.Conv1d(a, outputs, kernel, padding=self.cut, dilation=dilation)
        self.first, self.second = conv(inputs), conv(outputs)
        self.short = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x):
        y = F.relu(self.first(x)[:, :, :-self.cut].contiguous())
        y = F.relu(self.second(y)[:, :, :-self.cut].contiguous())
        return F.relu(y + self.short(x))


class Tcn(nn.Module):
    """TCN (Bai et al., 2018): 1024 steps of 8 values, seven blocks of 64 channels, kernels of 7, rates 1 to 64."""

    def __init__(self, values=8, channels=64, blocks=7):
        super().__init__()
        self.body = nn.Sequential(*(Causal(channels if i else values, channels, 7, 1 << i) for i in range(blocks)))
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        return self.head(self.body(x)[:, :, -1])


class TsMixer(nn.Module):
    """TSMixer (Chen et al., 2023): 321 series of 336 values; dense layers along time, then across the series, three blocks."""

    def __init__(self, back=336, series=321, ahead=96, hidden=256, blocks=3):
        super().__init__()
        self.norm1 = nn.ModuleList(nn.LayerNorm((back, series)) for _ in range(blocks))
        self.norm2 = nn.ModuleList(nn.LayerNorm((back, series)) for _ in range(blocks))
        self.time = nn.ModuleList(nn.Linear(back, back) for _ in range(blocks))
        self.across = nn.ModuleList(nn.Sequential(nn.Linear(series, hidden), nn.ReLU(), nn.Linear(hidden, series)) for _ in range(blocks))
        self.head = nn.Linear(back, ahead)

    def forward(self, x):
        for norm1, time, norm2, across in zip(self.norm1, self.time, self.norm2, self.across):
            x = x + F.relu(time(norm1(x).transpose(1, 2))).transpose(1, 2)
            x = x + across(norm2(x))
        return self.head(x.transpose(1, 2)).transpose(1, 2)


class DLinear(nn.Module):
    """DLinear (Zeng et al., 2023): 321 series of 336 values, a dense layer for the moving mean and one for the rest, 96 ahead."""

    def __init__(self, back=336, ahead=96):
        super().__init__()
        self.split, self.season, self.trend = Decompose(), nn.Linear(back, ahead), nn.Linear(back, ahead)

    def forward(self, x):
        season, trend = self.split(x)
        return (self.season(season.transpose(1, 2)) + self.trend(trend.transpose(1, 2))).transpose(1, 2)


class Graph(nn.Module):
    """GraphSAGE (Hamilton et al., 2017) on a graph as large as Cora: 2708 nodes of 256 values, 10556 edges, means of neighbours.

    Edges are known at run time only: what a caller gives, 0 or 1, is added to the ends of edges that are drawn once."""

    def __init__(self, nodes=2708, edges=10556, values=256, hidden=128, classes=7):
        super().__init__()
        wide = (values, hidden, hidden, classes)
        self.register_buffer("base", torch.randint(0, nodes - 1, (2, edges)), persistent=False)
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in zip(wide, wide[1:]))
        self.near = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(wide, wide[1:]))

    def forward(self, x, edges):
        source, target = (self.base + edges).unbind(0)
        count = torch.zeros(x.shape[0]).scatter_add(0, target, torch.ones(target.shape[0])).clamp(min=1.0)
        for i, (own, near) in enumerate(zip(self.own, self.near)):
            given = x.index_select(0, source)
            total = torch.zeros_like(x).scatter_add(0, target.unsqueeze(1).expand(given.shape), given)
            x = own(x) + near(total / count.unsqueeze(1))
            x = F.relu(x) if i + 1 < len(self.own) else x
        return x.log_softmax(-1)
