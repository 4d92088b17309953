/* The table of places: 1024 sets of four. A place is identified by two words, an owner and an
 * instruction, so finding one compares no text. An id holds the slot and the generation of its
 * entry; after the entry was replaced, the id names nothing. */
#include "profile/site.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/mutex.h"
#include <stdio.h>
#include <string.h>

enum { WAYS = EF_SITE_WAYS, SETS = EF_SITE_SETS, SLOT_BITS = EF_SITE_BITS, GENERATIONS = 1 << 20 };
_Static_assert(WAYS *SETS == 1 << SLOT_BITS, "a slot fits its bits");

typedef ef_site_entry site;

static ef_mutex lock = EF_MUTEX(SITES);
ef_site_table ef_sites;

static uint32_t id_of(const site *s) {
    return s->generation << SLOT_BITS | (uint32_t)(s - &ef_sites.of[0][0]);
}

static site *set_of(const void *owner, int at) {
    uint64_t h = ef_hash_mix((uint64_t)(uintptr_t)owner >> 4, (uint64_t)(unsigned)at);
    return ef_sites.of[ef_hash_mix(h, 1) % SETS];
}

uint32_t ef_site_find(const void *owner, int at) {
    site *set = set_of(owner, at);
    uint32_t id = 0;
    ef_mutex_lock(&lock);
    for (int k = 0; k < WAYS && id == 0; k++) {
        if (set[k].owner != owner || set[k].at != at || owner == NULL) continue;
        if (set[k].uses < UINT32_MAX) set[k].uses++;
        id = id_of(&set[k]);
    }
    ef_mutex_unlock(&lock);
    return id;
}

/* The entry of a set to use for a new place; `free_only`: not one with an owner, which the caller
 * cannot release. NULL: there is none. */
static site *victim(site *set, bool free_only) {
    site *least = NULL;
    for (int k = 0; k < WAYS; k++) {
        if (set[k].file == NULL) return &set[k];
        if (free_only && set[k].owner != NULL) continue;
        if (least == NULL || set[k].uses < least->uses) least = &set[k];
    }
    return least;
}

static void replace(site *s, const site *by) {
    ef_free(s->text);
    uint32_t next = (s->generation + 1) % GENERATIONS;
    *s = *by;
    s->generation = next != 0 ? next : 1;
    s->uses = 1;
}

uint32_t ef_site_add(const void *owner, int at, const char *file, const char *function, int line,
                     const void **evicted) {
    *evicted = NULL;
    if (owner == NULL) return 0;
    ef_mutex_lock(&lock);
    site *s = victim(set_of(owner, at), false);
    *evicted = s->owner;
    replace(s, &(site){.owner = owner, .at = at, .file = file, .function = function, .line = line});
    uint32_t id = id_of(s);
    ef_mutex_unlock(&lock);
    return id;
}

static bool same_texts(const site *s, uint64_t hash, const char *file, const char *function,
                       int line) {
    return s->text != NULL && s->hash == hash && s->line == line && strcmp(s->file, file) == 0 &&
           strcmp(s->function, function) == 0;
}

uint32_t ef_site_named(const char *file, const char *function, int line, const void **evicted) {
    if (evicted != NULL) *evicted = NULL;
    if (file == NULL || function == NULL) return 0;
    uint64_t hash = ef_hash_text(ef_hash_text((uint64_t)(unsigned)line, file), function);
    site *set = ef_sites.of[hash % SETS];
    uint32_t id = 0;
    ef_mutex_lock(&lock);
    for (int k = 0; k < WAYS && id == 0; k++)
        if (same_texts(&set[k], hash, file, function, line)) {
            if (set[k].uses < UINT32_MAX) set[k].uses++;
            id = id_of(&set[k]);
        }
    site *s = id == 0 ? victim(set, evicted == NULL) : NULL;
    size_t n = strlen(file) + 1, m = strlen(function) + 1;
    char *text = s != NULL ? ef_malloc(n + m) : NULL;
    if (s != NULL && text != NULL) {
        memcpy(text, file, n);
        memcpy(text + n, function, m);
        if (evicted != NULL) *evicted = s->owner;
        replace(
            s,
            &(site){.hash = hash, .file = text, .function = text + n, .text = text, .line = line});
        id = id_of(s);
    }
    ef_mutex_unlock(&lock);
    return id;
}

const site *ef_site_of(const ef_site_table *t, uint32_t id) {
    const site *s = &t->of[0][0] + (id & ((1u << SLOT_BITS) - 1));
    return id != 0 && s->file != NULL && s->generation == id >> SLOT_BITS ? s : NULL;
}

static const site *lookup(uint32_t id) { return ef_site_of(&ef_sites, id); } /* under the lock */

bool ef_site_alive(uint32_t id) {
    ef_mutex_lock(&lock);
    bool alive = lookup(id) != NULL;
    ef_mutex_unlock(&lock);
    return alive;
}

void ef_site_copy(ef_site_table *out) {
    ef_mutex_lock(&lock);
    *out = ef_sites;
    ef_mutex_unlock(&lock);
}

static void copy_end(char *out, size_t room, const char *text) {
    size_t n = strlen(text);
    if (n >= room) text += n - room + 1;
    while (n >= room && ((unsigned char)*text & 0xC0) == 0x80) text++; /* not inside a character */
    snprintf(out, room, "%s", text);
}

bool ef_site_get(uint32_t place, ef_site_info *out) {
    ef_mutex_lock(&lock);
    const site *s = lookup(place);
    if (s != NULL) {
        copy_end(out->file, sizeof out->file, s->file);
        copy_end(out->function, sizeof out->function, s->function);
        out->line = s->line;
    }
    ef_mutex_unlock(&lock);
    return s != NULL;
}

/* ---- programs in C --------------------------------------------------------------------------- */

static _Thread_local struct {
    const char *file, *function;
    int line;
    uint32_t id; /* 0: not looked up yet */
} named;

void ef_site_set(const char *file, const char *function, int line) {
    named.file = file;
    named.function = function;
    named.line = line;
    named.id = 0;
}

uint32_t ef_site_here(void) {
    if (named.file == NULL) return 0;
    if (named.id == 0 || !ef_site_alive(named.id))
        named.id = ef_site_named(named.file, named.function, named.line, NULL);
    return named.id;
}
