/* Numbers at the ends of types, and beyond, from each type in memory to each in the file and back.
 *
 *     conversions FORMAT */
#include "log.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const path = "file.nc";

struct numbers {
    const char *name;
    nc_type type;
    const void *values;
    size_t size, count;
    int (*put_att)(int ncid, const char *name, nc_type type, const void *value);
    int (*put_var)(int ncid, int varid, const void *value);
    int (*get_var)(int ncid, int varid, void *value);
};

#define NUMBERS(name, type, ...)                                                                   \
    static const type name##_values[] = {__VA_ARGS__};                                             \
    static int put_att_##name(int ncid, const char *att, nc_type to, const void *value)            \
    {                                                                                              \
        return nc_put_att_##name(ncid, NC_GLOBAL, att, to, 1, value);                              \
    }                                                                                              \
    static int put_var_##name(int ncid, int varid, const void *value)                              \
    {                                                                                              \
        return nc_put_var_##name(ncid, varid, value);                                              \
    }                                                                                              \
    static int get_var_##name(int ncid, int varid, void *value)                                    \
    {                                                                                              \
        return nc_get_var_##name(ncid, varid, value);                                              \
    }

#define FLOATS                                                                                     \
    0, -0.5, -1, 255.7, 256, -129, 65535.5, 65536, 2147483648., -2147483904., 4294966784., 4294967296., 1.8e19, \
        2e19, 9223372036854775808., -9223372036854775808., -9.3e18, 18446744073709551616., 1e30, -1e30, NAN,    \
        INFINITY, -INFINITY

NUMBERS(schar, signed char, SCHAR_MIN, -1, 0, SCHAR_MAX)
NUMBERS(uchar, unsigned char, 0, 128, UCHAR_MAX)
NUMBERS(short, short, SHRT_MIN, -1, 300, SHRT_MAX)
NUMBERS(ushort, unsigned short, 0, 32768, USHRT_MAX)
NUMBERS(int, int, INT_MIN, -1, 70000, INT_MAX)
NUMBERS(uint, unsigned, 0, 2147483648u, UINT_MAX)
NUMBERS(longlong, long long, LLONG_MIN, -1, 1LL << 40, LLONG_MAX)
NUMBERS(ulonglong, unsigned long long, 1ULL << 40, 1ULL << 63, ULLONG_MAX)
NUMBERS(float, float, FLOATS)
NUMBERS(double, double, FLOATS, 2147483647.5, -2147483648.5, 4294967295.5, 1e300, -1e300)

#define ENTRY(name, type)                                                                          \
    {#name, type, name##_values, sizeof *name##_values, sizeof name##_values / sizeof *name##_values, \
     put_att_##name, put_var_##name, get_var_##name}
static const struct numbers all[] = {
    ENTRY(schar, NC_BYTE),    ENTRY(uchar, NC_UBYTE),     ENTRY(short, NC_SHORT),      ENTRY(ushort, NC_USHORT),
    ENTRY(int, NC_INT),       ENTRY(uint, NC_UINT),       ENTRY(longlong, NC_INT64),   ENTRY(ulonglong, NC_UINT64),
    ENTRY(float, NC_FLOAT),   ENTRY(double, NC_DOUBLE),
};
enum { TYPES = sizeof all / sizeof *all };

static void log_one(int ncid, nc_type type, const void *value)
{
    log_add(" ");
    log_values(ncid, type, value, 1);
    log_end();
}

static void put_attribute(int ncid, const struct numbers *from, const struct numbers *to, size_t i)
{
    char name[32], stored[8] = "";
    snprintf(name, sizeof name, "%s_%s_%zu", from->name, to->name, i);
    int status = from->put_att(ncid, name, to->type, (const char *)from->values + i * from->size);
    nc_get_att(ncid, NC_GLOBAL, name, stored);
    log_add("attribute %s %zu to %s = %d", from->name, i, to->name, status);
    log_one(ncid, to->type, stored);
}

/* What was there before is 77. */
static void put_variable(int ncid, int varid, const struct numbers *from, const struct numbers *to, size_t i)
{
    const double before = 77;
    char stored[8] = "";
    nc_put_var_double(ncid, varid, &before);
    int status = from->put_var(ncid, varid, (const char *)from->values + i * from->size);
    nc_get_var(ncid, varid, stored);
    log_add("variable %s %zu to %s = %d", from->name, i, to->name, status);
    log_one(ncid, to->type, stored);
}

static void get_variable(int ncid, int varid, const struct numbers *stored, const struct numbers *to, size_t i)
{
    char read[8] = {77, 77, 77, 77, 77, 77, 77, 77};
    nc_put_var(ncid, varid, (const char *)stored->values + i * stored->size);
    int status = to->get_var(ncid, varid, read);
    log_add("reading %s %zu as %s = %d", stored->name, i, to->name, status);
    log_one(ncid, to->type, read);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    int format = atoi(arguments[1]), ncid, varids[TYPES];
    nc_set_default_format(format, NULL);
    if (nc_create(path, NC_CLOBBER, &ncid) != NC_NOERR)
        return 1;
    /* CDF-1, CDF-2 and the classic model have no unsigned types, and none of 64 bits. */
    int has_all = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_CDF5;
    const struct numbers *types[TYPES];
    int type_count = 0;
    for (int i = 0; i < TYPES; i++)
        if (has_all || all[i].type <= NC_DOUBLE)
            types[type_count++] = &all[i];
    for (int to = 0; to < type_count; to++) {
        nc_def_var(ncid, types[to]->name, types[to]->type, 0, NULL, &varids[to]);
        for (int from = 0; from < TYPES; from++)
            for (size_t i = 0; i < all[from].count; i++)
                put_attribute(ncid, &all[from], types[to], i);
    }
    nc_enddef(ncid);
    for (int to = 0; to < type_count; to++)
        for (int from = 0; from < TYPES; from++) {
            for (size_t i = 0; i < all[from].count; i++)
                put_variable(ncid, varids[to], &all[from], types[to], i);
            for (size_t i = 0; i < types[to]->count; i++)
                get_variable(ncid, varids[to], types[to], &all[from], i);
        }
    return nc_close(ncid);
}
