#include "log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1 << 16];
static size_t length;

void log_add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    length += added < 0 ? 0 : (size_t)added;
    if (length >= sizeof line - 2)
        length = sizeof line - 2;
}

void log_flush(void)
{
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write(STDOUT_FILENO, line + done, length - done);
        if (wrote <= 0)
            exit(3);
        done += (size_t)wrote;
    }
    length = 0;
}

void log_end(void)
{
    line[length++] = '\n';
    log_flush();
}

/* The most values and characters of a list that are written out. */
enum { MOST = 200 };

static void log_characters(const char *text, size_t count)
{
    log_add("\"");
    for (size_t i = 0; i < count && i < MOST; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 32 || c == '"' || c >= 127)
            log_add("\\x%02x", c);
        else
            log_add("%c", c);
    }
    log_add("\"");
}

void log_text(const char *text)
{
    if (text)
        log_characters(text, strlen(text));
    else
        log_add("NULL");
}

/* A user-defined type as the library tells it. */
struct shape {
    int class;
    size_t size, fields;
    nc_type base;
};

static int shape_of(int ncid, nc_type type, struct shape *shape)
{
    memset(shape, 0, sizeof *shape);
    if (type <= NC_MAX_ATOMIC_TYPE)
        return NC_EBADTYPE;
    return nc_inq_user_type(ncid, type, NULL, &shape->size, &shape->base, &shape->fields,
                            &shape->class);
}

struct field {
    size_t offset, count;
    nc_type type;
};

static int field_of(int ncid, nc_type type, int index, struct field *field)
{
    char name[NC_MAX_NAME + 1];
    int rank = 0, sizes[NC_MAX_VAR_DIMS];
    int status =
        nc_inq_compound_field(ncid, type, index, name, &field->offset, &field->type, &rank, sizes);
    field->count = 1;
    for (int i = 0; status == NC_NOERR && i < rank; i++)
        field->count *= (size_t)sizes[i];
    return status;
}

size_t size_of_type(int ncid, nc_type type)
{
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char *)};
    struct shape shape;
    if (type > 0 && type <= NC_MAX_ATOMIC_TYPE)
        return sizes[type];
    if (shape_of(ncid, type, &shape) != NC_NOERR)
        return 0;
    return shape.class == NC_VLEN ? sizeof(nc_vlen_t) : shape.size;
}

int owns_memory(int ncid, nc_type type)
{
    struct shape shape;
    struct field field;
    if (type == NC_STRING)
        return 1;
    if (shape_of(ncid, type, &shape) != NC_NOERR)
        return 0;
    for (int i = 0; shape.class == NC_COMPOUND && i < (int)shape.fields; i++)
        if (field_of(ncid, type, i, &field) == NC_NOERR && owns_memory(ncid, field.type))
            return 1;
    return shape.class == NC_VLEN;
}

static int is_untouched(const void *value, size_t size)
{
    const unsigned char *bytes = value;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != UNTOUCHED)
            return 0;
    return 1;
}

size_t filled(const void *values, size_t value_size, size_t bytes)
{
    size_t count = value_size ? bytes / value_size : 0;
    while (count && is_untouched((const char *)values + (count - 1) * value_size, value_size))
        count--;
    return count;
}

static void log_number(nc_type type, const void *value)
{
#define NUMBER(type_id, c_type, format)                                                            \
    case type_id: {                                                                                \
        c_type number;                                                                             \
        memcpy(&number, value, sizeof number);                                                     \
        log_add(format, number);                                                                   \
        break;                                                                                     \
    }
    switch (type) {
        NUMBER(NC_BYTE, signed char, "%d")
        NUMBER(NC_SHORT, short, "%d")
        NUMBER(NC_INT, int, "%d")
        NUMBER(NC_FLOAT, float, "%.9g")
        NUMBER(NC_DOUBLE, double, "%.17g")
        NUMBER(NC_UBYTE, unsigned char, "%u")
        NUMBER(NC_USHORT, unsigned short, "%u")
        NUMBER(NC_UINT, unsigned int, "%u")
        NUMBER(NC_INT64, long long, "%lld")
        NUMBER(NC_UINT64, unsigned long long, "%llu")
    }
#undef NUMBER
}

static void log_value(int ncid, nc_type type, const void *value)
{
    struct shape shape;
    struct field field;
    if (type == NC_STRING) {
        log_text(*(char *const *)value);
        return;
    }
    if (type <= NC_MAX_ATOMIC_TYPE) {
        log_number(type, value);
        return;
    }
    if (shape_of(ncid, type, &shape) != NC_NOERR)
        return;
    if (shape.class == NC_VLEN) {
        const nc_vlen_t *list = value;
        log_add("(%zu:", list->len);
        log_values(ncid, shape.base, list->p, list->len);
        log_add(")");
    } else if (shape.class == NC_COMPOUND) {
        log_add("{");
        for (int i = 0; i < (int)shape.fields; i++)
            if (field_of(ncid, type, i, &field) == NC_NOERR)
                log_values(ncid, field.type, (const char *)value + field.offset, field.count);
        log_add("}");
    } else if (shape.class == NC_ENUM) {
        log_number(shape.base, value);
    } else {
        for (size_t i = 0; i < shape.size; i++)
            log_add("%02x", ((const unsigned char *)value)[i]);
    }
}

void log_values(int ncid, nc_type type, const void *values, size_t count)
{
    size_t size = size_of_type(ncid, type);
    log_add("[");
    if (type == NC_CHAR)
        log_characters(values, count < MOST ? count : MOST);
    for (size_t i = type == NC_CHAR ? MOST : 0; i < count && size; i++) {
        const char *value = (const char *)values + i * size;
        if (i == MOST) {
            /* The rest as one number. */
            uint64_t hash = 1469598103934665603u;
            for (size_t byte = 0; byte < (count - i) * size && !owns_memory(ncid, type); byte++)
                hash = (hash ^ (unsigned char)value[byte]) * 1099511628211u;
            log_add(" and %zu more, %016llx", count - i, (unsigned long long)hash);
            break;
        }
        log_add(i ? "," : "");
        if (is_untouched(value, size))
            log_add("-");
        else
            log_value(ncid, type, value);
    }
    log_add("]");
}

static void make_number(nc_type type, void *value, int seed)
{
    /* Small numbers, and those at the borders of the types. */
    static const double numbers[] = {0,     1,      2,      3,          100,        -1,
                                     127,   128,    -128,   -129,       255,        256,
                                     32767, 32768,  -32768, -32769,     65535,      65536,
                                     1.5,   -2.75,  1e6,    2147483647, 2147483648, -2147483648.0,
                                     1e10,  1e-300, 1e20,   -1e20,      4294967295};
    size_t count = sizeof numbers / sizeof *numbers;
    /* One call in three stays with numbers that every type has. */
    size_t usual = (unsigned)seed / 8 % 3 == 0 ? 5 : count;
    double number = numbers[(unsigned)seed % usual];
#define NUMBER(type_id, c_type, low, high)                                                         \
    case type_id: {                                                                                \
        c_type stored = (c_type)(number < (low) || number > (high) ? seed % 100 : number);         \
        memcpy(value, &stored, sizeof stored);                                                     \
        break;                                                                                     \
    }
    switch (type) {
        NUMBER(NC_BYTE, signed char, -128, 127)
        NUMBER(NC_SHORT, short, -32768, 32767)
        NUMBER(NC_INT, int, -2147483648.0, 2147483647)
        NUMBER(NC_FLOAT, float, -1e30, 1e30)
        NUMBER(NC_DOUBLE, double, -1e300, 1e300)
        NUMBER(NC_UBYTE, unsigned char, 0, 255)
        NUMBER(NC_USHORT, unsigned short, 0, 65535)
        NUMBER(NC_UINT, unsigned int, 0, 4294967295.0)
        NUMBER(NC_INT64, long long, -9e18, 9e18)
        NUMBER(NC_UINT64, unsigned long long, 0, 1.8e19)
    case NC_CHAR:
        *(char *)value = (char)('a' + (unsigned)seed % 26);
    }
#undef NUMBER
}

/* Memory that stays until the program ends, and is still known to a leak checker. */
static void *keep(size_t bytes)
{
    static struct kept {
        struct kept *before;
        max_align_t memory[];
    } *all;
    struct kept *more = calloc(1, sizeof *more + bytes + 1);
    if (!more)
        exit(3);
    more->before = all;
    all = more;
    return more->memory;
}

static void make_value(int ncid, nc_type type, void *value, int seed)
{
    static const char *const texts[] = {"", "north", "gr\xc3\xb6\xc3\x9f""er", "a longer text"};
    struct shape shape;
    struct field field;
    if (type == NC_STRING) {
        *(const char **)value = texts[(unsigned)seed % 4];
        return;
    }
    if (type <= NC_MAX_ATOMIC_TYPE) {
        make_number(type, value, seed);
        return;
    }
    if (shape_of(ncid, type, &shape) != NC_NOERR)
        return;
    if (shape.class == NC_VLEN) {
        nc_vlen_t list = {.len = (unsigned)seed % 4};
        list.p = keep(list.len * size_of_type(ncid, shape.base));
        make_values(ncid, shape.base, list.p, list.len, seed + 1);
        memcpy(value, &list, sizeof list);
    } else if (shape.class == NC_COMPOUND) {
        for (int i = 0; i < (int)shape.fields; i++)
            if (field_of(ncid, type, i, &field) == NC_NOERR)
                make_values(ncid, field.type, (char *)value + field.offset, field.count, seed + i);
    } else if (shape.class == NC_ENUM) {
        make_number(shape.base, value, 1);
    } else {
        memset(value, seed & 0x7f, shape.size);
    }
}

void make_values(int ncid, nc_type type, void *values, size_t count, int seed)
{
    size_t size = size_of_type(ncid, type);
    for (size_t i = 0; i < count && size; i++)
        make_value(ncid, type, (char *)values + i * size, seed + (int)i);
}
