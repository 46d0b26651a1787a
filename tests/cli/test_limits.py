"""Limits from outside: what exceeds one, what is offered then, what differs from a baseline, choices that are measured. Usage:
test_limits.py OCCAMYC [CC]"""
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import host
from outside import CC, Outside

# What is chosen and kept is looked at here, not how fast it is.
QUICK_CC = CC + " " + shlex.join(host.CALLS.split())


class Limits(Outside):
    # -- limits

    def test_limits_are_status_4_with_step_tensors_and_remedy(self):
        done = self.fails(4, "--max-ram: found", "small.onnx", "--max-ram=64")
        self.assertRegex(done.stderr, r"peak is at step \d+, .*alive there, \d+ bytes")
        self.assertRegex(done.stderr, r"\d+ bytes: '\w+', made by step \d+")
        self.assertIn("remedy:", done.stderr)
        self.run_it("small.onnx", "--max-ram=1M")

    def test_device_memory_is_status_4_with_the_least_that_works(self):
        done = self.fails(4, "--device-memory: found", "small.onnx", "--target=cuda", "--device-memory=64")
        self.assertRegex(done.stderr, r"most of the device's memory is in use in step \d+, .*; alive there, \d+ bytes in all:")
        self.assertRegex(done.stderr, r"\d+ bytes: '\w+', made by step \d+")
        least = int(re.search(r"remedy: --device-memory=(\d+) is the least", done.stderr)[1])
        self.run_it("small.onnx", "--target=cuda", "--device-memory=%d" % least)
        self.fails(4, "--device-memory: found", "small.onnx", "--target=cuda", "--device-memory=%d" % (least - 1))
        self.run_it("small.onnx", "--device-memory=64")                         # other targets have no device

    def test_what_a_device_does_not_serve_is_refused(self):
        for option in ("--region=a:64K", "--threads=2", "--queues=2", "--weights=swap", "--code=shared", "--max-flash=1M", "--max-stack=1M", "--io=arena"):
            with self.subTest(option=option):
                said = self.fails(1, option.split("=")[0], "small.onnx", "--target=cuda", option).stderr
                self.assertIn("found with --target=cuda, which does not serve it; wanted another target, or none of it", said)
        self.fails(1, "-o -: found with --target=cuda", "small.onnx", "--target=cuda", "-o", "-")
        for option in ("--cc=cc", "--tune=times.txt"):
            self.fails(1, "wanted a target of C", "small.onnx", "--target=cuda", option)

    def test_memory_of_a_device_is_no_ram(self):
        said = self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda").stdout
        parts = {name: int(re.search(rf"(?m)^{name} +(\d+) bytes", said)[1]) for name in ("device", "pinned", "host", "RAM")}
        ports = [int(size) for size in re.search(r"inputs (\d+), outputs (\d+)", said).groups()]
        self.assertGreater(parts["device"], 0)
        self.assertEqual(parts["RAM"], parts["pinned"] + parts["host"] + sum(ports))
        self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda", "--max-ram=%d" % parts["RAM"])
        done = self.fails(4, "--max-ram: found", "bounded.onnx", "--dim=n=1..9", "--target=cuda", "--max-ram=%d" % (parts["RAM"] - 1))
        self.assertIn("most of the host's page-locked memory is in use in step", done.stderr)
        said = self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda", "--io=device").stdout
        self.assertRegex(said, r"inputs 0, outputs 0")
        saves = parts["RAM"] - int(re.search(r"RAM +(\d+)", said)[1])
        self.assertEqual(re.findall("remedy: (--.*)", done.stderr), [f"--io=device saves {saves} bytes"])

    def test_many_units_are_counted_in_64_bits(self):
        for size, counter in ("1..99999", "unsigned"), (str(2**31), "uint64_t"):
            with tempfile.TemporaryDirectory() as out:
                self.run_it("bounded.onnx", f"--dim=n={size}", "--target=cuda", "-o", out + "/m.c")
                with open(out + "/m.cu") as file:
                    self.assertEqual(set(re.findall(r"for \((\w+) u = ", file.read())), {counter})

    def test_a_baseline_holds_the_memory_of_a_device_by_itself(self):
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it("bounded.onnx", "--dim=n=1..4", "--target=cuda", "--report=" + report)
            self.run_it("bounded.onnx", "--dim=n=1..4", "--target=cuda", "--baseline=" + report)
            done = self.fails(4, "--baseline: the device's memory grew from", "bounded.onnx", "--dim=n=1..900", "--target=cuda", "--baseline=" + report)
            self.assertEqual(len(re.findall(r"tensor '[^']+' grew from \d+ to \d+ bytes", done.stderr)), 2) # on the device, and page-locked

    def test_kernels_with_scratch_give_way_to_max_ram(self):
        with_scratch = self.run_it("convolution.onnx").stdout
        arena = [int(re.search(r"arena +(\d+)", self.run_it("convolution.onnx", "--winograd=" + w).stdout)[1]) for w in ("auto", "off")]
        self.assertEqual(arena[0] - arena[1], 36 * (6 * (64 + 64) + 32) * 4)    # six tiles together where that is the peak
        ram = int(re.search(r"RAM +(\d+)", with_scratch)[1])
        self.assertEqual(self.run_it("convolution.onnx", "--max-ram=%d" % ram).stdout, with_scratch)
        self.assertIn("without Winograd's", self.run_it("convolution.onnx", "--max-ram=%d" % (ram - 1)).stdout)

    def test_an_impossible_error_is_refused(self):
        for error in ("0", "2", "small"):
            self.fails(1, "--winograd-error: found '%s'" % error, "convolution.onnx", "--winograd-error=" + error)

    @unittest.skipUnless(platform.machine() == "x86_64", "flags of x86")
    def test_a_named_instruction_set_is_compiled_for_it_and_refused_for_less(self):
        less = "-march=x86-64"
        for target in re.findall(r"(?m)^  (x86-64-\S+) ", self.run_it("--help").stdout):
            self.run_it("convolution.onnx", "--target=" + target, "-o", "set.c", "--quiet")
            with open(os.path.join(self.folder, "set.c")) as file:
                enough = re.search(r'#error "this file was made for --target=%s: compile it with (.*)"' % target, file.read())[1]
            command = [*CC.split(), "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "set.c", "-o", "set.o"]
            subprocess.run([*command, *enough.split()], cwd=self.folder, check=True)
            refused = subprocess.run([*command, *less.split()], cwd=self.folder, capture_output=True, text=True)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("made for --target=%s: compile it with %s" % (target, enough), refused.stderr)
            less = enough

    def test_a_table_costs_the_time_of_the_rows_that_are_picked(self):
        self.run_it("words.onnx", "--target=x86-64-v3", "--report=words.json", "--quiet")
        with open(os.path.join(self.folder, "words.json")) as file:
            self.assertLess(json.load(file)["steps"][0]["predicted_ns"], 10000)    # all of it takes 90 microseconds at least

    def test_a_long_expression_of_one_byte_is_a_table_before_others_join(self):
        self.run_it("gated.onnx", "--report=gated.json", "--quiet")
        with open(os.path.join(self.folder, "gated.json")) as file:
            self.assertEqual([step["kernel"] for step in json.load(file)["steps"]], ["lookup", "map_vf_u8"])

    def test_fewer_queries_are_taken_together_where_their_scores_are_the_peak(self):
        done = self.run_it("attention.onnx")
        self.assertEqual(int(re.search(r"arena +(\d+)", done.stdout)[1]), 6 * 512 * 4)

    def test_scratch_of_attention_does_not_grow_with_very_many_keys(self):
        for keys in 5000, 90000:  # scores of 6 queries, keys turned, three numbers for each of 256 queries
            done = self.run_it("attention_%d.onnx" % keys)
            self.assertEqual(int(re.search(r"arena +(\d+)", done.stdout)[1]), ((6 + 8) * 256 + 3 * 256) * 4)

    def test_a_concatenation_is_copied_where_that_needs_less(self):
        tensor, column = 64 * 64 * 4, 64 * 4
        arena = int(re.search(r"arena +(\d+)", self.run_it("lopsided.onnx").stdout)[1])
        self.assertLessEqual(arena, 2 * tensor + 2 * column)  # made in place: the whole concatenation beside two tensors

    # -- choices measured on this machine

    def make(self, *arguments):
        """The generated source and the kernels of its report."""
        self.run_it("convolution.onnx", "-o", "made.c", "--report=made.json", "--quiet", *arguments)
        with open(os.path.join(self.folder, "made.c")) as source, open(os.path.join(self.folder, "made.json")) as report:
            return source.read(), [step.get("kernel") for step in json.load(report)["steps"]]

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def test_ways_are_measured_and_kept(self):
        done = self.run_it("convolution.onnx", "--tune=ways.txt", "--cc=" + QUICK_CC)
        self.assertRegex(done.stdout, r"(?m)^tuned +1 shapes of convolutions")
        with open(os.path.join(self.folder, "ways.txt")) as file:
            lines = [line for line in file if not line.startswith("#")]
        self.assertEqual(len(lines), 1)
        shape, ways = lines[0].split(" : ")
        for way in ("winograd 2", "winograd 4", "direct 0 0", "direct 1 0", "direct 2 0", "direct 4 0", "direct 0 -1"):
            self.assertIn(way, ways)
        self.write("forced.txt", shape + " : direct 1 -1\n")
        source, kernels = self.make("--tuned=forced.txt")
        self.assertIn("conv_f32", kernels)
        self.assertNotIn("winograd_f32", kernels)
        self.assertRegex(source, r"tile\[\] = \{1, 0, -1\}")
        self.assertIn("--tuned=forced.txt", source)
        self.assertEqual(self.make("--tuned=" + os.path.join(self.folder, "forced.txt"))[0], source)
        self.write("forced.txt", "# other remarks\n" + shape + "  :  winograd 2 # none\n")
        self.assertIn("winograd_f32", self.make("--tuned=forced.txt")[1])
        self.assertNotIn("winograd_f32", self.make("--tuned=forced.txt", "--winograd=off")[1])

    def test_ways_are_measured_at_each_listed_size(self):
        sizes = ("convolution_of_sizes.onnx", "--dim=H=8|24")
        done = self.run_it(*sizes, "--tune=sizes.txt", "--cc=" + QUICK_CC)
        self.assertRegex(done.stdout, r"(?m)^tuned +2 shapes of convolutions")
        with open(os.path.join(self.folder, "sizes.txt")) as file:
            shapes = [line.split(" : ")[0] for line in file if not line.startswith("#")]
        self.assertEqual([re.search(r"in=(\S+)", shape)[1] for shape in shapes], ["1,24,32", "1,8,32"])
        self.write("forced.txt", shapes[0] + " : winograd 2\n" + shapes[1] + " : direct 1 -1\n")
        self.run_it(*sizes, "-o", "made.c", "--report=made.json", "--tuned=forced.txt")
        with open(os.path.join(self.folder, "made.json")) as report:
            kernels = [step.get("kernel") for step in json.load(report)["steps"]]
        self.assertEqual([kernel for kernel in kernels if kernel in ("conv_f32", "winograd_f32")], ["conv_f32", "winograd_f32"]) # H=8, H=24

    def test_a_bad_file_of_choices_is_named(self):
        self.write("bad.txt", "# first\nconv_f32 batch=1 groups=one\n")
        self.fails(2, "bad.txt, line 2: found 'one', wanted 1 numbers for groups", "convolution.onnx", "--tuned=bad.txt")
        self.fails(1, "cannot read 'no_such_file'", "convolution.onnx", "--tuned=no_such_file")
        self.fails(1, "a file name", "convolution.onnx", "--tune=")

    def test_what_is_proven_of_the_order_is_said(self):
        said = "no order of these steps needs less"
        self.assertIn(said, self.run_it("small.onnx").stdout)
        self.assertNotIn(said, self.run_it("small.onnx", "--order=model").stdout) # nothing was searched

    def test_the_peak_is_explained_without_a_limit(self):
        done = self.run_it("small.onnx", "--explain-peak", "--quiet")
        self.assertRegex(done.stdout, r"(?m)^the arena's peak is at step \d+, .*alive there, \d+ bytes in all")
        self.assertRegex(done.stdout, r"(?m)^  \d+ bytes: '\w+', made by step \d+")
        saves = int(re.search(r"(?m)^remedy: --io=arena saves (\d+) bytes$", done.stdout)[1])
        ram = [int(re.search(r"RAM +(\d+)", self.run_it("small.onnx", *more).stdout)[1]) for more in ([], ["--io=arena"])]
        self.assertEqual(ram[0] - ram[1], saves)

    def test_planning_alone_counts_weights_and_state_as_emission_does(self):
        for model in (["twins.onnx"], ["convolution.onnx"], ["two_states.onnx", "--state=c:a", "--state=d:b"]):
            said = [re.findall(r"(?m)^(?:weights|RAM) .*$", self.run_it(*model, *more).stdout) for more in ([], ["-o", "said.c"])]
            self.assertEqual(said[0], said[1])
        with open(os.path.join(self.folder, "said.h")) as file:
            size = re.search(r"STATE_SIZE (\d+)", file.read())[1]
        self.assertIn(f"state {size},", said[0][0])
        self.assertRegex(self.run_it("twins.onnx", "--report=twins.json").stdout, r"weights +4096 bytes")
        self.run_it("twins.onnx", "--baseline=twins.json")

    def test_a_cascade_that_was_turned_off_is_offered_with_what_it_saves(self):
        done = self.run_it("chain.onnx", "--cascade=off", "--explain-peak", "--quiet")
        saves = int(re.search(r"(?m)^remedy: --cascade=auto saves (\d+) bytes$", done.stdout)[1])
        ram = [int(re.search(r"RAM +(\d+)", self.run_it("chain.onnx", *more).stdout)[1]) for more in (["--cascade=off"], [])]
        self.assertEqual(ram[0] - ram[1], saves)

    def test_what_needs_more_than_is_ever_live_is_named(self):
        done = self.run_it("fragmented.onnx", "--order=model", "--explain-peak", "--report=fragmented.json")
        self.assertIn("alive there, 224 bytes in all", done.stdout)
        self.assertIn("lower bound 256, by search: optimal: exhausted", done.stdout)
        named = re.search(r"(?m)^no places of these (\d+) alone need less than 256 bytes: (.*)$", done.stdout)
        with open(os.path.join(self.folder, "fragmented.json")) as file:
            report = json.load(file)
        names = [b["tensor"] or b["name"] for b in report["buffers"] if b["id"] in report["memory"]["core"]]
        self.assertEqual(named[2], ", ".join(f"'{name}'" for name in names))
        self.assertEqual(int(named[1]), len(names))

    def test_ways_to_share_memory_are_turned_off_one_by_one(self):
        for option, model in (("--in-place", "in_place"), ("--overlap", "lopsided"), ("--elision", "changed_not")):
            rams = []
            for value in ("auto", "off"):
                done = self.run_it(model + ".onnx", f"{option}={value}", "--explain-peak")
                rams.append(int(re.search(r"RAM +(\d+)", done.stdout)[1]))
            self.assertIn(f"remedy: {option}=auto saves {rams[1] - rams[0]} bytes\n", done.stdout)
            self.assertIn(f" {option}=off", self.run_it(model + ".onnx", f"{option}=off", "-o", "-").stdout)

    def test_a_smaller_bound_is_offered_with_what_it_saves(self):
        done = self.fails(4, "--max-ram", "bounded.onnx", "--dim", "n=1..100", "--max-ram=1K")
        self.assertRegex(done.stderr, r"remedy: a bound of at most 50 for n saves 1600 bytes")

    def test_flash_and_stack_are_measured_by_the_compiler(self):
        self.fails(1, "needs --cc", "small.onnx", "--max-flash=1M")
        self.fails(1, "needs --cc", "small.onnx", "--max-stack=1M")
        self.run_it("small.onnx", "--max-flash=10M", "--max-stack=1M", "--cc=" + CC + " -O2")
        self.fails(4, "--max-flash: found", "small.onnx", "--max-flash=10", "--cc=" + CC + " -O2")
        self.fails(4, "--max-stack: found", "small.onnx", "--max-stack=1", "--cc=" + CC + " -O2")
        self.fails(1, "does not compile", "small.onnx", "--cc=false")

    def test_regions_share_out_the_arena(self):
        with tempfile.TemporaryDirectory() as out:
            done = self.run_it("changed_not.onnx", "-o", out + "/net.c", "--report=" + out + "/net.json", "--map=" + out + "/net.svg",
                               "--region=fast:4K", "--region=slow:1M:256")
            fast, slow = (tuple(map(int, found)) for found in
                          re.findall(r"region +(\d+) bytes of \d+ in \w+, which serves (\d+) bytes of traffic", done.stdout))
            self.assertEqual(fast[0], 4096)
            self.assertIn("optimal: no plan serves more", done.stdout)
            with open(out + "/net.json") as file:
                regions = json.load(file)["memory"]["regions"]
            self.assertEqual([(r["name"], r["peak"], r["traffic"]) for r in regions], [("fast", *fast), ("slow", *slow)])
            with open(out + "/net.h") as file:
                header = file.read()
            self.assertIn("#define CHANGED_NOT_FAST_SIZE 4096 ", header)
            self.assertIn("#define CHANGED_NOT_SLOW_ALIGN 256 ", header)
            self.assertRegex(header, r"(?s)typedef struct \{\s+void \*fast;[^\n]*\n\s+void \*slow;[^\n]*\n\} changed_not_memory;")
            with open(out + "/net.svg") as file:
                self.assertIn("fast: 4,096 of 4,096 bytes, traffic", file.read())

    def test_what_fits_into_no_region_is_a_limit(self):
        with tempfile.TemporaryDirectory() as out:
            done = self.fails(4, "--region: found 5120 bytes", "changed_not.onnx", "--region=fast:1K", "--region=slow:4K", "-o", out + "/net.c")
            self.assertRegex(done.stderr, r"'both' of 8192 bytes fits nowhere")
            self.assertRegex(done.stderr, r"the arena's peak is at step \d")
            self.assertRegex(done.stderr, r"remedy: \d+ bytes more in 'slow'")
            self.assertEqual(os.listdir(out), [])

    def test_regions_that_are_none(self):
        for value in ("fast", "fast:", ":4K", "fast:4X", "fast:0", "2fast:4K", "state:4K", "weights:4K", "fast:4K:3", "fast:4K:0", "int:4K"):
            self.fails(1, "--region", "small.onnx", "--region=" + value)
        self.fails(1, "--region", "small.onnx", "--region=a:1K", "--region=a:1K")
        self.fails(1, "at most 8", "small.onnx", *("--region=r%d:1K" % i for i in range(9)))

    def test_a_failed_limit_writes_nothing(self):
        with tempfile.TemporaryDirectory() as out:
            self.fails(4, "--max-ram", "small.onnx", "-o", out + "/net.c", "--max-ram=1")
            self.assertEqual(os.listdir(out), [])

    def test_a_baseline_names_the_tensor_that_grew(self):
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it("bounded.onnx", "--dim=n=1..4", "--report=" + report, "--io=arena")
            self.run_it("bounded.onnx", "--dim=n=1..4", "--baseline=" + report, "--io=arena")
            self.run_it("bounded.onnx", "--dim=n=1..3", "--baseline=" + report, "--io=arena")
            done = self.fails(4, "--baseline:", "bounded.onnx", "--dim=n=1..9", "--baseline=" + report, "--io=arena")
            self.assertRegex(done.stderr, r"tensor 'x:0' grew from 64 to 144 bytes")
            self.fails(1, "no report", "small.onnx", "--baseline=small.onnx")
            self.fails(1, "cannot read", "small.onnx", "--baseline=none.json")

    def test_a_baseline_says_what_each_tensor_lost(self):
        told = {
            "new": r"tensor 'end' is new; 8192 bytes of it are alive at the peak, step 4",
            "fusion": r"tensor 'squashed' was fused into its readers and never stored: it is stored now; 4096 bytes",
            "view": r"tensor 'last' was a view of 'both': it has memory of its own now; 4096 bytes",
            "lifetime": r"tensor 'soft' was needed until 'squash': it is now needed until step 3, Neg 'turn'; 4096 bytes",
        }
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it("changed_not.onnx", "--report=" + report, "--io=arena")
            self.run_it("changed_not.onnx", "--baseline=" + report, "--io=arena")
            for change, sentence in told.items():
                done = self.fails(4, "--baseline: RAM", "changed_%s.onnx" % change, "--baseline=" + report, "--io=arena")
                self.assertRegex(done.stderr, sentence)
                self.assertRegex(done.stderr, r"the arena's peak is at step \d, ")
                self.assertIn("remedy: ", done.stderr)
                for other in set(told) - {change}:
                    self.assertNotRegex(done.stderr, told[other])

    def grown(self, before, after):
        """What is said of a model whose plan is larger than that of the baseline's."""
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it(before, "--report=" + report)
            return self.fails(4, "--baseline: RAM", after, "--baseline=" + report).stderr

    def test_a_baseline_says_what_is_no_longer_in_place(self):
        said = self.grown("in_place.onnx", "in_place_not.onnx")
        self.assertRegex(said, r"tensor 'grown' was made in the memory of 'soft': it has memory of its own now; 4096 bytes")

    def test_a_baseline_names_the_output_that_left_its_parent(self):
        said = self.grown("changed_not.onnx", "changed_view.onnx")
        self.assertRegex(said, r"output 'last' was a view of 'both': it has memory of its own now; 4096 bytes")
        self.assertRegex(said, r"remedy: --io=arena saves 4096 bytes")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
