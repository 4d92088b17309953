/* How many processors this process may really use: the affinity mask and the cgroup's quota. */
#ifndef EF_BASE_QUOTA_H
#define EF_BASE_QUOTA_H

/* Processors the quota allows, rounded up; 0 if there is no quota. `root` stands before /proc and
 * /sys; "" but in tests. Understands cgroup v1 and v2, nested groups included. */
int ef_quota_cgroup(const char *root);
int ef_quota_affinity(void); /* processors in this thread's mask; at least 1 */
#endif
