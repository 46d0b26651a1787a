"""Runs the goals that it is given, three at a time, and adds up what they say they passed, failed and skipped.

A goal's lines 'N passed, N failed[, N skipped]', CMocka's '[  PASSED  ] N test(s).' and unittest's 'Ran N tests' count; a goal that fails without such a
line counts as one failure. Each goal's output stays in a file; two goals must not make the same file. The last line is
the sum."""
import concurrent.futures
import os
import re
import subprocess
import sys
import time
from pathlib import Path

AT_ONCE = 3                                             # a goal uses one processor most of its time; on two, one fills the gaps of the others
JOBS = max(1, (os.cpu_count() or 1) // AT_ONCE)         # of each goal
PLAIN = re.compile(r"^(?:\S+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_FAILED = re.compile(r"^FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?", re.M)
CMOCKA_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] \S+: (\d+) test|^\s*(\d+) FAILED TEST", re.M)
CMOCKA_SKIPPED = re.compile(r"^\[  SKIPPED \] \S+: (\d+) test", re.M)


def count(text, status):
    passed = failed = skipped = 0
    for match in PLAIN.finditer(text):
        passed += int(match[1])
        failed += int(match[2])
        skipped += int(match[3] or 0)
    wrong = sum(int(match[1] or 0) + int(match[2] or 0) for match in UNITTEST_FAILED.finditer(text))
    passed += sum(int(match[1]) for match in UNITTEST.finditer(text)) - wrong
    failed += wrong
    passed += sum(int(match[1]) for match in CMOCKA_PASSED.finditer(text))
    failed += sum(int(match[2] or 0) for match in CMOCKA_FAILED.finditer(text))
    skipped += sum(int(match[1]) for match in CMOCKA_SKIPPED.finditer(text))
    if status != 0 and failed == 0:
        failed = 1
    return passed, failed, skipped


def run(goal, logs):
    """One goal and its lines for the reader: its sum, what it skipped, the end of what failed."""
    start = time.time()
    with subprocess.Popen(["make", "--no-print-directory", f"JOBS={JOBS}", *goal.split("+")], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as make:
        text = make.stdout.read()
        _, status, used = os.wait4(make.pid, 0)
        make.returncode = os.waitstatus_to_exitcode(status)
    name = goal.split("+")[0]
    (logs / f"{name}.log").write_text(text)
    result = count(text, make.returncode)
    lines = [f"{name:<18} {result[0]:6} passed {result[1]:4} failed {result[2]:4} skipped {time.time() - start:7.0f} s, "
             f"{used.ru_utime + used.ru_stime:.0f} s of processors"]
    printed = text.splitlines()
    if result[2]:
        lines += ["    " + line[:160] for line in printed if "skip" in line.lower()]
    if result[1]:
        lines += ["    " + line[:200] for line in printed[-25:]]
    print("\n".join(lines), flush=True)
    return result


def main():
    logs = Path(sys.argv[1])
    logs.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda goal: run(goal, logs), sys.argv[2:]))
    passed, failed, skipped = (sum(result[i] for result in results) for i in range(3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
