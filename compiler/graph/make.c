/* make.c - constants and attributes for nodes that the compiler itself writes; see make.h. */
#include "graph/make.h"

#include <string.h>

Value *make_constant(Graph *graph, DType dtype, int rank, int64_t count, const void *data)
{
    Arena *arena = graph->model->arena;
    Const *contents = arena_one(arena, Const);
    size_t bytes = (size_t)(count * dtype_info(dtype)->bytes);
    Type   type = type_tensor(dtype, rank, &count);

    contents->bytes = (int64_t)bytes;
    contents->data = bytes ? memcpy(arena_alloc(arena, bytes), data, bytes) : "";
    return value_constant(graph, NULL, type, contents);
}

Value *make_ints(Graph *graph, const int64_t *list, int count)
{
    return make_constant(graph, DTYPE_I64, 1, count, list);
}

Value *make_int(Graph *graph, int64_t number)
{
    return make_constant(graph, DTYPE_I64, 1, 1, &number);
}

Value *make_scalar(Graph *graph, int64_t number)
{
    return make_constant(graph, DTYPE_I64, 0, 1, &number);
}

Value *make_float(Graph *graph, float number)
{
    return make_constant(graph, DTYPE_F32, 0, 1, &number);
}

void node_drop_attr(Node *node, const char *name)
{
    int kept = 0;

    for (int i = 0; i < node->nattr; i++)
        if (strcmp(node->attr[i].name, name))
            node->attr[kept++] = node->attr[i];
    node->nattr = kept;
}

void node_set_attr(Node *node, Attr attr)
{
    Attr *list = arena_array(node->graph->model->arena, Attr, node->nattr + 1);

    node_drop_attr(node, attr.name);
    for (int i = 0; i < node->nattr; i++)
        list[i] = node->attr[i];
    list[node->nattr++] = attr;
    node->attr = list;
}

void node_set_int(Node *node, const char *name, int64_t number)
{
    node_set_attr(node, (Attr){.name = name, .kind = ATTR_INT, .i = number});
}

void node_set_ints(Node *node, const char *name, const int64_t *list, int count)
{
    int64_t *copy = arena_array(node->graph->model->arena, int64_t, count);

    if (count)
        memcpy(copy, list, (size_t)count * sizeof *copy);
    node_set_attr(node, (Attr){.name = name, .kind = ATTR_INTS, .count = count, .ints = copy});
}

void node_set_float(Node *node, const char *name, float number)
{
    node_set_attr(node, (Attr){.name = name, .kind = ATTR_FLOAT, .f = number});
}

void node_set_string(Node *node, const char *name, const char *text)
{
    node_set_attr(node, (Attr){.name = name, .kind = ATTR_STRING, .s = text});
}
