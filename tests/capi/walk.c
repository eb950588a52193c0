/* Everything there is in a file, as the library under test tells it. */
#include "log.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 22 };

/* Logs what a call gave, for calls that need no arguments of their own. */
static int said(const char *what, int status)
{
    if (status != NC_NOERR) {
        log_add("%s = %d", what, status);
        log_end();
    }
    return status == NC_NOERR;
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory)
        exit(3);
    return memset(memory, UNTOUCHED, bytes + 1);
}

static void log_attribute(int ncid, int varid, int number)
{
    char name[NC_MAX_NAME + 1] = "";
    nc_type type;
    size_t count;
    if (!said("nc_inq_attname", nc_inq_attname(ncid, varid, number, name))
        || !said("nc_inq_att", nc_inq_att(ncid, varid, name, &type, &count)))
        return;
    void *values = room(count * size_of_type(ncid, type));
    int status = nc_get_att(ncid, varid, name, values);
    log_add("  attribute %d of %d ", number, varid);
    log_text(name);
    log_add(" type %d count %zu = %d ", type, count, status);
    if (status == NC_NOERR) {
        log_values(ncid, type, values, count);
        if (owns_memory(ncid, type))
            log_add(" freed %d", nc_reclaim_data(ncid, type, values, count));
    }
    free(values);
    log_end();
}

static void log_storage(int ncid, int varid, nc_type type)
{
    size_t chunks[NC_MAX_VAR_DIMS], parameter_count = 0, filters = 0;
    int storage = -1, shuffle = -1, deflate = -1, level = -1, checksum = -1, endian = -1;
    int no_fill = -1, quantize = -1, digits = -1;
    unsigned filter = 0, parameters[64];
    memset(chunks, 0, sizeof chunks);
    int rank = 0;
    nc_inq_varndims(ncid, varid, &rank);
    log_add("  stored: %d", nc_inq_var_chunking(ncid, varid, &storage, chunks));
    log_add(" %d", storage);
    for (int i = 0; i < rank && storage == NC_CHUNKED; i++)
        log_add(" %zu", chunks[i]);
    int status = nc_inq_var_deflate(ncid, varid, &shuffle, &deflate, &level);
    log_add(" deflate: %d %d %d %d", status, shuffle, deflate, deflate ? level : 0);
    status = nc_inq_var_fletcher32(ncid, varid, &checksum);
    log_add(" fletcher32: %d %d", status, checksum);
    status = nc_inq_var_endian(ncid, varid, &endian);
    log_add(" endian: %d %d", status, endian);
    status = nc_inq_var_quantize(ncid, varid, &quantize, &digits);
    log_add(" quantize: %d %d %d", status, quantize, digits);
    status = nc_inq_var_filter(ncid, varid, &filter, &parameter_count, NULL);
    log_add(" filter: %d %u", status, filter);
    if (status == NC_NOERR && parameter_count <= 64) {
        nc_inq_var_filter(ncid, varid, &filter, &parameter_count, parameters);
        for (filters = 0; filters < parameter_count; filters++)
            log_add(" %u", parameters[filters]);
    }
    size_t size = size_of_type(ncid, type);
    char *fill = room(size);
    status = nc_inq_var_fill(ncid, varid, &no_fill, owns_memory(ncid, type) ? NULL : fill);
    log_add(" fill: %d %d ", status, no_fill);
    if (status == NC_NOERR && !owns_memory(ncid, type))
        log_values(ncid, type, fill, 1);
    free(fill);
    log_end();
}

static void log_variable(int ncid, int varid)
{
    char name[NC_MAX_NAME + 1] = "";
    int rank, attributes, dimids[NC_MAX_VAR_DIMS];
    nc_type type;
    size_t count = 1, len;
    if (!said("nc_inq_var",
              nc_inq_var(ncid, varid, name, &type, &rank, dimids, &attributes)))
        return;
    log_add(" variable %d ", varid);
    log_text(name);
    log_add(" type %d along", type);
    for (int i = 0; i < rank; i++) {
        int status = nc_inq_dimlen(ncid, dimids[i], &len);
        log_add(" %d", dimids[i]);
        count *= status == NC_NOERR ? len : 0;
    }
    log_end();
    log_storage(ncid, varid, type);
    for (int i = 0; i < attributes; i++)
        log_attribute(ncid, varid, i);
    size_t size = size_of_type(ncid, type);
    if (count > MOST_BYTES / (size ? size : 1))
        return;
    void *values = room(count * size);
    int status = nc_get_var(ncid, varid, values);
    log_add("  values = %d ", status);
    if (status == NC_NOERR) {
        log_values(ncid, type, values, count);
        if (owns_memory(ncid, type))
            log_add(" freed %d", nc_reclaim_data(ncid, type, values, count));
    }
    free(values);
    log_end();
}

static void log_type(int ncid, nc_type type)
{
    char name[NC_MAX_NAME + 1] = "", member[NC_MAX_NAME + 1] = "";
    size_t size, fields;
    nc_type base;
    int class;
    if (!said("nc_inq_user_type",
              nc_inq_user_type(ncid, type, name, &size, &base, &fields, &class)))
        return;
    log_add(" type %d ", type);
    log_text(name);
    log_add(" size %zu base %d fields %zu class %d", size, base, fields, class);
    for (int i = 0; i < (int)fields; i++) {
        if (class == NC_ENUM) {
            long long value = 0;
            log_add(" %d ", nc_inq_enum_member(ncid, type, i, member, &value));
            log_text(member);
            log_values(ncid, base, &value, 1);
        } else if (class == NC_COMPOUND) {
            size_t offset;
            nc_type field;
            int rank = 0, sizes[NC_MAX_VAR_DIMS];
            int status = nc_inq_compound_field(ncid, type, i, member, &offset, &field, &rank, sizes);
            log_add(" %d ", status);
            log_text(member);
            log_add(" at %zu type %d", offset, field);
            for (int axis = 0; axis < rank; axis++)
                log_add(" %d", sizes[axis]);
        }
    }
    log_end();
}

static void log_dimensions(int ncid)
{
    int count = 0, dimids[NC_MAX_DIMS], unlimited = 0, ids[NC_MAX_DIMS];
    size_t len;
    char name[NC_MAX_NAME + 1] = "";
    if (!said("nc_inq_dimids", nc_inq_dimids(ncid, &count, dimids, 0)))
        return;
    for (int i = 0; i < count; i++) {
        if (!said("nc_inq_dim", nc_inq_dim(ncid, dimids[i], name, &len)))
            continue;
        log_add(" dimension %d ", dimids[i]);
        log_text(name);
        log_add(" %zu", len);
        log_end();
    }
    int status = nc_inq_unlimdims(ncid, &unlimited, ids);
    log_add(" unlimited: %d", status);
    for (int i = 0; status == NC_NOERR && i < unlimited; i++)
        log_add(" %d", ids[i]);
    log_end();
}

static void log_group(int ncid)
{
    char name[NC_MAX_NAME + 1] = "";
    int dimensions = 0, variables = 0, attributes = 0, unlimited = 0, count = 0;
    if (!said("nc_inq", nc_inq(ncid, &dimensions, &variables, &attributes, &unlimited)))
        return;
    nc_inq_grpname(ncid, name);
    log_add("group %d ", ncid & 0xffff);
    log_text(name);
    log_add(" dimensions %d variables %d attributes %d unlimited %d", dimensions, variables,
            attributes, unlimited);
    log_end();
    log_dimensions(ncid);
    if (nc_inq_typeids(ncid, &count, NULL) == NC_NOERR && count) {
        int *types = room((size_t)count * sizeof(int));
        nc_inq_typeids(ncid, &count, types);
        for (int i = 0; i < count; i++)
            log_type(ncid, types[i]);
        free(types);
    }
    for (int i = 0; i < attributes; i++)
        log_attribute(ncid, NC_GLOBAL, i);
    for (int i = 0; i < variables; i++)
        log_variable(ncid, i);
    if (nc_inq_grps(ncid, &count, NULL) == NC_NOERR && count) {
        int *groups = room((size_t)count * sizeof(int));
        nc_inq_grps(ncid, &count, groups);
        for (int i = 0; i < count; i++)
            log_group(groups[i]);
        free(groups);
    }
}

void log_file(int ncid)
{
    int format = -1, extended = -1, mode = -1;
    int status = nc_inq_format(ncid, &format);
    log_add("file: %d format %d", status, format);
    status = nc_inq_format_extended(ncid, &extended, &mode);
    log_add(" extended %d %d %#x", status, extended, mode);
    log_end();
    log_group(ncid);
}
