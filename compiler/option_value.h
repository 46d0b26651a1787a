/* option_value.h - numbers, sizes and bounds as the command line writes them; false: the text says none. */
#ifndef OCC_OPTION_VALUE_H
#define OCC_OPTION_VALUE_H

#include "graph/ir.h"
#include "program/program.h"

/* A decimal number without sign that fills [text, end). */
bool value_number(const char *text, const char *end, int64_t *out);

/* Bytes: a whole number, alone or with B, K, KiB, M, MiB, G or GiB (powers of 1024). */
bool value_size(const char *text, int64_t *out);

/* RATE[:LATENCY[:ALIGN]]: bytes a second, with K, M or G (powers of 1000); a time in us or ms; bytes. Parts that are
 * left out stay as they are in *out. */
bool value_loader(Arena *arena, const char *text, Loader *out);

/* NAME=N, NAME=A..B, NAME<=N, NAME=N|N|N, and VALUE:AXIS in place of NAME. */
bool value_bound(Arena *arena, const char *text, DimBound *out);

#endif
