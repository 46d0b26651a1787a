/* main.c - the command: reads argv, compiles, prints, exits. The only file that does either of the last two. */
#include "command_line.h"
#include "compile.h"
#include "support/version.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static void print_text(const Text *text, FILE *where)
{
    if (text->size)
        fwrite(text->data, 1, text->size, where);
}

/* Standard output must have taken everything: a full disk is a failure like any other. */
static int finish_standard(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "occamyc: cannot write to standard output\n");
    return status ? status : DIAG_USAGE;
}

static int run_command(int argc, char **argv, Diag *diag)
{
    Options options;
    Output  output = {.standard = text_new(diag->arena), .summary = text_new(diag->arena)};

    if (options_parse(&options, argc, argv, diag) < 0)
        return -1;
    if (options.help)
        options_help(&output.standard);
    else if (options.version)
        text_put(&output.standard, "occamyc " OCCAMYC_VERSION "\n");
    else {
        diag->file = options.model;
        if (occ_compile(&options, diag, &output) < 0)
            return -1;
    }
    print_text(&output.standard, stdout);
    print_text(&output.summary, output.standard.size ? stderr : stdout);
    return 0;
}

int main(int argc, char **argv)
{
    jmp_buf exhausted;
    Arena  *arena = arena_new(0);
    Diag    diag = {.arena = arena, .file = "occamyc"}; /* until a model is named */
    int     failed;

    if (!arena || setjmp(exhausted)) {
        fprintf(stderr, "occamyc: out of memory\n");
        return DIAG_USAGE;
    }
    arena_on_exhausted(arena, &exhausted);
    signal(SIGXFSZ, SIG_IGN); /* at a file size limit write() fails, so that unfinished files can be removed */
    failed = run_command(argc, argv, &diag);
    for (int i = 0; i < diag.nmessage; i++)
        fprintf(stderr, "%s\n", diag.message[i]);
    failed = finish_standard(failed ? (diag.status ? (int)diag.status : DIAG_BUG) : 0);
    arena_free(arena);
    return failed;
}
