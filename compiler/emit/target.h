/* target.h - the record that describes a target. A target is found by name; nothing else of the compiler knows its
 * name. */
#ifndef OCC_EMIT_TARGET_H
#define OCC_EMIT_TARGET_H

#include "emit/printer.h"
#include "kernels/cost.h"
#include "program/options.h"
#include "support/files.h"
#include "support/text.h"

typedef struct Emission {
    const Options     *options;
    const Program     *program;
    const Plan        *plan;
    const char        *name;  /* identifier: "mnist" */
    const char        *upper; /* "MNIST" */
    Diag              *diag;
    Text               source, header, main; /* filled by the target */
    Text               device;               /* the device's code, filled by the target; empty: there is none */
    FilePiece         *weights;              /* filled by the target: the side file OUTPUT.weights */
    int                nweights;             /* pieces of it; 0: there is none */
    const char *const *libc;                 /* functions of the C library that the source names, sorted */
    int                nlibc;
} Emission;

typedef struct Target {
    const char        *name;
    const char        *help;         /* one line */
    int64_t            buffer_align; /* bytes, of every buffer */
    const Core        *core;   /* kernels and slices are chosen for it; NULL: for the processor that occamyc runs on */
    bool               roomy;  /* weights and scratch may be larger where that makes code faster */
    Loader             loader; /* loads of --weights=swap: the usual source of weights */
    const char *const *absent; /* macros that its C compilers never define: text for them is removed */
    int fixed_width;           /* OCC_W in all its files, and no text for other widths; 0: the C compiler decides */
    const char *requires;      /* preprocessor condition that the C compiler must meet, or NULL */
    const char    *meet;       /* how it is met, for a message: "with -march=x86-64-v3"; NULL where `requires` is */
    Language       language;   /* of its kernels */
    const Printer *printer;    /* prints its text */
} Target;

extern const Target device_code; /* target of the device's code of a program; no option names it */
extern const Target targets[];
extern const int    ntargets;
const Target       *target_find(const char *name);     /* NULL: unknown */
const Target       *target_of(const Options *options); /* the target that the options name */
const Core         *target_core(const Target *target);
bool                target_writes(const Target *target, const char *path); /* a source file may have this name */
const char         *target_stem(Arena *arena, const Target *target, const char *path); /* less its extension */

/* The source, the header and, where options->main is given, the host program (emission.c). Returns 0, or -1 with a
 * message. */
int emit_program(Emission *emission);

#endif
