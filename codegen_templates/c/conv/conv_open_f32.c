/* conv_open_f32.c - conv_f32 for literal channels and windows, and images whose width is known only at run time: a row
 * is cut into full tiles, shorter ones, and single columns. Steps call it by its own name: C compilers that have to
 * find out which form a call takes first make all of them. Knows nothing of ONNX's padding modes. */
#include "conv_f32.c"
#include "occ_runs.h"

/* The tiles of a row as `ends` has them. */
OCC_HOT void occ_conv_run_open(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                               occ_conv_ends ends, occ_taps d, occ_taps h, occ_taps t, int least)
{
    const int full = OCC_TILE_ROWS(b->vectors);
    c = occ_conv_tiles(g, b, image, z, r, c, ends.full, d, h, t, full);
    OCC_UNROLL(OCC_CONV_SHORTER)
    for (int n = 0; n < OCC_CONV_SHORTER; n++)
        if (occ_conv_shorter(full, least, n) > 0)
            c = occ_conv_tiles(g, b, image, z, r, c, ends.shorter[n], d, h, t, occ_conv_shorter(full, least, n));
}

/* occ_conv_band for a width that is known only at run time. The columns without a tile in their row, and those that
 * miss taps, are taken downwards. In images of one row (a literal), columns without a tile are first taken by four and
 * by two. */
OCC_HOT void occ_conv_band_open(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t end,
                                occ_taps d, occ_taps h)
{
    const occ_taps      inside = occ_conv_interior(g, 2), all = {0, g->kernel[2]};
    const int           full = OCC_TILE_ROWS(b->vectors), least = OCC_CONV_LEAST(b->vectors);
    const occ_conv_ends ends = occ_conv_ends_of(inside.first, inside.last, full, least);
    OCC_ROLL
    for (int64_t k = r; k < end; k++)
        occ_conv_run_open(g, b, image, z, k, inside.first, ends, d, h, all, least);
    int64_t left = ends.shorter[OCC_CONV_SHORTER - 1];
    OCC_UNROLL(2)
    for (int columns = 4; columns > 1; columns /= 2)
        if (OCC_KNOWN(g->out[1]) && g->out[1] == 1 && least > columns)
            left = occ_conv_tiles(g, b, image, z, r, left, inside.last, d, h, all, columns);
    OCC_ROLL
    for (int64_t c = inside.first > 0 ? 0 : left; c < g->out[2]; c = c + 1 == inside.first ? left : c + 1) {
        const occ_taps t = occ_conv_taps(g, 2, c);
        int64_t        k = r;
        OCC_ROLL
        for (; k + least <= end; k += least)
            occ_conv_tile(g, b, image, z, k, c, d, h, t, 0, least, 1);
        OCC_ROLL
        for (; k < end; k++)
            occ_conv_tile(g, b, image, z, k, c, d, h, t, 0, 1, 1);
    }
}

/* One block of channels over rows begin to end - 1 of some images, as occ_conv_rows takes them. */
OCC_HOT void occ_conv_rows_open(occ_conv *g, const occ_conv_block *b, int64_t first, int64_t last, int64_t begin,
                                int64_t end)
{
    const occ_taps inside = occ_conv_interior(g, 1);
    for (int64_t image = first; image < last; image++)
        for (int64_t z = 0; z < g->out[0]; z++)
            for (int64_t r = begin, next; r < end; r = next) {
                const occ_taps d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
                next = r < inside.first || r >= inside.last ? r + 1 : occ_min(inside.last, end);
                occ_conv_band_open(g, b, image, z, r, next, d, h);
            }
}

/* One block of k, begin to end - 1, for pixels c to stop - 1 of a line and channels `from` to last - 1: as many tiles
 * of `columns` (literal) as fit. Returns the pixel behind them. `kept` has the sums of pixel `first` on. */
OCC_HOT int64_t occ_conv_line_tiles(occ_conv *g, int64_t group, int64_t from, int64_t last, int vectors, occ_vf *kept,
                                    int64_t first, int64_t c, int64_t stop, int64_t begin, int64_t end, int columns)
{
    const int64_t sums = occ_max(vectors, OCC_PANEL / OCC_W);
    OCC_ROLL
    for (; c + columns <= stop; c += columns)
        occ_conv_part_of_panel(g, group, from, last, vectors, kept + (c - first) * sums, c, begin, end, columns);
    return c;
}

/* occ_conv_line for a line whose length is known only at run time. One or two tiles take all of k at once. */
OCC_HOT void occ_conv_line_open(occ_conv *g, int64_t group, int64_t from, int64_t last, int vectors)
{
    const int            full = OCC_TILE_ROWS(vectors), least = OCC_CONV_LEAST(vectors);
    const int64_t        part = occ_ceil_div(g->inputs, occ_ceil_div(g->inputs, OCC_LINE_DEPTH));
    const int64_t        depth = g->out[2] > 2 * full ? part : g->inputs;
    const occ_conv_block panel = occ_conv_block_of(g, group, from, vectors * OCC_W);
    occ_vf               kept[OCC_LINE_TILES * OCC_TILE_ROWS(OCC_TILE_VECTORS) * (OCC_PANEL / OCC_W)];
    const float         *after = panel.w + g->inputs * panel.pitch + (last == g->outputs ? g->skip : 0);
    g->next = after;
    OCC_ROLL
    for (int64_t first = 0; first < g->out[2]; first += OCC_LINE_TILES * full) {
        const int64_t       stop = occ_min(first + OCC_LINE_TILES * full, g->out[2]);
        const occ_conv_ends ends = occ_conv_ends_of(first, stop, full, least);
        OCC_ROLL
        for (int64_t begin = 0; begin < g->inputs; begin += depth) {
            const int64_t end = occ_min(begin + depth, g->inputs);
            int64_t       c = first;
            if (first == 0 && stop == g->out[2])
                g->next = end < g->inputs ? panel.w + end * panel.pitch : after;
            c = occ_conv_line_tiles(g, group, from, last, vectors, kept, first, c, ends.full, begin, end, full);
            OCC_UNROLL(OCC_CONV_SHORTER)
            for (int n = 0; n < OCC_CONV_SHORTER; n++)
                if (occ_conv_shorter(full, least, n) > 0)
                    c = occ_conv_line_tiles(g, group, from, last, vectors, kept, first, c, ends.shorter[n], begin, end,
                                            occ_conv_shorter(full, least, n));
            occ_conv_line_tiles(g, group, from, last, vectors, kept, first, c, stop, begin, end, 1);
        }
    }
}

/* All channels of one group over a block of rows, as occ_conv_channels takes them. */
OCC_HOT void occ_conv_channels_open(occ_conv *g, int64_t group, int vectors, int64_t first, int64_t last, int64_t begin,
                                    int64_t end)
{
    const int line = OCC_W > 1 && g->batch == 1 && g->out[0] == 1 && g->out[1] == 1 && g->xchannel == 1 &&
                     g->inputs > OCC_LINE_LEAST && g->kernel[0] * g->kernel[1] * g->kernel[2] == 1 && g->pad[2] == 0 &&
                     g->stride[2] == 1 && vectors >= OCC_TILE_VECTORS;
    const int64_t wide = vectors * OCC_W, rest = occ_conv_rest(g->outputs, vectors), whole = g->outputs - rest;
    for (int64_t from = 0; line && from < whole; from += occ_max(OCC_PANEL, wide))
        occ_conv_line_open(g, group, from, occ_min(from + occ_max(OCC_PANEL, wide), whole), vectors);
    for (int64_t from = 0; !line && from < whole; from += wide) {
        const occ_conv_block b = occ_conv_block_of(g, group, from, wide);
        if (from % OCC_PANEL == 0)
            g->next = b.w + occ_max(b.panel, wide / OCC_PANEL * b.panel) +
                      (from + occ_max(wide, OCC_PANEL) < g->outputs ? 0 : g->skip);
        occ_conv_rows_open(g, &b, first, last, begin, end);
    }
    if (rest > 0) {
        const occ_conv_block b = occ_conv_block_of(g, group, whole, rest);
        occ_conv_rows_open(g, &b, first, last, begin, end);
    }
}

/* All groups, `images` images and `high` rows at a time. g is a copy, as for occ_conv_groups. */
OCC_HOT void occ_conv_groups_open(occ_conv g, int64_t groups, int vectors, int64_t images, int64_t high)
{
    for (int64_t group = 0; group < groups; group++, g.x += g.inputs * g.xchannel)
        for (int64_t image = 0; image < g.batch; image += images)
            for (int64_t r = 0; r < g.out[1]; r += high)
                occ_conv_channels_open(&g, group, vectors, image, image + images, r, occ_min(r + high, g.out[1]));
}

/* A flat image, which is one line, `block` pixels at a time. */
OCC_HOT void occ_conv_line_blocks(const occ_conv *g, int64_t groups, int vectors, int64_t block)
{
    OCC_ROLL
    for (int64_t c = 0; c < g->out[2]; c += block) {
        occ_conv part = *g;
        part.x += c * g->xaxis[2];
        part.y += c * g->yaxis[2];
        part.pixel[0] += c * g->pixel[4];
        part.in[2] = part.out[2] = occ_min(block, g->out[2] - c);
        occ_conv_groups_open(part, groups, vectors, part.batch, 1);
    }
}

/* conv_open_f32 and conv_flat_f32. flat (a literal): the image is one line. */
OCC_HOT void occ_conv_any(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                          const occ_image *y_at, const occ_window *window, int64_t groups, const occ_extent *tile,
                          const occ_expr *e, const occ_fused *fused, int flat)
{
    const int64_t outputs = y_at->dim[1] / groups;
    const int64_t rows = occ_min(tile[1] ? tile[1] : occ_conv_rows_of(x_at, y_at, window, groups), y_at->dim[3]);
    const int     wide = tile[0] == 4 || (tile[0] == 0 && occ_conv_is_crowded(x_at, window));
    const int     vectors = tile[0] == 1 ? 1 : wide && OCC_W > 4 && outputs % (4 * OCC_W) == 0 ? 4 : OCC_TILE_VECTORS;
    const int64_t block = flat ? y_at->dim[2] * rows * y_at->dim[4] : y_at->dim[4], high = flat ? 1 : rows;
    const int64_t pace = occ_max(tile[2], 0);
    if (OCC_W == 1 || !OCC_KNOWN(outputs) || !OCC_KNOWN(window->kernel[2])) {
        occ_conv_shared(x, x_at, w, bias, y, y_at, window, groups, tile[1], e, fused);
        return;
    }
    occ_conv g = occ_conv_make(x, x_at, w, bias, y, y_at, window, groups, fused, pace, flat);
    if (e)
        g.e = *e;
    if (pace > 1) /* else it stays a literal */
        g.pace = occ_conv_pace_open(pace, high * occ_ceil_div(block, OCC_TILE_ROWS(vectors)), vectors);
    if (OCC_W >= 8 && tile[0] == 0 && (tile[1] == 0 || tile[1] >= y_at->dim[3]) &&
        (pace > 0 || (OCC_KNOWN(g.out[1]) && g.out[1] == 1 && g.out[2] <= OCC_DEEP_FEW)) &&
        !occ_conv_is_still(window) && occ_conv_is_deep_open(&g)) {
        g.pace = pace > 0 ? g.pace : g.inputs;
        occ_deep_images(g, groups);
        return;
    }
    if (x_at->dim[1] == 1) /* its stride says nothing, and taps that are neighbours are one sum */
        g.xchannel = 1;
    if (flat)
        occ_conv_line_blocks(&g, groups, vectors, block);
    else
        occ_conv_groups_open(g, groups, vectors, rows == y_at->dim[3] ? x_at->dim[0] : 1, high);
}

/* conv_f32, with its operands and arguments, for literal channels and window and any extents of images. tile[2]: no
 * prefetching where it is not positive. */
OCC_INLINE void occ_conv_open_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups,
                                  const occ_extent *tile, const occ_expr *e, const occ_fused *fused)
{
    occ_conv_any(x, x_at, w, bias, y, y_at, window, groups, tile, e, fused, 0);
}

/* conv_open_f32 of a convolution that occ_conv_is_flat for all extents. C compilers need not make code of edges. */
OCC_INLINE void occ_conv_flat_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups,
                                  const occ_extent *tile, const occ_expr *e, const occ_fused *fused)
{
    occ_conv_any(x, x_at, w, bias, y, y_at, window, groups, tile, e, fused, 1);
}
