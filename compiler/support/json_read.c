/* json_read.c - a small recursive reader of JSON (RFC 8259). */
#include "support/json_read.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct JsonCursor {
    Arena      *arena;
    const char *at, *end;
    int         depth;
} JsonCursor;

static void skip_blanks(JsonCursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool take(JsonCursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at >= c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(JsonCursor *c, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length))
        return false;
    c->at += length;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Four hex digits; surrogates are kept as they are, which names of tensors never need. */
static bool take_code(JsonCursor *c, char **out)
{
    unsigned code = 0;

    if (c->end - c->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*c->at++);

        if (digit < 0)
            return false;
        code = code * 16 + (unsigned)digit;
    }
    if (code < 0x80) {
        *(*out)++ = (char)code;
    } else if (code < 0x800) {
        *(*out)++ = (char)(0xc0 | code >> 6);
        *(*out)++ = (char)(0x80 | (code & 63));
    } else {
        *(*out)++ = (char)(0xe0 | code >> 12);
        *(*out)++ = (char)(0x80 | (code >> 6 & 63));
        *(*out)++ = (char)(0x80 | (code & 63));
    }
    return true;
}

static bool take_escape(JsonCursor *c, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char       *found;

    if (c->at >= c->end)
        return false;
    if (*c->at == 'u') {
        c->at++;
        return take_code(c, out);
    }
    found = strchr(from, *c->at);
    if (!found || !*found)
        return false;
    *(*out)++ = to[found - from];
    c->at++;
    return true;
}

/* After the opening quote. NULL: not closed. */
static const char *take_text(JsonCursor *c)
{
    const char *close = c->at;
    char       *text, *out;

    while (close < c->end && *close != '"')
        close += *close == '\\' && close + 1 < c->end ? 2 : 1;
    text = out = arena_alloc(c->arena, (size_t)(close - c->at) + 1); /* an escape is never shorter than what it means */
    while (c->at < c->end && *c->at != '"') {
        if (*c->at == '\\') {
            c->at++;
            if (!take_escape(c, &out))
                return NULL;
        } else {
            *out++ = *c->at++;
        }
    }
    return take(c, '"') ? text : NULL;
}

static bool take_value(JsonCursor *c, JsonNode *node);

/* Members or items up to the closing bracket. */
static bool take_children(JsonCursor *c, JsonNode *node, bool keyed, char close)
{
    JsonNode **last = &node->child;

    if (take(c, close))
        return true;
    do {
        JsonNode *child = arena_one(c->arena, JsonNode);

        if (keyed && (!take(c, '"') || !(child->key = take_text(c)) || !take(c, ':')))
            return false;
        if (!take_value(c, child))
            return false;
        *last = child;
        last = &child->next;
    } while (take(c, ','));
    return take(c, close);
}

static bool take_number(JsonCursor *c, JsonNode *node)
{
    size_t length = 0;
    char   digits[64];
    double value;
    char  *stop;

    while (c->at + length < c->end && length < sizeof digits - 1 && strchr("+-.eE0123456789", c->at[length]) &&
           c->at[length])
        length++;
    memcpy(digits, c->at, length);
    digits[length] = 0;
    value = strtod(digits, &stop);
    if (!length || *stop)
        return false;
    c->at += length;
    node->kind = JSON_NUMBER;
    if (!strpbrk(digits, ".eE"))
        node->number = strtoll(digits, NULL, 10);
    else if (value > -9e18 && value < 9e18)
        node->number = (int64_t)value;
    return true;
}

static bool take_value(JsonCursor *c, JsonNode *node)
{
    bool good;

    skip_blanks(c);
    if (c->at >= c->end || ++c->depth > DEEPEST)
        return false;
    if (take(c, '{')) {
        node->kind = JSON_OBJECT;
        good = take_children(c, node, true, '}');
    } else if (take(c, '[')) {
        node->kind = JSON_LIST;
        good = take_children(c, node, false, ']');
    } else if (take(c, '"')) {
        node->kind = JSON_TEXT;
        node->text = take_text(c);
        good = node->text != NULL;
    } else if (take_word(c, "true")) {
        node->kind = JSON_TRUE;
        good = true;
    } else if (take_word(c, "false")) {
        node->kind = JSON_FALSE;
        good = true;
    } else {
        good = take_word(c, "null") || take_number(c, node);
    }
    c->depth--;
    return good;
}

const JsonNode *json_read(Arena *arena, const char *text, size_t bytes)
{
    JsonCursor c = {.arena = arena, .at = text, .end = text + bytes};
    JsonNode  *root = arena_one(arena, JsonNode);

    if (!take_value(&c, root))
        return NULL;
    skip_blanks(&c);
    return c.at == c.end ? root : NULL;
}

const JsonNode *json_member(const JsonNode *object, const char *key)
{
    for (const JsonNode *n = object && object->kind == JSON_OBJECT ? object->child : NULL; n; n = n->next)
        if (!strcmp(n->key, key))
            return n;
    return NULL;
}

int64_t json_number(const JsonNode *object, const char *key, int64_t otherwise)
{
    const JsonNode *n = json_member(object, key);

    return n && n->kind == JSON_NUMBER ? n->number : otherwise;
}

const char *json_string(const JsonNode *object, const char *key)
{
    const JsonNode *n = json_member(object, key);

    return n && n->kind == JSON_TEXT ? n->text : NULL;
}
