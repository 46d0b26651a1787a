/* text_pool.c - pools: buffers with the characters of text made at run time, and the values that point into them. */
#include "lower/lower.h"
#include "program/operand.h"

static int count_pools(const int *list)
{
    int n = 0;

    while (list && list[n] >= 0)
        n++;
    return n;
}

static int *pools_of(const Lower *lower, int buffer)
{
    return buffer >= 0 && buffer < lower->npools ? lower->pools[buffer] : NULL;
}

static bool holds(const int *list, int pool)
{
    for (int i = 0; list && list[i] >= 0; i++)
        if (list[i] == pool)
            return true;
    return false;
}

/* From here on the text of `buffer` may point into `pool`. */
static void add_pool(Lower *lower, int buffer, int pool)
{
    int *list, n;

    if (buffer >= lower->npools) {
        int   wanted = lower->program->nbuffer + 64;
        int **grown = arena_array(lower->arena, int *, wanted);

        for (int i = 0; i < lower->npools; i++)
            grown[i] = lower->pools[i];
        lower->pools = grown;
        lower->npools = wanted;
    }
    if (holds(lower->pools[buffer], pool))
        return;
    n = count_pools(lower->pools[buffer]);
    list = arena_array(lower->arena, int, n + 2);
    for (int i = 0; i < n; i++)
        list[i] = lower->pools[buffer][i];
    list[n] = pool;
    list[n + 1] = -1;
    lower->pools[buffer] = list;
}

Operand lower_text_pool(Lower *lower, Operand text, int64_t bytes)
{
    Type    type = type_tensor(DTYPE_U8, 1, &bytes);
    Operand pool = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "characters");

    add_pool(lower, text.buffer, pool.buffer);
    return pool;
}

bool lower_made_text(const Lower *lower, Operand text, int first)
{
    for (const int *list = pools_of(lower, text.buffer); list && *list >= 0; list++)
        if (*list >= first)
            return true;
    return false;
}

/* Whether what a step writes may hold pointers: text, or the bytes of a sequence. */
static bool may_hold_text(const Lower *lower, const Operand *y)
{
    const Buffer *b = &lower->program->buffer[y->buffer];

    if (y->dtype == DTYPE_TEXT)
        return true;
    return y->dtype == DTYPE_U8 && b->value && b->value->type.kind != TYPE_TENSOR;
}

static bool mentions(const Step *step, int buffer)
{
    for (int i = 0; i < step->noperand; i++)
        if (step->operand[i].buffer == buffer)
            return true;
    return false;
}

static void read_pool(Lower *lower, Step *step, int pool)
{
    Operand *longer;

    if (mentions(step, pool))
        return;
    longer = arena_array(lower->program->arena, Operand, step->noperand + 1);
    for (int i = 0; i < step->noperand; i++)
        longer[i] = step->operand[i];
    longer[step->noperand++] = operand_of_bytes(pool, lower->program->buffer[pool].size, OPERAND_READS);
    step->operand = longer;
}

void lower_follow_text(Lower *lower, Step *step)
{
    int given = step->noperand;

    if (!lower->npools || step->expr)
        return;
    for (int i = 0; i < given; i++) {
        int *list = step->operand[i].access & OPERAND_READS ? pools_of(lower, step->operand[i].buffer) : NULL;

        for (int k = 0; list && list[k] >= 0; k++) {
            read_pool(lower, step, list[k]);
            for (int n = 0; n < given; n++)
                if (step->operand[n].buffer >= 0 && (step->operand[n].access & OPERAND_WRITES) &&
                    may_hold_text(lower, &step->operand[n]))
                    add_pool(lower, step->operand[n].buffer, list[k]);
        }
    }
}

void lower_keep_text(Lower *lower)
{
    Program *p = lower->program;

    for (int b = 0; b < p->nbuffer; b++)
        for (int *list = p->buffer[b].kind == BUFFER_OUT ? pools_of(lower, b) : NULL; list && *list >= 0; list++)
            p->buffer[*list].escapes = true;
}
