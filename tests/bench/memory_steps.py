"""What each way to save memory gains, one added after another: writes docs/memory-steps.md.

Everything that can be turned off is off at first. A way that makes a plan larger than without it is a failure."""

import argparse
import pathlib
import sys

import memory
import nets

NETWORKS = ("light/light_resnet50", "light/light_densenet121", "light/light_inception_v2", "light/light_squeezenet", "mobilenet_v2")
STEPS = {"in place": "--in-place=off", "elision": "--elision=off", "overlap": "--overlap=off", "order": "--order=model",
         "cascades": "--cascade=off", "Winograd": "--winograd=off"}

HEAD = """# What each way to save memory gains

Written by `make bench-memory-steps`: planned bytes of the arena, the ways added one after another, from left to right.
*fused*: elementwise work joins the step before it, the model's order of steps, every tensor in memory of its own while it is needed
(all options below off). *in place* (`--in-place`): a result takes the memory of an operand that dies with it. *elision*
(`--elision`): members of Concat are made in their place, what reads Split and Slice reads the whole with its pitch. *overlap*
(`--overlap`): the result of a convolution, pool, copy, resize or Gather follows its dying input through the same memory. *order*
(`--order`): the order of steps is searched. *cascades* (`--cascade`): chains of convolutions run by strips of rows. *Winograd*
(`--winograd`) is for speed and takes memory: its column is what `occamyc` makes without options. With the caller's inputs and
outputs the arena does not hold them; *arena* is `--io=arena`, where it does: there one convolution may hold image and result.

"""


def arenas(args, path, io):
    """Planned bytes, of the plan without anything and with each way added."""
    off, sizes = list(STEPS.values()), []
    for count in range(len(off) + 1):
        report, why = memory.compile_it(args, path, *off[count:], *io)
        if report is None:
            sys.exit(f"{path}: {why}")
        sizes.append(report["memory"]["arena"])
    return sizes


def gains(sizes):
    """The same in MiB, each with what the step before it had more or less."""
    text = [f"{size / 2**20:.2f}" for size in sizes]
    return text[:1] + [f"{new} ({(size - before) / 2**20:+.2f})" if size != before else new
                       for new, before, size in zip(text[1:], sizes, sizes[1:])]


def table(heading, rows):
    head = ["network", "inputs and outputs", heading, *STEPS]
    return f"| {' | '.join(head)} |\n|" + "---|" * len(head) + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for files on the way")
    parser.add_argument("--write", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    paths = [args.models / f"{name}.onnx" for name in NETWORKS]
    absent = [str(path) for path in paths if not path.exists()]
    if absent:
        print(f"SKIPPED: {', '.join(absent)} absent (make models); {args.write} stays as it is")
        return
    rows = [(path.stem, place, arenas(args, path, io)) for path in [*paths, nets.write(args.folder)]
            for place, io in (("the caller's", []), ("arena", ["--io=arena"]))]
    args.write.write_text(HEAD + table("fused, bytes", [(*row, *map(memory.number, sizes)) for *row, sizes in rows]) + "\n" +
                          table("fused, MiB", [(*row, *gains(sizes)) for *row, sizes in rows]))
    print(f"{args.write}: written")
    worse = [f"{name}, {place}" for name, place, sizes in rows if sorted(sizes[:-1], reverse=True) != sizes[:-1]]
    if worse:
        sys.exit(f"a way makes plans larger: {'; '.join(worse)}")


if __name__ == "__main__":
    main()
