/* Places of the user's program, in a table of fixed size: see ef_site_find in evenflow_binding.h.
 */
#ifndef EF_PROFILE_SITE_H
#define EF_PROFILE_SITE_H
#include "evenflow_binding.h"

/* The place that this thread's program has named by ef_site_set; 0: none. */
uint32_t ef_site_here(void);
/* Whether `id` still names the place it was made for. */
bool ef_site_alive(uint32_t id);
#endif
