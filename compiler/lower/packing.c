/* packing.c - any range of bytes of packed weights. Whole rows are written in place; those at the ends of the range are
 * packed beside it and copied in part. */
#include "lower/packing.h"
#include "support/int.h"

#include <string.h>

enum { MOST_LANES = 4, MOST_ELEMENT = 4 };

/* Elements [first, first + count) of the block, from the rows that hold them. */
static void put_elements(const PanelPacking *p, PackedRows block, int64_t first, int64_t count, char *to)
{
    int64_t          width = block.width * p->lane, size = dtype_info(p->dtype)->bytes;
    _Alignas(8) char row[PACKING_PANEL * MOST_LANES * MOST_ELEMENT];

    while (count) {
        int64_t skip = first % width, taken = int_min(count, width - skip);

        block.row = first / width;
        block.count = 1;
        if (taken == width) {
            block.count = count / width;
            taken = block.count * width;
            p->put(p, &block, to);
        } else {
            p->put(p, &block, row);
            memcpy(to, row + skip * size, (size_t)(taken * size));
        }
        first += taken;
        count -= taken;
        to += taken * size;
    }
}

static void make(const Packing *packing, int64_t from, int64_t bytes, void *to)
{
    const PanelPacking *p = (const PanelPacking *)packing;
    int64_t             size = dtype_info(p->dtype)->bytes, deep = p->rows * p->lane, group = p->outputs * deep;
    int64_t             at = from / size, end = at + bytes / size, last = p->groups * group;
    char               *next = to;

    while (at < end && at < last) {
        int64_t    output = at % group / (PACKING_PANEL * deep) * PACKING_PANEL, first = at % group - output * deep;
        PackedRows block = {at / group, output, int_min(p->outputs - output, PACKING_PANEL), 0, 0};
        int64_t    count = int_min(end - at, block.width * deep - first);

        put_elements(p, block, first, count, next);
        at += count;
        next += count * size;
    }
    memset(next, 0, (size_t)((end - at) * size));
}

Operand packing_add(Lower *lower, PanelPacking *packing, const char *name)
{
    packing->base.make = make;
    return lower_packed(lower, &packing->base, packing->dtype,
                        packing->groups * packing->outputs * packing->rows * packing->lane + packing->margin, name);
}
