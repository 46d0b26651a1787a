"""Compiles device code with nvcc for every architecture that it serves, and judges what comes out: no warning, no spill, no
stack frame, at most 48 KiB of shared memory, no multiplication fused with an addition but where the source says so. A kernel two
blocks of which find room in a processor (OCC_KERNEL_IN_PAIRS: 128 registers) may put aside 176 bytes: those whose
extents are known while running hold the code of five tiles.

usage: check_cuda.py --work=FOLDER --arch=75,80,... [--jobs=N] -I FOLDER... FILE.cu...

Nothing is run: what passes is compiled, no more. The table of registers and shared memory is written to FOLDER/usage.txt.
Where there is no nvcc it says so, and counts every file as skipped."""
import argparse
import concurrent.futures
import re
import shutil
import subprocess
import sys
from pathlib import Path

SHARED_MOST = 48 * 1024
# What the kernels whose names end so must hold: each kernel one of these products of matrices, each of them some kernel.
PRODUCTS = {"tf32": ["m16n8k8.row.col.f32.tf32.tf32.f32"],
            "fp16": ["m16n8k16.row.col.f32.f16.f16.f32", "m16n8k8.row.col.f32.f16.f16.f32"]}
PAIRS = 128          # registers of a kernel in pairs
ASIDE_MOST = 176     # bytes of its stack frame
SPILLS_MOST = 320    # bytes that its code writes there, some of them several times
FUNCTION = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def judge(text):
    """(name, architecture, registers, shared bytes, complaint or None) of each kernel that ptxas speaks of."""
    found, name, frame = [], None, None
    for line in text.splitlines():
        if match := FUNCTION.search(line):
            name, frame = match.groups(), None
        elif (match := FRAME.search(line)) and name:
            frame = [int(n) for n in match.groups()]
        elif (match := USED.search(line)) and name and frame is not None:
            shared = int(SHARED.search(line)[1]) if SHARED.search(line) else 0
            pairs = int(match[1]) == PAIRS
            wrong = (f"a stack frame of {frame[0]} bytes" if frame[0] > pairs * ASIDE_MOST else
                     f"spills {frame[1]} bytes" if frame[1] > pairs * SPILLS_MOST else
                     f"{shared} bytes of shared memory" if shared > SHARED_MOST else None)
            found.append((*name, int(match[1]), shared, wrong))
            name = None
    return found


def compile_one(options, file, arch):
    """Lines for the table, and complaints, of one file for one architecture."""
    out = options.work / f"{Path(file).stem}-{arch}.cubin"
    done = run([options.nvcc, f"-arch=sm_{arch}", "-O3", "-std=c++17", "-fmad=false", "-Werror", "all-warnings", "-Xptxas", "-v",
                *(f"-I{folder}" for folder in options.include), "-cubin", "-o", str(out), file])
    if done.returncode:
        return [], [f"{file} for sm_{arch}: nvcc fails\n{done.stdout}"]
    kernels = judge(done.stdout)
    complaints = [f"{file} for {where}: {name}: {wrong}" for name, where, _, _, wrong in kernels if wrong]
    if not kernels:
        complaints.append(f"{file} for sm_{arch}: no kernel comes out")
    return [f"{where:7} {name:32} {registers:4} registers {shared:6} bytes shared" for name, where, registers, shared, _ in kernels], complaints


def lacks_products(ptx):
    """Sentences on the products of matrices that kernels named _tf32 or _fp16 should hold and do not."""
    found = []
    for kind, products in PRODUCTS.items():
        kernels = re.findall(rf"\.entry (\w+_{kind})\((.*?)\n}}", ptx, re.S)
        found += [f"{name}: no product of matrices" for name, text in kernels if not any(f"mma.sync.aligned.{p}" in text for p in products)]
        found += [f"no kernel holds {p}" for p in products if kernels and not any(p in text for _, text in kernels)]
    return found


def unfused(options, file):
    """With occ_fma written as two operations there must be no fused one left; kernels on tensor cores hold products of matrices."""
    done = run([options.nvcc, "-arch=sm_80", "-O3", "-std=c++17", "-fmad=false", "-DOCC_FMA_APART",
                *(f"-I{folder}" for folder in options.include), "-ptx", "-o", "-", file])
    fused = [line.strip() for line in done.stdout.splitlines() if re.search(r"\bfma\.\w+\.f(32|64)\b", line)]
    if done.returncode:
        return [], [f"{file}: nvcc fails with OCC_FMA_APART\n{done.stdout}"]
    complaints = [f"{file}: {text}" for text in lacks_products(done.stdout)]
    return [], complaints + ([f"{file}: fused where the source does not say so: {fused[0]}"] if fused else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", required=True, help="such as 75,80,120")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    tasks = [(compile_one, file, arch) for file in options.files for arch in options.arch.split(",")]
    tasks += [(unfused, file) for file in options.files]
    if not shutil.which(options.nvcc):
        print(f"check-cuda: skipped, there is no {options.nvcc}; make deps-cuda installs it")
        print(f"0 passed, 0 failed, {len(tasks)} skipped")
        return 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda task: task[0](options, *task[1:]), tasks))
    (options.work / "usage.txt").write_text("\n".join(sorted(line for lines, _ in results for line in lines)) + "\n")
    complaints = [text for _, texts in results for text in texts]
    print("\n".join(complaints))
    failed = sum(1 for _, texts in results if texts)
    kernels = {line.split()[1] for lines, _ in results for line in lines}
    print(f"{len(kernels)} kernels compiled for {options.arch}; nothing was run on a device")
    print(f"{len(tasks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
