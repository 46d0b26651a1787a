/* cover_pool.cu - pooling as generated code calls it, with literal geometry: compiled only. */
#include "occ_cuda.h"

#include "cover.h"
#include "occ_result.h"
#include "occ_vapart.h"
#include "pool_twins.h"

/* Three by three pixels, every second one. */
#define WINDOW \
    static const occ_window window = {{1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}; \
    static const occ_extent pad_end[] = {0, 1, 1}

/* The stem of a ResNet: 112 x 112 pixels of 64 neighbouring channels. */
extern "C" OCC_KERNEL void step_pool(float *y, const float *x)
{
    WINDOW;
    static const occ_image x_at = {{1, 64, 1, 112, 112}, {802816, 1, 0, 7168, 64}},
                           y_at = {{1, 64, 1, 56, 56}, {200704, 1, 0, 3584, 64}};
    floats::occ_pool_f32(x, &x_at, y, &y_at, &window, pad_end, OCC_POOL_MAX, 0.0f);
}

extern "C" OCC_KERNEL void step_pool_planes(float *y, const float *x, int64_t channels)
{
    WINDOW;
    const occ_image x_at = {{1, channels, 1, 112, 112}, {0, 12544, 0, 112, 1}},
                    y_at = {{1, channels, 1, 56, 56}, {0, 3136, 0, 56, 1}};
    floats::occ_pool_planes_f32(x, &x_at, y, &y_at, &window, pad_end, OCC_POOL_MEAN, 0.0f);
}

extern "C" OCC_KERNEL void step_maxpool(float *y, int64_t *place, const float *x)
{
    WINDOW;
    static const occ_image x_at = {{1, 16, 1, 32, 32}, {16384, 1024, 0, 32, 1}},
                           y_at = {{1, 16, 1, 16, 16}, {4096, 256, 0, 16, 1}};
    (void)pad_end;
    places::occ_maxpool(x, &x_at, y, &y_at, place, &window, 0);
}
