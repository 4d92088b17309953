/* The field of one attribute in an op's struct, whatever its kind. Used by attr.c only. */
#ifndef EF_OPS_ATTR_FIELD_H
#define EF_OPS_ATTR_FIELD_H
#include "ops/signature.h"

static inline size_t ef_attr_align(size_t n) { return (n + 15) & ~(size_t)15; }
/* Bytes that v needs after the end of the struct, for the lists and strings the field points at. */
size_t ef_attr_payload_bytes(const ef_attr_info *info, const ef_attr_value *v);
/* Writes the validated value v into its field. room: the payload bytes, 16-byte aligned. Fails only
 * for tensors, when memory runs out. */
ef_status *ef_attr_write_field(const ef_attr *a, const ef_attr_info *info, const ef_attr_value *v,
                               void *field, char *room);
void ef_attr_read_field(const ef_attr *a, const ef_attr_info *info, const void *field,
                        ef_attr_value *out);
uint64_t ef_attr_hash_field(uint64_t h, const ef_attr_info *info, const void *field);
bool ef_attr_same_field(const ef_attr_info *info, const void *x, const void *y);
#endif
