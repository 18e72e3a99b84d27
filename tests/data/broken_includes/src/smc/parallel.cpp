// An MPI call outside its one file.
#include <mpi.h>
