/* bounds.c - reports a --dim bound that no extent of the model used. */
#include "infer/bounds.h"

#include <string.h>

/* Whether the bound is redundant but harmless: it names members of a sequence, or a dimension whose extent is bounded
 * already. */
static bool is_known(const Model *model, const DimBound *bound)
{
    for (int i = 0; i < model->nvalue; i++) {
        const Value *value = model->value[i];

        if (bound->axis != BOUND_NAME && !strcmp(value->name, bound->name) && value->type.kind != TYPE_TENSOR)
            return true;
        for (int k = 0; bound->axis == BOUND_NAME && value->dim_name && k < MAX_RANK; k++)
            if (value->dim_name[k] && !strcmp(value->dim_name[k], bound->name))
                return true;
    }
    return false;
}

int bounds_check(const Model *model, Diag *diag)
{
    int failures = 0;

    for (int i = 0; i < model->nbound; i++) {
        const DimBound *bound = &model->bound[i];

        if (bound->used || is_known(model, bound))
            continue;
        if (bound->axis == BOUND_NAME)
            failures += diag_usage(diag, "--dim=%s: the model has no run-time extent of this name", bound->name) < 0;
        else
            failures += diag_usage(diag, "--dim=%s: the model has no value of this name with such a run-time extent",
                                   bound->name) < 0;
    }
    return failures ? -1 : 0;
}
