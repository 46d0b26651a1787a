/* csv.h - planning problems as text: the CSV of MiniMalloc (github.com/google/minimalloc), read and written.
 * Knows nothing of planning; input is hostile until csv_read has accepted it. */
#ifndef OCC_CSV_H
#define OCC_CSV_H

#include <stddef.h>
#include "planners/planner.h"

enum { CSV_COLUMNS = 64 };

/* A table as read. Step 0 is the file's first time and steps are its units; where the times span more than 2^31 of them
 * they are renumbered densely: then step k begins at time[k]. */
typedef struct CsvTable {
    PlanProblem problem; /* its arrays belong to the table */
    char       *text;    /* a copy of the file, ending in a zero byte */
    size_t     *row;     /* [nbuffer+1] where each buffer's line begins in text; the last entry: the end */
    size_t      header;  /* where the header's line begins */
    int64_t    *time;    /* the distinct times of the file, ascending */
    int         dense;   /* nonzero: steps are indices into time[] */
    int64_t    *offset;  /* [nbuffer] the column "offset", -1 where absent or empty */
    int32_t    *region;  /* [nbuffer] the column "region", 0 where absent or empty */
    int         ncolumn;
    int         id_column;
    int         offset_column; /* or -1 */
} CsvTable;

/* Reads length bytes of CSV: a header line, then a line per buffer. Columns, in any order: id (or buffer, buffer_id),
 * lower (begin, start), upper (or end, which counts the last step in), size; optional alignment, gaps, offset, traffic
 * (bytes over the life), regions (a set of bits; 0: any) and region (where it lies); others are kept but not
 * understood. gaps: words "from-to" (not live then) or "from-to@lo:hi" (only those bytes are). The offset column does
 * not fix anything: see csv_fix. Returns 0, or PLAN_EINVAL with the line at fault in why, or PLAN_ENOMEM; in both cases
 * there is nothing to free. */
int  csv_read(const char *text, size_t length, CsvTable *table, char why[160]);
void csv_free(CsvTable *table);

/* Makes the offsets of the file binding: buffers with one become fixed. */
void csv_fix(CsvTable *table);

/* What the file calls a buffer: *length bytes of the table's text. */
const char *csv_id(const CsvTable *table, int buffer, int *length);

/* The lines of the file with a column "offset" added or replaced, and with a column "region" behind all others unless
 * region is NULL. The caller frees the text; NULL on lack of memory. */
char *csv_write(const CsvTable *table, const int64_t *offset, const int32_t *region);

#endif
