/* expand_text_call.c - calls in schemas/functions.txt: operators, which insert nodes, and the words of the language;
 * see expand_text.h. */
#include "ops/expand/expand_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct Arguments {
    FormulaValue term[TEXT_ARGUMENTS];
    int          count;
    Named        attr[TEXT_ARGUMENTS]; /* "name = term" */
    int          nattr;
    Named        copied[TEXT_ARGUMENTS]; /* "@name": attributes of the replaced node */
    int          ncopied;
    bool         all; /* "@*": all of them */
} Arguments;

/* -------------------------------------------------------------------------------------------------------- operators */

static OpKind find_operator(const char *name, int length)
{
    const char *dot = memchr(name, '.', (size_t)length), *word = dot ? name : "onnx";
    int         begins = dot ? (int)(dot - name) : 4;

    if (dot) {
        length -= begins + 1;
        name = dot + 1;
    }
    for (OpKind op = 0; op < OP_COUNT; op++)
        if (formula_is_named(name, length, op_info[op].name) && formula_is_named(word, begins, op_info[op].word))
            return op;
    return OP_NONE;
}

/* The element type of a result that inference has not seen yet. Operators that are not named here keep that of their
 * first operand. */
static DType result_type(OpKind op, const Arguments *in)
{
    switch (op) {
    case OP_onnx_Equal:
    case OP_onnx_Less:
    case OP_onnx_LessOrEqual:
    case OP_onnx_Greater:
    case OP_onnx_GreaterOrEqual:
    case OP_onnx_IsInf:
        return DTYPE_BOOL;
    case OP_onnx_Shape:
    case OP_onnx_ArgMax:
        return DTYPE_I64;
    case OP_onnx_MatMulInteger:
    case OP_onnx_ConvInteger:
        return DTYPE_I32;
    case OP_onnx_DequantizeLinear:
        return in->term[1].dtype;
    case OP_onnx_OneHot:
        return in->term[2].dtype;
    case OP_onnx_Where:
        return in->term[1].kind == FORMULA_TENSOR ? in->term[1].dtype : in->term[2].dtype;
    default:
        for (int i = 0; i < in->count; i++)
            if (in->term[i].kind == FORMULA_TENSOR)
                return in->term[i].dtype;
        return DTYPE_F32;
    }
}

/* Numbers among the operands get the element type of the last tensor. */
static Value *operand(Formula *f, const FormulaValue *term, DType dtype)
{
    switch (term->kind) {
    case FORMULA_TENSOR:
        return term->value;
    case FORMULA_LIST:
        return make_ints(f->expand->graph, term->list, term->count);
    case FORMULA_WHOLE:
    case FORMULA_REAL:
        return expand_number(f->expand, term->real, dtype);
    case FORMULA_WORD:
        formula_wrong(f, "a tensor, not a string");
        return NULL;
    default:
        return NULL;
    }
}

static void set_attribute(Formula *f, Node *node, const Named *attr)
{
    const FormulaValue *term = &attr->term;
    char               *name = arena_strndup(f->expand->model->arena, attr->name, (size_t)attr->length);

    if (term->kind == FORMULA_WHOLE)
        node_set_int(node, name, term->whole);
    else if (term->kind == FORMULA_REAL)
        node_set_float(node, name, (float)term->real);
    else if (term->kind == FORMULA_LIST)
        node_set_ints(node, name, term->list, term->count);
    else if (term->kind == FORMULA_WORD)
        node_set_string(node, name, term->word);
}

static void set_attributes(Formula *f, Node *node, const Arguments *in)
{
    const Node *replaced = f->expand->node;

    for (int i = 0; i < replaced->nattr; i++) {
        bool copied = in->all;
        for (int k = 0; k < in->ncopied; k++)
            copied |= formula_is_named(in->copied[k].name, in->copied[k].length, replaced->attr[i].name);
        if (copied)
            node_set_attr(node, replaced->attr[i]);
    }
    for (int i = 0; i < in->nattr; i++)
        set_attribute(f, node, &in->attr[i]);
}

static FormulaValue make(Formula *f, OpKind op, const Arguments *in)
{
    Value *value[TEXT_ARGUMENTS] = {NULL};
    DType  numbers = DTYPE_F32, dtype = result_type(op, in);
    bool   reduces = !strncmp(op_info[op].name, "Reduce", 6);

    for (int i = 0; i < in->count; i++)
        if (in->term[i].kind == FORMULA_TENSOR)
            numbers = in->term[i].dtype;
    for (int i = 0; i < in->count; i++)
        value[i] = operand(f, &in->term[i], numbers);
    value[0] = expand_make(f->expand, op, in->count, value);
    set_attributes(f, f->expand->last, in);
    if (reduces && in->count == 2 && in->term[1].kind == FORMULA_LIST && !in->term[1].count)
        node_set_int(f->expand->last, "noop_with_empty_axes", 1);
    return formula_tensor(value[0], op == OP_onnx_Cast ? (DType)in->attr[0].term.whole : dtype);
}

FormulaValue formula_binary(Formula *f, OpKind op, const FormulaValue *a, const FormulaValue *b)
{
    Arguments in = {.term = {*a, *b}, .count = 2};

    return a->kind == FORMULA_NONE ? *b : b->kind == FORMULA_NONE ? *a : make(f, op, &in);
}

FormulaValue formula_unary(Formula *f, OpKind op, const FormulaValue *a)
{
    Arguments in = {.term = {*a}, .count = 1};

    return f->skips || a->kind == FORMULA_NONE ? (FormulaValue){.kind = FORMULA_NONE} : make(f, op, &in);
}

/* -------------------------------------------------------------------------------------------- words of the language */

/* Each gets arguments that are evaluated; those that are missing are FORMULA_NONE. */
typedef FormulaValue (*Word)(Formula *f, const FormulaValue *in);

static const FormulaValue none = {.kind = FORMULA_NONE};

/* The type of an input; that of a new tensor is not known yet. */
static const Type *type_of(Formula *f, const FormulaValue *term)
{
    if (term->kind != FORMULA_TENSOR || term->value->type.kind != TYPE_TENSOR)
        formula_wrong(f, "a tensor of known type in the call before");
    return term->kind == FORMULA_TENSOR ? &term->value->type : &f->expand->node->in[0]->type;
}

static FormulaValue word_rank(Formula *f, const FormulaValue *in)
{
    return formula_whole(type_of(f, &in[0])->rank);
}

static FormulaValue word_type(Formula *f, const FormulaValue *in)
{
    (void)f;
    return formula_whole(in[0].dtype);
}

/* An extent of an input, from the end where `axis` is negative; NULL: it has no such axis. */
static const Extent *extent_of(Formula *f, const FormulaValue *term, int64_t axis)
{
    const Type *type = type_of(f, term);

    axis += axis < 0 ? type->rank : 0;
    return axis >= 0 && axis < type->rank ? &type->dim[axis] : NULL;
}

static FormulaValue word_dim(Formula *f, const FormulaValue *in)
{
    const Extent *extent = extent_of(f, &in[0], in[1].whole);

    return extent && extent_is_const(*extent) ? formula_whole(extent->max) : none;
}

/* The extent, or its bound where it is known only while running. */
static FormulaValue word_most(Formula *f, const FormulaValue *in)
{
    const Extent *extent = extent_of(f, &in[0], in[1].whole);

    return extent ? formula_whole(extent->max) : none;
}

static FormulaValue word_same(Formula *f, const FormulaValue *in)
{
    const Type *a = type_of(f, &in[0]), *b = type_of(f, &in[2]);

    return formula_whole(extent_same(a->dim[in[1].whole], b->dim[in[3].whole]));
}

static FormulaValue word_front(Formula *f, const FormulaValue *in)
{
    int64_t rank = type_of(f, &in[1])->rank, axis = in[0].whole + (in[0].whole < 0 ? rank : 0);

    return formula_whole(axis < 0 ? 0 : axis > rank ? rank : axis); /* the shape rule has refused any other axis */
}

static FormulaValue word_repeat(Formula *f, const FormulaValue *in)
{
    FormulaValue list = {.kind = FORMULA_LIST};

    (void)f;
    while (list.count < in[1].whole && list.count < TEXT_LIST)
        list.list[list.count++] = in[0].whole;
    return list;
}

static FormulaValue word_at(Formula *f, const FormulaValue *in)
{
    return in[1].whole < in[0].count ? formula_whole(in[0].list[in[1].whole])
                                     : formula_wrong(f, "a longer list before");
}

static FormulaValue word_is_whole(Formula *f, const FormulaValue *in)
{
    (void)f;
    return formula_whole(dtype_in((DType)in[0].whole, "IU"));
}

static FormulaValue word_sqrt(Formula *f, const FormulaValue *in)
{
    (void)f;
    return formula_real(sqrt(in[0].real));
}

/* Also turns a number into a tensor. */
static FormulaValue word_cast(Formula *f, const FormulaValue *in)
{
    DType dtype = (DType)in[1].whole;

    if (in[0].kind == FORMULA_NONE || in[0].dtype == dtype)
        return in[0];
    return formula_tensor(formula_is_number(&in[0]) ? expand_number(f->expand, in[0].real, dtype)
                                                    : expand_cast(f->expand, in[0].value, dtype),
                          dtype);
}

static FormulaValue word_like(Formula *f, const FormulaValue *in)
{
    return formula_tensor(expand_reshape_like(f->expand, in[0].value, in[1].value), in[0].dtype);
}

static FormulaValue word_extent(Formula *f, const FormulaValue *in)
{
    return formula_tensor(expand_extent(f->expand, in[0].value, in[1].whole), DTYPE_I64);
}

static FormulaValue word_count(Formula *f, const FormulaValue *in)
{
    Value *extent = expand_extent(f->expand, in[0].value, in[1].whole);

    return formula_tensor(expand_range(f->expand, expand_squeeze(f->expand, extent, 0)), DTYPE_I64);
}

static FormulaValue word_slice(Formula *f, const FormulaValue *in)
{
    int64_t end = in[3].kind == FORMULA_NONE ? INT64_MAX : in[3].whole,
            step = in[4].kind == FORMULA_NONE ? 1 : in[4].whole;

    if (in[0].kind == FORMULA_NONE)
        return none;
    return formula_tensor(expand_slice(f->expand, in[0].value, in[1].whole, in[2].whole, end, step), in[0].dtype);
}

/* Bounds the extents of a tensor by those of output 0 of the replaced node, from axis in[1] on: in[2] of them;
 * in[3] extents of 1 follow. */
static FormulaValue word_bounded(Formula *f, const FormulaValue *in)
{
    Type *type = &in[0].value->declared;

    expand_bound(in[0].value, in[0].dtype, &f->expand->node->out[0]->type, (int)in[1].whole, (int)in[2].whole);
    for (int64_t i = 0; i < in[3].whole; i++)
        type->dim[type->rank++] = extent_const(1);
    return in[0];
}

/* Inserts body in[0] of the replaced node, which has one parameter, for the tensor in[1]. */
static FormulaValue word_body(Formula *f, const FormulaValue *in)
{
    Graph **body = &f->expand->node->body[in[0].whole];
    Value  *made = expand_body(f->expand, *body, in[1].value);

    *body = NULL;
    return formula_tensor(made, DTYPE_NONE);
}

static const struct {
    const char *name;
    int         least; /* arguments */
    Word        word;
} words[] = {
    {"rank", 1, word_rank},       {"type", 1, word_type},     {"dim", 2, word_dim},           {"front", 2, word_front},
    {"repeat", 2, word_repeat},   {"sqrt", 1, word_sqrt},     {"is_whole", 1, word_is_whole}, {"cast", 2, word_cast},
    {"like", 2, word_like},       {"extent", 2, word_extent}, {"count", 2, word_count},       {"slice", 3, word_slice},
    {"bounded", 3, word_bounded}, {"most", 2, word_most},     {"same", 4, word_same},         {"body", 2, word_body},
    {"at", 2, word_at},
};

/* ------------------------------------------------------------------------------------------------------------ calls */

static bool attribute(Formula *f, Arguments *in)
{
    const char *begin = f->at, *name;
    Named       attr = {0};

    name = formula_word(f, &attr.length);
    f->at += name ? strspn(f->at, " ") : 0;
    if (!name || *f->at != '=' || f->at[1] == '=') {
        f->at = begin;
        return false;
    }
    f->at++;
    attr.name = name;
    attr.term = formula_expression(f);
    in->attr[in->nattr++] = attr;
    return true;
}

static void one_argument(Formula *f, Arguments *in)
{
    if (formula_takes(f, "@*")) {
        in->all = true;
    } else if (formula_takes(f, "@")) {
        Named *copied = &in->copied[in->ncopied++];
        copied->name = formula_word(f, &copied->length);
        if (!copied->name)
            formula_wrong(f, "the name of an attribute");
    } else if (!attribute(f, in)) {
        in->term[in->count++] = formula_expression(f);
    }
}

static void arguments(Formula *f, Arguments *in)
{
    formula_needs(f, "(");
    while (!f->failed && !formula_takes(f, ")")) {
        if (in->count == TEXT_ARGUMENTS || in->nattr == TEXT_ARGUMENTS || in->ncopied == TEXT_ARGUMENTS)
            formula_wrong(f, "fewer arguments");
        else
            one_argument(f, in);
        if (!f->failed && !formula_takes(f, ",") && *f->at != ')')
            formula_wrong(f, "',' or ')'");
    }
}

/* Evaluates a function of the text where its names are its own, and goes on behind the call. */
static FormulaValue call_function(Formula *f, const char *at, const Arguments *in)
{
    Formula inner = {.expand = f->expand, .text = f->text, .at = at, .skips = f->skips, .depth = f->depth + 1};

    if (f->depth == 8)
        return formula_wrong(f, "functions that do not call themselves");
    formula_function(&inner, in->term, in->count);
    f->failed = inner.failed;
    memcpy(f->result, inner.result, sizeof f->result);
    f->nresult = inner.nresult;
    return f->result[0];
}

FormulaValue formula_call(Formula *f, const char *name, int length)
{
    Arguments   in = {0};
    OpKind      op;
    const char *function;

    arguments(f, &in);
    f->nresult = f->skips ? f->nresult : 0;
    if (f->failed)
        return none;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (formula_is_named(name, length, words[i].name))
            return in.count < words[i].least ? formula_wrong(f, "more arguments in the call before")
                   : f->skips                ? none
                                             : words[i].word(f, in.term);
    function = islower((unsigned char)*name) ? formula_find_function(f->text, name, length) : NULL;
    if (function && !memchr(name, '.', (size_t)length))
        return f->skips ? none : call_function(f, function, &in);
    op = find_operator(name, length);
    if (op != OP_NONE)
        return f->skips ? none : make(f, op, &in);
    f->at = name;
    return formula_wrong(f, "an operator, a function or a word of the language");
}
