"""Runs programs for processors that this machine lacks, on PCs that Bochs emulates: emulator.py --cpu=MODEL COMMAND...

Starts the PCs, runs COMMAND, and stops them. In COMMAND, {run} stands for the words that run a program on one of them:
`{run} ./model in_0.raw -o out` sends the program there, and the files beside it when it lies in the working folder, prints
what it printed, writes the files of out/ and ends with its exit status. A PC boots Debian's kernel in a minute, from a ROM of our own
(rom.S) and a disk image through which jobs and answers go (guest.c says how); it needs no BIOS and no drivers.
"""

import argparse
import fcntl
import glob
import os
import pty
import shlex
import signal
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECTOR = 512
MEMORY = 2047 << 20                                     # bytes of a PC
HEADS, TRACK, CYLINDERS = 16, 63, 6500                  # of the disk, 3.3 GB, of which the file has what was written
BOOT_SECTOR, JOB_SECTOR, ANSWER_SECTOR = 64, 1 << 18, 5 << 20
PARAMETERS, COMMAND_LINE, KERNEL, FILES = 0x10000, 0x11000, 0x1000000, 0x20000000     # addresses at the boot
# Bochs 2.7 counts the size of XSAVEC areas wrong, has PKRU without a place in them, and its short REP MOVSB overruns.
BOOT_OPTIONS = ("console=ttyS0 quiet panic=-1 nokaslr mitigations=off lpj=1000000 acpi=off noapic nolapic nosmp pci=off "
                "tsc=reliable lsm= cryptomgr.notests audit=0 clearcpuid=xsavec,xsaves,pku,fsrm")
LIBRARIES = ("libc.so.6", "libm.so.6", "libcmocka.so.0", "librt.so.1", "libpthread.so.0")
LOADER = "/lib64/ld-linux-x86-64.so.2"
SETTINGS = """plugin_ctrl: unmapped=1, biosdev=0, serial=1, speaker=0, usb_uhci=0
config_interface: textconfig
display_library: term
memory: guest={memory}, host={memory}
romimage: file=rom.bin, address=0xffff0000
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disk.img, mode=flat, cylinders={cylinders}, heads={heads}, spt={track}
cpu: model={cpu}, count=1, ips=10000000, reset_on_triple_fault=0
clock: sync=none
com1: enabled=1, mode=file, dev=console.txt
speaker: enabled=0
log: bochs.txt
panic: action=fatal
error: action=ignore
info: action=ignore
"""


def cpio_entry(name, mode, contents):
    """One file of an archive in the new ASCII format, which the kernel unpacks (cpio(5))."""
    named = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(named), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + named
    return head + bytes(-len(head) % 4) + contents + bytes(-len(contents) % 4)


def guest_files(cc, folder):
    """The root file system: our program and the libraries that programs are linked with."""
    guest = os.path.join(folder, "guest")
    subprocess.run([cc, "-O1", "-static", f"-DJOB_SECTOR={JOB_SECTOR}", f"-DANSWER_SECTOR={ANSWER_SECTOR}", "-o", guest,
                    os.path.join(HERE, "guest.c")], check=True)
    files = {"init": guest, LOADER[1:]: LOADER}
    for library in LIBRARIES:
        path = subprocess.run([cc, f"-print-file-name={library}"], stdout=subprocess.PIPE, text=True).stdout.strip()
        if os.path.isabs(path):
            files["lib/" + library] = path
    archive = b"".join(cpio_entry(name, 0o40755, b"") for name in ("proc", "lib", "lib64"))
    for name, path in files.items():
        with open(path, "rb") as file:
            archive += cpio_entry(name, 0o100755, file.read())
    return archive + cpio_entry("TRAILER!!!", 0, b"")


def boot_parameters(header, files_size):
    """The zero page and the command line behind it (Documentation/x86/zero-page.rst of the kernel)."""
    page = bytearray(0x2000)
    page[0x1f1:0x1f1 + len(header)] = header
    page[0x210] = 0xff                                                              # a loader without a number
    page[0x218:0x220] = struct.pack("<II", FILES, files_size)
    page[0x228:0x22c] = struct.pack("<I", COMMAND_LINE)
    memory = ((0, 0x9f000), (0x100000, MEMORY - 0x100000))
    page[0x1e8] = len(memory)
    for i, (start, size) in enumerate(memory):
        page[0x2d0 + 20 * i:0x2e4 + 20 * i] = struct.pack("<QQI", start, size, 1)
    text = BOOT_OPTIONS.encode() + b"\0"
    page[COMMAND_LINE - PARAMETERS:COMMAND_LINE - PARAMETERS + len(text)] = text
    return bytes(page)


def make_machine(cc, folder, kernel, cpu, files):
    """ROM, disk image and settings of one PC in a folder; `files`: the archive of its root file system."""
    os.makedirs(folder, exist_ok=True)
    with open(kernel, "rb") as file:
        image = file.read()
    body = image[((image[0x1f1] or 4) + 1) * SECTOR:]
    parameters = boot_parameters(image[0x1f1:0x202 + image[0x201]], len(files))
    loads, sectors = [], b""
    for contents, address in ((parameters, PARAMETERS), (body, KERNEL), (files, FILES)):
        count = -(-len(contents) // SECTOR)
        loads += [BOOT_SECTOR + len(sectors) // SECTOR, count, address]
        sectors += contents.ljust(count * SECTOR, b"\0")
    with open(os.path.join(folder, "disk.img"), "wb") as disk:
        disk.truncate(CYLINDERS * HEADS * TRACK * SECTOR)
        disk.write(struct.pack("<I", 1))
        disk.seek(BOOT_SECTOR * SECTOR)
        disk.write(sectors)
    rom = os.path.join(folder, "rom")
    subprocess.run([cc, "-c", "-m32", "-o", rom + ".o", f"-DPARAMETERS={PARAMETERS}", f"-DKERNEL={KERNEL}",
                    "-DLOADS=" + ",".join(map(str, loads)), os.path.join(HERE, "rom.S")], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", rom + ".o", rom + ".bin"], check=True)
    with open(os.path.join(folder, "settings"), "w") as file:
        file.write(SETTINGS.format(memory=MEMORY >> 20, cpu=cpu, cylinders=CYLINDERS, heads=HEADS, track=TRACK))
    with open(os.path.join(folder, "commands"), "w") as file:
        file.write("c\n")                                                           # Debian's Bochs begins in its debugger


def read_forever(terminal):
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass


def start_machine(folder):
    """The process of a PC; it draws on a terminal that nobody looks at, in a session of its own: stopping it is no job control."""
    for old in ("disk.img.lock", "console.txt"):
        if os.path.exists(os.path.join(folder, old)):
            os.remove(os.path.join(folder, old))
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(["bochs", "-q", "-f", "settings", "-rc", "commands"], cwd=folder, stdin=theirs, stdout=theirs,
                               stderr=theirs, env=dict(os.environ, TERM="xterm"), start_new_session=True)
    os.close(theirs)
    with open(os.path.join(folder, "process"), "w") as file:
        file.write(str(process.pid))
    threading.Thread(target=read_forever, args=(terminal,), daemon=True).start()
    return process


def read_number(disk, sector):
    return struct.unpack("<I", os.pread(disk.fileno(), 4, sector * SECTOR))[0]


def wait_answer(disk, number, alive, seconds):
    start = time.monotonic()
    while read_number(disk, 1) != number:
        if not alive() or time.monotonic() - start > seconds:
            sys.exit("emulator.py: the emulated PC does not answer; its console.txt and bochs.txt say more")
        time.sleep(0.01)


def write_record(disk, kind, name="", contents=b""):
    disk.write(struct.pack("<cIQ", kind, len(name.encode()), len(contents)) + name.encode() + contents)


def send_job(disk, words):
    disk.seek(JOB_SECTOR * SECTOR)
    beside = glob.glob("*") if os.path.dirname(words[0]) in ("", ".") else []
    data = [name for name in beside if os.path.isfile(name) and not name.endswith((".c", ".h", ".o", ".txt"))]
    program = os.path.basename(words[0])
    for path in sorted({words[0], *data} - {program}):
        with open(path, "rb") as file:
            write_record(disk, b"x" if path == words[0] else b"f", os.path.basename(path), file.read())
    for word in ["./" + program, *words[1:]]:
        write_record(disk, b"a", word)
    write_record(disk, b"e")
    disk.flush()


def read_answer(disk):
    """Writes the files of out/, prints what was printed; returns the exit status."""
    disk.seek(ANSWER_SECTOR * SECTOR)
    status = 0
    while True:
        kind, length, size = struct.unpack("<cIQ", disk.read(13))
        name, contents = disk.read(length).decode(), b""
        if kind == b"s":
            status = int(name)
        else:
            contents = disk.read(size)
        if kind == b"o":
            sys.stdout.buffer.write(contents)
        elif kind == b"f":
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as file:
                file.write(contents)
        elif kind == b"e":
            return status


def take_machine(folders):
    """The locked disk of a PC that is free, or of the first."""
    disks = [open(os.path.join(folder, "disk.img"), "r+b") for folder in folders]
    for disk in disks:
        try:
            fcntl.flock(disk, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return disk
        except BlockingIOError:
            pass
    disk = disks[os.getpid() % len(disks)]
    fcntl.flock(disk, fcntl.LOCK_EX)
    return disk


def run_words(folders, words):
    """A PC that has no job stands still: it would wait as fast as it can."""
    disk = take_machine(folders)
    with open(os.path.join(os.path.dirname(disk.name), "process")) as file:
        process = int(file.read())
    number = read_number(disk, 0) + 1
    os.kill(process, signal.SIGCONT)
    wait_answer(disk, number - 1, lambda: True, 3600)           # a job whose sender gave up may still run
    send_job(disk, words)
    os.pwrite(disk.fileno(), struct.pack("<I", number), 0)
    wait_answer(disk, number, lambda: True, float("inf"))
    os.kill(process, signal.SIGSTOP)
    return read_answer(disk)


def run_machines(arguments):
    folders = [os.path.abspath(os.path.join(arguments.folder, str(i))) for i in range(arguments.machines)]
    processes = []
    os.makedirs(arguments.folder, exist_ok=True)
    files = guest_files(arguments.cc, arguments.folder)
    try:
        for folder in folders:
            make_machine(arguments.cc, folder, arguments.kernel, arguments.cpu, files)
            processes.append(start_machine(folder))
        for folder, process in zip(folders, processes):
            with open(os.path.join(folder, "disk.img"), "rb") as disk:
                wait_answer(disk, 1, lambda: process.poll() is None, 900)
            process.send_signal(signal.SIGSTOP)
        runner = shlex.join([sys.executable, os.path.abspath(__file__), "--run", ",".join(folders)])
        return subprocess.run([word.replace("{run}", runner) for word in arguments.words]).returncode
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", help="one of `bochs --help cpu`")
    parser.add_argument("--kernel", help="a Linux kernel for x86-64 (bzImage)")
    parser.add_argument("--folder", help="where the PCs' files lie")
    parser.add_argument("--machines", type=int, default=os.cpu_count())
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--run", metavar="FOLDERS", help="run the words on one of these running PCs")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    sys.exit(run_words(arguments.run.split(","), arguments.words) if arguments.run else run_machines(arguments))


main()
