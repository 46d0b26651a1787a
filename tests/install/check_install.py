"""What `make install` put there works, and is documented: check_install.py PREFIX README.

Each program answers --help, the manual page says every option that --help lists and no other, in clean roff (where groff is
there), and README's table of options names the same ones.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

PREFIX, README = sys.argv[1:3]
FILES = ("bin/occamyc bin/occamplan share/man/man1/occamyc.1 share/man/man1/occamplan.1 share/doc/occamyc/README.md "
         "share/doc/occamyc/CHANGELOG.md share/doc/occamyc/LICENSE share/doc/occamyc/NOTICE share/occamyc/pool.h "
         "share/occamyc/report.schema.json")


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def helped(program):
    text = subprocess.run([os.path.join(PREFIX, "bin", program), "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (-[-\w]+)", text, re.M)


def in_manual(program):
    page = read(PREFIX, "share/man/man1", program + ".1")
    return re.findall(r"^\.TP\n\.B (-[-\w]+)", page.replace("\\-", "-"), re.M)


class Installed(unittest.TestCase):
    def test_nothing_is_missing_and_nothing_else_is_there(self):
        found = [os.path.relpath(os.path.join(folder, name), PREFIX) for folder, _, names in os.walk(PREFIX) for name in names]
        self.assertEqual(sorted(found), sorted(FILES.split()))

    def test_the_manual_has_the_options_of_the_help(self):
        for program in ("occamyc", "occamplan"):
            self.assertGreater(len(helped(program)), 5)
            self.assertEqual(in_manual(program), helped(program))

    def test_the_readme_has_the_options_of_the_help(self):
        table = re.search(r"^## Options\n(.*?)^## ", read(README), re.M | re.S)[1]
        cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `-")]
        named = [option for cell in cells for option in re.findall(r"`(-[-\w]+)", cell)]
        self.assertEqual(sorted(named), sorted(helped("occamyc")))

    @unittest.skipUnless(shutil.which("groff"), "SKIPPED: groff is not there")
    def test_the_manual_is_clean_roff(self):
        for program in ("occamyc", "occamplan"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", os.path.join(PREFIX, "share/man/man1", program + ".1")],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(program, done.stdout)


unittest.main(argv=sys.argv[:1])
