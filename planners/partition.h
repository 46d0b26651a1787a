/* partition.h - the independent partitions of a plain problem, each reduced to what decides it. Private to planners/.
 * Of the sections only those stay whose live set is contained in no other's. Sizes are rounded up to the granule, of
 * which every offset is a multiple. */
#ifndef OCC_PARTITION_H
#define OCC_PARTITION_H

#include "space.h"

typedef struct Partition {
    int      n;            /* buffers */
    int      m;            /* sections */
    int     *origin;       /* [n] index of each buffer in the space */
    int64_t *size;         /* [n] bytes that the buffer occupies: a multiple of the granule */
    int64_t *need;         /* [n] bytes of the buffer itself, <= size */
    int64_t *align;        /* [n] multiple of the granule */
    int64_t *fixed;        /* [n] or -1 */
    int64_t *life;         /* [n] steps in which it is live */
    int     *first, *last; /* [n] hull of the buffer's sections, half-open */
    int     *section_at;   /* [n+1] sections of buffer b: section[section_at[b]] .. ; ascending */
    int     *section;
    int     *member_at; /* [m+1] buffers of section s: member[member_at[s]] .. */
    int     *member;
    int     *twin;    /* [n] the buffer before it that has the same sections, sizes and alignment, or -1 */
    bool     uniform; /* every alignment is the granule and nothing is fixed */
    int64_t  granule; /* every offset is a multiple of it */
    int64_t  bound;   /* bytes: the heaviest section, see bound_live */
} Partition;

/* Cuts a plain space of one region at the sections that no buffer crosses. *partition becomes an array of *count
 * partitions, which partitions_close frees. Buffers that are never live are in none. PLAN_OK or PLAN_ENOMEM. */
int  partitions_open(const Space *space, Partition **partition, int *count);
void partitions_close(Partition *partition, int count);

#endif
