/* attr_check.c - the attributes of a node against the rows of schemas/attrs.def. */
#include "graph/make.h"
#include "graph/ops.h"
#include "onnx/reader.h"
#include "support/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct AttrRow {
    OpKind      op;
    const char *name;
    AttrKind    kind;
    int         since, until;
    bool        must;
    const char *values;
} AttrRow;

static const AttrRow rows[] = {
#define ATTR(domain, op, name, kind, since, until, must, values) \
    {OP_##domain##_##op, #name, ATTR_##kind, since, until, must, values},
#include "schemas/attrs.def"
#include "schemas/attrs_more.def"
#undef ATTR
};

enum { NROW = (int)(sizeof rows / sizeof *rows) };

static const char *const kind_name[] = {
    [ATTR_INT] = "an integer",
    [ATTR_FLOAT] = "a float",
    [ATTR_STRING] = "a string",
    [ATTR_TENSOR] = "a tensor",
    [ATTR_GRAPH] = "a graph",
    [ATTR_INTS] = "a list of integers",
    [ATTR_FLOATS] = "a list of floats",
    [ATTR_STRINGS] = "a list of strings",
    [ATTR_TYPE] = "a type",
    [ATTR_REF] = "a reference",
};
_Static_assert(ATTR_REF == 9, "kind_name has words for each AttrKind");

static bool applies(const AttrRow *row, const Node *node)
{
    return row->op == node->op && node->opset >= row->since && (!row->until || node->opset <= row->until);
}

static const AttrRow *find_row(const Node *node, const char *name)
{
    for (int i = 0; i < NROW; i++)
        if (applies(&rows[i], node) && !strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* Names that the format reserves for tools, and attributes about overwriting inputs, which planning decides. */
static bool is_ignored(const Node *node, const char *name)
{
    return !strncmp(name, "__", 2) ||
           (!op_info[node->op].domain[0] && node->opset < 6 && !strcmp(name, "consumed_inputs"));
}

static int unknown(Reader *reader, const Node *node, const char *name)
{
    Text text = text_new(reader->scratch);

    for (int i = 0; i < NROW; i++)
        if (applies(&rows[i], node))
            text_printf(&text, "%s%s", text.size ? ", " : "", rows[i].name);
    return diag_error(reader->diag, node->loc,
                      "attribute '%s' is none that the operator has in version %d, which takes %s", name, node->opset,
                      text.size ? text.data : "no attributes");
}

int attr_expect(Reader *reader, const Node *node, const char *name, AttrKind kind)
{
    const AttrRow *row = find_row(node, name);

    if (is_ignored(node, name))
        return 0;
    if (!row)
        return unknown(reader, node, name);
    if (row->kind != kind)
        return diag_error(reader->diag, node->loc, "attribute '%s' is %s, wanted %s", name, kind_name[kind],
                          kind_name[row->kind]);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- values */

static bool same_letter(char a, char b, bool any_case)
{
    return a == b || (any_case && (a | 32) == (b | 32));
}

/* Whether `word` is among `words`, which blanks divide. */
static bool has_word(const char *words, const char *word)
{
    bool any_case = *words == '~';

    word = *word ? word : "-";
    for (words += any_case; *words; words += *words == ' ') {
        size_t length = strcspn(words, " "), same = 0;
        while (same < length && word[same] && same_letter(words[same], word[same], any_case))
            same++;
        if (same == length && !word[length])
            return true;
        words += length;
    }
    return false;
}

static int check_word(Reader *reader, const Node *node, const AttrRow *row, const char *word)
{
    if (!strcmp(row->values, "*") || has_word(row->values, word))
        return 0;
    return diag_error(reader->diag, node->loc, "attribute '%s' is '%s', wanted one of: %s", row->name, word,
                      row->values + (*row->values == '~'));
}

static bool has_number(const char *values, int64_t number)
{
    if (*values == '>')
        return values[1] == '=' ? number >= atoi(values + 2) : number > atoi(values + 1);
    for (; *values; values += strcspn(values, " "), values += *values == ' ')
        if (atoi(values) == number)
            return true;
    return false;
}

static int check_number(Reader *reader, const Node *node, const AttrRow *row, int64_t number)
{
    if (!*row->values || has_number(row->values, number))
        return 0;
    return diag_error(reader->diag, node->loc, "attribute '%s' is %lld, wanted %s%s", row->name, (long long)number,
                      *row->values == '>' ? "" : "one of: ", row->values);
}

static int check_value(Reader *reader, const Node *node, const AttrRow *row, const Attr *attr)
{
    int result = 0;

    if (attr->kind == ATTR_INT)
        return check_number(reader, node, row, attr->i);
    if (attr->kind == ATTR_STRING)
        return check_word(reader, node, row, attr->s);
    for (int i = 0; i < attr->count && !result; i++)
        result = attr->kind == ATTR_INTS      ? check_number(reader, node, row, attr->ints[i])
                 : attr->kind == ATTR_STRINGS ? check_word(reader, node, row, attr->strings[i])
                                              : 0;
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static int check_missing(Reader *reader, const Node *node)
{
    for (int i = 0; i < NROW; i++)
        if (rows[i].must && rows[i].kind != ATTR_GRAPH && applies(&rows[i], node) && !node_attr(node, rows[i].name))
            return diag_error(reader->diag, node->loc, "attribute '%s' is missing", rows[i].name);
    return 0;
}

/* An empty string counts as an absent attribute. */
static bool says_nothing(const AttrRow *row, const Attr *attr)
{
    return attr->kind == ATTR_STRING && !attr->s[0] && strcmp(row->values, "*");
}

int attrs_check(Reader *reader, Node *node)
{
    for (int i = node->nattr; i-- > 0;) {
        const Attr    *attr = &node->attr[i];
        const AttrRow *row = find_row(node, attr->name);

        if (attr_expect(reader, node, attr->name, attr->kind) || (row && check_value(reader, node, row, attr)))
            return -1;
        if (row && says_nothing(row, attr))
            node_drop_attr(node, attr->name);
    }
    return check_missing(reader, node);
}
