/* regex.c - from a machine of many states at once to a table of single ones: each state of the table is a set of the
 * machine's nodes (Rabin, Scott: Finite automata and their decision problems, 1959). What holds only at the start, at
 * the end or beside a word is decided when the next byte is known. */
#include "ops/text/regex.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_STATES = 2000 };

/* Nodes to go on from, before what they hold at is looked at. */
typedef struct TableState {
    uint64_t *set;   /* by node, a bit each */
    bool      begin; /* nothing was read */
    bool      word;  /* the last byte belongs to a word */
} TableState;

typedef struct TableBuilder {
    Arena       *arena;
    RegexMachine machine;
    int          words; /* of a set */
    TableState  *state;
    int          nstate, cstate;
    int         *stack; /* [2 * nodes] */
} TableBuilder;

static bool is_word(int byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || byte == '_' || (byte >= 'a' && byte <= 'z');
}

static bool has(const uint64_t *set, int node)
{
    return set[node / 64] >> (node % 64) & 1;
}

static bool holds(const TableState *from, RegexKind kind, bool end, bool next_word)
{
    switch (kind) {
    case REGEX_BEGIN:
        return from->begin;
    case REGEX_END:
        return end;
    case REGEX_WORD:
        return from->word != next_word;
    case REGEX_NO_WORD:
        return from->word == next_word;
    default:
        return kind == REGEX_SPLIT;
    }
}

/* Sets `out` to all nodes that can be reached from `from` without reading a character. */
static void close_set(TableBuilder *b, const TableState *from, bool end, bool next_word, uint64_t *out)
{
    int top = 0;

    memset(out, 0, sizeof *out * (size_t)b->words);
    for (int i = 0; i < b->machine.nnode; i++)
        if (has(from->set, i))
            b->stack[top++] = i;
    while (top > 0) {
        int              at = b->stack[--top];
        const RegexNode *node = &b->machine.node[at];

        if (has(out, at))
            continue;
        out[at / 64] |= (uint64_t)1 << (at % 64);
        if (!holds(from, node->kind, end, next_word))
            continue;
        b->stack[top++] = node->next;
        if (node->kind == REGEX_SPLIT)
            b->stack[top++] = node->other;
    }
}

static bool is_empty(const uint64_t *set, int words)
{
    for (int i = 0; i < words; i++)
        if (set[i])
            return false;
    return true;
}

/* The number of a state, perhaps a new one; -1: too many. */
static int find_state(TableBuilder *b, TableState wanted)
{
    size_t bytes = sizeof *wanted.set * (size_t)b->words;

    if (is_empty(wanted.set, b->words))
        return 0;
    for (int i = 1; i < b->nstate; i++)
        if (b->state[i].begin == wanted.begin && b->state[i].word == wanted.word &&
            !memcmp(b->state[i].set, wanted.set, bytes))
            return i;
    if (b->nstate == MOST_STATES)
        return -1;
    wanted.set = memcpy(arena_alloc(b->arena, bytes), wanted.set, bytes);
    ARENA_PUSH(b->arena, b->state, b->nstate, b->cstate, wanted);
    return b->nstate - 1;
}

/* The state that `byte` leads to from state `from`. `closed`, `moved`: room for a set each. */
static int step(TableBuilder *b, int from, int byte, uint64_t *closed, uint64_t *moved)
{
    close_set(b, &b->state[from], false, is_word(byte), closed);
    memset(moved, 0, sizeof *moved * (size_t)b->words);
    for (int i = 0; i < b->machine.nnode; i++) {
        const RegexNode *node = &b->machine.node[i];
        if (has(closed, i) && node->kind == REGEX_BYTES && byte >= node->lo && byte <= node->hi)
            moved[node->next / 64] |= (uint64_t)1 << (node->next % 64);
    }
    return find_state(b, (TableState){moved, false, is_word(byte)});
}

static bool accepts(TableBuilder *b, int state, uint64_t *closed)
{
    close_set(b, &b->state[state], true, false, closed);
    for (int i = 0; i < b->machine.nnode; i++)
        if (b->machine.node[i].kind == REGEX_MATCH && has(closed, i))
            return true;
    return false;
}

/* Bytes between which no node and no word's edge distinguishes get one class. Returns the first byte of each. */
static int classify(const TableBuilder *b, uint8_t *class_of, int *first)
{
    bool cut[257] = {false};
    int  count = 0;

    for (int i = 1; i < 256; i++)
        cut[i] = is_word(i) != is_word(i - 1);
    for (int i = 0; i < b->machine.nnode; i++)
        if (b->machine.node[i].kind == REGEX_BYTES) {
            cut[b->machine.node[i].lo] = true;
            cut[b->machine.node[i].hi + 1] = true;
        }
    for (int i = 0; i < 256; i++) {
        if (i == 0 || cut[i])
            first[count++] = i;
        class_of[i] = (uint8_t)(count - 1);
    }
    return count;
}

const char *regex_compile(Arena *arena, const char *pattern, RegexTable *out)
{
    TableBuilder b = {.arena = arena};
    const char  *error = regex_parse(arena, pattern, &b.machine);
    uint64_t    *closed, *moved;
    int          first[256], centry = 0, nentry = 0;

    if (error)
        return error;
    b.words = (b.machine.nnode + 63) / 64;
    b.stack = arena_array(arena, int, 4 * b.machine.nnode + 4);
    closed = arena_array(arena, uint64_t, b.words);
    moved = arena_array(arena, uint64_t, b.words);
    *out = (RegexTable){0};
    for (int i = 0; i < b.machine.nnode; i++)
        out->placed |= b.machine.node[i].kind >= REGEX_BEGIN && b.machine.node[i].kind <= REGEX_NO_WORD;
    out->classes = classify(&b, out->class_of, first);
    ARENA_PUSH(arena, b.state, b.nstate, b.cstate, ((TableState){moved, false, false})); /* number 0: the empty set */
    moved[b.machine.start / 64] = (uint64_t)1 << (b.machine.start % 64);
    find_state(&b, (TableState){moved, true, false});
    b.state[0].set = arena_array(arena, uint64_t, b.words);
    for (int state = 0; state < b.nstate; state++)
        for (int c = 0; c < (int)out->classes; c++) {
            int next = step(&b, state, first[c], closed, moved);
            if (next < 0)
                return "a pattern of too many states";
            ARENA_PUSH(arena, out->next, nentry, centry, (uint16_t)next);
        }
    out->states = b.nstate;
    out->accepts = arena_array(arena, uint8_t, b.nstate);
    for (int state = 1; state < b.nstate; state++)
        out->accepts[state] = accepts(&b, state, closed);
    return NULL;
}
