#include "cli.h"

int complain_status(slab_status status, const char *what) {
  const char *message = slab_message();
  complain("%s: %s", what, message[0] ? message : slab_status_text(status));
  return status == SLAB_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}
