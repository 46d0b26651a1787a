"""Every element type that schemas/ops.def lets an elementwise operator have is compiled or refused: check_scalars.py OCCAMYC

A type without its scalar function is a bug that compiling reports with exit status 70 and the name of the function.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import helper

import cases

ROW = re.compile(r'^OP\(\s*(\w+)\s*,\s*(\w+)\s*,\s*(\d+)\s*,(.*)"([^"]*)"\s*\)', re.M)
DTYPE = re.compile(r"^DTYPE\(\s*\w+\s*,\s*(\d+)\s*,[^,]*,[^,]*,[^,]*,\s*(\w+)\s*,\s*(\w)\s*\)", re.M)
NEEDED = {"BitShift": {"direction": "LEFT"}, "Cast": {"to": onnx.TensorProto.FLOAT}}     # attributes without a default


def read(path):
    with open(path) as file:
        return file.read()


def types_of(word, dtypes):
    """ONNX codes of the element types that a word of the column lets in; None: input N's, where it ends in =N."""
    if "=" in word:
        return None
    found = []
    for part in re.match(r"\??([\w*.|]*)", word).group(1).split("|"):
        exact = [code for code, suffix, _ in dtypes if suffix == part]
        found += exact or [code for code, _, letter in dtypes if part in ("*", ".") or letter in part]
    return found


def forms(words, inputs, dtypes):
    """All lists of the input types that a row lets in."""
    words = words[:inputs]
    free = [types_of(word, dtypes) for word in words]
    same = [int(re.search(r"=(\d+)", word).group(1)) if "=" in word else i for i, word in enumerate(words)]
    for chosen in itertools.product(*(codes or [0] for codes in free)):
        yield [chosen[same[i]] for i in range(len(words))]


def compile_node(occamyc, folder, domain, name, types):
    node = helper.make_node(name, [f"x{i}" for i in range(len(types))], ["y"], domain=domain, **NEEDED.get(name, {}))
    inputs = [helper.make_tensor_value_info(f"x{i}", code, [2]) for i, code in enumerate(types)]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="y")])
    sets = [helper.make_opsetid("", 28)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    path = os.path.join(folder, "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=10), path)
    return subprocess.run([occamyc, path, "--quiet"], capture_output=True, text=True)


def main():
    occamyc = sys.argv[1]
    domains = cases.domains()
    dtypes = [(int(code), suffix, letter) for code, suffix, letter in DTYPE.findall(read("schemas/dtypes.def"))]
    names = {code: suffix for code, suffix, _ in dtypes}
    made = refused = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for domain, name, least, columns, words in ROW.findall(read("schemas/ops.def")):
            if "OP_ELEMENTWISE" not in columns or domain not in domains:
                continue
            for types in forms(words.split(), int(least), dtypes):
                done = compile_node(occamyc, folder, domains[domain], name, types)
                made += done.returncode == 0
                refused += done.returncode in (2, 3)
                if done.returncode not in (0, 2, 3):
                    failed += 1
                    print(f"{domain}.{name} of {', '.join(names[t] for t in types)}: {done.stderr.strip()}")
    print(f"{made} passed, {failed} failed, {refused} skipped")
    sys.exit(1 if failed or made < 400 else 0)


if __name__ == "__main__":
    main()
