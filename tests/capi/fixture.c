#include "fixture.h"
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture fixture;

/* What makes the files must not fail. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != NC_NOERR) {                                                                 \
            log_add("fixture: %s = %d", #call, status_);                                           \
            log_end();                                                                             \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

static const int flags_of_format[] = {0, 0, NC_64BIT_OFFSET, NC_NETCDF4,
                                      NC_NETCDF4 | NC_CLASSIC_MODEL, NC_64BIT_DATA};
static const char *const type_names[] = {"",      "byte",   "char", "short", "int",    "float", "double",
                                         "ubyte", "ushort", "uint", "int64", "uint64", "string"};

void use_one_cache(void)
{
    MUST(nc_set_chunk_cache(16777216, 4133, 0.75f));
}

static int last_type(int format)
{
    switch (format) {
    case NC_FORMAT_NETCDF4: return NC_STRING;
    case NC_FORMAT_64BIT_DATA: return NC_UINT64;
    default: return NC_DOUBLE;
    }
}

struct point {
    int where;
    float height[2];
};
struct station {
    char *name;
    nc_vlen_t values;
    double at;
};

static void define_types(int ncid)
{
    nc_type point, colour, blob, list, names, station;
    signed char value = 0;
    int two = 2;
    MUST(nc_def_compound(ncid, sizeof(struct point), "point", &point));
    MUST(nc_insert_compound(ncid, point, "where", offsetof(struct point, where), NC_INT));
    MUST(nc_insert_array_compound(ncid, point, "height", offsetof(struct point, height), NC_FLOAT, 1,
                                  &two));
    MUST(nc_def_enum(ncid, NC_BYTE, "colour", &colour));
    MUST(nc_insert_enum(ncid, colour, "red", &value));
    value = 1;
    MUST(nc_insert_enum(ncid, colour, "green", &value));
    MUST(nc_def_opaque(ncid, 5, "blob", &blob));
    MUST(nc_def_vlen(ncid, "list", NC_SHORT, &list));
    MUST(nc_def_vlen(ncid, "names", NC_STRING, &names));
    MUST(nc_def_compound(ncid, sizeof(struct station), "station", &station));
    MUST(nc_insert_compound(ncid, station, "name", offsetof(struct station, name), NC_STRING));
    MUST(nc_insert_compound(ncid, station, "values", offsetof(struct station, values), list));
    MUST(nc_insert_compound(ncid, station, "at", offsetof(struct station, at), NC_DOUBLE));
}

static void define_attributes(int ncid, int varid, int last)
{
    static _Alignas(max_align_t) char values[256];
    char name[NC_MAX_NAME + 1];
    for (nc_type type = NC_BYTE; type <= last; type++) {
        snprintf(name, sizeof name, "a_%s", type_names[type]);
        make_values(ncid, type, values, 4, type);
        MUST(nc_put_att(ncid, varid, name, type, 4, values));
    }
}

/* Dimensions 0 x, 1 y, 2 t (unlimited, where the file has records), 3 one; a variable of each type, and of each storage. */
static void define(int ncid, int format)
{
    int dimids[4], varid;
    int is_hdf5 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
    char name[NC_MAX_NAME + 1];
    double numbers[] = {1, 2.5, 300};
    int last = last_type(format);
    MUST(nc_def_dim(ncid, "x", 3, &dimids[0]));
    MUST(nc_def_dim(ncid, "y", 4, &dimids[1]));
    MUST(nc_def_dim(ncid, "t", fixture.has_records ? NC_UNLIMITED : 2, &dimids[2]));
    MUST(nc_def_dim(ncid, "one", 1, &dimids[3]));
    MUST(nc_put_att_text(ncid, NC_GLOBAL, "title", 5, "tests"));
    MUST(nc_put_att_double(ncid, NC_GLOBAL, "numbers", NC_DOUBLE, 3, numbers));
    define_attributes(ncid, NC_GLOBAL, last);
    for (nc_type type = NC_BYTE; type <= last; type++) {
        snprintf(name, sizeof name, "v_%s", type_names[type]);
        MUST(nc_def_var(ncid, name, type, 2, dimids, &varid));
    }
    define_attributes(ncid, 0, last);
    MUST(nc_put_att_text(ncid, 0, "title", 3, "var"));
    int record[] = {dimids[2], dimids[0]};
    MUST(nc_def_var(ncid, "x", NC_FLOAT, 1, dimids, &varid));
    MUST(nc_def_var(ncid, "scalar", NC_DOUBLE, 0, NULL, &varid));
    MUST(nc_def_var(ncid, "v_record", NC_INT, 2, record, &varid));
    MUST(nc_def_var(ncid, "v_letters", NC_CHAR, 2, record, &varid));
    if (is_hdf5) {
        size_t chunks[] = {2, 3};
        MUST(nc_def_var(ncid, "v_zip", NC_SHORT, 2, dimids, &varid));
        MUST(nc_def_var_chunking(ncid, varid, NC_CHUNKED, chunks));
        MUST(nc_def_var_deflate(ncid, varid, 1, 1, 3));
        MUST(nc_def_var_fletcher32(ncid, varid, 1));
    }
    if (format == NC_FORMAT_NETCDF4) {
        int group, deeper;
        define_types(ncid);
        for (nc_type type = 32; type < 38; type++) {
            snprintf(name, sizeof name, "v_user_%d", type);
            MUST(nc_def_var(ncid, name, type, 1, dimids, &varid));
        }
        MUST(nc_def_grp(ncid, "inner", &group));
        MUST(nc_def_grp(group, "deep", &deeper));
        MUST(nc_def_dim(group, "z", 2, &dimids[1]));
        MUST(nc_def_var(group, "v_int", NC_INT, 2, dimids, &varid));
        MUST(nc_put_att_text(group, NC_GLOBAL, "title", 5, "group"));
        fixture.ids[fixture.id_count++] = group;
    }
}

static void write_values(int ncid)
{
    static _Alignas(max_align_t) char values[4096];
    size_t starts[] = {0, 0}, counts[] = {2, 3};
    int count = 0, rank = 0;
    nc_type type = NC_NAT;
    MUST(nc_inq_nvars(ncid, &count));
    for (int varid = 0; varid < count; varid++) {
        MUST(nc_inq_vartype(ncid, varid, &type));
        MUST(nc_inq_varndims(ncid, varid, &rank));
        memset(values, 0, sizeof values);
        make_values(ncid, type, values, 12, varid + 8);
        counts[0] = rank == 1 ? 3 : 2;
        MUST(nc_put_vara(ncid, varid, starts, counts, values));
    }
}

static void make_file(const char *path, int format, int *id)
{
    MUST(nc_create(path, flags_of_format[format], id));
    define(*id, format);
}

void use_fixture(int format, enum state state, int has_records)
{
    int closed, other;
    FILE *text = fopen("text.txt", "w"), *empty = fopen("empty.nc", "w");
    if (!text || !empty || fputs("no netCDF\n", text) < 0)
        exit(4);
    fclose(text);
    fclose(empty);
    unlink("fresh.nc");
    unlink("third.nc");
    unlink("missing.nc");
    memset(&fixture, 0, sizeof fixture);
    fixture.format = format;
    fixture.has_records = has_records;
    ncopts = 0;
    /* Places of the two files, of their groups and of what is opened later. */
    fixture.id_count = 2;
    make_file("main.nc", format, &fixture.ids[0]);
    int groups = fixture.id_count;
    make_file("closed.nc", format, &closed);
    fixture.id_count = groups;
    MUST(nc_close(closed));
    MUST(nc_create("other.nc", flags_of_format[format], &other));
    MUST(nc_def_var(other, "v_other", NC_INT, 0, NULL, &closed));
    fixture.ids[1] = other;
    if (state != DEFINING) {
        nc_enddef(fixture.ids[0]);
        write_values(fixture.ids[0]);
    }
    if (state == WRITABLE || state == READ_ONLY) {
        MUST(nc_close(fixture.ids[0]));
        MUST(nc_open("main.nc", state == WRITABLE ? NC_WRITE : NC_NOWRITE, &fixture.ids[0]));
        if (fixture.id_count > 2)
            MUST(nc_inq_ncid(fixture.ids[0], "inner", &fixture.ids[2]));
    }
    MUST(nc_create("closed2.nc", 0, &fixture.closed));
    MUST(nc_close(fixture.closed));
}

static void store_new_file(int id)
{
    nc_enddef(id);
    nc_sync(id);
    nc_redef(id);
}

void learn_ids(const char *function, const void *memory, int remember)
{
    static const char *const givers[] = {"nc_create", "nc_open", "nc__create", "nc__open",
                                         "nc__create_mp", "nc__open_mp", "nc_def_grp"};
    int id;
    memcpy(&id, memory, sizeof id);
    for (size_t i = 0; i < sizeof givers / sizeof *givers; i++) {
        if (strcmp(function, givers[i]) != 0)
            continue;
        /* In the original a file is there for others when definitions have ended first. */
        if (remember && strstr(function, "create"))
            store_new_file(id);
        if (remember && fixture.id_count < MOST_IDS)
            fixture.ids[fixture.id_count++] = id;
        else if (!remember && strcmp(function, "nc_def_grp") != 0)
            log_add(" closed %d", nc_close(id));
    }
}

void mend_fixture(unsigned seed)
{
    int format, status;
    if (nc_inq_format(fixture.ids[0], &format) == NC_NOERR)
        return;
    /* Nobody asks for these any more; ids of groups close nothing. */
    while (fixture.id_count > 2)
        nc_close(fixture.ids[--fixture.id_count]);
    status = nc_open("main.nc", seed % 4 ? NC_WRITE : NC_NOWRITE, &fixture.ids[0]);
    log_add("reopened = %d", status);
    log_end();
    if (status != NC_NOERR)
        MUST(nc_create("main.nc", flags_of_format[fixture.format], &fixture.ids[0]));
}

void leave_fixture(void)
{
    for (int i = fixture.id_count - 1; i >= 0; i--) {
        /* Ids of groups close nothing. */
        log_add("closing %d = %d", i, nc_close(fixture.ids[i]));
        log_end();
    }
    int status = nc_open("main.nc", NC_NOWRITE, &fixture.ids[0]);
    log_add("left = %d", status);
    log_end();
    if (status == NC_NOERR) {
        log_file(fixture.ids[0]);
        nc_close(fixture.ids[0]);
    }
}
