/* opened LIBRARY: opens the library of a wheel as Python does, and casts one ray at a ball. It prints the system that
 * the library was compiled for and the place where the ray meets the ball. */
#include <slabcast.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static void *opened(const char *path) { return LoadLibraryA(path); }
static void *found(void *library, const char *name) { return (void *)GetProcAddress(library, name); }
#else
#include <dlfcn.h>
static void *opened(const char *path) { return dlopen(path, RTLD_NOW); }
static void *found(void *library, const char *name) { return dlsym(library, name); }
#endif

/* GET(name): a function of the library, as a local variable of its name behind `my_`. */
#define GET(name)                                                     \
  __typeof__(&name) my_##name;                                        \
  void *const at_##name = found(library, #name);                      \
  if (at_##name == NULL) return fprintf(stderr, "no %s\n", #name), 1; \
  memcpy(&my_##name, &at_##name, sizeof at_##name)

int main(int count, char **arguments) {
  void *const library = count > 1 ? opened(arguments[1]) : NULL;
  if (library == NULL) return fputs("the library cannot be opened\n", stderr), 1;
  GET(slab_context_create);
  GET(slab_context_device);
  GET(slab_scene_create);
  GET(slab_scene_add_spheres);
  GET(slab_scene_commit);
  GET(slab_closest);
  GET(slab_scene_destroy);
  GET(slab_context_destroy);
  GET(slab_message);

  const slab_sphere ball = {.center = {0, 0, 2}, .radius = 1};
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, 100};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_device_info info = {0};
  slab_hit hit = {0};
  slab_status status = my_slab_context_create(NULL, &context);
  if (!status) status = my_slab_context_device(context, &info);
  if (!status) status = my_slab_scene_create(context, &scene);
  if (!status) status = my_slab_scene_add_spheres(scene, &ball, 1, NULL, NULL);
  if (!status) status = my_slab_scene_commit(scene, NULL);
  if (!status) status = my_slab_closest(scene, &ray, 1, &hit, NULL);
  if (status) return fprintf(stderr, "%s\n", my_slab_message()), 1;
  printf("%s, t = %g\n", info.version, (double)hit.t);
  my_slab_scene_destroy(scene);
  my_slab_context_destroy(context);
  return 0;
}
