/* Devices: listing those of every backend, and choosing. */
#include "registry/device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/process.h"
#include "base/status.h"
#include "device/backend.h"
#include "os/process.h"

/* ---- listing ---- */

static const struct {
  const char *name; /* in SLABCAST_BACKENDS */
  const backend *backend;
} backends[] = {{"native", &native_backend}, {"cuda", &cuda_backend}, {"opencl", &opencl_backend}};

/* Whether the environment variable SLABCAST_BACKENDS names a backend, or is not set. */
static bool is_wanted(const char *name) {
  const char *wanted = getenv("SLABCAST_BACKENDS");
  if (wanted == NULL || *wanted == 0) return true;
  const size_t length = strlen(name);
  for (const char *at = wanted; *at != 0; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return true;
  return false;
}

/* Whether a GPU may be here. Linux has a file for each kind of driver. A call of OpenCL instead may take a tenth of a
 * second: it loads every driver. Where a variable names the loader's drivers, OpenCL is called. */
static bool may_have_gpu(void) {
#ifdef __linux__
  static const char *const files[] = {"/dev/dri", "/dev/nvidiactl", "/dev/nvidia0",  "/dev/nvmap",   "/dev/kfd",
                                      "/dev/dxg", "/dev/mali0",     "/dev/kgsl-3d0", "/dev/galcore", "/dev/pvrsrvkm"};
  static const char *const variables[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_LAYERS"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (os_has_file(files[i])) return true;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (getenv(variables[i]) != NULL) return true;
  return false;
#else
  return true;
#endif
}

/* Whether the selector (NULL: none) chooses the processor, with any other devices present. */
static bool is_processors(const char *selector) {
  return selector == NULL ? !may_have_gpu() : strcmp(selector, "cpu") == 0;
}

static bool is_known(const found_device *d) {
  static const unsigned char unknown[UUID_SIZE];
  return memcmp(d->uuid, unknown, UUID_SIZE) != 0;
}

/* Leaves a card out that another driver before has listed. */
static void drop_repeated(device_list *list, size_t before) {
  size_t kept = before;
  for (size_t i = before; i < list->count; i++) {
    bool repeated = false;
    for (size_t k = 0; k < before && is_known(&list->devices[i]); k++)
      repeated = repeated || memcmp(list->devices[k].uuid, list->devices[i].uuid, UUID_SIZE) == 0;
    if (!repeated) list->devices[kept++] = list->devices[i];
  }
  list->count = kept;
}

/* Lists the devices of each backend. One without devices is no failure where another has some. Where `selector` can
 * only choose the processor, no other backend is called. On failure the list is empty and there is nothing to free. */
static slab_status find_devices(const char *function, device_list *list, const char *selector) {
  slab_status status = SLAB_NO_DEVICE;
  *list = (device_list){0};
  for (size_t i = 0; i < sizeof backends / sizeof *backends && status != SLAB_OUT_OF_MEMORY; i++) {
    if (!is_wanted(backends[i].name)) continue;
    const size_t before = list->count;
    status = backends[i].backend->list(backends[i].backend, list);
    drop_repeated(list, before);
    if (status == SLAB_OK && backends[i].backend == &native_backend && is_processors(selector)) return SLAB_OK;
  }
  if (status == SLAB_OUT_OF_MEMORY || list->count == 0) {
    free(list->devices);
    list->devices = NULL;
    if (!is_wanted("native") && !is_wanted("cuda") && !is_wanted("opencl"))
      return fail(SLAB_NO_DEVICE, "SLABCAST_BACKENDS is \"%s\", which names none of native, cuda and opencl",
                  getenv("SLABCAST_BACKENDS"));
    return status == SLAB_INVALID_STATE ? process_check_drivers(function) : status;
  }
  return SLAB_OK;
}

slab_status slab_devices(slab_device_info *list, size_t capacity, size_t *count) {
  if (count == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_devices: count is NULL");
  if (list == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_devices: list is NULL");
  ARITHMETIC callers = arithmetic_begin(); /* threads that the driver starts inherit it */
  device_list found;
  slab_status status = process_begin("slab_devices");
  if (status == SLAB_OK) status = find_devices("slab_devices", &found, "");
  if (status == SLAB_NO_DEVICE) *count = 0;
  if (status != SLAB_OK) return status;
  for (size_t i = 0; i < found.count && i < capacity; i++) list[i] = found.devices[i].info;
  *count = found.count;
  free(found.devices);
  return SLAB_OK;
}

/* ---- choosing ---- */

static bool contains_ignoring_case(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text != 0; text++) {
    size_t i = 0;
    while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) i++;
    if (i == length) return true;
  }
  return false;
}

/* "cuda:1" as NVIDIA's driver counts its cards, some of which may not be listed. */
static bool is_card(const found_device *d, const char *selector) {
  static const char prefix[] = "cuda:";
  char number[16];
  snprintf(number, sizeof number, "%d", d->ordinal);
  return d->backend == &cuda_backend && strncmp(selector, prefix, sizeof prefix - 1) == 0 &&
         strcmp(selector + sizeof prefix - 1, number) == 0;
}

static bool device_matches(const found_device *d, size_t index, const char *selector) {
  const slab_device_info *info = &d->info;
  char *end;
  unsigned long number = strtoul(selector, &end, 10);
  if (isdigit((unsigned char)*selector) && *end == 0) return number == index;
  if (strcmp(selector, "cpu") == 0) return info->type == SLAB_DEVICE_CPU;
  if (strcmp(selector, "gpu") == 0) return info->type == SLAB_DEVICE_GPU;
  if (is_card(d, selector)) return true;
  return contains_ignoring_case(info->name, selector) || contains_ignoring_case(info->platform, selector);
}

/* The devices by their numbers, as far as there is space. */
static void name_all(const device_list *found, char *text, size_t size) {
  size_t at = (size_t)snprintf(text, size, found->count ? "the list has" : "the list is empty");
  for (size_t i = 0; i < found->count && at < size; i++)
    at += (size_t)snprintf(text + at, size - at, "%s %zu \"%s\"", i ? "," : "", i, found->devices[i].info.name);
}

static slab_status fail_no_match(const device_list *found, const char *selector) {
  char list[1024];
  name_all(found, list, sizeof list);
  if (found->refused[0] == 0) return fail(SLAB_NO_DEVICE, "no device matches \"%s\": %s", selector, list);
  return fail(SLAB_NO_DEVICE, "no device matches \"%s\": %s, and lacks one that cannot be described (%s)", selector,
              list, found->refused);
}

/* Chooses the first device that the selector names. Without a selector: a GPU if there is one, else the first device.
 */
static slab_status choose_one(const device_list *found, const char *selector, size_t *chosen) {
  for (size_t i = 0; i < found->count; i++)
    if (device_matches(&found->devices[i], i, selector == NULL ? "gpu" : selector)) {
      *chosen = i;
      return SLAB_OK;
    }
  *chosen = 0;
  return selector == NULL ? SLAB_OK : fail_no_match(found, selector);
}

/* Chooses the device of the next entry of a list. Empty entries and repeated devices are refused. */
static slab_status choose_next(const char *list, const char **rest, const device_list *found, size_t *chosen,
                               size_t *n) {
  const size_t length = strcspn(*rest, ",");
  char word[sizeof((slab_device_info *)0)->name];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), *rest);
  if (length == 0) return fail(SLAB_INVALID_ARGUMENT, "the list of devices \"%s\" has an empty entry", list);
  *rest += length + ((*rest)[length] == ',' && (*rest)[length + 1] != 0);
  slab_status status = choose_one(found, word, &chosen[*n]);
  for (size_t i = 0; status == SLAB_OK && i < *n; i++)
    if (chosen[i] == chosen[*n])
      return fail(SLAB_INVALID_ARGUMENT, "the list of devices \"%s\" names device %zu twice, by \"%s\" again", list,
                  chosen[i], word);
  (*n)++;
  return status;
}

static slab_status choose_list(const char *list, const device_list *found, size_t *chosen, size_t *n) {
  slab_status status;
  const char *rest = list;
  do status = choose_next(list, &rest, found, chosen, n);
  while (status == SLAB_OK && *rest != 0);
  return status;
}

/* Whether an OpenCL device is the processor that the library has as a device itself. */
static bool is_processor_again(const device_list *found, const found_device *d) {
  return d->info.type == SLAB_DEVICE_CPU && d->backend != &native_backend &&
         found->devices[0].backend == &native_backend;
}

/* Chooses every device that can keep the contract, and the processor once. */
static slab_status choose_all(const device_list *found, size_t *chosen, size_t *n) {
  for (size_t i = 0; i < found->count; i++)
    if (found->devices[i].info.rounds_to_nearest && !is_processor_again(found, &found->devices[i])) chosen[(*n)++] = i;
  return *n > 0 ? SLAB_OK : fail(SLAB_UNSUPPORTED, "no device rounds to nearest: the list has %zu", found->count);
}

slab_status device_list_choose(const char *selector, found_device **chosen, size_t *n) {
  device_list found;
  *chosen = NULL;
  *n = 0;
  slab_status status = find_devices("slab_context_create", &found, selector);
  if (status != SLAB_OK) return status;
  size_t *indices = calloc(found.count + 1, sizeof *indices);
  if (indices == NULL) {
    status = fail_memory((found.count + 1) * sizeof *indices, "the device list");
  } else if (selector != NULL && strcmp(selector, "all") == 0) {
    status = choose_all(&found, indices, n);
  } else if (selector != NULL && strchr(selector, ',') != NULL) {
    status = choose_list(selector, &found, indices, n);
  } else {
    status = choose_one(&found, selector, indices);
    *n = 1;
  }
  if (status == SLAB_OK && (*chosen = calloc(*n, sizeof **chosen)) == NULL)
    status = fail_memory(*n * sizeof **chosen, "the device list");
  for (size_t i = 0; status == SLAB_OK && i < *n; i++) (*chosen)[i] = found.devices[indices[i]];
  free(indices);
  free(found.devices);
  return status;
}
