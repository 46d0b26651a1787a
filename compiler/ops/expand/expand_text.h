/* expand_text.h - operators that are written as text, in schemas/functions.txt, with other operators. The text of an
 * operator is evaluated for a node: what is known while compiling (attributes, ranks, element types) is computed, and
 * each operation on a tensor inserts a node. schemas/functions.txt describes the language. Knows graphs only. */
#ifndef OCC_OPS_EXPAND_EXPAND_TEXT_H
#define OCC_OPS_EXPAND_EXPAND_TEXT_H

#include "ops/expand/expand.h"

enum { TEXT_LIST = 2 * MAX_RANK, TEXT_ARGUMENTS = 16, TEXT_NAMES = 64, TEXT_RESULTS = 4 };

typedef enum FormulaKind {
    FORMULA_NONE,
    FORMULA_TENSOR,
    FORMULA_WHOLE,
    FORMULA_REAL,
    FORMULA_LIST,
    FORMULA_WORD
} FormulaKind;

/* The value of an expression. */
typedef struct FormulaValue {
    FormulaKind kind;
    Value      *value; /* of a tensor */
    DType       dtype; /* its element type, which inference finds only later for new tensors; DTYPE_NONE: not known */
    int64_t     whole; /* a whole number; element types are their numbers in ONNX */
    double      real;  /* the number, whole or not */
    int         count; /* of a list of whole numbers */
    int64_t     list[TEXT_LIST];
    const char *word; /* a string */
} FormulaValue;

typedef struct Named {
    const char  *name; /* of `length` characters */
    int          length;
    FormulaValue term;
} Named;

typedef struct Formula {
    Expand      *expand;
    const char  *text;             /* all functions */
    const char  *at;               /* what is read next */
    int          nesting;          /* open brackets: inside, a line goes on behind its end */
    int          skips;            /* above 0: what is read is checked, but makes no node */
    int          depth;            /* functions that call each other */
    bool         failed;           /* a message is recorded */
    Named        name[TEXT_NAMES]; /* of the function that is evaluated: inputs, attributes, what it has set */
    int          nname;
    FormulaValue result[TEXT_RESULTS]; /* of the last call of a function in the text */
    int          nresult;              /* 0: the last call was that of an operator */
} Formula;

/* schemas/functions.txt */
extern const char functions_text[];

/* Reads all of `text` without making a node. Returns 0, or -1 with a message at the first mistake. */
int formula_check(Expand *expand, const char *text);

/* ------------------------------------------------------------------------------- expand_text.c: words, expressions */

FormulaValue formula_expression(Formula *f);
/* Records that something else than `wanted` stands at f->at. Returns a FORMULA_NONE. */
FormulaValue  formula_wrong(Formula *f, const char *wanted);
void          formula_blanks(Formula *f);                  /* goes on behind blanks and comments */
bool          formula_takes(Formula *f, const char *mark); /* if it stands there, goes on behind it */
bool          formula_needs(Formula *f, const char *mark);
const char   *formula_word(Formula *f, int *length);                  /* goes on behind a name; NULL: there is none */
FormulaValue *formula_find(Formula *f, const char *name, int length); /* NULL: not set */
void          formula_set(Formula *f, const char *name, int length, FormulaValue term);

bool         formula_is_named(const char *name, int length, const char *wanted); /* are the names equal? */
FormulaValue formula_whole(int64_t number);
FormulaValue formula_real(double number);
FormulaValue formula_tensor(Value *value, DType dtype);
bool         formula_is_number(const FormulaValue *term);
bool         formula_is_true(const FormulaValue *term);

/* -------------------------------------------------------------------------------------- expand_text_call.c: calls */

/* A call, at the bracket behind its name: of an operator ("Add", "msft.CDist"), of one of the words that
 * schemas/functions.txt lists, or of a function of the text. */
FormulaValue formula_call(Formula *f, const char *name, int length);

/* The operator of two operands. An omitted one of Add or Mul leaves the other as it is. */
FormulaValue formula_binary(Formula *f, OpKind op, const FormulaValue *a, const FormulaValue *b);
FormulaValue formula_unary(Formula *f, OpKind op, const FormulaValue *a);

/* ------------------------------------------------------------------------- expand_text_function.c: whole functions */

/* Evaluates the function of the text at f->at, behind its name, for these arguments. */
void formula_function(Formula *f, const FormulaValue *argument, int count);

/* The place behind the name of the function `name`; NULL: the text has none. */
const char *formula_find_function(const char *text, const char *name, int length);

#endif
