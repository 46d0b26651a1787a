/* sha256.h - the SHA-256 digest (FIPS 180-4). Knows nothing else. */
#ifndef OCC_SUPPORT_SHA256_H
#define OCC_SUPPORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(const void *data, size_t bytes, uint8_t digest[32]);

#endif
