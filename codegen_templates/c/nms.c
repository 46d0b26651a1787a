/* nms.c - non-maximum suppression: of boxes that overlap, only the one with the best score is kept. */
#include "occ_base.h"

/* One box as two opposite corners with x1 <= x2, y1 <= y2. */
typedef struct occ_box {
    float y1, x1, y2, x2;
} occ_box;

OCC_HOT occ_box occ_nms_box(const float *p, int64_t center)
{
    occ_box b = {p[0], p[1], p[2], p[3]};

    if (center) { /* x and y of the centre, width, height */
        const float x = p[0], y = p[1], w = p[2] / 2.0f, h = p[3] / 2.0f;

        b.y1 = y - h;
        b.x1 = x - w;
        b.y2 = y + h;
        b.x2 = x + w;
    }
    if (b.y1 > b.y2) {
        const float t = b.y1;

        b.y1 = b.y2;
        b.y2 = t;
    }
    if (b.x1 > b.x2) {
        const float t = b.x1;

        b.x1 = b.x2;
        b.x2 = t;
    }
    return b;
}

/* Is the intersection over union of two boxes above the limit? */
OCC_HOT int occ_nms_overlap(occ_box a, occ_box b, float limit)
{
    const float y1 = a.y1 > b.y1 ? a.y1 : b.y1, x1 = a.x1 > b.x1 ? a.x1 : b.x1;
    const float y2 = a.y2 < b.y2 ? a.y2 : b.y2, x2 = a.x2 < b.x2 ? a.x2 : b.x2;
    const float both = y2 > y1 && x2 > x1 ? (y2 - y1) * (x2 - x1) : 0.0f;
    const float area_a = (a.y2 - a.y1) * (a.x2 - a.x1), area_b = (b.y2 - b.y1) * (b.x2 - b.x1);

    return area_a > 0.0f && area_b > 0.0f && both > 0.0f && both / (area_a + area_b - both) > limit;
}

/* Does box i come after box k: by a lower score, or as the later of equals? */
OCC_HOT int occ_nms_after(const float *score, int64_t i, int64_t k)
{
    return score[i] < score[k] || (!(score[k] < score[i]) && i > k);
}

/* Restores a heap of n boxes, whose root is the last in order, after the box at `at` changed. */
OCC_HOT void occ_nms_sink(int64_t *order, const float *score, int64_t at, int64_t n)
{
    for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
        int64_t t;

        if (child + 1 < n && occ_nms_after(score, order[child + 1], order[child]))
            child++;
        if (!occ_nms_after(score, order[child], order[at]))
            return;
        t = order[at];
        order[at] = order[child];
        order[child] = t;
    }
}

/* The extents of boxes and scores. center: boxes are {x, y of the centre, width, height}. The result has at least
 * `fewest` rows, at most `room`. */
typedef struct occ_nms_sizes {
    int64_t batches, classes, n, center, fewest, room;
} occ_nms_sizes;

/* nms - rows {batch, class, box} of y, ordered by batch, class and falling score. count: how many rows.
 *   boxes [batches][n][4], score [batches][classes][n]; order [n]: scratch
 *   most: boxes kept of a class, NULL: 0; iou: limit of overlap, NULL: 0; least: scores are above it, NULL: no limit
 *   fewer rows than `fewest`: OCC_ESHAPE; more than `room`: OCC_ECAPACITY */
OCC_INLINE int occ_nms(int64_t *y, int64_t *count, int64_t *order, const float *boxes, const float *score,
                       const int64_t *most, const float *iou, const float *least, const occ_nms_sizes *form)
{
    const int64_t batches = form->batches, classes = form->classes, n = form->n, center = form->center;
    const int64_t fewest = form->fewest, room = form->room;
    const int64_t limit = most ? *most : 0;
    int64_t       found = 0;

    for (int64_t b = 0; b < batches; b++)
        for (int64_t c = 0; c < classes; c++) {
            const float  *s = score + (b * classes + c) * n;
            const int64_t first = found;
            int64_t       candidates = 0;

            for (int64_t i = 0; i < n; i++)
                if (!least || s[i] > *least)
                    order[candidates++] = i;
            for (int64_t i = candidates / 2; i-- > 0;)
                occ_nms_sink(order, s, i, candidates);
            for (int64_t i = candidates; i-- > 1;) {
                const int64_t t = order[0];

                order[0] = order[i];
                order[i] = t;
                occ_nms_sink(order, s, 0, i);
            }
            for (int64_t i = 0; i < candidates && found - first < limit; i++) {
                const occ_box box = occ_nms_box(boxes + (b * n + order[i]) * 4, center);
                int           stays = 1;

                for (int64_t k = first; k < found && stays; k++)
                    stays = !occ_nms_overlap(box, occ_nms_box(boxes + (b * n + y[k * 3 + 2]) * 4, center),
                                             iou ? *iou : 0.0f);
                if (!stays)
                    continue;
                if (found == room)
                    return OCC_ECAPACITY;
                y[found * 3] = b;
                y[found * 3 + 1] = c;
                y[found * 3 + 2] = order[i];
                found++;
            }
        }
    *count = found;
    return found < fewest ? OCC_ESHAPE : 0;
}
