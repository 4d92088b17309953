/* Reading the environment while another thread changes it is undefined, so each variable is read
 * once and remembered in a small table. */
#include "base/option.h"
#include "base/mutex.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS = 24, NAME = 32, VALUE = 224 };

static struct { char name[NAME], value[VALUE]; } seen[OPTIONS];
static atomic_int seen_count;                  /* what comes before it never changes again */
static ef_mutex seen_lock = EF_MUTEX(OPTIONS); /* held while an entry is added */

static const char *find(const char *name) {
    int n = atomic_load_explicit(&seen_count, memory_order_acquire);
    for (int i = 0; i < n; i++)
        if (strcmp(seen[i].name, name) == 0) return seen[i].value;
    return NULL;
}

/* The value, or "" if the variable is not set. One too long to be remembered, or one too many, is
 * read from the environment each time. */
static const char *option_get(const char *name) {
    const char *value = find(name);
    if (value != NULL) return value;
    ef_mutex_lock(&seen_lock);
    int n = atomic_load_explicit(&seen_count, memory_order_relaxed);
    if ((value = find(name)) == NULL && (value = getenv(name)) == NULL) value = "";
    if (find(name) == NULL && n < OPTIONS && strlen(name) < NAME && strlen(value) < VALUE) {
        memcpy(seen[n].name, name, strlen(name) + 1);
        value = memcpy(seen[n].value, value, strlen(value) + 1);
        atomic_store_explicit(&seen_count, n + 1, memory_order_release);
    }
    ef_mutex_unlock(&seen_lock);
    return value;
}

bool ef_option_has(const char *name, const char *word) {
    size_t n = strlen(word);
    for (const char *at = option_get(name); *at != 0;) {
        size_t len = strcspn(at, ",");
        if (len == n && memcmp(at, word, n) == 0) return true;
        at += len + (at[len] == ',');
    }
    return false;
}

int64_t ef_option_int(const char *name, int64_t otherwise) {
    const char *value = option_get(name);
    char *end;
    long long v = strtoll(value, &end, 10);
    return end == value || *end != 0 ? otherwise : v;
}
