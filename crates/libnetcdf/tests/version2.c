/* Calls every function of version 2, rightly and wrongly, and prints what each returns, stores and says. */
#include <netcdf.h>
#include <stdio.h>

int nc_inq_rec(int ncid, size_t *nrecvarsp, int *recvarids, size_t *recsizes);
int nc_put_rec(int ncid, size_t recnum, void *const *datap);
int nc_get_rec(int ncid, size_t recnum, void **datap);

#define L(...) ((const long[]){__VA_ARGS__})
/* The call, what it returns, and the last error where there was one. */
#define SHOW(call) do { \
    ncerr = 77; \
    long result = (call); \
    printf("%s -> %ld, ncerr %d\n", #call, result, ncerr); \
} while (0)

static int dimensions[2] = {0, 1};
static char text[NC_MAX_NAME + 1];
static nc_type type;
static int count, many, ids[8];

static void print_ints(const int *values, int n)
{
    for (int i = 0; i < n; i++)
        printf(" %d", values[i]);
    printf("\n");
}

static void define(int file)
{
    SHOW(ncdimdef(file, "t", NC_UNLIMITED));
    SHOW(ncdimdef(file, "x", 3));
    SHOW(ncdimdef(file, "y", -3));
    SHOW(ncdimdef(file, "x", 4));
    SHOW(ncdimid(file, "x"));
    SHOW(ncdimid(file, "none"));
    SHOW(ncvardef(file, "v", NC_INT, 2, dimensions));
    SHOW(ncvardef(file, "w", NC_SHORT, 1, dimensions + 1));
    SHOW(ncvardef(file, "z", NC_DOUBLE, 1, dimensions));
    SHOW(ncvardef(file, "z", NC_DOUBLE, 1, dimensions));
    SHOW(ncsetfill(file, NC_NOFILL));
    SHOW(ncsetfill(file, NC_FILL));
    SHOW(ncsetfill(file, 4));
    SHOW(ncsetfill(999, NC_FILL));
}

static void attributes(int file)
{
    short pair[2] = {1, 2};
    SHOW(ncattput(file, 0, "a", NC_SHORT, 2, pair));
    SHOW(ncattput(file, 0, "a", 99, 2, pair));
    SHOW(ncattput(file, 0, "a", NC_CHAR, -1, pair));
    SHOW(ncattinq(file, 0, "a", &type, &count));
    printf("%d %d\n", type, count);
    SHOW(ncattinq(file, 0, "none", &type, &count));
    SHOW(ncattget(file, 0, "a", pair));
    SHOW(ncattget(file, 0, "none", pair));
    SHOW(ncattname(file, 0, 0, text));
    SHOW(ncattname(file, 0, 5, text));
    SHOW(ncattrename(file, 0, "a", "c"));
    SHOW(ncattrename(file, 0, "a", "c"));
    SHOW(ncattcopy(file, 0, "c", file, 1));
    SHOW(ncattcopy(file, 0, "none", file, 1));
    SHOW(ncattdel(file, 1, "c"));
    SHOW(ncattdel(file, 1, "c"));
}

static void modes(int file)
{
    SHOW(ncvarput1(file, 0, L(0, 0), &count));
    SHOW(ncendef(file));
    SHOW(ncendef(file));
    SHOW(ncredef(file));
    SHOW(ncredef(file));
    SHOW(ncendef(file));
}

static void values(int file)
{
    int six[6] = {1, 2, 3, 4, 5, 6}, other[6] = {0};
    SHOW(ncvarput(file, 0, L(0, 0), L(2, 3), six));
    SHOW(ncvarput(file, 0, L(0, 1), L(2, 3), six));
    SHOW(ncvarput(file, 0, L(0, -1), L(2, 3), six));
    SHOW(ncvarput(file, 9, L(0, 0), L(2, 3), six));
    SHOW(ncvarget(file, 9, L(0, 0), L(2, 3), six));
    SHOW(ncvarput1(file, 0, L(1, 1), six));
    SHOW(ncvarget1(file, 0, L(1, 1), other));
    SHOW(ncvarputs(file, 0, L(0, 0), L(1, 2), L(1, 2), six));
    SHOW(ncvarputs(file, 0, L(0, 0), L(1, 2), NULL, six));
    SHOW(ncvargets(file, 0, L(0, 0), L(1, 2), L(1, -2), six));
    SHOW(ncvargets(file, 0, L(0, 0), L(1, 2), L(1, 2), other));
    print_ints(other, 6);
    SHOW(ncvargetg(file, 0, L(0, 0), L(2, 3), L(1, 1), L(4, 8), other));
    print_ints(other, 6);
    SHOW(ncvarputg(file, 0, L(0, 0), L(2, 3), L(1, 1), L(12, 4), six));
    SHOW(ncvarputg(file, 0, L(0, 0), L(2, 3), NULL, L(12, 4), six));
    SHOW(ncvarputg(file, 0, L(0, 0), L(2, 3), NULL, NULL, six));
    SHOW(ncvarputg(file, 8, L(0, 0), L(2, 3), NULL, L(12, 4), six));
    SHOW(ncvargetg(file, 8, L(0, 0), L(2, 9), NULL, L(12, 4), other));
    SHOW(ncvargetg(file, 0, L(0, 0), L(2, 9), NULL, L(12, 4), other));
    SHOW(ncvarget(file, 0, L(0, 0), L(2, 3), other));
    print_ints(other, 6);
}

static void records(int file)
{
    long sizes[8] = {0};
    int six[6] = {6, 5, 4, 3, 2, 1};
    double real = 5;
    void *record[2] = {six, &real}, *nothing[2] = {NULL, NULL};
    SHOW(ncrecinq(file, &many, ids, sizes));
    printf("%d: %d %ld, %d %ld\n", many, ids[0], sizes[0], ids[1], sizes[1]);
    SHOW(ncrecinq(file, NULL, NULL, NULL));
    SHOW(ncrecinq(999, NULL, NULL, NULL));
    SHOW(ncrecput(file, 3, record));
    real = 0;
    SHOW(ncrecget(file, 3, record));
    printf("%g\n", real);
    SHOW(ncrecget(file, 30, record));
    SHOW(ncrecget(file, -1, record));
    SHOW(ncrecget(file, 30, nothing));
}

static void inquire(int file)
{
    long length = -1;
    SHOW(ncinquire(file, &count, &many, ids, ids + 1));
    printf("%d %d %d %d\n", count, many, ids[0], ids[1]);
    SHOW(ncinquire(file, NULL, NULL, NULL, NULL));
    SHOW(ncinquire(-4, NULL, NULL, NULL, NULL));
    SHOW(ncdiminq(file, 1, text, &length));
    printf("%s %ld\n", text, length);
    SHOW(ncdiminq(file, 0, NULL, NULL));
    SHOW(ncdiminq(file, 7, text, &length));
    SHOW(ncdimrename(file, 1, "x"));
    SHOW(ncdimrename(file, 1, "longer"));
    SHOW(ncvarinq(file, 0, text, &type, &count, ids, &many));
    printf("%s %d %d %d %d\n", text, type, count, ids[0], many);
    SHOW(ncvarinq(file, 0, NULL, NULL, NULL, NULL, NULL));
    SHOW(ncvarinq(file, 20, text, &type, &count, ids, &many));
    SHOW(ncvarid(file, "v"));
    SHOW(ncvarid(file, "none"));
    SHOW(ncvarrename(file, 0, "u"));
    SHOW(ncvarrename(file, 0, "longer"));
}

static void without_records(const char *path)
{
    size_t found = 55;
    int file = nccreate(path, NC_CLOBBER | NC_NETCDF4);
    SHOW(nc_inq_rec(file, &found, NULL, NULL));
    printf("%zu\n", found);
    SHOW(nc_put_rec(file, 0, NULL));
    SHOW(nc_get_rec(file, 0, NULL));
    SHOW(ncclose(file));
}

/* Arguments of all kinds, in registers and on the stack. */
static void advise(void)
{
    nc_advise("plain", 0, "nothing");
    nc_advise("system", 2, "%s", "no file");
    nc_advise("mixed", NC_EBADID, "%d %s %g %ld %s %d %.1f %c", 1, "two", 3.5, 4L, "five", 6, 7.5,
              '8');
    printf("%d\n", ncerr);
}

int main(int argc, char **argv)
{
    int file;
    if (argc != 2)
        return 2;
    printf("%d %d\n", ncopts, ncerr);
    ncopts = NC_VERBOSE;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = -1; i < 34; i++)
        printf("%d: %d\n", i, nctypelen(i));
    SHOW(nccreate("missing/file.nc", NC_CLOBBER));
    SHOW(ncopen("missing/file.nc", NC_NOWRITE));
    file = nccreate(argv[1], NC_CLOBBER);
    define(file);
    attributes(file);
    modes(file);
    values(file);
    records(file);
    inquire(file);
    SHOW(ncsync(file));
    SHOW(ncsync(999));
    SHOW(ncclose(file));
    SHOW(ncclose(file));
    file = ncopen(argv[1], NC_WRITE);
    SHOW(ncabort(file));
    SHOW(ncabort(file));
    without_records(argv[1]);
    advise();
    ncopts = NC_FATAL | NC_VERBOSE;
    ncclose(-1);
    printf("still here\n");
    return 0;
}
