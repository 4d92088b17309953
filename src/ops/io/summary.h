/* Summaries: values of a run that TensorBoard shows. A Summary message holds values, each with a
 * tag; the ops of TensorFlow 1 return such messages as strings, those of TensorFlow 2 write them to
 * a summary writer, a counted object with an event file. */
#ifndef EF_OPS_IO_SUMMARY_H
#define EF_OPS_IO_SUMMARY_H
#include "file/events.h"
#include "file/wire.h"
#include "ops/string/strings.h"

/* ---- the writer ------------------------------------------------------------------------------ */
typedef struct ef_summary_writer {
    ef_object object;
    ef_mutex lock;       /* guards the file */
    ef_event_file *file; /* NULL: not created yet, or closed */
} ef_summary_writer;
ef_status *ef_summary_writer_make(ef_summary_writer **out);
ef_status *ef_call_writer(const ef_call *c, ef_summary_writer **out); /* of input 0 */
/* Writes one event; EF_NOT_FOUND if the writer has no file. */
ef_status *ef_summary_write(const ef_call *c, ef_summary_writer *w, const ef_text *event);

/* ---- values of a Summary message ------------------------------------------------------------- */
/* Each function appends one or several values; errors name the op. */
typedef struct ef_tag { /* "tag", or "tag/image/3" */
    const char *at;
    size_t n;
} ef_tag;
ef_status *ef_summary_scalar(ef_text *out, const ef_tag *tag, double value);
ef_status *ef_summary_histogram(ef_text *out, const ef_call *c, const ef_tag *tag,
                                const ef_tensor *values);
/* images: [batch, height, width, channels]; bad: the colour for pixels that are not finite. */
ef_status *ef_summary_images(ef_text *out, const ef_call *c, const ef_tag *tag,
                             const ef_tensor *images, const ef_tensor *bad, int64_t most);
/* sound: [batch, frames] or [batch, frames, channels]. */
ef_status *ef_summary_sounds(ef_text *out, const ef_call *c, const ef_tag *tag,
                             const ef_tensor *sound, float rate, int64_t most);
ef_status *ef_summary_tensor(ef_text *out, const ef_tag *tag, const ef_tensor *value,
                             const ef_str *metadata);

/* Encodes a WAV file of 16-bit samples; the channels are interleaved. */
ef_status *ef_wav_encode(const ef_op *op, const float *samples, int64_t frames, int64_t channels,
                         int64_t rate, ef_text *out);
#endif
