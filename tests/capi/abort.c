/* Changes a file, aborts, and tells what is in it then: for each kind of change, and for each way into define mode.
 *
 *     abort FORMAT abort|close */
#include "log.h"

#include <stdlib.h>
#include <string.h>

static const char *const path = "file.nc";
static const char *const ways[] = {"new", "ended", "redefined", "opened and redefined", "opened", "stored"};
enum { NEW, ENDED, REDEFINED, OPENED_AND_REDEFINED, OPENED, STORED, WAYS };

static void said(const char *what, int status)
{
    log_add("%s = %d", what, status);
    log_end();
}

static void put_text(int ncid, int varid, const char *name, const char *text)
{
    said(name, nc_put_att_text(ncid, varid, name, strlen(text), text));
}

static void define(int ncid)
{
    int along[2], varid;
    nc_def_dim(ncid, "time", NC_UNLIMITED, &along[0]);
    nc_def_dim(ncid, "x", 2, &along[1]);
    nc_def_var(ncid, "series", NC_INT, 2, along, &varid);
    nc_def_var(ncid, "x", NC_INT, 1, &along[1], &varid);
    put_text(ncid, NC_GLOBAL, "title", "first");
    put_text(ncid, NC_GLOBAL, "history", "second");
    put_text(ncid, 0, "units", "m");
}

static void put_values(int ncid)
{
    const int values[] = {1, 2};
    const size_t start[] = {0, 0}, count[] = {1, 2};
    said("nc_put_vara", nc_put_vara_int(ncid, 0, start, count, values));
    said("nc_put_var", nc_put_var_int(ncid, 1, values));
}

/* Leaves a file open that was brought to define mode in that way. */
static int begin(int format, int way)
{
    int ncid = 0;
    nc_set_default_format(format, NULL);
    said("nc_create", nc_create(path, NC_CLOBBER, &ncid));
    define(ncid);
    if (way == NEW)
        return ncid;
    said("nc_enddef", nc_enddef(ncid));
    put_values(ncid);
    /* Records of classic files that are not stored the original would forget. */
    if (way == REDEFINED || way == STORED)
        said("nc_sync", nc_sync(ncid));
    if (way == REDEFINED)
        said("nc_redef", nc_redef(ncid));
    if (way == OPENED || way == OPENED_AND_REDEFINED) {
        said("nc_close", nc_close(ncid));
        said("nc_open", nc_open(path, NC_WRITE, &ncid));
    }
    if (way == OPENED_AND_REDEFINED)
        said("nc_redef", nc_redef(ncid));
    return ncid;
}

static void nothing(int ncid) { (void)ncid; }
static void put_new(int ncid) { put_text(ncid, NC_GLOBAL, "new", "third"); }
static void put_shorter(int ncid) { put_text(ncid, NC_GLOBAL, "title", "one"); }
static void put_longer(int ncid) { put_text(ncid, 0, "units", "kilometres"); }
static void delete_global(int ncid) { said("nc_del_att", nc_del_att(ncid, NC_GLOBAL, "title")); }
static void delete_units(int ncid) { said("nc_del_att", nc_del_att(ncid, 0, "units")); }
static void rename_attribute(int ncid) { said("nc_rename_att", nc_rename_att(ncid, NC_GLOBAL, "title", "name")); }
static void rename_variable(int ncid) { said("nc_rename_var", nc_rename_var(ncid, 0, "serie")); }
static void rename_dimension(int ncid) { said("nc_rename_dim", nc_rename_dim(ncid, 0, "t")); }

static void define_dimension(int ncid)
{
    int id = -1;
    said("nc_def_dim", nc_def_dim(ncid, "y", 3, &id));
}

static void define_variable(int ncid)
{
    int id = -1, along = 1;
    said("nc_def_var", nc_def_var(ncid, "new", NC_FLOAT, 1, &along, &id));
}

static void define_group(int ncid)
{
    int id = -1;
    said("nc_def_grp", nc_def_grp(ncid, "below", &id));
}

static void define_type(int ncid)
{
    int id = -1;
    said("nc_def_opaque", nc_def_opaque(ncid, 3, "bytes", &id));
}

static void end_and_put(int ncid)
{
    define_variable(ncid);
    said("nc_enddef", nc_enddef(ncid));
    put_values(ncid);
}

static void store_and_delete(int ncid)
{
    put_new(ncid);
    said("nc_sync", nc_sync(ncid));
    delete_global(ncid);
}

static void put_then_delete(int ncid)
{
    put_new(ncid);
    said("nc_del_att", nc_del_att(ncid, NC_GLOBAL, "new"));
}

#define CHANGE(name) {#name, name}
static const struct change {
    const char *name;
    void (*make)(int ncid);
} changes[] = {
    CHANGE(nothing),         CHANGE(put_new),          CHANGE(put_shorter),      CHANGE(put_longer),
    CHANGE(delete_global),   CHANGE(delete_units),     CHANGE(rename_attribute), CHANGE(rename_variable),
    CHANGE(rename_dimension), CHANGE(define_dimension), CHANGE(define_variable), CHANGE(define_group),
    CHANGE(define_type),     CHANGE(end_and_put),      CHANGE(store_and_delete), CHANGE(put_then_delete),
};

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    int aborts = strcmp(arguments[2], "abort") == 0;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
            log_add("== %s, %s", changes[i].name, ways[way]);
            log_end();
            int ncid = begin(atoi(arguments[1]), way);
            changes[i].make(ncid);
            said("end", aborts ? nc_abort(ncid) : nc_close(ncid));
            log_add("-- left");
            log_end();
            int status = nc_open(path, NC_NOWRITE, &ncid);
            said("nc_open", status);
            if (status != NC_NOERR)
                continue;
            log_file(ncid);
            said("nc_close", nc_close(ncid));
        }
    return 0;
}
