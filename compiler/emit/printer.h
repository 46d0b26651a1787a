/* printer.h - the interface of a target: one function for each construct of a run, and for each file. The walks of
 * emission (emit_run.c, step.c, weights.c) determine what is called with what; a printer writes it. c_printer writes
 * C99, null_printer a line for each construct. */
#ifndef OCC_EMIT_PRINTER_H
#define OCC_EMIT_PRINTER_H

#include "program/program.h"
#include "support/text.h"

struct Emit;

/* `index` is the number of a step, `depth` the number of branches and loops around it. Lines go to emit->run, functions
 * to emit->functions. */
typedef struct Printer {
    const char *extension; /* of the source file: ".c" */

    /* A scalar expression as a function, whose parameters and text are `body`; the type is that of its result. */
    void (*expression)(struct Emit *emit, const char *type, const char *name, const char *body);

    /* For a step: the function that it calls, with parameters and text `body`; its call; the call of all its slices, if
     * it has several. */
    void (*function)(struct Emit *emit, const Step *step, const char *name, const char *body);
    void (*call)(struct Emit *emit, const Step *step, const char *function, const char *arguments, Text *text);
    void (*slices)(struct Emit *emit, int index, Text *call);

    /* The line of a step whose kernel cannot fail, and of one that may. */
    void (*launch)(struct Emit *emit, int index, const char *call, int depth);
    void (*launch_failing)(struct Emit *emit, int index, const char *call, int depth);

    /* Sets the slot of a run-time integer to `value`, which must be `within` an interval (NULL: any). */
    void (*set)(struct Emit *emit, int index, const char *value, const Expr *within, int depth);
    void (*read)(struct Emit *emit, const Operand *operand, Text *value); /* the value that lies at an operand */
    void (*check)(struct Emit *emit, int index, const char *condition, int depth);

    /* Opens a branch, taken if the condition is not 0, or a loop of so many iterations, around the steps of its
     * range. */
    void (*open)(struct Emit *emit, int index, const char *condition, int depth);
    void (*otherwise)(struct Emit *emit, int index, int depth);
    void (*close)(struct Emit *emit, int index, int depth);

    /* The line that begins to load a block, and the line in front of a step that needs it. */
    void (*fetch)(struct Emit *emit, int index, int depth);
    void (*await)(struct Emit *emit, int index, int depth);

    /* The line of a copy between memories, and the line in front of a step before which the host waits for the
     * device. */
    void (*copy)(struct Emit *emit, int index, int depth);
    void (*join)(struct Emit *emit, int index, int depth);

    /* The line in the place of a stretch of steps, by its number, which is given to the device as one graph. */
    void (*stretch)(struct Emit *emit, int stretch, int depth);

    /* The lines in the place of a row of steps, by its number, whose branches the device may decide. */
    void (*row)(struct Emit *emit, int row, int depth);

    /* The line in front of a step that waits for step `of` of another queue. */
    void (*wait)(struct Emit *emit, int index, int of, int depth);

    const char *(*base)(const struct Emit *emit, int share); /* the first byte of one of the plan's memories */

    /* The declarations for the lines in `body`: variables, then `between`, then their values. */
    void (*prologue)(struct Emit *emit, Text *text, const Text *body, const char *between);
    void (*run)(struct Emit *emit); /* the run function around all lines, to emit->run */

    void (*weight)(struct Emit *emit, Text *text, int buffer); /* a constant that lies in the source */
    void (*weight_file)(struct Emit *emit, Text *text);        /* the lines that bring in a file of constants */

    /* Whole files. */
    void (*source)(struct Emit *emit, Text *text);
    void (*device)(struct Emit *emit, Text *text); /* the code of a device; NULL: there is none */
    void (*header)(struct Emit *emit, Text *text);
    void (*host)(struct Emit *emit, Text *text);
} Printer;

extern const Printer c_printer, cuda_printer, null_printer;

#endif
