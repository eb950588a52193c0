/* Walks through the files it is given. */
#include "log.h"

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        int ncid = 0;
        int status = nc_open(paths[i], NC_NOWRITE, &ncid);
        log_add("nc_open(%s) = %d", paths[i], status);
        log_end();
        if (status == NC_NOERR) {
            log_file(ncid);
            log_add("nc_close = %d", nc_close(ncid));
            log_end();
        }
    }
    return 0;
}
