/* regex.h - regular expressions as tables that say what comes after each byte. Knows nothing of graphs and programs. */
#ifndef OCC_OPS_TEXT_REGEX_H
#define OCC_OPS_TEXT_REGEX_H

#include "support/arena.h"
#include <stdbool.h>
#include <stdint.h>

/* States are numbered from 1, where every text starts; from state 0 no text matches any more. */
typedef struct RegexTable {
    int64_t   states, classes;
    uint8_t   class_of[256]; /* bytes of one class lead to the same states */
    uint16_t *next;          /* [states][classes] */
    uint8_t  *accepts;       /* [states]: whether a text that ends here matches */
    bool      placed; /* it says where in a text it holds (^, $, \\b): a part of a text cannot be matched alone */
} RegexTable;

/* Whole texts (UTF-8) that match `pattern`, in RE2's syntax without flags, Unicode categories and \C. NULL, or what is
 * wrong. */
const char *regex_compile(Arena *arena, const char *pattern, RegexTable *out);

/* The first half of it: a machine whose nodes read a byte range, split in two, or hold where the text says so
 * (regex_parse.c). */
typedef enum RegexKind {
    REGEX_BYTES,
    REGEX_SPLIT,
    REGEX_BEGIN,
    REGEX_END,
    REGEX_WORD,
    REGEX_NO_WORD,
    REGEX_MATCH
} RegexKind;

typedef struct RegexNode {
    RegexKind kind;
    uint8_t   lo, hi; /* BYTES */
    int       next, other;
} RegexNode;

typedef struct RegexMachine {
    RegexNode *node;
    int        nnode, cnode, start;
} RegexMachine;

const char *regex_parse(Arena *arena, const char *pattern, RegexMachine *out);

#endif
