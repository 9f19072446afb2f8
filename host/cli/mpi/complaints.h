/* Error lines of many processes. In place of errors.c: complain() writes nothing here, it keeps the line until the
 * ranks have agreed whose lines are worth reading: hundreds of ranks that fail for one reason say it once. */
#ifndef SLABCAST_CLI_MPI_COMPLAINTS_H
#define SLABCAST_CLI_MPI_COMPLAINTS_H

/* From now on lines are kept, and say whose they are where there are several ranks. Before, complain() writes. */
void complaints_keep(int rank, int ranks);
/* Writes what was kept, or lets go of it. */
void complaints_say(void);
void complaints_drop(void);

#endif
