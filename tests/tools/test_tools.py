"""Tests of the test tools themselves: values survive writing and reading, a comparison catches what is wrong, and each way
to fail ends in its own state (stand_in.py plays occamyc).
"""

import contextlib
import io
import json
import os
import random
import stat
import sys
import tempfile
import types
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import cases
import check_code
import check_table
import compare
import dims
import host
import networks
import objects
import pages
import run_case
import sweep
import tensors

def value_type(dtype, shape):
    return helper.make_tensor_type_proto(dtype, shape)


def round_trip(value, kind):
    with tempfile.NamedTemporaryFile() as file:
        file.write(tensors.value_proto(value, kind, "x").SerializeToString())
        file.flush()
        return tensors.read_value(file.name, kind)


class Objects(unittest.TestCase):
    def test_equal_text_is_compiled_once(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []

            def build(flag="-O1", banner="a", header="1", text="n"):
                for name, content in (("m.c", f'/* {banner} */\n#include "m.h"\nint {text} = N;\n'), ("m.h", f"/* {banner} */\n#define N {header}\n")):
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(content)
                objects.compile_once(os.path.join(folder, "kept"), folder, ["cc", flag], "m.c", run)
                with open(os.path.join(folder, "m.o"), "rb") as file:
                    return file.read()

            def run(command):
                made.append(command)
                host.run_compiler(folder, command, 60)

            first = build()
            self.assertEqual(build(banner="of another model"), first)
            self.assertEqual(made, [["cc", "-O1", "-c", "m.c"]])
            for count, other in enumerate(({"flag": "-O2"}, {"header": "2"}, {"text": "k"}), 2):
                build(**other)
                self.assertEqual(len(made), count)
            self.assertEqual(build(), first)
            self.assertEqual(len(made), 4)

    def test_a_header_counts_where_it_is_included(self):
        with tempfile.TemporaryDirectory() as folder:
            def digest(inner, other):
                for name, content in (("m.c", '#include "m.h"\n'), ("m.h", ' # include "inner.h"\n'), ("inner.h", inner), ("other.h", other)):
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(content)
                return objects.digest_of(folder, ["cc"], "m.c")

            first = digest("int a;", "int b;")
            self.assertEqual(digest("int a;", "int c;"), first)
            self.assertNotEqual(digest("int c;", "int b;"), first)

    def test_a_file_that_takes_in_weights_is_compiled_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for weights in (b"1", b"2"):
                for name, content in (("m.c", b'__asm__(".incbin \\"w\\"");\n'), ("w", weights)):
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(content)
                objects.compile_once(os.path.join(folder, "kept"), folder, ["cc"], "m.c", lambda command: host.run_compiler(folder, command, 60))
                with open(os.path.join(folder, "m.o"), "rb") as file:
                    found.append(file.read())
            self.assertNotEqual(*found)

    def test_what_does_not_compile_is_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "m.c"), "w") as file:
                file.write("int\n")
            for _ in range(2):
                with self.assertRaises(host.Failure):
                    objects.compile_once(os.path.join(folder, "kept"), folder, ["cc"], "m.c", lambda command: host.run_compiler(folder, command, 60))
            self.assertEqual(sorted(os.listdir(folder)), ["command.txt", "m.c"])


class Flags(unittest.TestCase):
    def test_a_long_program_is_built_as_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "model.c"), "w") as file:
                file.write("int x;\n")
            found = [host.flags_of(host.Toolchain("", literal_above=most), folder) for most in (0, 6, 7)]
        self.assertEqual(found, [host.STRICT, host.LITERAL, host.STRICT])

    def test_what_was_built_as_calls_is_built_again_without(self):
        self.assertNotEqual(*(run_case.tools_key(host.Toolchain("", literal_above=most)) for most in (0, 7)))


class Encoding(unittest.TestCase):
    def test_numbers_of_every_width_survive(self):
        numbers = [[0, 1, 1], [1, 0, 1]]
        for dtype in (1, 2, 3, 6, 7, 9, 10, 11, 16, 17, 20, 21, 22, 23, 24, 25, 26):
            array = np.array(numbers if dtype != TensorProto.FLOAT8E8M0 else [[2, 1, 1], [1, 4, 1]]).astype(helper.tensor_dtype_to_np_dtype(dtype))
            value = tensors.from_numpy(array)
            self.assertEqual(value.dtype, dtype)
            self.assertEqual(len(value.raw), tensors.raw_size(dtype, (2, 3)))
            np.testing.assert_array_equal(value.array(), array)
            self.assertEqual(round_trip(value, value_type(dtype, (2, 3))), value)

    def test_typed_fields_become_raw(self):
        proto = helper.make_tensor("x", TensorProto.INT4, (3,), [1, -2, 3])
        self.assertEqual(tensors.from_proto(proto).raw, bytes([0xE1, 0x03]))

    def test_text(self):
        value = tensors.from_numpy(np.array([["a", ""], ["Grüße", "b"]], dtype=object))
        self.assertEqual(value.raw, b"a\0\0Gr\xc3\xbc\xc3\x9fe\0b\0")
        self.assertEqual(value.array()[1, 0], "Grüße")
        self.assertEqual(tensors.split_text(b"a\0\0b", 3), ["a", "", "b"])
        self.assertEqual(tensors.split_text(b"", 0), [])
        with self.assertRaises(ValueError):
            tensors.split_text(b"a\0b\0", 4)

    def test_maps(self):
        for keys, kind in ((["b", "ä"], TensorProto.STRING), ([3, -1], TensorProto.INT64)):
            maps = helper.make_map_type_proto(kind, value_type(1, None))
            value = tensors.from_python({keys[0]: 0.5, keys[1]: 2.0})
            self.assertEqual(value[keys[0]].dtype, TensorProto.FLOAT)
            self.assertEqual(round_trip(value, maps), value)
            rows = [value, tensors.from_python({keys[0]: 1.0, keys[1]: 4.0})]
            self.assertEqual(round_trip(rows, helper.make_sequence_type_proto(maps)), rows)
            table = tensors.from_numpy(np.float32([[0.5, 2], [1, 4]]))
            self.assertEqual(tensors.join_maps(table, keys), rows)
            self.assertIsNone(compare.compare_value(rows, rows[:1] + [dict(reversed(rows[1].items()))], 0, 0))
            self.assertIn("key", compare.compare_value(rows, rows[::-1], 0, 0))
            self.assertIn("keys", compare.compare_value(value, {keys[0]: value[keys[0]]}, 0, 0))
            self.assertIn("differ in kind", compare.compare_value(rows, table, 0, 0))

    def test_sequences_and_optionals(self):
        item = value_type(1, None)
        sequence = helper.make_sequence_type_proto(item)
        value = [tensors.from_numpy(np.float32([1, 2])), tensors.from_numpy(np.float32(3))]
        self.assertEqual(round_trip(value, sequence), value)
        self.assertEqual(round_trip([], sequence), [])
        optional = helper.make_optional_type_proto(sequence)
        self.assertEqual(round_trip(value, optional), value)
        self.assertIsNone(round_trip(None, optional))


class Comparison(unittest.TestCase):
    def differ(self, want, got, rtol=1e-3, atol=1e-7, **more):
        return compare.compare_value(tensors.from_python(want), tensors.from_python(got), rtol, atol, **more)

    def test_numbers(self):
        self.assertIsNone(self.differ(np.float32([1, np.nan, np.inf]), np.float32([1.0005, np.nan, np.inf])))
        self.assertIn("1 of 2", self.differ(np.float32([1, 2]), np.float32([1, 2.01])))
        for wrong in (np.nan, np.inf, -np.inf):
            self.assertTrue(self.differ(np.float32([1]), np.float32([wrong])))
            self.assertTrue(self.differ(np.float32([wrong]), np.float32([1])))
        self.assertTrue(self.differ(np.float32([np.inf]), np.float32([-np.inf])))

    def test_integers_are_exact(self):
        self.assertTrue(self.differ(np.int64([100000]), np.int64([100001])))
        self.assertIsNone(self.differ(np.int8([10]), np.int8([11]), quantum=1))
        self.assertTrue(self.differ(np.int8([10]), np.int8([12]), quantum=1))

    def test_kind_type_and_extents(self):
        self.assertTrue(self.differ(np.float32([1]), np.float64([1])))
        self.assertTrue(self.differ(np.float32([1]), np.float32([[1]])))
        self.assertTrue(self.differ(np.float32([1]), None))
        self.assertTrue(self.differ([np.float32([1])], [np.float32([1])] * 2))
        self.assertTrue(self.differ(np.array(["a"], dtype=object), np.array(["b"], dtype=object)))

    def test_random_cases(self):
        x = [tensors.from_numpy(np.float32([1, 2, 3]))]
        self.assertIsNone(compare.check_dropout(x, [tensors.from_numpy(np.float32([2, 0, 6]))], x))
        self.assertTrue(compare.check_dropout(x, [tensors.from_numpy(np.float32([2, 1, 6]))], x))
        self.assertTrue(compare.check_bernoulli(x, [tensors.from_numpy(np.float32([1, 2, 0]))], x))


class Bounds(unittest.TestCase):
    def test_sequences(self):
        sequence = helper.make_value_info("s", helper.make_sequence_type_proto(value_type(1, None)))
        same = [tensors.from_numpy(np.zeros(shape, np.float32)) for shape in ((2, 3), (4, 3))]
        mixed = [tensors.from_numpy(np.zeros(shape, np.float32)) for shape in ((2, 3), (7,))]
        self.assertEqual(dims.input_flags([sequence], [[same]]), ["--dim", "s:count=2", "--dim", "s:0=1..4", "--dim", "s:1=3"])
        self.assertEqual(dims.input_flags([sequence], [[mixed]]), ["--dim", "s:count=2", "--dim", "s:elements=1..7"])
        self.assertEqual(dims.input_flags([sequence], [[[]]]), ["--dim", "s:count=0"])

    def test_names(self):
        infos = [helper.make_tensor_value_info("a:b", 1, ["batch", 3, None]), helper.make_tensor_value_info("c", 1, None)]
        sets = [[tensors.from_numpy(np.zeros((n, 3, 5), np.float32)), tensors.from_numpy(np.zeros(7, np.float32))]
                for n in (1, 4)]
        self.assertEqual(dims.input_flags(infos, sets), ["--dim", "batch=1..4", "--dim", "a:b:2=5", "--dim", "c:0=7"])


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        info = helper.make_tensor_value_info
        sequence = helper.make_value_info("s", helper.make_sequence_type_proto(value_type(7, None)))
        text = info("t", TensorProto.STRING, [2])
        nodes = [helper.make_node("Add", ["x", "x"], ["y"])]
        model = helper.make_model(helper.make_graph(nodes, "g", [info("x", 1, [3])], [info("y", 1, [3]), sequence, text]))
        outputs = [np.float32([2, 4, 6]), [np.int64([7]), np.int64([[8, 9]])], np.array(["a", "bc"], dtype=object)]
        values = ([tensors.from_numpy(np.float32([1, 2, 3]))], [tensors.from_python(v) for v in outputs])
        self.case = os.path.join(self.folder.name, "test_add")
        cases.write_case(self.case, model, [values], "Add", "node")

    def tearDown(self):
        self.folder.cleanup()

    def tools(self, mode):
        script = os.path.join(self.folder.name, "compiler")
        stand_in = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in.py")
        with open(script, "w") as file:
            file.write(f'#!/bin/sh\nSTAND_IN={mode} exec {sys.executable} {stand_in} "$@"\n')
        os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
        return host.Toolchain(script, cflags="-w")

    def result(self, mode, key=""):
        return run_case.run_case(self.tools(mode), self.case, os.path.join(self.folder.name, "work"), key)

    def test_networks(self):
        case = cases.Case(self.case)
        for mode, state in (("pass", "pass"), ("wrong", "wrong"), ("refused", "refused")):
            row = networks.measure(self.tools(mode), "add", case.path, case.model, case.sets, [],
                                   os.path.join(self.folder.name, "work"))
            self.assertEqual(row.state, state, row.reason)
            self.assertEqual(row.error > 0, mode == "wrong")

    def test_each_state(self):
        for mode, state in (("pass", "pass"), ("wrong", "wrong"), ("refused", "refused"), ("crash", "crash"),
                            ("cc-fail", "cc-fail"), ("fails", "run-fail"), ("overrun", "wrong")):
            with self.subTest(mode=mode):
                result = self.result(mode)
                self.assertEqual(result.state, state, result.reason)

    def test_a_pass_is_kept_until_something_changes(self):
        self.assertFalse(self.result("pass", "key").kept)
        self.assertTrue(self.result("pass", "key").kept)
        self.assertFalse(self.result("pass", "other key").kept)
        self.assertEqual(self.result("wrong", "other key").state, "wrong")

    def test_folder_without_description(self):
        os.remove(os.path.join(self.case, "meta.json"))
        self.assertEqual(self.result("pass").state, "pass")


class Pages(unittest.TestCase):
    def test_a_section_is_replaced_and_others_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w") as file:
                file.write("# Page\n\n## One\n\nold\n")
            rows = [networks.Row("b_net", outputs=2, sets=3, error=1.5e-6), networks.Row("a_net", state="wrong", outputs=1)]
            pages.write_networks(path, rows)
            pages.write_section(path, "One", "new\n")
            pages.write_networks(path, [networks.Row("a_net", outputs=1, sets=1, tied=True)])
            with open(path) as file:
                text = file.read()
            self.assertTrue(text.startswith("# Page\n\n## One\n\nnew\n\n## Exported"))
            self.assertEqual(pages.section(path, "One"), "new\n")
            self.assertIsNone(pages.section(path, "Two"))
            self.assertTrue(text.endswith("| a_net | 1 | 1 | types and ranks only |\n| b_net | 2 | 3 | 1.5e-06 |\n"))


    def test_a_page_of_measurements_loses_no_row(self):
        head, lost = "# Page\n\n## One\n\n| network | ms |\n|---|---:|\n", "\n## Losers\n\n| {} | 3 |\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            first = head + "| a | 1 |\n| b | 2 |\n| geometric mean of 2 | 1.4 |\n" + lost.format("a")
            more = head + "| a | 3 |\n| b | 2 |\n| c | 9 |\n| geometric mean of 3 | 4 |\n" + lost.format("c")
            self.assertTrue(pages.replace(path, first, ["Losers"]))
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertFalse(pages.replace(path, head + "| b | 2 |\n", ["Losers"]))
                self.assertFalse(pages.replace(path, first.replace("## One", "## Two"), ["Losers"]))
                self.assertFalse(pages.replace(path, more))
            self.assertIn(f"{path} stays as it is: a not measured", said.getvalue())
            self.assertEqual(pages.read(path), first)
            self.assertTrue(pages.replace(path, more, ["Losers"]))
            self.assertEqual(pages.read(path), more)


class Sweep(unittest.TestCase):
    """Options may refuse a model, but neither crash nor hang, and every set is seen."""

    def test_statuses_that_must_not_be(self):
        for status in (sweep.BUG, sweep.HANG, -11, 1, 2, 134):
            self.assertTrue(sweep.is_bug(status, 0), status)
        for status in (0, 3):
            self.assertFalse(sweep.is_bug(status, 0), status)
        self.assertTrue(sweep.is_bug(sweep.BUG, sweep.BUG))

    def test_a_limit_may_be_exceeded_and_options_may_exclude_each_other(self):
        words = "occamyc: found --queues=2 with --threads=4, wanted one of them"
        self.assertFalse(sweep.is_bug(sweep.EXCEEDED, 0, ["--max-ram=4M"]))
        self.assertTrue(sweep.is_bug(sweep.EXCEEDED, 0, ["--io=arena"]))
        self.assertFalse(sweep.is_bug(sweep.USAGE, 0, ["--queues=2", "--threads=4"], words))
        self.assertTrue(sweep.is_bug(sweep.USAGE, 0, ["--queues=2"], words))
        self.assertTrue(sweep.is_bug(sweep.USAGE, 0, ["--queues=2", "--threads=4"], "cannot write"))

    def test_pairs_name_no_option_twice(self):
        self.assertEqual(sweep.pairs_of([["--a=1"], ["--a=2"], ["--b", "--c=1"]]), [["--a=1", "--b", "--c=1"], ["--a=2", "--b", "--c=1"]])
        self.assertEqual(sweep.pairs_of([["--region=a:1"], ["--weights=swap"]]), [])

    def test_every_set_is_chosen(self):
        sets = list(range(47))
        self.assertEqual({s for i in range(500) for s in sweep.chosen(sets, f"test_{i}", 2)}, set(sets))
        self.assertEqual(sorted(sweep.chosen(sets, "test", 47)), sets)
        self.assertEqual(len(set(sweep.chosen(sets, "test", 5))), 5)

    def test_a_crash_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "occamyc")
            with open(program, "w") as file:
                file.write("#!/bin/sh\ncase \"$*\" in *--io=arena*) kill -SEGV $$;; esac\n")
            os.chmod(program, stat.S_IRWXU)
            arguments = types.SimpleNamespace(occamyc=program, all=True, count=2, pairs=0)
            info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy"]
            model = helper.make_model(helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", info[:1], info[1:]))
            one = tensors.from_python(np.ones(1, np.float32))
            cases.write_case(os.path.join(folder, "test_one"), model, [([one], [one])], "Neg", "own")
            counts, found = sweep.sweep_case(arguments, [["--io=arena"], ["--io=caller"]], [], os.path.join(folder, "test_one"))
        self.assertEqual((counts[0], counts[-11], len(found)), (2, 1, 1))


class Proofs(unittest.TestCase):
    """Each proof about generated code fails on code made to fail it."""

    def reason(self, source, said=()):
        tools = check_code.Tools("", ["gcc"], ["clang"])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "model.c"), "w") as file:
                file.write(source)
            with open(os.path.join(folder, "report.json"), "w") as file:
                json.dump({"code": {"libc": list(said)}}, file)
            try:
                check_code.prove_symbols(tools, folder)
            except host.Failure as failure:
                return failure.reason
        return ""

    def test_symbols_and_sections(self):
        root = "#include <math.h>\nfloat f(float x);\nfloat f(float x) { return sqrtf(x); }\n"
        self.assertEqual(self.reason(root, ["sqrtf"]), "")
        self.assertIn("the report lists", self.reason(root))
        self.assertIn("the report lists", self.reason("extern int x;\nint x;\n", ["sqrtf"]))
        self.assertIn("malloc", self.reason("#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return malloc(4); }\n"))
        self.assertIn("writable data", self.reason("int f(void);\nint f(void) { static int n; return ++n; }\n"))
        self.assertIn("warning", self.reason("int f(long x);\nint f(long x) { return x; }\n").replace("error", "warning"))

    def test_hostile_values_keep_type_and_size(self):
        generator = random.Random(1)
        for dtype in (1, 2, 3, 6, 7, 9, 10, 11, 16, 17, 21, 22):
            raw = check_code.hostile_numbers(generator, dtype, 7)
            self.assertEqual(len(raw), tensors.raw_size(dtype, (7,)), dtype)

    def test_rows_of_the_operator_table_are_read(self):
        table = "OP( onnx,  Abs,  1, 1, 1, 1, OP_ELEMENTWISE, upgrade_none, infer_abs, lower_direct, \"N\" )\n"
        self.assertEqual([(d, n, low) for d, n, _, low in check_table.ROW.findall(table)], [("onnx", "Abs", "lower_direct")])


if __name__ == "__main__":
    unittest.main()
