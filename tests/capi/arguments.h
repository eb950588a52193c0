/* What calls are made with: for each argument a few that are right, a few that are wrong, and a
 * hazardous one (NULL, an endless length), chosen by number. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "log.h"

struct function {
    const char *name;
    void (*call)(void);
};
extern const struct function functions[];
extern const size_t function_count;

/* How the arguments of the next call are chosen. */
enum strategy {
    USUAL,  /* the first choice of each */
    VARIED, /* the same, but one argument by number */
    RANDOM
};
struct plan {
    enum strategy strategy;
    int argument, choice; /* of VARIED */
};

/* How many choices each argument of the last call had. */
enum { MOST_ARGUMENTS = 12 };
struct choices {
    int arguments;
    int safe[MOST_ARGUMENTS], hazardous[MOST_ARGUMENTS];
};

/* The formats of nc_set_default_format, and in which state a file is handed to the calls. */
enum state { DEFINING, DATA, WRITABLE, READ_ONLY, STATES };

/* With or without an unlimited dimension. */
void use_fixture(int format, enum state state, int has_records);

/* Has the libraries begin with one chunk cache: the one that files have by itself is another since 4.9.3. */
void use_one_cache(void);
/* Closes all that is open, and walks through the file that is left. */
void leave_fixture(void);
/* Where random calls closed the file: opens it again. */
void mend_fixture(unsigned seed);
void seed_choices(unsigned seed);
unsigned random_number(unsigned below);
int call_function(const struct function *function, struct plan plan, struct choices *choices);

/* Used by the calls in the table. */
int pick_ncid(const char *argument);
int pick_varid(const char *argument);
int pick_dimid(const char *argument);
int pick_int(const char *argument);
nc_type pick_type(const char *argument);
size_t pick_size_t(const char *argument);
unsigned pick_unsigned_int(const char *argument);
long pick_long(const char *argument);
long long pick_long_long(const char *argument);
float pick_float(const char *argument);
const char *pick_name(const char *argument);
const char *pick_path(const char *argument);
const void *pick_starts(const char *argument, size_t element);
const void *pick_counts(const char *argument, size_t element);
const void *pick_strides(const char *argument, size_t element);
const void *pick_map(const char *argument, size_t element);
const void *pick_chunks(const char *argument, size_t element);
const void *pick_dimids(const char *argument, size_t element);
const void *pick_sizes(const char *argument, size_t element);
const void *pick_parameters(const char *argument, size_t element);
/* Values for the library, and memory that it fills; of the type that the other arguments say for NC_NAT. */
void *values_in(const char *argument, nc_type memory);
void *gives(const char *argument, nc_type memory);
char *gives_text(const char *argument);
void called(void);
void ended(int status);
void ended_text(const char *text);

#endif
