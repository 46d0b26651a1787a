/* placeholder */
#ifndef F
#define F
typedef int                 cudaError_t;
typedef struct fake_stream *cudaStream_t;
#endif
