/* question.c - reads the lines of --dump=libraries. */
#include "question.h"

#include "support/line.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Fields of a line, in order, as numbers of a struct. */
typedef struct LineField {
    const char *name;
    int         count;
    size_t      at; /* bytes */
} LineField;

static const LineField head[] = {{"peak", 1, offsetof(Questions, peak)},
                                 {"constants", 1, offsetof(Questions, constants)}};
static const LineField shape[] = {
    {"batch", 1, offsetof(occ_cudnn_conv, batch)},
    {"groups", 1, offsetof(occ_cudnn_conv, groups)},
    {"inputs", 1, offsetof(occ_cudnn_conv, inputs)},
    {"outputs", 1, offsetof(occ_cudnn_conv, outputs)},
    {"in", 3, offsetof(occ_cudnn_conv, in)},
    {"out", 3, offsetof(occ_cudnn_conv, out)},
    {"kernel", 3, offsetof(occ_cudnn_conv, kernel)},
    {"stride", 3, offsetof(occ_cudnn_conv, stride)},
    {"dilation", 3, offsetof(occ_cudnn_conv, dilation)},
    {"pad", 3, offsetof(occ_cudnn_conv, pad)},
    {"x", 5, offsetof(occ_cudnn_conv, x)},
    {"y", 5, offsetof(occ_cudnn_conv, y)},
};
static const LineField bias[] = {{"bias", 1, offsetof(occ_cudnn_conv, bias)}};
static const LineField use[] = {{"step", 1, offsetof(Use, step)},
                                {"live", 1, offsetof(Use, live)},
                                {"hole", 1, offsetof(Use, hole)},
                                {"shared", 1, offsetof(Use, shared)}};

static int take_fields(Line *line, const LineField *field, size_t count, void *to)
{
    for (const LineField *f = field; f < field + count; f++) {
        int64_t *value = (int64_t *)((char *)to + f->at);

        if (!line_word(line, f->name) || *line->at++ != '=')
            return line_wrong(line, arena_printf(line->diag->arena, "%s=", f->name));
        for (int i = 0; i < f->count; i++)
            if ((i && *line->at++ != ',') || !line_number(line, 0, INT64_MAX, &value[i]))
                return line_wrong(line, arena_printf(line->diag->arena, "%d numbers of %s", f->count, f->name));
    }
    return 0;
}
#define TAKE(line, fields, to) take_fields(line, fields, sizeof(fields) / sizeof *(fields), to)

static bool take_factors(Line *line, Factors *factors)
{
    static const char *const name[] = {
        [FACTORS_F32] = "factors=f32", [FACTORS_TF32] = "factors=tf32", [FACTORS_FP16] = "factors=fp16"};

    for (int i = 0; i <= FACTORS_FP16; i++)
        if (line_word(line, name[i])) {
            *factors = (Factors)i;
            return true;
        }
    return false;
}

/* "-", "own", or "add", "relu", "slope:S", the last two perhaps behind "add+". */
static bool take_epilogue(Line *line, Question *q)
{
    char *end;

    if (!line_word(line, "epilogue="))
        return false;
    if (line_word(line, "- "))
        return true;
    q->own = line_word(line, "own ");
    if (q->own)
        return true;
    q->conv.addend = line_word(line, "add");
    if (q->conv.addend && *line->at == ' ')
        return true;
    if (q->conv.addend && *line->at++ != '+')
        return false;
    q->conv.function = true;
    if (line_word(line, "relu "))
        return true;
    if (!line_word(line, "slope:"))
        return false;
    q->conv.slope = strtod(line->at, &end);
    line->at = end;
    return *end == ' ';
}

enum { MOST_AXES = 16 };

/* "name=1,2,3". *count: how many, or 0 where any number of them will do. */
static int take_list(Line *line, const char *name, int64_t least, int64_t *value, int *count)
{
    int found = 0;

    if (!line_word(line, name) || *line->at != '=')
        return line_wrong(line, arena_printf(line->diag->arena, "%s=", name));
    do {
        line->at++;
        if (found == MOST_AXES || !line_number(line, least, INT64_MAX, &value[found++]))
            return line_wrong(line, arena_printf(line->diag->arena, "numbers of %s", name));
    } while (*line->at == ',');
    if (*count && found != *count)
        return line_wrong(line, arena_printf(line->diag->arena, "%d numbers of %s", *count, name));
    *count = found;
    return 0;
}

static int take_stack(Line *line, ProductStack *stack, int64_t value[4][MOST_AXES])
{
    int one = 1;

    *stack = (ProductStack){.result = value[0], .a = value[1], .b = value[2], .y = value[3]};
    if (take_list(line, "result", 0, value[0], &stack->rank) < 0 ||
        take_list(line, "terms", 0, &stack->terms, &one) < 0 ||
        take_list(line, "a", INT64_MIN, value[1], &stack->rank) < 0 ||
        take_list(line, "b", INT64_MIN, value[2], &stack->rank) < 0 ||
        take_list(line, "y", INT64_MIN, value[3], &stack->rank) < 0)
        return -1;
    return stack->rank < 2 ? line_wrong(line, "two axes or more") : 0;
}

/* What stands behind the shape: factors, bias and epilogue. */
static int take_sums(Line *line, Question *q)
{
    if (!take_factors(line, &q->factors))
        return line_wrong(line, "factors=f32, tf32 or fp16");
    q->conv.tensor_cores = q->factors != FACTORS_F32; /* TF32 holds what half precision does */
    if (TAKE(line, bias, &q->conv) < 0)
        return -1;
    return take_epilogue(line, q) ? 0 : line_wrong(line, "an epilogue");
}

static int take_product(Line *line, Question *q)
{
    int64_t         value[4][MOST_AXES];
    ProductStack    stack;
    ProductEpilogue epilogue;

    if (take_stack(line, &stack, value) < 0 || take_sums(line, q) < 0)
        return -1;
    epilogue = (ProductEpilogue){q->conv.addend, q->conv.function, q->conv.slope};
    q->lacks = q->own ? "an expression of another form" : product_describe(&stack, &epilogue, &q->stack);
    return 0;
}

static int take_conv(Line *line, Question *q)
{
    const occ_cudnn_conv *c = &q->conv;
    ProductConv           conv;
    ProductEpilogue       epilogue;

    if (TAKE(line, shape, &q->conv) < 0 || take_sums(line, q) < 0)
        return -1;
    conv = (ProductConv){c->batch,  c->groups, c->inputs, c->outputs, c->in, c->out,
                         c->kernel, c->stride, c->pad,    c->x,       c->y};
    epilogue = (ProductEpilogue){c->addend, c->function, c->slope};
    q->lacks = q->own ? "an expression of another form" : product_describe_conv(&conv, &epilogue, &q->stack);
    return 0;
}

/* Fills a question from the text before the colon. */
static int take_question(Line *line, Question *q)
{
    q->product = line_word(line, "matmul_f32 ");
    if (q->product)
        return take_product(line, q);
    if (!line_word(line, "conv_krsc_f32 "))
        return line_wrong(line, "memory, conv_krsc_f32 or matmul_f32");
    return take_conv(line, q);
}

/* The question of this text, which may be asked already. */
static Question *find_question(Questions *questions, Diag *diag, const char *text)
{
    Question fresh = {.text = text};

    for (int i = 0; i < questions->nquestion; i++)
        if (!strcmp(questions->question[i].text, text))
            return &questions->question[i];
    ARENA_PUSH(diag->arena, questions->question, questions->nquestion, questions->cquestion, fresh);
    return &questions->question[questions->nquestion - 1];
}

/* The nanoseconds that the profile has for a key; 0: it has none. */
static double time_of(const Profile *times, const char *key)
{
    int step = profile_find(times, key);

    return step < 0 ? 0.0 : times->step[step].time;
}

static int read_line(Questions *questions, Line *line, const Profile *times)
{
    char     *colon = strstr(line->at, " : ");
    Use       of = {0};
    Question *q;

    if (line_word(line, "memory "))
        return TAKE(line, head, questions);
    if (!colon)
        return line_wrong(line, "a question, a colon and its step");
    q = find_question(questions, line->diag, arena_strndup(line->diag->arena, line->at, (size_t)(colon - line->at)));
    if (!q->nuse && take_question(line, q) < 0)
        return -1;
    line->at = colon + 3;
    if (TAKE(line, use, &of) < 0)
        return -1;
    if (line_word(line, "key="))
        of.own = time_of(times, line->at);
    ARENA_PUSH(line->diag->arena, q->use, q->nuse, q->cuse, of);
    return 0;
}

int questions_read(Questions *questions, char *text, const Profile *times, Diag *diag)
{
    Line line = {.diag = diag, .where = "", .blanks = " ", .rest = text};

    *questions = (Questions){0};
    while (line_next(&line))
        if (*line.at && *line.at != '#' && read_line(questions, &line, times) < 0)
            return -1;
    return 0;
}
