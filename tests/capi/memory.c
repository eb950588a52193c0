/* Memory that passes between the caller and the library: nested types, files in memory, records of
 * version 2. Run under valgrind too: everything is given back. */
#include "log.h"

#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>

/* Logs a call and what it returned. */
#define CALL(function, ...)                                                                        \
    do {                                                                                           \
        log_add("%s = %d", #function, function(__VA_ARGS__));                                      \
        log_end();                                                                                 \
    } while (0)

struct entry {
    char *name;
    nc_vlen_t lists; /* of lists of numbers */
    short flag;
};

enum { ENTRIES = 4 };

/* A list of lists in a compound, with strings: the types 32 to 34. */
static int define_types(int ncid)
{
    nc_type numbers, lists, entry;
    CALL(nc_def_vlen, ncid, "numbers", NC_DOUBLE, &numbers);
    CALL(nc_def_vlen, ncid, "lists", numbers, &lists);
    CALL(nc_def_compound, ncid, sizeof(struct entry), "entry", &entry);
    CALL(nc_insert_compound, ncid, entry, "name", offsetof(struct entry, name), NC_STRING);
    CALL(nc_insert_compound, ncid, entry, "lists", offsetof(struct entry, lists), lists);
    CALL(nc_insert_compound, ncid, entry, "flag", offsetof(struct entry, flag), NC_SHORT);
    return entry;
}

static void copies_and_reclaims(int ncid, nc_type type, const void *values, size_t count)
{
    size_t size = size_of_type(ncid, type);
    void *copy = calloc(count, size), *other = NULL;
    CALL(nc_copy_data, ncid, type, values, count, copy);
    log_values(ncid, type, copy, count);
    log_end();
    CALL(nc_reclaim_data_all, ncid, type, copy, count);
    CALL(nc_copy_data_all, ncid, type, values, count, &other);
    log_values(ncid, type, other, count);
    log_end();
    CALL(nc_reclaim_data, ncid, type, other, count);
    free(other);
    CALL(nc_reclaim_data, ncid, type, NULL, 0);
    CALL(nc_copy_data_all, ncid, type, values, 0, &other);
    CALL(nc_copy_data, ncid, 777, values, count, NULL);
    CALL(nc_reclaim_data_all, ncid, 777, NULL, 1);
}

static void nested_types(const char *path, int mode)
{
    struct entry entries[ENTRIES];
    int ncid = 0, dimid, varid;
    CALL(nc_create, path, mode, &ncid);
    int entry = define_types(ncid);
    memset(entries, 0, sizeof entries);
    make_values(ncid, entry, entries, ENTRIES, 3);
    CALL(nc_def_dim, ncid, "x", ENTRIES, &dimid);
    CALL(nc_def_var, ncid, "entries", entry, 1, &dimid, &varid);
    CALL(nc_put_att, ncid, varid, "first", entry, 1, entries);
    CALL(nc_put_var, ncid, varid, entries);
    copies_and_reclaims(ncid, entry, entries, ENTRIES);
    copies_and_reclaims(ncid, NC_INT, "0123456789abcdef", 4);
    CALL(nc_close, ncid);
    CALL(nc_open, path, NC_NOWRITE, &ncid);
    log_file(ncid);
    CALL(nc_close, ncid);
}

/* Elements of a variable-length type, and the functions that free them. */
static void lists(const char *path)
{
    int ncid = 0, dimid, varid, numbers[] = {1, 2, 3}, got[8];
    nc_vlen_t one, two[2];
    nc_type type;
    size_t index = 0, len = 0;
    CALL(nc_create, path, NC_NETCDF4, &ncid);
    CALL(nc_def_vlen, ncid, "ints", NC_INT, &type);
    CALL(nc_def_dim, ncid, "x", 2, &dimid);
    CALL(nc_def_var, ncid, "v", type, 1, &dimid, &varid);
    CALL(nc_put_vlen_element, ncid, type, &one, 3, numbers);
    CALL(nc_get_vlen_element, ncid, type, &one, &len, got);
    log_values(ncid, NC_INT, got, len);
    log_end();
    CALL(nc_put_var1, ncid, varid, &index, &one);
    CALL(nc_put_vlen_element, ncid, 999, &one, 3, numbers);
    CALL(nc_get_var, ncid, varid, two);
    log_values(ncid, type, two, 2);
    log_end();
    CALL(nc_free_vlens, 2, two);
    CALL(nc_get_var1, ncid, varid, &index, two);
    CALL(nc_free_vlen, two);
    CALL(nc_close, ncid);
}

static void strings(const char *path)
{
    const char *texts[] = {"one", "", NULL, "four"};
    char *got[4];
    int ncid = 0, dimid, varid;
    CALL(nc_create, path, NC_NETCDF4, &ncid);
    CALL(nc_def_dim, ncid, "x", 4, &dimid);
    CALL(nc_def_var, ncid, "s", NC_STRING, 1, &dimid, &varid);
    CALL(nc_get_var_string, ncid, varid, got);
    CALL(nc_free_string, 4, got);
    CALL(nc_put_att_string, ncid, varid, "texts", 4, texts);
    CALL(nc_put_var_string, ncid, varid, texts);
    CALL(nc_get_var_string, ncid, varid, got);
    log_values(ncid, NC_STRING, got, 4);
    log_end();
    CALL(nc_free_string, 4, got);
    CALL(nc_get_att_string, ncid, varid, "texts", got);
    log_values(ncid, NC_STRING, got, 4);
    log_end();
    CALL(nc_free_string, 4, got);
    CALL(nc_free_string, 0, NULL);
    CALL(nc_close, ncid);
}

static void fill(int ncid)
{
    int dimids[2], varid, values[] = {1, 2, 3, 4, 5, 6};
    size_t starts[] = {0, 0}, counts[] = {2, 3};
    CALL(nc_def_dim, ncid, "t", NC_UNLIMITED, &dimids[0]);
    CALL(nc_def_dim, ncid, "x", 3, &dimids[1]);
    CALL(nc_def_var, ncid, "v", NC_INT, 2, dimids, &varid);
    CALL(nc_put_att_text, ncid, varid, "units", 1, "m");
    nc_enddef(ncid);
    CALL(nc_put_vara_int, ncid, varid, starts, counts, values);
}

/* Files in memory: made there, taken out, opened again, changed, and left to the caller or not. */
static void in_memory(int mode)
{
    int ncid = 0, value = 77;
    size_t index[] = {0, 1};
    NC_memio made = {0, NULL, 0}, changed = {0, NULL, 0};
    CALL(nc_create_mem, "in_memory.nc", mode, 4096, &ncid);
    fill(ncid);
    CALL(nc_close_memio, ncid, &made);
    log_add("%s", made.size && made.memory ? "memory" : "none");
    log_end();
    CALL(nc_open_mem, "in_memory.nc", NC_NOWRITE, made.size, made.memory, &ncid);
    log_file(ncid);
    CALL(nc_put_var1_int, ncid, 0, index, &value);
    CALL(nc_close, ncid);
    if (mode & NC_NETCDF4) {
        /* The original opens no such file for changing. */
        free(made.memory);
        return;
    }
    CALL(nc_open_memio, "in_memory.nc", NC_WRITE, &made, &ncid);
    CALL(nc_put_var1_int, ncid, 0, index, &value);
    log_file(ncid);
    CALL(nc_close_memio, ncid, &changed);
    CALL(nc_open_mem, "in_memory.nc", NC_NOWRITE, changed.size, changed.memory, &ncid);
    log_file(ncid);
    CALL(nc_close, ncid);
    free(changed.memory);
    CALL(nc_open_mem, "in_memory.nc", NC_NOWRITE, 3, "abc", &ncid);
    CALL(nc_open_mem, "in_memory.nc", NC_NOWRITE, 0, NULL, &ncid);
}

/* Files that are in memory until they are closed. */
static void diskless(int mode)
{
    int ncid = 0;
    CALL(nc_create, "gone.nc", mode | NC_DISKLESS, &ncid);
    fill(ncid);
    log_file(ncid);
    CALL(nc_close, ncid);
    CALL(nc_open, "gone.nc", NC_NOWRITE, &ncid);
    CALL(nc_create, "kept.nc", mode | NC_DISKLESS | NC_PERSIST, &ncid);
    fill(ncid);
    CALL(nc_close, ncid);
    CALL(nc_open, "kept.nc", NC_NOWRITE | NC_DISKLESS, &ncid);
    log_file(ncid);
    CALL(nc_close, ncid);
    CALL(nc_open, "kept.nc", NC_WRITE | NC_DISKLESS | NC_PERSIST, &ncid);
    CALL(nc_put_att_text, ncid, 0, "units", 1, "s");
    CALL(nc_close, ncid);
    CALL(nc_open, "kept.nc", NC_NOWRITE, &ncid);
    log_file(ncid);
    CALL(nc_abort, ncid);
}

static void records(void)
{
    int ncid = nccreate("records.nc", NC_CLOBBER), count = 0, varids[8];
    long sizes[8];
    int first[] = {1, 2, 3}, got[3] = {0, 0, 0};
    void *data[] = {first}, *back[] = {got};
    fill(ncid);
    log_add("%d", ncrecinq(ncid, &count, varids, sizes));
    log_add(" %d %ld", count, sizes[0]);
    log_end();
    CALL(ncrecput, ncid, 1, data);
    CALL(ncrecget, ncid, 1, back);
    log_values(ncid, NC_INT, got, 3);
    log_end();
    CALL(ncrecget, ncid, 9, back);
    CALL(ncclose, ncid);
}

int main(void)
{
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    ncopts = 0;
    nested_types("nested.nc", NC_NETCDF4);
    lists("lists.nc");
    strings("strings.nc");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        log_add("mode %#x", modes[i]);
        log_end();
        in_memory(modes[i]);
        diskless(modes[i]);
    }
    records();
    return 0;
}
