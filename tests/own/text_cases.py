"""Text: who keeps characters alive, moves of pointers, pools in branches and loops."""

import re

import numpy as np
from onnx import TensorProto, helper

from control_cases import HEAD, i64, yes

HEAD20 = HEAD.replace("17", "20")


def text(*values):
    return np.array(values, dtype=object)


PATTERNS = [r"a*b+c?", r"(ab|cd)*", r"[^a-c]x{2,3}", r"a{0}b{2,}", r"(?:a|ab)(?:c|bcd)(?:d*)", r"\d+\.\d*(e[+-]?\d+)?", r"\bfoo\b.*\Bar",
            r"^$", r"(^|x)a($|y)", r"[]a]+", r"[\w.-]+@[a-z]+\.com", r"\s*\S+\s*", r"é|[à-ü]+", r".{2}", r"[^é]*", r"a|", r"\x41\x42?",
            r"(a?){3}a{3}", r"[a\-z]+", r"(((x)))+?"]
TEXTS = ["", "a", "b", "aab", "abbc", "c", "abcd", "cdab", "dxx", "axx", "dxxxx", "bbb", "zz", "z{,2}", "b", "abcdd", "12.", "1.5e-7", "1.e", "foo bar",
         "food bar", "foo ar", "foo bear", "xay", "xa", "ay", "]a]", "me.you-2@mail.com", "@mail.com", " x ", " x y", "é", "àéü", "éà9", "AB", "A",
         "aaa", "aaaaaa", "aaaaaaa", "a-z", "xxx", "日本", "日", "\n", "a\n"]


def matching(number, pattern):
    """The oracle is Python's matcher, whose \\d, \\w and \\s are those of ASCII here too."""
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    graph = helper.make_graph([node], "match", [helper.make_tensor_value_info("x", TensorProto.STRING, [len(TEXTS)])],
                              [helper.make_tensor_value_info("y", TensorProto.BOOL, [len(TEXTS)])])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    matcher = re.compile(pattern, re.ASCII)
    return dict(name=f"regex_{number}", group="RegexFullMatch", model=model, inputs=[dict(x=text(*TEXTS))],
                wanted=lambda inputs: [np.array([bool(matcher.fullmatch(t)) for t in inputs["x"]])])


LETTERS = [chr(c) for c in [*range(0x21, 0x7f), *range(0xa1, 0x180), *range(0x386, 0x3cf), *range(0x400, 0x460)]]


def in_case(action):
    """The oracle is Python: a letter whose other form is one letter of as many bytes becomes that, any other stays."""
    def changed(letter):
        other = letter.upper() if action == "UPPER" else letter.lower()
        return other if len(other) == 1 and len(other.encode()) == len(letter.encode()) else letter
    node = helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action=action, is_case_sensitive=1, stopwords=["none"])
    info = [helper.make_tensor_value_info(n, TensorProto.STRING, [len(LETTERS)]) for n in "xy"]
    model = helper.make_model(helper.make_graph([node], "letters", info[:1], info[1:]), ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    return dict(name=f"letters_{action.lower()}", group="StringNormalizer", model=model, inputs=[dict(x=text(*LETTERS))],
                wanted=lambda inputs: [text(*map(changed, inputs["x"]))])


CASES = [
    in_case("UPPER"), in_case("LOWER"),
    dict(name="text_moves", group="StringConcat", model=HEAD20 + """
        main (string[3] a, string[3] b, int64[2] at) => (string[2] x, string[3, 2] y, string[6] z) {
          s = StringConcat(a, b)
          x = Gather(s, at)
          zero = Constant <value_ints = [1]> ()
          u = Unsqueeze(s, zero)
          v = Unsqueeze(a, zero)
          y = Concat <axis = 1> (u, v)
          t = StringConcat(b, a)
          z = Concat <axis = 0> (s, t)
        }""", flags=['--dim', 'a:bytes=16', '--dim', 'b:bytes=16'], inputs=[dict(a=text("ab", "", "cde"), b=text("x", "yz", ""), at=i64([2, 0]))]),
    dict(name="text_chain", group="StringConcat", model=HEAD20 + """
        main (string[2] a) => (string[2] x, bool[2] same) {
          s = StringConcat(a, a)
          t = StringConcat(s, a)
          u = StringConcat(t, s)
          x = StringConcat(u, t)
          same = Equal(s, a)
        }""", flags=['--dim', 'a:bytes=16'], inputs=[dict(a=text("p", "qr")), dict(a=text("", "é"))]),
    dict(name="text_of_either_branch", group="If", model=HEAD20 + """
        main (bool c, string[2] a) => (string[2] x, string[2] y) {
          x = If (c) <then_branch = t () => (string[2] u) { u = StringConcat(a, a) },
                      else_branch = e () => (string[2] v) { v = Identity(a) }>
          y = StringConcat(x, a)
        }""", flags=['--dim', 'a:bytes=16'], inputs=[dict(c=yes(c), a=text("p", "qr")) for c in (True, False)]),
    dict(name="text_selected", group="Where", model=HEAD20 + """
        main (bool[3] c, string[3] a, string[1] b) => (string[3] x) { x = Where(c, a, b) }
        """, inputs=[dict(c=np.array([1, 0, 1], dtype=bool), a=text("p", "q", "r"), b=text("none"))]),
    dict(name="text_cast_to_text", group="CastLike", model=HEAD20 + """
        main (string[3] a, string[1] b) => (string[3] x, string[3] y) {
          x = CastLike(a, b)
          y = Cast <to = 8> (a)
        }""", inputs=[dict(a=text("p", "", "é"), b=text("q"))], wanted=lambda inputs: [inputs["a"], inputs["a"]]),
    dict(name="text_in_sequence", group="SequenceAt", model=HEAD20 + """
        main (string[2] a, int64 at) => (string[2] x) {
          s = StringConcat(a, a)
          q = SequenceConstruct(a, s)
          x = SequenceAt(q, at)
        }""", flags=['--dim', 'a:bytes=16'], inputs=[dict(a=text("p", "qr"), at=i64(k)) for k in (0, 1, -1)]),
]

CASES += [matching(n, pattern) for n, pattern in enumerate(PATTERNS)]
