/* Files in memory. Include netcdf.h first. */
#ifndef NETCDF_MEM_H
#define NETCDF_MEM_H 1

#if defined(__cplusplus)
extern "C" {
#endif

/* The bytes of a file. */
typedef struct NC_memio {
    size_t size;
    void *memory;
    int flags;
} NC_memio;

/* The memory stays the caller's: it is neither freed nor moved. */
#define NC_MEMIO_LOCKED 1

/* Reads a file from the caller's memory, which stays as it is. */
EXTERNL int nc_open_mem(const char *path, int mode, size_t size, void *memory, int *ncidp);
EXTERNL int nc_create_mem(const char *path, int mode, size_t initialsize, int *ncidp);
/* Takes the memory over, unless it is locked. */
EXTERNL int nc_open_memio(const char *path, int mode, NC_memio *info, int *ncidp);
/* Closes the file and gives its bytes, which the caller frees. */
EXTERNL int nc_close_memio(int ncid, NC_memio *info);

#if defined(__cplusplus)
}
#endif

#endif
