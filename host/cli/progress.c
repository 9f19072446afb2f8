#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double REDRAW_SECONDS = 0.25;
/* Work shorter than this shows no line at all. */
static const double QUIET_SECONDS = 0.5;

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_begin(const char *what, const char *unit, uint64_t first, uint64_t total) {
  const double now = seconds_now();
  return (progress){.what = what,
                    .unit = unit,
                    .base = first,
                    .first = first,
                    .total = total,
                    .start = now,
                    .drawn = now + QUIET_SECONDS - REDRAW_SECONDS,
                    .shown = isatty(STDERR_FILENO)};
}

/* 12.3 M and the like. */
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

void progress_at(progress *line, uint64_t done) {
  if (!line->shown) return;
  const double now = seconds_now();
  if (now - line->drawn < REDRAW_SECONDS) return;
  line->drawn = now;
  char number[16], rate_text[16], left[24];
  const double rate = (double)(done - line->first) / (now - line->start);
  fprintf(stderr, "\r\033[K%s: %s %s, %s/s", line->what, short_number((double)done, number), line->unit,
          short_number(rate, rate_text));
  if (line->total && done <= line->total) fprintf(stderr, ", %.1f %%", 100.0 * (double)done / (double)line->total);
  if (line->total && rate > 0 && done <= line->total)
    fprintf(stderr, ", %s left", clock_time((double)(line->total - done) / rate, left));
  fflush(stderr);
}

int progress_of_cast(void *user, uint64_t done, uint64_t total) {
  progress *line = user;
  const double share = total ? (double)done / (double)total : 0;
  progress_at(line, line->base + (line->span ? (uint64_t)(share * (double)line->span) : done));
  return 0;
}

void progress_end(progress *line) {
  if (line->shown) fputs("\r\033[K", stderr);
}
