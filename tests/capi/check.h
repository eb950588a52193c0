/* Programs whose calls must all succeed. */
#ifndef CHECK_H
#define CHECK_H

#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call fails, saying which. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_ != NC_NOERR) {                                                                 \
            fprintf(stderr, "%s:%d: %s = %d\n", __FILE__, __LINE__, #call, status_);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
