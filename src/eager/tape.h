/* The gradient tape. A thread has one log of records, shared by all its tapes; a tape is a window
 * of the log and a set of watched values. A value that matters has a number, which its tensor
 * carries; ops none of whose inputs has one are not recorded. */
#ifndef EF_EAGER_TAPE_H
#define EF_EAGER_TAPE_H
#include "base/arena.h"
#include "eager/function_call.h"

typedef struct ef_tape_value { /* an input or output of a record */
    uint64_t id;               /* 0: nothing flows here */
    ef_tensor tensor;          /* dtype 0 if the gradient does not read it */
    ef_fact fact, handle;
} ef_tape_value;

/* A user's own gradient: given d outputs (dtype 0 where none arrives) sets d inputs (dtype 0:
 * none). */
typedef ef_status *ef_custom_gradient(void *user, const ef_tensor *dout, int n_out, ef_tensor *din,
                                      int n_in);

typedef struct ef_tape_record {
    const ef_op *op;       /* or NULL for a call or a custom gradient */
    const ef_attrs *attrs; /* counted */
    ef_derivative *call;   /* counted */
    ef_custom_gradient *custom;
    void *user;
    void (*user_end)(void *user);
    int n_in, n_out, n_saved;
    ef_tape_value *in, *out;
    ef_tensor *saved; /* of a call */
} ef_tape_record;

typedef struct ef_log {
    ef_arena arena;
    ef_tape_record **record;
    size_t n_records, cap_records;
    int tapes;     /* alive */
    int recording; /* started and not stopped */
} ef_log;

struct ef_tape {
    ef_log *log;
    size_t begin, end; /* window of records; end: SIZE_MAX while recording */
    bool persistent, recording, used;
    struct { /* watched values and variables */
        uint64_t id;
        const ef_storage *variable;
    } * watched;
    size_t n_watched, cap_watched;
    struct ef_tape *next; /* of this thread */
};

ef_status *ef_tape_note_call(ef_derivative *d, const ef_tensor *const *in, int n_in, ef_tensor *out,
                             int n_out, const ef_tensor *saved);
ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *));
/* The number behind a tensor or a handle; 0: none. */
uint64_t ef_tape_id(const ef_tensor *t);
bool ef_tape_watches(const ef_tape *t, uint64_t id);
/* gradient.c */
void ef_record_release(ef_tape_record *r);
#endif
