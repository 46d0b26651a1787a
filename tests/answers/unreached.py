"""Branches of kernels that no random model can take, each with the reason. What one does take counts all the same."""

# (reason, [(function, part of the line; "": all of its lines)])
ROWS = [
    ("vectors of 16 floats alone, which the processor that counts lacks",
     [("nbits_decode_four", ""), ("nbits_zip", ""), ("nbits_decode", "bits == 4"), ("matmul_nbits", "bits == 4"), ("conv_eight_ends", "")]),
    ("steps always pass an expression; calls without one are those of other kernels, and of tests/kernels",
     [(name, "if (e)") for name in ("conv_dot", "depthwise_make", "dq_fill", "matmul_epilogue", "winograd_make", "winograd_q")] + [("expr_start", "e ? *e")]),
    ("only where a unit of the run has failed: tests/queues",
     [("queue_next", "stopped"), ("queue_ready", "done & 1"), ("queue_wait", "done & 1"), ("drain", "")]),
    ("a divisor of 0, a shift by all bits, a number beyond its type: ONNX Runtime stops or answers by chance",
     [("div", "b == 0"), ("fmod", "b == 0"), ("extent_div", "if (!b)"), ("extent_mod", "return b ?"), ("extent_ceildiv", "return b ?"), ("shl", "8 * sizeof a"),
      ("shr", "8 * sizeof a"), ("cast", "a >= high")]),
    ("text that ONNX Runtime refuses: numbers nearer to 0 than a double gets, bytes that are no UTF-8",
     [("big_divide", "x->count &&"), ("big_right", "x->count &&"), ("round_decimal", "size < -400"), ("letter", "p[1] & 0xc0")]),
]


def reason(function, text):
    """Why no model takes more branches of a line, or None."""
    for said, places in ROWS:
        if any(function == "occ_" + name and part in text for name, part in places):
            return said
    return None
