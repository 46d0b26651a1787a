/* optional.c - values put into optionals and taken out of them. */
#include "lower/control.h"
#include "lower/sequence.h"

/* Stops the run before copying members that do not fit. */
static int check_room(Lower *lower, const Type *item, const Type *from)
{
    Extent elements;

    if (item->kind == TYPE_TENSOR && item->rank < 0) {
        elements = type_count(lower->model, from);
        return lower_check(lower, extent_op(lower->model, EXPR_LT, elements, extent_const(item->dim[0].max + 1)));
    }
    for (int i = 0; item->kind == TYPE_TENSOR && i < item->rank; i++)
        if (lower_check(lower, extent_op(lower->model, EXPR_LT, from->dim[i], extent_const(item->dim[i].max + 1))) < 0)
            return -1;
    return 0;
}

static int put_member(Lower *lower, Value *from, const Type *type, Operand y)
{
    Extent  words[2 + MAX_RANK];
    Operand x, member;
    int     kept = sequence_keep(type, &from->type, words + 1);

    words[0] = extent_const(1);
    if (lower_value(lower, from, &x) < 0 || check_room(lower, type->item, &from->type) < 0 ||
        sequence_store(lower, sequence_words(lower, y, extent_const(0), 1 + kept), words) < 0)
        return -1;
    member = sequence_member(lower, type, y, extent_const(0), &from->type);
    return control_is_nested(from) ? sequence_copy_operands(lower, &from->type, x, type->item, member)
                                   : lower_copy(lower, NULL, x, member);
}

/* Writes zeros to the header and to the headers of nested members. */
int optional_clear(Lower *lower, const Type *type, Operand y)
{
    Extent none = extent_const(0);

    if (sequence_store(lower, sequence_words(lower, y, none, 1), &none) < 0)
        return -1;
    if (type->item->kind == TYPE_TENSOR || type->kind == TYPE_SEQUENCE || type->count.max == 0)
        return 0;
    return optional_clear(lower, type->item, sequence_member(lower, type, y, none, type->item));
}

int optional_wrap(Lower *lower, Value *from, Value *to)
{
    Operand y;

    if (sequence_place(lower, to) < 0)
        return -1;
    y = lower->place[to->id].operand;
    if ((from ? put_member(lower, from, &to->type, y) : optional_clear(lower, &to->type, y)) < 0)
        return -1;
    return sequence_made(lower, to);
}

/* The run stops if an optional that must be present is absent. */
static int check_present(Lower *lower, Value *from)
{
    Extent present;

    return sequence_count(lower, from, &present) < 0 ? -1 : lower_check(lower, present);
}

int optional_unwrap(Lower *lower, Value *from, Value *to)
{
    const Type *type = &from->type;
    Operand     x;
    Place      *place = &lower->place[to->id];

    if (lower_value(lower, from, &x) < 0 || check_present(lower, from) < 0)
        return -1;
    if (control_is_nested(to))
        return sequence_view(lower, to, sequence_member(lower, type, x, extent_const(0), type->item));
    if (sequence_take(lower, to, type, x, extent_const(0)) < 0)
        return -1;
    x = sequence_member(lower, type, x, extent_const(0), &to->type);
    if (place->kind == PLACE_OPERAND)
        return lower_copy(lower, NULL, x, place->operand);
    *place = (Place){.kind = PLACE_OPERAND, .operand = x};
    return 0;
}
