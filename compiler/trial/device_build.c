/* device_build.c - --verify of a program for a device: on one, if there is one, else in the emulation that occamyc has
 * as text (runtime/emulation): device code as C++ for the processor, and a runtime that runs nothing before something
 * waits for it. */
#include "trial/device_build.h"

#include "program/kernels.h"
#include "support/command.h"
#include "support/files.h"

#include <string.h>
#include <unistd.h>

static const char *const emulation[] = {
    "cuda_runtime_api.h", "emulate.h", "block.h",   "fiber.h",    "fake.h",   "queue.h", "stream.h",
    "runtime.h",          "queue.cc",  "stream.cc", "runtime.cc", "graph.cc", NULL};

/* With optimisation, and without fusing what the source does not fuse: the bits of a device. */
#if defined(__x86_64__)
#define EMULATED "-std=c++17 -O1 -ffp-contract=off -mfma -DOCC_EMULATE -I."
#else
#define EMULATED "-std=c++17 -O1 -ffp-contract=off -DOCC_EMULATE -I."
#endif

/* The name of the first device, if it can be used: "GPU 0: NVIDIA A100-PCIE-40GB"; NULL: there is none. */
static const char *device_name(const Emission *emission, const char *folder)
{
    Arena *arena = emission->diag->arena;
    Text   said = text_new(arena), version = text_new(arena);
    char  *line = arena_printf(arena, "%s --version", command_variable("NVCC", "nvcc"));

    if (command_run(folder, line, &version) != 0 || command_run(folder, "nvidia-smi -L", &said) != 0 || !said.data ||
        strncmp(said.data, "GPU ", 4))
        return NULL;
    return arena_strndup(arena, said.data, strcspn(said.data, "(\n"));
}

static int write_emulation(const Emission *emission, const char *folder)
{
    for (int i = 0; emulation[i]; i++) {
        const char *text = template_text(emulation[i]);

        if (files_write(folder, emulation[i], text, strlen(text), emission->diag) < 0)
            return -1;
    }
    return 0;
}

static const char *emulated_line(const Emission *emission, bool has_device_code)
{
    Text        line = text_new(emission->diag->arena);
    const char *cxx = command_variable("CXX", "g++");

    text_printf(&line, "%s -std=c99 -O1 -I. -c main.c model.c", command_variable("CC", "cc"));
    for (int i = 0; emulation[i]; i++)
        if (strstr(emulation[i], ".cc"))
            text_printf(&line, " && %s " EMULATED " -c %s", cxx, emulation[i]);
    if (has_device_code)
        text_printf(&line, " && %s " EMULATED " -x c++ -c model.cu -o device.o", cxx);
    text_printf(&line, " && %s -o model *.o -lm -lpthread", cxx);
    return line.data;
}

int device_build(const Emission *emission, const char *folder, Text *report)
{
    Arena      *arena = emission->diag->arena;
    const char *device = device_name(emission, folder), *line;
    Text        said = text_new(arena);
    bool        has_device_code = access(arena_printf(arena, "%s/model.cu", folder), R_OK) == 0;

    if (device)
        line = arena_printf(arena, "%s -O1 -fmad=false -arch=native -o model main.c model.c %s -lm",
                            command_variable("NVCC", "nvcc"), has_device_code ? "model.cu" : "");
    else
        line = emulated_line(emission, has_device_code);
    if (!device && write_emulation(emission, folder) < 0)
        return -1;
    if (command_run(folder, line, &said) != 0)
        return diag_usage(emission->diag, "--verify: '%s' failed: %.400s", line, said.data ? said.data : "");
    if (device)
        text_printf(report, "verified on the device: %s\n", device);
    else
        text_put(report, "verified in the emulation on the processor; there is no device here, or no nvcc\n");
    return 0;
}
