"""Stands in for occamyc when the test tools are tested: its program prints the stored outputs of the case's first set.

The environment variable STAND_IN says what goes wrong: pass, wrong, refused, crash, cc-fail, fails or overrun.
"""

import os
import signal
import sys

import cases

PRINTED = {1: "float", 7: "int64", 8: "text", 22: "int4"}

PROGRAM = """#include <stdio.h>
#include <sys/stat.h>

static void put(const char *path, const unsigned char *data, size_t bytes, const char *line)
{
    FILE *file = fopen(path, "wb");
    fwrite(data, 1, bytes, file);
    fclose(file);
    puts(line);
}

int main(void)
{
    mkdir("out", 0777);
%s    puts("arena planned 8 touched %d");
    return %d;
}
"""


def print_tensor(label, tensor, spoil):
    raw = bytearray(tensor.raw)
    if spoil:
        raw[-1] ^= 64
    extents = "".join(f"[{n}]" for n in tensor.shape) or "[]"
    text = ", ".join(map(str, raw)) or "0"
    return (f"    static const unsigned char data_{label.replace('.', '_')}[] = {{{text}}};\n"
            f'    put("out/{label}.bin", data_{label.replace(".", "_")}, {len(raw)}, '
            f'"{label} some name {PRINTED[tensor.dtype]} {extents}");\n')


def main():
    mode = os.environ["STAND_IN"]
    if mode == "refused":
        print("model.onnx: node 0 'n' (Add): found nothing, wanted something", file=sys.stderr)
        sys.exit(3)
    if mode == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    folder = os.path.dirname(sys.argv[sys.argv.index("-o") + 1])
    case = cases.Case(os.path.dirname(sys.argv[1]))
    body = ""
    for i, value in enumerate(case.sets[0][1]):
        members = [(f"{i}.{k}", v) for k, v in enumerate(value)] if isinstance(value, list) else [(str(i), value)]
        body += "".join(print_tensor(label, tensor, mode == "wrong") for label, tensor in members)
    with open(os.path.join(folder, "main.c"), "w") as file:
        file.write(PROGRAM % (body, 12 if mode == "overrun" else 8, mode == "fails"))
        if mode == "cc-fail":
            file.write("broken")


if __name__ == "__main__":
    main()
