/* Fills a file that may not become longer than so many bytes, and tells what each call returns. The test reads
 * what is in it then.
 *
 *     full FORMAT ACT close|abort */
#include "check.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

enum { ROWS = 20, COLUMNS = 1000, LAST_ROW = 900, ROOM = 700 * 1000 };

static int ncid, series, fixed;

/* A number that says nothing of the next one: lists of them do not compress. */
static uint32_t mixed(uint32_t number)
{
    number = (number ^ number >> 15) * UINT32_C(0x2c1b3c6d);
    number = (number ^ number >> 12) * UINT32_C(0x297a2d39);
    return number ^ number >> 15;
}

/* What the test expects in these rows. */
static void make_rows(size_t first, short *rows)
{
    for (uint32_t place = 0; place < ROWS * COLUMNS; place++)
        rows[place] = (short)(mixed((uint32_t)first * COLUMNS + place) & 0x7fff);
}

static int said(const char *call, int status)
{
    printf("%s = %d\n", call, status);
    fflush(stdout);
    return status;
}

static int put_rows(size_t first)
{
    static short rows[ROWS * COLUMNS];
    const size_t start[] = {first, 0}, count[] = {ROWS, COLUMNS};
    make_rows(first, rows);
    return nc_put_vara_short(ncid, series, start, count, rows);
}

static double *long_list(size_t count)
{
    double *list = malloc(count * sizeof *list);
    uint32_t *words = (uint32_t *)list;
    for (uint32_t at = 0; at < 2 * count; at++)
        words[at] = mixed(at) & UINT32_C(0x3fffffff);
    return list;
}

static void create(int format)
{
    static int numbers[COLUMNS];
    int along[2];
    CHECK(nc_set_default_format(format, NULL));
    CHECK(nc_create("file.nc", NC_CLOBBER, &ncid));
    CHECK(nc_def_dim(ncid, "time", NC_UNLIMITED, &along[0]));
    CHECK(nc_def_dim(ncid, "x", COLUMNS, &along[1]));
    CHECK(nc_def_var(ncid, "series", NC_SHORT, 2, along, &series));
    CHECK(nc_def_var(ncid, "fixed", NC_INT, 1, &along[1], &fixed));
    if (format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC) {
        CHECK(nc_def_var_chunking(ncid, series, NC_CHUNKED, (size_t[]){10, COLUMNS}));
        CHECK(nc_def_var_deflate(ncid, series, 1, 1, 1));
    }
    CHECK(nc_enddef(ncid));
    for (int at = 0; at < COLUMNS; at++)
        numbers[at] = at;
    CHECK(nc_put_var_int(ncid, fixed, numbers));
    CHECK(put_rows(0));
    CHECK(nc_sync(ncid));
}

static void append(int syncs)
{
    for (size_t row = ROWS; row < LAST_ROW; row += ROWS) {
        said("nc_put_vara_short", put_rows(row));
        if (syncs)
            said("nc_sync", nc_sync(ncid));
    }
}

static void define(void)
{
    double *list = long_list(40 * 4000);
    char name[16];
    int x, large;
    said("nc_redef", nc_redef(ncid));
    said("nc_inq_dimid", nc_inq_dimid(ncid, "x", &x));
    said("nc_def_var", nc_def_var(ncid, "large", NC_DOUBLE, 1, &x, &large));
    for (int at = 0; at < 40; at++) {
        snprintf(name, sizeof name, "a%d", at);
        said("nc_put_att_double", nc_put_att_double(ncid, large, name, NC_DOUBLE, 4000, list + 4000 * at));
    }
    said("nc_enddef", nc_enddef(ncid));
    free(list);
}

static void rename_fixed(void)
{
    double *list = long_list(200 * 1000);
    said("nc_redef", nc_redef(ncid));
    said("nc_put_att_double", nc_put_att_double(ncid, fixed, "long", NC_DOUBLE, 200 * 1000, list));
    said("nc_rename_var", nc_rename_var(ncid, fixed, "firm"));
    said("nc_enddef", nc_enddef(ncid));
    free(list);
}

static void put_large(void)
{
    double *list = long_list(200 * 1000);
    int y, large;
    said("nc_redef", nc_redef(ncid));
    said("nc_def_dim", nc_def_dim(ncid, "y", 200 * 1000, &y));
    said("nc_def_var", nc_def_var(ncid, "large", NC_DOUBLE, 1, &y, &large));
    if (said("nc_enddef", nc_enddef(ncid)) == NC_NOERR)
        said("nc_put_var_double", nc_put_var_double(ncid, large, list));
    free(list);
}

int main(int argc, char **argv)
{
    struct rlimit limit = {ROOM, RLIM_INFINITY};
    const char *act = argc == 4 ? argv[2] : "";
    if (argc != 4)
        return 2;
    signal(SIGXFSZ, SIG_IGN);
    create(atoi(argv[1]));
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 3;
    if (strcmp(act, "append") == 0 || strcmp(act, "append_and_sync") == 0)
        append(strcmp(act, "append") != 0);
    else if (strcmp(act, "define") == 0)
        define();
    else if (strcmp(act, "rename") == 0)
        rename_fixed();
    else
        put_large();
    said("nc_sync", nc_sync(ncid));
    if (strcmp(argv[3], "abort") == 0)
        said("nc_abort", nc_abort(ncid));
    else
        said("nc_close", nc_close(ncid));
    said("nc_inq_format", nc_inq_format(ncid, &fixed));
    return 0;
}
