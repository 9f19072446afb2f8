/* The version, status texts, and the message of each thread's last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"

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

void status_record(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
}
