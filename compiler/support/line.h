/* line.h - a text that is read line by line, and the words and numbers of a line. Knows nothing of what lines mean. */
#ifndef OCC_SUPPORT_LINE_H
#define OCC_SUPPORT_LINE_H

#include "support/diag.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Line {
    Diag       *diag;
    const char *where;  /* text in front of "line 3: " in messages; "": none */
    const char *blanks; /* characters that may stand in front of a word */
    int         number; /* from 1; 0: no line is read yet */
    char       *at;     /* the part of the line that is not read yet */
    char       *rest;   /* the lines behind it; NULL: none */
} Line;

/* Begins the text of an option's file, in which a '#' starts a comment. Returns 0, or -1 with a message (status USAGE)
 * where the file cannot be read. */
int line_open(Line *line, const char *option, const char *path, const char *blanks, Diag *diag);

/* Goes on to the next line; false: there is none. The text is changed. */
bool line_next(Line *line);

/* The same, without comments, lines of nothing else left out. */
bool line_next_used(Line *line);

/* Record an error of the line (status INVALID) and return -1. */
int line_wrong(const Line *line, const char *wanted); /* "found '...', wanted ..." */
int line_message(const Line *line, const char *message);

/* Take the word, or a number from `least` to `most`, from the line; false: something else stands there. */
bool line_word(Line *line, const char *word);
bool line_number(Line *line, int64_t least, int64_t most, int64_t *value);

#endif
