"""A decoder of half a billion parameters in weights of four bits, against ONNX Runtime on the same file: one prompt, then a token
at a time, by turns in one run on one thread. `make bench-decoder` writes docs/decoder.md.

Both keep their caches between runs: occamyc as state of the program, ONNX Runtime in buffers that a run reads and writes
(present and past share them). Seeded weights; the tokens are the same, and so must be the largest logit of every run.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import decoder  # noqa: E402
import programs  # noqa: E402
import report  # noqa: E402

# The geometry of a current half-billion decoder: 24 layers, grouped heads, a table of 152 thousand words.
HALF_BILLION = decoder.Shape(vocabulary=151936, width=896, deep=4864, heads=14, kv=2, size=64, longest=1024, layers=24)
SMALL = decoder.Shape(vocabulary=2048, width=256, deep=512, heads=4, kv=2, size=64, longest=1024, layers=2)
PROMPT, ROOM = 128, 512
CLOCK = {"wall": "CLOCK_MONOTONIC", "processor": "CLOCK_PROCESS_CPUTIME_ID"}

PAGE = """# A decoder in weights of four bits

Written by `make bench-decoder`. {layers} layers, {parameters:.2f} billion parameters, {megabytes:.0f} MB of packed weights and scales
(MatMulNBits, GroupQueryAttention, rotary positions, as today's exporters write them; seeded). A prompt of {prompt} tokens, then
{tokens} tokens one at a time, {rounds} rounds by turns with ONNX Runtime {ort}, one thread each; medians of {clock} time on {machine}.
Level is `accuracy_level` of the products: with 4, which exporters for processors write, both round the inputs of products to bytes.

| level | | occamyc | ONNX Runtime | ratio |
|---|---|---:|---:|---:|
{rows}

One token reads {megabytes:.0f} MB of constants: {rates}. This processor reads memory at {read:.1f} GB/s.
Planned: {planned}.
"""
ROW = "| {level} | {what} | {ours:.1f} ms | {theirs:.1f} ms | {ratio:.2f} |"
RATE = "at level {level} with {rate:.1f} GB/s, {share:.2f} of what the processor reads"
PLANNED = ("at level {level} arena {arena:.2f} MB, state {state:.2f} MB; the process held {anonymous:.2f} MB of memory of its own, logits\n"
           "and tokens ({caller:.2f} MB) included")


def build(args, model, shape, names):
    """The program, made anew for each call; returns it and the report of the compiler."""
    folder = args.folder
    dims = ["batch_size=1", f"sequence_length=1..{PROMPT}", f"total_sequence_length=1..{ROOM}", f"past_sequence_length={ROOM}"]
    states = [f"--state=present.{n}:past_key_values.{n}" for n in names]
    programs.run_quietly([args.occamyc, model, "-o", "decoder.c", "--quiet", "--report=report.json", *[f"--dim={d}" for d in dims], *states,
                          *args.options.split()], folder)
    programs.run_quietly([*args.cc.split(), *args.flags.split(), f"-DROOM={ROOM}", f"-DPROMPT={PROMPT}", f"-DWORDS={shape.vocabulary}",
                          f"-DCLOCK={CLOCK[args.clock]}", f"-I{folder}", HERE / "decoder_driver.c", "decoder.c", "-o", "program", "-lm"], folder)
    return folder / "program", json.loads((folder / "report.json").read_text())


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def run(self, word):
        took, best = self.ask(word)
        return int(took) / 1e6, int(best)


class Theirs:
    """ONNX Runtime; past and present are the same buffers, as its generators bind them."""

    def __init__(self, model, shape, names, clock):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.version, self.shape, self.past = ort.__version__, shape, 0
        self.now = time.perf_counter if clock == "wall" else time.process_time
        self.caches = {n: ort.OrtValue.ortvalue_from_numpy(np.zeros((1, shape.kv, ROOM, shape.size), np.float32)) for n in names}

    def run(self, word):
        count = PROMPT if word == "prompt" else 1
        self.past = 0 if word == "prompt" else self.past
        at = np.arange(self.past, self.past + count, dtype=np.int64)
        binding = self.session.io_binding()
        binding.bind_cpu_input("input_ids", (at * 7919 % self.shape.vocabulary)[None])
        binding.bind_cpu_input("attention_mask", np.ones((1, self.past + count), np.int64))
        binding.bind_cpu_input("position_ids", at[None])
        for name, value in self.caches.items():
            binding.bind_ortvalue_input("past_key_values." + name, value)
            binding.bind_ortvalue_output("present." + name, value)
        binding.bind_output("logits", "cpu")
        start = self.now()
        self.session.run_with_iobinding(binding)
        took = 1e3 * (self.now() - start)
        self.past += count
        return took, int(np.argmax(self.logits(binding)))

    def logits(self, binding):
        """Those of the last token; the outputs come in the order in which they were bound."""
        return binding.get_outputs()[-1].numpy()[0, -1]


def measure(args, ours, theirs):
    """Milliseconds of prompts and tokens of both, and runs whose largest logits differ."""
    times, apart = {e: {"prompt": [], "token": []} for e in ("ours", "theirs")}, 0
    for turn in range(args.rounds):
        for word in ["prompt"] + ["token"] * args.tokens:
            found = {}
            for name, engine in (("ours", ours), ("theirs", theirs)) if turn % 2 else (("theirs", theirs), ("ours", ours)):
                took, found[name] = engine.run(word)
                times[name][word].append(took)
            apart += found["ours"] != found["theirs"]
    return times, apart


def trial(args, level):
    """Builds and times the decoder of one accuracy level: medians, bytes per second, and the compiler's report."""
    shape = dataclasses.replace(SMALL if args.small else HALF_BILLION, level=level)
    model = args.folder / "decoder.onnx"
    names = decoder.write(model, shape)
    program, planned = build(args, model, shape, names)
    ours, theirs = Ours(program), Theirs(model, shape, names, args.clock)
    times, apart = measure(args, ours, theirs)
    if apart:
        sys.exit(f"level {level}: {apart} runs differ from ONNX Runtime's in their largest logit")
    middle = {e: {w: statistics.median(t) for w, t in words.items()} for e, words in times.items()}
    return {"level": level, "middle": middle, "memory": planned["memory"], "ort": theirs.version,
            "anonymous": int(ours.ask("memory")[0]) * 1024, "read": float(ours.ask("read")[0])}


def page(args, found):
    """The text of the page for the results of all levels."""
    shape, read = SMALL if args.small else HALF_BILLION, max(f["read"] for f in found)
    rows, rates, planned = [], [], []
    for f in found:
        level, middle, memory = f["level"], f["middle"], f["memory"]
        for word, what in (("token", "one token"), ("prompt", f"prompt of {PROMPT} tokens")):
            ours, theirs = middle["ours"][word], middle["theirs"][word]
            rows.append(ROW.format(level=level, what=what, ours=ours, theirs=theirs, ratio=ours / theirs))
        rate = memory["weights"] / (middle["ours"]["token"] / 1e3)
        rates.append(RATE.format(level=level, rate=rate / 1e9, share=rate / read))
        planned.append(PLANNED.format(level=level, arena=memory["arena"] / 1e6, state=memory["state"] / 1e6, anonymous=f["anonymous"] / 1e6,
                                      caller=(4 * PROMPT * shape.vocabulary + 3 * 8 * ROOM) / 1e6))
    return PAGE.format(
        layers=shape.layers, parameters=parameters(shape) / 1e9, megabytes=found[0]["memory"]["weights"] / 1e6, prompt=PROMPT, tokens=args.tokens,
        rounds=args.rounds, ort=found[0]["ort"], clock=args.clock, machine=report.processor(), rows="\n".join(rows), rates=",\n".join(rates),
        read=read / 1e9, planned=";\n".join(planned))


def main():
    parser = argparse.ArgumentParser()
    for name in ("occamyc", "folder", "cc", "document"):
        parser.add_argument("--" + name, required=name != "document", default="")
    parser.add_argument("--flags", default="-O2 -march=native")
    parser.add_argument("--options", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--clock", choices=CLOCK, default="processor")
    parser.add_argument("--levels", default="0 4", help="accuracy levels of the products; 4 lets their inputs be rounded to bytes")
    parser.add_argument("--small", action="store_true", help="a decoder of a million parameters, to try the benchmark")
    args = parser.parse_args()
    args.folder, args.occamyc = Path(args.folder).resolve(), Path(args.occamyc).resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    text = page(args, [trial(args, int(level)) for level in args.levels.split()])
    print(text)
    if args.document and not args.small:
        Path(args.document).write_text(text)


def parameters(shape):
    """Weights of products and of the table of words."""
    layer = shape.width * shape.size * (2 * shape.heads + 2 * shape.kv) + 3 * shape.width * shape.deep
    return shape.layers * layer + 2 * shape.vocabulary * shape.width


main()
