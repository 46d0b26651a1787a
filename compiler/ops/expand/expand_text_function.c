/* expand_text_function.c - functions of schemas/functions.txt: their heads, their statements, and the rule that
 * replaces a node by what the text of its operator says; see expand_text.h. */
#include "ops/expand/expand_rules.h"
#include "ops/expand/expand_text.h"

#include <string.h>

/* Inputs "x*" come in groups of one length: Adam(rate, t, x*, gradient*) has two behind the first two inputs, and what
 * stands behind "each:" is done for each tensor of the group. */
typedef struct Head {
    Named list[TEXT_RESULTS + 1]; /* names of inputs that are lists */
    int   nlist, single;          /* how many there are; inputs in front of them */
    Named out[TEXT_RESULTS];
    int   nout;
} Head;

/* ------------------------------------------------------------------------------------------------------------ heads */

static FormulaValue attribute_of(const Formula *f, const char *name, int length, FormulaValue otherwise)
{
    const Node  *node = f->expand->node;
    FormulaValue term = {.kind = FORMULA_LIST};

    for (int i = 0; i < node->nattr; i++) {
        const Attr *attr = &node->attr[i];
        if (!formula_is_named(name, length, attr->name))
            continue;
        if (attr->kind == ATTR_INT)
            return formula_whole(attr->i);
        if (attr->kind == ATTR_FLOAT)
            return formula_real((double)attr->f);
        if (attr->kind == ATTR_STRING)
            return (FormulaValue){.kind = FORMULA_WORD, .word = attr->s};
        if (attr->kind != ATTR_INTS)
            continue;
        for (int k = 0; k < attr->count && term.count < TEXT_LIST; k++)
            term.list[term.count++] = attr->ints[k];
        return term;
    }
    return otherwise;
}

/* "x, y, z*" */
static void inputs(Formula *f, Head *head, const FormulaValue *argument, int count)
{
    int         length;
    const char *name;

    while ((name = formula_word(f, &length)) != NULL) {
        if (formula_takes(f, "*") && head->nlist <= TEXT_RESULTS)
            head->list[head->nlist++] = (Named){.name = name, .length = length};
        else
            formula_set(f, name, length,
                        head->single < count ? argument[head->single] : (FormulaValue){.kind = FORMULA_NONE});
        head->single += !head->nlist;
        if (!formula_takes(f, ","))
            return;
    }
}

/* "epsilon = 1e-5, axis = -1": what the node says, or what stands here. */
static void attributes(Formula *f)
{
    int         length;
    const char *name;

    while ((name = formula_word(f, &length)) != NULL) {
        FormulaValue otherwise = {.kind = FORMULA_NONE};
        if (formula_needs(f, "="))
            otherwise = formula_expression(f);
        if (otherwise.kind == FORMULA_REAL)
            otherwise.real = (double)(float)otherwise.real; /* as exact as an attribute */
        formula_set(f, name, length, attribute_of(f, name, length, otherwise));
        if (!formula_takes(f, ","))
            return;
    }
}

static void read_head(Formula *f, Head *head, const FormulaValue *argument, int count)
{
    formula_needs(f, "(");
    inputs(f, head, argument, count);
    if (formula_takes(f, ";"))
        attributes(f);
    formula_needs(f, ")");
    formula_needs(f, "->");
    do {
        Named *out = &head->out[head->nout < TEXT_RESULTS ? head->nout++ : 0];
        out->name = formula_word(f, &out->length);
        if (!out->name)
            formula_wrong(f, "the name of an output");
        formula_takes(f, "*");
    } while (!f->failed && formula_takes(f, ","));
}

/* ------------------------------------------------------------------------------------------------------- statements */

/* The message with names in braces replaced by their numbers or strings: "found {heads} heads". */
static const char *filled(Formula *f, const char *message)
{
    Arena *arena = f->expand->model->arena;
    char  *text = arena_strdup(arena, "");

    while (*message) {
        size_t              length = strcspn(message, "{"), name = message[length] ? strcspn(message + length, "}") : 0;
        const FormulaValue *term = name ? formula_find(f, message + length + 1, (int)name - 1) : NULL;
        text = arena_printf(arena, "%s%.*s", text, (int)length, message);
        if (term && term->kind == FORMULA_WORD)
            text = arena_printf(arena, "%s%s", text, term->word);
        else if (term)
            text = arena_printf(arena, "%s%lld", text, (long long)term->whole);
        message += length + name + (name != 0);
    }
    return text;
}

/* `refuse condition: "message"`: a valid model that is not supported; `invalid`: one that no model may be. */
static void refuse(Formula *f, bool is_valid)
{
    FormulaValue condition = formula_expression(f), message;

    formula_needs(f, ":");
    message = formula_expression(f);
    if (f->failed || f->skips || !formula_is_true(&condition))
        return;
    if (message.kind != FORMULA_WORD)
        formula_wrong(f, "a message");
    else if (is_valid)
        diag_unsupported(f->expand->diag, f->expand->node->loc, "%s", filled(f, message.word));
    else
        diag_error(f->expand->diag, f->expand->node->loc, "%s", filled(f, message.word));
    f->failed = true;
}

/* Does the model want the output of this name? Names that are no outputs of an operator are wanted. */
static bool is_wanted(const Formula *f, const Head *head, const Named *name)
{
    for (int i = 0; i < head->nout && !f->depth; i++)
        if (head->out[i].length == name->length && !strncmp(head->out[i].name, name->name, (size_t)name->length))
            return expand_wants(f->expand, i);
    return true;
}

/* Sets the further results of a call: "y, mean? = ...", where the mark leaves out a result that nobody wants. */
static void set_further(Formula *f, const Head *head, const Named *target, const bool *optional, int count,
                        const FormulaValue *first)
{
    for (int i = 1; i < count; i++) {
        FormulaValue term = {.kind = FORMULA_NONE};
        if (!f->skips && first->kind == FORMULA_TENSOR && (!optional[i] || is_wanted(f, head, &target[i])))
            term = f->nresult ? f->result[i] : formula_tensor(expand_output(f->expand, i), first->dtype);
        formula_set(f, target[i].name, target[i].length, term);
    }
}

/* "y = ...", "y, mean = ..."; "y ?= ...": only where the model wants output y. */
static void assign(Formula *f, const Head *head)
{
    Named        target[TEXT_RESULTS] = {0};
    bool         optional[TEXT_RESULTS] = {false}, skipped;
    int          count = 0;
    FormulaValue term;

    do {
        target[count].name = formula_word(f, &target[count].length);
        if (!target[count].name) {
            formula_wrong(f, "a name");
            return;
        }
        optional[count] = *f->at == '?';
        f->at += optional[count];
    } while (++count < TEXT_RESULTS && formula_takes(f, ","));
    skipped = formula_takes(f, "?=");
    if (!skipped && !formula_needs(f, "="))
        return;
    skipped = skipped && !is_wanted(f, head, &target[0]);
    f->nresult = 0;
    f->skips += skipped;
    term = formula_expression(f);
    set_further(f, head, target, optional, count, &term);
    f->skips -= skipped;
    if (!f->failed)
        formula_set(f, target[0].name, target[0].length, term);
}

/* Goes on to the next line of the function, over empty ones and comments; false: there is none. */
static bool next_statement(Formula *f)
{
    do {
        formula_blanks(f);
        if (f->failed || *f->at != '\n' || strncmp(f->at + strspn(f->at, "\n"), "    ", 4) != 0)
            return false;
        f->at += strspn(f->at, "\n") + 4;
        formula_blanks(f);
    } while (*f->at == '\n');
    return true;
}

/* Reads statements to the end of the function, or to "each:". Returns whether that stands there. */
static bool statements(Formula *f, const Head *head)
{
    while (next_statement(f)) {
        if (formula_takes(f, "each:"))
            return true;
        if (formula_takes(f, "refuse "))
            refuse(f, true);
        else if (formula_takes(f, "invalid "))
            refuse(f, false);
        else
            assign(f, head);
    }
    if (*f->at && *f->at != '\n')
        formula_wrong(f, "the end of the line");
    return false;
}

/* -------------------------------------------------------------------------------------------------------- functions */

static FormulaValue result_of(Formula *f, const Named *out)
{
    const FormulaValue *term = formula_find(f, out->name, out->length);

    return term ? *term : (FormulaValue){.kind = FORMULA_NONE};
}

/* Gives outputs first, first + step, ... of the replaced node. */
static void give(Formula *f, const Head *head, int first, int step)
{
    for (int i = 0; i < head->nout && !f->failed && !f->skips; i++) {
        FormulaValue term = result_of(f, &head->out[i]);
        if (term.kind == FORMULA_TENSOR)
            expand_give(f->expand, first + i * step, term.value);
    }
}

/* How many tensors there are in each list of inputs; 0 with a message: their number does not fit. */
static int tensors(Formula *f, const Head *head, int count)
{
    int           lists = head->nlist, n = (count - head->single) / lists;
    const Expand *expand = f->expand;

    f->failed = true;
    if (n < 1 || count != head->single + n * lists)
        return diag_error(expand->diag, expand->node->loc, "found %d inputs, wanted %d and %d for each tensor", count,
                          head->single, lists) +
               1;
    for (int i = 0; i < count; i++)
        if (!expand->node->in[i])
            return diag_error(expand->diag, expand->node->loc, "input %d is omitted, but the operator needs it", i) + 1;
    f->failed = false;
    return n;
}

static void for_each(Formula *f, const Head *head, const FormulaValue *argument, int count)
{
    const char *begin = f->at;
    int         n = f->skips ? 1 : tensors(f, head, count);

    for (int i = 0; i < n && !f->failed; i++) {
        f->at = begin;
        for (int k = 0; k < head->nlist; k++)
            formula_set(f, head->list[k].name, head->list[k].length,
                        f->skips ? (FormulaValue){.kind = FORMULA_NONE} : argument[head->single + k * n + i]);
        statements(f, head);
        give(f, head, i, n);
    }
}

void formula_function(Formula *f, const FormulaValue *argument, int count)
{
    Head head = {0};

    read_head(f, &head, argument, count);
    if (statements(f, &head)) {
        for_each(f, &head, argument, count);
        return;
    }
    f->nresult = head.nout;
    for (int i = 0; i < head.nout; i++)
        f->result[i] = result_of(f, &head.out[i]);
    if (!f->depth)
        give(f, &head, 0, 1);
}

static bool begins_function(const char *line)
{
    return *line != ' ' && *line != '#' && *line != '\n' && *line != '\0';
}

static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    return *text ? text + 1 : NULL;
}

const char *formula_find_function(const char *text, const char *name, int length)
{
    for (; text; text = next_line(text))
        if (begins_function(text) && !strncmp(text, name, (size_t)length) && text[length] == '(')
            return text + length;
    return NULL;
}

int formula_check(Expand *expand, const char *text)
{
    for (const char *line = text; line; line = next_line(line)) {
        Formula f = {.expand = expand, .text = text, .at = line, .skips = 1, .depth = 1};
        if (!begins_function(line))
            continue;
        f.at += strcspn(line, "(");
        formula_function(&f, NULL, 0);
        if (f.failed)
            return -1;
    }
    return 0;
}

int expand_text(Expand *expand)
{
    const Node   *node = expand->node;
    const OpInfo *info = &op_info[node->op];
    FormulaValue *argument = arena_array(expand->model->arena, FormulaValue, node->nin + 1);
    Formula       f = {.expand = expand, .text = functions_text};
    char         *name = arena_printf(expand->model->arena, "%s.%s", info->word, info->name);

    for (int i = 0; i < node->nin; i++)
        argument[i] = formula_tensor(node->in[i], node->in[i] ? node->in[i]->type.dtype : DTYPE_NONE);
    f.at = formula_find_function(f.text, name, (int)strlen(name));
    if (!f.at)
        f.at = formula_find_function(f.text, info->name, (int)strlen(info->name));
    if (!f.at)
        return diag_bug(expand->diag, node->loc, "schemas/functions.txt: found no function '%s'", name);
    formula_function(&f, argument, node->nin);
    return f.failed ? -1 : 0;
}
