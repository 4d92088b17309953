/* Gradients through control flow against finite differences. */
#include "gradcheck.h"

static V less(ef_build *b, V x, V y) { return ef_emit(b, "Less", 2, x, y); }
static V number(ef_build *b, double v) { return ef_const_number(b, EF_F64, v); }
static V whole(ef_build *b, int v) { return ef_const_number(b, EF_I32, v); }

/* i < n for a loop whose variables are like those given; i is variable 0, n variable `limit`. */
static ef_graph *counts_to(V const *vars, int n, int limit) {
    fn f;
    fn_begin(&f);
    for (int k = 0; k < n; k++) fn_input(&f, vars[k]);
    return fn_end(&f, 1, (V[]){less(&f.b.base, f.in[0], f.in[limit])});
}

/* ---- branches -----------------------------------------------------------------------------------
 */

/* sin(x) * w, or exp(w) * w + 1 * x[0] ...: the branches save different things. */
static V choose(bench *t, V cond, V x, V w) {
    fn a, b;
    fn_begin(&a);
    V ax = fn_input(&a, x), aw = fn_input(&a, w), s = ef_emit(&a.b.base, "Sin", 1, ax);
    ef_graph *then = fn_end(&a, 1, (V[]){ef_mul(&a.b.base, ef_mul(&a.b.base, s, s), aw)});
    fn_begin(&b);
    fn_input(&b, x);
    V bw = fn_input(&b, w), e = ef_emit(&b.b.base, "Exp", 1, ef_mul(&b.b.base, bw, bw));
    ef_graph *other = fn_end(
        &b, 1, (V[]){ef_mul(&b.b.base, e, ef_emit(&b.b.base, "Sum", 2, bw, whole(&b.b.base, 0)))});
    ef_dtype type = EF_F64;
    ef_attr_value set[] = {EF_SET_FUNC("then_branch", then), EF_SET_FUNC("else_branch", other),
                           EF_SET_TYPES("Tout", 1, &type)};
    V out[GC_MAX];
    control(gc(t), "If", set, 3, (V[]){cond, x, w}, 3, out);
    return out[0];
}

EF_TEST(both_branches) {
    for (int way = 0; way < 2; way++) {
        bench t;
        bench_begin(&t);
        V c = integer(&t, way), x = vector(&t, 3), w = vector(&t, 3);
        V y = choose(&t, c, x, w), dx[2];
        y = ef_mul(gc(&t), y, y);
        CHECK_SLOPES(&t, y, x, w);
        CHECK_SLOPES(&t, y, w); /* again, with the node that was changed */
        CHECK(grads(&t, y, (V[]){x, w}, 2, dx));
        CHECK_SLOPES(&t, dx[1], w); /* second order */
        bench_end(&t);
    }
}

EF_TEST(a_case) {
    for (int way = 0; way < 3; way++) {
        bench t;
        bench_begin(&t);
        V c = integer(&t, way), x = vague(&t, 1, (int64_t[]){3});
        ef_graph *f[3];
        for (int k = 0; k < 3; k++) {
            fn a;
            fn_begin(&a);
            V in = fn_input(&a, x), out = in;
            for (int i = 0; i < k; i++)
                out = ef_emit(&a.b.base, "Sin", 1, ef_mul(&a.b.base, out, in));
            f[k] = fn_end(&a, 1, &out);
        }
        ef_dtype type = EF_F64;
        ef_attr_value set[] = {EF_SET_FUNCS("branches", 3, f), EF_SET_TYPES("Tout", 1, &type)};
        V out[GC_MAX];
        CHECK_INT(ef_emit_many(gc(&t), "StatelessCase", set, 2, (V[]){c, x}, 2, out, GC_MAX), 1);
        for (int k = 0; k < 3; k++) ef_graph_unref(f[k]);
        CHECK_SLOPES(&t, ef_mul(gc(&t), out[0], x), x);
        bench_end(&t);
    }
}

/* sum over two outputs of a function called from a function. */
static ef_graph *tower(V x, V w, int depth) {
    fn f;
    fn_begin(&f);
    V fx = fn_input(&f, x), fw = fn_input(&f, w), out[GC_MAX];
    if (depth == 0) {
        out[0] = ef_emit(&f.b.base, "Tanh", 1, ef_mul(&f.b.base, fx, fw));
        out[1] = ef_mul(&f.b.base, out[0], fw);
        return fn_end(&f, 2, out);
    }
    ef_attr_value set[] = {EF_SET_FUNC("f", tower(x, w, depth - 1)),
                           EF_SET_TYPES("Tout", 2, ((ef_dtype[]){EF_F64, EF_F64}))};
    control(&f.b.base, "PartitionedCall", set, 2, (V[]){fx, fw}, 2, out);
    out[1] = ef_mul(&f.b.base, ef_emit(&f.b.base, "Exp", 1, out[0]), out[1]);
    return fn_end(&f, 2, out);
}

EF_TEST(calls) {
    bench t;
    bench_begin(&t);
    V x = vector(&t, 2), w = vector(&t, 2), out[GC_MAX], d[2];
    ef_attr_value set[] = {EF_SET_FUNC("f", tower(x, w, 2)),
                           EF_SET_TYPES("Tout", 2, ((ef_dtype[]){EF_F64, EF_F64}))};
    control(gc(&t), "StatefulPartitionedCall", set, 2, (V[]){x, w}, 2, out);
    V y = ef_add(gc(&t), out[0], ef_mul(gc(&t), out[1], out[1]));
    CHECK_SLOPES(&t, out[0], x, w); /* only one output has a gradient */
    CHECK_SLOPES(&t, y, x, w);
    CHECK(grads(&t, y, (V[]){x, w}, 2, d));
    CHECK_SLOPES(&t, d[1], x, w);
    bench_end(&t);
}

/* ---- loops --------------------------------------------------------------------------------------
 */

/* p = x^n by repeated multiplication: variables i, n, p, x. */
static V power(bench *t, V n, V x) {
    fn f;
    V start[] = {whole(gc(t), 0), n, ef_ones_like(gc(t), x), x}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 4; k++) fn_input(&f, start[k]);
    V next[] = {ef_shift(&f.b.base, f.in[0], 1), f.in[1], ef_mul(&f.b.base, f.in[2], f.in[3]),
                f.in[3]};
    ef_graph *body = fn_end(&f, 4, next);
    loop(gc(t), counts_to(start, 4, 1), body, start, 4, out);
    return out[2];
}

EF_TEST(a_power) {
    for (int n = 0; n < 5; n += 2) { /* zero iterations too */
        bench t;
        bench_begin(&t);
        V trips = integer(&t, n), x = scalar(&t), y = power(&t, trips, x), dx, ddx;
        CHECK_SLOPES(&t, y, x);
        CHECK_SLOPES(&t, y, x);
        CHECK(grads(&t, y, &x, 1, &dx));
        CHECK_SLOPES(&t, dx, x);
        CHECK(grads(&t, dx, &x, 1, &ddx));
        CHECK_SLOPES(&t, ddx, x);
        bench_end(&t);
    }
}

/* The gradient needs no values of the forward pass: the loop only doubles, so nothing is saved. */
EF_TEST(nothing_saved) {
    bench t;
    fn f;
    bench_begin(&t);
    V n = integer(&t, 3), x = vector(&t, 2);
    V start[] = {whole(gc(&t), 0), n, x}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 3; k++) fn_input(&f, start[k]);
    V next[] = {ef_shift(&f.b.base, f.in[0], 1), f.in[1], ef_scale(&f.b.base, f.in[2], 2)};
    ef_graph *body = fn_end(&f, 3, next);
    loop(gc(&t), counts_to(start, 3, 1), body, start, 3, out);
    CHECK_SLOPES(&t, ef_mul(gc(&t), out[2], x), x);
    bench_end(&t);
}

/* h = tanh(h @ w + b), with w and b captured; the number of iterations depends on the data. */
static V recurrent(bench *t, V h, V w, V bias) {
    fn f, c;
    V start[] = {h, w, bias, number(gc(t), 0)}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 4; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V z = ef_emit(b, "Tanh", 1, ef_add(b, ef_matmul(b, f.in[0], f.in[1], false, false), f.in[2]));
    V norm = ef_sum(b, ef_mul(b, z, z), 2, (int64_t[]){0, 1}, false);
    ef_graph *body = fn_end(&f, 4, (V[]){z, f.in[1], f.in[2], ef_add(b, f.in[3], norm)});
    fn_begin(&c);
    for (int k = 0; k < 4; k++) fn_input(&c, start[k]);
    ef_graph *cond = fn_end(&c, 1, (V[]){less(&c.b.base, c.in[3], number(&c.b.base, 6))});
    loop(gc(t), cond, body, start, 4, out);
    return ef_add(gc(t), out[0], out[3]);
}

EF_TEST(captured_weights) {
    bench t;
    bench_begin(&t);
    V h = matrix(&t, 2, 3), w = matrix(&t, 3, 3), b = vector(&t, 3), d[3];
    V y = recurrent(&t, h, w, b);
    CHECK_SLOPES(&t, y, h, w, b);
    CHECK_SLOPES(&t, y, w);
    CHECK(grads(&t, y, (V[]){h, w, b}, 3, d));
    CHECK_SLOPES(&t, d[1], h, w, b);
    bench_end(&t);
}

EF_TEST(vague_shapes) {
    bench t;
    bench_begin(&t);
    V h = vague(&t, 2, (int64_t[]){2, 3}), w = vague(&t, 2, (int64_t[]){3, 3});
    V b = vague(&t, 1, (int64_t[]){3});
    CHECK_SLOPES(&t, recurrent(&t, h, w, b), h, w, b);
    bench_end(&t);
}

/* for i < n: for j < i + 1: p = p * x + j, q = q + sin(p) */
static ef_graph *inner_body(V const *vars) {
    fn f;
    fn_begin(&f);
    for (int k = 0; k < 4; k++) fn_input(&f, vars[k]);
    ef_build *b = &f.b.base;
    V p = ef_add(b, ef_mul(b, f.in[2], f.in[3]), ef_cast(b, f.in[0], EF_F64));
    return fn_end(&f, 4, (V[]){ef_shift(b, f.in[0], 1), f.in[1], p, f.in[3]});
}

static V nested(bench *t, V n, V x) {
    fn f;
    V start[] = {whole(gc(t), 0), n, ef_ones_like(gc(t), x), x, number(gc(t), 0)}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 5; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V in[] = {whole(b, 0), ef_shift(b, f.in[0], 1), f.in[2], f.in[3]}, got[GC_MAX];
    loop(b, counts_to(in, 4, 1), inner_body(in), in, 4, got);
    V q = ef_add(b, f.in[4], ef_emit(b, "Sin", 1, got[2]));
    ef_graph *body = fn_end(&f, 5, (V[]){ef_shift(b, f.in[0], 1), f.in[1], got[2], f.in[3], q});
    loop(gc(t), counts_to(start, 5, 1), body, start, 5, out);
    return ef_add(gc(t), ef_mul(gc(t), out[2], x), out[4]);
}

EF_TEST(nested_loops) {
    for (int n = 0; n < 4; n++) {
        bench t;
        bench_begin(&t);
        V trips = integer(&t, n), x = scalar(&t), y = nested(&t, trips, x), dx;
        CHECK_SLOPES(&t, y, x);
        CHECK(grads(&t, y, &x, 1, &dx));
        CHECK_SLOPES(&t, dx, x);
        bench_end(&t);
    }
}

/* A loop inside one branch, and x itself in the other; below, an If inside a loop. */
static ef_graph *loop_in_branch(V n, V x) {
    fn f, g;
    fn_begin(&f);
    V fn_ = fn_input(&f, n), fx = fn_input(&f, x);
    ef_build *b = &f.b.base;
    V start[] = {whole(b, 0), fn_, fx}, out[GC_MAX];
    fn_begin(&g);
    for (int k = 0; k < 3; k++) fn_input(&g, start[k]);
    V next = ef_emit(&g.b.base, "Sin", 1, ef_mul(&g.b.base, g.in[2], g.in[2]));
    ef_graph *body = fn_end(&g, 3, (V[]){ef_shift(&g.b.base, g.in[0], 1), g.in[1], next});
    loop(b, counts_to(start, 3, 1), body, start, 3, out);
    return fn_end(&f, 1, (V[]){ef_mul(b, out[2], fx)});
}

static V branch(ef_build *b, V cond, V n, V x) {
    fn f;
    fn_begin(&f);
    fn_input(&f, n);
    V fx = fn_input(&f, x);
    ef_graph *other = fn_end(&f, 1, (V[]){ef_emit(&f.b.base, "Exp", 1, fx)});
    ef_dtype type = EF_F64;
    ef_attr_value set[] = {EF_SET_FUNC("then_branch", loop_in_branch(n, x)),
                           EF_SET_FUNC("else_branch", other), EF_SET_TYPES("Tout", 1, &type)};
    V out[GC_MAX];
    control(b, "If", set, 3, (V[]){cond, n, x}, 3, out);
    return out[0];
}

EF_TEST(loop_inside_branch) {
    for (int way = 0; way < 2; way++) {
        bench t;
        bench_begin(&t);
        V c = integer(&t, way), n = integer(&t, 3), x = vector(&t, 2), dx;
        V y = branch(gc(&t), c, n, x);
        CHECK_SLOPES(&t, y, x);
        CHECK(grads(&t, y, &x, 1, &dx));
        CHECK_SLOPES(&t, dx, x);
        bench_end(&t);
    }
}

EF_TEST(branch_inside_loop) {
    bench t;
    fn f;
    bench_begin(&t);
    V n = integer(&t, 4), x = vector(&t, 2), dx;
    V start[] = {whole(gc(&t), 0), n, x}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 3; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V odd = ef_emit(b, "FloorMod", 2, f.in[0], whole(b, 2));
    V next = ef_scale(b, branch(b, odd, whole(b, 2), f.in[2]), 0.5);
    ef_graph *body = fn_end(&f, 3, (V[]){ef_shift(b, f.in[0], 1), f.in[1], next});
    loop(gc(&t), counts_to(start, 3, 1), body, start, 3, out);
    CHECK_SLOPES(&t, out[2], x);
    CHECK(grads(&t, out[2], &x, 1, &dx));
    CHECK_SLOPES(&t, dx, x);
    bench_end(&t);
}

/* A variable is read in every iteration: the gradients are accumulated at its handle. */
EF_TEST(variable_in_loop) {
    bench t;
    fn f;
    bench_begin(&t);
    ef_shape two = {.rank = 1, .dim = {2}};
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F64), EF_SET_SHAPE("shape", &two),
                           EF_SET_STRING("shared_name", "w")};
    V n = integer(&t, 3), x = vector(&t, 2), w = vector(&t, 2);
    V h = ef_emit_set(gc(&t), "VarHandleOp", set, 3, 0), out[GC_MAX], dh;
    ef_emit(gc(&t), "AssignVariableOp", 2, h, w);
    V start[] = {whole(gc(&t), 0), n, x, h};
    fn_begin(&f);
    for (int k = 0; k < 4; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V r = ef_emit_set(b, "ReadVariableOp", set, 1, 1, f.in[3]);
    V next = ef_emit(b, "Sin", 1, ef_mul(b, f.in[2], r));
    ef_graph *body = fn_end(&f, 4, (V[]){ef_shift(b, f.in[0], 1), f.in[1], next, f.in[3]});
    loop(gc(&t), counts_to(start, 4, 1), body, start, 4, out);
    CHECK(grads(&t, out[2], &h, 1, &dh));
    CHECK(dh != NULL);
    ef_tensor got;
    ef_edge e = ef_graph_build_edge(dh);
    CHECK_OK(evaluate(&t, &e, 1, &got));
    CHECK(slope_agrees(&t, ef_graph_build_edge(out[2]), 2, &got, __FILE__, __LINE__));
    ef_tensor_release(&got);
    bench_end(&t);
}

/* A loop fills a TensorArray from another one: lists are loop variables and captures. */
static V scan(bench *t, V x, V w) {
    fn f;
    ef_attr_value type[] = {EF_SET_TYPE("element_dtype", EF_F64)};
    int64_t rows = x->fact.shape.dim[0];
    V shape = ef_const_ints(gc(t), EF_I32, 1, (int64_t[]){2}), n = whole(gc(t), (int)rows);
    V from = ef_emit(gc(t), "TensorListFromTensor", 2, x, shape);
    V to = ef_emit_set(gc(t), "TensorListReserve", type, 1, 2, shape, n);
    V start[] = {whole(gc(t), 0), n, from, to, w, w}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 6; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V row = ef_emit_set(b, "TensorListGetItem", type, 1, 3, f.in[2], f.in[0],
                        ef_const_ints(b, EF_I32, 1, (int64_t[]){2}));
    V h = ef_emit(b, "Sin", 1, ef_add(b, ef_mul(b, row, f.in[4]), f.in[5]));
    V put = ef_emit(b, "TensorListSetItem", 3, f.in[3], f.in[0], ef_mul(b, h, row));
    V next[] = {ef_shift(b, f.in[0], 1), f.in[1], f.in[2], put, f.in[4], h};
    ef_graph *body = fn_end(&f, 6, next);
    loop(gc(t), counts_to(start, 6, 1), body, start, 6, out);
    return ef_emit_set(gc(t), "TensorListStack", type, 1, 2, out[3], shape);
}

EF_TEST(lists_in_loops) {
    bench t;
    bench_begin(&t);
    V x = matrix(&t, 3, 2), w = vector(&t, 2), dx[2];
    V y = scan(&t, x, w);
    CHECK_SLOPES(&t, y, x, w);
    CHECK(grads(&t, ef_mul(gc(&t), y, y), (V[]){x, w}, 2, dx));
    CHECK_SLOPES(&t, dx[1], x, w);
    bench_end(&t);
}

/* x grows by one element in each iteration, so gradients shrink. */
EF_TEST(growing_variable) {
    bench t;
    fn f;
    bench_begin(&t);
    V n = integer(&t, 3), x = vague(&t, 1, (int64_t[]){2});
    V start[] = {whole(gc(&t), 0), n, x}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 3; k++) fn_input(&f, start[k]);
    ef_build *b = &f.b.base;
    V one[] = {f.in[2],
               ef_reshape(b, ef_sum(b, ef_mul(b, f.in[2], f.in[2]), 1, (int64_t[]){0}, false),
                          ef_const_ints(b, EF_I32, 1, (int64_t[]){1})),
               whole(b, 0)};
    V longer;
    CHECK_INT(ef_emit_many(b, "ConcatV2", NULL, 0, one, 3, &longer, 1), 1);
    ef_graph *body = fn_end(&f, 3, (V[]){ef_shift(b, f.in[0], 1), f.in[1], longer});
    loop(gc(&t), counts_to(start, 3, 1), body, start, 3, out);
    CHECK_SLOPES(&t, out[2], x);
    bench_end(&t);
}

/* The body returns a loop variable unchanged: its gradient needs no loop. */
EF_TEST(handed_through) {
    bench t;
    fn f;
    bench_begin(&t);
    V n = integer(&t, 3), x = vector(&t, 2);
    V start[] = {whole(gc(&t), 0), n, x}, out[GC_MAX];
    fn_begin(&f);
    for (int k = 0; k < 3; k++) fn_input(&f, start[k]);
    V next[] = {ef_shift(&f.b.base, f.in[0], 1), f.in[1], f.in[2]};
    ef_graph *body = fn_end(&f, 3, next);
    loop(gc(&t), counts_to(start, 3, 1), body, start, 3, out);
    V y = ef_mul(gc(&t), out[2], x);
    CHECK_SLOPES(&t, y, x);
    int loops = 0;
    for (size_t k = 0; k < t.g->n_nodes; k++)
        loops += strstr(t.g->node[k]->op->name, "While") != NULL;
    CHECK_INT(loops, 1);
    bench_end(&t);
}

/* Side effects of a function happen once, even if its gradient is computed. */
EF_TEST(effects_once) {
    bench t;
    fn f;
    bench_begin(&t);
    ef_shape none = {.rank = 0};
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F64), EF_SET_SHAPE("shape", &none),
                           EF_SET_STRING("shared_name", "count")};
    V x = scalar(&t), h = ef_emit_set(gc(&t), "VarHandleOp", set, 3, 0), out[GC_MAX], dx;
    ef_emit(gc(&t), "AssignVariableOp", 2, h, number(gc(&t), 2));
    fn_begin(&f);
    V fx = fn_input(&f, x), fh = fn_input(&f, h);
    ef_emit(&f.b.base, "AssignAddVariableOp", 2, fh, number(&f.b.base, 1));
    V r = ef_emit_set(&f.b.base, "ReadVariableOp", set, 1, 1, fh);
    V square = ef_emit(&f.b.base, "Exp", 1, ef_mul(&f.b.base, fx, r));
    ef_attr_value call[] = {EF_SET_FUNC("f", fn_end(&f, 1, &square)),
                            EF_SET_TYPES("Tout", 1, ((ef_dtype[]){EF_F64}))};
    control(gc(&t), "StatefulPartitionedCall", call, 2, (V[]){x, h}, 2, out);
    CHECK(grads(&t, out[0], &x, 1, &dx));
    V after = ef_emit_set(gc(&t), "ReadVariableOp", set, 1, 1, h);
    ef_edge fetch[] = {ef_graph_build_edge(dx), ef_graph_build_edge(after)};
    ef_tensor got[2];
    CHECK_OK(evaluate(&t, fetch, 2, got));
    double at = *(double *)t.in[0].data;
    CHECK_NEAR(total(&got[0]), 3 * exp(3 * at), 1e-9);
    CHECK_NEAR(total(&got[1]), 3, 0);
    for (int k = 0; k < 2; k++) ef_tensor_release(&got[k]);
    bench_end(&t);
}

/* Rows gathered inside a function: the gradient stays IndexedSlices. */
EF_TEST(slices_from_call) {
    bench t;
    fn f;
    bench_begin(&t);
    V w = matrix(&t, 5, 2), out[GC_MAX];
    fn_begin(&f);
    V fw = fn_input(&f, w), rows = ef_const_ints(&f.b.base, EF_I32, 3, (int64_t[]){1, 3, 1});
    V got = ef_emit(&f.b.base, "GatherV2", 3, fw, rows, whole(&f.b.base, 0));
    V square = ef_mul(&f.b.base, got, got);
    ef_attr_value call[] = {EF_SET_FUNC("f", fn_end(&f, 1, &square)),
                            EF_SET_TYPES("Tout", 1, ((ef_dtype[]){EF_F64}))};
    control(gc(&t), "PartitionedCall", call, 2, &w, 1, out);
    ef_edge x = ef_graph_build_edge(w), y = ef_graph_build_edge(out[0]);
    ef_gradient d;
    CHECK_OK(ef_gradients(t.g, &y, 1, NULL, &x, 1, NULL, 0, &d));
    CHECK_INT(d.kind, EF_GRADIENT_SLICES);
    CHECK_SLOPES(&t, out[0], w);
    bench_end(&t);
}

/* The elements of one list have different shapes: planning must not assume a common one. */
EF_TEST(list_of_two_shapes) {
    bench t;
    fn f;
    bench_begin(&t);
    ef_attr_value type[] = {EF_SET_TYPE("element_dtype", EF_F64)};
    V n = integer(&t, 2), x = vector(&t, 3), y = vector(&t, 2), any = whole(gc(&t), -1);
    V list = ef_emit_set(gc(&t), "EmptyTensorList", type, 1, 2, any, any), out[GC_MAX];
    list = ef_emit(gc(&t), "TensorListPushBack", 2, list, x);
    V start[] = {whole(gc(&t), 0), n, list, y};
    fn_begin(&f);
    for (int k = 0; k < 4; k++) fn_input(&f, start[k]);
    V more =
        ef_emit(&f.b.base, "TensorListPushBack", 2, f.in[2], ef_mul(&f.b.base, f.in[3], f.in[3]));
    ef_graph *body = fn_end(&f, 4, (V[]){ef_shift(&f.b.base, f.in[0], 1), f.in[1], more, f.in[3]});
    loop(gc(&t), counts_to(start, 4, 1), body, start, 4, out);
    V sum = number(gc(&t), 0), got[2];
    list = out[2];
    for (int k = 0; k < 3; k++) {
        CHECK_INT(ef_emit_many(gc(&t), "TensorListPopBack", type, 1, (V[]){list, any}, 2, got, 2),
                  2);
        list = got[0];
        sum = ef_add(gc(&t), sum,
                     ef_emit(gc(&t), "Sum", 2, ef_mul(gc(&t), got[1], got[1]), whole(gc(&t), 0)));
    }
    CHECK_SLOPES(&t, sum, x, y);
    bench_end(&t);
}

/* Every allocation fails once: a clean status, nothing leaked, and the graph still good. */
EF_TEST(out_of_memory) {
    for (uint64_t at = 1; at < 100000; at += at < 300 ? 1 : 7) {
        bench t;
        bench_begin(&t);
        V c = integer(&t, 1), n = integer(&t, 2), x = vector(&t, 2), h = matrix(&t, 1, 2);
        V y = recurrent(&t, h, matrix(&t, 2, 2), x);
        y = ef_mul(gc(&t), branch(gc(&t), c, n, x), y);
        ef_edge xe = ef_graph_build_edge(x), ye = ef_graph_build_edge(y);
        ef_gradient d;
        ef_alloc_fail_at(at);
        ef_status *s = ef_gradients(t.g, &ye, 1, NULL, &xe, 1, NULL, 0, &d);
        bool failed = ef_alloc_failed();
        ef_alloc_fail_at(0);
        if (failed && s != NULL)
            CHECK_FAILS(s, EF_NO_MEMORY, "");
        else
            CHECK_OK(s);
        CHECK_OK(ef_graph_verify(t.g));
        bench_end(&t);
        if (!failed) return;
    }
}

int main(void) {
    EF_RUN(both_branches);
    EF_RUN(a_case);
    EF_RUN(calls);
    EF_RUN(a_power);
    EF_RUN(nothing_saved);
    EF_RUN(captured_weights);
    EF_RUN(vague_shapes);
    EF_RUN(nested_loops);
    EF_RUN(loop_inside_branch);
    EF_RUN(branch_inside_loop);
    EF_RUN(variable_in_loop);
    EF_RUN(lists_in_loops);
    EF_RUN(growing_variable);
    EF_RUN(handed_through);
    EF_RUN(effects_once);
    EF_RUN(slices_from_call);
    EF_RUN(list_of_two_shapes);
    EF_RUN(out_of_memory);
    return EF_VERDICT();
}
