/* tiles.h - changes that make steps work in smaller tiles, and their undoing. Knows no kernel. */
#ifndef OCC_KERNELS_TILES_H
#define OCC_KERNELS_TILES_H

#include "program/program.h"

typedef struct TileChange {
    Extent *list;      /* what was changed */
    Extent  extent[5]; /* what it was before */
    int     count;
    int     buffer; /* of scratch that was made smaller, or -1 */
    int64_t bytes;  /* that it had before */
} TileChange;

typedef struct TileChanges {
    TileChange *change;
    int         count, capacity;
} TileChanges;

/* Sets an argument, or the extents of a shape. */
void tiles_set(Program *program, const Step *step, const char *name, const int64_t *value, int count,
               TileChanges *changes);

/* Sets the extent of one axis of a step's scratch, and its size in all. */
void tiles_set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements,
                       TileChanges *changes);

/* Undoes all changes. */
void tiles_restore(Program *program, TileChanges *changes);

#endif
