/* Removing a temporary folder of a test with all that is in it. */
#ifndef EF_TESTS_REMOVE_FOLDER_H
#define EF_TESTS_REMOVE_FOLDER_H
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>

static inline int remove_entry(const char *path, const struct stat *s, int kind,
                               struct FTW *where) {
    (void)s, (void)kind, (void)where;
    return remove(path);
}

static inline bool remove_folder(const char *path) {
    return nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0;
}
#endif
