/* test_twin_limits.c - steps that the device's own kernels cannot count in 32 bits run on the host. Extents alone
 * decide: no tensor exists. */
#include "world.h"

#include "device/device.h"
#include "program/operand.h"

#include <string.h>

enum { MOST_ARGS = 16, BATCH = 0, CHANNELS, WIDTH = 4 };

static const int64_t most = INT32_MAX;

/* A step of a kernel, each argument of which is three ones. */
static Step *step_of_ones(World *w, const char *kernel)
{
    int   s = world_step(w, STEP_KERNEL);
    Step *step = &w->program->step[s];

    step->kernel = kernel_find(kernel);
    step->narg = MOST_ARGS;
    step->arg = arena_array(w->arena, Arg, MOST_ARGS);
    for (int i = 0; i < MOST_ARGS; i++) {
        Extent *ones = arena_array(w->arena, Extent, 3);

        for (int k = 0; k < 3; k++)
            ones[k] = extent_const(1);
        step->arg[i] = (Arg){.kind = ARG_INTS, .count = 3, .ints = ones};
    }
    return step;
}

/* A convolution of one pixel, without pads. */
static Step *convolution(World *w, const char *kernel)
{
    Step *step = step_of_ones(w, kernel);

    step->noperand = step->nparam = 8;
    for (int k = 0; k < step->noperand; k++) {
        step->operand[k] = (Operand){.buffer = -1, .rank = 5};
        for (int i = 0; i < 5; i++)
            step->operand[k].dim[i] = extent_const(1);
    }
    slice_set(step, "pad", 2, extent_const(0));
    return step;
}

/* The report says of a step that is the host's that 32 bits are too few. */
static bool on_device(World *w, const Step *step)
{
    const char *reason = step_host_reason(w->program, step, PLACING_AUTO, NULL);

    if (reason)
        assert_non_null(strstr(reason, "32 bits"));
    return !reason;
}

/* The extents of x and y along an axis. */
static void set_axis(Step *step, int axis, int64_t x, int64_t y)
{
    slice_set(step, "xdim", axis, extent_const(x));
    slice_set(step, "ydim", axis, extent_const(y));
}

static const char *const kernels[] = {"conv_krsc_f32", "conv_work_f32", "conv_q_u8_i8"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Rows of a product with constant weights lie along the width; images are counted in 64 bits. */
static void an_axis_fits_32_bits(void **state)
{
    World *w = *state;

    for (int k = 0; k < KERNELS; k++) {
        Step *step = convolution(w, kernels[k]);

        assert_true(on_device(w, step));
        set_axis(step, BATCH, most + 1, most + 1);
        assert_true(on_device(w, step));
        for (int axis = 2; axis < 5; axis++) {
            set_axis(step, axis, most, most);
            assert_true(on_device(w, step));
            set_axis(step, axis, most + 1, most + 1);
            assert_false(on_device(w, step));
            set_axis(step, axis, 1, 1);
        }
    }
}

/* Windows of three pixels, each 2^30 - 1 elements behind the one before, reach 2^31 - 1; those of four are too far. A
 * run-time width counts by its bound, and so do taps that far apart. */
static void windows_count_by_their_reach(void **state)
{
    World *w = *state;

    for (int k = 0; k < KERNELS; k++) {
        Step *step = convolution(w, kernels[k]);
        int   count;

        set_axis(step, WIDTH, most / 2, 3);
        slice_set(step, "stride", 2, extent_const(most / 2));
        assert_true(on_device(w, step));
        slice_set(step, "ydim", WIDTH, extent_const(4));
        assert_false(on_device(w, step));
        step_extents_of(step, "ydim", &count)[WIDTH].expr = 0; /* known while running only, four at most */
        assert_false(on_device(w, step));
        set_axis(step, WIDTH, 1, 1);
        slice_set(step, "kernel", 2, extent_const(3));
        slice_set(step, "dilation", 2, extent_const(most / 2));
        assert_true(on_device(w, step));
        slice_set(step, "dilation", 2, extent_const(most / 2 + 1));
        assert_false(on_device(w, step));
    }
}

/* The terms of a sum: taps times inputs, which are whole fours. */
static void terms_fit_32_bits(void **state)
{
    World *w = *state;

    for (int k = 0; k < KERNELS; k++) {
        Step *step = convolution(w, kernels[k]);

        slice_set(step, "xdim", CHANNELS, extent_const((1 << 16) - 3));
        slice_set(step, "kernel", 0, extent_const((1 << 16) - 1));
        assert_true(on_device(w, step));
        slice_set(step, "kernel", 0, extent_const(1 << 16));
        assert_false(on_device(w, step));
    }
}

static void ranks_fit_32_bits(void **state)
{
    World *w = *state;
    Step  *step = step_of_ones(w, "topk_f32");

    slice_set(step, "n", 0, extent_const(most));
    slice_set(step, "outer", 0, extent_const(most + 1));
    assert_true(on_device(w, step));
    slice_set(step, "n", 0, extent_const(most + 1));
    assert_false(on_device(w, step));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_axis_fits_32_bits),
        TEST(windows_count_by_their_reach),
        TEST(terms_fit_32_bits),
        TEST(ranks_fit_32_bits),
    };

    return cmocka_run_group_tests_name("twin limits", tests, NULL, NULL);
}
