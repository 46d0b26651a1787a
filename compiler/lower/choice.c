/* choice.c - the list of choices: looking up, reading, writing. */
#include "lower/choice.h"

#include "support/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a shape as a line names them, in order. */
static const struct Field {
    const char *name;
    int         count;
    size_t      at; /* in ConvShape, bytes */
} fields[] = {
    {"batch", 1, offsetof(ConvShape, batch)},
    {"groups", 1, offsetof(ConvShape, groups)},
    {"inputs", 1, offsetof(ConvShape, inputs)},
    {"outputs", 1, offsetof(ConvShape, outputs)},
    {"in", 3, offsetof(ConvShape, in)},
    {"out", 3, offsetof(ConvShape, out)},
    {"kernel", 3, offsetof(ConvShape, kernel)},
    {"stride", 3, offsetof(ConvShape, stride)},
    {"dilation", 3, offsetof(ConvShape, dilation)},
    {"pad", 3, offsetof(ConvShape, pad)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

bool choice_same_shape(const ConvShape *a, const ConvShape *b)
{
    return !memcmp(a, b, sizeof *a); /* int64_t only: no gaps */
}

const Algorithm *choice_find(const Choices *choices, const ConvShape *shape)
{
    if (!choices || choices->every)
        return choices ? choices->every : NULL;
    for (int i = 0; i < choices->count; i++)
        if (choice_same_shape(&choices->choice[i].shape, shape))
            return &choices->choice[i].algorithm;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

void choice_put_shape(Text *text, const ConvShape *shape)
{
    text_put(text, "conv_f32");
    for (int i = 0; i < FIELDS; i++) {
        const int64_t *value = (const int64_t *)((const char *)shape + fields[i].at);

        text_printf(text, " %s=", fields[i].name);
        for (int k = 0; k < fields[i].count; k++)
            text_printf(text, "%s%" PRId64, k ? "," : "", value[k]);
    }
}

void choice_put_algorithm(Text *text, const Algorithm *algorithm)
{
    if (algorithm->m)
        text_printf(text, "winograd %" PRId64, algorithm->m);
    else
        text_printf(text, "direct %" PRId64 " %" PRId64, algorithm->vectors, algorithm->pace);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct Line {
    Diag       *diag;
    const char *path;
    int         number; /* from 1 */
    char       *at;     /* the part of the line that is not read yet */
} Line;

static int wrong(const Line *line, const char *wanted)
{
    return diag_error(line->diag, (Loc){0}, "--tuned: %s, line %d: found '%.40s', wanted %s", line->path, line->number,
                      line->at, wanted);
}

static bool take_word(Line *line, const char *word)
{
    size_t length = strlen(word);

    line->at += strspn(line->at, " \t");
    if (strncmp(line->at, word, length))
        return false;
    line->at += length;
    return true;
}

static bool take_number(Line *line, int64_t *value)
{
    char *end;

    line->at += strspn(line->at, " \t");
    errno = 0;
    *value = strtoll(line->at, &end, 10);
    if (end == line->at || errno || *value < -1 || *value > INT32_MAX)
        return false;
    line->at = end;
    return true;
}

static int take_shape(Line *line, ConvShape *shape)
{
    if (!take_word(line, "conv_f32 "))
        return wrong(line, "conv_f32 and its shape");
    for (int i = 0; i < FIELDS; i++) {
        int64_t *value = (int64_t *)((char *)shape + fields[i].at);

        if (!take_word(line, fields[i].name) || *line->at++ != '=')
            return wrong(line, arena_printf(line->diag->arena, "%s=", fields[i].name));
        for (int k = 0; k < fields[i].count; k++)
            if ((k && *line->at++ != ',') || !take_number(line, &value[k]))
                return wrong(line,
                             arena_printf(line->diag->arena, "%d numbers for %s", fields[i].count, fields[i].name));
    }
    return 0;
}

static bool take_algorithm(Line *line, Algorithm *algorithm)
{
    if (take_word(line, "winograd"))
        return take_number(line, &algorithm->m) && (algorithm->m == 2 || algorithm->m == 4);
    return take_word(line, "direct") && take_number(line, &algorithm->vectors) && take_number(line, &algorithm->pace) &&
           (algorithm->vectors == 0 || algorithm->vectors == 1 || algorithm->vectors == 2 || algorithm->vectors == 4) &&
           algorithm->pace <= 0;
}

static int read_line(Choices *choices, Line *line)
{
    Choice choice = {.algorithm = {0, 0, 0}};

    if (take_shape(line, &choice.shape) < 0)
        return -1;
    if (!take_word(line, ":"))
        return wrong(line, "a colon and the way");
    if (!take_algorithm(line, &choice.algorithm) || line->at[strspn(line->at, " \t\r")])
        return wrong(line, "winograd 2, winograd 4, or direct with 0, 1, 2 or 4 vectors and a pace of 0 or -1");
    if (choice_find(choices, &choice.shape))
        return diag_error(line->diag, (Loc){0},
                          "--tuned: %s, line %d: found this shape before, wanted one line for each", line->path,
                          line->number);
    ARENA_PUSH(line->diag->arena, choices->choice, choices->count, choices->capacity, choice);
    return 0;
}

int choices_read(Choices *choices, const char *path, Diag *diag)
{
    size_t bytes = 0;
    char  *text = file_read_whole(diag->arena, path, &bytes);
    Line   line = {.diag = diag, .path = path};

    *choices = (Choices){0};
    if (!text)
        return diag_usage(diag, "--tuned: cannot read '%s': %s", path, strerror(errno));
    for (char *next = text; next;) {
        line.at = next;
        line.number++;
        next = strchr(next, '\n');
        if (next)
            *next++ = 0;
        line.at[strcspn(line.at, "#")] = 0;
        if (line.at[strspn(line.at, " \t\r")] && read_line(choices, &line) < 0)
            return -1;
    }
    return 0;
}
