"""A decoder whose caches are state, token by token, against ONNX Runtime fed step by step. Usage: test_decoder.py OCCAMYC [CC]"""
import dataclasses
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools")]
import decoder
import host

OCCAMYC = os.path.abspath(sys.argv[1])
CC = shlex.split(sys.argv[2]) if len(sys.argv) > 2 else ["cc"]
ROOM = 16

# Each argument is a run's tokens, as letters: "abc" is three of them; behind "." the next run begins a new text. Writes the
# logits of all runs.
DRIVER = """
#include <stdio.h>
#include <string.h>
#include "decoder.h"

static unsigned char arena[DECODER_ARENA_SIZE] __attribute__((aligned(DECODER_ARENA_ALIGN)));
static unsigned char state[DECODER_STATE_SIZE] __attribute__((aligned(DECODER_STATE_ALIGN)));

int main(int argc, char **argv)
{
    static int64_t id[ROOM], mask[ROOM], position[ROOM];
    static float logits[ROOM * WORDS];
    decoder_memory memory = {0};
    decoder_inputs in = {0};
    decoder_outputs out = {0};
    int64_t past = 0;

    memory.arena = arena;
    memory.state = state;
    in.input_ids = id;
    in.attention_mask = mask;
    in.position_ids = position;
    out.logits = logits;
    for (int run = 1; run < argc; run++) {
        const int64_t count = (int64_t)strlen(argv[run]);

        if (argv[run][0] == '.') {
            past = 0;
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            id[i] = argv[run][i] - 'a';
            position[i] = past + i;
        }
        for (int64_t i = 0; i < past + count; i++)
            mask[i] = 1;
        in.sequence_length = count;
        in.total_sequence_length = past + count;
        GROWS(in.past_sequence_length = past;)
        if (decoder_run(&memory, &in, &out))
            return 1;
        fwrite(logits, sizeof *logits, (size_t)count * WORDS, stdout);
        past += count;
    }
    return 0;
}
"""


class Case(unittest.TestCase):
    level = 0  # accuracy_level of the products

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = cls.holder.name
        cls.model = os.path.join(cls.folder, "decoder.onnx")
        cls.names = decoder.write(cls.model, dataclasses.replace(decoder.SMALL, level=cls.level))
        cls.session = onnxruntime.InferenceSession(cls.model, providers=["CPUExecutionProvider"])

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def emit(self, grows, *options):
        """The folder of decoder.c; its caches grow by the tokens of each run, or have room for all."""
        folder = tempfile.mkdtemp(dir=self.folder)
        past = f"past_sequence_length=0..{ROOM - 1}" if grows else f"past_sequence_length={ROOM}"
        dims = ["batch_size=1", f"sequence_length=1..{ROOM}", f"total_sequence_length=1..{ROOM}", past]
        states = [f"--state=present.{n}:past_key_values.{n}" for n in self.names]
        subprocess.run([OCCAMYC, self.model, "-o", "decoder.c", "--quiet", *[f"--dim={d}" for d in dims], *states, *options], cwd=folder, check=True)
        return folder

    def build(self, grows, *options):
        """The program of what emit() writes."""
        folder = self.emit(grows, *options)
        with open(os.path.join(folder, "main.c"), "w") as file:
            file.write(DRIVER)
        grow = "-DGROWS(x)=x" if grows else "-DGROWS(x)="
        subprocess.run([*CC, *shlex.split(host.LITERAL), f"-DROOM={ROOM}", f"-DWORDS={decoder.SMALL.vocabulary}", grow, "decoder.c", "main.c", "-lm",
                        "-o", "decoder"], cwd=folder, check=True)
        return os.path.join(folder, "decoder")

    def wanted(self, runs):
        none = {f"past_key_values.{n}": np.zeros((1, decoder.SMALL.kv, 0, decoder.SMALL.size), np.float32) for n in self.names}
        past, length, logits = none, 0, []
        for tokens in runs:
            if tokens == ".":
                past, length = none, 0
                continue
            ids = np.array([[ord(c) - ord("a") for c in tokens]], np.int64)
            feeds = dict(past, input_ids=ids, attention_mask=np.ones((1, length + len(tokens)), np.int64),
                         position_ids=np.arange(length, length + len(tokens), dtype=np.int64)[None])
            found = self.session.run(None, feeds)
            past = dict(zip(none, found[1:]))
            length += len(tokens)
            logits.append(found[0].reshape(-1))
        return np.concatenate(logits)

    def follow(self, program, runs):
        done = subprocess.run([program, *runs], capture_output=True, check=True)
        wanted = self.wanted(runs)
        np.testing.assert_allclose(np.frombuffer(done.stdout, np.float32), wanted, rtol=1e-4, atol=1e-5 * float(np.abs(wanted).max()))


class Decoder(Case):
    def test_caches_grow(self):
        program = self.build(True)
        self.follow(program, list("kitemafsoh"))
        self.follow(program, ["kite", "m", "a", "fsoh", "q", "q"])
        self.follow(program, ["abcdefghijklmnop"])

    def test_caches_have_room(self):
        program = self.build(False)
        self.follow(program, list("kitemafsoh"))
        self.follow(program, ["kitem", "af", "s", "ohkitema"])
        self.follow(program, ["kitemafsohkitema", ".", "at", "e", "k", ".", "m"])

    def test_caches_with_room_are_appended_to_in_place(self):
        for options, most in (([], 0), (["--in-place=off"], 4)):
            program = self.build(False, *options)
            with open(os.path.join(os.path.dirname(program), "decoder.c")) as file:
                copies = [line for line in file if "OCC_RUN" in line and f" copy [1][2][{ROOM}][16]" in line]
            self.assertEqual(len(copies), most)
            self.follow(program, ["kitemafsohkitema", ".", "at", "e", "k"])

    def test_options(self):
        for options in (["--code=shared"], ["--in-place=off", "--overlap=off", "--elision=off"]):
            self.follow(self.build(True, *options), list("kitemafsoh"))

    def test_weights_stay_packed(self):
        """Constants take no more than the model has, besides small tables."""
        report = os.path.join(self.folder, "report.json")
        subprocess.run([OCCAMYC, self.model, "--quiet", "--dim=batch_size=1", "--dim=sequence_length=1", "--dim=total_sequence_length=1..16",
                        "--dim=past_sequence_length=0..15", "--report=" + report], check=True)
        packed = sum(numpy_helper.to_array(t).nbytes for t in onnx.load(self.model).graph.initializer)
        with open(report) as file:
            self.assertLess(json.load(file)["memory"]["weights"], packed + 2000)


class DecoderOfBytes(Case):
    """Inputs of products are rounded to bytes, of few tokens and of many."""
    level = 4

    def test_few_and_many_rows(self):
        self.follow(self.build(False), ["kitemafsohk", "i", "te", ".", "mafs", "o"])

    def test_rows_are_rounded_once(self):
        """Products of the same rows share their bytes: q, k and v, and gate and up."""
        with open(os.path.join(self.emit(False), "decoder.c")) as file:
            rounded = [line for line in file if "OCC_RUN" in line and "round_blocks" in line]
        self.assertEqual(len(rounded), 4 * decoder.SMALL.layers + 1)

    def test_parts(self):
        """All products are cut, along their columns, and rows to be rounded, which are known while running only."""
        program = self.build(True, "--threads=3", "--part-time=0")
        with open(os.path.join(os.path.dirname(program), "decoder.c")) as file:
            cut = [line for line in file if "occ_parallel(memory" in line and "MatMulNBits" in line]
        self.assertEqual(len(cut), 11 * decoder.SMALL.layers + 2)
        self.follow(program, ["kitemafsohk", "i", "te"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
