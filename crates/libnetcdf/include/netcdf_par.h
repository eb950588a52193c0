/* Files that several MPI processes open together: this library returns NC_ENOPAR. */
#ifndef NETCDF_PAR_H
#define NETCDF_PAR_H 1

#include <mpi.h>
#include <netcdf.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define NC_INDEPENDENT 0
#define NC_COLLECTIVE 1

EXTERNL int nc_create_par(const char *path, int cmode, MPI_Comm comm, MPI_Info info, int *ncidp);
EXTERNL int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncidp);
EXTERNL int nc_var_par_access(int ncid, int varid, int par_access);
EXTERNL int nc_create_par_fortran(const char *path, int cmode, int comm, int info, int *ncidp);
EXTERNL int nc_open_par_fortran(const char *path, int mode, int comm, int info, int *ncidp);

#if defined(__cplusplus)
}
#endif

#endif
