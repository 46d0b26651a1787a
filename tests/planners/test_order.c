/* test_order.c - orders of steps: known graphs, random ones against all orders, the 27 graphs with proven peaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "graphs.h"
#include "oracle.h"

/* Two branches from one input: what the second makes is large but shrinks at once, so it comes first. */
static void the_shrinking_branch_comes_first(void **state)
{
    const OrderValue   value[] = {{10, 0, 0}, {50, 1, 0}, {100, 2, 0}, {1, 3, 0}, {2, 4, 1}};
    const OrderUse     use[] = {{0, 1, 0}, {0, 2, 0}, {2, 3, 0}, {1, 4, 0}, {3, 4, 0}};
    const OrderProblem problem = {.value = value, .nvalue = 5, .use = use, .nuse = 5, .nstep = 5};
    int32_t            order[5];
    OrderResult        r = {.order = order};

    (void)state;
    assert_int_equal(order_best(&problem, NULL, &r), 0);
    assert_int_equal(r.given, 10 + 50 + 100);
    assert_int_equal(r.peak, 10 + 100 + 1);
    assert_int_equal(r.status, ORDER_OPTIMAL);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 3);
}

static void nothing_is_an_order_too(void **state)
{
    const OrderProblem problem = {0};
    int32_t            order[1];
    OrderResult        r = {.order = order};

    (void)state;
    assert_int_equal(order_best(&problem, NULL, &r), 0);
    assert_int_equal(r.peak, 0);
    assert_int_equal(r.status, ORDER_OPTIMAL);
}

/* A result may take the place of an input that dies: one buffer for the whole chain. */
static void reuse_counts_once(void **state)
{
    const OrderValue   value[] = {{8, -1, 0}, {8, 0, 0}, {8, 1, 1}};
    const OrderUse     use[] = {{0, 0, 8}, {1, 1, 8}};
    const OrderProblem problem = {.value = value, .nvalue = 3, .use = use, .nuse = 2, .nstep = 2};
    int32_t            order[2];
    OrderResult        r = {.order = order};

    (void)state;
    assert_int_equal(order_best(&problem, NULL, &r), 0);
    assert_int_equal(r.peak, 8);
}

/* A random problem; every step makes one or two values. */
static void random_dag(Dag *d, uint64_t *seed, int nstep)
{
    memset(d, 0, sizeof *d);
    d->problem = (OrderProblem){.value = d->value, .use = d->use, .edge = d->edge, .nstep = nstep};
    d->problem.scratch = oracle_below(seed, 2) ? d->scratch : NULL;
    d->value[d->problem.nvalue++] = (OrderValue){1 + oracle_below(seed, 9), -1, oracle_below(seed, 4) == 0};
    for (int t = 0; t < nstep; t++) {
        int reads = oracle_below(seed, 3), first = d->problem.nvalue;
        d->scratch[t] = oracle_below(seed, 3) ? 0 : oracle_below(seed, 9);
        for (int i = 0; i < reads; i++) {
            int v = oracle_below(seed, first), twice = 0;
            for (int k = 0; k < d->problem.nuse; k++)
                twice |= d->use[k].step == t && d->use[k].value == v;
            if (!twice)
                d->use[d->problem.nuse++] = (OrderUse){v, t, oracle_below(seed, 2) ? d->value[v].bytes : 0};
        }
        for (int i = oracle_below(seed, 4) == 0; i < 2; i++)
            d->value[d->problem.nvalue++] = (OrderValue){oracle_below(seed, 10), t, oracle_below(seed, 8) == 0};
        if (t > 0 && oracle_below(seed, 5) == 0)
            d->edge[d->problem.nedge++] = (OrderEdge){oracle_below(seed, t), t};
    }
}

/* Bytes live while step t runs: done before it is the set; written without any of the library's notions. */
static int64_t bytes_during(const OrderProblem *p, unsigned done, int t)
{
    int64_t bytes = p->scratch ? p->scratch[t] : 0, made = 0, reuse = 0;

    for (int v = 0; v < p->nvalue; v++) {
        int     before = p->value[v].producer < 0 || (done >> p->value[v].producer & 1), wanted = p->value[v].keep != 0;
        int     later = wanted, read = 0;
        int64_t over = 0;
        for (int i = 0; i < p->nuse; i++) {
            if (p->use[i].value != v)
                continue;
            wanted |= !(done >> p->use[i].step & 1);
            later |= !((done | 1u << t) >> p->use[i].step & 1);
            read |= p->use[i].step == t;
            over = p->use[i].step == t ? p->use[i].reuse : over;
        }
        bytes += before && wanted ? p->value[v].bytes : 0;
        made += p->value[v].producer == t ? p->value[v].bytes : 0;
        if (read && !later && over > reuse)
            reuse = over;
    }
    return bytes + made - (reuse < made ? reuse : made);
}

static int ready(const OrderProblem *p, unsigned done, int t)
{
    for (int i = 0; i < p->nuse; i++)
        if (p->use[i].step == t && p->value[p->use[i].value].producer >= 0 &&
            !(done >> p->value[p->use[i].value].producer & 1))
            return 0;
    for (int i = 0; i < p->nedge; i++)
        if (p->edge[i].then == t && !(done >> p->edge[i].first & 1))
            return 0;
    return 1;
}

/* The least peak of all orders that execute the steps not in done. */
static int64_t least_peak(const OrderProblem *p, unsigned done, int64_t *memo)
{
    int64_t best = INT64_MAX;

    if (done == (1u << p->nstep) - 1)
        return 0;
    if (memo[done] >= 0)
        return memo[done];
    for (int t = 0; t < p->nstep; t++) {
        int64_t here, rest;
        if (done >> t & 1 || !ready(p, done, t))
            continue;
        here = bytes_during(p, done, t);
        rest = least_peak(p, done | 1u << t, memo);
        here = here > rest ? here : rest;
        best = here < best ? here : best;
    }
    return memo[done] = best;
}

static void random_orders_are_optimal(void **state)
{
    static int64_t memo[1 << 12];
    uint64_t       seed = 21;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        Dag         d;
        int32_t     order[STEPS];
        OrderResult r = {.order = order};
        int64_t     least, start = 0;
        random_dag(&d, &seed, 1 + oracle_below(&seed, 10));
        memset(memo, -1, sizeof memo);
        least = least_peak(&d.problem, 0, memo);
        for (int k = 0; k < d.problem.nuse && start == 0; k++)
            start = d.use[k].value == 0 ? d.value[0].bytes : 0;
        start = d.value[0].keep ? d.value[0].bytes : start;
        least = start > least ? start : least;
        assert_int_equal(order_best(&d.problem, NULL, &r), 0);
        assert_int_equal(order_peak(&d.problem, order), r.peak);
        assert_int_equal(r.peak, least);
        assert_int_equal(r.bound, least);
        assert_int_equal(r.status, ORDER_OPTIMAL);
    }
}

static void long_orders_are_never_worse(void **state)
{
    uint64_t seed = 22;

    (void)state;
    for (int i = 0; i < 60; i++) {
        Dag         d;
        int32_t     order[STEPS];
        OrderResult r = {.order = order};
        OrderLimits limits = {.states = 200 + oracle_below(&seed, 5000)};
        random_dag(&d, &seed, 45);
        assert_int_equal(order_best(&d.problem, &limits, &r), 0);
        assert_int_equal(order_peak(&d.problem, order), r.peak);
        assert_true(r.bound <= r.peak && r.peak <= r.given);
    }
}

static void wrong_orders_and_problems_are_refused(void **state)
{
    const OrderValue   value[] = {{8, 0, 0}, {8, 1, 1}};
    const OrderUse     use[] = {{0, 1, 0}}, backward[] = {{1, 0, 0}};
    const OrderProblem good = {.value = value, .nvalue = 2, .use = use, .nuse = 1, .nstep = 2};
    const OrderProblem bad = {.value = value, .nvalue = 2, .use = backward, .nuse = 1, .nstep = 2};
    const int32_t      swapped[] = {1, 0}, twice[] = {0, 0}, right[] = {0, 1};
    int32_t            order[2];
    OrderResult        r = {.order = order};

    (void)state;
    assert_int_equal(order_peak(&good, swapped), PLAN_EINVAL);
    assert_int_equal(order_peak(&good, twice), PLAN_EINVAL);
    assert_int_equal(order_peak(&good, right), 16);
    assert_int_equal(order_best(&bad, NULL, &r), PLAN_EINVAL);
    assert_true(strlen(r.why) > 0);
}

static void the_27_graphs_are_proven(void **state)
{
    FILE *file = fopen("../shared/data/ordering/ws_ordering.txt", "r");
    Dag   d;
    char  name[32];
    int   least, count = 0;

    (void)state;
    if (!file) {
        print_message("SKIPPED: 27 graphs, ../shared/data/ordering is absent\n");
        skip();
    }
    while (dag_read(file, &d, name, &least)) {
        int32_t     order[STEPS];
        OrderResult r = {.order = order};
        assert_int_equal(order_best(&d.problem, NULL, &r), 0);
        assert_int_equal(r.peak, least);
        assert_int_equal(r.status, ORDER_OPTIMAL);
        count++;
    }
    fclose(file);
    assert_int_equal(count, 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shrinking_branch_comes_first),
        cmocka_unit_test(nothing_is_an_order_too),
        cmocka_unit_test(reuse_counts_once),
        cmocka_unit_test(random_orders_are_optimal),
        cmocka_unit_test(long_orders_are_never_worse),
        cmocka_unit_test(wrong_orders_and_problems_are_refused),
        cmocka_unit_test(the_27_graphs_are_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
