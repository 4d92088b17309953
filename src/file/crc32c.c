#include "file/crc32c.h"
#include <string.h>

#if defined(__SSE4_2__)

uint32_t ef_crc32c(uint32_t crc, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    uint64_t c = ~crc;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        c = __builtin_ia32_crc32di(c, word);
    }
    uint32_t low = (uint32_t)c;
    for (; n > 0; p++, n--) low = __builtin_ia32_crc32qi(low, *p);
    return ~low;
}

#else

/* Four bits at a time: the table is 64 bytes and needs no preparation. */
static const uint32_t step[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

uint32_t ef_crc32c(uint32_t crc, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    uint32_t c = ~crc;
    for (; n > 0; p++, n--) {
        c ^= *p;
        c = c >> 4 ^ step[c & 15];
        c = c >> 4 ^ step[c & 15];
    }
    return ~c;
}

#endif
