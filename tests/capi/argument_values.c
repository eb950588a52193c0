/* Values that calls take and give, and what a call ended with. */
#include "choosing.h"
#include "fixture.h"

#include <string.h>

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
    int seed = is_sequence() ? (int)random_number(1000) : choice * 7 + (int)(calls++ % 3);
    memset(values, 0, sizeof values);
    size_t size = size_of_type(call.ncid, memory);
    if (size) {
        size_t before = MARGIN / size * size;
        size_t behind = 256 * size < MEMORY ? 256 * size : MEMORY;
        make_values(call.ncid, memory, values + MARGIN - before, (before + behind) / size, seed);
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

void forget_given(void)
{
    given_count = 0;
}

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
        learn_ids(call.function, given[given_count - 1].memory, is_sequence());
    }
    if (is_sequence())
        mend_attribute(status);
    log_end();
}

void ended_text(const char *text)
{
    log_add(" = ");
    log_text(text);
    log_end();
}
