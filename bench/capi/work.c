/* One piece of work through the C interface: work NAME FILE [ARGUMENT...]
 *
 * The same program runs on either library. Prints the median seconds of several runs, after one that is
 * not counted. Which works there are says the table at the end; bench/capi.py runs them. */
#include <netcdf.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Rows of float32 are written and read one by one. */
#define ROWS 3162
/* A square of float32 is 100 MB. */
#define SIDE 5000
#define SINGLE_VALUES 1000000

static char **arguments;

static void check(int status) {
    if (status != NC_NOERR) {
        fprintf(stderr, "%s\n", nc_strerror(status));
        exit(1);
    }
}

static void *memory(size_t bytes) {
    void *found = malloc(bytes);
    if (!found) exit(1);
    return found;
}

static int opened(void) {
    int file;
    check(nc_open(arguments[0], NC_NOWRITE, &file));
    return file;
}

static void open_and_close(void) { check(nc_close(opened())); }

/* Reads each attribute as what it is. */
static void read_attributes(int file, int variable, int count) {
    for (int number = 0; number < count; number++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        size_t length, size;
        check(nc_inq_attname(file, variable, number, name));
        check(nc_inq_att(file, variable, name, &type, &length));
        check(nc_inq_type(file, type, NULL, &size));
        void *values = memory(length * size + 1);
        check(nc_get_att(file, variable, name, values));
        free(values);
    }
}

static void inquire_everything(void) {
    int file = opened(), dimensions, variables, attributes, unlimited;
    check(nc_inq(file, &dimensions, &variables, &attributes, &unlimited));
    for (int number = 0; number < dimensions; number++) {
        char name[NC_MAX_NAME + 1];
        size_t length;
        check(nc_inq_dim(file, number, name, &length));
    }
    read_attributes(file, NC_GLOBAL, attributes);
    for (int number = 0; number < variables; number++) {
        char name[NC_MAX_NAME + 1];
        nc_type type;
        int rank, along[NC_MAX_VAR_DIMS], count;
        check(nc_inq_var(file, number, name, &type, &rank, along, &count));
        read_attributes(file, number, count);
    }
    check(nc_close(file));
}

static void count_attributes(void) {
    int file = opened(), count;
    check(nc_inq_natts(file, &count));
    check(nc_close(file));
}

static void put_text(int file, int variable, const char *name, const char *text) {
    check(nc_put_att_text(file, variable, name, strlen(text), text));
}

/* A variable as WRF defines it. */
static void define_wrf(int file, const char *name, int rank, const int *along) {
    int variable, type = 104;
    check(nc_def_var(file, name, NC_FLOAT, rank, along, &variable));
    check(nc_put_att_int(file, variable, "FieldType", NC_INT, 1, &type));
    put_text(file, variable, "MemoryOrder", rank == 4 ? "XYZ" : "XY ");
    put_text(file, variable, "description", "a field of the model");
    put_text(file, variable, "units", "ppmv");
    put_text(file, variable, "stagger", "");
    put_text(file, variable, "coordinates", "XLONG XLAT XTIME");
}

static int created(void) {
    int file;
    unlink(arguments[0]);
    check(nc_create(arguments[0], NC_NETCDF4 | NC_CLOBBER, &file));
    return file;
}

/* 360 fields along time, level, latitude and longitude: an output file of WRF-Chem. */
static void create_wrf_chemistry(void) {
    int file = created(), along[4];
    check(nc_def_dim(file, "Time", NC_UNLIMITED, &along[0]));
    check(nc_def_dim(file, "bottom_top", 29, &along[1]));
    check(nc_def_dim(file, "south_north", 100, &along[2]));
    check(nc_def_dim(file, "west_east", 100, &along[3]));
    for (int number = 0; number < 360; number++) {
        char name[NC_MAX_NAME + 1];
        snprintf(name, sizeof name, "chem_%03d", number);
        define_wrf(file, name, 4, along);
    }
    check(nc_close(file));
}

/* Fields on the four sides of the area, and how they change: a boundary file of WRF. */
static void create_wrf_boundary(void) {
    static const char *fields[] = {"U", "V", "PH", "T", "QVAPOR", "MU", "HT_SHAD"};
    static const char *sides[] = {"BXS", "BXE", "BYS", "BYE", "BTXS", "BTXE", "BTYS", "BTYE"};
    int file = created(), time, width, up, north, east;
    check(nc_def_dim(file, "Time", NC_UNLIMITED, &time));
    check(nc_def_dim(file, "bdy_width", 5, &width));
    check(nc_def_dim(file, "bottom_top", 29, &up));
    check(nc_def_dim(file, "south_north", 100, &north));
    check(nc_def_dim(file, "west_east", 100, &east));
    for (size_t field = 0; field < sizeof fields / sizeof *fields; field++) {
        for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
            char name[NC_MAX_NAME + 1];
            int is_west_east = strchr(sides[side], 'X') != NULL;
            int along[] = {time, width, up, is_west_east ? north : east};
            snprintf(name, sizeof name, "%s_%s", fields[field], sides[side]);
            define_wrf(file, name, 4, along);
        }
    }
    check(nc_close(file));
}

static void create_many_attributes(void) {
    int file = created();
    double values[100] = {0};
    for (int number = 0; number < 10000; number++) {
        char name[NC_MAX_NAME + 1];
        snprintf(name, sizeof name, "attribute_%05d", number);
        check(nc_put_att_double(file, NC_GLOBAL, name, NC_DOUBLE, 100, values));
    }
    check(nc_close(file));
}

/* Creates `v`, as the argument says: classic, contiguous, chunked or deflated. */
static int created_square(nc_type type, size_t side, size_t chunk, int *variable) {
    const char *layout = arguments[1];
    int is_classic = strcmp(layout, "classic") == 0, file, along[2];
    unlink(arguments[0]);
    check(nc_create(arguments[0], is_classic ? NC_64BIT_OFFSET : NC_NETCDF4, &file));
    check(nc_def_dim(file, "y", side, &along[0]));
    check(nc_def_dim(file, "x", side, &along[1]));
    check(nc_def_var(file, "v", type, 2, along, variable));
    if (!is_classic) {
        size_t chunks[] = {chunk, chunk};
        int is_contiguous = strcmp(layout, "contiguous") == 0;
        check(nc_def_var_chunking(
            file, *variable, is_contiguous ? NC_CONTIGUOUS : NC_CHUNKED, chunks));
        check(nc_def_var_fill(file, *variable, NC_NOFILL, NULL));
    }
    if (strcmp(layout, "deflated") == 0) check(nc_def_var_deflate(file, *variable, 1, 1, 1));
    check(nc_enddef(file));
    return file;
}

static void create_square(nc_type type) {
    int variable, file = created_square(type, SIDE, 100, &variable);
    double *numbers = memory((size_t)SIDE * SIDE * sizeof *numbers);
    for (size_t number = 0; number < (size_t)SIDE * SIDE; number++) {
        numbers[number] = (double)(number % 1000);
    }
    check(nc_put_var_double(file, variable, numbers));
    check(nc_close(file));
    free(numbers);
}

/* The file for `get_single_values`. */
static void create_doubles(void) { create_square(NC_DOUBLE); }

/* The file for `get_every_second`. */
static void create_floats(void) { create_square(NC_FLOAT); }

static void get_single_values(void) {
    int file = opened();
    double sum = 0;
    for (int number = 0; number < SINGLE_VALUES; number++) {
        size_t index[] = {number / SIDE, number % SIDE};
        double value;
        check(nc_get_var1_double(file, 0, index, &value));
        sum += value;
    }
    check(nc_close(file));
    if (sum <= 0) exit(1);
}

static void put_rows(void) {
    int variable, file = created_square(NC_FLOAT, ROWS, ROWS, &variable);
    float row[ROWS];
    for (int x = 0; x < ROWS; x++) row[x] = (float)x;
    for (size_t y = 0; y < ROWS; y++) {
        size_t start[] = {y, 0}, count[] = {1, ROWS};
        check(nc_put_vara_float(file, variable, start, count, row));
    }
    check(nc_close(file));
}

static void get_rows(void) {
    int file = opened();
    float row[ROWS];
    for (size_t y = 0; y < ROWS; y++) {
        size_t start[] = {y, 0}, count[] = {1, ROWS};
        check(nc_get_vara_float(file, 0, start, count, row));
    }
    check(nc_close(file));
}

static void get_every_second(void) {
    int file = opened();
    size_t start[] = {0, 0}, count[] = {SIDE / 2, SIDE / 2};
    ptrdiff_t stride[] = {2, 2};
    float *numbers = memory(count[0] * count[1] * sizeof *numbers);
    check(nc_get_vars_float(file, 0, start, count, stride, numbers));
    check(nc_close(file));
    free(numbers);
}

static void get_whole(void) {
    int file = opened(), along[NC_MAX_VAR_DIMS], rank;
    size_t total = 1;
    check(nc_inq_var(file, 0, NULL, NULL, &rank, along, NULL));
    for (int axis = 0; axis < rank; axis++) {
        size_t length;
        check(nc_inq_dimlen(file, along[axis], &length));
        total *= length;
    }
    double *numbers = memory(total * sizeof *numbers);
    check(nc_get_var_double(file, 0, numbers));
    check(nc_close(file));
    free(numbers);
}

/* Writes the float32 numbers of a file, maps of 512 x 512, shuffled and by zstd 3, in chunks that the arguments give. */
static void put_zstd(void) {
    static float *numbers;
    const size_t shape[] = {1024, 512, 512};
    size_t count = shape[0] * shape[1] * shape[2], chunks[3];
    int file = created(), along[3], variable;
    /* Read in the run that is not counted. */
    if (!numbers) {
        FILE *field = fopen(arguments[1], "rb");
        numbers = memory(count * sizeof *numbers);
        if (!field || fread(numbers, sizeof *numbers, count, field) != count) exit(1);
        fclose(field);
    }
    for (int axis = 0; axis < 3; axis++) {
        chunks[axis] = strtoul(arguments[2 + axis], NULL, 10);
        check(nc_def_dim(file, (const char *[]){"t", "y", "x"}[axis], shape[axis], &along[axis]));
    }
    check(nc_def_var(file, "v", NC_FLOAT, 3, along, &variable));
    check(nc_def_var_chunking(file, variable, NC_CHUNKED, chunks));
    check(nc_def_var_deflate(file, variable, 1, 0, 0));
    check(nc_def_var_zstandard(file, variable, 3));
    check(nc_put_var_float(file, variable, numbers));
    check(nc_close(file));
}

static const struct {
    const char *name;
    void (*work)(void);
} works[] = {
    {"open-and-close", open_and_close},
    {"inquire-everything", inquire_everything},
    {"count-attributes", count_attributes},
    {"create-wrf-chemistry", create_wrf_chemistry},
    {"create-wrf-boundary", create_wrf_boundary},
    {"create-many-attributes", create_many_attributes},
    {"create-doubles", create_doubles},
    {"create-floats", create_floats},
    {"get-single-values", get_single_values},
    {"put-rows", put_rows},
    {"get-rows", get_rows},
    {"get-every-second", get_every_second},
    {"get-whole", get_whole},
    {"put-zstd", put_zstd},
};

static double seconds_of(void (*work)(void)) {
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    work();
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (ended.tv_sec - begun.tv_sec) + (ended.tv_nsec - begun.tv_nsec) * 1e-9;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argument_count, char **given) {
    enum { MOST_RUNS = 5 };
    double seconds[MOST_RUNS];
    for (size_t number = 0; argument_count >= 3 && number < sizeof works / sizeof *works; number++) {
        if (strcmp(given[1], works[number].name) != 0) continue;
        arguments = given + 2;
        /* What takes seconds is done fewer times. */
        int runs = seconds_of(works[number].work) > 2 ? 1 : MOST_RUNS;
        for (int run = 0; run < runs; run++) seconds[run] = seconds_of(works[number].work);
        qsort(seconds, runs, sizeof *seconds, by_size);
        printf("seconds %e\n", seconds[runs / 2]);
        return 0;
    }
    fprintf(stderr, "work NAME FILE [ARGUMENT...]\n");
    return 2;
}
