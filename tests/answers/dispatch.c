/* dispatch.c - many host programs in one: runs the jobs of a file, each in a process of its own.
 * A line of the file: the job's name, its folder, the program's number, then its arguments, separated by tabs.
 * Prints "NAME STATUS" for each; what a job says goes to FOLDER/NAME.log. A status above 128 is a signal's number + 128. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table.h" /* models[]: each model's tables; programs[]: a main() of its own, or NULL */

int host_run(const void *model, int argc, char **argv); /* the host program with the tables of a model */

#ifdef COUNT_BRANCHES
void __gcov_dump(void); /* _exit() would not write what was counted */
#endif

enum { MOST_ARGUMENTS = 64, SECONDS = 30 };

static void run_job(char **word, int words)
{
    char log[300];
    int  file, number, status;

    if (chdir(word[1]))
        _exit(127);
    snprintf(log, sizeof log, "%s.log", word[0]);
    file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, 1);
    dup2(file, 2);
    alarm(SECONDS);
    number = atoi(word[2]);
    status = programs[number] ? programs[number](words - 2, word + 2) : host_run(*models[number], words - 2, word + 2);
    fflush(stdout);
#ifdef COUNT_BRANCHES
    __gcov_dump();
#endif
    _exit(status); /* exit() would set back the file of jobs, which the parent reads on */
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    FILE       *jobs = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!jobs)
        return 2;
    while (fgets(line, sizeof line, jobs)) {
        char *word[MOST_ARGUMENTS + 1] = {NULL};
        int   words = 0, status;
        for (char *part = strtok(line, "\t\n"); part && words < MOST_ARGUMENTS; part = strtok(NULL, "\t\n"))
            word[words++] = part;
        fflush(stdout);
        if (fork() == 0)
            run_job(word, words);
        wait(&status);
        printf("%s %d\n", word[0], WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    fclose(jobs);
    return 0;
}
