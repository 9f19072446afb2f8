#include "forms_reference.h"

#include "forms/list.h"
#include "slab_forms.h"
#include "triangle_forms.h"

typedef mask (*form_function)(const form_ray *, const float *, float, real *);

#define FUNCTION(function, ...) form_##function,
/* In the same order as forms_list. */
static const form_function functions[] = {FORMS(FUNCTION)};

uint32_t form_reference(const form *f, const slab_ray *given, const float *blocks, unsigned count) {
  const form_function hits = functions[f - forms_list];
  const form_ray ray = form_prepare(given);
  uint32_t found = 0;
  for (unsigned p = 0; p < count; p++) {
    real t;
    if (hits(&ray, blocks + p * form_rows(f->layout), given->t_max, &t) != 0) found |= 1u << p;
  }
  return found;
}
