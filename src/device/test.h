/* TEST:0, a device for tests: memory that the host cannot touch, and a queue with a thread of its
 * own, which runs the CPU's kernels. It shows that nothing but copies crosses from one device to
 * another. EF_TEST_DEVICE=1 in the environment starts it when devices are first asked for. */
#ifndef EF_DEVICE_TEST_H
#define EF_DEVICE_TEST_H
#include "base/status.h"

ef_status *ef_test_device_start(void); /* does nothing if the device exists */
/* Ends it. EF_FAILED_PRECONDITION while some of its memory is in use. */
ef_status *ef_test_device_stop(void);
#endif
