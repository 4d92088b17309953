/* Datasets as values. A dataset is a variant tensor around a counted, immutable object: the op that
 * made it, the op's attributes and its inputs. So a pipeline is a tree of such objects. src/data,
 * which defines the hooks declared in iterator.h, runs it. */
#ifndef EF_OPS_DATASET_H
#define EF_OPS_DATASET_H
#include "ops/op.h"

/* The value of the record's column `dataset`: the stage of src/data that runs it. */
typedef enum ef_dataset_kind {
    EF_NO_DATASET,
#define EF_DATASET(N) EF_DATASET_##N,
#include "ops/data/kinds.def"
#undef EF_DATASET
    EF_DATASET_KINDS
} ef_dataset_kind;

/* The attributes of all dataset ops; each op uses those it declares, the others are zero. */
typedef struct ef_dataset_attrs {
    ef_types output_types, Toutput_types, Tstate, Targuments;
    ef_types Tkey_func_other_arguments, Treduce_func_other_arguments,
        Twindow_size_func_other_arguments;
    ef_types Tinit_func_args, Tnext_func_args, Tfinalize_func_args;
    ef_types Tinit_func_other_arguments, Tfinalize_func_other_arguments;
    ef_types Tshard_func_args, Treader_func_args;
    ef_shapes output_shapes;
    struct ef_graph *f, *predicate, *key_func, *reduce_func, *window_size_func;
    struct ef_graph *init_func, *next_func, *finalize_func, *dataset_factory;
    struct ef_graph *shard_func, *reader_func;
    int deterministic; /* an ef_dataset_order */
    int64_t slack_period, buffer_size_min, external_state_policy;
    int64_t version, hash, algorithm, cpu_budget, ram_budget;
    bool use_inter_op_parallelism, preserve_cardinality, force_synchronous;
    bool use_unbounded_threadpool, parallel_copy, reshuffle_each_iteration;
    bool rerandomize_each_iteration, stop_on_empty_dataset, require_non_empty;
    bool is_files, replicate_on_split, legacy_autotune, use_default_device, log_warning, sloppy;
    bool use_shard_func, hash_valid, has_captured_ref;
    ef_attr_text compression, reader_prefix, writer_prefix;
    ef_attr_text metadata, serialized_options, cardinality_options, shared_name, container;
} ef_dataset_attrs;
enum ef_dataset_order { EF_ORDER_DEFAULT, EF_ORDER_KEPT, EF_ORDER_FREE };

typedef struct ef_dataset {
    ef_object object; /* kind EF_OBJECT_DATASET */
    const ef_op *op;
    const ef_attrs *attrs; /* counted */
    const ef_dataset_attrs *set;
    uint64_t number; /* unique among all datasets */
    uint32_t place;  /* source line that made it, for the events of its stage; 0: unknown */
    int n_in;
    ef_tensor in[];
} ef_dataset;

const ef_dataset *ef_dataset_of(const ef_tensor *t); /* NULL: t is not a dataset */
/* The tensors of an argument, by its name in the record; NULL and *n 0 if the op has no such
 * argument, or none were given. n may be NULL. */
const ef_tensor *ef_dataset_arg(const ef_dataset *d, const char *name, int *n);
/* A scalar argument as a number; `otherwise` if the op has no such argument. */
int64_t ef_dataset_int(const ef_dataset *d, const char *name, int64_t otherwise);
/* The dataset of the argument input_dataset. */
const ef_dataset *ef_dataset_source(const ef_dataset *d);
/* Dtypes and shapes of the components of an element. */
int ef_dataset_width(const ef_dataset *d);
ef_dtype ef_dataset_type(const ef_dataset *d, int k);
const ef_shape *ef_dataset_shape(const ef_dataset *d, int k);

/* A dataset of n elements that are already computed; element k begins at first[k * step]. Dtypes
 * and shapes are those of `like`; component >= 0: only that component of each element. */
ef_status *ef_dataset_of_elements(const ef_dataset *like, int component, const ef_tensor *first,
                                  int64_t step, int64_t n, ef_tensor *out);

/* The same of n elements that stand one behind the other, `width` tensors each. */
ef_status *ef_dataset_of_tensors(int width, const ef_dtype *types, const ef_shape *shapes,
                                 const ef_tensor *first, int64_t n, ef_tensor *out);

/* A number that is equal for datasets made in the same way, in every process: a hash of ops,
 * attributes and inputs; resources are ignored. */
uint64_t ef_dataset_fingerprint(const ef_dataset *d);

enum { EF_COUNT_INFINITE = -1, EF_COUNT_UNKNOWN = -2 };

/* ---- for the dataset ops ---- */

/* The kernel of every dataset op: output 0 becomes a dataset of the inputs. Rejects inputs of
 * variant type that are not datasets. */
ef_status *ef_dataset_run(const ef_call *c);
ef_status *ef_dataset_check(const ef_call *c, int k); /* EF_INVALID: input k is not a dataset */
ef_shape_fn ef_dataset_infer; /* checks that arguments of fixed dtype are scalars */

#define EF_DATASET_OUTPUTS                                            \
    EF_ATTR(ef_dataset_attrs, output_types, "list(type) >= 1", NULL), \
        EF_ATTR(ef_dataset_attrs, output_shapes, "list(shape) >= 1", NULL)
#define EF_DATASET_NOTE EF_ATTR(ef_dataset_attrs, metadata, "string", "''")
#define EF_DATASET_ORDER \
    EF_ATTR(ef_dataset_attrs, deterministic, "{'default', 'true', 'false'}", "'default'")
/* The columns that all records of datasets share. */
#define EF_DATASET_RECORD(KIND)                                          \
    .attr_size = sizeof(ef_dataset_attrs), .dataset = EF_DATASET_##KIND, \
    .traits = EF_STATEFUL | EF_DYNAMIC | EF_SHARES_OUT | EF_HEAVY | EF_STORES_INPUTS | EF_NO_GRAD
#endif
