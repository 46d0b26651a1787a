/* listed.c - the combinations of listed sizes, numbered from 0: the first list changes fastest. */
#include "infer/listed.h"

#include "support/text.h"

#include <inttypes.h>

int64_t listed_combinations(const DimBound *bound, int nbound)
{
    int64_t count = 1;

    for (int i = 0; i < nbound && count < INT32_MAX; i++)
        count *= bound[i].nsize ? bound[i].nsize : 1;
    return count < INT32_MAX ? count : INT32_MAX;
}

int64_t listed_size(const DimBound *bound, const DimBound *of, int combination)
{
    for (; bound < of; bound++)
        combination /= bound->nsize ? bound->nsize : 1;
    return of->size[combination % of->nsize];
}

DimBound *listed_pin(Arena *arena, const DimBound *bound, int nbound, int combination)
{
    DimBound *pinned = arena_array(arena, DimBound, nbound + 1);

    for (int i = 0; i < nbound; i++) {
        pinned[i] = bound[i];
        if (bound[i].nsize)
            pinned[i].lo = pinned[i].hi = listed_size(bound, &bound[i], combination);
        pinned[i].size = NULL;
        pinned[i].nsize = 0;
    }
    return pinned;
}

static int64_t size_of(const Model *whole, int listed, int combination)
{
    return listed_size(whole->bound, whole->listed[listed].bound, combination);
}

void listed_inputs(const Model *whole, Model *model, int combination)
{
    for (int i = 0; i < whole->main->nin; i++) {
        Type *type = &model->main->in[i]->type;

        *type = whole->main->in[i]->type;
        for (int axis = 0; axis < type->rank; axis++)
            for (int k = 0; k < whole->nlisted; k++)
                if (type->dim[axis].expr == whole->listed[k].expr)
                    type->dim[axis] = extent_const(size_of(whole, k, combination));
    }
}

Extent listed_condition(Model *whole, int combination)
{
    Extent all = extent_const(1);

    for (int k = whole->nlisted; k-- > 0;) {
        Extent given = {whole->listed[k].bound->hi, whole->listed[k].expr};
        Extent equal = extent_op(whole, EXPR_EQ, given, extent_const(size_of(whole, k, combination)));

        all = extent_is_const(all) ? equal : extent_select(whole, equal, all, extent_const(0));
    }
    return all;
}

const char *listed_label(const Model *whole, int combination)
{
    Text text = text_new(whole->arena);

    for (int k = 0; k < whole->nlisted; k++) {
        const DimBound *bound = whole->listed[k].bound;

        text_printf(&text, "%s%s", k ? " " : "", bound->name);
        if (bound->axis >= 0)
            text_printf(&text, ":%d", bound->axis);
        text_printf(&text, "=%" PRId64, size_of(whole, k, combination));
    }
    return text.data;
}

const DimBound *listed_bound(const Model *whole, int expr)
{
    for (int k = 0; k < whole->nlisted; k++)
        if (whole->listed[k].expr == expr)
            return whole->listed[k].bound;
    return NULL;
}

bool listed_is_used(const Model *whole, const DimBound *bound)
{
    for (int k = 0; k < whole->nlisted; k++)
        if (whole->listed[k].bound == bound)
            return true;
    return false;
}
