/* From a function graph to the program that runs it. Programs are shared by everything that has the
 * same structure: a graph rebuilt in a loop, a retraced function, another session. Bounded by the
 * budget of all caches, and for graphs that differ in numbers and sizes alone by number; least
 * recently used out first. */
#ifndef EF_PLAN_COMPILE_H
#define EF_PLAN_COMPILE_H
#include "plan/program.h"

/* g is a finished function graph without captures (see ef_graph_extract). *out is counted. */
ef_status *ef_compile(ef_graph *g, ef_program **out);
typedef struct ef_compile_info {
    uint64_t hits, misses, evictions;
    size_t programs, bytes;
} ef_compile_info;
void ef_compile_info_get(ef_compile_info *out);
void ef_compile_clear(void);
#endif
