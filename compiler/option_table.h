/* option_table.h - the table of options: how each is named, read and explained. Knows nothing of models. */
#ifndef OCC_OPTION_TABLE_H
#define OCC_OPTION_TABLE_H

#include "program/options.h"
#include "support/diag.h"

/* The command line while it is read. */
typedef struct WordReader {
    Options     *options;
    Diag        *diag;
    int          cbound, cstate; /* capacity of the lists */
    const char **state;
} WordReader;

enum { SHAPES_FILE = 2 };

typedef struct OptionRow {
    const char *name;
    const char *value; /* the value as help shows it; NULL: the option has none */
    bool        bare;  /* the value may be missing, and is given as --name=VALUE only */
    int shapes;        /* not 0: it changes the generated files, so the banner shows it; SHAPES_FILE: without folders */
    int (*set)(WordReader *reader, const struct OptionRow *row, const char *value);
    const char *help;
} OptionRow;

extern const OptionRow option_rows[];
extern const int       noption_rows;

#endif
