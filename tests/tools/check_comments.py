"""Comments speak of what exists: every file, and every name with an underscore, that a comment of the compiler, the planners
or the kernels mentions is a file of the repository or a word of its code.

usage: check_comments.py [FOLDER]
"""
import os
import re
import subprocess
import sys

PIECES = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
FILE = re.compile(r"\b(?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:c|h|def|py)\b")
LIBRARY = {"math.h", "string.h", "stdint.h", "stdio.h", "stdlib.h"}
READ = ("compiler/", "planners/", "tools/", "codegen_templates/", "runtime/")

# Examples: names of generated code, of models and their tensors, parts of names, names of ONNX that no code spells out.
EXAMPLES = set("""
    NET_WEIGHTS_ID NET_ARENA_SIZE mnist_conv_f32_1 MNIST_ARENA _ALIGN _init _verify _tensor _strings _int64s _floats occ_NAME occ_fn_f32 occ_lt_i64 occ_add_f32
    add_f32 gather_u16 input_3 x_dim0 num_mel_bins write_indices take_out model.c model.h templates.c
""".split())


def tracked(folder):
    return subprocess.check_output(["git", "ls-files"], cwd=folder, text=True).split()


def parts(text):
    """Comments as (line, text), and all that is none; strings count as code."""
    comments, code, at = [], [], 0
    for piece in PIECES.finditer(text):
        if piece.group().startswith("/"):
            comments.append((text.count("\n", 0, piece.start()) + 1, piece.group()))
            code.append(text[at:piece.start()])
            at = piece.end()
    return comments, "".join(code + [text[at:]])


def wrong_names(comment, files, words):
    """Names in the comment that nothing has."""
    for name in FILE.findall(comment):
        if name not in EXAMPLES | LIBRARY and not any(f == name or f.endswith("/" + name) for f in files):
            yield name
    for name in WORD.findall(comment):
        if "_" in name.strip("_") or name.startswith("_"): # OCC_POOL_: all that begin so
            if not (name.endswith("_") and any(w.startswith(name) for w in words)) and name not in words and name not in EXAMPLES and not any(f"/{name}." in f for f in files):
                yield name


def main(folder):
    files, words, found = tracked(folder), set(), []
    comments = {}
    for name in files:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            continue
        if name.endswith((".c", ".h", ".def")):
            comments[name], text = parts(text)
        if os.path.basename(name) != os.path.basename(__file__):
            words.update(WORD.findall(text))
    for name in sorted(comments):
        if name.startswith(READ):
            for line, comment in comments[name]:
                found += [f"{name}:{line}: a comment speaks of {wrong}" for wrong in wrong_names(comment, files, words)]
    print(*found, f"comments: {len(comments)} files, {len(found)} names that nothing has", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
