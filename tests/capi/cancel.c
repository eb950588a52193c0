/* Threads that are cancelled in the midst of opening, reading, writing and closing files.
 *
 *     cancel ROUNDS
 *
 * Prints nothing and returns 0 where each thread ended as a cancelled one and the library still serves the
 * others: what a thread had locked would keep them waiting for ever. */
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 3, ROWS = 20, COLUMNS = 3000, LONGEST_WAIT = 3000 };

static const char *SHARED = "shared.nc";

static void write_file(const char *path)
{
    static int values[ROWS * COLUMNS];
    int ncid, dimids[2], varid;
    CHECK(nc_create(path, NC_NETCDF4, &ncid));
    CHECK(nc_def_dim(ncid, "row", NC_UNLIMITED, &dimids[0]));
    CHECK(nc_def_dim(ncid, "column", COLUMNS, &dimids[1]));
    CHECK(nc_def_var(ncid, "values", NC_INT, 2, dimids, &varid));
    CHECK(nc_def_var_deflate(ncid, varid, 1, 1, 1));
    CHECK(nc_put_att_text(ncid, varid, "units", 1, "m"));
    size_t starts[] = {0, 0}, counts[] = {ROWS, COLUMNS};
    CHECK(nc_put_vara_int(ncid, varid, starts, counts, values));
    CHECK(nc_close(ncid));
}

static void read_file(void)
{
    static __thread double values[ROWS * COLUMNS];
    int ncid, varid;
    size_t len;
    CHECK(nc_open(SHARED, NC_NOWRITE, &ncid));
    CHECK(nc_inq_varid(ncid, "values", &varid));
    CHECK(nc_inq_attlen(ncid, varid, "units", &len));
    CHECK(nc_get_var_double(ncid, varid, values));
    CHECK(nc_close(ncid));
}

static void *read_on(void *unused)
{
    (void)unused;
    for (;;) {
        read_file();
        pthread_testcancel();
    }
    return NULL;
}

static void *write_on(void *unused)
{
    (void)unused;
    for (;;) {
        write_file("own.nc");
        pthread_testcancel();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    alarm(300);
    write_file(SHARED);
    for (int rounds = atoi(argv[1]); rounds > 0; rounds--) {
        pthread_t threads[THREADS];
        for (int number = 0; number < THREADS; number++)
            if (pthread_create(&threads[number], NULL, number == 0 ? write_on : read_on, NULL))
                return 3;
        usleep((useconds_t)(rand() % LONGEST_WAIT));
        for (int number = 0; number < THREADS; number++)
            if (pthread_cancel(threads[number])) return 4;
        for (int number = 0; number < THREADS; number++) {
            void *result;
            if (pthread_join(threads[number], &result) || result != PTHREAD_CANCELED) return 5;
        }
        read_file();
    }
    return 0;
}
