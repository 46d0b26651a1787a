"""Small models of kinds that the official cases lack, to start the fuzzer from: make_seeds.py FOLDER

Those of SEEDS: arithmetic on extents as exporters write it, branches that are known, constants of every kind, random numbers,
old labels. Those of lines/*.txt, one to a line: variants of operators that are valid, and that must be refused. A line is the
text format of onnx, shortened: inputs, "->", outputs, "=", nodes. "@9 " before it gives the version of the main operator set,
"%1 " that of ai.onnx.ml; "_" as a name is a value that is left out. Inputs whose name begins with open, empty, ranked or
values get other bounds (target.c).
"""

import glob
import os
import sys

import onnx.parser

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]>\n'
SEEDS = {
    "extents": """g (float[n, m] x) => (float[a, b] y) {
        s = Shape (x)
        zero = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        three = Constant <value_ints = [3]> ()
        n = Gather (s, zero)
        m = Gather (s, one)
        least = Min (n, m, three)
        most = Max (n, m)
        less = Less (n, m)
        more = Greater (n, three)
        upto = LessOrEqual (m, three)
        from = GreaterOrEqual (m, three)
        apart = Xor (less, more)
        both = And (upto, from)
        some = Or (apart, both)
        not = Not (some)
        even = Mod (m, three)
        half = Div (n, three)
        odd = Sub (most, half)
        twice = Add (odd, even)
        rows = Where (not, least, twice)
        wanted = Concat <axis = 0> (rows, m)
        y = ConstantOfShape (wanted)
    }""",
    "floats_of_extents": """g (float[1, 2, h, w] x) => (float[1, 2, p, q] y) {
        s = Shape <start = 2> (x)
        f = Cast <to = 1> (s)
        scale = Constant <value_floats = [1.5, 0.5]> ()
        one = Constant <value_float = 1.0> ()
        big = Constant <value_float = 64.0> ()
        grown = Mul (f, scale)
        less = Sub (grown, one)
        more = Add (less, one)
        part = Div (more, one)
        low = Max (part, one)
        high = Min (low, big)
        whole = Floor (high)
        up = Ceil (whole)
        sizes = Cast <to = 7> (up)
        front = Constant <value_ints = [1, 2]> ()
        all = Concat <axis = 0> (front, sizes)
        none = Constant <value = float[0] {}> ()
        y = Resize <mode = "nearest"> (x, none, none, all)
    }""",
    "ranges": """g (float[n] x) => (float[a] y, float[c] z, int64[d] k) {
        zero = Constant <value_float = 0.0> ()
        end = Constant <value_float = 7.5> ()
        step = Constant <value_float = 1.5> ()
        y = Range (zero, end, step)
        s = Shape (x)
        axes = Constant <value_ints = [0]> ()
        n = Squeeze (s, axes)
        one = Constant <value_int = 1> ()
        none = Constant <value_int = 0> ()
        two = Constant <value_int = -2> ()
        k = Range (n, none, two)
        f = Cast <to = 1> (n)
        z = Range (zero, f, step)
    }""",
    "known_branch": """g (float[2, n] x) => (float[2, a] y) {
        yes = Constant <value = bool {1}> ()
        y = If (yes) <then_branch = t () => (float[2, b] r) { r = Relu (x) },
                      else_branch = e () => (float[2, c] r) { r = Neg (x) }>
    }""",
    "branch_of_extents": """g (float[n] x) => (float[a] y) {
        s = Shape (x)
        axes = Constant <value_ints = [0]> ()
        three = Constant <value_ints = [3]> ()
        n = Squeeze (s, axes)
        limit = Constant <value_int = 3> ()
        yes = Less (n, limit)
        size = If (yes) <then_branch = t () => (int64[1] r) { r = Identity (s) },
                         else_branch = e () => (int64[1] r) { r = Identity (three) }>
        y = ConstantOfShape (size)
    }""",
    "branch_of_ranks": """g (float[1, n] x, bool b) => (float y) {
        axes = Constant <value_ints = [0]> ()
        r = If (b) <then_branch = t () => (float[m] q) { q = Squeeze (x, axes) },
                    else_branch = e () => (float[m] q) { q = Flatten (x) }>
        y = ReduceSum <keepdims = 0> (r)
    }""",
    "constants_in_a_body": """g (float[2] x, bool b) => (float[2] y) {
        y = If (b) <then_branch = t () => (float[2] r) {
                        i = Constant <value_int = 2> () f = Constant <value_float = 0.5> () c = Cast <to = 1> (i)
                        h = Mul (x, f) r = Add (h, c) },
                    else_branch = e () => (float[2] r) { w = Constant <value_floats = [1.0, 2.0]> () r = Mul (x, w) }>
    }""",
    "halves": """g (float16[2] x, bfloat16[2] z, double[2] w) => (float16[2] y, bfloat16[2] u, double[2] v) {
        least = Constant <value = float16 {0}> ()
        most = Constant <value = float16 {6}> ()
        y = Clip (x, least, most)
        one = Constant <value = bfloat16 {1}> ()
        two = Constant <value = bfloat16 {2}> ()
        u = Clip (z, one, two)
        low = Constant <value = double {0.5}> ()
        high = Constant <value = double {1.5}> ()
        v = Clip (w, low, high)
    }""",
    "words": """g (float[1] x) => (string[2] y, string z) {
        y = Constant <value_strings = ["a", "b"]> ()
        z = Constant <value_string = "c"> ()
    }""",
    "random_numbers": """g (float[2, 3] x) => (float[2, 3] a, float[4] b, float[2, 3] c, float[2] d, int32[2, 5] e) {
        a = RandomNormalLike <seed = 1.0> (x)
        b = RandomUniform <shape = [4], low = -1.0> ()
        c = Bernoulli (x)
        d = RandomNormal <shape = [2], dtype = 1> ()
        e = Multinomial <sample_size = 5> (x)
    }""",
    "old_labels": """g (string[3] x) => (int64[3] y) {
        y = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "b"], values_int64s = [1, 2]> (x)
    }""",
    "carried_extents": """g (float[n, 2] x, int64 trips) => (float[m, 2] y, float[k, n, 2] z) {
        yes = Constant <value = bool {1}> ()
        y, z = Loop (trips, yes, x) <body = b (int64 i, bool c, float[p, 2] a) => (bool d, float[q, 2] e, float[n, 2] f) {
            d = Identity (c) e = Concat <axis = 0> (a, x) f = Neg (x) }>
    }""",
    "windows": """g (float[1, n, 1] x) => (float[1, a, b, 2] y) {
        step = Constant <value_int = 4> ()
        size = Constant <value_int = 8> ()
        w = HannWindow (size)
        none = Constant <value_int = 8> ()
        y = STFT (x, step, w, none)
    }""",
}


def line_model(line):
    """The model of a line of lines/*.txt."""
    versions = {"@": "22", "%": "3"}
    while line[0] in versions:
        mark, _, line = line.partition(" ")
        versions[mark[0]] = mark[1:]
    inputs, _, rest = line.partition(" -> ")
    outputs, _, nodes = rest.partition(" = ")
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {versions["@"]}, "ai.onnx.ml" : {versions["%"]}, "com.microsoft" : 1, '
        f'"ai.onnx.preview" : 1, "ai.onnx.preview.training" : 1]>\ng ({inputs}) => ({outputs}) {{ {nodes} }}')
    leave_out(model.graph)
    return model


def leave_out(graph):
    """Values named "_" become such as are left out."""
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = ["" if name == "_" else name for name in names]
        for attribute in node.attribute:
            leave_out(attribute.g)


def write(name, model):
    with open(os.path.join(sys.argv[1], name + ".onnx"), "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, text in SEEDS.items():
        write(name, onnx.parser.parse_model(HEAD + text))
    count = len(SEEDS)
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lines", "*.txt"))):
        with open(path) as file:
            for number, line in enumerate(file, 1):
                write(f"{os.path.basename(path)[:-4]}{number}", line_model(line))
                count += 1
    print(f"{count} seeds in {sys.argv[1]}")


main()
