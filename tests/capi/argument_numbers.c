/* Arguments that are numbers, and lists of numbers. */
#include "choosing.h"
#include "fixture.h"

#include <string.h>

/* Each integer by its name: the usual value first, the right ones, and how many of those there are. */
static const struct {
    const char *name;
    int right; /* how many of the values are right */
    long long values[12];
    int count;
    int hazardous; /* how many at the end of the values are so */
} integers[] = {
    {"alignment", 2, {8, 1, 0, -1}, 4, 0},
    {"threshold", 2, {4096, 0, -1}, 3, 0},
    {"attnum", 3, {0, 1, 2, 50, -1}, 5, 0},
    {"basepe", 1, {0, 1}, 2, 0},
    {"pe", 1, {0, 1}, 2, 0},
    {"cmode", 7, {0, 4, 0x200, 0x20, 0x1000, 0x1100, 0x8, 0x100, 0x220, 0x1020, 0x1200, 0x10000}, 12, 0},
    {"mode", 2, {0, 1, 0x1000, 0x8, 0x100000, 0x10000}, 6, 0},
    {"deflate", 2, {1, 0, 2}, 3, 0},
    {"deflate_level", 3, {4, 0, 9, 10, -1}, 5, 2},
    {"shuffle", 2, {1, 0, 2}, 3, 0},
    {"fletcher32", 2, {1, 0, 2, -1}, 4, 0},
    {"endian", 3, {0, 1, 2, 3, -1}, 5, 0},
    {"fieldid", 2, {0, 1, 2, 90, -1}, 5, 3},
    {"idx", 2, {0, 1, 90, -1}, 4, 0},
    {"fillmode", 2, {0, 0x100, 1, -1}, 4, 0},
    {"format", 5, {1, 2, 3, 4, 5, 0, 6, 64, -1}, 9, 0},
    {"include_parents", 2, {0, 1}, 2, 0},
    {"ncerr", 12, {0, -33, -36, -45, -51, -60, -101, -128, -142, 2, -31, -1}, 12, 0},
    {"ndims", 4, {2, 1, 0, 3, -1, 2000}, 6, 0},
    {"new_level", 1, {-1}, 1, 0},
    {"no_fill", 2, {0, 1, 2}, 3, 0},
    {"nsd", 3, {3, 1, 7, 0, 8, 16, 30, -1}, 8, 0},
    {"options_mask", 2, {32, 4, 0, 1000}, 4, 0},
    {"pixels_per_block", 2, {32, 4, 64, 3, 0}, 5, 2},
    {"quantize_mode", 4, {1, 2, 3, 0, 4, -1}, 6, 0},
    {"storage", 3, {0, 1, 2, 3, -1}, 5, 0},
    {"h_minfree", 2, {0, 100}, 2, 0},
    {"v_align", 3, {4, 1, 64}, 3, 0},
    {"v_minfree", 2, {0, 50}, 2, 0},
    {"r_align", 3, {4, 1, 64}, 3, 0},
    {"initialsz", 2, {0, 1000}, 2, 0},
    {"nelems", 3, {1009, 0, 10}, 3, 0},
    {"offset", 3, {0, 4, 8, 1000, 3}, 5, 0},
    {"nparams", 3, {1, 0, 2, 5}, 4, 0},
    {"id", 3, {1, 2, 3, 307, 32015, 4, 0, 99999}, 8, 0},
    {"value", 3, {1, 0, 2, 77, -1, 1LL << 40}, 6, 0},
    {"preemption", 3, {0, 1}, 2, 0},
    {"size", 3, {16, 8, 1, 4096, 0}, 5, 0},
};

/* What a long sequence makes of a number. */
static long long for_sequence(const char *argument, long long value)
{
    /* Sequences of classic files have no other files. */
    if (!is_hdf5() && is(argument, "cmode"))
        return value & ~NC_NETCDF4;
    if (!is_hdf5() && is(argument, "format") && (value == 3 || value == 4))
        return NC_FORMAT_CDF5;
    /* With no alignment the original opens no netCDF-4 file any more; with a negative one it crashes. */
    if (is(argument, "alignment") && value < 1)
        return 1;
    /* The original finds that deflate has one parameter when it ends definitions, which it never does then. */
    if (is(argument, "nparams") && has("def_var_filter") && call.filter == 1)
        return 1;
    return value;
}

static long long pick_integer(const char *argument)
{
    static const long long lengths[] = {3, 1, 0, 7};
    for (int i = 0; i < COUNT(integers); i++)
        if (is(integers[i].name, argument)) {
            int wrong = integers[i].count - integers[i].right - integers[i].hazardous;
            int choice = choose(argument, integers[i].right, wrong, integers[i].hazardous);
            long long value = integers[i].values[choice];
            /* The original leaves the file open that it does not delete. */
            if (is(argument, "basepe") && is(call.function, "nc_delete_mp"))
                value = 0;
            /* In the classic model the original tells of quantization in an attribute when there may be no
             * more of them. */
            if (is(argument, "quantize_mode") && fixture.format == NC_FORMAT_NETCDF4_CLASSIC && choice < 3)
                value = NC_NOQUANTIZE;
            return is_sequence() ? for_sequence(argument, value) : value;
        }
    return lengths[choose(argument, 4, 0, 0)];
}

int pick_int(const char *argument)
{
    int value = (int)pick_integer(argument);
    if (is(argument, "id"))
        call.filter = value;
    log_add("%d", value);
    return value;
}

size_t pick_size_t(const char *argument)
{
    size_t value = (size_t)pick_integer(argument);
    log_add("%zu", value);
    return value;
}

unsigned pick_unsigned_int(const char *argument)
{
    return (unsigned)pick_int(argument);
}

long pick_long(const char *argument)
{
    return pick_int(argument);
}

long long pick_long_long(const char *argument)
{
    return pick_int(argument);
}

float pick_float(const char *argument)
{
    static const float values[] = {0.75f, 0, 1, -0.5f, 1.5f};
    float value = values[choose(argument, 3, 2, 0)];
    log_add("%g", (double)value);
    return value;
}

/* A list in memory whose elements are `element` bytes, from one of the rows of a table; the last hazard is NULL. */
enum { RANK = 8 };
#define ENDLESS (1LL << 40)

static const long long missing_dimension[RANK] = {77, 0, 1};

/* Whether a variable gets a dimension of a group that is not above it, which the original cannot store. */
static int is_out_of_scope(const long long *dimids)
{
    static int seen[NC_MAX_DIMS];
    int count = 0;
    if (nc_inq_dimids(call.ncid, &count, seen, 1) != NC_NOERR)
        return 0;
    for (int i = 0; i < 3; i++) {
        int is_seen = 0;
        for (int j = 0; j < count; j++)
            is_seen |= seen[j] == dimids[i];
        if (!is_seen && nc_inq_dimlen(call.ncid, (int)dimids[i], NULL) == NC_NOERR)
            return 1;
    }
    return 0;
}

static const void *list(const char *argument, const long long rows[][RANK], int right, int wrong,
                        int hazardous, size_t element)
{
    static char lists[MOST_ARGUMENTS][RANK * sizeof(long long)];
    int index = call.choices.arguments;
    int choice = choose(argument, right, wrong, hazardous + 1);
    if (choice == right + wrong + hazardous) {
        log_add("NULL");
        return NULL;
    }
    const long long *row = rows[choice];
    /* A record before the first one: the original cuts the variable to none. */
    int is_cut = row[0] == -1;
    /* The original goes through every chunk on the way to a record that is that far. */
    int is_endless = row[0] == ENDLESS;
    if (is_sequence() && is_hdf5() && has("put") && (is_cut || is_endless))
        row = rows[0];
    if (is_sequence() && is(argument, "dimidsp") && is_out_of_scope(row))
        row = missing_dimension;
    for (int i = 0; i < RANK; i++) {
        int narrow = (int)row[i];
        if (element == sizeof(int))
            memcpy(lists[index] + (size_t)i * element, &narrow, element);
        else
            memcpy(lists[index] + (size_t)i * element, &row[i], element);
    }
    log_add("{%lld,%lld,%lld}", row[0], row[1], row[2]);
    return lists[index];
}

const void *pick_starts(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{0, 0, 0}, {1, 1, 0}, {2, 3, 0}, {0, 2, 0}, {3, 0, 0},
                                           {0, 4, 0}, {9, 0, 0}, {0, 9, 0}, {-1, 0, 0}};
    return list(argument, rows, 5, 4, 0, element);
}

const void *pick_counts(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{2, 2, 1}, {1, 1, 1}, {3, 4, 1}, {2, 0, 1},
                                           {0, 0, 0}, {1, 5, 1}, {7, 1, 1}, {-1, 1, 1}};
    return list(argument, rows, 5, 2, 1, element);
}

const void *pick_strides(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{1, 1, 1}, {1, 2, 1}, {2, 3, 1}, {1, 9, 1},
                                           {0, 1, 1}, {-1, 1, 1}, {ENDLESS, 1, 1}};
    return list(argument, rows, 4, 3, 0, element);
}

const void *pick_map(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{2, 1, 1}, {1, 3, 1}, {10, 2, 1}, {0, 1, 1}, {-4, 1, 1}};
    return list(argument, rows, 3, 2, 0, element);
}

const void *pick_chunks(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{2, 2, 1}, {3, 4, 1}, {1, 1, 1}, {0, 2, 1}, {9, 9, 9},
                                           {1 << 20, 1 << 20, 1}};
    return list(argument, rows, 3, 3, 0, element);
}

const void *pick_dimids(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{0, 1, 2}, {2, 0, 1}, {1, 1, 0}, {0, 2, 1}, {1, 2, 0},
                                           {77, 0, 1}, {0, -1, 1}};
    /* Variables that are shorter than their dimension the original reads right where that is the first. */
    static const long long in_sequences[][RANK] = {{0, 1, 3}, {2, 0, 1}, {1, 1, 0}, {0, 3, 1}, {1, 3, 0},
                                                   {77, 0, 1}, {0, -1, 1}};
    return list(argument, is_sequence() ? in_sequences : rows, 3, 4, 0, element);
}

const void *pick_sizes(const char *argument, size_t element)
{
    static const long long rows[][RANK] = {{2, 3, 1}, {1, 1, 1}, {0, 1, 1}, {-1, 2, 2}};
    return list(argument, rows, 2, 2, 0, element);
}

const void *pick_parameters(const char *argument, size_t element)
{
    /* With the last ones the original makes variables that it cannot store. */
    static const long long rows[][RANK] = {{4, 0, 0}, {9, 32, 0}, {0, 4, 1}, {99, 99, 99}};
    return list(argument, rows, 3, 0, 1, element);
}
