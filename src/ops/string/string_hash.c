/* Hash buckets and fingerprints of strings. The numbers never change between versions. */
#include "kernels/fingerprint.h"
#include "ops/string/strings.h"

typedef struct {
    int64_t num_buckets;
    ef_ints key;
} bucket_attrs;

static uint64_t fast(const ef_call *c, const ef_str *s) {
    (void)c;
    return ef_farmhash64(s->at, s->n);
}
static uint64_t legacy(const ef_call *c, const ef_str *s) {
    (void)c;
    return ef_murmur64(0xDECAFCAFFEu, s->at, s->n);
}
static uint64_t strong(const ef_call *c, const ef_str *s) {
    const bucket_attrs *t = c->attrs;
    uint64_t key[2] = {(uint64_t)t->key.at[0], (uint64_t)t->key.at[1]};
    return ef_siphash24(key, s->at, s->n);
}
static ef_status *bucket(const ef_call *c, uint64_t (*hash)(const ef_call *, const ef_str *)) {
    const bucket_attrs *t = c->attrs;
    const ef_str *in = ef_strs(c->in[0]);
    int64_t *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n; k++)
        out[k] = (int64_t)(hash(c, &in[k]) % (uint64_t)t->num_buckets);
    return NULL;
}
static ef_status *fast_run(const ef_call *c) { return bucket(c, fast); }
static ef_status *legacy_run(const ef_call *c) { return bucket(c, legacy); }
static ef_status *strong_run(const ef_call *c) { return bucket(c, strong); }

static ef_status *strong_shape(ef_infer *i) {
    const bucket_attrs *t = i->attrs;
    if (t->key.n != 2)
        return ef_error(EF_INVALID, "%s: key has %d elements; it must have 2", i->op->name,
                        t->key.n);
    return ef_shape_same(i);
}

#define BUCKET(N, input, run, text)                                                        \
    const ef_op ef_op_##N = {                                                              \
        EF_NAMED(N),                                                                       \
        .doc = text,                                                                       \
        .in = {input ": string"},                                                          \
        .out = {"output: int64"},                                                          \
        .attr = {EF_ATTR(bucket_attrs, num_buckets, "int >= 1", NULL)},                    \
        .attr_size = sizeof(bucket_attrs),                                                 \
        .traits = EF_NO_GRAD,                                                              \
        .shape = ef_shape_same,                                                            \
        .kernel = EF_ANY_KERNEL(run),                                                      \
        .examples = {"string[3]{abc,,x} num_buckets=1000", "string[]{abc} num_buckets=1"}, \
    };
BUCKET(StringToHashBucketFast, "input", fast_run,
       "The bucket of each string: its FarmHash fingerprint modulo `num_buckets`.")
BUCKET(StringToHashBucket, "string_tensor", legacy_run,
       "The bucket of each string by MurmurHash64A modulo `num_buckets`.")

const ef_op ef_op_StringToHashBucketStrong = {
    EF_NAMED(StringToHashBucketStrong),
    .doc = "The bucket of each string: SipHash with the two words of `key`, modulo `num_buckets`.",
    .in = {"input: string"},
    .out = {"output: int64"},
    .attr = {EF_ATTR(bucket_attrs, num_buckets, "int >= 1", NULL),
             EF_ATTR(bucket_attrs, key, "list(int)", NULL)},
    .attr_size = sizeof(bucket_attrs),
    .traits = EF_NO_GRAD,
    .shape = strong_shape,
    .kernel = EF_ANY_KERNEL(strong_run),
    .examples = {"string[3]{abc,,x} num_buckets=1000 key=[1,2]",
                 "string[0] num_buckets=7 key=[0,0]"},
};

static ef_status *fingerprint_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 0));
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, 8}};
    if (i->in[0].shape.rank >= 1) i->out[0].shape.dim[0] = i->in[0].shape.dim[0];
    return NULL;
}

static void put(uint8_t *out, uint64_t h) {
    for (int k = 0; k < 8; k++) out[k] = (uint8_t)(h >> 8 * k);
}
/* A row of several strings: the fingerprint of their concatenated fingerprints. */
static ef_status *print_strings(const ef_str *s, int64_t n, uint8_t *out) {
    if (n == 1) {
        put(out, ef_farmhash64(s->at, s->n));
        return NULL;
    }
    ef_text all = {0};
    for (int64_t k = 0; k < n; k++) {
        uint8_t one[8];
        put(one, ef_farmhash64(s[k].at, s[k].n));
        ef_text_bytes(&all, (const char *)one, 8);
    }
    bool failed = all.failed;
    if (!failed) put(out, ef_farmhash64(all.at, all.n));
    ef_text_free(&all);
    return failed ? ef_no_memory((size_t)n * 8) : NULL;
}

static ef_status *fingerprint_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const ef_str *method = ef_strs(c->in[1]);
    if (method->n != 10 || memcmp(method->at, "farmhash64", 10) != 0)
        return ef_error(EF_INVALID,
                        "Fingerprint: Unsupported fingerprint method: %s; it must be 'farmhash64'",
                        EF_STR(method));
    int64_t rows = x->dim[0], row = 1;
    for (int d = 1; d < x->rank; d++) row *= x->dim[d];
    uint8_t *out = c->out[0]->data;
    size_t bytes = x->dtype == EF_STRING ? 0 : (size_t)row * ef_dtype_size((ef_dtype)x->dtype);
    for (int64_t k = 0; k < rows; k++) {
        if (x->dtype == EF_STRING)
            EF_TRY(print_strings(ef_strs(x) + k * row, row, out + k * 8));
        else
            put(out + k * 8, ef_farmhash64((const char *)x->data + (size_t)k * bytes, bytes));
    }
    return NULL;
}

const ef_op ef_op_Fingerprint = {
    EF_NAMED(Fingerprint),
    .doc = "An 8-byte hash of each row of `data`.",
    .in = {"data: T", "method: string"},
    .out = {"fingerprint: uint8"},
    .types = "T: " EF_MOVE_TYPES,
    .traits = EF_NO_GRAD,
    .shape = fingerprint_shape,
    .kernel = EF_MOVE_KERNEL_OF(fingerprint_run, EF_STORED),
    .examples = {"T[2,3] string[]{farmhash64}", "float[3] string[]{farmhash64}",
                 "string[2,2]{a,b,c,d} string[]{farmhash64}", "int32[0,2] string[]{farmhash64}"},
};
