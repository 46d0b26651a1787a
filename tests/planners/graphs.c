/* graphs.c - reads graphs of steps with their proven peaks. */
#include <stdlib.h>
#include <string.h>

#include "graphs.h"

int dag_read(FILE *file, Dag *d, char name[32], int *least)
{
    char line[1024];
    int  n = 0, position[STEPS], pred[USES][2], npred = 0, placed = 0;

    memset(d, 0, sizeof *d);
    do
        if (!fgets(line, sizeof line, file))
            return 0;
    while (sscanf(line, "graph %31s %d %d", name, &n, least) != 3);
    d->problem = (OrderProblem){.value = d->value, .nvalue = n, .use = d->use, .nstep = n};
    int64_t size[STEPS];
    for (int i = 0; i < n && fgets(line, sizeof line, file); i++) {
        char *at = line, *end;
        long  v = strtol(at, &at, 10);
        size[v] = strtol(at, &at, 10);
        position[i] = -1;
        for (long from = strtol(at, &end, 10); end != at; at = end, from = strtol(at, &end, 10)) {
            pred[npred][0] = (int)from;
            pred[npred++][1] = (int)v;
        }
    }
    while (placed < n)
        for (int v = 0; v < n; v++) {
            int free_to_go = position[v] < 0;
            for (int k = 0; k < npred; k++)
                free_to_go &= pred[k][1] != v || position[pred[k][0]] >= 0;
            if (free_to_go)
                d->value[placed] = (OrderValue){size[v], placed, 1}, position[v] = placed++;
        }
    for (int k = 0; k < npred; k++) {
        d->value[position[pred[k][0]]].keep = 0;
        d->use[d->problem.nuse++] = (OrderUse){position[pred[k][0]], position[pred[k][1]], 0};
    }
    return 1;
}
