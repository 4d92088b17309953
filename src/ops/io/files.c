/* ReadFile, WriteFile, MatchingFiles: whole files as strings. */
#include "file/whole_file.h"
#include "ops/string/strings.h"

/* ---- ReadFile -------------------------------------------------------------------------------- */

static ef_status *read_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

static ef_status *read_one(const ef_call *c, const ef_str *name, ef_text *out) {
    (void)c;
    return ef_file_read(name->at, name->n, out);
}
static ef_status *read_run(const ef_call *c) { return ef_map_strings(c, read_one); }

const ef_op ef_op_ReadFile = {
    EF_NAMED(ReadFile),
    .doc = "The bytes of the file of that name.",
    .in = {"filename: string"},
    .out = {"contents: string"},
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = read_shape,
    .kernel = EF_ANY_KERNEL(read_run),
    .examples = {"string[]{/dev/null}"},
};

/* ---- WriteFile ------------------------------------------------------------------------------- */

static ef_status *write_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    return ef_need_rank(i, 1, 0);
}

static ef_status *write_run(const ef_call *c) {
    const ef_str *name = ef_strs(c->in[0]), *bytes = ef_strs(c->in[1]);
    return ef_file_write(name->at, name->n, bytes->at, bytes->n);
}

const ef_op ef_op_WriteFile = {
    EF_NAMED(WriteFile),
    .doc = "Writes a file, replacing its content; makes missing parent folders.",
    .in = {"filename: string", "contents: string"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = write_shape,
    .kernel = EF_ANY_KERNEL(write_run),
    .examples = {"string[]{/dev/null} string[]{abc}"},
};

/* ---- MatchingFiles --------------------------------------------------------------------------- */

static ef_status *match_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_most(i, 0, 1));
    i->out[0].shape = ef_shape_of_rank(1);
    return NULL;
}

static ef_status *match_run(const ef_call *c) {
    const ef_str *pattern = ef_strs(c->in[0]);
    ef_paths found = {0};
    ef_status *s = NULL;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n && s == NULL; k++)
        s = ef_file_match(pattern[k].at, pattern[k].n, &found);
    ef_paths_sort(&found);
    if (s == NULL) s = ef_out_alloc(c, 0, &(ef_shape){.rank = 1, .dim = {(int64_t)found.n}});
    for (size_t k = 0; k < found.n && s == NULL; k++)
        s = ef_str_set((ef_str *)c->out[0]->data + k, found.item[k], strlen(found.item[k]));
    ef_paths_free(&found);
    return s;
}

const ef_op ef_op_MatchingFiles = {
    EF_NAMED(MatchingFiles),
    .doc = "The sorted names of the files that match one or several patterns.",
    .in = {"pattern: string"},
    .out = {"filenames: string"},
    .traits = EF_STATEFUL | EF_NO_GRAD | EF_DYNAMIC,
    .shape = match_shape,
    .kernel = EF_ANY_KERNEL(match_run),
    .examples = {"string[]{/dev/nul?}", "string[2]{/dev/nul*,/dev/no-such-*}", "string[0]"},
};
