/* map_infer.c - operators on maps. A map whose keys are constants is the tensor of its values: for an input, the keys
 * that the model's operators ask for are its keys, and what the caller leaves out is 0 or empty text; others would not
 * be read. */
#include "infer/infer.h"
#include "ops/rules.h"
#include "support/map.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_KEYS = 1 << 20 };

/* ------------------------------------------------------------------------------------------------------------- keys */

/* The keys of an attribute, of which there are two of different type; one must be given. */
static int keys_read(Infer *infer, const Node *node, const char *texts, const char *numbers, Keys *keys)
{
    const Attr *text = node_attr(node, texts), *number = node_attr(node, numbers);
    bool        in_text = text && text->kind == ATTR_STRINGS && text->count,
         in_ints = number && number->kind == ATTR_INTS && number->count;

    if (in_text == in_ints)
        return diag_error(infer->diag, node->loc, "found %s, wanted one of %s and %s", in_text ? "both" : "neither",
                          texts, numbers);
    if (in_text)
        *keys = (Keys){DTYPE_TEXT, text->count, NULL, text->strings};
    else
        *keys = (Keys){DTYPE_I64, number->count, number->ints, NULL};
    return 0;
}

static const char *key_word(Arena *arena, const Keys *keys, int64_t index)
{
    return keys->dtype == DTYPE_TEXT ? keys->text[index] : arena_printf(arena, "%" PRId64, keys->ints[index]);
}

int64_t keys_find(const Keys *keys, const Keys *wanted, int64_t index)
{
    for (int64_t i = 0; keys->dtype == wanted->dtype && i < keys->count; i++)
        if (keys->dtype == DTYPE_TEXT ? !strcmp(keys->text[i], wanted->text[index])
                                      : keys->ints[i] == wanted->ints[index])
            return i;
    return -1;
}

/* The keys that operators read, each once, in the order of their first use. */
typedef struct Union {
    Keys         keys;
    Map          seen;
    int64_t     *ints;
    const char **text;
    int          nint, cint, ntext, ctext;
} Union;

static void union_add(Arena *arena, Union *all, const Keys *more)
{
    for (int64_t i = 0; i < more->count; i++) {
        void **place = map_put(&all->seen, key_word(arena, more, i));
        if (*place)
            continue;
        *place = all;
        if (more->dtype == DTYPE_TEXT)
            ARENA_PUSH(arena, all->text, all->ntext, all->ctext, more->text[i]);
        else
            ARENA_PUSH(arena, all->ints, all->nint, all->cint, more->ints[i]);
    }
    all->keys = (Keys){more->dtype, more->dtype == DTYPE_TEXT ? all->ntext : all->nint, all->ints, all->text};
}

/* Of CastMap: 0 for a dense result, else the extent of the sparse one; -1 with a message. */
static int64_t cast_map_extent(Infer *infer, const Node *node)
{
    int64_t most = node_int(node, "max_map", 1);

    if (!strcmp(node_string(node, "map_form", "DENSE"), "DENSE"))
        return 0;
    if (most > MAX_KEYS)
        return diag_unsupported(infer->diag, node->loc, "max_map is %" PRId64 "; at most %d keys are supported", most,
                                MAX_KEYS);
    return most;
}

/* The keys that a reader of a map reads; count -1: all values, in the order of their keys. */
static int keys_wanted(Infer *infer, const Node *node, Keys *keys)
{
    int64_t most, *list;

    if (node->op == OP_ml_DictVectorizer)
        return keys_read(infer, node, "string_vocabulary", "int64_vocabulary", keys);
    if (node->op != OP_ml_CastMap)
        return diag_error(infer->diag, node->loc,
                          "found a map, wanted a tensor; only CastMap and DictVectorizer read maps");
    most = cast_map_extent(infer, node);
    if (most < 0)
        return -1;
    list = arena_array(infer->model->arena, int64_t, most + 1);
    for (int64_t i = 0; i < most; i++)
        list[i] = i;
    *keys = (Keys){DTYPE_I64, most ? most : -1, list, NULL};
    return 0;
}

/* --------------------------------------------------------------------------------------------------- maps as inputs */

/* Collects all keys of the map `value` that nodes of the graph read. */
static int keys_asked(Infer *infer, const Value *value, DType dtype, Keys *out)
{
    const Graph *graph = value->graph;
    Union        all = {.keys = {.dtype = dtype}, .seen = {.arena = infer->model->arena}};
    bool         open = false;
    Keys         keys;

    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nin; k++) {
            if (graph->node[i]->in[k] != value)
                continue;
            if (keys_wanted(infer, graph->node[i], &keys) < 0)
                return -1;
            if (keys.dtype != dtype)
                return diag_error(infer->diag, graph->node[i]->loc, "found a map '%s' with keys of %s, wanted %s",
                                  value->name, dtype_info(dtype)->name, dtype_info(keys.dtype)->name);
            open |= keys.count < 0;
            union_add(infer->model->arena, &all, &keys);
        }
    if (open && all.keys.count > 0)
        return diag_unsupported(infer->diag, (Loc){0},
                                "input '%s': a dense CastMap reads the values of a map whose other reader asks for "
                                "certain keys; make it two inputs",
                                value->name);
    if (!open && !all.keys.count)
        return diag_unsupported(infer->diag, (Loc){0},
                                "input '%s' is a map of which no operator names the keys; make it a tensor",
                                value->name);
    *out = all.keys;
    out->count = open ? -1 : all.keys.count;
    return 0;
}

int infer_map_input(Infer *infer, const Value *value, Type *type)
{
    DType dtype = type->item->dtype;
    Keys *keys = arena_one(infer->model->arena, Keys);

    if (type->item->kind != TYPE_TENSOR || dtype == DTYPE_NONE)
        return diag_unsupported(infer->diag, (Loc){0},
                                "input '%s' is a map to something else than numbers or text; make it tensors",
                                value->name);
    if (keys_asked(infer, value, type->dtype, keys) < 0)
        return -1;
    *type = type_tensor(dtype, 1, &keys->count);
    type->keys = keys;
    return 0;
}

static int need_map(Infer *infer, const Node *node, const char *classes)
{
    const Type *x = infer_in(node, 0);

    if (!x || !x->keys)
        return diag_error(infer->diag, node->loc, "input 0 '%s' is no map", x ? node->in[0]->name : "(omitted)");
    return infer_need_dtype(infer, node, 0, classes);
}

/* -------------------------------------------------------------------------------------------------------- operators */

int infer_cast_map(Infer *infer, Node *node)
{
    const char *to = node_string(node, "cast_to", "TO_FLOAT");
    DType       dtype = !strcmp(to, "TO_FLOAT") ? DTYPE_F32 : !strcmp(to, "TO_INT64") ? DTYPE_I64 : DTYPE_TEXT;
    int64_t     most;
    Extent      dim[2] = {extent_const(1)};

    if (need_map(infer, node, "FS") < 0)
        return -1;
    if ((dtype == DTYPE_TEXT) != (infer_in(node, 0)->dtype == DTYPE_TEXT))
        return diag_unsupported(infer->diag, node->loc,
                                "%s of a map to %s: text and numbers are not turned into each other; "
                                "turn them before the run",
                                to, dtype_info(infer_in(node, 0)->dtype)->name);
    most = cast_map_extent(infer, node);
    if (most < 0)
        return -1;
    dim[1] = most ? extent_const(most) : infer_in(node, 0)->dim[0];
    return infer_set_tensor(infer, node, 0, dtype, 2, dim);
}

int infer_dict_vectorizer(Infer *infer, Node *node)
{
    Extent dim[2] = {extent_const(1)};
    Keys   keys;

    if (need_map(infer, node, "FIS") < 0 || keys_read(infer, node, "string_vocabulary", "int64_vocabulary", &keys) < 0)
        return -1;
    dim[1] = extent_const(keys.count);
    return infer_set_tensor(infer, node, 0, infer_in(node, 0)->dtype, 2, dim);
}

/* The declared type of the result, where there is one, must be a sequence of maps from those keys to floats. */
static int check_zip_declared(Infer *infer, const Node *node, const Keys *keys)
{
    const Type *declared = &node->out[0]->declared, *map = declared->kind == TYPE_SEQUENCE ? declared->item : NULL;

    if (declared->kind == TYPE_NONE || (map && map->kind == TYPE_MAP && map->dtype == keys->dtype &&
                                        map->item->kind == TYPE_TENSOR && map->item->dtype == DTYPE_F32))
        return 0;
    return diag_error(infer->diag, node->loc,
                      "output 0 '%s' is a sequence of maps from %s to float, but the model declares something else",
                      node->out[0]->name, dtype_info(keys->dtype)->name);
}

/* No operator reads a sequence of maps: it ends as an output of the model. */
static int check_zip_readers(Infer *infer, const Node *node)
{
    const Graph *graph = node->graph;

    if (graph->parent)
        return diag_unsupported(infer->diag, node->loc,
                                "maps made in the body of a loop or branch are not supported; move ZipMap behind it");
    for (int i = 0; i < graph->nnode; i++)
        for (int k = 0; k < graph->node[i]->nin; k++)
            if (graph->node[i]->in[k] == node->out[0])
                return diag_error(infer->diag, graph->node[i]->loc, "found a sequence of maps '%s', wanted a tensor",
                                  node->out[0]->name);
    return 0;
}

static int check_distinct(Infer *infer, const Node *node, const Keys *keys)
{
    Map seen = {.arena = infer->model->arena};

    for (int64_t i = 0; i < keys->count; i++) {
        void **place = map_put(&seen, key_word(infer->model->arena, keys, i));
        if (*place)
            return diag_unsupported(infer->diag, node->loc,
                                    "key '%s' is given twice, and a map has it once; name each class once",
                                    key_word(infer->model->arena, keys, i));
        *place = node->out;
    }
    return 0;
}

int infer_zip_map(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Keys       *keys = arena_one(infer->model->arena, Keys);
    Type        type;

    if (infer_need_exactly(infer, node, 0, DTYPE_F32) < 0 || infer_need_rank(infer, node, 0, 1, 2) < 0 ||
        keys_read(infer, node, "classlabels_strings", "classlabels_int64s", keys) < 0 ||
        infer_need_equal(infer, node, x->dim[x->rank - 1], extent_const(keys->count),
                         "the scores and the class labels") < 0 ||
        check_distinct(infer, node, keys) < 0 || check_zip_declared(infer, node, keys) < 0 ||
        check_zip_readers(infer, node) < 0)
        return -1;
    type = type_tensor(DTYPE_F32, 2, (const int64_t[]){1, keys->count});
    if (x->rank == 2)
        type.dim[0] = x->dim[0];
    type.keys = keys;
    return infer_set(infer, node, 0, type);
}
