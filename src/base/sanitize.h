/* Whether this is a sanitizer's build: EF_ASAN and EF_TSAN are 1 or 0. */
#ifndef EF_BASE_SANITIZE_H
#define EF_BASE_SANITIZE_H
#if defined(__has_feature)
#define EF_ASAN __has_feature(address_sanitizer)
#define EF_TSAN __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define EF_ASAN 1
#else
#define EF_ASAN 0
#endif
#ifdef __SANITIZE_THREAD__
#define EF_TSAN 1
#else
#define EF_TSAN 0
#endif
#endif
#endif
