"""Classic networks that torchvision lacks, written in plain torch.nn: BERT-base, GPT-2 small, the SRGAN x4 generator, YOLOv1.

Knows nothing of weights (export_classic.py seeds them) and nothing of ONNX.
Letters in shape comments: N batch, T tokens, C channels, H heads, D channels per head.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Multi-head self-attention over [N, T, C]; `bias` is added to the scores and broadcasts to [N, H, T, T]."""

    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(channels, 3 * channels)
        self.project_out = nn.Linear(channels, channels)

    def split(self, x):
        """[N, T, C] -> [N, H, T, D]"""
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, bias):
        query, key, value = (self.split(part) for part in self.project_in(x).chunk(3, dim=-1))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + bias
        mixed = torch.softmax(scores, dim=-1) @ value                               # [N, H, T, D]
        return self.project_out(mixed.permute(0, 2, 1, 3).reshape(x.shape))


class Block(nn.Module):
    """A transformer layer: normalised before its two halves (GPT-2) or after them (BERT)."""

    def __init__(self, channels, heads, before, gelu):
        super().__init__()
        self.before, self.gelu = before, gelu
        self.attention = Attention(channels, heads)
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.widen, self.narrow = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)

    def mlp(self, x):
        return self.narrow(self.gelu(self.widen(x)))

    def forward(self, x, bias):
        if self.before:
            x = x + self.attention(self.norm1(x), bias)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, bias))
        return self.norm2(x + self.mlp(x))


class Bert(nn.Module):
    """BERT-base's encoder: token ids, token types and a mask in; last hidden states and the pooled first token out."""

    def __init__(self, vocabulary=30522, tokens=512, channels=768, heads=12, layers=12):
        super().__init__()
        self.word = nn.Embedding(vocabulary, channels)
        self.position = nn.Embedding(tokens, channels)
        self.kind = nn.Embedding(2, channels)
        self.norm = nn.LayerNorm(channels)
        self.blocks = nn.ModuleList(Block(channels, heads, False, F.gelu) for _ in range(layers))
        self.pool = nn.Linear(channels, channels)

    def forward(self, input_ids, attention_mask, token_type_ids):
        place = torch.arange(input_ids.shape[1])
        x = self.norm(self.word(input_ids) + self.position(place) + self.kind(token_type_ids))
        bias = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0
        for block in self.blocks:
            x = block(x, bias)
        return x, torch.tanh(self.pool(x[:, 0]))


def gelu_tanh(x):
    """The tanh form of GELU, as GPT-2 was trained with."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


class Gpt2(nn.Module):
    """GPT-2 small: token ids [N, T] in, logits [N, T, vocabulary] out; the output layer shares the embedding."""

    def __init__(self, vocabulary=50257, tokens=1024, channels=768, heads=12, layers=12):
        super().__init__()
        self.word = nn.Embedding(vocabulary, channels)
        self.position = nn.Embedding(tokens, channels)
        self.blocks = nn.ModuleList(Block(channels, heads, True, gelu_tanh) for _ in range(layers))
        self.norm = nn.LayerNorm(channels)
        future = torch.triu(torch.full((tokens, tokens), -10000.0), diagonal=1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, input_ids):
        tokens = input_ids.shape[1]
        x = self.word(input_ids) + self.position(torch.arange(tokens))
        bias = self.future[:tokens, :tokens]
        for block in self.blocks:
            x = block(x, bias)
        return self.norm(x) @ self.word.weight.t()


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.PReLU(),
                                  nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))

    def forward(self, x):
        return x + self.body(x)


class Srgan(nn.Module):
    """The SRGAN x4 generator: image [N, 3, h, w] in, [N, 3, 4h, 4w] in -1..1 out."""

    def __init__(self, channels=64, blocks=16):
        super().__init__()
        self.head = nn.Sequential(nn.Conv2d(3, channels, 9, padding=4), nn.PReLU())
        self.body = nn.Sequential(*(ResidualBlock(channels) for _ in range(blocks)),
                                  nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))
        grow = [nn.Conv2d(channels, 4 * channels, 3, padding=1), nn.PixelShuffle(2), nn.PReLU()]
        again = [nn.Conv2d(channels, 4 * channels, 3, padding=1), nn.PixelShuffle(2), nn.PReLU()]
        self.tail = nn.Sequential(*grow, *again, nn.Conv2d(channels, 3, 9, padding=4), nn.Tanh())

    def forward(self, x):
        head = self.head(x)
        return self.tail(head + self.body(head))


# (kernel, channels, stride) of YOLOv1's 24 convolutions; "pool" is a 2x2 maximum.
YOLO_LAYERS = [(7, 64, 2), "pool", (3, 192, 1), "pool", (1, 128, 1), (3, 256, 1), (1, 256, 1), (3, 512, 1), "pool",
               *[(1, 256, 1), (3, 512, 1)] * 4, (1, 512, 1), (3, 1024, 1), "pool",
               *[(1, 512, 1), (3, 1024, 1)] * 2, (3, 1024, 1), (3, 1024, 2), (3, 1024, 1), (3, 1024, 1)]


class Yolo(nn.Module):
    """YOLOv1: image [N, 3, 448, 448] in; per cell of the 7x7 grid two boxes and twenty classes out, [N, 7, 7, 30]."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for item in YOLO_LAYERS:
            if item == "pool":
                layers.append(nn.MaxPool2d(2))
                continue
            kernel, wide, stride = item
            layers += [nn.Conv2d(channels, wide, kernel, stride, kernel // 2), nn.LeakyReLU(0.1)]
            channels = wide
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(7 * 7 * 1024, 4096), nn.LeakyReLU(0.1), nn.Linear(4096, 7 * 7 * 30))

    def forward(self, x):
        return self.head(self.features(x).flatten(1)).reshape(-1, 7, 7, 30)
