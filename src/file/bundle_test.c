/* Checkpoints as files: what is written can be read again. With every byte of a file cut off or
 * changed in turn, reading ends in a status and takes no more memory than the file has bytes. */
#include "base/alloc.h"
#include "check.h"
#include "file/bundle.h"
#include "file/sorted.h"
#include "file/whole_file.h"
#include "remove_folder.h"
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/ef-bundle-XXXXXX", prefix[64], path[96];

static const char *file(const char *end) {
    snprintf(path, sizeof path, "%s%s", prefix, end);
    return path;
}

static size_t text_at(const void *user, uint64_t k, const char **at) {
    *at = ((const char *const *)user)[k];
    return strlen(*at);
}

static ef_status *write_some(int many) {
    static const char *const words[] = {"one", "", "three"};
    ef_bundle_writer *w = NULL;
    ef_bundle_entry four = {.dtype = EF_I32, .rank = 1, .dim = {4}};
    ef_bundle_entry text = {.dtype = EF_STRING, .rank = 1, .dim = {3}}, empty = {.dtype = EF_F32};
    EF_TRY(ef_bundle_writer_open(prefix, strlen(prefix), &w));
    ef_status *s = ef_bundle_begin(w, "words", 5, &text);
    if (s == NULL) s = ef_bundle_write_strings(w, 3, text_at, words);
    for (int k = 0; s == NULL && k < many; k++) {
        char name[32];
        int32_t v[4] = {k, k + 1, k + 2, k + 3};
        snprintf(name, sizeof name, "name/%05d", many - k);
        s = ef_bundle_begin(w, name, strlen(name), &four);
        if (s == NULL) s = ef_bundle_write(w, v, sizeof v);
    }
    if (s == NULL) s = ef_bundle_begin(w, "a", 1, &empty);
    return ef_bundle_writer_close(w, s);
}

/* Reads all entries with their bytes; how many there are. */
static ef_status *read_some(int *n) {
    ef_bundle *b = NULL;
    ef_bundle_entry e;
    const char *name;
    size_t length;
    bool more = true;
    *n = 0;
    EF_TRY(ef_bundle_open(prefix, strlen(prefix), &b));
    ef_status *s = NULL;
    while (s == NULL && (s = ef_bundle_next(b, &name, &length, &e, &more)) == NULL && more) {
        s = ef_bundle_check(b, &e);
        char *bytes = s == NULL ? ef_malloc((size_t)e.size + 1) : NULL;
        if (s == NULL && bytes == NULL) s = ef_no_memory((size_t)e.size);
        if (s == NULL) s = ef_bundle_read(b, &e, bytes, e.dtype != EF_STRING);
        if (s == NULL && e.dtype == EF_STRING) {
            ef_bundle_text t;
            s = ef_bundle_strings(b, &e, bytes, 3, &t);
            for (int k = 0; s == NULL && k < 3; k++) {
                const char *at;
                size_t got = ef_bundle_string(&t, &at);
                if (got != (size_t)(k == 0 ? 3 : k == 1 ? 0 : 5))
                    s = ef_error(EF_INTERNAL, "string %d has %zu bytes", k, got);
            }
        }
        ef_free(bytes);
        *n += 1;
    }
    ef_bundle_close(b);
    return s;
}

static void begin(void) { snprintf(prefix, sizeof prefix, "%s/some/c", folder); }

EF_TEST(what_is_written_is_read) {
    begin();
    const int many[] = {0, 1, 17, 12000}; /* the last needs several blocks */
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        int n = 0;
        CHECK_OK(write_some(many[k]));
        CHECK_OK(read_some(&n));
        CHECK(n == many[k] + 2);
    }
}

EF_TEST(a_name_comes_once) {
    begin();
    ef_bundle_writer *w = NULL;
    ef_bundle_entry e = {.dtype = EF_F32};
    CHECK_OK(ef_bundle_writer_open(prefix, strlen(prefix), &w));
    CHECK_OK(ef_bundle_begin(w, "x", 1, &e));
    CHECK_OK(ef_bundle_begin(w, "y", 1, &e));
    CHECK_OK(ef_bundle_begin(w, "x", 1, &e));
    ef_status *s = ef_bundle_writer_close(w, NULL);
    CHECK(s != NULL && ef_status_code(s) == EF_INVALID);
    ef_status_free(s);
}

/* The file with one byte changed, or cut there. */
static void damage(const char *end, bool cut) {
    ef_text whole = {0};
    CHECK_OK(ef_file_read(file(end), strlen(file(end)), &whole));
    for (size_t k = 0; k < whole.n; k++) {
        int n = 0;
        char kept = whole.at[k];
        whole.at[k] = (char)(kept ^ (1 << (k % 8)));
        CHECK_OK(ef_file_write(file(end), strlen(path), whole.at, cut ? k : whole.n));
        whole.at[k] = kept;
        ef_status *s = read_some(&n);
        const ef_code code = s != NULL ? ef_status_code(s) : EF_OK;
        /* The padding of the footer may change. */
        const bool spare = !cut && strcmp(end, ".index") == 0 && k + 48 >= whole.n;
        CHECK(code == EF_DATA_LOSS || code == EF_OUT_OF_RANGE || code == EF_UNIMPLEMENTED ||
              (code == EF_OK && spare));
        ef_status_free(s);
    }
    CHECK_OK(ef_file_write(file(end), strlen(path), whole.at, whole.n));
    ef_text_free(&whole);
}

EF_TEST(every_damaged_byte_is_found) {
    begin();
    CHECK_OK(write_some(5));
    for (int cut = 0; cut < 2; cut++) {
        damage(".index", cut);
        damage(".data-00000-of-00001", cut);
    }
}

/* An index whose checksums are right but whose entry has a wrong size, place or shard. */
EF_TEST(lies_with_right_checksums) {
    begin();
    const unsigned char lies[][16] = {
        {8, 1, 0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, /* size */
        {8, 1, 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, /* offset */
        {8, 1, 0x18, 9},                                              /* shard */
        {8, 1, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* a number that is cut */
    };
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
        int n = 0;
        ef_sorted_maker t = {0};
        CHECK_OK(write_some(0));
        ef_sorted_put(&t, "", 0, "\x08\x01\x1a\x02\x08\x01", 6);
        ef_sorted_put(&t, "x", 1, lies[k], k == 2 ? 4 : 11);
        ef_sorted_end(&t);
        CHECK_OK(ef_file_write(file(".index"), strlen(file(".index")), t.file.at, t.file.n));
        ef_status *s = read_some(&n);
        CHECK(s != NULL &&
              (ef_status_code(s) == EF_DATA_LOSS || ef_status_code(s) == EF_OUT_OF_RANGE));
        ef_status_free(s);
        ef_sorted_maker_free(&t);
    }
}

EF_TEST(out_of_memory) {
    begin();
    for (uint64_t k = 1;; k++) {
        int n = 0;
        ef_alloc_fail_at(k);
        ef_status *s = write_some(3);
        if (s == NULL) s = read_some(&n);
        const bool failed = ef_alloc_failed();
        ef_alloc_fail_at(0);
        CHECK((s != NULL) == failed);
        ef_status_free(s);
        if (!failed) break;
    }
}

EF_TEST(several_become_one) {
    begin();
    char whole[64], first[64];
    CHECK_OK(write_some(3));
    snprintf(first, sizeof first, "%s", prefix);
    snprintf(prefix, sizeof prefix, "%s/some/d", folder);
    ef_bundle_writer *w = NULL;
    ef_bundle_entry e = {.dtype = EF_U8, .rank = 1, .dim = {2}};
    CHECK_OK(ef_bundle_writer_open(prefix, strlen(prefix), &w));
    CHECK_OK(ef_bundle_begin(w, "zz", 2, &e));
    CHECK_OK(ef_bundle_write(w, "ab", 2));
    CHECK_OK(ef_bundle_writer_close(w, NULL));
    snprintf(whole, sizeof whole, "%s/whole", folder);
    ef_bundle_name from[] = {{first, strlen(first)}, {prefix, strlen(prefix)}};
    CHECK_OK(ef_bundle_merge(from, 2, whole, strlen(whole), false));
    snprintf(prefix, sizeof prefix, "%s", whole);
    int n = 0;
    CHECK_OK(read_some(&n));
    CHECK(n == 6);
    ef_status *s = ef_bundle_merge(from, 2, whole, strlen(whole), false); /* they are gone */
    CHECK(s != NULL && ef_status_code(s) == EF_INVALID);
    ef_status_free(s);
}

int main(void) {
    if (mkdtemp(folder) == NULL) return 1;
    EF_RUN(what_is_written_is_read);
    EF_RUN(a_name_comes_once);
    EF_RUN(every_damaged_byte_is_found);
    EF_RUN(lies_with_right_checksums);
    EF_RUN(out_of_memory);
    EF_RUN(several_become_one);
    const bool removed = remove_folder(folder);
    return EF_VERDICT() != 0 || !removed;
}
