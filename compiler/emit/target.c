/* target.c - the table of targets. */
#include "emit/emit.h"

#include <string.h>

/* Macros that no C compiler of a host defines: those of device code. */
static const char *const absent_of_c[] = {"OCC_ON_DEVICE", NULL};

/* The same, and those of the instruction sets that the templates have vectors for. */
static const char *const absent_of_scalar[] = {"OCC_ON_DEVICE", "__x86_64__",  "__i386__",     "__SSE2__",
                                               "__SSE4_1__",    "__AVX__",     "__AVX2__",     "__FMA__",
                                               "__F16C__",      "__AVX512F__", "__AVX512BW__", "__AVX512VNNI__",
                                               "__AVXVNNI__",   "__aarch64__", "__ARM_NEON",   NULL};

/* A solid-state disk; a memory card. */
#define FROM_DISK \
    { \
        2.0, 80e3, 4096 \
    }
#define FROM_CARD \
    { \
        0.02, 300e3, 32 \
    }

/* Macros that the device's compilers never define. */
static const char *const absent_of_device[] = {
    "OCC_FORCE_SCALAR", "OCC_HOSTED",  "OCC_SHARED", "__SSE2__",          "__SSE4_1__",     "__AVX__",
    "__AVX2__",         "__FMA__",     "__F16C__",   "__AVX512F__",       "__AVX512BW__",   "__AVX512VNNI__",
    "__AVXVNNI__",      "__aarch64__", "__ARM_NEON", "__ARM_FEATURE_FMA", "__FP_FAST_FMAF", NULL};

const Target device_code = {
    .name = "device", .buffer_align = 256, .absent = absent_of_device, .fixed_width = 1, .language = LANGUAGE_DEVICE};

const Target targets[] = {
    {"portable", "C99 for any compiler and instruction set; vectors where the C compiler has them", 64, &core_unknown,
     true, FROM_DISK, absent_of_c, 0, NULL, NULL, LANGUAGE_C, &c_printer},
    {"native", "the same, tuned for the machine that occamyc runs on", 64, NULL, true, FROM_DISK, absent_of_c, 0, NULL,
     NULL, LANGUAGE_C, &c_printer},
    {"x86-64-v3", "x86 with AVX2 and FMA", 64, &core_avx2, true, FROM_DISK, absent_of_c, 0,
     "defined(__AVX2__) && defined(__FMA__)", "with -march=x86-64-v3", LANGUAGE_C, &c_printer},
    {"x86-64-v4", "x86 with AVX-512", 64, &core_avx512, true, FROM_DISK, absent_of_c, 0,
     "defined(__AVX512F__) && defined(__AVX512VL__)", "with -march=x86-64-v4", LANGUAGE_C, &c_printer},
    {"x86-64-v4-vnni", "the same with dot products of bytes", 64, &core_vnni, true, FROM_DISK, absent_of_c, 0,
     "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)", "with -march=x86-64-v4 -mavx512vnni",
     LANGUAGE_C, &c_printer},
    {"armv8", "64-bit Arm with NEON", 16, &core_armv8, true, FROM_DISK, absent_of_c, 0, "defined(__aarch64__)",
     "by a compiler for 64-bit Arm", LANGUAGE_C, &c_printer},
    {"cortex-m", "Arm microcontrollers: small alignment, no vectors", 16, &core_cortex_m, false, FROM_CARD,
     absent_of_scalar, 1, NULL, NULL, LANGUAGE_C, &c_printer},
    {"cuda", "C for the host and CUDA for the device", 256, &core_unknown, true, FROM_DISK, absent_of_c, 0, NULL, NULL,
     LANGUAGE_DEVICE, &cuda_printer},
    {"null", "no code but a line for each step; for tests and timing", 64, &core_unknown, true, FROM_DISK, absent_of_c,
     0, NULL, NULL, LANGUAGE_C, &null_printer},
};
const int ntargets = (int)(sizeof targets / sizeof *targets);

const Target *target_find(const char *name)
{
    for (int i = 0; i < ntargets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

const Target *target_of(const Options *options)
{
    return target_find(options->target ? options->target : "portable");
}

const Core *target_core(const Target *target)
{
    return target->core ? target->core : core_here();
}

bool target_writes(const Target *target, const char *path)
{
    size_t length = strlen(path), n = strlen(target->printer->extension);

    return length > n && !strcmp(path + length - n, target->printer->extension);
}

const char *target_stem(Arena *arena, const Target *target, const char *path)
{
    return arena_strndup(arena, path, strlen(path) - strlen(target->printer->extension));
}
