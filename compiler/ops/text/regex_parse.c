/* regex_parse.c - the syntax of regular expressions, read into a tree and written out as a machine of bytes from its
 * end to its start (Thompson: Regular expression search algorithm, CACM 11(6), 1968). */
#include "ops/text/regex.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LAST = 0x10FFFF, MOST_TIMES = 1000, MOST_NODES = 8192, MOST_DEPTH = 100, MOST_RANGES = 256 };

typedef struct CharRange {
    int32_t lo, hi; /* characters, both ends included */
} CharRange;

typedef enum ItemKind { ITEM_EMPTY, ITEM_SET, ITEM_BOTH, ITEM_EITHER, ITEM_REPEAT, ITEM_HOLDS } ItemKind;

typedef struct Item Item;
struct Item {
    ItemKind   kind;
    RegexKind  holds; /* HOLDS */
    CharRange *range; /* SET */
    int        nrange;
    int        least, most; /* REPEAT; most -1: any number of times */
    Item      *a, *b;
};

typedef struct Parser {
    Arena        *arena;
    const char   *at, *error;
    int           depth;
    RegexMachine *machine;
} Parser;

/* ----------------------------------------------------------------------------------------------- sets of characters */

typedef struct Set {
    CharRange range[MOST_RANGES];
    int       count;
} Set;

static void add(Parser *p, Set *set, int32_t lo, int32_t hi)
{
    if (set->count == MOST_RANGES)
        p->error = "a class of too many ranges";
    else if (lo <= hi)
        set->range[set->count++] = (CharRange){lo, hi};
}

static int by_start(const void *a, const void *b)
{
    const CharRange *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Replaces the set by all characters that are not in it. */
static void negate(Parser *p, Set *set)
{
    Set     other = {.count = 0};
    int32_t next = 0;

    qsort(set->range, (size_t)set->count, sizeof *set->range, by_start);
    for (int i = 0; i < set->count; i++) {
        add(p, &other, next, set->range[i].lo - 1);
        next = set->range[i].hi >= next ? set->range[i].hi + 1 : next;
    }
    add(p, &other, next, LAST);
    *set = other;
}

static void add_all(Parser *p, Set *set, const Set *more)
{
    for (int i = 0; i < more->count; i++)
        add(p, set, more->range[i].lo, more->range[i].hi);
}

/* \d \s \w and their opposites; false: another letter. */
static bool add_shorthand(Parser *p, Set *set, char letter)
{
    static const struct {
        char      letter;
        int       count;
        CharRange range[4];
    } row[] = {{'d', 1, {{'0', '9'}}},
               {'s', 3, {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
               {'w', 4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}}};
    Set found = {.count = 0};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if ((letter | 32) != row[i].letter)
            continue;
        for (int k = 0; k < row[i].count; k++)
            add(p, &found, row[i].range[k].lo, row[i].range[k].hi);
        if (letter != row[i].letter)
            negate(p, &found);
        add_all(p, set, &found);
        return true;
    }
    return false;
}

static Item *item_new(Parser *p, ItemKind kind, Item *a, Item *b)
{
    Item *item = arena_one(p->arena, Item);

    item->kind = kind;
    item->a = a;
    item->b = b;
    return item;
}

static Item *item_set(Parser *p, const Set *set)
{
    Item *item = item_new(p, ITEM_SET, NULL, NULL);

    item->range = arena_array(p->arena, CharRange, set->count + 1);
    memcpy(item->range, set->range, sizeof *set->range * (size_t)set->count);
    item->nrange = set->count;
    return item;
}

/* ----------------------------------------------------------------------------------------------------------- syntax */

/* Reads one character of UTF-8. A byte that begins no character, 0x80 to 0xBF, is read as a character of that value. */
static int32_t read_character(Parser *p)
{
    const unsigned char *at = (const unsigned char *)p->at;
    int                  more = at[0] >= 0xF0 ? 3 : at[0] >= 0xE0 ? 2 : at[0] >= 0xC0 ? 1 : 0;
    int32_t              value = more ? at[0] & (0x3F >> more) : at[0];

    p->at++;
    for (int i = 1; i <= more; i++, p->at++) {
        if ((at[i] & 0xC0) != 0x80) {
            p->error = "a pattern that is not UTF-8";
            return 0;
        }
        value = value * 64 + (at[i] & 0x3F);
    }
    return value;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Reads the number behind "\x": at most two digits, or any number in braces. */
static int32_t read_hex(Parser *p)
{
    bool    braces = *p->at == '{';
    int32_t value = 0;
    int     digits = 0;

    p->at += braces;
    for (; hex_digit(*p->at) >= 0 && (braces || digits < 2) && value <= LAST; digits++)
        value = value * 16 + hex_digit(*p->at++);
    if (!digits || (braces && *p->at != '}') || value > LAST)
        p->error = "an escape that names no character";
    p->at += braces && *p->at == '}';
    return value;
}

/* Reads the character behind a backslash. */
static int32_t read_escaped(Parser *p)
{
    static const char letters[] = "tnrfva", values[] = "\t\n\r\f\v\a";
    const char       *found = *p->at ? strchr(letters, *p->at) : NULL;

    if (found) {
        p->at++;
        return values[found - letters];
    }
    if (*p->at == 'x') {
        p->at++;
        return read_hex(p);
    }
    if (!*p->at || hex_digit(*p->at) >= 0 || ((*p->at | 32) >= 'a' && (*p->at | 32) <= 'z'))
        p->error = "an escape that is not supported";
    return *p->at ? read_character(p) : 0;
}

/* [:name:] inside a class. */
static bool add_named(Parser *p, Set *set)
{
    static const struct {
        const char *name;
        const char *ends; /* pairs */
    } row[] = {{"alnum", "09AZaz"},   {"alpha", "AZaz"},    {"digit", "09"},     {"lower", "az"},
               {"upper", "AZ"},       {"word", "09AZ__az"}, {"space", "\t\r  "}, {"blank", "\t\t  "},
               {"punct", "!/:@[`{~"}, {"xdigit", "09AFaf"}, {"graph", "!~"},     {"print", " ~"}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        size_t length = strlen(row[i].name);

        if (strncmp(p->at, "[:", 2) || strncmp(p->at + 2, row[i].name, length) || strncmp(p->at + 2 + length, ":]", 2))
            continue;
        for (const char *end = row[i].ends; *end; end += 2)
            add(p, set, end[0], end[1]);
        p->at += length + 4;
        return true;
    }
    return false;
}

static Item *read_class(Parser *p)
{
    Set  set = {.count = 0};
    bool other = *p->at == '^', first = true;

    for (p->at += other; !p->error && *p->at && (first || *p->at != ']'); first = false) {
        int32_t lo, hi;

        if (add_named(p, &set))
            continue;
        if (*p->at == '\\' && p->at[1] && add_shorthand(p, &set, p->at[1])) {
            p->at += 2;
            continue;
        }
        lo = hi = *p->at == '\\' ? (p->at++, read_escaped(p)) : read_character(p);
        if (!p->error && *p->at == '-' && p->at[1] && p->at[1] != ']') {
            p->at++;
            hi = *p->at == '\\' ? (p->at++, read_escaped(p)) : read_character(p);
            if (hi < lo)
                p->error = "a range from a greater to a smaller character";
        }
        add(p, &set, lo, hi);
    }
    if (!p->error && *p->at != ']')
        p->error = "a class that does not end";
    p->at += *p->at == ']';
    if (other)
        negate(p, &set);
    return item_set(p, &set);
}

static Item *read_either(Parser *p);

/* Reads a group behind "(". All kinds of groups are the same here, since only whole matches count. */
static Item *read_group(Parser *p)
{
    Item *item;

    if (!strncmp(p->at, "?:", 2)) {
        p->at += 2;
    } else if (*p->at == '?') {
        p->at += !strncmp(p->at, "?P<", 3) ? 3 : !strncmp(p->at, "?<", 2) && p->at[2] != '=' && p->at[2] != '!' ? 2 : 0;
        while (p->at[-1] != '>' && p->at[-1] != '(' && *p->at)
            p->at++;
        if (p->at[-1] != '>')
            p->error = "flags or assertions in a group";
    }
    if (++p->depth > MOST_DEPTH)
        p->error = "groups that are nested too deep";
    item = p->error ? item_new(p, ITEM_EMPTY, NULL, NULL) : read_either(p);
    p->depth--;
    if (!p->error && *p->at != ')')
        p->error = "a group that does not end";
    p->at += *p->at == ')';
    return item;
}

static Item *item_holds(Parser *p, RegexKind kind)
{
    Item *item = item_new(p, ITEM_HOLDS, NULL, NULL);

    item->holds = kind;
    return item;
}

static Item *read_escape(Parser *p)
{
    static const char      letters[] = "AzbB";
    static const RegexKind kinds[] = {REGEX_BEGIN, REGEX_END, REGEX_WORD, REGEX_NO_WORD};
    const char            *found = *p->at ? strchr(letters, *p->at) : NULL;
    Set                    set = {.count = 0};
    int32_t                one;

    if (found) {
        p->at++;
        return item_holds(p, kinds[found - letters]);
    }
    if (*p->at && add_shorthand(p, &set, *p->at)) {
        p->at++;
        return item_set(p, &set);
    }
    one = read_escaped(p);
    add(p, &set, one, one);
    return item_set(p, &set);
}

static Item *read_atom(Parser *p)
{
    Set     set = {.count = 0};
    int32_t one;

    switch (*p->at) {
    case '(':
        p->at++;
        return read_group(p);
    case '[':
        p->at++;
        return read_class(p);
    case '\\':
        p->at++;
        return read_escape(p);
    case '^':
    case '$':
        return item_holds(p, *p->at++ == '^' ? REGEX_BEGIN : REGEX_END);
    case '.':
        p->at++;
        add(p, &set, 0, '\n' - 1);
        add(p, &set, '\n' + 1, LAST);
        return item_set(p, &set);
    case '*':
    case '+':
    case '?':
        p->error = "a repetition of nothing";
        return item_new(p, ITEM_EMPTY, NULL, NULL);
    default:
        one = read_character(p);
        add(p, &set, one, one);
        return item_set(p, &set);
    }
}

static const char *read_count(const char *at, int *out)
{
    *out = 0;
    if (*at < '0' || *at > '9')
        return NULL;
    for (; *at >= '0' && *at <= '9'; at++)
        *out = *out > MOST_TIMES ? *out : *out * 10 + (*at - '0');
    return at;
}

/* {n}, {n,} or {n,m}; NULL: the brace stands for itself. */
static const char *read_braces(const char *at, int *least, int *most)
{
    at = read_count(at + 1, least);
    *most = *least;
    if (at && *at == ',') {
        *most = -1;
        at++;
        if (*at != '}')
            at = read_count(at, most);
    }
    return at && *at == '}' ? at + 1 : NULL;
}

static Item *read_repeated(Parser *p)
{
    Item *item = read_atom(p);

    while (!p->error && *p->at && strchr("*+?{", *p->at)) {
        int         least = *p->at == '+', most = *p->at == '?' ? 1 : -1;
        const char *behind = p->at + 1;

        if (*p->at == '{')
            behind = read_braces(p->at, &least, &most);
        if (!behind)
            break;
        if (least > MOST_TIMES || most > MOST_TIMES || (most >= 0 && most < least))
            p->error = "a repetition of impossible or too many times";
        p->at = behind + (*behind == '?'); /* fewest first or most first: whole matches are the same */
        item = item_new(p, ITEM_REPEAT, item, NULL);
        item->least = least;
        item->most = most;
    }
    return item;
}

static Item *read_both(Parser *p)
{
    Item *item = item_new(p, ITEM_EMPTY, NULL, NULL);

    while (!p->error && *p->at && *p->at != '|' && *p->at != ')')
        item = item_new(p, ITEM_BOTH, item, read_repeated(p));
    return item;
}

static Item *read_either(Parser *p)
{
    Item *item = read_both(p);

    while (!p->error && *p->at == '|') {
        p->at++;
        item = item_new(p, ITEM_EITHER, item, read_both(p));
    }
    return item;
}

/* ---------------------------------------------------------------------------------------------------------- machine */

static int put(Parser *p, RegexNode node)
{
    if (p->machine->nnode >= MOST_NODES) {
        p->error = "a pattern that is too large";
        return 0;
    }
    ARENA_PUSH(p->arena, p->machine->node, p->machine->nnode, p->machine->cnode, node);
    return p->machine->nnode - 1;
}

static int split(Parser *p, int a, int b)
{
    return put(p, (RegexNode){.kind = REGEX_SPLIT, .next = a, .other = b});
}

static int encode(int32_t c, uint8_t *out)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

    for (int i = more; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(more ? (0xFF00 >> (more + 1) & 0xFF) | c : c);
    return more + 1;
}

/* Characters lo..hi, then `next`: cut until every byte of the encoding has a range of its own. `so_far`: alternatives,
 * or -1 */
static int put_range(Parser *p, int32_t lo, int32_t hi, int next, int so_far)
{
    static const int32_t lengths[] = {0x7F, 0x7FF, 0xFFFF};
    uint8_t              a[4], b[4];
    int                  count, start = next;

    for (int i = 0; i < 3; i++)
        if (lo <= lengths[i] && hi > lengths[i])
            return put_range(p, lengths[i] + 1, hi, next, put_range(p, lo, lengths[i], next, so_far));
    for (int i = 1; i < 4 && hi > 0x7F; i++) {
        int32_t mask = (1 << (6 * i)) - 1;

        if ((lo & ~mask) == (hi & ~mask))
            continue;
        if (lo & mask)
            return put_range(p, (lo | mask) + 1, hi, next, put_range(p, lo, lo | mask, next, so_far));
        if ((hi & mask) != mask)
            return put_range(p, hi & ~mask, hi, next, put_range(p, lo, (hi & ~mask) - 1, next, so_far));
    }
    count = encode(lo, a);
    encode(hi, b);
    for (int i = count; i-- > 0;)
        start = put(p, (RegexNode){.kind = REGEX_BYTES, .lo = a[i], .hi = b[i], .next = start});
    return so_far < 0 ? start : split(p, so_far, start);
}

static int emit(Parser *p, const Item *item, int next)
{
    int start = next;

    if (p->error)
        return 0;
    switch (item->kind) {
    case ITEM_EMPTY:
        return next;
    case ITEM_SET:
        start = -1;
        for (int i = 0; i < item->nrange; i++)
            start = put_range(p, item->range[i].lo, item->range[i].hi, next, start);
        return start < 0 ? put(p, (RegexNode){.kind = REGEX_BYTES, .lo = 1, .hi = 0, .next = next})
                         : start; /* nothing matches */
    case ITEM_BOTH:
        return emit(p, item->a, emit(p, item->b, next));
    case ITEM_EITHER:
        start = emit(p, item->a, next);
        return split(p, start, emit(p, item->b, next));
    case ITEM_HOLDS:
        return put(p, (RegexNode){.kind = item->holds, .next = next});
    case ITEM_REPEAT:
        break;
    }
    if (item->most < 0) {
        int body;

        start = split(p, 0, next);
        body = emit(p, item->a, start);
        p->machine->node[start].next = body;
    }
    for (int i = item->least; i < item->most && !p->error; i++)
        start = split(p, emit(p, item->a, start), next);
    for (int i = 0; i < item->least && !p->error; i++)
        start = emit(p, item->a, start);
    return start;
}

const char *regex_parse(Arena *arena, const char *pattern, RegexMachine *out)
{
    Parser p = {.arena = arena, .at = pattern, .machine = out};
    Item  *item = read_either(&p);

    if (!p.error && *p.at)
        p.error = "a bracket that nothing opened";
    if (!p.error)
        out->start = emit(&p, item, put(&p, (RegexNode){.kind = REGEX_MATCH}));
    return p.error;
}
