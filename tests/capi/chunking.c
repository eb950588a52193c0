/* The chunks of variables for which nobody says any, along dimensions that grow, and whose lengths the program
 * hears now and then.
 *
 *     chunking FORMAT SEED PATH */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 80, MOST = 48, LONGEST = 40 };

static int file, group_count, groups[2], dimension_count, variable_count;
/* The first dimension that is not stored yet. */
static int first_new_dimension;
/* Where a dimension is defined. */
static int home[MOST];
static struct variable {
    int group, id, rank, along[3];
} variables[MOST];
static int values[LONGEST * LONGEST * LONGEST];
static unsigned long long state;

static unsigned choose(unsigned below)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

/* Mostly unlimited ones, where the model lets a file have several. */
static void define_dimension(void)
{
    char name[16];
    int id = -1, group = groups[choose((unsigned)group_count)];
    if (dimension_count == MOST)
        return;
    sprintf(name, "d%d", dimension_count);
    int status = nc_def_dim(group, name, choose(4) ? NC_UNLIMITED : 2 + choose(9), &id);
    log_add("nc_def_dim = %d %d", status, id);
    if (status == NC_NOERR)
        home[dimension_count++] = group;
}

static void log_chunks(const struct variable *variable)
{
    int storage = -1;
    size_t shape[3] = {0};
    log_add(" = %d", nc_inq_var_chunking(variable->group, variable->id, &storage, shape));
    log_add(" %d:", storage);
    for (int i = 0; storage == NC_CHUNKED && i < variable->rank; i++)
        log_add(" %zu", shape[i]);
}

/* A new dimension may get its coordinate variable. The original loses files where a stored one does, and where
 * a variable is along one dimension twice. When it opens a file with a coordinate variable of several dimensions,
 * it depends on the order of objects whether it hears of the others' lengths. */
static void define_variable(void)
{
    static const nc_type types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_DOUBLE};
    char name[16];
    if (!dimension_count || variable_count == MOST)
        return;
    struct variable *new = &variables[variable_count];
    *new = (struct variable){.rank = 1 + (int)choose(3)};
    for (int i = 0; i < new->rank; i++)
        new->along[i] = (int)choose((unsigned)dimension_count);
    for (int i = 1; i < new->rank; i++)
        for (int j = 0; j < i; j++)
            if (new->along[i] == new->along[j])
                new->rank = i;
    new->group = groups[choose((unsigned)group_count)];
    for (int i = 0; i < new->rank; i++)
        if (home[new->along[i]] != file)
            new->group = home[new->along[i]];
    sprintf(name, "v%d", variable_count);
    int is_new = new->along[0] >= first_new_dimension && new->group == home[new->along[0]];
    if (choose(2) && new->rank == 1 && is_new)
        nc_inq_dimname(file, new->along[0], name);
    int status = nc_def_var(new->group, name, types[choose(4)], new->rank, new->along, &new->id);
    log_add("nc_def_var %s = %d, chunks", name, status);
    if (status != NC_NOERR)
        return;
    log_chunks(new);
    if (choose(4) == 0) {
        log_add(", nc_def_var_chunking = %d",
                nc_def_var_chunking(new->group, new->id, NC_CHUNKED, (size_t[3]){0}));
        log_chunks(new);
    }
    variable_count++;
}

/* Where values are, or are to be: within fixed dimensions. */
static void choose_place(const struct variable *variable, size_t *start, size_t *count)
{
    int dimension, unlimited[NC_MAX_DIMS], unlimited_count;
    size_t fixed[3];
    for (int i = 0; i < variable->rank; i++) {
        dimension = variable->along[i];
        nc_inq_unlimdims(home[dimension], &unlimited_count, unlimited);
        fixed[i] = 2;
        for (int j = 0; j < unlimited_count; j++)
            if (unlimited[j] == dimension)
                fixed[i] = LONGEST;
        start[i] = choose((unsigned)fixed[i]);
        count[i] = 1 + choose((unsigned)(fixed[i] - start[i]));
    }
}

static void move_values(void)
{
    size_t start[3], count[3];
    ptrdiff_t stride[3] = {1, 1, 1};
    if (!variable_count)
        return;
    const struct variable *variable = &variables[choose((unsigned)variable_count)];
    int group = variable->group, id = variable->id, how = (int)choose(10), status = 0;
    choose_place(variable, start, count);
    switch (how) {
    case 0:
        status = nc_put_var_int(group, id, values);
        break;
    case 1:
    case 2:
        status = nc_put_vara_int(group, id, start, count, values);
        break;
    case 3:
        status = nc_put_var1_int(group, id, start, values);
        break;
    case 4:
        status = nc_put_vars_int(group, id, start, count, stride, values);
        break;
    case 5:
        status = nc_get_var_int(group, id, values);
        break;
    case 6:
        status = nc_get_vara_int(group, id, start, count, values);
        break;
    case 7:
        status = nc_get_var1_int(group, id, start, values);
        break;
    case 8:
        status = nc_get_vara_text(group, id, start, count, (char *)values);
        break;
    default:
        status = nc_get_varm_int(group, id, start, count, stride, NULL, values);
    }
    log_add("values %d %d = %d", variable->id, how, status);
}

static void inquire(void)
{
    char name[NC_MAX_NAME + 1];
    size_t len = 0;
    if (!dimension_count)
        return;
    int id = (int)choose((unsigned)dimension_count), how = (int)choose(3), status = 0;
    if (how == 0)
        status = nc_inq_dimlen(file, id, &len);
    else
        status = nc_inq_dim(file, id, name, how == 1 ? &len : NULL);
    log_add("nc_inq_dim %d = %d %zu", id, status, len);
}

static void open_again(const char *path)
{
    log_add("nc_close = %d", nc_close(file));
    int status = nc_open(path, NC_WRITE, &file);
    log_add(", nc_open = %d", status);
    if (status != NC_NOERR)
        exit(1);
    int below = file, before = groups[group_count - 1];
    nc_inq_grps(file, NULL, &below);
    for (int i = 0; i < dimension_count; i++)
        home[i] = home[i] == before ? below : file;
    for (int i = 0; i < variable_count; i++)
        variables[i].group = variables[i].group == before ? below : file;
    groups[0] = file;
    groups[group_count - 1] = below;
}

static void step(const char *path)
{
    unsigned what = choose(24);
    if (what < 4 || (what > 9 && what < 16))
        first_new_dimension = dimension_count;
    switch (what) {
    case 0:
        log_add("nc_redef = %d", nc_redef(file));
        break;
    case 1:
        log_add("nc_enddef = %d", nc_enddef(file));
        break;
    case 2:
        log_add("nc_sync = %d", nc_sync(file));
        break;
    case 3:
        open_again(path);
        break;
    case 4:
    case 5:
    case 6:
        define_dimension();
        break;
    case 7:
    case 8:
    case 9:
        inquire();
        break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        move_values();
        break;
    default:
        define_variable();
    }
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    nc_set_default_format(atoi(arguments[1]), NULL);
    state = strtoull(arguments[2], NULL, 10);
    int status = nc_create(arguments[3], NC_CLOBBER, &file);
    groups[group_count++] = file;
    if (nc_def_grp(file, "below", &groups[group_count]) == NC_NOERR)
        group_count++;
    log_add("nc_create = %d", status);
    log_end();
    for (int i = 0; i < STEPS; i++) {
        log_add("%d ", i);
        step(arguments[3]);
        log_flush();
        log_end();
    }
    log_add("nc_close = %d", nc_close(file));
    log_end();
    return 0;
}
