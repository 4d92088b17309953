/* SaveV2, RestoreV2, MergeV2Checkpoints, ShardedFilename: tensors in checkpoints, by name. */
#include "base/alloc.h"
#include "file/bundle.h"
#include "file/path.h"
#include "ops/string/strings.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

/* The indices of n names in the sorted order of the names; the caller frees the array. NULL: no
 * memory. */
typedef struct place {
    const ef_str *name;
    int at;
} place;

static int by_name(const void *a, const void *b) {
    const place *x = a, *y = b;
    const size_t n = x->name->n < y->name->n ? x->name->n : y->name->n;
    const int order = n > 0 ? memcmp(x->name->at, y->name->at, n) : 0;
    if (order != 0) return order;
    if (x->name->n != y->name->n) return x->name->n < y->name->n ? -1 : 1;
    return x->at - y->at;
}

static place *sorted(const ef_str *names, int n) {
    place *p = ef_malloc((size_t)(n + 1) * sizeof *p);
    if (p == NULL) return NULL;
    for (int k = 0; k < n; k++) p[k] = (place){&names[k], k};
    qsort(p, (size_t)n, sizeof *p, by_name);
    return p;
}

/* The checks of the first three inputs that both ops share; `n` is the number of tensors. */
static ef_status *check_names(const ef_call *c, int n, const char *rule) {
    const int64_t names = ef_count(c->in[1]), slices = ef_count(c->in[2]);
    if (ef_count(c->in[0]) != 1)
        return ef_error(EF_INVALID,
                        "%s: Input prefix should have a single element, got %lld "
                        "instead.",
                        c->op->name, (long long)ef_count(c->in[0]));
    if (names != n) return ef_error(EF_INVALID, rule, c->op->name, (long long)names, n);
    if (slices != names)
        return ef_error(EF_INVALID,
                        "%s: there are %lld tensor names but %lld shapes and slices; "
                        "each name needs one, \"\" for the whole tensor",
                        c->op->name, (long long)names, (long long)slices);
    for (int64_t k = 0; k < slices; k++)
        if (ef_strs(c->in[2])[k].n != 0)
            return ef_error(EF_UNIMPLEMENTED,
                            "%s: the slice %s of %s: only whole tensors are "
                            "supported, with \"\" as their slice",
                            c->op->name, EF_STR(&ef_strs(c->in[2])[k]),
                            EF_STR(&ef_strs(c->in[1])[k]));
    return NULL;
}

static ef_status *names_shape(ef_infer *i) {
    EF_TRY(ef_need_single(i, 0));
    EF_TRY(ef_need_rank(i, 1, 1));
    return ef_need_rank(i, 2, 1);
}

/* ---- SaveV2 ---------------------------------------------------------------------------------- */

static size_t get_string(const void *user, uint64_t k, const char **at) {
    const ef_str *s = (const ef_str *)user + k;
    *at = s->n > 0 ? s->at : "";
    return s->n;
}

static ef_status *save_one(ef_bundle_writer *w, const ef_str *name, const ef_tensor *x) {
    if (ef_dtype_in((ef_dtype)x->dtype, EF_MANAGED) && x->dtype != EF_STRING)
        return ef_error(EF_UNIMPLEMENTED, "SaveV2: %s is a %s, which cannot be saved", EF_STR(name),
                        ef_dtype_name((ef_dtype)x->dtype));
    ef_bundle_entry e = {.dtype = x->dtype, .rank = x->rank};
    memcpy(e.dim, x->dim, sizeof e.dim);
    EF_TRY(ef_bundle_begin(w, name->at, name->n, &e));
    const uint64_t n = (uint64_t)ef_count(x);
    if (x->dtype == EF_STRING) return ef_bundle_write_strings(w, n, get_string, x->data);
    return ef_bundle_write(w, x->data, (size_t)n * ef_dtype_size((ef_dtype)x->dtype));
}

static ef_status *save_run(const ef_call *c) {
    const int n = c->n_in - 3;
    EF_TRY(check_names(c, n, "%s: Got %lld tensor names but %d tensors."));
    const ef_str *prefix = ef_strs(c->in[0]);
    ef_bundle_writer *w = NULL;
    EF_TRY(ef_bundle_writer_open(prefix->at, prefix->n, &w));
    ef_status *s = NULL;
    for (int k = 0; s == NULL && k < n; k++) s = save_one(w, ef_strs(c->in[1]) + k, c->in[3 + k]);
    return ef_bundle_writer_close(w, s);
}

const ef_op ef_op_SaveV2 = {
    EF_NAMED(SaveV2),
    .doc = "Writes tensors to a checkpoint, each under its name.",
    .in = {"prefix: string", "tensor_names: string", "shape_and_slices: string", "tensors: dtypes"},
    .types = "dtypes: list(type) >= 1",
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = names_shape,
    .kernel = EF_ANY_KERNEL(save_run),
};

/* ---- RestoreV2 ------------------------------------------------------------------------------- */

static ef_status *restore_strings(ef_bundle *b, const ef_bundle_entry *e, ef_str *out, int64_t n) {
    EF_TRY(ef_bundle_check(b, e));
    char *bytes = ef_malloc((size_t)e->size + 1);
    if (bytes == NULL) return ef_no_memory((size_t)e->size);
    ef_bundle_text t;
    ef_status *s = ef_bundle_read(b, e, bytes, false);
    if (s == NULL) s = ef_bundle_strings(b, e, bytes, (uint64_t)n, &t);
    for (int64_t k = 0; s == NULL && k < n; k++) {
        const char *at;
        const size_t length = ef_bundle_string(&t, &at);
        s = ef_str_set(&out[k], at, length);
    }
    ef_free(bytes);
    return s;
}

/* The entry's shape, after checking that the checkpoint has all its bytes. */
static ef_status *entry_shape(ef_bundle *b, const ef_str *name, const ef_bundle_entry *e,
                              ef_shape *shape) {
    if (e->sliced || e->large)
        return ef_error(EF_UNIMPLEMENTED,
                        "RestoreV2: %s is stored in slices or has more than %d "
                        "axes, which is not supported",
                        EF_STR(name), EF_MAX_RANK);
    EF_TRY(ef_bundle_check(b, e));
    *shape = (ef_shape){.rank = e->rank};
    memcpy(shape->dim, e->dim, sizeof shape->dim);
    const int64_t n = ef_shape_count(shape);
    const size_t size = e->dtype == EF_STRING ? 1 : ef_dtype_size((ef_dtype)e->dtype);
    const bool fits = n >= 0 && (uint64_t)n <= e->size / size &&
                      (e->dtype == EF_STRING || (uint64_t)n * size == e->size);
    if (!fits)
        return ef_error(EF_DATA_LOSS,
                        "RestoreV2: %s has the shape %s but %llu bytes in the "
                        "checkpoint, whose index is damaged",
                        EF_STR(name), EF_SHAPE(shape), (unsigned long long)e->size);
    return NULL;
}

static ef_status *restore_one(const ef_call *c, ef_bundle *b, const place *p,
                              const ef_bundle_entry *e) {
    const ef_dtype want = (ef_dtype)c->out[p->at]->dtype;
    ef_shape shape;
    if (e->dtype != (int)want)
        return ef_error(
            EF_INVALID,
            "RestoreV2: tensor_name = %.*s; expected dtype %s does not "
            "equal original dtype %s",
            (int)(p->name->n < 500 ? p->name->n : 500), p->name->at, ef_dtype_name(want),
            e->dtype > 0 && e->dtype < EF_DTYPES ? ef_dtype_name((ef_dtype)e->dtype) : "unknown");
    if (ef_dtype_in(want, EF_MANAGED) && want != EF_STRING)
        return ef_error(EF_UNIMPLEMENTED, "RestoreV2: %s is a %s, which cannot be restored",
                        EF_STR(p->name), ef_dtype_name(want));
    EF_TRY(entry_shape(b, p->name, e, &shape));
    EF_TRY(ef_out_alloc(c, p->at, &shape));
    ef_tensor *out = c->out[p->at];
    if (want == EF_STRING) return restore_strings(b, e, out->data, ef_count(out));
    EF_TRY(ef_bundle_read(b, e, out->data, true));
    unsigned char *bytes = out->data;
    if (want == EF_BOOL)
        for (int64_t k = 0, n = ef_count(out); k < n; k++) bytes[k] = bytes[k] != 0;
    return NULL;
}

/* Reads the index once, in step with the sorted names. */
static ef_status *restore_all(const ef_call *c, ef_bundle *b, const place *p, int n) {
    ef_str key = {0};
    ef_bundle_entry e = {0};
    bool more = true;
    for (int k = 0; k < n;) {
        const char *at = NULL;
        EF_TRY(ef_bundle_next(b, &at, &key.n, &e, &more));
        key.at = (char *)(uintptr_t)at;
        const place here = {&key, -1};
        if (!more || by_name(&p[k], &here) < 0) {
            const bool absent = !more || !ef_str_same(p[k].name, &key);
            if (absent)
                return ef_error(EF_NOT_FOUND, "RestoreV2: Key %.*s not found in checkpoint",
                                (int)(p[k].name->n < 500 ? p[k].name->n : 500), p[k].name->at);
        }
        for (; k < n && ef_str_same(p[k].name, &key); k++) EF_TRY(restore_one(c, b, &p[k], &e));
    }
    return NULL;
}

static ef_status *restore_run(const ef_call *c) {
    EF_TRY(check_names(c, c->n_out, "%s: Got %lld tensor names, but %d expected dtypes."));
    const ef_str *prefix = ef_strs(c->in[0]);
    ef_bundle *b = NULL;
    place *p = sorted(ef_strs(c->in[1]), c->n_out);
    if (p == NULL) return ef_no_memory((size_t)c->n_out * sizeof *p);
    ef_status *s = ef_bundle_open(prefix->at, prefix->n, &b);
    if (s == NULL) s = restore_all(c, b, p, c->n_out);
    ef_bundle_close(b);
    ef_free(p);
    return s;
}

typedef struct restore_attrs {
    ef_types dtypes;
} restore_attrs;

const ef_op ef_op_RestoreV2 = {
    EF_NAMED(RestoreV2),
    .doc = "Reads tensors from a checkpoint by their names.",
    .in = {"prefix: string", "tensor_names: string", "shape_and_slices: string"},
    .out = {"tensors: dtypes"},
    .attr = {EF_ATTR(restore_attrs, dtypes, "list(type) >= 1", NULL)},
    .attr_size = sizeof(restore_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD | EF_DYNAMIC,
    .shape = names_shape,
    .kernel = EF_ANY_KERNEL(restore_run),
};

/* ---- MergeV2Checkpoints ---------------------------------------------------------------------- */

typedef struct merge_attrs {
    bool delete_old_dirs, allow_missing_files;
} merge_attrs;

/* Removes the folder that contains a prefix if it is empty, as the folder of temporary files is. */
static void remove_folder(const char *prefix, const char *kept) {
    const char *slash = strrchr(prefix, '/'), *other = strrchr(kept, '/');
    if (slash == NULL || slash == prefix) return;
    const size_t n = (size_t)(slash - prefix);
    if (other != NULL && (size_t)(other - kept) == n && memcmp(prefix, kept, n) == 0) return;
    char *folder = ef_strdup(prefix);
    if (folder == NULL) return;
    folder[n] = 0;
    rmdir(folder);
    ef_free(folder);
}

static ef_status *merge_run(const ef_call *c) {
    const merge_attrs *a = c->attrs;
    const ef_str *from = ef_strs(c->in[0]), *to = ef_strs(c->in[1]);
    const size_t n = (size_t)ef_count(c->in[0]);
    ef_bundle_name *name = ef_calloc(n + 1, sizeof *name);
    char **path = ef_calloc(n + 1, sizeof *path);
    ef_status *s = name == NULL || path == NULL ? ef_no_memory(n * sizeof *name) : NULL;
    for (size_t k = 0; s == NULL && k < n; k++) {
        s = ef_path_make(from[k].at, from[k].n, &path[k]);
        if (s == NULL) name[k] = (ef_bundle_name){path[k], strlen(path[k])};
    }
    if (s == NULL) s = ef_path_make(to->at, to->n, &path[n]);
    if (s == NULL) s = ef_bundle_merge(name, n, path[n], strlen(path[n]), a->allow_missing_files);
    for (size_t k = 0; s == NULL && a->delete_old_dirs && k < n; k++)
        remove_folder(path[k], path[n]);
    for (size_t k = 0; path != NULL && k <= n; k++) ef_free(path[k]);
    ef_free(path);
    ef_free(name);
    return s;
}

static ef_status *merge_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    return ef_need_rank(i, 1, 0);
}

const ef_op ef_op_MergeV2Checkpoints = {
    EF_NAMED(MergeV2Checkpoints),
    .doc = "Merges several checkpoints into one: renames their data files and writes one index.",
    .in = {"checkpoint_prefixes: string", "destination_prefix: string"},
    .attr = {EF_ATTR(merge_attrs, delete_old_dirs, "bool", "true"),
             EF_ATTR(merge_attrs, allow_missing_files, "bool", "false")},
    .attr_size = sizeof(merge_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = merge_shape,
    .kernel = EF_ANY_KERNEL(merge_run),
};

/* ---- ShardedFilename, ShardedFilespec -------------------------------------------------------- */

static ef_status *set_text(const ef_call *c, ef_text *t) {
    ef_status *s = t->failed ? ef_no_memory(t->n) : ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_take(c->out[0]->data, t);
    ef_text_free(t);
    return s;
}

static ef_status *sharded_run(const ef_call *c) {
    const ef_str *name = ef_strs(c->in[0]);
    ef_text t = {0};
    ef_text_bytes(&t, name->at, name->n);
    ef_text_add(&t, "-%05d-of-%05d", *(const int32_t *)c->in[1]->data,
                *(const int32_t *)c->in[2]->data);
    return set_text(c, &t);
}

static ef_status *scalars_shape(ef_infer *i) {
    for (int k = 0; k < i->n_in; k++) EF_TRY(ef_need_rank(i, k, 0));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

const ef_op ef_op_ShardedFilename = {
    EF_NAMED(ShardedFilename),
    .doc = "The name of one of several files: `basename-00003-of-00012`.",
    .in = {"basename: string", "shard: int32", "num_shards: int32"},
    .out = {"filename: string"},
    .traits = EF_NO_GRAD,
    .shape = scalars_shape,
    .kernel = EF_ANY_KERNEL(sharded_run),
    .examples = {"string[]{ab} int32[]{3} int32[]{12}"},
};

static ef_status *filespec_run(const ef_call *c) {
    const ef_str *name = ef_strs(c->in[0]);
    ef_text t = {0};
    ef_text_bytes(&t, name->at, name->n);
    ef_text_add(&t, "-\?\?\?\?\?-of-%05d", *(const int32_t *)c->in[1]->data);
    return set_text(c, &t);
}

const ef_op ef_op_ShardedFilespec = {
    EF_NAMED(ShardedFilespec),
    .doc = "A pattern for the names of several files: `basename-\?\?\?\?\?-of-00012`.",
    .in = {"basename: string", "num_shards: int32"},
    .out = {"filename: string"},
    .traits = EF_NO_GRAD,
    .shape = scalars_shape,
    .kernel = EF_ANY_KERNEL(filespec_run),
    .examples = {"string[]{ab} int32[]{12}"},
};
