/* Error lines of many processes. Here complain() keeps lines until the ranks have agreed whose lines are written. If
 * hundreds of ranks fail for one reason, it is printed once. */
#ifndef SLABCAST_PROGRAM_MPI_COMPLAINTS_H
#define SLABCAST_PROGRAM_MPI_COMPLAINTS_H

/* From now on lines are kept, and name their rank if there are several. Before this call complain() writes at once. */
void complaints_keep(int rank, int ranks);
/* complaints_say writes the kept lines; complaints_drop discards them. */
void complaints_say(void);
void complaints_drop(void);

#endif
