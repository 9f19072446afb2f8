/* damaged_meshes FOLDER COUNT [SEED]: damages the folder's mesh files in COUNT ways and passes each to the program's
 * import. Each file must be read as a sound mesh or rejected with a message, in bounded time, and leave nothing
 * behind. A crash or endless loop of the import library must end only the import's child process. The import is
 * linked into this program, so that the child is started as the program starts it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "program/mesh/mesh.h"
#include "sets/random.h"

/* A file may be rejected after the import's own time limit, which is 50 s for files of this size. */
enum { SOURCES_MAX = 32, BYTES_MAX = 4096, HANG_SECONDS = 100 };

typedef struct source {
  char name[64];
  uint8_t bytes[BYTES_MAX];
  size_t size;
  unsigned long read, rejected, ended;
} source;

/* ---- damage ---- */

static uint32_t below(random_state *random, size_t limit) { return random_next(random) % (uint32_t)limit; }

static void remove_bytes(uint8_t *bytes, size_t *size, size_t at, size_t n) {
  memmove(bytes + at, bytes + at + n, *size - at - n);
  *size -= n;
}

static void insert_bytes(uint8_t *bytes, size_t *size, size_t at, const void *from, size_t n) {
  uint8_t copy[64];
  if (n > sizeof copy || *size + n > BYTES_MAX) return;
  memcpy(copy, from, n);
  memmove(bytes + at + n, bytes + at, *size - at);
  memcpy(bytes + at, copy, n);
  *size += n;
}

/* Numbers that are unusual for counts, indices and coordinates. */
static void put_number(random_state *random, uint8_t *bytes, size_t *size, size_t at) {
  static const char *const texts[] = {"-1", "4294967295", "99999999999999999999", "1e39", "nan", "-inf", "0x", "\n"};
  static const uint32_t words[] = {0xffffffffu, 0x7fffffffu, 0x80000000u, 0x7fc00000u, 0x10000u, 0u};
  if (random_next(random) & 1) {
    const char *text = texts[below(random, sizeof texts / sizeof *texts)];
    size_t old = 0;
    while (at + old < *size && strchr("0123456789.-", bytes[at + old]) && bytes[at + old]) old++;
    remove_bytes(bytes, size, at, old);
    insert_bytes(bytes, size, at, text, strlen(text));
  } else if (*size - at >= sizeof *words) {
    memcpy(bytes + at, &words[below(random, sizeof words / sizeof *words)], sizeof *words);
  }
}

static void damage_once(random_state *random, uint8_t *bytes, size_t *size) {
  const size_t at = below(random, *size), n = 1 + below(random, *size - at < 24 ? *size - at : 24);
  switch (below(random, 8)) {
    case 0:
      bytes[at] ^= (uint8_t)(1u << below(random, 8));
      break;
    case 1:
      bytes[at] = (uint8_t)random_next(random);
      break;
    case 2:
      *size = at + 1;
      break;
    case 3:
      if (n < *size) remove_bytes(bytes, size, at, n);
      break;
    case 4:
      insert_bytes(bytes, size, at, bytes + below(random, *size - n + 1), n);
      break;
    case 5:
      memmove(bytes + at, bytes + below(random, *size - n + 1), n);
      break;
    default:
      put_number(random, bytes, size, at);
  }
  if (*size == 0) bytes[(*size)++] = '\n';
}

/* ---- files ---- */

static int load_sources(const char *folder, source *sources) {
  int count = 0;
  DIR *list = opendir(folder);
  claim(list != NULL);
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
    char path[4096];
    source *s = &sources[count];
    if (entry->d_name[0] == '.') continue;
    claim(count < SOURCES_MAX && strlen(entry->d_name) < sizeof s->name);
    strcpy(s->name, entry->d_name);
    snprintf(path, sizeof path, "%s/%s", folder, s->name);
    FILE *file = fopen(path, "rb");
    claim(file != NULL);
    s->size = fread(s->bytes, 1, BYTES_MAX, file);
    claim(s->size > 0 && s->size < BYTES_MAX);
    fclose(file);
    count++;
  }
  closedir(list);
  return count;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  claim(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static int open_files(void) {
  int count = 0;
  DIR *list = opendir("/proc/self/fd");
  claim(list != NULL);
  while (readdir(list) != NULL) count++;
  closedir(list);
  return count;
}

/* ---- reading ---- */

static void is_sound(const mesh_data *mesh) {
  claim(mesh->triangle_count > 0 && (mesh->vertices == NULL) != (mesh->vertices64 == NULL) && mesh->indices != NULL);
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++) claim(mesh->indices[i] < mesh->vertex_count);
}

/* Imports the file and counts the outcome. */
static void import(source *from, const char *path) {
  char error[512] = "", start[128];
  mesh_data mesh;
  alarm(HANG_SECONDS);
  const int failed = mesh_read(path, &(mesh_options){0}, &mesh, error, sizeof error);
  alarm(0);
  if (!failed) {
    is_sound(&mesh);
    from->read++;
  } else {
    snprintf(start, sizeof start, "%s: rejected: ", path);
    claim(mesh.vertices == NULL && mesh.indices == NULL);
    claim(strncmp(error, start, strlen(start)) == 0 && strlen(error) > strlen(start));
    from->rejected++;
    from->ended += strstr(error, "(signal ") != NULL;
  }
  mesh_free(&mesh);
}

static void import_damaged(random_state *random, source *from) {
  uint8_t bytes[BYTES_MAX];
  char path[80];
  size_t size = from->size;
  memcpy(bytes, from->bytes, size);
  for (uint32_t i = below(random, 3) + 1; i > 0; i--) damage_once(random, bytes, &size);
  snprintf(path, sizeof path, "x-%s", from->name);
  write_file(path, bytes, size);
  import(from, path);
  unlink(path);
}

/* Undamaged files must be read. */
static void import_whole(source *s) {
  write_file(s->name, s->bytes, s->size);
  import(s, s->name);
  unlink(s->name);
  claim(s->read == 1);
  s->read = 0;
}

static void report(const source *sources, int count, unsigned long total, uint64_t seed, double seconds) {
  unsigned long read = 0, rejected = 0;
  printf("%-12s %8s %8s %8s\n", "file", "read", "rejected", "ended");
  for (const source *s = sources; s < sources + count; s++) {
    printf("%-12s %8lu %8lu %8lu\n", s->name, s->read, s->rejected, s->ended);
    read += s->read;
    rejected += s->rejected;
  }
  printf("%lu damaged meshes, seed %llu: %lu read, %lu rejected, 0 lost, in %.1f s\n", total, (unsigned long long)seed,
         read, rejected, seconds);
  claim(read + rejected == total && (total < 100 || (read > 0 && rejected > 0)));
}

int main(int argc, char **argv) {
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  if (argc < 3) {
    fprintf(stderr, "usage: damaged_meshes FOLDER COUNT [SEED]\n");
    return 2;
  }
  static source sources[SOURCES_MAX];
  const unsigned long total = strtoul(argv[2], NULL, 10);
  const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  const int count = load_sources(argv[1], sources);
  char folder[] = "/tmp/damaged-meshes-XXXXXX";
  claim(count > 0 && mkdtemp(folder) != NULL && chdir(folder) == 0);
  random_state random = random_seed(seed);
  const int files = open_files();
  const time_t begin = time(NULL);
  for (int i = 0; i < count; i++) import_whole(&sources[i]);
  for (unsigned long i = 0; i < total; i++) import_damaged(&random, &sources[i % (unsigned long)count]);
  claim(open_files() == files);
  claim(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* no child process or zombie is left */
  claim(rmdir(folder) == 0);
  report(sources, count, total, seed, difftime(time(NULL), begin));
  return 0;
}
