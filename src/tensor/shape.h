/* Shapes and their dims: known, symbolic (a*s+b) or unknown. */
#ifndef EF_TENSOR_SHAPE_H
#define EF_TENSOR_SHAPE_H
#include "base/text.h"
#include "evenflow.h"

static inline ef_shape ef_scalar_shape(void) { return (ef_shape){.rank = 0}; }
static inline ef_shape ef_unknown_shape(void) { return (ef_shape){.rank = -1}; }
ef_shape ef_shape_of(int rank, const int64_t *dims);
bool ef_shape_known(const ef_shape *s);                    /* rank and every dim known */
bool ef_shape_equal(const ef_shape *a, const ef_shape *b); /* as written: same rank, same dims */
bool ef_shape_may_equal(const ef_shape *a, const ef_shape *b); /* no known dims contradict */
int64_t ef_shape_count(const ef_shape *s); /* product of dims; -1 if unknown; -2 on overflow */
/* Elements of dims [from, to). All must be known. */
int64_t ef_shape_span(const ef_shape *s, int from, int to);
/* The more precise of both; an error if they contradict. */
ef_status *ef_shape_merge(const ef_shape *a, const ef_shape *b, ef_shape *out);
/* s as another graph sees it: symbols belong to one graph, so symbolic dims become unknown. */
ef_shape ef_shape_foreign(const ef_shape *s);
/* "[2, ?, 3]", "[2s+1, 4]", "<unknown>"; EF_SHAPE(&s) inside a printf argument list. */
ef_brief ef_shape_brief(const ef_shape *s);
#define EF_SHAPE(s) ef_shape_brief(s).text

/* Symbolic dims. Packed in the int64: negative, not -1. Sizes are numbered 0..EF_MAX_SYMBOLS-1. */
enum { EF_MAX_SYMBOLS = 64 };
int64_t ef_dim_symbol(int s);                                 /* 1*s+0 */
bool ef_dim_parts(int64_t d, int *s, int64_t *a, int64_t *b); /* false: not symbolic */
/* Arithmetic on dims; whatever cannot be written as a*s+b becomes unknown. */
int64_t ef_dim_add(int64_t x, int64_t y);
int64_t ef_dim_sub(int64_t x, int64_t y);
int64_t ef_dim_mul(int64_t x, int64_t y);
int64_t ef_dim_div(int64_t x,
                   int64_t y); /* exact division only, else unknown (known/known: floor) */
int64_t ef_dim_bind(int64_t d, const int64_t *size); /* size[s] < 0: stays unknown */
/* Whether x and y may be the same size; ef_dim_same says whether they certainly are. */
bool ef_dim_may_equal(int64_t x, int64_t y);
static inline bool ef_dim_known(int64_t d) { return d >= 0; }
static inline bool ef_dim_same(int64_t x, int64_t y) { return x == y && x != EF_DIM_UNKNOWN; }
/* "3", "?", "2s+1"; the symbols are called s, s1, s2, ... Returns the length; 48 bytes are always
 * enough. */
size_t ef_dim_print(int64_t d, char *out, size_t size);
/* NumPy broadcasting of two shapes with any kind of dims; false if they cannot broadcast. */
bool ef_shape_broadcast2(const ef_shape *a, const ef_shape *b, ef_shape *out);
#endif
