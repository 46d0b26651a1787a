/* step.c - step functions. Each calls one kernel with literal arguments, so that the C compiler specialises it. Steps
 * with equal text share a function; values that differ between runs are parameters. */
#include "emit/emit.h"
#include "kernels/record.h"

#include <stdio.h>
#include <string.h>

typedef struct StepText {
    Emit       *emit;
    const Step *step;
    Text        params; /* of the function */
    Text        locals;
    Text        call;    /* the kernel's arguments */
    Text       *extra;   /* the call's arguments for the parameters after the pointers */
    int        *dynamic; /* Model.expr indices that are parameters, in order */
    int         ndynamic, cdynamic;
    Text        fields; /* fields of the struct that is being written */
    bool        fixed;  /* everything put since this was set is constant */
} StepText;

static void put_param(StepText *b, const char *ctype, const char *name)
{
    text_printf(&b->params, "%s%s%s", b->params.size ? ", " : "", ctype, name);
}

/* The parameter that holds a run-time extent. */
static int dynamic_param(StepText *b, Extent extent)
{
    char name[16];

    b->fixed = false;
    b->emit->open_extents = true;
    for (int i = 0; i < b->ndynamic; i++)
        if (b->dynamic[i] == extent.expr)
            return i;
    ARENA_PUSH(b->emit->arena, b->dynamic, b->ndynamic, b->cdynamic, extent.expr);
    snprintf(name, sizeof name, "n%d", b->ndynamic - 1);
    put_param(b, "int64_t ", name);
    text_put(b->extra, ", ");
    emit_extent(b->emit, b->extra, extent);
    return b->ndynamic - 1;
}

static void put_extent(StepText *b, Text *text, Extent extent, const char *ctype)
{
    if (extent.expr < 0)
        text_int64(text, extent.max);
    else
        text_printf(text, "%sn%d", strcmp(ctype, "int") ? "" : "(int)", dynamic_param(b, extent));
}

static void put_list(StepText *b, Text *text, const Extent *list, int count)
{
    for (int i = 0; i < count; i++) {
        text_put(text, i ? ", " : "");
        put_extent(b, text, list[i], "int64_t");
    }
}

/* Puts a constant as a local of the function, next to the code that uses it. */
static void put_local(StepText *b, const char *ctype, const char *name, const char *array, const char *items)
{
    text_printf(&b->locals, "    %sconst %s %s%s = {%s};\n", b->fixed ? "static " : "", ctype, name, array, items);
}

static void put_ints(StepText *b, const Arg *arg, const char *name)
{
    bool fixed = b->fixed;
    Text items = text_new(b->emit->arena);

    b->fixed = true;
    put_list(b, &items, arg->ints, arg->count);
    put_local(b, "occ_extent", name, "[]", arg->count ? items.data : "0");
    b->fixed = b->fixed && fixed;
}

static void put_floats(StepText *b, const Arg *arg, const char *name)
{
    text_printf(&b->locals, "    static const double %s[] = {%s", name, arg->count ? "" : "0.0");
    for (int i = 0; i < arg->count; i++) {
        text_put(&b->locals, i ? ", " : "");
        text_double(&b->locals, arg->floats[i]);
    }
    text_put(&b->locals, "};\n");
}

static void put_arg(StepText *b, const Param *param, const Arg *arg)
{
    switch (param->kind) {
    case PARAM_INT:
        if (b->step->rounds && !strcmp(param->name, "round_index")) {
            put_param(b, "int64_t ", "round_index");
            text_put(b->extra, ", round_index");
            text_put(&b->call, "round_index");
            b->fixed = false;
            return;
        }
        put_extent(b, &b->call, arg->ints[0], param->ctype);
        return;
    case PARAM_INTS:
        if (param->count) {
            text_put(&b->call, arg->count ? "{" : "{0");
            put_list(b, &b->call, arg->ints, arg->count);
            text_put(&b->call, "}");
            return;
        }
        put_ints(b, arg, param->name);
        break;
    case PARAM_FLOATS:
        put_floats(b, arg, param->name);
        break;
    default: /* PARAM_FLOAT */
        if (!strcmp(param->ctype, "float"))
            text_float(&b->call, (float)arg->floats[0]);
        else
            text_double(&b->call, arg->floats[0]);
        return;
    }
    text_put(&b->call, param->name);
}

/* The operands of the expression: pointers that the kernel passes on. */
static void put_expression(StepText *b)
{
    const Step *step = b->step;
    Text        items = text_new(b->emit->arena);
    char        name[16];

    for (int i = step->nparam; i < step->noperand; i++) {
        bool absent = step->operand[i].buffer < 0;
        snprintf(name, sizeof name, absent ? "NULL" : "x%d", i - step->nparam);
        text_printf(&items, "%s%s", items.size ? ", " : "", name);
        if (!absent)
            put_param(b, "const void *", name);
    }
    text_printf(&b->locals, "    const occ_expr expr = {{%s}, {0}};\n", items.size ? items.data : "NULL");
}

static void put_pointer(StepText *b, const Param *param, const Operand *operand)
{
    if (operand->buffer < 0) {
        text_put(&b->call, "NULL");
        return;
    }
    put_param(b, param->kind == PARAM_READS ? "const void *" : "void *", param->name);
    text_put(&b->call, param->name);
}

/* Puts the extents and strides of an operand. */
static void put_shape(StepText *b, const Param *param, const Operand *x)
{
    Text items = text_new(b->emit->arena);

    b->fixed = true;
    if (param->ranked)
        text_printf(&items, "%d, ", x->rank);
    text_put(&items, "{");
    put_list(b, &items, x->dim, x->rank);
    text_put(&items, "}, {");
    put_list(b, &items, x->stride, x->rank);
    text_put(&items, "}");
    put_local(b, param->ctype, param->name, "", items.data);
    text_printf(&b->call, "&%s", param->name);
}

static void put_function(StepText *b, const Param *param)
{
    const Step *step = b->step;

    text_put(&b->call, emit_expression(b->emit, step->expr, param->ctype, !step->kernel->open, step_loc(step)));
}

/* A pointer, or nothing. */
static void put_params(StepText *b)
{
    const Kernel *k = b->step->kernel;
    int           pointers = 0;

    for (int i = 0; i < k->nparam; i++) {
        b->call = text_new(b->emit->arena);
        if ((k->param[i].kind == PARAM_READS || k->param[i].kind == PARAM_WRITES) && pointers < b->step->nparam)
            put_pointer(b, &k->param[i], &b->step->operand[pointers++]);
        else if (k->param[i].kind == PARAM_EXPR)
            put_expression(b);
    }
}

/* Device code is C++, where pointers to void must be converted. */
static void put_pointer_value(StepText *b, const Param *param, bool present)
{
    if (present && b->emit->on_device)
        text_printf(&b->call, "(%s)%s", param->ctype, param->name);
    else
        text_put(&b->call, present ? param->name : "NULL");
}

/* Puts the value of parameter or field i into b->call; false: the step has no more operands or arguments. */
static bool put_value(StepText *b, int i, int *pointers, int *others)
{
    const Step  *step = b->step;
    const Param *param = &step->kernel->param[i];

    b->call = text_new(b->emit->arena);
    if (param->kind == PARAM_READS || param->kind == PARAM_WRITES) {
        if (*pointers >= step->nparam)
            return false;
        put_pointer_value(b, param, step->operand[(*pointers)++].buffer >= 0);
    } else if (param->kind == PARAM_EXPR) {
        text_put(&b->call, "&expr");
    } else if (param->kind == PARAM_FN) {
        put_function(b, param);
    } else if (param->kind == PARAM_SHAPE) {
        put_shape(b, param, &step->operand[param->of]);
    } else {
        if (*others >= step->narg)
            return false;
        put_arg(b, param, &step->arg[(*others)++]);
    }
    return true;
}

/* Fields i and i + 1 lie in the same struct, or in the same one inside it. */
static bool same_group(const Kernel *k, int i)
{
    const char *group = i >= 0 ? k->param[i].group : NULL, *next = i + 1 < k->nparam ? k->param[i + 1].group : NULL;

    return group && next && !strcmp(group, next);
}

static bool same_inside(const Kernel *k, int i)
{
    return same_group(k, i) && !strcmp(k->param[i].inside, k->param[i + 1].inside);
}

/* Moves the value just put into its struct; after the last field the struct becomes an argument. */
static void put_field(StepText *b, int i, Text *arguments)
{
    const Kernel *k = b->step->kernel;
    const Param  *param = &k->param[i];

    text_printf(&b->fields, "%s%s%s%s", same_group(k, i - 1) ? ", " : "",
                *param->inside && !same_inside(k, i - 1) ? "{" : "", b->call.data,
                *param->inside && !same_inside(k, i) ? "}" : "");
    if (same_group(k, i))
        return;
    put_local(b, param->group_type, param->group, "", b->fields.data);
    text_printf(arguments, "%s&%s", arguments->size ? ", " : "", param->group);
}

/* Walks the kernel's parameters twice, because in the function pointers precede run-time extents. */
static int build(StepText *b)
{
    const Kernel *k = b->step->kernel;
    int           pointers = 0, others = 0;
    Text          arguments = text_new(b->emit->arena);

    put_params(b);
    for (int i = 0; i < k->nparam; i++) {
        if (k->param[i].group && !same_group(k, i - 1)) {
            b->fields = text_new(b->emit->arena);
            b->fixed = true;
        }
        if (!put_value(b, i, &pointers, &others))
            return -1;
        if (k->param[i].group)
            put_field(b, i, &arguments);
        else
            text_printf(&arguments, "%s%s", arguments.size ? ", " : "", b->call.data);
    }
    b->call = arguments;
    return pointers == b->step->nparam && others == b->step->narg ? 0 : -1;
}

/* The name of the function that the step calls, behind "occ_": that of its kernel, of the same kernel for run-time
 * extents, or of the same kernel on tensor cores, which ends in the kind of factors. */
static const char *called_name(const Emit *emit, const Step *step)
{
    static const char *const tensor[] = {"conv_krsc_", "conv_work_", "matmul_", "matmul_work_", "attention_"};
    const char              *name = step->kernel->name, *factors = options_factors(emit->emission->options);
    const KernelRecord      *record = step->kernel->record;
    const char              *form = NULL;

    for (size_t i = 0; emit->on_device && factors && i < sizeof tensor / sizeof *tensor; i++)
        if (!strcmp(name, arena_printf(emit->arena, "%sf32", tensor[i])))
            return arena_printf(emit->arena, "%s%s", tensor[i], factors);
    if (!emit->on_device && record->form)
        form = record->form(emit->program->model, step);
    return form ? form : name;
}

const char *emit_step_function(Emit *emit, const Step *step, Text *extra)
{
    StepText b = {
        .emit = emit, .step = step, .params = text_new(emit->arena), .locals = text_new(emit->arena), .extra = extra};
    const KernelRecord *record = step->kernel->record;
    StepFunction        made;

    if (record->wide_border && record->wide_border(step))
        emit->wide_borders = true;
    if (build(&b) < 0) {
        emit->status = diag_bug(emit->diag, step_loc(step),
                                "kernel %s takes other operands or arguments than its step has", step->kernel->name);
        return "";
    }
    made.body = arena_printf(emit->arena, "(%s)\n{\n%s    %socc_%s(%s);\n}\n", b.params.size ? b.params.data : "void",
                             b.locals.size ? b.locals.data : "", step->kernel->fails ? "return " : "",
                             called_name(emit, step), b.call.data);
    for (int i = 0; i < emit->code.nfunction; i++)
        if (!strcmp(emit->code.function[i].body, made.body))
            return emit->code.function[i].name;
    made.name = arena_printf(emit->arena, "%s_%s_%d%s", emit->name, step->kernel->name, emit->code.nfunction + 1,
                             emit->on_device ? "_unit" : "");
    emit->printer->function(emit, step, made.name, made.body);
    ARENA_PUSH(emit->arena, emit->code.function, emit->code.nfunction, emit->code.cfunction, made);
    return made.name;
}
