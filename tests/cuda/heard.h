/* heard.h - what a generated program has said through the member `note` of its memory. */
#ifndef OCC_TESTS_CUDA_HEARD_H
#define OCC_TESTS_CUDA_HEARD_H

#include <string.h>

#include "expect.h"

typedef struct Heard {
    int         count, step; /* notes; the step of the last one */
    const char *text, *why;  /* the texts of the last one */
} Heard;

static void hear(void *context, int step, const char *text, const char *why)
{
    Heard *h = context;

    h->count++;
    h->step = step, h->text = text, h->why = why;
}

static Heard heard; /* by all memories of the test */

/* The notes since the last call are `count`, the last one of them `text`; "": any. */
static void expect_notes(const char *when, int count, const char *text)
{
    expect(when, heard.count, count);
    if (heard.count && *text && strcmp(heard.text, text)) {
        printf("%s: heard '%s', wanted '%s'\n", when, heard.text, text);
        wrong++;
    }
    memset(&heard, 0, sizeof heard);
}

#endif
