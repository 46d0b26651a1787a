"""Networks of images that mix convolutions with attention or with what replaces it, in plain torch.nn.

Widths and extents are those published; depth is reduced where a run would take long. Knows nothing of weights and of ONNX.
Letters in shape comments: N batch, T tokens, C channels, H heads, D channels per head.
"""

import torch
from torch import nn
from torch.nn import functional as F

from wide_vision import layer


def heads_apart(x, heads):
    """[N, T, 3 C] -> query, key, value, each [N, H, T, D]"""
    return x.reshape(x.shape[0], x.shape[1], 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)


class Mlp(nn.Sequential):
    def __init__(self, channels, hidden, act=nn.GELU):
        super().__init__(nn.Linear(channels, hidden), act(), nn.Linear(hidden, channels))


class Mixing(nn.Module):
    """SVTR's block: attention over all tokens, or within windows of 7 x 11 by a mask; norms come after the sums."""

    def __init__(self, channels, heads, extent, local):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.project_in, self.project_out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.mlp, self.norm1, self.norm2 = Mlp(channels, 4 * channels), nn.LayerNorm(channels), nn.LayerNorm(channels)
        rows, columns = (p.flatten() for p in torch.meshgrid(*(torch.arange(n) for n in extent), indexing="ij"))
        near = ((rows[:, None] - rows).abs() <= 3) & ((columns[:, None] - columns).abs() <= 5)
        mask = torch.zeros(near.shape).masked_fill(~near, float("-inf")) if local else None
        self.register_buffer("mask", mask, persistent=False)

    def mix(self, x):
        query, key, value = heads_apart(self.project_in(x), self.heads)
        scores = query * self.scale @ key.transpose(-2, -1)
        if self.mask is not None:
            scores = scores + self.mask
        return self.project_out((scores.softmax(-1) @ value).transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = self.norm1(x + self.mix(x))
        return self.norm2(x + self.mlp(x))


class Svtr(nn.Module):
    """SVTR-tiny (Du et al., 2022), a recogniser of text without recurrence: 32x100 pixels, six local and six global blocks, 37 letters."""

    def __init__(self, wide=(64, 128, 256), depth=(3, 6, 3), heads=(2, 4, 8)):
        super().__init__()
        extents, blocks = ((8, 25), (4, 25), (2, 25)), []
        self.extents = extents
        self.patch = nn.Sequential(layer(3, wide[0] // 2, 3, 2, act=nn.GELU), layer(wide[0] // 2, wide[0], 3, 2, act=nn.GELU))
        self.place = nn.Parameter(torch.zeros(1, 200, wide[0]))
        for c, n, h, extent in zip(wide, depth, heads, extents):
            first = len([b for stage in blocks for b in stage])
            blocks.append(nn.Sequential(*(Mixing(c, h, extent, first + i < 6) for i in range(n))))
        self.stages = nn.ModuleList(blocks)
        self.merge = nn.ModuleList(nn.Conv2d(a, b, 3, (2, 1), 1) for a, b in zip(wide, wide[1:]))
        self.norms = nn.ModuleList(nn.LayerNorm(b) for b in wide[1:])
        self.combine = nn.Sequential(nn.AdaptiveAvgPool2d((1, 25)), nn.Conv2d(wide[-1], 192, 1, bias=False), nn.Hardswish())
        self.head = nn.Linear(192, 37)

    def planes(self, x, i):
        return x.transpose(1, 2).reshape(x.shape[0], -1, *self.extents[i])

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.place
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i < len(self.merge):
                x = self.norms[i](self.merge[i](self.planes(x, i)).flatten(2).transpose(1, 2))
        return self.head(self.combine(self.planes(x, 2)).squeeze(2).transpose(1, 2)).softmax(-1)


class Inverted(nn.Module):
    """MobileNetV2's block with SiLU."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        wide, self.adds = 4 * inputs, stride == 1 and inputs == outputs
        self.body = nn.Sequential(layer(inputs, wide, 1, act=nn.SiLU), layer(wide, wide, 3, stride, groups=wide, act=nn.SiLU),
                                  layer(wide, outputs, 1, act=nn.Identity))

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


class Tokens(nn.Module):
    """A transformer layer with norms first; `act` within its dense layers."""

    def __init__(self, channels, heads, hidden, act):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.project_in, self.project_out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.mlp, self.norm1, self.norm2 = Mlp(channels, hidden, act), nn.LayerNorm(channels), nn.LayerNorm(channels)

    def forward(self, x):
        query, key, value = heads_apart(self.project_in(self.norm1(x)), self.heads)
        mixed = (query @ key.transpose(-2, -1) * self.scale).softmax(-1) @ value
        x = x + self.project_out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norm2(x))


class MobileVitBlock(nn.Module):
    """Convolutions, then transformers over the pixels that lie at one place of all 2 x 2 patches, then convolutions again."""

    def __init__(self, channels, wide, hidden, layers):
        super().__init__()
        self.local = nn.Sequential(layer(channels, channels, 3, act=nn.SiLU), nn.Conv2d(channels, wide, 1, bias=False))
        self.body, self.norm = nn.Sequential(*(Tokens(wide, 4, hidden, nn.SiLU) for _ in range(layers))), nn.LayerNorm(wide)
        self.project, self.fuse = layer(wide, channels, 1, act=nn.SiLU), layer(2 * channels, channels, 3, act=nn.SiLU)

    def forward(self, x):
        y = self.local(x)
        n, c, h, w = y.shape
        y = y.reshape(n * c * h // 2, 2, w // 2, 2).transpose(1, 2).reshape(n, c, h * w // 4, 4).transpose(1, 3).reshape(4 * n, h * w // 4, c)
        y = self.norm(self.body(y))
        y = y.reshape(n, 4, h * w // 4, c).transpose(1, 3).reshape(n * c * h // 2, w // 2, 2, 2).transpose(1, 2).reshape(n, c, h, w)
        return self.fuse(torch.cat((x, self.project(y)), 1))


class MobileVit(nn.Module):
    """MobileViT-XS (Mehta and Rastegari, 2022): inverted bottlenecks and three stages of transformers, 256x256, 1000 classes."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(layer(3, 16, 3, 2, act=nn.SiLU), Inverted(16, 32, 1), Inverted(32, 48, 2), Inverted(48, 48, 1),
                                  Inverted(48, 48, 1), Inverted(48, 64, 2), MobileVitBlock(64, 96, 192, 2), Inverted(64, 80, 2),
                                  MobileVitBlock(80, 120, 240, 4), Inverted(80, 96, 2), MobileVitBlock(96, 144, 288, 3),
                                  layer(96, 384, 1, act=nn.SiLU))
        self.head = nn.Linear(384, 1000)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class PoolBlock(nn.Module):
    """PoolFormer's block: the mean of 3 x 3 pixels in place of attention, group norms of one group, scaled branches."""

    def __init__(self, channels):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, channels), nn.GroupNorm(1, channels)
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        self.mlp = nn.Sequential(nn.Conv2d(channels, 4 * channels, 1), nn.GELU(), nn.Conv2d(4 * channels, channels, 1))
        self.layer_scale_1 = nn.Parameter(torch.ones(channels, 1, 1))
        self.layer_scale_2 = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.layer_scale_1 * (self.pool(y) - y)
        return x + self.layer_scale_2 * self.mlp(self.norm2(x))


class PoolFormer(nn.Module):
    """PoolFormer-S12 (Yu et al., 2022) at 128x128."""

    def __init__(self, wide=(64, 128, 320, 512), depth=(2, 2, 6, 2)):
        super().__init__()
        stages = [nn.Conv2d(3, wide[0], 7, 4, 2)]
        for i, (c, n) in enumerate(zip(wide, depth)):
            stages += [nn.Conv2d(wide[i - 1], c, 3, 2, 1)] if i else []
            stages += [PoolBlock(c) for _ in range(n)]
        self.body, self.norm, self.head = nn.Sequential(*stages), nn.GroupNorm(1, wide[-1]), nn.Linear(wide[-1], 1000)

    def forward(self, x):
        return self.head(self.norm(self.body(x)).mean((-2, -1)))


class DenseNorm(nn.Module):
    """A dense layer and a batch norm over its tokens."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.dense, self.norm = nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs)

    def forward(self, x):
        y = self.dense(x)
        return self.norm(y.flatten(0, 1)).reshape(y.shape)


class LevitAttention(nn.Module):
    """LeViT's attention: keys of 16, values of twice that, a learned bias for each distance; `stride` 2 asks every second pixel."""

    def __init__(self, inputs, outputs, heads, side, ratio, stride=1, key=16):
        super().__init__()
        self.heads, self.key, self.side, self.stride, self.value = heads, key, side, stride, ratio * key
        self.keys = DenseNorm(inputs, heads * (key + self.value) if stride > 1 else heads * (2 * key + self.value))
        self.queries = DenseNorm(inputs, heads * key) if stride > 1 else None
        self.project = nn.Sequential(nn.Hardswish(), DenseNorm(heads * self.value, outputs))
        places = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), -1).reshape(-1, 2)
        asks = places.reshape(side, side, 2)[::stride, ::stride].reshape(-1, 2)
        apart = (asks[:, None] - places).abs()
        self.register_buffer("apart", apart[..., 0] * side + apart[..., 1], persistent=False)
        self.biases = nn.Parameter(torch.zeros(heads, side * side))

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1)

    def forward(self, x):
        n = x.shape[0]
        if self.stride == 1:
            query, key, value = self.split(self.keys(x)).split((self.key, self.key, self.value), 3)
        else:
            key, value = self.split(self.keys(x)).split((self.key, self.value), 3)
            thin = x.reshape(n, self.side, self.side, -1)[:, ::self.stride, ::self.stride]
            query = self.split(self.queries(thin.reshape(n, -1, x.shape[2])))
        scores = query.permute(0, 2, 1, 3) @ key.permute(0, 2, 3, 1) * self.key ** -0.5 + self.biases[:, self.apart]
        mixed = (scores.softmax(-1) @ value.permute(0, 2, 1, 3)).transpose(1, 2)
        return self.project(mixed.reshape(n, mixed.shape[1], -1))


class LevitBlock(nn.Module):
    def __init__(self, channels, heads, side):
        super().__init__()
        self.attention = LevitAttention(channels, channels, heads, side, 2)
        self.mlp = nn.Sequential(DenseNorm(channels, 2 * channels), nn.Hardswish(), DenseNorm(2 * channels, channels))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


class Levit(nn.Module):
    """LeViT-128S (Graham et al., 2021): four convolutions of stride 2, attention on 14x14, 7x7 and 4x4 pixels, 1000 classes."""

    def __init__(self, wide=(128, 256, 384), depth=(2, 3, 4), heads=(4, 6, 8)):
        super().__init__()
        stem = (3, 16, 32, 64, 128)
        self.stem = nn.Sequential(*(layer(a, b, 3, 2, act=nn.Hardswish) for a, b in zip(stem, stem[1:])))
        stages, side = [], 14
        for i, (c, n, h) in enumerate(zip(wide, depth, heads)):
            stages += [LevitBlock(c, h, side) for _ in range(n)]
            if i + 1 < len(wide):
                stages.append(LevitAttention(c, wide[i + 1], c // 16, side, 4, 2))
                side = (side + 1) // 2
        self.stages = nn.Sequential(*stages)
        self.norm, self.head = nn.BatchNorm1d(wide[-1]), nn.Linear(wide[-1], 1000)

    def forward(self, x):
        return self.head(self.norm(self.stages(self.stem(x).flatten(2).transpose(1, 2)).mean(1)))


class TalkingHeads(nn.Module):
    """CaiT's block: dense layers across the heads before and after the softmax, scaled branches."""

    def __init__(self, channels, heads):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.project_in, self.project_out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.before, self.after = nn.Linear(heads, heads), nn.Linear(heads, heads)
        self.mlp, self.norm1, self.norm2 = Mlp(channels, 4 * channels), nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.layer_scale_1, self.layer_scale_2 = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.ones(channels))

    def mix(self, x):
        query, key, value = heads_apart(self.project_in(x), self.heads)
        scores = self.before((query * self.scale @ key.transpose(-2, -1)).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        scores = self.after(scores.softmax(-1).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.project_out((scores @ value).transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.layer_scale_1 * self.mix(self.norm1(x))
        return x + self.layer_scale_2 * self.mlp(self.norm2(x))


class Cait(nn.Module):
    """CaiT-XXS (Touvron et al., 2021) at 224x224, four of its 24 layers; the token of the class asks in one layer of its own."""

    def __init__(self, channels=192, heads=4, layers=4):
        super().__init__()
        self.heads, self.scale = heads, (channels // heads) ** -0.5
        self.patch, self.place = nn.Conv2d(3, channels, 16, 16), nn.Parameter(torch.zeros(1, 196, channels))
        self.blocks = nn.Sequential(*(TalkingHeads(channels, heads) for _ in range(layers)))
        self.token = nn.Parameter(torch.zeros(1, 1, channels))
        self.query, self.key, self.value = (nn.Linear(channels, channels) for _ in range(3))
        self.project, self.mlp = nn.Linear(channels, channels), Mlp(channels, 4 * channels)
        self.norm1, self.norm2, self.norm = (nn.LayerNorm(channels) for _ in range(3))
        self.head = nn.Linear(channels, 1000)

    def ask(self, x):
        split = lambda y: y.reshape(y.shape[0], y.shape[1], self.heads, -1).permute(0, 2, 1, 3)
        query, key, value = split(self.query(x[:, :1])) * self.scale, split(self.key(x)), split(self.value(x))
        return self.project(((query @ key.transpose(-2, -1)).softmax(-1) @ value).transpose(1, 2).reshape(x.shape[0], 1, -1))

    def forward(self, x):
        x = self.blocks(self.patch(x).flatten(2).transpose(1, 2) + self.place)
        token = self.token.expand(x.shape[0], -1, -1)
        token = token + self.ask(self.norm1(torch.cat((token, x), 1)))
        token = token + self.mlp(self.norm2(token))
        return self.head(self.norm(token)[:, 0])
