/* Calls functions at random.
 *
 *     random FORMAT SEED CALLS */
#include "choosing.h"
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

/* Functions that would only end the sequence, or are called too seldom to matter among the many typed ones. */
static int weight(const char *name)
{
    static const char *const often[] = {"nc_def_", "nc_enddef", "nc_redef", "nc_put_vara_", "nc_get_vara_",
                                        "nc_rename", "nc_put_att_", "nc_sync", "nc_inq_"};
    static const char *const seldom[] = {"nc_close", "nc_abort", "nc_open", "nc_create", "nc__", "ncclose",
                                         "ncabort", "nc_delete", "nccreate", "ncopen", "nc_set_alignment"};
    /* A member that does not fit makes a type that the original cannot store. */
    if (strncmp(name, "nc_insert_", strlen("nc_insert_")) == 0)
        return 0;
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        if (strncmp(name, seldom[i], strlen(seldom[i])) == 0)
            return 1;
    for (size_t i = 0; i < sizeof often / sizeof *often; i++)
        if (strncmp(name, often[i], strlen(often[i])) == 0)
            return 16;
    return 6;
}

/* What all files count, where that is not what they counted after the call before: what a call did beside
 * what it told. */
static void log_counts(void)
{
    static struct counts {
        int status, dimensions, variables, attributes, unlimited;
        size_t records;
    } before[MOST_IDS];
    for (int i = 0; i < fixture.id_count; i++) {
        struct counts now;
        memset(&now, 0, sizeof now);
        now.status = nc_inq(fixture.ids[i], &now.dimensions, &now.variables, &now.attributes, &now.unlimited);
        if (now.status == NC_NOERR && now.unlimited >= 0)
            nc_inq_dimlen(fixture.ids[i], now.unlimited, &now.records);
        if (memcmp(&now, &before[i], sizeof now) == 0)
            continue;
        before[i] = now;
        log_add("file %d: %d, dimensions %d variables %d attributes %d unlimited %d of %zu", i, now.status,
                now.dimensions, now.variables, now.attributes, now.unlimited, now.records);
        log_end();
    }
}

/* The original forgets records that are not stored yet where it aborts definitions; and what is defined of a
 * netCDF-4 file that went to define mode by itself, which ours stores. */
static void store_records(const char *name)
{
    int aborts = strcmp(name, "nc_abort") == 0 || strcmp(name, "ncabort") == 0;
    if (strcmp(name, "nc_redef") == 0 || strcmp(name, "ncredef") == 0 || strcmp(name, "nc_copy_var") == 0
        || (aborts && fixture.format == NC_FORMAT_NETCDF4))
        for (int i = 0; i < fixture.id_count; i++)
            nc_sync(fixture.ids[i]);
}

/* Renaming a variable, the original moves all later ones in the file, and fails where one is not there yet. */
static void store_variables(const char *name)
{
    if (!is_hdf5() || (strcmp(name, "nc_rename_var") != 0 && strcmp(name, "ncvarrename") != 0))
        return;
    for (int i = 0; i < fixture.id_count; i++)
        if (nc_enddef(fixture.ids[i]) == NC_NOERR)
            nc_redef(fixture.ids[i]);
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    int format = atoi(arguments[1]), calls = atoi(arguments[3]);
    seed_choices((unsigned)atoi(arguments[2]));
    use_one_cache();
    enum state state = (enum state)random_number(STATES);
    use_fixture(format, state, random_number(4) != 0);
    for (int call = 0; call < calls;) {
        const struct function *function = &functions[random_number((unsigned)function_count)];
        if ((int)random_number(16) >= weight(function->name))
            continue;
        store_records(function->name);
        store_variables(function->name);
        log_add("%d ", call++);
        call_function(function, (struct plan){RANDOM, 0, 0}, NULL);
        mend_fixture(random_number(100));
        log_counts();
    }
    leave_fixture();
    return 0;
}
