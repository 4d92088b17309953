/* Folders of stored elements. `PATH/snapshot.metadata` names a complete run, how many elements it
 * has and in which shards; the records of shard 3 of that run are in
 * `PATH/RUN/00000003/00000000.snapshot`. */
#ifndef EF_FILE_SNAPSHOT_H
#define EF_FILE_SNAPSHOT_H
#include "base/text.h"

typedef struct ef_snapshot {
    char run[17];
    int64_t elements;
    int64_t *shard; /* n_shards numbers, ascending */
    int64_t n_shards;
} ef_snapshot; /* zero-initialised: empty */

/* Reads the metadata of the folder; *found false: it holds no complete run. */
ef_status *ef_snapshot_read(const char *path, size_t n, ef_snapshot *out, bool *found);
/* Makes the folder hold this run; another process sees the old one or the new one. */
ef_status *ef_snapshot_write(const char *path, size_t n, const ef_snapshot *s);
void ef_snapshot_free(ef_snapshot *s);
/* Appends the name of the folder of a shard. */
void ef_snapshot_shard(const char *path, size_t n, const char *run, int64_t shard, ef_text *out);
/* A new name for a run, unlike those of other processes. */
ef_status *ef_snapshot_new_run(char run[17]);
/* Renames a file, replacing the one that has the name. */
ef_status *ef_file_rename(const char *from, const char *to);
#endif
