/* packing.h - constant weights in panels, packed block by block when they are read: [group][block of 32
 * outputs][row][output][lane]. The last block of a group is as wide as its outputs; a margin of zeros follows. The
 * content of a row is up to its packer. */
#ifndef OCC_LOWER_PACKING_H
#define OCC_LOWER_PACKING_H

#include "lower/lower.h"

enum { PACKING_PANEL = 32 };

/* Rows of one block: [row, row + count) of the block of `width` outputs that begins with `output` of `group`. */
typedef struct PackedRows {
    int64_t group, output, width, row, count;
} PackedRows;

typedef struct PanelPacking PanelPacking;
struct PanelPacking {
    Packing base;            /* first; set by packing_add */
    int64_t groups, outputs; /* outputs of a group */
    int64_t rows;            /* rows of each block */
    int64_t lane;            /* elements that an output has in a row; at most 4 */
    int64_t margin;          /* elements of zero behind the last block */
    DType   dtype;
    void (*put)(const PanelPacking *packing, const PackedRows *rows, void *to); /* writes all elements of these rows */
};

/* A weight of the program that `packing` packs. `packing` and its constant must live as long as the program. */
Operand packing_add(Lower *lower, PanelPacking *packing, const char *name);

#endif
