# RNetCDF: defines, writes and reads a file of the format named; prints all that it is told.
library(RNetCDF)
form <- commandArgs(trailingOnly = TRUE)[1]
formats <- c("classic" = "classic", "64bit-offset" = "offset64", "64bit-data" = "data64",
             "netcdf4" = "netcdf4", "netcdf4-classic" = "classic4")
four <- form %in% c("netcdf4", "netcdf4-classic")
types <- c("NC_BYTE", "NC_SHORT", "NC_INT", "NC_FLOAT", "NC_DOUBLE")
if (form %in% c("64bit-data", "netcdf4"))
    types <- c(types, "NC_UBYTE", "NC_USHORT", "NC_UINT", "NC_INT64", "NC_UINT64")

file <- create.nc("out.nc", format = formats[[form]], prefill = FALSE)
dim.def.nc(file, "time", unlim = TRUE)
dim.def.nc(file, "x", 6)
dim.def.nc(file, "y", 4)
dim.def.nc(file, "letters", 8)
for (type in types) {
    name <- paste0("v_", type)
    if (four) {
        var.def.nc(file, name, type, c("x", "y"), chunking = TRUE, chunksizes = c(3, 2), deflate = 3,
                   shuffle = TRUE, fletcher32 = type == "NC_INT")
    } else {
        var.def.nc(file, name, type, c("x", "y"))
    }
    var.def.nc(file, paste0("r_", type), type, c("x", "time"))
    att.put.nc(file, name, "missing_value", type, 7)
    att.put.nc(file, name, "three", type, 1:3)
}
var.def.nc(file, "text", "NC_CHAR", c("letters", "time"))
var.def.nc(file, "scalar", "NC_DOUBLE", NA)
att.put.nc(file, "NC_GLOBAL", "title", "NC_CHAR", "made in R: \u00e4")
att.put.nc(file, "v_NC_SHORT", "scale_factor", "NC_DOUBLE", 0.5)
if (form == "netcdf4") {
    var.def.nc(file, "string", "NC_STRING", "y")
    group <- grp.def.nc(file, "inner")
    rows <- type.def.nc(group, "rows", "vlen", basetype = "NC_INT")
    colour <- type.def.nc(group, "colour", "enum", basetype = "NC_BYTE", names = c("red", "green"),
                          values = c(1, 5))
    blob <- type.def.nc(group, "blob", "opaque", size = 4)
    pair <- type.def.nc(group, "pair", "compound", names = c("count", "weights"),
                        subtypes = c("NC_INT", "NC_DOUBLE"), dimsizes = list(NULL, 2))
    for (type in c("rows", "colour", "blob", "pair")) var.def.nc(group, paste0("v_", type), type, "y")
}

values <- matrix(1:24, 6)
for (type in types) {
    var.put.nc(file, paste0("v_", type), values)
    var.put.nc(file, paste0("v_", type), c(7, 99), start = c(2, 3), count = c(2, 1))
    for (step in 1:3)
        var.put.nc(file, paste0("r_", type), values[, step] * step, start = c(1, step), count = c(6, 1))
    print(try(silent = TRUE, var.put.nc(file, paste0("v_", type), 1e30, start = c(1, 1), count = c(1, 1))))
}
var.put.nc(file, "text", c("first", "second", "12345678"))
var.put.nc(file, "scalar", pi)
var.put.nc(file, "v_NC_SHORT", values / 4, pack = TRUE)
if (form == "netcdf4") {
    var.put.nc(file, "string", c("one", "", "three", "\u00fc"))
    var.put.nc(group, "v_rows", list(1:3, 4L, 5L, 6:7))
    var.put.nc(group, "v_colour", factor(c("red", "green", "green", "red")))
    var.put.nc(group, "v_blob", matrix(as.raw(1:16), 4))
    var.put.nc(group, "v_pair", list(count = 1:4, weights = matrix(1:8 / 2, 2)))
}
sync.nc(file)
close.nc(file)

file <- open.nc("out.nc")
print.nc(file)
print(read.nc(file, recursive = TRUE, unpack = TRUE), digits = 10)
for (type in types) {
    name <- paste0("v_", type)
    print(var.inq.nc(file, name))
    print(att.inq.nc(file, name, "three"))
    print(att.get.nc(file, name, "three"))
    print(var.get.nc(file, name, na.mode = 1, start = c(2, 2), count = c(3, NA), collapse = FALSE))
    print(try(var.get.nc(file, name, start = c(7, 1), count = c(1, 1)), silent = TRUE))
}
if (form == "netcdf4") {
    group <- grp.inq.nc(file, "inner")$self
    print(grp.inq.nc(group)[c("name", "fullname", "ngrps", "typeids", "varids")])
    for (type in c("rows", "colour", "blob", "pair")) print(type.inq.nc(group, type, fields = TRUE))
}
close.nc(file)

file <- open.nc("out.nc", write = TRUE)
# The original can no longer close a netCDF-4 file after this.
if (!four) {
    var.rename.nc(file, "scalar", "number")
    dim.rename.nc(file, "y", "rows_of_v")
}
att.rename.nc(file, "v_NC_INT", "three", "drei")
att.copy.nc(file, "v_NC_INT", "drei", file, "NC_GLOBAL")
att.delete.nc(file, "v_NC_FLOAT", "three")
print(file.inq.nc(file)[c("ndims", "nvars", "ngatts", "unlimdimid", "format")])
print(dim.inq.nc(file, "time"))
close.nc(file)
