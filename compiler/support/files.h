/* files.h - a set of output files that appear together or not at all. Knows nothing of what they hold. */
#ifndef OCC_SUPPORT_FILES_H
#define OCC_SUPPORT_FILES_H

#include "support/diag.h"
#include <stddef.h>

typedef struct FilePiece {
    const void *data; /* NULL: zeros */
    size_t      bytes;
} FilePiece;

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

/* The same for a file made of pieces, so that large ones need not be put together in memory. */
void files_add_pieces(FileSet *set, const char *path, const FilePiece *piece, int count);

/* Write every file to a temporary beside its path, then rename them all. Returns 0, or -1 with a usage message; then no
 * temporary is left and no file was replaced, unless a rename failed after another had succeeded (the message says so). */
int files_publish(FileSet *set, Diag *diag);

#endif
