/* print_graph.c - a model as stable text: the same model gives the same characters. Knows nothing of files. */
#include "graph/ir.h"
#include "graph/ops.h"
#include "support/text.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN_ELEMENTS = 8 };

static void indent(Text *text, int depth)
{
    for (int i = 0; i < depth; i++)
        text_put(text, "  ");
}

/* Puts a name, with characters that would break the line replaced. */
static void put_name(Text *text, const char *name)
{
    for (; *name; name++)
        text_printf(text, (unsigned char)*name < 0x20 || *name == 0x7f ? "\\%03o" : "%c", (unsigned char)*name);
}

/* 3, ? (unknown), e12<=100 (run-time, with its capacity). */
static void put_extent(Text *text, Extent extent)
{
    if (extent.expr >= 0)
        text_printf(text, "e%d<=%" PRId64, extent.expr, extent.max);
    else if (extent.max < 0)
        text_put(text, "?");
    else
        text_printf(text, "%" PRId64, extent.max);
}

static void put_type(Text *text, const Type *type)
{
    switch (type->kind) {
    case TYPE_NONE:
        text_put(text, "?");
        return;
    case TYPE_TENSOR:
        text_put(text, dtype_info(type->dtype)->name);
        text_put(text, type->rank < 0 ? "[..." : "[");
        for (int i = 0; i < type->rank; i++) {
            text_put(text, i ? "," : "");
            put_extent(text, type->dim[i]);
        }
        text_put(text, "]");
        if (type->text_bytes)
            text_printf(text, " of %" PRId64 " bytes", type->text_bytes);
        if (type->keys)
            text_printf(text, " by keys of %s", dtype_info(type->keys->dtype)->name);
        return;
    case TYPE_MAP:
        text_printf(text, "map(%s to ", dtype_info(type->dtype)->name);
        put_type(text, type->item);
        text_put(text, ")");
        return;
    default:
        text_put(text, type->kind == TYPE_SEQUENCE ? "sequence(" : "optional(");
        put_extent(text, type->count);
        text_put(text, " of ");
        put_type(text, type->item);
        text_put(text, ")");
    }
}

static void put_elements(Text *text, const Type *type, const Const *data)
{
    Value   value = {.type = *type, .data = data};
    int64_t list[SHOWN_ELEMENTS];
    double  number;
    int     count;

    if (data->text) {
        for (int64_t i = 0; i < type_elements(type) && i < SHOWN_ELEMENTS; i++) {
            text_put(text, " ");
            text_quoted(text, data->text[i], strlen(data->text[i]));
        }
    } else if (const_ints(&value, list, SHOWN_ELEMENTS, &count)) {
        text_put(text, " =");
        for (int i = 0; i < count; i++)
            text_printf(text, " %" PRId64, list[i]);
    } else {
        value.type.rank = data->broadcast ? 0 : value.type.rank;
        if (const_scalar(&value, &number))
            text_printf(text, " = %.9g", number);
    }
    text_put(text, data->broadcast ? " everywhere" : "");
}

static void put_attr(Text *text, const Attr *attr)
{
    put_name(text, attr->name);
    text_put(text, "=");
    if (attr->kind == ATTR_INT)
        text_printf(text, "%" PRId64, attr->i);
    else if (attr->kind == ATTR_FLOAT)
        text_printf(text, "%.9g", (double)attr->f);
    else if (attr->kind == ATTR_STRING)
        text_quoted(text, attr->s, strlen(attr->s));
    else if (attr->kind == ATTR_TENSOR || attr->kind == ATTR_TYPE)
        put_type(text, &attr->type);
    for (int i = 0; i < attr->count; i++) {
        text_put(text, i ? "," : "[");
        if (attr->kind == ATTR_INTS)
            text_printf(text, "%" PRId64, attr->ints[i]);
        else if (attr->kind == ATTR_FLOATS)
            text_printf(text, "%.9g", (double)attr->floats[i]);
        else
            text_quoted(text, attr->strings[i], strlen(attr->strings[i]));
    }
    text_put(text, attr->count ? "]" : "");
    if (attr->kind == ATTR_TENSOR)
        put_elements(text, &attr->type, attr->tensor);
}

static void put_value(Text *text, int depth, const char *what, const Value *value)
{
    indent(text, depth);
    text_printf(text, "%s ", what);
    put_name(text, value->name);
    text_put(text, ": ");
    put_type(text, value->type.kind ? &value->type : &value->declared);
    if (value->data)
        put_elements(text, &value->type, value->data);
    text_put(text, "\n");
}

static void put_list(Text *text, Value *const *list, int count)
{
    text_put(text, "(");
    for (int i = 0; i < count; i++) {
        text_put(text, i ? ", " : "");
        put_name(text, list[i] ? list[i]->name : "-");
    }
    text_put(text, ")");
}

static void put_graph(Text *text, const Graph *graph, int depth);

static void put_node(Text *text, const Node *node, int depth)
{
    indent(text, depth);
    text_put(text, op_info[node->op].name);
    if (node->loc.name && node->loc.name[0]) {
        text_put(text, " '");
        put_name(text, node->loc.name);
        text_put(text, "'");
    }
    text_put(text, " ");
    put_list(text, node->in, node->nin);
    text_put(text, " -> ");
    put_list(text, node->out, node->nout);
    for (int i = 0; i < node->nattr; i++) {
        text_put(text, " ");
        put_attr(text, &node->attr[i]);
    }
    text_put(text, "\n");
    for (int i = 0; i < node->nout; i++)
        if (node->out[i])
            put_value(text, depth + 2, "makes", node->out[i]);
    for (int b = 0; b < 2; b++)
        if (node->body[b])
            put_graph(text, node->body[b], depth + 1);
}

static void put_graph(Text *text, const Graph *graph, int depth)
{
    const Model *model = graph->model;

    indent(text, depth);
    text_put(text, "graph '");
    put_name(text, graph->name);
    text_put(text, "'\n");
    for (int i = 0; i < graph->nin; i++)
        put_value(text, depth + 1, "in", graph->in[i]);
    for (int i = 0; !depth && i < model->nvalue; i++)
        if (model->value[i]->data)
            put_value(text, depth + 1, "constant", model->value[i]);
    for (int i = 0; i < graph->nnode; i++)
        put_node(text, graph->node[i], depth + 1);
    for (int i = 0; i < graph->nout; i++)
        put_value(text, depth + 1, "out", graph->out[i]);
}

static void put_expr(Text *text, const Model *model, int index)
{
    static const char *const sign[] = {[EXPR_ADD] = "+",           [EXPR_SUB] = "-",   [EXPR_MUL] = "*",
                                       [EXPR_DIV] = "/",           [EXPR_MOD] = "mod", [EXPR_MIN] = "min",
                                       [EXPR_CEILDIV] = "ceildiv", [EXPR_MAX] = "max", [EXPR_EQ] = "==",
                                       [EXPR_BCAST] = "broadcast", [EXPR_LT] = "<",    [EXPR_SELECT] = "or else"};
    const Expr              *e = &model->expr[index];
    _Static_assert(EXPR_LT == 17, "sign and symbol have words for each ExprOp");

    text_printf(text, "  e%d = ", index);
    if (e->op == EXPR_CONST) {
        text_printf(text, "%" PRId64 "\n", e->lo);
        return;
    }
    if (e->op <= EXPR_VAR) {
        static const char *const symbol[] = {[EXPR_DIM] = "extent",
                                             [EXPR_ELEM] = "element",
                                             [EXPR_OUT] = "made extent",
                                             [EXPR_PART] = "slice's",
                                             [EXPR_VAR] = "variable"};
        text_printf(text, "%s %d of ", symbol[e->op], e->axis);
        put_name(text, e->value >= 0 ? model->value[e->value]->name : "control flow");
    } else {
        if (e->op == EXPR_SELECT)
            text_printf(text, "if e%d ", e->c);
        text_printf(text, "e%d %s e%d", e->a, sign[e->op], e->b);
    }
    text_printf(text, " in [%" PRId64 ",%" PRId64 "]\n", e->lo, e->hi);
}

void graph_print(Text *text, const Model *model)
{
    text_printf(text, "ir %d", model->ir_version);
    for (int i = 0; i < model->nimport; i++) {
        text_put(text, i ? ", " : ", operators ");
        put_name(text, model->import[i].domain[0] ? model->import[i].domain : "ai.onnx");
        text_printf(text, " %d", model->import[i].version);
    }
    text_put(text, "\n");
    put_graph(text, model->main, 0);
    if (model->nexpr)
        text_put(text, "run-time integers\n");
    for (int i = 0; i < model->nexpr; i++)
        put_expr(text, model, i);
}
