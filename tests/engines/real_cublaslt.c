/* real_cublaslt.c - whether cuBLASLt itself takes what a program tells it of its products. Descriptors need no device;
 * nothing is computed. Prints how many it took, and fails where it refused one. Linked with all that programs call. */
#include "runtime/cublaslt_engine.h"

#include <stdio.h>

static const occ_cublaslt_product product[] = {
    {1, 15, 7, 8, {8, 0, 0}, {7, 0, 0}, {7, 0, 0}, 0, 1, OCC_CUBLASLT_F32, 0},
    {3, 5, 6, 8, {8, 40, 0}, {8, 48, 1}, {6, 30, 0}, 1, 0, OCC_CUBLASLT_TF32, 1000},
    {4, 1, 6, 9, {3, 27, 1}, {9, 0, 1}, {6, 6, 0}, 0, 0, OCC_CUBLASLT_FP16, 1 << 20},
};
static const cublasComputeType_t compute[] = {CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F,
                                              CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F};

static int taken, refused;

static void count(const void *made)
{
    taken += made != NULL;
    refused += made == NULL;
}

/* An attribute of a layout as it is read back. */
static int64_t read_back(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name, size_t bytes)
{
    int64_t value = 0;
    size_t  written = 0;

    if (cublasLtMatrixLayoutGetAttribute(layout, name, &value, bytes, &written) != CUBLAS_STATUS_SUCCESS)
        return -1;
    return value;
}

static void try_layout(const occ_cublaslt_product *p, const occ_cublaslt_matrix *m, int64_t rows, int64_t columns)
{
    cublasLtMatrixLayout_t layout = occ_cublaslt_layout(m, rows, columns, p->batch);

    count(layout);
    if (!layout)
        return;
    refused += read_back(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, sizeof(int32_t)) != p->batch;
    refused += read_back(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, sizeof(int64_t)) != m->next;
    refused += read_back(layout, CUBLASLT_MATRIX_LAYOUT_LD, sizeof(int64_t)) != m->pitch;
    (void)cublasLtMatrixLayoutDestroy(layout);
}

static void try_product(const occ_cublaslt_product *p)
{
    static float               place[64];
    void                      *kept[OCC_CUBLASLT_KEPT] = {NULL};
    cublasLtMatmulPreference_t preference;

    for (int i = OCC_CUBLASLT_A; i < OCC_CUBLASLT_KEPT; i++)
        kept[i] = place;
    try_layout(p, &p->a, p->rows, p->terms);
    try_layout(p, &p->b, p->terms, p->columns);
    try_layout(p, &p->y, p->rows, p->columns);
    for (size_t i = 0; i < 2 * sizeof compute / sizeof *compute; i++) {
        cublasLtMatmulDesc_t operation = occ_cublaslt_operation(p, compute[i / 2], i % 2 ? place : NULL);

        count(operation);
        if (operation)
            (void)cublasLtMatmulDescDestroy(operation);
    }
    preference = occ_cublaslt_preference(p, kept);
    count(preference);
    if (preference)
        (void)cublasLtMatmulPreferenceDestroy(preference);
}

int main(void)
{
    void *library = occ_cublaslt_open();

    for (size_t i = 0; i < sizeof product / sizeof *product; i++)
        try_product(&product[i]);
    printf("cuBLASLt %zu, %s: %d descriptors taken, %d refused\n", cublasLtGetVersion(),
           library ? "with a device" : "without a device", taken, refused);
    occ_cublaslt_close(library, NULL, 0);
    return refused != 0;
}
