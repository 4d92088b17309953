/* What an op is: one constant record per op. The record is the registration: all.def lists its name
 * once, and the enum, the table and the extern come from that list. See docs/style.md for examples.
 *
 * Notation of arguments is TensorFlow's: "x: T", "values: N * T", "args: Tin" (Tin a list(type)),
 * "resource: resource", "axis: int32", "out: dtype" (a type attribute). */
#ifndef EF_OPS_OP_H
#define EF_OPS_OP_H
#include "base/context.h"
#include "base/status.h"
#include "ops/attr.h"
#include "tensor/object.h"
#include "tensor/tensor.h"

enum { EF_MAX_ARGS = 16, EF_MAX_ATTRS = 16, EF_MAX_KERNELS = 4, EF_MAX_EXAMPLES = 8 };

/* What is known about a value before it is computed. */
typedef struct ef_fact {
    ef_dtype dtype;
    ef_shape shape;
    const ef_tensor *value;       /* its elements, when known (a constant); else NULL */
    const struct ef_fact *handle; /* EF_RESOURCE: dtype and shape of the variable it refers to;
                                   * EF_VARIANT: what is known about a list, see list_fact.h; or
                                   * NULL */
} ef_fact;

/* Shape inference. Counts and dtypes of in and out are already checked and filled in from the
 * argument notation; the function checks shapes and sets out[k].shape (preset to unknown rank).
 * Input dims may be unknown or symbolic; values may be unknown. */
typedef struct ef_infer {
    const ef_op *op;
    const void *attrs; /* the op's own struct */
    int n_in, n_out;
    const ef_fact *in;
    ef_fact *out;
    ef_fact *behind; /* space for one new handle; valid until the thread's next inference */
} ef_infer;

/* One run of a kernel. Shapes of in and out are known and correct; in[k]->data is set. out[k]->data
 * is set too (memory of the right size, uninitialised) unless its shape depends on values or its
 * dtype is managed: then the kernel calls ef_out_alloc, ef_out_share or ef_out_object. */
typedef struct ef_call {
    ef_context *context; /* what the run may use (base/context.h); never NULL */
    const ef_op *op;
    const void *attrs;
    int n_in, n_out;
    ef_tensor *const *in, *const *out;
    void *scratch;   /* as many bytes as the kernel's scratch function asked for, 64-byte aligned */
    void *state;     /* what prepare made; NULL if prepare was not called (eagerly): run must handle
                      * both */
    uint32_t dying;  /* bit k: in[k] is not used after this call; if its storage has one owner, the
                      * kernel may change it or take it (TensorListPushBack). A clear bit means that
                      * in[k] is still needed. */
    uint32_t unread; /* bit k: out[k] is never read, so the kernel need not write it */
    int device;      /* for a kernel row marked EF_ASIDE: the device it runs for */
} ef_call;
ef_status *ef_out_alloc(const ef_call *c, int k, const ef_shape *shape); /* new memory for out[k] */
ef_status *ef_out_share(const ef_call *c, int k, const ef_tensor *t);    /* out[k] is t (counted) */
void ef_out_object(const ef_call *c, int k, ef_object *o);               /* takes one reference */

typedef ef_status *ef_shape_fn(ef_infer *i);
/* Whether, for these attributes, input k is plain data: no output shape depends on its elements. */
typedef bool ef_data_fn(const void *attrs, int k, const ef_fact *in_k);
typedef ef_status *ef_kernel_fn(const ef_call *c);
typedef size_t ef_scratch_fn(const ef_call *c); /* shapes are set, data is not */
typedef bool ef_when_fn(const ef_call *c);      /* shapes are set, data is not; false: next row */
typedef ef_status *ef_prepare_fn(const ef_call *c, void **state); /* once per plan step */
typedef void ef_release_fn(void *state);
/* One contiguous run of an elementwise op: out[i] = f(in[0][i], ...), 0 <= i < n. Bit k of
 * `scalars`: in[k] is one element, used for all i. out may be the same address as an input, else no
 * overlap. */
typedef void ef_tile_fn(void *out, const void *const *in, int64_t n, unsigned scalars,
                        const void *attrs);
typedef ef_tile_fn *ef_tile_pick(const ef_dtype *in, int n_in, ef_dtype out, const void *attrs);
typedef struct ef_grad ef_grad; /* build.h */
typedef ef_status *ef_grad_fn(ef_grad *g);

typedef struct ef_kernel {
    uint8_t device;    /* kinds of devices it is for: EF_CPU | EF_TEST, see base/context.h */
    uint64_t types;    /* dtypes of the op's key type: its first type variable, see ef_op_key */
    ef_kernel_fn *run; /* rows are tried in order: device and dtype fit, then `when` may decline */
    ef_scratch_fn *scratch;
    ef_when_fn *when;
    ef_prepare_fn *prepare; /* keeps what is costly to make (a oneDNN primitive) in the plan step */
    ef_release_fn *release;
} ef_kernel;

enum ef_trait {
    EF_ELEMENTWISE = 1 << 0, /* tile or pick_tile is set; kernel row 0 is ef_run_elementwise */
    EF_COMMUTES = 1 << 1,
    EF_MAY_ALIAS_0 = 1 << 2, /* out 0 may overwrite in 0 (same bytes) */
    EF_VIEW_0 = 1 << 3,      /* out 0 is in 0's bytes under another shape: no kernel is needed */
    EF_HEAVY = 1 << 4,       /* fusion ends here */
    EF_STATEFUL = 1 << 5,    /* reads or changes state outside its inputs: never folded, merged or
                              * moved */
    EF_EFFECT = 1 << 6,  /* changes state outside its inputs: kept even if its results are unused */
    EF_DYNAMIC = 1 << 7, /* output shapes depend on input values even when those shapes are known */
    EF_NO_GRAD = 1 << 8, /* gradient is None by definition */
    EF_SLICES_OK = 1 << 9, /* the gradient function takes IndexedSlices as they are */
    EF_REDUCES = 1 << 10,  /* Sum-like: may end a fused group */
    EF_CONTROL = 1 << 11,  /* While, If, Case, calls: run by the plan, differentiated by autodiff */
    EF_NO_KERNEL = 1 << 12,     /* Placeholder and the like: never run */
    EF_READS_SHAPES = 1 << 13,  /* reads only the shapes of its inputs (Shape, Size, Rank) */
    EF_STORES_INPUTS = 1 << 14, /* keeps a reference to an input after the call (AssignVariableOp,
                                 * TensorListPushBack) */
    EF_SHARES_OUT =
        1 << 15, /* outputs come from ef_out_share (ReadVariableOp): allocate no memory for them */
    EF_GRAD_UNDEFINED = 1 << 16, /* TensorFlow defines no gradient: differentiating is an error */
    EF_ROWS_AT_RUN = 1 << 17,    /* the number of rows of out 0 depends on values: a graph leaves it
                                  * unknown even where it knows these values, as TensorFlow does */
    EF_PERMUTES = 1 << 18, /* out 0 is in 0 with its axes permuted as in 1 says, and nothing else */
    EF_NEVER_FAILS = 1 << 19,    /* cannot fail once its shapes are valid, whatever the values, so
                                  * it may be hoisted out of a loop that may run zero times. On an
                                  * elementwise op this covers integers too; for other dtypes no
                                  * elementwise op fails */
    EF_READS_FLOATS = 1 << 20,   /* output shapes depend on input values of every dtype, not only
                                  * on integers */
    EF_CONSTANT = 1 << 21,       /* Const: the value is an attribute */
    EF_CONVERTS = 1 << 22,       /* out 0 is in 0 in another dtype, element by element */
    EF_LIST_NEW = 1 << 23,       /* out 0 is a new, empty list */
    EF_LIST_PUSH = 1 << 24,      /* out 0 is the list in 0 with in 1 appended */
    EF_READS_VARIABLE = 1 << 25, /* out 0 is what the variable in 0 holds until the next effect */
    EF_PASSES_INPUTS = 1 << 26,  /* out k is in k; only gradients see a difference */
    EF_SPREADS = 1 << 27, /* out 0 is in 0, broadcast to the shape that in 1 holds; a fused group
                           * reads in 0 directly, through `tile` and `expr`, which copy */
    EF_STORES_UNREAD = 1 << 28, /* reads no element of the inputs that it stores */
};

/* What an op with the attribute data_format, NHWC or NCHW, does with images. Empty: the op exists
 * in one layout only, or the layout pass leaves it as it is. */
typedef struct ef_images {
    uint8_t in;    /* bit k: input k is an image */
    uint8_t sizes; /* bit k: input k holds the sizes of an image */
    bool out;      /* output 0 is an image */
} ef_images;

/* How the passes that rewrite loops recognise an op. */
typedef enum ef_role {
    EF_ROLE_NONE,
    EF_ROLE_SUM,     /* out 0 is in 0 + in 1 */
    EF_ROLE_PRODUCT, /* of the matrices in 0 and in 1, with attributes transpose_a, transpose_b */
    EF_ROLE_POP,     /* out 0 is the list in 0 without its last element, out 1 is that element */
    EF_ROLE_ITEM,    /* out 0 is element in 1 of the list in 0, and has the shape in 2 */
    EF_ROLE_LENGTH,  /* out 0 is the number of elements of the list in 0 */
    EF_ROLE_GREATER, /* out 0 is in 0 > in 1 */
    EF_ROLE_SLICES,  /* out 0 is the list of the slices of in 0 along its first axis */
} ef_role;

/* How the sizes of the outputs follow from the elements of an input. A graph uses this where the
 * elements are not constants but some of them are known. */
typedef struct ef_sized {
    enum {
        EF_SIZED_NOT,
        EF_SIZED_GIVEN,    /* the elements are the shape (Fill, Slice); -1 is unknown */
        EF_SIZED_RESHAPED, /* as given, and one unknown size follows from the number of elements */
        EF_SIZED_TILED,    /* each axis of in 0 is multiplied by its element (Tile) */
        EF_SIZED_PADDED,   /* rows of two: what is added before and after each axis of in 0 (Pad) */
        EF_SIZED_LAST,     /* the size of the last axis; the other axes are those of in 0 */
    } by;
    uint8_t in; /* which input */
} ef_sized;

/* What the op does to a shape value, that is to a vector or a scalar that holds sizes. A graph uses
 * this to find sizes that the program computes from other sizes. */
typedef enum ef_shape_value_kind {
    EF_SHAPE_VALUE_LOST,
    EF_SHAPE_VALUE_READ,     /* out k is the shape of in k (Shape, ShapeN) */
    EF_SHAPE_VALUE_SAME,     /* out 0 has the elements of in 0 (Identity, Cast) */
    EF_SHAPE_VALUE_PACKED,   /* in k is element k */
    EF_SHAPE_VALUE_JOINED,   /* all inputs but the last, concatenated */
    EF_SHAPE_VALUE_SLICED,   /* in 0 from in 1 to in 2 in steps of in 3, with masks */
    EF_SHAPE_VALUE_GATHERED, /* the elements of in 0 whose indices are in 1 */
} ef_shape_value_kind;
typedef int64_t ef_dims_fn(int64_t x, int64_t y); /* on sizes, which may be unknown or symbolic */

/* Which values a gradient function reads (facts of all inputs and outputs are always there). 0:
 * all. */
#define EF_KEEP_IN(k) (1u << (k))
#define EF_KEEP_OUT(k) (1u << (16 + (k)))
#define EF_KEEP_NONE (1u << 31)

struct ef_op {
    int id;
    const char *name, *doc;
    const char *in[EF_MAX_ARGS], *out[EF_MAX_ARGS];
    const char *types; /* "T: {float, double}; Tidx: {int32, int64} = int32; Tin: list(type)" */
    /* Dtypes that TensorFlow declares for the first type variable but has no kernel for. They are
     * rejected here too (EF_NOT_FOUND), but only after the shapes were checked: TensorFlow reports
     * a shape error first when it builds a graph. */
    uint64_t declared;
    ef_attr attr[EF_MAX_ATTRS];
    size_t attr_size;
    uint32_t traits, keeps;
    uint32_t no_grad_in; /* bit k: input k gets no gradient although out depends on it, as in
                          * TensorFlow */
    /* Bit k: in a graph, argument k must be a scalar (a vector), although the kernel takes a single
     * element either way. TensorFlow rejects the other form only while it builds graphs. */
    uint32_t scalar_in, vector_in;
    ef_shape_fn *shape;
    ef_shape_fn *graph_check; /* checks that apply only while a graph is built; runs after shape */
    ef_kernel kernel[EF_MAX_KERNELS];
    ef_tile_fn *const *tile; /* by dtype of input tile_key; NULL entries: not for that dtype */
    int tile_key;
    ef_tile_pick *pick_tile; /* instead of tile, where one dtype does not decide (Cast) */
    float cost_ns;    /* elementwise: what one element takes, if that is much more than moving it */
    const char *expr; /* the same as C source text: "x + y"; src/jit compiles a large subset of C
                       * expressions */
    /* What graphs, passes and the planner need to know about the op. */
    ef_images images;
    ef_sized sized;
    ef_shape_value_kind shape_value;
    ef_dims_fn *dims; /* what the op does to two sizes (Mul, Sub), or NULL */
    /* The values of integer inputs (axes, sizes, slice indices) usually decide shapes, so a plan is
     * valid only for the values it was made with. Bit k: input k is plain data instead. data_when,
     * if set, decides this from the attributes. */
    uint32_t data_in;
    ef_data_fn *data_when;
    uint32_t host_in; /* bit k: input k stays in host memory wherever the op runs (axes, sizes) */
    ef_role role;
    uint8_t dataset;       /* out 0 is a dataset of this ef_dataset_kind (ops/data/dataset.h) */
    uint8_t reduction;     /* EF_REDUCES: the ef_reduce_kind (kernels/reduce.h) */
    const ef_op *pure;     /* control flow: the variant for functions without side effects */
    const ef_op *stateful; /* and the variant for functions with them; both fields are set on
                            * both ops */
    ef_grad_fn *grad;
    /* Inputs and attributes that show the op at work; tests and docs are generated from them.
     * "float[2,3] float[3] axis=1"; see example.h. If there are none, they are generated from the
     * argument notation. */
    const char *examples[EF_MAX_EXAMPLES];
};
/* .id and .name of a record. */
#define EF_NAMED(N) .id = EF_OP_##N, .name = #N

enum {
#define EF_OP(N) EF_OP_##N,
#include "ops/all.def"
#undef EF_OP
    EF_OP_COUNT
};
#define EF_OP(N) extern const ef_op ef_op_##N;
#include "ops/all.def"
#undef EF_OP
extern const ef_op *const ef_op_table[EF_OP_COUNT];

/* The key type selects the kernel row: the first type variable of the inputs ("x: T"), else of the
 * outputs; ops without one have the dtype of output 0, else of input 0, else EF_NO_DTYPE. */
typedef struct ef_signature { /* argument notation, parsed once */
    struct ef_arg {
        char name[48];
        int8_t type_var;   /* index into vars, or -1 */
        int8_t type_attr;  /* index of a type attribute, or -1 */
        int8_t count_attr; /* index into counts for "N * T", or -1 */
        bool is_list;      /* its type is a list(type) */
        ef_dtype fixed;    /* when neither variable nor attribute */
    } in[EF_MAX_ARGS], out[EF_MAX_ARGS];
    struct ef_type_var {
        char name[40];
        uint64_t set; /* allowed dtypes */
        ef_dtype otherwise;
        bool is_list;
        int min; /* "Tin: list(type) >= 1" */
    } var[8];
    struct ef_count_var { /* N of "N * T": from the inputs, or the int attribute of that name */
        char name[40];
        int attr; /* its attribute, or -1 */
        int min;  /* "N: int >= 1" */
    } count[4];
    ef_attr_info attr[EF_MAX_ATTRS];
    int n_in, n_out, n_vars, n_counts, n_attrs;
    bool variadic; /* some argument stands for several tensors */
    bool uniform;  /* one type variable for all inputs, and one output of it or of a fixed dtype */
    int key_in, key_out; /* argument that decides the kernel row, or -1 */
} ef_signature;
const ef_signature *ef_op_signature(const ef_op *op); /* never NULL; parsed on first use */
/* What is wrong with the record's notation, or NULL; for tests. */
const char *ef_op_notation_problem(const ef_op *op);
/* How many tensors stand for each argument. n_in: given inputs. */
typedef struct ef_arity {
    int in[EF_MAX_ARGS], out[EF_MAX_ARGS], n_out;
} ef_arity;
ef_status *ef_op_arity(const ef_op *op, const void *attrs, int n_in, ef_arity *out);

/* Checks counts and dtypes of the inputs, sets dtypes and count of the outputs, runs the shape
 * function. in[] are facts; out has room for max_out facts. attrs NULL: the defaults. */
ef_status *ef_op_infer(const ef_op *op, const void *attrs, const ef_fact *in, int n_in,
                       ef_fact *out, int max_out, int *n_out);
/* Facts may be incomplete: out may be NULL for ops whose key is an input. */
ef_dtype ef_op_key(const ef_op *op, const ef_fact *in, int n_in, const ef_fact *out, int n_out);
/* The first kernel row that fits; EF_NOT_FOUND naming op and dtype otherwise. kind: EF_CPU or
 * another. */
ef_status *ef_op_kernel(const ef_call *c, unsigned kind, const ef_kernel **out);
ef_tile_fn *ef_op_tile(const ef_op *op, const ef_dtype *in, int n_in, ef_dtype out,
                       const void *attrs); /* NULL: not elementwise for these types */
#endif
