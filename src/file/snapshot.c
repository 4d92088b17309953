#include "file/snapshot.h"
#include "base/alloc.h"
#include "file/path.h"
#include "file/whole_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "evenflow snapshot 1\n";
enum { SHARDS_MOST = 1 << 20 };

ef_status *ef_snapshot_new_run(char run[17]) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return ef_path_error(errno, "the system's random numbers");
    snprintf(run, 17, "%016" PRIx64, number);
    return NULL;
}

void ef_snapshot_free(ef_snapshot *s) {
    ef_free(s->shard);
    *s = (ef_snapshot){0};
}

void ef_snapshot_shard(const char *path, size_t n, const char *run, int64_t shard, ef_text *out) {
    ef_text_bytes(out, path, n);
    ef_text_add(out, "/%s/%08lld", run, (long long)shard);
}

static void metadata_name(const char *path, size_t n, ef_text *out) {
    ef_text_bytes(out, path, n);
    ef_text_add(out, "/snapshot.metadata");
}

static ef_status *damaged(const ef_text *name) {
    return ef_error(EF_DATA_LOSS,
                    "%.800s: the file is damaged or is not the metadata of a snapshot", name->at);
}

/* A number behind its word, as in "elements 5\n". */
static bool read_number(const char **at, const char *word, int64_t *out) {
    size_t n = strlen(word);
    char *end;
    if (strncmp(*at, word, n) != 0 || (*at)[n] != ' ') return false;
    errno = 0;
    *out = strtoll(*at + n + 1, &end, 10);
    if (errno != 0 || *end != '\n' || *out < 0) return false;
    *at = end + 1;
    return true;
}

static ef_status *parse(const ef_text *name, const char *at, ef_snapshot *out) {
    if (strncmp(at, first_line, sizeof first_line - 1) != 0) return damaged(name);
    at += sizeof first_line - 1;
    if (strncmp(at, "run ", 4) != 0 || strspn(at + 4, "0123456789abcdef") != 16 || at[20] != '\n')
        return damaged(name);
    memcpy(out->run, at + 4, 16);
    at += 21;
    int64_t n = 0;
    if (!read_number(&at, "elements", &out->elements) || !read_number(&at, "shards", &n) ||
        n > SHARDS_MOST)
        return damaged(name);
    out->shard = ef_calloc((size_t)n + 1, sizeof *out->shard);
    if (out->shard == NULL) return ef_no_memory((size_t)n * sizeof *out->shard);
    for (; out->n_shards < n; out->n_shards++)
        if (!read_number(&at, "shard", &out->shard[out->n_shards])) return damaged(name);
    return NULL;
}

ef_status *ef_snapshot_read(const char *path, size_t n, ef_snapshot *out, bool *found) {
    ef_text name = {0}, text = {0};
    metadata_name(path, n, &name);
    *found = false;
    ef_status *s = name.failed ? ef_no_memory(n) : ef_file_read(name.at, name.n, &text);
    if (s != NULL && ef_status_code(s) == EF_NOT_FOUND) {
        ef_status_free(s);
        s = NULL;
    } else if (s == NULL) {
        *found = true;
        s = text.n == 0 || text.failed ? damaged(&name) : parse(&name, text.at, out);
    }
    if (s != NULL) ef_snapshot_free(out);
    ef_text_free(&name);
    ef_text_free(&text);
    return s;
}

ef_status *ef_file_rename(const char *from, const char *to) {
    return rename(from, to) == 0 ? NULL : ef_path_error(errno, to);
}

ef_status *ef_snapshot_write(const char *path, size_t n, const ef_snapshot *made) {
    ef_text name = {0}, fresh = {0}, text = {0};
    metadata_name(path, n, &name);
    ef_text_add(&fresh, "%s.%s", name.failed ? "" : name.at, made->run);
    ef_text_add(&text, "%srun %s\nelements %lld\nshards %lld\n", first_line, made->run,
                (long long)made->elements, (long long)made->n_shards);
    for (int64_t k = 0; k < made->n_shards; k++)
        ef_text_add(&text, "shard %lld\n", (long long)made->shard[k]);
    ef_status *s = name.failed || fresh.failed || text.failed ? ef_no_memory(text.n) : NULL;
    if (s == NULL) s = ef_file_write(fresh.at, fresh.n, text.at, text.n);
    if (s == NULL) s = ef_file_rename(fresh.at, name.at);
    ef_text_free(&name);
    ef_text_free(&fresh);
    ef_text_free(&text);
    return s;
}
