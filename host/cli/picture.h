/* Writes PNG pictures. */
#ifndef SLABCAST_CLI_PICTURE_H
#define SLABCAST_CLI_PICTURE_H

#include <stdint.h>

/* Writes width * height pixels of three bytes, top row first. The file has no time and no gamma, so the same pixels
 * give the same bytes. It appears whole or not at all. Returns 0, or -1 with the error printed. */
int picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *pixels);

#endif
