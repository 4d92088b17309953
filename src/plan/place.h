/* Placing the nodes of a plan on devices; place.c says how. */
#ifndef EF_PLAN_PLACE_H
#define EF_PLAN_PLACE_H
#include "plan/planner.h"

bool ef_graph_asks_device(const ef_graph *g); /* some node names a device other than the host */
ef_status *ef_plan_place(ef_planner *p);      /* sets `at`; after facts are known */
/* An output that must be on the host is its copy there, not the value on the device; called before
 * steps are made. */
void ef_plan_keep_outputs_home(ef_planner *p);
ef_status *ef_plan_device_step(ef_planner *p, const ef_node *n); /* of a node on a device */
/* Copies to the host what a node there reads; ef_plan_here then finds it. */
ef_status *ef_plan_host_inputs(ef_planner *p, const ef_node *n);
int32_t ef_plan_here(const ef_planner *p, int32_t v); /* v's copy on the host if it has one, or v */
/* The value v on a device: itself or a copy, for which a step is added. */
ef_status *ef_plan_value_on(ef_planner *p, int32_t v, int device, int32_t *out);
ef_status *ef_plan_output_value(ef_planner *p, int32_t k, int32_t *out); /* behind output k */
ef_status *ef_plan_waits(ef_planner *p); /* a step for each queue that has work */

/* steps.c */
ef_status *ef_plan_start_step(ef_planner *p, const ef_op *op, const void *fields, int n_in,
                              int n_out, int32_t node, ef_plan_step **out);
int32_t ef_plan_new_slot(ef_planner *p, int32_t value, ef_slot_kind kind);
int32_t ef_plan_read_slot(ef_planner *p, int32_t value); /* made on first use */
int32_t ef_plan_define(ef_planner *p, ef_plan_step *t, int32_t value);
void ef_plan_use(ef_planner *p, int32_t value);
/* A call with the shapes of the step's arguments and no data, for choosing a kernel row and asking
 * it for its scratch size. */
ef_status *ef_plan_shadow(ef_planner *p, const ef_plan_step *t, ef_call *out);
#endif
