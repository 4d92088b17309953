/* Shape functions many ops share, and helpers to write the others. */
#ifndef EF_OPS_SHAPES_H
#define EF_OPS_SHAPES_H
#include "ops/op.h"

ef_shape_fn ef_shape_broadcast; /* out 0: all inputs broadcast together */
ef_shape_fn ef_shape_same;      /* every output like input 0 */
ef_shape_fn ef_shape_scalar;    /* every output a scalar */
ef_shape_fn ef_shape_none;      /* outputs of unknown shape, or no outputs */
ef_shape_fn ef_shape_merge_all; /* all inputs must agree; out 0 is what they agree on */
/* Inputs data, segment_ids and num_segments: a row for each segment. */
ef_shape_fn ef_shape_unsorted_segments;

/* Checks on input k; unknown rank passes (and is left unknown). */
ef_status *ef_need_rank(const ef_infer *i, int k, int rank);
ef_status *ef_need_rank_at_least(const ef_infer *i, int k, int rank);
ef_status *ef_need_rank_at_most(const ef_infer *i, int k, int rank);
ef_status *ef_need_single(const ef_infer *i, int k); /* a scalar, or a vector of one element */
/* Checks that apply only while a graph is built. See scalar_in, vector_in, graph_check. */
ef_status *ef_need_graph_fit(const ef_op *op, const void *attrs, const ef_fact *in, int n_in);
/* Fails if dims x and y cannot be equal; `what` names them in the message. *out is the more precise
 * one. */
ef_status *ef_need_same_dim(const ef_infer *i, int64_t x, int64_t y, const char *what,
                            int64_t *out);
/* Reads a constant int32 or int64 input as numbers; *known is false if its value is not known. n:
 * at most EF_MAX_RANK unless max is larger. Scalars give n = 1. */
ef_status *ef_known_ints(const ef_infer *i, int k, int64_t *v, int max, int *n, bool *known);
/* Maps axis into [0, rank) or fails with the op's name; the rank must be known. */
ef_status *ef_need_axis(const ef_op *op, int64_t axis, int rank, int *out);
/* Window arithmetic of conv and pool: output size and padding before. padding: 0 SAME, 1 VALID,
 * 2 EXPLICIT (pads given). Unknown input size gives an unknown output (symbolic where it can). */
ef_status *ef_window(const ef_op *op, int64_t size, int64_t window, int64_t dilation,
                     int64_t stride, int padding, int64_t before, int64_t after, int64_t *out,
                     int64_t *pad_before, int64_t *pad_after);
#endif
