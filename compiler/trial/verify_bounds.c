/* verify_bounds.c - --verify=DIR: bounds that no --dim gives, from the stored sets. Bounds of inputs are always needed.
 * Bounds of extents that the model computes, and of the values of its small integer inputs, are added only when it does
 * not compile without. */
#include "support/command.h"
#include "trial/stored.h"
#include "trial/verify.h"

#include <inttypes.h>
#include <string.h>

typedef struct BoundSearch {
    Model             *model;
    Diag              *diag;
    const char *const *sets;
    int                nsets;
    DimBound          *found; /* by name and axis, over all sets */
    int                nfound, cfound;
} BoundSearch;

/* -------------------------------------------------------------------------------------------------------- gathering */

static const char *dim_name(const Value *value, int axis)
{
    const char *name = value->dim_name && axis >= 0 ? value->dim_name[axis] : NULL;

    return name && *name ? name : NULL;
}

static bool is_given(const Model *model, const char *name, int axis)
{
    for (int i = 0; i < model->nbound; i++)
        if (model->bound[i].axis == axis && !strcmp(model->bound[i].name, name))
            return true;
    return false;
}

/* `extent` is within the bound from here on. */
static void widen(BoundSearch *s, const char *name, int axis, int64_t extent)
{
    DimBound bound = {.name = name, .axis = axis, .lo = extent, .hi = extent, .used = true};

    if (is_given(s->model, name, axis))
        return;
    for (int i = 0; i < s->nfound; i++) {
        DimBound *old = &s->found[i];

        if (old->axis != axis || strcmp(old->name, name))
            continue;
        old->lo = extent < old->lo ? extent : old->lo;
        old->hi = extent > old->hi ? extent : old->hi;
        return;
    }
    ARENA_PUSH(s->model->arena, s->found, s->nfound, s->cfound, bound);
}

/* An extent goes by its name, of which a bound must not be given by value and axis already. Members go by value and
 * axis: they may differ. */
static void note_extent(BoundSearch *s, const Value *value, int axis, bool member, int64_t extent)
{
    const char *name = member ? NULL : dim_name(value, axis);

    if (name && !is_given(s->model, value->name, axis))
        widen(s, name, BOUND_NAME, extent);
    else if (!(dim_name(value, axis) && is_given(s->model, dim_name(value, axis), BOUND_NAME)))
        widen(s, value->name, axis, extent);
}

static const Type *held(const Type *type)
{
    return type->kind == TYPE_OPTIONAL ? type->item : type;
}

/* Do all stored values of the port have one rank? */
static bool same_rank(BoundSearch *s, const char *role, int index, const Type *type)
{
    int rank = -1;

    for (int i = 0; i < s->nsets; i++) {
        const char *path = stored_path(s->model->arena, s->sets[i], role, index);
        Stored      stored = {.count = 0};

        if (!path || stored_read(s->model->arena, path, type, &stored, s->diag) < 0)
            continue;
        for (int k = 0; k < stored.count; k++) {
            if (rank >= 0 && stored.item[k]->type.rank != rank)
                return false;
            rank = stored.item[k]->type.rank;
        }
    }
    return rank > 0;
}

/* Extents that the type leaves open, of a tensor or a member. */
static void note_tensor(BoundSearch *s, const Value *value, const Type *type, const Type *stored, bool member,
                        bool same)
{
    if (type->rank < 0 && !same) {
        widen(s, value->name, BOUND_ELEMENTS, type_elements(stored));
        return;
    }
    for (int axis = 0; axis < stored->rank; axis++)
        if (type->rank < 0 || (axis < type->rank && (type->dim[axis].max < 0 || type->dim[axis].expr >= 0)))
            note_extent(s, value, axis, member, stored->dim[axis].max);
}

static int64_t text_size(Arena *arena, const Stored *stored)
{
    Text raw = text_new(arena);

    for (int i = 0; i < stored->count; i++)
        stored_raw(&raw, stored->item[i]);
    return (int64_t)raw.size;
}

/* Widens the interval of a small integer tensor by its elements, and by 0. */
static void note_values(BoundSearch *s, const Value *input, const Value *stored)
{
    const DTypeInfo *info = dtype_info(stored->type.dtype);
    int64_t          count = type_elements(&stored->type), element;
    const char      *data;

    if ((stored->type.dtype != DTYPE_I64 && stored->type.dtype != DTYPE_I32) || count > 64)
        return;
    data = const_aligned(s->model->arena, stored);
    widen(s, input->name, BOUND_VALUES, 0);
    for (int64_t i = 0; i < count; i++) {
        int32_t narrow;

        memcpy(&narrow, data + i * info->bytes, sizeof narrow);
        element = narrow;
        if (info->bytes == 8)
            memcpy(&element, data + i * 8, sizeof element);
        widen(s, input->name, BOUND_VALUES, element);
    }
}

/* One stored value of an input or output. */
static void note_stored(BoundSearch *s, const Value *value, const Type *type, const Stored *stored, bool output,
                        bool same, int more)
{
    const Type *item = held(type);

    if (item->kind == TYPE_SEQUENCE)
        widen(s, value->name, BOUND_COUNT, stored->count);
    for (int i = 0; i < stored->count; i++) {
        const Value *tensor = stored->item[i];

        note_tensor(s, value, item->kind == TYPE_SEQUENCE ? item->item : item, &tensor->type,
                    item->kind == TYPE_SEQUENCE, same);
        if (!output && more & VERIFY_VALUES && item->kind == TYPE_TENSOR)
            note_values(s, value, tensor);
    }
    if ((output || more & VERIFY_VALUES) && stored->count && stored->item[0]->data->text) {
        widen(s, value->name, BOUND_BYTES, 0);
        widen(s, value->name, BOUND_BYTES, text_size(s->model->arena, stored));
    }
}

static void note_port(BoundSearch *s, const Value *value, const char *role, int index, int more)
{
    const Type *type = value->type.kind == TYPE_NONE ? &value->declared : &value->type;
    const Type *item = type->kind == TYPE_NONE ? NULL : held(type);
    bool        same;

    if (!item || (item->kind != TYPE_TENSOR && item->kind != TYPE_SEQUENCE) ||
        (item->kind == TYPE_SEQUENCE && item->item->kind != TYPE_TENSOR))
        return;
    same = same_rank(s, role, index, type);
    for (int i = 0; i < s->nsets; i++) {
        const char *path = stored_path(s->model->arena, s->sets[i], role, index);
        Stored      stored;

        if (path && stored_read(s->model->arena, path, type, &stored, s->diag) == 0 && stored.present)
            note_stored(s, value, type, &stored, role[0] == 'o', same, more);
    }
}

/* ----------------------------------------------------------------------------------------------------------- adding */

static const char *bound_text(Arena *arena, const DimBound *bound)
{
    static const char *const word[] = {"", "", ":count", ":elements", ":bytes", ":values"};
    const char              *axis = bound->axis >= 0 ? arena_printf(arena, ":%d", bound->axis) : word[-bound->axis];

    return command_word(arena,
                        arena_printf(arena, "%s%s=%" PRId64 "..%" PRId64, bound->name, axis, bound->lo, bound->hi));
}

/* The found bounds join the given ones; one note says which, as they would be typed. */
static void add_found(BoundSearch *s)
{
    Model    *model = s->model;
    DimBound *grown = arena_array(model->arena, DimBound, model->nbound + s->nfound + 1);
    Text      flags = text_new(model->arena);

    if (model->nbound)
        memcpy(grown, model->bound, (size_t)model->nbound * sizeof *grown);
    for (int i = 0; i < s->nfound; i++) {
        grown[model->nbound++] = s->found[i];
        text_printf(&flags, " --dim %s", bound_text(model->arena, &s->found[i]));
    }
    model->bound = grown;
    if (s->nfound)
        diag_note(s->diag, (Loc){0}, "bounded by the stored sets:%s", flags.data);
}

int verify_bounds(Model *model, const Options *options, Diag *diag)
{
    BoundSearch s = {.model = model, .diag = diag};

    s.nsets = stored_sets(model->arena, options->verify, &s.sets);
    for (int k = 0; k < model->main->nin; k++)
        note_port(&s, model->main->in[k], "input", k, options->verify_more);
    for (int k = 0; k < model->main->nout && options->verify_more & VERIFY_OUTPUTS; k++)
        note_port(&s, model->main->out[k], "output", k, options->verify_more);
    add_found(&s);
    return diag->status == DIAG_NONE ? 0 : -1;
}
