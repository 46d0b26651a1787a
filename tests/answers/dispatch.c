/* dispatch.c - many host programs in one: runs the jobs of a file, each in a process of its own.
 * A line of the file: the job's name, its folder, the program's number, then its arguments, separated by tabs.
 * Prints "NAME STATUS" for each; what a job says goes to FOLDER/NAME.log. A status above 128 is a signal's number +
 * 128. */
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
    _exit(status);
}

/* The whole file: a child that ends by exit() would set back a file that is still open, and the parent read the same
 * jobs again. */
static char *read_jobs(const char *path)
{
    FILE  *file = fopen(path, "r");
    size_t room = 1 << 16, size = 0;
    char  *text = malloc(room);

    while (file && text && (size += fread(text + size, 1, room - size - 1, file)) == room - 1)
        text = realloc(text, room *= 2);
    if (file)
        fclose(file);
    if (!file || !text)
        exit(2);
    text[size] = 0;
    return text;
}

int main(int argc, char **argv)
{
    char *line, *next = argc == 2 ? read_jobs(argv[1]) : NULL;

    if (!next)
        return 2;
    while ((line = next) && *line) {
        char *word[MOST_ARGUMENTS + 1] = {NULL};
        int   words = 0, status;
        if ((next = strchr(line, '\n')))
            *next++ = 0;
        for (char *part = strtok(line, "\t"); part && words < MOST_ARGUMENTS; part = strtok(NULL, "\t"))
            word[words++] = part;
        fflush(stdout);
        if (fork() == 0)
            run_job(word, words);
        wait(&status);
        printf("%s %d\n", word[0], WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    return 0;
}
