/* The devices of this machine. Each has a number, a name and a table of functions: its memory, its
 * queue, its events and its copies. CPU:0 is always there, is number 0 and is the host: its memory
 * is that of the process, its queue is the calling thread. TEST:0 (test.h) exists only when a test
 * asks for it. docs/devices.md tells how one is added. */
#ifndef EF_DEVICE_DEVICE_H
#define EF_DEVICE_DEVICE_H
#include "base/context.h"
#include "device/memory.h"

enum {
    EF_HOST = 0,       /* CPU:0, whose memory any thread may read and write */
    EF_DEVICE_MOST = 4 /* the number of devices is at most this */
};
/* A caller's work on a queue. The work is run in the order of submission; after a failure the
 * batch's later work is skipped. Zeroed to begin with, apart from the device; a batch serves one
 * thread, which must wait before it ends the batch. */
typedef struct ef_batch {
    int device;
    uint64_t last;     /* the event after its latest work; 0: none was submitted since the wait */
    ef_status *failed; /* the first failure; written by the queue until the wait */
} ef_batch;

/* One piece of work, kept by the submitter until the batch was waited for. */
typedef struct ef_work {
    struct ef_work *next;
    ef_status *(*run)(struct ef_work *w); /* on the queue */
    ef_batch *batch;
} ef_work;

typedef struct ef_device {
    const char *name, *type; /* "CPU:0", "CPU" */
    int index;               /* among devices of its type */
    uint8_t kind;            /* EF_CPU, EF_OPENCL or EF_TEST (base/context.h) */
    /* Memory. Addresses are the device's own: the host must not use them unless the device is the
     * host. Memory that was freed may be given to work that is submitted later, though the queue is
     * not done with earlier work. */
    ef_status *(*alloc)(size_t bytes, void **out); /* 64-byte aligned */
    void (*free)(void *p, size_t bytes);           /* bytes as asked for */
    void (*info)(ef_memory_info *out);
    void (*set_limit)(int64_t bytes); /* 0: none */
    void (*reset_peak)(void);
    void (*trim)(void); /* gives cached memory back to the system */
    /* The queue: work runs in the order of submission, whoever submits it. */
    void (*submit)(ef_work *w);
    /* Events: a number that stands for all work submitted so far, and waiting for it. */
    uint64_t (*record)(void);
    void (*wait)(uint64_t event);
    /* Translates an address of the device into one that work on the queue can use. */
    void *(*reach)(void *p);
} ef_device;

int ef_device_count(void);
const ef_device *ef_device_get(int device); /* NULL if there is no such device */
const char *ef_device_name(int device);     /* "CPU:0"; NULL if there is no such device */
/* Understands "CPU:0", "/cpu:0", "/device:CPU:0", "CPU" and the long form with job, replica and
 * task; -1 if there is no such device. */
int ef_device_find(const char *name);
uint8_t ef_device_kind(int device);
const char *ef_device_type(int device); /* "CPU"; NULL if there is no such device */

/* Submits w as the batch's next work. */
void ef_batch_submit(ef_batch *b, ef_work *w, ef_status *(*run)(ef_work *w));
/* Waits until all work of the batch is done. Returns its first failure, which the caller then owns.
 */
ef_status *ef_batch_wait(ef_batch *b);

/* Copies between host memory and a device's, or within the device; the batch's earlier work comes
 * first, and its failure is returned. `to` is valid, and `from` no longer needed, on return. */
typedef enum ef_copy_way { EF_COPY_TO_DEVICE, EF_COPY_TO_HOST, EF_COPY_WITHIN } ef_copy_way;
ef_status *ef_device_copy(ef_batch *b, ef_copy_way way, void *to, const void *from, size_t bytes);
/* How many copies there were in each direction since the process began. */
typedef struct ef_copy_counts {
    uint64_t n[3], bytes[3];
} ef_copy_counts;
void ef_device_copies(int device, ef_copy_counts *out);
#endif
