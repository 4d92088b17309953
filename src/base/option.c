/* Reading the environment while another thread changes it is undefined, so each variable is read
 * once and remembered in a small table. */
#include "base/option.h"
#include "base/mutex.h"
#include <stdlib.h>
#include <string.h>

enum { OPTIONS = 24, NAME = 32, VALUE = 224 };

static struct { char name[NAME], value[VALUE]; } seen[OPTIONS];
static int seen_count;
static ef_mutex seen_lock = EF_MUTEX(OPTIONS); /* guards seen */

/* The value, or "" if the variable is not set. One too long to be remembered, or one too many, is
 * read from the environment each time. */
static const char *option_get(const char *name) {
    ef_mutex_lock(&seen_lock);
    int i = 0;
    while (i < seen_count && strcmp(seen[i].name, name) != 0) i++;
    const char *value = i < seen_count ? seen[i].value : getenv(name);
    if (value == NULL) value = "";
    if (i == seen_count && i < OPTIONS && strlen(name) < NAME && strlen(value) < VALUE) {
        memcpy(seen[i].name, name, strlen(name) + 1);
        value = memcpy(seen[i].value, value, strlen(value) + 1);
        seen_count++;
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
