"""Tests of check_device.py, with the emulation in the device's place: test_check_device.py OCCAMYC ARCHIVE CASES."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import cases
import check_device
import tensors

HERE = os.path.dirname(os.path.abspath(__file__))
OCCAMYC, ARCHIVE, CASES = sys.argv[1:4]
DIGITS = os.path.join(HERE, "..", "..", "models", "digits.onnx")


def tensor(*values, kind=np.float32):
    return tensors.from_numpy(np.array(values, kind))


def bits(word):
    return tensors.Tensor(tensors.from_numpy(np.zeros(1, np.float32)).dtype, (1,), np.array([word], np.uint32).tobytes())


def check(*arguments, stand_in=True):
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([sys.executable, os.path.join(HERE, "check_device.py"), f"--occamyc={OCCAMYC}", f"--emulation={ARCHIVE}",
                               f"--work={work}", "--repeat=2", *(["--stand-in"] if stand_in else []), *arguments], capture_output=True, text=True)
        made = {}
        for name in ("device.md", "profile.txt"):
            if os.path.exists(os.path.join(work, name)):
                with open(os.path.join(work, name)) as file:
                    made[name] = file.read()
        return done, made


def case(name):
    return os.path.join(CASES, name)


class Bits(unittest.TestCase):
    def test_equal_values(self):
        for value in (tensor(1.0, -0.0, np.inf), tensor(3, 4, kind=np.int64), [tensor(1.0), tensor(2.0)], {1: tensor(1.0)}, None):
            self.assertIsNone(check_device.other_bits(value, value))

    def test_every_nan_is_one(self):
        self.assertIsNone(check_device.other_bits(bits(0x7fc00000), bits(0xffc00123)))
        self.assertIsNotNone(check_device.other_bits(bits(0x7fc00000), tensor(1.0)))

    def test_the_last_bit_and_the_sign_of_zero_count(self):
        self.assertIn("1 of 2 have other bits; first at 1", check_device.other_bits(tensor(1.0, 2.0), tensor(1.0, np.nextafter(np.float32(2), np.float32(3)))))
        self.assertIsNotNone(check_device.other_bits(tensor(0.0), tensor(-0.0)))

    def test_other_types_shapes_and_members(self):
        for want, got in ((tensor(1.0), tensor(1.0, kind=np.float64)), (tensor(1.0), tensor(1.0, 1.0)), ([tensor(1.0)], []),
                          ({1: tensor(1.0)}, {2: tensor(1.0)}), (tensor(1.0), None)):
            self.assertIsNotNone(check_device.other_bits(want, got))

    def test_functions_that_round_otherwise(self):
        found = check_device.rounds_otherwise("/* log2(x) */ y = occ_exp_f32(x) + sinf(x); // tan(x)\n z = pow(x, 2.0) * occ_tanf(x);")
        self.assertEqual(found, "pow, sinf")


class Shares(unittest.TestCase):
    def test_kernels_of_a_profile(self):
        found = check_device.Found("net", kernels=check_device.kernel_times(
            "occamyc profile 1\nstep 3000 2 pool_f32 MaxPool 1x1\nstep 9000 1 conv_krsc_f32 Conv 1x8\nstep 1000 1 pool_f32 MaxPool 2x2\nload 5 1 64\n"))
        self.assertEqual(list(check_device.shares(found)), [("conv_krsc_f32", 0.5625, 9000, 1), ("pool_f32", 0.4375, 7000, 3)])


class Runs(unittest.TestCase):
    def test_good_days(self):
        done, made = check(case("test_gather_0"), case("test_add_bcast"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 programs built, 2 run, 0 exempt from bits\n3 passed, 0 failed, 0 skipped", done.stdout)
        self.assertIn("2 have the emulation's bits", made["device.md"])
        self.assertIn("THE EMULATION", made["device.md"])
        for line in (r"ceiling sums [\d.]+ GFLOP/s", r"ceiling launch_in_graph [\d.e+]+ us", r"run test_gather_0 graph \d+", r"run test_add_bcast steps \d+"):
            self.assertRegex(made["profile.txt"], re.compile(f"^{line}$", re.M))

    def test_a_network_is_profiled(self):
        """By the virtual clock of the fake runtime, on which every kernel takes 3 us and a copy 8 and its bytes."""
        model = onnx.load(DIGITS)
        image = np.random.default_rng(1).random((1, 1, 8, 8), np.float32)
        scores = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: image})
        with tempfile.TemporaryDirectory() as folder:
            cases.write_case(os.path.join(folder, "digits"), model, [([tensors.from_numpy(image)], [tensors.from_numpy(x) for x in scores])], "digits", "own")
            done, made = check(os.path.join(folder, "digits"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^digits: conv_krsc_f32 26\.5%, copy_to_device 23\.6%, copy_from_device 23\.5%, pool_f32 17\.6%, copy_f32 8\.8%$")
        for line in ("kernel digits conv_krsc_f32 9000 3", "kernel digits pool_f32 6000 2", "kernel digits copy_to_device 8016 1"):
            self.assertIn(f"\n{line}\n", made["profile.txt"])
        self.assertIn("| digits | pool_f32 | 17.6% | 6.0 | 2 |", made["device.md"])

    def test_one_bit_is_found(self):
        done, _ = check(f"--runner={sys.executable} {os.path.join(HERE, 'flip_bit.py')}", case("test_add_bcast"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("have other bits; first at 0", done.stdout)
        self.assertIn("1 passed, 1 failed, 0 skipped", done.stdout)

    def test_a_refusal_is_a_failure(self):
        done, _ = check("--flag=--device-memory=1", case("test_gather_0"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("test_gather_0: invalid: exit 4", done.stdout)

    def test_without_nvcc_everything_is_skipped(self):
        done, made = check("--nvcc=/none/nvcc", case("test_gather_0"), case("test_add_bcast"), stand_in=False)
        self.assertEqual((done.returncode, made), (0, {}))
        self.assertIn("0 passed, 0 failed, 5 skipped", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
