/* sizes.c - sizes that --dim lists: each combination is compiled up to its plan, with constants in the place of the
 * listed extents, and all become one program. */
#include "alternatives/join.h"
#include "compilation.h"
#include "infer/infer.h"
#include "infer/listed.h"

#include <string.h>

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

/* Plans one combination, with constants in the place of listed extents. */
static int plan_variant(Compilation *v, const Compilation *c, const Model *before, int combination)
{
    Options *options = arena_one(c->arena, Options);

    *options = *c->options;
    options->bound = listed_pin(c->arena, c->model->bound, c->model->nbound, combination);
    options->nbound = c->model->nbound;
    options->dump = NULL;
    *v = (Compilation){.options = options,
                       .target = c->target,
                       .arena = c->arena,
                       .diag = c->diag,
                       .whole = c->model,
                       .before = before,
                       .combination = combination};
    if (compile_until(v, "plan") == 0)
        return 0;
    diag_note(c->diag, (Loc){0}, "this is so at %s", listed_label(c->model, combination));
    return -1;
}

/* --dump=graph: one graph for each combination, as the programs are made from them. */
static void dump_variant(const Compilation *c, const Compilation *v, int combination)
{
    if (!c->options->dump || strcmp(c->options->dump, "graph") || !c->output)
        return;
    text_printf(&c->output->standard, "sizes %s\n", listed_label(c->model, combination));
    graph_print(&c->output->standard, v->model);
}

/* The model of the joined program: the ports and lists of sizes of one, the values and expressions of both. */
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

int compile_sizes(Compilation *c)
{
    int          count = (int)listed_combinations(c->options->bound, c->options->nbound);
    Compilation *v;
    Variant     *variant;

    if (count == 1)
        return 0;
    if (variants_options(c->options, c->diag) < 0 || read_whole(c) < 0)
        return -1;
    v = arena_array(c->arena, Compilation, count);
    variant = arena_array(c->arena, Variant, count);
    for (int i = 0; i < count; i++) {
        const Model *before = i ? v[i - 1].model : c->model;

        if (plan_variant(&v[i], c, before, i) < 0)
            return -1;
        dump_variant(c, &v[i], i);
        variant[i] = (Variant){v[i].chosen.program, &v[i].chosen.plan, v[i].chosen.time, before->nvalue};
    }
    c->is_planned = true;
    c->lowering = v[count - 1].lowering;
    c->lowering.options.bound = c->options->bound;
    c->lowering.options.nbound = c->options->nbound;
    c->model = c->lowering.model = joined_model(c->model, v[count - 1].model);
    c->chosen.form = v[0].chosen.form;
    return variants_join(variant, count, &c->lowering, &c->chosen);
}
