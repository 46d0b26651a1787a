/* line.c - reading line by line (line.h). */
#include "support/line.h"

#include "support/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int line_open(Line *line, const char *option, const char *path, const char *blanks, Diag *diag)
{
    size_t bytes = 0;

    *line = (Line){.diag = diag, .blanks = blanks, .rest = file_read_whole(diag->arena, path, &bytes)};
    if (!line->rest)
        return diag_usage(diag, "%s: cannot read '%s': %s", option, path, strerror(errno));
    line->where = arena_printf(diag->arena, "%s: %s, ", option, path);
    return 0;
}

bool line_next(Line *line)
{
    line->at = line->rest;
    if (!line->at)
        return false;
    line->number++;
    line->rest = strchr(line->at, '\n');
    if (line->rest)
        *line->rest++ = 0;
    return true;
}

bool line_next_used(Line *line)
{
    while (line_next(line)) {
        line->at[strcspn(line->at, "#")] = 0;
        if (line->at[strspn(line->at, " \t\r")])
            return true;
    }
    return false;
}

int line_wrong(const Line *line, const char *wanted)
{
    return line_message(line, arena_printf(line->diag->arena, "found '%.40s', wanted %s", line->at, wanted));
}

int line_message(const Line *line, const char *message)
{
    return diag_error(line->diag, (Loc){0}, "%sline %d: %s", line->where, line->number, message);
}

bool line_word(Line *line, const char *word)
{
    size_t length = strlen(word);

    line->at += strspn(line->at, line->blanks);
    if (strncmp(line->at, word, length))
        return false;
    line->at += length;
    return true;
}

bool line_number(Line *line, int64_t least, int64_t most, int64_t *value)
{
    char *end;

    line->at += strspn(line->at, line->blanks);
    errno = 0;
    *value = strtoll(line->at, &end, 10);
    if (end == line->at || errno || *value < least || *value > most)
        return false;
    line->at = end;
    return true;
}
