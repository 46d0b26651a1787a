"""Times whole networks: ours, ONNX Runtime, OpenVINO and ncnn, interleaved, one process each, pinned, on rotating inputs.

Results of each network are kept in FOLDER/results.json, so that a run of a few networks renews only these; the table of all is
written to --document, and a plot beside it.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import exact
import peers
import programs
import report

NETWORKS = ("resnet50 resnet18 mobilenet_v2 mobilenet_v3_large efficientnet_b0 vgg16 bert_base srgan_x4 squeezenet1_1 "
            "densenet121 inception_v3 convnext_tiny swin_t shufflenet_v2_x1_0").split()
QUANTISED = "resnet50_int8 mobilenet_v2_int8".split()
PLAIN = "-O2"
HERE = Path(__file__).resolve().parent
SECONDS = 0.3  # that one turn of one engine takes, about


def start_ours(args, network, options):
    program = network.build(args.cc, PLAIN if args.plain else args.flags)
    running = programs.Running([program, programs.SETS, *network.inputs()], args.cpus)
    running.to_first = running.first - running.started
    running.build_seconds, running.shipped = programs.build_time(program), programs.shipped_bytes(program)
    return running


def start_all(args, model):
    """Engine name -> running process; engines that refuse the model are told and left out."""
    engines = {}
    threads = [f"--threads={args.threads}"] if args.threads > 1 else []
    network = programs.Network(model, args.folder, args.occamyc, threads)
    engines["ours"] = start_ours(args, network, threads)
    if args.tuned:
        tuned = [*threads, "--target=native"]
        engines["native"] = start_ours(args, programs.Network(model, args.folder, args.occamyc, tuned), tuned)
    for library in args.peers.split():
        try:
            opened = peers.prepare(library, network.model, network.folder.parent, args.python)
            engines[library] = programs.Running([args.python, HERE / "library.py", library, args.threads, network.model, opened,
                                                 programs.SETS, *network.inputs()], args.cpus)
            engines[library].to_first = engines[library].first
        except RuntimeError as error:
            print(f"    {library}: {error}", flush=True)
    return engines


def take_turns(engines, rounds):
    for running in engines.values():
        running.run(2)
    counts = {name: min(max(int(SECONDS * 1e3 / min(r.times)), 2), 50) for name, r in engines.items()}
    for running in engines.values():
        running.times.clear()
        running.busy.clear()
    for turn in range(rounds):
        order = list(engines) if turn % 2 == 0 else list(engines)[::-1]
        for name in order:
            engines[name].run(counts[name])


def figures(running):
    """Milliseconds, bytes."""
    out = {"median": statistics.median(running.times), "least": min(running.times), "busy": min(running.busy),
           "grown": running.grown,
           "first": running.to_first * 1e-6, "runs": len(running.times)}
    for key in ("build_seconds", "shipped"):
        if hasattr(running, key):
            out[key] = getattr(running, key)
    return out


def measure(args, name):
    engines = start_all(args, Path(args.models) / f"{name}.onnx")
    take_turns(engines, args.rounds)
    result = {engine: figures(running) for engine, running in engines.items()}
    for running in engines.values():
        running.end()
    if name in QUANTISED:
        network = programs.Network(Path(args.models) / f"{name}.onnx", args.folder, args.occamyc)
        for engine, distance in exact.distances(network, args.cc, [e for e in peers.RUNTIMES if e in engines]).items():
            result[engine]["distance"] = distance
    return result


def print_row(name, result):
    ratio = report.ratios(result)
    words = [f"{engine} {f['median']:.2f} ({f['least']:.2f}, {f['busy']:.2f})" for engine, f in result.items()]
    print(f"{name:20} {'  '.join(words)}  ours/best {ratio[0]:.3f} ({ratio[1]:.3f}, {ratio[2]:.3f})", flush=True)


def measure_row(args, name):
    """None: nobody else takes the network."""
    result = measure(args, name)
    if len(result) == 1:
        print(f"{name:20} SKIPPED: nobody else takes it", flush=True)
        return None
    print_row(name, result)
    return result


def renew(args, key, measured):
    """The results under this key, those of the chosen networks made anew by measured(name); the document is written from all."""
    store = args.folder / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    part = results.setdefault(key, {})
    for name in args.networks.replace(",", " ").split() or NETWORKS:
        if not (Path(args.models) / f"{name}.onnx").exists():
            print(f"{name:20} SKIPPED: no such model in {args.models}", flush=True)
            continue
        result = measured(name)
        if result:
            part[name] = result
            store.write_text(json.dumps(results, indent=1))
    if args.document:
        report.write(Path(args.document), results, NETWORKS, QUANTISED, args.flags)
    return part


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--python", default=sys.executable, help="that has the libraries")
    parser.add_argument("--networks", default="", help="names, comma or blank between them; default: all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpus", default="", help="for taskset; default: the last one, or the first THREADS ones")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--flags", default="-O2 -march=native")
    parser.add_argument("--peers", default=" ".join(peers.LIBRARIES), help="of peers.py, blank between them")
    parser.add_argument("--plain", action="store_true", help="compiled with plain -O2, against emx-onnx-cgen's code compiled so")
    parser.add_argument("--tuned", action="store_true", help="time --target=native as well")
    parser.add_argument("--document", default="", help="performance.md, written anew")
    return parser


def parse(parser):
    args = parser.parse_args()
    processors = int(subprocess.run(["nproc"], stdout=subprocess.PIPE, text=True).stdout)
    if args.plain:
        args.peers, args.threads = "emx", 1
    args.cpus = args.cpus or (str(processors - 1) if args.threads == 1 else f"0-{args.threads - 1}")
    args.folder = Path(args.folder).resolve()
    args.occamyc = Path(args.occamyc).resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    return args


def main():
    args = parse(arguments())
    part = renew(args, "plain" if args.plain else str(args.threads), lambda name: measure_row(args, name))
    print("geometric mean of ours / best of the others: %.3f by medians, %.3f by minima, %.3f by processor time" % report.means(part.values()))


if __name__ == "__main__":
    main()
