/* fold.c - folds a node of constant inputs: it is lowered alone and run here, and its outputs become constants. */
#include "infer/infer.h"

#include "lower/lower.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* Folding may turn a few bytes into many: results stay below this much, or this many times their inputs. */
enum { FOLD_BYTES = 1 << 20, FOLD_TIMES = 8 };
static const int64_t memory_limit = (int64_t)1 << 31; /* bytes of all buffers while a node is folded */

static bool is_constant_tensor(const Value *value)
{
    return value->data && value->type.kind == TYPE_TENSOR;
}

/* Bytes that the inputs take, or -1: one of them is not constant. */
static int64_t input_bytes(const Node *node)
{
    int64_t bytes = 0;

    for (int i = 0; i < node->nin; i++) {
        if (!node->in[i])
            continue;
        if (!is_constant_tensor(node->in[i]))
            return -1;
        bytes += node->in[i]->data->bytes;
    }
    return bytes;
}

/* Whether every output is a tensor of known capacity and acceptable size. */
static bool outputs_can_be_kept(const Node *node, int64_t from)
{
    int64_t total = 0;

    for (int i = 0; i < node->nout; i++) {
        int64_t bytes;

        if (!node->out[i])
            continue;
        if (node->out[i]->type.kind != TYPE_TENSOR || node->out[i]->type.rank < 0 ||
            node->out[i]->type.dtype == DTYPE_TEXT)
            return false;
        bytes = type_bytes(&node->out[i]->type);
        if (bytes < 0 || !int_add(total, bytes, &total))
            return false;
    }
    return total <= FOLD_BYTES || total / FOLD_TIMES <= from;
}

/* -------------------------------------------------------------------------------------------------------- execution */

/* Allocates every buffer; outputs in memory that stays. NULL: too much. */
static void **give_memory(const Program *program)
{
    Arena  *arena = program->arena;
    void  **memory = arena_array(arena, void *, program->nbuffer + 1);
    int64_t total = 0;

    for (int b = 0; b < program->nbuffer; b++) {
        const Buffer *buffer = &program->buffer[b];

        if (buffer->kind == BUFFER_WEIGHT) {
            memory[b] = weight_whole(arena, buffer, dtype_info(buffer->dtype)->bytes);
            continue;
        }
        if (!int_add(total, int_round_up(buffer->size, buffer->align) * buffer->copies, &total) || total > memory_limit)
            return NULL;
        memory[b] = arena_alloc(arena, (size_t)(int_round_up(buffer->size, buffer->align) * buffer->copies));
    }
    return memory;
}

/* The type with the extents that the run determined; false: one is still unknown. */
static bool settle_type(const Program *program, void *const *memory, Type *type)
{
    for (int i = 0; i < type->rank; i++) {
        int expr = type->dim[i].expr;

        if (expr < 0)
            continue;
        if (program->dims < 0 || expr >= program->nslot_of || program->slot[expr] < 0)
            return false;
        type->dim[i] = extent_const(((const int64_t *)memory[program->dims])[program->slot[expr]]);
        if (type->dim[i].max < 0)
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- results */

/* An input that holds the same bytes, which reshapes share; NULL: none. */
static const void *same_bytes(const Node *node, const void *data, int64_t bytes)
{
    for (int i = 0; i < node->nin; i++)
        if (node->in[i] && node->in[i]->data->data && !node->in[i]->data->broadcast &&
            node->in[i]->data->bytes == bytes && !memcmp(node->in[i]->data->data, data, (size_t)bytes))
            return node->in[i]->data->data;
    return NULL;
}

static void keep_output(const Model *model, const Node *node, Value *value, Type type, const void *data)
{
    int64_t element = dtype_info(type.dtype)->bytes, count = type_elements(&type);
    Const  *kept = arena_one(model->arena, Const);

    kept->broadcast = const_is_uniform(data, count, element);
    kept->bytes = kept->broadcast ? element : count * element;
    kept->data = kept->broadcast ? NULL : same_bytes(node, data, kept->bytes);
    if (!kept->data) {
        void *copy = arena_alloc(model->arena, (size_t)kept->bytes + 1);

        memcpy(copy, data, (size_t)kept->bytes);
        kept->data = copy;
    }
    value->type = type;
    value->data = kept;
}

/* Runs the program and keeps its outputs as constants. Returns 1, or 0: the node stays. */
static int run_and_keep(Model *model, const Node *node, const Program *program)
{
    void **memory = give_memory(program);
    Type  *type = arena_array(program->arena, Type, program->nout + 1);

    if (!memory || program_run(program, memory) != 0)
        return 0;
    for (int i = 0; i < program->nout; i++) {
        type[i] = program->out[i].type;
        if (program->out[i].buffer < 0 || !settle_type(program, memory, &type[i]))
            return 0;
    }
    for (int i = 0; i < program->nout; i++)
        keep_output(model, node, model->value[program->out[i].value->id], type[i], memory[program->out[i].buffer]);
    return 1;
}

/* Folds with a temporary arena and diagnostics of its own: a failure here is no error, because lowering reports it
 * later if the node is needed. */
static int fold_in_arena(Model *model, Node *node, Arena *temporary)
{
    Program *program;
    Diag     unheard = {.arena = temporary, .file = model->path};

    if (lower_single(model, temporary, node, &program, &unheard) < 0)
        return 0;
    return run_and_keep(model, node, program);
}

int fold_node(Model *model, Diag *diag, Node *node)
{
    int64_t from = input_bytes(node);
    jmp_buf exhausted;
    Arena  *temporary;
    int     folded;

    (void)diag;
    if (node->op < 0 || (op_info[node->op].traits & (OP_RANDOM | OP_CONTROL)) || !op_info[node->op].lower || from < 0 ||
        !outputs_can_be_kept(node, from))
        return 0;
    temporary = arena_new(0);
    if (!temporary || setjmp(exhausted)) {
        arena_free(temporary);
        return 0;
    }
    arena_on_exhausted(temporary, &exhausted);
    folded = fold_in_arena(model, node, temporary);
    arena_free(temporary);
    return folded;
}
