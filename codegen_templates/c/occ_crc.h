/* occ_crc.h - the checksum of weights: CRC-32 (polynomial 0xedb88320), four bits at a time. */
#ifndef OCC_CRC_H
#define OCC_CRC_H

#include "occ_base.h"

/* crc: 0xffffffff at the start, else what the call before returned; the final complement is left to the caller. */
OCC_INLINE uint32_t occ_crc32(uint32_t crc, const void *data, uint64_t bytes)
{
    static const uint32_t table[16] = {0x00000000U, 0x1db71064U, 0x3b6e20c8U, 0x26d930acU, 0x76dc4190U, 0x6b6b51f4U,
                                       0x4db26158U, 0x5005713cU, 0xedb88320U, 0xf00f9344U, 0xd6d6a3e8U, 0xcb61b38cU,
                                       0x9b64c2b0U, 0x86d3d2d4U, 0xa00ae278U, 0xbdbdf21cU};
    const unsigned char *byte = (const unsigned char *)data;
    for (uint64_t i = 0; i < bytes; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#endif
