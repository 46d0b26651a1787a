/* files.c - a set of output files that appear together or not at all. */
#include "support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void files_add(FileSet *set, const char *path, const void *data, size_t bytes)
{
    FilePiece *piece = arena_one(set->arena, FilePiece);

    *piece = (FilePiece){.data = data, .bytes = bytes};
    files_add_pieces(set, path, piece, 1);
}

void files_add_pieces(FileSet *set, const char *path, const FilePiece *piece, int count)
{
    OutputFile file = {.path = path, .piece = piece, .npiece = count};

    ARENA_PUSH(set->arena, set->file, set->nfile, set->cfile, file);
}

static int write_all(int descriptor, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(descriptor, data, bytes);

        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

const void *file_piece_block(const FilePiece *piece, size_t from, void *room, size_t *bytes)
{
    *bytes = piece->bytes - from;
    if (piece->data)
        return (const char *)piece->data + from;
    if (*bytes > FILE_BLOCK)
        *bytes = FILE_BLOCK;
    if (piece->make)
        piece->make(piece->of, (int64_t)from, (int64_t)*bytes, room);
    else
        memset(room, 0, *bytes);
    return room;
}

static int write_pieces(FileSet *set, int descriptor, const OutputFile *file)
{
    ArenaMark mark = arena_mark(set->arena);
    void     *room = arena_alloc(set->arena, FILE_BLOCK);
    int       failed = 0;

    for (int i = 0; i < file->npiece; i++)
        for (size_t at = 0, bytes; at < file->piece[i].bytes && !failed; at += bytes) {
            const void *block = file_piece_block(&file->piece[i], at, room, &bytes);

            failed = write_all(descriptor, block, bytes);
        }
    arena_release(set->arena, mark);
    return failed;
}

/* A new file beside `path`: a name that nobody uses, so that two compilations never write the same temporary. */
static int create_beside(FileSet *set, OutputFile *file)
{
    for (int attempt = 0; attempt < 1000; attempt++) {
        char *name = arena_printf(set->arena, "%s.%ld.%d.tmp", file->path, (long)getpid(), attempt);
        int   descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);

        if (descriptor >= 0) {
            file->temporary = name;
            return descriptor;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static int write_temporary(FileSet *set, OutputFile *file)
{
    int descriptor = create_beside(set, file);
    int failed, saved;

    if (descriptor < 0)
        return -1;
    failed = write_pieces(set, descriptor, file);
    saved = errno;
    if (close(descriptor) < 0 && !failed) {
        failed = -1;
        saved = errno;
    }
    errno = saved;
    return failed;
}

/* Whether the path is a device, a pipe or another file that is written in place: renaming cannot replace it. */
static bool is_special(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static int write_in_place(FileSet *set, const OutputFile *file)
{
    int descriptor = open(file->path, O_WRONLY);
    int failed;

    if (descriptor < 0)
        return -1;
    failed = write_pieces(set, descriptor, file);
    return close(descriptor) < 0 ? -1 : failed;
}

static int discard(FileSet *set, Diag *diag, const OutputFile *at, const char *advice)
{
    int reason = errno;

    for (int i = 0; i < set->nfile; i++)
        if (set->file[i].temporary)
            unlink(set->file[i].temporary);
    return diag_usage(diag, "cannot write '%s': %s%s", at->path, strerror(reason), advice);
}

/* Renaming onto a folder would fail only after others were renamed: look before. */
static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int files_publish(FileSet *set, Diag *diag)
{
    for (int i = 0; i < set->nfile; i++) {
        OutputFile *file = &set->file[i];

        if (is_folder(file->path)) {
            errno = EISDIR;
            return discard(set, diag, file, "; nothing was written");
        }
        if (!is_special(file->path) && write_temporary(set, file) < 0)
            return discard(set, diag, file, "; nothing was written");
    }
    for (int i = 0; i < set->nfile; i++)
        if (!set->file[i].temporary && write_in_place(set, &set->file[i]) < 0)
            return discard(set, diag, &set->file[i], "; no file was replaced");
    for (int i = 0; i < set->nfile; i++) {
        OutputFile *file = &set->file[i];

        if (file->temporary && rename(file->temporary, file->path))
            return discard(set, diag, file,
                           i ? "; the files before it in this run were written" : "; nothing was written");
        file->temporary = NULL;
    }
    return 0;
}

int files_write(const char *folder, const char *name, const void *data, size_t bytes, Diag *diag)
{
    FileSet set = {.arena = diag->arena};

    files_add(&set, arena_printf(diag->arena, "%s/%s", folder, name), data, bytes);
    return files_publish(&set, diag);
}
