"""Text as kernels read and write it: numbers of every size, letters of every alphabet."""

import numpy as np

import draw as d
from recipes import recipe
from recipes_seldom import only_opset

# -- numbers ---------------------------------------------------------------------------------------------------------------


def any_double(draw):
    """A double of any exponent, or close to what eight digits round at."""
    kind = draw.pick(["bits", "bits", "decimal", "tie", "carry", "power", "word"])
    if kind == "bits":
        return float(np.uint64(draw.getrandbits(64)).view(np.float64))
    if kind == "decimal":
        return draw.pick([-1, 1]) * round(draw.uniform(0, 10), draw.randint(0, 9)) * 10.0 ** draw.randint(-7, 12)
    if kind == "tie":                               # the ninth digit is a five, exactly so where the number is a whole one
        return draw.randint(10 ** 7, 10 ** 8 - 1) * 10.0 ** draw.pick([1, 1, 2]) + draw.pick([5, 50])
    if kind == "carry":
        return draw.pick([-1, 1]) * (10.0 - draw.pick([1e-7, 4e-8, 6e-8, 1e-9])) * 10.0 ** draw.randint(-9, 15)
    if kind == "power":
        return draw.pick([10.0 ** draw.randint(-20, 20), 2.0 ** draw.randint(-1074, 1023), float(2 ** draw.randint(50, 70) + 1)])
    return draw.pick([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308])


@recipe("Cast", network=0)
def digits(net):
    """Floats of every size and sign as text."""
    draw = net.draw
    if net.opset < 9:
        only_opset(net, draw.pick([9, 13, 19]))
    dtype = draw.pick([d.DOUBLE, d.DOUBLE, d.FLOAT, d.HALF, d.INT64, d.UINT64])
    count = draw.randint(8, 40)
    arrays = []
    for _ in range(net.count):
        if dtype in d.FLOATS:
            with np.errstate(all="ignore"):
                arrays.append(np.array([any_double(draw) for _ in range(count)]).astype(d.numpy_type(dtype)))
        else:
            kind = d.numpy_type(dtype)
            arrays.append(np.array([np.uint64(draw.getrandbits(64) >> draw.randint(0, 63)) for _ in range(count)]).astype(kind))
    net.node("Cast", [net.input(dtype, [count], arrays=arrays)], to=d.STRING)


def any_number(draw, whole, signed):
    """Text that begins with a number as C reads it."""
    sign = draw.pick(["", "", "-", "+"]) if signed else draw.pick(["", "", "+"])
    blanks = draw.pick(["", "", "", " ", "\t", "\n \r", "  "])
    behind = draw.pick(["", "", "", "", "x", " 5", ".", "-", "{", "[", "é"])
    if whole:
        return blanks + sign + str(draw.getrandbits(draw.pick([1, 4, 8, 16, 31]))) + behind
    kind = draw.pick(["plain", "plain", "plain", "exponent", "exponent", "hex", "hex", "denormal", "word", "long", "tie", "zero"])
    if kind == "word":
        return blanks + sign + draw.pick(["inf", "INF", "Infinity", "nan", "NaN"])
    if kind == "hex":
        digit = "".join(draw.choices("0123456789abcdefABCDEF", k=draw.randint(0, 20)))
        at = draw.randint(0, len(digit))
        power = draw.pick(["", f"p{draw.randint(-60, 60)}", f"P+{draw.randint(0, 60)}", "p", "p 3"])
        return blanks + sign + draw.pick(["0x", "0X"]) + digit[:at] + draw.pick([".", ""]) + digit[at:] + power
    if kind == "denormal":                          # exact, since ONNX Runtime refuses what C calls an underflow
        return sign + f"0x{draw.getrandbits(draw.pick([1, 20, 52])) + 1:x}p-{draw.randint(1022, 1074)}"
    if kind == "zero":
        return blanks + sign + draw.pick(["0", "00.00", ".0", "0."]) + draw.pick(["", "e9", "e-400", f"e{draw.getrandbits(40)}", "E-99999999999"]) + behind
    digit = "".join(draw.choices("0123456789", k=draw.randint(1, 25)))
    if kind == "long":                              # more digits than are kept
        return sign + draw.pick(["0.", "0.000", "7.", digit + "."]) + "".join(draw.choices("0123456789", k=draw.randint(700, 900))) + draw.pick(["", "000", "1e5"])
    if kind == "tie":                               # half of the last bit above a whole number of 53
        return sign + str((2 ** 52 + draw.getrandbits(40)) * 2 + 1) + draw.pick(["", ".0", ".00000000000000000000000001", "e0"])
    at = draw.randint(0, len(digit))
    body = digit[:at] + draw.pick([".", ".", ""]) + digit[at:]
    if kind == "exponent":
        body += draw.pick(["e", "E"]) + draw.pick(["", "-", "+"]) + str(draw.randint(0, draw.pick([9, 30, 280]))) + draw.pick(["", "", "e4"])
    return blanks + sign + body + draw.pick([behind, "e", "e+", "e 5", "e\t5"])


@recipe("Cast", network=0)
def numbers_in_text(net):
    """Text with numbers as C's strtod, strtoll and strtoull read them: blanks, signs, hexadecimal ones, text behind."""
    draw = net.draw
    if net.opset < 9:
        only_opset(net, draw.pick([9, 13, 19]))
    to = draw.pick([d.FLOAT, d.DOUBLE, d.DOUBLE, d.DOUBLE, d.INT64, d.UINT64, d.INT32, d.UINT32])
    signed = to in d.FLOATS or to in (d.INT64, d.INT32, d.UINT64)
    count = draw.randint(6, 20)
    held = [np.array([any_number(draw, to not in d.FLOATS, signed) for _ in range(count)], object) for _ in range(net.count)]
    if to in (d.INT64, d.UINT64):
        ends = {d.INT64: ["9223372036854775807", "-9223372036854775808", "-0", "0"], d.UINT64: ["18446744073709551615", "-1", "-18446744073709551615", "0"]}
        for array in held:
            array[draw.randrange(count)] = draw.pick(ends[to])
    net.node("Cast", [net.input(d.STRING, [count], arrays=held)], to=to)


# -- letters ---------------------------------------------------------------------------------------------------------------

# Where ranges of letters that change alike begin and end, with the characters beside them; and some that have no case.
ENDS = [0x40, 0x41, 0x5a, 0x5b, 0x60, 0x61, 0x7a, 0x7b, 0xb5, 0xbf, 0xc0, 0xd6, 0xd7, 0xd8, 0xde, 0xdf, 0xe0, 0xf6, 0xf7, 0xf8, 0xfe, 0xff, 0x100, 0x101,
        0x12e, 0x12f, 0x132, 0x133, 0x136, 0x137, 0x138, 0x139, 0x13a, 0x147, 0x148, 0x149, 0x14a, 0x14b, 0x176, 0x177, 0x178, 0x179, 0x17a, 0x17d, 0x17e,
        0x1bb, 0x2b9, 0x37e, 0x386, 0x387, 0x388, 0x389, 0x38a, 0x38c, 0x38e, 0x38f, 0x391, 0x3a1, 0x3a2, 0x3a3, 0x3ab, 0x3ac, 0x3ad, 0x3ae, 0x3af, 0x3b1, 0x3c1,
        0x3c2, 0x3c3, 0x3cb, 0x3cc, 0x3cd, 0x3ce, 0x400, 0x40f, 0x410, 0x42f, 0x430, 0x44f, 0x450, 0x45f, 0x482, 0x5d0, 0x627, 0x20ac, 0x4e03]
LETTERS = [*range(0x41, 0x5b), *range(0xc0, 0x130), *range(0x132, 0x180), *range(0x388, 0x3cf), *range(0x400, 0x460)]
LONE = (0x17f, 0x390, 0x3b0)                        # their other case has other bytes


@recipe("StringNormalizer", network=0)
def alphabets(net):
    """Long words of letters at the ends of what changes alike, and stop words that are their other case or differ in one letter."""
    draw = net.draw
    net.newer("StringNormalizer")

    def word(least):
        return "".join(chr(draw.pick([c for c in (ENDS if draw.chance(0.7) else LETTERS) if c not in LONE])) for _ in range(draw.randint(least, 24)))
    words = [word(1) for _ in range(draw.randint(2, 5))]
    held = words + [word(0) for _ in range(draw.randint(1, 6))] + [w[:-1] for w in words] + [w + "a" for w in words]
    stops = words[:draw.randint(1, 2)] + [word(1)]
    action = draw.pick(["LOWER", "UPPER", "UPPER", "NONE", None])
    if action in ("LOWER", "UPPER") and draw.chance(0.5):   # a letter that stays, as its other case has one byte
        held.append(word(1) + {"LOWER": "\u0131", "UPPER": "\u0130"}[action])
    other = [draw.pick([w, w if w[-1:] in "\u0130\u0131" else "".join(draw.pick([c, *(o for o in (c.upper(), c.lower()) if len(o) == 1 and len(o.encode()) == len(c.encode()))]) for c in w)]) for w in held]
    count = len(held)
    x = net.input(d.STRING, [count], arrays=[np.array(draw.sample(other, count), object) for _ in range(net.count)])
    net.node("StringNormalizer", [x], is_case_sensitive=draw.pick([0, 0, 1]), locale="C.utf8", stopwords=stops, case_change_action=action)
