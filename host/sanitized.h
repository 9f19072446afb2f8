/* SANITIZED: compiled under the address or the thread sanitizer, of gcc or of clang. They take terabytes of addresses
 * for themselves, and are not there yet when a library's functions are chosen by processor. */
#ifndef SLABCAST_SANITIZED_H
#define SLABCAST_SANITIZED_H

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

#endif
