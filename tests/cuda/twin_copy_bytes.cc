/* twin_copy_bytes.cc - copies of bytes on the device. */
#define TPL_T uint8_t
#include "copy_twins.h"
