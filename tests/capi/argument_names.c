/* Arguments that are names and paths. */
#include "choosing.h"
#include "fixture.h"

#include <string.h>

/* Where groups, types, variables and dimensions come to share a name, the original makes files that it
 * cannot close. */
static int breaks_file(const char *name)
{
    static const char *const names[] = {"t", "x", "v_int", "v_zip", "inner", "point", "colour", "blob", "list"};
    enum { OF_CLASSIC_MODEL = 4 };
    static const char *const namers[] = {"nc_def_", "dimdef", "vardef", "rename_dim", "rename_var", "dimrename",
                                         "varrename", "rename_grp"};
    int is_taken = 0, names_objects = 0;
    int is_enhanced = fixture.format == NC_FORMAT_NETCDF4;
    for (int i = 0; i < (is_enhanced ? COUNT(names) : OF_CLASSIC_MODEL); i++)
        is_taken |= is(name, names[i]);
    for (int i = 0; i < COUNT(namers); i++)
        names_objects |= has(namers[i]);
    /* Names within one kind are told apart. */
    int is_own = (has("dim") && is(name, "t")) || (has("var") && is(name, "v_int"))
                 || (has("grp") && is(name, "inner")) || (has("compound") && is(name, "point"));
    return is_hdf5() && is_taken && names_objects && !is_own;
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

/* Whether a variable of the group has the dimension's name. */
static int has_variable(int dimid)
{
    static char name[NC_MAX_NAME + 1];
    int varid;
    return nc_inq_dimname(call.ncid, dimid, name) == NC_NOERR
           && nc_inq_varid(call.ncid, name, &varid) == NC_NOERR;
}

/* Whether the original renames the dimension: it takes it for one of the group that is named, loses variables
 * along one that is unlimited, and at times one without a variable of its name. */
static int is_dimension_renamed(void)
{
    static int ids[NC_MAX_DIMS];
    int count = 0;
    if (nc_inq_dimids(call.ncid, &count, ids, 0) != NC_NOERR || !is_among(ids, count, call.dimid))
        return 0;
    return nc_inq_unlimdims(call.ncid, &count, ids) == NC_NOERR && !is_among(ids, count, call.dimid)
           && has_variable(call.dimid);
}

/* Whether the original renames the variable: its first dimension it deletes and makes anew, where that has no
 * variable of its name, and others along it refer to what is gone. */
static int is_variable_renamed(void)
{
    static int dimids[NC_MAX_VAR_DIMS];
    int rank = 0;
    return nc_inq_var(call.ncid, call.varid, NULL, NULL, &rank, dimids, NULL) != NC_NOERR || rank == 0
           || has_variable(dimids[0]);
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
    int puts = has("put_att") || has("attput") || has("copy_att") || has("attcopy");
    if (is_hdf5() && puts && (is(name, "NAME") || (name[0] == '_' && !is(name, "_FillValue"))))
        return "fresh";
    int defines = has("nc_def_") || has("dimdef") || has("vardef") || renames;
    if (!defines || !is_hdf5())
        return name;
    if (kind == GROUP && renames)
        nc_inq_grp_parent(call.ncid, &group);
    /* The original takes the new name of a variable or group as it is spelt. */
    if (renames && kind & (VARIABLE | GROUP) && is(name, "e\xcc\x81t\xc3\xa9"))
        name = "\xc3\xa9t\xc3\xa9";
    kinds = kinds_of(group, name);
    if (renames && kind == DIMENSION && nc_inq_dimname(group, call.dimid, old) == NC_NOERR)
        kinds |= kinds_of(group, old);
    else if (renames && kind == VARIABLE && nc_inq_varname(group, call.varid, old) == NC_NOERR)
        kinds |= kinds_of(group, old);
    else
        old[0] = 0;
    if (renames && kind == DIMENSION && !is_dimension_renamed())
        return "/";
    if (renames && kind == VARIABLE && !is_variable_renamed())
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
    /* Of a name that is as long the original does not read the end when it opens a netCDF-4 file. */
    if (has("def_grp") || has("rename_grp") || (is_sequence() && is_hdf5()))
        longest[NC_MAX_NAME - 1] = 0;
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
    if (call.name && is_sequence())
        call.name = name_for_sequence(call.name);
    else if (call.name && breaks_file(call.name))
        call.name = "fresh";
    log_text(call.name);
    return call.name;
}

/* Whether the file at a path is open. */
static int is_open(const char *path)
{
    static char found[4096];
    for (int i = 0; i < fixture.id_count; i++)
        if (nc_inq_path(fixture.ids[i], NULL, found) == NC_NOERR && is(found, path))
            return 1;
    return 0;
}

const char *pick_path(const char *argument)
{
    static const char *const paths[] = {"fresh.nc", "closed.nc", "third.nc", "missing.nc",
                                        "missing/file.nc", ".", "", "text.txt", "empty.nc"};
    enum { RIGHT = 3 };
    int choice = choose(argument, RIGHT, COUNT(paths) - RIGHT, 1);
    const char *path = choice < COUNT(paths) ? paths[choice] : NULL;
    /* What takes the place of an open file; and a file has one user: of the original's, none knows what others
     * have in memory. */
    if (is_sequence() && path && is_open(path))
        path = "missing/file.nc";
    log_text(path);
    return path;
}
