"""The command line from outside: every option, every exit status, every class of broken model. Usage: test_cli.py OCCAMYC [CC]"""
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models

OCCAMYC = os.path.abspath(sys.argv[1])
CC = sys.argv[2] if len(sys.argv) > 2 else "cc"


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = cls.holder.name
        models.write_all(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def run_it(self, *arguments, status=0, folder=None, prefix=""):
        line = [OCCAMYC, *arguments] if not prefix else ["sh", "-c", prefix + ' exec "$0" "$@"', OCCAMYC, *arguments]
        done = subprocess.run(line, cwd=folder or self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, "%s\n%s%s" % (" ".join(arguments), done.stdout, done.stderr))
        return done

    def fails(self, status, part, *arguments, **more):
        done = self.run_it(*arguments, status=status, **more)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")
        return done

    # -- usage

    def test_help_names_every_option_and_exit_status(self):
        text = self.run_it("--help").stdout
        for option in ("-o --name --target --dim --weights --threads --part-time --queues --io --region --state --code --float16 --planner --order --time-limit --cascade --winograd --winograd-error "
                       "--in-place --overlap --elision "
                       "--explain-peak --max-ram --device-memory --max-flash --max-stack --cc --baseline --report --map --main --verify --verify-nodes --tune --tuned --dump --quiet "
                       "--version --help").split():
            self.assertRegex(text, r"(?m)^  %s\b" % re.escape(option))
        self.assertIn("70 a bug", text)

    def test_version(self):
        self.assertRegex(self.run_it("--version").stdout, r"^occamyc \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_status_1(self):
        self.fails(1, "found no model")
        self.fails(1, "unknown option '--frob'", "small.onnx", "--frob")
        self.fails(1, "found a second model", "small.onnx", "bounded.onnx")
        self.fails(1, "needs a value", "small.onnx", "--name")
        self.fails(1, "takes no value", "small.onnx", "--quiet=1")
        self.fails(1, "no_such_file.onnx", "no_such_file.onnx")

    def test_bad_values_are_named_with_what_was_wanted(self):
        for option, part in (
            ("--name=2x", "a C identifier"), ("--name=while", "a C identifier"), ("--target=abacus", "portable"),
            ("--dim=n", "NAME=N"), ("--dim=n=5..2", "A <= B"), ("--dim==4", "NAME=N"), ("--dim=n=x", "NAME=N"),
            ("--weights=gold", "inline"), ("--threads=-1", "0 to 1024"), ("--part-time=x", "microseconds"), ("--queues=0", "1 to 8"), ("--io=none", "caller"), ("--state=a", "OUT:IN"),
            ("--code=fast", "shared"), ("--planner=luck", "first-fit"), ("--order=alphabet", "model"),
            ("--time-limit=0", "above 0"), ("--max-ram=1.5K", "a whole number"), ("--max-ram=12Q", "a whole number"),
            ("--dump=everything", "graph"), ("--dump=libraries", "--target=cuda"), ("--in-place=on", "auto, off"), ("--overlap=no", "auto, off"), ("--elision=2", "auto, off"),
            ("-o=x", "unknown option"),
        ):
            self.fails(1, part, "small.onnx", option)
        self.fails(1, "ends in .c", "small.onnx", "-o", "model.txt")
        self.fails(1, "ends in .txt", "small.onnx", "-o", "model.c", "--target=null")
        self.fails(1, "a target of C", "small.onnx", "--target=null", "--cc=cc")
        self.fails(1, "wanted one of them", "small.onnx", "--queues=2", "--threads=2")

    def test_a_bound_that_meets_no_extent_is_a_slip(self):
        self.fails(1, "--dim=m", "bounded.onnx", "--dim", "n=1..4", "--dim", "m=3")

    # -- what is made

    def test_without_o_nothing_is_written(self):
        before = sorted(os.listdir(self.folder))
        self.assertIn("lower bound", self.run_it("small.onnx").stdout)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(self.run_it("small.onnx", "--quiet").stdout, "")

    def test_files_appear_under_the_names_asked_for(self):
        with tempfile.TemporaryDirectory() as out:
            self.run_it("small.onnx", "-o", out + "/net.c", "--name=abc", "--report=" + out + "/r.json", "--map", out + "/m.svg",
                        "--main=" + out + "/host.c")
            self.assertEqual(sorted(os.listdir(out)), ["host.c", "m.svg", "net.c", "net.h", "r.json"])
            with open(out + "/net.h") as header:
                self.assertIn("ABC_ARENA_SIZE", header.read())
            with open(out + "/net.c") as source:
                self.assertIn("\n * occamyc small.onnx -o net.c --name=abc\n", source.read(2000))
            with open(out + "/r.json") as report:
                self.assertEqual(json.load(report)["version"], 1)
            line = CC.split() + ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "net.c", "-o", "net.o"]
            self.assertEqual(subprocess.run(line, cwd=out).returncode, 0)

    def test_a_text_that_is_no_number_stops_the_run_with_its_code(self):
        program = '#include "net.h"\nint main(void)\n{\n    static _Alignas(64) char arena[NET_ARENA_SIZE];\n' \
                  '    const char *good[2] = {"1", "-2.5"}, *bad[2] = {"1", "two"};\n    float y[2];\n' \
                  '    net_memory memory = {arena};\n    net_outputs out = {y};\n    net_inputs in = {good}, wrong = {bad};\n' \
                  '    return net_run(&memory, &in, &out) || y[1] != -2.5f || net_run(&memory, &wrong, &out) != NET_ETEXT;\n}\n'
        with tempfile.TemporaryDirectory() as out:
            self.run_it("numbers.onnx", "-o", out + "/net.c", "--name=net")
            with open(out + "/main.c", "w") as file:
                file.write(program)
            subprocess.run(CC.split() + ["-std=c11", "main.c", "net.c", "-o", "main"], cwd=out, check=True)
            self.assertEqual(subprocess.run([out + "/main"]).returncode, 0)
            self.run_it("small.onnx", "-o", out + "/net.c")
            with open(out + "/net.h") as header:
                self.assertNotIn("ETEXT", header.read())

    def test_maps_are_well_formed_and_name_every_buffer_of_the_arena(self):
        import xml.etree.ElementTree as tree

        with tempfile.TemporaryDirectory() as out:
            self.run_it("bounded.onnx", "--dim=n=1..4", "--io=arena", "--map=" + out + "/m.svg", "--report=" + out + "/r.json")
            self.run_it("bounded.onnx", "--dim=n=1..4", "--io=arena", "--map=" + out + "/m.html")
            titles = [t.text for t in tree.parse(out + "/m.svg").iter("{http://www.w3.org/2000/svg}title")]
            with open(out + "/r.json") as report:
                placed = [b for b in json.load(report)["buffers"] if "offset" in b]
            self.assertGreater(len(placed), 0)
            for buffer in placed:
                self.assertTrue([t for t in titles if t.startswith((buffer["tensor"] or buffer["name"].split(":")[-1]) + ": ")], buffer)
            with open(out + "/m.html") as page:
                text = page.read()
            self.assertIn('id="label"', text)
            self.assertNotRegex(text, r"(src|href)=")       # self-contained

    def test_standard_output_takes_the_source(self):
        done = self.run_it("small.onnx", "-o", "-")
        self.assertIn("small_run", done.stdout)
        self.assertIn("lower bound", done.stderr)

    def test_dumps_are_stable_text(self):
        for stage, part in (("graph", "Sigmoid 'squash'"), ("program", "step 0:"), ("plan", "plan: peak")):
            first = self.run_it("small.onnx", "--dump=" + stage).stdout
            self.assertIn(part, first)
            self.assertEqual(first, self.run_it("small.onnx", "--dump", stage).stdout)

    def test_graphs_of_listed_sizes_are_those_of_pinned_ones(self):
        text = self.run_it("bounded.onnx", "--dim=n=2|5", "--dump=graph").stdout
        parts = dict(part.split("\n", 1) for part in text.split("sizes ")[1:])
        self.assertEqual(list(parts), ["n=2", "n=5"])
        for size in (2, 5):
            self.assertEqual(parts[f"n={size}"].split("run-time integers")[0], self.run_it("bounded.onnx", f"--dim=n={size}", "--dump=graph").stdout)
        self.assertIn("bounded_run", self.run_it("bounded.onnx", "--dim=n=2|5", "--dump=graph", "-o", "-").stdout)

    def test_planners_orders_forms_and_targets_are_accepted(self):
        for planner in "auto first-fit best-fit longer-first bigger-first exact".split():
            self.run_it("small.onnx", "--planner=" + planner)
        for option in ("--order=model", "--order=auto", "--time-limit=5", "--code=shared", "--code=auto", "--io=arena",
                       "--threads=1", "--target=null", "--target=cortex-m"):
            self.run_it("small.onnx", option)

    def test_the_null_target_lists_each_step(self):
        done = self.run_it("small.onnx", "--target=null", "-o", "-")
        steps = int(done.stderr.split(" steps")[0].split()[-1])
        self.assertEqual(sum(line.startswith("launch ") for line in done.stdout.splitlines()), steps)

    def test_threads_and_queues_add_a_parallel_for(self):
        for option in ("--threads=2", "--queues=2"):
            with tempfile.TemporaryDirectory() as out:
                self.run_it("small.onnx", option, "-o", out + "/small.c")
                with open(out + "/small.h") as file:
                    self.assertIn("void (*parallel_for)(", file.read())

    def test_weights_take_their_form(self):
        with tempfile.TemporaryDirectory() as out:
            for form, side in (("inline", False), ("object", True), ("file", True)):
                self.run_it("small.onnx", "-o", "%s/%s.c" % (out, form), "--weights=" + form)
                self.assertEqual(os.path.exists("%s/%s.c.weights" % (out, form)), side)

    def test_extents_are_pinned_and_bounded(self):
        self.fails(3, "--dim", "bounded.onnx")
        for bound, most in (("n=3", 48), ("n=1..5", 80), ("n<=6", 96), ("x:0:0=1..7", 112), ("x:0:0=2", 32)):
            done = self.run_it("bounded.onnx", "--dim", bound)
            self.assertIn("inputs %d" % most, done.stdout)

    def test_state_is_kept_by_name(self):
        self.assertIn("state 16", self.run_it("stateful.onnx", "--state=y:s").stdout)
        self.fails(1, "--state", "stateful.onnx", "--state=y:nothing")

    # -- broken models

    def test_each_broken_model_has_its_status_and_message(self):
        for name, status, part in (
            ("truncated", 2, "truncated.onnx"), ("not_onnx", 2, "not_onnx.onnx"), ("empty", 2, "empty.onnx"), ("cycle", 2, "cycl"),
            ("missing_input", 2, "nowhere"), ("wrong_arity", 2, "Add"), ("external_outside", 2, "c"),
            ("deep_nesting", 2, "nest"), ("huge", 2, "overflow"), ("short_payload", 2, "c"), ("wrong_type", 2, "Add"),
            ("bad_shape", 2, "MatMul"), ("duplicate_name", 2, "y"), ("unknown_operator", 3, "Frobnicate"), ("newer_opset", 3, "4000"),
        ):
            with self.subTest(model=name):
                done = self.fails(status, part, name + ".onnx")
                self.assertTrue(done.stderr.startswith(name + ".onnx: "), done.stderr)

    def test_missing_external_data_is_named(self):
        done = self.run_it("external_missing.onnx", status=1) if False else subprocess.run(
            [OCCAMYC, "external_missing.onnx"], cwd=self.folder, capture_output=True, text=True)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("not_there.bin", done.stderr)

    # -- outputs whole or absent

    def test_what_cannot_be_written_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as out:
            self.fails(1, "cannot write", "small.onnx", "-o", out + "/none/net.c")
            self.fails(1, "cannot write", "small.onnx", "-o", out + "/net.c", "--report=" + out + "/none/r.json")
            self.fails(1, "cannot write", "small.onnx", "-o", out + "/net.c", "--report=" + out)
            self.fails(1, "cannot write", "small.onnx", "-o", out + "/net.c", "--report=/dev/full")
            self.assertEqual(os.listdir(out), [])

    def test_a_full_disk_leaves_the_old_files(self):
        with tempfile.TemporaryDirectory() as out:
            self.run_it("small.onnx", "-o", out + "/net.c", "--quiet")
            with open(out + "/net.c") as file:
                old = file.read()
            self.fails(1, "cannot write", "small.onnx", "-o", out + "/net.c", "--name=other", prefix="ulimit -f 1;")
            self.assertEqual(sorted(os.listdir(out)), ["net.c", "net.h"])
            with open(out + "/net.c") as file:
                self.assertEqual(file.read(), old)

    def test_standard_output_that_is_full_is_noticed(self):
        done = subprocess.run("'%s' --help > /dev/full" % OCCAMYC, shell=True, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

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

    def test_memory_of_a_device_is_no_ram(self):
        said = self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda").stdout
        parts = {name: int(re.search(rf"(?m)^{name} +(\d+) bytes", said)[1]) for name in ("device", "pinned", "host", "RAM")}
        ports = [int(size) for size in re.search(r"inputs (\d+), outputs (\d+)", said).groups()]
        self.assertGreater(parts["device"], 0)
        self.assertEqual(parts["RAM"], parts["pinned"] + parts["host"] + sum(ports))
        self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda", "--max-ram=%d" % parts["RAM"])
        done = self.fails(4, "--max-ram: found", "bounded.onnx", "--dim=n=1..9", "--target=cuda", "--max-ram=%d" % (parts["RAM"] - 1))
        self.assertIn("most of the host's page-locked memory is in use in step", done.stderr)
        self.assertRegex(self.run_it("bounded.onnx", "--dim=n=1..9", "--target=cuda", "--io=device").stdout, r"inputs 0, outputs 0")

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
        flags = [("x86-64", "-march=x86-64"), ("x86-64-v3", "-march=x86-64-v3"), ("x86-64-v4", "-march=x86-64-v4"),
                 ("x86-64-v4-vnni", "-march=x86-64-v4 -mavx512vnni")]
        for (_, less), (target, enough) in zip(flags, flags[1:]):
            self.run_it("convolution.onnx", "--target=" + target, "-o", "set.c", "--quiet")
            command = [*CC.split(), "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-c", "set.c", "-o", "set.o"]
            subprocess.run([*command, *enough.split()], cwd=self.folder, check=True)
            refused = subprocess.run([*command, *less.split()], cwd=self.folder, capture_output=True, text=True)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("made for --target=%s:" % target, refused.stderr)

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
        done = self.run_it("convolution.onnx", "--tune=ways.txt", "--cc=%s -O1" % CC)
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

    def test_a_baseline_says_what_is_no_longer_in_place(self):
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it("in_place.onnx", "--report=" + report)
            done = self.fails(4, "--baseline: RAM", "in_place_not.onnx", "--baseline=" + report)
            self.assertRegex(done.stderr, r"tensor 'grown' was made in the memory of 'soft': it has memory of its own now; 4096 bytes")

    def test_a_baseline_names_the_output_that_left_its_parent(self):
        with tempfile.TemporaryDirectory() as out:
            report = out + "/old.json"
            self.run_it("changed_not.onnx", "--report=" + report)
            done = self.fails(4, "--baseline: RAM", "changed_view.onnx", "--baseline=" + report)
            self.assertRegex(done.stderr, r"output 'last' was a view of 'both': it has memory of its own now; 4096 bytes")
            self.assertRegex(done.stderr, r"remedy: --io=arena saves 4096 bytes")

    # -- verification

    def test_verification_agrees_and_disagrees(self):
        import numpy
        from onnx import numpy_helper

        with tempfile.TemporaryDirectory() as out:
            x = numpy.linspace(-2, 2, 12, dtype=numpy.float32).reshape(3, 4)
            os.mkdir(out + "/test_data_set_0")

            def store(name, array):
                with open("%s/test_data_set_0/%s.pb" % (out, name), "wb") as file:
                    file.write(numpy_helper.from_array(array).SerializeToString())

            store("input_0", x)
            store("output_0", 1 / (1 + numpy.exp(-x)))
            done = self.run_it("bounded.onnx", "--verify=" + out)
            self.assertRegex(done.stdout, r"'y' float\[3\]\[4\]: max absolute \S+, relative \S+, ULP \d+")
            self.assertIn("bounded by the stored sets: --dim n=3..3", done.stderr)
            store("output_0", 1 / (1 + numpy.exp(-x)) + 0.01)
            self.assertIn("differs", self.fails(4, "'y'", "bounded.onnx", "--verify=" + out).stderr)
            store("output_0", numpy.zeros((3, 5), dtype=numpy.float32))
            self.fails(4, "found extents [3][4], wanted [3][5]", "bounded.onnx", "--verify=" + out)
            self.fails(1, "found no input_0.pb", "small.onnx", "--verify=" + self.folder)

    def test_verification_by_node_names_the_first_that_parts(self):
        with tempfile.TemporaryDirectory() as out:
            liar = out + "/liar.py"
            with open(liar, "w") as file:
                file.write("import runpy, sys\n"
                           "import onnx\n"
                           "from onnx import numpy_helper\n"
                           "del sys.argv[0]\n"
                           "sys.path.insert(0, '.')\n"
                           "runpy.run_path(sys.argv[0], run_name='__main__')\n"
                           "for i in (0, 2):\n"
                           "    path = 'test_data_set_0/output_%d.pb' % i\n"
                           "    array = numpy_helper.to_array(onnx.load_tensor(path)) + 1\n"
                           "    onnx.save_tensor(numpy_helper.from_array(array), path)\n")
            os.environ["OCCAMYC_PYTHON"] = sys.executable
            done = self.run_it("small.onnx", "--verify", "--verify-nodes")
            for name in ("'y'", "'t'", "'s'", "'g'", "'a'"):
                self.assertRegex(done.stdout, name + r" float.*: max absolute")
            os.environ["OCCAMYC_PYTHON"] = sys.executable + " " + liar
            self.fails(4, "the values part at 's', which Sigmoid 'squash' makes", "small.onnx", "--verify", "--verify-nodes")
            self.fails(1, "without -o", "small.onnx", "--verify", "--verify-nodes", "-o", out + "/x.c")
            del os.environ["OCCAMYC_PYTHON"]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
