/* What netCDF-C 4.9.1 to 4.10 added to its headers: each function with its parameters, each constant
 * with its value, each structure. It compiles only where ours declare the same. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_aux.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <netcdf_meta.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <string.h>

typedef struct NCPluginList List;

static int (*const plugin_path_ndirs)(size_t *) = nc_plugin_path_ndirs;
static int (*const plugin_path_get)(NCPluginList *) = nc_plugin_path_get;
static int (*const plugin_path_set)(NCPluginList *) = nc_plugin_path_set;
static char *(*const rc_get)(const char *) = nc_rc_get;
static int (*const rc_set)(const char *, const char *) = nc_rc_set;
static int (*const set_meta_block_size)(size_t) = nc_set_meta_block_size;
static int (*const get_meta_block_size)(size_t *) = nc_get_meta_block_size;

static int (*const create_par)(const char *, int, MPI_Comm, MPI_Info, int *) = nc_create_par;
static int (*const open_par)(const char *, int, MPI_Comm, MPI_Info, int *) = nc_open_par;
static int (*const create_par_fortran)(const char *, int, int, int, int *) = nc_create_par_fortran;
static int (*const open_par_fortran)(const char *, int, int, int, int *) = nc_open_par_fortran;
static int (*const var_par_access)(int, int, int) = nc_var_par_access;

static int (*const copy_data)(int, int, void *, size_t, void *) = ncaux_copy_data;
static int (*const copy_data_all)(int, int, void *, size_t, void **) = ncaux_copy_data_all;
static int (*const dump_data)(int, nc_type, void *, size_t, char **) = ncaux_dump_data;
static int (*const inq_any_type)(int, nc_type, char *, size_t *, nc_type *, size_t *, int *) =
    ncaux_inq_any_type;
static int (*const parse_provenance)(const char *, char ***) = ncaux_parse_provenance;
static int (*const path_append)(List *, const char *) = ncaux_plugin_path_append;
static int (*const path_prepend)(List *, const char *) = ncaux_plugin_path_prepend;
static int (*const path_clear)(List *) = ncaux_plugin_path_clear;
static int (*const path_reclaim)(List *) = ncaux_plugin_path_reclaim;
static int (*const path_parse)(const char *, char, List *) = ncaux_plugin_path_parse;
static int (*const path_parsen)(size_t, const char *, char, List *) = ncaux_plugin_path_parsen;
static int (*const path_tostring)(const List *, char, char **) = ncaux_plugin_path_tostring;
static int (*const path_stringlen)(void) = ncaux_plugin_path_stringlen;
static int (*const path_stringget)(int, char *) = ncaux_plugin_path_stringget;
static int (*const path_stringset)(int, const char *) = ncaux_plugin_path_stringset;

#define SAME(name, value) _Static_assert((name) == (value), #name)

SAME(NC_UDF2, 0x10000);
SAME(NC_UDF3, 0x80000);
SAME(NC_UDF4, 0x100000);
SAME(NC_UDF5, 0x200000);
SAME(NC_UDF6, 0x400000);
SAME(NC_UDF7, 0x800000);
SAME(NC_UDF8, 0x1000000);
SAME(NC_UDF9, 0x2000000);
SAME(NC_MAX_UDF_FORMATS, 10);
SAME(NC_FORMATX_NCZARR, 10);
SAME(NC_FORMATX_ZARR, NC_FORMATX_NCZARR);
SAME(NC_FORMATX_UDF2, 11);
SAME(NC_FORMATX_UDF3, 12);
SAME(NC_FORMATX_UDF4, 13);
SAME(NC_FORMATX_UDF5, 14);
SAME(NC_FORMATX_UDF6, 15);
SAME(NC_FORMATX_UDF7, 16);
SAME(NC_FORMATX_UDF8, 17);
SAME(NC_FORMATX_UDF9, 18);
SAME(NC_FORMAT_ALL, 0x3f913e0);
SAME(NC_ENOTZARR, -143);
SAME(NC_EZARRMETA, -144);
SAME(NC4_LAST_ERROR, -144);
SAME(NC_VERSION_MAJOR, 4);
SAME(NC_VERSION_MINOR, 10);
SAME(NC_HAS_BZ2, 1);
SAME(NC_HAS_BLOSC, 1);
SAME(NC_INDEPENDENT, 0);
SAME(NC_COLLECTIVE, 1);
SAME(offsetof(List, ndirs), 0);
SAME(offsetof(List, dirs), sizeof(size_t));
SAME(sizeof(NCPluginList), 2 * sizeof(size_t));

int main(void)
{
    const void *const functions[] = {
        (const void *)plugin_path_ndirs, (const void *)plugin_path_get,
        (const void *)plugin_path_set, (const void *)rc_get, (const void *)rc_set,
        (const void *)set_meta_block_size, (const void *)get_meta_block_size,
        (const void *)create_par, (const void *)open_par, (const void *)create_par_fortran,
        (const void *)open_par_fortran, (const void *)var_par_access, (const void *)copy_data,
        (const void *)copy_data_all, (const void *)dump_data, (const void *)inq_any_type,
        (const void *)parse_provenance, (const void *)path_append, (const void *)path_prepend,
        (const void *)path_clear, (const void *)path_reclaim, (const void *)path_parse,
        (const void *)path_parsen, (const void *)path_tostring, (const void *)path_stringlen,
        (const void *)path_stringget, (const void *)path_stringset,
    };
    if (strcmp(NC_FillValue, "_FillValue") || strcmp(NC_UNDEFINED_ENUM_IDENT, "_UNDEFINED")) return 1;
    printf("%zu\n", sizeof functions / sizeof *functions);
    return 0;
}
