/* The environment is not safe to read while somebody sets it, so each variable is read once and
 * remembered; the table is small because the options are few. */
#include "base/option.h"
#include "base/mutex.h"
#include <stdlib.h>
#include <string.h>

enum { OPTIONS = 24, NAME = 32, VALUE = 224 };

static struct { char name[NAME], value[VALUE]; } seen[OPTIONS];
static int seen_count;
static ef_mutex seen_lock = EF_MUTEX(OPTIONS); /* guards seen */

/* Copies the value to `out` (cut at VALUE - 1 characters); "" if the variable is not set. */
static void option_get(const char *name, char *out) {
    ef_mutex_lock(&seen_lock);
    int i = 0;
    while (i < seen_count && strcmp(seen[i].name, name) != 0) i++;
    if (i < seen_count) {
        memcpy(out, seen[i].value, VALUE);
    } else {
        const char *value = getenv(name);
        memset(out, 0, VALUE);
        if (value != NULL) strncpy(out, value, VALUE - 1);
        if (seen_count < OPTIONS && strlen(name) < NAME) {
            memcpy(seen[i].name, name, strlen(name) + 1);
            memcpy(seen[i].value, out, VALUE);
            seen_count++;
        }
    }
    ef_mutex_unlock(&seen_lock);
}

bool ef_option_has(const char *name, const char *word) {
    char value[VALUE];
    option_get(name, value);
    size_t n = strlen(word);
    for (const char *at = value; *at != 0;) {
        size_t len = strcspn(at, ",");
        if (len == n && memcmp(at, word, n) == 0) return true;
        at += len + (at[len] == ',');
    }
    return false;
}

int64_t ef_option_int(const char *name, int64_t otherwise) {
    char value[VALUE], *end;
    option_get(name, value);
    long long v = strtoll(value, &end, 10);
    return end == value || *end != 0 ? otherwise : v;
}
