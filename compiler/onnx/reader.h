/* reader.h - what the parts of the ONNX reader share. Private to compiler/onnx. */
#ifndef OCC_ONNX_READER_H
#define OCC_ONNX_READER_H
#include "graph/ir.h"
#include "onnx.pb-c.h"
#include "onnx/wire.h"
#include "support/map.h"

enum {
    MAX_BUILD_DEPTH = 100, /* graphs inside graphs and functions inside functions */
    MAX_NODES = 200000,    /* after inlining */
    MAX_NODE_ATTRIBUTES = 256,
    MAX_IMPORTS = 256,
    MAX_FUNCTIONS = 100000
};

typedef struct Reader {
    Arena      *arena;   /* of the model */
    Arena      *scratch; /* of the decoded file, gone when reading is done */
    Model      *model;
    Diag       *diag;
    const char *path; /* of the model file, or NULL */
    Wire        wire;
    Map         function; /* "domain\nname\noverload" -> Onnx__FunctionProto */
    Map         external; /* location -> File */
    int         depth, nodes;
    size_t      limit; /* bytes that the model may take in the arena: nested functions multiply its size */
} Reader;

/* A mapped file. */
typedef struct File {
    const uint8_t *data;
    size_t         bytes;
} File;

/* A call of a function of the model, while its body is inlined. */
typedef struct Frame Frame;
struct Frame {
    const Frame               *caller;
    const Onnx__FunctionProto *function;
    const Node                *call;   /* for its attributes and place */
    const char                *prefix; /* of the names inside */
    OpsetImport               *import;
    int                        nimport;
};

/* The values of names. A body's scope continues in the surrounding graph; a function's does not. */
typedef struct Scope Scope;
struct Scope {
    Scope       *outer;
    Graph       *graph;
    const Frame *frame;   /* NULL: the model's own text */
    Map          value;   /* name -> Value; a name put with NULL is an omitted argument */
    Map          result;  /* of a function: its output's name -> the caller's Value */
    Map         *claimed; /* names of all values of the graph, including those of inlined functions */
};

/* A string that the file omits is NULL. */
static inline const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* file.c: map a whole file until the arena is freed; -1 with errno set. */
int file_map(Arena *arena, const char *path, File *out);

/* external.c: `bytes` wanted bytes of a tensor that lies outside the model file. NULL with a message. */
const uint8_t *external_data(Reader *reader, const Onnx__TensorProto *tensor, int64_t bytes);

/* tensor.c: type and contents. `what` names the tensor in messages. Return 0 or -1 with a message. */
int tensor_read(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, Type *type,
                const Const **data);
int tensor_shape(Reader *reader, Loc loc, const char *what, const int64_t *dim, size_t rank, DType dtype, Type *type);

/* payload.c: the elements of a tensor with data fields of its own, as a buffer stores them; NULL with a message. */
const void  *payload_elements(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, DType dtype,
                              int64_t count);
const char **payload_strings(Reader *reader, Loc loc, const char *what, const Onnx__TensorProto *tensor, int64_t count);

/* sparse.c: a sparse tensor made dense. */
int sparse_read(Reader *reader, Loc loc, const char *what, const Onnx__SparseTensorProto *sparse, Type *type,
                const Const **data);

/* type.c: a declared type; unknown extents have max -1. names: MAX_RANK names of its axes or NULL. */
int type_read(Reader *reader, const char *what, const Onnx__TypeProto *proto, Type *type, const char *const **names);

/* attr.c: the attributes of a node, references to the function's attributes resolved. */
int attrs_read(Reader *reader, Scope *scope, Node *node, size_t count, Onnx__AttributeProto **attribute);

/* attr_check.c: compares attributes with the rows of schemas/attrs.def. attr_expect: has the operator an attribute of
 * that name and kind? attrs_check: is every attribute right, and none missing? Return 0 or -1 with a message. */
int attr_expect(Reader *reader, const Node *node, const char *name, AttrKind kind);
int attrs_check(Reader *reader, Node *node);

/* build.c: nodes and nested graphs. */
Graph *graph_read(Reader *reader, Scope *outer, const char *name, const Onnx__GraphProto *proto);
int    nodes_read(Reader *reader, Scope *scope, size_t count, Onnx__NodeProto **node);

/* scope.c: names. scope_find: NULL when unknown (*known false) or omitted. scope_declare: NULL with a message when
 * there is one. */
Value *scope_find(const Scope *scope, const char *name, bool *known);
Value *scope_declare(Reader *reader, Scope *scope, Loc loc, const char *name);

/* constant.c: what a Constant node holds becomes its output's contents. */
int constant_read(Reader *reader, Node *node);

/* function.c */
int functions_declare(Reader *reader, size_t count, Onnx__FunctionProto **function);
int imports_read(Reader *reader, const char *what, size_t count, Onnx__OperatorSetIdProto **proto, OpsetImport **out,
                 int *nout);
Onnx__FunctionProto *function_find(Reader *reader, const Onnx__NodeProto *node);
int                  function_inline(Reader *reader, Scope *scope, const Onnx__FunctionProto *function, Node *call);

/* op.c: which opsets are imported; the row of a node's operator and the version it is written for. */
int op_resolve(Reader *reader, const Scope *scope, const Onnx__NodeProto *node, Loc loc, OpKind *op, int *version);

#endif
