/* target.c - the targets that code can be made for. */
#include "emit/emit.h"

#include <string.h>

static int emit_null(Emission *emission)
{
    Arena *arena = emission->program->arena;

    emission->source = emission->header = emission->main = text_new(arena);
    return 0;
}

const Target targets[] = {
    {"portable", "C99 for any compiler and instruction set; vectors where the C compiler has them", 64, 64, true, NULL, emit_c},
    {"native", "the same, tuned for the machine that occamyc runs on", 64, 64, true, NULL, emit_c},
    {"x86-64-v3", "x86 with AVX2 and FMA", 64, 32, true, "defined(__AVX2__) && defined(__FMA__)", emit_c},
    {"x86-64-v4", "x86 with AVX-512", 64, 64, true, "defined(__AVX512F__) && defined(__AVX512VL__)", emit_c},
    {"x86-64-v4-vnni", "the same with dot products of bytes", 64, 64, true,
     "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)", emit_c},
    {"armv8", "64-bit Arm with NEON", 16, 16, true, "defined(__aarch64__)", emit_c},
    {"cortex-m", "Arm microcontrollers: small alignment, no vectors", 16, 4, false, NULL, emit_c},
    {"null", "emits nothing; for tests and timing", 64, 64, true, NULL, emit_null},
};
const int ntargets = (int)(sizeof targets / sizeof *targets);

const Target *target_find(const char *name)
{
    for (int i = 0; i < ntargets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}
