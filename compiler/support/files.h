/* files.h - a set of output files that appear together or not at all. Knows nothing of what they hold. */
#ifndef OCC_SUPPORT_FILES_H
#define OCC_SUPPORT_FILES_H

#include "support/diag.h"
#include <stddef.h>

/* Bytes of a file. A piece with `make` is computed while it is written, a block at a time: large files need not be in
 * memory as a whole. */
typedef struct FilePiece {
    const void *data; /* NULL: computed by `make`, or zeros */
    size_t      bytes;
    void (*make)(const void *of, int64_t from, int64_t bytes, void *to); /* bytes [from, from + bytes), or NULL */
    const void *of;
} FilePiece;

/* The most bytes of a computed piece that are made at a time; a multiple of every element size. */
enum { FILE_BLOCK = 256 * 1024 };

/* The next bytes of a piece, from byte `from` on, and how many they are: all that are left where they are stored, else
 * a block, which is made in `room` [FILE_BLOCK]. */
const void *file_piece_block(const FilePiece *piece, size_t from, void *room, size_t *bytes);

typedef struct OutputFile {
    const char      *path;
    const FilePiece *piece;
    int              npiece;
    char            *temporary; /* beside path; NULL: not written */
} OutputFile;

typedef struct FileSet {
    Arena      *arena;
    OutputFile *file;
    int         nfile, cfile;
} FileSet;

/* Remember `data`, which stays the caller's until files_publish returns. */
void files_add(FileSet *set, const char *path, const void *data, size_t bytes);

/* Remembers a file made of pieces, so that a large one need not be put together in memory. */
void files_add_pieces(FileSet *set, const char *path, const FilePiece *piece, int count);

/* Write every file to a temporary beside its path, then rename them all. Returns 0, or -1 with a usage message; then no
 * temporary is left and no file was replaced, unless a rename failed after another had succeeded (the message says
 * so). */
int files_publish(FileSet *set, Diag *diag);

/* Writes one file likewise. */
int files_write(const char *folder, const char *name, const void *data, size_t bytes, Diag *diag);

#endif
