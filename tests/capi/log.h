/* One line for each call: name, arguments, what it returned, what it gave. Two libraries that behave
 * alike give the same lines. */
#ifndef LOG_H
#define LOG_H

#include <netcdf.h>
#include <stddef.h>

/* What memory holds that a call is to fill: bytes that are still so were left alone. */
#define UNTOUCHED 0xA5

/* Adds to the line; writes it as far as it is; ends it. */
void log_add(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_flush(void);
void log_end(void);
/* A text in quotes, with escapes; "NULL" for none. */
void log_text(const char *text);

/* `count` values of a type in memory, without what the call left alone at the end. */
void log_values(int ncid, nc_type type, const void *values, size_t count);
/* The bytes of one value in memory; 0 where the type is not known. */
size_t size_of_type(int ncid, nc_type type);
/* How many values a call filled. */
size_t filled(const void *values, size_t value_size, size_t bytes);
/* Fills `count` values of a type with something that shows where they came from; what they
 * point to lives until the program ends. */
void make_values(int ncid, nc_type type, void *values, size_t count, int seed);
/* True where values of the type own memory. */
int owns_memory(int ncid, nc_type type);
/* Logs everything there is in an open file: groups, types, dimensions, variables, attributes, values. */
void log_file(int ncid);

#endif
