/* The call that is being put together: what was chosen for it, and how. */
#ifndef CHOOSING_H
#define CHOOSING_H

#include "arguments.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

extern struct call {
    const char *function;
    struct plan plan;
    struct choices choices;
    int ncid, varid, dimid;
    int filter; /* its number, where there is one */
    nc_type type;
    const char *name;
    int hazard;
} call;

/* Whether the name of the function has that part. */
int has(const char *part);
/* Whether two strings are the same. */
int is(const char *one, const char *other);
/* Whether the files are netCDF-4, of whichever model. */
int is_hdf5(void);
/* Whether the call is one of a long sequence: what it leaves, later calls work on. */
int is_sequence(void);
/* Chooses among `right` choices, `wrong` ones after them, and `hazardous` ones at the end. */
int choose(const char *argument, int right, int wrong, int hazardous);
/* Forgets what the call before has filled. */
void forget_given(void);

#endif
