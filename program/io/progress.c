#include "program/io/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/os/file.h"

static const double REDRAW_SECONDS = 0.25;
/* Work that is shorter shows no line. */
static const double QUIET_SECONDS = 0.5;

/* The most columns of a line: only the terminal's last row can be cleared. The last column stays free, since some
 * terminals wrap there. */
enum { LINE_MAX_COLUMNS = 79 };
static int line_columns(void) {
  const int columns = os_terminal_columns(OS_STDERR);
  return columns > 1 && columns <= LINE_MAX_COLUMNS ? columns - 1 : LINE_MAX_COLUMNS;
}

void terminal_wipe(void) {
  const char *set = getenv("NO_COLOR");
  if (set && set[0])
    fprintf(stderr, "\r%*s\r", line_columns(), "");
  else
    fputs("\r\033[K", stderr);
}

static void draw(const char *line) {
  terminal_wipe();
  fprintf(stderr, "%.*s", line_columns(), line);
  fflush(stderr);
}

progress progress_begin(const char *what, const char *unit, uint64_t first, uint64_t total) {
  const double now = seconds_now();
  return (progress){.what = what,
                    .unit = unit,
                    .base = first,
                    .first = first,
                    .from = first,
                    .total = total,
                    .start = now,
                    .drawn = now + QUIET_SECONDS - REDRAW_SECONDS,
                    .shown = os_is_terminal(OS_STDERR)};
}

/* ---- before the first answers ---- */

/* Only the driver knows whether it compiles kernels or has cached them, so the text names the work of a first run. A
 * long name is cut, and left out where there is hardly space for it. */
static void draw_wait(const char *device) {
  static const char what[] = "the first run compiles its kernels";
  const int space = line_columns() - (int)(sizeof "waiting for \"\": " + sizeof what - 2);
  char line[LINE_MAX_COLUMNS + 1];
  if (space >= 8)
    snprintf(line, sizeof line, "waiting for \"%.*s\": %s", space, device, what);
  else
    snprintf(line, sizeof line, "waiting: %s", what);
  draw(line);
}

/* Shows the message that the first answers are awaited. */
static void *tell_of_wait(void *user) {
  progress *line = user;
  const double end = seconds_now() + QUIET_SECONDS;
  os_mutex_lock(&line->lock);
  while (line->waits && os_condition_wait_until(&line->answered, &line->lock, end)) {
  }
  line->told = line->waits;
  if (line->told) draw_wait(line->device);
  os_mutex_unlock(&line->lock);
  return NULL;
}

/* Without a thread the waiting line is not shown. */
static int begin_wait(progress *line) {
  if (!os_mutex_init(&line->lock)) return 0;
  if (!os_condition_init_timed(&line->answered)) {
    line->waits = 1;
    if (!os_thread_start(&line->thread, tell_of_wait, line)) return 1;
    os_condition_destroy(&line->answered);
  }
  os_mutex_destroy(&line->lock);
  return 0;
}

void progress_await(progress *line, const char *device) {
  if (!line->shown || line->wait != WAIT_NONE) return;
  line->device = device;
  line->wait = begin_wait(line) ? WAIT_BEGUN : WAIT_OVER;
}

void progress_answered(progress *line) {
  if (line->wait != WAIT_BEGUN) return;
  os_mutex_lock(&line->lock);
  line->waits = 0;
  os_condition_signal(&line->answered);
  os_mutex_unlock(&line->lock);
  os_thread_join(line->thread);
  os_condition_destroy(&line->answered);
  os_mutex_destroy(&line->lock);
  line->wait = WAIT_OVER;
  if (line->told) terminal_wipe();
  fflush(stderr);
}

/* ---- the line ---- */

/* Formats a number like 12.3 M. */
static const char *short_number(double value, char text[16]) {
  static const char *const units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  for (; value >= 1000 && unit < 4; unit++) value /= 1000;
  snprintf(text, 16, unit ? "%.1f%s" : "%.0f%s", value, units[unit]);
  return text;
}

static const char *clock_time(double seconds, char text[24]) {
  const long whole = seconds < 360000 ? (long)(seconds + 0.5) : 359999;
  if (whole >= 3600)
    snprintf(text, 24, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    snprintf(text, 24, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

/* Restarts the rate at the first answers, so that it is the rate of the casting alone. */
static int counts_anew(progress *line, uint64_t done, double now) {
  if (line->wait == WAIT_NONE || line->answers) return 0;
  line->answers = 1;
  line->from = done;
  line->start = now;
  return 1;
}

/* The share done and the time left, each with a comma before; empty where the total is not known. */
static void tell_share(const progress *line, uint64_t done, double rate, char text[48]) {
  char left[24];
  text[0] = '\0';
  if (!line->total || done > line->total) return;
  const int at = snprintf(text, 48, ", %.1f %%", 100.0 * (double)done / (double)line->total);
  if (rate > 0)
    snprintf(text + at, 48 - (size_t)at, ", %s left", clock_time((double)(line->total - done) / rate, left));
}

/* Where not all fits, the rate is left out first, and then the count. */
static void draw_progress(const progress *line, uint64_t done, double rate) {
  char text[160], count[64], share[48], number[16], rate_text[16];
  const int unit = (int)strlen(line->unit) - (done == 1); /* without the plural s */
  const size_t space = (size_t)line_columns();
  tell_share(line, done, rate, share);
  snprintf(count, sizeof count, "%s %.*s", short_number((double)done, number), unit, line->unit);
  snprintf(text, sizeof text, "%s: %s, %s/s%s", line->what, count, short_number(rate, rate_text), share);
  if (strlen(text) > space) snprintf(text, sizeof text, "%s: %s%s", line->what, count, share);
  if (strlen(text) > space && share[0]) snprintf(text, sizeof text, "%s: %s", line->what, share + 2);
  draw(text);
}

void progress_at(progress *line, uint64_t done) {
  if (!line->shown) return;
  progress_answered(line);
  const double now = seconds_now();
  if (counts_anew(line, done, now) || now - line->drawn < REDRAW_SECONDS) return;
  line->drawn = now;
  draw_progress(line, done, (double)(done - line->from) / (now - line->start));
}

int progress_of_cast(void *user, uint64_t done, uint64_t total) {
  progress *line = user;
  const double share = total ? (double)done / (double)total : 0;
  progress_at(line, line->base + (line->span ? (uint64_t)(share * (double)line->span) : done));
  return 0;
}

void progress_end(progress *line) {
  progress_answered(line);
  if (line->shown) terminal_wipe();
  fflush(stderr);
}
