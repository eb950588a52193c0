/* Code and memory of others: filters of a plugin, tables of formats, what parsers hand out. Run under
 * valgrind too.
 *
 *     callbacks FILTER [all]
 *
 * FILTER is the number of the plugin's filter, HDF5_PLUGIN_PATH where it is; `all` adds what the
 * original dies of. */
#include "log.h"

#include <netcdf_aux.h>
#include <netcdf_dispatch.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Logs a call and what it returned. */
#define CALL(function, ...)                                                                        \
    do {                                                                                           \
        log_add("%s = %d", #function, function(__VA_ARGS__));                                      \
        log_end();                                                                                 \
    } while (0)

enum { ROWS = 10, COLUMNS = 7, MISSING = 303 };

/* The plugin writes this in front of each chunk. */
static const char header[] = "test";

static void define(int ncid, unsigned filter)
{
    static const unsigned keys[] = {0x5a, 2, 3};
    int dimids[2], varid, fletcher32 = 0;
    size_t chunk[] = {4, 3}, count = 0;
    unsigned ids[4] = {0}, found[4] = {0};
    nc_type type;
    CALL(nc_def_dim, ncid, "row", NC_UNLIMITED, &dimids[0]);
    CALL(nc_def_dim, ncid, "column", COLUMNS, &dimids[1]);
    CALL(nc_def_var, ncid, "filtered", NC_INT, 2, dimids, &varid);
    CALL(nc_def_var_chunking, ncid, varid, NC_CHUNKED, chunk);
    CALL(nc_inq_filter_avail, ncid, filter);
    CALL(nc_inq_filter_avail, ncid, MISSING);
    CALL(nc_def_var_filter, ncid, varid, filter, 3, keys);
    CALL(nc_def_var_filter, ncid, varid, MISSING, 3, keys);
    CALL(nc_def_var_fletcher32, ncid, varid, 1);
    CALL(nc_inq_var_filter_ids, ncid, varid, &count, ids);
    CALL(nc_inq_var_filter_info, ncid, varid, filter, &count, found);
    CALL(nc_inq_var_fletcher32, ncid, varid, &fletcher32);
    log_add("%zu parameters of %u and %u: %u %u %u", count, ids[0], ids[1], found[0], found[1], found[2]);
    log_end();
    /* Filters do not go with elements that own memory. */
    CALL(nc_def_var, ncid, "texts", NC_STRING, 1, dimids, &varid);
    CALL(nc_def_var_filter, ncid, varid, filter, 1, keys);
    CALL(nc_def_vlen, ncid, "lists", NC_INT, &type);
    CALL(nc_def_var, ncid, "lists", type, 1, dimids, &varid);
    CALL(nc_def_var_filter, ncid, varid, filter, 1, keys);
}

static void put_rows(int ncid, size_t first, size_t count)
{
    short values[ROWS * COLUMNS];
    size_t starts[] = {first, 0}, counts[] = {count, COLUMNS};
    for (size_t i = 0; i < count * COLUMNS; i++)
        values[i] = (short)(first * 100 + i);
    CALL(nc_put_vara_short, ncid, 0, starts, counts, values);
}

static char *content(const char *path, size_t *len)
{
    void *bytes = NULL;
    if (ncaux_readfile(path, len, &bytes) != NC_NOERR)
        exit(3);
    return bytes;
}

/* The plugin refuses chunks whose header is another. */
static void damage(const char *path)
{
    size_t len, damaged = 0;
    char *bytes = content(path, &len);
    for (size_t i = 0; i + 4 < len; i++)
        /* Where a zero follows, it is the plugin's name. */
        if (memcmp(bytes + i, header, 4) == 0 && bytes[i + 4] != 0) {
            bytes[i] = 'T';
            damaged++;
        }
    log_add("%s", damaged > 0 ? "damaged" : "nothing to damage");
    log_end();
    CALL(ncaux_writefile, "damaged.nc", len, bytes);
    free(bytes);
}

static void filters(unsigned filter)
{
    int ncid = 0;
    short values[ROWS * COLUMNS];
    CALL(nc_create, "filters.nc", NC_NETCDF4, &ncid);
    define(ncid, filter);
    CALL(nc_enddef, ncid);
    put_rows(ncid, 0, 5);
    CALL(nc_sync, ncid);
    put_rows(ncid, 3, ROWS - 3);
    log_file(ncid);
    CALL(nc_close, ncid);
    CALL(nc_open, "filters.nc", NC_WRITE, &ncid);
    log_file(ncid);
    put_rows(ncid, 1, 2);
    CALL(nc_get_var_short, ncid, 0, values);
    log_values(ncid, NC_SHORT, values, ROWS * COLUMNS);
    log_end();
    CALL(nc_close, ncid);
    damage("filters.nc");
    CALL(nc_open, "damaged.nc", NC_NOWRITE, &ncid);
    CALL(nc_get_var_short, ncid, 0, values);
    CALL(nc_close, ncid);
}

/* Lists of filters in words. */
static void specifications(void)
{
    static const char *const texts[] = {
        "307", "307,9", "32015,1,2,3.5f,4.5,-1b,7ul", "x", "", "1,", "*,4", NULL,
    };
    for (size_t i = 0; texts[i]; i++) {
        unsigned id = 0, *parameters = NULL;
        size_t count = 0;
        log_text(texts[i]);
        log_add(" = %d", ncaux_h5filterspec_parse(texts[i], &id, &count, &parameters));
        log_add(" %u %zu", id, count);
        for (size_t k = 0; k < count && parameters; k++)
            log_add(" %u", parameters[k]);
        log_end();
        free(parameters);
    }
    NC_H5_Filterspec **found = NULL;
    size_t count = 0;
    int format = 0;
    CALL(ncaux_h5filterspec_parselist, "307,9|2|32015,3", &format, &count, &found);
    for (size_t i = 0; i < count; i++) {
        log_add(" %u", found[i]->filterid);
        ncaux_h5filterspec_free(found[i]);
    }
    log_end();
    free(found);
}

/* Types that the library lays out as the compiler does. */
static void laid_out_types(void)
{
    int ncid = 0, sizes[] = {2, 3};
    nc_type type = 0;
    size_t size = 0;
    void *tag = NULL;
    char name[NC_MAX_NAME + 1] = "";
    CALL(nc_create, "types.nc", NC_NETCDF4 | NC_DISKLESS, &ncid);
    CALL(ncaux_begin_compound, ncid, "record", 1, &tag);
    CALL(ncaux_add_field, tag, "flag", NC_BYTE, 0, NULL);
    CALL(ncaux_add_field, tag, "table", NC_DOUBLE, 2, sizes);
    CALL(ncaux_end_compound, tag, &type);
    CALL(nc_inq_compound, ncid, type, name, &size, NULL);
    log_add("%s of %zu bytes", name, size);
    log_end();
    CALL(ncaux_abort_compound, tag);
    CALL(ncaux_begin_compound, ncid, "another", 0, &tag);
    CALL(ncaux_add_field, tag, "flag", NC_BYTE, 0, NULL);
    CALL(ncaux_abort_compound, tag);
    CALL(nc_close, ncid);
}

/* Entries for tables of formats, and tables that are refused. */
static void tables(void)
{
    NC_Dispatch *found = (NC_Dispatch *)"not told";
    char magic[NC_MAX_MAGIC_NUMBER_LEN + 1] = "";
    size_t count = 9;
    CALL(NC_RO_redef, 1);
    CALL(NC_RO_sync, 1);
    CALL(NC_RO_put_att, 1, 2, "name", NC_INT, 1, &count, NC_INT);
    CALL(NC_NOTNC4_def_grp, 1, "group", NULL);
    CALL(NC_NOTNC3_get_varm, 1, 2, NULL, NULL, NULL, NULL, NULL, NC_INT);
    CALL(NC_NOOP_inq_var_filter_ids, 1, 2, &count, NULL);
    log_add("%zu filters", count);
    log_end();
    CALL(nc_def_user_format, NC_NETCDF4, NULL, NULL);
    CALL(nc_def_user_format, NC_UDF0, NULL, magic);
    CALL(nc_inq_user_format, NC_NETCDF4, &found, magic);
    CALL(nc_inq_user_format, NC_UDF1, &found, magic);
    log_add("%s", found ? "a table" : "no table");
    log_end();
}

/* Of nclog.h, which is not installed; programs that come with netCDF call them. */
void ncloginit(void);
int ncsetlogging(int on);
void nclog(int tag, const char *format, ...);
void nclogtext(int tag, const char *text);

static void messages(void)
{
    ncloginit();
    ncsetlogging(1);
    nclog(1, "%s of %d: %.3f, %g and %c", "a text", -7, 2.5, 1e30, 'c');
    nclog(2, "nothing but 100%%");
    nclogtext(0, "as it is: %d\n");
    ncsetlogging(0);
    nclog(0, "not shown");
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    filters((unsigned)atoi(arguments[1]));
    specifications();
    tables();
    /* Messages go to standard error. */
    dup2(STDOUT_FILENO, STDERR_FILENO);
    messages();
    if (count > 2)
        laid_out_types();
    return 0;
}
