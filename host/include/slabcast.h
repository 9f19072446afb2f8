/* Slabcast: massive ray batches on any OpenCL device.
 *
 * geometry --add--> scene --commit--> device; rays --cast--> hits --check--> proof.
 *
 * Every function returns a slab_status. On failure slab_message() of the calling
 * thread says what was wrong, where and with which value; outputs are untouched
 * unless stated otherwise, nothing is half-changed and nothing leaks. The library
 * never prints, exits or aborts. Option structs: zero means default, and a NULL
 * pointer to one means all defaults. Destroy functions accept NULL.
 *
 * Statuses any function may return besides those it lists: SLAB_OK,
 * SLAB_INVALID_ARGUMENT (a pointer is NULL that must not be, a value is out of
 * range), SLAB_OUT_OF_MEMORY (host or device), SLAB_DEVICE_FAILED (an OpenCL
 * call failed; the message names it and its code), SLAB_INVALID_STATE (in a forked
 * process, below).
 *
 * Threads: different contexts are independent. A scene is built (add, commit) by
 * one thread at a time; a committed scene may be cast on, checked and queried by
 * several threads at once. Destroying needs that no other call still uses the object;
 * a scene keeps its context alive, so the order of destruction does not matter.
 *
 * Processes: fork() copies no threads, neither an OpenCL driver's nor OpenMP's. In a child that was forked after the
 * parent's first slab_devices, slab_context_create or slab_context_create_cl, every call that needs them returns
 * SLAB_INVALID_STATE at once: these three, and those that take a context or a scene. What only reads host memory goes
 * on: slab_context_device(s), slab_context_objects, slab_scene_info, slab_scene_pack where no SLAB_LAYOUT_WIDE BVH has
 * to be read back, the helpers, the texts. Destroying frees host memory and leaves the driver's objects to the parent.
 * A child that was forked before works in full, as does one that calls exec. What the program itself does with OpenCL
 * or OpenMP before it forks is not seen.
 *
 * Floating point: every call computes with rounding to nearest, with subnormal numbers and without traps, whatever the
 * calling thread has set (fesetround, flush-to-zero, denormals-are-zero, feenableexcept; a program linked with
 * -ffast-math flushes from its start). On return the thread has its control bits and exception flags as they were;
 * progress callbacks run with them too. So it is on x86-64, and elsewhere where FE_DFL_ENV flushes nothing (glibc).
 * What slab_enqueue enqueues runs later, as the driver has it. Answers and helpers do not depend on the flags that the
 * caller is compiled with. */
#ifndef SLABCAST_H
#define SLABCAST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slabcast_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define SLAB_API __attribute__((visibility("default")))
#else
#define SLAB_API
#endif

#define SLAB_VERSION_MAJOR 0
#define SLAB_VERSION_MINOR 1
#define SLAB_VERSION_PATCH 0
/* Of this header, for #if: 100 is version 0.1.0. Grows with the version. */
#define SLAB_VERSION_NUMBER (SLAB_VERSION_MAJOR * 10000 + SLAB_VERSION_MINOR * 100 + SLAB_VERSION_PATCH)

/* Of the library that runs, which a shared one's header may differ from: "0.1.0", a constant, and SLAB_VERSION_NUMBER.
 * Neither fails; any thread may call them at any time. */
SLAB_API const char *slab_version(void);
SLAB_API uint32_t slab_version_number(void);

/* X(name, text): every status with the text slab_status_text() gives. */
#define SLAB_STATUSES(X)                                         \
  X(SLAB_OK, "done")                                             \
  X(SLAB_INVALID_ARGUMENT, "invalid argument")                   \
  X(SLAB_INVALID_STATE, "call out of order")                     \
  X(SLAB_CAPACITY, "output does not hold the result")            \
  X(SLAB_OUT_OF_MEMORY, "out of memory")                         \
  X(SLAB_NO_DEVICE, "no OpenCL device")                          \
  X(SLAB_UNSUPPORTED, "the device cannot keep the contract")     \
  X(SLAB_BUILD_FAILED, "the device's compiler refused a kernel") \
  X(SLAB_DEVICE_FAILED, "an OpenCL call failed")                 \
  X(SLAB_CANCELLED, "cancelled by the progress callback")

typedef enum slab_status {
#define SLAB_STATUS_NAME(name, text) name,
  SLAB_STATUSES(SLAB_STATUS_NAME)
#undef SLAB_STATUS_NAME
} slab_status;

/* A constant text, never NULL; "unknown status" for other values. */
SLAB_API const char *slab_status_text(slab_status);

/* What the last failed call on this thread says of its failure, the device's
 * build log included; "" when none failed yet. Valid until this thread's next failure. */
SLAB_API const char *slab_message(void);

/* ---- devices and contexts ------------------------------------------------ */

typedef enum slab_device_type { SLAB_DEVICE_OTHER, SLAB_DEVICE_CPU, SLAB_DEVICE_GPU } slab_device_type;

typedef struct slab_device_info {
  char name[128], vendor[128], driver[64], version[128], platform[128];
  slab_device_type type;
  uint32_t compute_units;
  uint32_t clock_mhz;        /* as the driver reports it; 0 unknown */
  uint64_t memory_bytes;     /* global memory */
  uint64_t allocation_bytes; /* largest single buffer */
  uint32_t lane_width;       /* primitives tested at once by one work-item: 1, 8 or 16 */
  int denormals;             /* keeps subnormal numbers: answers then equal the CPU reference for every input */
  int rounds_to_nearest;     /* a device that does not is refused */
  int exact_divide;          /* correctly rounded division and square root in hardware or compiler; else the kernels
                                emulate them, and answers are the same */
} slab_device_info;

/* Lists OpenCL devices over all platforms, in the order that device selectors
 * count them, as they describe themselves: nothing runs on them. Writes at most
 * `capacity` entries (list may be NULL with capacity 0) and the total to *count. A
 * device that cannot be described is left out here and by selectors;
 * SLAB_DEVICE_FAILED where none can be. SLAB_NO_DEVICE when there is none; *count is
 * then 0. */
SLAB_API slab_status slab_devices(slab_device_info *list, size_t capacity, size_t *count);

/* How rays are taken through a BVH on a CPU device. Never changes an answer, only how fast it comes. */
typedef enum slab_traversal {
  SLAB_TRAVERSAL_AUTO,    /* whichever is the fastest for the rays at hand: where there are many, told by the order in
                              which they come, or found by trying, which later casts on the scene profit by */
  SLAB_TRAVERSAL_PACKETS, /* neighbours together where they go one way, else one by one */
  SLAB_TRAVERSAL_SINGLE,  /* one by one */
  SLAB_TRAVERSAL_INTERLEAVED, /* several interleaved: while one waits for memory the others go on */
  SLAB_TRAVERSAL_SORTED       /* as interleaved, those that begin near each other and go one way after each other */
} slab_traversal;

/* How scenes lie on the device, and with that how they are traversed. Never changes an answer, only how fast it comes.
 */
typedef enum slab_layout {
  SLAB_LAYOUT_DEFAULT,   /* SLAB_LAYOUT_WIDE where one of the context's devices is a CPU, else SLAB_LAYOUT_COMPRESSED */
  SLAB_LAYOUT_WIDE,      /* exact bounds, eight primitives side by side; alone has traversals */
  SLAB_LAYOUT_COMPRESSED /* as GPUs have it: BVHs of nodes of 80 bytes, primitives one by one, a ray to a work-item;
                            boxes of flat scenes through local memory. lane_width does not matter */
} slab_layout;

typedef struct slab_context_options {
  const char *device;   /* index of slab_devices, part of a name, "cpu", "gpu"; NULL: a GPU, else the first. Or several:
                           a list of these with commas between, or "all" that can keep the contract */
  uint32_t lane_width;  /* 0: the device's own; 1, 8 or 16 to force it */
  uint32_t launch_rays; /* most rays a launch; 0: by the device's limits and about 100 ms, or a million
                           rays where they are sorted */
  int copy;             /* 1: copy the caller's arrays even where the device could use them in place */
  slab_traversal traversal;
  slab_layout layout;
} slab_context_options;

typedef struct slab_context slab_context;
typedef struct slab_scene slab_scene;

/* Opens a device, or several: a scene is then laid out on each, and the rays of a cast go to whichever is free. Which
 * one casts a ray changes no answer. A tiny kernel asks each device what it really does, once in the life of the
 * process and for each lane width. SLAB_NO_DEVICE when none matches; SLAB_UNSUPPORTED when it does not round to
 * nearest, or the kernel saw an operation with another result than it must have, which the message quotes;
 * SLAB_INVALID_ARGUMENT when a list has an empty entry or names a device twice; SLAB_BUILD_FAILED. The caller destroys
 * *context. */
SLAB_API slab_status slab_context_create(const slab_context_options *options, slab_context **context);
SLAB_API void slab_context_destroy(slab_context *context);
/* What device a context stands on; of several the first, which slab_pairs uses. denormals and exact_divide hold where
 * the device reports them and was not seen to do otherwise. */
SLAB_API slab_status slab_context_device(const slab_context *context, slab_device_info *info);
/* All of them, in the order in which they were named ("all": of slab_devices). Writes at most `capacity` entries (list
 * may be NULL with capacity 0) and how many there are to *count. */
SLAB_API slab_status slab_context_devices(const slab_context *context, slab_device_info *list, size_t capacity,
                                          size_t *count);

/* ---- scenes -------------------------------------------------------------- */

/* Triangles over shared vertices. Vertex i is the three floats at byte
 * i * vertex_stride of `vertices` (stride 0: 12; 1 to 11 are refused). Triangle i takes vertices
 * indices[3i .. 3i+2]; with indices NULL, vertices 3i .. 3i+2 (a soup). */
typedef struct slab_mesh {
  const float *vertices;
  size_t vertex_stride;
  uint32_t vertex_count;
  const uint32_t *indices;
  uint32_t triangle_count;
} slab_mesh;

typedef struct slab_geometry_options {
  uint32_t mask;     /* rays with a common bit see this geometry; 0: all bits */
  int skip_invalid;  /* drop what would be refused instead; ids keep the input's numbering */
  uint32_t *skipped; /* receives how many were dropped; may be NULL */
} slab_geometry_options;

SLAB_API slab_status slab_scene_create(slab_context *context, slab_scene **scene);
SLAB_API void slab_scene_destroy(slab_scene *scene);

/* Each adds one geometry of n primitives (0 allowed, at most 2^32 - 16 in the scene), copies them, and writes
 * its id, counting from 0 in order of adding, to *geometry (may be NULL).
 * SLAB_INVALID_ARGUMENT names the first refused primitive by index, with its value:
 * planes with a zero or non-finite normal or offset; spheres with a non-finite centre or a
 * negative or non-finite radius; oriented boxes with axes not orthonormal within 1e-5, a
 * non-finite centre or a negative or non-finite half size; triangles with a vertex that is
 * NaN, infinite or beyond 2^60, or an index out of range (vertices that no triangle uses may be anything); centres,
 * radii and sizes beyond 2^60. Inverted or NaN boxes are no error: they are never hit. SLAB_INVALID_STATE after
 * slab_scene_commit. */
SLAB_API slab_status slab_scene_add_planes(slab_scene *, const slab_plane *, uint32_t n, const slab_geometry_options *,
                                           uint32_t *geometry);
SLAB_API slab_status slab_scene_add_spheres(slab_scene *, const slab_sphere *, uint32_t n,
                                            const slab_geometry_options *, uint32_t *geometry);
SLAB_API slab_status slab_scene_add_boxes(slab_scene *, const slab_box *, uint32_t n, const slab_geometry_options *,
                                          uint32_t *geometry);
SLAB_API slab_status slab_scene_add_obbs(slab_scene *, const slab_obb *, uint32_t n, const slab_geometry_options *,
                                         uint32_t *geometry);
SLAB_API slab_status slab_scene_add_mesh(slab_scene *, const slab_mesh *, const slab_geometry_options *,
                                         uint32_t *geometry);

/* FAST is built 2 to 2.5 times as fast as DEFAULT, for scenes that change: rays take 1.05 to 1.5 times as long, so that
 * it pays for up to about three rays a primitive. HIGH is built a quarter as fast, and rays take 0.9 to 1 of the time.
 * DEFAULT is FLAT below about a thousand primitives. */
typedef enum slab_tree { SLAB_TREE_DEFAULT, SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH } slab_tree;

typedef struct slab_build_options {
  slab_tree tree; /* never changes an answer, only how fast it comes */
} slab_build_options;

/* Lays the scene out on the device; an empty scene is valid and every ray misses
 * it. After it the scene can be cast on and no longer be added to. What is larger than one allocation of the device is
 * laid out in several buffers, of primitives and of nodes four each at most: SLAB_OUT_OF_MEMORY says how many bytes
 * there are when they hold no more. SLAB_INVALID_STATE when committed already. */
SLAB_API slab_status slab_scene_commit(slab_scene *, const slab_build_options *);

typedef struct slab_scene_stats {
  uint32_t geometries;
  uint64_t planes, spheres, boxes, obbs, triangles; /* as added, dropped ones included */
  float lower[3], upper[3];                         /* of all finite bounds; lower > upper when there are none */
  uint64_t host_bytes, device_bytes;                /* device_bytes: on all devices together */
  uint32_t tree_depth;                              /* 0: flat */
  double sah_cost;                                  /* 0: flat */
  double node_occupancy, block_occupancy; /* used share of the BVH's slots for children and for primitives; 0: flat */
  double build_seconds;                   /* of commit */
} slab_scene_stats;

/* SLAB_INVALID_STATE before commit. */
SLAB_API slab_status slab_scene_info(const slab_scene *, slab_scene_stats *);

/* A committed scene, with its BVH where that is SLAB_LAYOUT_WIDE, as `*size` bytes, for other processes and machines
 * of the same byte order: what slab_scene_unpack makes of them gives the same bits to every cast. capacity 0 (bytes may
 * then be NULL) asks for *size alone; SLAB_CAPACITY when there is room for less: *size is complete, bytes untouched.
 * bytes are aligned to 8, as malloc does. Equal scenes give equal bytes. Other versions of the library may refuse them.
 * SLAB_INVALID_STATE before commit. */
SLAB_API slab_status slab_scene_pack(const slab_scene *, void *bytes, size_t capacity, size_t *size);
/* A committed scene on this context, which the caller destroys; the bytes (aligned to 8) are copied, not kept.
 * SLAB_INVALID_ARGUMENT when they are not a packed scene of this version, not all of it, or damaged: a checksum tells.
 * Bytes that someone made up on purpose, checksum included, may give wrong answers, but lead no cast out of its
 * memory. A BVH that is not among the bytes, or of another layout than this context's, is built again.
 * slab_scene_info tells the seconds that unpacking took as build_seconds. */
SLAB_API slab_status slab_scene_unpack(slab_context *, const void *bytes, size_t size, slab_scene **scene);

/* ---- casts --------------------------------------------------------------- */

/* Called from the casting thread while launches are under way; a non-zero return cancels: what is under way ends, no
 * more is launched. */
typedef int slab_progress(void *user, uint64_t rays_done, uint64_t rays_total);

typedef struct slab_cast_options {
  uint32_t mask;                 /* geometries without a common bit are not seen; 0: all bits */
  const slab_primitive_id *skip; /* n entries, entry i names the plane or triangle that ray i does not see
                                    (the surface it leaves); SLAB_MISS skips nothing; NULL: none */
  slab_cull cull;
  int face_forward;        /* turns normals against the ray */
  slab_progress *progress; /* NULL: none */
  void *user;              /* handed to progress */
  uint64_t *invalid;       /* receives how many rays were invalid; NULL: not wanted */
} slab_cast_options;

/* Bytes of one result of a query, of SLAB_ALL of one hit; 0 for what is no query. */
SLAB_API size_t slab_result_size(slab_query);

/* Host memory in, host memory out, blocking, n of any size including 0 (arrays may then be NULL).
 * rays: n; results: n, owned by the caller, must not overlap the rays. On a CPU device no copies are
 * made; on others rays go there and results come back while other rays are cast. When the call returns nothing is under
 * way any more. SLAB_INVALID_STATE before commit; SLAB_BUILD_FAILED with the build log; SLAB_CANCELLED:
 * results of rays not yet done are then unspecified, as after SLAB_DEVICE_FAILED, whose message names the device and
 * how many rays were done. */
SLAB_API slab_status slab_closest(slab_scene *, const slab_ray *rays, size_t n, slab_hit *hits,
                                  const slab_cast_options *);
SLAB_API slab_status slab_distance(slab_scene *, const slab_ray *rays, size_t n, float *t, const slab_cast_options *);
SLAB_API slab_status slab_any(slab_scene *, const slab_ray *rays, size_t n, uint8_t *occluded,
                              const slab_cast_options *);
SLAB_API slab_status slab_count(slab_scene *, const slab_ray *rays, size_t n, uint32_t *counts,
                                const slab_cast_options *);
/* Solids, not surfaces: from inside, enter = t_min. For planes and triangles enter = leave = t. A segment
 * wholly inside a solid has an interval although no surface is hit. */
SLAB_API slab_status slab_interval_of(slab_scene *, const slab_ray *rays, size_t n, slab_interval *intervals,
                                      const slab_cast_options *);
/* Hits of ray i are hits[offsets[i] .. offsets[i+1]-1]; offsets has n + 1 entries. *required (may be NULL)
 * receives offsets[n]. capacity 0 asks for offsets and *required alone and returns SLAB_OK; SLAB_CAPACITY when
 * capacity > 0 does not hold the hits: offsets are complete, hits untouched.
 * With capacity > 0 hits are listed as they are counted, and wait in memory of the library's own until it is known
 * where they go: about 512 MiB at the most. Rays whose hits find no room there are counted and then cast again.
 * So progress counts 2 n rays then, once when its hits are counted and once when they are listed, mostly both at once.
 */
SLAB_API slab_status slab_all(slab_scene *, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                              uint64_t capacity, uint64_t *required, const slab_cast_options *);

/* Ray i against shape i, no scene: n (below 2^32 - 2) intervals, primitive = i and geometry = 0 where hit. shapes: n
 * values of the struct of `kind` (slab_triangle for triangles). A shape that a scene would refuse is refused by index.
 */
SLAB_API slab_status slab_pairs(slab_context *, slab_shape kind, const slab_ray *rays, const void *shapes, size_t n,
                                slab_interval *intervals);

/* ---- the proof, as a call ------------------------------------------------- */

typedef struct slab_check_report {
  uint64_t rays;             /* compared */
  uint64_t mismatches;       /* rays whose bits differ from the CPU reference's */
  uint64_t oracle_rays;      /* judged by the oracle: all, or of large batches some, evenly spread */
  uint64_t oracle_wrong;     /* rays whose answer the oracle proves wrong */
  uint64_t oracle_undecided; /* rays too close to call within the oracle's error bound */
  uint64_t first;            /* index of the first ray that disagrees; meaningful when one does */
  char text[512];            /* names ray, primitive, field and both bit patterns of it; "" when none does */
} slab_check_report;

/* Compares results of a cast with the CPU reference (the kernels' maths in C, brute force: bit by bit) and with the
 * oracle (independent formulas), under the options of that cast; where they have `invalid`, the count that the cast
 * left there is compared too, and is one mismatch more where it differs. results: n entries of the query's type;
 * offsets: n + 1 for SLAB_ALL, else NULL. Mismatches are reported, not a failure: SLAB_OK. */
SLAB_API slab_status slab_check(slab_scene *, slab_query, const slab_ray *rays, size_t n, const void *results,
                                const uint64_t *offsets, const slab_cast_options *, slab_check_report *report);

/* ---- helpers ------------------------------------------------------------- */

/* Those that compute are the library's, since a caller's compiler may contract, flush or reorder what is inline. Any
 * thread may call them at any time. */

/* The segment from a to b: t is the fraction of the way. Where b lies exactly on a slanted
 * surface, rounding may put t just beyond 1. */
SLAB_API slab_ray slab_segment(const float a[3], const float b[3]);

/* A ray in the plane z = 0. */
static inline slab_ray slab_ray_2d(const float origin[2], const float direction[2], float t_min, float t_max) {
  slab_ray ray = {{origin[0], origin[1], 0.0f}, t_min, {direction[0], direction[1], 0.0f}, t_max};
  return ray;
}

/* A rectangle: a box unbounded in z. */
static inline slab_box slab_box_2d(const float lower[2], const float upper[2]) {
  slab_box box = {{lower[0], lower[1], -INFINITY}, {upper[0], upper[1], INFINITY}};
  return box;
}

/* The plane through a point; offset = normal . point. */
SLAB_API slab_plane slab_plane_through(const float point[3], const float normal[3]);

/* The box -half_size .. +half_size under a rigid 4x4 matrix, row-major, points as columns: axis i is
 * column i of the upper 3x3, the centre column 3. A matrix that scales is refused when the box is added. */
static inline slab_obb slab_obb_from_matrix(const float m[16], const float half_size[3]) {
  slab_obb box = {{m[3], m[7], m[11]},
                  {half_size[0], half_size[1], half_size[2]},
                  {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}};
  return box;
}

/* A pinhole camera. `forward`, `right`, `up` are its axes; right and up are scaled to half the image
 * plane's extent at distance |forward|. */
typedef struct slab_camera {
  float origin[3], forward[3], right[3], up[3];
} slab_camera;

/* Looks from `from` to `to`; vertical field of view in degrees, 0 < fov < 180; aspect = width / height. */
SLAB_API slab_camera slab_camera_look_at(const float from[3], const float to[3], const float up[3], float fov_degrees,
                                         float aspect);

/* The ray through the centre of pixel (x, y) of a width x height image, y downward: range [0, inf). */
SLAB_API slab_ray slab_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* origin + t * direction; `point` may be the ray's own origin or direction. */
SLAB_API void slab_point_at(const slab_ray *ray, float t, float point[3]);

#ifdef __cplusplus
}
#endif
#endif
