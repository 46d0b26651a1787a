/* expand_text.c - expressions of schemas/functions.txt; see expand_text.h. */
#include "ops/expand/expand_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- values */

FormulaValue formula_whole(int64_t number)
{
    return (FormulaValue){.kind = FORMULA_WHOLE, .whole = number, .real = (double)number};
}

FormulaValue formula_real(double number)
{
    return (FormulaValue){.kind = FORMULA_REAL, .real = number};
}

FormulaValue formula_tensor(Value *value, DType dtype)
{
    return (FormulaValue){.kind = value ? FORMULA_TENSOR : FORMULA_NONE, .value = value, .dtype = dtype};
}

bool formula_is_number(const FormulaValue *term)
{
    return term->kind == FORMULA_WHOLE || term->kind == FORMULA_REAL;
}

bool formula_is_true(const FormulaValue *term)
{
    if (term->kind == FORMULA_LIST)
        return term->count > 0;
    return formula_is_number(term) ? term->real != 0.0 : term->kind != FORMULA_NONE;
}

/* ------------------------------------------------------------------------------------------------------------ words */

bool formula_is_named(const char *name, int length, const char *wanted)
{
    return (int)strlen(wanted) == length && !strncmp(name, wanted, (size_t)length);
}

FormulaValue formula_wrong(Formula *f, const char *wanted)
{
    int length = (int)strcspn(f->at, "\n");

    if (!f->failed)
        diag_bug(f->expand->diag, f->expand->node->loc, "schemas/functions.txt: found '%.*s', wanted %s",
                 length < 40 ? length : 40, f->at, wanted);
    f->failed = true;
    return (FormulaValue){.kind = FORMULA_NONE};
}

/* Goes on behind blanks and comments, and behind the end of a line whose next one is indented twice. */
void formula_blanks(Formula *f)
{
    for (;;) {
        if (*f->at == '#')
            f->at += strcspn(f->at, "\n");
        else if (*f->at == ' ' || (*f->at == '\n' && (f->nesting || !strncmp(f->at, "\n        ", 9))))
            f->at++;
        else
            return;
    }
}

bool formula_takes(Formula *f, const char *mark)
{
    size_t length = strlen(mark);

    formula_blanks(f);
    if (f->failed || strncmp(f->at, mark, length) != 0)
        return false;
    f->at += length;
    f->nesting += (*mark == '(' || *mark == '[') - (*mark == ')' || *mark == ']');
    return true;
}

bool formula_needs(Formula *f, const char *mark)
{
    if (formula_takes(f, mark))
        return true;
    formula_wrong(f, mark);
    return false;
}

const char *formula_word(Formula *f, int *length)
{
    const char *name;

    formula_blanks(f);
    name = f->at;
    if (!isalpha((unsigned char)*name) && *name != '_')
        return NULL;
    while (isalnum((unsigned char)*f->at) || *f->at == '_' || (*f->at == '.' && isalpha((unsigned char)f->at[1])))
        f->at++;
    *length = (int)(f->at - name);
    return name;
}

FormulaValue *formula_find(Formula *f, const char *name, int length)
{
    for (int i = 0; i < f->nname; i++)
        if (f->name[i].length == length && !strncmp(f->name[i].name, name, (size_t)length))
            return &f->name[i].term;
    return NULL;
}

void formula_set(Formula *f, const char *name, int length, FormulaValue term)
{
    FormulaValue *old = formula_find(f, name, length);

    if (old)
        *old = term;
    else if (f->nname < TEXT_NAMES)
        f->name[f->nname++] = (Named){name, length, term};
    else
        formula_wrong(f, "fewer names");
}

/* ------------------------------------------------------------------------------------- numbers, lists and constants */

static FormulaValue number(Formula *f)
{
    const char *begin = f->at;

    while (isdigit((unsigned char)*f->at))
        f->at++;
    if (*f->at != 'e' && (*f->at != '.' || f->at[1] == '.')) /* 2..5 is a range of whole numbers */
        return formula_whole(strtoll(begin, NULL, 10));
    f->at = begin + strspn(begin, "0123456789.");
    if (*f->at == 'e')
        f->at += 1 + strspn(f->at + 1, "-0123456789");
    return formula_real(strtod(begin, NULL));
}

static void put_in_list(Formula *f, FormulaValue *list, const FormulaValue *from, const FormulaValue *last)
{
    int64_t end = last ? last->whole : from->whole;

    for (int i = 0; from->kind == FORMULA_LIST && i < from->count && list->count < TEXT_LIST; i++)
        list->list[list->count++] = from->list[i];
    for (int64_t i = from->whole; from->kind == FORMULA_WHOLE && i <= end && list->count < TEXT_LIST; i++)
        list->list[list->count++] = i;
    if (!f->skips && from->kind != FORMULA_LIST && from->kind != FORMULA_WHOLE)
        formula_wrong(f, "a whole number in the list");
}

static FormulaValue list(Formula *f)
{
    FormulaValue made = {.kind = FORMULA_LIST};

    while (!f->failed && !formula_takes(f, "]")) {
        FormulaValue from = formula_expression(f), last;
        bool         range = formula_takes(f, "..");
        if (range)
            last = formula_expression(f);
        put_in_list(f, &made, &from, range ? &last : NULL);
        if (!formula_takes(f, ",") && *f->at != ']')
            formula_wrong(f, "',' or ']'");
    }
    return made;
}

static FormulaValue word(Formula *f)
{
    size_t      length = strcspn(f->at, "\"\n");
    const char *begin = f->at;

    f->at += length;
    formula_needs(f, "\"");
    return (FormulaValue){.kind = FORMULA_WORD, .word = arena_strndup(f->expand->model->arena, begin, length)};
}

/* The names that mean the same everywhere. */
static bool constant(const char *name, int length, FormulaValue *term)
{
    static const struct {
        const char *name;
        double      number;
    } real[] = {{"inf", INFINITY}, {"pi", 3.14159265358979323846}};

    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        const char *suffix = dtype_info((DType)i) ? dtype_info((DType)i)->suffix : NULL;
        if (suffix && formula_is_named(name, length, suffix)) {
            *term = formula_whole(i);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (formula_is_named(name, length, real[i].name)) {
            *term = formula_real(real[i].number);
            return true;
        }
    *term = (FormulaValue){.kind = FORMULA_NONE};
    return formula_is_named(name, length, "none");
}

static FormulaValue name_or_call(Formula *f)
{
    int           length = 0;
    const char   *name = formula_word(f, &length);
    FormulaValue *found, term;

    if (!name)
        return formula_wrong(f, "an expression");
    if (*f->at == '(')
        return formula_call(f, name, length);
    found = formula_find(f, name, length);
    if (found)
        return *found;
    if (constant(name, length, &term))
        return term;
    f->at = name;
    return formula_wrong(f, "a name that is set before");
}

/* ------------------------------------------------------------------------------------------------------ expressions */

static FormulaValue unary(Formula *f)
{
    FormulaValue term;

    if (formula_takes(f, "-")) {
        term = unary(f);
        if (term.kind == FORMULA_WHOLE)
            return formula_whole(-term.whole);
        return term.kind == FORMULA_REAL ? formula_real(-term.real) : formula_unary(f, OP_onnx_Neg, &term);
    }
    if (formula_takes(f, "!")) {
        term = unary(f);
        return formula_whole(!formula_is_true(&term));
    }
    if (formula_takes(f, "(")) {
        term = formula_expression(f);
        formula_needs(f, ")");
        return term;
    }
    if (formula_takes(f, "["))
        return list(f);
    if (formula_takes(f, "\""))
        return word(f);
    return isdigit((unsigned char)*f->at) ? number(f) : name_or_call(f);
}

/* Operators of two operands, a longer mark before the one it begins with; `op` computes them for tensors. */
static const struct Mark {
    const char *mark;
    int         level; /* a higher one binds closer */
    OpKind      op;
} marks[] = {
    {"||", 1, OP_NONE},
    {"&&", 2, OP_NONE},
    {"==", 3, OP_onnx_Equal},
    {"!=", 3, OP_NONE},
    {"<=", 3, OP_onnx_LessOrEqual},
    {">=", 3, OP_onnx_GreaterOrEqual},
    {"<", 3, OP_onnx_Less},
    {">", 3, OP_onnx_Greater},
    {"+", 4, OP_onnx_Add},
    {"-", 4, OP_onnx_Sub},
    {"*", 5, OP_onnx_Mul},
    {"/", 5, OP_onnx_Div},
    {"%", 5, OP_onnx_Mod},
    {"^", 6, OP_onnx_Pow},
};

static bool are_equal(const FormulaValue *a, const FormulaValue *b)
{
    if (a->kind == FORMULA_NONE || b->kind == FORMULA_NONE)
        return a->kind == b->kind;
    if (a->kind == FORMULA_WORD && b->kind == FORMULA_WORD)
        return !strcmp(a->word, b->word);
    return formula_is_number(a) && formula_is_number(b) && a->real == b->real;
}

static FormulaValue number_of(const FormulaValue *a, const FormulaValue *b, char mark)
{
    bool   whole = a->kind == FORMULA_WHOLE && b->kind == FORMULA_WHOLE;
    double x = a->real, y = b->real;

    switch (mark) {
    case '+':
        return whole ? formula_whole(a->whole + b->whole) : formula_real(x + y);
    case '-':
        return whole ? formula_whole(a->whole - b->whole) : formula_real(x - y);
    case '*':
        return whole ? formula_whole(a->whole * b->whole) : formula_real(x * y);
    case '/':
        return whole && b->whole ? formula_whole(a->whole / b->whole) : formula_real(x / y);
    case '%':
        return formula_whole(b->whole ? a->whole % b->whole : 0);
    default:
        return formula_real(pow(x, y));
    }
}

/* The result of a mark whose operands are both known while compiling. */
static FormulaValue known(const FormulaValue *a, const FormulaValue *b, const char *mark)
{
    switch (*mark) {
    case '|':
        return formula_whole(formula_is_true(a) || formula_is_true(b));
    case '&':
        return formula_whole(formula_is_true(a) && formula_is_true(b));
    case '=':
        return formula_whole(are_equal(a, b));
    case '!':
        return formula_whole(!are_equal(a, b));
    case '<':
        return formula_whole(mark[1] ? a->real <= b->real : a->real < b->real);
    case '>':
        return formula_whole(mark[1] ? a->real >= b->real : a->real > b->real);
    default:
        return number_of(a, b, *mark);
    }
}

static FormulaValue combine(Formula *f, const struct Mark *mark, const FormulaValue *a, const FormulaValue *b)
{
    bool tensors = a->kind == FORMULA_TENSOR || b->kind == FORMULA_TENSOR;
    bool asks = mark->level <= 2 || a->kind == FORMULA_NONE || b->kind == FORMULA_NONE; /* x == none asks, too */

    if (f->skips || f->failed)
        return (FormulaValue){.kind = FORMULA_NONE};
    if (tensors && (mark->op == OP_onnx_Add || mark->op == OP_onnx_Mul || !asks))
        return formula_binary(f, mark->op, a, b);
    return known(a, b, mark->mark);
}

static const struct Mark *mark_at(Formula *f, int level)
{
    formula_blanks(f);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(f->at, marks[i].mark, strlen(marks[i].mark)))
            return marks[i].level >= level ? &marks[i] : NULL;
    return NULL;
}

static FormulaValue binary(Formula *f, int level)
{
    FormulaValue       left = unary(f), right;
    const struct Mark *mark;

    while (!f->failed && (mark = mark_at(f, level)) != NULL) {
        bool decided = mark->level <= 2 && formula_is_true(&left) == (mark->level == 1);
        f->at += strlen(mark->mark);
        f->skips += decided;
        right = binary(f, mark->level + 1);
        f->skips -= decided;
        left = combine(f, mark, &left, &right);
    }
    return left;
}

/* One of two branches: the other one is read, but makes nothing. */
static FormulaValue branch(Formula *f, bool taken)
{
    FormulaValue term;

    f->skips += !taken;
    term = formula_expression(f);
    f->skips -= !taken;
    return term;
}

FormulaValue formula_expression(Formula *f)
{
    FormulaValue asked = binary(f, 1), yes, no;
    bool         first = formula_is_true(&asked);

    if (!formula_takes(f, "?"))
        return asked;
    yes = branch(f, first);
    formula_needs(f, ":");
    no = branch(f, !first);
    return first ? yes : no;
}
