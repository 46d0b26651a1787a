/* occ_runs.h - how a run of columns is cut into tiles whose number is known only while running. The sizes of tiles are
 * literals, so each is code of its own. Knows nothing of what a tile computes. */
#ifndef OCC_RUNS_H
#define OCC_RUNS_H

#include "occ_conv.h"

/* The columns behind the full tiles of a run, and behind the tiles of each shorter width. */
#define OCC_CONV_SHORTER 5
typedef struct occ_conv_ends {
    int64_t full, shorter[OCC_CONV_SHORTER];
} occ_conv_ends;

/* How a run of columns is cut whose number is known only while running.
 *   OCC_CUT_EVEN    full tiles, and those of one and two pixels less. C compilers take a third longer for it, so short
 *                   vectors go without.
 *   OCC_CUT_EIGHTS  full tiles, which are large, and those of 8, 7, 6, 5 and 4 pixels
 *   OCC_CUT_HALVES  full tiles, then those of 16, 8, 4 and 2 pixels */
enum { OCC_CUT_EVEN, OCC_CUT_EIGHTS, OCC_CUT_HALVES };

OCC_HOT int occ_conv_cut_of(int full, int least)
{
    return OCC_W >= 8 && full <= least + 2 ? OCC_CUT_EVEN : least == 4 && full > 8 ? OCC_CUT_EIGHTS : OCC_CUT_HALVES;
}

/* The n-th width of shorter tiles, from wide to narrow, of at least `least` pixels; 0: none. */
OCC_HOT int occ_conv_shorter(int full, int least, int n)
{
    const int cut = occ_conv_cut_of(full, least);
    const int width = cut == OCC_CUT_EVEN ? full - 1 - n : cut == OCC_CUT_EIGHTS ? 8 - n : 16 >> n;
    return width < full && width >= least && width > 1 && !(cut == OCC_CUT_EVEN && n > 1) ? width : 0;
}

/* Columns c to end - 1 in as few tiles as hold them, of `full` pixels and of one or two less, but of `least` at least.
 * Up to least - 1 columns at the end are in no tile if no such tiles fit. Example: of tiles of at most 6 pixels, 49
 * columns make four of 6 and five of 5; 13 columns make 5, 4 and 4; 7 columns make one of 6. */
OCC_HOT occ_conv_ends occ_conv_even_ends(int64_t c, int64_t end, int full, int least)
{
    const int64_t count = end - c, tiles = occ_ceil_div(count, full), missing = tiles * full - count;
    occ_conv_ends e;
    e.full = e.shorter[0] = e.shorter[1] = end - count % full;
    if (missing <= (full - 2 >= least ? 2 * tiles : tiles)) {
        e.full = c + occ_max(tiles - missing, 0) * full;
        e.shorter[0] = e.full + (missing <= tiles ? missing : 2 * tiles - missing) * (full - 1);
        e.shorter[1] = end;
    }
    for (int n = 2; n < OCC_CONV_SHORTER; n++)
        e.shorter[n] = e.shorter[1];
    return e;
}

/* Columns c to end - 1 in full tiles, and others in even ones of 4 to 8 pixels: if they are 1 to 3, together with those
 * of a full tile. Without one, up to three columns are in no tile. Example: of tiles of at most 14 pixels, 54 columns
 * make three of 14 and two of 6; 16 make two of 8. */
OCC_HOT occ_conv_ends occ_conv_eight_ends(int64_t c, int64_t end, int full)
{
    const int64_t      count = end - c, over = count % full;
    const int64_t      rest = count > full && over > 0 && over < 4 ? full + over : over;
    const occ_conv_cut cut = occ_conv_cut_row(rest, 8);
    occ_conv_ends      e;
    e.full = end - rest;
    for (int n = 0; n < OCC_CONV_SHORTER; n++) {
        const int width = 8 - n;
        e.shorter[n] = e.full;
        if (rest >= 4 && width <= cut.size + 1)
            e.shorter[n] = width <= cut.size ? end : e.full + cut.larger * width;
    }
    return e;
}

OCC_HOT occ_conv_ends occ_conv_ends_of(int64_t c, int64_t end, int full, int least)
{
    const int     cut = occ_conv_cut_of(full, least);
    occ_conv_ends e;
    if (cut != OCC_CUT_HALVES)
        return cut == OCC_CUT_EVEN ? occ_conv_even_ends(c, end, full, least) : occ_conv_eight_ends(c, end, full);
    e.full = end - (end - c) % full;
    for (int n = 0; n < OCC_CONV_SHORTER; n++)
        e.shorter[n] = end - (end - c) % full % least;
    return e;
}

#endif
