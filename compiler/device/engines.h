/* engines.h - steps of a program for a device that an engine of a vendor's library may compute: the file of --tuned,
 * which occam-engines writes, with one engine a line:
 *     conv_krsc_f32 batch=1 ... epilogue=relu : cudnn engine=11 knobs=2:4,3:0 workspace=0 notes=- epilogue=library
 *     matmul_f32 result=12,128,128 ... epilogue=- : cublaslt workspace=0
 * where a convolution of one tap may go to cuBLASLt, too.
 * Lines that end in `own`, or whose epilogue is, change nothing. Knows nothing of the library's interface. */
#ifndef OCC_DEVICE_ENGINES_H
#define OCC_DEVICE_ENGINES_H

#include "device/device.h"
#include "support/text.h"

/* The engines of a file. */
typedef struct Engines {
    LibraryEngine *engine;
    int            count, capacity;
} Engines;

/* Reads the file. Returns 0, or -1 with a message that names the line (status INVALID) or the file (USAGE). */
int engines_read(Engines *engines, const char *path, Diag *diag);

/* Gives steps whose question is listed in options->engines their engine: the kernel becomes conv_work_f32 or
 * matmul_work_f32, which take the engine's workspace as scratch. Steps keep their kernel that run on the host, whose
 * expression is more than an engine computes, or whose tensors are not aligned as engines need them or lie with the
 * caller. Before homes are found. */
void program_use_engines(Program *program, const Options *options);

/* The engine's number in the program, which has each once. */
int program_engine(Program *program, const LibraryEngine *engine);

#endif
