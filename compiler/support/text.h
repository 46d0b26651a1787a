/* text.h - growing text for output files, and C spellings of names and numbers. Knows nothing of models. */
#ifndef OCC_SUPPORT_TEXT_H
#define OCC_SUPPORT_TEXT_H

#include "support/arena.h"
#include <stdbool.h>

typedef struct Text Text;
struct Text {
    Arena *arena;
    char  *data;           /* NUL-terminated once anything was written */
    size_t size, capacity; /* bytes, without the NUL */
};

Text text_new(Arena *arena);
void text_put(Text *text, const char *string);
void text_write(Text *text, const char *bytes, size_t count);
void text_append(Text *text, const Text *from);
void text_put_named(Text *text, const char *string, const char *name); /* each '@' becomes `name` */
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `name` as a C identifier: other characters become '_', a leading digit or a C or C++ keyword gets a '_' in front. */
char *text_identifier(Arena *arena, const char *name);

/* A C literal of just that type that reads back to the same bits: hex floats ("0x1.8p+1f"), "INFINITY",
 * "(double)NAN". */
void text_float(Text *text, float value);
void text_double(Text *text, double value);
void text_int64(Text *text, int64_t value);                     /* with the suffix it needs; INT64_MIN spelled safely */
void text_quoted(Text *text, const char *string, size_t bytes); /* as a C string literal, quotes included */

bool text_is_word(char c);                       /* a letter, a digit or an underscore */
int  text_compare(const void *a, const void *b); /* of two const char *, for qsort */

/* `name` fit for a C comment: no comment ends or line breaks inside. */
char *text_comment(Arena *arena, const char *name);

#endif
