"""The page of measured figures and its plot, made from the results of bench.py."""

import importlib.metadata
import math
import os
import platform
import subprocess

THEIRS = ("onnxruntime", "openvino")
MIB = float(1 << 20)


def ratios(result, ours="ours"):
    """Ours over the better library: by medians, by minima, by least processor time."""
    theirs = [result[t] for t in THEIRS if t in result]
    return tuple(result[ours][key] / min(t[key] for t in theirs) for key in ("median", "least", "busy"))


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def means(results):
    pairs = [ratios(r) for r in results]
    return tuple(geometric(p[i] for p in pairs) for i in range(3))


def cell(result, engine, key, scale=1.0, form="{:.2f}"):
    return form.format(result[engine][key] / scale) if engine in result and key in result[engine] else "-"


def time_table(part, names):
    lines = ["| network | ours, ms | ONNX Runtime | OpenVINO | ours / best | by minima | by least processor time |", "|---|---|---|---|---|---|---|"]
    for name in names:
        both = ratios(part[name])
        times = [f"{cell(part[name], e, 'median')} ({cell(part[name], e, 'least')})" for e in ("ours", *THEIRS)]
        lines.append(f"| {name} | {' | '.join(times)} | {both[0]:.2f} | {both[1]:.2f} | {both[2]:.2f} |")
    both = means(part[n] for n in names)
    lines.append(f"| geometric mean | | | | {both[0]:.3f} | {both[1]:.3f} | {both[2]:.3f} |")
    return lines


def distance(figures):
    return "{1} of {0}, {2}".format(*figures["distance"]) if figures.get("distance") else "-"


def exact_table(part, names):
    lines = ["| network | outputs that differ from exact sums, by how many steps at most: ours | ONNX Runtime | OpenVINO |", "|---|---|---|---|"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(distance(part[name].get(e, {})) for e in ('ours', *THEIRS))} |")
    return lines


def size_table(part, names):
    lines = ["| network | memory growth, MiB: ours, ONNX Runtime, OpenVINO | first result, ms: the same | code besides weights, KiB | C compile, s |",
             "|---|---|---|---|---|"]
    for name in names:
        r = part[name]
        grown = ", ".join(cell(r, e, "grown", MIB, "{:.0f}") for e in ("ours", *THEIRS))
        first = ", ".join(cell(r, e, "first", 1.0, "{:.0f}") for e in ("ours", *THEIRS))
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
    return ", ".join([compiler] + [f"{t} {importlib.metadata.version(t)}" for t in THEIRS])


def plot(part, names):
    """A bar for each network: ours over the better library; the line is 1."""
    width, row, left, scale = 720, 22, 170, 400.0
    height = row * len(names) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="16">time of ours / time of the better of ONNX Runtime and OpenVINO, one thread</text>']
    for i, name in enumerate(names):
        ratio, y = ratios(part[name])[0], 26 + i * row
        colour = "#3a7d44" if ratio <= 1.0 else "#b5523b"
        out += [f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{min(ratio, 1.3) * scale:.1f}" height="{row - 6}" fill="{colour}"/>',
                f'<text x="{left + min(ratio, 1.3) * scale - 4:.1f}" y="{y + 14}" text-anchor="end" fill="white">{ratio:.2f}</text>']
    out += [f'<line x1="{left + scale}" y1="22" x2="{left + scale}" y2="{height - 10}" stroke="black" stroke-dasharray="4 3"/>', "</svg>"]
    return "\n".join(out) + "\n"


HEAD = """# Performance

Whole networks, batch 1, single precision and 8-bit integers: ours against ONNX Runtime and OpenVINO. Written by `make bench` and
`make bench-int8`; do not edit.

- Machine: {machine}; programs that wanted a core when this was written: {load:.0f}. On a busy machine only the last column of
  the first table says much.
- Versions: {versions}. Ours: the default output, `{flags}`.
- One process for each engine, pinned, taking turns on inputs that rotate; medians of all timed runs, minima in parentheses.
  Least processor time leaves out what other programs on the machine took meanwhile; it is added up over the threads of an engine.
- Memory growth: pages in memory after ten runs less those before loading, those of files included. Time to the first result:
  ours from the start of the process, theirs from before the library is imported.
"""


QUANTISED = """The same networks in 8-bit integers (QDQ, by ONNX Runtime's own tools: unsigned activations, signed weights of one scale for each
channel). Where the processor has no dot product of bytes, both libraries add pairs of products in 16 bits, which saturate; ours are
exact. Counted against ONNX Runtime with its exact sums turned on; rounding of single activations differs between all of them.
"""


def write(document, results, order, quantised, flags):
    lines = [HEAD.format(machine=processor(), load=os.getloadavg()[1], versions=versions(), flags=flags)]
    for threads, part in sorted(results.items()):
        names, small = [n for n in order if n in part], [n for n in quantised if n in part]
        lines += [f"## {threads} thread{'s' if threads != '1' else ''}", ""]
        if names:
            lines += [*time_table(part, names), ""]
        if names and threads == "1":
            lines += ["![time of ours over that of the better library](performance.svg)", "", *size_table(part, names), ""]
            document.with_suffix(".svg").write_text(plot(part, names))
        if small:
            lines += [QUANTISED, *time_table(part, small), "", *exact_table(part, small), ""]
    document.write_text("\n".join(lines).rstrip() + "\n")
