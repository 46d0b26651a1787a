/* token_lower.c - com.microsoft's operators on text: tokens cut out by a pattern, which becomes a table here, and
 * hashes. */
#include "lower/control.h"
#include "ops/rules.h"
#include "ops/text/text_lower.h"

#include <string.h>

static const char ANY[] = "[\\x{1}-\\x{10FFFF}]"; /* a character, whatever it is */

/* A separator of one character, written as a pattern that means just it; NULL: it is more. */
static const char *one_character(Arena *arena, const char *separator)
{
    size_t length = strlen(separator);

    if (length == 1 && !strchr(".*+?|()[]{}^$\\", *separator))
        return separator;
    if (length == 2 && *separator == '\\' && strchr(".*+?|()[]{}^$\\tn", separator[1]))
        return separator;
    if (length == 3 && separator[0] == '[' && separator[2] == ']' && separator[1] != '^' && separator[1] != '\\')
        return arena_printf(arena, "%s", separator);
    return NULL;
}

/* The pattern of all separators: one, or each a single character, so that no two overlap. */
static const char *separators(Lower *lower, const Node *node, const Attr *list)
{
    Text all = text_new(lower->arena);

    if (list->count == 1)
        return *list->strings[0] ? list->strings[0] : NULL;
    for (int i = 0; i < list->count; i++) {
        const char *one = one_character(lower->arena, list->strings[i]);

        if (!one) {
            diag_unsupported(lower->diag, node->loc,
                             "of several separators '%s' is more than one character; join them into one pattern",
                             list->strings[i]);
            return NULL;
        }
        text_printf(&all, "%s%s", i ? "|" : "", one);
    }
    return all.data;
}

/* The table of the node's pattern, and whether it is what lies between tokens. */
static int pattern_of(Lower *lower, const Node *node, RegexTable *table, bool *between)
{
    const Attr *list = node_attr(node, "separators");
    const char *pattern = node_string(node, "tokenexp", ""), *error;

    *between = list && list->kind == ATTR_STRINGS && list->count && !(list->count == 1 && !*list->strings[0]);
    if (*between)
        pattern = separators(lower, node, list);
    else if ((list && list->count) || !strcmp(pattern, "."))
        pattern = ANY;
    if (!pattern)
        return -1;
    if (!*pattern)
        return diag_error(lower->diag, node->loc, "found neither separators nor tokenexp; wanted one of them");
    error = regex_compile(lower->program->arena, pattern, table);
    if (!error && table->placed)
        error = "what holds only at an end of the text or of a word (^, $, \\b) is not supported";
    if (!error && *between && table->accepts[1])
        error = "a separator that matches the empty text";
    return error ? diag_unsupported(lower->diag, node->loc, "pattern '%s': %s; write it otherwise", pattern, error) : 0;
}

int lower_tokenizer(Lower *lower, const Node *node)
{
    const Type  *type = &node->out[0]->type;
    const Value *made = node->out[0];
    int          last = type->rank - 1;
    int64_t      one = 1, capacity = type->dim[last].max;
    const char **pad = arena_array(lower->program->arena, const char *, 1);
    RegexTable   table;
    TableParts   parts;
    bool         between;
    Operand      x, y, pool;
    Extent       most = control_symbol(lower, made, type->dim[last]), n = type_count(lower->model, &node->in[0]->type);

    if (pattern_of(lower, node, &table, &between) < 0 || lower_input_dense(lower, node, 0, &x) < 0)
        return -1;
    if (extent_is_const(most))
        most = extent_symbol(lower->model, EXPR_VAR, made->id, 300 + last, 0, INT64_MAX / 64);
    parts = text_table(lower, &table);
    if (STEP(lower, node, "text_token_count", ARG(x, x), ARG(class_of, parts.class_of), ARG(next, parts.next),
             ARG(accepts, parts.accepts), ARG(most, lower_slot(lower, most)), ARG(n, n), ARG(classes, table.classes),
             ARG(least, node_int(node, "mincharnum", 1)), ARG(between, between),
             ARG(mark, node_int(node, "mark", 0) != 0), ARG(capacity, capacity)) < 0 ||
        control_give(lower, made, type->dim[last], most) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    *pad = node_string(node, "pad_value", "");
    pool = lower_text_pool(lower, y, type->text_bytes);
    return STEP_OUTPUT(lower, node, y, "text_tokens", ARG(x, x), ARG(class_of, parts.class_of), ARG(next, parts.next),
                       ARG(accepts, parts.accepts), ARG(pad, lower_weight(lower, pad, DTYPE_TEXT, 1, &one, "padding")),
                       ARG(pool, pool), ARG(n, n), ARG(most, type->dim[last]), ARG(classes, table.classes),
                       ARG(least, node_int(node, "mincharnum", 1)), ARG(between, between),
                       ARG(mark, node_int(node, "mark", 0) != 0), ARG(capacity, type->text_bytes));
}

int lower_murmur_hash(Lower *lower, const Node *node)
{
    const char *name = arena_printf(lower->program->arena, "murmur_%s_%s", dtype_info(node->in[0]->type.dtype)->suffix,
                                    dtype_info(node->out[0]->type.dtype)->suffix);
    Operand     x, y;

    if (!lower_has_kernel(lower, name))
        return diag_unsupported(lower->diag, node->loc,
                                "hashes of %s are not supported; cast the input to a wider type",
                                dtype_info(node->in[0]->type.dtype)->name);
    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, name, ARG(x, x), ARG(n, type_count(lower->model, &node->in[0]->type)),
                       ARG(seed, node_int(node, "seed", 0)));
}
