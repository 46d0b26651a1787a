"""Workspaces of cuDNN's engines beside the plans of networks for a device: writes docs/engines.md.

occam-engines asks cuDNN about described devices; nothing runs on a device. Networks that are absent are skipped, loudly."""

import argparse
import collections
import json
import pathlib
import re
import subprocess

import occamy

NETWORKS = ("resnet50", "ssd300_vgg16_heads", "yolov1", "srgan_x4")
DEVICES = ("h100", "a100", "orin")
BATCHES = (1, 32)
GROWTH = 5       # per cent, the program's default

HEAD = """# Workspaces of cuDNN, beside the plans

Written by `make bench-engines`. Nothing here ran on a device: cuDNN {version} is asked by `occam-engines` about devices that are
described (`engines/devices`), and the memory is that of the plans of `occamyc --target=cuda --gpu=...`. So a figure is what the library
answers for a description; nothing is said about time, and a real device may be offered other engines. The programs of occamyc use
engines only where `--tuned` lists them ([cuda.md](cuda.md#libraries)).

The networks are those of the Occamy paper that consist of convolutions; their *layers* are all convolutions and all products with constant
weights. Equal questions of a network are asked once, with the least room of the steps that ask.

- *refused*: engines that were offered for the different questions and refused for less precision (TENSOR_CORE on float32, converted inputs,
  sums of fewer bits); *others*: those refused for Winograd's or Fourier's transforms, bits that change, or compilation at run time.
- *whole*, *sum*, *own*: layers that an engine computes as a whole, but for their epilogue, or not at all.
- *asked*: the largest workspace, in MiB, of the engines that the library prefers among those allowed; *fits*: layers for which that one enlarges the
  peak by nothing (a layer without an allowed engine does not count as such).
- *taken*: the largest workspace of the engines that the rule takes, *growth 0*: layers that enlarge the peak by nothing with them,
  their own kernels included; *unmoved*: those whose workspace even lies in a gap of the plan as it is, and whose
  result does not lie on the residual, where an engine could not put it; *growth*: the most by which
  one enlarges the peak, in per cent of the peak without constants. The rule allows {growth}.
- *program*: by how much, in per cent likewise, the peak is larger when the network is planned with the workspaces of all engines that it takes
  (`--tuned`): those that compute whole layers.

"""


def asked(args, questions, device):
    """(header, the lines) that occam-engines writes."""
    done = subprocess.run([args.engines, f"--device={args.devices}/{device}.json", questions], capture_output=True, text=True, check=True)
    head, *lines = done.stdout.splitlines()
    return head, lines


def figures(line):
    """What a line tells: {"steps": 3, ..., "kind": "library" | "own" | None, "workspace": bytes or None}."""
    answer, remark = line.split(" : ", 1)[1].split("    # ")
    told = collections.defaultdict(int, {name: int(value) for name, value in re.findall(r"(\w+)=(-?\d+)", remark)})
    told["kind"] = re.search(r"epilogue=(\w+)", answer)[1] if answer.startswith("cudnn") else None
    told["workspace"] = int(re.search(r"workspace=(\d+)", answer)[1]) if told["kind"] else None
    told["first"] = int(re.search(r"first=(\d+)", remark)[1]) if "first=" in remark else None
    return told


def summary(lines, peak):
    """The figures of one network on one device. peak: bytes, constants not counted."""
    told = [figures(line) for line in lines if line.startswith("conv_krsc_f32 ")]
    layers = sum(t["steps"] for t in told)

    def count(holds):
        return sum(t["steps"] for t in told if holds(t))

    return {
        "layers": layers,
        "refused": sum(t["tensor_core"] + t["reduced"] for t in told),
        "others": sum(t["winograd"] + t["nondeterministic"] + t["compiled"] + t["unbuilt"] for t in told),
        "whole": count(lambda t: t["kind"] == "library"), "sum": count(lambda t: t["kind"] == "own"), "own": count(lambda t: t["kind"] is None),
        "asked": max([t["first"] for t in told if t["first"] is not None], default=0),
        "fits": count(lambda t: t["first"] is not None and t["first"] <= t["gap"]),
        "taken": max([t["workspace"] for t in told if t["kind"]], default=0),
        "same": count(lambda t: t["growth"] == 0),
        "unmoved": count(lambda t: t["kind"] is None or (t["workspace"] <= t["hole"] and not t["shared"])),
        "growth": 100 * max([t["growth"] for t in told], default=0) / peak,
    }


def planned(args, path, *options):
    """(what --dump=libraries prints, the peak, bytes of constants) of a network."""
    done = subprocess.run([args.occamyc, path, "--target=cuda", *options, "--dump=libraries"], capture_output=True, text=True, check=True)
    memory = dict(word.split("=") for word in done.stdout.splitlines()[0].split()[1:])
    return done.stdout, int(memory["peak"]), int(memory["constants"])


def measured(args, path, gpu, factors):
    """(header of occam-engines, summary) of a network."""
    questions, answers = args.folder / "questions.txt", args.folder / "engines.txt"
    options = [f"--gpu={gpu}", *(["--tf32"] if factors == "tf32" else [])]
    text, peak, constants = planned(args, path, *options)
    questions.write_text(text)
    head, lines = asked(args, questions, gpu)
    answers.write_text("".join(line + "\n" for line in lines))
    _, tuned, _ = planned(args, path, *options, f"--tuned={answers}")
    return head, {**summary(lines, peak - constants), "program": 100 * (tuned - peak) / (peak - constants)}


COLUMNS = ("network", "batch", "device", "layers", "refused", "others", "whole", "sum", "own", "asked", "fits", "taken", "growth 0", "unmoved", "growth %", "program %")


def row(name, batch, device, s):
    mib = lambda b: f"{b / 2**20:.2f}"                       # noqa: E731
    return [name, str(batch), device, *(str(s[k]) for k in ("layers", "refused", "others", "whole", "sum", "own")), mib(s["asked"]), str(s["fits"]),
            mib(s["taken"]), str(s["same"]), str(s["unmoved"]), f"{s['growth']:.1f}", f"{s['program']:.1f}"]


def total(found):
    """The sentence below a table."""
    layers = sum(s["layers"] for s in found.values())
    share = lambda key: f"{100 * sum(s[key] for s in found.values()) / layers:.1f} %"      # noqa: E731
    return (f"\nOf {layers} layers in all, the preferred allowed engine enlarges nothing for {share('fits')}, what the rule takes for {share('same')}; "
            f"{share('own')} keep their own kernel. The largest growth is {max(s['growth'] for s in found.values()):.1f} %, "
            f"that of a program planned with its engines {max(s['program'] for s in found.values()):.1f} %.\n")


def page(args, head, found):
    version = re.search(r"cuDNN (\S+)", head)[1]
    text = HEAD.format(version=version, growth=GROWTH)
    for factors, title in (("f32", "## Factors of float32"), ("tf32", "## With `--tf32`")):
        those = {key[:3]: s for key, s in found.items() if key[3] == factors}
        text += title + "\n\n" + occamy.table(COLUMNS, [row(*key, s) for key, s in those.items()]) + total(those) + "\n"
    return text.rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--engines", required=True)
    parser.add_argument("--devices", required=True, type=pathlib.Path, help="descriptions of devices")
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for files on the way")
    parser.add_argument("--write", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found, head = {}, ""
    for name in NETWORKS:
        path = args.models / f"{name}.onnx"
        if not path.exists():
            print(f"SKIPPED: {path} is absent (make {path})")
            continue
        for batch in BATCHES:
            model = path if batch == 1 else occamy.with_batch(path, batch, args.folder / "batch.onnx")
            for device in DEVICES:
                for factors in ("f32", "tf32"):
                    head, found[name, batch, device, factors] = measured(args, model, device, factors)
                    print(name, batch, device, factors, json.dumps(found[name, batch, device, factors]), flush=True)
        (args.folder / "batch.onnx").unlink()
    if found:
        if occamy.pages.replace(args.write, page(args, head, found)):
            print(f"{args.write}: written")


if __name__ == "__main__":
    main()
