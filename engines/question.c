/* question.c - reads the lines of --dump=libraries. */
#include "question.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Fields of a line, in order, as numbers of a struct. */
typedef struct Field {
    const char *name;
    int         count;
    size_t      at; /* bytes */
} Field;

static const Field head[] = {{"peak", 1, offsetof(Questions, peak)}, {"constants", 1, offsetof(Questions, constants)}};
static const Field shape[] = {
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
static const Field bias[] = {{"bias", 1, offsetof(occ_cudnn_conv, bias)}};
static const Field use[] = {{"step", 1, offsetof(Use, step)},
                            {"live", 1, offsetof(Use, live)},
                            {"hole", 1, offsetof(Use, hole)},
                            {"shared", 1, offsetof(Use, shared)}};

typedef struct Reader {
    Diag *diag;
    int   number; /* of the line, from 1 */
    char *at;     /* what is not read yet */
} Reader;

static int wrong(const Reader *r, const char *wanted)
{
    return diag_error(r->diag, (Loc){0}, "line %d: found '%.40s', wanted %s", r->number, r->at, wanted);
}

static bool take_word(Reader *r, const char *word)
{
    size_t length = strlen(word);

    r->at += strspn(r->at, " ");
    if (strncmp(r->at, word, length))
        return false;
    r->at += length;
    return true;
}

static bool take_number(Reader *r, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoll(r->at, &end, 10);
    if (end == r->at || errno || *value < 0)
        return false;
    r->at = end;
    return true;
}

static int take_fields(Reader *r, const Field *field, size_t count, void *to)
{
    for (const Field *f = field; f < field + count; f++) {
        int64_t *value = (int64_t *)((char *)to + f->at);

        if (!take_word(r, f->name) || *r->at++ != '=')
            return wrong(r, arena_printf(r->diag->arena, "%s=", f->name));
        for (int i = 0; i < f->count; i++)
            if ((i && *r->at++ != ',') || !take_number(r, &value[i]))
                return wrong(r, arena_printf(r->diag->arena, "%d numbers of %s", f->count, f->name));
    }
    return 0;
}
#define TAKE(reader, fields, to) take_fields(reader, fields, sizeof(fields) / sizeof *(fields), to)

static bool take_factors(Reader *r, Factors *factors)
{
    static const char *const name[] = {
        [FACTORS_F32] = "factors=f32", [FACTORS_TF32] = "factors=tf32", [FACTORS_FP16] = "factors=fp16"};

    for (int i = 0; i <= FACTORS_FP16; i++)
        if (take_word(r, name[i])) {
            *factors = (Factors)i;
            return true;
        }
    return false;
}

/* "-", "own", or "add", "relu", "slope:S", the last two perhaps behind "add+". */
static bool take_epilogue(Reader *r, Question *q)
{
    char *end;

    if (!take_word(r, "epilogue="))
        return false;
    if (take_word(r, "- "))
        return true;
    q->own = take_word(r, "own ");
    if (q->own)
        return true;
    q->conv.addend = take_word(r, "add");
    if (q->conv.addend && *r->at == ' ')
        return true;
    if (q->conv.addend && *r->at++ != '+')
        return false;
    q->conv.function = true;
    if (take_word(r, "relu "))
        return true;
    if (!take_word(r, "slope:"))
        return false;
    q->conv.slope = strtod(r->at, &end);
    r->at = end;
    return *end == ' ';
}

/* Fills a question from the text before the colon. */
static int take_question(Reader *r, Question *q)
{
    q->product = take_word(r, "matmul_f32 ");
    if (q->product)
        return 0;
    if (!take_word(r, "conv_krsc_f32 "))
        return wrong(r, "memory, conv_krsc_f32 or matmul_f32");
    if (TAKE(r, shape, &q->conv) < 0)
        return -1;
    if (!take_factors(r, &q->factors))
        return wrong(r, "factors=f32, tf32 or fp16");
    q->conv.tensor_cores = q->factors == FACTORS_TF32;
    if (TAKE(r, bias, &q->conv) < 0)
        return -1;
    return take_epilogue(r, q) ? 0 : wrong(r, "an epilogue");
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

static int read_line(Questions *questions, Reader *r)
{
    char     *colon = strstr(r->at, " : ");
    Use       of = {0, 0, 0, 0};
    Question *q;

    if (take_word(r, "memory "))
        return TAKE(r, head, questions);
    if (!colon)
        return wrong(r, "a question, a colon and its step");
    q = find_question(questions, r->diag, arena_strndup(r->diag->arena, r->at, (size_t)(colon - r->at)));
    if (!q->nuse && take_question(r, q) < 0)
        return -1;
    r->at = colon + 3;
    if (TAKE(r, use, &of) < 0)
        return -1;
    ARENA_PUSH(r->diag->arena, q->use, q->nuse, q->cuse, of);
    return 0;
}

int questions_read(Questions *questions, char *text, Diag *diag)
{
    Reader r = {.diag = diag};

    *questions = (Questions){0};
    for (char *next = text; next;) {
        r.at = next;
        r.number++;
        next = strchr(next, '\n');
        if (next)
            *next++ = 0;
        if (*r.at && *r.at != '#' && read_line(questions, &r) < 0)
            return -1;
    }
    return 0;
}
