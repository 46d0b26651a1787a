/* host_recurrent.h - the kernels of recurrent.c as host_..., and those of recurrent.cu, for a test that needs both. */
#ifndef OCC_TEST_HOST_RECURRENT_H
#define OCC_TEST_HOST_RECURRENT_H

#define occ_recur_pack host_recur_pack
#define occ_recur_bias host_recur_bias
#define occ_lstm_f32 host_lstm_f32
#define occ_gru_f32 host_gru_f32
#define occ_rnn_f32 host_rnn_f32
#include "recurrent.c"
#undef occ_recur_pack
#undef occ_recur_bias
#undef occ_lstm_f32
#undef occ_gru_f32
#undef occ_rnn_f32
#include "recurrent.cu"

#endif
