/* Readers of lines and of records of a fixed length, plain and compressed: what they return, their
 * offset, and that a reader continues from the offset it was moved to. TFRecord files are also
 * tested from Python against TensorFlow's answers. */
#include "base/alloc.h"
#include "check.h"
#include "file/crc32c.h"
#include "file/reader.h"
#include "file/whole_file.h"
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char path[64];

static void write_plain(const char *bytes, size_t n) {
    CHECK_OK(ef_file_write(path, strlen(path), bytes, n));
}
static void write_gzip(const char *bytes, size_t n) {
    gzFile f = gzopen(path, "wb");
    gzwrite(f, bytes, (unsigned)n);
    gzclose(f);
}
static void write_as(ef_compression how, const char *bytes) {
    if (how == EF_GZIP)
        write_gzip(bytes, strlen(bytes));
    else
        write_plain(bytes, strlen(bytes));
}

/* All records of a reader, each in brackets; the reader is closed. */
static const char *all(ef_reader *r) {
    static char text[400];
    size_t used = 0;
    bool end = false;
    text[0] = 0;
    while (!end && used < 300) {
        const char *at;
        size_t n;
        ef_status *s = ef_reader_next(r, &at, &n, &end);
        if (s != NULL) {
            snprintf(text + used, 12, "error %d", (int)ef_status_code(s));
            ef_status_free(s);
            break;
        }
        if (!end) used += (size_t)snprintf(text + used, 60, "[%.*s]", (int)n, at);
    }
    ef_reader_close(r);
    return text;
}

static void check_lines(const char *file, const char *lines) {
    for (ef_compression how = EF_UNCOMPRESSED; how <= EF_GZIP; how++)
        for (size_t buffer = 0; buffer < 80; buffer += 64) {
            ef_reader *r = NULL;
            write_as(how, file);
            CHECK_OK(ef_lines_open(path, strlen(path), how, buffer, &r));
            CHECK_TEXT(all(r), lines);
        }
}

EF_TEST(lines) {
    check_lines("", "");
    check_lines("a", "[a]");
    check_lines("a\n", "[a]");
    check_lines("a\r\n\nb\rc\r\n", "[a][][b\rc]");
    check_lines("\n\n", "[][]");
    check_lines("0123456789012345678901234567890123456789\n01234567890123456789012345678\nx",
                "[0123456789012345678901234567890123456789][01234567890123456789012345678][x]");
}

static void check_fixed(const char *file, uint64_t header, uint64_t record, uint64_t footer,
                        const char *plain, const char *compressed) {
    for (ef_compression how = EF_UNCOMPRESSED; how <= EF_GZIP; how++) {
        ef_reader *r = NULL;
        write_as(how, file);
        ef_status *s = ef_fixed_open(path, strlen(path), how, 64, header, record, footer, &r);
        CHECK_TEXT(s != NULL ? "refused" : all(r), how == EF_GZIP ? compressed : plain);
        ef_status_free(s);
    }
}

EF_TEST(fixed) {
    check_fixed("aabbcc", 0, 2, 0, "[aa][bb][cc]", "[aa][bb][cc]");
    check_fixed("Haabbff", 1, 2, 2, "[aa][bb]", "[aa][bb]");
    check_fixed("aabbffffff", 0, 2, 6, "[aa][bb]", "[aa][bb]");
    check_fixed("aab", 0, 2, 0, "refused", "[aa]error 3");
    check_fixed("", 0, 2, 0, "", "");
    check_fixed("H", 1, 2, 3, "", "");
    check_fixed("aa", 0, 0, 0, "refused", "refused");
}

EF_TEST(offsets) {
    for (ef_compression how = EF_UNCOMPRESSED; how <= EF_GZIP; how++) {
        ef_reader *r = NULL;
        const char *at;
        size_t n;
        bool end;
        write_as(how, "one\ntwo\nthree\n");
        CHECK_OK(ef_lines_open(path, strlen(path), how, 0, &r));
        CHECK_OK(ef_reader_next(r, &at, &n, &end));
        uint64_t second = ef_reader_offset(r);
        CHECK_INT((int64_t)second, 4);
        for (int k = 0; k < 3; k++) CHECK_OK(ef_reader_next(r, &at, &n, &end));
        CHECK(end);
        CHECK_OK(ef_reader_seek(r, second));
        CHECK_TEXT(all(r), "[two][three]");
    }
}

EF_TEST(checksums) {
    CHECK_INT(ef_crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_INT(ef_crc32c(ef_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

/* A record that says it is larger than memory ends in an error, not in an allocation. */
EF_TEST(huge_length) {
    unsigned char head[16] = {0, 0, 0, 0, 0, 0, 0, 0x10};
    uint32_t crc = ef_crc32c_mask(ef_crc32c(0, head, 8));
    memcpy(head + 8, &crc, 4);
    write_plain((const char *)head, sizeof head);
    ef_reader *r = NULL;
    CHECK_OK(ef_records_open(path, strlen(path), EF_UNCOMPRESSED, 0, &r));
    CHECK_TEXT(all(r), "error 15");
}

/* 200 MB of zeros in 200 KB: reading takes the reader's buffers only, and unpacking has a limit. */
EF_TEST(bomb) {
    gzFile f = gzopen(path, "wb9");
    static const char zeros[1 << 20];
    for (int k = 0; k < 200; k++) gzwrite(f, zeros, sizeof zeros);
    gzclose(f);
    ef_reader *r = NULL;
    CHECK_OK(ef_records_open(path, strlen(path), EF_GZIP, 0, &r));
    CHECK_TEXT(all(r), "error 15"); /* the checksum of the first length is wrong */
    ef_text file = {0}, out = {0};
    CHECK_OK(ef_file_read(path, strlen(path), &file));
    CHECK_FAILS(ef_decompress(EF_GZIP, file.at, file.n, 1 << 20, &out), EF_NO_MEMORY, "1048576");
    CHECK(out.n < 3 << 20);
    ef_text_free(&file);
    ef_text_free(&out);
}

/* Builds with a sanitizer check that nothing beyond the end of the name is read. */
static void empty_names(void) {
    ef_text out = {0};
    ef_status *s[] = {ef_file_write("", 0, "abc", 3), ef_folder_make("", 0),
                      ef_file_read("", 0, &out), ef_file_write("file://", 7, "abc", 3)};
    for (int k = 0; k < 4; k++) {
        CHECK(s[k] != NULL && ef_status_code(s[k]) == EF_NOT_FOUND);
        ef_status_free(s[k]);
    }
    ef_text_free(&out);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/reader_test_%d", (int)getpid());
    EF_RUN(lines);
    EF_RUN(fixed);
    EF_RUN(offsets);
    EF_RUN(checksums);
    EF_RUN(huge_length);
    EF_RUN(bomb);
    EF_RUN(empty_names);
    unlink(path);
    return EF_VERDICT();
}
