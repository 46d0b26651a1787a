/* twin_copy.cc - copies of floats on the device. */
#define TPL_T float
#include "copy_twins.h"
