/* emit_queues.c - a run on several queues. A row of steps has one function that runs a unit, an outermost step with
 * what it owns, by its number, and a table of each queue's units and what they wait for. The run function hands those
 * of the row that it takes to occ_queues.h. */
#include "emit/emit.h"
#include "program/flow.h"

typedef struct Units {
    Emit       *emit;
    Range       row;
    const char *label;  /* of several rows: "_" and its number; else "" */
    int        *number; /* by outermost step: number of its unit */
    int        *end;    /* by outermost step: items of its queue up to it and with it */
    int         nunit;
    int        *first; /* by queue, nqueue + 1: number of its first item in the table */
} Units;

/* -------------------------------------------------------------------------------------------------------- the table */

/* The number of table items of a step: one for each wait, at least one. */
static int items_of(const Program *p, int step)
{
    int waits = 0;

    for (int i = 0; i < p->nwait; i++)
        waits += p->wait[i].step == step;
    return waits ? waits : 1;
}

static Units find_units(Emit *emit, Range row, const char *label)
{
    const Program *p = emit->program;
    Units          u = {emit, row, label, .number = arena_array(emit->arena, int, p->nstep + 1)};
    int           *count = arena_array(emit->arena, int, p->nqueue + 1);

    u.end = arena_array(emit->arena, int, p->nstep + 1);
    u.first = arena_array(emit->arena, int, p->nqueue + 1);
    for (int s = row.begin; s < row.end; s = flow_after(p, s)) {
        u.number[s] = u.nunit++;
        u.end[s] = count[p->step[s].queue] += items_of(p, s);
    }
    for (int q = 0; q < p->nqueue; q++)
        u.first[q + 1] = u.first[q] + count[q];
    return u;
}

/* One line for each unit; all its waits but the last are items without a unit. */
static void put_items(const Units *u, int step, Text *text)
{
    const Program *p = u->emit->program;
    int            left = items_of(p, step);

    text_put(text, "   ");
    for (int i = 0; i < p->nwait; i++)
        if (p->wait[i].step == step)
            text_printf(text, " {%d, %d, %d},", --left ? -1 : u->number[step], p->step[p->wait[i].of].queue,
                        u->end[p->wait[i].of]);
    if (left)
        text_printf(text, " {%d, -1, 0},", u->number[step]);
    text_put(text, "\n");
}

static void put_table(const Units *u, Text *text)
{
    const Emit    *emit = u->emit;
    const Program *p = emit->program;

    text_printf(text,
                "/* What each queue does: a unit, and how many items of which queue must have ended before. */\n"
                "static const occ_item %s_item%s[] = {\n",
                emit->name, u->label);
    for (int q = 0; q < p->nqueue; q++) {
        text_printf(text, "    /* queue %d */\n", q);
        for (int s = u->row.begin; s < u->row.end; s = flow_after(p, s))
            if (p->step[s].queue == q)
                put_items(u, s, text);
    }
    text_printf(text, "};\n\nstatic const int %s_first%s[] = {", emit->name, u->label);
    for (int q = 0; q <= p->nqueue; q++)
        text_printf(text, "%s%d", q ? ", " : "", u->first[q]);
    text_put(text, "};\n\n");
}

/* ---------------------------------------------------------------------------------------------------- the functions */

/* Members of the context that the text uses, as variables. */
static void put_members(const Emit *emit, const char *uses, Text *text)
{
    static const char *const member[] = {"memory", "inputs", "outputs"}, *const name[] = {"memory", "in", "out"};
    int count = 0;

    for (int i = 0; i < 3; i++) {
        if (!emit_uses(uses, name[i]))
            continue;
        if (!count++)
            text_printf(text, "    const %s_context *all = (const %s_context *)context;\n", emit->name, emit->name);
        text_printf(text, "    const %s_%s *%s = all->%s;\n", emit->name, member[i], name[i], name[i]);
    }
    if (!count)
        text_put(text, "    (void)context;\n");
}

/* Declares variables that no unit reads: they are passed on after the units, or to one unit only. */
static void put_unread(Emit *emit, Text *locals)
{
    const struct {
        const char *name;
        bool        exists;
    } variable[] = {
        {"d", emit->program->dims >= 0}, {"state", emit->plan->state_bytes > 0}, {"weights", emit_takes_weights(emit)}};

    for (int i = 0; i < 3; i++)
        if (variable[i].exists && !emit_uses(emit->run.data, variable[i].name))
            text_printf(locals, "    (void)%s;\n", variable[i].name);
}

static void put_unit_function(const Units *u, Text *text)
{
    Emit          *emit = u->emit;
    const Program *p = emit->program;
    Text           locals = text_new(emit->arena), members = text_new(emit->arena);

    emit->run = text_new(emit->arena);
    for (int s = u->row.begin; s < u->row.end; s = flow_after(p, s)) {
        text_printf(&emit->run, "    case %d:\n", u->number[s]);
        emit_range(emit, (Range){s, flow_after(p, s)}, 2);
        text_put(&emit->run, "        break;\n");
    }
    emit->printer->prologue(emit, &locals, &emit->run, "    int status = 0;\n\n");
    put_unread(emit, &locals);
    put_members(emit, arena_printf(emit->arena, "%s%s", locals.data, emit->run.data), &members);
    text_printf(
        text,
        "/* An outermost step with what it owns; 0, or the code that ends the run. */\nstatic int %s_unit%s(void "
        "*context, int unit)\n{\n"
        "%s%s    switch (unit) {\n%s    default:\n        break;\n    }\n    return status;\n}\n\n",
        emit->name, u->label, members.data, locals.data, emit->run.data);
}

void emit_queues_context(Emit *emit, Text *text)
{
    if (emit->program->nqueue > 1)
        text_printf(text,
                    "/* What the units are told of. */\ntypedef struct {\n    const %s_memory *memory;\n    const "
                    "%s_inputs *in;\n"
                    "    const %s_outputs *out;\n} %s_context;\n\n",
                    emit->name, emit->name, emit->name, emit->name);
}

/* The arguments by which a row is passed to occ_queues.h. */
static const char *told(const Units *u)
{
    const Emit *emit = u->emit;

    return arena_printf(emit->arena, "{%s_unit%s, &context, %s_item%s, %s_first%s, queue, %d, %d}", emit->name,
                        u->label, emit->name, u->label, emit->name, u->label, emit->program->nqueue, u->nunit);
}

/* Puts functions and tables of all rows. Returns the last one; `choices` gets the lines that replace it by another. */
static Units put_rows(Emit *emit, Text *choices)
{
    Range *row;
    int    count = flow_rows(emit->arena, emit->program, &row);
    Units  u = {.emit = emit};

    for (int i = 0; i < count; i++) {
        u = find_units(emit, row[i], count > 1 ? arena_printf(emit->arena, "_%d", i) : "");
        put_unit_function(&u, &emit->code.functions);
        put_table(&u, &emit->code.functions);
        if (i + 1 == count)
            break;
        text_printf(choices, "    %sif (%s)\n        all = (occ_queues)%s;\n", i ? "else " : "",
                    emit_condition(emit, &emit->program->step[row[i].begin - 1]), told(&u));
    }
    return u;
}

void emit_queues(Emit *emit, const Text *extents, Text *text)
{
    Text  choices = text_new(emit->arena);
    Units last = put_rows(emit, &choices);

    text_printf(text,
                "    %s_context context = {memory, in, out};\n    occ_queue queue[%d];\n    occ_queues all = %s;\n"
                "    int status = %s_check(memory, in, out);\n",
                emit->name, emit->program->nqueue, told(&last), emit->name);
    if (extents->size && emit_uses(extents->data, "d"))
        text_put(text, "    const int64_t *d;\n");
    text_printf(text,
                "\n    if (status)\n        return status;\n%s"
                "    status = occ_queues_run(&all, memory->parallel_for, memory->parallel_context);\n"
                "    if (status)\n        return status;\n",
                choices.size ? choices.data : "");
    if (extents->size && emit_uses(extents->data, "d"))
        text_printf(text, "    d = (const int64_t *)(const void *)((const unsigned char *)memory->%s + %lld);\n",
                    emit_share_member(emit, emit->plan->region[emit->program->dims]),
                    (long long)emit_share_offset(emit, emit->program->dims));
}
