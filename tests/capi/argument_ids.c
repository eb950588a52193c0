/* Arguments that are ids: of files and groups, variables, dimensions and types. */
#include "choosing.h"
#include "fixture.h"

#include <limits.h>

int pick_ncid(const char *argument)
{
    int choice = choose(argument, fixture.id_count, 6, 0);
    int root = fixture.ids[0];
    int wrong[] = {0, -1, fixture.closed, root + 99, INT_MAX, 0x7f0000};
    /* Copies go to the other file. */
    if (is(argument, "ncid_out") && choice < 2 && fixture.id_count > 1)
        choice = 1 - choice;
    call.ncid = choice < fixture.id_count ? fixture.ids[choice] : wrong[choice - fixture.id_count];
    /* For a group that is not there, the original forgets the file and does not close it. */
    if (is_sequence() && has("abort") && nc_inq(call.ncid, NULL, NULL, NULL, NULL) != NC_NOERR)
        call.ncid = 0;
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

/* Whether a filter is given to elements of no fixed size, which libnetcdf takes since 4.9.1. */
static int filters_pointers(void)
{
    nc_type type = NC_NAT;
    int is_filter = has("def_var_deflate") || has("def_var_szip") || has("def_var_fletcher32")
                    || has("def_var_filter");
    return is_filter && nc_inq_vartype(call.ncid, call.varid, &type) == NC_NOERR && type >= NC_STRING;
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
    if (is_sequence() && grows_and_fails())
        call.varid = 0;
    if (is_sequence() && (grows_and_fails() || filters_pointers()))
        call.varid = wrong[0];
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

/* Whether a type of the file is one of the group or of those above it. */
static int is_in_scope(nc_type type)
{
    static int ids[4096];
    int count, status = NC_NOERR;
    for (int group = call.ncid; status == NC_NOERR; status = nc_inq_grp_parent(group, &group)) {
        if (nc_inq_typeids(group, &count, NULL) != NC_NOERR || count > COUNT(ids))
            return 0;
        nc_inq_typeids(group, &count, ids);
        for (int i = 0; i < count; i++)
            if (ids[i] == type)
                return 1;
    }
    return 0;
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
    int is_trap = is_sequence() && (has("def_vlen") || has("put_att") || has("attput"))
                  && is_hdf5();
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
    if (is_sequence() && has("compound_field") && call.type > NC_MAX_ATOMIC_TYPE)
        nc_inq_user_type(call.ncid, call.type, NULL, NULL, NULL, NULL, &class);
    int is_missing = is_trap && nc_inq_type(call.ncid, call.type, NULL, NULL) != NC_NOERR;
    /* The original stores types group by group, and none whose base is not stored by then. */
    int is_too_late = is_trap && has("def_vlen") && call.type > NC_MAX_ATOMIC_TYPE && !is_in_scope(call.type);
    if (class != NC_COMPOUND || is_missing || is_too_late)
        call.type = NC_INT;
    log_add("%d", call.type);
    return call.type;
}
