/* label_lower.c - tables of ai.onnx.ml that give each key a label. */
#include "lower/call.h"
#include "ops/rules.h"
#include "support/int.h"

#include <string.h>

/* A list of elements that an attribute holds. */
typedef struct LabelList {
    DType       dtype; /* DTYPE_NONE: no such attribute */
    int64_t     count;
    const void *data; /* aligned; pointers to characters for text */
} LabelList;

static LabelList list_of(const Attr *attr)
{
    switch (attr ? attr->kind : ATTR_REF) {
    case ATTR_INTS:
        return (LabelList){DTYPE_I64, attr->count, attr->ints};
    case ATTR_FLOATS:
        return (LabelList){DTYPE_F32, attr->count, attr->floats};
    case ATTR_STRINGS:
        return (LabelList){DTYPE_TEXT, attr->count, attr->strings};
    default:
        return (LabelList){0};
    }
}

static LabelList list_of_tensor(Lower *lower, const Attr *attr)
{
    LabelList list = {attr->type.dtype, type_elements(&attr->type), NULL};
    size_t    width = (size_t)dtype_info(attr->type.dtype)->bytes;
    char     *data;

    if (attr->tensor->text) {
        list.data = attr->tensor->text;
        return list;
    }
    data = arena_alloc(lower->program->arena, (size_t)list.count * width + 1);
    for (int64_t i = 0; i < list.count; i++)
        memcpy(data + (size_t)i * width,
               (const char *)attr->tensor->data + (attr->tensor->broadcast ? 0 : (size_t)i * width), width);
    list.data = data;
    return list;
}

/* The first list that the node has of "<name>_tensor", "<name>_strings", "<name>_int64s", "<name>_floats". */
static LabelList find_list(Lower *lower, const Node *node, const char *name)
{
    static const char *const kinds[] = {"strings", "int64s", "floats"};
    const Attr              *tensor = node_attr(node, arena_printf(lower->arena, "%s_tensor", name));
    LabelList                list = {0};

    if (tensor && tensor->tensor)
        return list_of_tensor(lower, tensor);
    for (int i = 0; i < 3 && !list.dtype; i++)
        list = list_of(node_attr(node, arena_printf(lower->arena, "%s_%s", name, kinds[i])));
    return list;
}

static LabelList numbers(Lower *lower, int64_t count)
{
    int64_t *data = arena_array(lower->program->arena, int64_t, count + 1);

    for (int64_t i = 0; i < count; i++)
        data[i] = i;
    return (LabelList){DTYPE_I64, count, data};
}

/* The value for keys without a label: one element of type `dtype`. */
static const void *fallback(Lower *lower, const Node *node, DType dtype)
{
    const Attr  *tensor = node_attr(node, "default_tensor");
    int64_t     *number = arena_array(lower->program->arena, int64_t, 1);
    float       *real = arena_array(lower->program->arena, float, 1);
    const char **text = arena_array(lower->program->arena, const char *, 1);

    if (tensor && tensor->tensor && tensor->type.dtype == dtype)
        return list_of_tensor(lower, tensor).data;
    *number = node_int(node, "default_int64", -1);
    *real = node_float(node, "default_float", -0.0f);
    *text = node_string(node, "default_string", "_Unused");
    if (dtype == DTYPE_TEXT)
        return text;
    if (dtype == DTYPE_F32)
        return real;
    if (dtype_info(dtype)->class == 'I' && dtype != DTYPE_I64)
        memset(number, 0xff, sizeof *number);
    return number;
}

/* The list with one more element at its end. */
static LabelList with_fallback(Lower *lower, LabelList list, const void *last)
{
    size_t width = (size_t)dtype_info(list.dtype)->bytes, bytes = (size_t)list.count * width;
    char  *data = arena_calloc(lower->program->arena, (size_t)list.count + 1, width);

    memcpy(data, list.data, bytes);
    memcpy(data + bytes, last, width);
    return (LabelList){list.dtype, list.count + 1, data};
}

/* The list from its last element to its first: the kernel takes the first key that fits, LabelEncoder the last. */
static LabelList last_first(Lower *lower, LabelList list)
{
    size_t width = list.dtype ? (size_t)dtype_info(list.dtype)->bytes : 0;
    char  *data = arena_calloc(lower->program->arena, (size_t)list.count + 1, width);

    for (int64_t i = 0; i < list.count; i++)
        memcpy(data + (size_t)i * width, (const char *)list.data + (size_t)(list.count - 1 - i) * width, width);
    return (LabelList){list.dtype, list.count, data};
}

static int encode(Lower *lower, const Node *node, LabelList keys, LabelList values)
{
    DType       from = node->in[0]->type.dtype, to = node->out[0]->type.dtype;
    const char *name =
        arena_printf(lower->program->arena, "label_encode_%s_%s", dtype_info(from)->suffix, dtype_info(to)->suffix);
    Operand x, y, keys_of;

    if (keys.dtype != from || values.dtype != to || keys.count != values.count)
        return diag_error(lower->diag, node->loc, "%lld keys of %s and %lld values of %s do not map %s to %s",
                          (long long)keys.count, dtype_info(keys.dtype)->name, (long long)values.count,
                          dtype_info(values.dtype)->name, dtype_info(from)->name, dtype_info(to)->name);
    if (!lower_has_kernel(lower, name))
        return diag_unsupported(lower->diag, node->loc,
                                "labels from %s to %s are not supported; use strings, int64 or floats",
                                dtype_info(from)->name, dtype_info(to)->name);
    values = with_fallback(lower, values, fallback(lower, node, to));
    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    keys_of = lower_weight(lower, keys.data, from, 1, &keys.count, "keys");
    return STEP_OUTPUT(lower, node, y, name, ARG(x, x), ARG(key, keys_of),
                       ARG(value, lower_weight(lower, values.data, to, 1, &values.count, "labels")),
                       ARG(n, type_count(lower->model, &node->in[0]->type)), ARG(nkey, keys.count));
}

int lower_label_encoder(Lower *lower, const Node *node)
{
    LabelList classes = list_of(node_attr(node, "classes_strings")), keys;

    if (!classes.dtype) {
        keys = last_first(lower, find_list(lower, node, "keys"));
        return encode(lower, node, keys, last_first(lower, find_list(lower, node, "values")));
    }
    if (node->in[0]->type.dtype == DTYPE_TEXT)
        return encode(lower, node, classes, numbers(lower, classes.count));
    return encode(lower, node, numbers(lower, classes.count), classes);
}

int lower_category_mapper(Lower *lower, const Node *node)
{
    LabelList text = list_of(node_attr(node, "cats_strings")), number = list_of(node_attr(node, "cats_int64s"));

    return node->in[0]->type.dtype == DTYPE_TEXT ? encode(lower, node, text, number)
                                                 : encode(lower, node, number, text);
}
