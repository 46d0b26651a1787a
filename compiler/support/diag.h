/* diag.h - the one channel for messages about the user's model and options. Knows nothing of graphs; never prints. */
#ifndef OCC_SUPPORT_DIAG_H
#define OCC_SUPPORT_DIAG_H

#include "support/arena.h"

/* The classes of failure are the exit codes of the command. */
typedef enum DiagClass {
    DIAG_NONE = 0,
    DIAG_USAGE = 1,       /* command line, input or output */
    DIAG_INVALID = 2,     /* the model is not valid ONNX */
    DIAG_UNSUPPORTED = 3, /* valid, but refused; the message ends with the remedy */
    DIAG_LIMIT = 4,       /* a limit is exceeded or the plan got worse */
    DIAG_BUG = 70         /* occamyc contradicts itself */
} DiagClass;

/* Where in the model. A zeroed Loc means the model as a whole. */
typedef struct Loc {
    const char *graph; /* name of the nested graph, or NULL in the main graph */
    int         node;  /* position of the node in its graph, from 0; meaningful when op != NULL */
    const char *name;  /* node name, "" when the model gives none */
    const char *op;    /* operator type, or NULL: not about a node */
} Loc;

typedef struct Diag {
    Arena       *arena;
    const char  *file;    /* the model's path as the user gave it */
    DiagClass    status;  /* class of the first error, DIAG_NONE: none so far */
    const char **message; /* one line each, complete: "model.onnx: node 12 'conv3' (Conv): found ..., wanted ..." */
    int          nmessage, cmessage;
} Diag;

/* Records a line and returns -1. Messages say what was found, what was wanted and, where something is refused, the
 * remedy. */
int diag_report(Diag *diag, DiagClass class, Loc loc, const char *format, ...) __attribute__((format(printf, 4, 5)));

#define diag_error(diag, loc, ...) diag_report(diag, DIAG_INVALID, loc, __VA_ARGS__)
#define diag_unsupported(diag, loc, ...) diag_report(diag, DIAG_UNSUPPORTED, loc, __VA_ARGS__)
#define diag_usage(diag, ...) diag_report(diag, DIAG_USAGE, (Loc){0}, __VA_ARGS__)
#define diag_limit(diag, ...) diag_report(diag, DIAG_LIMIT, (Loc){0}, __VA_ARGS__)
#define diag_bug(diag, loc, ...) diag_report(diag, DIAG_BUG, loc, __VA_ARGS__)
#define diag_note(diag, loc, ...) diag_report(diag, DIAG_NONE, loc, __VA_ARGS__) /* a remark that is no failure */

#endif
