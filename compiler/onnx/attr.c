/* attr.c - attributes of nodes. */
#include "onnx/reader.h"

#include <string.h>

/* The kind of an attribute without a type: IR versions 1 and 2 do not store the type, but only one field is present. */
static Onnx__AttributeProto__AttributeType guess_kind(const Onnx__AttributeProto *a)
{
    return a->has_f           ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
           : a->has_i         ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
           : a->has_s         ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
           : a->t             ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR
           : a->g             ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH
           : a->sparse_tensor ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR
           : a->tp            ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO
           : a->n_floats      ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
           : a->n_ints        ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
           : a->n_strings     ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS
                              : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
}

static const char *copy_bytes(Reader *reader, ProtobufCBinaryData bytes)
{
    return arena_strndup(reader->arena, (const char *)bytes.data, bytes.len);
}

static void read_list(Reader *reader, const Onnx__AttributeProto *proto, Attr *out)
{
    if (out->kind == ATTR_INTS) {
        int64_t *list = arena_array(reader->arena, int64_t, proto->n_ints);
        out->count = (int)proto->n_ints;
        out->ints = list;
        if (proto->n_ints)
            memcpy(list, proto->ints, proto->n_ints * sizeof *list);
    } else if (out->kind == ATTR_FLOATS) {
        float *list = arena_array(reader->arena, float, proto->n_floats);
        out->count = (int)proto->n_floats;
        out->floats = list;
        if (proto->n_floats)
            memcpy(list, proto->floats, proto->n_floats * sizeof *list);
    } else {
        const char **list = arena_array(reader->arena, const char *, proto->n_strings);
        out->count = (int)proto->n_strings;
        out->strings = list;
        for (size_t i = 0; i < proto->n_strings; i++)
            list[i] = copy_bytes(reader, proto->strings[i]);
    }
}

/* The index of the body that a graph attribute is; -1: no operator has such a body. */
static int body_slot(const char *name)
{
    if (!strcmp(name, "then_branch") || !strcmp(name, "body") || !strcmp(name, "score_mod"))
        return 0;
    return !strcmp(name, "else_branch") || !strcmp(name, "prob_mod") ? 1 : -1;
}

static int read_graph(Reader *reader, Scope *scope, Node *node, const Onnx__AttributeProto *proto)
{
    int         slot = body_slot(proto->name);
    const char *name = proto->g ? text_or_empty(proto->g->name) : "";

    if (node->op < 0 || slot < 0 || node->body[slot])
        return diag_unsupported(reader->diag, node->loc,
                                "attribute '%s' is a graph; only the bodies of If, Loop, Scan and the like are",
                                proto->name);
    if (attr_expect(reader, node, proto->name, ATTR_GRAPH))
        return -1;
    if (!proto->g)
        return diag_error(reader->diag, node->loc, "attribute '%s' wants a graph and holds none", proto->name);
    node->body[slot] = graph_read(reader, scope, name[0] ? name : proto->name, proto->g);
    return node->body[slot] ? 0 : -1;
}

static int read_tensor(Reader *reader, const Node *node, const Onnx__AttributeProto *proto, bool sparse, Attr *out)
{
    const char *what = arena_printf(reader->scratch, "attribute '%s'", proto->name);

    if (sparse ? !proto->sparse_tensor : !proto->t)
        return diag_error(reader->diag, node->loc, "attribute '%s' wants a tensor and holds none", proto->name);
    return sparse ? sparse_read(reader, node->loc, what, proto->sparse_tensor, &out->type, &out->tensor)
                  : tensor_read(reader, node->loc, what, proto->t, &out->type, &out->tensor);
}

/* Graphs become node->body; everything else is appended to node->attr. */
static int read_value(Reader *reader, Scope *scope, Node *node, const char *name, const Onnx__AttributeProto *proto)
{
    Attr               out = {.name = arena_strdup(reader->arena, name)};
    const char *const *names = NULL;
    int                kind = proto->has_type && proto->type ? (int)proto->type : (int)guess_kind(proto), result = 0;

    switch (kind) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        out.kind = ATTR_FLOAT;
        out.f = proto->f;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        out.kind = ATTR_INT;
        out.i = proto->i;
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        out.kind = ATTR_STRING;
        out.s = copy_bytes(reader, proto->s);
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR:
        out.kind = ATTR_TENSOR;
        result = read_tensor(reader, node, proto, kind == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR, &out);
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH:
        return read_graph(reader, scope, node, proto);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
        out.kind = kind == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS     ? ATTR_INTS
                   : kind == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS ? ATTR_FLOATS
                                                                           : ATTR_STRINGS;
        read_list(reader, proto, &out);
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO:
        out.kind = ATTR_TYPE;
        result = proto->tp ? type_read(reader, name, proto->tp, &out.type, &names)
                           : diag_error(reader->diag, node->loc, "attribute '%s' wants a type and holds none", name);
        break;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED:
        return diag_error(reader->diag, node->loc, "attribute '%s' holds nothing", name);
    default:
        return diag_unsupported(reader->diag, node->loc,
                                "attribute '%s' is of kind %d, a list that no supported operator takes", name, kind);
    }
    node->attr[node->nattr++] = out;
    return result;
}

static Onnx__AttributeProto *default_of(const Onnx__FunctionProto *function, const char *name)
{
    for (size_t i = 0; i < function->n_attribute_proto; i++)
        if (!strcmp(text_or_empty(function->attribute_proto[i]->name), name))
            return function->attribute_proto[i];
    return NULL;
}

/* An attribute inside a function may refer to one of the call's. If the call omits it and it has no default, it is
 * omitted here. */
static int read_reference(Reader *reader, Scope *scope, Node *node, const char *name, const char *refers)
{
    const Frame          *frame = scope->frame;
    const Attr           *given;
    Onnx__AttributeProto *otherwise;

    if (!frame)
        return diag_error(reader->diag, node->loc, "attribute '%s' refers to '%s' of a function, but is in none", name,
                          refers);
    given = node_attr(frame->call, refers);
    if (given) {
        Attr copy = *given;
        copy.name = arena_strdup(reader->arena, name);
        node->attr[node->nattr++] = copy;
        return 0;
    }
    otherwise = default_of(frame->function, refers);
    return otherwise && !text_or_empty(otherwise->ref_attr_name)[0] ? read_value(reader, scope, node, name, otherwise)
                                                                    : 0;
}

int attrs_read(Reader *reader, Scope *scope, Node *node, size_t count, Onnx__AttributeProto **attribute)
{
    int result = 0;

    if (count > MAX_NODE_ATTRIBUTES)
        return diag_error(reader->diag, node->loc, "found %zu attributes; no operator takes more than %d", count,
                          MAX_NODE_ATTRIBUTES);
    node->attr = arena_array(reader->arena, Attr, count);
    for (size_t i = 0; i < count && !result; i++) {
        const char *name = text_or_empty(attribute[i]->name), *refers = text_or_empty(attribute[i]->ref_attr_name);
        if (!name[0])
            return diag_error(reader->diag, node->loc, "attribute %zu has no name", i);
        if (node_attr(node, name))
            return diag_error(reader->diag, node->loc, "attribute '%s' is given twice", name);
        result = refers[0] ? read_reference(reader, scope, node, name, refers)
                           : read_value(reader, scope, node, name, attribute[i]);
    }
    return result;
}
