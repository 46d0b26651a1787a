/* in_use.c - which bytes of the arena each step needs, by the plan's offsets. */
#include "plan/plan.h"

#include <stdlib.h>

typedef struct Stretch {
    int64_t lo, hi;     /* bytes of the arena */
    int     begin, end; /* steps */
} Stretch;

static int compare_stretches(const void *a, const void *b)
{
    const Stretch *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The stretches of all spans, by rising address. */
static Stretch *stretches(const Program *p, const Plan *plan, int *count)
{
    Stretch *all = NULL;
    int      capacity = 0;

    *count = 0;
    for (int i = 0; i < p->nbuffer; i++)
        for (int k = 0; k < p->buffer[i].nspan && plan->offset[i] >= 0; k++) {
            const Buffer *b = &p->buffer[i];
            int64_t       at = plan->offset[i];
            Stretch       s = {at + b->span[k].lo, at + b->span[k].hi, b->span[k].begin, b->span[k].end};

            if (b->copies > 1) {
                s.lo = at;
                s.hi = at + buffer_bytes(b);
            }
            ARENA_PUSH(p->arena, all, *count, capacity, s);
        }
    if (*count)
        qsort(all, (size_t)*count, sizeof *all, compare_stretches);
    return all;
}

int64_t *program_in_use(const Program *p, const Plan *plan)
{
    int64_t *in_use = arena_array(p->arena, int64_t, p->nstep + 1);
    int      count;
    Stretch *all = stretches(p, plan, &count);

    for (int step = 0; step < p->nstep; step++) {
        int64_t top = 0;

        for (int i = 0; i < count; i++) {
            int64_t from = all[i].lo > top ? all[i].lo : top;

            if (step < all[i].begin || step >= all[i].end || all[i].hi <= from)
                continue;
            in_use[step] += all[i].hi - from;
            top = all[i].hi;
        }
    }
    return in_use;
}
