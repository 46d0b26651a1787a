/* text.c - growing text and C spellings; see text.h. */
#include "support/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Text text_new(Arena *arena)
{
    return (Text){arena, NULL, 0, 0};
}

/* Room for `more` bytes and the NUL. */
static void reserve(Text *text, size_t more)
{
    size_t larger = text->capacity ? text->capacity * 2 : 256;
    char  *copy;

    if (text->data && text->capacity - text->size > more)
        return;
    if (larger < text->size + more + 1)
        larger = text->size + more + 1;
    copy = arena_alloc(text->arena, larger);
    if (text->size)
        memcpy(copy, text->data, text->size);
    text->data = copy;
    text->capacity = larger;
}

void text_write(Text *text, const char *bytes, size_t count)
{
    reserve(text, count);
    if (count)
        memcpy(text->data + text->size, bytes, count);
    text->size += count;
    text->data[text->size] = 0;
}

void text_append(Text *text, const Text *from)
{
    text_write(text, from->data, from->size);
}

void text_put(Text *text, const char *string)
{
    text_write(text, string, strlen(string));
}

void text_put_named(Text *text, const char *string, const char *name)
{
    for (; *string; string++)
        if (*string == '@')
            text_put(text, name);
        else
            text_write(text, string, 1);
}

void text_printf(Text *text, const char *format, ...)
{
    va_list arguments;
    int     length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    reserve(text, (size_t)length);
    va_start(arguments, format);
    vsnprintf(text->data + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool text_is_word(char c)
{
    return is_letter(c) || is_digit(c);
}

int text_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Words that C (to C23) or C++ (to C++20) keep for themselves, and macros that common headers define. */
static bool is_keyword(const char *name)
{
    static const char *const word[] = {"alignas",   "alignof",      "and",           "and_eq",       "asm",
                                       "auto",      "bitand",       "bitor",         "bool",         "break",
                                       "case",      "catch",        "char",          "char16_t",     "char32_t",
                                       "char8_t",   "class",        "co_await",      "co_return",    "co_yield",
                                       "compl",     "concept",      "const",         "const_cast",   "consteval",
                                       "constexpr", "constinit",    "continue",      "decltype",     "default",
                                       "delete",    "do",           "double",        "dynamic_cast", "else",
                                       "enum",      "errno",        "explicit",      "export",       "extern",
                                       "false",     "float",        "for",           "friend",       "goto",
                                       "if",        "inline",       "int",           "linux",        "long",
                                       "mutable",   "namespace",    "new",           "noexcept",     "not",
                                       "not_eq",    "nullptr",      "operator",      "or",           "or_eq",
                                       "private",   "protected",    "public",        "register",     "reinterpret_cast",
                                       "requires",  "restrict",     "return",        "short",        "signed",
                                       "sizeof",    "static",       "static_assert", "static_cast",  "stdin",
                                       "stdout",    "stderr",       "struct",        "switch",       "template",
                                       "this",      "thread_local", "throw",         "true",         "try",
                                       "typedef",   "typeid",       "typename",      "typeof",       "typeof_unqual",
                                       "union",     "unix",         "unsigned",      "using",        "virtual",
                                       "void",      "volatile",     "wchar_t",       "while",        "xor",
                                       "xor_eq"};

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (!strcmp(name, word[i]))
            return true;
    return false;
}

char *text_identifier(Arena *arena, const char *name)
{
    bool  prefix = !is_letter(name[0]) || is_keyword(name);
    char *out =
        arena_printf(arena, "%s%s", prefix && (!name[0] || is_digit(name[0]) || is_keyword(name)) ? "_" : "", name);

    for (char *c = out; *c; c++)
        if (!is_letter(*c) && !is_digit(*c))
            *c = '_';
    return out;
}

/* The macros of <math.h> are floats: `convert` makes them doubles, since clang warns of an implicit conversion. */
static bool put_special(Text *text, double value, const char *convert)
{
    if (!isnan(value) && !isinf(value))
        return false;
    text_printf(text, "%s%s%s", isinf(value) && value < 0 ? "-" : "", convert, isnan(value) ? "NAN" : "INFINITY");
    return true;
}

void text_float(Text *text, float value)
{
    if (!put_special(text, (double)value, ""))
        text_printf(text, "%af", (double)value);
}

void text_double(Text *text, double value)
{
    if (!put_special(text, value, "(double)"))
        text_printf(text, "%a", value);
}

void text_int64(Text *text, int64_t value)
{
    if (value == INT64_MIN)
        text_put(text, "(-9223372036854775807LL - 1)");
    else if (value > INT32_MAX || value < -INT32_MAX)
        text_printf(text, "%" PRId64 "LL", value);
    else
        text_printf(text, "%" PRId64, value);
}

void text_quoted(Text *text, const char *string, size_t bytes)
{
    text_put(text, "\"");
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)string[i];
        if (c == '"' || c == '\\' || c == '?') /* a question mark may start a trigraph */
            text_printf(text, "\\%c", c);
        else if (c >= 0x20 && c < 0x7f)
            text_write(text, string + i, 1);
        else
            text_printf(text, "\\%03o", (unsigned)c); /* three digits: the next character cannot join in */
    }
    text_put(text, "\"");
}

char *text_comment(Arena *arena, const char *name)
{
    char *out = arena_strdup(arena, name);

    for (char *c = out; *c; c++) {
        bool pair = (c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*') || (c[0] == '?' && c[1] == '?');
        if (pair || (unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f || *c == '\\')
            *c = '_';
    }
    return out;
}
