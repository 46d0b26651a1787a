/* expand_einsum.c - Einsum: two operands at a time are transposed and reshaped to a matrix product. A term of the
 * equation is a list of labels, one for each axis. The axes of an ellipsis get labels of their own, counted from the
 * right. */
#include "ops/expand/expand_rules.h"

#include <string.h>

enum {
    FIRST_ELLIPSIS = 1,
    MAX_OPERANDS = 16
}; /* labels 1 to 8: axes of the ellipsis, the outermost has the highest; the others are letters */

typedef struct EinsumTerm {
    Value *value;
    char   label[MAX_RANK + 1]; /* one for each axis, NUL-terminated */
} EinsumTerm;

typedef struct Einsum {
    Expand    *expand;
    EinsumTerm term[MAX_OPERANDS];
    int        count;
    char       out[2 * MAX_RANK + 1];
} Einsum;

static bool has(const char *labels, char label)
{
    return strchr(labels, label) != NULL;
}

static int refuse(Einsum *einsum, const char *what)
{
    return diag_unsupported(einsum->expand->diag, einsum->expand->node->loc,
                            "equation '%s': %s; split it in the exporter",
                            node_string(einsum->expand->node, "equation", ""), what);
}

/* ---------------------------------------------------------------------------------------------------------- parsing */

/* Parses one term of the equation, from *at to the next comma, arrow or end. An ellipsis stands for `hidden` axes.
 * Returns the number of axes, or -1 with a message. */
static int parse_term(Einsum *einsum, const char **at, int hidden, char *label, int capacity)
{
    int count = 0;

    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        bool dots = !strncmp(*at, "...", 3);
        if (**at == ' ')
            continue;
        if (!dots && !((**at >= 'a' && **at <= 'z') || (**at >= 'A' && **at <= 'Z')))
            return refuse(einsum, "a character that is no letter");
        if (count + (dots ? hidden : 1) > capacity)
            return refuse(einsum, "too many axes");
        if (!dots) {
            label[count++] = **at;
            continue;
        }
        for (int i = hidden; i > 0; i--)
            label[count++] = (char)(FIRST_ELLIPSIS + i - 1);
        *at += 2;
    }
    label[count] = 0;
    return count;
}

static int letters(const char *text)
{
    int count = 0;

    for (; *text && *text != ',' && *text != '-'; text++)
        count += (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    return count;
}

/* The labels of the result of an equation without an arrow: the ellipsis, then the letters that occur once, in
 * alphabetical order. */
static void implicit_output(Einsum *einsum)
{
    int count = 0;

    for (int label = MAX_RANK; label >= FIRST_ELLIPSIS; label--)
        for (int i = 0; i < einsum->count; i++)
            if (has(einsum->term[i].label, (char)label)) {
                einsum->out[count++] = (char)label;
                break;
            }
    for (int label = 'A'; label <= 'z'; label++) {
        int times = 0;
        for (int i = 0; i < einsum->count; i++)
            for (const char *c = einsum->term[i].label; *c; c++)
                times += *c == label;
        if (times == 1 && count < 2 * MAX_RANK)
            einsum->out[count++] = (char)label;
    }
    einsum->out[count] = 0;
}

static int parse(Einsum *einsum)
{
    const Node *node = einsum->expand->node;
    const char *at = node_string(node, "equation", "");
    int         hidden_most = 0;

    if (node->nin > MAX_OPERANDS)
        return refuse(einsum, "too many operands");
    einsum->count = node->nin;
    for (int i = 0; i < node->nin; i++, at += *at == ',') {
        int rank = node->in[i]->type.rank, hidden = rank - letters(at);
        einsum->term[i].value = node->in[i];
        if (hidden < 0 || parse_term(einsum, &at, hidden, einsum->term[i].label, MAX_RANK) != rank)
            return diag_error(einsum->expand->diag, node->loc,
                              "term %d of the equation does not fit an input of %d axes", i, rank);
        hidden_most = hidden > hidden_most ? hidden : hidden_most;
    }
    if (strncmp(at, "->", 2)) {
        implicit_output(einsum);
        return 0;
    }
    at += 2;
    return parse_term(einsum, &at, hidden_most, einsum->out, MAX_RANK) < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------------ one operand */

/* Sums over axis `index`. */
static void sum_axis(Einsum *einsum, EinsumTerm *term, int index)
{
    term->value = expand_reduce(einsum->expand, OP_onnx_ReduceSum, term->value, index, index, 0);
    memmove(term->label + index, term->label + index + 1, strlen(term->label + index));
}

/* Takes the diagonal of two axes with the same label: elements off the diagonal become 0, then one axis is summed. */
static void take_diagonal(Einsum *einsum, EinsumTerm *term, int first, int second)
{
    Expand *expand = einsum->expand;
    int     rank = (int)strlen(term->label);
    int64_t along[2][MAX_RANK];
    Value  *count[2], *zero = expand_number(expand, 0, expand->node->out[0]->type.dtype);

    for (int side = 0; side < 2; side++) {
        int axis = side ? second : first;
        for (int i = 0; i < rank; i++)
            along[side][i] = i == axis ? -1 : 1;
        count[side] = expand_squeeze(expand, expand_extent(expand, term->value, axis), 0);
        count[side] = expand_range(expand, count[side]);
        count[side] = expand_reshape(expand, count[side], along[side], rank);
    }
    term->value = expand3(expand, OP_onnx_Where, expand2(expand, OP_onnx_Equal, count[0], count[1]), term->value, zero);
    sum_axis(einsum, term, second);
}

static void take_diagonals(Einsum *einsum, EinsumTerm *term)
{
    for (int i = 0; term->label[i]; i++)
        for (char *twin; (twin = strchr(term->label + i + 1, term->label[i]));)
            take_diagonal(einsum, term, i, (int)(twin - term->label));
}

/* Transposes the axes to the order of the labels in `order`, which are the same. */
static void reorder(Einsum *einsum, EinsumTerm *term, const char *order)
{
    int64_t perm[MAX_RANK];
    int     rank = (int)strlen(order);

    if (!strcmp(order, term->label))
        return;
    for (int i = 0; i < rank; i++)
        perm[i] = strchr(term->label, order[i]) - term->label;
    term->value = expand_transpose(einsum->expand, term->value, perm, rank);
    memcpy(term->label, order, (size_t)rank + 1);
}

/* ----------------------------------------------------------------------------------------------------- two operands */

/* The labels of two operands by their role in a matrix product: kept and in both operands; summed; only in the left
 * one; only in the right one. */
typedef struct Roles {
    char batch[MAX_RANK + 1], sum[MAX_RANK + 1], left[MAX_RANK + 1], right[MAX_RANK + 1];
} Roles;

static void append(char *labels, char label)
{
    size_t length = strlen(labels);

    labels[length] = label;
    labels[length + 1] = 0;
}

static bool needed_later(const Einsum *einsum, int next, char label)
{
    for (int i = next + 1; i < einsum->count; i++)
        if (has(einsum->term[i].label, label))
            return true;
    return has(einsum->out, label);
}

static Roles find_roles(const Einsum *einsum, const EinsumTerm *a, const EinsumTerm *b, int next)
{
    Roles roles = {0};

    for (const char *c = a->label; *c; c++)
        append(!has(b->label, *c) ? roles.left : needed_later(einsum, next, *c) ? roles.batch : roles.sum, *c);
    for (const char *c = b->label; *c; c++)
        if (!has(a->label, *c))
            append(roles.right, *c);
    return roles;
}

static char *join(char *out, const char *a, const char *b, const char *c)
{
    strcpy(out, a);
    strcat(out, b);
    return strcat(out, c);
}

/* The product of extents [first, first + count) of a value, as int64 [1]. */
static Value *merged(Expand *expand, Value *value, int first, int count)
{
    Value *product = make_int(expand->graph, 1);

    for (int i = 0; i < count; i++)
        product = expand2(expand, OP_onnx_Mul, product, expand_extent(expand, value, first + i));
    return product;
}

static Value *shape_of(Expand *expand, Value **parts, int count)
{
    Value *out = expand_make(expand, OP_onnx_Concat, count, parts);

    node_set_int(expand->last, "axis", 0);
    return out;
}

/* Reshapes [batch...][first...][second...] so that the `first` axes, and the `second` axes, become one axis each. */
static Value *as_matrices(Expand *expand, Value *value, int batch, int first, int second)
{
    Value *parts[MAX_RANK + 2];
    int    count = 0;

    if (first == 1 && second == 1)
        return value;
    for (int i = 0; i < batch; i++)
        parts[count++] = expand_extent(expand, value, i);
    parts[count++] = merged(expand, value, batch, first);
    parts[count++] = merged(expand, value, batch + first, second);
    return expand2(expand, OP_onnx_Reshape, value, shape_of(expand, parts, count));
}

static void multiply_matrices(Einsum *einsum, EinsumTerm *a, EinsumTerm *b, const Roles *roles)
{
    Expand *expand = einsum->expand;
    int     batch = (int)strlen(roles->batch), sum = (int)strlen(roles->sum);
    int     left = (int)strlen(roles->left), right = (int)strlen(roles->right), count = 0;
    char    order[3 * MAX_RANK + 1];
    Value  *product, *first, *parts[2 * MAX_RANK];

    reorder(einsum, a, join(order, roles->batch, roles->left, roles->sum));
    reorder(einsum, b, join(order, roles->batch, roles->sum, roles->right));
    first = as_matrices(expand, a->value, batch, left, sum);
    product = expand2(expand, OP_onnx_MatMul, first, as_matrices(expand, b->value, batch, sum, right));
    if (left != 1 || right != 1) {
        for (int i = 0; i < batch; i++)
            parts[count++] = expand_extent(expand, product, i);
        for (int i = 0; i < left; i++)
            parts[count++] = expand_extent(expand, a->value, batch + i);
        for (int i = 0; i < right; i++)
            parts[count++] = expand_extent(expand, b->value, batch + sum + i);
        product = count ? expand2(expand, OP_onnx_Reshape, product, shape_of(expand, parts, count))
                        : expand_reshape(expand, product, NULL, 0);
    }
    a->value = product;
    join(a->label, roles->batch, roles->left, roles->right);
}

/* The product of two operands without a sum: both are broadcast over all labels. */
static void multiply_elements(Einsum *einsum, EinsumTerm *a, EinsumTerm *b, const Roles *roles)
{
    Expand *expand = einsum->expand;
    int     batch = (int)strlen(roles->batch), left = (int)strlen(roles->left);
    char    order[3 * MAX_RANK + 1];

    reorder(einsum, a, join(order, roles->batch, roles->left, ""));
    reorder(einsum, b, join(order, roles->batch, roles->right, ""));
    for (size_t i = 0; i < strlen(roles->right); i++)
        a->value = expand_unsqueeze(expand, a->value, -1);
    for (int i = 0; i < left; i++)
        b->value = expand_unsqueeze(expand, b->value, batch);
    a->value = expand2(expand, OP_onnx_Mul, a->value, b->value);
    join(a->label, roles->batch, roles->left, roles->right);
}

/* Sums over the labels that neither the other operand nor a later term nor the result has. */
static void sum_unneeded(Einsum *einsum, EinsumTerm *term, const EinsumTerm *other, int next)
{
    for (int i = (int)strlen(term->label) - 1; i >= 0; i--)
        if (!(other && has(other->label, term->label[i])) && !needed_later(einsum, next, term->label[i]))
            sum_axis(einsum, term, i);
}

static int combine(Einsum *einsum, EinsumTerm *a, int next)
{
    EinsumTerm *b = &einsum->term[next];
    Roles       roles;

    sum_unneeded(einsum, a, b, next);
    sum_unneeded(einsum, b, a, next);
    roles = find_roles(einsum, a, b, next);
    if (strlen(roles.batch) + strlen(roles.left) + strlen(roles.right) > MAX_RANK)
        return refuse(einsum, "more than 8 axes in between");
    if (roles.sum[0])
        multiply_matrices(einsum, a, b, &roles);
    else
        multiply_elements(einsum, a, b, &roles);
    return 0;
}

int expand_einsum(Expand *expand)
{
    Einsum     *einsum = arena_one(expand->model->arena, Einsum);
    EinsumTerm *all = &einsum->term[0];

    einsum->expand = expand;
    if (parse(einsum))
        return -1;
    for (int i = 0; i < einsum->count; i++)
        take_diagonals(einsum, &einsum->term[i]);
    for (int i = 1; i < einsum->count; i++)
        if (combine(einsum, all, i))
            return -1;
    sum_unneeded(einsum, all, NULL, einsum->count);
    for (const char *c = einsum->out; *c; c++)
        if (!has(all->label, *c))
            return diag_error(expand->diag, expand->node->loc, "the equation's output has an axis that no input has");
    reorder(einsum, all, einsum->out);
    expand_give(expand, 0, all->value);
    return 0;
}
