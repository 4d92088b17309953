/* Reading the options of a dataset. */
#include "data/options.h"

typedef struct message {
    const uint8_t *at, *end;
} message;
typedef struct field {
    uint64_t number, value;
    message part; /* of a field with a length */
} field;

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 }; /* kinds of fields */
/* Numbers of fields. */
enum { DETERMINISTIC = 1, OPTIMIZATION = 3, INJECT_PREFETCH = 19 };
enum { AUTOTUNE = 7, ENABLED = 1, CPU_BUDGET = 2, RAM_BUDGET = 3 };

static bool varint(message *m, uint64_t *out) {
    *out = 0;
    for (int shift = 0; shift < 64 && m->at < m->end; shift += 7) {
        uint8_t byte = *m->at++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

static bool skip(message *m, uint64_t n, message *part) {
    if (n > (uint64_t)(m->end - m->at)) return false;
    *part = (message){m->at, m->at + n};
    m->at += n;
    return true;
}

static bool next_field(message *m, field *f) {
    uint64_t key, n;
    *f = (field){0};
    if (!varint(m, &key)) return false;
    f->number = key >> 3;
    switch (key & 7) {
    case VARINT: return varint(m, &f->value);
    case FIXED64: return skip(m, 8, &f->part);
    case LENGTH: return varint(m, &n) && skip(m, n, &f->part);
    case FIXED32: return skip(m, 4, &f->part);
    default: return false;
    }
}

static void read_autotune(ef_data_options *o, message m) {
    bool set = o->autotune_set;
    int64_t cpu = o->cpu_budget, ram = o->ram_budget;
    for (field f; next_field(&m, &f);) {
        if (f.number == ENABLED && !set) {
            o->autotune_set = true;
            o->autotune = f.value != 0;
        }
        if (f.number == CPU_BUDGET && cpu == 0) o->cpu_budget = (int64_t)f.value;
        if (f.number == RAM_BUDGET && ram == 0) o->ram_budget = (int64_t)f.value;
    }
}

static void read_optimization(ef_data_options *o, message m) {
    bool set = o->inject_set;
    for (field f; next_field(&m, &f);)
        if (f.number == INJECT_PREFETCH && !set) {
            o->inject_set = true;
            o->inject = f.value != 0;
        }
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void ef_data_options_read(ef_data_options *o, const char *text, size_t n) {
    enum { MOST = 1024 }; /* the fields that are read come before any long one */
    uint8_t bytes[MOST];
    size_t size = 0;
    for (size_t k = 0; k + 1 < n && size < MOST; k += 2) {
        int high = digit(text[k]), low = digit(text[k + 1]);
        if (high < 0 || low < 0) return;
        bytes[size++] = (uint8_t)(16 * high + low);
    }
    message m = {bytes, bytes + size};
    const bool order_set = o->order_set;
    for (field f; next_field(&m, &f);) {
        if (f.number == DETERMINISTIC && !order_set) {
            o->order_set = true;
            o->any_order = f.value == 0;
        }
        if (f.number == AUTOTUNE && f.part.at != NULL) read_autotune(o, f.part);
        if (f.number == OPTIMIZATION && f.part.at != NULL) read_optimization(o, f.part);
    }
}
