/* printer.h - how a target writes what a program does: one function for each construct of a run, and for each file.
 * The walks of emission (emit_run.c, step.c, weights.c) say what is called with what; a printer says how that reads.
 * Targets share one: c_printer writes C99, null_printer a line for each construct. */
#ifndef OCC_EMIT_PRINTER_H
#define OCC_EMIT_PRINTER_H

#include "program/program.h"
#include "support/text.h"

struct Emit;

/* `index` is that of a step, `depth` counts the branches and loops around it. Lines go to emit->run, functions to
 * emit->functions. */
typedef struct Printer {
    const char *extension; /* of the source file: ".c" */

    /* A scalar expression as a function, whose parameters and text are `body`; the type is that of its result. */
    void (*expression)(struct Emit *emit, const char *type, const char *name, const char *body);

    /* Of a step: the function that it calls, whose parameters and text are `body`; the call of it; that of all its
     * parts, where it has several. */
    void (*function)(struct Emit *emit, const Step *step, const char *name, const char *body);
    void (*call)(struct Emit *emit, const Step *step, const char *function, const char *arguments, Text *text);
    void (*parts)(struct Emit *emit, int index, Text *call);

    /* The line that begins a step: of a kernel that cannot fail, and of one that may. */
    void (*launch)(struct Emit *emit, int index, const char *call, int depth);
    void (*launch_failing)(struct Emit *emit, int index, const char *call, int depth);

    /* A run-time integer: its slot becomes `value`, which has to be `within` an interval (NULL: any will do). */
    void (*set)(struct Emit *emit, int index, const char *value, const Expr *within, int depth);
    void (*read)(struct Emit *emit, const Operand *operand, Text *value); /* the value that lies at an operand */
    void (*check)(struct Emit *emit, int index, const char *condition, int depth);

    /* A branch, taken if the condition is not 0, or a loop of so many turns: around the steps that it owns. */
    void (*open)(struct Emit *emit, int index, const char *condition, int depth);
    void (*otherwise)(struct Emit *emit, int index, int depth);
    void (*close)(struct Emit *emit, int index, int depth);

    /* Weights: the line that begins to load a block, and the one in front of a step that needs it. */
    void (*fetch)(struct Emit *emit, int index, int depth);
    void (*await)(struct Emit *emit, int index, int depth);

    /* In front of a step: step `of` of another queue has to have ended. */
    void (*wait)(struct Emit *emit, int index, int of, int depth);

    const char *(*base)(const struct Emit *emit, int share); /* the first byte of one of the plan's memories */

    /* What the lines in `body` need before them: variables, `between`, then their values. */
    void (*prologue)(struct Emit *emit, Text *text, const Text *body, const char *between);
    void (*run)(struct Emit *emit); /* the run function around all lines, to emit->run */

    void (*weight)(struct Emit *emit, Text *text, int buffer); /* a constant that lies in the source */
    void (*weight_file)(struct Emit *emit, Text *text);        /* how a file of them becomes part of the program */

    /* Whole files. */
    void (*source)(struct Emit *emit, Text *text);
    void (*header)(struct Emit *emit, Text *text);
    void (*host)(struct Emit *emit, Text *text);
} Printer;

extern const Printer c_printer, null_printer;

#endif
