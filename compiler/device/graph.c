/* graph.c - which steps of a program become one graph: all that the device is given in a run, where it is given the
 * same each time. The host opens with a capture of them, and a run launches the graph in one call. Where extents are
 * run-time integers, it is the same as long as they are, so a graph is made while running.
 *
 * A graph is one row of steps without a step of the host between. The host's copies between the caller's memory and
 * pinned memory would stand between, so they are moved to the two ends first:
 *
 *   in0 up0 conv in1 up1 add down0 out0    becomes    in0 in1 | up0 conv up1 add down0 | out0
 *
 * Steps that set and check run-time integers stand before all of these, if the integers follow from the extents of the
 * caller's tensors.
 *
 * Steps of the host, branches and loops cut a program into stretches of device steps. A stretch becomes a graph of its
 * own if its steps are the same each time the host reaches it: no run-time integer decides a size or an address. The
 * host launches that graph in the place of the steps. The host's copies between two of its other steps move to both
 * ends of what lies between, as above.
 *
 * A loop whose iterations are the same in each run (captured.c) is the device's as a whole: it cuts nothing. */
#include "device/device.h"

#include "program/flow.h"
#include "program/operand.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- staging */

/* The part that a step has in a program whose host only feeds the device. */
typedef enum DeviceStage { STAGE_EXTENTS, STAGE_IN, STAGE_DEVICE, STAGE_OUT, STAGE_OTHER } DeviceStage;

static DeviceStage stage_of(const Program *p, const Step *step)
{
    if (step_on_device(step) || step_is_transfer(p, step) || step->captured)
        return STAGE_DEVICE;
    if (step_is_of_extents(step))
        return STAGE_EXTENTS;
    if (step->kind != STEP_COPY)
        return STAGE_OTHER;
    return buffer_memory(p, step->operand[0].buffer) == MEMORY_PINNED ? STAGE_IN : STAGE_OUT;
}

/* Whether a step of [begin,in) writes what step `in` fetches from the caller. */
static bool is_fetched_late(const Program *p, int begin, int in)
{
    for (int s = begin; s < in; s++)
        if (stage_of(p, &p->step[s]) == STAGE_OUT && p->step[s].operand[0].buffer == p->step[in].operand[1].buffer)
            return true;
    return false;
}

/* Whether some run-time integer is written by another step than one that sets it, or by two. */
static bool extents_are_found(const Program *p)
{
    for (int s = 0; s < p->nstep; s++) {
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->dims >= 0 && p->step[s].operand[k].buffer == p->dims)
                return true;
        for (int t = 0; t < s && p->step[s].kind == STEP_SET; t++)
            if (p->step[t].kind == STEP_SET && p->step[t].slot == p->step[s].slot)
                return true;
    }
    return false;
}

/* Whether the host does nothing but feed the device, with extents that follow from those of the caller's tensors. */
static bool is_fed_only(const Program *p)
{
    for (int s = 0; s < p->nstep; s++) {
        DeviceStage stage = stage_of(p, &p->step[s]);

        if (stage == STAGE_OTHER || (stage == STAGE_IN && is_fetched_late(p, 0, s)))
            return false;
    }
    return !extents_are_found(p);
}

static void put_moved(Step *to, const Step *from, int by)
{
    *to = *from;
    for (int b = 0; b < step_bodies(to); b++) {
        to->body[b].begin += by;
        to->body[b].end += by;
    }
}

/* Puts the steps of a range in the order of their stages. A captured loop is of one stage, and keeps its bodies. */
static void sort_stages(Program *p, Range range)
{
    int   n = range.begin, count = range.end - range.begin;
    Step *from = arena_array(p->arena, Step, count + 1);

    memcpy(from, p->step + range.begin, (size_t)count * sizeof *from);
    for (DeviceStage stage = STAGE_EXTENTS; stage <= STAGE_OUT; stage++)
        for (int s = 0; s < count; s++)
            if (stage_of(p, &from[s]) == stage) {
                put_moved(&p->step[n], &from[s], n - (range.begin + s));
                n++;
            }
}

/* Whether two steps set a run-time integer to the same extent of the caller's. */
static bool set_alike(const Program *p, const Step *a, const Step *b)
{
    return a->kind == STEP_SET && b->kind == STEP_SET && a->set.expr >= 0 && a->set.expr == b->set.expr &&
           p->model->expr[a->set.expr].op == EXPR_DIM;
}

/* Whether a step sets a run-time integer to which another one gives another value. */
static bool is_set_twice(const Program *p, int set)
{
    const int slot = p->step[set].slot;

    for (int s = 0; s < p->nstep; s++) {
        const Step *step = &p->step[s];
        int64_t     lo, hi;

        if (s != set && step->slot == slot && !set_alike(p, step, &p->step[set]) && step_sets(step))
            return true;
        for (int k = 0; k < step->noperand; k++) {
            if (step->operand[k].buffer != p->dims || !(step->operand[k].access & OPERAND_WRITES))
                continue;
            operand_hull(&step->operand[k], p->buffer[p->dims].size, &lo, &hi);
            if (lo < (slot + 1) * (int64_t)sizeof(int64_t) && slot * (int64_t)sizeof(int64_t) < hi)
                return true;
        }
    }
    return false;
}

/* Whether steps of the host stand between those that the device is given. */
static bool is_interrupted(const Program *p, Range range)
{
    int changes = 0;

    for (int s = range.begin + 1; s < range.end; s++)
        changes += (stage_of(p, &p->step[s]) == STAGE_DEVICE) != (stage_of(p, &p->step[s - 1]) == STAGE_DEVICE);
    return changes > 2 || (changes == 2 && stage_of(p, &p->step[range.begin]) == STAGE_DEVICE);
}

/* Steps that run one after the other, in which the host does nothing of its own. What is set in front of its place has
 * no other value in a run, so that no step reads what it was before. */
static void gather_piece(Program *p, Range range)
{
    if (!is_interrupted(p, range))
        return;
    for (int s = range.begin; s < range.end; s++)
        if ((stage_of(p, &p->step[s]) == STAGE_IN && is_fetched_late(p, range.begin, s)) ||
            (stage_of(p, &p->step[s]) == STAGE_EXTENTS && p->step[s].kind == STEP_SET && is_set_twice(p, s)))
            return;
    sort_stages(p, range);
}

static bool has_stage(const Program *p, const Step *step)
{
    return stage_of(p, step) != STAGE_OTHER;
}

/* Hands each range of steps that `belong` to `use`, in each body of a branch or loop, too. */
static void use_ranges(Program *p, Range range, bool (*belongs)(const Program *p, const Step *step),
                       void (*use)(Program *p, Range range))
{
    int begin = range.begin, next;

    for (int s = range.begin; s < range.end; s = next) {
        const Step *step = &p->step[s];

        next = flow_after(p, s);
        if (belongs(p, step))
            continue;
        use(p, (Range){begin, s});
        for (int b = 0; b < step_bodies(step); b++)
            use_ranges(p, step->body[b], belongs, use);
        begin = next;
    }
    use(p, (Range){begin, range.end});
}

void program_gather_staging(Program *p)
{
    Step *step = arena_array(p->arena, Step, p->nstep + 1);

    if (p->nstep)
        memcpy(step, p->step, (size_t)p->nstep * sizeof *step);
    p->step = step;
    p->cstep = p->nstep + 1;
    program_capture_loops(p);
    if (is_fed_only(p))
        sort_stages(p, (Range){0, p->nstep});
    else
        use_ranges(p, (Range){0, p->nstep}, has_stage, gather_piece);
}

/* ------------------------------------------------------------------------------------------------------------ graph */

/* As long as run-time extents are the same, the addresses are. */
bool step_has_fixed_places(const Program *p, const Step *step)
{
    if (step->waits || stage_of(p, step) != STAGE_DEVICE)
        return false;
    for (int k = 0; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];
        const Buffer  *b = program_buffer(p, x->buffer);

        if (b && buffer_is_port(b))
            return false;
    }
    return true;
}

/* Whether all run-time extents are known in front of the graph, each set by one step. */
static bool extents_come_first(const Program *p, Range graph)
{
    int64_t left = p->buffer[p->dims].size / (int64_t)sizeof(int64_t);

    for (int s = 0; s < p->nstep; s++) {
        DeviceStage stage = stage_of(p, &p->step[s]);

        if (stage == STAGE_OTHER || (stage == STAGE_EXTENTS && s >= graph.begin))
            return false;
        left -= p->step[s].kind == STEP_SET;
    }
    return !left && !extents_are_found(p);
}

Range program_device_range(const Program *p, Range row)
{
    Range range = {row.end, row.begin};

    for (int s = row.begin; s < row.end; s = flow_after(p, s))
        for (int i = s; i < flow_after(p, s); i++)
            if (stage_of(p, &p->step[i]) == STAGE_DEVICE) {
                range.begin = s < range.begin ? s : range.begin;
                range.end = flow_after(p, s);
            }
    return range.end > row.begin ? range : (Range){row.begin, row.begin};
}

static bool find_whole(Program *p)
{
    Range range = program_device_range(p, (Range){0, p->nstep});
    bool  open = program_has_open_extents(p);

    if (open && !extents_come_first(p, range))
        return false;
    for (int s = range.begin; s < range.end; s++)
        if (open ? !step_has_fixed_places(p, &p->step[s]) : !step_never_changes(p, &p->step[s]))
            return false;
    p->graph = range;
    return true;
}

/* -------------------------------------------------------------------------------------------------------- stretches */

/* Whether no run-time integer decides what the step does: neither an extent, a stride, an address nor an argument. */
static bool is_constant(const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && !operand_is_static(&step->operand[k]))
            return false;
    return step->kind != STEP_KERNEL || step_passed_constants(step);
}

bool step_never_changes(const Program *p, const Step *step)
{
    return step->captured || (step_has_fixed_places(p, step) && is_constant(step));
}

static void add_stretch(Program *p, Range range)
{
    if (program_walked(p, range, true) >= LEAST_STRETCH)
        ARENA_PUSH(p->arena, p->stretch, p->nstretch, p->cstretch, range);
}

/* Whether a caller may capture the start of a run in a graph of its own, which must not launch another one: its tensors
 * lie on the device, and in some row the host waits for nothing before all is given. */
static bool is_captured_by_caller(const Program *p)
{
    Range *row;
    int    count = flow_rows(p->arena, p, &row);
    bool   on_device = false, waits = true;

    for (int b = 0; b < p->nbuffer; b++)
        on_device |= buffer_is_port(&p->buffer[b]) && buffer_memory(p, b) == MEMORY_DEVICE;
    for (int i = 0; i < count; i++) {
        bool here = false;

        for (int s = row[i].begin; s < program_device_range(p, row[i]).end; s++)
            here |= p->step[s].waits;
        waits &= here;
    }
    return on_device && !waits;
}

void program_find_graph(Program *p)
{
    p->graph = (Range){0, 0};
    p->nstretch = 0;
    if (!find_whole(p) && !is_captured_by_caller(p))
        use_ranges(p, (Range){0, p->nstep}, step_never_changes, add_stretch);
}

int program_stretch_at(const Program *p, int step)
{
    for (int i = 0; i < p->nstretch; i++)
        if (p->stretch[i].begin == step)
            return i;
    return -1;
}

int program_graphs(const Program *p, Range row, int *steps, int64_t *nodes)
{
    int count = 0;

    *steps = 0;
    *nodes = 0;
    for (int i = -1; i < p->nstretch; i++) {
        Range graph = i < 0 ? p->graph : p->stretch[i];

        if (graph.begin == graph.end || !range_holds(row, graph.begin))
            continue;
        count++;
        *nodes += program_walked(p, graph, true);
        for (int s = graph.begin; s < graph.end; s++)
            *steps += step_on_device(&p->step[s]) || step_is_transfer(p, &p->step[s]);
    }
    return count;
}
