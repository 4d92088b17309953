/* The planner's own data while a plan is being made; freed afterwards.
 *
 * Stages: facts (shapes and known values with the given inputs), need (what must run), groups
 * (fusion), steps (kernels, slots), memory (lifetimes and offsets). */
#ifndef EF_PLAN_PLANNER_H
#define EF_PLAN_PLANNER_H
#include "plan/plan.h"
#include "plan/tiles.h"

typedef struct ef_pvalue { /* one output of one node */
    ef_fact fact;
    int32_t slot;        /* -1: it has no slot */
    int32_t first, last; /* steps between which its root lives; last of an output: n_steps */
    int32_t root;        /* the value whose bytes these are */
    int32_t group;       /* fused group that computes it, or -1 */
    bool needed;         /* read by a step, or an output of the plan */
    bool output;         /* an output of the plan */
    bool stored;         /* some reader keeps it beyond the call: it needs storage of its own */
    bool made;           /* its kernel provides the memory */
    uint8_t device;      /* where it is made */
} ef_pvalue;

typedef struct ef_planner {
    ef_plan *plan;
    const ef_graph *g;
    const ef_plan_options *options;
    ef_arena scratch; /* of the planner's own data */
    int32_t *base;    /* first value of node k; base[n_nodes] is how many there are */
    ef_pvalue *value;
    int32_t n_values;
    uint8_t *runs;          /* node k needs a step (or a place in a group) */
    int32_t *group;         /* of node k, -1: none */
    int32_t *last_in_group; /* node at which group j runs */
    ef_tiles **tiles;       /* program of group j */
    int32_t **tile_values;  /* its arguments */
    bool *alone;            /* group j is one op, which is a program only inside a row chain */
    int32_t n_groups;
    struct ef_row_plan *chain; /* the row chains, and by group: */
    int32_t *chain_of;         /* its chain, or -1; NULL: there are none */
    int32_t n_chains;
    bool *escapes;                   /* by value: read outside its chain */
    ef_tensor *shadow, **shadow_ptr; /* arguments without data, see make_shadow in steps.c */
    size_t shadow_room;
    uint8_t *at;                 /* device of node k; NULL: no device but the host is involved */
    int32_t *copied;             /* by value and device: the value that is its copy; 0: none */
    bool queued[EF_DEVICE_MOST]; /* the device has work that no step waits for yet */
} ef_planner;

static inline int32_t ef_value_at(const ef_planner *p, ef_edge e) {
    return p->base[e.node] + e.index;
}
void *ef_plan_memory(ef_planner *p, size_t n, ef_status **s);  /* in the plan's arena, zeroed */
void *ef_notes_memory(ef_planner *p, size_t n, ef_status **s); /* in p->scratch, zeroed */

ef_status *ef_plan_groups(ef_planner *p); /* fuse.c: sets group and tiles */
/* row_chain.c: finds groups that run together, one block of rows after the other; dissolves groups
 * of a single op that no chain takes. */
ef_status *ef_plan_row_chains(ef_planner *p);
/* Makes the step of the chain whose last group is this one. */
ef_status *ef_plan_row_chain_step(ef_planner *p, int32_t group, int32_t node);
/* Whether the group belongs to a chain and is not its last group, so that it makes no step. */
bool ef_plan_runs_later(const ef_planner *p, int32_t group);
/* The values of the inputs, then of the outputs, of group j. */
const int32_t *ef_tiles_values(const ef_planner *p, int32_t group);
ef_status *ef_plan_steps(ef_planner *p);  /* steps.c */
ef_status *ef_plan_layout(ef_planner *p); /* memory.c: offsets of arena slots and scratch */
/* control.c: makes the step of a control-flow node whose functions and inputs are known. */
ef_status *ef_plan_control(ef_planner *p, const ef_node *n, ef_plan_step *step);
/* loop_facts.c: around making a plan; facts of loops found meanwhile are not computed again. */
void ef_plan_facts_begin(void);
void ef_plan_facts_end(void);
/* plan.c: the facts of a function's outputs for inputs of these facts, without planning it and
 * without known values; `behind` has room for the fact that each output's handle refers to. */
ef_status *ef_plan_infer(const ef_graph *g, const ef_fact *in, ef_fact *out, ef_fact *behind);
/* The facts of the outputs of a control-flow node with these inputs. `behind` as above. */
ef_status *ef_plan_control_facts(const ef_node *n, const ef_fact *in, ef_fact *out, int n_out,
                                 ef_fact *behind);
#endif
