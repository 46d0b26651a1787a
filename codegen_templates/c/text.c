/* text.c - kernels that make text. Elements are pointers to characters that end with a zero. New characters are written
 * to a pool of `capacity` bytes, which lives as long as any pointer into it; a full pool ends the run with
 * OCC_ECAPACITY. */
#include "occ_nest.h"
#include "occ_text.h"

/* text_concat - y[i] = a[i] followed by b[i], for every index i of `rank` axes.
 *   y  dense; a, b with strides astride, bstride in elements (0 repeats) */
OCC_INLINE int occ_text_concat(const occ_text *a, const occ_text *b, occ_text *y, char *pool, int64_t rank,
                               const occ_extent *dim, const occ_extent *astride, const occ_extent *bstride,
                               int64_t capacity)
{
    const int64_t n = occ_count(rank, dim);
    int64_t       index[8] = {0}, before[8], at = 0, ai = 0, bi = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = occ_text_bytes(a[ai]), second = occ_text_bytes(b[bi]);
        if (first + second + 1 > capacity - at)
            return OCC_ECAPACITY;
        y[i] = pool + at;
        memcpy(pool + at, a[ai], (size_t)first);
        memcpy(pool + at + first, b[bi], (size_t)second + 1);
        at += first + second + 1;
        memcpy(before, index, sizeof before);
        ai = occ_nest_step(rank, dim, index, ai, astride);
        bi = occ_nest_step(rank, dim, before, bi, bstride);
    }
    return 0;
}

OCC_HOT int occ_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* Returns the next piece of the text at *at, and its bytes in *size; NULL: there is none. *at moves behind the
 * delimiter, or becomes NULL.
 *   delimiter  the characters between two pieces; empty: any run of blanks, and blanks around the text are dropped
 *   last       not 0: the rest of the text is one piece */
OCC_HOT occ_text occ_text_piece(occ_text *at, occ_text delimiter, int last, int64_t *size)
{
    const int64_t width = occ_text_bytes(delimiter);
    occ_text      p = *at, begin;
    if (!p)
        return p;
    while (!width && occ_is_blank(*p))
        p++;
    begin = p;
    *at = 0;
    if (!width && !*p)
        return 0;
    for (; *p; p++) {
        int64_t k = 0;
        while (k < width && p[k] == delimiter[k])
            k++;
        if (!last && (width ? k == width : occ_is_blank(*p))) {
            *at = p + (width ? width : 1);
            break;
        }
    }
    *size = p - begin;
    return begin;
}

/* text_split_count - how many pieces each of n texts has, and the most that one of them has.
 *   delimiter  one text; limit: the most cuts of a text, < 0: no limit
 *   most above `capacity`: OCC_ECAPACITY */
OCC_INLINE int occ_text_split_count(const occ_text *x, const occ_text *delimiter, int64_t *pieces, int64_t *most,
                                    int64_t n, int64_t limit, int64_t capacity)
{
    *most = 0;
    for (int64_t i = 0; i < n; i++) {
        occ_text at = x[i];
        int64_t  count = 0, size;
        while (occ_text_piece(&at, delimiter[0], limit >= 0 && count >= limit, &size))
            count++;
        pieces[i] = count;
        *most = occ_max(*most, count);
    }
    return *most > capacity ? OCC_ECAPACITY : 0;
}

/* text_split - y [n][most]: the pieces of each text, followed by empty texts. */
OCC_INLINE int occ_text_split(const occ_text *x, const occ_text *delimiter, occ_text *y, char *pool, int64_t n,
                              int64_t most, int64_t limit, int64_t capacity)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        occ_text at = x[i], piece;
        int64_t  count = 0, size = 0;
        while ((piece = occ_text_piece(&at, delimiter[0], limit >= 0 && count >= limit, &size)) != 0 && count < most) {
            if (size + 1 > capacity - used)
                return OCC_ECAPACITY;
            memcpy(pool + used, piece, (size_t)size);
            pool[used + size] = 0;
            y[i * most + count++] = pool + used;
            used += size + 1;
        }
        for (; count < most; count++)
            y[i * most + count] = "";
    }
    return 0;
}

/* text_normalize - the texts of x that are not stop words, in one case; if none is left, one empty text.
 *   kept   texts in y, at least 1
 *   exact  0: stop words are found in any case
 *   change 0: pointers are copied and the pool is not used; 1: to lower case; 2: to upper case
 *   room   the most texts of y; capacity: bytes of the pool; more of either: OCC_ECAPACITY */
OCC_INLINE int occ_text_normalize(const occ_text *x, const occ_text *stop, occ_text *y, char *pool, int64_t *kept,
                                  int64_t n, int64_t nstop, int64_t exact, int64_t change, int64_t capacity,
                                  int64_t room)
{
    int64_t count = 0, used = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t bytes = occ_text_bytes(x[i]) + 1;
        int64_t       k = 0;
        while (k < nstop && !(exact ? occ_same_text(x[i], stop[k]) : occ_same_letters(x[i], stop[k])))
            k++;
        if (k < nstop)
            continue;
        if (count == room || (change && bytes > capacity - used))
            return OCC_ECAPACITY;
        if (change)
            occ_text_case(x[i], pool + used, change == 2);
        y[count++] = change ? pool + used : x[i];
        used += bytes;
    }
    if (!count && room > 0)
        y[count++] = "";
    *kept = count;
    return 0;
}

/* text_copy - y[i] = x[i], with the characters copied to the pool. */
OCC_INLINE int occ_text_copy(const occ_text *x, occ_text *y, char *pool, int64_t n, int64_t capacity)
{
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t bytes = occ_text_bytes(x[i]) + 1;
        if (bytes > capacity - used)
            return OCC_ECAPACITY;
        memcpy(pool + used, x[i], (size_t)bytes);
        y[i] = pool + used;
        used += bytes;
    }
    return 0;
}

/* text_equal - y[i] = 1 if a[i] and b[i] are the same text, else 0, for every index i of `rank` axes; y dense. */
OCC_INLINE void occ_text_equal(const occ_text *a, const occ_text *b, uint8_t *y, int64_t rank, const occ_extent *dim,
                               const occ_extent *astride, const occ_extent *bstride)
{
    const int64_t n = occ_count(rank, dim);
    int64_t       index[8] = {0}, before[8], ai = 0, bi = 0;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (uint8_t)occ_same_text(a[ai], b[bi]);
        memcpy(before, index, sizeof before);
        ai = occ_nest_step(rank, dim, index, ai, astride);
        bi = occ_nest_step(rank, dim, before, bi, bstride);
    }
}

/* text_where - y[i] = c[i] ? a[i] : b[i], for every index i of `rank` axes; y dense. */
OCC_INLINE void occ_text_where(const uint8_t *c, const occ_text *a, const occ_text *b, occ_text *y, int64_t rank,
                               const occ_extent *dim, const occ_extent *cstride, const occ_extent *astride,
                               const occ_extent *bstride)
{
    const int64_t n = occ_count(rank, dim);
    int64_t       index[8] = {0}, before[8], same[8], ci = 0, ai = 0, bi = 0;
    for (int64_t i = 0; i < n; i++) {
        y[i] = c[ci] ? a[ai] : b[bi];
        memcpy(before, index, sizeof before);
        memcpy(same, index, sizeof same);
        ci = occ_nest_step(rank, dim, index, ci, cstride);
        ai = occ_nest_step(rank, dim, before, ai, astride);
        bi = occ_nest_step(rank, dim, same, bi, bstride);
    }
}

/* text_match - y[i] = 1 if an automaton accepts the whole of x[i], else 0. x, y [n]
 *   class_of [256]: the class of each byte; next [states][classes]; accepts [states]
 *   It starts in state 1; state 0 rejects whatever follows. */
OCC_INLINE void occ_text_match(uint8_t *y, const occ_text *x, const uint8_t *class_of, const uint16_t *next,
                               const uint8_t *accepts, int64_t n, int64_t classes)
{
    for (int64_t i = 0; i < n; i++) {
        const char *at = x[i];
        int64_t     state = 1;

        for (; *at && state; at++)
            state = next[state * classes + class_of[(unsigned char)*at]];
        y[i] = accepts[state];
    }
}
