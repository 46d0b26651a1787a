/* emit_expr.c - a scalar expression as a C function: over the float vector type, or over one stored element type. */
#include "emit/emit.h"

#include <string.h>

typedef struct Writer {
    Emit         *emit;
    const Scalar *expr;
    bool          vector;
    bool          outlined; /* long functions are called instead of inlined */
    DType         stored;   /* scalar class: what the function takes and returns */
    bool          uses_acc, uses_e, uses_c;
    Text          body, literals; /* literals: the non-zero literals of a vector expression, in order of use */
    int           nliteral;
    Loc           loc;
} Writer;

static const char *suffix(DType dtype)
{
    return dtype_info(dtype)->suffix;
}

static void refuse(Writer *p, const char *what)
{
    p->emit->status = diag_bug(p->emit->diag, p->loc, "an expression on vectors holds %s", what);
}

/* ----------------------------------------------------------------------------------------------------------- leaves */

/* Puts a literal of a vector expression; zero needs no load. */
static void put_vector_literal(Writer *p, float literal)
{
    if (literal == 0.0f) {
        text_put(&p->body, "occ_vset(");
        text_float(&p->body, literal);
        text_put(&p->body, ")");
        return;
    }
    p->uses_e = true;
    text_put(&p->literals, p->nliteral ? ", " : "");
    text_float(&p->literals, literal);
    text_printf(&p->body, "occ_vliteral(e, literal, %d)", p->nliteral++);
}

static void put_literal(Writer *p, const ScalarNode *n)
{
    DType dtype = dtype_computed(n->dtype);
    Text *text = &p->body;

    if (p->vector) {
        put_vector_literal(p, dtype == DTYPE_F32 || dtype == DTYPE_F64 ? (float)n->literal : (float)n->integer);
    } else if (dtype == DTYPE_F32) {
        text_float(text, (float)n->literal);
    } else if (dtype == DTYPE_F64) {
        text_double(text, n->literal);
    } else {
        text_printf(text, "(%s)", dtype_info(dtype)->ctype);
        text_int64(text, n->integer);
    }
}

/* Loads n lanes that start at index c of the innermost axis. */
static void put_vector_load(Writer *p, const ScalarNode *n)
{
    Text       *text = &p->body;
    const char *ctype = dtype_info(n->stored)->ctype;
    const char *kind = n->stored == DTYPE_F32 ? "" : suffix(n->stored);
    const char *join = n->stored == DTYPE_F32 ? "" : "_";

    p->uses_e = true;
    if (n->stride == 0) {
        text_printf(text,
                    n->stored == DTYPE_F32 ? "occ_vset(((const %s *)e->x[%d])[e->at[%d]])"
                                           : "occ_vset((float)((const %s *)e->x[%d])[e->at[%d]])",
                    ctype, n->operand, n->operand);
        return;
    }
    p->uses_c = true;
    if (n->stride == 1)
        text_printf(text, "occ_vload%s%s((const %s *)e->x[%d] + e->at[%d] + c, n)", join, kind, ctype, n->operand,
                    n->operand);
    else
        text_printf(text, "occ_vloads%s%s((const %s *)e->x[%d] + e->at[%d] + c * %d, %d, n)", join, kind, ctype,
                    n->operand, n->operand, n->stride, n->stride);
}

static void put_scalar_load(Writer *p, const ScalarNode *n)
{
    bool low = dtype_info(n->stored)->class == 'L';

    p->uses_e = true;
    if (low)
        text_printf(&p->body, "occ_%s_to_f32(", suffix(n->stored));
    text_printf(&p->body, "((const %s *)e->x[%d])[e->at[%d]", dtype_info(n->stored)->ctype, n->operand, n->operand);
    if (n->stride) {
        p->uses_c = true;
        text_put(&p->body, n->stride == 1 ? " + c" : "");
        if (n->stride != 1)
            text_printf(&p->body, " + c * %d", n->stride);
    }
    text_put(&p->body, low ? "])" : "]");
}

static void put_acc(Writer *p)
{
    p->uses_acc = true;
    if (!p->vector && dtype_info(p->stored)->class == 'L')
        text_printf(&p->body, "occ_%s_to_f32(acc)", suffix(p->stored));
    else
        text_put(&p->body, "acc");
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static void put_node(Writer *p, int index);

/* A leaf or a variable. */
static void put_value(Writer *p, int index)
{
    ScalarOp op = p->expr->node[index].op;

    if (op == SCALAR_ACC || op == SCALAR_LITERAL)
        put_node(p, index);
    else
        text_printf(&p->body, "t%d", index);
}

/* Does a cast saturate? Types with an infinity, and the type without NaN, have one conversion only. */
static bool saturating(const ScalarNode *n, DType to)
{
    return n->saturate || to == DTYPE_F16 || to == DTYPE_BF16 || to == DTYPE_F4E2M1;
}

/* A conversion of floats to bytes. It needs no code where the value is a byte's already, or is stored next: the store
 * rounds and saturates. */
static void put_vector_cast(Writer *p, const ScalarNode *n)
{
    DType from = dtype_computed(p->expr->node[n->a].dtype), to = n->dtype;
    bool  byte = dtype_is_byte(to), is_last = n == &p->expr->node[p->expr->nnode - 1];
    bool  cut = byte && !n->saturate && !is_last;

    if (to != DTYPE_F32 && to != DTYPE_BOOL && from != to && (!byte || from != DTYPE_F32))
        refuse(p, "a conversion to an integer type");
    if (cut)
        text_printf(&p->body, "occ_vcut_%s(", suffix(to));
    text_put(&p->body, to == DTYPE_BOOL && from != DTYPE_BOOL ? "occ_vnot(occ_veq(" : "");
    put_value(p, n->a);
    text_put(&p->body, to == DTYPE_BOOL && from != DTYPE_BOOL ? ", occ_vset(0.0f)))" : cut ? ")" : "");
}

static void put_cast(Writer *p, const ScalarNode *n)
{
    DType from = dtype_computed(p->expr->node[n->a].dtype), to = n->dtype;

    if (p->vector) {
        put_vector_cast(p, n);
    } else if (dtype_info(to)->class == 'L') {
        text_printf(&p->body, "occ_%s_to_f32(occ_f32_to_%s%s(", suffix(to), suffix(to),
                    saturating(n, to) ? "" : "_unsaturated");
        text_put(&p->body, from == DTYPE_F32 ? "" : arena_printf(p->emit->arena, "occ_cast_%s_f32(", suffix(from)));
        put_value(p, n->a);
        text_put(&p->body, from == DTYPE_F32 ? "))" : ")))");
    } else if (from == to) {
        put_value(p, n->a);
    } else {
        text_printf(&p->body, "occ_cast_%s_%s(", suffix(from), suffix(to));
        put_value(p, n->a);
        text_put(&p->body, ")");
    }
}

/* The name of an operator on vectors. A maximum or minimum with a literal as second operand has a shorter form. */
static const char *vector_name(const Writer *p, const ScalarNode *n)
{
    const ScalarNode *second = n->b >= 0 ? &p->expr->node[n->b] : NULL;

    if ((n->op == SCALAR_max || n->op == SCALAR_min) && second->op == SCALAR_LITERAL &&
        second->literal == second->literal)
        return n->op == SCALAR_max ? "at_least" : "at_most";
    return scalar_info(n->op)->name;
}

/* The comparison that a choice between vectors asks, or NULL. Both are one function: a Boolean between them would be
 * 1.0 or 0.0, two constants that GCC holds in registers during the loops of the sums. */
static const ScalarNode *comparison_of(const Writer *p, const ScalarNode *n)
{
    const ScalarNode *asked = p->vector && n->op == SCALAR_select ? &p->expr->node[n->a] : NULL;

    if (!asked || (asked->op != SCALAR_lt && asked->op != SCALAR_le && asked->op != SCALAR_eq))
        return NULL;
    return asked;
}

static void put_choice(Writer *p, const ScalarNode *n, const ScalarNode *asked)
{
    const int operand[4] = {asked->a, asked->b, n->b, n->c};

    text_printf(&p->body, "occ_vselect_%s(", scalar_info(asked->op)->name);
    for (int i = 0; i < 4; i++) {
        text_put(&p->body, i ? ", " : "");
        put_value(p, operand[i]);
    }
    text_put(&p->body, ")");
}

/* The operand type names the function: a comparison of int64_t is occ_lt_i64, although it gives a boolean. */
static void put_operator(Writer *p, const ScalarNode *n)
{
    const ScalarInfo *info = scalar_info(n->op);
    const int         operand[3] = {n->a, n->b, n->c};
    DType             dtype = dtype_computed(p->expr->node[info->arity == 3 ? n->b : n->a].dtype);

    if (p->vector && !info->vector)
        refuse(p, "an operator that has no vector form");
    if (p->vector)
        text_printf(&p->body, "occ_v%s%s(", vector_name(p, n), p->outlined && info->outlined ? "_apart" : "");
    else
        text_printf(&p->body, "occ_%s_%s(", info->name, suffix(dtype));
    for (int i = 0; i < info->arity; i++) {
        text_put(&p->body, i ? ", " : "");
        put_value(p, operand[i]);
    }
    text_put(&p->body, ")");
}

static void put_node(Writer *p, int index)
{
    const ScalarNode *n = &p->expr->node[index];

    switch (n->op) {
    case SCALAR_ACC:
        put_acc(p);
        break;
    case SCALAR_LOAD:
        p->vector ? put_vector_load(p, n) : put_scalar_load(p, n);
        break;
    case SCALAR_LITERAL:
        put_literal(p, n);
        break;
    case SCALAR_CAST:
        put_cast(p, n);
        break;
    case SCALAR_ROUND_TO:
        if (p->vector)
            refuse(p, "a rounding to a low-precision type");
        text_printf(&p->body, "occ_%s_to_f32(occ_f32_to_%s%s(", suffix(n->dtype_to), suffix(n->dtype_to),
                    saturating(n, n->dtype_to) ? "" : "_unsaturated");
        put_value(p, n->a);
        text_put(&p->body, "))");
        break;
    default:
        comparison_of(p, n) ? put_choice(p, n, comparison_of(p, n)) : put_operator(p, n);
    }
}

static void put_result(Writer *p, int last)
{
    DType dtype = dtype_computed(p->expr->node[last].dtype);
    bool  low = !p->vector && dtype_info(p->stored)->class == 'L';

    text_put(&p->body, "    return ");
    if (low) /* a value rounded without saturation may be infinite and stays so */
        text_printf(&p->body, "occ_f32_to_%s%s(", suffix(p->stored),
                    p->expr->node[last].op == SCALAR_ROUND_TO && !saturating(&p->expr->node[last], p->stored)
                        ? "_unsaturated"
                        : "");
    else if (!p->vector && dtype != p->stored)
        text_printf(&p->body, "occ_cast_%s_%s(", suffix(dtype), suffix(p->stored));
    put_value(p, last);
    text_put(&p->body, low || (!p->vector && dtype != p->stored) ? ");\n}\n" : ";\n}\n");
}

/* Marks the nodes that the result depends on. */
static bool *live_nodes(const Writer *p)
{
    const Scalar *expr = p->expr;
    bool         *live = arena_array(p->emit->arena, bool, expr->nnode + 1);

    live[expr->nnode - 1] = true;
    for (int i = expr->nnode; i-- > 0;) {
        const int         operand[3] = {expr->node[i].a, expr->node[i].b, expr->node[i].c};
        const ScalarNode *asked = comparison_of(p, &expr->node[i]);
        int               arity = 0;
        if (!live[i] || expr->node[i].op == SCALAR_ACC || expr->node[i].op == SCALAR_LOAD ||
            expr->node[i].op == SCALAR_LITERAL)
            continue;
        arity = expr->node[i].op < SCALAR_FIRST_ROW ? 1 : scalar_info(expr->node[i].op)->arity;
        if (asked)
            live[asked->a] = live[asked->b] = true;
        for (int k = asked ? 1 : 0; k < arity; k++)
            live[operand[k]] = true;
    }
    return live;
}

static void print_body(Writer *p)
{
    const Scalar *expr = p->expr;
    bool         *live = live_nodes(p);

    for (int i = 0; i < expr->nnode; i++) {
        const ScalarNode *n = &expr->node[i];
        if (!live[i] || n->op == SCALAR_ACC || n->op == SCALAR_LITERAL)
            continue;
        text_printf(&p->body, "    const %s t%d = ", p->vector ? "occ_vf" : dtype_info(dtype_computed(n->dtype))->ctype,
                    i);
        put_node(p, i);
        text_put(&p->body, ";\n");
    }
    put_result(p, expr->nnode - 1);
}

static DType dtype_of_suffix(const char *name)
{
    for (int i = 1; i < DTYPE_COUNT; i++)
        if (!strcmp(dtype_info((DType)i)->suffix, name))
            return (DType)i;
    return DTYPE_NONE;
}

/* The expression of a kernel without one: its accumulator. */
static const Scalar *identity(Emit *emit, DType stored)
{
    Scalar *expr = arena_one(emit->arena, Scalar);

    expr->node = arena_one(emit->arena, ScalarNode);
    expr->node[0] = (ScalarNode){.op = SCALAR_ACC, .dtype = dtype_computed(stored)};
    expr->nnode = 1;
    return expr;
}

const char *emit_expression(Emit *emit, const Scalar *expr, const char *type, bool outlined, Loc loc)
{
    Writer       p = {.emit = emit,
                      .vector = !strcmp(type, "occ_fn_vf"),
                      .outlined = outlined,
                      .body = text_new(emit->arena),
                      .loc = loc};
    StepFunction made;
    const char  *element, *literals = "";

    p.literals = text_new(emit->arena);
    p.stored = p.vector ? DTYPE_F32 : dtype_of_suffix(type + strlen("occ_fn_"));
    p.expr = expr && expr->nnode ? expr : identity(emit, p.stored);
    element = p.vector ? "occ_vf" : dtype_info(p.stored)->ctype;
    print_body(&p);
    if (p.nliteral > 0)
        literals = arena_printf(emit->arena, "    static const float literal[] = {%s};\n", p.literals.data);
    made.body = arena_printf(emit->arena, "(const occ_expr *e, %s acc, int64_t c%s)\n{\n%s%s%s%s%s%s", element,
                             p.vector ? ", int n" : "", literals, p.uses_e ? "" : "    (void)e;\n",
                             p.uses_acc ? "" : "    (void)acc;\n", p.uses_c ? "" : "    (void)c;\n",
                             p.uses_c || !p.vector ? "" : "    (void)n;\n", p.body.data);
    for (int i = 0; i < emit->code.nexpression; i++)
        if (!strcmp(emit->code.expression[i].body, made.body))
            return emit->code.expression[i].name;
    made.name = arena_printf(emit->arena, "%s_expr_%d", emit->name, emit->code.nexpression + 1);
    emit->printer->expression(emit, element, made.name, made.body);
    ARENA_PUSH(emit->arena, emit->code.expression, emit->code.nexpression, emit->code.cexpression, made);
    return made.name;
}
