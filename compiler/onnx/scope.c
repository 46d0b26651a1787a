/* scope.c - which value a name means in a graph, a nested body or an inlined function. */
#include "onnx/reader.h"

Value *scope_find(const Scope *scope, const char *name, bool *known)
{
    for (; scope; scope = scope->outer) {
        void **found = map_find(&scope->value, name);
        if (found) {
            *known = true;
            return *found;
        }
    }
    *known = false;
    return NULL;
}

/* A name for a value of an inlined function: below the call's, numbered where that is taken. */
static const char *inner_name(Reader *reader, const Scope *scope, const char *name)
{
    const char *out = arena_printf(reader->arena, "%s/%s", scope->frame->prefix, name);

    for (int i = 2; map_find(scope->claimed, out); i++)
        out = arena_printf(reader->arena, "%s/%s.%d", scope->frame->prefix, name, scope->claimed->count + i);
    return out;
}

Value *scope_declare(Reader *reader, Scope *scope, Loc loc, const char *name)
{
    void      **declared_result = map_find(&scope->result, name);
    bool        inlined = scope->frame && !scope->outer;
    const char *own;
    Value      *value;

    if (map_find(&scope->value, name)) {
        diag_error(reader->diag, loc, "the name '%s' is given twice; every value needs a name of its own", name);
        return NULL;
    }
    own = inlined ? inner_name(reader, scope, name) : arena_strdup(reader->arena, name);
    value = declared_result ? *declared_result : value_new(scope->graph, own);
    *map_put(&scope->value, arena_strdup(reader->scratch, name)) = value;
    if (!declared_result)
        *map_put(scope->claimed, own) = value;
    return value;
}
