/* embed.h - what the files of the embed tool share: growing lists, C tokens, template files and their pieces.
 * Nothing is ever freed: the tool lives for a second. */
#ifndef OCC_EMBED_H
#define OCC_EMBED_H

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIANTS = 400, MAX_PARAMS = 64 };

typedef enum RowKind {
    PARAM_READS,
    PARAM_WRITES,
    PARAM_INT,
    PARAM_INTS,
    PARAM_FLOAT,
    PARAM_FLOATS,
    PARAM_EXPR,
    PARAM_FN,
    PARAM_SHAPE
} RowKind;

typedef struct ElementType {
    const char *suffix, *ctype; /* "f32", "float" */
} ElementType;

/* What the TPL_ names of a template stand for: TPL_N and TPL_T, TPL_N2 and TPL_T2. */
typedef struct TypePair {
    const ElementType *type, *second; /* second: NULL where the row names one type */
} TypePair;

/* A row of schemas/kernels.def. `kernel` false: only gives a file its element types, or, where it names a language, the
 * code of a kernel in that one. */
typedef struct Row {
    const char *name, *file, *types, *record, *flags;
    bool        kernel;
    const char *language;
} Row;

typedef struct List {
    char *data;
    int   count, capacity;
} List;

/* A file, its include guard, #include lines and TPL_ defaults blanked (the line numbers stay). */
typedef struct Source {
    const char *path, *name; /* name: the path without folders */
    char       *text;
    bool        is_verbatim; /* kept as it is: files that are compiled beside each other */
    bool        is_template;
    bool        on_device; /* a template of device code */
    bool        visited;
    List        includes; /* char *: template files that it includes, by name */
} Source;

/* A top-level piece of a template. */
typedef struct Piece {
    const char *path, *name;
    bool        on_device;
    int         line; /* of its first character, from 1 */
    char       *text;
} Piece;

/* A piece with its element types written in. */
typedef struct Made {
    Piece  piece;
    char **defines;
    int    ndefine;
} Made;

/* A row of Kernel.param: see program/kernels.h. */
typedef struct Signed {
    RowKind     kind;
    const char *ctype, *name;
    const char *group, *group_type; /* the struct that it is a field of, "window", and its type; NULL: none */
    const char *inside;             /* the struct inside that one which holds it, or NULL */
    int         count;              /* of an array inside a struct, and axes of a shape; else 0 */
    int         of;                 /* a shape: which pointer it belongs to */
    bool        ranked;             /* a shape: it says how many axes it has */
} Signed;

typedef struct Signature {
    Signed param[MAX_PARAMS];
    int    nparam;
    int    ntaken; /* parameters of the function: a struct counts once */
    bool   fails;
} Signature;

typedef struct Token {
    const char *begin;
    size_t      length;
    bool        directive; /* a whole preprocessor line, its continuations included */
} Token;

/* embed_split.c */
void  fail(const char *path, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void *allocate(size_t bytes); /* zeroed */
char *copy(const char *text, size_t length);
void *list_add(List *list, size_t size); /* room for one more, zeroed */
void *list_at(const List *list, int index, size_t size);

bool is_word(char c);
bool next_token(const char **p, Token *token); /* comments and blanks skipped; false at the end */
bool token_is(const Token *token, const char *text);
bool peek_is(const char *p, const char *text); /* the next token is `text` */

void   read_sources(List *sources, char **path, int count); /* each after those that it includes */
void   split_pieces(const Source *source, List *pieces);
char **piece_defines(const char *text, int *count); /* identifiers of ours that the piece defines */
void   print_literal(const char *text);             /* as C string literals, a line each */
void   print_system_includes(const List *sources);

/* embed_signature.c */
bool read_signature(const List *chunks, const Made *chunk, const char *function,
                    Signature *s);                                 /* false: it is not there */
void print_call(int id, const char *function, const Signature *s); /* its parameters, and a function that calls it */

/* embed_scalar.c */
void print_scalars(const List *chunks);

#endif
