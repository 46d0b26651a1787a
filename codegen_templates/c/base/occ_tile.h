/* occ_tile.h - the register tile: a few pixels times a few vectors of channels, the innermost loop of every convolution
 * and matrix product. Weights come in panels of OCC_PANEL channels, [k][OCC_PANEL], whatever the vector width. Knows
 * nothing of windows or images. */
#ifndef OCC_TILE_H
#define OCC_TILE_H

#include "occ_expr.h"

/* Channels of a weight panel. The last panel of a group has only the remaining channels. */
#define OCC_PANEL 32

/* The size of a tile: vectors of channels across, and pixels down that the registers hold for 1, 2, 3 and 4 vectors. */
#if OCC_W == 16
#define OCC_TILE_VECTORS 2
#define OCC_TILE_ROWS(vectors) ((vectors) == 1 ? 24 : (vectors) == 2 ? 14 : (vectors) == 3 ? 9 : 7)
#elif OCC_W == 8
#define OCC_TILE_VECTORS 2
#define OCC_TILE_ROWS(vectors) ((vectors) == 1 ? 12 : (vectors) == 2 ? 6 : (vectors) == 3 ? 4 : 3)
#elif OCC_W == 4 && defined(__aarch64__)
#define OCC_TILE_VECTORS 2
#define OCC_TILE_ROWS(vectors) ((vectors) == 1 ? 16 : (vectors) == 2 ? 10 : (vectors) == 3 ? 7 : 5)
#else
#define OCC_TILE_VECTORS 2
#define OCC_TILE_ROWS(vectors) ((vectors) == 1 ? 8 : (vectors) == 2 ? 4 : (vectors) == 3 ? 3 : 2)
#endif
#define OCC_TILE_MAX 32 /* accumulators of the largest tile */

/* No vector stays in a register across this. It stands where a tile begins: else GCC keeps constants of other loops in
 * registers, which the sums of a full tile and the weights need. */
#if OCC_W == 8 && defined(__x86_64__)
#define OCC_FREE_VECTORS() \
    __asm__ volatile("" \
                     : \
                     : \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
#else
#define OCC_FREE_VECTORS() ((void)0)
#endif

/* The strides by which a tile reads its inputs x and weights w, and the shape of the tile.
 *   step           elements of x from one k to the next
 *   down, across   elements of x from one row of pixels to the next, and from one pixel of a row to the next
 *   pitch, panel   elements of w from one k to the next, and to the next panel, for tiles wider than a panel
 *   rows, columns  pixels; acc has `width` pixels a row
 *   vectors        across the channels; `lanes` of the last one exist
 * The shape is literals. */
typedef struct occ_tile {
    int64_t step, down, across, pitch, panel;
    int     rows, columns, width, vectors, lanes;
} occ_tile;

/* One step of k: acc[pixel][j] += x[pixel] * w[j]. x is the input of the tile's first pixel, w one row of the panel. */
OCC_HOT void occ_tile_step(const occ_tile *t, occ_vf *acc, const float *x, const float *w)
{
    occ_vf b[4];
    for (int j = 0; j < 4 && !OCC_KNOWN(t->vectors); j++)
        b[j] = occ_vset(0.0f); /* GCC does not see that every vector that is read was set */
    OCC_UNROLL(4)
    for (int j = 0; j < t->vectors; j++) {
        const float *p = w + j * OCC_W / OCC_PANEL * t->panel + j * OCC_W % OCC_PANEL;
        b[j] = occ_vload(p, j == t->vectors - 1 ? t->lanes : OCC_W);
        if ((OCC_W == 16 && t->vectors > 2) || (t->vectors > 1 && t->rows * t->columns < 6))
            OCC_HOLD(b[j]); /* in other tiles the registers are full */
    }
    OCC_UNROLL(32)
    for (int i = 0; i < t->rows; i++) {
        OCC_UNROLL(32)
        for (int c = 0; c < t->columns; c++) {
            const occ_vf a = occ_vset(x[i * t->down + c * t->across]);
            occ_vf      *sum = acc + (i * t->width + c) * t->vectors;
            OCC_UNROLL(4)
            for (int j = 0; j < t->vectors; j++)
                sum[j] = occ_vfma(a, b[j], sum[j]);
        }
    }
}

#if OCC_OPEN_EXTENTS
/* `depth` steps of k, at least one. The loop's step and end are copies that live as long as the loop (OCC_HIDE): else
 * GCC, short of registers, reads them from the stack in each round. */
OCC_HOT void occ_tile_loop(const occ_tile *t, occ_vf *acc, const float *x, const float *w, int64_t depth)
{
    const float *end = w + depth * t->pitch;
    int64_t      step = t->step;
    if (!OCC_KNOWN(step))
        OCC_HIDE(step);
    if (!OCC_KNOWN(depth) || depth > 2)
        OCC_HIDE(end);
    OCC_ROLL
    do {
        occ_tile_step(t, acc, x, w);
        x += step;
        w += t->pitch;
    } while (w != end);
}
#endif

/* `depth` steps of k. With a pace, every pace-th step prefetches one cache line of the next panel at `next`. */
OCC_HOT void occ_tile_run(const occ_tile *t, occ_vf *acc, const float *x, const float *w, int64_t depth,
                          const float **next, int64_t pace)
{
    int64_t k = 0;
    if (OCC_KNOWN(pace) && pace > 0) {
        OCC_ROLL
        for (; k + pace <= depth; k += pace) {
            OCC_PREFETCH(*next);
            *next += 16;
            OCC_ROLL
            for (int64_t s = 0; s < pace; s++, x += t->step, w += t->pitch)
                occ_tile_step(t, acc, x, w);
        }
    }
#if OCC_OPEN_EXTENTS && OCC_W >= 8 /* with short vectors it gains little, and C compilers take long for it */
    if (!OCC_KNOWN(pace) && pace > 0) {
        OCC_ROLL
        for (; k + pace <= depth; k += pace) {
            OCC_PREFETCH(*next);
            *next += 16;
            occ_tile_loop(t, acc, x, w, pace);
            x += pace * t->step;
            w += pace * t->pitch;
        }
    }
#endif
#if OCC_OPEN_EXTENTS
    if (k < depth)
        occ_tile_loop(t, acc, x, w, depth - k);
#else
    OCC_ROLL
    for (; k < depth; k++, x += t->step, w += t->pitch)
        occ_tile_step(t, acc, x, w);
#endif
}

#endif
