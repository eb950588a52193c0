/* What netCDF's own programs and tests import from the library and no header declares: text, buffers, settings, addresses. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct NCbytes {
    char *content;
    unsigned long alloc;
    unsigned long length;
    int extendible;
} NCbytes;

static void *library;

static void *
find(const char *name)
{
    void *found = dlsym(library, name);

    if (!found) {
        printf("%s is not there\n", name);
        exit(1);
    }
    return found;
}

/* The function of a name, to be called at once. */
#define CALL(result, name, types) ((result(*) types)find(name))
#define INT_BYTES(name) CALL(int, name, (NCbytes *))

static void
show(const char *what, int status, const NCbytes *bytes)
{
    printf("%s = %d, %lu [%.*s]\n", what, status, bytes->length, (int)bytes->length,
           bytes->content ? bytes->content : "");
}

static void
buffers(void)
{
    NCbytes *b = CALL(NCbytes *, "ncbytesnew", (void))();
    char own[8], *copy;
    int i, status = 1;

    show("new", b->extendible, b);
    show("append", CALL(int, "ncbytesappend", (NCbytes *, char))(b, 'a'), b);
    show("appendn", CALL(int, "ncbytesappendn", (NCbytes *, const void *, unsigned long))(b, "bcd", 2), b);
    show("appendn of a string", CALL(int, "ncbytesappendn", (NCbytes *, const void *, unsigned long))(b, "xyz", 0), b);
    show("cat", CALL(int, "ncbytescat", (NCbytes *, const char *))(b, "more"), b);
    show("cat of nothing", CALL(int, "ncbytescat", (NCbytes *, const char *))(b, NULL), b);
    show("set", CALL(int, "ncbytesset", (NCbytes *, unsigned long, char))(b, 1, 'B'), b);
    printf("get %d %d\n", CALL(int, "ncbytesget", (NCbytes *, unsigned long))(b, 1),
           CALL(int, "ncbytesget", (NCbytes *, unsigned long))(b, 99));
    show("remove", CALL(int, "ncbytesremove", (NCbytes *, unsigned long))(b, 0), b);
    show("remove the last", CALL(int, "ncbytesremove", (NCbytes *, unsigned long))(b, b->length - 1), b);
    show("null", INT_BYTES("ncbytesnull")(b), b);
    printf("behind it %d\n", b->content[b->length]);
    copy = CALL(char *, "ncbytesdup", (NCbytes *))(b);
    printf("dup %s\n", copy);
    free(copy);
    show("setlength", CALL(int, "ncbytessetlength", (NCbytes *, unsigned long))(b, 3), b);
    show("fill", CALL(int, "ncbytesfill", (NCbytes *, char))(b, '-'), b);
    for (i = 0; i < 100000; i++)
        status &= CALL(int, "ncbytesappend", (NCbytes *, char))(b, (char)('a' + i % 26));
    printf("many %d %lu %d %d\n", status, b->length, b->content[3], b->content[100002]);
    copy = CALL(char *, "ncbytesextract", (NCbytes *))(b);
    printf("extract %.10s, %lu %lu %d\n", copy, b->length, b->alloc, b->content != NULL);
    free(copy);
    printf("setalloc %d", CALL(int, "ncbytessetalloc", (NCbytes *, unsigned long))(b, 5000));
    printf(" %d\n", b->alloc >= 5000);
    show("setcontents", CALL(int, "ncbytessetcontents", (NCbytes *, char *, unsigned long, unsigned long))(b, own, sizeof own, 0), b);
    show("append to them", CALL(int, "ncbytescat", (NCbytes *, const char *))(b, "seven"), b);
    CALL(void, "ncbytesfree", (NCbytes *))(b);
    printf("own %.5s\n", own);
}

static void
files(void)
{
    static const long long amounts[] = {-1, 0, 1, 5, 2999999, 3000000, 3000001};
    FILE *file = fopen("content", "wb");
    size_t i;

    for (i = 0; i < 3000000; i++)
        fputc((int)(i % 253), file);
    fclose(file);
    for (i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        NCbytes *b = CALL(NCbytes *, "ncbytesnew", (void))();
        unsigned long at, sum = 0;
        int status = CALL(int, "NC_readfilen", (const char *, NCbytes *, long long))("content", b, amounts[i]);

        for (at = 0; at < b->length; at++)
            sum = sum * 31 + (unsigned char)b->content[at];
        printf("readfilen %lld = %d, %lu %lx\n", amounts[i], status, b->length, sum);
        CALL(void, "ncbytesfree", (NCbytes *))(b);
    }
    {
        NCbytes *b = CALL(NCbytes *, "ncbytesnew", (void))();

        CALL(int, "ncbytescat", (NCbytes *, const char *))(b, "before");
        printf("readfile %d", CALL(int, "NC_readfile", (const char *, NCbytes *))("content", b));
        printf(" %lu\n", b->length);
        printf("none %d\n", CALL(int, "NC_readfile", (const char *, NCbytes *))("not there", b));
        file = fopen("content", "rb");
        fseek(file, 2999990, SEEK_SET);
        printf("stream %d", CALL(int, "NC_readfileF", (FILE *, NCbytes *, long long))(file, b, -1));
        printf(" %lu\n", b->length);
        fclose(file);
        CALL(void, "ncbytesfree", (NCbytes *))(b);
    }
}

static void
texts(void)
{
    static const char *paths[] = {
        "http://host/a/b.nc", "http://host/a/b", "http://host/.nc", "http://host/", "http://host", "file:///x/y.tar.gz",
        "file://x.nc#mode=zarr", "s3://bucket/key.nc", "x.nc", "/x/y.nc", "", "c:\\x", "https://h/a.b.c?q#f",
    };
    char to[12] = "one";
    size_t i;

    printf("strlcat %zu", CALL(size_t, "nc_strlcat", (char *, const char *, size_t))(to, "two", sizeof to));
    printf(" %zu %s\n", CALL(size_t, "nc_strlcat", (char *, const char *, size_t))(to, "three and more", sizeof to), to);
    printf("little %d\n", CALL(int, "NC_isLittleEndian", (void))());
    for (i = 0; i < sizeof paths / sizeof *paths; i++) {
        char *base = NULL;
        int is_file = 7, status;

        status = CALL(int, "NC__testurl", (const char *, char **, int *))(paths[i], &base, &is_file);
        printf("%s: %d %d %s\n", paths[i], status, is_file, base ? base : "(none)");
        free(base);
        printf("%d\n", CALL(int, "NC__testurl", (const char *, char **, int *))(paths[i], NULL, NULL));
    }
}

static void
settings(void)
{
    int (*insert)(const char *, const char *, const char *, const char *) = find("NC_rcfile_insert");
    const char *(*look_up)(const char *, const char *, const char *) = find("NC_rclookup");
    char *(*get)(const char *) = find("nc_rc_get");
    char *value;

    printf("%d", insert("A.KEY", NULL, NULL, "first"));
    printf(" %d", insert("B.KEY", NULL, NULL, "second"));
    printf(" %d\n", insert("C.KEY", "host:80", NULL, "forone"));
    value = get("B.KEY");
    printf("%s\n", value ? value : "(none)");
    free(value);
    printf("%s %s\n", look_up("A.KEY", NULL, NULL), look_up("C.KEY", "host:80", NULL));
    printf("%d\n", look_up("NO.KEY", NULL, NULL) == NULL);
    printf("%d", insert("B.KEY", NULL, NULL, "third"));
    printf(" %s\n", look_up("B.KEY", NULL, NULL));
}

static void
messages(void)
{
    int (*set_level)(int) = find("ncsetloglevel");
    void (*message)(int, const char *, ...) = find("nclog");
    int level, tag;

    for (level = 0; level < 6; level++) {
        printf("level %d was %d\n", level, set_level(level));
        fflush(stdout);
        /* The original does not know the name of the last one. */
        for (tag = 0; tag < 4; tag++)
            message(tag, "message %d", tag);
        message(5, "a kind that there is not");
    }
}

int
main(void)
{
    int (*initialize)(void);

    /* Messages come where they belong. */
    dup2(1, 2);
    library = dlopen("libnetcdf.so.19", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    initialize = find("nc_initialize");
    printf("initialize %d\n", initialize());
    buffers();
    files();
    texts();
    settings();
    messages();
    return 0;
}
