/* SANITIZED: 1 when compiled with the address or the thread sanitizer of gcc or clang. They reserve terabytes of
 * address space. SANITIZED_THREADS: 1 with the thread sanitizer alone, which loses count of the threads after a fork.
 */
#ifndef SLABCAST_BASE_SANITIZED_H
#define SLABCAST_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define SANITIZED_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED_THREADS 1
#endif
#endif
#ifndef SANITIZED_THREADS
#define SANITIZED_THREADS 0
#endif

#endif
