"""Which branches of the kernels the built programs took: gcov of the generated code, summed over models and element types.

A key is "KERNEL:LINE:BRANCH": the kernel and the line's text without element types, as a checksum and how many lines of that text are before
it in the function, and the branch of the line. A line's number would not do: what a program does not need is left out of its text.
The text of a line has that of its consequence behind it, where this is on a line of its own.
"""

import gzip
import json
import os
import re
import subprocess
import zlib

FLAG = "--coverage"
START = re.compile(r"^(?:static |inline |OCC_\w+ |const )*[a-zA-Z_][\w *]*?\b(occ_\w+)\(")
TYPES = re.compile(r"_(?:f64|f32|f16|bf16|f8e\w+?|f4e2m1|[iu](?:64|32|16|8|4|2)|bool|b1|b2|b4|b8|text|str|TPL_N2?)(?=_|$|\W)")
WORDS = re.compile(r"\b(?:float|double|u?int\d+_t|occ_text|TPL_T2?)\b")


def functions(path):
    """Per line of a generated file (kernel, line within it, its text), or None between functions."""
    places, inside, seen = [None], None, {}
    with open(path) as file:
        for text in file:
            start = START.match(text)
            if inside is None and start and not text.rstrip().endswith(";"):
                inside, seen = TYPES.sub("", start[1]), {}
            places.append((inside, identity(text, seen), text.strip()) if inside else None)
            if inside and text.startswith("}"):
                inside = None
    return places


def checksum(text):
    """A line without element types, as a number."""
    return f"{zlib.crc32(WORDS.sub('T', TYPES.sub('', text.strip())).encode()):08x}"


def identity(text, seen):
    """What a line is known by among all programs; seen: how often each text was in the function before."""
    alike = checksum(text)
    seen[alike] = seen.get(alike, 0) + 1
    return f"{alike}.{seen[alike]}"


def lines_of(folder):
    """Checksums of all lines of templates."""
    found = set()
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), encoding="utf-8") as file:
                found |= {checksum(text) for text in file}
    return found


def is_there(key, lines):
    """Whether the line of a key is one of a set of checksums: counts of a line outlive it."""
    return key.split(":")[1].split(".")[0] in lines


def collect(folder, names):
    """Counts of every branch of the files NAME.c, taken or not, and the text of their lines."""
    counts, texts = {}, {}
    for name in names:
        done = subprocess.run(["gcov", "-b", "--json-format", "--stdout", f"{name}.gcda"], cwd=folder, capture_output=True)
        if done.returncode or not done.stdout:
            continue
        text = gzip.decompress(done.stdout) if done.stdout[:2] == b"\x1f\x8b" else done.stdout
        places = functions(os.path.join(folder, name + ".c"))
        for file in json.loads(text.splitlines()[0])["files"]:
            if os.path.basename(file["file"]) == name + ".c":
                note_lines(file["lines"], places, counts, texts)
    return counts, texts


def consequence(places, number):
    place = places[number] if number < len(places) else None
    return " " + place[2] if place and place[2].startswith("return") else ""


def note_lines(lines, places, counts, texts):
    for line in lines:
        place = places[line["line_number"]] if line["line_number"] < len(places) else None
        if not place:
            continue
        if line["branches"]:
            texts[f"{place[0]}:{place[1]}"] = place[2] + consequence(places, line["line_number"] + 1)
        for branch, taken in enumerate(line["branches"]):
            key = f"{place[0]}:{place[1]}:{branch}"
            counts[key] = counts.get(key, 0) + (taken["count"] > 0)
