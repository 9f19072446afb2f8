/* same_pixels PICTURE [PICTURE | WxH]: decodes PNGs, and reports the first pixel that differs, or a wrong size, on
 * stderr. Exit codes: 0 the same (or of that size), 1 not the same, 2 not a readable PNG. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_picture(const char *path, png_image *picture, png_bytep *pixels) {
  *picture = (png_image){.version = PNG_IMAGE_VERSION};
  *pixels = NULL;
  if (png_image_begin_read_from_file(picture, path)) {
    picture->format = PNG_FORMAT_RGBA;
    *pixels = malloc(PNG_IMAGE_SIZE(*picture));
    if (*pixels && png_image_finish_read(picture, NULL, *pixels, 0, NULL)) return 0;
  }
  fprintf(stderr, "%s: %s\n", path, picture->message);
  png_image_free(picture);
  return -1;
}

static int compare_size(const png_image *picture, const char *path, unsigned width, unsigned height) {
  if (picture->width == width && picture->height == height) return 0;
  fprintf(stderr, "%s: %ux%u, not %ux%u\n", path, picture->width, picture->height, width, height);
  return 1;
}

static int compare_pixels(const png_image *picture, png_const_bytep got, png_const_bytep want) {
  const size_t count = (size_t)picture->width * picture->height;
  size_t differ = 0, first = 0;
  for (size_t i = count; i-- > 0;) {
    if (!memcmp(got + 4 * i, want + 4 * i, 4)) continue;
    differ++;
    first = i;
  }
  if (differ == 0) return 0;
  const png_const_bytep g = got + 4 * first, w = want + 4 * first;
  fprintf(stderr, "pixel (%zu, %zu): %u %u %u against %u %u %u; %zu of %zu pixels differ\n", first % picture->width,
          first / picture->width, g[0], g[1], g[2], w[0], w[1], w[2], differ, count);
  return 1;
}

static int compare_files(const png_image *picture, png_const_bytep pixels, char **paths) {
  png_image other;
  png_bytep others = NULL;
  if (read_picture(paths[1], &other, &others)) return 2;
  const int differs =
      compare_size(picture, paths[0], other.width, other.height) || compare_pixels(picture, pixels, others);
  free(others);
  return differs;
}

int main(int argc, char **argv) {
  png_image picture;
  png_bytep pixels = NULL;
  unsigned width = 0, height = 0;
  char end = 0;
  if (argc != 2 && argc != 3) return 2;
  if (read_picture(argv[1], &picture, &pixels)) return 2;
  int code = 0;
  if (argc == 3 && sscanf(argv[2], "%ux%u%c", &width, &height, &end) == 2)
    code = compare_size(&picture, argv[1], width, height);
  else if (argc == 3)
    code = compare_files(&picture, pixels, argv + 1);
  free(pixels);
  return code;
}
