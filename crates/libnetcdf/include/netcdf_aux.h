/* Help with user-defined types, descriptions of filters, directories. Include netcdf.h first. */
#ifndef NCAUX_H
#define NCAUX_H

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- Values of any type: as nc_reclaim_data, nc_copy_data, nc_dump_data ---- */

EXTERNL int ncaux_reclaim_data(int ncid, int xtype, void *memory, size_t count);
EXTERNL int ncaux_reclaim_data_all(int ncid, int xtype, void *memory, size_t count);
EXTERNL int ncaux_copy_data(int ncid, int xtype, void *memory, size_t count, void *copy);
EXTERNL int ncaux_copy_data_all(int ncid, int xtype, void *memory, size_t count, void **copyp);
EXTERNL int ncaux_dump_data(int ncid, nc_type xtypeid, void *memory, size_t count, char **buf);

/* As nc_inq_user_type, for every type. */
EXTERNL int ncaux_inq_any_type(int ncid, nc_type xtype, char *name, size_t *size,
        nc_type *basetypep, size_t *nfieldsp, int *classp);

/* ---- Compound types whose fields lie as the C compiler lays them, or close together ---- */

#define NCAUX_ALIGN_C 0
#define NCAUX_ALIGN_UNIFORM 1

EXTERNL int ncaux_type_alignment(int xtype, int ncid, size_t *alignp);
EXTERNL int ncaux_class_alignment(int ncclass, size_t *alignp);
EXTERNL int ncaux_begin_compound(int ncid, const char *name, int alignmode, void **tag);
EXTERNL int ncaux_add_field(void *tag, const char *name, nc_type field_type, int ndims,
        const int *dimsizes);
EXTERNL int ncaux_end_compound(void *tag, nc_type *xtypeid);
EXTERNL int ncaux_abort_compound(void *tag);

/* ---- Filters as text: "32015,3" or "[0]1,2|307,9" ---- */

typedef struct NC_H5_Filterspec {
    unsigned int filterid;
    size_t nparams;
    unsigned int *params;
} NC_H5_Filterspec;

EXTERNL int ncaux_h5filterspec_parse(const char *txt, unsigned int *idp, size_t *nparamsp,
        unsigned int **paramsp);
EXTERNL int ncaux_h5filterspec_parselist(const char *txt0, int *formatp, size_t *nspecsp,
        struct NC_H5_Filterspec ***vectorp);
EXTERNL int ncaux_h5filterspec_parse_parameter(const char *txt, size_t *nuiparamsp,
        unsigned int *uiparams);
EXTERNL void ncaux_h5filterspec_free(struct NC_H5_Filterspec *f);
EXTERNL void ncaux_h5filterspec_fix8(unsigned char *mem, int decode);

/* ---- Whole files ---- */

EXTERNL int ncaux_readfile(const char *filename, size_t *sizep, void **content);
EXTERNL int ncaux_writefile(const char *filename, size_t size, void *content);

/* ---- Lists of directories as text, separated by ';' or ':' ---- */

struct NCPluginList;

EXTERNL int ncaux_plugin_path_parse(const char *pathlist, char sep, struct NCPluginList *dirs);
EXTERNL int ncaux_plugin_path_parsen(size_t pathlen, const char *pathlist, char sep,
        struct NCPluginList *dirs);
EXTERNL int ncaux_plugin_path_tostring(const struct NCPluginList *dirs, char sep, char **catp);
EXTERNL int ncaux_plugin_path_clear(struct NCPluginList *dirs);
EXTERNL int ncaux_plugin_path_reclaim(struct NCPluginList *dirs);
EXTERNL int ncaux_plugin_path_append(struct NCPluginList *dirs, const char *dir);
EXTERNL int ncaux_plugin_path_prepend(struct NCPluginList *dirs, const char *dir);

/* nc_plugin_path_get and nc_plugin_path_set for Fortran: one text, separated by ';'. */
EXTERNL int ncaux_plugin_path_stringlen(void);
EXTERNL int ncaux_plugin_path_stringget(int pathlen, char *path);
EXTERNL int ncaux_plugin_path_stringset(int pathlen, const char *path);

/* The pairs of the attribute _NCProperties, and NULL at their end. */
EXTERNL int ncaux_parse_provenance(const char *ncprop, char ***pairsp);

#if defined(__cplusplus)
}
#endif

#endif
