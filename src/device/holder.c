/* A table of labels: open addressing, keyed by the hash of the text. Entries are only added, under
 * the lock; a look-up takes no lock. A thread remembers the number of its last label, so that
 * consecutive blocks for one op look it up once. */
#include "device/holder.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/text.h"
#include "device/memory.h"
#include "evenflow_binding.h"
#include <stdatomic.h>
#include <stdio.h>

enum { LABELS = 1024, LABEL_TEXT = 40, MOST_USED = LABELS * 3 / 4, MOST_LISTED = 16 };
enum { MOST_PLACES = 700 };

static struct holder {
    atomic_bool taken; /* name is written before and never again */
    char name[LABEL_TEXT];
    uint32_t place; /* the name is "@" and this number; 0: it is a label */
    _Atomic int64_t bytes, blocks;
} holders[LABELS]; /* number 0: no label */
static int holder_count, place_count;
static ef_mutex holders_lock = EF_MUTEX(HOLDERS); /* guards adding */

static _Thread_local const char *label;    /* of this thread's allocations */
static _Thread_local const char *resolved; /* the one whose number is below */
static _Thread_local uint16_t number;

const char *ef_memory_label(const char *now) {
    const char *before = label;
    label = now;
    return before;
}

/* The entry of that name or, if there is none, the free entry where it belongs. */
static struct holder *look_up(const char *name) {
    size_t i = (size_t)(ef_hash_text(0, name) >> 17) % (LABELS - 1);
    for (;; i = (i + 1) % (LABELS - 1)) {
        struct holder *h = &holders[i + 1];
        if (!atomic_load_explicit(&h->taken, memory_order_acquire)) return h;
        if (strcmp(h->name, name) == 0) return h;
    }
}

static uint16_t resolve(const char *text, uint32_t place) {
    char name[LABEL_TEXT];
    snprintf(name, sizeof name, "%s", text);
    struct holder *h = look_up(name);
    if (!atomic_load_explicit(&h->taken, memory_order_acquire)) {
        ef_mutex_lock(&holders_lock);
        h = look_up(name); /* another thread may have added it meanwhile */
        if (!atomic_load_explicit(&h->taken, memory_order_relaxed)) {
            if (holder_count >= MOST_USED || (place != 0 && place_count >= MOST_PLACES)) {
                h = &holders[0];
            } else {
                memcpy(h->name, name, sizeof name);
                h->place = place;
                place_count += place != 0;
                atomic_store_explicit(&h->taken, true, memory_order_release);
                holder_count++;
            }
        }
        ef_mutex_unlock(&holders_lock);
    }
    return (uint16_t)(h - holders);
}

/* ---- places ---- */

static _Atomic(uint32_t (*)(void)) place_now;
static _Thread_local uint32_t last_place; /* whose number is below */
static _Thread_local uint16_t last_number;

void ef_holders_watch(uint32_t (*place)(void)) {
    atomic_store_explicit(&place_now, place, memory_order_release);
}

static uint16_t number_of_place(uint32_t place) {
    if (place != last_place) {
        char name[LABEL_TEXT];
        snprintf(name, sizeof name, "@%lu", (unsigned long)place);
        last_number = resolve(name, place);
        last_place = place;
    }
    return last_number;
}

int ef_holders_get(ef_holder_info *out, int max) {
    int n = 0;
    for (int i = 0; i < LABELS; i++) {
        const struct holder *h = &holders[i];
        int64_t bytes = atomic_load_explicit(&h->bytes, memory_order_relaxed);
        if (bytes == 0) continue;
        if (n < max)
            out[n] = (ef_holder_info){h->place, i > 0 && h->place == 0 ? h->name : NULL, bytes,
                                      atomic_load_explicit(&h->blocks, memory_order_relaxed)};
        n++;
    }
    return n;
}

/* ---- what the current thread allocates for ---- */

uint16_t ef_holder_now(void) {
    uint32_t (*watch)(void) = atomic_load_explicit(&place_now, memory_order_acquire);
    uint32_t place = watch != NULL ? watch() : 0;
    if (place != 0) return number_of_place(place);
    if (label == NULL) return 0;
    if (label != resolved) {
        number = resolve(label, 0);
        resolved = label;
    }
    return number;
}

void ef_holder_add(uint16_t n, int64_t bytes) {
    atomic_fetch_add_explicit(&holders[n].bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&holders[n].blocks, bytes < 0 ? -1 : 1, memory_order_relaxed);
}

int64_t ef_holder_total(void) {
    int64_t sum = 0;
    for (int i = 0; i < LABELS; i++)
        sum += atomic_load_explicit(&holders[i].bytes, memory_order_relaxed);
    return sum;
}

static size_t put(char *out, size_t size, size_t n, const char *name, int64_t bytes,
                  int64_t blocks) {
    if (n >= size) return n;
    n += (size_t)snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", name, EF_BYTES(bytes));
    if (n < size && blocks > 0)
        n += (size_t)snprintf(out + n, size - n, " (%lld block%s)", (long long)blocks,
                              blocks == 1 ? "" : "s");
    return n;
}

/* The name of an entry; that of a line of the program is "train.py:12". Valid until this thread's
 * next call. */
static const char *named(const struct holder *h) {
    static _Thread_local char text[LABEL_TEXT + 64];
    ef_site_info at;
    if (h->place == 0 || !ef_site_get(h->place, &at)) return h->name;
    const char *slash = strrchr(at.file, '/');
    snprintf(text, sizeof text, "%.80s:%d", slash != NULL ? slash + 1 : at.file, at.line);
    return text;
}

size_t ef_holder_report(int top, int64_t rest, char *out, size_t size) {
    int listed[MOST_LISTED], n_listed = 0;
    size_t n = 0;
    if (size > 0) out[0] = 0;
    while (n_listed < top && n_listed < MOST_LISTED) {
        int best = -1;
        int64_t most = 0;
        for (int i = 0; i < LABELS; i++) {
            int64_t bytes = atomic_load_explicit(&holders[i].bytes, memory_order_relaxed);
            bool seen = false;
            for (int k = 0; k < n_listed; k++) seen |= listed[k] == i;
            if (bytes > most && !seen) {
                most = bytes;
                best = i;
            }
        }
        if (rest > most) { /* the small ones, once, where they belong by size */
            n = put(out, size, n, "blocks under 4 KiB", rest, 0);
            rest = 0;
            top--;
            continue;
        }
        if (best < 0) break;
        listed[n_listed++] = best;
        n = put(out, size, n, best ? named(&holders[best]) : "unlabelled", most,
                atomic_load_explicit(&holders[best].blocks, memory_order_relaxed));
    }
    return n < size ? n : size - 1;
}
