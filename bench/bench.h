/* Figures with limits ("bars"). Every figure is a ratio of two things that this run measures in
 * turn, many times; medians are compared, because machines are noisy. */
#ifndef EF_BENCH_H
#define EF_BENCH_H
#include <evenflow.h>
#include <stdint.h>

typedef void ef_work(void *arg);
typedef struct ef_side { /* one side of a comparison: `times` calls of work(arg) are one sample */
    ef_work *work;
    void *arg;
    int times;
    bool alone; /* runs on one thread: measured in that thread's processor time */
    bool omp;   /* runs on an OpenMP team, which gets as many threads as the engine has */
} ef_side;

double bench_now(void);                /* ns */
double bench_median(double *v, int n); /* sorts v */
/* The ratio of the times of a and b: the median over pairs of consecutive samples, so that a
 * machine that is slower for a while slows both. Sets the median ns per call. */
double bench_compare(const ef_side *a, const ef_side *b, int samples, double *ns_a, double *ns_b);
double bench_unit(void); /* median ns of a hot malloc(256) + free, measured now */
/* One row of the table. what: measured and reference as text. Holds if figure <= bar. */
void bench_row(const char *name, double figure, double bar, const char *unit, const char *what);
int bench_end(void); /* prints "N held, M missed"; the exit status */

void bench_check(ef_status *s); /* ends the program if s is a failure */
void bench_fill(ef_tensor *t, ef_dtype dtype, int rank, const int64_t *dim, uint32_t seed);
void bench_op(const char *op, int n, const ef_tensor *a, const ef_tensor *b, ef_tensor *out);
const float *bench_data(const ef_tensor *t);

void bench_calls(void);
void bench_loops(void);
void bench_chain(void);
void bench_matmul(void);
void bench_conv(void);
void bench_adam(void);
void bench_shapes(void);
void bench_share(void);
#endif
