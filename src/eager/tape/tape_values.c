/* The numbers that a tape knows: values it watches and outputs of its records; and freeing records
 * that no gradient can reach. A gradient starts from a tensor that the program still holds, so a
 * record whose outputs are held by no tensor and by no later record is unreachable. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"
#include "eager/tape/tape.h"

/* ---- numbers
 * -------------------------------------------------------------------------------------- */

static const uint64_t edge_bit = (uint64_t)1 << 63;

static size_t start_of(const ef_tape_values *k, uint64_t key) {
    return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (k->cap - 1);
}

uint32_t ef_tape_values_find(const ef_tape_values *k, uint64_t id) {
    if (id == 0 || k->n == 0) return EF_NO_PLACE;
    for (size_t at = start_of(k, id); k->slot[at].key != 0; at = (at + 1) & (k->cap - 1))
        if (k->slot[at].key == id) return k->slot[at].place;
    return EF_NO_PLACE;
}

static void put(ef_tape_values *k, uint64_t key, uint32_t place) {
    size_t at = start_of(k, key);
    while (k->slot[at].key != 0) at = (at + 1) & (k->cap - 1);
    k->slot[at] = (struct ef_tape_values_slot){key, place};
    k->n++;
}

/* At most half of the slots are taken. */
static ef_status *grow(ef_tape_values *k) {
    if (EF_LIKELY(2 * (k->n + 1) <= k->cap)) return NULL;
    ef_tape_values wider = {.cap = k->cap > 0 ? 2 * k->cap : 32, .places = k->places};
    wider.slot = ef_calloc(wider.cap, sizeof *wider.slot);
    if (wider.slot == NULL) return ef_no_memory(wider.cap * sizeof *wider.slot);
    for (size_t at = 0; at < k->cap; at++)
        if (k->slot[at].key != 0) put(&wider, k->slot[at].key, k->slot[at].place);
    ef_free(k->slot);
    *k = wider;
    return NULL;
}

ef_status *ef_tape_values_add(ef_tape_values *k, uint64_t id) {
    if (ef_tape_values_find(k, id) != EF_NO_PLACE) return NULL;
    EF_TRY(grow(k));
    put(k, id, k->places++);
    return NULL;
}

/* ---- watched values
 * ------------------------------------------------------------------------------- */

static uint64_t edge_key(const ef_tensor *x) {
    ef_graph *g;
    ef_edge e = ef_tensor_edge(x, &g);
    uint64_t h = ef_hash_mix(ef_hash_mix((uintptr_t)g, (uint64_t)e.node), (uint64_t)e.index);
    return h | edge_bit;
}

bool ef_tape_watches_edge(const ef_tape *t, const ef_tensor *x) {
    const ef_tape_values *k = &t->known;
    ef_graph *g, *other;
    ef_edge e = ef_tensor_edge(x, &g);
    uint64_t key = edge_key(x);
    if (k->n == 0) return false;
    for (size_t at = start_of(k, key); k->slot[at].key != 0; at = (at + 1) & (k->cap - 1)) {
        if (k->slot[at].key != key) continue;
        ef_edge have = ef_tensor_edge(&t->watched[k->slot[at].place].kept, &other);
        if (other == g && ef_edge_same(have, e)) return true;
    }
    return false;
}

ef_status *ef_tape_watch_as(ef_tape *t, uint64_t id, uint64_t since, ef_mark *mark,
                            const ef_tensor *kept) {
    if (id != 0 ? ef_tape_values_find(&t->known, id) != EF_NO_PLACE : ef_tape_watches_edge(t, kept))
        return NULL;
    uintptr_t before = (uintptr_t)t->watched;
    EF_TRY(EF_GROW(&t->watched, &t->cap_watched, t->n_watched + 1));
    for (size_t k = 0; k < t->n_watched && before != (uintptr_t)t->watched; k++)
        if (t->watched[k].kept.dtype != EF_NO_DTYPE) ef_tensor_moved(&t->watched[k].kept);
    if (id != 0) {
        EF_TRY(ef_tape_values_add(&t->known, id));
    } else {
        EF_TRY(grow(&t->known));
        put(&t->known, edge_key(kept), (uint32_t)t->n_watched);
    }
    ef_hooked *w = &t->watched[t->n_watched++];
    *w = (ef_hooked){.id = id, .since = since, .mark = ef_mark_ref(mark)};
    if (kept != NULL) ef_tensor_copy(&w->kept, kept);
    t->n_fresh++;
    return NULL;
}

/* ---- freeing unreachable records
 * ---------------------------------------------------------------------------------- */

static bool held(const ef_tape_record *r) {
    if (atomic_load_explicit(&r->refs, memory_order_acquire) > 1) return true;
    for (int k = 0; k < r->n_out; k++)
        if (r->out[k].mark != NULL && !ef_mark_sole(r->out[k].mark)) return true;
    return false;
}

/* Goes from the newest to the oldest, so that a record is checked after those that used it were
 * removed. Returns the unreachable ones, with the marks of their inputs already released. */
static ef_tape_record *take_unheld(ef_tape *t) {
    ef_tape_record *dead = NULL;
    size_t left = t->n_records;
    for (size_t k = t->n_records; k-- > 0;) {
        ef_tape_record *r = t->record[k];
        if (held(r)) {
            t->record[--left] = r;
            continue;
        }
        for (int i = 0; i < r->n_in; i++) {
            ef_mark_unref(r->in[i].mark);
            r->in[i].mark = NULL;
        }
        r->next = dead;
        dead = r;
    }
    memmove(t->record, t->record + left, (t->n_records - left) * sizeof(ef_tape_record *));
    t->n_records -= left;
    return dead;
}

/* Removes watched values that the program has released. */
static bool drop_watched(ef_tape *t) {
    size_t n = 0;
    for (size_t k = 0; k < t->n_watched; k++) {
        ef_hooked *w = &t->watched[k];
        if (w->kept.dtype == EF_NO_DTYPE && w->mark != NULL && ef_mark_sole(w->mark)) {
            ef_mark_unref(w->mark);
            continue;
        }
        if (n < k) {
            t->watched[n] = *w;
            if (w->kept.dtype != EF_NO_DTYPE) ef_tensor_moved(&t->watched[n].kept);
        }
        n++;
    }
    bool some = n < t->n_watched;
    t->n_watched = n;
    return some;
}

/* Fills the table again; it never holds more than before, so it need not grow. */
static void know_again(ef_tape *t) {
    memset(t->known.slot, 0, t->known.cap * sizeof *t->known.slot);
    t->known.n = t->known.places = 0;
    for (size_t k = 0; k < t->n_watched; k++) {
        const ef_hooked *w = &t->watched[k];
        if (w->id != 0)
            ef_status_free(ef_tape_values_add(&t->known, w->id));
        else
            put(&t->known, edge_key(&w->kept), (uint32_t)k);
    }
    for (size_t k = 0; k < t->n_records; k++)
        for (int i = 0; i < t->record[k]->n_out; i++)
            if (t->record[k]->out[i].id != 0)
                ef_status_free(ef_tape_values_add(&t->known, t->record[k]->out[i].id));
}

void ef_tape_sweep(ef_tape *t) {
    ef_tape_lock(t);
    ef_tape_record *dead = take_unheld(t);
    bool some = drop_watched(t);
    if (dead != NULL || some) know_again(t);
    t->n_old = t->n_records + t->n_watched;
    t->n_fresh = t->fresh_bytes = 0;
    t->left = ef_marks_left;
    ef_tape_unlock(t);
    for (ef_tape_record *next; dead != NULL; dead = next) {
        next = dead->next;
        ef_record_unref(dead);
    }
}
