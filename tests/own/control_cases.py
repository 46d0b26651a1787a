"""If, Loop and Scan: what goes wrong when extents, places or orders of writing are muddled."""

import numpy as np


def f32(*values):
    return np.array(values, dtype=np.float32)


def i64(value):
    return np.array(value, dtype=np.int64)


def yes(value):
    return np.array(value, dtype=bool)


def ramp(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def signed(sums, most, least):
    """A float[1, 16]. 1: its sum is above 0, its maximum above 1, its minimum below -4."""
    a = np.random.default_rng(7).uniform(0, 0.5, (1, 16)).astype(np.float32) + np.float32(0.5 if sums else -1)
    a[0, 3] += 2.5 * most
    a[0, 9] -= 5.5 * least
    return a


HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

CASES = [
    dict(name="if_gives_a_scalar_or_one_element", group="If", model=HEAD + """
        main (bool c, bool d, float a, float[1] b, float[3] x, float[1] z) => (float[3] y, float[1] w, float[3] k) {
          s, t = If (c) <then_branch = t () => (float[] p, float[] r) { p = Neg(a)
                                                                  r = Identity(a) },
                         else_branch = e () => (float[] q, float[] u) {
                           q = If (d) <then_branch = tt () => (float[] v) { v = Exp(a) }, else_branch = ee () => (float[] o) { o = Neg(b) }>
                           u = Mul(b, b)
                         }>
          m = Mul(s, s)
          y = Add(x, m)
          n = Sub(t, s)
          w = Add(z, n)
          k = CastLike(x, n)
        }""", inputs=[dict(c=yes(c), d=yes(d), a=np.array(0.5, np.float32), b=f32(2), x=f32(1, 2, 3), z=f32(4)) for c in (0, 1) for d in (0, 1)]),
    dict(name="loop_swaps_two_values", group="Loop", model=HEAD + """
        main (int64 n, float[3] a, float[3] b) => (float[3] x, float[3] y) {
          x, y = Loop (n, , a, b) <body = body (int64 i, bool c, float[3] p, float[3] q) =>
              (bool d, float[3] q, float[3] p) { d = Identity(c) }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2, 3), b=f32(4, 5, 6)) for k in (0, 1, 2, 5)]),
    dict(name="loop_rotates_three_with_work", group="Loop", model=HEAD + """
        main (int64 n, float[2] a, float[2] b, float[2] c) => (float[2] x, float[2] y, float[2] z, float[K, 2] s) {
          x, y, z, s = Loop (n, , a, b, c) <body = body (int64 i, bool g, float[2] p, float[2] q, float[2] r) =>
              (bool h, float[2] u, float[2] r, float[2] p, float[2] w) {
                h = Identity(g)
                u = Add(q, r)
                w = Mul(p, q)
              }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2), b=f32(3, 4), c=f32(5, 6)) for k in (0, 1, 3)]),
    dict(name="loop_slides_its_own_value", group="Loop", model=HEAD + """
        main (int64 n, float[5] a) => (float[5] x) {
          first = Constant <value_ints = [1]> ()
          far = Constant <value_ints = [5]> ()
          zero = Constant <value_ints = [0]> ()
          one = Constant <value_ints = [1]> ()
          x = Loop (n, , a) <body = body (int64 i, bool c, float[5] p) => (bool d, float[5] q) {
              d = Identity(c)
              tail = Slice(p, first, far)
              head = Slice(p, zero, one)
              q = Concat <axis = 0> (tail, head)
            }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2, 3, 4, 5)) for k in (0, 1, 7)]),
    dict(name="loop_transposes_in_place", group="Loop", model=HEAD + """
        main (int64 n, float[3, 3] a) => (float[3, 3] x) {
          x = Loop (n, , a) <body = body (int64 i, bool c, float[3, 3] p) => (bool d, float[3, 3] q) {
              d = Identity(c)
              q = Transpose <perm = [1, 0]> (p)
            }>
        }""", inputs=[dict(n=i64(k), a=ramp(3, 3)) for k in (0, 1, 2, 3)]),
    dict(name="loop_grows", group="Loop", model=HEAD + """
        main (int64 n, float[k] a) => (float[m] x) {
          x = Loop (n, , a) <body = body (int64 i, bool c, float[p] v) => (bool d, float[q] w) {
              d = Identity(c)
              t = Cast <to = 1> (i)
              z = Constant <value_ints = [0]> ()
              u = Unsqueeze(t, z)
              w = Concat <axis = 0> (v, u)
            }>
        }""", inputs=[dict(n=i64(k), a=f32(9, 8)[:m]) for k, m in ((0, 2), (1, 1), (4, 2))]),
    dict(name="loop_swaps_values_that_grow", group="Loop", model=HEAD + """
        main (int64 n, float[ka] a, float[kb] b) => (float[x] xs, float[y] ys) {
          xs, ys = Loop (n, , a, b) <body = body (int64 i, bool c, float[p] v, float[q] w) => (bool d, float[r] u, float[p] v) {
              d = Identity(c)
              t = Cast <to = 1> (i)
              z = Constant <value_ints = [0]> ()
              e = Unsqueeze(t, z)
              u = Concat <axis = 0> (w, e)
            }>
        }""", inputs=[dict(n=i64(k), a=f32(1), b=f32(2, 3)) for k in (0, 1, 2, 4, 5)]),
    dict(name="loop_until_condition", group="Loop", model=HEAD + """
        main (bool go, float[1] a) => (float[1] x, float[K, 1] s) {
          x, s = Loop (, go, a) <body = body (int64 i, bool c, float[1] p) => (bool d, float[1] q, float[1] r) {
              two = Constant <value_floats = [2.0]> ()
              limit = Constant <value_floats = [100.0]> ()
              q = Mul(p, two)
              small = Less(q, limit)
              z = Constant <value_ints = [0]> ()
              d = Squeeze(small, z)
              r = Identity(p)
            }>
        }""", inputs=[dict(go=yes(g), a=f32(a)) for g, a in ((False, 3), (True, 3), (True, 90))]),
    dict(name="loop_condition_is_carried", group="Loop", model=HEAD + """
        main (int64 n, bool go, float[2] a) => (bool last, float[2] x) {
          last, x = Loop (n, go, go, a) <body = body (int64 i, bool c, bool p, float[2] v) => (bool p, bool r, float[2] w) {
              one = Constant <value_float = 1.0> ()
              w = Add(v, one)
              r = Not(p)
            }>
        }""", inputs=[dict(n=i64(k), go=yes(g), a=f32(1, 2)) for k, g in ((9, True), (1, True), (9, False))]),
    dict(name="loop_in_loop", group="Loop", model=HEAD + """
        main (int64 n, int64 m, float[2] a) => (float[2] x, float[K, 2] s) {
          x, s = Loop (n, , a) <body = outer (int64 i, bool c, float[2] p) => (bool d, float[2] q, float[2] q2) {
              d = Identity(c)
              one = Constant <value_int = 1> ()
              trips = Add(i, one)
              q = Loop (trips, , p) <body = inner (int64 j, bool e, float[2] v) => (bool f, float[2] w) {
                  f = Identity(e)
                  t = Add(i, j)
                  u = Cast <to = 1> (t)
                  w = Add(v, u)
                }>
              k = Cast <to = 1> (m)
              q2 = Mul(q, k)
            }>
        }""", inputs=[dict(n=i64(n), m=i64(3), a=f32(1, 2)) for n in (0, 1, 4)]),
    dict(name="loop_reads_outside", group="Loop", model=HEAD + """
        main (int64 n, float[2, 3] a, float[3] b) => (float[2, 3] x, float[2, 3] late) {
          r = Relu(a)
          s = Add(r, b)
          x = Loop (n, , a) <body = body (int64 i, bool c, float[2, 3] p) => (bool d, float[2, 3] q) {
              d = Identity(c)
              t = Add(p, s)
              q = Sub(t, b)
            }>
          late = Mul(s, r)
        }""", inputs=[dict(n=i64(k), a=ramp(2, 3) - 3, b=f32(1, -2, 3)) for k in (0, 1, 3)]),
    dict(name="loop_output_is_read_twice", group="Loop", model=HEAD + """
        main (int64 n, float[2] a) => (float[2] x, float[2] y, float[2] z) {
          x = Loop (n, , a) <body = body (int64 i, bool c, float[2] p) => (bool d, float[2] q) {
              d = Identity(c)
              q = Add(p, p)
            }>
          y = Loop (n, , x) <body = body2 (int64 i, bool c, float[2] p) => (bool d, float[2] q) {
              d = Identity(c)
              q = Sub(p, x)
            }>
          z = Add(x, y)
        }""", inputs=[dict(n=i64(k), a=f32(1, 3)) for k in (0, 2)]),
    dict(name="loop_stacks_found_extents", group="Loop", model=HEAD + """
        main (int64 n, float[6] a) => (float[K, m] s) {
          found = NonZero(a)
          rows = Squeeze(found)
          picked = Gather(a, rows)
          zero = Constant <value_float = 0.0> ()
          last, s = Loop (n, , zero) <body = body (int64 i, bool c, float p) => (bool d, float q, float[m] r) {
              d = Identity(c)
              t = Cast <to = 1> (i)
              q = Add(p, t)
              r = Add(picked, q)
            }>
        }""", inputs=[dict(n=i64(k), a=a) for k, a in ((3, f32(0, 1, 0, 2, 3, 0)), (2, f32(0, 6, 0, 0, 5, 0)),
                                                       (1, f32(1, 2, 3, 4, 5, 6)))]),
    dict(name="if_shapes_differ", group="If", model=HEAD + """
        main (bool c, float[2, 3] a) => (float[k, l] x, float[p, q] y) {
          x = If (c) <then_branch = t () => (float[3, 2] u) { u = Transpose <perm = [1, 0]> (a) },
                      else_branch = e () => (float[2, 3] v) { v = Neg(a) }>
          y = Relu(x)
        }""", inputs=[dict(c=yes(c), a=ramp(2, 3) - 3) for c in (True, False)]),
    # The larger result lies where the smaller one does and behind it, also while the sums are computed.
    dict(name="if_extents_differ", group="If", model=HEAD + """
        main (bool c, float[1, 512] a, float[1, 32] b, float[8, 64] d) => (float[n, m] y, float[8] z) <int64[2] wide = {8, 512}, int64[2] high = {32, 32}> {
          y = If (c) <then_branch = t () => (float[8, 512] u) { u = Expand (a, wide) },
                      else_branch = e () => (float[32, 32] v) { v = Expand (b, high) }>
          f = Softmax (d)
          g = ReduceMean <axes = [1], keepdims = 1> (f)
          h = Mul (f, g)
          k = Softmax (h)
          z = ReduceMax <axes = [1], keepdims = 0> (k)
        }""", inputs=[dict(c=yes(c), a=ramp(1, 512), b=ramp(1, 32), d=ramp(8, 64) / 64) for c in (True, False)]),
    dict(name="if_found_extents", group="If", model=HEAD + """
        main (bool c, float[5] a) => (int64[m] x, int64[1] n) {
          x = If (c) <then_branch = t () => (int64[k] u) {
                        found = NonZero(a)
                        z = Constant <value_ints = [0]> ()
                        u = Squeeze(found, z)
                      },
                      else_branch = e () => (int64[2] v) { v = Constant <value_ints = [7, 8]> () }>
          n = Shape(x)
        }""", inputs=[dict(c=yes(c), a=f32(1, 0, 2, 0, 0)) for c in (True, False)] + [dict(c=yes(True), a=f32(0, 0, 0, 0, 0))]),
    dict(name="if_in_if_with_outside_values", group="If", model=HEAD + """
        main (bool c, bool d, float[3] a, float[3] b) => (float[3] x, float[3] y) {
          s = Add(a, b)
          x, y = If (c) <then_branch = t () => (float[3] u, float[3] s2) {
                        u = If (d) <then_branch = tt () => (float[3] k) { k = Mul(s, a) },
                                    else_branch = te () => (float[3] l) { l = Identity(s) }>
                        s2 = Identity(s)
                      },
                      else_branch = e () => (float[3] v, float[3] w) {
                        v = Identity(a)
                        w = Identity(b)
                      }>
        }""", inputs=[dict(c=yes(c), d=yes(d), a=f32(1, 2, 3), b=f32(5, 7, 9)) for c in (True, False) for d in (True, False)]),
    dict(name="if_both_branches_give_the_input", group="If", model=HEAD + """
        main (bool c, float[3] a) => (float[3] x, float[3] y) {
          x = If (c) <then_branch = t () => (float[3] u) { u = Identity(a) }, else_branch = e () => (float[3] v) { v = Identity(a) }>
          y = Add(x, a)
        }""", inputs=[dict(c=yes(c), a=f32(1, 2, 3)) for c in (True, False)]),
    dict(name="if_condition_computed", group="If", model=HEAD + """
        main (float[3] a) => (float[3] x) {
          m = ReduceMax <keepdims = 0> (a)
          zero = Constant <value_float = 0.0> ()
          c = Greater(m, zero)
          x = If (c) <then_branch = t () => (float[3] u) { u = Neg(a) }, else_branch = e () => (float[3] v) { v = Exp(a) }>
        }""", inputs=[dict(a=f32(1, 2, 3)), dict(a=f32(-1, -2, -3))]),
    dict(name="if_in_if_conditions_computed", group="If", model=HEAD + """
        main (float[1, 16] x) => (float[1, 16] y) <float[16, 16] w = {%s}, float zero = {0}, float one = {1}, float low = {-4}> {
          z = MatMul(x, w)
          s = ReduceSum <keepdims = 0> (x)
          sums = Greater(s, zero)
          e = If (sums) <then_branch = a () => (float[1, 16] f) {
                  m = ReduceMax <keepdims = 0> (x)
                  most = Greater(m, one)
                  g = If (most) <then_branch = aa () => (float[1, 16] h) {
                          l = ReduceMin <keepdims = 0> (x)
                          least = Less(l, low)
                          i = If (least) <then_branch = aaa () => (float[1, 16] j) { j = Softmax(z) },
                                          else_branch = aab () => (float[1, 16] k) { k = Tanh(z) }>
                          n = Mul(i, i)
                          h = Add(n, z)
                        },
                      else_branch = ab () => (float[1, 16] o) { o = Sigmoid(z) }>
                  f = MatMul(g, w)
                },
              else_branch = b () => (float[1, 16] p) {
                  q = ReduceMax <keepdims = 0> (x)
                  other = Greater(q, one)
                  p = If (other) <then_branch = ba () => (float[1, 16] r) { r = Neg(z) },
                                  else_branch = bb () => (float[1, 16] t) { t = Identity(z) }>
                }>
          y = Softmax(e)
        }""" % ", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)),
        inputs=[dict(x=signed(*bits)) for bits in np.ndindex(2, 2, 2)]),
    dict(name="if_conditions_shared", group="If", model=HEAD + """
        main (float[1, 16] x) => (float[1, 16] y) <float[16, 16] w = {%s}, float zero = {0}, float one = {1}> {
          z = MatMul(x, w)
          s = ReduceSum <keepdims = 0> (x)
          sums = Greater(s, zero)
          m = ReduceMax <keepdims = 0> (x)
          most = Greater(m, one)
          a = If (most) <then_branch = t () => (float[1, 16] b) {
                  b = If (sums) <then_branch = tt () => (float[1, 16] c) { c = Tanh(z) },
                                 else_branch = te () => (float[1, 16] d) { d = Neg(z) }>
                },
              else_branch = e () => (float[1, 16] f) { f = Sigmoid(z) }>
          g = MatMul(a, w)
          h = If (sums) <then_branch = u () => (float[1, 16] i) { i = Softmax(g) },
                         else_branch = v () => (float[1, 16] j) { j = Abs(g) }>
          k = MatMul(h, w)
          l = If (sums) <then_branch = n () => (float[1, 16] o) {
                  o = If (most) <then_branch = nn () => (float[1, 16] p) { p = Add(k, x) },
                                 else_branch = ne () => (float[1, 16] q) { q = Sub(k, x) }>
                },
              else_branch = r () => (float[1, 16] t1) { t1 = Mul(k, x) }>
          y = Softmax(l)
        }""" % ", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)),
        inputs=[dict(x=signed(*bits, 0)) for bits in np.ndindex(2, 2)]),
    dict(name="if_in_loops_of_constants", group="Loop", model=HEAD + """
        main (float[1, 16] x) => (float[1, 16] y) <float[16, 16] w = {%s}, float zero = {0}, float one = {1}, int64 two = {2},
              int64[2] rows = {4, 4}, int64[2] line = {1, 16}, float[4] zeros = {0, 0, 0, 0}> {
          z = MatMul(x, w)
          s = ReduceSum <keepdims = 0> (x)
          sums = Greater(s, zero)
          e = If (sums) <then_branch = t () => (float[1, 16] f) {
                  f = Loop (two, , z) <body = turn (int64 i, bool p, float[1, 16] a) => (bool q, float[1, 16] b) {
                      q = Identity(p)
                      m = ReduceMax <keepdims = 0> (a)
                      most = Greater(m, one)
                      b = If (most) <then_branch = tt () => (float[1, 16] c) { c = Tanh(a) },
                                     else_branch = te () => (float[1, 16] d) { d = Add(a, x) }>
                    }>
                },
              else_branch = e () => (float[1, 16] g) { g = Neg(z) }>
          r = Reshape(e, rows)
          h, l = Scan <num_scan_inputs = 1, body = step (float[4] j, float[4] k) => (float[4] u, float[4] v) {
              n = Add(j, k)
              o = ReduceSum <keepdims = 0> (n)
              more = Greater(o, zero)
              a1 = If (more) <then_branch = st () => (float[4] b1) { b1 = Tanh(n) },
                              else_branch = se () => (float[4] c1) { c1 = Softmax(n) }>
              u = If (sums) <then_branch = su () => (float[4] d1) { d1 = Neg(a1) },
                             else_branch = sv () => (float[4] e1) { e1 = Exp(a1) }>
              v = Mul(u, k)
            }> (zeros, r)
          f1 = Reshape(l, line)
          y = Add(f1, z)
        }""" % ", ".join(str((i * 7 % 11 - 5) / 8) for i in range(256)),
        inputs=[dict(x=signed(*bits, 0)) for bits in np.ndindex(2, 2)]),
    dict(name="if_in_loop", group="Loop", model=HEAD + """
        main (int64 n, float[2] a) => (float[2] x, float[K] s) {
          x, s = Loop (n, , a) <body = body (int64 i, bool c, float[2] p) => (bool d, float[2] q, float r) {
              d = Identity(c)
              two = Constant <value_int = 2> ()
              odd = Mod(i, two)
              zero = Constant <value_int = 0> ()
              even = Equal(odd, zero)
              q, r = If (even) <then_branch = t () => (float[2] u, float v) {
                            u = Add(p, a)
                            v = ReduceSum <keepdims = 0> (u)
                          },
                          else_branch = e () => (float[2] k, float l) {
                            k = Identity(p)
                            l = Constant <value_float = -1.0> ()
                          }>
            }>
        }""", inputs=[dict(n=i64(k), a=f32(1, 2)) for k in (0, 1, 4)]),
    dict(name="scan_axes_and_directions", group="Scan", model=HEAD + """
        main (float[2] s0, float[2, 4] a, float[4, 2] b) => (float[2] s, float[2, 4] x, float[4, 2] y) {
          s, x, y = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [1, 0],
                          scan_output_axes = [1, 0], scan_output_directions = [0, 1],
                          body = body (float[2] p, float[2] u, float[2] v) => (float[2] q, float[2] k, float[2] l) {
              t = Mul(u, v)
              q = Add(p, t)
              k = Sub(q, u)
              l = Identity(q)
            }> (s0, a, b)
        }""", inputs=[dict(s0=f32(1, 2), a=ramp(2, 4), b=ramp(4, 2) * 2)]),
    dict(name="scan_over_two_constants", group="Scan", model=HEAD + """
        main (float[1, 2] a) => (float[1, 2] x, float[3, 1, 2] y)
        <float[3, 1, 2, 2] v = {1, -2, 3, 0.5, -1, 2, 0.25, 1, 4, -3, 2, 1}, float[3, 1, 2, 2] w = {2, 1, -1, 0.5, 3, 1, 1, -2, 1, 0.5, 0.25, 2}> {
          x, y = Scan <num_scan_inputs = 2, body = body (float[1, 2] p, float[1, 2, 2] u, float[1, 2, 2] t) => (float[1, 2] q, float[1, 2] z) {
              first = MatMul(p, u)
              tame = Tanh(first)
              second = MatMul(tame, t)
              axis = Constant <value_ints = [0]> ()
              q = Squeeze(second, axis)
              z = Neg(q)
            }> (a, v, w)
        }""", inputs=[dict(a=f32(1, -2).reshape(1, 2))]),
    dict(name="loop_shrinks_below_its_start", group="Loop", model=HEAD + """
        main (int64 n, float[4] a) => (float[2] x) {
          one = Constant <value_ints = [1]> ()
          far = Constant <value_ints = [9]> ()
          x = Loop (n, , a) <body = body (int64 i, bool c, float[p] u) => (bool d, float[q] v) {
              d = Identity(c)
              v = Slice(u, one, far)
            }>
        }""", inputs=[dict(n=i64(2), a=f32(1, 2, 3, 4))]),
    dict(name="loop_stack_is_bounded", group="Loop", flags=("--dim=s:0=1..5", "--dim=s:1=1..2"), model=HEAD + """
        main (int64 n, float[1] a) => (float[1] x, float[k, m] s) {
          list = Constant <value_floats = [1.0, 2.0, 3.0, 4.0, 5.0]> ()
          one = Constant <value_int = 1> ()
          axis = Constant <value_ints = [0]> ()
          x, s = Loop (n, , a) <body = body (int64 i, bool c, float[1] u) => (bool d, float[1] v, float[w] z) {
              d = Identity(c)
              next = Add(i, one)
              from = Unsqueeze(i, axis)
              to = Unsqueeze(next, axis)
              part = Slice(list, from, to)
              v = Add(u, part)
              z = Identity(v)
            }>
        }""", inputs=[dict(n=i64(3), a=f32(1))]),
    dict(name="if_one_result_is_the_same", group="If", model=HEAD + """
        main (bool b, float[n] x) => (float[m] y, float[n] z, int64[1] k) {
          k, z = If (b) <then_branch = t () => (int64[1] p, float[n] q) {
              p = Constant <value_ints = [2]> ()
              q = Neg(x)
            }, else_branch = e () => (int64[1] p, float[n] q) {
              p = Constant <value_ints = [2]> ()
              q = Abs(x)
            }>
          y = ConstantOfShape(k)
        }""", inputs=[dict(b=yes(v), x=f32(1, -2, 3)) for v in (0, 1)]),
    dict(name="scan_run_time_length", group="Scan", model=HEAD + """
        main (float[2] s0, float[n, 2] a) => (float[2] s, float[2, n] x) {
          s, x = Scan <num_scan_inputs = 1, scan_output_axes = [-1], body = body (float[2] p, float[2] u) => (float[2] q, float[2] k) {
              q = Add(p, u)
              k = Mul(q, u)
            }> (s0, a)
        }""", inputs=[dict(s0=f32(1, 2), a=ramp(n, 2)) for n in (1, 3, 5)]),
    dict(name="scan_of_found_rows", group="Scan", model=HEAD + """
        main (float[5, 2] a, bool[5] keep) => (float[2] s, float[2, k] x) {
          rows = Compress <axis = 0> (a, keep)
          zero = Constant <value_floats = [0.0, 0.0]> ()
          s, x = Scan <num_scan_inputs = 1, scan_output_axes = [1], scan_output_directions = [1],
                       body = body (float[2] p, float[2] u) => (float[2] q, float[2] k) {
              q = Add(p, u)
              k = Identity(q)
            }> (zero, rows)
        }""", inputs=[dict(a=ramp(5, 2), keep=np.array(k, dtype=bool)) for k in ([1, 0, 1, 1, 0], [0, 0, 0, 0, 1], [1] * 5)]),
    dict(name="scan_state_of_run_time_extents_made_constant", group="Scan", model=HEAD + """
        main (float[n, m] s0, float[t, 3] a) => (float[2, 3] s, float[t, 3] x) {
          s, x = Scan <num_scan_inputs = 1, body = body (float[2, 3] p, float[3] u) => (float[2, 3] q, float[3] k) {
              axis = Constant <value_ints = [0]> ()
              r = ReduceSum <keepdims = 0> (p, axis)
              q = Constant <value = float[2, 3] {1, 2, 3, 4, 5, 6}> ()
              k = Add(r, u)
            }> (s0, a)
        }""", inputs=[dict(s0=-ramp(2, 3), a=ramp(t, 3)) for t in (1, 4)], flags=("--dim=n=1..4", "--dim=m=1..5")),
]
