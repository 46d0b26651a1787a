/* occ_stages.h - factors of a tile of a product that come to shared memory stage by stage, while those that came before
 * are used. Knows nothing of where they come from and what is summed.
 *
 *   stage 0 comes | 1 comes | 2 comes | ...
 *                 | 0 used  | 1 used  | ...      one barrier each */
#ifndef OCC_STAGES_H
#define OCC_STAGES_H

#include "occ_sides.h"

/* The shape of stages, all literals: the number of a tile's sides, `terms` floats of each row and column, `pitch`
 * floats apart; `count` stages, 2 or 4, lie in shared memory at a time. */
typedef struct occ_stages {
    int sides, terms, pitch, count;
} occ_stages;

/* Begins to bring terms k to k + s->terms - 1 of all rows to sa, of all columns to sb; those behind the last become
 * 0. */
typedef void occ_stage_fill(float *sa, float *sb, const void *factors, const occ_stages *s, int64_t k);

/* Adds the terms of a stage to sums of the caller's type. */
typedef void occ_stage_add(void *sums, const float *sa, const float *sb, int sides);

#define OCC_STAGES_FLOATS(lines, pitch, count) ((lines) * (pitch) * (count)) /* lines: rows and columns */

/* Brings and adds all terms. memory: OCC_STAGES_FLOATS, shared, free behind this */
OCC_HOT void occ_stages_run(float *memory, const occ_stages *s, int64_t terms, occ_stage_fill *fill,
                            const void *factors, occ_stage_add *add, void *sums)
{
    const int rows = occ_tile_rows(s->sides) * s->pitch, size = rows + occ_tile_columns(s->sides) * s->pitch;
    int       here = 0, there = 0;
    for (int64_t k = 0; k < (s->count - 1) * s->terms; k += s->terms, there++) {
        if (k < terms)
            fill(memory + there * size, memory + there * size + rows, factors, s, k);
        occ_copy_commit();
    }
    for (int64_t k = 0; k < terms; k += s->terms) {
        const int64_t next = k + (s->count - 1) * s->terms;
        if (s->count == 4)
            occ_copy_wait(2);
        else
            occ_copy_wait(0);
        occ_barrier(); /* this stage is there, and the one before has been used */
        if (next < terms)
            fill(memory + there * size, memory + there * size + rows, factors, s, next);
        occ_copy_commit();
        add(sums, memory + here * size, memory + here * size + rows, s->sides);
        here = here + 1 < s->count ? here + 1 : 0;
        there = there + 1 < s->count ? there + 1 : 0;
    }
    occ_copy_wait(0);
    occ_barrier(); /* all have been used */
}

#endif
