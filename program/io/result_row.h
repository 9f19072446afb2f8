/* The layout of one result row: the members of the result's struct, then the points of --points; or a point of a cloud;
 * or fields that a command chooses. */
#ifndef SLABCAST_PROGRAM_IO_RESULT_ROW_H
#define SLABCAST_PROGRAM_IO_RESULT_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

typedef struct result_field {
  const char *name;
  char kind; /* f: float, u: uint32_t, b: uint8_t, U: uint64_t, D: double, B: an array of uint8_t, in npy and raw */
  unsigned count; /* 3: a vector with columns name_x, name_y, name_z; of B any number */
} result_field;

enum { RESULT_FIELDS_MAX = 16, RESULT_ROW_MAX = 128, RESULT_TEXT_MAX = 768 };

/* Rays with results. */
typedef struct result_rays {
  const slab_ray *floats; /* one of both is NULL */
  const slab_ray64 *doubles;
  double offset[3]; /* where the floats count from */
} result_rays;

/* The contents of rows. */
typedef struct result_form {
  slab_query query;
  int points;  /* rows end with the points of their hits: for queries with a t */
  int doubles; /* results are those of rays in double */
  int places;  /* points are in double */
} result_form;

/* Names of geometries. */
typedef struct result_labels {
  const char *const *names; /* by geometry; NULL: it has none */
  uint32_t count;
} result_labels;

typedef struct result_row {
  result_form form;
  int numbered;  /* the row begins with the ray's index */
  int of_sensor; /* a point has point_ids */
  size_t taken;  /* bytes of a result that the row has */
  result_field fields[RESULT_FIELDS_MAX];
  int field_count;
  size_t size;                 /* bytes per row */
  size_t geometry_at;          /* where its geometry begins; 0: it has none */
  const result_labels *labels; /* lines end with the name of their geometry; NULL: they do not */
} result_row;

/* Bytes of a query's result. */
size_t result_size(slab_query query, int doubles);
/* 1 if the result is a hit; for counts, if the count is not 0. */
int result_is_hit(slab_query query, int doubles, const void *result);

/* numbered: rows begin with their ray's index. */
result_row result_row_of(const result_form *, int numbered);

/* A point of a cloud, for queries with a t: x, y, z of a hit, or of enter; the members of the result's struct; of an
 * interval leave's point. Last is the ray's index as a double, since PLY has no uint64_t. With of_sensor, before the
 * index are the ray's firing and beam, and the number of the hit among the ray's. That is counted from 1, as files of
 * scanners do. */
result_row result_row_of_point(const result_form *, int of_sensor);

/* Bytes of a field. */
size_t result_field_size(const result_field *);
/* Appends the members of a query of points. doubles: of points in double. */
void result_row_add_closest(result_row *row, slab_point_query query, int doubles);
/* Appends a field. */
void result_row_add(result_row *row, const char *name, char kind, unsigned count);

/* Writes the npy dtype as numpy writes it. */
void result_descr(const result_row *row, char *text, size_t size);
/* Writes the column names, separated by commas, and a newline. */
void result_names(const result_row *row, char text[RESULT_TEXT_MAX]);

/* Whether packed rows are the results as they are: then they need not be packed. */
int result_row_is_plain(const result_row *row);
/* Packs the row of a result of ray i of these. index: the ray's in the file. */
void result_pack(const result_row *row, uint64_t index, const result_rays *rays, size_t i, const void *result,
                 unsigned char packed[RESULT_ROW_MAX]);
/* The ids of a sensor's point. */
typedef struct point_ids {
  uint32_t firing, beam, number;
} point_ids;
/* The same for a hit as a point of a cloud. ids: of a sensor's. Returns 0 if its point is infinite. */
int result_pack_point(const result_row *row, uint64_t index, const point_ids *ids, const result_rays *rays, size_t i,
                      const void *result, unsigned char packed[RESULT_ROW_MAX]);
/* Prints a packed row as a line of text; returns its length. */
size_t result_print(const result_row *row, const unsigned char *packed, char separator, char text[RESULT_TEXT_MAX]);

#endif
