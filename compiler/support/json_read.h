/* json_read.h - JSON text as a tree. Knows nothing of what it means. */
#ifndef OCC_SUPPORT_JSON_READ_H
#define OCC_SUPPORT_JSON_READ_H

#include "support/arena.h"

#include <stdbool.h>

typedef enum JsonKind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct JsonNode JsonNode;
struct JsonNode {
    JsonKind    kind;
    const char *key;    /* in an object; NULL else */
    int64_t     number; /* towards zero; 0 when it does not fit */
    const char *text;   /* UTF-8 */
    JsonNode   *child;  /* first of a list or object */
    JsonNode   *next;   /* sibling */
};

/* NULL: not JSON, or nested deeper than 64. */
const JsonNode *json_read(Arena *arena, const char *text, size_t bytes);

/* A member of an object, or NULL; NULL in, NULL out. json_number: `otherwise` when it is absent or no number. */
const JsonNode *json_member(const JsonNode *object, const char *key);
int64_t         json_number(const JsonNode *object, const char *key, int64_t otherwise);
const char     *json_string(const JsonNode *object, const char *key); /* NULL: absent or no text */

#endif
