/* command.c - other programs and the files shared with them. */
#include "support/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child: directs both output channels into the pipe, then becomes the shell. */
static void become_shell(const char *folder, const char *line, const int channel[2])
{
    close(channel[0]);
    if (dup2(channel[1], STDOUT_FILENO) < 0 || dup2(channel[1], STDERR_FILENO) < 0)
        _exit(127);
    close(channel[1]);
    if (folder && chdir(folder) < 0)
        _exit(127);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static void collect(int descriptor, Text *output)
{
    char    bytes[4096];
    ssize_t got;

    while ((got = read(descriptor, bytes, sizeof bytes)) != 0) {
        if (got > 0)
            text_write(output, bytes, (size_t)got);
        else if (errno != EINTR)
            break;
    }
}

int command_run(const char *folder, const char *line, Text *output)
{
    int   channel[2], status;
    pid_t child;

    if (pipe(channel) < 0)
        return -1;
    child = fork();
    if (child == 0)
        become_shell(folder, line, channel);
    close(channel[1]);
    if (child > 0)
        collect(channel[0], output);
    close(channel[0]);
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char *command_quote(Arena *arena, const char *word)
{
    Text text = text_new(arena);

    text_put(&text, "'");
    for (; *word; word++)
        text_write(&text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_put(&text, "'");
    return text.data;
}

const char *command_word(Arena *arena, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";

    return *word && !word[strspn(word, plain)] ? word : command_quote(arena, word);
}

const char *path_absolute(Arena *arena, const char *path)
{
    char here[4096];

    if (*path == '/')
        return path;
    return getcwd(here, sizeof here) ? arena_printf(arena, "%s/%s", here, path) : NULL;
}

const char *program_folder(Arena *arena)
{
    char    path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    while (length > 0 && length < (ssize_t)sizeof path && path[length - 1] != '/')
        length--;
    return length > 1 && length < (ssize_t)sizeof path ? arena_strndup(arena, path, (size_t)length - 1) : NULL;
}

const char *command_variable(const char *name, const char *usual)
{
    const char *value = getenv(name);

    return value && *value ? value : usual;
}

char *folder_temporary(Arena *arena)
{
    return mkdtemp(arena_printf(arena, "%s/occamyc.XXXXXX", command_variable("TMPDIR", "/tmp")));
}

void folder_remove(Arena *arena, const char *folder)
{
    DIR           *list = opendir(folder);
    struct dirent *entry;

    while (list && (entry = readdir(list))) {
        char       *path;
        struct stat info;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        path = arena_printf(arena, "%s/%s", folder, entry->d_name);
        if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            folder_remove(arena, path);
        else
            unlink(path);
    }
    if (list)
        closedir(list);
    rmdir(folder);
}

char *file_read_whole(Arena *arena, const char *path, size_t *bytes)
{
    FILE       *file = fopen(path, "rb");
    struct stat info;
    char       *data = NULL;

    if (!file)
        return NULL;
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)) {
        data = arena_alloc(arena, (size_t)info.st_size + 1);
        *bytes = fread(data, 1, (size_t)info.st_size, file);
        if (ferror(file))
            data = NULL;
    } else {
        errno = EINVAL;
    }
    fclose(file);
    return data;
}
