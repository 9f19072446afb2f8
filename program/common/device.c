#include "program/common/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/options.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/io/progress.h"

/* ---- opening ---------------------------------------------------------------- */

int device_open_with(const slab_context_options *options, slab_context **context) {
  progress line = progress_begin("opening", "devices", 0, 0);
  progress_await(&line,
                 options->device ? options->device : "a device"); /* opening a device runs a kernel that probes it */
  const slab_status status = slab_context_create(options, context);
  progress_end(&line);
  if (status == SLAB_OK) return EXIT_DONE;
  char what[160] = "opening a device";
  if (options->device) snprintf(what, sizeof what, "--device %s", options->device);
  return complain_status(status, what);
}

int device_open(const char *selector, uint64_t threads, slab_context **context) {
  const slab_context_options options = {.device = selector, .threads = (uint32_t)threads};
  return device_open_with(&options, context);
}

void device_names(const slab_context *context, char *text, size_t size) {
  slab_device_info list[8];
  size_t count = 0, used = 0;
  if (slab_context_devices(context, list, COUNT_OF(list), &count) != SLAB_OK) return;
  for (size_t i = 0; i < count && i < COUNT_OF(list) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : " + ", list[i].name);
}

bool device_is_cudas(const slab_device_info *device) { return strcmp(device->platform, "CUDA") == 0; }

const char *device_type_name(slab_device_type type) {
  return type == SLAB_DEVICE_CPU ? "CPU" : type == SLAB_DEVICE_GPU ? "GPU" : "other";
}

/* ---- slabcast devices: lists the OpenCL devices ----------------------------- */

typedef struct devices_options {
  int json;
} devices_options;

static const option option_rows[] = {
    {"--json", NULL, OPTION_SWITCH, offsetof(devices_options, json), "as JSON", 0, 0},
};

static const command_line command = {
    .usage = "devices [--json]",
    .about =
        "Lists the devices in the order in which --device counts them: the processor, with the library's own\n"
        "kernels, NVIDIA's cards by CUDA, and those of OpenCL.",
    .closing =
        "lanes: primitives tested at once by one work-item. exact: subnormal numbers are kept and division\n"
        "is correctly rounded by the device itself, so that answers equal the CPU reference for any input.\n"
        "Below each device stand its platform and driver.\n\n"
        "  slabcast devices --json",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

static json_t *describe(const slab_device_info *device, size_t index) {
  return json_pack(
      "{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b}", "index", (json_int_t)index, "name",
      device->name, "type", device_type_name(device->type), "vendor", device->vendor, "driver", device->driver,
      "version", device->version, "platform", device->platform, "compute_units", (json_int_t)device->compute_units,
      "clock_mhz", (json_int_t)device->clock_mhz, "memory_bytes", (json_int_t)device->memory_bytes, "allocation_bytes",
      (json_int_t)device->allocation_bytes, "lane_width", (json_int_t)device->lane_width, "denormals",
      device->denormals, "rounds_to_nearest", device->rounds_to_nearest, "exact_divide", device->exact_divide);
}

static int print_json(const slab_device_info *list, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < count; i++)
    if (json_array_append_new(array, describe(&list[i], i))) {
      json_decref(array);
      array = NULL;
    }
  return json_save("-", array) ? EXIT_FAILED : EXIT_DONE;
}

static const char *exactness(const slab_device_info *device) {
  if (!device->rounds_to_nearest) return "refused";
  if (!device->denormals) return "flushes";
  return device->exact_divide ? "yes" : "emulated";
}

static void print_table(const slab_device_info *list, size_t count) {
  int width = 4;
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(list[i].name) > width) width = (int)strlen(list[i].name);
  if (width > 48) width = 48;
  printf("%3s  %-*s  %-5s  %5s  %5s  %9s  %5s  %s\n", "#", width, "name", "type", "units", "MHz", "memory", "lanes",
         "exact");
  for (size_t i = 0; i < count; i++) {
    const slab_device_info *device = &list[i];
    printf("%3zu  %-*.*s  %-5s  %5" PRIu32 "  %5" PRIu32 "  %5.1f GiB  %5" PRIu32 "  %s\n", i, width, width,
           device->name, device_type_name(device->type), device->compute_units, device->clock_mhz,
           (double)device->memory_bytes / (double)(1 << 30), device->lane_width, exactness(device));
    printf("     %s, %s\n", device->platform, device->driver);
  }
}

static int command_main(int argc, char **argv) {
  devices_options options = {0};
  size_t count = 0;
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (code != OPTIONS_RUN) return code;
  slab_status status = slab_devices(NULL, 0, &count);
  slab_device_info *list = status == SLAB_OK ? calloc(count ? count : 1, sizeof *list) : NULL;
  if (status == SLAB_OK && list) status = slab_devices(list, count, &count);
  if (status != SLAB_OK) {
    code = complain_status(status, "devices");
  } else if (!list) {
    complain("devices: out of memory");
    code = EXIT_FAILED;
  } else if (options.json) {
    code = print_json(list, count);
  } else {
    print_table(list, count);
    code = EXIT_DONE;
  }
  free(list);
  return code;
}

const program_command command_devices = {"devices", "list the devices", command_main, &command};
