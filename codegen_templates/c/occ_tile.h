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

/* One step of k: acc[i][j] += x[i] * w[j].
 *   x      the input of the tile's first pixel; pixels are `across` elements apart in a row, rows `down` elements
 *   w      one row of the panel; vector j is at j * OCC_W; `lanes` of the last vector exist
 *   panel  elements to the next panel, for tiles wider than a panel
 *   rows, columns, vectors: literals; acc has `width` columns a row */
OCC_HOT void occ_tile_step(occ_vf *acc, const float *x, int64_t down, int64_t across, const float *w, int64_t panel,
                           int rows, int columns, int width, int vectors, int lanes)
{
    occ_vf b[4];
    for (int j = 0; j < 4 && !OCC_KNOWN(vectors); j++)
        b[j] = occ_vset(0.0f); /* GCC does not see that every vector that is read was set */
    OCC_UNROLL(4)
    for (int j = 0; j < vectors; j++) {
        const float *p = w + j * OCC_W / OCC_PANEL * panel + j * OCC_W % OCC_PANEL;
        b[j] = occ_vload(p, j == vectors - 1 ? lanes : OCC_W);
        if (vectors > 1 && rows * columns < 6) /* with six and more the registers are full */
            OCC_HOLD(b[j]);
    }
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++) {
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const occ_vf a = occ_vset(x[i * down + c * across]);
            OCC_UNROLL(4)
            for (int j = 0; j < vectors; j++)
                acc[(i * width + c) * vectors + j] = occ_vfma(a, b[j], acc[(i * width + c) * vectors + j]);
        }
    }
}

#if OCC_OPEN_EXTENTS
/* `depth` steps of k, at least one. The loop's step and end are copies that live as long as the loop (OCC_HIDE): else
 * GCC, short of registers, reads them from the stack in each round. */
OCC_HOT void occ_tile_loop(occ_vf *acc, const float *x, int64_t step, int64_t down, int64_t across, const float *w,
                           int64_t pitch, int64_t panel, int64_t depth, int rows, int columns, int width, int vectors,
                           int lanes)
{
    const float *end = w + depth * pitch;
    if (!OCC_KNOWN(step))
        OCC_HIDE(step);
    if (!OCC_KNOWN(depth) || depth > 2)
        OCC_HIDE(end);
    OCC_ROLL
    do {
        occ_tile_step(acc, x, down, across, w, panel, rows, columns, width, vectors, lanes);
        x += step;
        w += pitch;
    } while (w != end);
}
#endif

/* `depth` steps of k; x moves by `step` elements and w by `pitch`. With a pace, every pace-th step prefetches one cache
 * line of the next panel at `next`. */
OCC_HOT void occ_tile_run(occ_vf *acc, const float *x, int64_t step, int64_t down, int64_t across, const float *w,
                          int64_t pitch, int64_t panel, int64_t depth, int rows, int columns, int width, int vectors,
                          int lanes, const float **next, int64_t pace)
{
    int64_t k = 0;
    if (OCC_KNOWN(pace) && pace > 0) {
        OCC_ROLL
        for (; k + pace <= depth; k += pace) {
            OCC_PREFETCH(*next);
            *next += 16;
            OCC_ROLL
            for (int64_t s = 0; s < pace; s++, x += step, w += pitch)
                occ_tile_step(acc, x, down, across, w, panel, rows, columns, width, vectors, lanes);
        }
    }
#if OCC_OPEN_EXTENTS && OCC_W >= 8 /* with short vectors it gains little, and C compilers take long for it */
    if (!OCC_KNOWN(pace) && pace > 0) {
        OCC_ROLL
        for (; k + pace <= depth; k += pace) {
            OCC_PREFETCH(*next);
            *next += 16;
            occ_tile_loop(acc, x, step, down, across, w, pitch, panel, pace, rows, columns, width, vectors, lanes);
            x += pace * step;
            w += pace * pitch;
        }
    }
#endif
#if OCC_OPEN_EXTENTS
    if (k < depth)
        occ_tile_loop(acc, x, step, down, across, w, pitch, panel, depth - k, rows, columns, width, vectors, lanes);
#else
    OCC_ROLL
    for (; k < depth; k++, x += step, w += pitch)
        occ_tile_step(acc, x, down, across, w, panel, rows, columns, width, vectors, lanes);
#endif
}

#endif
