/* product.c - folds the stack of a product to one batch. */
#include "device/product.h"

#include <stddef.h>

/* A matrix of rows and columns at such distances; false: neither lie in lines. */
static bool describe_matrix(int64_t rows, int64_t row, int64_t columns, int64_t column, ProductMatrix *m)
{
    int64_t by_rows = rows == 1 ? columns : row, by_columns = columns == 1 ? rows : column;

    m->turned = (columns > 1 && column != 1) || by_rows < columns;
    m->pitch = m->turned ? by_columns : by_rows;
    return !m->turned || ((rows == 1 || row == 1) && by_columns >= rows);
}

/* Makes one axis of those of the stack; false: the places of some operand do not lie at equal distances. */
static bool describe_stack(const ProductStack *s, Product *p)
{
    p->batch = 1;
    p->a.next = p->b.next = p->y.next = 0;
    for (int i = 0; i < s->rank - 2; i++) {
        int64_t extent = s->result[i];

        if (extent == 1)
            continue;
        if (s->a[i] < 0 || s->b[i] < 0)
            return false;
        if (p->batch > 1 &&
            (p->a.next != s->a[i] * extent || p->b.next != s->b[i] * extent || p->y.next != s->y[i] * extent))
            return false;
        p->batch *= extent;
        p->a.next = s->a[i];
        p->b.next = s->b[i];
        p->y.next = s->y[i];
    }
    return true;
}

/* Matrices that share the second factor and lie behind each other are one. */
static void join_rows(Product *p)
{
    if (p->b.next || p->a.turned || p->a.next != p->rows * p->a.pitch || p->y.next != p->rows * p->y.pitch)
        return;
    p->rows *= p->batch;
    p->batch = 1;
    p->a.next = p->y.next = 0;
}

const char *product_describe(const ProductStack *s, const ProductEpilogue *epilogue, Product *p)
{
    const int row = s->rank - 2, column = s->rank - 1;

    *p = (Product){.rows = s->result[row], .columns = s->result[column], .terms = s->terms};
    if (epilogue->function && (epilogue->slope != 0.0 || epilogue->addend))
        return epilogue->addend ? "a function behind an addend" : "a slope";
    for (int i = 0; i < s->rank; i++)
        if (s->result[i] < 1 || s->terms < 1)
            return "nothing to add up";
    if (!describe_matrix(p->rows, s->a[row], p->terms, s->a[column], &p->a) ||
        !describe_matrix(p->terms, s->b[row], p->columns, s->b[column], &p->b) ||
        !describe_matrix(p->rows, s->y[row], p->columns, s->y[column], &p->y) || p->y.turned)
        return "a matrix that lies in no lines";
    if (!describe_stack(s, p))
        return "a stack whose axes do not make one";
    join_rows(p);
    if (p->batch > INT32_MAX || p->rows > INT32_MAX || p->columns > INT32_MAX || p->terms > INT32_MAX)
        return "an extent above 2^31";
    return NULL;
}

const char *product_describe_conv(const ProductConv *c, const ProductEpilogue *epilogue, Product *p)
{
    const int64_t      result[] = {c->batch, c->out[0], c->out[1], c->out[2], c->outputs};
    const int64_t      a[] = {c->x[0], c->x[2], c->x[3], c->x[4], c->x[1]};
    const int64_t      b[] = {0, 0, 0, c->inputs > 1, c->outputs > 1 ? c->inputs : 0};
    const int64_t      y[] = {c->y[0], c->y[2], c->y[3], c->y[4], c->y[1]};
    const ProductStack stack = {5, result, c->inputs, a, b, y};

    for (int i = 0; i < 3; i++)
        if (c->kernel[i] != 1 || c->pad[i] || c->in[i] != c->out[i] || (c->stride[i] != 1 && c->out[i] > 1))
            return "windows of several pixels, or pixels left out";
    return c->groups == 1 ? product_describe(&stack, epilogue, p) : "groups";
}
