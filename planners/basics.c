/* basics.c - see basics.h. */
#include "basics.h"

#include <stdlib.h>

static int by_keys(const void *left, const void *right)
{
    const RankedBuffer *a = left, *b = right;

    for (int i = 0; i < 3; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] > b->key[i] ? -1 : 1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

void ranked_sort(RankedBuffer *ranked, int count)
{
    qsort(ranked, (size_t)count, sizeof *ranked, by_keys);
}
