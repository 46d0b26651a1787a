"""The least peaks of small problems, found by occamplan and by the integer programming solver HiGHS: check_milp.py OCCAMPLAN

Buffers with lifetimes and sizes; for each pair that lives at the same time one binary says which lies below. Every problem
must come out proven, and with the same peak. Then buffers with traffic in two or three memories, fast to slow: the traffic that
each serves must be the same, or both find that nothing fits. Without scipy, which brings HiGHS, all are skipped, loudly."""

import random
import re
import subprocess
import sys
import tempfile

PROBLEMS, BUFFERS, STEPS, LARGEST = 24, 9, 8, 12
REGION_PROBLEMS, REGION_BUFFERS, MOST_TRAFFIC = 200, 7, 20


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


def region_sample(generator):
    """Buffers (begin, end, size, traffic, set of regions as bits, 0 for any) and the sizes of two or three regions."""
    sizes = [generator.randrange(4, 20) for _ in range(generator.randrange(2, 4))]
    sizes[-1] += generator.randrange(20)
    buffers = []
    for _ in range(REGION_BUFFERS):
        begin = generator.randrange(STEPS - 1)
        mask = generator.randrange(1, 1 << len(sizes)) if generator.random() < 0.2 else 0
        buffers.append((begin, generator.randrange(begin + 1, STEPS), generator.randrange(1, LARGEST),
                        generator.randrange(MOST_TRAFFIC + 1), mask))
    return buffers, sizes


def traffic_by_milp(buffers, sizes):
    """Traffic by region of the lexicographically best plan; None: nothing fits. Variables: offsets, a binary for each buffer and
    region, one for each pair that lives at the same time."""
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp
    n, m, room = len(buffers), len(sizes), 2 * (max(sizes) + LARGEST)
    pairs = [(i, j) for i in range(n) for j in range(i) if buffers[i][0] < buffers[j][1] and buffers[j][0] < buffers[i][1]]
    width, rows, low, high = n + n * m + len(pairs), [], [], []

    def constrain(terms, at_least, at_most):
        row = numpy.zeros(width)
        for variable, factor in terms:
            row[variable] += factor
        rows.append(row)
        low.append(at_least)
        high.append(at_most)

    def lies(i, r):
        return n + i * m + r

    for i, (_, _, size, _, mask) in enumerate(buffers):
        constrain([(lies(i, r), 1) for r in range(m)], 1, 1)
        for r in range(m):
            constrain([(i, 1), (lies(i, r), room)], -numpy.inf, sizes[r] - size + room)
            if mask and not mask >> r & 1:
                constrain([(lies(i, r), 1)], 0, 0)
    for k, (i, j) in enumerate(pairs):
        order = n + n * m + k
        for r in range(m):
            both = [(lies(i, r), room), (lies(j, r), room)]
            constrain([(i, 1), (j, -1), (order, room)] + both, -numpy.inf, 3 * room - buffers[i][2])
            constrain([(j, 1), (i, -1), (order, -room)] + both, -numpy.inf, 2 * room - buffers[j][2])
    cost = numpy.zeros(width)
    for i, buffer in enumerate(buffers):
        for r in range(m):
            cost[lies(i, r)] = -buffer[3] * (MOST_TRAFFIC * n + 1) ** (m - 1 - r)
    upper = numpy.concatenate([numpy.full(n, room / 2), numpy.ones(width - n)])
    found = milp(cost, constraints=LinearConstraint(numpy.array(rows), low, high), integrality=numpy.ones(width),
                 bounds=Bounds(0, upper), options={"mip_rel_gap": 0})
    if found.status == 2:
        return None
    if not found.success:
        sys.exit(f"check_milp.py: HiGHS: {found.message}")
    return [sum(b[3] for i, b in enumerate(buffers) if found.x[lies(i, r)] > 0.5) for r in range(m)]


def traffic_by_occamplan(occamplan, buffers, sizes):
    """The same; a word where it is not proven or the checker does not accept it."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/problem.csv", "w") as file:
            file.write("id,lower,upper,size,traffic,regions\n")
            file.writelines(f"{i}," + ",".join(map(str, b)) + "\n" for i, b in enumerate(buffers))
        regions = [f"--region={size}" for size in sizes]
        done = subprocess.run([occamplan, f"--input={folder}/problem.csv", f"--output={folder}/placed.csv", *regions],
                              capture_output=True, text=True)
        if done.returncode == 4:
            return None if "infeasible: proven" in done.stdout else "not proven: " + done.stdout
        checked = subprocess.run([occamplan, f"--input={folder}/problem.csv", f"--check={folder}/placed.csv", *regions],
                                 capture_output=True, text=True)
    if checked.returncode or "optimal: no plan serves more" not in done.stdout:
        return "wrong or not proven: " + done.stdout + done.stderr + checked.stderr
    return [int(found) for found in re.findall(r"traffic (\d+)", done.stdout)]


def main():
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print(f"SKIPPED: {PROBLEMS + REGION_PROBLEMS} problems, scipy is not installed")
        return
    generator, failed = random.Random(5), 0
    for number in range(PROBLEMS):
        buffers = sample(generator)
        ours, theirs = least_by_occamplan(sys.argv[1], buffers), least_by_milp(buffers)
        if ours != theirs:
            failed += 1
            print(f"problem {number}: occamplan proves {ours}, HiGHS {theirs}: {buffers}")
    for number in range(REGION_PROBLEMS):
        buffers, sizes = region_sample(generator)
        ours, theirs = traffic_by_occamplan(sys.argv[1], buffers, sizes), traffic_by_milp(buffers, sizes)
        if ours != theirs:
            failed += 1
            print(f"problem {number}: occamplan serves {ours}, HiGHS {theirs}: {buffers} in {sizes}")
    print(f"{PROBLEMS + REGION_PROBLEMS - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
