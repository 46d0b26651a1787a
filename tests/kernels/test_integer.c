/* test_integer.c - products of bytes known at run time only, against plain loops over 64-bit integers: every sum is
 * exact, for any extents, strides and zero points. */
#include "kernel_test.h"

#include "integer_i8_i8.h"
#include "integer_u8_u8.h"
#include "integer_u8_i8.h"

typedef struct Product {
    int64_t rows, depth, columns, stack;
    int64_t a_turned, b_turned, y_turned; /* rows are neighbours, not columns */
    int64_t azeros, bzeros;               /* 0: none, 1: one, 2: one for each row or column */
    int     a_signed, b_signed;
} Product;

static occ_stack stack_of(int64_t stack, int64_t rows, int64_t columns, int64_t turned)
{
    occ_stack at = {3, {stack, rows, columns}, {rows * columns, turned ? 1 : columns, turned ? rows : 1}};

    return at;
}

static uint8_t *random_bytes(uint64_t *seed, int64_t n)
{
    uint8_t *p = malloc((size_t)n + 1);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (uint8_t)(test_pick(seed, 0, 3) ? test_pick(seed, 0, 255) : test_pick(seed, 0, 1) * 128 + 127);
    return p;
}

static int number(uint8_t byte, int is_signed)
{
    return is_signed ? (int8_t)byte : byte;
}

static void run(const Product *p, int32_t *y, const uint8_t *a, const uint8_t *b, const uint8_t *za, const uint8_t *zb)
{
    const occ_stack ya = stack_of(p->stack, p->rows, p->columns, p->y_turned);
    const occ_stack aa = stack_of(p->stack, p->rows, p->depth, p->a_turned);
    const occ_stack ba = stack_of(p->stack, p->depth, p->columns, p->b_turned);
    const int64_t   as = p->azeros == 2, bs = p->bzeros == 2;

    if (p->a_signed)
        occ_matmul_integer_i8_i8(y, &ya, (const int8_t *)a, &aa, (const int8_t *)b, &ba, (const int8_t *)za,
                                 (const int8_t *)zb, as, bs);
    else if (p->b_signed)
        occ_matmul_integer_u8_i8(y, &ya, a, &aa, (const int8_t *)b, &ba, za, (const int8_t *)zb, as, bs);
    else
        occ_matmul_integer_u8_u8(y, &ya, a, &aa, b, &ba, za, zb, as, bs);
}

static void check(const Product *p, uint64_t *seed)
{
    uint8_t *a = random_bytes(seed, p->stack * p->rows * p->depth), *za = random_bytes(seed, p->rows);
    uint8_t *b = random_bytes(seed, p->stack * p->depth * p->columns), *zb = random_bytes(seed, p->columns);
    int64_t  size = p->rows * p->columns;
    int32_t *y = malloc((size_t)(p->stack * size) * sizeof *y + 1);

    assert_non_null(y);
    run(p, y, a, b, p->azeros ? za : NULL, p->bzeros ? zb : NULL);
    for (int64_t s = 0; s < p->stack; s++)
        for (int64_t m = 0; m < p->rows; m++)
            for (int64_t n = 0; n < p->columns; n++) {
                int64_t sum = 0, i = s * p->rows * p->depth, j = s * p->depth * p->columns;
                int     az = p->azeros ? number(za[p->azeros == 2 ? m : 0], p->a_signed) : 0;
                int     bz = p->bzeros ? number(zb[p->bzeros == 2 ? n : 0], p->b_signed) : 0;

                for (int64_t k = 0; k < p->depth; k++)
                    sum += (number(a[i + (p->a_turned ? k * p->rows + m : m * p->depth + k)], p->a_signed) - az) *
                           (number(b[j + (p->b_turned ? n * p->depth + k : k * p->columns + n)], p->b_signed) - bz);
                assert_int_equal(y[s * size + (p->y_turned ? n * p->rows + m : m * p->columns + n)], sum);
            }
    free(y);
    free(a);
    free(b);
    free(za);
    free(zb);
}

static void random_products(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Product p = {test_pick(&seed, 1, 20),
                     test_pick(&seed, 0, 300),
                     test_pick(&seed, 1, 70),
                     test_pick(&seed, 1, 3),
                     i % 3 == 0,
                     i % 2,
                     i % 7 == 0,
                     test_pick(&seed, 0, 2),
                     test_pick(&seed, 0, 2),
                     i % 5 == 0,
                     i % 5 < 3};

        check(&p, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_products)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
