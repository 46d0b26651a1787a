/* compare.c - errors of computed elements: absolute, relative and in representable values. */
#include "trial/compare.h"

#include "codegen_templates/c/scalar/scalar_lowfloat.h"

#include <math.h>
#include <string.h>

/* A low-precision float as a float. */
static double low_value(DType dtype, const void *at)
{
    uint16_t wide;
    uint8_t  narrow;

    memcpy(&narrow, at, sizeof narrow);
    switch (dtype) {
    case DTYPE_F16:
        memcpy(&wide, at, sizeof wide);
        return occ_f16_to_f32(wide);
    case DTYPE_BF16:
        memcpy(&wide, at, sizeof wide);
        return occ_bf16_to_f32(wide);
    case DTYPE_F8E4M3FN:
        return occ_f8e4m3fn_to_f32(narrow);
    case DTYPE_F8E4M3FNUZ:
        return occ_f8e4m3fnuz_to_f32(narrow);
    case DTYPE_F8E5M2:
        return occ_f8e5m2_to_f32(narrow);
    case DTYPE_F8E5M2FNUZ:
        return occ_f8e5m2fnuz_to_f32(narrow);
    case DTYPE_F4E2M1:
        return occ_f4e2m1_to_f32(narrow);
    default:
        return occ_f8e8m0_to_f32(narrow);
    }
}

static bool is_float(DType dtype)
{
    return strchr("FLC", dtype_info(dtype)->class) != NULL;
}

/* Real numbers in one element: two of a complex one. */
static int parts(DType dtype)
{
    return dtype_info(dtype)->class == 'C' ? 2 : 1;
}

/* Real number `index` of the array. */
static double real_value(DType dtype, const void *data, int64_t index)
{
    const char *at = (const char *)data + index * (dtype_info(dtype)->bytes / parts(dtype));
    float       single;
    double      wide;

    if (dtype == DTYPE_F32 || dtype == DTYPE_C64) {
        memcpy(&single, at, sizeof single);
        return single;
    }
    if (dtype == DTYPE_F64 || dtype == DTYPE_C128) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    return low_value(dtype, at);
}

/* A float's bits as an integer that increases with its value. */
static double ordered_bits(DType dtype, const void *data, int64_t index)
{
    int         bytes = dtype_info(dtype)->bytes / parts(dtype);
    const char *at = (const char *)data + index * bytes;
    uint64_t    bits = 0, sign;

    memcpy(&bits, at, (size_t)bytes);
    sign = (uint64_t)1 << (8 * bytes - 1);
    return bits & sign ? -(double)(bits & (sign - 1)) : (double)bits;
}

static double largest(DType dtype, const void *data, int64_t count)
{
    double most = 0.0;

    for (int64_t i = 0; i < count; i++) {
        double value = fabs(real_value(dtype, data, i));

        if (isfinite(value) && value > most)
            most = value;
    }
    return most;
}

static void note(Difference *d, bool good, int64_t index, double found, double wanted)
{
    if (good)
        return;
    if (d->first < 0) {
        d->first = index;
        d->found = found;
        d->wanted = wanted;
    }
    d->wrong++;
}

/* Raises *most to `value`; NaN counts as the largest. */
static void raise_to(double *most, double value)
{
    if (isnan(value) || value > *most)
        *most = value;
}

/* The relative error that one step of a low-precision type makes, where that exceeds the tolerance of floats. */
static double relative_tolerance(DType dtype)
{
    switch (dtype) {
    case DTYPE_BF16:
        return 0x1p-7;
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E4M3FNUZ:
        return 0x1p-3;
    case DTYPE_F8E5M2:
    case DTYPE_F8E5M2FNUZ:
        return 0x1p-2;
    case DTYPE_F4E2M1:
        return 0.5;
    case DTYPE_F8E8M0:
        return 1.0;
    default:
        return 1e-3;
    }
}

static double absolute_tolerance(DType dtype)
{
    return dtype == DTYPE_F64 || dtype == DTYPE_C128 ? 1e-12 : 1e-6;
}

static void compare_float(DType dtype, const void *found, const void *wanted, int64_t i, double slack, double rounding,
                          Difference *d)
{
    double a = real_value(dtype, found, i), b = real_value(dtype, wanted, i), apart = fabs(a - b);
    bool   good = apart <= (relative_tolerance(dtype) + rounding) * fabs(b) + slack;

    if (!isfinite(a) || !isfinite(b)) {
        if ((isnan(a) && isnan(b)) || a == b)
            return;
        apart = isnan(a) || isnan(b) ? NAN : INFINITY;
        raise_to(&d->relative, apart);
        raise_to(&d->ulp, apart);
        good = false;
    }
    note(d, good, i, a, b);
    raise_to(&d->absolute, apart);
    if (!isfinite(apart))
        return;
    if (b != 0.0)
        raise_to(&d->relative, apart / fabs(b));
    if (dtype_info(dtype)->class != 'L' || dtype == DTYPE_F16 || dtype == DTYPE_BF16)
        raise_to(&d->ulp, fabs(ordered_bits(dtype, found, i) - ordered_bits(dtype, wanted, i)));
}

static Difference compare_floats(DType dtype, const void *found, const void *wanted, int64_t count, double rounding)
{
    Difference d = {.first = -1, .floor = absolute_tolerance(dtype)};
    double     most = largest(dtype, wanted, count);

    d.blind = most > 0.0 && most <= d.floor;
    for (int64_t i = 0; i < count; i++)
        compare_float(dtype, found, wanted, i, fmax((1e-4 + rounding) * most, d.floor), rounding, &d);
    return d;
}

static int64_t whole_value(const DTypeInfo *info, const void *data, int64_t index)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)data + index * info->bytes, (size_t)info->bytes);
    if (info->class == 'I' && info->bytes < 8 && bits >> (8 * info->bytes - 1))
        bits |= UINT64_MAX << (8 * info->bytes);
    return (int64_t)bits;
}

static Difference compare_whole(DType dtype, const void *found, const void *wanted, int64_t count)
{
    const DTypeInfo *info = dtype_info(dtype);
    Difference       d = {.first = -1};
    int64_t          slack = info->bits <= 8 && info->class != 'B' ? 1 : 0;

    for (int64_t i = 0; i < count; i++) {
        int64_t a = whole_value(info, found, i), b = whole_value(info, wanted, i);
        double  apart =
            info->class == 'U' ? fabs((double)(uint64_t)a - (double)(uint64_t)b) : fabs((double)a - (double)b);

        note(&d, a == b || (slack && apart <= (double)slack), i, (double)a, (double)b);
        d.absolute = apart > d.absolute ? apart : d.absolute;
        if (b != 0 && apart / fabs((double)b) > d.relative)
            d.relative = apart / fabs((double)b);
    }
    return d;
}

Difference compare_elements(DType dtype, const void *found, const void *wanted, int64_t count, double rounding)
{
    if (is_float(dtype))
        return compare_floats(dtype, found, wanted, count * parts(dtype), rounding);
    return compare_whole(dtype, found, wanted, count);
}
