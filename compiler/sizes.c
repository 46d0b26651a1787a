/* sizes.c - sizes that --dim lists: each combination is compiled up to its plan, with constants in the place of the
 * listed extents, and all become one program. */
#include "alternatives/join.h"
#include "compilation.h"
#include "infer/infer.h"
#include "infer/listed.h"
#include "plan/plan.h"
#include "support/int.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- options */

enum { MOST_VARIANTS = 16 };

/* Refuses more than MOST_VARIANTS combinations, and the option that has no code for lists. */
static int check_options(const Options *o, int count, Diag *diag)
{
    if (o->budget_curve)
        return diag_usage(diag, "--budget-curve: found with a list of sizes (--dim NAME=N|N), which it does not serve: "
                                "each size has a curve of its own; compile once for each size, or give bounds "
                                "(--dim NAME=A..B)");
    if (count > MOST_VARIANTS)
        return diag_usage(diag,
                          "--dim: found %d combinations of listed sizes, wanted at most %d; list fewer sizes, "
                          "or give one of the extents bounds (--dim NAME=A..B)",
                          count, MOST_VARIANTS);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- combinations */

/* The model with the listed extents: its inputs only. */
static int read_whole(Compilation *c)
{
    Infer infer = {.diag = c->diag};

    if (compile_read(c) < 0)
        return -1;
    infer.model = c->model;
    if (infer_inputs(&infer, c->model->main) < 0)
        return -1;
    for (int i = 0; i < c->model->nbound; i++)
        if (c->model->bound[i].nsize && !listed_is_used(c->model, &c->model->bound[i]))
            return diag_usage(c->diag, "--dim=%s: a list of sizes is for an extent of an input, and none has this name",
                              c->model->bound[i].name);
    return 0;
}

/* Plans one combination by these options, with constants in the place of listed extents, beside those that were planned
 * before. */
static int plan_variant(Compilation *v, const Compilation *c, const Options *like, const Model *before,
                        const Residency *beside, int combination)
{
    Options *options = arena_one(c->arena, Options);

    *options = *like;
    options->bound = listed_pin(c->arena, c->model->bound, c->model->nbound, combination);
    options->nbound = c->model->nbound;
    options->dump = NULL;
    *v = (Compilation){.options = options,
                       .target = c->target,
                       .arena = c->arena,
                       .diag = c->diag,
                       .whole = c->model,
                       .before = before,
                       .beside = beside->arena || beside->nprogram ? beside : NULL,
                       .combination = combination};
    if (compile_until(v, "plan") == 0)
        return 0;
    diag_note(c->diag, (Loc){0}, "this is so at %s", listed_label(c->model, combination));
    return -1;
}

/* With --weights=swap: the bytes of RAM that there are (-1: any number), and what all plans begin with. */
typedef struct SizeBudget {
    int64_t   bytes;
    Residency begin;
} SizeBudget;

/* ------------------------------------------------------------------------------------------------- places of ports */

/* The ports of one side in all combinations, of which the last one has the largest sizes. */
typedef struct Side {
    const Compilation *v;
    int                count, nport;
    bool               in;
    PortPlace         *place; /* by port */
    int64_t           *bytes; /* by port: the most of all combinations */
} Side;

/* NULL: it has no place in the arena. */
static const Buffer *port_buffer(const Side *s, int combination, int port)
{
    const Program *p = s->v[combination].chosen.program;
    int            buffer = (s->in ? p->in : p->out)[port].buffer;

    return buffer < 0 || buffer_is_state(&p->buffer[buffer]) ? NULL : &p->buffer[buffer];
}

/* The places that the plan of the last combination gives. */
static Side new_side(Arena *arena, const Compilation *v, int count, bool in)
{
    const Alternative *largest = &v[count - 1].chosen;
    Side               s = {v, count, in ? largest->program->nin : largest->program->nout, in, NULL, NULL};

    s.place = arena_array(arena, PortPlace, s.nport + 1);
    s.bytes = arena_array(arena, int64_t, s.nport + 1);
    for (int i = 0; i < s.nport; i++) {
        const Buffer *b = port_buffer(&s, count - 1, i);
        int           memory = b ? largest->plan.region[b->id] : 0;

        s.place[i] = (PortPlace){b ? largest->plan.offset[b->id] - largest->plan.share[memory].base : -1, memory};
    }
    return s;
}

static void measure_ports(Side *s)
{
    for (int i = 0; i < s->nport; i++)
        for (int k = 0; k < s->count; k++) {
            const Buffer *b = port_buffer(s, k, i);

            s->bytes[i] = int_max(s->bytes[i], b ? b->size : 0);
        }
}

/* Whether each port that has bytes has a place, and no two inputs share bytes. */
static bool are_placed(const Side *s)
{
    for (int i = 0; i < s->nport; i++) {
        const PortPlace *a = &s->place[i];

        if (s->bytes[i] && a->offset < 0)
            return false;
        for (int k = 0; k < i && s->in; k++) {
            const PortPlace *b = &s->place[k];

            if (a->memory == b->memory && a->offset < b->offset + s->bytes[k] && b->offset < a->offset + s->bytes[i])
                return false;
        }
    }
    return true;
}

/* Places the ports one behind the other, each with its most bytes, in the first memory that has room. Raises the ends
 * of the memories. */
static void place_apart(Side *s, const PlanOptions *options, int64_t *end)
{
    for (int i = 0; i < s->nport; i++) {
        const Buffer *b = port_buffer(s, s->count - 1, i);
        int64_t       align = b ? b->align : 1;
        int           r = 0;

        while (r + 1 < options->nregion && int_round_up(end[r], align) + s->bytes[i] > options->region[r].size)
            r++;
        s->place[i] = (PortPlace){int_round_up(end[r], align), r};
        end[r] = s->place[i].offset + s->bytes[i];
    }
}

/* Plans the combinations from `from` down to the first. With --weights=swap the last one takes what --max-ram has, and
 * the others the same memory. */
static int plan_down(const Compilation *c, Compilation *v, const Options *options, const Residency *begin,
                     const Model *before, int from)
{
    Options   like = *options;
    Residency beside = *begin;

    for (int i = (int)listed_combinations(c->options->bound, c->options->nbound) - 1; i >= 0; i--) {
        if (i <= from && plan_variant(&v[i], c, &like, before, &beside, i) < 0)
            return -1;
        before = v[i].model;
        if (like.plan.weights != WEIGHTS_SWAP)
            continue;
        residency_add(&beside, v[i].chosen.program, &v[i].chosen.plan);
        beside.larger = v[i].chosen.form.larger;
        beside.whole_tables = v[i].chosen.form.whole_tables;
        like.max_ram = like.max_ram < 0 ? v[i].chosen.ram : like.max_ram;
    }
    return 0;
}

/* Plans all combinations, the largest first. With --io=arena the header has one place for each port: that of the
 * largest plan, of which the others may not exceed the memory. Where that fails, or ports would overlap, all ports lie
 * one behind the other in all plans. */
static int plan_variants(const Compilation *c, Compilation *v, int count, const SizeBudget *budget)
{
    Options            like = *c->options;
    const Alternative *largest = &v[count - 1].chosen;
    Side               in, out;
    int64_t            end[MAX_REGIONS] = {0};
    bool               serves;

    like.max_ram = budget->bytes;
    if (!c->options->plan.io_arena)
        return plan_down(c, v, &like, &budget->begin, c->model, count - 1);
    if (plan_variant(&v[count - 1], c, &like, c->model, &budget->begin, count - 1) < 0)
        return -1;
    in = new_side(c->arena, v, count, true);
    out = new_side(c->arena, v, count, false);
    like.plan.places = (PortPlaces){in.place, out.place};
    like.max_ram = like.max_ram < 0 ? largest->ram : int_min(like.max_ram, largest->ram);
    if (plan_down(c, v, &like, &budget->begin, v[count - 1].model, count - 2) < 0)
        return -1;
    measure_ports(&in);
    measure_ports(&out);
    serves = are_placed(&in) && are_placed(&out);
    for (int i = 0; i < count; i++)
        serves = serves && v[i].chosen.plan.overflow <= largest->plan.overflow;
    if (serves)
        return 0;
    place_apart(&in, &like.plan, end);
    place_apart(&out, &like.plan, end);
    like.max_ram = budget->bytes;
    return plan_down(c, v, &like, &budget->begin, v[0].model, count - 1);
}

/* ------------------------------------------------------------------------------------------------------------ entry */

/* --dump=graph: one graph for each combination, as the programs are made from them. */
static void dump_variant(const Compilation *c, const Compilation *v, int combination)
{
    if (!c->options->dump || strcmp(c->options->dump, "graph") || !c->output)
        return;
    text_printf(&c->output->standard, "sizes %s\n", listed_label(c->model, combination));
    graph_print(&c->output->standard, v->model);
}

/* The value of this name that a node of the graph makes; NULL: there is none. */
static Value *find_made(const Graph *graph, const char *name)
{
    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nout; k++)
            if (graph->node[i]->out[k] && !strcmp(graph->node[i]->out[k]->name, name))
                return graph->node[i]->out[k];
    return NULL;
}

/* With --verify-nodes a combination has more outputs: they become outputs of the whole model. */
static int expose_whole(Compilation *c, const Compilation *v, int count)
{
    Graph       *whole = c->model->main;
    const Graph *first = v[0].model->main;
    bool         same = true;

    for (int k = 1; k < count; k++)
        same = same && v[k].model->main->nout == first->nout;
    for (int i = whole->nout; i < first->nout && same; i++) {
        Value *value = find_made(whole, first->out[i]->name);

        same = value != NULL;
        for (int k = 1; k < count; k++)
            same = same && !strcmp(v[k].model->main->out[i]->name, first->out[i]->name);
        ARENA_PUSH(c->arena, whole->out, whole->nout, whole->cout, value);
    }
    if (same)
        return 0;
    return diag_usage(c->diag, "--verify-nodes: some sizes that --dim lists leave other nodes than others do, as an If "
                               "does that they decide; verify once for each size");
}

/* The model of the joined program: the ports and lists of sizes of `whole`, the values and expressions of the model
 * that was read last. */
static Model *joined_model(const Model *whole, const Model *last)
{
    Model *model = arena_one(whole->arena, Model);

    *model = *last;
    model->main = whole->main;
    model->bound = whole->bound;
    model->nbound = whole->nbound;
    model->listed = whole->listed;
    model->nlisted = whole->nlisted;
    model->check = NULL;
    model->ncheck = model->ccheck = 0;
    return model;
}

/* Plans all combinations and joins them. */
static int plan_sizes(Compilation *c, Compilation *v, int count, const SizeBudget *budget)
{
    Variant *variant = arena_array(c->arena, Variant, count);

    if (read_whole(c) < 0 || plan_variants(c, v, count, budget) < 0 ||
        (c->options->verify_nodes && expose_whole(c, v, count) < 0))
        return -1;
    for (int i = 0; i < count; i++) {
        if (!c->is_planned)
            dump_variant(c, &v[i], i);
        variant[i] = (Variant){v[i].chosen.program, &v[i].chosen.plan, v[i].chosen.time, v[i].before->nvalue};
    }
    c->is_planned = true;
    c->lowering = v[0].lowering;
    c->lowering.options.plan.places = (PortPlaces){NULL, NULL};
    c->lowering.options.max_ram = c->options->max_ram;
    c->lowering.options.bound = c->options->bound;
    c->lowering.options.nbound = c->options->nbound;
    c->model = c->lowering.model = joined_model(c->model, v[0].model);
    c->chosen.form = v[0].chosen.form;
    return variants_join(variant, count, &c->lowering, &c->chosen);
}

/* The budget with which all combinations are planned anew, where they need `excess` bytes more than --max-ram: the
 * arena that one of the others needs, beside which the last one keeps less, or else fewer bytes. False: there is
 * none. */
static bool plan_smaller(const Compilation *c, const Compilation *v, int count, int64_t excess, SizeBudget *budget)
{
    const Alternative *last = &v[count - 1].chosen;
    int64_t            arena = 0;

    for (int i = 0; i + 1 < count; i++)
        arena = int_max(arena, v[i].chosen.plan.peak);
    if (arena > int_max(budget->begin.arena, last->plan.peak)) {
        budget->begin = (Residency){.arena = arena, .fixed = c->chosen.plan.swap->fixed};
        return true;
    }
    if (last->ram > budget->bytes)
        return false;
    budget->bytes = int_max(budget->bytes - excess, 0);
    return true;
}

int compile_sizes_within(Compilation *c, int64_t max_ram)
{
    enum { ROUNDS = 2 };
    int          count = (int)listed_combinations(c->options->bound, c->options->nbound);
    Compilation *v = arena_array(c->arena, Compilation, count);
    SizeBudget   budget = {max_ram, {0}};

    for (int round = 0;; round++) {
        if (plan_sizes(c, v, count, &budget) < 0)
            return -1;
        if (!c->chosen.plan.swap || max_ram < 0 || c->chosen.ram <= max_ram)
            break;
        if (round < ROUNDS && plan_smaller(c, v, count, c->chosen.ram - max_ram, &budget))
            continue;
        if (budget.bytes == 0 || v[count - 1].chosen.ram > max_ram) /* these are the plans of fewest bytes */
            break;
        budget = (SizeBudget){0, {0}};
        round = -1;
    }
    return 0;
}

int compile_sizes(Compilation *c)
{
    int count = (int)listed_combinations(c->options->bound, c->options->nbound);

    if (count == 1)
        return 0;
    return check_options(c->options, count, c->diag) < 0 ? -1 : compile_sizes_within(c, c->options->max_ram);
}
