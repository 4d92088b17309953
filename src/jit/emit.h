/* From values to machine code. */
#ifndef EF_JIT_EMIT_H
#define EF_JIT_EMIT_H
#include "jit/expr.h"
#include "jit/x86.h"

extern const uint8_t ef_jit_opcode[];    /* of ADD to XOR, by ef_jit_kind */
extern const uint8_t ef_jit_predicate[]; /* of comparisons and roundings, by ef_jit_how */
extern const uint8_t ef_jit_order[];     /* ef_x86_order of comparisons, by ef_jit_how */
bool ef_jit_emits(void);                 /* whether this machine can run the code we emit */
/* Writes a whole ef_jit_fn for vectors of 32 or 64 bytes, which begins at *entry; false: more
 * values are alive at once than there are registers. The code is position-independent. */
bool ef_jit_emit(ef_jit_values *v, ef_dtype dtype, int vector, ef_x86 *c, size_t *entry);
#endif
