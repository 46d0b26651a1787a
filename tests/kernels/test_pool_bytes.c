/* test_pool_bytes.c - maxima of bytes over windows, channels being neighbours, against plain loops. */
#include "image.h"
#include "kernel_test.h"

#include "maxpool_bytes_i8.h"
#include "maxpool_bytes_u8.h"

enum { AXES = 5 };

typedef struct Case {
    occ_extent xdim[AXES], xstride[AXES], ydim[AXES], ystride[AXES], kernel[3], stride[3], dilation[3], pad[3];
} Case;

/* Strides of an image whose pixels are `gap` bytes longer than their channels. */
static void lay_out(occ_extent *stride, const occ_extent *dim, int64_t gap)
{
    int64_t next = dim[1] + gap;

    stride[1] = 1;
    for (int i = 4; i > 1; next *= dim[i--])
        stride[i] = next;
    stride[0] = next;
}

static Case draw(uint64_t *seed, int64_t channels)
{
    Case c = {.xdim = {test_pick(seed, 1, 2), channels}};

    for (int k = 0; k < 3; k++) {
        const int64_t most = k == 0 ? 2 : 4;
        int64_t       reach;

        c.kernel[k] = test_pick(seed, 1, most);
        c.stride[k] = test_pick(seed, 1, 2);
        c.dilation[k] = test_pick(seed, 1, 2);
        reach = (c.kernel[k] - 1) * c.dilation[k] + 1;
        c.pad[k] = test_pick(seed, 0, c.kernel[k] - 1);
        c.xdim[2 + k] = reach + test_pick(seed, 0, 6);
        c.ydim[2 + k] = (c.xdim[2 + k] + 2 * c.pad[k] - reach) / c.stride[k] + 1;
    }
    c.ydim[0] = c.xdim[0];
    c.ydim[1] = channels;
    lay_out(c.xstride, c.xdim, test_pick(seed, 0, 2));
    lay_out(c.ystride, c.ydim, test_pick(seed, 0, 2));
    return c;
}

/* One result. */
static int expected(const Case *c, const void *x, const int64_t *at, int is_signed)
{
    int most = is_signed ? -128 : 0;

    for (int64_t t = 0; t < c->kernel[0] * c->kernel[1] * c->kernel[2]; t++) {
        const int64_t tap[3] = {t / (c->kernel[1] * c->kernel[2]), t / c->kernel[2] % c->kernel[1], t % c->kernel[2]};
        int64_t       from[AXES] = {at[0], at[1]};
        int           in = 1, value;

        for (int k = 0; k < 3; k++) {
            from[2 + k] = at[2 + k] * c->stride[k] - c->pad[k] + tap[k] * c->dilation[k];
            in &= from[2 + k] >= 0 && from[2 + k] < c->xdim[2 + k];
        }
        if (!in)
            continue;
        value = is_signed ? ((const int8_t *)x)[place_of(c->xstride, from)]
                          : ((const uint8_t *)x)[place_of(c->xstride, from)];
        most = value > most ? value : most;
    }
    return most;
}

static void check(uint64_t *seed, int64_t channels, int is_signed)
{
    const Case       c = draw(seed, channels);
    const int64_t    xs = c.xstride[0] * c.xdim[0], ys = c.ystride[0] * c.ydim[0], all = occ_count(AXES, c.ydim);
    uint8_t         *x = malloc((size_t)xs), *y = malloc((size_t)ys);
    const occ_image  x_at = image_of(c.xdim, c.xstride, 1), y_at = image_of(c.ydim, c.ystride, 1);
    const occ_window window = window_of(c.kernel, c.stride, c.dilation, c.pad);

    assert_non_null(x);
    assert_non_null(y);
    for (int64_t i = 0; i < xs; i++)
        x[i] = (uint8_t)test_pick(seed, 0, 255);
    if (is_signed)
        occ_maxpool_bytes_i8((const int8_t *)x, &x_at, (int8_t *)y, &y_at, &window);
    else
        occ_maxpool_bytes_u8(x, &x_at, y, &y_at, &window);
    for (int64_t i = 0; i < all; i++) {
        int64_t at[AXES], rest = i;

        for (int a = AXES; a-- > 0; rest /= c.ydim[a])
            at[a] = rest % c.ydim[a];
        rest = place_of(c.ystride, at);
        assert_int_equal(is_signed ? (int8_t)y[rest] : y[rest], expected(&c, x, at, is_signed));
    }
    free(x);
    free(y);
}

/* Channels are taken by powers of 2, so every remainder is tried. */
static void every_number_of_channels(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int64_t channels = 1; channels <= 70; channels++)
        for (int is_signed = 0; is_signed < 2; is_signed++)
            check(&seed, channels, is_signed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_channels)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
