"""Ways to compile one model, drawn from all options. Those of one batch share target and C compiler, and their outputs must be
equal bit for bit, since these options promise that; a stranger among them has another target or Winograd form and is held to
ONNX Runtime alone."""

from dataclasses import dataclass, field

import tuned
from kernel_cover import FLAG

PLAN_OPTIONS = [["--io=arena"], ["--in-place=off"], ["--overlap=off"], ["--elision=off"], ["--order=model"], ["--code=shared"],
                ["--planner=first-fit"], ["--planner=best-fit"], ["--planner=longer-first"], ["--planner=bigger-first"],
                ["--planner=exact", "--time-limit=5"], ["--weights=file"], ["--weights=object"], ["--region=fast:2K", "--region=slow:64M:128"],
                ["--region=a:512", "--region=b:16K", "--region=c:64M"]]
CASCADES = [["--cascade=on"], ["--cascade=off"]]
THREADS = [["--threads=2"], ["--threads=2", "--part-time=0"], ["--threads=3", "--part-time=0"], ["--threads=8", "--part-time=0"],
           ["--queues=2"], ["--queues=3"]]
QUEUES = [["--queues=2"], ["--queues=3"]]
RATES = ["1M:1us:16", "20M:300us:32", "200M:20us:512", "2G:80us:4096", "64M:1us:64"]
BUDGETS = (None, 0.0, 0.0, 0.02, 0.1, 0.3, 0.6, 1.0)

STRICT = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"
# Functions of kernels once in each file, not at every call: a branch is then counted where its text is.
ONCE = "-Dalways_inline=noinline -Wno-attributes"
# C compilers and flags of a batch, with how often each is drawn. OCC_FORCE_SCALAR: no vectors.
BUILDS = {f"gcc {STRICT} -O1 -march=x86-64-v3": 5, f"gcc {STRICT} -O1": 2, f"gcc {STRICT} -O2": 1,
          f"gcc {STRICT} -O1 -march=x86-64-v4": 2, f"gcc {STRICT} -O1 -DOCC_FORCE_SCALAR": 2, f"gcc {STRICT} -Os": 0.5,
          f"clang {STRICT} -O1": 1, f"clang {STRICT} -O1 -march=x86-64-v3": 1,
          f"gcc {STRICT} -O0 --coverage -fprofile-update=atomic {ONCE} -march=x86-64-v3": 1, f"gcc {STRICT} -O1 -DOCC_GUARD": 1.5,
          f"gcc {STRICT} -O0 -march=x86-64-v3": 2,
          f"gcc {STRICT} -O0 -fsanitize=address,undefined -fno-sanitize-recover=undefined -DOCC_GUARD": 0.5}
LITERAL = "-D__builtin_constant_p(n)=1"           # of which kernels know nothing then: they are told that all arguments are literals
# The same but for extents of images: kernels take them for known only while running.
OPEN = "-D__builtin_constant_p(n)=(" + "&&".join(f'!__builtin_strstr(#n,"{word}")' for word in ("width", "dim[4]", "out[2]", "in[2]")) + ")"
WIDTHS = ("", " -march=x86-64-v3", " -march=x86-64-v4", " -DOCC_FORCE_SCALAR")
# Threads run kernels at the same time: counters that lose an increment make others of the function wrong, even negative.
COUNTED = {f"gcc {STRICT} -O0 --coverage -fprofile-update=atomic {ONCE}{isa}{literal}": 1 for isa in WIDTHS for literal in ("", " " + LITERAL, " " + OPEN)}
# An eighth of the seconds that -O1 takes, and what occamyc decides shows as well: most models are built so. What a C compiler makes of kernels
# that it inlines, the builds above ask.
QUICK = [f"clang {STRICT} -O0 {ONCE}{literal}" for literal in ("", " " + LITERAL)]
BUILDS |= {quick + isa: 5.5 for quick in QUICK for isa in WIDTHS}
TARGETS = {"": 6, "--target=x86-64-v3": 1, "--target=native": 1, "--target=cortex-m": 0.5}
NEEDS = {"--target=x86-64-v3": "-march=x86-64-v3", "--target=native": "-march=native"}


@dataclass
class Variant:
    """options: of occamyc. equal: its bits must be those of the batch's first variant. budget: a share of what a model needs beyond the
    least memory that works, or None; batch.py asks occamyc for the least and adds --max-ram. alone: the caller of code for threads passes no
    parallel_for. way: that of every convolution of known extents, for which batch.py adds --tuned, or none."""

    options: list = field(default_factory=list)
    equal: bool = True
    budget: float = None
    alone: bool = False
    way: str = ""


@dataclass
class Build:
    """The C compiler of a batch with its flags, and what every variant of it has in common."""

    cc: str
    target: str

    def common(self):
        return [self.target] if self.target else []


def draw_build(draw, machine_flags, counted=False):
    """machine_flags: words of /proc/cpuinfo. counted: one that counts branches."""
    builds = {cc: n for cc, n in (COUNTED if counted else BUILDS).items() if ("v3" not in cc or "avx2" in machine_flags) and
              ("v4" not in cc or "avx512f" in machine_flags)}
    cc, target = draw.weighted(builds), draw.weighted(TARGETS)
    if counted:
        return Build(cc, target if target not in NEEDS else "")
    if target in NEEDS and "avx2" in machine_flags:
        cc = f"{draw.pick([f'gcc {STRICT} -O1', *QUICK])} {NEEDS[target]}"
    elif target in NEEDS:
        target = ""
    return Build(cc, target)


def draw_options(draw):
    """Some options that promise equal bits."""
    chosen = [option for option in PLAN_OPTIONS if draw.chance(0.15)]
    planners = [o for o in chosen if o[0].startswith("--planner")]
    regions = [o for o in chosen if o[0].startswith("--region")]
    weights = [o for o in chosen if o[0].startswith("--weights")]
    chosen = [o for o in chosen if o not in planners[1:] + regions[1:] + weights[1:]]
    beside = draw.pick(THREADS + QUEUES) if draw.chance(0.25) else []
    chosen += [beside] if beside else []
    if beside not in QUEUES and draw.chance(0.4):
        chosen.append(draw.pick(CASCADES))
    return [word for option in chosen for word in option]


def draw_swap(draw):
    """Weights that come while the model runs, at some rate, with less memory or more."""
    options = [o for o in draw_options(draw) if not o.startswith(("--weights", "--queues", "--region"))]
    return options + ["--weights=swap", "--load-rate=" + draw.pick(RATES)], draw.pick(BUDGETS)


def same_bits(options, winograd):
    """The options less those that promise equal bits without Winograd's transform only: strips of rows move its tiles, and where occamyc
    decides on it (no --winograd) shared code has none, and loaded weights less of it. Whether there are strips must not be occamyc's choice then, which plans and
    --threads decide: the batch has --cascade=off."""
    moved = () if winograd == "--winograd=off" else ("--cascade",) if winograd else ("--cascade", "--code")
    return [o for o in options if not o.startswith(moved)] if moved else options


def draw_variants(draw, build):
    """The first has no option of its own; the last, now and then, is a stranger. Where branches are counted, models are worth more than
    variants."""
    winograd = draw.weighted({"": 3, "--winograd=off": 3, "--winograd=on": 1})
    common = build.common() + ([winograd] if winograd else []) + ([] if winograd == "--winograd=off" else ["--cascade=off"])
    found = [Variant(common)]
    for _ in range(1 if FLAG in build.cc else draw.weighted({3: 3, 4: 4, 5: 2})):
        options = same_bits(draw_options(draw), winograd)
        if options and common + options not in [v.options for v in found]:
            found.append(Variant(common + options))
    if draw.chance(0.25):
        options, budget = draw_swap(draw)
        found = found[:max(2, len(found) - 1)] + [Variant(common + same_bits(options, winograd), budget=budget, equal=bool(winograd))]
    if draw.chance(0.3):
        found.append(Variant(draw.pick([[], ["--code=shared"], ["--winograd=on"], ["--winograd=on", "--cascade=on"], ["--cascade=on"], ["--winograd=off"],
                                        ["--winograd-error=0.01"], ["--winograd-error=1e-6"]]), equal=False))
    if draw.chance(0.15):
        found.append(Variant(common, equal=False, way=draw.pick(tuned.WAYS)))
    for variant in found:
        variant.alone = any(o.startswith(("--threads", "--queues")) for o in variant.options) and draw.chance(0.3)
    return found
