/* in_use.c - which bytes of the arena, or of one memory, each step needs, by the plan's offsets. */
#include "plan/plan.h"
#include "support/int.h"

#include <stdlib.h>

typedef struct Stretch {
    int64_t lo, hi;     /* bytes of the arena */
    int     begin, end; /* steps */
    int     buffer;
} Stretch;

static int compare_stretches(const void *a, const void *b)
{
    const Stretch *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The stretches of all spans, by rising address; of one memory, from its first byte, or of the whole arena (< 0). */
static Stretch *stretches(const Program *p, const Plan *plan, int memory, int *count)
{
    int64_t  base = memory < 0 ? 0 : plan->share[memory].base;
    Stretch *all = NULL;
    int      capacity = 0;

    *count = 0;
    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];
        int64_t       at = plan->offset[i] - base;

        if (plan->offset[i] < 0 || (memory >= 0 && plan->region[i] != memory))
            continue;
        for (int k = 0; k < b->nspan; k++) {
            Stretch s = {at + b->span[k].lo, at + b->span[k].hi, b->span[k].begin, b->span[k].end, i};

            if (b->copies > 1) {
                s.lo = at;
                s.hi = at + buffer_bytes(b);
            }
            ARENA_PUSH(p->arena, all, *count, capacity, s);
        }
    }
    if (*count)
        qsort(all, (size_t)*count, sizeof *all, compare_stretches);
    return all;
}

/* The room of a step in a memory of `size` bytes. */
static Room room_of(const Stretch *all, int count, int step, int64_t size)
{
    Room    room = {0, 0};
    int64_t top = 0;

    for (int i = 0; i < count; i++) {
        if (step < all[i].begin || step >= all[i].end || all[i].hi <= top)
            continue;
        room.hole = int_max(room.hole, all[i].lo - int_round_up(top, WORKSPACE_ALIGN));
        room.live += all[i].hi - int_max(all[i].lo, top);
        top = all[i].hi;
    }
    room.hole = int_max(room.hole, size - int_round_up(top, WORKSPACE_ALIGN));
    return room;
}

static bool lives_with(const Buffer *buffer, const Stretch *s)
{
    for (int i = 0; i < buffer->nspan && s->buffer != buffer->id; i++)
        if (buffer->span[i].begin < s->end && s->begin < buffer->span[i].end)
            return true;
    return false;
}

int64_t program_hole_of(const Program *p, const Plan *plan, const Buffer *buffer, int64_t *offset)
{
    const PlanShare *share = &plan->share[plan->region[buffer->id]];
    int64_t          top = 0, most = 0;
    int              count;
    Stretch         *all = stretches(p, plan, plan->region[buffer->id], &count);

    for (int i = 0; i <= count; i++) {
        int64_t lo = int_round_up(top, buffer->align), hi = i < count ? all[i].lo : share->peak;

        if (i < count && !lives_with(buffer, &all[i]))
            continue;
        if (hi - lo > most) {
            most = hi - lo;
            *offset = share->base + lo;
        }
        top = i < count ? int_max(top, all[i].hi) : top;
    }
    return most;
}

int64_t *program_in_use(const Program *p, const Plan *plan)
{
    int64_t *in_use = arena_array(p->arena, int64_t, p->nstep + 1);
    int      count;
    Stretch *all = stretches(p, plan, -1, &count);

    for (int step = 0; step < p->nstep; step++)
        in_use[step] = room_of(all, count, step, 0).live;
    return in_use;
}

Room *program_rooms(const Program *p, const Plan *plan, int memory)
{
    Room    *room = arena_array(p->arena, Room, p->nstep + 1);
    int      count;
    Stretch *all = stretches(p, plan, memory, &count);

    for (int step = 0; step < p->nstep; step++)
        room[step] = room_of(all, count, step, plan->share[memory].peak);
    return room;
}
