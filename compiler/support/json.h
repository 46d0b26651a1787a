/* json.h - writes JSON with the commas and line breaks in place. Knows nothing of what is written. */
#ifndef OCC_SUPPORT_JSON_H
#define OCC_SUPPORT_JSON_H

#include "support/text.h"

typedef struct Json {
    Text *text;
    int   depth;
    int   flat;  /* depth from which on all stays on one line; 0: nowhere */
    bool  first; /* nothing was written into the innermost object or list */
} Json;

Json json_new(Text *text);

/* `key` is NULL inside lists. Open objects and lists are closed in reverse order by json_close. */
void json_object(Json *json, const char *key);
void json_list(Json *json, const char *key);
void json_flat(Json *json); /* the innermost open object or list, with all inside, stays on one line */
void json_close(Json *json, char bracket);

void json_int(Json *json, const char *key, int64_t value);
void json_text(Json *json, const char *key, const char *value); /* bytes that are no UTF-8 become U+FFFD; NULL: null */

#endif
