"""The least peaks of small problems, found by occamplan and by the integer programming solver HiGHS: check_milp.py OCCAMPLAN

Buffers with lifetimes and sizes; for each pair that lives at the same time one binary says which lies below. Every problem
must come out proven, and with the same peak. Without scipy, which brings HiGHS, all are skipped, loudly."""

import random
import re
import subprocess
import sys
import tempfile

PROBLEMS, BUFFERS, STEPS, LARGEST = 24, 9, 8, 12


def sample(generator):
    """Buffers (begin, end, size)."""
    buffers = []
    for _ in range(BUFFERS):
        begin = generator.randrange(STEPS - 1)
        buffers.append((begin, generator.randrange(begin + 1, STEPS), generator.randrange(1, LARGEST)))
    return buffers


def least_by_milp(buffers):
    """Variables: offset of each buffer, the peak, one binary for each pair; the sizes' sum is room enough."""
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp
    n, room = len(buffers), sum(size for _, _, size in buffers)
    pairs = [(i, j) for i in range(n) for j in range(i) if buffers[i][0] < buffers[j][1] and buffers[j][0] < buffers[i][1]]
    width, rows, limits = n + 1 + len(pairs), [], []

    def at_most(limit, **terms):
        row = numpy.zeros(width)
        for name, factor in terms.items():
            row[int(name[1:])] += factor
        rows.append(row)
        limits.append(limit)

    for i, (_, _, size) in enumerate(buffers):
        at_most(-size, **{f"v{i}": 1, f"v{n}": -1})
    for k, (i, j) in enumerate(pairs):
        at_most(room - buffers[i][2], **{f"v{i}": 1, f"v{j}": -1, f"v{n + 1 + k}": room})
        at_most(-buffers[j][2], **{f"v{j}": 1, f"v{i}": -1, f"v{n + 1 + k}": -room})
    cost = numpy.zeros(width)
    cost[n] = 1
    upper = numpy.concatenate([numpy.full(n + 1, room), numpy.ones(len(pairs))])
    found = milp(cost, constraints=LinearConstraint(numpy.array(rows), -numpy.inf, limits), integrality=numpy.ones(width),
                 bounds=Bounds(0, upper))
    if not found.success:
        sys.exit(f"check_milp.py: HiGHS: {found.message}")
    return round(found.fun)


def least_by_occamplan(occamplan, buffers):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/problem.csv", "w") as file:
            file.write("id,lower,upper,size\n")
            file.writelines(f"{i},{begin},{end},{size}\n" for i, (begin, end, size) in enumerate(buffers))
        done = subprocess.run([occamplan, f"--input={folder}/problem.csv", f"--output={folder}/placed.csv", "--minimize"],
                              capture_output=True, text=True)
    found = re.search(r"peak (\d+) bytes, bound \d+, optimal", done.stdout)
    return int(found[1]) if found else None


def main():
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print(f"SKIPPED: {PROBLEMS} problems, scipy is not installed")
        return
    generator, failed = random.Random(5), 0
    for number in range(PROBLEMS):
        buffers = sample(generator)
        ours, theirs = least_by_occamplan(sys.argv[1], buffers), least_by_milp(buffers)
        if ours != theirs:
            failed += 1
            print(f"problem {number}: occamplan proves {ours}, HiGHS {theirs}: {buffers}")
    print(f"{PROBLEMS - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
