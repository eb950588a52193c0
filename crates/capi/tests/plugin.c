/* A filter with HDF5's plugin interface, written for the tests: each byte XORed with the first
   parameter, behind a header of four bytes, in a buffer of its own. With SET_LOCAL it takes elements of
   four bytes only, and has their size and the chunk's shape put behind its parameters, as HDF5 tells them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REVERSE 0x0100

typedef struct {
    int version;
    int id;
    unsigned encoder_present;
    unsigned decoder_present;
    const char *name;
    int (*can_apply)(int64_t, int64_t, int64_t);
    int (*set_local)(int64_t, int64_t, int64_t);
    size_t (*filter)(unsigned, size_t, const unsigned[], size_t, size_t *, void **);
} class_t;

static const char header[4] = {'t', 'e', 's', 't'};

#ifdef SET_LOCAL
/* Of libhdf5, whose ids are that wide. */
int H5Pget_filter_by_id2(int64_t, int, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *);
int H5Pmodify_filter(int64_t, int, unsigned, size_t, const unsigned *);
int H5Pget_chunk(int64_t, int, uint64_t *);
size_t H5Tget_size(int64_t);
int H5Sget_simple_extent_dims(int64_t, uint64_t *, uint64_t *);

enum { MOST_AXES = 8, MOST_PARAMETERS = 20 };

static int can_apply(int64_t properties, int64_t type, int64_t space)
{
    return H5Tget_size(type) == 4 ? 1 : -1;
}

static int set_local(int64_t properties, int64_t type, int64_t space)
{
    unsigned flags, config, parameters[MOST_PARAMETERS];
    size_t count = MOST_PARAMETERS - MOST_AXES - 1;
    uint64_t shape[MOST_AXES], chunk[MOST_AXES];
    int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    if (H5Pget_filter_by_id2(properties, ID, &flags, &count, parameters, 0, NULL, &config) < 0
        || rank < 0 || rank > MOST_AXES || H5Pget_chunk(properties, rank, chunk) != rank
        || memcmp(shape, chunk, sizeof *shape * rank) != 0)
        return -1;
    parameters[count++] = H5Tget_size(type);
    for (int axis = 0; axis < rank; axis++)
        parameters[count++] = shape[axis];
    return H5Pmodify_filter(properties, ID, flags, count, parameters);
}
#endif

static size_t filter(unsigned flags, size_t count, const unsigned parameters[], size_t len,
                     size_t *size, void **buffer)
{
    unsigned char key = count > 0 ? (unsigned char) parameters[0] : 0;
    size_t begin = flags & REVERSE ? sizeof header : 0;
    size_t changed_len = flags & REVERSE ? len - sizeof header : len + sizeof header;
    unsigned char *changed, *to;
    if (begin > len || (begin > 0 && memcmp(*buffer, header, sizeof header) != 0))
        return 0;
    changed = to = malloc(changed_len);
    if (changed == NULL)
        return 0;
    if (begin == 0) {
        memcpy(to, header, sizeof header);
        to += sizeof header;
    }
    for (size_t i = begin; i < len; i++)
        *to++ = ((unsigned char *) *buffer)[i] ^ key;
    free(*buffer);
    *buffer = changed;
    *size = changed_len;
    return changed_len;
}

static const class_t class = {
    1, ID, 1, 1, "test",
#ifdef SET_LOCAL
    can_apply, set_local,
#else
    NULL, NULL,
#endif
    filter,
};

int H5PLget_plugin_type(void)
{
    return 0;
}

const void *H5PLget_plugin_info(void)
{
    return &class;
}
