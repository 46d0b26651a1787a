/* cuda_engines.c - the part of a program for a device that uses cuDNN and cuBLASLt: for each library a table of what
 * its steps compute, and the function with which open prepares them. It is compiled with -DOCC_CUDNN or -DOCC_CUBLASLT
 * only; without that, and where the library cannot serve a step at run time, the step's own kernel is launched. */
#include "device/device.h"
#include "device/libraries.h"
#include "emit/emit.h"
#include "kernels/record.h"

#include <inttypes.h>

enum { DESCRIPTORS = 96 };      /* for each engine, as runtime/cudnn_steps.h says */
enum { KEPT = 10, WORDS = 16 }; /* for each step of cuBLASLt, as runtime/cublaslt_engine.h says */

static const LibraryEngine *engine_of(const Program *p, const Step *step)
{
    return step->engine ? &p->engine[step->engine - 1] : NULL;
}

/* Steps that an engine of any library may compute, before step `end`. */
static int engine_steps(const Program *p, int end)
{
    int count = 0;

    for (int s = 0; s < end; s++)
        count += engine_of(p, &p->step[s]) != NULL;
    return count;
}

/* Those of one library. */
static int library_steps(const Program *p, Library library, int end)
{
    int count = 0;

    for (int s = 0; s < end; s++)
        count += engine_of(p, &p->step[s]) && engine_of(p, &p->step[s])->library == library;
    return count;
}

/* Engines of a library before number `end`. */
static int library_engines(const Program *p, Library library, int end)
{
    int count = 0;

    for (int i = 0; i < end; i++)
        count += p->engine[i].library == library;
    return count;
}

/* The number of a step's engine in the table of its library. */
static int table_index(const Program *p, const Step *step)
{
    return library_engines(p, engine_of(p, step)->library, step->engine - 1);
}

static bool uses(const Emit *emit, Library library)
{
    return library_engines(emit->program, library, emit->program->nengine) > 0;
}

static bool has_engines(const Emit *emit)
{
    return emit->program->nengine > 0;
}

void emit_engine_members(Emit *emit, Text *text)
{
    const Program *p = emit->program;
    int engines = library_engines(p, LIBRARY_CUDNN, p->nengine), convs = library_steps(p, LIBRARY_CUDNN, p->nstep),
        products = library_steps(p, LIBRARY_CUBLASLT, p->nstep);

    if (has_engines(emit))
        text_printf(text,
                    "    void       *given[%d]; /* by step: what its library is given; NULL: its own kernel runs */\n",
                    engine_steps(p, p->nstep));
    if (engines)
        text_printf(text,
                    "    void       *library;     /* a cudnnHandle_t; NULL: none */\n"
                    "    void       *engine[%d]; /* plans of cuDNN; NULL: none */\n"
                    "    void       *made[%d]; /* descriptors, of which the plans are made */\n"
                    "    int         nmade;\n",
                    engines, engines * DESCRIPTORS + convs);
    if (products)
        text_printf(text,
                    "    void       *products;    /* a cublasLtHandle_t; NULL: none */\n"
                    "    void       *product[%d][%d]; /* by step of cuBLASLt: its descriptors and places */\n"
                    "    uint64_t    algorithm[%d][%d];\n",
                    products, KEPT, products, WORDS);
}

void emit_engine_call(Emit *emit, int index, const char *own, Text *text)
{
    const Program       *p = emit->program;
    const Step          *step = &p->step[index];
    const LibraryEngine *engine = engine_of(p, step);

    if (!engine)
        text_put(text, own);
    else if (engine->library == LIBRARY_CUDNN)
        text_printf(text, "OCC_ENGINE(%d, %d, %s)", table_index(p, step), engine_steps(p, index), own);
    else
        text_printf(text, "OCC_PRODUCT(%d, %d, %d, %s)", table_index(p, step),
                    library_steps(p, LIBRARY_CUBLASLT, index), engine_steps(p, index), own);
}

/* ------------------------------------------------------------------------------------------------------------ table */

static void put_numbers(Text *text, const int64_t *value, int count)
{
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%" PRId64, i ? ", " : "{", value[i]);
    text_put(text, "}, ");
}

/* The convolution as an occ_cudnn_conv. */
static void put_conv(Emit *emit, Text *text, const Step *step)
{
    Epilogue  e = step_epilogue(step);
    ConvShape s;
    int64_t   x[MAX_RANK], y[MAX_RANK];

    conv_shape_read(step, &s);
    operand_distances(step_operand_of(step, "x"), x);
    operand_distances(step_operand_of(step, "y"), y);
    text_printf(text, "    {{%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", ", s.batch, s.groups, s.inputs,
                s.outputs);
    put_numbers(text, s.in, 3);
    put_numbers(text, s.out, 3);
    put_numbers(text, s.kernel, 3);
    put_numbers(text, s.stride, 3);
    put_numbers(text, s.dilation, 3);
    put_numbers(text, s.pad, 3);
    put_numbers(text, x, 5);
    put_numbers(text, y, 5);
    text_printf(text, "%d, %d, %d, ", step_bias(step) != NULL, e.addend >= 0, e.function);
    text_double(text, e.slope);
    text_printf(text, ", %d}, ", options_factors(emit->emission->options) != NULL);
}

static const Step *first_step_of(const Program *p, int engine)
{
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].engine == 1 + engine)
            return &p->step[s];
    return NULL;
}

static void put_engines(Emit *emit, Text *text)
{
    const Program *p = emit->program;

    text_printf(text, "static const occ_cudnn_engine %s_engine[%d] = {\n", emit->name,
                library_engines(p, LIBRARY_CUDNN, p->nengine));
    for (int i = 0; i < p->nengine; i++) {
        const LibraryEngine *e = &p->engine[i];

        if (e->library != LIBRARY_CUDNN)
            continue;
        put_conv(emit, text, first_step_of(p, i));
        text_printf(text, "%" PRId64 ", %" PRId64 ", %d, %d, {", e->index, e->workspace,
                    (int)(first_step_of(p, i) - p->step), e->nknob);
        for (int k = 0; k < e->nknob; k++)
            text_printf(text, "%s{%" PRId64 ", %" PRId64 "}", k ? ", " : "", e->knob[k][0], e->knob[k][1]);
        text_put(text, e->nknob ? "}},\n" : "{0, 0}}},\n");
    }
    text_put(text, "};\n\n");
}

static void put_matrix(Text *text, const ProductMatrix *m)
{
    text_printf(text, "{%" PRId64 ", %" PRId64 ", %d}, ", m->pitch, m->next, m->turned);
}

/* Each product as an occ_cublaslt_product. */
static void put_products(Emit *emit, Text *text)
{
    static const char *const factors[] = {"OCC_CUBLASLT_F32", "OCC_CUBLASLT_TF32", "OCC_CUBLASLT_FP16"};

    const Program *p = emit->program;
    const Options *options = emit->emission->options;

    text_printf(text, "static const occ_cublaslt_product %s_product[%d] = {\n", emit->name,
                library_engines(p, LIBRARY_CUBLASLT, p->nengine));
    for (int i = 0; i < p->nengine; i++) {
        const Step *step = first_step_of(p, i);
        Product     product;
        Epilogue    e;

        if (p->engine[i].library != LIBRARY_CUBLASLT)
            continue;
        e = step_epilogue(step);
        step_describe_product(step, &product);
        text_printf(text, "    {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", ", product.batch, product.rows,
                    product.columns, product.terms);
        put_matrix(text, &product.a);
        put_matrix(text, &product.b);
        put_matrix(text, &product.y);
        text_printf(text, "%d, %d, %s, %" PRId64 "},\n", e.addend >= 0, e.function,
                    factors[options->fp16 ? 2 : options->tf32], p->engine[i].workspace);
    }
    text_put(text, "};\n\n");
}

/* ------------------------------------------------------------------------------------------------------------- open */

static void put_place(Emit *emit, Text *text, const Operand *x, const char *behind)
{
    if (!x || x->buffer < 0)
        text_put(text, "0");
    else
        emit_operand(emit, text, x);
    text_put(text, behind);
}

/* The end of a step's lines: what is said where the library does not serve it. */
static void put_untaken(Text *text, int index, int given, const char *library)
{
    text_printf(
        text,
        "        if (!c->given[%d])\n"
        "            (void)occ_tell(memory, %d, -1, \"%s does not compute the step within its planned workspace: "
        "its own kernel does\");\n    }\n",
        given, index, library);
}

/* An operand of a step's expression; NULL: there is none. */
static const Operand *read_by(const Step *step, int operand)
{
    return operand < 0 ? NULL : &step->operand[step->nparam + operand];
}

/* The tensors of a convolution: x, w, bias, addend, y. */
static void give_conv(Emit *emit, Text *text, int index)
{
    const Step *step = &emit->program->step[index];
    int         given = engine_steps(emit->program, index), engine = table_index(emit->program, step);

    text_put(text, "    {\n        void *const at[5] = {");
    put_place(emit, text, step_operand_of(step, "x"), ", ");
    put_place(emit, text, step_operand_of(step, "w"), ", ");
    put_place(emit, text, step_bias(step), ", ");
    put_place(emit, text, read_by(step, step_epilogue(step).addend), ", ");
    put_place(emit, text, step_operand_of(step, "y"), "};\n\n");
    text_printf(text, "        c->given[%d] = occ_cudnn_give(&d, c->library, c->engine[%d], &%s_engine[%d], at, ",
                given, engine, emit->name, engine);
    put_place(emit, text, step_operand_of(step, "work"), ", ");
    text_put(text, "memory->stream);\n");
    put_untaken(text, index, given, "cuDNN");
}

/* Those of a product: a, b, bias, addend, y, workspace. */
static void give_product(Emit *emit, Text *text, int index)
{
    const Program *p = emit->program;
    const Step    *step = &p->step[index];
    bool           krsc = step_is_krsc(step);
    int            product = library_steps(p, LIBRARY_CUBLASLT, index);

    text_put(text, "    {\n        void *const at[6] = {");
    put_place(emit, text, step_operand_of(step, krsc ? "x" : "a"), ", ");
    put_place(emit, text, step_operand_of(step, krsc ? "w" : "b"), ", ");
    put_place(emit, text, step_bias(step), ", ");
    put_place(emit, text, read_by(step, step_epilogue(step).addend), ", ");
    put_place(emit, text, step_operand_of(step, "y"), ", ");
    put_place(emit, text, step_operand_of(step, "work"), "};\n\n");
    text_printf(text,
                "        c->given[%d] = occ_cublaslt_give(c->products, &%s_product[%d], at, c->product[%d], "
                "c->algorithm[%d], memory->stream);\n",
                engine_steps(p, index), emit->name, table_index(p, step), product, product);
    put_untaken(text, index, engine_steps(p, index), "cuBLASLt");
}

/* The lines of open for each step of a library. */
static void give_steps(Emit *emit, Text *text, Library library, void (*give)(Emit *emit, Text *text, int index))
{
    const Program *p = emit->program;

    for (int s = 0; s < p->nstep; s++)
        if (engine_of(p, &p->step[s]) && engine_of(p, &p->step[s])->library == library)
            give(emit, text, s);
}

static const char before_engines[] =
    "/* -- steps that cuDNN may compute: build with -DOCC_CUDNN and link with -lcudnn. Each "
    "has a kernel of its own, too "
    "*/\n\n#if defined(OCC_CUDNN)\n";

static const char open_engines[] =
    "/* Makes the plans of the engines, and has each compute its steps once, before anything is captured. What the "
    "library\n * refuses is left to the steps' own kernels. */\n"
    "static void @_engines(const @_memory *memory)\n{\n"
    "    @_context     *c = memory->context;\n"
    "    unsigned char *device = (unsigned char *)memory->device;\n"
    "    occ_cudnn_made d = {c->made, 0, (int)(sizeof c->made / sizeof *c->made), 0, CUDNN_STATUS_SUCCESS};\n\n"
    "    c->library = occ_cudnn_open(memory->stream);\n"
    "    if (!c->library) {\n"
    "        (void)occ_tell(memory, -1, -1, \"cuDNN cannot be opened: its steps run their own kernels\");\n"
    "        return;\n"
    "    }\n"
    "    for (int i = 0; i < (int)(sizeof c->engine / sizeof *c->engine); i++) {\n"
    "        bool listed = true;\n\n"
    "        c->engine[i] = occ_cudnn_choose(&d, c->library, &@_engine[i], &listed);\n"
    "        if (c->engine[i] && !listed)\n"
    "            (void)occ_tell(memory, (int)@_engine[i].step, -1,\n"
    "                           \"cuDNN refuses the listed engine, or it needs more than its planned workspace: "
    "another one "
    "is used\");\n"
    "    }\n";

static const char after_engines[] = "    c->nmade = d.count;\n"
                                    "    (void)cudaGetLastError(); /* the next call does not find it again */\n"
                                    "}\n\n"
                                    "#define OCC_ENGINE(plan, step, own) \\\n"
                                    "    (memory->context->given[step] \\\n"
                                    "         ? occ_cudnn_run(memory->context->library, memory->context->engine[plan], "
                                    "memory->context->given[step]) \\\n"
                                    "         : (own))\n"
                                    "#else\n"
                                    "#define OCC_ENGINE(plan, step, own) (own)\n"
                                    "#endif\n\n";

static const char before_products[] = "/* -- products that cuBLASLt may compute: build with -DOCC_CUBLASLT and link "
                                      "with -lcublasLt. Each has a kernel of "
                                      "its own, too */\n\n#if defined(OCC_CUBLASLT)\n";

static const char open_products[] = "/* Finds an algorithm for each step, and has it compute the step once, before "
                                    "anything is captured. What the library\n"
                                    " * refuses is left to the steps' own kernels. */\n"
                                    "static void @_products(const @_memory *memory)\n{\n"
                                    "    @_context     *c = memory->context;\n"
                                    "    unsigned char *device = (unsigned char *)memory->device;\n\n"
                                    "    c->products = occ_cublaslt_open();\n"
                                    "    if (!c->products) {\n"
                                    "        (void)occ_tell(memory, -1, -1, \"cuBLASLt cannot be opened: its steps run "
                                    "their own kernels\");\n"
                                    "        return;\n    }\n";

static const char after_products[] =
    "    (void)cudaGetLastError(); /* the next call does not find it again */\n"
    "}\n\n"
    "#define OCC_PRODUCT(which, kept, step, own) \\\n"
    "    (memory->context->given[step] \\\n"
    "         ? occ_cublaslt_run(memory->context->products, &@_product[which], memory->context->product[kept], \\\n"
    "                            memory->context->algorithm[kept], memory->stream) \\\n"
    "         : (own))\n"
    "#else\n"
    "#define OCC_PRODUCT(which, kept, step, own) (own)\n"
    "#endif\n\n";

void emit_engines(Emit *emit, Text *text)
{
    if (uses(emit, LIBRARY_CUDNN)) {
        text_put(text, before_engines);
        text_put(text, template_text("cudnn_engine.h"));
        text_put(text, template_text("cudnn_steps.h"));
        text_put(text, "\n");
        put_engines(emit, text);
        text_put_named(text, open_engines, emit->name);
        give_steps(emit, text, LIBRARY_CUDNN, give_conv);
        text_put(text, after_engines);
    }
    if (uses(emit, LIBRARY_CUBLASLT)) {
        text_put(text, before_products);
        text_put(text, template_text("cublaslt_engine.h"));
        text_put(text, "\n");
        put_products(emit, text);
        text_put_named(text, open_products, emit->name);
        give_steps(emit, text, LIBRARY_CUBLASLT, give_product);
        text_put_named(text, after_products, emit->name);
    }
}

void emit_engines_reset(Emit *emit, Text *text)
{
    if (uses(emit, LIBRARY_CUDNN))
        text_put(text, "    memory->context->library = 0;\n    memory->context->nmade = 0;\n");
    if (uses(emit, LIBRARY_CUBLASLT))
        text_printf(text,
                    "    memory->context->products = 0;\n"
                    "    for (int i = 0; i < %d; i++)\n"
                    "        for (int k = 0; k < %d; k++)\n"
                    "            memory->context->product[i][k] = 0;\n",
                    library_steps(emit->program, LIBRARY_CUBLASLT, emit->program->nstep), KEPT);
    if (has_engines(emit))
        text_put(text, "    for (int i = 0; i < (int)(sizeof memory->context->given / sizeof(void *)); i++)\n"
                       "        memory->context->given[i] = 0;\n");
}

void emit_engines_open(Emit *emit, Text *text)
{
    if (uses(emit, LIBRARY_CUDNN))
        text_put_named(text, "#if defined(OCC_CUDNN)\n    if (!status)\n        @_engines(memory);\n#endif\n",
                       emit->name);
    if (uses(emit, LIBRARY_CUBLASLT))
        text_put_named(text, "#if defined(OCC_CUBLASLT)\n    if (!status)\n        @_products(memory);\n#endif\n",
                       emit->name);
}

void emit_engines_close(Emit *emit, Text *text)
{
    if (uses(emit, LIBRARY_CUDNN))
        text_put(text, "#if defined(OCC_CUDNN)\n"
                       "    occ_cudnn_close(memory->context->library, memory->context->made, memory->context->nmade);\n"
                       "#endif\n"
                       "    memory->context->library = 0;\n    memory->context->nmade = 0;\n");
    if (uses(emit, LIBRARY_CUBLASLT))
        text_put(
            text,
            "#if defined(OCC_CUBLASLT)\n"
            "    occ_cublaslt_close(memory->context->products, memory->context->product,\n"
            "                       (int)(sizeof memory->context->product / sizeof memory->context->product[0]));\n"
            "#endif\n"
            "    memory->context->products = 0;\n");
}
