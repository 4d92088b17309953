/* From a function graph to the program that runs it. Programs are shared by everything that has the
 * same structure: a graph rebuilt in a loop, a retraced function, another session. The cache shares
 * the budget of all caches, and keeps at most 64 programs of graphs that differ only in constants
 * and sizes; the least recently used is evicted first. */
#ifndef EF_PLAN_COMPILE_H
#define EF_PLAN_COMPILE_H
#include "plan/program.h"

/* g is a finished function graph without captures (see ef_graph_extract). *out is counted. */
ef_status *ef_compile(ef_graph *g, ef_program **out);
/* The program of g's structure if the cache has it; else *out is NULL. g may have another owner who
 * still extends it: nothing keeps it. */
ef_status *ef_compile_known(ef_graph *g, ef_program **out);
typedef struct ef_compile_info {
    uint64_t hits, misses, evictions;
    size_t programs, bytes;
} ef_compile_info;
void ef_compile_info_get(ef_compile_info *out);
void ef_compile_clear(void);
#endif
