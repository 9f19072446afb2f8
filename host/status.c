/* The version, status texts, and the message of each thread's last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "status.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *slab_version(void) { return VERSION_TEXT(SLAB_VERSION_MAJOR, SLAB_VERSION_MINOR, SLAB_VERSION_PATCH); }
uint32_t slab_version_number(void) { return SLAB_VERSION_NUMBER; }

static _Thread_local char message[16384];

const char *slab_status_text(slab_status status) {
  switch (status) {
#define STATUS_TEXT(name, text) \
  case name:                    \
    return text;
    SLAB_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
  }
  return "unknown status";
}

const char *slab_message(void) { return message; }

void record_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
}

const char *cl_code_name(cl_int code) {
  static const struct {
    cl_int code;
    const char *name;
  } names[] = {
#define CODE(name) {name, #name}
      CODE(CL_DEVICE_NOT_FOUND),
      CODE(CL_DEVICE_NOT_AVAILABLE),
      CODE(CL_COMPILER_NOT_AVAILABLE),
      CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      CODE(CL_OUT_OF_RESOURCES),
      CODE(CL_OUT_OF_HOST_MEMORY),
      CODE(CL_BUILD_PROGRAM_FAILURE),
      CODE(CL_MAP_FAILURE),
      CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
      CODE(CL_INVALID_VALUE),
      CODE(CL_INVALID_PLATFORM),
      CODE(CL_INVALID_DEVICE),
      CODE(CL_INVALID_CONTEXT),
      CODE(CL_INVALID_COMMAND_QUEUE),
      CODE(CL_INVALID_MEM_OBJECT),
      CODE(CL_INVALID_BUILD_OPTIONS),
      CODE(CL_INVALID_PROGRAM),
      CODE(CL_INVALID_PROGRAM_EXECUTABLE),
      CODE(CL_INVALID_KERNEL),
      CODE(CL_INVALID_KERNEL_NAME),
      CODE(CL_INVALID_KERNEL_ARGS),
      CODE(CL_INVALID_ARG_INDEX),
      CODE(CL_INVALID_ARG_VALUE),
      CODE(CL_INVALID_ARG_SIZE),
      CODE(CL_INVALID_WORK_GROUP_SIZE),
      CODE(CL_INVALID_EVENT),
      CODE(CL_INVALID_EVENT_WAIT_LIST),
      CODE(CL_INVALID_OPERATION),
      CODE(CL_INVALID_BUFFER_SIZE),
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef CODE
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return names[i].name;
  return "error";
}
