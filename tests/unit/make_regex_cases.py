"""Writes tests/unit/regex_cases.h: patterns, texts and what Python's re says of them: make_regex_cases.py > regex_cases.h

Patterns are drawn from the syntax that Python and RE2 share, seeded; texts are drawn near what the pattern matches.
"""

import random
import re

ATOMS = ["a", "b", "c", "ab", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\s", r"\.", "(?:a|bc)", "(a|)", "(b|c|ab)", "é", "[é-ü]",
         "(?:^a)", "(?:b$)", r"\b", r"\B", r"\W", r"\D", r"[\d_]", "[-a]", r"[\]x]"]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??"]
LETTERS = "abc.1_ é-x]"


def pattern(draw, depth=2):
    parts = []
    for _ in range(draw.randint(1, 4)):
        atom = draw.choice(ATOMS) if depth == 0 or draw.random() < 0.8 else f"({pattern(draw, depth - 1)})"
        holds = atom in (r"\b", r"\B")
        parts.append(atom + ("" if holds else draw.choice(REPEATS)))
    return "".join(parts) if draw.random() < 0.8 else "|".join(parts)


def texts(draw, compiled):
    """Some that match where any are found, and some that do not."""
    yes, no = set(), set()
    for _ in range(3000):
        text = "".join(draw.choice(LETTERS) for _ in range(draw.randint(0, 6)))
        (yes if compiled.fullmatch(text) else no).add(text)
    return sorted(yes, key=lambda t: (len(t), t))[:3] + draw.sample(sorted(yes), min(2, len(yes))) + draw.sample(sorted(no), min(4, len(no)))


def quoted(text):
    """A C literal; bytes that are no plain characters in octal, which ends after three digits."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'


def main():
    draw = random.Random(20)
    print("/* regex_cases.h - made by make_regex_cases.py: patterns, texts, and whether Python's re matches the whole text. */")
    print("static const struct {\n    const char *pattern, *text;\n    int matches;\n} regex_case[] = {")
    for _ in range(62):
        source = pattern(draw)
        compiled = re.compile(source, re.ASCII)
        for text in texts(draw, compiled):
            print(f"    {{{quoted(source)}, {quoted(text)}, {int(bool(compiled.fullmatch(text)))}}},")
    print("};")


if __name__ == "__main__":
    main()
