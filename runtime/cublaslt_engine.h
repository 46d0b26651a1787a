/* cublaslt_engine.h - a step of a program that cuBLASLt computes, a stack of matrix products: descriptors and
 * algorithm, found once, and its runs. For programs of --target=cuda that are built with -DOCC_CUBLASLT; such a program
 * has a copy of this file. C99, no memory of its own. Knows nothing of other steps.
 *
 * The library's matrices lie by columns, ours by rows. So it is asked for the transpose of y, which is that of b times
 * that of a, where every matrix stays as it lies. A bias of our columns is one of its rows, as it wants. */
#ifndef OCC_CUBLASLT_ENGINE_H
#define OCC_CUBLASLT_ENGINE_H

#include <cublasLt.h>

#include <stdint.h>
#include <string.h>

/* Where the matrices of one operand lie, in elements. Those of a line are neighbours. */
typedef struct occ_cublaslt_matrix {
    int64_t pitch, next; /* from line to line, from matrix to matrix of the batch */
    int64_t turned;      /* 1: lines are columns; 0: rows */
} occ_cublaslt_matrix;

enum { OCC_CUBLASLT_F32, OCC_CUBLASLT_TF32, OCC_CUBLASLT_FP16 }; /* what factors may be rounded to */

/* y[rows][columns] = function(a[rows][terms] * b[terms][columns] + addend or bias), `batch` times. */
typedef struct occ_cublaslt_product {
    int64_t             batch, rows, columns, terms;
    occ_cublaslt_matrix a, b, y;
    int64_t             addend;    /* 1: a tensor with the places of y is added */
    int64_t             relu;      /* 1: negative results become 0 */
    int64_t             factors;   /* OCC_CUBLASLT_F32, ... */
    int64_t             workspace; /* bytes that its steps have */
} occ_cublaslt_product;

/* What a step keeps from open to close: descriptors, then the places of its tensors. */
enum {
    OCC_CUBLASLT_OPERATION,
    OCC_CUBLASLT_LAYOUT_A,
    OCC_CUBLASLT_LAYOUT_B,
    OCC_CUBLASLT_LAYOUT_Y,
    OCC_CUBLASLT_A,
    OCC_CUBLASLT_B,
    OCC_CUBLASLT_BIAS,
    OCC_CUBLASLT_ADDEND,
    OCC_CUBLASLT_Y,
    OCC_CUBLASLT_WORK,
    OCC_CUBLASLT_KEPT
};
enum { OCC_CUBLASLT_WORDS = 16 }; /* for an algorithm, which has 8 in the versions 12 and 13 of the library */
typedef char occ_cublaslt_words_suffice[sizeof(cublasLtMatmulAlgo_t) <= 8 * OCC_CUBLASLT_WORDS ? 1 : -1];

/* A handle of the library; NULL: there is none. */
static inline void *occ_cublaslt_open(void)
{
    cublasLtHandle_t handle = NULL;

    return cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS ? (void *)handle : NULL;
}

/* ------------------------------------------------------------------------------------------------------ descriptors */

/* Set an attribute; `ok` becomes 0 where the library refuses it. */
#define OCC_CUBLASLT_SET(ok, set, descriptor, name, value) \
    (void)((ok) = (ok) && set((descriptor), (name), &(value), sizeof(value)) == CUBLAS_STATUS_SUCCESS)

/* The transposes of such matrices, as the library wants them; NULL: it refuses. */
static inline cublasLtMatrixLayout_t occ_cublaslt_layout(const occ_cublaslt_matrix *m, int64_t rows, int64_t columns,
                                                         int64_t batch)
{
    const int32_t          order = CUBLASLT_ORDER_COL, count = (int32_t)batch;
    const int64_t          length = m->turned ? rows : columns, lines = m->turned ? columns : rows;
    cublasLtMatrixLayout_t made = NULL;
    int                    ok;

    if (cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, (uint64_t)length, (uint64_t)lines, m->pitch) !=
        CUBLAS_STATUS_SUCCESS)
        return NULL;
    ok = 1;
    OCC_CUBLASLT_SET(ok, cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_ORDER, order);
    OCC_CUBLASLT_SET(ok, cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    OCC_CUBLASLT_SET(ok, cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m->next);
    if (ok)
        return made;
    (void)cublasLtMatrixLayoutDestroy(made);
    return NULL;
}

/* The product and what becomes of its sums; NULL: the library refuses. bias: an element for each column, or NULL. */
static inline cublasLtMatmulDesc_t occ_cublaslt_operation(const occ_cublaslt_product *p, cublasComputeType_t compute,
                                                          void *bias)
{
    const int32_t  first = p->b.turned ? CUBLAS_OP_T : CUBLAS_OP_N, second = p->a.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    const uint32_t epilogue = bias      ? (p->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                              : p->relu ? CUBLASLT_EPILOGUE_RELU
                                        : CUBLASLT_EPILOGUE_DEFAULT;
    cublasLtMatmulDesc_t made = NULL;
    int                  ok = 1;

    if (cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F) != CUBLAS_STATUS_SUCCESS)
        return NULL;
    OCC_CUBLASLT_SET(ok, cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_TRANSA, first);
    OCC_CUBLASLT_SET(ok, cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_TRANSB, second);
    OCC_CUBLASLT_SET(ok, cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (bias)
        OCC_CUBLASLT_SET(ok, cublasLtMatmulDescSetAttribute, made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    if (ok)
        return made;
    (void)cublasLtMatmulDescDestroy(made);
    return NULL;
}

/* The largest power of two, 256 at most, of which an address is a multiple. */
static inline uint32_t occ_cublaslt_alignment(const void *at)
{
    uint32_t bytes = 1;

    while (bytes < 256 && (uintptr_t)at % (2 * bytes) == 0)
        bytes *= 2;
    return bytes;
}

/* What the heuristics may choose among: nothing above the step's workspace, and no sum that is cut into parts, whose
 * order of addition could differ from run to run. NULL: the library refuses. */
static inline cublasLtMatmulPreference_t occ_cublaslt_preference(const occ_cublaslt_product *p, void *const *kept)
{
    const uint64_t workspace = (uint64_t)p->workspace;
    const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE, a = occ_cublaslt_alignment(kept[OCC_CUBLASLT_A]),
                   b = occ_cublaslt_alignment(kept[OCC_CUBLASLT_B]),
                   c = occ_cublaslt_alignment(kept[p->addend ? OCC_CUBLASLT_ADDEND : OCC_CUBLASLT_Y]),
                   y = occ_cublaslt_alignment(kept[OCC_CUBLASLT_Y]);
    cublasLtMatmulPreference_t made = NULL;
    int                        ok = 1;

    if (cublasLtMatmulPreferenceCreate(&made) != CUBLAS_STATUS_SUCCESS)
        return NULL;
#define OCC_CUBLASLT_PREFER(name, value) \
    OCC_CUBLASLT_SET(ok, cublasLtMatmulPreferenceSetAttribute, made, CUBLASLT_MATMUL_PREF_##name, value)
    OCC_CUBLASLT_PREFER(MAX_WORKSPACE_BYTES, workspace);
    OCC_CUBLASLT_PREFER(REDUCTION_SCHEME_MASK, scheme);
    OCC_CUBLASLT_PREFER(MIN_ALIGNMENT_A_BYTES, b);
    OCC_CUBLASLT_PREFER(MIN_ALIGNMENT_B_BYTES, a);
    OCC_CUBLASLT_PREFER(MIN_ALIGNMENT_C_BYTES, c);
    OCC_CUBLASLT_PREFER(MIN_ALIGNMENT_D_BYTES, y);
#undef OCC_CUBLASLT_PREFER
    if (ok)
        return made;
    (void)cublasLtMatmulPreferenceDestroy(made);
    return NULL;
}

/* Destroys a step's descriptors. */
static inline void occ_cublaslt_forget(void **kept)
{
    if (kept[OCC_CUBLASLT_OPERATION])
        (void)cublasLtMatmulDescDestroy((cublasLtMatmulDesc_t)kept[OCC_CUBLASLT_OPERATION]);
    for (int i = OCC_CUBLASLT_LAYOUT_A; i <= OCC_CUBLASLT_LAYOUT_Y; i++)
        if (kept[i])
            (void)cublasLtMatrixLayoutDestroy((cublasLtMatrixLayout_t)kept[i]);
    for (int i = 0; i < OCC_CUBLASLT_KEPT; i++)
        kept[i] = NULL;
}

/* ------------------------------------------------------------------------------------------------------- algorithms */

/* Whether an algorithm keeps to the workspace, adds each sum in one fixed order, and rounds no more than the factors
 * may be. One that the library does not tell about is refused. */
static inline int occ_cublaslt_allowed(const cublasLtMatmulHeuristicResult_t *found, const occ_cublaslt_product *p)
{
#define OCC_CUBLASLT_FLAG(name) CUBLASLT_NUMERICAL_IMPL_FLAGS_##name
    static const uint64_t exact = OCC_CUBLASLT_FLAG(FMA) | OCC_CUBLASLT_FLAG(ACCUMULATOR_32F) |
                                  OCC_CUBLASLT_FLAG(INPUT_32F),
                          tf32 = OCC_CUBLASLT_FLAG(HMMA) | OCC_CUBLASLT_FLAG(INPUT_TF32);
    const uint64_t allowed = exact | (p->factors != OCC_CUBLASLT_F32 ? tf32 : 0) |
                             (p->factors == OCC_CUBLASLT_FP16 ? OCC_CUBLASLT_FLAG(INPUT_16F) : 0);
#undef OCC_CUBLASLT_FLAG
    uint64_t flags = 0;
    uint32_t scheme = 0;
    int32_t  parts = 0, apart = 0;
    size_t   written = 0;

#define OCC_CUBLASLT_TELLS(kind, name, value) \
    (cublasLtMatmulAlgo##kind##GetAttribute(&found->algo, name, &(value), sizeof(value), &written) == \
     CUBLAS_STATUS_SUCCESS)
    if (found->state != CUBLAS_STATUS_SUCCESS || found->workspaceSize > (size_t)p->workspace ||
        !OCC_CUBLASLT_TELLS(Config, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, scheme) ||
        !OCC_CUBLASLT_TELLS(Config, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) ||
        !OCC_CUBLASLT_TELLS(Cap, CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, apart) ||
        !OCC_CUBLASLT_TELLS(Cap, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, flags))
        return 0;
#undef OCC_CUBLASLT_TELLS
    return scheme == CUBLASLT_REDUCTION_SCHEME_NONE && parts <= 1 && (apart || !p->addend) && !(flags & ~allowed);
}

/* Has the library compute a step with what occ_cublaslt_give has left. Returns 0, or -1: it could not be put
 * into the stream. */
static inline int occ_cublaslt_run(void *library, const occ_cublaslt_product *p, void *const *kept,
                                   const uint64_t algorithm[OCC_CUBLASLT_WORDS], void *stream)
{
    const float            one = 1.0f, scale = p->addend ? 1.0f : 0.0f;
    cublasLtMatrixLayout_t y = (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_Y];
    cublasLtMatmulAlgo_t   algo;

    memcpy(&algo, algorithm, sizeof algo);
    return cublasLtMatmul((cublasLtHandle_t)library, (cublasLtMatmulDesc_t)kept[OCC_CUBLASLT_OPERATION], &one,
                          kept[OCC_CUBLASLT_B], (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_B],
                          kept[OCC_CUBLASLT_A], (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_A], &scale,
                          kept[p->addend ? OCC_CUBLASLT_ADDEND : OCC_CUBLASLT_Y], y, kept[OCC_CUBLASLT_Y], y, &algo,
                          kept[OCC_CUBLASLT_WORK], (size_t)p->workspace, (cudaStream_t)stream) == CUBLAS_STATUS_SUCCESS
               ? 0
               : -1;
}

/* Finds the first algorithm of the heuristics' list that is allowed and computes the step. Returns 0, or 1: there is
 * none. */
static inline int occ_cublaslt_find(void *library, const occ_cublaslt_product *p, void *const *kept,
                                    uint64_t algorithm[OCC_CUBLASLT_WORDS], void *stream)
{
    enum { MOST = 16 };
    cublasLtMatmulHeuristicResult_t found[MOST];
    cublasLtMatrixLayout_t          y = (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_Y];
    cublasLtMatmulPreference_t      preference = occ_cublaslt_preference(p, kept);
    int                             count = 0, failed = 1;

    if (!preference)
        return 1;
    if (cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)library, (cublasLtMatmulDesc_t)kept[OCC_CUBLASLT_OPERATION],
                                       (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_B],
                                       (cublasLtMatrixLayout_t)kept[OCC_CUBLASLT_LAYOUT_A], y, y, preference, MOST,
                                       found, &count) != CUBLAS_STATUS_SUCCESS)
        count = 0;
    (void)cublasLtMatmulPreferenceDestroy(preference);
    for (int i = 0; i < count && i < MOST && failed; i++)
        if (occ_cublaslt_allowed(&found[i], p)) {
            memcpy(algorithm, &found[i].algo, sizeof found[i].algo);
            failed = occ_cublaslt_run(library, p, kept, algorithm, stream) ||
                     cudaStreamSynchronize((cudaStream_t)stream) != cudaSuccess;
        }
    return failed;
}

/* Makes a step's descriptors, finds its algorithm and has it compute the step once. Returns `kept`, or NULL: the step's
 * own kernel must run. at: a, b, bias, addend, y and the workspace; NULL: there is none. */
static inline void *occ_cublaslt_give(void *library, const occ_cublaslt_product *p, void *const at[6],
                                      void *kept[OCC_CUBLASLT_KEPT], uint64_t algorithm[OCC_CUBLASLT_WORDS],
                                      void *stream)
{
    static const cublasComputeType_t compute[][2] = {{CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F},
                                                     {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F},
                                                     {CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_TF32}};

    kept[OCC_CUBLASLT_OPERATION] = NULL;
    for (int i = 0; i < 6; i++)
        kept[OCC_CUBLASLT_A + i] = at[i];
    kept[OCC_CUBLASLT_LAYOUT_A] = occ_cublaslt_layout(&p->a, p->rows, p->terms, p->batch);
    kept[OCC_CUBLASLT_LAYOUT_B] = occ_cublaslt_layout(&p->b, p->terms, p->columns, p->batch);
    kept[OCC_CUBLASLT_LAYOUT_Y] = occ_cublaslt_layout(&p->y, p->rows, p->columns, p->batch);
    for (int i = 0; i < 2 && kept[OCC_CUBLASLT_LAYOUT_A] && kept[OCC_CUBLASLT_LAYOUT_B] && kept[OCC_CUBLASLT_LAYOUT_Y];
         i++) {
        cublasLtMatmulDesc_t operation = occ_cublaslt_operation(p, compute[p->factors][i], kept[OCC_CUBLASLT_BIAS]);

        kept[OCC_CUBLASLT_OPERATION] = (void *)operation;
        if (operation && !occ_cublaslt_find(library, p, kept, algorithm, stream))
            return (void *)kept;
        if (operation)
            (void)cublasLtMatmulDescDestroy(operation);
        kept[OCC_CUBLASLT_OPERATION] = NULL;
    }
    occ_cublaslt_forget(kept);
    return NULL;
}

/* Gives back what occ_cublaslt_open and the calls behind it took. */
static inline void occ_cublaslt_close(void *library, void *(*kept)[OCC_CUBLASLT_KEPT], int steps)
{
    for (int i = 0; i < steps; i++)
        occ_cublaslt_forget(kept[i]);
    if (library)
        (void)cublasLtDestroy((cublasLtHandle_t)library);
}

#endif
