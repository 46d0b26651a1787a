// fake_cublaslt.cc - a library with cuBLASLt's interface that refuses what is missing or inconsistent, and offers the
// algorithms that FAKE_CUBLASLT lists: entries "WORKSPACE:NEEDED:SCHEME:PARTS:FLAGS:APART:ALIGN", separated by blanks.
//   WORKSPACE  bytes that the heuristics tell;  NEEDED  bytes that it takes, all of which it fills; -1: it always fails
//   SCHEME, PARTS  reduction scheme, parts of a sum;  FLAGS  numerical flags;  APART  1: C may lie elsewhere than D
//   ALIGN      bytes of which all tensors must be multiples
// It is offered whatever the preference says, for each compute type whose letter is in FAKE_CUBLASLT_COMPUTE (p, f, t,
// h; all if it is not set). Products are put into streams of the fake CUDA runtime. FAKE_CUBLASLT_FAIL=N makes the N-th
// call fail. FAKE_CUBLASLT_LOG names a file to which the end of the program writes a line for each call, and what is
// left.
#include "emulate.h"
#include <cublasLt.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct cublasLtContext {
    int number;
};

// Attributes as they were set, by name.
typedef std::map<int, std::vector<char>> Attributes;

struct FakeLayout {
    int64_t    rows, columns, pitch;
    Attributes set;
};

struct FakeOperation {
    cublasComputeType_t compute;
    Attributes          set;
};

struct FakePreference {
    Attributes set;
};

namespace
{

struct Script {
    int64_t workspace, needed, scheme, parts, flags, apart, align;
};

struct Calls {
    int                      count = 0, living = 0, ran = 0;
    std::vector<std::string> line;
};

// It outlives the functions of atexit.
Calls &calls()
{
    static Calls *all = new Calls;
    return *all;
}

// Notes a call. Returns whether it must fail.
bool enter(const std::string &what)
{
    const char *wanted = getenv("FAKE_CUBLASLT_FAIL");
    calls().line.push_back(what);
    return ++calls().count == (wanted ? atoi(wanted) : 0);
}

cublasStatus_t refuse(const char *why)
{
    calls().line.push_back(std::string("refused: ") + why);
    return CUBLAS_STATUS_INVALID_VALUE;
}

// After the functions of atexit, with which a program gives back what it took.
__attribute__((destructor)) void report()
{
    const char *path = getenv("FAKE_CUBLASLT_LOG");
    FILE       *file = path ? fopen(path, "w") : nullptr;
    if (!file)
        return;
    for (const std::string &line : calls().line)
        fprintf(file, "%s\n", line.c_str());
    fprintf(file, "ran %d\nleft %d\n", calls().ran, calls().living);
    fclose(file);
}

template <typename T> cublasStatus_t make(const char *what, T **made, T value)
{
    if (enter(what))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *made = new T(value);
    calls().living++;
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T> cublasStatus_t destroy(T *made)
{
    enter("destroy");
    delete made;
    calls().living--;
    return CUBLAS_STATUS_SUCCESS;
}

// An attribute must have the size that the library documents for it.
cublasStatus_t set(Attributes *to, int name, const void *value, size_t bytes, size_t wanted)
{
    if (enter("set"))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != wanted || to->count(name))
        return refuse("an attribute of another size, or one that is set twice");
    const char *from = static_cast<const char *>(value);
    (*to)[name].assign(from, from + bytes);
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T> T get(const Attributes &from, int name)
{
    T value;
    memcpy(&value, from.at(name).data(), sizeof value);
    return value;
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return make("create", handle, cublasLtContext{0});
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return destroy(handle);
}

/* ----------------------------------------------------------------------------------------------------- descriptors */

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t pitch)
{
    if (type != CUDA_R_32F || !rows || !columns || pitch < static_cast<int64_t>(rows))
        return refuse("a layout whose lines overlap");
    return make("layout", made, FakeLayout{static_cast<int64_t>(rows), static_cast<int64_t>(columns), pitch, {}});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made)
{
    return destroy(made);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes)
{
    return set(&to->set, name, value, bytes, name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET ? 8 : 4);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *made, cublasComputeType_t compute, cudaDataType_t scale)
{
    if (scale != CUDA_R_32F)
        return refuse("another type of scale");
    return make("operation", made, FakeOperation{compute, {}});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made)
{
    return destroy(made);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes)
{
    return set(&to->set, name, value, bytes, name == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void *) : 4);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made)
{
    return make("preference", made, FakePreference{});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made)
{
    return destroy(made);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t           to,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void *value,
                                                    size_t bytes)
{
    return set(&to->set, name, value, bytes, name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8 : 4);
}

/* ------------------------------------------------------------------------------------------------------ consistency */

namespace
{

// One operand: op(matrix) is [rows][columns]; a place is `row * down + column * across` elements from its matrix.
struct Matrix {
    int64_t      rows, columns, down, across, next;
    const float *at;
};

struct Job {
    int64_t      batch;
    Matrix       a, b, c, d;
    float       *result;
    const float *bias;
    bool         relu;
    float        alpha, beta;
    char        *work;
    int64_t      needed;
};

const char *read_matrix(const FakeLayout *l, bool turned, int64_t batch, Matrix *m)
{
    if (l->set.size() != FAKE_LAYOUT_ATTRIBUTES ||
        get<int32_t>(l->set, CUBLASLT_MATRIX_LAYOUT_ORDER) != CUBLASLT_ORDER_COL)
        return "a layout without order, batch or distance";
    if (get<int32_t>(l->set, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) != batch)
        return "layouts of different batches";
    *m = {l->rows, l->columns, 1, l->pitch, get<int64_t>(l->set, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), nullptr};
    if (turned)
        *m = {m->columns, m->rows, m->across, m->down, m->next, nullptr};
    return nullptr;
}

bool is_turned(const FakeOperation *o, cublasLtMatmulDescAttributes_t name)
{
    return get<int32_t>(o->set, name) == CUBLAS_OP_T;
}

// Fills all of a job but its tensors. Returns what does not fit.
const char *read_job(const FakeOperation *o, const FakeLayout *a, const FakeLayout *b, const FakeLayout *c,
                     const FakeLayout *d, Job *job)
{
    for (int name : {CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_EPILOGUE})
        if (!o->set.count(name))
            return "an operation without transposition or epilogue";
    const uint32_t epilogue = get<uint32_t>(o->set, CUBLASLT_MATMUL_DESC_EPILOGUE);
    const bool     biased = epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    if (biased != (o->set.count(CUBLASLT_MATMUL_DESC_BIAS_POINTER) > 0))
        return "a bias without its epilogue, or an epilogue without its bias";
    *job = {};
    job->batch = get<int32_t>(d->set, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
    job->relu = epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    job->bias = biased ? get<const float *>(o->set, CUBLASLT_MATMUL_DESC_BIAS_POINTER) : nullptr;
    const char *wrong = read_matrix(a, is_turned(o, CUBLASLT_MATMUL_DESC_TRANSA), job->batch, &job->a);
    wrong = wrong ? wrong : read_matrix(b, is_turned(o, CUBLASLT_MATMUL_DESC_TRANSB), job->batch, &job->b);
    wrong = wrong ? wrong : read_matrix(c, false, job->batch, &job->c);
    wrong = wrong ? wrong : read_matrix(d, false, job->batch, &job->d);
    if (wrong)
        return wrong;
    if (job->a.columns != job->b.rows || job->a.rows != job->d.rows || job->b.columns != job->d.columns ||
        job->c.rows != job->d.rows || job->c.columns != job->d.columns)
        return "extents that do not fit";
    return job->batch > 1 && job->d.next < job->d.across * job->d.columns ? "results that overlap" : nullptr;
}

bool is_aligned(const void *at, int64_t bytes)
{
    return reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(bytes) == 0;
}

} // namespace

/* ------------------------------------------------------------------------------------------------------- algorithms */

namespace
{

bool next_script(const char **at, Script *s)
{
    int length = 0;
    if (!*at || sscanf(*at, " %" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64 "%n",
                       &s->workspace, &s->needed, &s->scheme, &s->parts, &s->flags, &s->apart, &s->align, &length) != 7)
        return false;
    *at += length;
    return true;
}

Script script_of(const cublasLtMatmulAlgo_t *algo)
{
    Script s;
    static_assert(sizeof s <= sizeof algo->data, "an algorithm holds its entry");
    memcpy(&s, algo->data, sizeof s);
    return s;
}

char letter_of(cublasComputeType_t compute)
{
    return compute == CUBLAS_COMPUTE_32F_PEDANTIC    ? 'p'
           : compute == CUBLAS_COMPUTE_32F           ? 'f'
           : compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? 't'
                                                     : 'h';
}

} // namespace

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t found[], int *count)
{
    Job         job;
    const char *at = getenv("FAKE_CUBLASLT"), *served = getenv("FAKE_CUBLASLT_COMPUTE");
    const char  letter = letter_of(operation->compute);
    if (enter(std::string("heuristics ") + letter))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const char *wrong = read_job(operation, a, b, c, d, &job);
    if (wrong)
        return refuse(wrong);
    if (preference->set.size() != FAKE_PREFERENCE_ATTRIBUTES ||
        get<uint32_t>(preference->set, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) != CUBLASLT_REDUCTION_SCHEME_NONE)
        return refuse("a preference without workspace, scheme or alignments");
    *count = 0;
    for (Script s; (!served || strchr(served, letter)) && *count < most && next_script(&at, &s);) {
        cublasLtMatmulHeuristicResult_t *to = &found[(*count)++];
        memset(to, 0, sizeof *to);
        memcpy(to->algo.data, &s, sizeof s);
        to->workspaceSize = static_cast<size_t>(s.workspace);
    }
    return CUBLAS_STATUS_SUCCESS;
}

template <typename T> static cublasStatus_t tell(int64_t what, void *value, size_t bytes, size_t *written)
{
    const T as = static_cast<T>(what);
    if (enter("tell"))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (bytes != sizeof as)
        return refuse("an attribute of another size");
    memcpy(value, &as, sizeof as);
    *written = sizeof as;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t          *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t name, void *value,
                                                    size_t bytes, size_t *written)
{
    const Script s = script_of(algo);
    return name == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? tell<int32_t>(s.parts, value, bytes, written)
                                                   : tell<uint32_t>(s.scheme, value, bytes, written);
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t       *algo,
                                                 cublasLtMatmulAlgoCapAttributes_t name, void *value, size_t bytes,
                                                 size_t *written)
{
    const Script s = script_of(algo);
    return name == CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT ? tell<int32_t>(s.apart, value, bytes, written)
                                                                 : tell<uint64_t>(s.flags, value, bytes, written);
}

/* --------------------------------------------------------------------------------------------------------- products */

namespace
{

float element(const Matrix &m, int64_t matrix, int64_t row, int64_t column)
{
    return m.at[matrix * m.next + row * m.down + column * m.across];
}

// One result, summed in double precision.
float result(const Job &j, int64_t matrix, int64_t row, int64_t column)
{
    double sum = 0.0;
    for (int64_t k = 0; k < j.a.columns; k++)
        sum += static_cast<double>(element(j.a, matrix, row, k)) * static_cast<double>(element(j.b, matrix, k, column));
    sum *= static_cast<double>(j.alpha);
    if (j.beta != 0.0f)
        sum += static_cast<double>(j.beta) * static_cast<double>(element(j.c, matrix, row, column));
    sum += j.bias ? static_cast<double>(j.bias[row]) : 0.0;
    return static_cast<float>(j.relu && sum < 0.0 ? 0.0 : sum);
}

void compute(const Job &j)
{
    calls().ran++;
    if (j.needed)
        memset(j.work, 0xff, static_cast<size_t>(j.needed));
    for (int64_t matrix = 0; matrix < j.batch; matrix++)
        for (int64_t column = 0; column < j.d.columns; column++)
            for (int64_t row = 0; row < j.d.rows; row++)
                j.result[matrix * j.d.next + row * j.d.down + column * j.d.across] = result(j, matrix, row, column);
}

} // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_at, const void *b, cublasLtMatrixLayout_t b_at, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_at, void *d, cublasLtMatrixLayout_t d_at,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes, cudaStream_t stream)
{
    const Script s = script_of(algo);
    Job          job;
    if (enter("product"))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    const char *wrong = read_job(operation, a_at, b_at, c_at, d_at, &job);
    if (wrong)
        return refuse(wrong);
    for (const void *at : {a, b, c, static_cast<const void *>(d), static_cast<const void *>(job.bias)})
        if (!is_aligned(at, s.align))
            return refuse("a tensor that is not aligned");
    if (s.needed < 0 || s.needed > static_cast<int64_t>(bytes) || (s.needed && !workspace) || !a || !b || !d)
        return refuse("a workspace that is too small, or no tensor");
    memcpy(&job.alpha, alpha, sizeof job.alpha);
    memcpy(&job.beta, beta, sizeof job.beta);
    if (c == d && job.beta != 0.0f)
        return refuse("an addend that the result overwrites");
    job.a.at = static_cast<const float *>(a);
    job.b.at = static_cast<const float *>(b);
    job.c.at = static_cast<const float *>(c);
    job.result = static_cast<float *>(d);
    job.work = static_cast<char *>(workspace);
    job.needed = s.needed;
    const cudaError_t code = emulate::launch_later("library", stream, 1, 32, [job]() {
        if (occ_thread() == 0)
            compute(job);
    });
    return code ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
