"""Takes every barrier out of the device kernels, one at a time, and asks whether the kernels' tests notice.

usage: check_barriers.py --build=FOLDER [TWIN...]      (twin_matmul, ...; all by default)

A barrier whose absence neither the random orders nor ThreadSanitizer see is printed: it is not needed, or not tested."""
import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

KERNELS = Path("codegen_templates/cuda")
ROOMS = ["codegen_templates/c", *sorted(str(path) for path in Path("codegen_templates/c").iterdir() if path.is_dir())]
FLAGS = "g++ -std=c++17 -O2 -g1 -ffp-contract=off -mfma".split()
CALL = re.compile(r"^\s*occ_barrier\(\);", re.M)


def sources(twin):
    """The device files that a test includes, directly or not."""
    seen, open_files = set(), [f"{twin}.cc"]
    while open_files:
        name = open_files.pop()
        for path in (KERNELS / name, Path("tests/cuda") / name):
            if path.exists() and path not in seen:
                seen.add(path)
                open_files += re.findall(r'#include "([\w.]+)"', path.read_text())
    return sorted(path for path in seen if path.parent == KERNELS)


def is_seen(twin, folder, build):
    """How a test built over `folder` fails: in a wrong result, a race, or not at all."""
    for race in ("", "-race"):
        program = folder / f"{twin}{race}"
        subprocess.run([*FLAGS, *(["-fsanitize=thread"] if race else []), f"-I{folder}", "-Itests/cuda", "-Iruntime/emulation", f"-I{KERNELS}",
                        *(f"-I{room}" for room in ROOMS), f"-I{build}/tests/kernels/gen", "-o", program, f"tests/cuda/{twin}.cc",
                        f"{build}/tests/cuda/libfakecuda{race}.a", "-lcmocka"], check=True)
        done = subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        if done.returncode:
            return "a race" if race else "wrong results"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("twins", nargs="*")
    options = parser.parse_args()
    tried = unseen = 0
    for twin in options.twins or sorted(path.stem for path in Path("tests/cuda").glob("twin_*.cc")):
        for path in sources(twin):
            text = path.read_text()
            for call in CALL.finditer(text):
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    for other in KERNELS.iterdir():
                        shutil.copy(other, folder)
                    (folder / path.name).write_text(text[:call.start()] + text[call.end():])
                    how = is_seen(twin, folder, options.build)
                line = text.count("\n", 0, call.end()) + 1
                tried, unseen = tried + 1, unseen + (how is None)
                print(f"{twin}: {path.name}:{line}: {'found by ' + how if how else 'NOT FOUND'}", flush=True)
    print(f"{tried - unseen} passed, {unseen} failed")
    return 1 if unseen else 0


if __name__ == "__main__":
    raise SystemExit(main())
