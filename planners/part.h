/* part.h - one independent piece of a plain problem, reduced: only sections whose live set is contained in no other's,
 * sizes rounded up to what offsets are multiples of. Private to planners/. */
#ifndef OCC_PART_H
#define OCC_PART_H

#include "space.h"

typedef struct Part {
    int      n;            /* buffers */
    int      m;            /* sections */
    int     *origin;       /* [n] index of each buffer in the space */
    int64_t *size;         /* [n] bytes that a buffer keeps from others: a multiple of the grain */
    int64_t *need;         /* [n] bytes of the buffer itself, <= size */
    int64_t *align;        /* [n] multiple of the grain */
    int64_t *fixed;        /* [n] or -1 */
    int64_t *life;         /* [n] steps in which it is live */
    int     *first, *last; /* [n] hull of the buffer's sections, half-open */
    int     *section_at;   /* [n+1] sections of buffer b: section[section_at[b]] .. ; ascending */
    int     *section;
    int     *member_at; /* [m+1] buffers of section s: member[member_at[s]] .. */
    int     *member;
    int     *twin;    /* [n] the buffer before it that has the same sections, sizes and alignment, or -1 */
    bool     uniform; /* every alignment is the grain and nothing is fixed */
    int64_t  grain;   /* every offset is a multiple of it */
    int64_t  bound;   /* bytes: the heaviest section, see bound_live */
} Part;

/* Cuts a plain space of one region at the sections that no buffer crosses. *part is an array of *count parts, to be
 * given back with parts_close. PLAN_OK or PLAN_ENOMEM. Buffers that are never live are in no part. */
int  parts_open(const Space *space, Part **part, int *count);
void parts_close(Part *part, int count);

#endif
