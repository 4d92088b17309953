/* The table of ops, made from all.def, and a hash index over their names. All of it is static
 * memory filled on first use, so looking up an op cannot fail for lack of memory. */
#include "base/hash.h"
#include "base/mutex.h"
#include "ops/signature.h"
#include <stdatomic.h>
#include <string.h>

const ef_op *const ef_op_table[EF_OP_COUNT] = {
#define EF_OP(N) [EF_OP_##N] = &ef_op_##N,
#include "ops/all.def"
#undef EF_OP
};

enum { SLOTS = 8192 }; /* more than twice the ops, a power of two */
_Static_assert(SLOTS > 2 * EF_OP_COUNT, "the index of ops is too small");
static uint16_t slots[SLOTS]; /* id + 1; 0: free */
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static void fill_slots(void) {
    for (int id = 0; id < EF_OP_COUNT; id++) {
        uint64_t h = ef_hash_text(1, ef_op_table[id]->name);
        while (slots[h % SLOTS]) h++;
        slots[h % SLOTS] = (uint16_t)(id + 1);
    }
}

const ef_op *ef_op_find(const char *name) {
    if (!name) return NULL;
    pthread_once(&slots_once, fill_slots);
    for (uint64_t h = ef_hash_text(1, name); slots[h % SLOTS]; h++) {
        const ef_op *op = ef_op_table[slots[h % SLOTS] - 1];
        if (strcmp(op->name, name) == 0) return op;
    }
    return NULL;
}

static ef_signature signatures[EF_OP_COUNT];
static const char *problems[EF_OP_COUNT];
static atomic_bool parsed[EF_OP_COUNT];
static ef_mutex parse_lock = EF_MUTEX(SIGNATURES); /* guards the three above */

static void parse(const ef_op *op) {
    ef_mutex_lock(&parse_lock);
    if (!atomic_load_explicit(&parsed[op->id], memory_order_relaxed)) {
        problems[op->id] = ef_signature_parse(op, &signatures[op->id]);
        atomic_store_explicit(&parsed[op->id], true, memory_order_release);
    }
    ef_mutex_unlock(&parse_lock);
}

const ef_signature *ef_op_signature(const ef_op *op) {
    if (EF_UNLIKELY(!atomic_load_explicit(&parsed[op->id], memory_order_acquire))) parse(op);
    return &signatures[op->id];
}

const char *ef_op_notation_problem(const ef_op *op) {
    ef_op_signature(op);
    return problems[op->id];
}
