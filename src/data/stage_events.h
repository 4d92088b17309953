/* Counting and timing the stages of pipelines, for the doctor. It is off unless ef_stages_watch was
 * called; then a stage whose dataset has a place posts an event when it is closed. */
#ifndef EF_DATA_STAGE_EVENTS_H
#define EF_DATA_STAGE_EVENTS_H
#include "data/stage.h"

void ef_stage_opened(ef_stage *s);
void ef_stage_closes(ef_stage *s); /* it was counted */
/* A call of a counted stage: it took ns and gave n elements, which begin at `out`. */
void ef_stage_gave(ef_stage *s, uint64_t ns, int64_t n, const ef_tensor *out);
#endif
