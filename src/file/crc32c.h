/* CRC-32C (Castagnoli), and the masked form in which files hold it. */
#ifndef EF_FILE_CRC32C_H
#define EF_FILE_CRC32C_H
#include <stddef.h>
#include <stdint.h>

/* Of the bytes behind those whose checksum is `crc`; 0 to begin. */
uint32_t ef_crc32c(uint32_t crc, const void *bytes, size_t n);
/* A checksum of bytes that contain checksums would be weak, so stored ones are rotated and shifted
 * by a constant. */
static inline uint32_t ef_crc32c_mask(uint32_t crc) {
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
#endif
