/* einsum_infer.c - the type of Einsum: every letter is an extent; "..." stands for leading axes that broadcast. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <ctype.h>
#include <string.h>

typedef struct Letters {
    bool   seen[128];
    Extent dim[128];
    int    times[128];     /* in all operands together */
    Extent dots[MAX_RANK]; /* axes of the ellipsis */
    int    ndots;
} Letters;

/* Letters of one term and whether it has an ellipsis; -1: another character, or dots that are not three. */
static int count_letters(const char *at, const char *end, bool *dots)
{
    int count = 0;

    *dots = false;
    for (; at < end; at++) {
        if (isspace((unsigned char)*at))
            continue;
        if (*at == '.') {
            if (*dots || end - at < 3 || at[1] != '.' || at[2] != '.')
                return -1;
            *dots = true;
            at += 2;
        } else if (isalpha((unsigned char)*at))
            count++;
        else
            return -1;
    }
    return count;
}

static int take_letter(Infer *infer, const Node *node, Letters *all, int letter, Extent dim)
{
    char what[] = "extents of the letter ' '";

    all->times[letter]++;
    if (!all->seen[letter]) {
        all->seen[letter] = true;
        all->dim[letter] = dim;
        return 0;
    }
    if (all->dim[letter].expr < 0 && all->dim[letter].max == 1)
        all->dim[letter] = dim; /* an extent of 1 broadcasts */
    else if (dim.expr >= 0 || dim.max != 1) {
        what[sizeof what - 3] = (char)letter;
        return infer_need_equal(infer, node, all->dim[letter], dim, what);
    }
    return 0;
}

/* The letters of input `input`, whose term lies in [at,end). */
static int take_term(Infer *infer, const Node *node, Letters *all, int input, const char *at, const char *end)
{
    const Type *type = infer_in(node, input);
    bool        dots;
    int         letters = count_letters(at, end, &dots), axis = 0, spread;

    if (infer_need_dtype(infer, node, input, "FLIU") < 0 || infer_need_same_dtype(infer, node, 0, input) < 0)
        return -1;
    spread = type->rank - letters;
    if (letters < 0 || spread < 0 || (spread && !dots))
        return diag_error(infer->diag, node->loc, "the term '%.*s' does not fit input %d of rank %d", (int)(end - at),
                          at, input, type->rank);
    for (; at < end; at++) {
        if (*at == '.') {
            if (infer_broadcast_dims(infer, node, all->ndots, all->dots, spread, &type->dim[axis], &all->ndots,
                                     all->dots) < 0)
                return -1;
            axis += spread;
            at += 2;
        } else if (!isspace((unsigned char)*at) && take_letter(infer, node, all, *at, type->dim[axis++]) < 0)
            return -1;
    }
    return 0;
}

static int put(Infer *infer, const Node *node, Type *out, Extent dim)
{
    if (out->rank == MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "the result has more than %d axes", MAX_RANK);
    out->dim[out->rank++] = dim;
    return 0;
}

/* Without "->": the ellipsis, then the letters that occur once, in alphabetical order (upper case first). */
static int implicit_result(Infer *infer, const Node *node, const Letters *all, Type *out)
{
    for (int i = 0; i < all->ndots; i++)
        if (put(infer, node, out, all->dots[i]) < 0)
            return -1;
    for (int letter = 'A'; letter <= 'z'; letter++)
        if (all->times[letter] == 1 && put(infer, node, out, all->dim[letter]) < 0)
            return -1;
    return 0;
}

static int explicit_result(Infer *infer, const Node *node, const Letters *all, const char *at, Type *out)
{
    bool dots;

    if (count_letters(at, at + strlen(at), &dots) < 0)
        return diag_error(infer->diag, node->loc, "the result '%s' holds something other than letters and one ellipsis",
                          at);
    for (; *at; at++) {
        if (*at == '.') {
            for (int i = 0; i < all->ndots; i++)
                if (put(infer, node, out, all->dots[i]) < 0)
                    return -1;
            at += 2;
        } else if (!isspace((unsigned char)*at)) {
            if (!all->seen[(int)*at])
                return diag_error(infer->diag, node->loc, "the letter '%c' of the result is in no input", *at);
            if (put(infer, node, out, all->dim[(int)*at]) < 0)
                return -1;
        }
    }
    return 0;
}

int infer_einsum(Infer *infer, Node *node)
{
    const char *equation = node_string(node, "equation", ""), *arrow = strstr(equation, "->"), *at = equation;
    const char *end = arrow ? arrow : equation + strlen(equation);
    Letters    *all = arena_one(infer->model->arena, Letters);
    Type        type = {.kind = TYPE_TENSOR};

    for (int i = 0; i < node->nin; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (!comma != (i == node->nin - 1))
            return diag_error(infer->diag, node->loc,
                              "the equation '%s' has another number of terms than the node's %d inputs", equation,
                              node->nin);
        if (take_term(infer, node, all, i, at, comma ? comma : end) < 0)
            return -1;
        at = comma ? comma + 1 : end;
    }
    type.dtype = node->in[0]->type.dtype;
    if ((arrow ? explicit_result(infer, node, all, arrow + 2, &type) : implicit_result(infer, node, all, &type)) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}
