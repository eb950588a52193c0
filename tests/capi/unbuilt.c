/* Files that several processes open together, on a library that was built without: what is returned,
 * what is left as it was, and that no file comes of it. And what is there for those who look into the library. */
#include "check.h"
#include <unistd.h>

/* An MPI_Comm is an int or a pointer. Neither is looked at; calls are made with both. */
int nc_create_par(const char *path, int mode, void *comm, void *info, int *id);
int nc_open_par(const char *path, int mode, void *comm, void *info, int *id);
int nc_create_par_fortran(const char *path, int mode, int comm, int info, int *id);
int nc_open_par_fortran(const char *path, int mode, int comm, int info, int *id);
int nc_var_par_access(int id, int variable, int access);

static const int MODES[] = {0, NC_WRITE, NC_NOCLOBBER, NC_NETCDF4, NC_NETCDF4 | NC_MPIIO,
    NC_NETCDF4 | NC_CLASSIC_MODEL, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_PNETCDF, NC_DISKLESS, -1};
static const char *const PATHS[] = {"new.nc", "there.nc", "no/folder.nc", ""};

static void both(const char *path, int mode)
{
    int id = 4711;
    const char *const shown = path ? path : "NULL";
    printf("create %s %d: %d", shown, mode, nc_create_par(path, mode, NULL, (void *)&id, &id));
    printf(" %d", nc_create_par_fortran(path, mode, 0, -1, &id));
    printf(" open: %d", nc_open_par(path, mode, (void *)&id, NULL, &id));
    printf(" %d id %d", nc_open_par_fortran(path, mode, -1, 0, &id), id);
    printf(" new %d\n", access("new.nc", F_OK));
}

static void one_format(int mode)
{
    const int levels[] = {-2, NC_TURN_OFF_LOGGING, 0, 1, 5, 100};
    int id, dimension, variable, group = -1;
    CHECK(nc_create("there.nc", mode | NC_CLOBBER, &id));
    CHECK(nc_def_dim(id, "x", 2, &dimension));
    CHECK(nc_def_var(id, "v", NC_INT, 1, &dimension, &variable));
    if (mode == NC_NETCDF4) CHECK(nc_def_grp(id, "g", &group));
    printf("show in define mode %d\n", nc_show_metadata(id));
    CHECK(nc_enddef(id));
    for (int access = -1; access <= 2; access++)
        printf("access %d: %d %d %d %d\n", access, nc_var_par_access(id, variable, access),
            nc_var_par_access(id, NC_GLOBAL, access), nc_var_par_access(id, 99, access),
            nc_var_par_access(-1, 0, access));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        printf("level %d: %d", levels[i], nc_set_log_level(levels[i]));
        printf(" show %d", nc_show_metadata(id));
        if (group >= 0) printf(" of a group %d", nc_show_metadata(group));
        printf("\n");
    }
    printf("show what is none %d %d %d\n", nc_show_metadata(-1), nc_show_metadata(id + (7 << 16)),
        nc_show_metadata(0));
    CHECK(nc_close(id));
    printf("show what is closed %d\n", nc_show_metadata(id));
}

int main(void)
{
    const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    /* What would be logged goes to the standard error. */
    dup2(1, 2);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) one_format(formats[i]);
    for (size_t mode = 0; mode < sizeof MODES / sizeof *MODES; mode++) {
        for (size_t path = 0; path < sizeof PATHS / sizeof *PATHS; path++) both(PATHS[path], MODES[mode]);
        both(NULL, MODES[mode]);
    }
    printf("without a place %d %d %d %d\n", nc_create_par("new.nc", 0, NULL, NULL, NULL),
        nc_open_par("there.nc", 0, NULL, NULL, NULL), nc_create_par_fortran("new.nc", 0, 0, 0, NULL),
        nc_open_par_fortran("there.nc", 0, 0, 0, NULL));
    return 0;
}
