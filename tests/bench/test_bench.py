"""Tests of the benchmark's own parts: test_bench.py OCCAMYC CC MODEL.onnx FOLDER. Nothing here depends on how long anything takes."""

import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import numpy as np
import onnx

import counts
import engines
import extent_cases
import extents
import kernels
import memory
import memory_steps
import programs
import report
import speedup
import wide

OCCAMYC, CC, MODEL, FOLDER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = programs.Network(MODEL, FOLDER, Path(OCCAMYC).resolve())

    def start(self, **options):
        program = self.network.build(CC, "-O1", **options)
        running = programs.Running([program, programs.SETS, *self.network.inputs()], "0")
        self.addCleanup(running.end)
        return running

    def test_runs_as_often_as_told(self):
        running = self.start()
        running.run(3)
        self.assertEqual((len(running.times), len(running.busy)), (3, 3))
        self.assertGreater(running.first, running.started)
        self.assertGreater(min(running.times), 0.0)

    def test_every_step_is_timed_and_described(self):
        running = self.start(steps=programs.BUSY)
        running.run(1)
        text = self.network.source.read_text()
        steps, (times, calls) = kernels.STEP.findall(text), running.steps()
        self.assertGreater(len(steps), 2)
        self.assertTrue(all(times[int(step)] > 0 and calls[int(step)] == 1 for step, _, _ in steps))
        bodies = dict(kernels.FUNCTION.findall(text))
        self.assertTrue(all(function in bodies for _, function, _ in steps))
        self.assertGreater(sum(kernels.multiplications(bodies[function])[1] for _, function, _ in steps), 10000)

    def test_steps_are_timed_with_one_thread_and_with_two(self):
        args = types.SimpleNamespace(cc=CC, flags="-O1", folder=Path(FOLDER).resolve() / "speedup", occamyc=Path(OCCAMYC).resolve(), cpus="0",
                                     options="", seconds=0.0)
        args.folder.mkdir(parents=True, exist_ok=True)
        least = speedup.least_steps(args, Path(MODEL))
        for network, times in least:
            self.assertTrue(all(times[step] > 0 for step in speedup.describe(network)))
        self.assertEqual(*(speedup.describe(network) for network, _ in least))
        one, two = speedup.pace(speedup.build_pace(args), "0", 2)
        self.assertGreater(min(one, two), 0)


class Counts(unittest.TestCase):
    @unittest.skipUnless(shutil.which("valgrind"), "SKIPPED: valgrind is not installed (make bench-counts does that)")
    def test_instructions_are_those_of_one_run_and_the_same_again(self):
        args = types.SimpleNamespace(cc=CC + " -O1", folder=Path(FOLDER) / "counts", occamyc=Path(OCCAMYC).resolve())
        name, once = counts.count(args, Path(MODEL))
        self.assertEqual(name, Path(MODEL).stem)
        self.assertEqual(counts.count(args, Path(MODEL)), (name, once))
        self.assertGreater(once, 10000)  # as many products are there at least

    def test_the_page_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "counts.md"
            self.assertEqual(counts.read_page(page), {})
            page.write_text(counts.HEAD.format(cc="cc", version="1") + "| digits | 18,378 |\n")
            self.assertEqual(counts.read_page(page), {"digits": 18378})

    def test_extents_that_are_known_only_while_running_are_no_fixed_ones(self):
        self.assertTrue(counts.is_fixed(Path(MODEL)))
        self.assertFalse(counts.is_fixed(Path(MODEL).with_name("reverse.onnx")))


class Extents(unittest.TestCase):
    def test_bounded_programs_stand_beside_those_with_constants(self):
        case = extent_cases.CASES["gru"]
        for threads in (1, 2):
            args = types.SimpleNamespace(cc=CC, folder=FOLDER, occamyc=OCCAMYC, rounds=1, seconds=0.01, threads=threads,
                                         cpus=",".join(map(str, sorted(os.sched_getaffinity(0))[-threads:])))
            times, constant, bounded = extents.measure(args, "gru", case, case.model(None))
            self.assertEqual(len(times), 4)
            self.assertTrue(np.isfinite(times).all())       # differences of times, whose sign a busy machine decides
            self.assertLess(constant.arena, bounded.arena)  # which has the integers besides

    def test_every_word_has_bounds(self):
        for name, case in extent_cases.CASES.items():
            model = case.model(Path("absent"))
            self.assertEqual(model is None, name in ("yolox_nano", "silero_vad", "gtcrn_simple"))
            words = {d.dim_param for value in (model.graph.input if model else ()) for d in value.type.tensor_type.shape.dim} - {""}
            self.assertEqual(words, set(case.bounds if model else ()))


class Memory(unittest.TestCase):
    def test_ways_to_save_memory_are_added_one_by_one(self):
        args = types.SimpleNamespace(occamyc=OCCAMYC, folder=Path(FOLDER))
        sizes = memory_steps.arenas(args, MODEL, ["--io=arena"])
        self.assertEqual(len(sizes), 7)
        self.assertLess(sizes[-1], sizes[0])
        self.assertEqual(sizes[-1], memory.compile_it(args, MODEL, "--io=arena")[0]["memory"]["arena"])

    def test_gains_are_told_beside_what_is_needed(self):
        self.assertEqual(memory_steps.gains([3 << 20, 3 << 20, 2 << 20, 5 << 19]), ["3.00", "3.00", "2.00 (-1.00)", "2.50 (+0.50)"])


class Multiplications(unittest.TestCase):
    X = "    static const occ_image x_at = {{1, 6, 1, 8, 9}, {0, 1, 0, 54, 6}};\n"
    Y = "    static const occ_image y_at = {{1, 32, 1, 4, 5}, {0, 1, 0, 160, 32}};\n"
    WINDOW = "    static const occ_window window = {{1, 3, 5}, {1, 2, 2}, {1, 1, 1}, {0, 1, 2}};\n"

    def test_convolution_counts_taps_inputs_and_results(self):
        body = self.X + self.Y + self.WINDOW + "    occ_conv_f32(x, &x_at, w, bias, y, &y_at, &window, 2, tile, &expr, &fused);\n"
        self.assertEqual(kernels.multiplications(body), ("conv_f32", 15 * 3 * 32 * 20))

    def test_a_convolution_that_computes_its_input_counts_its_pixels(self):
        body = ("    static const occ_image y_at = {{14, 128, 1, 1, 224}, {28672, 1, 0, 0, 128}};\n"
                "    static const occ_image block_at = {{1, 96, 1, 1, 224}, {0, 1, 0, 0, 96}};\n"
                "    occ_conv_after_f32(w, bias, y, &y_at, block, &block_at, 1, &expr, &fused);\n")
        self.assertEqual(kernels.multiplications(body), ("conv_after_f32", 3136 * 96 * 128))

    def test_a_convolution_is_told_to_onednn_as_it_is(self):
        body = self.X + self.Y + self.WINDOW
        self.assertEqual(kernels.layer_of(body + "    occ_conv_f32(x, &x_at, w, bias, y, &y_at, &window, 2, tile, &expr, &fused);\n"),
                         [2, 3, 16, 8, 9, 4, 5, 3, 5, 2, 2, 1, 1, 1, 2])
        self.assertEqual(kernels.layer_of(body + "    occ_depthwise_f32(x, &x_at, w, bias, y, &y_at, &window, 6, &expr, &fused);\n")[:2],
                         [6, 1])
        self.assertIsNone(kernels.layer_of(body + "    occ_conv_after_f32(w, bias, y, &y_at, block, &block_at, 1, &expr, &fused);\n"))

    def test_predictions_are_scaled_to_the_measured_peak(self):
        with tempfile.TemporaryDirectory() as folder:
            network = types.SimpleNamespace(folder=Path(folder))
            (network.folder / "report.json").write_text('{"core": {"mflops": 200000}, "steps": [{"predicted_ns": 3000}, {"predicted_ns": 0}]}')
            self.assertEqual(kernels.predictions(network, 100.0), [6.0, 0.0])
        self.assertEqual(kernels.ratio_text([(2.0, 1.0), (8.0, 4.0), (0.0, 1.0)]), "predicted / measured 2.00, within 1.00")

    def test_sums_of_bytes_count_as_well(self):
        form = "    static const occ_q_form form = {{{1, 3, 5}, {1, 2, 2}, {1, 1, 1}, {0, 1, 2}}, 2, 7, 0, 0, 0, 0, 0};\n"
        call = "    occ_conv_q_u8_i8(x, &x_at, w, bias, NULL, NULL, y, &y_at, NULL, &form, &expr, &fused);\n"
        self.assertEqual(kernels.multiplications(self.X + self.Y + form + call), ("conv_q_u8_i8", 15 * 3 * 32 * 20))


class Wide(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = programs.Network(MODEL, Path(FOLDER) / "wide", Path(OCCAMYC).resolve())

    def test_results_are_compared_with_onnx_runtime(self):
        self.assertLess(wide.distance(self.network, CC), wide.LARGEST)

    def test_another_network_with_the_same_extents_is_told_apart(self):
        model = onnx.load(MODEL)
        for tensor in model.graph.initializer:
            values = onnx.numpy_helper.to_array(tensor)
            if values.dtype == np.float32:
                tensor.CopyFrom(onnx.numpy_helper.from_array(values * np.float32(1.5), tensor.name))
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / Path(MODEL).name
            onnx.save(model, other)
            spoilt = types.SimpleNamespace(model=other, folder=self.network.folder, inputs=self.network.inputs)
            self.assertGreater(wide.distance(spoilt, CC), wide.LARGEST)

    def test_missing_results_and_no_numbers_are_infinitely_far(self):
        one = np.ones(3, np.float32)
        self.assertEqual(wide.apart(one, one), 0.0)
        self.assertEqual(wide.apart(one * 2, one), 1.0)
        self.assertAlmostEqual(wide.apart(np.array([2.0, 1.0, 1.0]), one, mean=True), 1.0 / 3.0)
        self.assertEqual(wide.apart(one[:2], one), float("inf"))
        self.assertEqual(wide.apart(one * np.float32("nan"), one), float("inf"))

    def test_the_longest_steps_come_first(self):
        steps = wide.longest_steps(self.network, CC, "-O1", "0", 10.0)
        self.assertGreater(len(steps), 1)
        shares = [share for _, share, _ in steps]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertTrue(0.0 < shares[0] <= 1.0 and steps[0][0])

    def test_trained_networks_get_the_extents_of_the_list(self):
        model = onnx.load(MODEL)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "count"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("listed", "unlisted"):
                (Path(folder) / name).mkdir()
                onnx.save(model, Path(folder) / name / "model.onnx")
            (Path(folder) / "dims.txt").write_text("# extents\nlisted: count=1\n")
            wide.fix_extents(Path(folder), Path(folder))
            self.assertEqual([p.name for p in Path(folder).glob("real_*.onnx")], ["real_listed.onnx"])
            made = onnx.load(Path(folder) / "real_listed.onnx")
            self.assertEqual(made.graph.input[0].type.tensor_type.shape.dim[0].dim_value, 1)

    def test_the_page_names_the_steps_of_who_loses(self):
        result = {e: dict(f) for e, f in Page.RESULT.items()}
        result["ours"].update(busy=5.0, distance=1e-6, steps=[["Conv of \"x\"", 0.75, 0.5]])
        report.versions = lambda: "none"
        text = wide.page({"1": {"net": result}}, 3, "-O2")
        self.assertIn("| net | 5.00 | 4.00 | 8.00 | 1.25 | 1e-06 |", text)
        self.assertIn("| net | Conv of \"x\" | 75 % | 50 % |", text)

    def test_two_threads_are_timed_by_the_wall(self):
        result = {e: dict(f) for e, f in Page.RESULT.items()}
        result["ours"].update(busy=5.0, distance=1e-6)
        report.versions = lambda: "none"
        self.assertIn("| net | 1.00 | 4.00 | 2.00 | 0.50 | 1e-06 |", wide.page({"2": {"net": result}}, 3, "-O2"))


class Engines(unittest.TestCase):
    LINES = ["conv_krsc_f32 a : cudnn engine=1 knobs=2:3 workspace=300 notes=- epilogue=library    "
             "# steps=2 offered=4 allowed=1 tensor_core=2 winograd=1 first=300 gap=200 hole=100 growth=100",
             "conv_krsc_f32 b : cudnn engine=2 knobs=- workspace=50 notes=- epilogue=own    # steps=1 offered=3 allowed=2 reduced=1 first=900 gap=80 hole=60 growth=0",
             "conv_krsc_f32 c : own    # steps=1 offered=1 compiled=1 gap=10 hole=0 growth=0",
             "conv_krsc_f32 d : own    # steps=3 three spatial axes", "matmul_f32 e : own    # steps=5 cuBLASLt"]

    def test_layers_are_counted_by_steps(self):
        self.assertEqual(engines.summary(self.LINES, 2000),
                         {"layers": 7, "refused": 3, "others": 2, "whole": 2, "sum": 1, "own": 4, "asked": 900, "fits": 0, "taken": 300, "same": 5,
                          "unmoved": 5, "growth": 5.0})
        self.assertEqual(engines.summary([self.LINES[1].replace("first=900", "first=80")], 10)["fits"], 1)


class Page(unittest.TestCase):
    RESULT = {"ours": {"median": 2.0, "least": 1.0, "busy": 2.0}, "onnxruntime": {"median": 4.0, "least": 4.0, "busy": 4.0},
              "openvino": {"median": 8.0, "least": 2.0, "busy": 8.0}}

    def test_ratio_is_to_the_better_library(self):
        self.assertEqual(report.ratios(self.RESULT), (0.5, 0.5, 0.5))

    def test_mean_is_geometric(self):
        other = {e: dict(f) for e, f in self.RESULT.items()}
        other["ours"]["median"] = 8.0
        self.assertAlmostEqual(report.means([self.RESULT, other])[0], 1.0)

    def test_page_and_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            report.versions = lambda: "none"
            report.write(Path(folder) / "page.md", {"1": {"net": self.RESULT}}, ["net"], [], "-O2")
            self.assertIn("| net | 2.00 (1.00) | 4.00 (4.00) | 8.00 (2.00) | 0.50 |", (Path(folder) / "page.md").read_text())
            self.assertIn("0.50", (Path(folder) / "page.svg").read_text())
            report.write(Path(folder) / "page.md", {"1": {"other": self.RESULT}}, ["other"], [], "-O2")
            self.assertIn("| net | 2.00", (Path(folder) / "page.md").read_text())
            self.assertIn(">net<", (Path(folder) / "page.svg").read_text())

    def test_a_skipped_model_keeps_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "size.md"
            page.write_text("| absent | 1 |\n")
            done = subprocess.run([sys.executable, Path(__file__).parent / "size.py", "--occamyc=none", "--cc=gcc", f"--folder={folder}",
                                   f"--document={page}", f"{folder}/absent.onnx"], stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("stays as it is: absent not measured", done.stdout)
            self.assertEqual(page.read_text(), "| absent | 1 |\n")

    def test_processor_time_is_told_of_one_thread_alone(self):
        one, two = ("\n".join(report.time_table({"net": self.RESULT}, ["net"], alone)) for alone in (True, False))
        self.assertIn("| by minima | by least processor time |", one)
        self.assertIn("| net | 2.00 (1.00) | 4.00 (4.00) | 8.00 (2.00) | 0.50 | 0.50 |\n", two)
        self.assertNotIn("processor time", two)

    def test_who_was_measured_has_a_column(self):
        plain = {"ours": self.RESULT["ours"], "emx": {"median": 40.0, "least": 50.0, "busy": 20.0}}
        native = {"median": 1.0, "least": 1.0, "busy": 1.6}
        with tempfile.TemporaryDirectory() as folder:
            report.versions = lambda: "none"
            report.write(Path(folder) / "page.md", {"1": {"net": {**self.RESULT, "native": native}}, "plain": {"net": plain}}, ["net"], [], "-O2")
            page = (Path(folder) / "page.md").read_text()
            self.assertIn("| network | ours, ms | emx-onnx-cgen | ours / best |", page)
            self.assertIn("| net | 2.00 (1.00) | 40.00 (50.00) | 0.05 | 0.02 | 0.10 |", page)
            self.assertIn("| net | 2.00 (1.00) | 1.00 (1.00) | 2.00 | 1.25 |", page)

    def test_a_second_thread_gains_what_the_steps_say(self):
        with tempfile.TemporaryDirectory() as folder:
            report.versions = lambda: "none"
            results = {"1": {"net": self.RESULT}, "2": {"net": {**self.RESULT, "openvino": {"median": 3.0, "least": 1.25, "busy": 4.0}}},
                       "speedup": {"net": {"one": 9.0, "two": 5.0, "pace": [100, 101]}}}
            report.write(Path(folder) / "page.md", results, ["net"], [], "-O2")
            self.assertIn("| net | 9.00 | 5.00 | 1.80 | 1.98 | 1.00 | 1.00 | 1.60 |", (Path(folder) / "page.md").read_text())

    def test_quantised_networks_have_tables_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            report.versions = lambda: "none"
            ours = {**self.RESULT["ours"], "distance": (4000, 12, 3)}
            report.write(Path(folder) / "page.md", {"2": {"net": {**self.RESULT, "ours": ours}}}, [], ["net"], "-O2")
            self.assertIn("| net | 12 of 4000, 3 | - | - |", (Path(folder) / "page.md").read_text())


unittest.main()
