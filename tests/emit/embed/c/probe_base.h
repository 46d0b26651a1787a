/* probe_base.h - a template file for the test of embed: every form that a piece may have. */
#ifndef OCC_PROBE_BASE_H
#define OCC_PROBE_BASE_H

#include <stdint.h>
#include <string.h>

#define OCC_PROBE_LIMIT 3 /* a macro } with a brace in its comment */

enum { OCC_PROBE_OK = 0, OCC_PROBE_BAD = -4 };

typedef int64_t occ_extent;

/* Two fields. */
typedef struct occ_expr {
    const void *x[8];

    int64_t at[8];
} occ_expr;

#if OCC_PROBE_LIMIT > 2
typedef float occ_probe_wide;

#define OCC_PROBE_INLINE static inline
#else
typedef float occ_probe_wide[2];
#define OCC_PROBE_INLINE static
#endif

typedef float (*occ_fn_probe)(const occ_expr *e, float acc, int64_t c);

static const int occ_probe_table[3] = {1, 2, 3};

/* occ_probe_twice - a helper
 *
 * with a blank line in its comment, and "quotes". */
OCC_PROBE_INLINE int64_t occ_probe_twice(int64_t n)
{
    const char brace = '{';

    return n * 2 + 0 * brace;
}

#endif
