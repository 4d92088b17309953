/* Copies of the tables of tallies, places and notes: of this process, or of another one that runs
 * the same library file. There the tables are at the same offset from the address where the file is
 * mapped, so the other process need not cooperate and pays nothing. Its tables may change while
 * they are copied: what is read is checked before it is used, and a sum may be off by one event. */
#define _GNU_SOURCE /* process_vm_readv, dladdr */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "profile/site.h"
#include "profile/tally.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_TALLIES = EF_TALLY_SETS * EF_TALLY_WAYS + EF_EVENT_KINDS };

typedef struct text_pair {
    char file[256], function[96];
} text_pair;

struct ef_doctor {
    ef_tally_table tables;
    ef_site_table sites;
    ef_note_table notes;
    ef_event_rate clock;
    ef_tally tallies[MOST_TALLIES];
    size_t n;
    double seconds;
    text_pair texts[EF_SITE_SETS * EF_SITE_WAYS]; /* of the sites */
};

/* ---- reading another process -------------------------------------------------------------------
 */

static bool peek(int pid, uintptr_t from, void *to, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Where this library is mapped here, and the file it is in. */
static bool own_file(uintptr_t *base, struct stat *file) {
    Dl_info found;
    if (dladdr((void *)&ef_tallies, &found) == 0 || found.dli_fname == NULL) return false;
    *base = (uintptr_t)found.dli_fbase;
    return stat(found.dli_fname, file) == 0;
}

/* Whether a line of /proc/PID/maps, "from-to rights offset device inode path", maps the beginning
 * of the file with that inode; its address. */
static bool maps_beginning(const char *line, ino_t inode, uintptr_t *from) {
    char *at;
    *from = strtoull(line, &at, 16);
    if ((at = strchr(at, ' ')) == NULL || (at = strchr(at + 1, ' ')) == NULL) return false;
    if (strtoull(at, &at, 16) != 0) return false; /* the offset */
    return *at == ' ' && (at = strchr(at + 1, ' ')) != NULL && strtoull(at, NULL, 10) == inode;
}

/* Where another process has mapped the beginning of that file; 0: nowhere. */
static uintptr_t mapped_at(int pid, const struct stat *file) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    uintptr_t found = 0, from;
    while (maps != NULL && found == 0 && fgets(line, sizeof line, maps) != NULL) {
        if (maps_beginning(line, file->st_ino, &from)) found = from;
    }
    if (maps != NULL) fclose(maps);
    return found;
}

/* A text of the other process, shortened at its end if it is longer than `room`. */
static void peek_text(int pid, const char *from, char *to, size_t room) {
    size_t n = 0;
    while (from != NULL && n + 1 < room) { /* page by page: the next page may not be mapped */
        size_t some = 4096 - ((uintptr_t)from + n) % 4096;
        if (some > room - 1 - n) some = room - 1 - n;
        if (!peek(pid, (uintptr_t)from + n, to + n, some)) break;
        if (memchr(to + n, 0, some) != NULL) return;
        n += some;
    }
    to[n] = '\0';
}

static ef_status *copy_other(ef_doctor *d, int pid) {
    uintptr_t base, there;
    struct stat file;
    if (!own_file(&base, &file))
        return ef_error(EF_FAILED_PRECONDITION, "the file of this library cannot be found");
    if ((there = mapped_at(pid, &file)) == 0)
        return ef_error(EF_NOT_FOUND,
                        "process %d does not exist, may not be read, or does not use this "
                        "Evenflow library",
                        pid);
    struct {
        const void *at;
        void *to;
        size_t bytes;
    } copy[] = {{&ef_tallies, &d->tables, sizeof d->tables},
                {&ef_sites, &d->sites, sizeof d->sites},
                {&ef_notes, &d->notes, sizeof d->notes},
                {&ef_event_began, &d->clock, sizeof d->clock}};
    for (size_t k = 0; k < sizeof copy / sizeof *copy; k++)
        if (!peek(pid, there + ((uintptr_t)copy[k].at - base), copy[k].to, copy[k].bytes))
            return ef_error(errno == EPERM ? EF_PERMISSION_DENIED : EF_NOT_FOUND,
                            "process %d cannot be read: %s. The caller must be allowed to trace "
                            "it: the same user, and 0 in /proc/sys/kernel/yama/ptrace_scope, or "
                            "root",
                            pid, strerror(errno));
    for (int k = 0; k < EF_SITE_SETS * EF_SITE_WAYS; k++) {
        ef_site_entry *s = &d->sites.of[0][0] + k;
        if (s->file == NULL) continue;
        peek_text(pid, s->file, d->texts[k].file, sizeof d->texts[k].file);
        peek_text(pid, s->function, d->texts[k].function, sizeof d->texts[k].function);
    }
    return NULL;
}

/* ---- the copy ----------------------------------------------------------------------------------
 */

static void copy_own(ef_doctor *d) {
    ef_tally_copy(&d->tables);
    ef_site_copy(&d->sites);
    for (int k = 0; k < EF_SITE_SETS * EF_SITE_WAYS; k++) {
        ef_site_info s;
        ef_site_entry *e = &d->sites.of[0][0] + k;
        if (e->file == NULL || !ef_site_get(e->generation << EF_SITE_BITS | (uint32_t)k, &s)) {
            e->file = NULL;
            continue;
        }
        memcpy(d->texts[k].file, s.file, sizeof s.file);
        memcpy(d->texts[k].function, s.function, sizeof s.function);
    }
    ef_note_copy(&d->notes);
    d->clock = ef_event_rate_now();
}

ef_status *ef_doctor_open(int pid, ef_doctor **out) {
    ef_doctor *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    ef_event_rate mine = ef_event_rate_now();
    ef_status *bad = NULL;
    if (pid == 0 || pid == getpid())
        copy_own(d);
    else
        bad = copy_other(d, pid);
    if (bad != NULL) {
        ef_free(d);
        return bad;
    }
    d->clock.ns_per_tick = mine.ns_per_tick; /* one machine, one rate */
    d->n = ef_tallies_of(&d->tables, &d->clock, d->tallies, MOST_TALLIES);
    uint64_t began = d->tables.reset != 0 ? d->tables.reset : d->clock.ticks_begun;
    d->seconds = began != 0 ? 1e-9 * (double)ef_rate_ns(&d->clock, ef_event_clock() - began) : 0;
    *out = d;
    return NULL;
}

void ef_doctor_free(ef_doctor *d) { ef_free(d); }

size_t ef_doctor_tallies(const ef_doctor *d, const ef_tally **out) {
    *out = d->tallies;
    return d->n;
}

double ef_doctor_seconds(const ef_doctor *d) { return d->seconds; }

bool ef_doctor_site(const ef_doctor *d, uint32_t place, ef_site_info *out) {
    const ef_site_entry *s = ef_site_of(&d->sites, place);
    if (s == NULL) return false;
    const text_pair *t = &d->texts[s - &d->sites.of[0][0]];
    memcpy(out->file, t->file, sizeof out->file);
    memcpy(out->function, t->function, sizeof out->function);
    out->line = s->line;
    return t->file[0] != '\0';
}

bool ef_doctor_note(const ef_doctor *d, uint32_t note, char *out, size_t room) {
    const char *text = ef_note_of(&d->notes, note);
    if (text != NULL) snprintf(out, room, "%.*s", EF_NOTE_BYTES - 1, text);
    return text != NULL;
}

/* ---- as JSON -----------------------------------------------------------------------------------
 */

static void put_text(FILE *f, const char *text) {
    putc('"', f);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 32 || c == '"' || c == '\\')
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void put_place(FILE *f, const ef_doctor *d, uint32_t place) {
    ef_site_info s;
    if (!ef_doctor_site(d, place, &s)) {
        fputs("null", f);
        return;
    }
    putc('[', f);
    put_text(f, s.file);
    fprintf(f, ", %d, ", s.line);
    put_text(f, s.function);
    putc(']', f);
}

static void put_tally(FILE *f, const ef_doctor *d, const ef_tally *t) {
    char note[EF_NOTE_BYTES] = "";
    ef_doctor_note(d, t->note, note, sizeof note);
    fprintf(f, "{\"kind\": \"%s\", \"reason\": \"%s\", \"place\": ", ef_event_kind_name(t->kind),
            ef_event_reason_name(t->reason));
    put_place(f, d, t->place);
    fputs(", \"subject\": ", f);
    put_place(f, d, t->subject);
    fputs(", \"note\": ", f);
    put_text(f, note);
    fprintf(f,
            ", \"samples\": %u, \"count\": %llu, \"ns\": %llu, \"sum\": [%lld, %lld, %lld], "
            "\"least\": %lld, \"most\": %lld, \"first\": %llu, \"last\": %llu, \"early\": %u, "
            "\"late\": %u, \"opening\": %u}",
            t->samples, (unsigned long long)t->count, (unsigned long long)t->duration,
            (long long)t->sum[0], (long long)t->sum[1], (long long)t->sum[2], (long long)t->least,
            (long long)t->most, (unsigned long long)t->first, (unsigned long long)t->last, t->early,
            t->late, t->opening);
}

ef_status *ef_doctor_save(const ef_doctor *d, const char *path) {
    FILE *f = fopen(path, "w");
    if (f == NULL) return ef_error(EF_NOT_FOUND, "cannot write '%s': %s", path, strerror(errno));
    fprintf(f, "{\"evenflow_doctor\": 1, \"seconds\": %.6f, \"tallies\": [\n", d->seconds);
    bool first = true;
    for (size_t k = 0; k < d->n; k++) {
        if (ef_event_kind_name(d->tallies[k].kind) == NULL ||
            ef_event_reason_name(d->tallies[k].reason) == NULL)
            continue; /* it changed while it was copied */
        if (!first) fputs(",\n", f);
        first = false;
        put_tally(f, d, &d->tallies[k]);
    }
    fputs("\n]}\n", f);
    bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed)
        return ef_error(EF_UNAVAILABLE, "'%s' could not be written to its end", path);
    return NULL;
}
