/* Defines dimensions, variables, types and groups in a random order, in several rounds, and tells after each
 * step what there is and in which order.
 *
 *     order FORMAT SEED PATH */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 60, MOST = 64 };

static int groups[MOST], group_count;
/* The ids that the next dimension gets, and that the first one got which is not stored. */
static int next_dimension, first_new_dimension;
static unsigned long long state;

static unsigned choose(unsigned below)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

static void log_ids(const char *what, int status, int count, const int *ids)
{
    log_add(" %s %d:", what, status);
    for (int i = 0; status == NC_NOERR && i < count; i++)
        log_add(" %d", ids[i]);
}

/* The ids of each group in the order in which inquiries tell them. To ask for lengths has an effect in the
 * original: chunks of variables that are defined later depend on lengths as they were told last. */
static void log_orders(void)
{
    int count, one, ids[NC_MAX_DIMS];
    size_t len;
    for (int i = 0; i < group_count; i++) {
        log_add("  group %d", i);
        int status = nc_inq_dimids(groups[i], &count, ids, 0);
        log_ids("dimids", status, count, ids);
        for (int j = 0; j < count; j++)
            if (nc_inq_dimlen(groups[i], ids[j], &len) == NC_NOERR)
                log_add(" (%zu)", len);
        status = nc_inq_dimids(groups[i], &count, ids, 1);
        log_ids("with parents", status, count, ids);
        status = nc_inq_unlimdims(groups[i], &count, ids);
        log_ids("unlimdims", status, count, ids);
        status = nc_inq_unlimdim(groups[i], &one);
        log_ids("unlimdim", status, 1, &one);
        status = nc_inq_varids(groups[i], &count, ids);
        log_ids("varids", status, count, ids);
        status = nc_inq_typeids(groups[i], &count, ids);
        log_ids("typeids", status, count, ids);
        log_end();
    }
}

static const char *name(char *text, const char *kind)
{
    sprintf(text, "%s%u", kind, choose(12));
    return text;
}

/* Defines a variable, on every other turn the coordinate variable of a dimension. The original loses files in
 * which a variable has the name of a dimension of its group without being that, and variables of groups below
 * whose dimension gets its variable after it was stored. */
static void define_variable(int group)
{
    char text[16];
    int count, ids[NC_MAX_DIMS], along[2], nearest, varid = -1;
    nc_inq_dimids(group, &count, ids, 1);
    int rank = count ? (int)choose(3) : 0;
    for (int i = 0; i < rank; i++)
        along[i] = ids[choose((unsigned)count)];
    if (rank == 2 && along[0] == along[1])
        rank = 1;
    name(text, "v");
    if (rank && along[0] >= first_new_dimension && choose(2)) {
        nc_inq_dimname(group, along[0], text);
        if (nc_inq_dimid(group, text, &nearest) != NC_NOERR || nearest != along[0])
            return;
    }
    int status = nc_def_var(group, text, NC_INT, rank, along, &varid);
    log_add("nc_def_var %s along", text);
    for (int i = 0; i < rank; i++)
        log_add(" %d", along[i]);
    log_add(" = %d %d", status, varid);
    log_end();
}

static void define_dimension(int group)
{
    char text[16];
    int id = -1;
    if (nc_inq_varid(group, name(text, "d"), &id) == NC_NOERR)
        return;
    int status = nc_def_dim(group, text, choose(2) ? NC_UNLIMITED : 2 + choose(3), &id);
    next_dimension += status == NC_NOERR;
    log_add("nc_def_dim %s = %d %d", text, status, id);
    log_end();
}

/* Puts a value into a variable. Of those along two dimensions the original loses its way where one has grown and
 * they have not. */
static void put_value(int group)
{
    int count = 0, value = 7, rank;
    nc_inq_nvars(group, &count);
    int variable = count ? (int)choose((unsigned)count) : 0;
    if (nc_inq_varndims(group, variable, &rank) != NC_NOERR || rank > 1)
        return;
    size_t start = choose(2);
    log_add("nc_put_var1 %d = %d", variable, nc_put_var1_int(group, variable, &start, &value));
    log_end();
}

static void define(int group)
{
    char text[16];
    int id = -1, status = 0;
    switch (choose(8)) {
    case 0:
    case 1:
    case 2:
        define_dimension(group);
        return;
    case 3:
        status = nc_def_enum(group, NC_INT, name(text, "t"), &id);
        if (status == NC_NOERR)
            status = nc_insert_enum(group, id, "none", &(int){0});
        log_add("nc_def_enum %s = %d %d", text, status, id);
        break;
    case 4:
        if (group_count == MOST || choose(2))
            return;
        status = nc_def_grp(group, name(text, "g"), &id);
        log_add("nc_def_grp %s = %d %d", text, status, status ? 0 : id & 0xffff);
        if (status == NC_NOERR)
            groups[group_count++] = id;
        break;
    default:
        define_variable(group);
        return;
    }
    log_end();
}

/* Numbers the groups as those of a file that was opened are. */
static void find_groups(int group)
{
    int count = 0, below[MOST];
    groups[group_count++] = group;
    nc_inq_grps(group, &count, below);
    for (int i = 0; i < count; i++)
        find_groups(below[i]);
}

static void step(const char *path)
{
    int file = groups[0], status;
    unsigned what = choose(16);
    if (what < 5)
        first_new_dimension = next_dimension;
    switch (what) {
    case 0:
        log_add("nc_enddef = %d", nc_enddef(file));
        log_end();
        return;
    case 1:
        log_add("nc_redef = %d", nc_redef(file));
        log_end();
        return;
    case 2:
        log_add("nc_sync = %d", nc_sync(file));
        log_end();
        return;
    case 3:
        if (choose(3))
            return;
        log_add("nc_close = %d", nc_close(file));
        status = nc_open(path, NC_WRITE, &file);
        log_add(" nc_open = %d", status);
        log_end();
        if (status != NC_NOERR)
            exit(1);
        group_count = 0;
        find_groups(file);
        return;
    case 4:
        put_value(groups[choose((unsigned)group_count)]);
        return;
    default:
        define(groups[choose((unsigned)group_count)]);
    }
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    nc_set_default_format(atoi(arguments[1]), NULL);
    state = strtoull(arguments[2], NULL, 10);
    const char *path = arguments[3];
    int status = nc_create(path, NC_CLOBBER, &groups[group_count++]);
    log_add("nc_create = %d", status);
    log_end();
    for (int i = 0; i < STEPS; i++) {
        log_add("%d ", i);
        step(path);
        log_flush();
        log_end();
        log_orders();
    }
    log_file(groups[0]);
    log_add("nc_close = %d", nc_close(groups[0]));
    log_end();
    return 0;
}
