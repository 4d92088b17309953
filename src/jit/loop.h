/* A whole loop compiled: a condition and a body of elementwise instructions over scalars and short
 * vectors. Every value has a home, a few vectors of memory; an instruction loads its operands,
 * computes as the expressions say, and stores. The elements that fill the last vector up are
 * computed from zeros too; nothing reads them. */
#ifndef EF_JIT_LOOP_H
#define EF_JIT_LOOP_H
#include "jit/jit.h"
#include <stdatomic.h>

enum { EF_JIT_LOOP_IN = 3, EF_JIT_VECTOR = 32 /* bytes; homes are multiples of it */ };

typedef struct ef_jit_home {
    uint8_t dtype; /* EF_F32, EF_F64, EF_I32, EF_I64; EF_BOOL: a mask, all bits 1 or 0 */
    uint8_t wide;  /* of a mask: its elements are 8 bytes, not 4 */
    int32_t count; /* elements */
    int32_t at;    /* bytes from the start of all homes */
} ef_jit_home;

typedef struct ef_jit_loop_ins {
    const char *expr; /* NULL: a cast */
    int n_in;
    ef_jit_home in[EF_JIT_LOOP_IN], out; /* sets out.wide of masks */
} ef_jit_loop_ins;

/* How many bytes of home a value needs. */
int32_t ef_jit_home_bytes(const ef_jit_home *h);
/* Runs the loop on the values at `home` until the condition is false (returns 0) or the pulse
 * differs from `seen` (returns 1); then another call continues the loop. */
typedef int ef_jit_loop_fn(void *home, const atomic_uint *pulse, unsigned seen);

typedef struct ef_jit_loop ef_jit_loop;
ef_jit_loop *ef_jit_loop_begin(void); /* NULL: not on this machine, or no memory */
/* False: the instruction is not supported, and the loop can only be released. */
bool ef_jit_loop_add(ef_jit_loop *l, ef_jit_loop_ins *ins);
bool ef_jit_loop_test(ef_jit_loop *l, const ef_jit_home *mask); /* after the condition */
bool ef_jit_loop_copy(ef_jit_loop *l, const ef_jit_home *to, const ef_jit_home *from);
ef_jit_loop_fn *ef_jit_loop_end(ef_jit_loop *l); /* NULL: could not be made */
void ef_jit_loop_release(ef_jit_loop *l);        /* NULL does nothing */
#endif
