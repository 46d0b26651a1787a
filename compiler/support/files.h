/* files.h - a set of output files that appear together or not at all. Knows nothing of what they hold. */
#ifndef OCC_SUPPORT_FILES_H
#define OCC_SUPPORT_FILES_H

#include "support/diag.h"
#include <stddef.h>

typedef struct OutputFile {
    const char *path;
    const void *data;
    size_t      bytes;
    char       *temporary; /* beside path; NULL: not written */
} OutputFile;

typedef struct FileSet {
    Arena      *arena;
    OutputFile *file;
    int         nfile, cfile;
} FileSet;

/* Remember `data`, which stays the caller's until files_publish returns. */
void files_add(FileSet *set, const char *path, const void *data, size_t bytes);

/* Write every file to a temporary beside its path, then rename them all. Returns 0, or -1 with a usage message; then no
 * temporary is left and no file was replaced, unless a rename failed after another had succeeded (the message says so). */
int files_publish(FileSet *set, Diag *diag);

#endif
