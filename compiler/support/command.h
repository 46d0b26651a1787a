/* command.h - other programs run for us (C compilers, a built model, Python) and the files they share with us.
 * Knows nothing of what they do. */
#ifndef OCC_SUPPORT_COMMAND_H
#define OCC_SUPPORT_COMMAND_H

#include "support/text.h"

/* Run `line` with the shell in `folder` (NULL: where we are); what it prints on both channels goes to `output`.
 * Returns its exit status, 128 + the signal that ended it, or -1 with errno set: it could not be started. */
int command_run(const char *folder, const char *line, Text *output);

/* `word` quoted for the shell. */
char *command_quote(Arena *arena, const char *word);

/* `word` as a person would type it: quoted only where the shell would see something else in it. */
const char *command_word(Arena *arena, const char *word);

/* A path as it reads from another folder; NULL: this one has no name. */
const char *path_absolute(Arena *arena, const char *path);

/* The folder in which the file of this program lies, or NULL: the system does not tell. */
const char *program_folder(Arena *arena);

/* The value of a variable of the environment, or `usual` where it is not set or empty. */
const char *command_variable(const char *name, const char *usual);

/* A new empty folder for files of ours, and the end of it with all that lies in it. NULL with errno set. */
char *folder_temporary(Arena *arena);
void  folder_remove(Arena *arena, const char *folder);

/* All bytes of a file in the arena (a NUL behind them, not counted), or NULL with errno set. */
char *file_read_whole(Arena *arena, const char *path, size_t *bytes);

#endif
