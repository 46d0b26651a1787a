"""Sums llvm-cov's summary (JSON on standard input) by what the lines do; reading, checking and shape rules want 90 %."""
import fnmatch
import json
import sys

# (what, patterns of files, the least share of lines that must be reached)
GROUPS = (
    ("reading", ("compiler/onnx/*.c",), 0.90),
    ("checking", ("compiler/graph/*.c", "compiler/plan/check_program.c", "compiler/plan/recheck.c"), 0.90),
    ("shape rules", ("compiler/ops/*_infer.c", "compiler/ops/infer*.c", "compiler/ops/contents*.c"), 0.90),
    ("lowering", ("compiler/ops/*.c", "compiler/program/*.c"), 0.0),
    ("planning", ("planners/*.c",), 0.0),
)


def main():
    files = json.load(sys.stdin)["data"][0]["files"]
    left = {f["filename"]: f["summary"]["lines"] for f in files}
    failed = 0
    for what, patterns, least in GROUPS:
        mine = [name for name in left if any(fnmatch.fnmatch(name, "*" + p) for p in patterns)]
        count, covered = (sum(left[name][key] for name in mine) for key in ("count", "covered"))
        for name in sorted(mine, key=lambda n: left[n]["covered"] - left[n]["count"])[:4]:
            missing = left[name]["count"] - left[name]["covered"]
            print(f"    {name[name.rindex('/') + 1:]}: {missing} of {left[name]['count']} lines not reached")
        for name in mine:
            del left[name]
        failed += covered < least * count
        print(f"{what:12} {covered:6} of {count:6} lines, {100 * covered / max(count, 1):.1f} %"
              + (f", wanted {100 * least:.0f} %" if covered < least * count else ""))
    sys.exit(1 if failed else 0)


main()
