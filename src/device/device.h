/* The devices of this machine, by number. CPU:0 is always there and is number 0. */
#ifndef EF_DEVICE_DEVICE_H
#define EF_DEVICE_DEVICE_H

enum { EF_HOST = 0 }; /* CPU:0, whose memory any thread may read and write */

int ef_device_count(void);
const char *ef_device_name(int device); /* "CPU:0"; NULL if there is no such device */
/* Understands "CPU:0", "/cpu:0", "/device:CPU:0", "CPU" and the long form with job, replica and
 * task; -1 if there is no such device. */
int ef_device_find(const char *name);
#endif
