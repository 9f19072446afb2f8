/* What a program that writes more than the machine's memory owes the page cache: hints, without effect on any byte. */
#ifndef SLABCAST_CLI_PAGE_CACHE_H
#define SLABCAST_CLI_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* To be called as a file grows to `size` bytes; *sent begins with 0. What is written is sent to the disk at once, and
 * let go from memory once it is there: dirty pages then do not pile up until the disk holds up whoever writes, or the
 * fsync at the end. Of 1.6 GB it took the system's time from 3.2 s to 0.9 s. Files of less than 160 MiB stay in memory.
 */
void page_cache_write(int fd, uint64_t size, uint64_t *sent);

/* To be called after `got` bytes were read of a file of `size` bytes; *held begins with 0. What was read is let go from
 * memory where all of the file would take more than a quarter of it: it could not stay for another run, and would drive
 * out what is needed. */
void page_cache_read(int fd, uint64_t size, size_t got, uint64_t *held);

#endif
