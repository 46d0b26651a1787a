/* pool_planes_f32.c - maxima, means and p-norms over windows where the pixels of a row are neighbours: vectors of
 * pixels. Each window is reduced down its columns first, which reads every row in order, then across them. */
#include "pool_f32.c"

#define OCC_POOL_SPAN 256 /* the most pixels of the input that are reduced down before they are reduced across */
#define OCC_POOL_TILE 64  /* the most results of a row that are computed together */

/* The neutral element of the reduction. */
OCC_HOT occ_vf occ_pool_start(int64_t kind)
{
    const union {
        uint32_t bits;
        float    value;
    } lowest = {0xff800000u};

    return occ_vset(kind == OCC_POOL_MAX ? lowest.value : 0.0f);
}

/* The rows of x that are reduced down: the offset of the first tap in the first row, perhaps outside; their numbers,
 * and the elements between planes and between rows. */
typedef struct occ_pool_rows {
    const float *x;
    int64_t      first, planes, rows, plane, row;
} occ_pool_rows;

/* Reduces down n lanes of each of `vectors` neighbouring vectors of a line, from column j on. */
OCC_HOT void occ_pool_columns(float *line, const occ_pool_rows *r, int64_t j, int vectors, int n, int64_t kind, float p)
{
    occ_vf sum[4];

    OCC_UNROLL(4)
    for (int v = 0; v < vectors; v++)
        sum[v] = occ_pool_start(kind);
    for (int64_t d = 0; d < r->planes; d++)
        for (int64_t h = 0; h < r->rows; h++) {
            const float *row = r->x + (r->first + d * r->plane + h * r->row + j);

            OCC_UNROLL(4)
            for (int v = 0; v < vectors; v++)
                sum[v] = occ_pool_join(sum[v], occ_vload(row + v * OCC_W, n), kind, p);
        }
    OCC_UNROLL(4)
    for (int v = 0; v < vectors; v++)
        occ_vstore(line + j + v * OCC_W, sum[v], n);
}

/* line[j] = the reduction down column from + j, for `span` columns; taps outside the input are left out. */
OCC_HOT void occ_pool_down(float *line, int64_t from, int64_t span, const float *x, const occ_image *x_at,
                           const occ_window *window, const occ_pool_taps *t, int64_t kind, float p)
{
    const int64_t begin = occ_min(span, occ_max(0, -from)), end = occ_max(begin, occ_min(span, x_at->dim[4] - from));
    const int64_t top = (t->begin[0] + t->axis[0].first * window->dilation[0]) * x_at->stride[2] +
                        (t->begin[1] + t->axis[1].first * window->dilation[1]) * x_at->stride[3];
    const occ_pool_rows r = {x,
                             from + top,
                             t->axis[0].last - t->axis[0].first,
                             t->axis[1].last - t->axis[1].first,
                             window->dilation[0] * x_at->stride[2],
                             window->dilation[1] * x_at->stride[3]};
    int64_t             j = begin;

    for (int64_t i = 0; i < begin; i++)
        line[i] = occ_vlane(occ_pool_start(kind), 0);
    for (int64_t i = end; i < span; i++)
        line[i] = occ_vlane(occ_pool_start(kind), 0);
    for (; j + 4 * OCC_W <= end; j += 4 * OCC_W)
        occ_pool_columns(line, &r, j, 4, OCC_W, kind, p);
    for (; j < end; j += OCC_W)
        occ_pool_columns(line, &r, j, 1, (int)occ_min(OCC_W, end - j), kind, p);
}

/* Loads elements that are `stride` apart. It may read two whole vectors. */
OCC_HOT occ_vf occ_pool_tap(const float *line, int64_t stride)
{
    if (stride == 1)
        return occ_vload(line, OCC_W);
    if (stride == 2)
        return occ_veven(occ_vload(line, OCC_W), occ_vload(line + OCC_W, OCC_W));
    return occ_vloads(line, stride, OCC_W);
}

/* n results of a row from the reduced columns; a mean divides by rows * count[i]. */
OCC_HOT void occ_pool_across(float *y, const float *line, const float *count, float rows, int64_t n, int64_t kernel,
                             int64_t stride, int64_t dilation, int64_t kind, float p)
{
    for (int64_t w = 0; w < n; w += OCC_W) {
        occ_vf sum = occ_pool_tap(line + w * stride, stride);

        for (int64_t k = 1; k < kernel; k++) {
            const occ_vf tap = occ_pool_tap(line + w * stride + k * dilation, stride);

            sum = kind == OCC_POOL_MAX ? occ_vmax(sum, tap) : occ_vadd(sum, tap);
        }
        sum = occ_pool_end(sum, occ_vmul(occ_vset(rows), occ_vload(count + w, OCC_W)), kind, p);
        occ_vstore(y + w, sum, (int)occ_min(OCC_W, n - w));
    }
}

/* occ_pool_planes_f32 - occ_pool_f32 where the pixels of a row are neighbours in x and y, and 17 neighbouring windows
 * of a row do not span more than OCC_POOL_SPAN pixels. */
OCC_INLINE void occ_pool_planes_f32(const float *x, const occ_image *x_at, float *y, const occ_image *y_at,
                                    const occ_window *window, const occ_extent *pad_end, int64_t kind, float p)
{
    const int64_t reach = (window->kernel[2] - 1) * window->dilation[2] + 1;
    const int64_t tile = occ_min(OCC_POOL_TILE, (OCC_POOL_SPAN - reach) / window->stride[2] + 1);
    const int64_t rows = y_at->dim[2] * y_at->dim[3], all = y_at->dim[0] * y_at->dim[1] * rows;
    float         line[OCC_POOL_SPAN + 16 * OCC_W] = {0}, count[OCC_POOL_TILE + OCC_W] = {0};

    for (int64_t first = 0; first < y_at->dim[4]; first += tile) {
        const int64_t n = occ_min(tile, y_at->dim[4] - first), from = first * window->stride[2] - window->pad[2];

        for (int64_t i = 0; i < n; i++)
            count[i] = (float)occ_pool_count(from + i * window->stride[2], x_at->dim[4], window->kernel[2],
                                             window->dilation[2], pad_end[2], kind);
        for (int64_t i = 0; i < all; i++) {
            const int64_t d = i / y_at->dim[3] % y_at->dim[2], h = i % y_at->dim[3];
            const int64_t c = i / rows % y_at->dim[1], b = i / rows / y_at->dim[1];
            const int64_t begin[3] = {d * window->stride[0] - window->pad[0], h * window->stride[1] - window->pad[1],
                                      0};
            const int64_t one[3] = {window->kernel[0], window->kernel[1], 1};
            const occ_pool_taps t = occ_pool_taps_at(begin, x_at, one, window, pad_end, kind);

            occ_pool_down(line, from, (n - 1) * window->stride[2] + reach, x + occ_image_place(x_at, b, c, 0, 0, 0),
                          x_at, window, &t, kind, p);
            occ_pool_across(y + occ_image_place(y_at, b, c, d, h, first), line, count, (float)t.count, n,
                            window->kernel[2], window->stride[2], window->dilation[2], kind, p);
        }
    }
}
