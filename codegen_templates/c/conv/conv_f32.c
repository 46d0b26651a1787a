/* conv_f32.c - convolution over one, two or three axes as an implicit matrix product: tiles of pixels times panels of
 * weights. Where channels and windows are literal, every tile is an instance of its own; else one full and one single
 * tile are shared. Widths that are known only at run time: conv_open_f32.c. Knows nothing of ONNX's padding modes. */
#include "occ_conv.h"
#include "occ_deep.h"
#include "occ_vmath.h"

/* Sizes of blocks. OCC_BLOCK: floats of input and results in a block of rows. Where a line of pixels has more inputs
 * than OCC_LINE_LEAST, tiles and steps of k are taken in blocks, too: a block of a panel of weights takes a third of
 * the nearest cache, or of the second one where a tile of wide vectors works longer on a row of the panel than that row
 * needs to arrive. */
#define OCC_BLOCK (32 * 1024)
#define OCC_LINE_TILES 24
#define OCC_LINE_LEAST 96
#define OCC_LINE_DEPTH (OCC_W == 16 ? 384 : 96)

/* ------------------------------------------------------------------------------------------------- literal geometry */

/* One row: a tile at either edge, where columns miss taps, and full tiles between them. */
OCC_HOT void occ_conv_row(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, occ_taps d,
                          occ_taps h)
{
    const occ_conv_cut cut = occ_conv_cut_row(g->out[2], OCC_TILE_ROWS(b->vectors));
    const occ_taps     inside = occ_conv_interior(g, 2), all = {0, g->kernel[2]};
    const int          left = inside.first > 0, right = inside.last < g->out[2];
    const int          first = (int)(cut.larger > 0 ? cut.size + 1 : cut.size), last = (int)cut.size;
    int64_t            c = 0, larger = cut.larger - (left && cut.larger > 0),
            others = cut.tiles - cut.larger - (left && !cut.larger) - right;
    if (cut.tiles == 1) {
        if (first > 0)
            occ_conv_tile(g, b, image, z, r, 0, d, h, all, left || right, 1, first);
        return;
    }
    if (left) {
        occ_conv_tile(g, b, image, z, r, 0, d, h, all, 1, 1, first);
        c = first;
    }
    for (; larger > 0; larger--, c += first)
        occ_conv_tile(g, b, image, z, r, c, d, h, all, 0, 1, first);
    for (; others > 0; others--, c += last)
        occ_conv_tile(g, b, image, z, r, c, d, h, all, 0, 1, last);
    if (right)
        occ_conv_tile(g, b, image, z, r, g->out[2] - last, d, h, all, 1, 1, last);
}

/* Rows r to end - 1, which all see the same taps. In narrow images a tile has several rows. */
OCC_HOT void occ_conv_band(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t end,
                           occ_taps d, occ_taps h)
{
    const occ_taps inside = occ_conv_interior(g, 2), all = {0, g->kernel[2]};
    const int      width = (int)g->out[2], edge = inside.first > 0 || inside.last < width;
    const int      rows = width > 0 ? OCC_TILE_ROWS(b->vectors) / width : 0;
    if (rows > 1)
        for (; r + rows <= end; r += rows)
            occ_conv_tile(g, b, image, z, r, 0, d, h, all, edge, rows, width);
    for (; r < end; r++)
        occ_conv_row(g, b, image, z, r, d, h);
}

/* The least number of pixels in a tile of one row, or of one column: enough independent sums to hide the latency of a
 * multiply-add. */
#define OCC_CONV_LEAST(vectors) (8 / (vectors))

/* Columns c to end - 1 of a row, all of which see the taps t across. Takes as many tiles of `columns` (literal) as fit.
 * Returns the column behind them. */
OCC_HOT int64_t occ_conv_tiles(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                               int64_t end, occ_taps d, occ_taps h, occ_taps t, int columns)
{
    OCC_ROLL
    for (; c + columns <= end; c += columns)
        occ_conv_tile(g, b, image, z, r, c, d, h, t, 0, 1, columns);
    return c;
}

/* Likewise by full tiles, then by tiles 16, 8, 4, 2 and 1 pixels wide where that is at least `least` (literal). */
OCC_HOT void occ_conv_run(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                          int64_t end, occ_taps d, occ_taps h, occ_taps t, int least)
{
    const int full = OCC_TILE_ROWS(b->vectors);
    c = occ_conv_tiles(g, b, image, z, r, c, end, d, h, t, full);
    OCC_UNROLL(5)
    for (int columns = 16; columns > 0; columns /= 2)
        if (columns < full && columns >= least)
            c = occ_conv_tiles(g, b, image, z, r, c, end, d, h, t, columns);
}

/* The first column behind one that sees the taps t which sees others. */
OCC_HOT int64_t occ_conv_run_end(const occ_conv *g, occ_taps t)
{
    const int64_t begin = g->pad[2] + g->dilation[2], end = begin + g->in[2]; /* of the image, as tap -1 would see it */
    const int64_t enters = occ_ceil_div(begin - t.first * g->dilation[2], g->stride[2]),
                  leaves = occ_ceil_div(end - t.last * g->dilation[2], g->stride[2]);
    return occ_min(occ_min(t.first > 0 ? enters : g->out[2], t.last > 0 ? leaves : g->out[2]), g->out[2]);
}

/* occ_conv_band where more columns miss taps than a tile has, as with wide dilations: neighbours that see the same taps
 * are a run with tiles of its own. */
OCC_HOT void occ_conv_band_runs(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t end,
                                occ_taps d, occ_taps h)
{
    OCC_ROLL
    for (int64_t k = r; k < end; k++) {
        OCC_ROLL
        for (int64_t c = 0, next; c < g->out[2]; c = next) {
            const occ_taps t = occ_conv_taps(g, 2, c);
            next = occ_conv_run_end(g, t);
            occ_conv_run(g, b, image, z, k, c, next, d, h, t, 1);
        }
    }
}

/* How rows are cut into tiles, a literal: what is known of g, where rows are computed, compilers learn late.
 *   OCC_CONV_EDGES  full tiles between two edge tiles that hold the columns that miss taps
 *   OCC_CONV_RUNS   by the taps that columns see, where edge tiles do not hold all that miss some */
enum { OCC_CONV_EDGES, OCC_CONV_RUNS };

/* One block of channels over rows begin to end - 1 of some images; consecutive rows that see all taps form a band. */
OCC_HOT void occ_conv_rows(occ_conv *g, const occ_conv_block *b, int64_t first, int64_t last, int64_t begin,
                           int64_t end, int form)
{
    const occ_taps inside = occ_conv_interior(g, 1);
    (void)form; /* where no step needs another form than OCC_CONV_EDGES */
    for (int64_t image = first; image < last; image++)
        for (int64_t z = 0; z < g->out[0]; z++)
            for (int64_t r = begin, next; r < end; r = next) {
                const occ_taps d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
                next = r < inside.first || r >= inside.last ? r + 1 : occ_min(inside.last, end);
#if OCC_WIDE_BORDERS
                if (form == OCC_CONV_RUNS) {
                    occ_conv_band_runs(g, b, image, z, r, next, d, h);
                    continue;
                }
#endif
                occ_conv_band(g, b, image, z, r, next, d, h);
            }
}

/* Steps `from` to end - 1 of k for one tile of pixels in a line. Between blocks of k, the tile's sums are in `kept`. */
OCC_HOT void occ_conv_part(occ_conv *g, const occ_conv_block *b, occ_vf *kept, int64_t c, int64_t from, int64_t end,
                           int columns)
{
    const occ_tile tile = {1, 0, g->xaxis[2], b->pitch, b->panel, 1, columns, columns, b->vectors, b->lanes};
    const int      sums = columns * b->vectors;
    const int64_t  pixel = occ_conv_pixel(g, 0, 0, 0, c);
    occ_vf         acc[OCC_TILE_MAX];
#if OCC_OPEN_EXTENTS
    OCC_FREE_VECTORS();
#endif
    if (end == g->inputs)
        occ_conv_fetch(g, b, pixel, 1, columns);
    if (from == 0)
        occ_conv_start(g, b, acc, columns);
    else
        OCC_UNROLL(32)
    for (int i = 0; i < sums; i++)
        acc[i] = kept[i];
    occ_tile_run(&tile, acc, g->x + c * g->xaxis[2] + from, b->w + from * b->pitch, end - from, &g->next, g->pace);
    occ_hide_literals(&g->e);
    if (end == g->inputs)
        occ_conv_store(g, b, acc, g->y + c * g->yaxis[2], pixel, 1, columns);
    else
        OCC_UNROLL(32)
    for (int i = 0; i < sums; i++)
        kept[i] = acc[i];
}

/* One tile of pixels and one block of k for channels `from` to last - 1 of a panel, `vectors` (literal) vectors at a
 * time. */
OCC_HOT void occ_conv_part_of_panel(occ_conv *g, int64_t group, int64_t from, int64_t last, int vectors, occ_vf *kept,
                                    int64_t c, int64_t begin, int64_t end, int columns)
{
    const int64_t wide = vectors * OCC_W;
    for (; from < last; from += wide, kept += columns * vectors) {
        const occ_conv_block b = occ_conv_block_of(g, group, from, wide);
        occ_conv_part(g, &b, kept, c, begin, end, columns);
    }
}

/* Channels `from` to last - 1 of a panel over pixels in a line, k in blocks: one block of the panel stays in the
 * nearest cache for several tiles, and the next one is prefetched meanwhile. */
OCC_HOT void occ_conv_line(occ_conv *g, int64_t group, int64_t from, int64_t last, int vectors)
{
    const occ_conv_cut   cut = occ_conv_cut_row(g->out[2], OCC_TILE_ROWS(vectors));
    const int            size = (int)cut.size, more = cut.larger > 0 ? size + 1 : size;
    const int64_t        together = occ_ceil_div(cut.tiles, occ_ceil_div(cut.tiles, OCC_LINE_TILES));
    const int64_t        depth = occ_ceil_div(g->inputs, occ_ceil_div(g->inputs, OCC_LINE_DEPTH));
    const int64_t        sums = OCC_TILE_ROWS(OCC_TILE_VECTORS) * (OCC_PANEL / OCC_W);
    const occ_conv_block panel = occ_conv_block_of(g, group, from, vectors * OCC_W);
    occ_vf               kept[OCC_LINE_TILES * OCC_TILE_ROWS(OCC_TILE_VECTORS) * (OCC_PANEL / OCC_W)];
    const float         *after = panel.w + g->inputs * panel.pitch + (last == g->outputs ? g->skip : 0);
    g->next = after;
    for (int64_t first = 0; first < cut.tiles; first += together) {
        const int64_t stop = occ_min(first + together, cut.tiles), middle = occ_min(occ_max(cut.larger, first), stop);
        for (int64_t begin = 0; begin < g->inputs; begin += depth) {
            const int64_t end = occ_min(begin + depth, g->inputs);
            if (together == cut.tiles) /* only the first group of tiles reads the panel from far away */
                g->next = end < g->inputs ? panel.w + end * panel.pitch : after;
            for (int64_t t = first; t < middle; t++)
                occ_conv_part_of_panel(g, group, from, last, vectors, kept + (t - first) * sums, t * more, begin, end,
                                       more);
            for (int64_t t = middle; t < stop; t++)
                occ_conv_part_of_panel(g, group, from, last, vectors, kept + (t - first) * sums, t * size + cut.larger,
                                       begin, end, size);
        }
    }
}

/* All channels of one group over a block of rows: `vectors` (literal) vectors at a time, then the remainder. */
OCC_HOT void occ_conv_channels(occ_conv *g, int64_t group, int vectors, int64_t first, int64_t last, int64_t begin,
                               int64_t end, int form)
{
    const int line = OCC_W > 1 && g->batch == 1 && g->out[0] == 1 && g->out[1] == 1 && g->xchannel == 1 &&
                     g->inputs > OCC_LINE_LEAST && g->kernel[0] * g->kernel[1] * g->kernel[2] == 1 && g->pad[2] == 0 &&
                     g->stride[2] == 1 && g->out[2] > 2 * OCC_TILE_ROWS(vectors) && vectors >= OCC_TILE_VECTORS;
    const int64_t wide = vectors * OCC_W, rest = occ_conv_rest(g->outputs, vectors), whole = g->outputs - rest;
    for (int64_t from = 0; line && from < whole; from += occ_max(OCC_PANEL, wide)) {
        const int64_t last = occ_min(from + occ_max(OCC_PANEL, wide), whole);
        occ_conv_line(g, group, from, last, vectors);
    }
    for (int64_t from = 0; !line && from < whole; from += wide) {
        const occ_conv_block b = occ_conv_block_of(g, group, from, wide);
        if (from % OCC_PANEL == 0)
            g->next = b.w + occ_max(b.panel, wide / OCC_PANEL * b.panel) +
                      (from + occ_max(wide, OCC_PANEL) < g->outputs ? 0 : g->skip);
        occ_conv_rows(g, &b, first, last, begin, end, form);
    }
    if (rest > 0) {
        const occ_conv_block b = occ_conv_block_of(g, group, whole, rest);
        occ_conv_rows(g, &b, first, last, begin, end, form);
    }
}

/* All groups, `images` images and `high` rows at a time. g is a copy: of one for all forms GCC would lose track in so
 * much code, know its literals only after all tiles of all forms are unrolled, and take up to ten times as long. */
OCC_HOT void occ_conv_groups(occ_conv g, int64_t groups, int vectors, int64_t images, int64_t high, int form)
{
    for (int64_t group = 0; group < groups; group++, g.x += g.inputs * g.xchannel)
        for (int64_t image = 0; image < g.batch; image += images)
            for (int64_t r = 0; r < g.out[1]; r += high)
                occ_conv_channels(&g, group, vectors, image, image + images, r, occ_min(r + high, g.out[1]), form);
}

/* ---------------------------------------------------------------------------------- channels known at run time only */

/* A full tile, all of whose taps are inside the image, and a full block of channels. */
OCC_STEP void occ_conv_tile_full(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                                 occ_taps d, occ_taps h, occ_taps t)
{
    occ_conv_block wide = *b;
    wide.vectors = OCC_TILE_VECTORS;
    wide.lanes = wide.stored = OCC_W;
    occ_conv_tile(g, &wide, image, z, r, c, d, h, t, 0, 1, OCC_TILE_ROWS(OCC_TILE_VECTORS));
}

/* One pixel and one block of channels, a vector at a time. */
OCC_STEP void occ_conv_tile_one(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                                occ_taps d, occ_taps h, occ_taps t)
{
    for (int j = 0; j < b->vectors; j++) {
        occ_conv_block slim = *b;
        slim.channel += j * OCC_W;
        slim.w += j * OCC_W;
        slim.vectors = 1;
        slim.lanes = j < b->vectors - 1 ? OCC_W : b->lanes;
        slim.stored = j < b->vectors - 1 ? OCC_W : b->stored;
        occ_conv_tile(g, &slim, image, z, r, c, d, h, t, 0, 1, 1);
    }
}

OCC_STEP void occ_conv_row_shared(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r)
{
    const occ_taps inside = occ_conv_interior(g, 2), d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int64_t  full = OCC_TILE_ROWS(OCC_TILE_VECTORS);
    const int      whole = b->vectors == OCC_TILE_VECTORS && b->stored == OCC_W;
    for (int64_t c = 0; c < g->out[2];) {
        if (whole && c >= inside.first && c + full <= inside.last) {
            occ_conv_tile_full(g, b, image, z, r, c, d, h, occ_conv_taps(g, 2, c));
            c += full;
        } else {
            occ_conv_tile_one(g, b, image, z, r, c, d, h, occ_conv_taps(g, 2, c));
            c++;
        }
    }
}

OCC_STEP void occ_conv_group_shared(occ_conv *g, int64_t group, int64_t begin, int64_t end)
{
    const int64_t wide = OCC_TILE_VECTORS * OCC_W;
    for (int64_t from = 0; from < g->outputs; from += wide) {
        const occ_conv_block b = occ_conv_block_of(g, group, from, occ_min(g->outputs - from, wide));
        for (int64_t image = 0; image < g->batch; image++)
            for (int64_t z = 0; z < g->out[0]; z++)
                for (int64_t r = begin; r < end; r++)
                    occ_conv_row_shared(g, &b, image, z, r);
    }
}

/* ------------------------------------------------------------------------------------------------------- the kernel */

/* conv_f32 for any geometry. One copy serves all calls. rows: of a block, as in tile[1]. */
OCC_STEP void occ_conv_shared(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                              const occ_image *y_at, const occ_window *window, int64_t groups, int64_t rows,
                              const occ_expr *e, const occ_fused *fused)
{
    const int64_t high = rows > 0 ? occ_min(rows, y_at->dim[3]) : y_at->dim[3];
    const int     flat = high == y_at->dim[3] && occ_conv_is_flat(x_at, y_at, window);
    occ_conv      g = occ_conv_make(x, x_at, w, bias, y, y_at, window, groups, fused, 0, flat);
    if (e)
        g.e = *e;
    for (int64_t group = 0; group < groups; group++, g.x += g.inputs * g.xchannel)
        for (int64_t r = 0; r < g.out[1]; r += flat ? 1 : high)
            occ_conv_group_shared(&g, group, r, flat ? 1 : occ_min(r + high, g.out[1]));
}

/* Rows of a block: all rows, unless the image is too large for the cache and the weights are not. Then as many rows as
 * fit. */
OCC_HOT int64_t occ_conv_rows_of(const occ_image *x_at, const occ_image *y_at, const occ_window *window, int64_t groups)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t weights = occ_window_size(window) * inputs * outputs;
    const int64_t results = outputs * y_at->dim[4], row = inputs * x_at->dim[4] * window->stride[1] + results;
    const int64_t image = inputs * x_at->dim[3] * x_at->dim[4] + results * y_at->dim[3];
    if (OCC_W == 1 || y_at->dim[2] > 1 || image < 80 * 1024 || weights > 160 * 1024 || row <= 0)
        return y_at->dim[3];
    return occ_max(OCC_BLOCK / row, 1);
}

/* Can rows of a literal geometry be cut into the tiles of its channels? */
OCC_HOT int occ_conv_fits(const occ_image *x_at, const occ_image *y_at, const occ_window *window, int64_t outputs,
                          int vectors)
{
    const int64_t rest = occ_conv_rest(outputs, vectors), last = (rest + OCC_W - 1) / OCC_W;
    const int whole = rest == outputs || occ_conv_edges_fit(y_at->dim[4], x_at->dim[4], window, OCC_TILE_ROWS(vectors));
    return whole && (rest == 0 || occ_conv_edges_fit(y_at->dim[4], x_at->dim[4], window, OCC_TILE_ROWS(last)));
}

/* Is each result made of the one pixel at its place? Such an image is flat, mostly. */
OCC_HOT int occ_conv_is_still(const occ_window *window)
{
    return occ_window_size(window) == 1 && window->stride[1] == 1 && window->stride[2] == 1;
}

/* Is a row so narrow that a tile of one vector takes it whole, and two vectors would have to cut it? Then the weights
 * are read once for a row. */
OCC_HOT int occ_conv_is_narrow(int64_t width)
{
    return OCC_W == 8 && width > OCC_TILE_ROWS(2) && width <= OCC_TILE_ROWS(1);
}

/* Do the pixels of a tile of two vectors map to one set of the nearest cache, and are they more than its ways? Then
 * each float reads its line of input anew. */
OCC_HOT int occ_conv_is_crowded(const occ_image *x_at, const occ_window *window)
{
    return OCC_W == 16 && OCC_KNOWN(x_at->stride[4]) && x_at->stride[4] * window->stride[2] % 1024 == 0;
}

/* conv - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x  [batch][groups * inputs][depth][height][width], any strides; images of fewer axes have leading axes of 1
 *   w  [group][block of 32 outputs][tap][input][32]; the last block of a group is as wide as its outputs;
 *      past the end are elements of any value, as many as round outputs up to a multiple of 4
 *   bias  [groups * outputs], or NULL
 *   y  [batch][groups * outputs][depth][height][width], any strides; fast where channels are neighbours
 *   x_at, y_at  extents and strides of x and y
 *   tile[0]  vectors across a tile: 1, 2 or 4; 0: chosen here
 *   tile[1]  rows of a block, all channels of which are computed before the next block; 0: chosen here
 *   tile[2]  steps of k for each prefetched cache line of weights; -1: none; 0: chosen here; -2: chosen here as if
 *            there were many weights */
OCC_INLINE void occ_conv_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                             const occ_image *y_at, const occ_window *window, int64_t groups, const occ_extent *tile,
                             const occ_expr *e, const occ_fused *fused)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t rows = occ_min(tile[1] ? tile[1] : occ_conv_rows_of(x_at, y_at, window, groups), y_at->dim[3]);
    const int     flat = rows == y_at->dim[3] && occ_conv_is_flat(x_at, y_at, window);
    const int64_t width = flat ? y_at->dim[2] * y_at->dim[3] * y_at->dim[4] : y_at->dim[4];
    const int     wide = tile[0] == 4 || (tile[0] == 0 && occ_conv_is_crowded(x_at, window));
    const int     vectors = tile[0] == 1 || (tile[0] == 0 && OCC_KNOWN(width) && occ_conv_is_narrow(width)) ? 1
                            : wide && OCC_W > 4 && outputs % (4 * OCC_W) == 0                               ? 4
                                                                              : OCC_TILE_VECTORS;
    const int     form = flat || occ_conv_fits(x_at, y_at, window, outputs, vectors) ? OCC_CONV_EDGES : OCC_CONV_RUNS;
    if (!OCC_KNOWN(outputs) || !OCC_KNOWN(window->kernel[2]) || (OCC_W == 1 && form != OCC_CONV_EDGES)) {
        occ_conv_shared(x, x_at, w, bias, y, y_at, window, groups, tile[1], e, fused);
        return;
    }
    const int64_t high = flat ? 1 : rows, images = rows == y_at->dim[3] ? x_at->dim[0] : 1;
    const int64_t tiles = high * occ_conv_cut_row(width, OCC_TILE_ROWS(vectors)).tiles;
    const int64_t weights = tile[2] == -2 ? INT64_MAX : occ_window_size(window) * inputs * outputs;
    const int64_t pace = tile[2] == 0 || tile[2] == -2 ? occ_conv_pace(weights, tiles, vectors) : tile[2];
    occ_conv      g = occ_conv_make(x, x_at, w, bias, y, y_at, window, groups, fused, pace, flat);
    if (e)
        g.e = *e;
    if (OCC_W == 8 && tile[0] == 0 && (tile[1] == 0 || tile[1] == y_at->dim[3]) && occ_conv_is_deep(&g)) {
        occ_deep_images(g, groups);
        return;
    }
#if OCC_WIDE_BORDERS
    if (form == OCC_CONV_RUNS) {
        occ_conv_groups(g, groups, vectors, images, high, OCC_CONV_RUNS);
        return;
    }
#endif
    occ_conv_groups(g, groups, vectors, images, high, OCC_CONV_EDGES);
}
