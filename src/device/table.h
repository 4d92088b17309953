/* The tables of the devices, one file each; device.c numbers them. */
#ifndef EF_DEVICE_TABLE_H
#define EF_DEVICE_TABLE_H
#include "device/device.h"

extern const ef_device ef_device_cpu;  /* cpu.c */
extern const ef_device ef_device_test; /* test.c */
/* Adds a device, or removes the one that was added last. Must not be called while another thread
 * uses devices other than the host. */
ef_status *ef_device_add(const ef_device *d);
void ef_device_remove(const ef_device *d);
#endif
