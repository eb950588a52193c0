#include "arguments.h"
#include "fixture.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* The call that is being put together. */
static struct {
    const char *function;
    struct plan plan;
    struct choices choices;
    int ncid, varid, dimid;
    nc_type type;
    const char *name, *path;
    int hazard;
} call;

static uint64_t random_state;

void seed_choices(unsigned seed)
{
    random_state = seed * 2654435769u + 12345;
}

unsigned random_number(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static int has(const char *part)
{
    return strstr(call.function, part) != NULL;
}

static int is(const char *one, const char *other)
{
    return strcmp(one, other) == 0;
}

/* Chooses among `right` choices, `wrong` ones after them, and `hazardous` ones at the end. */
static int choose(const char *argument, int right, int wrong, int hazardous)
{
    int index = call.choices.arguments++;
    call.choices.safe[index] = right + wrong;
    call.choices.hazardous[index] = hazardous;
    log_add("%s%s=", index ? ", " : "", argument);
    if (call.plan.strategy == VARIED && call.plan.argument == index) {
        call.hazard = call.plan.choice >= right + wrong;
        return call.plan.choice;
    }
    if (call.plan.strategy == RANDOM) {
        if (wrong && random_number(12) == 0)
            return right + (int)random_number((unsigned)wrong);
        return (int)random_number((unsigned)right);
    }
    return 0;
}

int pick_ncid(const char *argument)
{
    int choice = choose(argument, fixture.id_count, 6, 0);
    int root = fixture.ids[0];
    int wrong[] = {0, -1, fixture.closed, root + 99, INT_MAX, 0x7f0000};
    /* Copies go to the other file. */
    if (is(argument, "ncid_out") && choice < 2 && fixture.id_count > 1)
        choice = 1 - choice;
    call.ncid = choice < fixture.id_count ? fixture.ids[choice] : wrong[choice - fixture.id_count];
    log_add("%d", call.ncid);
    return call.ncid;
}

/* Whether values are put whose type the variable does not take: in netCDF-4 files the original has made
 * records for them when it refuses them. */
static int grows_and_fails(void)
{
    nc_type type = NC_NAT;
    int is_typed = has("nc_put_var") && !is(call.function, "nc_put_var") && !is(call.function, "nc_put_var1")
                   && !is(call.function, "nc_put_vara") && !is(call.function, "nc_put_vars")
                   && !is(call.function, "nc_put_varm");
    return is_typed && nc_inq_vartype(call.ncid, call.varid, &type) == NC_NOERR
           && (has("_string") ? type != NC_STRING : type >= NC_STRING);
}

int pick_varid(const char *argument)
{
    int count = 0;
    nc_inq_nvars(fixture.ids[0], &count);
    int usual = has("att") ? -1 : 0;
    int choice = choose(argument, count + 1, 3, 0);
    int wrong[] = {-2, count + 40, INT_MAX};
    /* Every variable and NC_GLOBAL, in an order that starts with the usual one. */
    call.varid = choice > count ? wrong[choice - count - 1]
                                : (choice + usual + count + 2) % (count + 1) - 1;
    if (call.varid == -1 && call.plan.strategy == USUAL && usual == 0)
        call.varid = 0;
    if (call.plan.strategy == RANDOM && grows_and_fails())
        call.varid = 0;
    log_add("%d", call.varid);
    return call.varid;
}

int pick_dimid(const char *argument)
{
    static const int wrong[] = {-1, 77, INT_MAX};
    int choice = choose(argument, 6, 3, 0);
    call.dimid = choice < 6 ? choice : wrong[choice - 6];
    log_add("%d", call.dimid);
    return call.dimid;
}

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

static int is_random_classic(void)
{
    return call.plan.strategy == RANDOM && fixture.format != NC_FORMAT_NETCDF4
           && fixture.format != NC_FORMAT_NETCDF4_CLASSIC;
}

/* Random sequences of classic files have no other files. */
static long long sensible(const char *argument, long long value)
{
    if (is_random_classic() && is(argument, "cmode"))
        return value & ~NC_NETCDF4;
    /* The original leaves the file open that it does not delete. */
    if (is(argument, "basepe") && is(call.function, "nc_delete_mp"))
        return 0;
    if (is_random_classic() && is(argument, "format") && (value == 3 || value == 4))
        return NC_FORMAT_CDF5;
    return value;
}

static long long pick_integer(const char *argument)
{
    static const long long lengths[] = {3, 1, 0, 7};
    for (int i = 0; i < COUNT(integers); i++)
        if (is(integers[i].name, argument)) {
            int wrong = integers[i].count - integers[i].right - integers[i].hazardous;
            int choice = choose(argument, integers[i].right, wrong, integers[i].hazardous);
            return sensible(argument, integers[i].values[choice]);
        }
    return lengths[choose(argument, 4, 0, 0)];
}

static int open_at(const char *path);

int pick_int(const char *argument)
{
    int value = (int)pick_integer(argument), id;
    /* What is open for reading libhdf5 does not open for changing, nor the other way round. A fill mode that
     * is none changes nothing. */
    if (call.plan.strategy == RANDOM && has("open") && is(argument, "mode") && call.path
        && (id = open_at(call.path)) != 0)
        value = nc_set_fill(id, 77, NULL) == NC_EPERM ? value & ~NC_WRITE : value | NC_WRITE;
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

/* The types that the files define. */
enum { POINT = 32, COLOUR, BLOB, LIST, NAMES, STATION };

nc_type pick_type(const char *argument)
{
    static const nc_type fitting[] = {NC_INT,   NC_BYTE, NC_CHAR,  NC_SHORT,  NC_FLOAT,  NC_DOUBLE, NC_UBYTE,
                                      NC_USHORT, NC_UINT, NC_INT64, NC_UINT64, NC_STRING, POINT,     COLOUR,
                                      BLOB,     LIST,    NAMES,    STATION};
    static const nc_type wrong[] = {NC_NAT, 13, 31, 60, -1};
    /* Of what is no integer the original makes enumerations that it cannot store. */
    static const nc_type integers[] = {NC_INT, NC_BYTE, NC_SHORT, NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};
    enum { ATOMIC = 12, WRONG = COUNT(wrong), INTEGERS = COUNT(integers) };
    if (has("def_enum")) {
        int choice = choose(argument, INTEGERS, WRONG, 0);
        call.type = choice < INTEGERS ? integers[choice] : wrong[choice - INTEGERS];
        log_add("%d", call.type);
        return call.type;
    }
    /* Where the original takes any user-defined type for the one it hoped for, they are a hazard. */
    int right = COUNT(fitting) - (has("put_att_") || has("compound_field") ? 6 : 0);
    int usual = has("enum") ? 13 : has("opaque") ? 14 : has("vlen") ? 15 : has("compound") ? 12 : 0;
    if (is(argument, "base_typeid") || is(argument, "field_typeid"))
        usual = 0;
    /* Sequences of what is no type the original takes all the same, and attributes of it, and then it cannot
     * store the file. */
    int is_trap = call.plan.strategy == RANDOM && (has("def_vlen") || has("put_att") || has("attput"))
                  && (fixture.format == NC_FORMAT_NETCDF4 || fixture.format == NC_FORMAT_NETCDF4_CLASSIC);
    int choice = choose(argument, right, is_trap ? 0 : WRONG, COUNT(fitting) - right);
    if (choice >= right + WRONG)
        call.type = fitting[choice - WRONG];
    else if (choice >= right)
        call.type = wrong[choice - right];
    else if (right == ATOMIC && usual)
        call.type = choice ? fitting[choice] : POINT;
    else
        call.type = fitting[(choice + usual) % right];
    int class = NC_COMPOUND;
    if (call.plan.strategy == RANDOM && has("compound_field") && call.type > NC_MAX_ATOMIC_TYPE)
        nc_inq_user_type(call.ncid, call.type, NULL, NULL, NULL, NULL, &class);
    if (class != NC_COMPOUND)
        call.type = NC_INT;
    log_add("%d", call.type);
    return call.type;
}

/* Where groups, types, variables and dimensions come to share a name, the original makes files that it
 * cannot close. */
static int breaks_file(const char *name)
{
    static const char *const names[] = {"inner", "point", "colour", "blob", "list", "t", "x", "v_int", "v_zip"};
    static const char *const namers[] = {"nc_def_", "dimdef", "vardef", "rename_dim", "rename_var", "dimrename",
                                         "varrename", "rename_grp"};
    int is_taken = 0, names_objects = 0;
    for (int i = 0; i < COUNT(names); i++)
        is_taken |= is(name, names[i]);
    for (int i = 0; i < COUNT(namers); i++)
        names_objects |= has(namers[i]);
    /* Names within one kind are told apart. */
    int is_own = (has("dim") && is(name, "t")) || (has("var") && is(name, "v_int"))
                 || (has("grp") && is(name, "inner")) || (has("compound") && is(name, "point"));
    return fixture.format == NC_FORMAT_NETCDF4 && is_taken && names_objects && !is_own;
}

/* What in a group has a name, one bit each. */
enum { DIMENSION = 1, VARIABLE = 2, TYPE = 4, GROUP = 8 };

static int kinds_of(int group, const char *name)
{
    int dimid, varid, other, kinds = 0;
    nc_type type;
    if (nc_inq_dimid(group, name, &dimid) == NC_NOERR)
        kinds |= DIMENSION;
    if (nc_inq_varid(group, name, &varid) == NC_NOERR)
        kinds |= VARIABLE;
    if (nc_inq_typeid(group, name, &type) == NC_NOERR && type > NC_MAX_ATOMIC_TYPE)
        kinds |= TYPE;
    if (nc_inq_ncid(group, name, &other) == NC_NOERR)
        kinds |= GROUP;
    return kinds;
}

static int is_among(const int *ids, int count, int id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return 1;
    return 0;
}

/* Whether the dimension belongs to the group of the call, and is of a fixed length. */
static int is_own_and_fixed(void)
{
    static int ids[NC_MAX_DIMS];
    int count = 0;
    if (nc_inq_dimids(call.ncid, &count, ids, 0) != NC_NOERR || !is_among(ids, count, call.dimid))
        return 0;
    return nc_inq_unlimdims(call.ncid, &count, ids) == NC_NOERR && !is_among(ids, count, call.dimid);
}

/* The same in long sequences: a name that a thing of another kind has, or had, in a netCDF-4 file. Later
 * calls would have to work on what the original has left then. */
static const char *name_for_sequence(const char *name)
{
    static char old[NC_MAX_NAME + 1];
    int renames = has("rename") && !has("_att"), group = call.ncid, kinds;
    int kind = has("dim")                  ? DIMENSION
               : has("var")                ? VARIABLE
               : has("grp")                ? GROUP
               : has("nc_def_") || renames ? TYPE
                                           : 0;
    /* Names that netCDF keeps for itself the original gives to attributes, which it does not show then. */
    if (has("rename_att") || has("attrename"))
        return is(name, "NAME") || name[0] == '_' ? "fresh" : name;
    int defines = has("nc_def_") || has("dimdef") || has("vardef") || renames;
    if (!defines || (fixture.format != NC_FORMAT_NETCDF4 && fixture.format != NC_FORMAT_NETCDF4_CLASSIC))
        return name;
    if (kind == GROUP && renames)
        nc_inq_grp_parent(call.ncid, &group);
    /* The original takes the new name of a variable as it is spelt. */
    if (renames && kind == VARIABLE && is(name, "e\xcc\x81t\xc3\xa9"))
        name = "\xc3\xa9t\xc3\xa9";
    kinds = kinds_of(group, name);
    if (renames && kind == DIMENSION && nc_inq_dimname(group, call.dimid, old) == NC_NOERR)
        kinds |= kinds_of(group, old);
    else if (renames && kind == VARIABLE && nc_inq_varname(group, call.varid, old) == NC_NOERR)
        kinds |= kinds_of(group, old);
    else
        old[0] = 0;
    /* The original takes a dimension for one of the group that is named, and loses variables along one that is
     * unlimited. */
    if (renames && kind == DIMENSION && !is_own_and_fixed())
        return "/";
    if (!(kinds & ~kind))
        return name;
    if (kinds & kind && old[0])
        return old;
    return kind == DIMENSION ? "fresh_d" : kind == VARIABLE ? "fresh_v" : kind == GROUP ? "fresh_g" : "fresh_t";
}

const char *pick_name(const char *argument)
{
    static char longest[NC_MAX_NAME + 1], too_long[NC_MAX_NAME + 2];
    memset(longest, 'n', NC_MAX_NAME);
    memset(too_long, 'n', NC_MAX_NAME + 1);
    static const char *const right[] = {
        "fresh",       "x",      "title", "v_int", "inner",    "point",  "colour", "blob",
        "list",        "numbers", "t",    "red",   "a",        "/inner", "a b",    "x",
        "e\xcc\x81t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "_FillValue", "_NCProperties", "v_zip", "deep",
    };
    const char *wrong[] = {"",     "a/b",    "1a",     "trailing ", " leading", "a\tb",
                           "/",   longest,  too_long, "\xff\xfe",  "_Netcdf4Coordinates", "NAME",
                           "int", "a\x7f""b"};
    int usual = has("def_") || has("rename") || has("insert") ? 0
                : has("dim")                                  ? 1
                : has("att")                                  ? 2
                : has("var")                                  ? 3
                : has("grp") || has("ncid")                   ? 4
                : has("typeid")                               ? 5
                                                              : 8;
    if (has("rename_att") && is(argument, "name"))
        usual = 2;
    int choice = choose(argument, COUNT(right), COUNT(wrong), 1);
    if (choice < COUNT(right))
        call.name = right[(choice + usual) % COUNT(right)];
    else
        call.name = choice < COUNT(right) + COUNT(wrong) ? wrong[choice - COUNT(right)] : NULL;
    if (call.name && call.plan.strategy == RANDOM)
        call.name = name_for_sequence(call.name);
    else if (call.name && breaks_file(call.name))
        call.name = "fresh";
    log_text(call.name);
    return call.name;
}

/* An id of the file at a path, or 0. */
static int open_at(const char *path)
{
    static char found[4096];
    for (int i = 0; i < fixture.id_count; i++)
        if (nc_inq_path(fixture.ids[i], NULL, found) == NC_NOERR && is(found, path))
            return fixture.ids[i];
    return 0;
}

const char *pick_path(const char *argument)
{
    static const char *const paths[] = {"fresh.nc", "closed.nc", "third.nc", "missing.nc",
                                        "missing/file.nc", ".", "", "text.txt", "empty.nc"};
    enum { RIGHT = 3 };
    int choice = choose(argument, RIGHT, COUNT(paths) - RIGHT, 1);
    const char *path = choice < COUNT(paths) ? paths[choice] : NULL;
    /* What takes the place of an open file; and a classic file has one user: the original keeps what others do not
     * know of. */
    int is_classic = fixture.format != NC_FORMAT_NETCDF4 && fixture.format != NC_FORMAT_NETCDF4_CLASSIC;
    if (call.plan.strategy == RANDOM && path && open_at(path) && (is_classic || has("create")))
        path = "missing/file.nc";
    call.path = path;
    log_text(path);
    return path;
}

/* A list in memory whose elements are `element` bytes, from one of the rows of a table; the last hazard is NULL. */
enum { RANK = 8 };

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
                                           {0, 1, 1}, {-1, 1, 1}, {1LL << 40, 1, 1}};
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
    return list(argument, call.plan.strategy == RANDOM ? in_sequences : rows, 3, 4, 0, element);
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

/* The type of values that a function without one in its name takes or gives. */
static nc_type type_by_arguments(void)
{
    nc_type type = NC_NAT;
    if (has("put_att") || has("attput"))
        return call.type;
    if (has("att"))
        nc_inq_atttype(call.ncid, call.varid, call.name ? call.name : "", &type);
    else if (has("enum"))
        nc_inq_enum(call.ncid, call.type, NULL, &type, NULL, NULL);
    else
        nc_inq_vartype(call.ncid, call.varid, &type);
    return type;
}

/* Memory for values: with room before and after, as memory maps may go backwards. */
enum { MEMORY = 1 << 15, MARGIN = 1 << 12 };

/* Takes away what the original makes anything of in CDF-5: for `uint`, negative bytes leave what stood there
 * before; for `uint64`, floats that are larger are cast without a rule. */
static void tame_numbers(nc_type memory, char *values, size_t bytes)
{
    nc_type stored = fixture.format == NC_FORMAT_64BIT_DATA ? type_by_arguments() : NC_NAT;
    for (size_t i = 0; i < bytes && stored == NC_UINT && memory == NC_BYTE; i++)
        values[i] &= 0x7f;
    for (size_t i = 0; i < bytes / sizeof(float) && stored == NC_UINT64 && memory == NC_FLOAT; i++)
        if (((float *)(void *)values)[i] > 1e19f)
            ((float *)(void *)values)[i] = 1e19f;
    for (size_t i = 0; i < bytes / sizeof(double) && stored == NC_UINT64 && memory == NC_DOUBLE; i++)
        if (((double *)(void *)values)[i] > 1e19)
            ((double *)(void *)values)[i] = 1e19;
}

void *values_in(const char *argument, nc_type memory)
{
    static _Alignas(max_align_t) char values[MEMORY + 2 * MARGIN];
    static unsigned calls;
    int choice = choose(argument, 4, 0, 1);
    if (memory == NC_NAT)
        memory = type_by_arguments();
    if (choice == 4) {
        log_add("NULL");
        return NULL;
    }
    int seed = call.plan.strategy == RANDOM ? (int)random_number(1000) : choice * 7 + (int)(calls++ % 3);
    memset(values, 0, sizeof values);
    size_t size = size_of_type(call.ncid, memory);
    if (size) {
        size_t before = MARGIN / size * size;
        make_values(call.ncid, memory, values + MARGIN - before, (before + 256 * size) / size, seed);
        tame_numbers(memory, values, sizeof values);
    }
    log_values(call.ncid, memory, values + MARGIN, 4);
    return values + MARGIN;
}

/* What the call fills. */
static struct given {
    const char *argument;
    nc_type type;
    char *memory;
    int is_text;
} given[MOST_ARGUMENTS];
static int given_count;
static _Alignas(max_align_t) char given_memory[MOST_ARGUMENTS][MEMORY + MARGIN];

static void *give(const char *argument, nc_type type, int is_text)
{
    /* Whether NULL is allowed is known to the library alone. */
    int index = call.choices.arguments;
    if (choose(argument, 1, 0, 1) == 1) {
        log_add("NULL");
        return NULL;
    }
    char *memory = given_memory[index] + MARGIN / 2;
    memset(given_memory[index], UNTOUCHED, sizeof given_memory[index]);
    given[given_count++] = (struct given){argument, type, memory, is_text};
    log_add("&");
    /* Hints go in and out. */
    if (is(argument, "chunksizehintp"))
        *(size_t *)(void *)memory = 4096;
    return memory;
}

void *gives(const char *argument, nc_type memory)
{
    nc_type type = memory ? memory : type_by_arguments();
    /* What is no string may still be given where strings are asked for. */
    if (type == NC_STRING && has("_att_") && type_by_arguments() != NC_STRING)
        type = NC_CHAR;
    return give(argument, type, 0);
}

char *gives_text(const char *argument)
{
    return give(argument, NC_CHAR, 1);
}

void called(void)
{
    log_add(")");
    /* A call that never comes back is seen. */
    log_flush();
}

static void log_given(const struct given *one)
{
    size_t size = size_of_type(call.ncid, one->type);
    size_t count = filled(one->memory, size ? size : 1, MEMORY);
    if (!count)
        return;
    log_add(" %s=", one->argument);
    if (one->is_text)
        log_text(one->memory);
    else
        log_values(call.ncid, size ? one->type : NC_UBYTE, one->memory, count);
}

/* Gives a new type a member: without one the original stores nothing of the file. */
static void complete_type(const void *memory)
{
    nc_type type;
    long long zero = 0;
    memcpy(&type, memory, sizeof type);
    if (has("def_compound"))
        nc_insert_compound(call.ncid, type, "first", 0, NC_BYTE);
    else if (has("def_enum"))
        nc_insert_enum(call.ncid, type, "zero", &zero);
}

/* Takes away what the original leaves of an attribute that it refused. */
static void mend_attribute(int status)
{
    if (status != NC_NOERR && status != NC_ERANGE && call.name
        && (has("put_att") || has("attput") || has("copy_att") || has("attcopy")))
        nc_del_att(call.ncid, call.varid, call.name);
}

void ended(int status)
{
    log_add(" = %d", status);
    for (int i = 0; i < given_count; i++)
        log_given(&given[i]);
    /* Elements between those that were filled hold no pointers. */
    for (int i = 0; i < given_count && status == NC_NOERR; i++) {
        size_t size = size_of_type(call.ncid, given[i].type);
        size_t count = filled(given[i].memory, size ? size : 1, MEMORY);
        for (size_t value = 0; value < count && owns_memory(call.ncid, given[i].type); value++)
            if (filled(given[i].memory + value * size, size, size))
                nc_reclaim_data(call.ncid, given[i].type, given[i].memory + value * size, 1);
    }
    if ((is(call.function, "nccreate") || is(call.function, "ncopen")) && status > 0)
        log_add(" closed %d", nc_close(status));
    if (status == NC_NOERR && given_count) {
        complete_type(given[given_count - 1].memory);
        learn_ids(call.function, given[given_count - 1].memory, call.plan.strategy == RANDOM);
    }
    if (call.plan.strategy == RANDOM)
        mend_attribute(status);
    log_end();
}

void ended_text(const char *text)
{
    log_add(" = ");
    log_text(text);
    log_end();
}

int call_function(const struct function *function, struct plan plan, struct choices *choices)
{
    memset(&call, 0, sizeof call);
    call.function = function->name;
    call.plan = plan;
    given_count = 0;
    log_add("%s(", function->name);
    function->call();
    if (choices)
        *choices = call.choices;
    return call.hazard;
}
