/* A filter with HDF5's plugin interface, written for the tests: each byte XORed with the first
   parameter, behind a header of four bytes, in a buffer of its own. */

#include <stdlib.h>
#include <string.h>

#define REVERSE 0x0100

typedef struct {
    int version;
    int id;
    unsigned encoder_present;
    unsigned decoder_present;
    const char *name;
    int (*can_apply)(long, long, long);
    int (*set_local)(long, long, long);
    size_t (*filter)(unsigned, size_t, const unsigned[], size_t, size_t *, void **);
} class_t;

static const char header[4] = {'t', 'e', 's', 't'};

#ifdef SET_LOCAL
static int set_local(long properties, long type, long space)
{
    abort(); /* There are no ids of libhdf5 to call this with. */
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
    NULL,
#ifdef SET_LOCAL
    set_local,
#else
    NULL,
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
