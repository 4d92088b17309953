/* The options of a dataset, as far as running it depends on them: the message
 * tensorflow.data.Options in the attribute `serialized_options` of OptionsDataset, in hexadecimal
 * digits, since attributes are texts without NUL. */
#ifndef EF_DATA_OPTIONS_H
#define EF_DATA_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ef_data_options { /* zeroed: nothing is set */
    bool autotune_set, autotune;
    bool inject_set, inject;        /* prefetch after the last stage */
    bool order_set, any_order;      /* stages whose own attribute leaves it open may reorder */
    int64_t cpu_budget, ram_budget; /* 0: not set */
} ef_data_options;

/* Sets the options of the message that are not set in *o yet. Unknown fields, and the rest of a
 * truncated message, are ignored. */
void ef_data_options_read(ef_data_options *o, const char *text, size_t n);
#endif
