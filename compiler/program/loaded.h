/* loaded.h - what lies in the weights file that is loaded while the model runs: blocks (fetch.h) and tables
 * (row_table.h), and which of them hold the same bytes. Knows nothing of their places in the file. */
#ifndef OCC_PROGRAM_LOADED_H
#define OCC_PROGRAM_LOADED_H

#include "program/program.h"

/* The blocks in the order of their loads, then the tables: Buffer.ids in the order of the weights file. */
int *program_file_order(const Program *program, int *count);

/* Bytes [from, from + bytes) of a block or table as they lie in the file. */
void loaded_bytes(const Program *program, const Buffer *loaded, int64_t from, int64_t bytes, void *to);

/* For a quick comparison: the hash of the first and the last bytes. */
uint64_t loaded_hash(const Program *program, const Buffer *loaded);

/* Whether two blocks, or two tables, have the same bytes. */
bool loaded_same(const Program *program, const Buffer *a, const Buffer *b);

/* Sets same[id] of each buffer of the file order to the first one that has the same bytes. */
void program_find_loaded(const Program *program, int *same);

#endif
