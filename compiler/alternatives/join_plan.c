/* join_plan.c - the plan of a joined program. Branches share the memory, and buffers keep the offsets of their
 * variants' plans; but run-time integers exist once, above all others.
 *
 *   variants   [ a | integers | b ]    [ c | integers ]
 *   joined     [ a | b | integers ], of which c shares the first bytes */
#include "alternatives/joining.h"

#include "support/int.h"

/* The offset of a variant's buffer in its memory; negative: it has none. */
static int64_t offset_in_memory(const Plan *plan, int buffer)
{
    return plan->offset[buffer] < 0 ? -1 : plan->offset[buffer] - plan->share[plan->region[buffer]].base;
}

void joining_offsets(Joining *j, const Variant *v, int64_t *offset)
{
    const Program *p = v->program;
    const int     *memory = v->plan->region;
    int64_t at = p->dims < 0 ? INT64_MAX : offset_in_memory(v->plan, p->dims), below = 0, above = INT64_MAX, align = 1;
    int     of_dims = p->dims < 0 ? 0 : memory[p->dims];
    bool    fixed = false;

    for (int b = 0; b < p->nbuffer; b++) {
        offset[b] = offset_in_memory(v->plan, b);
        if (offset[b] < 0 || !p->buffer[b].size || b == p->dims || memory[b] != of_dims)
            continue;
        if (offset[b] < at) {
            below = int_max(below, offset[b] + buffer_bytes(&p->buffer[b]));
        } else {
            above = int_min(above, offset[b]);
            fixed = fixed || buffer_is_port(&p->buffer[b]);
            align = int_max(align, p->buffer[b].align);
        }
    }
    for (int b = 0; b < p->nbuffer; b++) {
        if (offset[b] >= 0 && !p->buffer[b].size)
            offset[b] = 0;
        else if (offset[b] >= at && b != p->dims && memory[b] == of_dims && !fixed)
            offset[b] -= (above - below) / align * align;
        if (offset[b] >= 0 && b != p->dims)
            j->top[memory[b]] = int_max(j->top[memory[b]], offset[b] + buffer_bytes(&p->buffer[b]));
    }
}

/* The variant with the largest plan. */
static int largest(const Joining *j)
{
    int most = 0;

    for (int i = 1; i < j->count; i++)
        if (j->variant[i].plan->peak > j->variant[most].plan->peak)
            most = i;
    return most;
}

/* The largest plan, with what it says of itself. */
static void begin_plan(Joining *j, const Plan *most)
{
    *j->plan = (Plan){.nshare = most->nshare,
                      .ranked = most->ranked,
                      .peak = most->peak,
                      .bound = most->bound,
                      .any_order = most->any_order,
                      .align = 1,
                      .status = most->status,
                      .planner = most->planner};
    for (int i = 0; i < j->count; i++) {
        j->plan->align = int_max(j->plan->align, j->variant[i].plan->align);
        j->plan->bound = int_max(j->plan->bound, j->variant[i].plan->bound);
        for (int r = 0; r < most->nshare; r++)
            j->plan->share[r].align = int_max(j->plan->share[r].align, j->variant[i].plan->share[r].align);
    }
    for (int r = 0; r < most->nshare; r++)
        j->plan->share[r].traffic = most->share[r].traffic;
}

/* The run-time integers lie above all others in the first memory that has room. */
static void place_dims(Joining *j)
{
    int     dims = j->program->dims, r = 0;
    int64_t bytes = dims < 0 ? 0 : j->program->buffer[dims].size;

    if (!bytes)
        return;
    while (r + 1 < j->options->nregion && int_round_up(j->top[r], 8) + bytes > j->options->region[r].size)
        r++;
    j->memory[dims] = r;
    j->offset[dims] = int_round_up(j->top[r], 8);
    j->top[r] = j->offset[dims] + bytes;
}

/* Peaks of the memories, and where each begins when they lie one behind the other. */
static void share_out(Joining *j)
{
    Plan   *plan = j->plan;
    int64_t base = 0;

    plan->peak = 0;
    for (int r = 0; r < plan->nshare; r++) {
        plan->share[r].base = base;
        plan->share[r].peak = j->top[r];
        plan->peak += j->top[r];
        base = int_round_up(base + j->top[r], plan->align);
        if (j->options->nregion)
            plan->overflow += int_max(j->top[r] - j->options->region[r].size, 0);
    }
    for (int b = 0; b < j->program->nbuffer; b++)
        if (j->offset[b] >= 0)
            j->offset[b] += plan->share[j->memory[b]].base;
    plan->offset = j->offset;
    plan->region = j->memory;
}

void joining_plan(Joining *j)
{
    int                index = largest(j);
    const Renumbering *number = &j->number[index];
    const Plan        *most = j->variant[index].plan;

    begin_plan(j, most);
    place_dims(j);
    share_out(j);
    j->plan->core = arena_array(j->arena, bool, j->program->nbuffer + 1);
    for (int b = 0; b < number->from->nbuffer; b++) /* lower bounds of one branch hold for all */
        j->plan->core[number->buffer[b]] = most->core[b];
    if (j->plan->peak > most->peak) {
        j->plan->any_order = false;
        j->plan->status = j->plan->nshare > 1
                              ? "in each memory what the listed sizes need at most, and run-time extents besides"
                              : "the largest plan of the listed sizes, and what run-time extents need besides";
    }
}

/* The peaks are those that the planners reach for each variant alone, as its plan was made. */
void joining_planners(Joining *j)
{
    j->plan->planner = j->variant[largest(j)].plan->planner;
    for (int k = 0; k < 4; k++) {
        j->plan->greedy[k] = 0;
        for (int i = 0; i < j->count; i++)
            j->plan->greedy[k] = int_max(j->plan->greedy[k], j->variant[i].plan->greedy[k]);
    }
}
