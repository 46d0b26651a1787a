/* token.c - kernels that cut text by a pattern. The pattern is the table of an automaton: every match starts in state
 * 1, and state 0 rejects whatever follows. class_of [256]: the class of each byte; next [states][classes]; accepts
 * [states]. */
#include "occ_text.h"

/* Bytes of the longest match that starts at `at`; 0: there is no match, or only an empty one. */
OCC_HOT int64_t occ_match_longest(occ_text at, const uint8_t *class_of, const uint16_t *next, const uint8_t *accepts,
                                  int64_t classes)
{
    int64_t state = 1, best = 0;
    for (int64_t i = 0; at[i] && state;) {
        state = next[state * classes + class_of[(unsigned char)at[i++]]];
        best = accepts[state] ? i : best;
    }
    return best;
}

/* The number of characters in `bytes` bytes of UTF-8. */
OCC_HOT int64_t occ_text_letters(occ_text x, int64_t bytes)
{
    int64_t count = 0;
    for (int64_t i = 0; i < bytes; i++)
        count += (x[i] & 0xc0) != 0x80;
    return count;
}

/* Returns the next piece of *at, and its bytes in *size; NULL: there is none. *at moves on, and becomes NULL behind the
 * last piece.
 *   between  0: pieces are the matches; 1: pieces are the text between matches */
OCC_HOT occ_text occ_text_token(occ_text *at, const uint8_t *class_of, const uint16_t *next, const uint8_t *accepts,
                                int64_t classes, int64_t between, int64_t *size)
{
    occ_text p = *at, begin = p;
    while (p && *p) {
        const int64_t length = occ_match_longest(p, class_of, next, accepts, classes);
        if (length) {
            *at = p + length;
            *size = between ? p - begin : length;
            return between ? begin : p;
        }
        do
            p++;
        while ((*p & 0xc0) == 0x80);
    }
    *at = 0;
    *size = p ? p - begin : 0;
    return between ? begin : 0;
}

/* text_token_count - the most tokens of at least `least` characters that one of n texts has. With `mark`, a number
 * above 0 grows by 2.
 *   more than `capacity`: OCC_ECAPACITY */
OCC_INLINE int occ_text_token_count(const occ_text *x, const uint8_t *class_of, const uint16_t *next,
                                    const uint8_t *accepts, int64_t *most, int64_t n, int64_t classes, int64_t least,
                                    int64_t between, int64_t mark, int64_t capacity)
{
    *most = 0;
    for (int64_t i = 0; i < n; i++) {
        occ_text at = x[i], token;
        int64_t  count = 0, size = 0;
        while ((token = occ_text_token(&at, class_of, next, accepts, classes, between, &size)) != 0)
            count += occ_text_letters(token, size) >= least;
        *most = occ_max(*most, count);
    }
    *most += *most && mark ? 2 : 0;
    return *most > capacity ? OCC_ECAPACITY : 0;
}

/* The sizes of a cut: n texts, at most `most` tokens each, `capacity` bytes for all of them; see text_tokens. */
typedef struct occ_tokens {
    int64_t n, most, classes, least, between, mark, capacity;
} occ_tokens;

/* text_tokens - y [n][most]: the tokens of each text, between two marks if `mark`, followed by the text `pad`. */
OCC_INLINE int occ_text_tokens(const occ_text *x, const uint8_t *class_of, const uint16_t *next, const uint8_t *accepts,
                               const occ_text *pad, occ_text *y, char *pool, const occ_tokens *form)
{
    const int64_t n = form->n, most = form->most, classes = form->classes, least = form->least;
    const int64_t between = form->between, mark = form->mark, capacity = form->capacity;
    int64_t       used = 0;
    for (int64_t i = 0; i < n && most; i++) {
        occ_text at = x[i], token;
        int64_t  count = 0, size = 0;
        if (mark)
            y[i * most + count++] = "\002";
        while ((token = occ_text_token(&at, class_of, next, accepts, classes, between, &size)) != 0) {
            if (occ_text_letters(token, size) < least)
                continue;
            if (size + 1 > capacity - used || count == most)
                return OCC_ECAPACITY;
            memcpy(pool + used, token, (size_t)size);
            pool[used + size] = 0;
            y[i * most + count++] = pool + used;
            used += size + 1;
        }
        if (mark && count < most)
            y[i * most + count++] = "\003";
        for (; count < most; count++)
            y[i * most + count] = pad[0];
    }
    return 0;
}
