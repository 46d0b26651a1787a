/* time_plan.c - milliseconds of processor time that planning takes: one compilation after another, for each a line for
 * every search for order and placement in it, one for the check of what is taken, and an empty one. The arguments are
 * occamyc's. Linked with --wrap=program_plan and --wrap=program_confirm; read by memory.py. */
#include "command_line.h"
#include "compile.h"
#include "program/program.h"

#include <setjmp.h>
#include <stdio.h>
#include <time.h>

enum { TIMES = 5 };

int __real_program_plan(Program **program, const PlanOptions *options, Plan *plan, Diag *diag);
int __wrap_program_plan(Program **program, const PlanOptions *options, Plan *plan, Diag *diag);
int __real_program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag);
int __wrap_program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag);

static int tell_time(clock_t began, int status)
{
    printf("%.2f\n", 1000.0 * (double)(clock() - began) / CLOCKS_PER_SEC);
    return status;
}

/* Takes the place of program_plan. */
int __wrap_program_plan(Program **program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    clock_t began = clock();

    return tell_time(began, __real_program_plan(program, options, plan, diag));
}

/* Takes the place of program_confirm. */
int __wrap_program_confirm(Program *program, const PlanOptions *options, Plan *plan, Diag *diag)
{
    clock_t began = clock();

    return tell_time(began, __real_program_confirm(program, options, plan, diag));
}

static int compile_once(int count, char **argument)
{
    Arena  *arena = arena_new(0);
    jmp_buf exhausted;
    int     status = -1;

    if (arena && !setjmp(exhausted)) {
        Diag    diag = {.arena = arena, .file = "time_plan"};
        Output  output = {.standard = text_new(arena), .summary = text_new(arena)};
        Options options;

        arena_on_exhausted(arena, &exhausted);
        status = options_parse(&options, count, argument, &diag);
        if (status == 0)
            status = occ_compile(&options, &diag, &output);
    }
    arena_free(arena);
    return status;
}

int main(int count, char **argument)
{
    for (int i = 0; i < TIMES; i++) {
        if (compile_once(count, argument) < 0)
            return 1;
        puts("");
    }
    return 0;
}
