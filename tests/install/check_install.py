"""What `make install` put there works, and is documented: check_install.py PREFIX DOCS RUNTIME CC.

Each program answers --help, the manual page says every option that --help lists and no other, in clean roff (where groff is
there), and the table of docs/options.md names the same ones. The pages are there, and each link among them leads to one. The program on the library's page builds with the installed header and
library, without a warning, and prints what the page says; nothing else of the library can be linked to.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PREFIX, DOCS, RUNTIME, CC = sys.argv[1:5]
FILES = ("bin/occamyc bin/occamplan share/man/man1/occamyc.1 share/man/man1/occamplan.1 share/doc/occamyc/README.md "
         "share/doc/occamyc/CHANGELOG.md share/doc/occamyc/CONTRIBUTING.md share/doc/occamyc/LICENSE share/doc/occamyc/NOTICE "
         "share/occamyc/report.schema.json lib/liboccamplan.a include/occamplan/planner.h include/occamplan/order.h")


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
        pages = ["share/doc/occamyc/docs/" + name for name in os.listdir(DOCS) if name.endswith(".md")]
        pages += ["share/occamyc/" + name for name in os.listdir(RUNTIME) if name.endswith(".h")]   # the emulation is in the program
        self.assertEqual(sorted(found), sorted(FILES.split() + pages))

    def test_links_among_pages_lead_to_pages(self):
        root = os.path.join(PREFIX, "share/doc/occamyc")
        pages = [os.path.join(root, "README.md"), *(os.path.join(root, "docs", n) for n in os.listdir(os.path.join(root, "docs")))]
        for page in pages:
            for target in re.findall(r"\]\(([\w./-]+\.md)\)", read(page)):
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), target)), f"{page} names {target}")

    def test_the_manual_has_the_options_of_the_help(self):
        for program in ("occamyc", "occamplan"):
            self.assertGreater(len(helped(program)), 5)
            self.assertEqual(in_manual(program), helped(program))

    def test_the_page_has_the_options_of_the_help(self):
        table = read(DOCS, "options.md")
        cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `-")]
        named = [option for cell in cells for option in re.findall(r"`(-[-\w]+)", cell)]
        self.assertEqual(sorted(named), sorted(helped("occamyc")))

    def test_the_program_of_the_librarys_page_prints_what_it_says(self):
        page = read(DOCS, "library.md")
        program, said = re.search(r"```c\n(.*?)```", page, re.S)[1], re.search(r"```text\n(.*?)```", page, re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "place.c"), "w") as file:
                file.write(program)
            subprocess.run([*CC.split(), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I" + os.path.join(PREFIX, "include"),
                            os.path.join(folder, "place.c"), "-L" + os.path.join(PREFIX, "lib"), "-loccamplan", "-o",
                            os.path.join(folder, "place")], check=True)
            done = subprocess.run([os.path.join(folder, "place")], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, said)

    def test_the_library_shows_its_interface_alone(self):
        listed = subprocess.run(["nm", "-g", "--defined-only", os.path.join(PREFIX, "lib/liboccamplan.a")], capture_output=True, text=True)
        names = re.findall(r"(?m)^[0-9a-f]+ [A-Z] (\w+)$", listed.stdout)
        self.assertIn("plan_place", names)
        self.assertEqual([n for n in names if not n.startswith("plan_") and n not in ("order_best", "order_peak")], [])

    @unittest.skipUnless(shutil.which("groff"), "SKIPPED: groff is not there")
    def test_the_manual_is_clean_roff(self):
        for program in ("occamyc", "occamplan"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", os.path.join(PREFIX, "share/man/man1", program + ".1")],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(program, done.stdout)


unittest.main(argv=sys.argv[:1])
