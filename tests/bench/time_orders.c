/* time_orders.c - the order search on a file of graphs with proven peaks: one line of figures for each, read by
 * plan.py. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "tests/planners/graphs.h"

int main(int count, char **argument)
{
    FILE *file = count == 2 ? fopen(argument[1], "r") : NULL;
    Dag   d;
    char  name[32];
    int   least;

    if (!file) {
        fprintf(stderr, "time_orders: one readable file of graphs is wanted\n");
        return 2;
    }
    while (dag_read(file, &d, name, &least)) {
        int32_t     order[STEPS];
        OrderResult r = {.order = order};
        clock_t     began = clock();

        if (order_best(&d.problem, NULL, &r) < 0) {
            fprintf(stderr, "time_orders: %s: %s\n", name, r.why);
            return 1;
        }
        printf("%s,%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%" PRId64 ",%.4f\n", name, d.problem.nstep, least,
               r.given, r.peak, r.bound, r.status == ORDER_OPTIMAL ? "optimal" : "gap", r.states,
               (double)(clock() - began) / CLOCKS_PER_SEC);
    }
    fclose(file);
    return 0;
}
