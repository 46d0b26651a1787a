/* edge_finding.c - what several windows of one section imply together.
 * Windows that must not overlap lie one above the other, like tasks on a machine, with memory as the time. Three
 * windows of 64, 48 and 32 bytes between offset 0 and 150 leave 6 bytes of freedom; none of them can begin at 60.
 * Edge finding: a set of windows needs the sum of their sizes between its lowest begin and its highest end. A window
 * that cannot lie below or within a set lies above it. (Nuijten 1994, in the form of Baptiste, Le Pape and Nuijten,
 * "Constraint-Based Scheduling", 2001; applied also upside down. The not-first rule excludes hardly more here and costs
 * time.)
 * Where an overlap constraint lets two windows share bytes, the smaller one is cut by these bytes first. Where offsets
 * are multiples of a granule the layers are rounded to granules, and fillers are cut by the largest tail slack that
 * they may use. */
#include "propagate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 16 }; /* of a stack; larger stacks exclude too little for their cost */

/* ------------------------------------------------------------------------------------------------------- the layers */

/* Adds a window, merged with windows of the same buffer that it touches. */
static int add_window(Layer *layer, int count, Layer one)
{
    for (int k = count; k-- > 0 && layer[k].buffer == one.buffer;)
        if (layer[k].to == one.from || layer[k].from == one.to) {
            one.from = one.from < layer[k].from ? one.from : layer[k].from;
            one.to = one.to > layer[k].to ? one.to : layer[k].to;
            memmove(&layer[k], &layer[k + 1], (size_t)(--count - k) * sizeof *layer);
        }
    layer[count++] = one;
    return count;
}

/* A sweep over the sections: included buffers sorted by their first section, and those live now, by index. */
typedef struct SectionSweep {
    int *order, next, count;
    int *alive, nalive;
} SectionSweep;

/* Moves the sweep to a section and lists its live windows; returns how many, more than MOST_LAYERS if too many. */
static int live_windows(const Space *s, SectionSweep *w, int section, Layer layer[MOST_LAYERS + 1])
{
    int count = 0, kept = 0;

    for (int i = 0; i < w->nalive; i++)
        if (s->end[w->alive[i]] > section)
            w->alive[kept++] = w->alive[i];
    for (; w->next < w->count && s->begin[w->order[w->next]] <= section; w->next++) {
        int at = kept++;
        for (; at > 0 && w->alive[at - 1] > w->order[w->next]; at--)
            w->alive[at] = w->alive[at - 1];
        w->alive[at] = w->order[w->next];
    }
    w->nalive = kept;
    for (int k = 0; k < kept && count <= MOST_LAYERS; k++)
        for (int b = w->alive[k], i = s->span_at[b]; i < s->span_at[b + 1] && count <= MOST_LAYERS; i++)
            if (span_is_live(&s->span[i], section))
                count = add_window(layer, count, (Layer){b, s->span[i].lo, s->span[i].hi});
    return count;
}

/* Does every layer lie within one of the others? */
static bool is_covered(const Layer *layer, int count, const Layer *other, int nother)
{
    for (int i = 0, k = 0; i < count; i++) {
        for (k = 0; k < nother; k++)
            if (other[k].buffer == layer[i].buffer && other[k].from <= layer[i].from && layer[i].to <= other[k].to)
                break;
        if (k == nother)
            return false;
    }
    return true;
}

static int by_size(const void *left, const void *right)
{
    const Layer *a = left, *b = right;
    int64_t      x = a->to - a->from, y = b->to - b->from;

    if (x != y)
        return x > y ? -1 : 1;
    return a->buffer != b->buffer ? a->buffer - b->buffer : (a->from > b->from) - (a->from < b->from);
}

/* Cuts x by the bytes that it may share with y. For each interval of forbidden distances the part of x that meets y at
 * all these distances is exclusive to x; the largest such part stays. It is empty if every part may be shared. */
static void cut(const Space *s, Layer *x, const Layer *y)
{
    Layer best = {x->buffer, 0, 0};

    for (int i = s->conflict_at[x->buffer]; i < s->conflict_at[x->buffer + 1]; i++) {
        if (s->conflict[i].other != y->buffer)
            continue;
        for (int k = 0; k < s->conflict[i].count; k++) {
            const Interval *gap = &s->forbidden[s->conflict[i].first + k];
            Layer           one = {x->buffer, y->to - gap->to, y->from - gap->from};
            one.from = one.from > x->from ? one.from : x->from;
            one.to = one.to < x->to ? one.to : x->to;
            if (one.to - one.from > best.to - best.from)
                best = one;
        }
    }
    *x = best;
}

/* Cuts the layers so that no plan lets two of them overlap; returns how many are left. */
static int cut_all(const Space *s, Layer *layer, int count)
{
    int kept = 0;

    qsort(layer, (size_t)count, sizeof *layer, by_size);
    for (int i = 0; i < count; i++) {
        Layer one = layer[i];
        for (int k = 0; k < kept && one.from < one.to; k++)
            if (layer[k].buffer != one.buffer)
                cut(s, &one, &layer[k]);
        if (one.from < one.to)
            layer[kept++] = one;
    }
    return kept;
}

static int64_t bytes_of(const Layer *layer, int count)
{
    int64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += layer[i].to - layer[i].from;
    return sum;
}

/* Rounds the layers to granules of the largest alignment, if that makes them larger in sum. */
static int round_to_granules(const Space *s, Layer *layer, int count)
{
    Layer   rounded[MOST_LAYERS];
    int64_t granule = 1, slack = 0;
    int     kept = 0;

    for (int i = 0; i < count; i++)
        granule = space_align(s, layer[i].buffer, 0) > granule ? space_align(s, layer[i].buffer, 0) : granule;
    for (int i = 0; i < count; i++) {
        Layer one = {layer[i].buffer, round_up(layer[i].from, granule), round_up(layer[i].to, granule)};
        if (space_align(s, one.buffer, 0) % granule)
            continue;
        slack = one.to - layer[i].to > slack ? one.to - layer[i].to : slack;
        if (one.from < one.to)
            rounded[kept++] = one;
    }
    for (int i = 0; i < count; i++)
        if (space_align(s, layer[i].buffer, 0) % granule && layer[i].from + slack < layer[i].to)
            rounded[kept++] = (Layer){layer[i].buffer, layer[i].from + slack, layer[i].to};
    if (bytes_of(rounded, kept) < bytes_of(layer, count))
        return count;
    memcpy(layer, rounded, (size_t)kept * sizeof *rounded);
    return kept;
}

static bool add_stack(Network *net, size_t *room, const Layer *layer, int count)
{
    if ((size_t)net->nlayer + MOST_LAYERS > *room) {
        size_t larger = 2 * *room + MOST_LAYERS;
        Layer *grown = realloc(net->layer, larger * sizeof *grown);
        if (!grown)
            return false;
        net->layer = grown;
        *room = larger;
    }
    memcpy(net->layer + net->nlayer, layer, (size_t)count * sizeof *layer);
    net->stack[net->nstack++] = (Stack){net->nlayer, count};
    net->nlayer += count;
    return true;
}

/* Adds a stack for every section, unless the section before or after implies as much. */
static bool add_stacks(Network *net, SectionSweep *sweep)
{
    Layer  now[MOST_LAYERS + 1], after[MOST_LAYERS + 1], before[MOST_LAYERS + 1];
    int    count = live_windows(net->space, sweep, 0, now), nafter, nbefore = 0;
    size_t room = 0;

    for (int t = 0; t < net->space->nsection; t++, count = nafter) {
        nafter = live_windows(net->space, sweep, t + 1, after);
        if (count <= MOST_LAYERS && !is_covered(now, count, before, nbefore) &&
            (nafter > MOST_LAYERS || !is_covered(now, count, after, nafter))) {
            memcpy(before, now, (size_t)count * sizeof *now);
            nbefore = count;
            count = round_to_granules(net->space, now, cut_all(net->space, now, count));
            if (count > 2 && !add_stack(net, &room, now, count))
                return false; /* two windows: their pair implies as much */
        }
        memcpy(now, after, (size_t)nafter * sizeof *now);
    }
    return true;
}

/* Makes the stacks of all sections; false on lack of memory. */
static bool find_stacks(Network *net)
{
    size_t        n = (size_t)net->space->n + 1;
    RankedBuffer *birth = malloc(n * sizeof *birth);
    SectionSweep  sweep = {.order = malloc(n * sizeof(int)), .alive = malloc(n * sizeof(int))};
    bool          good = birth && sweep.order && sweep.alive;

    for (int b = 0; good && b < net->space->n; b++)
        if (net->included[b])
            birth[sweep.count++] = (RankedBuffer){{-(double)net->space->begin[b]}, b};
    if (good)
        ranked_sort(birth, sweep.count);
    for (int i = 0; i < sweep.count; i++)
        sweep.order[i] = birth[i].buffer;
    good = good && add_stacks(net, &sweep);
    free(birth);
    free(sweep.order);
    free(sweep.alive);
    return good;
}

/* Fills stack_at and stack_of: the stacks of each buffer. */
static void index_stacks(Network *net)
{
    for (int i = 0; i < net->nlayer; i++)
        list_count(net->stack_at, net->layer[i].buffer);
    lists_begin(net->stack_at, net->space->n);
    for (int k = 0; k < net->nstack; k++)
        for (int i = 0; i < net->stack[k].nlayer; i++)
            net->stack_of[list_next(net->stack_at, net->layer[net->stack[k].layer_at + i].buffer)] = k;
}

int stacks_open(Network *net)
{
    size_t n = (size_t)net->space->n + 2, most = (size_t)net->space->nsection + 1;

    net->stack = malloc(most * sizeof *net->stack);
    net->stack_at = calloc(n, sizeof *net->stack_at);
    net->waiting_stack = malloc(most * sizeof *net->waiting_stack);
    net->stack_waits = calloc(most, sizeof *net->stack_waits);
    if (!net->stack || !net->stack_at || !net->waiting_stack || !net->stack_waits || !find_stacks(net))
        return PLAN_ENOMEM;
    net->stack_of = malloc(((size_t)net->nlayer + 1) * sizeof *net->stack_of);
    if (!net->stack_of)
        return PLAN_ENOMEM;
    index_stacks(net);
    return PLAN_OK;
}

void stacks_close(Network *net)
{
    free(net->stack);
    free(net->layer);
    free(net->stack_at);
    free(net->stack_of);
    free(net->waiting_stack);
    free(net->stack_waits);
}

/* -------------------------------------------------------------------------------------------------------- narrowing */

/* A layer as a task on the machine: `length` bytes, within [begin, end). */
typedef struct Task {
    int64_t begin, end, length;
    int64_t raised; /* the lowest begin that is proven so far */
    int     layer;
} Task;

static void sort_by_falling_begin(Task *task, int count)
{
    for (int i = 1; i < count; i++) {
        Task one = task[i];
        int  at = i;
        for (; at > 0 && task[at - 1].begin < one.begin; at--)
            task[at] = task[at - 1];
        task[at] = one;
    }
}

/* Edge finding for the tasks that end at `end` or below: for each height the set of those that begin there or above.
 * False when one of these sets does not fit. Example: tasks of 50 and 30 bytes that begin at 20 or above and end at 100
 * or below fill that range, so a third of 30 bytes that may end above 100 begins at 100 or above. */
static bool find_edges(Task *task, int count, int64_t end)
{
    int64_t sum = 0, least = INT64_MIN, within[MOST_LAYERS], highest = INT64_MIN;

    for (int i = 0; i < count; i++) {
        if (task[i].end <= end) {
            sum += task[i].length;
            least = task[i].begin + sum > least ? task[i].begin + sum : least;
            if (least > end)
                return false;
        }
        within[i] = least; /* the least end of those that begin here or above */
    }
    for (int i = count; i-- > 0;) {
        Task *one = &task[i];
        if (one->end <= end) {
            highest = one->begin + sum > highest ? one->begin + sum : highest;
            sum -= one->length;
            continue;
        }
        if (sum > 0 && one->begin + sum + one->length > end && within[i] > one->raised)
            one->raised = within[i];
        if (highest > INT64_MIN && highest + one->length > end && least > one->raised)
            one->raised = least;
    }
    return true;
}

/* Edge finding for every end of a task; false when the tasks do not fit. */
static bool raise(Task *task, int count)
{
    sort_by_falling_begin(task, count);
    for (int i = 0; i < count; i++) {
        bool before = false;
        for (int k = 0; k < i && !before; k++)
            before = task[k].end == task[i].end;
        if (!before && !find_edges(task, count, task[i].end))
            return false;
    }
    return true;
}

/* Raises the ranges of the layers' buffers; with `upward` false it lowers them, by the same rules upside down. */
static bool narrow_from(Network *net, const Layer *layer, int count, bool upward)
{
    Task task[MOST_LAYERS];

    for (int i = 0; i < count; i++) {
        const Layer *one = &layer[i];
        int64_t      begin = net->lo[one->buffer] + one->from, end = net->hi[one->buffer] + one->to;
        task[i] = (Task){upward ? begin : -end, upward ? end : -begin, one->to - one->from, upward ? begin : -end, i};
    }
    if (!raise(task, count))
        return false;
    for (int i = 0; i < count; i++) {
        const Layer *one = &layer[task[i].layer];
        int64_t      lo = net->lo[one->buffer], hi = net->hi[one->buffer];
        if (task[i].raised > task[i].begin &&
            !network_narrow(net, one->buffer, upward ? task[i].raised - one->from : lo,
                            upward ? hi : -task[i].raised - one->to))
            return false;
    }
    return true;
}

bool stack_narrow(Network *net, int stack)
{
    const Layer *layer = net->layer + net->stack[stack].layer_at;
    int          count = net->stack[stack].nlayer;

    return narrow_from(net, layer, count, true) && narrow_from(net, layer, count, false);
}
