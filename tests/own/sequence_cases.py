"""Sequences and optionals: positions, capacities, members that differ, members taken out while the sequence changes."""

import numpy as np

from control_cases import HEAD, f32, i64, ramp, yes

CASES = [
    dict(name="sequence_positions", group="SequenceInsert", model=HEAD + """
        main (float[2] a, float[2] b, float[2] c, int64 at, int64 take, int64 drop) => (float[2] x, int64 n, seq(float[2]) left) {
          s0 = SequenceConstruct(a, b)
          s1 = SequenceInsert(s0, c, at)
          x = SequenceAt(s1, take)
          left = SequenceErase(s1, drop)
          n = SequenceLength(left)
        }""", inputs=[dict(a=f32(1, 2), b=f32(3, 4), c=f32(5, 6), at=i64(at), take=i64(t), drop=i64(d))
                      for at, t, d in ((0, 0, 0), (2, -1, 2), (-1, 1, -3), (1, -3, -1))]),
    dict(name="sequence_members_differ", group="SequenceAt", model=HEAD + """
        main (float[k, 2] a, float[m, 2] b, int64 at) => (float[n, 2] x, float[p, 2] y, float[q, 2] z) {
          s = SequenceConstruct(a, b, a)
          x = SequenceAt(s, at)
          y = Relu(x)
          z = ConcatFromSequence <axis = 0> (s)
        }""", inputs=[dict(a=ramp(k, 2) - 3, b=ramp(m, 2), at=i64(at)) for k, m, at in ((3, 1, 0), (1, 4, 1), (2, 2, 2))]),
    dict(name="sequence_members_grow", group="SequenceConstruct", model=HEAD + """
        main (float[k, 2] a, float[6, 1] b, float[6, m] c, int64 at) => (seq(float[n, p]) s, float[q, r] x) {
          s = SequenceConstruct(a, b, c)
          x = SequenceAt(s, at)
        }""", inputs=[dict(a=ramp(k, 2) - 3, b=ramp(6, 1), c=ramp(6, m), at=i64(at)) for k, m, at in ((6, 6, 2), (1, 1, 0), (2, 3, 1))]),
    dict(name="sequence_stacked", group="ConcatFromSequence", model=HEAD + """
        main (float[2, 3] a, float[2, 3] b) => (float[3, 2, 3] x, float[2, 3, 3] y, float[2, 9] z) {
          s = SequenceConstruct(a, b, a)
          x = ConcatFromSequence <axis = 0, new_axis = 1> (s)
          y = ConcatFromSequence <axis = -1, new_axis = 1> (s)
          z = ConcatFromSequence <axis = 1> (s)
        }""", inputs=[dict(a=ramp(2, 3), b=-ramp(2, 3))]),
    dict(name="sequence_split_every_way", group="SplitToSequence", model=HEAD + """
        main (float[2, n] a, int64 chunk) => (seq(float[2, p]) x, seq(float[2]) y, seq(float[k, n]) z) {
          x = SplitToSequence <axis = -1> (a, chunk)
          y = SplitToSequence <axis = 1, keepdims = 0> (a)
          one = Constant <value_ints = [1, 1]> ()
          z = SplitToSequence <axis = 0> (a, one)
        }""", inputs=[dict(a=ramp(2, n), chunk=i64(c)) for n, c in ((5, 2), (4, 2), (3, 7))]),
    dict(name="sequence_built_in_loop", group="Loop", model=HEAD + """
        main (int64 n, float[2] a) => (seq(float[2]) x, float[q] y) {
          s0 = SequenceEmpty <dtype = 1> ()
          x = Loop (n, , s0) <body = body (int64 i, bool c, seq(float[2]) p) => (bool d, seq(float[2]) q) {
              d = Identity(c)
              t = Cast <to = 1> (i)
              u = Add(a, t)
              q = SequenceInsert(p, u)
            }>
          s1 = SequenceInsert(x, a)
          y = ConcatFromSequence <axis = 0> (s1)
        }""", inputs=[dict(n=i64(k), a=f32(1, 2)) for k in (0, 1, 4)]),
    dict(name="sequences_swap_in_loop", group="Loop", model=HEAD + """
        main (int64 n, float[2] a, float[2] b) => (seq(float[2]) x, seq(float[2]) y) {
          s = SequenceConstruct(a, b)
          t = SequenceConstruct(b, a)
          x, y = Loop (n, , s, t) <body = body (int64 i, bool c, seq(float[2]) p, seq(float[2]) q) =>
              (bool d, seq(float[2]) q, seq(float[2]) p) { d = Identity(c) }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2), b=f32(3, 4)) for k in (0, 1, 2)]),
    dict(name="sequence_member_is_carried", group="Loop", model=HEAD + """
        main (int64 n, float[2] a, float[2] b) => (float[2] x, seq(float[2]) y) {
          s = SequenceConstruct(a, b)
          x, y = Loop (n, , a, s) <body = body (int64 i, bool c, float[2] v, seq(float[2]) p) =>
              (bool d, float[2] w, seq(float[2]) q) {
              d = Identity(c)
              zero = Constant <value_int = 0> ()
              w = SequenceAt(p, zero)
              r = SequenceErase(p, zero)
              t = Add(v, w)
              q = SequenceInsert(r, t)
            }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2), b=f32(3, 4)) for k in (0, 1, 2, 5)]),
    dict(name="sequence_from_either_branch", group="If", model=HEAD + """
        main (bool c, float[2] a, float[2] b) => (seq(float[2]) x, int64 n) {
          x = If (c) <then_branch = t () => (seq(float[2]) u) { u = SequenceConstruct(a, b, a) },
                      else_branch = e () => (seq(float[2]) v) { v = SequenceConstruct(b) }>
          n = SequenceLength(x)
        }""", inputs=[dict(c=yes(c), a=f32(1, 2), b=f32(3, 4)) for c in (True, False)]),
    dict(name="sequence_input_mapped", group="SequenceMap", oracle="reference", model=HEAD + """
        main (seq(float[k]) s, float[1] b) => (seq(float[k]) x, seq(float) y) {
          x, y = SequenceMap (s, b) <body = body (float[k] v, float[1] w) => (float[k] u, float r) {
              u = Add(v, w)
              r = ReduceSum <keepdims = 0> (u)
            }>
        }""", inputs=[dict(s=[f32(1, 2), f32(3, 4, 5)], b=f32(10)), dict(s=[f32(7)], b=f32(1))]),
    dict(name="optional_from_either_branch", group="Optional", model=HEAD + """
        main (bool c, float[2] a) => (float[2] x, bool has) {
          o = If (c) <then_branch = t () => (optional(float[2]) u) { u = Optional(a) },
                      else_branch = e () => (optional(float[2]) v) { n = Neg(a)
                        v = Optional(n) }>
          has = OptionalHasElement(o)
          x = OptionalGetElement(o)
        }""", inputs=[dict(c=yes(c), a=f32(1, 2)) for c in (True, False)]),
]
