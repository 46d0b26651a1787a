/* cover_recurrent.cu - recurrent cells as generated code calls them: compiled only. */
#include "occ_cuda.h"

#include "host_recurrent.h"

static __device__ const double     acts[] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
static __device__ const occ_extent kinds[] = {OCC_RECUR_SIGMOID, OCC_RECUR_TANH, OCC_RECUR_TANH};

/* name, hidden units, members of the batch, peepholes and lengths or NULL */
#define LSTM(name, hidden, batch, peephole, lengths) \
    extern "C" OCC_KERNEL void step_##name(float *y, float *h, float *c, float *xg, const float *r, const float *p, \
                                           const int64_t *n, int *status) \
    { \
        static const occ_lstm_form form = { \
            100, batch, hidden, batch * hidden, hidden, hidden, hidden, batch * 4 * hidden, 4 * hidden, \
            0,   0,     0,      hidden,         -1}; \
        if (*status) \
            return; \
        (void)p, (void)n; \
        occ_fail(status, occ_lstm_f32(y, h, c, xg, r, peephole, lengths, &form, kinds, acts, 0.0f)); \
    }

#define GRU(name, hidden, batch, before) \
    extern "C" OCC_KERNEL void step_##name(float *y, float *h, float *gate, const float *xg, const float *r, \
                                           const float *b, int *status) \
    { \
        static const occ_gru_form form = { \
            100, batch,  hidden, batch * hidden, hidden, hidden, batch * 3 * hidden, 3 * hidden, \
            0,   before, 0,      hidden,         -1}; \
        if (*status) \
            return; \
        occ_fail(status, occ_gru_f32(y, h, gate, xg, r, b, NULL, &form, kinds, acts, 0.0f)); \
    }

#define RNN(name, hidden, batch) \
    extern "C" OCC_KERNEL void step_##name(float *y, float *h, float *xg, const float *r, int *status) \
    { \
        static const occ_rnn_form form = {100,    batch, hidden, batch * hidden, hidden, hidden, batch * hidden, \
                                          hidden, 0,     0,      hidden,         -1}; \
        if (*status) \
            return; \
        occ_fail(status, occ_rnn_f32(y, h, xg, r, NULL, &form, kinds + 1, acts, 0.0f)); \
    }

LSTM(lstm_128, 128, 1, NULL, NULL)
LSTM(lstm_peepholes, 50, 4, p, n)
LSTM(lstm_512, 512, 32, NULL, NULL)
LSTM(lstm_4096, 4096, 1, NULL, n)
GRU(gru_8, 8, 33, 1)
GRU(gru_256, 256, 1, 0)
GRU(gru_1024, 1024, 8, 1)
GRU(gru_3000, 3000, 2, 0)
RNN(rnn_64, 64, 1)
RNN(rnn_2000, 2000, 1)

extern "C" OCC_KERNEL void step_pack(float *to, const float *from, float *bias, const float *biases)
{
    occ_recur_pack(to, from, 600, 200);
    occ_recur_bias(bias, biases, 600, 400);
}
