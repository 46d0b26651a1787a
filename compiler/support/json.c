/* json.c - see json.h. */
#include "support/json.h"

#include <inttypes.h>

Json json_new(Text *text)
{
    return (Json){.text = text, .first = true};
}

static void new_line(Json *json)
{
    if (json->flat && json->depth >= json->flat) {
        text_put(json->text, json->first ? "" : " ");
        return;
    }
    text_put(json->text, "\n");
    for (int i = 0; i < json->depth; i++)
        text_put(json->text, "  ");
}

/* Bytes of the UTF-8 sequence at s; 0: it is none. */
static int sequence_length(const unsigned char *s)
{
    int n = s[0] < 0x80                   ? 1
            : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
            : (s[0] & 0xf0) == 0xe0       ? 3
            : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                          : 0;

    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0;
    return n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) ? 0 : n;
}

static void put_string(Text *text, const char *value)
{
    text_put(text, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        int n = sequence_length(s);
        if (!n)
            text_put(text, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            text_printf(text, "\\%c", *s);
        else if (*s < 0x20)
            text_printf(text, "\\u%04x", *s);
        else
            text_write(text, (const char *)s, (size_t)n);
        s += n ? n : 1;
    }
    text_put(text, "\"");
}

static void start(Json *json, const char *key)
{
    if (!json->first)
        text_put(json->text, ",");
    if (json->depth)
        new_line(json);
    json->first = false;
    if (!key)
        return;
    put_string(json->text, key);
    text_put(json->text, ": ");
}

void json_object(Json *json, const char *key)
{
    start(json, key);
    text_put(json->text, "{");
    json->depth++;
    json->first = true;
}

void json_list(Json *json, const char *key)
{
    start(json, key);
    text_put(json->text, "[");
    json->depth++;
    json->first = true;
}

void json_flat(Json *json)
{
    if (!json->flat)
        json->flat = json->depth;
}

void json_close(Json *json, char bracket)
{
    bool flat = json->flat && json->depth >= json->flat;

    if (json->flat == json->depth)
        json->flat = 0;
    json->depth--;
    if (!flat && !json->first)
        new_line(json);
    text_printf(json->text, json->depth ? "%c" : "%c\n", bracket);
    json->first = false;
}

void json_int(Json *json, const char *key, int64_t value)
{
    start(json, key);
    text_printf(json->text, "%" PRId64, value);
}

void json_text(Json *json, const char *key, const char *value)
{
    start(json, key);
    if (value)
        put_string(json->text, value);
    else
        text_put(json->text, "null");
}
