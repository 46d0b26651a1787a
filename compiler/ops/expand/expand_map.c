/* expand_map.c - operators that read a map. A map is a tensor with a value for every key that the model asks for, so
 * these operators are a Gather and a Cast. */
#include "ops/expand/expand_rules.h"

#include <string.h>

/* The values of the keys `wanted`, or of all keys where it is NULL, as [1][count]. NULL with a message: the map lacks a
 * key. */
static Value *row_of(Expand *expand, const Keys *wanted)
{
    static const int64_t row[] = {1, -1};
    Value               *x = expand_in(expand, 0);
    const Keys          *keys = x->type.keys;
    int64_t             *place;

    if (wanted && !keys_same(keys, wanted)) {
        place = arena_array(expand->model->arena, int64_t, wanted->count);
        for (int64_t i = 0; i < wanted->count; i++) {
            place[i] = keys_find(keys, wanted, i);
            if (place[i] < 0) {
                diag_unsupported(expand->diag, expand->node->loc,
                                 "a map read in the body of a loop or branch; read it outside");
                return NULL;
            }
        }
        x = expand_gather(expand, x, make_ints(expand->graph, place, (int)wanted->count), 0);
    }
    return expand_reshape(expand, x, row, 2);
}

int expand_dict_vectorizer(Expand *expand)
{
    const Attr *text = node_attr(expand->node, "string_vocabulary"),
               *number = node_attr(expand->node, "int64_vocabulary");
    Keys   wanted = {DTYPE_I64, 0, NULL, NULL};
    Value *out;

    if (text && text->count)
        wanted = (Keys){DTYPE_TEXT, text->count, NULL, text->strings};
    else
        wanted = (Keys){DTYPE_I64, number->count, number->ints, NULL};
    out = row_of(expand, &wanted);
    if (!out)
        return -1;
    expand_give(expand, 0, out);
    return 0;
}

int expand_cast_map(Expand *expand)
{
    const Type *type = &expand->node->out[0]->type;
    bool        dense = !strcmp(node_string(expand->node, "map_form", "DENSE"), "DENSE");
    int64_t    *list = arena_array(expand->model->arena, int64_t, dense ? 1 : type->dim[1].max);
    Keys        wanted = {DTYPE_I64, dense ? 0 : type->dim[1].max, list, NULL};
    Value      *out;

    for (int64_t i = 0; i < wanted.count; i++)
        list[i] = i;
    out = row_of(expand, dense ? NULL : &wanted);
    if (!out)
        return -1;
    expand_give(expand, 0,
                expand_in(expand, 0)->type.dtype == type->dtype ? out : expand_cast(expand, out, type->dtype));
    return 0;
}
