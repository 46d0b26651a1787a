/* row_table.h - tables of which a step loads single rows while the model runs, as embeddings are: the table lies in the
 * weights file, behind the blocks, and each row has its sum of 8 bytes behind it (codegen_templates/c/rows.c). Knows
 * nothing of where in the file. */
#ifndef OCC_PROGRAM_ROW_TABLE_H
#define OCC_PROGRAM_ROW_TABLE_H

#include "program/program.h"

/* The tables whose rows are loaded, and how. */
typedef struct RowForm {
    int64_t least;   /* bytes: smaller tables are loaded as a whole, like other constants */
    int64_t align;   /* bytes: places and sizes of loads are multiples of it; a power of two */
    int64_t staging; /* bytes that loads may take in the arena, as long as one row is less */
    int     ahead;   /* loads in flight at a time, at most */
} RowForm;

/* Each step that picks rows of a large constant by index becomes one that loads them. */
void program_load_rows(Program *program, const RowForm *form);

/* Loads of such a step: in flight at a time, and of a whole run, at most; 0: it is another step. */
int64_t step_rows_ahead(const Step *step);
int64_t step_rows_loads(const Step *step);

/* Bytes that one load for a single row takes at most. */
int64_t step_rows_bytes(const Step *step);

/* Bytes [from, from + bytes) of a BUFFER_TABLE as they lie in the file. */
void table_bytes(const Program *program, const Buffer *table, int64_t from, int64_t bytes, void *to);

#endif
