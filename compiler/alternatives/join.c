/* join.c - one program from those of several sizes: if (sizes of the first) its steps, else if ... Offsets are those of
 * the variants' plans (join_plan.c), so that nothing is planned anew, and the checkers examine the whole. */
#include "alternatives/joining.h"

#include "infer/listed.h"
#include "limits/usage.h"
#include "plan/check.h"
#include "program/copy.h"
#include "support/int.h"

int joining_add_buffer(Joining *j, Buffer buffer, int64_t offset)
{
    Program *p = j->program;

    buffer.id = p->nbuffer;
    buffer.span = NULL;
    buffer.nspan = buffer.cspan = 0;
    ARENA_PUSH(j->arena, p->buffer, p->nbuffer, p->cbuffer, buffer);
    ARENA_PUSH(j->arena, j->offset, j->noffset, j->coffset, offset);
    return buffer.id;
}

/* ------------------------------------------------------------------------------------------------------------ ports */

/* An extent of a result: the input's where it has the same sizes, else chosen as the branch is. */
static Extent joined_extent(const Joining *j, const Extent *by_variant)
{
    Extent joined = by_variant[j->count - 1];
    bool   same = true;

    for (int k = 0; k < j->whole->nlisted; k++) {
        const ListedExtent *listed = &j->whole->listed[k];
        int                 i = 0;

        while (i < j->count && extent_is(by_variant[i], listed_size(j->whole->bound, listed->bound, i)))
            i++;
        if (i == j->count)
            return (Extent){listed->bound->hi, listed->expr};
    }
    for (int i = 0; i < j->count; i++)
        same = same && extent_same(joined, by_variant[i]);
    for (int i = j->count - 1; i-- > 0 && !same;)
        joined = extent_select(j->whole, j->condition[i], by_variant[i], joined);
    return joined;
}

static const Port *port_of(const Joining *j, int variant, bool in, int index)
{
    const Program *p = j->variant[variant].program;

    return in ? &p->in[index] : &p->out[index];
}

/* The type of a port; ranks may differ only where sizes decide them. */
static int joined_type(const Joining *j, bool in, int index, Type *type)
{
    const Port *first = port_of(j, 0, in, index);

    *type = in ? j->whole->main->in[index]->type : first->type;
    for (int i = 0; i < j->count; i++)
        if (port_of(j, i, in, index)->type.kind != TYPE_TENSOR || type->kind != TYPE_TENSOR ||
            port_of(j, i, in, index)->type.rank != type->rank || type->rank < 0)
            return diag_unsupported(j->diag, (Loc){0},
                                    "%s '%s' is not a tensor of the same rank at all sizes that --dim lists; compile "
                                    "once for each size",
                                    in ? "input" : "output", first->value->name);
    for (int axis = 0; axis < type->rank && !in; axis++) {
        Extent *by_variant = arena_array(j->arena, Extent, j->count);

        for (int i = 0; i < j->count; i++)
            by_variant[i] = port_of(j, i, in, index)->type.dim[axis];
        type->dim[axis] = joined_extent(j, by_variant);
    }
    for (int i = 0; i < j->count; i++)
        type->text_bytes = int_max(type->text_bytes, port_of(j, i, in, index)->type.text_bytes);
    return 0;
}

static int join_port(Joining *j, bool in, int index)
{
    const Graph *main = j->whole->main;
    Port        *port = in ? &j->program->in[index] : &j->program->out[index];

    *port =
        (Port){.value = in ? main->in[index] : main->out[index], .name = port_of(j, 0, in, index)->name, .buffer = -1};
    return joined_type(j, in, index, &port->type);
}

/* In what memory a branch keeps a state. */
static BufferKind state_kind(const Joining *j, int variant, const StatePair *pair)
{
    return j->variant[variant].program->buffer[port_of(j, variant, true, pair->input)->buffer].kind;
}

/* The next run reads the state that a run leaves, and may take another branch: so both need the same layout, in the
 * same memory. */
static int check_state(const Joining *j, const StatePair *pair)
{
    const Port *in = &j->program->in[pair->input], *out = &j->program->out[pair->output];

    for (int axis = 0; axis < in->type.rank; axis++)
        if (listed_bound(j->whole, in->type.dim[axis].expr))
            return diag_usage(j->diag,
                              "--state=%s:%s: --dim lists the sizes of axis %d of '%s', and each would have a layout "
                              "of its own; compile once for each size, or give bounds (--dim NAME=A..B)",
                              out->value->name, in->value->name, axis, in->value->name);
    for (int i = 1; i < j->count; i++)
        if (state_kind(j, i, pair) != state_kind(j, 0, pair))
            return diag_unsupported(j->diag, (Loc){0},
                                    "--state=%s:%s: some sizes that --dim lists keep it on the device, others on the "
                                    "host; compile once for each size",
                                    out->value->name, in->value->name);
    return 0;
}

static int join_ports(Joining *j)
{
    Program *p = j->program;

    for (int i = 0; i < p->nin; i++)
        if (join_port(j, true, i) < 0)
            return -1;
    for (int i = 0; i < p->nout; i++)
        if (join_port(j, false, i) < 0)
            return -1;
    for (int i = 0; i < p->nstate; i++)
        if (check_state(j, &p->state[i]) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ steps and buffers */

/* Gives run-time integers their slots. Those that are computed from what the caller gives are the same in all branches,
 * the others of a branch use the slots of other branches' again. Those of graphs have their own: no step outside may
 * know them. */
static void join_slots(Joining *j)
{
    Program    *p = j->program;
    const bool *given = program_given(p);
    int         shared, most = 0;

    for (int i = 0; i < j->count; i++)
        for (int e = 0; e < j->variant[i].program->nslot_of; e++)
            if (j->variant[i].program->slot[e] >= 0 && given[e] && p->slot[e] < 0)
                p->slot[e] = p->nslot++;
    shared = p->nslot;
    for (int i = 0; i < j->count; i++) {
        const Program *from = j->variant[i].program;
        int            own = p->language == LANGUAGE_DEVICE ? most : 0;

        j->number[i].slot = arena_array(j->arena, int, from->nslot + 1);
        for (int e = 0; e < from->nslot_of; e++) {
            if (from->slot[e] < 0)
                continue;
            if (!given[e])
                p->slot[e] = shared + own++;
            j->number[i].slot[from->slot[e]] = p->slot[e];
        }
        most = own > most ? own : most;
    }
    p->nslot = shared + most;
}

static void add_dims(Joining *j)
{
    Buffer dims = {
        .kind = BUFFER_DIMS, .dtype = DTYPE_I64, .align = 8, .copies = 1, .kept = -1, .port = -1, .name = "extents"};

    dims.size = 8 * (int64_t)j->program->nslot;
    for (int i = 0; i < j->count; i++)
        if (j->variant[i].program->dims >= 0)
            dims.regions = j->variant[i].program->buffer[j->variant[i].program->dims].regions;
    if (dims.size)
        j->program->dims = joining_add_buffer(j, dims, -1);
}

/* All branches have one buffer for a tensor of the state. */
static int add_state(Joining *j, Buffer buffer)
{
    Program *p = j->program;
    Port    *in = &p->in[p->state[buffer.port].input];

    buffer.value = in->value;
    buffer.name = in->value->name;
    if (in->buffer < 0)
        in->buffer = joining_add_buffer(j, buffer, -1);
    p->buffer[in->buffer].size = int_max(p->buffer[in->buffer].size, buffer.size);
    return in->buffer;
}

/* The constants that a block holds, or that is a table. Blocks of a device have theirs: joining_take_block. */
static void renumber_contents(Joining *j, const Renumbering *r, int buffer)
{
    const Buffer *from = &r->from->buffer[buffer];
    Content      *content = arena_array(j->arena, Content, from->ncontent + 1);

    for (int i = 0; i < from->ncontent; i++)
        content[i] = (Content){r->buffer[from->content[i].weight], from->content[i].at};
    if (from->ncontent && from->kind != BUFFER_RESIDENT)
        j->program->buffer[r->buffer[buffer]].content = content;
}

static void renumber(Joining *j, int index)
{
    const Program *from = j->variant[index].program;
    const char    *label = listed_label(j->whole, index);
    Renumbering   *r = &j->number[index];
    int64_t       *offset = arena_array(j->arena, int64_t, from->nbuffer + 1);

    joining_offsets(j, &j->variant[index], offset);
    r->from = from;
    r->buffer = arena_array(j->arena, int, from->nbuffer + 1);
    r->place = arena_array(j->arena, int64_t, from->nbuffer + 1);
    for (int b = 0; b < from->nbuffer; b++) {
        Buffer buffer = from->buffer[b];

        if (buffer.kind != BUFFER_WEIGHT)
            buffer.name = arena_printf(j->arena, "%s: %s", label, buffer.name);
        r->buffer[b] = buffer_is_state(&buffer)         ? add_state(j, buffer)
                       : buffer.kind == BUFFER_RESIDENT ? joining_take_block(j, r, b)
                       : b == from->dims                ? j->program->dims
                                                        : joining_add_buffer(j, buffer, offset[b]);
        if (b != from->dims)
            j->memory[r->buffer[b]] = j->variant[index].plan->region[b];
    }
    for (int b = 0; b < from->nbuffer; b++)
        renumber_contents(j, r, b);
}

/* A port has a buffer in each branch, and stands for the largest. The state has one. */
static void find_port_buffer(Joining *j, bool in, int index)
{
    Program *p = j->program;
    Port    *port = in ? &p->in[index] : &p->out[index];

    for (int i = 0; i < j->count; i++) {
        int b = j->number[i].buffer[port_of(j, i, in, index)->buffer];

        if (port->buffer < 0 || p->buffer[b].size > p->buffer[port->buffer].size)
            port->buffer = b;
    }
    p->home[port->value->id] = port->buffer;
}

static void find_port_buffers(Joining *j)
{
    for (int i = 0; i < j->program->nin; i++)
        find_port_buffer(j, true, i);
    for (int i = 0; i < j->program->nout; i++)
        find_port_buffer(j, false, i);
}

/* Sets the slots that an extent of a result is read from after the branches, where the branch itself does not. */
static void set_missing(Joining *j, const Program *from, int expr, bool *is_set)
{
    Program    *p = j->program;
    const Expr *e = expr < 0 ? NULL : &j->whole->expr[expr];

    if (!e || e->op == EXPR_CONST || is_set[expr])
        return;
    is_set[expr] = true;
    set_missing(j, from, e->a, is_set);
    set_missing(j, from, e->b, is_set);
    set_missing(j, from, e->c, is_set);
    if (p->slot[expr] >= 0 && program_slot(from, expr) < 0)
        ARENA_PUSH(j->arena, p->step, p->nstep, p->cstep,
                   ((Step){.kind = STEP_SET, .until = -1, .set = {e->hi, expr}, .slot = p->slot[expr]}));
}

static void set_missing_extents(Joining *j, const Program *from)
{
    bool *is_set = arena_array(j->arena, bool, j->whole->nexpr + 1);

    for (int i = 0; i < from->nout; i++)
        for (int axis = 0; axis < from->out[i].type.rank; axis++)
            set_missing(j, from, from->out[i].type.dim[axis].expr, is_set);
}

static void renumber_step(const Renumbering *r, Step *step)
{
    if (step_sets(step))
        step->slot = r->slot[step->slot];
    if (step->kind == STEP_LOOP && step->until >= 0)
        step->until = r->slot[step->until];
    for (int k = 0; k < 2; k++) {
        step->body[k].begin += r->first_step;
        step->body[k].end += r->first_step;
    }
    for (int k = 0; k < step->noperand; k++) {
        Operand *x = &step->operand[k];

        if (x->buffer < 0)
            continue;
        if (x->buffer == r->from->dims)
            x->offset = extent_const(r->slot[x->offset.max]);
        if (r->from->buffer[x->buffer].kind == BUFFER_RESIDENT)
            joining_move_operand(r, x);
        x->buffer = r->buffer[x->buffer];
    }
}

/* Appends the steps of a variant and records where its values lie. */
static void append_variant(Joining *j, int index)
{
    const Program *from = j->variant[index].program;
    Program       *p = j->program;
    Renumbering   *r = &j->number[index];
    const char    *label = listed_label(j->whole, index);

    set_missing_extents(j, from);
    r->first_step = p->nstep;
    for (int s = 0; s < from->nstep; s++) {
        ARENA_PUSH(j->arena, p->step, p->nstep, p->cstep, from->step[s]);
        renumber_step(r, program_own_step(p, p->nstep - 1));
    }
    joining_take_rows(j, r);
    for (int v = j->variant[index].first_value; v < from->nhome; v++) {
        p->home[v] = from->home[v] < 0 ? -1 : r->buffer[from->home[v]];
        j->whole->value[v]->name = arena_printf(j->arena, "%s: %s", label, j->whole->value[v]->name);
    }
    p->cascades += from->cascades;
}

/* Each branch but the last has a condition: the sizes have been checked. */
static void append_variants(Joining *j)
{
    Program *p = j->program;
    int     *branch = arena_array(j->arena, int, j->count);

    for (int i = 0; i < j->count; i++) {
        branch[i] = p->nstep;
        if (i + 1 < j->count)
            ARENA_PUSH(j->arena, p->step, p->nstep, p->cstep,
                       ((Step){.kind = STEP_IF, .until = -1, .set = j->condition[i], .chooses = true}));
        append_variant(j, i);
    }
    for (int i = 0; i + 1 < j->count; i++) {
        p->step[branch[i]].body[0] = (Range){branch[i] + 1, branch[i + 1]};
        p->step[branch[i]].body[1] = (Range){branch[i + 1], p->nstep};
    }
}

/* Adds the waits of a variant, whose steps are all in the main queue where it has no others. Times are those of the
 * slowest variant on several queues. */
static void append_queues(Joining *j, int index)
{
    const Program *from = j->variant[index].program;
    Program       *p = j->program;
    int            first = j->number[index].first_step;

    for (int s = 0; s < from->nstep && from->nqueue > 1; s++)
        p->beside[first + s] = (Range){first + from->beside[s].begin, first + from->beside[s].end};
    for (int i = 0; i < from->nwait; i++)
        ARENA_PUSH(j->arena, p->wait, p->nwait, p->cwait,
                   ((Wait){first + from->wait[i].step, first + from->wait[i].of}));
    p->nimplied += from->nimplied;
    if (from->queued_time > p->queued_time) {
        p->sum_time = from->sum_time;
        p->queued_time = from->queued_time;
        p->path_time = from->path_time;
    }
}

static void join_queues(Joining *j)
{
    Program *p = j->program;

    p->beside = arena_array(j->arena, Range, p->nstep + 1);
    for (int s = 0; s < p->nstep; s++)
        p->beside[s] = (Range){s, s + 1};
    for (int i = 0; i < j->count; i++) {
        p->nqueue = j->variant[i].program->nqueue > p->nqueue ? j->variant[i].program->nqueue : p->nqueue;
        append_queues(j, i);
    }
}

/* ------------------------------------------------------------------------------------------------------------ entry */

/* The most buffers that the joined program can have: those of all variants, its own run-time integers and blocks of a
 * device. */
static int buffers_of_all(const Variant *variant, int count)
{
    int sum = 1 + MEMORIES;

    for (int i = 0; i < count; i++)
        sum += variant[i].program->nbuffer;
    return sum;
}

static void begin_program(Joining *j, const Program *like)
{
    Program *p = j->program;
    int      nvalue = j->whole->nvalue, nexpr = j->whole->nexpr;

    *p = (Program){.model = j->whole,
                   .arena = j->arena,
                   .language = like->language,
                   .nin = like->nin,
                   .nout = like->nout,
                   .state = like->state,
                   .nstate = like->nstate,
                   .cstate = like->nstate,
                   .dims = -1,
                   .no_in_place = like->no_in_place,
                   .no_overlap = like->no_overlap};
    p->in = arena_array(j->arena, Port, p->nin + 1);
    p->out = arena_array(j->arena, Port, p->nout + 1);
    p->nhome = nvalue;
    p->home = arena_array(j->arena, int, nvalue + 1);
    for (int v = 0; v < nvalue; v++)
        p->home[v] = HOME_OF_NOTHING;
    p->nslot_of = nexpr;
    p->slot = arena_array(j->arena, int, nexpr + 1);
    for (int e = 0; e < nexpr; e++)
        p->slot[e] = -1;
}

int variants_join(const Variant *variant, int count, const Lowering *lowering, Alternative *joined)
{
    Model  *whole = lowering->model;
    Joining j = {.whole = whole, .variant = variant, .count = count, .arena = whole->arena, .diag = lowering->diag};

    j.program = joined->program = arena_one(j.arena, Program);
    j.plan = &joined->plan;
    j.condition = arena_array(j.arena, Extent, count);
    j.number = arena_array(j.arena, Renumbering, count);
    j.memory = arena_array(j.arena, int, buffers_of_all(variant, count));
    j.options = &lowering->options.plan;
    for (int i = 0; i < count; i++) {
        j.condition[i] = listed_condition(whole, i);
        joined->time = variant[i].time > joined->time ? variant[i].time : joined->time;
    }
    begin_program(&j, variant[0].program);
    if (join_ports(&j) < 0)
        return -1;
    join_slots(&j);
    add_dims(&j);
    joining_add_blocks(&j);
    for (int i = 0; i < count; i++)
        renumber(&j, i);
    find_port_buffers(&j);
    append_variants(&j);
    join_queues(&j);
    joining_plan(&j);
    joining_loads(&j);
    program_liveness(j.program);
    program_find_overlaps(j.program);
    if (j.program->language == LANGUAGE_DEVICE && !lowering->options.no_graph)
        program_find_graph(j.program);
    if (program_check(j.program, j.diag) < 0 ||
        program_confirm(j.program, &lowering->options.plan, j.plan, j.diag) < 0 ||
        program_recheck_device(j.program, j.plan, j.diag) < 0)
        return -1;
    joining_planners(&j);
    joined->ram = usage_of(j.program, j.plan, &lowering->options).ram;
    if (j.plan->swap)
        j.plan->swap->fixed = joined->ram - j.plan->peak - j.plan->swap->kept;
    return 0;
}
