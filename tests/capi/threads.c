/* Eight threads read, write and define through one file and through several; every value is checked.
 *
 *     threads ROUNDS [race]
 *
 * Prints nothing and returns 0 where all is right. With `race` two threads have the library fill one
 * buffer, a fault of the program's, which shows that ThreadSanitizer sees into the library. */
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

enum { THREADS = 8, ROWS = 64, COLUMNS = 50 };

static int rounds;
/* One file for all; each thread has rows and a variable of its own, and reads those of all. */
static int shared, shared_varid, own_varids[THREADS];
static pthread_barrier_t barrier;

static int value_of(size_t row, size_t column)
{
    return (int)(row * 1000 + column);
}

static void expect(int value, int expected)
{
    if (value != expected) {
        fprintf(stderr, "%d for %d\n", value, expected);
        exit(1);
    }
}

static void write_rows(int ncid, int varid, size_t first, size_t step)
{
    int values[COLUMNS];
    for (size_t row = first; row < ROWS; row += step) {
        size_t starts[] = {row, 0}, counts[] = {1, COLUMNS};
        for (size_t column = 0; column < COLUMNS; column++)
            values[column] = value_of(row, column);
        CHECK(nc_put_vara_int(ncid, varid, starts, counts, values));
    }
}

static void read_rows(int ncid, int varid, size_t first, size_t step)
{
    double values[COLUMNS];
    for (size_t row = first; row < ROWS; row += step) {
        size_t starts[] = {row, 0}, counts[] = {1, COLUMNS}, place[] = {row, row % COLUMNS};
        int value;
        CHECK(nc_get_vara_double(ncid, varid, starts, counts, values));
        for (size_t column = 0; column < COLUMNS; column++)
            expect((int)values[column], value_of(row, column));
        CHECK(nc_get_var1_int(ncid, varid, place, &value));
        expect(value, value_of(row, row % COLUMNS));
    }
}

static void through_one_file(size_t thread)
{
    char name[NC_MAX_NAME + 1];
    int value = (int)thread, found = -1;
    size_t count;
    write_rows(shared, shared_varid, thread, THREADS);
    write_rows(shared, own_varids[thread], 0, 1);
    pthread_barrier_wait(&barrier);
    /* Attributes are defined and renamed while others read. */
    snprintf(name, sizeof name, "of_%zu", thread);
    CHECK(nc_put_att_int(shared, NC_GLOBAL, name, NC_INT, 1, &value));
    for (size_t other = 0; other < THREADS; other++)
        read_rows(shared, own_varids[(thread + other) % THREADS], other, 7);
    read_rows(shared, shared_varid, 0, 1);
    CHECK(nc_get_att_int(shared, NC_GLOBAL, name, &found));
    expect(found, value);
    CHECK(nc_inq_attlen(shared, NC_GLOBAL, name, &count));
    CHECK(nc_inq_varname(shared, own_varids[thread], name));
    CHECK(nc_inq_varid(shared, name, &found));
    expect(found, own_varids[thread]);
}

static int make_file(const char *path, int mode, int *varid)
{
    int ncid, dimids[2];
    CHECK(nc_create(path, mode, &ncid));
    CHECK(nc_def_dim(ncid, "row", ROWS, &dimids[0]));
    CHECK(nc_def_dim(ncid, "column", COLUMNS, &dimids[1]));
    CHECK(nc_def_var(ncid, "values", NC_INT, 2, dimids, varid));
    return ncid;
}

static void through_own_files(size_t thread)
{
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    char path[64];
    int varid, ncid;
    snprintf(path, sizeof path, "own_%zu.nc", thread);
    for (int round = 0; round < rounds; round++) {
        ncid = make_file(path, modes[(thread + (size_t)round) % 5], &varid);
        CHECK(nc_enddef(ncid));
        write_rows(ncid, varid, 0, 1);
        CHECK(nc_close(ncid));
        CHECK(nc_open(path, NC_NOWRITE, &ncid));
        read_rows(ncid, varid, 0, 1);
        CHECK(nc_close(ncid));
        /* The file of all is opened again by each, for reading. */
        CHECK(nc_open("closed.nc", NC_NOWRITE, &ncid));
        read_rows(ncid, 0, thread, 3);
        CHECK(nc_close(ncid));
    }
}

static void *work(void *number)
{
    size_t thread = (size_t)number;
    for (int round = 0; round < rounds; round++)
        through_one_file(thread);
    through_own_files(thread);
    return NULL;
}

static pthread_barrier_t pair;

/* Reads one deflated row again and again, always into the same memory. Both begin each time together: a call that
 * ends before the other begins is ordered by the library's locks, and no race. */
static void *read_into_one_buffer(void *ncid)
{
    static int row[COLUMNS];
    size_t starts[] = {0, 0}, counts[] = {1, COLUMNS};
    for (int round = 0; round < 1000; round++) {
        pthread_barrier_wait(&pair);
        CHECK(nc_get_vara_int((int)(size_t)ncid, 0, starts, counts, row));
    }
    return NULL;
}

static int race(void)
{
    pthread_t threads[2];
    int ncid;
    pthread_barrier_init(&pair, NULL, 2);
    CHECK(nc_open("closed.nc", NC_NOWRITE, &ncid));
    for (size_t thread = 0; thread < 2; thread++)
        pthread_create(&threads[thread], NULL, read_into_one_buffer, (void *)(size_t)ncid);
    for (size_t thread = 0; thread < 2; thread++)
        pthread_join(threads[thread], NULL);
    CHECK(nc_close(ncid));
    return 0;
}

int main(int count, char **arguments)
{
    static const int modes[] = {0, NC_NETCDF4};
    pthread_t threads[THREADS];
    char name[NC_MAX_NAME + 1];
    int dimids[] = {0, 1};
    rounds = count > 1 ? atoi(arguments[1]) : 1;
    pthread_barrier_init(&barrier, NULL, THREADS);
    int varid, closed = make_file("closed.nc", NC_NETCDF4, &varid);
    CHECK(nc_def_var_deflate(closed, varid, 1, 1, 1));
    write_rows(closed, varid, 0, 1);
    CHECK(nc_close(closed));
    if (count > 2)
        return race();
    for (size_t mode = 0; mode < 2; mode++) {
        shared = make_file("shared.nc", modes[mode], &shared_varid);
        for (size_t thread = 0; thread < THREADS; thread++) {
            snprintf(name, sizeof name, "values_of_thread_%zu", thread);
            CHECK(nc_def_var(shared, name, NC_INT, 2, dimids, &own_varids[thread]));
            /* A classic file's attributes may not grow in data mode. */
            snprintf(name, sizeof name, "of_%zu", thread);
            CHECK(nc_put_att_int(shared, NC_GLOBAL, name, NC_INT, 1, &rounds));
        }
        if (modes[mode] & NC_NETCDF4)
            for (size_t thread = 0; thread < THREADS; thread += 2)
                CHECK(nc_def_var_deflate(shared, own_varids[thread], 1, 1, 1));
        CHECK(nc_enddef(shared));
        for (size_t thread = 0; thread < THREADS; thread++)
            pthread_create(&threads[thread], NULL, work, (void *)thread);
        for (size_t thread = 0; thread < THREADS; thread++)
            pthread_join(threads[thread], NULL);
        CHECK(nc_close(shared));
        CHECK(nc_open("shared.nc", NC_NOWRITE, &shared));
        read_rows(shared, shared_varid, 0, 1);
        CHECK(nc_close(shared));
    }
    return 0;
}
