/* The arena: its size is close to the lower bound, ops run in place where that is allowed, and live
 * values do not overlap. */
#include "check.h"
#include "plan/plan.h"

static uint32_t seed = 1;
static uint32_t dice(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Random layers of MatMul (no overwriting, no fusing) over a few sizes, with values used again
 * later. */
static ef_status *random_graph(ef_graph *g, int layers) {
    ef_edge at[64];
    int n = 0;
    const ef_op *matmul = ef_op_find("MatMul");
    for (int k = 0; k < 3; k++) {
        ef_shape s = {.rank = 2, .dim = {8 << k, 8 << k}};
        EF_TRY(ef_graph_input(g, EF_F32, &s, NULL, &at[n++]));
    }
    for (int k = 0; k < layers && n < 64; k++) {
        ef_edge in[2];
        int32_t node;
        in[0] = at[dice((uint32_t)n)];
        do in[1] = at[dice((uint32_t)n)];
        while (ef_edge_fact(g, in[1])->shape.dim[0] != ef_edge_fact(g, in[0])->shape.dim[0]);
        EF_TRY(ef_graph_add(g, matmul, NULL, in, 2, NULL, &node));
        at[n++] = (ef_edge){node, 0};
    }
    return ef_graph_set_outputs(g, &at[n - 1], 1);
}

static ef_status *plan_of(const ef_graph *g, ef_plan **p) {
    ef_fact facts[8] = {{0}};
    for (size_t k = 0; k < g->n_inputs; k++) facts[k] = *g->node[g->input[k]]->out;
    return ef_plan_make(g, facts, &(ef_plan_options){0}, p);
}

EF_TEST(arenas_are_close_to_the_least) {
    double worst = 1, sum = 0;
    int n = 0;
    for (int k = 0; k < 40; k++) {
        ef_graph *g = ef_graph_make();
        ef_plan *p;
        CHECK_OK(random_graph(g, 60));
        CHECK_OK(plan_of(g, &p));
        CHECK(p->arena_bytes >= p->least_bytes);
        if (p->least_bytes > 0) {
            double ratio = (double)p->arena_bytes / (double)p->least_bytes;
            worst = ratio > worst ? ratio : worst;
            sum += ratio;
            n++;
        }
        ef_plan_free(p);
        ef_graph_unref(g);
    }
    printf("    arena / least: mean %.3f, worst %.3f over %d graphs\n", sum / n, worst, n);
    CHECK(sum / n <= 1.05);
}

/* Values alive at the same time never share bytes. */
EF_TEST(living_values_do_not_overlap) {
    for (int k = 0; k < 20; k++) {
        ef_graph *g = ef_graph_make();
        ef_plan *p;
        CHECK_OK(random_graph(g, 50));
        CHECK_OK(plan_of(g, &p));
        for (int32_t t = 0; t < p->n_steps;
             t++) { /* a step's inputs and output are alive together */
            const ef_plan_step *s = &p->step[t];
            const ef_slot *out = &p->slot[s->out[0]];
            for (int i = 0; i < s->n_in; i++) {
                const ef_slot *in = &p->slot[s->in[i]];
                if (in->kind != EF_SLOT_ARENA || out->kind != EF_SLOT_ARENA) continue;
                CHECK(in->offset + in->bytes <= out->offset ||
                      out->offset + out->bytes <= in->offset);
            }
        }
        ef_plan_free(p);
        ef_graph_unref(g);
    }
}

EF_TEST(a_chain_runs_in_place) {
    ef_graph *g = ef_graph_make();
    ef_plan *p;
    ef_shape s = {.rank = 1, .dim = {100}}; /* too small to fuse */
    ef_edge e;
    CHECK_OK(ef_graph_input(g, EF_F32, &s, NULL, &e));
    for (int k = 0; k < 10; k++) {
        int32_t node;
        CHECK_OK(ef_graph_add(g, ef_op_find("Neg"), NULL, &e, 1, NULL, &node));
        e = (ef_edge){node, 0};
    }
    CHECK_OK(ef_graph_set_outputs(g, &e, 1));
    CHECK_OK(plan_of(g, &p));
    CHECK_INT(p->n_steps, 10);
    CHECK(p->arena_bytes <= 448); /* one value of 400 bytes, aligned */
    ef_plan_free(p);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(arenas_are_close_to_the_least);
    EF_RUN(living_values_do_not_overlap);
    EF_RUN(a_chain_runs_in_place);
    return EF_VERDICT();
}
