/* The rows that are written by C libnetcdf: netcdf WORK FILE FORMAT LAYOUT CHUNK LENGTH...
 *
 *   WORK    whole: one call;  rows: one call for each index of the first dimension
 *   FORMAT  3 or 4
 *   LAYOUT  contiguous or chunked, in chunks of CHUNK elements along each dimension
 *
 * Writes int32 numbers from 0 on several times and prints the median seconds from create to close.
 * src/writing.rs does the same work. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS 5

static void check(int status) {
    if (status != NC_NOERR) {
        fprintf(stderr, "%s\n", nc_strerror(status));
        exit(1);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void write_file(char **arguments, int rank, const size_t *lengths, const int *numbers) {
    int file, variable, dimensions[NC_MAX_VAR_DIMS];
    int is_enhanced = strcmp(arguments[2], "4") == 0;
    check(nc_create(arguments[1], is_enhanced ? NC_NETCDF4 : 0, &file));
    size_t start[NC_MAX_VAR_DIMS] = {0}, count[NC_MAX_VAR_DIMS], chunk[NC_MAX_VAR_DIMS];
    for (int axis = 0; axis < rank; axis++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", axis);
        check(nc_def_dim(file, name, lengths[axis], &dimensions[axis]));
        size_t most = strtoull(arguments[4], NULL, 10);
        chunk[axis] = most < lengths[axis] ? most : lengths[axis];
        count[axis] = lengths[axis];
    }
    check(nc_def_var(file, "v", NC_INT, rank, dimensions, &variable));
    check(nc_def_var_fill(file, variable, NC_NOFILL, NULL));
    if (is_enhanced) {
        int is_chunked = strcmp(arguments[3], "chunked") == 0;
        check(nc_def_var_chunking(file, variable, is_chunked ? NC_CHUNKED : NC_CONTIGUOUS, chunk));
    }
    check(nc_enddef(file));
    if (strcmp(arguments[0], "whole") == 0) {
        check(nc_put_vara_int(file, variable, start, count, numbers));
    } else {
        size_t row = 1;
        for (int axis = 1; axis < rank; axis++) row *= lengths[axis];
        for (count[0] = 1; start[0] < lengths[0]; start[0]++)
            check(nc_put_vara_int(file, variable, start, count, numbers + start[0] * row));
    }
    check(nc_close(file));
}

int main(int argument_count, char **arguments) {
    int rank = argument_count - 6;
    if (rank < 1) {
        fprintf(stderr, "netcdf whole|rows FILE 3|4 contiguous|chunked CHUNK LENGTH...\n");
        return 2;
    }
    size_t lengths[NC_MAX_VAR_DIMS], total = 1;
    for (int axis = 0; axis < rank; axis++) {
        lengths[axis] = strtoull(arguments[6 + axis], NULL, 10);
        total *= lengths[axis];
    }
    int *numbers = malloc(total * sizeof *numbers);
    if (!numbers) return 1;
    for (size_t i = 0; i < total; i++) numbers[i] = (int)i;
    double seconds[RUNS + 1];
    for (int run = 0; run <= RUNS; run++) {
        unlink(arguments[2]);
        double begun = now();
        write_file(arguments + 1, rank, lengths, numbers);
        seconds[run] = now() - begun;
    }
    /* The first run is not counted. */
    qsort(seconds + 1, RUNS, sizeof *seconds, by_size);
    printf("seconds %e\n", seconds[1 + RUNS / 2]);
    free(numbers);
    return 0;
}
