/* test_product.c - a stack of products folded to one batch has every element where the stack has it, or is refused. */
#include "random_program.h"

#include "device/product.h"

enum { AXES = 5, RANDOM_STACKS = 20000 };

static const ProductEpilogue plain = {false, false, 0.0};

typedef struct Stack {
    int64_t      result[AXES], a[AXES], b[AXES], y[AXES];
    ProductStack of;
} Stack;

/* Where an element of a matrix of the batch lies. */
static int64_t place_in(const ProductMatrix *m, int64_t matrix, int64_t row, int64_t column)
{
    return matrix * m->next + (m->turned ? column * m->pitch + row : row * m->pitch + column);
}

/* The same in place `number` of the stack. */
static int64_t place_of(const ProductStack *s, const int64_t *stride, int64_t number, int64_t row, int64_t column)
{
    int64_t at = row * stride[s->rank - 2] + column * stride[s->rank - 1];

    for (int i = s->rank - 3; i >= 0; number /= s->result[i--])
        at += number % s->result[i] * stride[i];
    return at;
}

/* Row r of place s is row s * rows + r of all. */
static void check_places(const ProductStack *s, const Product *p)
{
    int64_t rows = s->result[s->rank - 2], columns = s->result[s->rank - 1], places = 1;

    for (int i = 0; i < s->rank - 2; i++)
        places *= s->result[i];
    assert_int_equal(p->batch * p->rows, places * rows);
    assert_int_equal(p->columns, columns);
    assert_int_equal(p->terms, s->terms);
    for (int64_t all = 0; all < places * rows; all++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < s->terms; k++) {
                int64_t matrix = all / p->rows, row = all % p->rows, place = all / rows, r = all % rows;

                assert_int_equal(place_in(&p->a, matrix, row, k), place_of(s, s->a, place, r, k));
                assert_int_equal(place_in(&p->b, matrix, k, c), place_of(s, s->b, place, k, c));
                assert_int_equal(place_in(&p->y, matrix, row, c), place_of(s, s->y, place, r, c));
            }
    assert_true(p->a.pitch >= (p->a.turned ? p->rows : p->terms));
    assert_true(p->b.pitch >= (p->b.turned ? p->terms : p->columns));
    assert_true(p->y.pitch >= p->columns && !p->y.turned);
}

/* Strides of a tensor of these extents whose axes lie in a random order, some shared, with gaps; 0 for one element. */
static void lay_out(Random *random, int rank, const int64_t *dim, bool shared, int64_t *stride)
{
    int     order[AXES];
    int64_t next = 1;

    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    if (random_below(random, 3) == 0) {
        int i = random_below(random, rank), k = random_below(random, rank), kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
    for (int i = 0; i < rank; i++) {
        bool one = dim[order[i]] == 1 || (shared && order[i] < rank - 2 && random_below(random, 2));

        stride[order[i]] = one ? 0 : next;
        next *= one ? 1 : dim[order[i]];
        next += random_below(random, 6) == 0;
    }
}

static void random_stack(Random *random, Stack *s)
{
    int     rank = 2 + random_below(random, 4);
    int64_t dim[AXES];

    s->of = (ProductStack){rank, s->result, 1 + random_below(random, 4), s->a, s->b, s->y};
    for (int i = 0; i < rank; i++)
        dim[i] = s->result[i] = 1 + random_below(random, 3);
    lay_out(random, rank, dim, false, s->y);
    dim[rank - 1] = s->of.terms;
    lay_out(random, rank, dim, true, s->a);
    dim[rank - 2] = s->of.terms;
    dim[rank - 1] = s->result[rank - 1];
    lay_out(random, rank, dim, true, s->b);
}

static void every_element_stays_where_it_is(void **state)
{
    Random random = {7};
    int    folded = 0, batched = 0, turned = 0;

    (void)state;
    for (int i = 0; i < RANDOM_STACKS; i++) {
        Stack   s;
        Product p;

        random_stack(&random, &s);
        if (product_describe(&s.of, &plain, &p))
            continue;
        check_places(&s.of, &p);
        folded++;
        batched += p.batch > 1;
        turned += p.a.turned || p.b.turned;
    }
    assert_true(folded > RANDOM_STACKS / 4 && batched > 1000 && turned > 1000);
    assert_true(folded < RANDOM_STACKS);
}

static const char *why(int rank, const int64_t *result, const int64_t *a, const int64_t *b, const int64_t *y)
{
    ProductStack s = {rank, result, 8, a, b, y};
    Product      p;

    return product_describe(&s, &plain, &p);
}

#define AT(...) \
    (const int64_t[]) \
    { \
        __VA_ARGS__ \
    }

static void what_no_batch_describes_is_refused(void **state)
{
    (void)state;
    assert_null(why(3, AT(2, 5, 6), AT(40, 8, 1), AT(48, 1, 8), AT(30, 6, 1)));
    /* Heads between rows: fine in one image, not in two. */
    assert_null(why(4, AT(1, 3, 5, 6), AT(0, 8, 24, 1), AT(0, 48, 6, 1), AT(0, 30, 6, 1)));
    assert_string_equal(why(4, AT(2, 3, 5, 6), AT(120, 8, 24, 1), AT(144, 48, 6, 1), AT(90, 30, 6, 1)),
                        "a stack whose axes do not make one");
    assert_string_equal(why(2, AT(5, 6), AT(16, 2), AT(6, 1), AT(6, 1)), "a matrix that lies in no lines");
    assert_string_equal(why(2, AT(5, 6), AT(0, 1), AT(6, 1), AT(6, 1)), "a matrix that lies in no lines");
    assert_string_equal(why(2, AT(5, 6), AT(-8, 1), AT(6, 1), AT(6, 1)), "a matrix that lies in no lines");
    assert_string_equal(why(2, AT(5, 6), AT(8, 1), AT(6, 1), AT(1, 5)), "a matrix that lies in no lines");
    assert_string_equal(why(3, AT(2, 5, 6), AT(-40, 8, 1), AT(48, 6, 1), AT(30, 6, 1)),
                        "a stack whose axes do not make one");
    assert_string_equal(why(2, AT(0, 6), AT(8, 1), AT(6, 1), AT(6, 1)), "nothing to add up");
    assert_string_equal(why(2, AT(INT64_C(1) << 32, 6), AT(8, 1), AT(6, 1), AT(6, 1)), "an extent above 2^31");
}

typedef struct Conv {
    int64_t in[3], out[3], kernel[3], stride[3], pad[3], x[5], y[5];
} Conv;

static const char *why_conv(int64_t groups, const Conv *c, Product *p)
{
    const ProductConv conv = {2, groups, 8, 5, c->in, c->out, c->kernel, c->stride, c->pad, c->x, c->y};

    return product_describe_conv(&conv, &plain, p);
}

/* Channels last are rows of one matrix; planes are columns, with a matrix for each row of pixels. */
static void convolutions_of_one_tap_are_products(void **state)
{
    const Conv last = {{1, 4, 6}, {1, 4, 6}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {192, 1, 0, 48, 8}, {120, 1, 0, 30, 5}};
    Conv       c = last;
    Product    p;

    (void)state;
    assert_null(why_conv(1, &c, &p));
    assert_true(p.batch == 1 && p.rows == 48 && p.columns == 5 && p.terms == 8 && !p.a.turned && p.b.turned);
    assert_true(p.a.pitch == 8 && p.b.pitch == 8 && p.y.pitch == 5);
    c.x[1] = 24, c.x[3] = 6, c.x[4] = 1; /* planes */
    assert_string_equal(why_conv(1, &c, &p), "a stack whose axes do not make one");
    c.x[0] = 24, c.x[1] = 48; /* of both images, side by side */
    assert_null(why_conv(1, &c, &p));
    assert_true(p.batch == 8 && p.rows == 6 && p.a.turned && p.a.pitch == 48 && p.a.next == 6 && p.y.next == 30);
    c = last, c.y[1] = 24, c.y[3] = 6, c.y[4] = 1;
    assert_string_equal(why_conv(1, &c, &p), "a matrix that lies in no lines");
    assert_string_equal(why_conv(2, &last, &p), "groups");
    c = last, c.kernel[2] = 3, c.pad[2] = 1;
    assert_string_equal(why_conv(1, &c, &p), "windows of several pixels, or pixels left out");
    c = last, c.stride[1] = 2, c.out[1] = 2;
    assert_string_equal(why_conv(1, &c, &p), "windows of several pixels, or pixels left out");
}

static void epilogues_that_the_library_lacks_are_refused(void **state)
{
    static const ProductEpilogue addend = {true, false, 0.0}, relu = {false, true, 0.0}, both = {true, true, 0.0},
                                 slope = {false, true, 0.5};
    static const int64_t result[] = {5, 6}, a[] = {8, 1}, b[] = {6, 1}, y[] = {6, 1};
    const ProductStack   s = {2, result, 8, a, b, y};
    Product              p;

    (void)state;
    assert_null(product_describe(&s, &addend, &p));
    assert_null(product_describe(&s, &relu, &p));
    assert_string_equal(product_describe(&s, &both, &p), "a function behind an addend");
    assert_string_equal(product_describe(&s, &slope, &p), "a slope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_stays_where_it_is),
        cmocka_unit_test(what_no_batch_describes_is_refused),
        cmocka_unit_test(convolutions_of_one_tap_are_products),
        cmocka_unit_test(epilogues_that_the_library_lacks_are_refused),
    };

    return cmocka_run_group_tests_name("product", tests, NULL, NULL);
}
