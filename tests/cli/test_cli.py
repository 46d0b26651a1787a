"""The command line from outside: every option, every exit status, every class of broken model. Usage: test_cli.py OCCAMYC [CC]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from outside import CC, OCCAMYC, Outside


class Cli(Outside):
    # -- usage

    def test_help_names_every_option_and_exit_status(self):
        text = self.run_it("--help").stdout
        for option in ("-o --name --target --dim --weights --threads --part-time --queues --io --region --state --code --float16 --planner --order --time-limit --cascade --winograd --winograd-error "
                       "--in-place --overlap --elision "
                       "--explain-peak --max-ram --device-memory --max-flash --max-stack --cc --baseline --report --map --main --verify --verify-nodes --tune --tuned --dump --quiet "
                       "--version --help").split():
            self.assertRegex(text, r"(?m)^  %s\b" % re.escape(option))
        self.assertIn("70 a bug", text)

    def test_the_page_of_options_names_every_target(self):
        listed = re.search(r"(?m)^Targets:\n((?:  .*\n)+)", self.run_it("--help").stdout)[1]
        names = re.findall(r"(?m)^  ([\w-]+) ", listed)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "options.md")) as file:
            row = re.search(r"(?m)^\| `--target=T` \| (.*) \|$", file.read())[1]
        self.assertIn("x86-64-v3", names)
        self.assertEqual(sorted(re.findall(r"`([\w-]+)`", row)), sorted(names))

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

    def test_a_dump_leaves_nothing_asked_for_undone(self):
        for option in "--verify --tune=t.txt --report=r.json --map=m.svg --main=h.c --baseline=r.json --max-flash=1M --max-stack=1K --explain-peak".split():
            self.fails(1, f"found --dump=plan with {option.split('=')[0]}", "small.onnx", "--dump=plan", option)
        with tempfile.TemporaryDirectory() as out:
            done = self.run_it("small.onnx", "--dump=plan", "-o", out + "/net.c", "--report=" + out + "/r.json", "--explain-peak")
            self.assertIn("plan: peak", done.stdout)
            self.assertIn("lower bound", done.stderr)
            self.assertEqual(sorted(os.listdir(out)), ["net.c", "net.h", "r.json"])

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
        listed = self.run_it("--help").stdout.split("Planners:\n")[1].split("\n\n")[0]
        self.assertIn("exact ", listed)
        for planner in ["auto", *re.findall(r"(?m)^  (\S+)", listed)]:
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

    def test_a_host_program_asks_for_extents_of_the_input(self):
        import numpy
        import onnx
        onnx.save(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> main (float[n, 3, m] x) => (float[n, 3, m] y) { y = Neg(x) }'),
                  self.folder + "/open.onnx")
        self.run_it("open.onnx", "--dim=n=1..2", "--dim=m=1..5", "-o", "open.c", "--main=main.c", "--quiet")
        subprocess.run([*CC.split(), "-o", "open", "main.c", "open.c", "-lm"], cwd=self.folder, check=True)
        numpy.zeros((1, 3, 4), numpy.float32).tofile(self.folder + "/x.bin")
        for word in ("x.bin", "x.bin:1,3,4", "x.bin:12", "x.bin:1X3X4"):
            done = subprocess.run(["./open", word], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("x: say its extents, 3 numbers with x between, behind a colon: file.bin:2x3x5", done.stderr)
        subprocess.run(["./open", "x.bin:1x3x4"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

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
