/* Around waiting for another thread: a binding gives up its interpreter's lock meanwhile, since
 * that thread may need it (ef_blocking_hooks in evenflow_binding.h). */
#ifndef EF_BASE_BLOCKING_H
#define EF_BASE_BLOCKING_H

void *ef_blocking_begin(void); /* what ef_blocking_end takes; NULL is fine */
void ef_blocking_end(void *state);
#endif
