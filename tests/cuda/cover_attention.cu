/* cover_attention.cu - attention as generated code calls it: compiled only. cover_mma.cu has it on tensor cores. */
#include "occ_cuda.h"

#include "attention_f32.cu"
#include "cover_attention.h"

ATTENTION(f32)
