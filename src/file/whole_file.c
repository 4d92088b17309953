#include "file/whole_file.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/interrupt.h"
#include "evenflow_binding.h"
#include "file/calls.h"
#include "file/path.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, STREAM_MOST = 1 << 30 };

/* The text grows by the bytes read, not by the file's size, which may be wrong (/proc) or change
 * meanwhile. A file that is not regular (/dev/zero) may be endless, so it has a limit. */
static ef_status *read_all(int fd, const char *path, ef_text *out) {
    char *chunk = ef_malloc(CHUNK);
    if (chunk == NULL) return ef_no_memory(CHUNK);
    struct stat st;
    bool endless = fstat(fd, &st) != 0 || !S_ISREG(st.st_mode);
    unsigned pulse = ef_interrupt_counter();
    ef_status *s = NULL;
    while (s == NULL) {
        ssize_t got;
        s = ef_call_read(fd, chunk, CHUNK, &got);
        if (s != NULL || got == 0) break;
        if (got > 0) ef_text_bytes(out, chunk, (size_t)got);
        if (out->failed)
            s = ef_no_memory(out->n + CHUNK);
        else if (got < 0)
            s = ef_path_error(errno, path);
        else if (endless && out->n > STREAM_MOST)
            s = ef_error(EF_NO_MEMORY, "%.800s: more than %d bytes, and not a regular file", path,
                         STREAM_MOST);
        else
            s = ef_interrupt_check(ef_context_here(), &pulse);
    }
    ef_free(chunk);
    return s;
}

ef_status *ef_file_read(const char *name, size_t n, ef_text *out) {
    char *path = NULL;
    EF_TRY(ef_path_make(name, n, &path));
    int fd;
    ef_status *s = ef_call_open(path, O_RDONLY, &fd);
    if (s == NULL) s = fd < 0 ? ef_path_error(errno, path) : read_all(fd, path, out);
    if (fd >= 0) close(fd);
    ef_free(path);
    return s;
}

/* Makes the folders above the file. One that exists is fine, also if another process makes it. */
static ef_status *make_folders(char *path) {
    for (char *slash = path[0] != 0 ? strchr(path + 1, '/') : NULL; slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int made = mkdir(path, 0777), error = errno;
        ef_status *s = made == 0 || error == EEXIST ? NULL : ef_path_error(error, path);
        *slash = '/';
        if (s != NULL) return s;
    }
    return NULL;
}

ef_status *ef_folder_make(const char *name, size_t n) {
    char *path = NULL;
    EF_TRY(ef_path_make(name, n, &path));
    ef_status *s = make_folders(path);
    if (s == NULL && mkdir(path, 0777) < 0 && errno != EEXIST) s = ef_path_error(errno, path);
    ef_free(path);
    return s;
}

static ef_status *write_all(int fd, const char *path, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t put;
        EF_TRY(ef_call_write(fd, bytes, n, &put));
        if (put < 0) return ef_path_error(errno, path);
        bytes += put;
        n -= (size_t)put;
    }
    return NULL;
}

ef_status *ef_file_write(const char *name, size_t n, const char *bytes, size_t n_bytes) {
    char *path = NULL;
    ef_status *s = NULL;
    int fd = -1;
    EF_TRY(ef_path_make(name, n, &path));
    EF_TRY_GOTO(ef_call_open(path, O_WRONLY | O_CREAT | O_TRUNC, &fd));
    if (fd < 0 && errno == ENOENT) {
        EF_TRY_GOTO(make_folders(path));
        EF_TRY_GOTO(ef_call_open(path, O_WRONLY | O_CREAT | O_TRUNC, &fd));
    }
    if (fd < 0) s = ef_path_error(errno, path);
    if (s == NULL) s = write_all(fd, path, bytes, n_bytes);
    if (fd >= 0 && close(fd) < 0 && s == NULL) s = ef_path_error(errno, path);
done:
    ef_free(path);
    return s;
}

/* ---- matching -------------------------------------------------------------------------------- */

ef_status *ef_paths_add(ef_paths *p, const char *path, size_t n) {
    EF_TRY(EF_GROW(&p->item, &p->cap, p->n + 1));
    char *copy = ef_malloc(n + 1);
    if (copy == NULL) return ef_no_memory(n + 1);
    if (n > 0) memcpy(copy, path, n);
    copy[n] = 0;
    p->item[p->n++] = copy;
    return NULL;
}

static ef_status *add_path(ef_paths *p, const ef_text *path) {
    return path->failed ? ef_no_memory(path->n) : ef_paths_add(p, path->at, path->n);
}

static void cut(ef_text *t, size_t n) {
    t->n = n;
    if (t->at != NULL) t->at[n] = 0;
}

static bool exists(const ef_text *path) {
    struct stat st;
    return !path->failed && lstat(path->n > 0 ? path->at : ".", &st) == 0;
}

static ef_status *match_from(ef_text *path, char *rest, ef_paths *out, unsigned *pulse);

/* One part of the pattern, with wildcards, against the entries of the folder `path`. */
static ef_status *match_entries(ef_text *path, const char *part, char *rest, ef_paths *out,
                                unsigned *pulse) {
    DIR *dir = path->failed ? NULL : opendir(path->n > 0 ? path->at : ".");
    if (dir == NULL) return NULL;
    ef_status *s = NULL;
    const size_t before = path->n;
    for (struct dirent *e = readdir(dir); e != NULL && s == NULL; e = readdir(dir)) {
        if ((s = ef_interrupt_check(ef_context_here(), pulse)) != NULL) break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (fnmatch(part, e->d_name, FNM_PATHNAME) != 0) continue;
        ef_text_bytes(path, e->d_name, strlen(e->d_name));
        s = match_from(path, rest, out, pulse);
        cut(path, before);
    }
    closedir(dir);
    return s;
}

/* path: what is matched so far, to which the rest of the pattern is applied. It ends in '/' unless
 * it is empty or `rest` begins with one. */
static ef_status *match_from(ef_text *path, char *rest, ef_paths *out, unsigned *pulse) {
    const size_t before = path->n;
    while (*rest == '/') {
        ef_text_bytes(path, "/", 1);
        rest++;
    }
    ef_status *s = NULL;
    if (*rest == 0) {
        if (exists(path)) s = add_path(out, path);
    } else {
        char *end = strchr(rest, '/');
        char held = end != NULL ? *end : 0;
        if (end != NULL) *end = 0;
        char *after = end != NULL ? end : rest + strlen(rest);
        char *part = ef_strdup(rest);
        if (end != NULL) *end = held;
        if (part == NULL)
            s = ef_no_memory(strlen(rest));
        else if (strpbrk(part, "*?[\\") != NULL)
            s = match_entries(path, part, after, out, pulse);
        else {
            ef_text_bytes(path, part, strlen(part));
            if (exists(path)) s = match_from(path, after, out, pulse);
        }
        ef_free(part);
    }
    cut(path, before);
    return s;
}

ef_status *ef_file_match(const char *pattern, size_t n, ef_paths *out) {
    char *local = NULL;
    EF_TRY(ef_path_make(pattern, n, &local));
    for (size_t k = strlen(local); k > 1 && local[k - 1] == '/'; k--) local[k - 1] = 0;
    ef_text path = {0};
    unsigned pulse = ef_interrupt_counter();
    ef_status *s = local[0] != 0 ? match_from(&path, local, out, &pulse) : NULL;
    if (s == NULL && path.failed) s = ef_no_memory(path.n);
    ef_text_free(&path);
    ef_free(local);
    return s;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void ef_paths_sort(ef_paths *p) {
    if (p->n > 1) qsort(p->item, p->n, sizeof *p->item, by_name);
}

void ef_paths_free(ef_paths *p) {
    for (size_t k = 0; k < p->n; k++) ef_free(p->item[k]);
    ef_free(p->item);
    *p = (ef_paths){0};
}

ef_status *ef_files_match(const char *pattern, size_t n, void (*each)(void *user, const char *path),
                          void *user) {
    ef_paths found = {0};
    ef_status *s = ef_file_match(pattern, n, &found);
    ef_paths_sort(&found);
    for (size_t k = 0; s == NULL && k < found.n; k++) each(user, found.item[k]);
    ef_paths_free(&found);
    return s;
}
