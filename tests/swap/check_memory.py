"""What a model whose weights are loaded takes of memory, as the system counts it: check_memory.py --occamyc=P --work=FOLDER

A control group of its own holds the host program to the total that occamyc printed and 3 MiB more, page cache and the
kernel's own memory included. No page of the weights file is in memory afterwards, and each run read from the disk exactly
the bytes that were planned. Without control groups (or the right to make one) the data segment is limited instead.

The system counts more than what the program does: where memory is short, or another program drops the page cache, pages of
the program, its input and its libraries are read again, in this run or in the one that it is compared with. So these files are
mapped while runs are measured, which keeps them in memory, and a measurement that does not say what was planned is taken again;
a program that does wrong does so each time.
"""

import ctypes
import mmap
import os
import re
import resource
import shlex
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))

import host  # noqa: E402

LAYERS, WIDTH = 12, 1024                                                    # 50 MB of weights
MORE = 3 << 20                                                              # bytes beside the printed total, at most
RUNS = 4
TRIES, PAUSE = 5, 0.5                                                       # of a measurement; seconds between two
GROUPS = [("/sys/fs/cgroup", "memory.max", "memory.peak"),
          ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes")]


def write_model(path, layers):
    """`layers` products by seeded weights; one of them alone is small: 16 KiB."""
    random, nodes, weights = np.random.default_rng(0), [], []
    width = WIDTH if layers > 1 else 64
    for i in range(layers):
        weight = (random.standard_normal((width, width)) * width ** -0.5).astype("f4")
        weights.append(numpy_helper.from_array(weight, f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"layer{i}"))
    ports = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [1, width]) for i in (0, layers)]
    graph = helper.make_graph(nodes, "layers", ports[:1], ports[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return width


def run(command, folder):
    code, text = host.run_command(command, 600, folder)
    if code:
        raise host.Failure("run-fail", f"{shlex.join(command)}: status {code}\n{text[-2000:]}")
    return text


def build(arguments, folder, layers, flags):
    """The host program in `folder`; returns the total that occamyc printed, in bytes."""
    os.makedirs(folder, exist_ok=True)
    width = write_model(os.path.join(folder, "net.onnx"), layers)
    np.linspace(-1, 1, width, dtype="f4").tofile(os.path.join(folder, "in.raw"))
    said = run([arguments.occamyc, "net.onnx", "-o", "model.c", "--main=main.c", *flags], folder)
    run([*shlex.split(arguments.cc), "-O2", "-o", "model", "main.c", "model.c", "-lm", "-pthread"], folder)
    return int(re.search(r"^RAM +(\d+)", said, re.M)[1])


# ----------------------------------------------------------------------------------------------------- control groups

def make_group(name):
    """(folder, limit file, peak file) of a new group, or None where there are none for us."""
    for root, limit, peak in GROUPS:
        folder = os.path.join(root, name)
        try:
            os.makedirs(folder, exist_ok=True)
            if all(os.path.exists(os.path.join(folder, file)) for file in (limit, peak, "cgroup.procs")):
                return folder, limit, peak
            os.rmdir(folder)
        except OSError:
            continue
    return None


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def measure(folder, repeat, enter):
    """(what it printed, bytes that it read from the disk, status): one run of the host program."""
    command = ["./model", "in.raw", "-o", "out", "--repeat", str(repeat)]
    child = subprocess.Popen(command, cwd=folder, preexec_fn=enter, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return said, used.ru_inblock * 512, child.returncode


def in_group(folder, limit, repeat):
    """The same in a group that is held to `limit` bytes; and what was charged to it at most."""
    group = make_group(f"occ_check_memory_{os.getpid()}")
    if not group:
        return None
    place, limit_file, peak_file = group
    try:
        write(os.path.join(place, limit_file), str(limit))
        said, read, status = measure(folder, repeat, lambda: write(os.path.join(place, "cgroup.procs"), str(os.getpid())))
        with open(os.path.join(place, peak_file)) as file:
            return said, read, status, int(file.read())
    finally:
        os.rmdir(place)


# --------------------------------------------------------------------------------------------------------- page cache

def forget(path):
    """Leaves no page of the file in memory."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def held(folder):
    """Mappings of what a run reads beside its weights: while they exist, these pages stay in memory."""
    libraries = re.findall(r"(/\S+) \(0x", run(["ldd", "./model"], folder))
    maps = []
    for path in [*libraries, *(os.path.join(folder, name) for name in ("model", "in.raw"))]:
        with open(path, "rb") as file:
            maps.append(mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ))
    return maps


def cached(path):
    """Pages of the file that are in memory."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        view = mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        pages = (ctypes.c_ubyte * ((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE))()
        address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        if ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), pages):
            raise host.Failure("run-fail", "mincore: " + os.strerror(ctypes.get_errno()))
        return sum(page & 1 for page in pages)


def on_disk(path):
    """Whether its file system is one of disks: those in memory keep all of it there."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, text=True).stdout.strip()
    return kind not in ("tmpfs", "ramfs")


# -------------------------------------------------------------------------------------------------------------- checks

def taken_again(check, folder, total, small):
    """What `check` returns, once a measurement passes; each of TRIES must fail for a failure."""
    for left in reversed(range(TRIES)):
        maps = held(folder) + held(small)
        try:
            return check(folder, total, small)
        except host.Failure as failure:
            if not left:
                raise
            print(f"  DISTURBED, taken again: {failure.reason}", flush=True)
            time.sleep(PAUSE)
        finally:
            for view in maps:
                view.close()


def peak_of(said):
    return int(re.search(r"^peak (\d+)", said, re.M)[1])


def judge(what, found, most):
    print(f"  {what}: {found} bytes, at most {most}")
    if found > most:
        raise host.Failure("wrong", f"{what}: {found} bytes, wanted at most {most}")


def check_read(folder, said, read, without):
    """From the disk came what was planned, and none of it stayed."""
    path = os.path.join(folder, "model.c.weights")
    planned = RUNS * int(re.search(r"^swap read (\d+)", said, re.M)[1])
    if not on_disk(path):
        print("  SKIPPED: the weights lie in memory")
        return
    print(f"  {RUNS} runs read {read - without} bytes from the disk, planned {planned}; {cached(path)} pages are cached")
    if read - without != planned or cached(path):
        raise host.Failure("wrong", f"{RUNS} runs read {read - without} bytes, planned {planned}; {cached(path)} pages are cached")


def check_group(folder, total, small):
    """False: there are no control groups."""
    path = os.path.join(folder, "model.c.weights")
    in_group(small, 1 << 30, 0)                                             # programs and libraries come into memory
    nothing = in_group(small, 1 << 30, 0)
    if not nothing:
        return False
    in_group(folder, total + MORE, 0)
    _, without, _, _ = in_group(folder, total + MORE, 0)
    forget(path)
    said, read, status, charged = in_group(folder, total + MORE, RUNS)
    if status:
        raise host.Failure("run-fail", f"within {total + MORE} bytes: status {status}: {host.last_line(said)}")
    print(f"  a model of 16 KiB: charged {nothing[3]}, resident {peak_of(nothing[0])} bytes")
    print(f"  printed {total}, charged {charged}, resident {peak_of(said)} bytes")
    judge("charged beside the printed total", charged - total, MORE)
    check_read(folder, said, read, without)
    return True


def check_limit(folder, total, small):
    """The data segment holds what was printed; the threads' stacks are small, and memory is cut out of 2 MiB more."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 18, 1 << 18))
        resource.setrlimit(resource.RLIMIT_DATA, (total + MORE + (2 << 20),) * 2)

    measure(folder, 0, limit)
    _, without, _ = measure(folder, 0, limit)
    forget(os.path.join(folder, "model.c.weights"))
    said, read, status = measure(folder, RUNS, limit)
    if status:
        raise host.Failure("run-fail", f"under RLIMIT_DATA: status {status}: {host.last_line(said)}")
    nothing, _, _ = measure(small, 0, None)
    judge("resident beside a model of 16 KiB and the printed total", peak_of(said) - peak_of(nothing) - total, MORE)
    check_read(folder, said, read, without)


def check(arguments, name):
    folder, small = (os.path.abspath(os.path.join(arguments.work, part)) for part in (name, "one"))
    flags = {"disk": [], "least": ["--max-ram=2M"], "half": ["--max-ram=26M"], "all": ["--max-ram=80M"]}[name]
    build(arguments, small, 1, ["--weights=swap"])
    total = build(arguments, folder, LAYERS, ["--weights=swap", *flags])
    print(f"{name}: {total} bytes of RAM printed", flush=True)
    if not taken_again(check_group, folder, total, small):
        print("  SKIPPED: no control group can be made here; RLIMIT_DATA stands in for it")
    taken_again(check_limit, folder, total, small)


if __name__ == "__main__":
    host.check_each(check, __doc__, ["disk", "least", "half", "all"])
