/* cover_matmul.cu - the matrix product as generated code calls it, with literal geometry: compiled only. */
#include "occ_cuda.h"

#include "cover.h"
#include "matmul_f32.cu"

/* Heads of an attention: q times the transposed keys, and the weights times v. */
extern "C" OCC_KERNEL void step_dots(float *y, const float *a, const float *b, const float *bias)
{
    static const occ_stack       a_at = {3, {12, 128, 64}, {8192, 64, 1}};
    static const occ_stack       b_at = {3, {12, 64, 128}, {8192, 1, 64}};
    static const occ_stack       y_at = {3, {12, 128, 128}, {16384, 128, 1}};
    static const occ_extent      pitch[] = {0, 0};
    static const occ_stack_fused fused = {1, pitch, cover_expression};
    const occ_expr               e = {{bias}, {0}};
    occ_matmul_f32(y, &y_at, a, &a_at, b, &b_at, &e, &fused);
}

extern "C" OCC_KERNEL void step_product(float *y, const float *a, const float *b)
{
    static const occ_stack       a_at = {4, {2, 3, 50, 77}, {11550, 3850, 77, 1}};
    static const occ_stack       b_at = {4, {2, 3, 77, 90}, {0, 0, 90, 1}};
    static const occ_stack       y_at = {4, {2, 3, 50, 90}, {13500, 4500, 90, 1}};
    static const occ_stack_fused fused = {0, 0, 0};
    occ_matmul_f32(y, &y_at, a, &a_at, b, &b_at, 0, &fused);
}

extern "C" OCC_KERNEL void step_matmul_work(float *y, const float *a, const float *b, float *work)
{
    static const occ_stack       a_at = {3, {12, 128, 128}, {16384, 128, 1}};
    static const occ_stack       b_at = {3, {12, 128, 64}, {8192, 64, 1}};
    static const occ_stack       y_at = {3, {12, 128, 64}, {8192, 64, 1}};
    static const occ_stack_fused fused = {0, 0, 0};
    occ_matmul_work_f32(y, &y_at, a, &a_at, b, &b_at, work, 0, &fused);
}

/* Run-time extents come as arguments. */
extern "C" OCC_KERNEL void step_open(float *y, const float *a, const float *b, int64_t rows)
{
    const occ_stack              a_at = {2, {rows, 768}, {768, 1}}, y_at = {2, {rows, 3072}, {3072, 1}};
    static const occ_stack       b_at = {2, {768, 3072}, {3072, 1}};
    static const occ_stack_fused fused = {0, 0, 0};
    occ_matmul_f32(y, &y_at, a, &a_at, b, &b_at, 0, &fused);
}
