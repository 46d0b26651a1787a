/* sequence.c - sequences and optionals, each in one block of memory: a count, the members' extents, and the members at
 * equal distances. Knows nothing of element types but their width.
 *
 *   int64_t count            members; of an optional: 1 if it has a value, else 0
 *   int64_t extent[capacity][rank]; for an unknown rank: [capacity][9], the rank in front of the extents
 *   member 0 at byte data, member 1 at byte data + distance, ...: dense, each with its own extents
 *
 * `from` and `to` are {capacity in members, data in bytes, distance in bytes, rank or -1}. `limit` [rank] has the
 * largest extents that a member of the result may have, in elements; for rank -1 it is [1], the most elements of a
 * member. `width` is the bytes of an element. */
#include "occ_base.h"

OCC_HOT int64_t occ_word(const uint8_t *x, int64_t i)
{
    int64_t word;
    memcpy(&word, x + 8 * i, 8);
    return word;
}

OCC_HOT void occ_word_set(uint8_t *y, int64_t i, int64_t word)
{
    memcpy(y + 8 * i, &word, 8);
}

/* Reads the extents of member i. Returns its rank. */
OCC_HOT int64_t occ_member_extents(const uint8_t *x, int64_t i, const occ_extent *from, int64_t *dim)
{
    const int64_t first = from[3] < 0 ? 2 + 9 * i : 1 + from[3] * i,
                  rank = from[3] < 0 ? occ_word(x, first - 1) : from[3];
    for (int64_t a = 0; a < rank; a++)
        dim[a] = occ_word(x, first + a);
    return rank;
}

OCC_HOT int64_t occ_elements(int64_t rank, const occ_extent *dim)
{
    int64_t n = 1;
    for (int64_t a = 0; a < rank; a++)
        n *= dim[a];
    return n;
}

/* Writes the extents of member k. Returns 0, or a code if they do not fit. */
OCC_HOT int occ_member_declare(uint8_t *y, int64_t k, const occ_extent *to, int64_t rank, const occ_extent *dim,
                               const occ_extent *limit)
{
    const int64_t first = to[3] < 0 ? 2 + 9 * k : 1 + to[3] * k;
    if (k >= to[0] || rank > 8)
        return OCC_ECAPACITY;
    if (to[3] >= 0 && rank != to[3])
        return OCC_ESHAPE;
    if (to[3] < 0 && occ_elements(rank, dim) > limit[0])
        return OCC_ECAPACITY;
    for (int64_t a = 0; a < rank; a++) {
        if (to[3] >= 0 && dim[a] > limit[a])
            return OCC_ECAPACITY;
        occ_word_set(y, first + a, dim[a]);
    }
    if (to[3] < 0)
        occ_word_set(y, first - 1, rank);
    return 0;
}

/* store_words - y[i] = word[i], n integers. */
OCC_INLINE void occ_store_words(int64_t *y, int64_t n, const occ_extent *word)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = word[i];
}

/* sequence_check - are count and extents of a caller's sequence within their bounds? Else OCC_EEXTENT.
 *   truth  not 0: an optional, whose count is 0 or 1 */
OCC_INLINE int occ_sequence_check(const uint8_t *x, const occ_extent *from, int64_t truth, const occ_extent *limit)
{
    const int64_t count = occ_word(x, 0);
    if (count < 0 || count > from[0] || (truth && count > 1))
        return OCC_EEXTENT;
    for (int64_t i = 0; i < count; i++) {
        const int64_t rank = from[3] < 0 ? occ_word(x, 1 + 9 * i) : from[3],
                      first = from[3] < 0 ? 2 + 9 * i : 1 + rank * i;
        int64_t elements = 1;
        if (rank < 0 || rank > 8)
            return OCC_EEXTENT;
        for (int64_t a = 0; a < rank; a++) {
            const int64_t extent = occ_word(x, first + a);
            if (extent < 0 || extent > limit[from[3] < 0 ? 0 : a])
                return OCC_EEXTENT;
            if (from[3] < 0 && extent > 0 && elements > limit[0] / extent)
                return OCC_EEXTENT;
            elements *= extent;
        }
    }
    return 0;
}

/* Copies member i of x to member k of y. */
OCC_HOT int occ_member_copy(const uint8_t *x, int64_t i, const occ_extent *from, uint8_t *y, int64_t k,
                            const occ_extent *to, int64_t width, const occ_extent *limit)
{
    int64_t       dim[8];
    const int64_t rank = occ_member_extents(x, i, from, dim);
    const int     status = occ_member_declare(y, k, to, rank, dim, limit);
    if (!status)
        memcpy(y + to[1] + k * to[2], x + from[1] + i * from[2], (size_t)(occ_elements(rank, dim) * width));
    return status;
}

/* sequence_copy - copies all members of x to y, which may have another capacity. */
OCC_INLINE int occ_sequence_copy(const uint8_t *x, uint8_t *y, int64_t width, const occ_extent *from,
                                 const occ_extent *to, const occ_extent *limit)
{
    const int64_t count = occ_word(x, 0);
    int           status = 0;
    for (int64_t i = 0; i < count && !status; i++)
        status = occ_member_copy(x, i, from, y, i, to, width, limit);
    occ_word_set(y, 0, count);
    return status;
}

/* sequence_insert - y is x with one more member before `position`; a negative position counts from the end.
 *   item    the new member, dense, extents dim [rank]
 *   append  not 0: the member goes behind the last one, whatever the position */
OCC_INLINE int occ_sequence_insert(const uint8_t *x, const uint8_t *item, uint8_t *y, int64_t position, int64_t append,
                                   int64_t rank, int64_t width, const occ_extent *dim, const occ_extent *from,
                                   const occ_extent *to, const occ_extent *limit)
{
    const int64_t count = occ_word(x, 0), at = append ? count : position < 0 ? position + count : position;
    int           status = 0;
    if (at < 0 || at > count)
        return OCC_EINDEX;
    for (int64_t i = 0; i < count && !status; i++)
        status = occ_member_copy(x, i, from, y, i + (i >= at), to, width, limit);
    if (!status)
        status = occ_member_declare(y, at, to, rank, dim, limit);
    if (!status)
        memcpy(y + to[1] + at * to[2], item, (size_t)(occ_elements(rank, dim) * width));
    occ_word_set(y, 0, count + 1);
    return status;
}

/* sequence_erase - y is x without the member at `position`; a negative position counts from the end.
 *   last  not 0: the last member goes, whatever the position */
OCC_INLINE int occ_sequence_erase(const uint8_t *x, uint8_t *y, int64_t position, int64_t last, int64_t width,
                                  const occ_extent *from, const occ_extent *to, const occ_extent *limit)
{
    const int64_t count = occ_word(x, 0), at = last ? count - 1 : position < 0 ? position + count : position;
    int           status = 0;
    if (at < 0 || at >= count)
        return OCC_EINDEX;
    for (int64_t i = 0; i < count && !status; i++)
        if (i != at)
            status = occ_member_copy(x, i, from, y, i - (i > at), to, width, limit);
    occ_word_set(y, 0, count - 1);
    return status;
}

/* The tensor as [outer][extent][inner], inner in bytes, and the cut of its middle axis. */
typedef struct occ_sequence_cut {
    int64_t outer, extent, inner, chunk, count;
} occ_sequence_cut;

/* sequence_split - cuts a tensor along one axis into the members of y.
 *   x      [outer][extent][inner bytes], dense
 *   chunk  > 0: the extent of each member, the last one perhaps smaller; 0: `count` extents are at `size`; their sum
 *          must be `extent`, else OCC_ESHAPE
 *   dim    [rank] extents of a member; the member's own extent replaces that of axis `axis` (< 0: no such axis) */
OCC_INLINE int occ_sequence_split(const uint8_t *x, uint8_t *y, const occ_sequence_cut *form, const occ_extent *size,
                                  int64_t rank, const occ_extent *dim, int64_t axis, const occ_extent *to,
                                  const occ_extent *limit)
{
    const int64_t outer = form->outer, extent = form->extent, inner = form->inner, chunk = form->chunk;
    const int64_t count = form->count;
    int64_t       at = 0, own[8], members = chunk > 0 ? occ_ceil_div(extent, chunk) : count;
    for (int64_t i = 0; i < members; i++) {
        const int64_t n = chunk > 0 ? occ_min(chunk, extent - at) : size[i];
        int           status;
        if (n < 0 || n > extent - at)
            return OCC_ESHAPE;
        for (int64_t a = 0; a < rank; a++)
            own[a] = a == axis ? n : dim[a];
        status = occ_member_declare(y, i, to, rank, own, limit);
        if (status)
            return status;
        for (int64_t o = 0; o < outer; o++)
            memcpy(y + to[1] + i * to[2] + o * n * inner, x + (o * extent + at) * inner, (size_t)(n * inner));
        at += n;
    }
    occ_word_set(y, 0, members);
    return at == extent ? 0 : OCC_ESHAPE;
}

/* sequence_joined - the extents of all members concatenated or stacked.
 *   dim      [rank] of the result; with `stacked` the members have one axis less, and `axis` is the new one
 *   members that do not fit together: OCC_ESHAPE */
OCC_INLINE int occ_sequence_joined(const uint8_t *x, int64_t *dim, int64_t rank, int64_t axis, int64_t stacked,
                                   const occ_extent *from)
{
    const int64_t count = occ_word(x, 0);
    int64_t       total = 0, own[8];
    for (int64_t a = 0; a < rank; a++)
        dim[a] = 0;
    for (int64_t i = 0; i < count; i++) {
        if (occ_member_extents(x, i, from, own) != rank - stacked)
            return OCC_ESHAPE;
        for (int64_t a = 0; a < rank; a++) {
            if (a == axis)
                continue;
            if (i > 0 && dim[a] != own[a - (stacked && a > axis)])
                return OCC_ESHAPE;
            dim[a] = own[a - (stacked && a > axis)];
        }
        total += stacked ? 1 : own[axis];
    }
    dim[axis] = total;
    return 0;
}

/* sequence_concat - concatenates or stacks the members of x, whose extents sequence_joined has checked. axis: of the
 * result y; for stacking it is the new axis, 0 <= axis <= rank of the members, else one of the members' axes. */
OCC_INLINE void occ_sequence_concat(const uint8_t *x, uint8_t *y, int64_t axis, int64_t width, const occ_extent *from)
{
    const int64_t count = occ_word(x, 0);
    int64_t       outer = 1, pitch = 0, at = 0, dim[8];
    for (int64_t i = 0; i < count; i++) {
        const int64_t rank = occ_member_extents(x, i, from, dim);
        outer = occ_elements(axis, dim);
        pitch += occ_elements(rank - axis, dim + axis) * width;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t rank = occ_member_extents(x, i, from, dim), run = occ_elements(rank - axis, dim + axis) * width;
        for (int64_t o = 0; o < outer; o++)
            memcpy(y + o * pitch + at, x + from[1] + i * from[2] + o * run, (size_t)run);
        at += run;
    }
}

/* optional_has - y = 1 if the optional x has a value, else 0. */
OCC_INLINE void occ_optional_has(const uint8_t *x, uint8_t *y)
{
    y[0] = occ_word(x, 0) != 0;
}
