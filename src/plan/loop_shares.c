/* The joined steps may run later if nothing but they themselves reads what they compute. Values
 * that follow from them are called late: their results, loop variables that get these, and lists
 * that store them. An op may store a late value in a list, as it copies a reference only; any other
 * use of a late value outside the joined steps rules the loop out. A joined step must read late
 * values row by row, because other shares may be behind or ahead by some iterations.
 *
 * Meanwhile the other operands must stay as they are. Counted storage is held until the step runs,
 * memory that the next iteration overwrites is copied.
 *
 * What an iteration pushes to a list gets its memory from a slab, which has room for as many
 * iterations as the last runs had. The elements of such a list are then in one piece of memory, in
 * the order in which a gradient stacks them, and are stacked without a copy. */
#include "plan/loop_shares.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "ops/shapes.h"
#include "plan/row_shares.h"

enum { ITERATIONS = 16 }; /* noted before they run */
/* Bytes that an iteration may copy, and that all noted iterations may hold. */
static const size_t most_copied = 16384, most_held = 8 << 20;
static const size_t most_slab = 32 << 20; /* bytes */

typedef enum operand_kind {
    STAYS, /* the same memory with the same contents in all iterations, or written by the steps */
    HELD,  /* late: its storage, if any, is held */
    FRESH  /* made by another step: its storage is held, or it is copied */
} operand_kind;

typedef struct ef_loop_shares {
    int32_t n_steps, n_operands; /* joined steps, and the operands of all of them */
    int32_t *step;               /* their numbers in the plan */
    int32_t *first;              /* by joined step: its first operand */
    uint8_t *kind;               /* by operand: inputs, then outputs of each step */
    bool *late;                  /* by input of the body */
    int32_t iterations;          /* that may be noted */
    ef_shares_cut cut;
} ef_loop_shares;

/* ---- finding --------------------------------------------------------------------------------- */

typedef struct finder {
    ef_planner *p;
    int32_t *value_of; /* by slot */
    bool *late;        /* by slot of a root */
    ef_loop_shares *found;
    size_t copied, held; /* bytes of an iteration */
} finder;

static const ef_slot *slot_of(const finder *f, int32_t k) { return &f->p->plan->slot[k]; }

static ef_pvalue *root_of(const finder *f, int32_t slot) {
    int32_t v = f->value_of[slot];
    while (f->p->value[v].root != v) v = f->p->value[v].root;
    return &f->p->value[v];
}

/* The slot whose bytes these are. */
static int32_t base_of(const finder *f, int32_t slot) {
    int32_t base = root_of(f, slot)->slot;
    return base >= 0 ? base : slot;
}

static bool is_late(const finder *f, int32_t slot) { return f->late[base_of(f, slot)]; }

static bool mark(finder *f, int32_t slot) {
    bool *late = &f->late[base_of(f, slot)], is_new = !*late;
    *late = true;
    return is_new;
}

static bool is_small(const ef_slot *s) { return s->bytes <= sizeof((ef_tensor *)NULL)->small; }

/* Whether the step does no more with its input k, which is late, than storing it or adding to it as
 * a list. */
static bool only_stores(const finder *f, const ef_plan_step *t, int k) {
    const ef_slot *s = slot_of(f, t->in[k]);
    if (t->kind != NULL || t->op == NULL || !(t->op->traits & EF_STORES_UNREAD)) return false;
    return s->dtype == EF_VARIANT ? k == 0 : s->owned && !is_small(s);
}

/* Marks what follows from late values within an iteration; false: something else reads them. */
static bool mark_stored(finder *f, bool *grew) {
    const ef_plan *plan = f->p->plan;
    for (int32_t j = 0; j < plan->n_steps; j++) {
        const ef_plan_step *t = &plan->step[j];
        for (int k = 0; k < t->n_in && t->run != ef_run_shares; k++) {
            if (!is_late(f, t->in[k])) continue;
            if (!only_stores(f, t, k)) return false;
            *grew = mark(f, t->out[0]) || *grew;
        }
    }
    return true;
}

/* Marks the variables that become late; false: one of them would be copied. */
static bool mark_variables(finder *f, bool *grew) {
    const ef_plan *plan = f->p->plan;
    for (int32_t k = 0; k < plan->n_outputs; k++) {
        const ef_plan_out *out = &plan->out[k];
        if (!is_late(f, out->slot)) continue;
        bool moved = f->p->options->own_inputs[k];
        if (moved ? !slot_of(f, out->slot)->owned : !out->direct) return false;
        *grew = *grew || !f->found->late[k];
        f->found->late[k] = true;
        if (plan->input[k] >= 0) *grew = mark(f, plan->input[k]) || *grew;
    }
    return true;
}

static bool spread(finder *f) {
    const ef_plan *plan = f->p->plan;
    for (int32_t j = 0; j < plan->n_steps; j++)
        for (int k = 0; k < plan->step[j].n_out && plan->step[j].run == ef_run_shares; k++)
            mark(f, plan->step[j].out[k]);
    for (bool grew = true; grew;) {
        grew = false;
        if (!mark_stored(f, &grew) || !mark_variables(f, &grew)) return false;
    }
    return true;
}

/* Whether the slot is a variable that the body returns unchanged. */
static bool is_fixed(const finder *f, int32_t slot) {
    const ef_plan *plan = f->p->plan;
    for (int32_t k = 0; k < plan->n_inputs; k++)
        if (plan->input[k] == slot) return f->p->g->output[k].node == f->p->g->input[k];
    return false;
}

static bool input_kind(finder *f, const ef_plan_step *t, int k, uint8_t *kind) {
    int32_t base = base_of(f, t->in[k]);
    const ef_slot *s = slot_of(f, base);
    if (f->late[base]) {
        *kind = HELD;
        return ef_shares_by_rows(t, k);
    }
    *kind = s->kind == EF_SLOT_CONST || is_fixed(f, base) ? STAYS : FRESH;
    if (*kind == STAYS) return true;
    if (!s->owned || is_small(s)) f->copied += s->bytes;
    f->held += s->bytes;
    return s->fixed;
}

/* A value in the arena must not share its bytes with one that other rows still need. */
static bool output_kind(finder *f, int32_t slot, uint8_t *kind) {
    const ef_slot *s = slot_of(f, slot);
    ef_pvalue *root = root_of(f, slot);
    *kind = HELD;
    if (s->kind == EF_SLOT_HEAP) f->held += s->bytes;
    if (s->kind == EF_SLOT_ARENA) {
        root->first = 0;
        if (root->last < f->p->plan->n_steps - 1) root->last = f->p->plan->n_steps - 1;
    }
    return s->kind != EF_SLOT_HEAP || !is_small(s);
}

static bool same_cut(const ef_shares_cut *a, const ef_shares_cut *b) {
    return a->n == b->n && a->rows == b->rows && a->each == b->each;
}

/* Notes the joined steps and their operands; false: one of these stands in the way. */
static bool find_operands(finder *f) {
    const ef_plan *plan = f->p->plan;
    ef_loop_shares *l = f->found;
    int32_t step = 0, at = 0;
    for (int32_t j = 0; j < plan->n_steps; j++) {
        const ef_plan_step *t = &plan->step[j];
        if (t->run != ef_run_shares) continue;
        const ef_shares_cut cut = ef_shares_cut_of(t);
        if (step > 0 && !same_cut(&cut, &l->cut)) return false;
        l->cut = (ef_shares_cut){cut.n, cut.rows, cut.each, cut.work + l->cut.work};
        l->step[step] = j, l->first[step++] = at;
        for (int k = 0; k < t->n_in; k++)
            if (!input_kind(f, t, k, &l->kind[at++])) return false;
        for (int k = 0; k < t->n_out; k++)
            if (!output_kind(f, t->out[k], &l->kind[at++])) return false;
    }
    size_t most = most_held / (f->held + 1);
    l->iterations = most < ITERATIONS ? (int32_t)most : ITERATIONS;
    return f->copied <= most_copied && l->iterations > 1;
}

static ef_status *memory(finder *f) {
    ef_status *s = NULL;
    ef_planner *p = f->p;
    const ef_plan *plan = p->plan;
    ef_loop_shares *l = f->found = ef_plan_memory(p, sizeof *l, &s);
    f->value_of = ef_notes_memory(p, ((size_t)plan->n_slots + 1) * sizeof *f->value_of, &s);
    f->late = ef_notes_memory(p, ((size_t)plan->n_slots + 1) * sizeof *f->late, &s);
    if (s != NULL) return s;
    for (int32_t v = 0; v < p->n_values; v++)
        if (p->value[v].slot >= 0) f->value_of[p->value[v].slot] = v;
    for (int32_t j = 0; j < plan->n_steps; j++) {
        const ef_plan_step *t = &plan->step[j];
        if (t->run != ef_run_shares) continue;
        l->n_steps++;
        l->n_operands += t->n_in + t->n_out;
    }
    l->late = ef_plan_memory(p, ((size_t)plan->n_inputs + 1) * sizeof *l->late, &s);
    l->step = ef_plan_memory(p, ((size_t)l->n_steps + 1) * sizeof *l->step, &s);
    l->first = ef_plan_memory(p, ((size_t)l->n_steps + 1) * sizeof *l->first, &s);
    l->kind = ef_plan_memory(p, (size_t)l->n_operands + 1, &s);
    return s;
}

ef_status *ef_plan_loop_shares(ef_planner *p) {
    finder f = {.p = p};
    bool any = false;
    for (int32_t j = 0; j < p->plan->n_steps; j++)
        any = any || p->plan->step[j].run == ef_run_shares;
    if (!any || !p->options->repeated || p->at != NULL) return NULL;
    EF_TRY(memory(&f));
    if (spread(&f) && find_operands(&f)) p->plan->later = f.found;
    return NULL;
}

void ef_loop_shares_check(ef_plan *body, const ef_plan *cond) {
    for (int32_t k = 0; k < body->n_inputs && body->later != NULL; k++)
        if (body->later->late[k] && cond->input[k] >= 0) body->later = NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct noted_step {
    ef_noted *all;
    int32_t first; /* operand */
    ef_call call;  /* without operands */
} noted_step;

/* Memory for an output in iterations to come. */
typedef struct slab {
    ef_storage *memory; /* NULL: there is none */
    int64_t size, left; /* iterations */
} slab;

enum {
    ELSEWHERE = -2, /* the plan has placed the value */
    ALONE = -1      /* each value gets an allocation of its own */
};

struct ef_noted {
    const ef_loop_shares *from;
    int32_t n;            /* iterations */
    int64_t all, last[2]; /* iterations of this run, and of the last two */
    bool backward;        /* slabs are used from their ends */
    int32_t *slab_of;     /* by operand: the number of its slab, or ALONE, or ELSEWHERE */
    slab *slab;
    int32_t n_slabs;
    noted_step *step;
    void **data;       /* by iteration and operand */
    ef_storage **held; /* likewise; NULL: nothing is held */
    ef_tensor *tensor; /* by share and operand, with the data of one iteration */
    ef_tensor **ptr;
};

static ef_status *keep_copy(const ef_tensor *t, ef_storage **out, void **data) {
    EF_TRY(ef_storage_new(EF_HOST, (ef_dtype)t->dtype, ef_count(t), out));
    *data = (*out)->data;
    memcpy(*data, t->data, ef_tensor_bytes(t));
    return NULL;
}

static ef_status *new_slab(const ef_noted *n, slab *s, int device, const ef_tensor *t) {
    const int64_t bytes = (int64_t)ef_tensor_bytes(t), most = (int64_t)most_slab / bytes;
    const bool steady = n->all == 0 && n->last[0] == n->last[1] && n->last[0] > 1;
    s->size = steady ? n->last[0] : ITERATIONS;
    if (s->size > most) s->size = most > 1 ? most : 1;
    s->left = s->size;
    EF_TRY(ef_storage_new(device, (ef_dtype)t->dtype, s->size * ef_count(t), &s->memory));
    s->memory->slab = true;
    return NULL;
}

static void drop_slab(slab *s) {
    if (s->memory != NULL) ef_storage_unref(s->memory);
    *s = (slab){0};
}

/* Gives output t, which is this operand, memory for one iteration. */
static ef_status *give_memory(ef_noted *n, int operand, int device, ef_tensor *t) {
    const int32_t which = n->slab_of[operand];
    if (which == ELSEWHERE) return NULL;
    if (which == ALONE) {
        EF_TRY(ef_storage_new(device, (ef_dtype)t->dtype, ef_count(t), &t->storage));
        t->data = t->storage->data;
        return NULL;
    }
    slab *s = &n->slab[which];
    if (s->left == 0) EF_TRY(new_slab(n, s, device, t));
    s->left--;
    const int64_t at = n->backward ? s->left : s->size - 1 - s->left;
    t->storage = ef_storage_ref(s->memory);
    t->data = (char *)s->memory->data + (size_t)at * ef_tensor_bytes(t);
    if (s->left == 0) drop_slab(s);
    return NULL;
}

/* The kernel of a joined step that runs later. */
static ef_status *note(const ef_call *c) {
    noted_step *s = c->state;
    ef_noted *all = s->all;
    const size_t at = (size_t)all->n * (size_t)all->from->n_operands + (size_t)s->first;
    const uint8_t *kind = all->from->kind + s->first;
    s->call.context = c->context;
    for (int k = 0; k < c->n_out; k++)
        EF_TRY(give_memory(all, s->first + c->n_in + k, c->context->device, c->out[k]));
    for (int k = 0; k < c->n_in + c->n_out; k++) {
        const ef_tensor *t = k < c->n_in ? c->in[k] : c->out[k - c->n_in];
        all->data[at + (size_t)k] = t->data;
        if (kind[k] == STAYS) continue;
        if (t->storage != NULL)
            all->held[at + (size_t)k] = ef_storage_ref(t->storage);
        else if (kind[k] == FRESH)
            EF_TRY(keep_copy(t, &all->held[at + (size_t)k], &all->data[at + (size_t)k]));
    }
    return NULL;
}

static void run_share(const ef_noted *n, int64_t share) {
    const int32_t operands = n->from->n_operands;
    ef_tensor *tensor = n->tensor + share * operands, **ptr = n->ptr + share * operands;
    for (int32_t i = 0; i < n->n; i++) {
        for (int32_t k = 0; k < operands; k++) tensor[k].data = n->data[i * operands + k];
        for (int32_t j = 0; j < n->from->n_steps; j++) {
            ef_call c = n->step[j].call;
            c.in = ptr + n->step[j].first;
            c.out = c.in + c.n_in;
            ef_shares_run_one(&c, share);
        }
    }
}

static void run_range(void *arg, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; k++) run_share(arg, k);
}

static void compute_noted(ef_noted *n, bool compute) {
    const double per_work = 0.03; /* ns */
    const ef_shares_cut *cut = &n->from->cut;
    if (compute && n->n > 0)
        ef_parallel_each(cut->n, per_work * cut->work * n->n / (double)cut->n, run_range, n);
    /* After a failure the last iteration is incomplete. */
    int32_t all = (n->n + (compute ? 0 : 1)) * n->from->n_operands;
    for (int32_t k = 0; k < all; k++) {
        if (n->held[k] != NULL) ef_storage_unref(n->held[k]);
        n->held[k] = NULL;
    }
    n->n = 0;
}

void ef_noted_next(ef_noted *n) {
    n->all++;
    if (++n->n == n->from->iterations) compute_noted(n, true);
}

void ef_noted_end(ef_noted *n, bool compute) {
    compute_noted(n, compute);
    for (int32_t k = 0; k < n->n_slabs; k++) drop_slab(&n->slab[k]);
    n->last[1] = n->last[0];
    n->last[0] = n->all;
    n->all = 0;
}

void ef_noted_free(ef_noted *n) {
    if (n == NULL) return;
    for (int32_t k = 0; k < n->n_slabs; k++) drop_slab(&n->slab[k]);
    ef_free(n->slab);
    ef_free(n->slab_of);
    ef_free(n->step);
    ef_free(n->data);
    ef_free(n->held);
    ef_free(n->tensor);
    ef_free(n->ptr);
    ef_free(n);
}

/* The shapes of the operands; every share has tensors of its own. */
static void set_tensors(ef_noted *n, const ef_frame *frame) {
    const int64_t operands = n->from->n_operands;
    for (int32_t j = 0; j < n->from->n_steps; j++) {
        const ef_call *c = &frame->step[n->from->step[j]].call;
        for (int64_t i = 0; i < n->from->cut.n; i++)
            for (int k = 0; k < c->n_in + c->n_out; k++) {
                const ef_tensor *t = k < c->n_in ? c->in[k] : c->out[k - c->n_in];
                int64_t at = i * operands + n->from->first[j] + k;
                ef_shape s = ef_shape_from(t);
                ef_tensor_shape_set(&n->tensor[at], (ef_dtype)t->dtype, &s);
                n->ptr[at] = &n->tensor[at];
            }
    }
}

/* Whether a list gets the value of the slot in the iteration that computes it. */
static bool is_pushed(const ef_plan *body, int32_t slot) {
    for (int32_t j = 0; j < body->n_steps; j++) {
        const ef_plan_step *t = &body->step[j];
        if (t->op != NULL && (t->op->traits & EF_LIST_PUSH) && t->in[1] == slot) return true;
    }
    return false;
}

/* Outputs of the joined steps get their memory when they are noted. */
static void set_slabs(ef_noted *n, const ef_plan *body) {
    const ef_loop_shares *l = n->from;
    for (int32_t j = 0; j < body->n_steps; j++)
        n->backward =
            n->backward || (body->step[j].op != NULL && body->step[j].op->role == EF_ROLE_POP);
    for (int32_t k = 0; k < l->n_operands; k++) n->slab_of[k] = ELSEWHERE;
    for (int32_t j = 0; j < l->n_steps; j++) {
        const ef_plan_step *t = &body->step[l->step[j]];
        for (int k = 0; k < t->n_out; k++)
            for (int32_t a = 0; a < t->n_alloc; a++) {
                if (t->alloc[a] != t->out[k]) continue;
                bool line = body->slot[t->out[k]].bytes % 64 == 0 && is_pushed(body, t->out[k]);
                n->slab_of[l->first[j] + t->n_in + k] = line ? n->n_slabs++ : ALONE;
            }
    }
}

static void set_steps(ef_noted *n, const ef_plan *body, ef_frame *const *frame, int n_frames) {
    for (int32_t j = 0; j < n->from->n_steps; j++) {
        int32_t at = n->from->step[j];
        n->step[j] = (noted_step){n, n->from->first[j], frame[0]->step[at].call};
        n->step[j].call.state = body->step[at].state;
        for (int i = 0; i < n_frames; i++) {
            frame[i]->step[at].n_alloc = 0; /* see set_slabs */
            frame[i]->step[at].run = note;
            frame[i]->step[at].call.state = &n->step[j];
        }
    }
}

ef_status *ef_noted_make(const ef_plan *body, ef_frame *const *frame, int n_frames,
                         ef_noted **out) {
    const ef_loop_shares *l = body->later;
    size_t operands = (size_t)l->n_operands, noted = operands * (size_t)l->iterations;
    size_t tensors = operands * (size_t)l->cut.n;
    ef_noted *n = ef_calloc(1, sizeof *n);
    if (n == NULL) return ef_no_memory(sizeof *n);
    n->from = l;
    n->step = ef_calloc((size_t)l->n_steps, sizeof *n->step);
    n->data = ef_malloc(noted * sizeof *n->data);
    n->held = ef_calloc(noted, sizeof *n->held);
    n->tensor = ef_calloc(tensors, sizeof *n->tensor);
    n->ptr = ef_malloc(tensors * sizeof *n->ptr);
    n->slab_of = ef_malloc((operands + 1) * sizeof *n->slab_of);
    n->slab = ef_calloc(operands + 1, sizeof *n->slab);
    if (n->step == NULL || n->data == NULL || n->held == NULL || n->tensor == NULL ||
        n->ptr == NULL || n->slab_of == NULL || n->slab == NULL) {
        ef_noted_free(n);
        return ef_no_memory(tensors * sizeof *n->tensor);
    }
    set_tensors(n, frame[0]);
    set_slabs(n, body);
    set_steps(n, body, frame, n_frames);
    *out = n;
    return NULL;
}
