"""Text: who keeps characters alive, moves of pointers, pools in branches and loops."""

import numpy as np

from control_cases import HEAD, i64, yes

HEAD20 = HEAD.replace("17", "20")


def text(*values):
    return np.array(values, dtype=object)


TEXT = [
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
    dict(name="text_in_sequence", group="SequenceAt", model=HEAD20 + """
        main (string[2] a, int64 at) => (string[2] x) {
          s = StringConcat(a, a)
          q = SequenceConstruct(a, s)
          x = SequenceAt(q, at)
        }""", flags=['--dim', 'a:bytes=16'], inputs=[dict(a=text("p", "qr"), at=i64(k)) for k in (0, 1, -1)]),
]
