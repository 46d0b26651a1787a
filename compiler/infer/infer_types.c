/* infer_types.c - the column `types` of schemas/ops.def: what each input of an operator must hold, a word for each. */
#include "infer/infer.h"
#include "support/text.h"

#include <stdlib.h>
#include <string.h>

static DType dtype_of_suffix(const char *text, size_t length)
{
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++)
        if (strlen(dtype_info((DType)d)->suffix) == length && !strncmp(dtype_info((DType)d)->suffix, text, length))
            return (DType)d;
    return DTYPE_NONE;
}

/* "F|f16|i32": any of these classes and types. */
static int check_set(Infer *infer, const Node *node, int input, const char *text, size_t length)
{
    Text        wanted = text_new(infer->diag->arena);
    const char *end = text + length;
    DType       dtype;
    size_t      part;

    if (infer_need_tensor(infer, node, input) < 0)
        return -1;
    dtype = node->in[input]->type.dtype;
    for (; text < end; text += part + 1) {
        DType exactly;

        part = strcspn(text, "|[!=+ ");
        exactly = dtype_of_suffix(text, part);
        if (exactly != DTYPE_NONE ? exactly == dtype : memchr(text, dtype_info(dtype)->class, part) != NULL)
            return 0;
        for (size_t i = 0; i < (exactly != DTYPE_NONE ? 1 : part); i++)
            text_printf(&wanted, "%s%s", wanted.size ? " or " : "",
                        exactly != DTYPE_NONE ? dtype_info(exactly)->name : infer_class_words(text[i]));
    }
    return diag_error(infer->diag, node->loc, "input %d '%s' holds %s, wanted %s", input, node->in[input]->name,
                      dtype_info(dtype)->name, wanted.data);
}

/* "FLIU-C", "i64", "F|f16" or "*". */
static int check_elements(Infer *infer, const Node *node, int input, const char *text, size_t length)
{
    char  classes[16] = "";
    DType exactly = dtype_of_suffix(text, length);

    if (exactly != DTYPE_NONE)
        return infer_need_exactly(infer, node, input, exactly);
    if (*text == '*')
        return infer_need_tensor(infer, node, input);
    if (memchr(text, '|', length))
        return check_set(infer, node, input, text, length);
    memcpy(classes, text, length < sizeof classes ? length : sizeof classes - 1);
    return infer_need_dtype(infer, node, input, classes);
}

/* "[2]", "[1..2]" or "[3..]". */
static int check_rank(Infer *infer, const Node *node, int input, const char *text)
{
    char *end;
    int   lo = (int)strtol(text + 1, &end, 10), hi = lo;

    if (*end == '.')
        hi = end[2] == ']' ? MAX_RANK : (int)strtol(end + 2, NULL, 10);
    return infer_need_rank(infer, node, input, lo, hi);
}

/* One word on one input. */
static int check_input(Infer *infer, const Node *node, int input, const char *word)
{
    size_t length;

    if (*word == '.' || (*word == '?' && !infer_has(node, input)))
        return 0;
    word += *word == '?';
    length = strcspn(word, "[!=+ ");
    if (check_elements(infer, node, input, word, length) < 0)
        return -1;
    for (word += length; *word && *word != ' '; word++)
        if ((*word == '[' && check_rank(infer, node, input, word) < 0) ||
            (*word == '!' && infer_need_scalar(infer, node, input) < 0) ||
            (*word == '=' && infer_need_same_dtype(infer, node, atoi(word + 1), input) < 0))
            return -1;
    return 0;
}

int infer_check_types(Infer *infer, const Node *node, const char *types)
{
    for (int i = 0; *types; i++) {
        size_t length = strcspn(types, " ");
        bool   all = types[length - 1] == '+';

        for (int k = i; k <= (all ? node->nin - 1 : i); k++)
            if (check_input(infer, node, k, types) < 0)
                return -1;
        types += length + (types[length] == ' ');
    }
    return 0;
}
