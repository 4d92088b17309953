/* The table of devices. A device's memory is memory.c's matter; what a device can run is a column
 * of the op table, so there is nothing else to know about one here. */
#include "device/device.h"
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *kind;
    int index; /* among devices of its kind */
} devices[] = {
    {"CPU:0", "CPU", 0},
};
enum { DEVICES = sizeof devices / sizeof devices[0] };

int ef_device_count(void) { return DEVICES; }

const char *ef_device_name(int device) {
    return device >= 0 && device < DEVICES ? devices[device].name : NULL;
}

/* Length of `kind` at the start of text, in any case; 0 if something else stands there. */
static size_t kind_at(const char *text, const char *kind) {
    size_t n = strlen(kind);
    for (size_t i = 0; i < n; i++)
        if (toupper((unsigned char)text[i]) != kind[i]) return 0;
    return n;
}

int ef_device_find(const char *name) {
    if (name == NULL) return -1;
    const char *last = strrchr(name, '/');
    const char *at = last ? last + 1 : name;
    if (strncmp(at, "device:", 7) == 0) at += 7;
    for (int d = 0; d < DEVICES; d++) {
        size_t n = kind_at(at, devices[d].kind);
        if (n == 0) continue;
        if (at[n] == 0 && devices[d].index == 0) return d;
        if (at[n] != ':' || !isdigit((unsigned char)at[n + 1])) continue;
        char *end;
        if (strtol(at + n + 1, &end, 10) == devices[d].index && *end == 0) return d;
    }
    return -1;
}
