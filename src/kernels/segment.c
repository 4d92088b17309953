/* Sorted segments are runs of rows: each is a reduction of columns. Segments are divided among
 * threads, each finding its first row by binary search. Unsorted rows are added to their segments;
 * columns are divided among threads, so no two write the same element. */
#include "kernels/segment.h"
#include "base/pool.h"
#include <math.h>

static int64_t first_row(const ef_segments *s, int64_t id) {
    int64_t lo = 0, hi = s->rows;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (ef_id_at(s->id_type, s->ids, mid) < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void take_rows(const ef_segments *s, const ef_reducer *how, void *acc, int64_t from,
                      int64_t to, int64_t lo, int64_t n) {
    const size_t size = ef_dtype_size(s->dtype);
    const char *data = s->data;
    if (s->indices == NULL) {
        how->cols(acc, data + (size_t)(from * s->width + lo) * size, to - from, s->width, n);
        return;
    }
    for (int64_t r = from; r < to; r++) {
        int64_t row = ef_id_at(s->index_type, s->indices, r);
        how->cols(acc, data + (size_t)(row * s->width + lo) * size, 1, n, n);
    }
}

static void run_segments(void *arg, int64_t from, int64_t to) {
    const ef_segments *s = arg;
    const ef_reducer *how = ef_reducer_find(s->kind, s->dtype);
    const size_t size = ef_dtype_size(s->dtype);
    char acc[EF_REDUCE_WIDTH * EF_REDUCE_ACC];
    int64_t row = first_row(s, from);
    for (int64_t id = from; id < to; id++) {
        int64_t begin = row;
        while (row < s->rows && ef_id_at(s->id_type, s->ids, row) == id) row++;
        char *out = (char *)s->out + (size_t)(id * s->width) * size;
        if (row == begin) {
            for (int64_t j = 0; j < s->width; j++) ef_element_set(s->dtype, out, j, s->gap);
            continue;
        }
        for (int64_t lo = 0; lo < s->width; lo += EF_REDUCE_WIDTH) {
            int64_t n = s->width - lo < EF_REDUCE_WIDTH ? s->width - lo : EF_REDUCE_WIDTH;
            how->begin(acc, n);
            take_rows(s, how, acc, begin, row, lo, n);
            if (s->norm == EF_SEGMENT_SQRT_N) /* sums of floats are accumulated as doubles */
                for (int64_t j = 0; j < n; j++) ((double *)acc)[j] /= sqrt((double)(row - begin));
            how->end(out + (size_t)lo * size, acc, n, row - begin);
        }
    }
}

void ef_segments_run(const ef_segments *s) {
    if (s->width == 0 || s->segments == 0) return;
    double rows = (double)s->rows / (double)s->segments + 1;
    ef_parallel(s->segments, 1, 0.5 * rows * (double)s->width + 5, run_segments,
                (void *)(uintptr_t)s);
}

static void scatter_columns(void *arg, int64_t from, int64_t to) {
    const ef_scatter_rows *s = arg;
    const size_t size = ef_dtype_size(s->dtype);
    ef_combine_fn *combine = ef_combine_pick(s->op, s->dtype);
    const char *data = s->data;
    for (int64_t r = 0; r < s->rows; r++) {
        int64_t id = ef_id_at(s->id_type, s->ids, r);
        if (id < 0) continue;
        combine((char *)s->out + (size_t)(id * s->width + from) * size,
                data + (size_t)(r * s->width + from) * size, to - from, 1);
    }
}

void ef_scatter_rows_run(const ef_scatter_rows *s) {
    ef_parallel(s->width, 64, 0.5 * (double)s->rows, scatter_columns, (void *)(uintptr_t)s);
}
