/* plan_main.c - the command occamplan: MiniMalloc's CSV in, the same with offsets out. */
#include "planner.h"

#include <stdio.h>

int main(void)
{
    for (const PlanPlanner *p = plan_planners; p->name; p++)
        printf("%-14s %s\n", p->name, p->about);
    return 0;
}
