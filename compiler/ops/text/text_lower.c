/* text_lower.c - operators that make text or count it. What they make lies in a pool of characters. */
#include "ops/text/text_lower.h"
#include "lower/control.h"
#include "lower/call.h"
#include "ops/rules.h"
#include "ops/text/regex.h"

#include <string.h>

/* A list of texts as a constant. */
static Operand text_weight(Lower *lower, const char *const *text, int64_t count, const char *name)
{
    return lower_weight(lower, text, DTYPE_TEXT, 1, &count, name);
}

TableParts text_table(Lower *lower, const RegexTable *table)
{
    int64_t    bytes = sizeof table->class_of, entries = table->states * table->classes;
    uint8_t   *class_of = arena_array(lower->program->arena, uint8_t, bytes);
    TableParts parts;

    memcpy(class_of, table->class_of, sizeof table->class_of);
    parts.class_of = lower_weight(lower, class_of, DTYPE_U8, 1, &bytes, "classes");
    parts.next = lower_weight(lower, table->next, DTYPE_U16, 1, &entries, "states");
    parts.accepts = lower_weight(lower, table->accepts, DTYPE_U8, 1, &table->states, "accepting");
    return parts;
}

static Extent elements_of(Lower *lower, const Value *value)
{
    return type_count(lower->model, &value->type);
}

/* The slot to which a step writes the number that decides extent `axis` of output 0. */
static Operand found_extent(Lower *lower, const Node *node, int axis, Extent *found)
{
    const Value *made = node->out[0];

    *found = control_symbol(lower, made, made->type.dim[axis]);
    if (extent_is_const(*found))
        *found = extent_symbol(lower->model, EXPR_VAR, made->id, 300 + axis, 0, INT64_MAX / 64);
    return lower_slot(lower, *found);
}

bool text_given(const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        if (node->in[i] && node->in[i]->type.kind == TYPE_TENSOR && node->in[i]->type.dtype == DTYPE_TEXT)
            return true;
    return false;
}

/* Sets x to all inputs, broadcast to the result, and y to the place of the result. */
static int broadcast_inputs(Lower *lower, const Node *node, Operand *x, Operand *y)
{
    const Type *type = &node->out[0]->type;

    for (int i = 0; i < node->nin; i++) {
        if (lower_input(lower, node, i, &x[i]) < 0)
            return -1;
        x[i] = operand_broadcast(lower, x[i], type->rank, type->dim);
    }
    return lower_output_dense(lower, node, 0, y);
}

int lower_string_concat(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     x[2], y, pool;

    if (broadcast_inputs(lower, node, x, &y) < 0)
        return -1;
    pool = lower_text_pool(lower, y, type->text_bytes);
    return STEP_OUTPUT(lower, node, y, "text_concat", ARG(a, x[0]), ARG(b, x[1]), ARG(pool, pool),
                       ARG(rank, type->rank), ARGS(dim, type->rank, type->dim), ARGS(astride, type->rank, x[0].stride),
                       ARGS(bstride, type->rank, x[1].stride), ARG(capacity, type->text_bytes));
}

int text_lower_equal(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     x[2], y;

    if (broadcast_inputs(lower, node, x, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "text_equal", ARG(a, x[0]), ARG(b, x[1]), ARG(rank, type->rank),
                       ARGS(dim, type->rank, type->dim), ARGS(astride, type->rank, x[0].stride),
                       ARGS(bstride, type->rank, x[1].stride));
}

int text_lower_where(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     x[3], y;

    if (broadcast_inputs(lower, node, x, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "text_where", ARG(c, x[0]), ARG(a, x[1]), ARG(b, x[2]), ARG(rank, type->rank),
                       ARGS(dim, type->rank, type->dim), ARGS(cstride, type->rank, x[0].stride),
                       ARGS(astride, type->rank, x[1].stride), ARGS(bstride, type->rank, x[2].stride));
}

/* The type whose kernel prints or reads numbers of another one. As in ONNX Runtime, floats are read as doubles and then
 * rounded. */
static DType number_type(DType dtype)
{
    char class = dtype_info(dtype)->class;

    return class == 'I' ? DTYPE_I64 : class == 'U' || class == 'B' ? DTYPE_U64 : DTYPE_F64;
}

static int number_to_text(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    DType       from = number_type(node->in[0]->type.dtype);
    Operand     x, y, pool;

    if (lower_input(lower, node, 0, &x) < 0 || lower_convert(lower, x, from, &x) < 0 || lower_dense(lower, x, &x) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    pool = lower_text_pool(lower, y, type->text_bytes);
    return STEP_OUTPUT(lower, node, y, arena_printf(lower->program->arena, "text_of_%s", dtype_info(from)->suffix),
                       ARG(x, x), ARG(pool, pool), ARG(n, elements_of(lower, node->in[0])),
                       ARG(capacity, type->text_bytes));
}

static int text_to_number(Lower *lower, const Node *node)
{
    Type    type = node->out[0]->type;
    DType   to = type.dtype;
    Operand x, made, y;

    type.dtype = number_type(to);
    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    made = type.dtype == to ? y : lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "numbers");
    if (STEP(lower, node, arena_printf(lower->program->arena, "text_to_%s", dtype_info(type.dtype)->suffix), ARG(x, x),
             ARG(y, made), ARG(n, elements_of(lower, node->in[0]))) < 0 ||
        (type.dtype != to && lower_convert_into(lower, made, y) < 0))
        return -1;
    return lower_output_done(lower, node, 0, y);
}

int text_lower_cast(Lower *lower, const Node *node)
{
    if (node->out[0]->type.dtype == DTYPE_TEXT)
        return number_to_text(lower, node);
    if (!node_int(node, "saturate", 1))
        return diag_unsupported(lower->diag, node->loc, "text becomes %s without saturation; cast it to float first",
                                dtype_info(node->out[0]->type.dtype)->name);
    return text_to_number(lower, node);
}

int lower_string_normalizer(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    const Attr *stop = node_attr(node, "stopwords");
    const char *action = node_string(node, "case_change_action", "NONE");
    int     change = !strcmp(action, "LOWER") ? 1 : !strcmp(action, "UPPER") ? 2 : 0, nstop = stop ? stop->count : 0;
    Type    row = *type;
    Operand x, y, pool = operand_absent(DTYPE_U8);
    Extent  kept;

    row.dim[row.rank - 1] = extent_const(type->dim[type->rank - 1].max);
    if (lower_input_dense(lower, node, 0, &x) < 0)
        return -1;
    y = lower_temporary(lower, &row, LAYOUT_ROW_MAJOR, "normalized");
    if (change)
        pool = lower_text_pool(lower, y, type->text_bytes);
    if (STEP(lower, node, "text_normalize", ARG(x, x),
             ARG(stop, nstop ? text_weight(lower, stop->strings, nstop, "stop words") : operand_absent(DTYPE_TEXT)),
             ARG(y, y), ARG(pool, pool), ARG(kept, found_extent(lower, node, type->rank - 1, &kept)),
             ARG(n, elements_of(lower, node->in[0])), ARG(nstop, nstop),
             ARG(exact, node_int(node, "is_case_sensitive", 0)), ARG(change, change), ARG(capacity, type->text_bytes),
             ARG(room, row.dim[row.rank - 1])) < 0 ||
        control_give(lower, node->out[0], type->dim[type->rank - 1], kept) < 0)
        return -1;
    y.dim[type->rank - 1] = type->dim[type->rank - 1];
    return lower_output_view(lower, node, 0, y);
}

int lower_string_split(Lower *lower, const Node *node)
{
    static const char *const blanks = "";
    const Type              *type = &node->out[0]->type;
    const Attr              *given = node_attr(node, "delimiter");
    int64_t                  limit = node_int(node, "maxsplit", -1), capacity = type->dim[type->rank - 1].max;
    Operand                  x, y, pool, pieces, delimiter;
    Extent                   most, n = elements_of(lower, node->in[0]);
    Type                     counts = node->in[0]->type;

    delimiter = text_weight(lower, given ? &given->s : &blanks, 1, "delimiter");
    counts.dtype = DTYPE_I64;
    if (lower_input_dense(lower, node, 0, &x) < 0)
        return -1;
    if (node->nout > 1 && node->out[1] ? lower_output_dense(lower, node, 1, &pieces) < 0 : 0)
        return -1;
    if (node->nout < 2 || !node->out[1])
        pieces = lower_temporary(lower, &counts, LAYOUT_ROW_MAJOR, "pieces");
    if (STEP(lower, node, "text_split_count", ARG(x, x), ARG(delimiter, delimiter), ARG(pieces, pieces),
             ARG(most, found_extent(lower, node, type->rank - 1, &most)), ARG(n, n), ARG(limit, limit),
             ARG(capacity, capacity)) < 0 ||
        control_give(lower, node->out[0], type->dim[type->rank - 1], most) < 0 ||
        (node->nout > 1 && node->out[1] && lower_output_done(lower, node, 1, pieces) < 0) ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    pool = lower_text_pool(lower, y, type->text_bytes);
    return STEP_OUTPUT(lower, node, y, "text_split", ARG(x, x), ARG(delimiter, delimiter), ARG(pool, pool), ARG(n, n),
                       ARG(most, type->dim[type->rank - 1]), ARG(limit, limit), ARG(capacity, type->text_bytes));
}

/* ---------------------------------------------------------------------------------------------------------- n-grams */

/* Sets start[i] to the place in the pool where the n-grams of size i + 1 begin, and start[most] to the end of the
 * largest n-grams. Refuses counts that do not fit the pool. */
static int gram_starts(Lower *lower, const Node *node, int64_t most, int64_t pool, Extent *start)
{
    int            count, places;
    const int64_t *begin = node_ints(node, "ngram_counts", &count);
    int64_t        grams = 0;

    node_ints(node, "ngram_indexes", &places);
    for (int64_t n = 0; n <= most; n++) {
        int64_t at = n < count ? begin[n] : pool;

        if (at < 0 || at > pool || (n > 0 && at < start[n - 1].max))
            return diag_error(lower->diag, node->loc, "ngram_counts leaves the pool of %lld elements", (long long)pool);
        if (n > 0)
            grams += (at - start[n - 1].max) / n;
        start[n] = extent_const(at);
    }
    if (grams > places)
        return diag_error(lower->diag, node->loc, "the pool holds %lld n-grams, ngram_indexes has %d", (long long)grams,
                          places);
    return 0;
}

static Operand gram_pool(Lower *lower, const Node *node, DType dtype, int64_t *count)
{
    const Attr    *text = node_attr(node, "pool_strings");
    int            n;
    const int64_t *ints = node_ints(node, "pool_int64s", &n);
    int32_t       *narrow;

    *count = dtype == DTYPE_TEXT ? (text ? text->count : 0) : n;
    if (!*count)
        return operand_absent(dtype);
    if (dtype == DTYPE_TEXT)
        return text_weight(lower, text->strings, *count, "n-grams");
    if (dtype == DTYPE_I64)
        return lower_weight(lower, ints, DTYPE_I64, 1, count, "n-grams");
    narrow = arena_array(lower->program->arena, int32_t, n);
    for (int i = 0; i < n; i++)
        narrow[i] = (int32_t)ints[i];
    return lower_weight(lower, narrow, DTYPE_I32, 1, count, "n-grams");
}

int lower_tf_idf(Lower *lower, const Node *node)
{
    const Type    *in = &node->in[0]->type;
    const Attr    *weights = node_attr(node, "weights");
    const char    *mode = node_string(node, "mode", "TF");
    int            places;
    const int64_t *place = node_ints(node, "ngram_indexes", &places);
    int64_t        most = node_int(node, "max_gram_length", 1), nplace, count;
    Extent         start[64];
    Operand        x, y, pool = gram_pool(lower, node, in->dtype, &count), weight = operand_absent(DTYPE_F32);

    if (most < 1 || most > 63)
        return diag_unsupported(lower->diag, node->loc, "n-grams of %lld elements; at most 63 are supported",
                                (long long)most);
    nplace = places;
    if (weights && weights->count < places)
        return diag_error(lower->diag, node->loc, "%d weights for %d n-grams", weights->count, places);
    if (weights)
        weight = lower_weight(lower, weights->floats, DTYPE_F32, 1, &nplace, "n-gram weights");
    if (gram_starts(lower, node, most, count, start) < 0 || lower_input_dense(lower, node, 0, &x) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, arena_printf(lower->program->arena, "tfidf_%s", dtype_info(in->dtype)->suffix),
                       ARG(x, x), ARG(pool, pool),
                       ARG(place, lower_weight(lower, place, DTYPE_I64, 1, &nplace, "n-gram columns")),
                       ARG(weight, weight), ARG(rows, in->rank == 2 ? in->dim[0] : extent_const(1)),
                       ARG(length, in->dim[in->rank - 1]), ARG(columns, node->out[0]->type.dim[in->rank - 1].max),
                       ARG(least, node_int(node, "min_gram_length", 1)), ARG(most, most),
                       ARG(skips, node_int(node, "max_skip_count", 0)), ARGS(start, (int)most + 1, start),
                       ARG(mode, !strcmp(mode, "TF")    ? 0
                                 : !strcmp(mode, "IDF") ? 1
                                                        : 2));
}

/* The pattern becomes a table here; a text is then read once, whatever the pattern. */
int lower_regex_full_match(Lower *lower, const Node *node)
{
    const char *pattern = node_string(node, "pattern", ""), *error;
    RegexTable  table;
    TableParts  parts;
    Operand     x, y;

    error = regex_compile(lower->program->arena, pattern, &table);
    if (error)
        return diag_unsupported(lower->diag, node->loc, "attribute 'pattern' is '%s': %s; write it otherwise", pattern,
                                error);
    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    parts = text_table(lower, &table);
    return STEP_OUTPUT(lower, node, y, "text_match", ARG(x, x), ARG(class_of, parts.class_of), ARG(next, parts.next),
                       ARG(accepts, parts.accepts), ARG(n, operand_count(lower, &x, 0, x.rank)),
                       ARG(classes, table.classes));
}
