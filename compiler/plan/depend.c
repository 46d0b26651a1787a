/* depend.c - touches of buffers and run-time integers by the outermost steps, and the dependences that follow. */
#include "plan/depend.h"

#include "program/flow.h"
#include "program/operand.h"

#include <stdlib.h>

typedef struct UnitReader {
    Touches *touches;
    Arena   *arena;
    int      unit;
} UnitReader;

static void find_units(Touches *t, Arena *arena)
{
    t->unit = arena_array(arena, Unit, t->program->nstep + 1);
    for (int i = 0; i < t->program->nstep; i = flow_after(t->program, i))
        t->unit[t->nunit++] = (Unit){i, flow_after(t->program, i)};
}

/* ---------------------------------------------------------------------------------------------------------- touches */

static bool is_same_window(const Operand *a, const Operand *b)
{
    return a == b || (a && b && operand_same_layout(a, b));
}

static void add_touch(UnitReader *r, TouchList *list, Touch touch)
{
    touch.unit = r->unit;
    for (int i = list->n; i-- > 0 && list->touch[i].unit == touch.unit;)
        if (list->touch[i].lo == touch.lo && list->touch[i].hi == touch.hi && list->touch[i].writes == touch.writes &&
            is_same_window(list->touch[i].operand, touch.operand))
            return;
    ARENA_PUSH(r->arena, list->touch, list->n, list->capacity, touch);
}

static void touch_slot(UnitReader *r, int slot, bool writes)
{
    add_touch(r, &r->touches->slot[slot], (Touch){.hi = 1, .writes = writes});
}

/* Notes a touch of every run-time integer in an extent; own: the slot that is set to it, or -1. */
static void touch_extent(UnitReader *r, Extent extent, int own)
{
    const Program *p = r->touches->program;
    const Expr    *e = extent.expr < 0 ? NULL : &p->model->expr[extent.expr];
    int            slot = program_slot(p, extent.expr);

    if (slot >= 0 && slot != own) {
        touch_slot(r, slot, false);
    } else if (e) {
        touch_extent(r, (Extent){0, e->a}, -1);
        touch_extent(r, (Extent){0, e->b}, -1);
        touch_extent(r, (Extent){0, e->c}, -1);
    }
}

static void touch_operand(UnitReader *r, const Operand *x)
{
    Touches *t = r->touches;
    Touch    touch = {.operand = x};

    if (x->buffer < 0)
        return;
    operand_hull(x, t->program->buffer[x->buffer].size, &touch.lo, &touch.hi);
    touch_extent(r, x->offset, -1);
    for (int i = 0; i < x->rank; i++) {
        touch_extent(r, x->dim[i], -1);
        touch_extent(r, x->stride[i], -1);
    }
    if (x->buffer == t->program->dims) {
        for (int64_t at = touch.lo / 8; at < (touch.hi + 7) / 8; at++)
            touch_slot(r, (int)at, (x->access & OPERAND_WRITES) != 0);
        return;
    }
    if (x->access & OPERAND_READS)
        add_touch(r, &t->buffer[x->buffer], touch);
    touch.writes = true;
    if (x->access & OPERAND_WRITES)
        add_touch(r, &t->buffer[x->buffer], touch);
}

static void touch_step(UnitReader *r, const Step *step)
{
    for (int k = 0; k < step->noperand; k++)
        touch_operand(r, &step->operand[k]);
    for (int i = 0; i < step->narg; i++)
        for (int k = 0; step->arg[i].ints && k < step->arg[i].count; k++)
            touch_extent(r, step->arg[i].ints[k], -1);
    if (step->kind != STEP_KERNEL && step->kind != STEP_READ)
        touch_extent(r, step->set, step->kind == STEP_SET ? step->slot : -1);
    if (step_sets(step))
        touch_slot(r, step->slot, true);
    if (step->kind == STEP_LOOP && step->until >= 0)
        touch_slot(r, step->until, false);
    if (step->kind == STEP_CHECK)
        r->touches->barrier[r->unit] = true;
}

Touches program_touches(const Program *program, Arena *arena)
{
    Touches    t = {.program = program};
    UnitReader r = {.touches = &t, .arena = arena};

    find_units(&t, arena);
    t.buffer = arena_array(arena, TouchList, program->nbuffer + 1);
    t.slot = arena_array(arena, TouchList, program->nslot + 1);
    t.barrier = arena_array(arena, bool, t.nunit + 1);
    for (r.unit = 0; r.unit < t.nunit; r.unit++)
        for (int i = t.unit[r.unit].begin; i < t.unit[r.unit].end; i++)
            touch_step(&r, &program->step[i]);
    return t;
}

bool touches_meet(const Touch *a, const Touch *b)
{
    return (a->writes || b->writes) && a->lo < b->hi && b->lo < a->hi;
}

/* ------------------------------------------------------------------------------------------------------ interleaved */

/* The columns that the operand covers: bytes [lo,hi) of every `pitch` bytes; false: it has another form. */
static bool columns_of(const Operand *x, int64_t pitch, int64_t *lo, int64_t *hi)
{
    int64_t element = operand_bytes_per_element(x), width = element;

    for (int i = 0; i < x->rank; i++) {
        int64_t distance = x->stride[i].max * element;

        if (x->dim[i].max < 2 || distance % pitch == 0)
            continue;
        if (distance < 0)
            return false;
        width += (x->dim[i].max - 1) * distance;
    }
    *lo = x->offset.max * element % pitch;
    *hi = *lo + width;
    return *lo >= 0 && *hi <= pitch;
}

/* Whether two operands of one buffer share no byte although their hulls intersect: columns side by side, like the
 * members of a concatenation along the innermost axis. false: they may share bytes. */
static bool interleave(const Operand *a, const Operand *b)
{
    int64_t a_lo, a_hi, b_lo, b_hi;

    if (!operand_is_static(a) || !operand_is_static(b) || dtype_info(a->dtype)->bits < 8 ||
        dtype_info(b->dtype)->bits < 8)
        return false;
    for (int i = 0; i < a->rank; i++) {
        int64_t pitch = a->stride[i].max * operand_bytes_per_element(a);

        if (a->dim[i].max > 1 && pitch > 0 && columns_of(a, pitch, &a_lo, &a_hi) &&
            columns_of(b, pitch, &b_lo, &b_hi) && (a_hi <= b_lo || b_hi <= a_lo))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------ dependences */

/* Units that one waits for. */
typedef struct NeedList {
    Need *need;
    int   n, capacity;
} NeedList;

static void add(Arena *arena, NeedList *lists, int unit, int before, int64_t bytes)
{
    NeedList *list = &lists[unit];
    Need      need = {before, bytes};

    if (unit == before)
        return;
    if (list->n && list->need[list->n - 1].unit == before)
        list->need[list->n - 1].bytes += bytes;
    else
        ARENA_PUSH(arena, list->need, list->n, list->capacity, need);
}

static int64_t bytes_of(const Operand *x)
{
    int64_t bytes = operand_bytes_per_element(x);

    for (int i = 0; i < x->rank; i++)
        bytes *= x->dim[i].max;
    return bytes;
}

/* The bytes of the first touch's window that the second one reads. */
static int64_t bytes_between(const Touch *a, const Touch *b)
{
    int64_t written, read;

    if (!a->operand || !a->writes || b->writes)
        return 0;
    written = bytes_of(a->operand);
    read = bytes_of(b->operand);
    return written < read ? written : read;
}

/* Adds the pairs of a buffer. The first writer precedes all readers, since nothing is read before it was written. */
static void add_pairs(Arena *arena, const TouchList *list, NeedList *lists)
{
    for (int i = 0; i < list->n; i++)
        for (int k = i + 1; k < list->n; k++) {
            const Touch *a = &list->touch[i], *b = &list->touch[k];
            bool         first = a->writes && !b->writes && a->unit == list->touch[0].unit;

            if (first || (touches_meet(a, b) && !(a->operand && interleave(a->operand, b->operand))))
                add(arena, lists, b->unit, a->unit, bytes_between(a, b));
        }
}

static int compare(const void *a, const void *b)
{
    return ((const Need *)a)->unit - ((const Need *)b)->unit;
}

/* Rising, each once. */
static void sort(NeedList *list)
{
    int kept = 0;

    if (list->n)
        qsort(list->need, (size_t)list->n, sizeof *list->need, compare);
    for (int i = 0; i < list->n; i++)
        if (kept && list->need[kept - 1].unit == list->need[i].unit)
            list->need[kept - 1].bytes += list->need[i].bytes;
        else
            list->need[kept++] = list->need[i];
    list->n = kept;
}

/* A touch of the arena. */
typedef struct Placed {
    const Touch *touch;
    int          buffer;
    int64_t      lo, hi; /* bytes of the arena */
} Placed;

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo ? 1 : x->buffer - y->buffer;
}

/* Adds pairs of touches of different buffers that lie at common addresses, in the order of their units. */
static void add_overlaps(Arena *arena, const Touches *t, const Plan *plan, NeedList *lists)
{
    Placed *placed = NULL;
    int     n = 0, capacity = 0;

    for (int b = 0; b < t->program->nbuffer; b++)
        for (int i = 0; i < t->buffer[b].n && plan->offset[b] >= 0; i++) {
            const Touch *touch = &t->buffer[b].touch[i];

            ARENA_PUSH(arena, placed, n, capacity,
                       ((Placed){touch, b, plan->offset[b] + touch->lo, plan->offset[b] + touch->hi}));
        }
    if (n)
        qsort(placed, (size_t)n, sizeof *placed, compare_placed);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && placed[k].lo < placed[i].hi; k++) {
            const Touch *a = placed[i].touch, *b = placed[k].touch;

            if (placed[i].buffer != placed[k].buffer && (a->writes || b->writes) && placed[k].hi > placed[k].lo)
                add(arena, lists, a->unit > b->unit ? a->unit : b->unit, a->unit > b->unit ? b->unit : a->unit, 0);
        }
}

Dependences program_dependences(const Touches *t, Arena *arena)
{
    return plan_dependences(t, NULL, arena);
}

Dependences plan_dependences(const Touches *t, const Plan *plan, Arena *arena)
{
    NeedList   *lists = arena_array(arena, NeedList, t->nunit + 1);
    Dependences d = {arena_array(arena, Need *, t->nunit + 1), arena_array(arena, int, t->nunit + 1)};

    if (plan)
        add_overlaps(arena, t, plan, lists);
    for (int b = 0; b < t->program->nbuffer; b++)
        if (t->program->buffer[b].kind != BUFFER_WEIGHT)
            add_pairs(arena, &t->buffer[b], lists);
    for (int i = 0; i < t->program->nslot; i++)
        add_pairs(arena, &t->slot[i], lists);
    for (int u = 0, check = -1; u < t->nunit; u++) {
        if (check >= 0) /* a unit may rely on the last check before it */
            add(arena, lists, u, check, 0);
        check = t->barrier[u] ? u : check;
        sort(&lists[u]);
        d.before[u] = lists[u].need;
        d.nbefore[u] = lists[u].n;
    }
    return d;
}
