/* Gradients of graphs without control flow against finite differences. */
#include "gradcheck.h"

EF_TEST(polynomial) {
    bench t;
    bench_begin(&t);
    V x = vector(&t, 4);
    V y = ef_add(gc(&t), ef_mul(gc(&t), ef_mul(gc(&t), x, x), x), ef_scale(gc(&t), x, -2));
    CHECK_SLOPES(&t, y, x);
    bench_end(&t);
}

EF_TEST(fan_out) {
    bench t;
    bench_begin(&t);
    V x = vector(&t, 3), e = ef_emit(gc(&t), "Exp", 1, x);
    V y = ef_add(gc(&t), ef_mul(gc(&t), e, x), ef_add(gc(&t), e, ef_mul(gc(&t), e, e)));
    CHECK_SLOPES(&t, y, x);
    bench_end(&t);
}

EF_TEST(broadcasting) {
    bench t;
    bench_begin(&t);
    V a = matrix(&t, 3, 1), b = vector(&t, 4), c = scalar(&t);
    V y = ef_mul(gc(&t), ef_mul(gc(&t), a, b), ef_sub(gc(&t), b, c));
    CHECK_SLOPES(&t, y, a, b, c);
    bench_end(&t);
}

EF_TEST(unknown_shapes) {
    bench t;
    bench_begin(&t);
    V a = vague(&t, 2, (int64_t[]){3, 1}), b = vague(&t, 1, (int64_t[]){4});
    V y = ef_mul(gc(&t), ef_mul(gc(&t), a, b), b);
    CHECK_SLOPES(&t, y, a, b);
    bench_end(&t);
}

EF_TEST(matrix_chain) {
    bench t;
    bench_begin(&t);
    V x = matrix(&t, 2, 3), w = matrix(&t, 3, 4), v = matrix(&t, 5, 4), b = vector(&t, 5);
    V h = ef_emit(gc(&t), "Tanh", 1, ef_matmul(gc(&t), x, w, false, false));
    V y = ef_add(gc(&t), ef_matmul(gc(&t), h, v, false, true), b);
    y = ef_mul(gc(&t), y, y);
    CHECK_SLOPES(&t, y, x, w, v, b);
    bench_end(&t);
}

EF_TEST(second_order) {
    bench t;
    bench_begin(&t);
    V x = vector(&t, 3), y = ef_mul(gc(&t), ef_mul(gc(&t), x, x), x), dx, ddx;
    CHECK(grads(&t, y, &x, 1, &dx));
    CHECK_SLOPES(&t, dx, x);
    CHECK(grads(&t, dx, &x, 1, &ddx));
    CHECK_SLOPES(&t, ddx, x);
    bench_end(&t);
}

EF_TEST(gather) {
    bench t;
    bench_begin(&t);
    V w = matrix(&t, 5, 2);
    V few = ef_const_ints(gc(&t), EF_I32, 3, (int64_t[]){1, 3, 1});
    V more = ef_const_ints(gc(&t), EF_I64, 2, (int64_t[]){0, 3});
    V zero = ef_const_number(gc(&t), EF_I32, 0);
    V a = ef_emit(gc(&t), "GatherV2", 3, w, few, zero),
      b = ef_emit(gc(&t), "GatherV2", 3, w, more, zero);
    ef_edge x, y;
    ef_gradient d;
    V one = ef_sum(gc(&t), ef_mul(gc(&t), a, a), 2, (int64_t[]){0, 1}, false);
    V both = ef_add(
        gc(&t), one,
        ef_sum(gc(&t), ef_mul(gc(&t), b, ef_mul(gc(&t), b, b)), 2, (int64_t[]){0, 1}, false));
    V mixed = ef_add(gc(&t), both, ef_sum(gc(&t), w, 2, (int64_t[]){0, 1}, false));
    CHECK(gc(&t)->failed == NULL);
    x = ef_graph_build_edge(w);
    y = ef_graph_build_edge(one);
    CHECK_OK(ef_gradients(t.g, &y, 1, NULL, &x, 1, NULL, 0, &d));
    CHECK_INT(d.kind, EF_GRADIENT_SLICES);
    y = ef_graph_build_edge(both);
    CHECK_OK(ef_gradients(t.g, &y, 1, NULL, &x, 1, NULL, 0, &d));
    CHECK_INT(d.kind, EF_GRADIENT_SLICES);
    CHECK_INT(ef_edge_fact(t.g, d.value)->shape.dim[0], 5);
    y = ef_graph_build_edge(mixed);
    CHECK_OK(ef_gradients(t.g, &y, 1, NULL, &x, 1, NULL, 0, &d));
    CHECK_INT(d.kind, EF_GRADIENT_DENSE);
    CHECK_SLOPES(&t, one, w);
    CHECK_SLOPES(&t, both, w);
    CHECK_SLOPES(&t, mixed, w);
    bench_end(&t);
}

/* Given output gradients; a source that depends on another; a source twice; y as a source. */
EF_TEST(given_and_inner) {
    bench t;
    bench_begin(&t);
    V x = scalar(&t), a = ef_mul(gc(&t), x, x), y = ef_mul(gc(&t), a, x), dy = real(&t, 3);
    ef_edge ye = ef_graph_build_edge(y), de = ef_graph_build_edge(dy);
    ef_edge xs[] = {ef_graph_build_edge(x), ef_graph_build_edge(a), ef_graph_build_edge(x), ye};
    ef_gradient d[4];
    ef_tensor r[4];
    double at = *(double *)t.in[0].data;
    CHECK_OK(ef_gradients(t.g, &ye, 1, &de, xs, 4, NULL, 0, d));
    ef_edge fetch[4];
    for (int k = 0; k < 4; k++) {
        CHECK_INT(d[k].kind, EF_GRADIENT_DENSE);
        fetch[k] = d[k].value;
    }
    CHECK_OK(evaluate(&t, fetch, 4, r));
    CHECK_NEAR(total(&r[0]), 3 * 3 * at * at, 1e-9);
    CHECK_NEAR(total(&r[1]), 3 * at, 1e-9);
    CHECK_NEAR(total(&r[2]), 3 * 3 * at * at, 1e-9);
    CHECK_NEAR(total(&r[3]), 3, 1e-9);
    for (int k = 0; k < 4; k++) ef_tensor_release(&r[k]);
    bench_end(&t);
}

EF_TEST(stops) {
    bench t;
    bench_begin(&t);
    V x = scalar(&t), a = ef_mul(gc(&t), x, x), y = ef_mul(gc(&t), a, x);
    ef_edge ye = ef_graph_build_edge(y), stop = ef_graph_build_edge(a);
    ef_edge xs[] = {ef_graph_build_edge(x), stop};
    ef_gradient d[2];
    ef_tensor r[2];
    double at = *(double *)t.in[0].data;
    CHECK_OK(ef_gradients(t.g, &ye, 1, NULL, xs, 2, &stop, 1, d));
    ef_edge fetch[] = {d[0].value, d[1].value};
    CHECK_OK(evaluate(&t, fetch, 2, r));
    CHECK_NEAR(total(&r[0]), at * at, 1e-12);
    CHECK_NEAR(total(&r[1]), at, 1e-12);
    for (int k = 0; k < 2; k++) ef_tensor_release(&r[k]);
    bench_end(&t);
}

EF_TEST(unconnected) {
    bench t;
    bench_begin(&t);
    V x = scalar(&t), z = scalar(&t), i = integer(&t, 2), y = ef_mul(gc(&t), x, x), dx[2];
    V cut = ef_emit(gc(&t), "StopGradient", 1, y);
    CHECK(grads(&t, y, (V const[]){z, i}, 2, dx));
    CHECK(dx[0] == NULL && dx[1] == NULL);
    CHECK(grads(&t, cut, &x, 1, dx));
    CHECK(dx[0] == NULL);
    CHECK(grads(&t, ef_cast(gc(&t), y, EF_I32), &x, 1, dx));
    CHECK(dx[0] == NULL);
    bench_end(&t);
}

/* A variable's gradient is that of its handle. */
EF_TEST(variable) {
    bench t;
    bench_begin(&t);
    ef_shape three = {.rank = 1, .dim = {3}};
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F64), EF_SET_SHAPE("shape", &three)};
    V h = ef_emit_set(gc(&t), "VarHandleOp", set, 2, 0), x = vector(&t, 3), dh;
    V r = ef_emit_set(gc(&t), "ReadVariableOp", set, 1, 1, h);
    V y = ef_add(gc(&t), ef_mul(gc(&t), r, x), ef_emit_set(gc(&t), "ReadVariableOp", set, 1, 1, h));
    CHECK(grads(&t, y, &h, 1, &dh));
    CHECK(dh != NULL);
    CHECK_INT(dh->fact.dtype, EF_F64);
    CHECK_INT(dh->fact.shape.dim[0], 3);
    ef_tensor got;
    ef_edge e = ef_graph_build_edge(dh);
    CHECK_OK(evaluate(&t, &e, 1, &got));
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(((double *)got.data)[k], 1 + ((double *)t.in[0].data)[k], 1e-12);
    ef_tensor_release(&got);
    bench_end(&t);
}

/* forward gives what f gives; backward, fed with what forward saved, its gradients. */
EF_TEST(differentiate) {
    fn f;
    bench t, u;
    bench_begin(&t);
    V like = vector(&t, 3), n = integer(&t, 1);
    fn_begin(&f);
    V a = fn_input(&f, like), b = fn_input(&f, like), c = fn_input(&f, n);
    V e = ef_emit(&f.b.base, "Exp", 1, ef_mul(&f.b.base, a, b));
    V out[] = {ef_mul(&f.b.base, e, a), ef_add(&f.b.base, c, c)};
    ef_graph *g = fn_end(&f, 2, out);
    ef_function_gradient d;
    CHECK_OK(ef_differentiate(g, &d));
    CHECK(d.parts[0] == 1 && d.parts[1] == 1 && d.parts[2] == 0);
    CHECK_INT(d.forward->n_inputs, 3);
    CHECK_INT(d.forward->n_outputs, 2 + d.n_saved);
    CHECK_INT(d.backward->n_inputs, d.n_saved + 2);
    CHECK_INT(d.backward->n_outputs, 2);
    bench_begin(&u); /* both parts in one graph, as a caller would */
    V x = vector(&u, 3), y = vector(&u, 3), k = integer(&u, 2);
    ef_edge in[GC_MAX] = {ef_graph_build_edge(x), ef_graph_build_edge(y), ef_graph_build_edge(k)};
    ef_edge mid[GC_MAX], back[GC_MAX], dx[2];
    CHECK_OK(ef_graph_inline(u.g, d.forward, in, mid));
    for (int i = 0; i < d.n_saved; i++) back[i] = mid[2 + i];
    V one = ef_ones_like(gc(&u), x);
    back[d.n_saved] = ef_graph_build_edge(one);
    back[d.n_saved + 1] = ef_graph_build_edge(k);
    CHECK_OK(ef_graph_inline(u.g, d.backward, back, dx));
    ef_tensor r[2];
    CHECK_OK(evaluate(&u, dx, 2, r));
    for (int i = 0; i < 2; i++) {
        CHECK(slope_agrees(&u, mid[0], i, &r[i], __FILE__, __LINE__));
        ef_tensor_release(&r[i]);
    }
    ef_function_gradient_free(&d);
    ef_graph_unref(g);
    bench_end(&u);
    bench_end(&t);
}

EF_TEST(errors) {
    bench t;
    bench_begin(&t);
    V x = vector(&t, 3), y = ef_mul(gc(&t), x, x), dy = real(&t, 1), wrong = vector(&t, 2);
    ef_edge xe = ef_graph_build_edge(x), ye = ef_graph_build_edge(y), nowhere = {999, 0};
    ef_edge de = ef_graph_build_edge(ef_cast(gc(&t), dy, EF_F32)), we = ef_graph_build_edge(wrong);
    ef_gradient d;
    CHECK_FAILS(ef_gradients(t.g, &nowhere, 1, NULL, &xe, 1, NULL, 0, &d), EF_INVALID,
                "not in the graph");
    CHECK_FAILS(ef_gradients(t.g, &ye, 1, &de, &xe, 1, NULL, 0, &d), EF_INVALID, "float32");
    CHECK_FAILS(ef_gradients(t.g, &ye, 1, &we, &xe, 1, NULL, 0, &d), EF_INVALID, "[2]");
    bench_end(&t);
}

int main(void) {
    EF_RUN(polynomial);
    EF_RUN(fan_out);
    EF_RUN(broadcasting);
    EF_RUN(unknown_shapes);
    EF_RUN(matrix_chain);
    EF_RUN(second_order);
    EF_RUN(gather);
    EF_RUN(given_and_inner);
    EF_RUN(stops);
    EF_RUN(unconnected);
    EF_RUN(variable);
    EF_RUN(differentiate);
    EF_RUN(errors);
    return EF_VERDICT();
}
