/* op.c - operators, and the version of each that a model uses. */
#include "graph/ops.h"
#include "onnx/read.h"
#include "onnx/reader.h"

#include <string.h>

static bool is_onnx(const char *domain)
{
    return !domain[0] || !strcmp(domain, "ai.onnx");
}

int imports_read(Reader *reader, const char *what, size_t count, Onnx__OperatorSetIdProto **proto, OpsetImport **out,
                 int *nout)
{
    if (count > MAX_IMPORTS)
        return diag_error(reader->diag, (Loc){0}, "%s imports %zu operator sets, wanted at most %d", what, count,
                          MAX_IMPORTS);
    *out = arena_array(reader->arena, OpsetImport, count);
    *nout = (int)count;
    for (size_t i = 0; i < count; i++) {
        const char *domain = text_or_empty(proto[i]->domain);
        long long   version = (long long)proto[i]->version;
        int         newest = op_newest_version(is_onnx(domain) ? "" : domain);
        if (version < 1 || version > INT32_MAX)
            return diag_error(reader->diag, (Loc){0},
                              "%s imports version %lld of operator set '%s', wanted 1 or higher", what, version,
                              is_onnx(domain) ? "ai.onnx" : domain);
        if (newest && version > newest)
            return diag_unsupported(
                reader->diag, (Loc){0},
                "%s imports version %lld of operator set '%s', the newest supported is %d; export the model for "
                "opset %d or lower",
                what, version, is_onnx(domain) ? "ai.onnx" : domain, newest, newest);
        (*out)[i] = (OpsetImport){is_onnx(domain) ? "" : arena_strdup(reader->arena, domain), (int)version};
    }
    return 0;
}

static int version_in(const OpsetImport *import, int count, const char *domain)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(import[i].domain, domain))
            return import[i].version;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ unknown operators */

enum { LONGEST_NAME = 48 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The edit distance (insert, delete, change a letter) of a and b, both at most LONGEST_NAME long. */
static int distance(const char *a, const char *b)
{
    int row[LONGEST_NAME + 1], n = (int)strlen(b);

    for (int k = 0; k <= n; k++)
        row[k] = k;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int k = 0; k < n; k++) {
            int above = row[k + 1];
            row[k + 1] = least(least(above, row[k]) + 1, diagonal + (a[i] != b[k]));
            diagonal = above;
        }
    }
    return row[n];
}

/* The table's most similar name, among equals one of `domain`; NULL: nothing similar. */
static const OpInfo *nearest(const char *domain, const char *name)
{
    const OpInfo *best = NULL;
    int           fewest = (int)strlen(name) / 3 + 2;

    if (strlen(name) > LONGEST_NAME)
        return NULL;
    for (int i = 0; i < OP_COUNT; i++) {
        bool known = strlen(op_info[i].name) <= LONGEST_NAME && op_find(op_info[i].domain, op_info[i].name) != OP_NONE;
        int  edits = known ? distance(name, op_info[i].name) : fewest;
        bool nearer = best && edits == fewest && strcmp(best->domain, domain) && !strcmp(op_info[i].domain, domain);
        if (edits < fewest || nearer) {
            fewest = edits;
            best = &op_info[i];
        }
    }
    return best;
}

static int unknown(Reader *reader, Loc loc, const char *domain)
{
    const OpInfo *similar = nearest(domain, loc.op);
    const char   *shown = is_onnx(domain) ? "ai.onnx" : domain;

    if (similar && (!is_onnx(domain) || similar->domain[0] || strcmp(similar->name, loc.op)))
        return diag_unsupported(reader->diag, loc,
                                "unknown operator of domain '%s'; the nearest known is %s of domain '%s'", shown,
                                similar->name, similar->domain[0] ? similar->domain : "ai.onnx");
    return diag_unsupported(
        reader->diag, loc,
        "unknown operator of domain '%s'; express it by ONNX operators, or add its body as a model function", shown);
}

int op_resolve(Reader *reader, const Scope *scope, const Onnx__NodeProto *node, Loc loc, OpKind *op, int *version)
{
    const char *domain = is_onnx(text_or_empty(node->domain)) ? "" : node->domain;

    *version = scope->frame ? version_in(scope->frame->import, scope->frame->nimport, domain) : 0;
    if (!*version)
        *version = version_in(reader->model->import, reader->model->nimport, domain);
    *op = op_find(domain, loc.op);
    if (*op == OP_NONE)
        return unknown(reader, loc, domain);
    if (!*version && !domain[0])
        return diag_error(reader->diag, loc, "the model does not import the operator set of domain 'ai.onnx'");
    if (!*version)
        *version = 1; /* exporters forget the import of domains that never changed */
    return 0;
}
