"""Networks on a device, beside PyTorch on the same one: cuda.py --occamyc=PROGRAM --write=PAGE NETWORK[/BATCH]...

Each network of models/export_classic.py is built with its seeded weights, exported with the batch, compiled by `occamyc --target=cuda
--io=device`, without rounded factors, with --tf32 and with --fp16, and by nvcc; cuda_driver.c runs it. PyTorch runs the same module, inputs on
the device on both sides: in eager mode, and captured in a CUDA graph; channels last, cuDNN's benchmark on, without TF32, with it, and under
autocast to float16, which keeps tensors between convolutions and products in half precision, too (ours stay float32). All times are medians of whole runs,
each waited for. What differs from a run of PyTorch in double precision on the same device is told for both sides.

With --engines=occam-engines and --cudnn=FOLDER (of include and lib) programs in which the vendor's libraries compute steps (--tuned) are
built and timed, too: a second table.

--profile writes FOLDER/NETWORK-BATCH.csv: nanoseconds of each kernel of one run, by ncu. Needs PyTorch with a device, onnx, nvcc."""

import argparse
import csv
import io
import multiprocessing
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time
import traceback
import zlib

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "models"))
import export_classic                                                # noqa: E402
sys.path.append(str(ROOT / "tests" / "tools"))
import pages  # noqa: E402

DEFAULT = ("resnet50/1", "resnet50/32", "mobilenet_v2/1", "mobilenet_v2/32", "vgg19/1", "squeezenet1_1/1", "densenet121/1",
           "efficientnet_b0/1", "bert_base/1", "yolov1/1", "srgan_x4/1", "ssd300_vgg16_heads/1")
FIELD = re.compile(r"^    (?:const )?(\w+) \*(\w+); /\* ((?:\[\d+\])+)", re.M)
FORMS = ("float32", "tf32", "fp16")
LIBRARY_FORMS = ("float32", "tf32")                                  # with --fp16 the libraries' engines are those of --tf32, or fewer
BYTES = {"float": 4, "double": 8, "int64_t": 8, "int32_t": 4, "int8_t": 1, "uint8_t": 1}
MIB = float(1 << 20)

HEAD = """# Networks on a device, beside PyTorch

Written by `make bench-cuda` on {device}, with PyTorch {torch}, cuDNN {cudnn} and nvcc {nvcc}. Milliseconds of a run (median of {rounds}, each waited for), inputs
and outputs on the device on both sides: *ours* is the program of `occamyc --target=cuda --io=device`, captured by its caller in a graph;
*eager* and *graph* are PyTorch's ways to run, channels last, with cuDNN's benchmark. The ratio is ours to PyTorch's graph, the better of
the two. *float32*: no factor is rounded; *tf32*: factors of 11 bits; *fp16*: factors of half precision, PyTorch under autocast. Memory in MiB, weights, inputs and outputs included: what ours takes,
and what PyTorch's allocator has in use at most and reserves in eager mode. Errors: ||y - y64|| / ||y64|| of the first output, y64 that of PyTorch in double precision.

| network | batch | ours | eager | graph | ratio | ours tf32 | graph tf32 | ratio | ours fp16 | graph fp16 | ratio | MiB ours | in use | reserved | error ours | error PyTorch | ours tf32 | PyTorch tf32 | ours fp16 | PyTorch fp16 |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


LIBRARY_HEAD = """
## With the vendor's libraries

The same programs, in which engines of cuDNN and algorithms of cuBLASLt compute steps in planned workspaces: `occam-engines --device=here --own=PROFILE
--products --linear` ran each of them once on this device and kept the own kernel where none was faster. *steps*: those that a library computes, of those that
could be asked about. The ratio is to PyTorch's graph.

| network | batch | own kernels | with libraries | steps | ratio | own tf32 | with libraries | steps | ratio | error | error tf32 |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


# ---------------------------------------------------------------------------------------------------------------- networks

def module_of(name, batch):
    """(module in evaluation, example inputs, options of the exporter), the same on every call."""
    torch.manual_seed(zlib.crc32(name.replace("_heads", "").encode()))
    network, example, options = export_classic.NETWORKS[name]()
    with torch.no_grad():
        export_classic.seed_module(network)
        export_classic.calibrate(network, example)
    network.train(name == "vit_b_16")
    torch.manual_seed(batch)
    example = tuple(torch.randn(batch, *x.shape[1:]) if x.is_floating_point() else x.repeat(batch, *[1] * (x.dim() - 1)) for x in example)
    return network, example, options


def export(network, example, options, path):
    with torch.no_grad():
        torch.onnx.export(network, example, str(path), **options, **({"dynamo": False} if torch.__version__ >= "2.5" else {}))


# -------------------------------------------------------------------------------------------------------------------- ours

def fields(text, struct):
    """(name, bytes) of the tensors of a struct of the header."""
    body = text[:text.index(f"}} net_{struct};")].rsplit("typedef struct {", 1)[1]
    found = []
    for kind, name, extents in FIELD.findall(body):
        count = int(numpy.prod([int(n) for n in re.findall(r"\d+", extents)], dtype=numpy.int64))
        found.append((name, BYTES[kind] * count))
    return found


def occamyc(options, model, *flags):
    return run([options.occamyc, model, "--name=net", "--target=cuda", "--io=device", f"--gpu={options.gpu}", "--weights=file", "--quiet", *flags])


def compile_host(options, folder, to, sources, *flags, libraries=()):
    """The host's part of a program, linked with the device's."""
    cuda = pathlib.Path(options.nvcc).resolve().parent.parent / "include"
    objects = [f"{to}_{pathlib.Path(source).stem}.o" for source in sources]
    for source, made in zip(sources, objects):
        run(["cc", "-std=c11", "-O2", "-I.", f"-I{ROOT / 'runtime'}", "-isystem", cuda, *flags, "-c", source, "-o", made], cwd=folder)
    run([options.nvcc, "-o", to, *objects, "net_cu.o", *libraries, "-lm"], cwd=folder)


def build(options, model, folder, *flags, libraries=None):
    """The program, and the one that times its steps; bytes of the device's memory. libraries: flags of the compiler and of the linker."""
    folder.mkdir(parents=True, exist_ok=True)
    occamyc(options, model, "-o", folder / "net.c", f"--main={folder / 'net_main.c'}", *flags)
    header = (folder / "net.h").read_text()
    with open(folder / "ports.h", "w") as file:
        for name, struct in (("IN", "inputs"), ("OUT", "outputs")):
            file.write(f"#define {name}(X) " + " ".join(f"X({field}, {size})" for field, size in fields(header, struct)) + "\n")
    run([options.nvcc, "-O3", "-fmad=false", f"-arch={options.arch}", "-Werror", "all-warnings", "-c", "net.cu", "-o", "net_cu.o"], cwd=folder)
    given = ["-DGIVEN"] if "*given[" in header else []
    compile_host(options, folder, "net", ["net.c", HERE / "cuda_driver.c"], *given, *(libraries[0] if libraries else ()), libraries=libraries[1] if libraries else ())
    if options.engines and not libraries:
        compile_host(options, folder, "profiled", ["net.c", "net_main.c"], "-DOCC_PROFILE")
    planned = int(re.search(r"^#define NET_DEVICE_SIZE (\d+)", header, re.M)[1])
    return planned + sum(size for struct in ("inputs", "outputs") for _, size in fields(header, struct))


def write_inputs(folder, example):
    for i, value in enumerate(example):
        value.numpy().tofile(folder / f"in_{i}.raw")
    return [f"in_{i}.raw" for i in range(len(example))]


def run_ours(options, folder, example):
    """({steps, graph: milliseconds}, first output)."""
    write_inputs(folder, example)
    text = run(["./net", "net.c.weights", ".", options.rounds], cwd=folder)
    return {k: float(v) for k, v in (line.split() for line in text.splitlines())}, numpy.fromfile(folder / "out_0.raw", numpy.float32)


def profile(options, folder, to):
    """Nanoseconds of the kernels of a run, in their order."""
    text = run(["ncu", "--csv", "--clock-control", "none", "--metrics", "gpu__time_duration.sum,launch__grid_size,launch__block_size,launch__registers_per_thread",
                "./net", "net.c.weights", ".", 0], cwd=folder)
    rows = list(csv.reader(io.StringIO(text[text.index('"ID"'):])))
    kernel, metric, value = (rows[0].index(n) for n in ("Kernel Name", "Metric Name", "Metric Value"))
    table = {}
    for row in rows[1:]:
        table.setdefault(int(row[0]), {"kernel": re.sub(r"\(.*", "", row[kernel])})[row[metric]] = row[value].replace(",", "")
    with open(to, "w") as file:
        for _, row in sorted(table.items()):
            file.write(",".join(row.values()) + "\n")


# ----------------------------------------------------------------------------------------------------------------- PyTorch

def median_ms(call, rounds):
    times = []
    for i in range(-rounds // 4, rounds):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if i >= 0:
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def first(value):
    return (value[0] if isinstance(value, (tuple, list)) else value).float().contiguous()


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


def run_torch(network, example, rounds, form):
    """Times, memory and the first output of the module on the device."""
    set_tf32(form == "tf32")
    torch.backends.cudnn.benchmark = True
    network = network.cuda().to(memory_format=torch.channels_last)
    inputs = [x.cuda().to(memory_format=torch.channels_last) if x.dim() == 4 else x.cuda() for x in example]
    found = {}
    half = torch.autocast("cuda", torch.float16, enabled=form == "fp16")   # weights are rounded once, by the first run
    with torch.no_grad(), torch.device("cuda"), half:                # the device: for modules that make tensors of their own
        for _ in range(3):
            y = network(*inputs)
        torch.cuda.synchronize()
        found["output"] = first(y).cpu().numpy().ravel()
        del y
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        network(*inputs)
        torch.cuda.synchronize()
        found["in use"], found["reserved"] = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
        found["eager"] = median_ms(lambda: network(*inputs), rounds)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            network(*inputs)
        found["graph"] = median_ms(graph.replay, rounds)
    del graph
    torch.cuda.empty_cache()
    return found


def exact(network, example):
    with torch.no_grad(), torch.device("cuda"):
        y = network.cuda().double()(*[x.cuda().double() if x.is_floating_point() else x.cuda() for x in example])
        return (y[0] if isinstance(y, (tuple, list)) else y).contiguous().cpu().numpy().ravel()


# -------------------------------------------------------------------------------------------------------------------- page

def error(y, wanted):
    return float(numpy.linalg.norm(y - wanted) / numpy.linalg.norm(wanted))


def room_of(options, word, form=""):
    return pathlib.Path(options.folder).resolve() / word.replace("/", "-") / form


def flags_of(form):
    return [f"--{form}"] if form != "float32" else []


def prepare(options, word):
    """Exports and compiles; several at a time, each in a process of its own. Bytes that ours takes, or what went wrong."""
    try:
        name, batch = word.split("/")
        model = room_of(options, word) / "model.onnx"
        model.parent.mkdir(parents=True, exist_ok=True)
        export(*module_of(name, int(batch)), model)
        return [build(options, model, room_of(options, word, form), *flags_of(form)) for form in FORMS][0]
    except Exception:
        return traceback.format_exc()


def ask_engines(options, word):
    """Times the steps of own kernels and asks the libraries; nothing else may use the device meanwhile. What went wrong, or None."""
    try:
        name, batch = word.split("/")
        _, example, _ = module_of(name, int(batch))
        for form in LIBRARY_FORMS:
            own, room = room_of(options, word, form), room_of(options, word, f"{form}-library")
            room.mkdir(exist_ok=True)
            run(["./profiled", *write_inputs(own, example), "--weights", "net.c.weights", "--repeat", "15", "--profile", "times.txt"], cwd=own)
            (room / "libraries.txt").write_text(occamyc(options, room_of(options, word) / "model.onnx", "--dump=libraries", *flags_of(form)))
            (room / "engines.txt").write_text(run([options.engines, *options.engines_options, f"--own={own / 'times.txt'}", room / "libraries.txt"]))
        return None
    except Exception:
        return traceback.format_exc()


def prepare_library(options, word):
    """Compiles the programs with engines; what went wrong, or None."""
    try:
        beside = pathlib.Path(options.cudnn).parent / "cu13" / "lib"             # where pip puts cuBLASLt
        product = beside / "libcublasLt.so.13"
        libraries = (["-DOCC_CUDNN", "-DOCC_CUBLASLT", "-isystem", f"{options.cudnn}/include"],
                     [f"-Xlinker={options.cudnn}/lib/libcudnn.so.9", f"-Xlinker={product}" if product.exists() else "-lcublasLt",
                      f"-Xlinker=-rpath={options.cudnn}/lib:{beside}"])
        for form in LIBRARY_FORMS:
            room = room_of(options, word, f"{form}-library")
            build(options, room_of(options, word) / "model.onnx", room, *flags_of(form), f"--tuned={room / 'engines.txt'}", libraries=libraries)
        return None
    except Exception:
        return traceback.format_exc()


def library_cells(options, word, example, wanted, ours, theirs):
    """The row of a network of the second table."""
    cells, errors = word.split("/"), []
    for form in LIBRARY_FORMS:
        room = room_of(options, word, f"{form}-library")
        times, output = run_ours(options, room, example)
        asked = (room / "libraries.txt").read_text().count("\n") - 1
        cells += [f"{ours[form]['graph']:.3f}", f"{times['graph']:.3f}", f"{times.get('given', 0):.0f} of {asked}",
                  f"{times['graph'] / theirs[form]['graph']:.2f}"]
        errors.append(f"{error(output, wanted):.1e}")
    return "| " + " | ".join(cells + errors) + " |"


def network_row(options, word, memory):
    """Its rows of both tables; the second is empty without engines."""
    name, batch = word.split("/")
    network, example, _ = module_of(name, int(batch))
    ours, theirs, outputs = {}, {}, {}
    for form in FORMS:
        ours[form], outputs[form] = run_ours(options, room_of(options, word, form), example)
        if options.profile:
            profile(options, room_of(options, word, form), f"{room_of(options, word)}{'' if form == 'float32' else f'-{form}'}.csv")
    for form in FORMS:
        theirs[form] = run_torch(network, example, options.rounds, form)
    wanted = exact(network, example)
    plain = theirs["float32"]
    cells = [name, batch]
    for form in FORMS:
        times = ours[form]["graph"], *([plain["eager"]] if form == "float32" else []), theirs[form]["graph"]
        cells += [*(f"{ms:.3f}" for ms in times), f"{times[0] / times[-1]:.2f}"]
    cells += [f"{memory / MIB:.1f}", f"{plain['in use'] / MIB:.1f}", f"{plain['reserved'] / MIB:.1f}",
              *(f"{error(y, wanted):.1e}" for form in FORMS for y in (outputs[form], theirs[form]["output"]))]
    return "| " + " | ".join(cells) + " |", library_cells(options, word, example, wanted, ours, theirs) if options.engines else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--occamyc", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--gpu", default="h100", help="of occamyc")
    parser.add_argument("--folder", required=True, help="of what is made")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="networks compiled at the same time")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--engines", help="occam-engines and its options: programs with libraries, too")
    parser.add_argument("--cudnn", help="folder of cuDNN's include and lib")
    parser.add_argument("--write", help="the page")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.occamyc = os.path.abspath(options.occamyc)
    options.engines, *options.engines_options = shlex.split(options.engines or "") or [""]
    options.nvcc = subprocess.run(["which", options.nvcc], capture_output=True, text=True).stdout.strip()
    if not torch.cuda.is_available() or not options.nvcc:
        print("bench-cuda: SKIPPED, there is no device, or no nvcc")
        return
    version = re.search(r"release (\S+),", run([options.nvcc, "--version"]))[1]
    page = HEAD.format(device=torch.cuda.get_device_name(), torch=torch.__version__, cudnn=torch.backends.cudnn.version(), nvcc=version, rounds=options.rounds)
    libraries = ""
    words = options.names or DEFAULT
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        made = pool.starmap(prepare, [(options, word) for word in words], 1)
        made = [memory if isinstance(memory, str) or not options.engines else ask_engines(options, word) or memory for word, memory in zip(words, made)]
        if options.engines:
            wrong = pool.starmap(prepare_library, [(options, word) for word in words], 1)
            made = [text if text and not isinstance(memory, str) else memory for memory, text in zip(made, wrong)]
    for word, memory in zip(words, made):
        start = time.perf_counter()
        try:
            if isinstance(memory, str):
                raise RuntimeError(memory)
            row, library = network_row(options, word, memory)
            page += row + "\n"
            libraries += library + "\n"
            print(row, library, f"{time.perf_counter() - start:.0f} s", flush=True)
        except Exception:                                        # one network's failure leaves the others
            print(f"{word}: FAILED", flush=True)
            traceback.print_exc()
            sys.stderr.flush()
        torch.cuda.empty_cache()
    if options.write:
        pages.replace(options.write, page + (LIBRARY_HEAD + libraries if options.engines else ""))


if __name__ == "__main__":
    main()
