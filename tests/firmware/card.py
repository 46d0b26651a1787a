"""A network on a microcontroller whose weights lie on a card: card.py --occamyc=P --folder=F MODEL

The model is compiled for the target cortex-m with --weights=swap, inputs and outputs in the arena, and built with a driver
of ten lines that reads blocks when they are asked for. Built here it must give the bits of the portable code with its
weights inside; on QEMU's boards as well, and all its memory, stack and driver included, must be within --ram. Skipped,
loudly and counted, where the cross compiler or QEMU is not installed.
"""

import argparse
import os
import re
import shlex
import shutil
import sys

import measure

# Cores that fuse multiplications and additions say so by this macro; the text for them has no other processor's.
FUSED = "-D__ARM_FEATURE_FMA"
CARD = """\
    .section .note.GNU-stack,"",%progbits
    .section .rodata
    .globl case_card
    .balign 32
case_card:
    .incbin "model.c.weights"
"""
CASE = """\
#include "model.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------ the driver of the card */

extern const unsigned char case_card[];

static int64_t card_load(void *card, int64_t from, int64_t bytes, void *to)
{
    memcpy(to, (const unsigned char *)card + from, (size_t)bytes); /* of a real one: card_read(card, from, bytes, to) */
    return 0;
}

static int card_wait(void *card, int64_t ticket)
{
    (void)card, (void)ticket;
    return 0; /* the bytes were there when card_load returned */
}

/* -------------------------------------------------------------------------------------------------------- the case */

static uint8_t    case_arena[MODEL_ARENA_SIZE] __attribute__((aligned(MODEL_ARENA_ALIGN)));
static uint8_t    case_kept[MODEL_KEPT_SIZE + 1] __attribute__((aligned(MODEL_KEPT_ALIGN)));
static model_swap case_swap;

static int case_run(void)
{
    model_memory  memory = {0};
    model_inputs  in = {0};
    model_outputs out = {0};

    memory.arena = case_arena;
#if MODEL_KEPT_SIZE > 0
    memory.kept = case_kept;
#endif
    memory.swap = &case_swap;
    memory.load = card_load;
    memory.wait = card_wait;
    memory.load_context = (void *)(uintptr_t)case_card;
    (void)case_kept;
    return model_run(&memory, &in, &out);
}
"""


def write_case(folder, inputs, outputs):
    """case.h and card.S; inputs: arrays, outputs: (name, bytes)."""
    with open(os.path.join(folder, "model.h")) as file:
        header = file.read()
    ins = re.findall(r"^#define (MODEL_IN_\w+) \d+ ", header, re.M)
    outs = re.findall(r"^#define (MODEL_OUT_\w+) \d+ ", header, re.M)
    text = [CASE]
    for i, array in enumerate(inputs):
        text.append(f"static const uint8_t case_in{i}[] = {{{','.join(map(str, array.tobytes()))}}};")
    text += ["static int case_all(void)", "{"]
    text += [f"    memcpy(case_arena + {name}, case_in{i}, sizeof case_in{i});" for i, name in enumerate(ins)]
    text += ["    return case_run();", "}", "static const struct { const uint8_t *bytes; uint32_t count; } case_output[] = {"]
    text += [f"    {{case_arena + {name}, {size}}}," for name, size in zip(outs, outputs)]
    text += ["};", "#define CASE_RUN(memory, in, out) case_all()", ""]
    for name, content in (("case.h", "\n".join(text)), ("card.S", CARD)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)


def generate(arguments, path, wanted):
    folder = os.path.join(arguments.folder, measure.model_name(path), "card")
    os.makedirs(folder, exist_ok=True)
    said = measure.run([os.path.abspath(arguments.occamyc), os.path.abspath(path), "-o", "model.c", "--name=model",
                        "--weights=swap", "--target=cortex-m", "--io=arena", f"--max-ram={arguments.budget}"], folder)
    print(re.search(r"^RAM.*", said, re.M)[0])
    print(re.search(r"^swap.*", said, re.M)[0], flush=True)
    write_case(folder, measure.stored_inputs(path), [array.nbytes for array in wanted])
    return folder


def check_here(arguments, core, folder, types, wanted):
    flags = [*shlex.split(core.host_flags), FUSED] if core.host_flags and measure.platform.machine() == "x86_64" else []
    measure.run([*shlex.split(arguments.host_cc), "-O2", *flags, "-o", "host", "-I.", os.path.join(measure.HERE, "host.c"),
                 "card.S", "model.c", "-lm"], folder)
    found = measure.outputs_of(measure.run(["./host"], folder), types)
    return measure.difference(found, wanted) is None


def check_board(arguments, core, folder, types, wanted):
    """Messages about what is not as it must be."""
    compiler = [arguments.cc, *shlex.split(core.flags)]
    measure.run([*compiler, *shlex.split(measure.STRICT), "-O2", "-c", "model.c", "-o", "model.o"], folder)
    for source in (os.path.join(measure.HERE, "board.c"), "card.S"):
        measure.run([*compiler, "-O1", "-I.", "-c", source, "-o", os.path.splitext(os.path.basename(source))[0] + ".o"], folder)
    measure.run([*compiler, "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs", "-T",
                 os.path.join(measure.HERE, "board.ld"), "board.o", "model.o", "card.o", "-lm", "-o", "board.elf"], folder)
    sizes = measure.run([re.sub("gcc$", "size", arguments.cc), "-A", "-d", "board.elf"], folder)
    still = sum(int(n) for n in re.findall(r"^\.(?:data|bss)\s+(\d+)", sizes, re.M))
    said = measure.emulate(arguments, core, folder)
    stack = int(re.search(r"^stack ([0-9a-f]+)", said, re.M)[1], 16)
    count = int(re.search(r"^instructions (\d+)", said, re.M)[1])
    print(f"{core.name}: {still} bytes of variables, {stack} of stack, {still + stack} in all; {count} instructions", flush=True)
    wrong = [] if measure.difference(measure.outputs_of(said, types), wanted) is None else ["the outputs differ"]
    return wrong + ([f"{still + stack} bytes, at most {arguments.ram} are wanted"] if still + stack > arguments.ram else [])


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    measure.add_tools(parser)
    parser.add_argument("--budget", default="158000", help="--max-ram of occamyc")
    parser.add_argument("--ram", type=int, default=160000, help="bytes in all, stack included")
    parser.add_argument("model")
    arguments = parser.parse_args()
    arguments.flag, arguments.profile = [], False
    return arguments


def main():
    arguments = read_arguments()
    if not os.path.exists(arguments.model):
        print(f"SKIPPED: {arguments.model} is not there\n0 passed, 0 failed, 1 skipped")
        return
    tools = all(shutil.which(tool) for tool in (arguments.cc, "qemu-system-arm"))
    passed = failed = 0
    for core in (measure.CORES[name] for name in ("m4", "m7", "m3")):
        wanted, types = measure.host_outputs(arguments, core, arguments.model)
        folder = generate(arguments, arguments.model, wanted)
        wrong = [] if check_here(arguments, core, folder, types, wanted) else ["the outputs differ, built here"]
        wrong += check_board(arguments, core, folder, types, wanted) if tools else []
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for message in wrong:
            print(f"FAILED: {core.name}: {message}")
    if not tools:
        print(f"SKIPPED: {arguments.cc} and qemu-system-arm are not installed; the same text was built and run here")
    print(f"{passed} passed, {failed} failed, {0 if tools else 3} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
