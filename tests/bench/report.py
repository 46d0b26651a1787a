"""The page of measured figures and its plot, made from the results of bench.py."""

import importlib.metadata
import math
import os
import platform
import subprocess
import sys
from pathlib import Path

from peers import LIBRARIES, PACKAGES, PEERS, RUNTIMES, TITLES

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
import pages  # noqa: E402

MIB = float(1 << 20)
RATIOS = ("median", "least", "busy")  # by medians, by minima, by least processor time


def ratios(result, ours="ours"):
    """Ours over the best of the others, in the order of RATIOS."""
    theirs = [result[t] for t in PEERS if t in result]
    return tuple(result[ours][key] / min(t[key] for t in theirs) for key in RATIOS)


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def means(results):
    pairs = [ratios(r) for r in results]
    return tuple(geometric(p[i] for p in pairs) for i in range(len(RATIOS)))


def cell(result, engine, key, scale=1.0, form="{:.2f}"):
    return form.format(result[engine][key] / scale) if engine in result and key in result[engine] else "-"


def time_cell(result, engine):
    return f"{cell(result, engine, 'median')} ({cell(result, engine, 'least')})" if engine in result else "-"


def time_table(part, names, processor_time):
    theirs = [t for t in PEERS if any(t in part[name] for name in names)]
    count = 3 if processor_time else 2
    titles = ("ours / best", "by minima", "by least processor time")[:count]
    lines = [f"| network | ours, ms | {' | '.join((*(TITLES[t] for t in theirs), *titles))} |", "|---" * (len(theirs) + 2 + count) + "|"]
    for name in names:
        times = [time_cell(part[name], e) for e in ("ours", *theirs)]
        lines.append(f"| {name} | {' | '.join(times + [f'{r:.2f}' for r in ratios(part[name])[:count]])} |")
    mean = means(part[n] for n in names)[:count]
    lines.append(f"| geometric mean |{' |' * (len(theirs) + 1)} {' | '.join(f'{m:.3f}' for m in mean)} |")
    return lines


def tuned_table(part, names):
    """The default output over that of --target=native."""
    lines = ["| network | default, ms | `--target=native` | default / native | by least processor time |", "|---|---|---|---|---|"]
    pairs = [tuple(part[n]["ours"][key] / part[n]["native"][key] for key in ("median", "busy")) for n in names]
    for name, pair in zip(names, pairs):
        times = " | ".join(time_cell(part[name], e) for e in ("ours", "native"))
        lines.append(f"| {name} | {times} | {pair[0]:.2f} | {pair[1]:.2f} |")
    lines.append(f"| geometric mean | | | {geometric(p[0] for p in pairs):.3f} | {geometric(p[1] for p in pairs):.3f} |")
    return lines


def whole_speedup(results, name, engine):
    """Of whole runs, by minima."""
    one, two = (results.get(key, {}).get(name, {}).get(engine) for key in ("1", "2"))
    return f"{one['least'] / two['least']:.2f}" if one and two else "-"


def speedup_table(results, names):
    engines = ("ours", *RUNTIMES)
    lines = [f"| network | sum of steps, 1 thread, ms | 2 threads | speed-up | of the loop | whole runs: ours | {' | '.join(TITLES[e] for e in RUNTIMES)} |",
             "|---" * (len(engines) + 5) + "|"]
    part = results["speedup"]
    for name in names:
        r, whole = part[name], " | ".join(whole_speedup(results, name, e) for e in engines)
        lines.append(f"| {name} | {r['one']:.2f} | {r['two']:.2f} | {r['one'] / r['two']:.2f} | {2 * r['pace'][0] / r['pace'][1]:.2f} | {whole} |")
    mean = [geometric(part[n]["one"] / part[n]["two"] for n in names), geometric(2 * part[n]["pace"][0] / part[n]["pace"][1] for n in names)]
    lines.append(f"| geometric mean | | | {mean[0]:.2f} | {mean[1]:.2f} |{' |' * len(engines)}")
    return lines


def distance(figures):
    return "{1} of {0}, {2}".format(*figures["distance"]) if figures.get("distance") else "-"


def exact_table(part, names):
    lines = ["| network | outputs that differ from exact sums, by how many steps at most: ours | ONNX Runtime | OpenVINO |", "|---|---|---|---|"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(distance(part[name].get(e, {})) for e in ('ours', *RUNTIMES))} |")
    return lines


def size_table(part, names):
    lines = ["| network | memory growth, MiB: ours, ONNX Runtime, OpenVINO, ncnn | first result, ms: the same | code besides weights, KiB | C compile, s |",
             "|---|---|---|---|---|"]
    for name in names:
        r = part[name]
        grown = ", ".join(cell(r, e, "grown", MIB, "{:.0f}") for e in ("ours", *LIBRARIES))
        first = ", ".join(cell(r, e, "first", 1.0, "{:.0f}") for e in ("ours", *LIBRARIES))
        lines.append(f"| {name} | {grown} | {first} | {cell(r, 'ours', 'shipped', 1024, '{:.0f}')} | {cell(r, 'ours', 'build_seconds', 1.0, '{:.1f}')} |")
    return lines


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    flags = [f for f in ("avx2", "fma", "avx512f", "avx512_vnni") if any_flag(f)]
    return f"{names[0]}, {len(names)} cores, {' '.join(flags)}" if names else platform.machine()


def any_flag(flag):
    with open("/proc/cpuinfo") as file:
        return any(line.startswith("flags") and f" {flag} " in line + " " for line in file)


def versions():
    compiler = subprocess.run(["cc", "--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    return ", ".join([compiler] + [f"{p} {importlib.metadata.version(p)}" for p in PACKAGES])


def plot(part, names):
    """A bar for each network: ours over the best of the others; the line is 1."""
    width, row, left, scale = 720, 22, 170, 400.0
    height = row * len(names) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="16">time of ours / time of the best of ONNX Runtime, OpenVINO and ncnn, one thread</text>']
    for i, name in enumerate(names):
        ratio, y = ratios(part[name])[0], 26 + i * row
        colour = "#3a7d44" if ratio <= 1.0 else "#b5523b"
        out += [f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{min(ratio, 1.3) * scale:.1f}" height="{row - 6}" fill="{colour}"/>',
                f'<text x="{left + min(ratio, 1.3) * scale - 4:.1f}" y="{y + 14}" text-anchor="end" fill="white">{ratio:.2f}</text>']
    out += [f'<line x1="{left + scale}" y1="22" x2="{left + scale}" y2="{height - 10}" stroke="black" stroke-dasharray="4 3"/>', "</svg>"]
    return "\n".join(out) + "\n"


HEAD = """# Performance

Whole networks, batch 1, single precision and 8-bit integers: ours against ONNX Runtime, OpenVINO and, for images of floats, ncnn
(converted by its pnnx, single precision). Written by `make bench`, `make bench-plain`,
`make bench-int8` and `make bench-speedup`; do not edit.

- Machine: {machine}; programs that wanted a core when this was written: {load:.0f}. On a busy machine only the last column of
  the first table says much.
- Versions: {versions}. Ours: the default output, `{flags}`.
- One process for each engine, pinned, taking turns on inputs that rotate; medians of all timed runs, minima in parentheses.
  Least processor time leaves out what other programs on the machine took meanwhile. It is told of one thread alone: of the other
  threads of a process Linux knows it only as of the last tick, up to 4 ms ago.
- Memory growth: pages in memory after ten runs less those before loading, those of files included. Time to the first result:
  ours from the start of the process, theirs from before the library is imported.
"""


SPEEDUP = """## Own speed-up with two threads

Written by `make bench-speedup`: the output for one thread and that of `--threads=2` run by turns on the same two processors; the
least time of each step over all turns, summed over the steps, since whole runs on a shared machine mostly show who else had a
processor. Beside it what the machine gave in the same minutes, measured alike with a loop of multiplications and additions in
registers, one chunk of a millisecond on one thread and two on two; and, rougher, the fastest whole run with one thread over the
fastest with two, of the tables above. A step of many milliseconds is seldom alone on a busy machine: networks of few long steps
(VGG-16, SRGAN, BERT) may gain more than is seen there.
"""

TITLE = {"1": "## 1 thread", "plain": "## Generated C against generated C, both compiled with plain `-O2`"}

QUANTISED = """The same networks in 8-bit integers (QDQ, by ONNX Runtime's own tools: unsigned activations, signed weights of one scale for each
channel). Where the processor has no dot product of bytes, both libraries add pairs of products in 16 bits, which saturate; ours are
exact. Counted against ONNX Runtime with its exact sums turned on; rounding of single activations differs between all of them.
"""


def write(document, results, order, quantised, flags):
    lines, plotted = [HEAD.format(machine=processor(), load=os.getloadavg()[1], versions=versions(), flags=flags)], ""
    for key, part in sorted(results.items()):
        if key == "speedup":
            lines += [SPEEDUP, *speedup_table(results, [n for n in order if n in part]), ""]
            continue
        names, small = [n for n in order if n in part], [n for n in quantised if n in part]
        tuned = [n for n in names if "native" in part[n]]
        lines += [TITLE.get(key, f"## {key} threads"), ""]
        if names:
            lines += [*time_table(part, names, key in ("1", "plain")), ""]
        if names and key == "1":
            lines += [f"![time of ours over that of the best of the others]({document.with_suffix('.svg').name})", "", *size_table(part, names), ""]
            plotted = plot(part, names)
        if tuned:
            lines += ["The default output, compiled as above, and the output of `--target=native`, in the same run.", "",
                      *tuned_table(part, tuned), ""]
        if small:
            lines += [QUANTISED, *time_table(part, small, key == "1"), "", *exact_table(part, small), ""]
    if pages.replace(document, "\n".join(lines).rstrip() + "\n") and plotted:
        document.with_suffix(".svg").write_text(plotted)
