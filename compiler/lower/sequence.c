/* sequence.c - where the parts of a sequence or optional lie, and the copies between them. */
#include "lower/sequence.h"
#include "lower/control.h"
#include "support/int.h"
#include <string.h>

enum { WHICH_FIRST = 1 << 16 }; /* EXPR_VAR symbols with axes from here on number the integers read from headers */

static bool is_nested(const Type *type)
{
    return type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL;
}

static bool member_bytes(const Type *item, int64_t *bytes)
{
    SequenceLayout inner;

    if (is_nested(item)) {
        if (!sequence_layout(item, &inner))
            return false;
        *bytes = inner.size;
        return true;
    }
    if (item->kind == TYPE_TENSOR && item->rank < 0) /* dim[0]: the most elements that a member has */
        return int_mul(item->dim[0].max, dtype_info(item->dtype)->bytes, bytes);
    *bytes = type_bytes(item);
    return *bytes >= 0;
}

bool sequence_layout(const Type *type, SequenceLayout *out)
{
    SequenceLayout l = {.capacity = 1};
    int64_t        words, bytes;

    if (!is_nested(type) || !type->item)
        return false;
    if (type->kind == TYPE_SEQUENCE || type->count.max == 0)
        l.capacity = type->count.max;
    if (l.capacity < 0)
        return false;
    if (l.capacity == 0)
        bytes = 0; /* members that are never put in may have no shape */
    else if (!member_bytes(type->item, &bytes))
        return false;
    l.rank = type->item->kind != TYPE_TENSOR || !l.capacity ? 0 : type->item->rank < 0 ? -1 : type->item->rank;
    l.words = l.rank < 0 ? 1 + MAX_RANK : l.rank;
    if (!int_mul(l.capacity, l.words, &words) || words > INT64_MAX / 64 || bytes > INT64_MAX / 64)
        return false;
    l.data = int_round_up(8 * (words + 1), SEQUENCE_ALIGN);
    l.distance = int_round_up(bytes, SEQUENCE_ALIGN);
    if (!int_mul(l.capacity, l.distance, &l.size) || !int_add(l.size, l.data, &l.size))
        return false;
    *out = l;
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- places */

static int new_place(Lower *lower, Value *value, Operand *out)
{
    SequenceLayout l;
    Type           bytes;

    if (!sequence_layout(&value->type, &l))
        return diag_unsupported(
            lower->diag, lower->node ? lower->node->loc : (Loc){0},
            "'%s' has no bound: say how many members it holds with --dim '%s:count=0..N', and the extents "
            "of the members",
            value->name, value->name);
    bytes = type_tensor(DTYPE_U8, 1, &l.size);
    *out = lower_temporary(lower, &bytes, LAYOUT_ROW_MAJOR, value->name);
    lower->program->buffer[out->buffer].value = value;
    if (lower->program->buffer[out->buffer].align < SEQUENCE_ALIGN)
        lower->program->buffer[out->buffer].align = SEQUENCE_ALIGN;
    return 0;
}

static void set_place(Lower *lower, const Value *value, Operand x)
{
    lower->place[value->id] = (Place){.kind = PLACE_SEQUENCE, .operand = x};
}

int sequence_place(Lower *lower, Value *value)
{
    Operand x;

    if (lower->place[value->id].kind != PLACE_NONE)
        return 0;
    if (new_place(lower, value, &x) < 0)
        return -1;
    set_place(lower, value, x);
    return 0;
}

/* Checks a sequence from the caller before anything is read from it. */
static int check_port(Lower *lower, const Type *type, Operand x)
{
    if (STEP(lower, NULL, "sequence_check", ARG(x, x), give_layout(lower, "from", type),
             ARG(truth, type->kind == TYPE_OPTIONAL), give_limits(lower, type)) < 0)
        return -1;
    if (!is_nested(type->item))
        return 0;
    if (type->kind == TYPE_SEQUENCE)
        return diag_unsupported(lower->diag, (Loc){0},
                                "an input is a sequence of sequences; pass its members one by one");
    return check_port(lower, type->item, sequence_member(lower, type, x, extent_const(0), type->item));
}

int sequence_port(Lower *lower, Value *value, BufferKind kind, int index)
{
    Operand x;

    if (new_place(lower, value, &x) < 0)
        return -1;
    lower->program->buffer[x.buffer].kind = kind;
    lower->program->buffer[x.buffer].port = index;
    set_place(lower, value, x);
    if (kind != BUFFER_IN)
        return 0;
    return check_port(lower, &value->type, x) < 0 ? -1 : sequence_made(lower, value);
}

/* ------------------------------------------------------------------------------------------------------------ parts */

static Extent add(Lower *lower, Extent a, Extent b)
{
    return extent_op(lower->model, EXPR_ADD, a, b);
}

static Extent times(Lower *lower, Extent a, int64_t b)
{
    return extent_op(lower->model, EXPR_MUL, a, extent_const(b));
}

/* The bytes of `x` from `offset` on as elements of another type. */
static Operand part(Lower *lower, Operand x, Extent offset, DType dtype)
{
    Extent bytes = add(lower, x.offset, offset);

    x.dtype = dtype;
    x.offset = extent_op(lower->model, EXPR_DIV, bytes, extent_const(dtype_info(dtype)->bytes));
    return x;
}

Operand sequence_words(Lower *lower, Operand sequence, Extent first, int64_t words)
{
    Operand x = part(lower, sequence, times(lower, first, 8), DTYPE_I64);

    x.rank = 1;
    x.dim[0] = extent_const(words);
    x.stride[0] = extent_const(1);
    return x;
}

Operand sequence_kept(Lower *lower, const Type *type, Operand sequence, Extent index)
{
    SequenceLayout l;

    sequence_layout(type, &l);
    return sequence_words(lower, sequence, add(lower, extent_const(1), times(lower, index, l.words)), l.words);
}

int sequence_keep(const Type *type, const Type *member, Extent *words)
{
    int            n = 0;
    SequenceLayout l;

    sequence_layout(type, &l);
    if (l.rank < 0)
        words[n++] = extent_const(member->rank);
    for (int i = 0; i < (l.rank < 0 ? MAX_RANK : l.rank); i++)
        words[n++] = i < member->rank ? member->dim[i] : extent_const(0);
    return n;
}

Operand sequence_member(Lower *lower, const Type *type, Operand sequence, Extent index, const Type *member)
{
    SequenceLayout l, inner;
    Extent         offset;
    Operand        x;

    sequence_layout(type, &l);
    offset = add(lower, extent_const(l.data), times(lower, index, l.distance));
    if (is_nested(type->item)) {
        sequence_layout(type->item, &inner);
        x = part(lower, sequence, offset, DTYPE_U8);
        x.dim[0] = extent_const(inner.size);
        return x;
    }
    x = part(lower, sequence, offset, type->item->dtype);
    x.rank = member->rank;
    memcpy(x.dim, member->dim, sizeof x.dim);
    operand_make_dense(lower, &x);
    return x;
}

/* --------------------------------------------------------------------------------------------------------- integers */

/* One int64_t as a fresh run-time integer in [lo,hi], known as number `which` of `value`. */
static int find_integer(Lower *lower, Operand word, const Value *value, int which, int64_t lo, int64_t hi, Extent *out)
{
    *out = extent_symbol(lower->model, EXPR_VAR, value->id, WHICH_FIRST + which, lo, hi);
    return lower_read(lower, word, *out);
}

int sequence_count(Lower *lower, Value *value, Extent *out)
{
    SequenceLayout l;
    Operand        x;

    if (lower_value(lower, value, &x) < 0)
        return -1;
    if (!sequence_layout(&value->type, &l))
        return diag_bug(lower->diag, (Loc){0}, "'%s' has no layout", value->name);
    return find_integer(lower, sequence_words(lower, x, extent_const(0), 1), value, 0, 0, l.capacity, out);
}

int sequence_made(Lower *lower, Value *value)
{
    Extent symbol = control_symbol(lower, value, value->type.count);

    if (symbol.expr < 0)
        return 0;
    return lower_read(lower, sequence_words(lower, lower->place[value->id].operand, extent_const(0), 1), symbol);
}

/* The symbol of an extent that only this value has, or that an optional input has in its header. */
static Extent found_here(const Lower *lower, const Value *made, Extent extent)
{
    const Expr *e = extent.expr >= 0 ? &lower->model->expr[extent.expr] : NULL;

    if (e && e->op == EXPR_DIM && lower->model->value[e->value]->type.kind == TYPE_OPTIONAL)
        return extent;
    return control_symbol(lower, made, extent);
}

int sequence_extents(Lower *lower, const Value *made, Operand words)
{
    Extent first = words.offset;

    for (int i = 0; i < made->type.rank; i++) {
        Extent wanted = made->type.dim[i], found, symbol = found_here(lower, made, wanted);

        words.offset = add(lower, first, extent_const(i));
        if (symbol.expr >= 0) {
            if (lower_read(lower, words, symbol) < 0)
                return -1;
            continue;
        }
        if (find_integer(lower, words, made, 1 + i, 0, INT64_MAX / 64, &found) < 0 ||
            lower_check(lower, extent_op(lower->model, EXPR_EQ, found, wanted)) < 0)
            return -1;
    }
    return 0;
}

int sequence_take(Lower *lower, const Value *made, const Type *type, Operand sequence, Extent index)
{
    Operand        kept = sequence_kept(lower, type, sequence, index);
    SequenceLayout l;
    Extent         rank;

    sequence_layout(type, &l);
    if (made->type.rank < 0)
        return diag_unsupported(lower->diag, lower->node ? lower->node->loc : (Loc){0},
                                "the rank of '%s' is known only while running; declare its shape in the model",
                                made->name);
    if (l.rank < 0) {
        if (find_integer(lower, kept, made, MAX_RANK + 1, 0, MAX_RANK, &rank) < 0 ||
            lower_check(lower, extent_op(lower->model, EXPR_EQ, rank, extent_const(made->type.rank))) < 0)
            return -1;
        kept.offset = add(lower, kept.offset, extent_const(1));
    }
    return sequence_extents(lower, made, kept);
}

int sequence_store(Lower *lower, Operand words, const Extent *value)
{
    int count = (int)words.dim[0].max;

    return STEP(lower, NULL, "store_words", ARG(y, words), ARG(n, count), ARGS(word, count, value));
}

/* ----------------------------------------------------------------------------------------------------------- copies */

void give_layout(Lower *lower, const char *name, const Type *type)
{
    SequenceLayout l;
    int64_t       *layout = arena_array(lower->program->arena, int64_t, 4);

    sequence_layout(type, &l);
    layout[0] = l.capacity;
    layout[1] = l.data;
    layout[2] = l.distance;
    layout[3] = l.rank;
    step_give(lower, given_ints(name, 4, layout));
}

void give_limits(Lower *lower, const Type *type)
{
    int64_t *limit = arena_array(lower->program->arena, int64_t, MAX_RANK);
    int      rank = type->item->kind != TYPE_TENSOR ? 0 : type->item->rank < 0 ? 1 : type->item->rank;

    for (int i = 0; i < rank; i++)
        limit[i] = type->item->dim[i].max;
    step_give(lower, given_ints("limit", rank, limit));
}

static bool same_layout(const Type *a, const Type *b)
{
    SequenceLayout la, lb;

    if (a->kind != b->kind || !sequence_layout(a, &la) || !sequence_layout(b, &lb))
        return false;
    if (la.capacity != lb.capacity || la.rank != lb.rank || la.data != lb.data || la.distance != lb.distance)
        return false;
    if (is_nested(a->item))
        return is_nested(b->item) && same_layout(a->item, b->item);
    for (int i = 0; i < (la.rank < 0 ? 1 : la.rank); i++)
        if (a->item->dim[i].max > b->item->dim[i].max)
            return false;
    return true;
}

static int copy_members(Lower *lower, const Type *from, Operand x, const Type *to, Operand y)
{
    return STEP(lower, NULL, "sequence_copy", ARG(x, x), ARG(y, y), ARG(width, dtype_info(to->item->dtype)->bytes),
                give_layout(lower, "from", from), give_layout(lower, "to", to), give_limits(lower, to));
}

int sequence_copy_operands(Lower *lower, const Type *from, Operand x, const Type *to, Operand y)
{
    Operand head_x, head_y;

    if (from->kind == TYPE_OPTIONAL && from->count.max == 0)
        return optional_clear(lower, to, y);
    if (!is_nested(from->item) && !is_nested(to->item))
        return copy_members(lower, from, x, to, y);
    if (same_layout(from, to))
        return lower_copy(lower, NULL, x, y);
    if (from->kind != TYPE_OPTIONAL || to->kind != TYPE_OPTIONAL)
        return diag_unsupported(
            lower->diag, lower->node ? lower->node->loc : (Loc){0},
            "sequences of sequences with different capacities are not copied into each other; bound them "
            "alike with --dim VALUE:count");
    head_x = sequence_words(lower, x, extent_const(0), 1);
    head_y = sequence_words(lower, y, extent_const(0), 1);
    if (lower_copy(lower, NULL, head_x, head_y) < 0)
        return -1;
    head_x = sequence_member(lower, from, x, extent_const(0), from->item);
    head_y = sequence_member(lower, to, y, extent_const(0), to->item);
    return sequence_copy_operands(lower, from->item, head_x, to->item, head_y);
}

int sequence_copy(Lower *lower, Value *from, Value *to)
{
    Operand x, y;

    if (from->type.kind != TYPE_OPTIONAL && to->type.kind == TYPE_OPTIONAL)
        return optional_wrap(lower, from, to);
    if (sequence_place(lower, to) < 0)
        return -1;
    if (from->type.kind == TYPE_OPTIONAL && to->type.kind != TYPE_OPTIONAL)
        return optional_unwrap(lower, from, to);
    if (lower_value(lower, from, &x) < 0)
        return -1;
    y = lower->place[to->id].operand;
    if (x.buffer == y.buffer && extent_same(x.offset, y.offset))
        return 0;
    if (sequence_copy_operands(lower, &from->type, x, &to->type, y) < 0)
        return -1;
    return sequence_made(lower, to);
}

int sequence_alias(Lower *lower, Value *from, Value *to)
{
    Operand x;

    if (from->type.kind != TYPE_OPTIONAL && to->type.kind == TYPE_OPTIONAL)
        return optional_wrap(lower, from, to);
    if (from->type.kind == TYPE_OPTIONAL && to->type.kind != TYPE_OPTIONAL)
        return optional_unwrap(lower, from, to);
    if (lower->place[to->id].kind != PLACE_NONE)
        return sequence_copy(lower, from, to);
    if (lower_value(lower, from, &x) < 0)
        return -1;
    set_place(lower, to, x);
    return sequence_made(lower, to);
}

int sequence_view(Lower *lower, Value *made, Operand member)
{
    Place *place = &lower->place[made->id];

    if (place->kind == PLACE_NONE)
        set_place(lower, made, member);
    else if (sequence_copy_operands(lower, &made->type, member, &made->type, place->operand) < 0)
        return -1;
    return sequence_made(lower, made);
}
