/* Which library this is: its version, and its file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netcdf.h>
#include <stdio.h>

int main(void)
{
    Dl_info found;
    printf("%s\n", nc_inq_libvers());
    if (!dladdr((void *)nc_inq_libvers, &found))
        return 1;
    /* A program's own stub has the symbol's address where it is not position-independent. */
    printf("%s\n", found.dli_fname);
    return 0;
}
