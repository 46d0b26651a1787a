/* target.c - the targets that code can be made for. */
#include "emit/emit.h"

#include <string.h>

static int emit_null(Emission *emission)
{
    Arena *arena = emission->program->arena;

    emission->source = emission->header = emission->main = text_new(arena);
    return 0;
}

/* The instruction sets of other processors, and vectors made for tests. */
static const char *const absent_of_cortex_m[] = {"__x86_64__",  "__i386__",     "__SSE2__",        "__SSE4_1__",
                                                 "__AVX__",     "__AVX2__",     "__FMA__",         "__F16C__",
                                                 "__AVX512F__", "__AVX512BW__", "__AVX512VNNI__",  "__AVXVNNI__",
                                                 "__aarch64__", "__ARM_NEON",   "OCC_FORCE_WIDTH", NULL};

/* A solid-state disk; a memory card. */
#define FROM_DISK \
    { \
        2.0, 80e3, 4096 \
    }
#define FROM_CARD \
    { \
        0.02, 300e3, 32 \
    }

const Target targets[] = {
    {"portable", "C99 for any compiler and instruction set; vectors where the C compiler has them", 64, 64, true,
     FROM_DISK, NULL, NULL, emit_c},
    {"native", "the same, tuned for the machine that occamyc runs on", 64, 64, true, FROM_DISK, NULL, NULL, emit_c},
    {"x86-64-v3", "x86 with AVX2 and FMA", 64, 32, true, FROM_DISK, NULL, "defined(__AVX2__) && defined(__FMA__)",
     emit_c},
    {"x86-64-v4", "x86 with AVX-512", 64, 64, true, FROM_DISK, NULL, "defined(__AVX512F__) && defined(__AVX512VL__)",
     emit_c},
    {"x86-64-v4-vnni", "the same with dot products of bytes", 64, 64, true, FROM_DISK, NULL,
     "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)", emit_c},
    {"armv8", "64-bit Arm with NEON", 16, 16, true, FROM_DISK, NULL, "defined(__aarch64__)", emit_c},
    {"cortex-m", "Arm microcontrollers: small alignment, no vectors", 16, 4, false, FROM_CARD, absent_of_cortex_m, NULL,
     emit_c},
    {"null", "emits nothing; for tests and timing", 64, 64, true, FROM_DISK, NULL, NULL, emit_null},
};
const int ntargets = (int)(sizeof targets / sizeof *targets);

const Target *target_find(const char *name)
{
    for (int i = 0; i < ntargets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}
