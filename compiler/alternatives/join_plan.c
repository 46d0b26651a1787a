/* join_plan.c - the plan of a joined program. Branches share the memory, and buffers keep the offsets of their
 * variants' plans; but run-time integers exist once, above all others, and a device's constants and state once, below
 * them.
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

/* Constants or state in a device's memory. */
static bool stays_on_device(const Program *p, int buffer)
{
    return p->buffer[buffer].kind == BUFFER_RESIDENT || p->buffer[buffer].kind == BUFFER_DEVICE_STATE;
}

static bool is_live_throughout(const Program *p, int buffer)
{
    return buffer == p->dims || stays_on_device(p, buffer);
}

/* Whether a buffer takes bytes of a memory that others of its variant need, too. */
static bool is_in_memory(const Variant *v, const int64_t *offset, int buffer, int memory)
{
    return offset[buffer] >= 0 && v->program->buffer[buffer].size && v->plan->region[buffer] == memory;
}

/* Moves down what lies above a buffer that gives its place up. */
static void close_gap(const Variant *v, int gap, int64_t *offset)
{
    const Program *p = v->program;
    int64_t        at = offset[gap], below = 0, above = INT64_MAX, align = 1;
    int            memory = v->plan->region[gap];
    bool           fixed = false;

    offset[gap] = -1;
    for (int b = 0; b < p->nbuffer; b++) {
        if (!is_in_memory(v, offset, b, memory))
            continue;
        if (offset[b] < at) {
            below = int_max(below, offset[b] + buffer_bytes(&p->buffer[b]));
        } else {
            above = int_min(above, offset[b]);
            fixed = fixed || buffer_is_port(&p->buffer[b]);
            align = int_max(align, p->buffer[b].align);
        }
    }
    for (int b = 0; b < p->nbuffer && !fixed; b++)
        if (is_in_memory(v, offset, b, memory) && offset[b] >= at)
            offset[b] -= (above - below) / align * align;
}

void joining_offsets(Joining *j, const Variant *v, int64_t *offset)
{
    const Program *p = v->program;
    const int     *memory = v->plan->region;

    for (int b = 0; b < p->nbuffer; b++)
        offset[b] = offset_in_memory(v->plan, b);
    for (int b = 0; b < p->nbuffer; b++)
        if (is_live_throughout(p, b) && offset[b] >= 0)
            close_gap(v, b, offset);
    for (int b = 0; b < p->nbuffer; b++) {
        if (offset[b] >= 0 && !p->buffer[b].size)
            offset[b] = 0;
        if (offset[b] >= 0)
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

/* What stays on a device lies below all others, whose alignment it keeps. */
static void place_lasting(Joining *j)
{
    const Program *p = j->program;
    int64_t        bytes[MAX_REGIONS] = {0};

    for (int b = 0; b < p->nbuffer; b++)
        if (stays_on_device(p, b)) {
            j->offset[b] = bytes[j->memory[b]];
            bytes[j->memory[b]] += int_round_up(p->buffer[b].size, j->plan->share[j->memory[b]].align);
        }
    for (int b = 0; b < p->nbuffer; b++)
        if (!stays_on_device(p, b) && j->offset[b] >= 0)
            j->offset[b] += bytes[j->memory[b]];
    for (int r = 0; r < j->plan->nshare; r++)
        j->top[r] += bytes[r];
}

/* The run-time integers lie above all others in the first of their memories that has room. */
static void place_dims(Joining *j)
{
    int           r = 0;
    const Buffer *dims = program_buffer(j->program, j->program->dims);

    if (!dims)
        return;
    while (r + 1 < j->options->nregion && ((dims->regions && !(dims->regions >> r & 1)) ||
                                           int_round_up(j->top[r], 8) + dims->size > j->options->region[r].size))
        r++;
    j->memory[dims->id] = r;
    j->offset[dims->id] = int_round_up(j->top[r], 8);
    j->top[r] = j->offset[dims->id] + dims->size;
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

/* The status of a plan that needs more than each size's own. */
static const char *status_of_more(const Joining *j)
{
    if (j->plan->nshare == 1)
        return "the largest plan of the listed sizes, and what run-time extents need besides";
    if (j->block[MEMORY_DEVICE] < 0)
        return "in each memory what the listed sizes need at most, and run-time extents besides";
    return "in each memory what the listed sizes need at most, and what all of them share";
}

void joining_plan(Joining *j)
{
    int                index = largest(j);
    const Renumbering *number = &j->number[index];
    const Plan        *most = j->variant[index].plan;

    begin_plan(j, most);
    place_lasting(j);
    place_dims(j);
    share_out(j);
    j->plan->core = arena_array(j->arena, bool, j->program->nbuffer + 1);
    for (int b = 0; b < number->from->nbuffer; b++) /* lower bounds of one branch hold for all */
        j->plan->core[number->buffer[b]] = most->core[b];
    if (j->plan->peak > most->peak) {
        j->plan->any_order = false;
        j->plan->status = status_of_more(j);
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
