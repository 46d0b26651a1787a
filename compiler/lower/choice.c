/* choice.c - the list of choices: looking up, reading, writing. */
#include "lower/choice.h"

#include "support/line.h"

#include <inttypes.h>
#include <stddef.h>
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

static bool take_number(Line *line, int64_t *value)
{
    return line_number(line, -1, INT32_MAX, value);
}

static int take_shape(Line *line, ConvShape *shape)
{
    if (!line_word(line, "conv_f32 "))
        return line_wrong(line, "conv_f32 and its shape");
    for (int i = 0; i < FIELDS; i++) {
        int64_t *value = (int64_t *)((char *)shape + fields[i].at);

        if (!line_word(line, fields[i].name) || *line->at++ != '=')
            return line_wrong(line, arena_printf(line->diag->arena, "%s=", fields[i].name));
        for (int k = 0; k < fields[i].count; k++)
            if ((k && *line->at++ != ',') || !take_number(line, &value[k]))
                return line_wrong(
                    line, arena_printf(line->diag->arena, "%d numbers for %s", fields[i].count, fields[i].name));
    }
    return 0;
}

static bool take_algorithm(Line *line, Algorithm *algorithm)
{
    if (line_word(line, "winograd"))
        return take_number(line, &algorithm->m) && (algorithm->m == 2 || algorithm->m == 4);
    return line_word(line, "direct") && take_number(line, &algorithm->vectors) && take_number(line, &algorithm->pace) &&
           (algorithm->vectors == 0 || algorithm->vectors == 1 || algorithm->vectors == 2 || algorithm->vectors == 4) &&
           algorithm->pace <= 0;
}

static int read_line(Choices *choices, Line *line)
{
    Choice choice = {.algorithm = {0, 0, 0}};

    if (take_shape(line, &choice.shape) < 0)
        return -1;
    if (!line_word(line, ":"))
        return line_wrong(line, "a colon and the way");
    if (!take_algorithm(line, &choice.algorithm) || line->at[strspn(line->at, " \t\r")])
        return line_wrong(line, "winograd 2, winograd 4, or direct with 0, 1, 2 or 4 vectors and a pace of 0 or -1");
    if (choice_find(choices, &choice.shape))
        return line_message(line, "found this shape before, wanted one line for each");
    ARENA_PUSH(line->diag->arena, choices->choice, choices->count, choices->capacity, choice);
    return 0;
}

int choices_read(Choices *choices, const char *path, Diag *diag)
{
    Line line;

    *choices = (Choices){0};
    if (line_open(&line, "--tuned", path, " \t", diag) < 0)
        return -1;
    while (line_next_used(&line))
        if (read_line(choices, &line) < 0)
            return -1;
    return 0;
}
