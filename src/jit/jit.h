/* Elementwise expressions compiled to vector code. A run of instructions, each an expression such
 * as "x <= 0 ? 0 : x" over the elements of its operands, becomes one loop that keeps intermediate
 * values in vector registers. The code computes exactly what the expressions say, operation by
 * operation: nothing is contracted or reordered.
 *
 * Compiling takes microseconds and needs no tool. NULL is returned if the machine is not one we
 * emit code for, if it forbids making memory executable, or if an expression is not supported; the
 * caller then interprets the instructions. */
#ifndef EF_JIT_JIT_H
#define EF_JIT_JIT_H
#include "tensor/dtype.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { EF_JIT_MAX_INS = 32, EF_JIT_MAX_IN = 3, EF_JIT_MAX_OPERANDS = 32, EF_JIT_TRUTH_OUT = 128 };

/* Reads operands in[0], in[1], in[2] as x, y, z; writes operand `out`. Truth values pass from one
 * instruction to another but never through memory. */
typedef struct ef_jit_ins {
    const char *expr;
    uint8_t n_in, scalars; /* bit k of scalars: operand in[k] is one element for the whole run */
    uint8_t truths;        /* bit k: operand in[k] is a truth value; EF_JIT_TRUTH_OUT: `out` is */
    uint8_t in[EF_JIT_MAX_IN], out;
    bool keep; /* `out` is read after the run, so it is stored to memory */
} ef_jit_ins;

typedef struct ef_jit_run {
    ef_dtype dtype; /* of all operands but truth values: EF_F32, EF_F64, EF_I32 or EF_I64 */
    int vector;     /* bytes of a vector, ef_jit_vector() or less */
    int n;
    ef_jit_ins ins[EF_JIT_MAX_INS];
    /* By instruction: its results, floats, are summed into operand sum - 1; 0: they are not. */
    uint8_t sum[EF_JIT_MAX_INS];
} ef_jit_run;

/* n elements; operand[k] is the address of operand k. An output may be at the same address as an
 * input of the same or an earlier instruction, but must not overlap an operand otherwise. A sum is
 * written as one vector of partial sums, one for each lane, which the caller adds up. */
typedef void ef_jit_fn(const void *const *operand, int64_t n);

typedef struct ef_jit_code ef_jit_code;
int ef_jit_vector(void); /* bytes of the widest vector we compile for here: 64, 32, or 0 */
/* Whether we compile the instruction's expression for this type. */
bool ef_jit_knows(const ef_jit_ins *ins, ef_dtype dtype);
extern atomic_uint_least64_t ef_jit_parsed; /* how often ef_jit_knows was called; for tests */
/* Code for the run, reference-counted. It is cached by the content of the run, so asking again
 * costs a look-up. */
ef_jit_code *ef_jit_get(const ef_jit_run *run);
ef_jit_fn *ef_jit_entry(const ef_jit_code *code);
void ef_jit_release(ef_jit_code *code); /* NULL does nothing */
#endif
