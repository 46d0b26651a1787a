"""What tests of the command line share: a folder of small models, and runs of occamyc in it. The tests' own arguments: OCCAMYC [CC]"""
import os
import subprocess
import sys
import tempfile
import unittest

import models

OCCAMYC = os.path.abspath(sys.argv[1])
CC = sys.argv[2] if len(sys.argv) > 2 else "cc"


class Outside(unittest.TestCase):
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
