/* Which call of the table fails. */
#ifndef PRETENDED_FAULTS_H
#define PRETENDED_FAULTS_H

#include <stdbool.h>

#include "slabcast.h"

/* SLAB_OK, or the failure of this call, with its message where there is a purpose. spared: casts go on without. */
slab_status faults_strike(const char *call, bool spared, const char *what);
/* Whether this command, which has an event, fails as it runs. */
bool faults_strike_late(const char *call);
/* A failure, with its message where there is a purpose. */
slab_status faults_fail(const char *call, slab_status, const char *what);

#endif
