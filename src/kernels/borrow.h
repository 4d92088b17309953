/* Memory for the time of one call, kept for the next: takes nothing from the system when hot. */
#ifndef EF_KERNELS_BORROW_H
#define EF_KERNELS_BORROW_H
#include <stddef.h>

void *ef_borrow(size_t bytes); /* 64-byte aligned, not zeroed; NULL on failure */
void ef_borrow_end(void *p);   /* NULL is fine */
#endif
