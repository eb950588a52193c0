/* Filters of HDF5 by their registered numbers. Include netcdf.h first. */
#ifndef NETCDF_FILTER_H
#define NETCDF_FILTER_H 1

/* As hdf5.h has them, which may come first. */
#ifndef H5Z_FILTER_DEFLATE
#define H5Z_FILTER_DEFLATE 1
#define H5Z_FILTER_SHUFFLE 2
#define H5Z_FILTER_FLETCHER32 3
#endif
#ifndef H5Z_FILTER_SZIP
#define H5Z_FILTER_SZIP 4
#define H5_SZIP_ALLOW_K13_OPTION_MASK 1
#define H5_SZIP_CHIP_OPTION_MASK 2
#define H5_SZIP_EC_OPTION_MASK 4
#define H5_SZIP_LSB_OPTION_MASK 8
#define H5_SZIP_MSB_OPTION_MASK 16
#define H5_SZIP_NN_OPTION_MASK 32
#define H5_SZIP_MAX_PIXELS_PER_BLOCK 32
#define H5_SZIP_RAW_OPTION_MASK 128
#endif
#define H5_SZIP_ALL_MASKS                                                                          \
    (H5_SZIP_CHIP_OPTION_MASK | H5_SZIP_EC_OPTION_MASK | H5_SZIP_NN_OPTION_MASK)
#define NC_MAX_PIXELS_PER_BLOCK 32

#ifndef H5Z_FILTER_BZIP2
#define H5Z_FILTER_BZIP2 307
#endif
#ifndef H5Z_FILTER_ZSTD
#define H5Z_FILTER_ZSTD 32015
#endif
#ifndef H5Z_FILTER_BLOSC
#define H5Z_FILTER_BLOSC 32001
#endif

/* As blosc.h has them, which may come first. */
#ifndef BLOSC_SHUFFLE
enum BLOSC_SHUFFLE { BLOSC_NOSHUFFLE = 0, BLOSC_SHUFFLE = 1, BLOSC_BITSHUFFLE = 2 };
#endif
#ifndef BLOSC_BLOSCLZ
enum BLOSC_SUBCOMPRESSORS {
    BLOSC_LZ = 0,
    BLOSC_LZ4 = 1,
    BLOSC_LZ4HC = 2,
    BLOSC_SNAPPY = 3,
    BLOSC_ZLIB = 4,
    BLOSC_ZSTD = 5
};
#endif

#if defined(__cplusplus)
extern "C" {
#endif

EXTERNL int nc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams,
        const unsigned int *parms);
/* The first filter of a variable; then all of them, and one of them. */
EXTERNL int nc_inq_var_filter(int ncid, int varid, unsigned int *idp, size_t *nparams,
        unsigned int *params);
EXTERNL int nc_inq_var_filter_ids(int ncid, int varid, size_t *nfilters, unsigned int *filterids);
EXTERNL int nc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t *nparams,
        unsigned int *params);
EXTERNL int nc_inq_filter_avail(int ncid, unsigned id);

EXTERNL int nc_def_var_bzip2(int ncid, int varid, int level);
EXTERNL int nc_inq_var_bzip2(int ncid, int varid, int *hasfilterp, int *levelp);
EXTERNL int nc_def_var_zstandard(int ncid, int varid, int level);
EXTERNL int nc_inq_var_zstandard(int ncid, int varid, int *hasfilterp, int *levelp);
EXTERNL int nc_def_var_blosc(int ncid, int varid, unsigned subcompressor, unsigned level,
        unsigned blocksize, unsigned addshuffle);
EXTERNL int nc_inq_var_blosc(int ncid, int varid, int *hasfilterp, unsigned *subcompressorp,
        unsigned *levelp, unsigned *blocksizep, unsigned *addshufflep);

/* Directories with plugins. */
typedef struct NCPluginList {
    size_t ndirs;
    char **dirs;
} NCPluginList;

/* The directories where plugins are looked for: at first those of HDF5_PLUGIN_PATH. */
EXTERNL int nc_plugin_path_ndirs(size_t *ndirsp);
/* Where `dirs->dirs` is NULL it is allocated; the caller frees it and every directory. */
EXTERNL int nc_plugin_path_get(NCPluginList *dirs);
EXTERNL int nc_plugin_path_set(NCPluginList *dirs);

#if defined(__cplusplus)
}
#endif

#endif
