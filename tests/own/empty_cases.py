"""Where there is nothing to compute: loops that never run."""

import numpy as np

from control_cases import HEAD, f32, ramp

EMPTY = [
    dict(name="scan_of_nothing", group="Scan", model=HEAD + """
        main (float[2] s0, float[0, 2] a) => (float[2] s, float[2, 0] x) {
          s, x = Scan <num_scan_inputs = 1, scan_output_axes = [1], body = body (float[2] p, float[2] u) => (float[2] q, float[2] k) {
              q = Add(p, u)
              k = Mul(q, u)
            }> (s0, a)
        }""", inputs=[dict(s0=f32(1, 2), a=ramp(0, 2))], wanted=lambda given: [given["s0"], ramp(2, 0)]),  # ONNX Runtime refuses it
    dict(name="loop_that_never_runs", group="Loop", model=HEAD + """
        main (float[2] a) => (float[2] x, float[0, 2] s) {
          none = Constant <value_int = 0> ()
          x, s = Loop (none, , a) <body = body (int64 i, bool c, float[2] u) => (bool d, float[2] v, float[2] w) {
              d = Identity(c)
              v = Neg(u)
              w = Exp(u)
            }>
        }""", inputs=[dict(a=f32(1, 2))]),
    dict(name="sequence_of_nothing_mapped", group="SequenceMap", model=HEAD + """
        main (float[0, 2] a) => (int64 n) {
          s = SplitToSequence <axis = 0> (a)
          x = SequenceMap (s) <body = body (float[1, 2] v) => (float[1, 2] u) { u = Neg(v) }>
          n = SequenceLength(x)
        }""", inputs=[dict(a=ramp(0, 2))], wanted=lambda given: [np.int64(0)]),
]
