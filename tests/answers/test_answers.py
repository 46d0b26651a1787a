"""The tally of random models and the judge's second oracle."""

import glob
import os
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import answers_page  # noqa: E402
import batch     # noqa: E402
import draw      # noqa: E402
import fuzz_answers  # noqa: E402
import judge     # noqa: E402
import kernel_cover  # noqa: E402
import oracle    # noqa: E402
import shrink    # noqa: E402
import tuned     # noqa: E402
import unreached  # noqa: E402
import variants  # noqa: E402
from tally import Tally  # noqa: E402


def state(seed, models, found=(), since=0, rows=()):
    stats = {"models": models, "variants": 3 * models, "runs": 5 * models, "kind operator": models}
    return {"seed": seed, "kind": "", "stats": stats, "found": list(found), "since": since, "seconds": 3600, "seen": {"rows": {r: 1 for r in rows}}}


class Tallies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "tally.json")

    def tearDown(self):
        self.folder.cleanup()

    def kept(self, *states):
        tally = Tally(self.path)
        for one in states:
            tally.add(one)
        tally.write()
        return Tally(self.path)

    def test_a_seed_counts_once(self):
        self.kept(state("1", 10, rows=["Abs"]), state("2", 5))
        tally = self.kept(state("1", 10), state("2", 8, rows=["Add", "Abs"]))
        self.assertEqual((tally.total("models"), tally.total("runs"), tally.kinds()), (18, 90, [("operator", 18)]))
        self.assertEqual(tally.data["rows"], ["Abs", "Add"])

    def test_a_lost_folder_begins_anew(self):
        self.kept(state("1", 10, rows=["Abs"]))
        self.assertEqual(self.kept(state("1", 4, rows=["Add"])).total("models"), 10)
        self.assertEqual(self.kept(state("1", 12)).total("models"), 12)
        self.assertEqual(self.kept().data["rows"], ["Abs", "Add"])

    def test_models_since_the_last_that_failed(self):
        self.assertEqual(self.kept(state("1", 10)).data["since"], 10)
        self.assertEqual(self.kept(state("1", 30, ["one"], since=7)).data["since"], 7)
        self.assertEqual(self.kept(state("1", 30, ["one"], since=7), state("2", 5)).data["since"], 12)


def resized(opset, value):
    """A trial whose Resize ONNX Runtime divides by the whole extent less one; `value` of what the program would have computed."""
    constants = {"s": np.array([1, 1, 1, 1.5], np.float32), "q": np.float32(0.1), "z": np.uint8(100)}
    nodes = [helper.make_node("Resize", ["x", "", "s"], ["r"], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="align_corners"),
             helper.make_node("QuantizeLinear", ["r", "q", "z"], ["b"]), helper.make_node("DequantizeLinear", ["b", "q", "z"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, (1, 1, 1, 7))], [helper.make_tensor_value_info("y", 1, (1, 1, 1, 10))],
                              [numpy_helper.from_array(np.array(v), n) for n, v in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])
    sets = [[np.arange(7, dtype=np.float32).reshape(1, 1, 1, 7)]]
    answers = oracle.answers(model, sets)
    trial = batch.Trial("t", model, [[batch.tensor(sets[0][0])]], [[batch.tensor(answers[0][0])]], [[0.0]], [variants.Variant([])], rare=True)
    trial.outcomes = [batch.Outcome(outputs=[[batch.tensor(np.array(value, np.float32).reshape(1, 1, 1, 10))]])]
    return trial


# Of 7 elements 10.5 are to be made, so element i lies at 6 / 9.5 of i.
RIGHT = [i * 6 * 2 // 19 for i in range(10)]


class Oracles(unittest.TestCase):
    def says(self, opset, value):
        trial = resized(opset, value)
        judge.judge(trial)
        return trial.outcomes[0].state, shrink.reference_agrees(shrink.Failing.of(trial, 0, variants.Build("gcc", "")))

    def test_the_reference_decides_below_opset_19(self):
        for opset in (13, 17, 19, 21):
            self.assertEqual(self.says(opset, RIGHT), ("wrong", True))

    def test_every_variant_is_held_against_it(self):
        trial, kept = resized(13, RIGHT), []
        trial.variants = [variants.Variant([]) for _ in range(3)]
        trial.outcomes += [resized(13, RIGHT).outcomes[0], resized(13, [v + 1 for v in RIGHT]).outcomes[0]]
        judge.judge(trial)
        before, shrink.keep = shrink.keep, lambda trial, index, *_: kept.append(index) or (index == 2 and {"line": trial.outcomes[2].reason}) or None
        try:
            said = fuzz_answers.finding(trial, [0, 1, 2], None, None, {})
        finally:
            shrink.keep = before
        self.assertEqual(kept, [0, 2])
        self.assertIn("other bits", said["line"])

    def test_the_reference_knows_older_words_of_grid_sample(self):
        """ONNX Runtime moves the window of a cubic sample into the image before it takes weights."""
        node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode="bicubic", padding_mode="border")
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, (1, 1, 1, 2)), helper.make_tensor_value_info("grid", 1, (1, 1, 1, 2))],
                                  [helper.make_tensor_value_info("y", 1, (1, 1, 1, 1))])
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        sets = [[np.float32([1, 2]).reshape(1, 1, 1, 2), np.float32([0.6, -1.2]).reshape(1, 1, 1, 2)]]
        trial = batch.Trial("t", model, [[batch.tensor(v) for v in sets[0]]], [[batch.tensor(v) for v in oracle.answers(model, sets)[0]]], [[0.0]],
                            [variants.Variant([])])
        evaluator = shrink.ReferenceEvaluator(model, new_ops=shrink.older_operators(model))
        trial.outcomes = [batch.Outcome(outputs=[[batch.tensor(evaluator.run(None, dict(x=sets[0][0], grid=sets[0][1]))[0])]])]
        self.assertTrue(shrink.reference_agrees(shrink.Failing.of(trial, 0, variants.Build("gcc", ""))))

    def test_a_region_that_has_no_effect_is_not_asked_for(self):
        """A region of too few elements: what becomes of one when extents are made smaller."""
        trial = resized(13, RIGHT)
        trial.model.graph.initializer.append(numpy_helper.from_array(np.float32([0, 1]), "r0"))
        trial.model.graph.node[0].input[1] = "r0"
        self.assertTrue(shrink.reference_agrees(shrink.Failing.of(trial, 0, variants.Build("gcc", ""))))

    def test_what_both_contradict_is_wrong(self):
        self.assertEqual(self.says(13, [v + 1 for v in RIGHT]), ("wrong", False))


class Programs(unittest.TestCase):
    """What one variant wrote against what another did."""

    def firsts(self, *texts):
        with tempfile.TemporaryDirectory() as folder:
            for i, text in enumerate(texts):
                for name, part in ((f"t_{i}.c", text), (f"t_{i}_main.c", "int main;"), (f"t_{i}.h", f"int t_{i}_run(void); /* as of {i} */")):
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(part)
            trial = batch.Trial("t", None, [], [], [], [])
            trial.outcomes = [batch.Outcome() for _ in texts]
            return batch.first_of_each(trial, folder), [o.twin for o in trial.outcomes]

    def test_comments_and_names_make_no_other_program(self):
        self.assertEqual(self.firsts("/* of 0 */ t_0_run(16); T_0_SIZE;", "/* of\n1 */ t_1_run(16); T_1_SIZE;"), ([0], [-1, 0]))

    def test_a_number_does(self):
        self.assertEqual(self.firsts("t_0_run(16);", "t_1_run(32);", "t_2_run(32);"), ([0, 1], [-1, -1, 1]))


class Branches(unittest.TestCase):
    """Lines as they are known among programs: by their text, since programs leave out what they do not need."""

    def known(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.c")
            with open(path, "w") as file:
                file.write(text)
            return {place[2]: place[:2] for place in kernel_cover.functions(path) if place}

    def test_a_line_left_out_moves_no_other(self):
        one = self.known("OCC_HOT void occ_f_f32(float *y)\n{\n    if (wide)\n        turn(y);\n    if (n)\n        one(y);\n}\n")
        other = self.known("OCC_HOT void occ_f_i16(int16_t *y)\n{\n    if (n)\n        one(y);\n}\n")
        self.assertEqual(one["if (n)"], other["if (n)"])
        self.assertEqual(one["OCC_HOT void occ_f_f32(float *y)"], other["OCC_HOT void occ_f_i16(int16_t *y)"])
        self.assertNotIn(one["if (wide)"], other.values())

    def test_equal_lines_of_a_function_are_two(self):
        places = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.c")
            with open(path, "w") as file:
                file.write("void occ_f(void)\n{\n    if (n)\n    if (n)\n}\n")
            places = [place[1] for place in kernel_cover.functions(path) if place and "if" in place[2]]
        self.assertEqual(len(set(places)), 2)

    def test_a_line_that_no_template_has_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "f.c"), "w") as file:
                file.write("    if (occ_same_TPL_N(x, (TPL_T)1))\n")
            lines = kernel_cover.lines_of(folder)
        for text, there in (("if (occ_same_f32(x, (float)1))", True), ("if (occ_same_i64(x, (int64_t)1))", True), ("if (occ_same_f32(x, 0))", False)):
            self.assertEqual(kernel_cover.is_there(f"occ_f:{kernel_cover.identity(text, {})}:0", lines), there)


class Unreached(unittest.TestCase):
    """The table of branches that no model takes names lines of the templates, and counts what a model took."""

    def test_every_row_names_a_line(self):
        known = {}
        for place in glob.glob(os.path.join(HERE, "..", "..", "codegen_templates", "c", "**", "*.[ch]"), recursive=True):
            for found in filter(None, kernel_cover.functions(place)):
                known.setdefault(found[0], []).append(found[2])
        for _, rows in unreached.ROWS:
            for name, part in rows:
                self.assertTrue(any(part in text for text in known.get("occ_" + name, [])), f"{name}: {part}")

    def test_what_is_taken_counts(self):
        key = "occ_expr_start:1.1:"
        counted, apart = answers_page.split_branches({key + "0": 3, key + "1": 0}, {key[:-1]: "return e ? *e : none;"})
        self.assertEqual(list(counted), [key + "0"])
        self.assertEqual([k for keys in apart.values() for k in keys], [key + "1"])


class Tuned(unittest.TestCase):
    def test_a_convolution_is_named_as_occamyc_does(self):
        node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 0, 1, 2], strides=[2, 1], group=2)
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, (1, 4, 9, 8))], [helper.make_tensor_value_info("y", 1, None)],
                                  [numpy_helper.from_array(np.zeros((6, 2, 3, 3), np.float32), "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.tuned")
            self.assertTrue(tuned.write(path, model, "direct 4 0"))
            with open(path) as file:
                self.assertEqual(file.read(), "conv_f32 batch=1 groups=2 inputs=2 outputs=3 in=1,9,8 out=1,5,8 kernel=1,3,3 stride=1,2,1 dilation=1,1,1 "
                                              "pad=0,1,0 : direct 4 0\n")
            self.assertEqual(tuned.keep(["--threads=2", "--tuned=" + path], folder), ["--threads=2", "--tuned=" + os.path.join(folder, "ways.tuned")])


class ExactSums(unittest.TestCase):
    """255 * 127 twice does not fit 16 bits, in which ONNX Runtime adds on some processors."""

    X, W = np.full((4, 64), 255, np.uint8), np.full((64, 8), 127, np.int8)
    SCALES = {"one": np.float32(1), "scale": np.float32(2.0 ** 14), "x_zero": np.uint8(0), "w_zero": np.int8(-1)}

    def model(self, operator, inputs, fed, **attributes):
        domain = "com.microsoft" if operator == "MatMulIntegerToFloat" else ""
        values = dict(self.SCALES, x=self.X, w=self.W, x4=self.X.reshape(4, 64, 1, 1), w4=self.W.T.reshape(8, 64, 1, 1))
        graph = helper.make_graph([helper.make_node(operator, inputs, ["y"], domain=domain, **attributes)], "g", [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(values[n].dtype), values[n].shape) for n in fed],
            [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(values[n], n) for n in sorted(set(inputs) - {*fed, ""})])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        return oracle.answers(made, [[values[n] for n in fed]])[0][0]

    def test_every_product_is_exact(self):
        cases = [("MatMulInteger", ["x", "w", "", ""], 127), ("MatMulInteger", ["x", "w", "x_zero", "w_zero"], 128),
                 ("ConvInteger", ["x4", "w4"], 127), ("MatMulIntegerToFloat", ["x", "w", "one", "one", "x_zero"], 127)]
        for operator, inputs, weight in cases:
            for fed in (inputs[:1], inputs[:2]):
                with self.subTest(operator=operator, inputs=inputs, fed=fed):
                    self.assertEqual({float(v) for v in np.ravel(self.model(operator, inputs, fed))}, {255.0 * weight * 64})

    def test_quantised_results_are_exact(self):
        for operator, x, w in (("QLinearMatMul", "x", "w"), ("QLinearConv", "x4", "w4")):
            with self.subTest(operator=operator):
                y = self.model(operator, [x, "one", "x_zero", w, "one", "w_zero", "scale", "x_zero"], [x])
                self.assertEqual({int(v) for v in np.ravel(y)}, {round(255 * 128 * 64 / 2 ** 14)})

    def test_an_activation_of_no_inferred_type_is_unsigned_as_its_zero_point(self):
        """onnx infers no type behind a node of com.microsoft."""
        made = helper.make_model(helper.make_graph(
            [helper.make_node("QLinearConcat", ["one", "x_zero", "x4", "one", "x_zero"], ["joined"], domain="com.microsoft", axis=1),
             helper.make_node("QLinearConv", ["joined", "one", "x_zero", "w4", "one", "w_zero", "scale", "x_zero"], ["y"])],
            "g", [helper.make_tensor_value_info("x4", TensorProto.UINT8, [4, 64, 1, 1])], [helper.make_empty_tensor_value_info("y")],
            [numpy_helper.from_array(v, n) for n, v in dict(self.SCALES, w4=self.W.T.reshape(8, 64, 1, 1)).items()]),
            opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        y = oracle.answers(made, [[self.X.reshape(4, 64, 1, 1)]])[0][0]
        self.assertEqual({int(v) for v in np.ravel(y)}, {round(255 * 128 * 64 / 2 ** 14)})


class Variants(unittest.TestCase):
    def test_equal_bits_are_asked_only_where_they_are_promised(self):
        """docs/differences.md: strips, shared code and budgets may change Winograd's transform, or give it up."""
        kinds = set()
        for seed in range(3000):
            drawn = draw.Draw(seed)
            first, *others = variants.draw_variants(drawn, variants.Build("gcc -O1", ""))
            winograd = next((o for o in first.options if o.startswith("--winograd")), "")
            self.assertTrue(winograd == "--winograd=off" or "--cascade=off" in first.options)
            for other in (o for o in others if o.equal):
                own = other.options[len(first.options):]
                self.assertEqual(other.options[:len(first.options)], first.options)
                kinds |= {(winograd, o.partition("=")[0]) for o in own}
                self.assertFalse(winograd != "--winograd=off" and any(o.startswith("--cascade") for o in own), own)
                self.assertFalse(not winograd and ("--code=shared" in own or "--weights=swap" in own), own)
        self.assertTrue({("", "--threads"), ("--winograd=on", "--code"), ("--winograd=off", "--cascade")} <= kinds)


if __name__ == "__main__":
    unittest.main()
