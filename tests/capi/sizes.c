/* How long files become that nc__create makes, and which size of blocks is told.
 *
 *     sizes FORMAT */
#include "log.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const path = "file.nc";

static void log_length(const char *what)
{
    struct stat found;
    log_add(" %s %ld", what, stat(path, &found) ? -1 : (long)found.st_size);
}

/* A file with a variable of that many doubles, and records. */
static void create(int mode, size_t initial, size_t count)
{
    int ncid = 0, dimid, along, varid;
    size_t block = 0, third = 2;
    const short value = 5;
    unlink(path);
    log_add("nc__create %#x %zu for %zu = %d", mode, initial, count, nc__create(path, mode, initial, &block, &ncid));
    log_add(" block %zu", block);
    log_length("new");
    nc_def_dim(ncid, "x", count, &dimid);
    nc_def_var(ncid, "fixed", NC_DOUBLE, 1, &dimid, &varid);
    nc_def_dim(ncid, "time", NC_UNLIMITED, &along);
    nc_def_var(ncid, "record", NC_SHORT, 1, &along, &varid);
    nc_enddef(ncid);
    nc_put_var1_short(ncid, varid, &third, &value);
    log_add(" nc_sync %d", nc_sync(ncid));
    log_length("stored");
    log_add(" nc_close %d", nc_close(ncid));
    log_length("closed");
    log_end();
}

static void open_again(int mode, size_t asked)
{
    int ncid = 0;
    size_t block = asked;
    int status = nc__open(path, mode, &block, &ncid);
    log_add("nc__open %#x = %d block %zu of %zu", mode, status, block, asked);
    if (status == NC_NOERR)
        log_add(" nc_close %d", nc_close(ncid));
    log_end();
}

int main(int count, char **arguments)
{
    static const int modes[] = {0, NC_SHARE, NC_DISKLESS | NC_PERSIST};
    static const int open_modes[] = {0, NC_WRITE, NC_SHARE, NC_DISKLESS, NC_DISKLESS | NC_WRITE, NC_MMAP};
    static const size_t sizes[] = {0, 1, 300, 4096, 5000, 100000}, counts[] = {3, 500, 3000};
    if (count < 2)
        return 2;
    nc_set_default_format(atoi(arguments[1]), NULL);
    for (size_t length = 0; length < sizeof counts / sizeof *counts; length++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
            for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)
                create(modes[mode], sizes[size], counts[length]);
            for (size_t mode = 0; mode < sizeof open_modes / sizeof *open_modes; mode++)
                for (size_t asked = 0; asked < sizeof sizes / sizeof *sizes; asked++)
                    open_again(open_modes[mode], sizes[asked]);
        }
    return 0;
}
