# ncdf4: defines, writes and reads a file of the format named; prints all that it is told.
library(ncdf4)
form <- commandArgs(trailingOnly = TRUE)[1]
four <- form %in% c("netcdf4", "netcdf4-classic")

lon <- ncdim_def("lon", "degrees_east", seq(0, 300, 60))
lat <- ncdim_def("lat", "degrees_north", seq(-60, 60, 40))
time <- ncdim_def("time", "days since 2000-01-01", 1:3, unlim = TRUE, calendar = "noleap")
letters_of <- ncdim_def("letters", "", 1:8, create_dimvar = FALSE)
variables <- lapply(c("short", "integer", "float", "double", "byte"), function(type) {
    storage <- if (four) list(compression = 4, shuffle = type == "short", chunksizes = c(3, 2, 1))
    given <- list(paste0("v_", type), "K", list(lon, lat, time), if (type != "byte") 99,
                  longname = paste("values of", type), prec = type)
    do.call(ncvar_def, c(given, storage))
})
text <- ncvar_def("text", "", list(letters_of, time), prec = "char")
single <- ncvar_def("single", "1", list(), -1, prec = "double")
bare <- ncvar_def("bare", "m", list(lon), NULL, prec = "float")
file <- nc_create("out.nc", c(variables, list(text, single, bare)), force_v4 = four)

values <- array(seq_len(72) / 2, c(6, 4, 3))
values[2, 2, 2] <- NA
for (variable in variables)
    ncvar_put(file, variable, if (variable$name == "v_byte") round(abs(values)) %% 100 else values,
              start = c(1, 1, 1), count = c(6, 4, 3))
ncvar_put(file, "v_double", c(pi, -pi), start = c(2, 3, 2), count = c(2, 1, 1))
ncvar_put(file, text, c("first", "second", "12345678"))
ncvar_put(file, single, 42.5)
ncvar_put(file, bare, lon$vals)
ncatt_put(file, 0, "title", "made in R")
ncatt_put(file, 0, "numbers", c(1.5, -2, 1e300))
ncatt_put(file, "v_short", "scale_factor", 0.5, prec = "double")
ncatt_put(file, "v_short", "add_offset", 10, prec = "float")
ncatt_put(file, "v_float", "flags", 1:4, prec = "short")
nc_sync(file)
nc_close(file)

file <- nc_open("out.nc", write = TRUE)
print(file)
for (variable in names(file$var)) {
    print(ncvar_get(file, variable), digits = 10)
    print(ncatt_get(file, variable))
}
print(ncatt_get(file, 0))
print(ncvar_get(file, "v_float", start = c(2, 1, 3), count = c(3, -1, 1)))
print(ncvar_get(file, "v_short", raw_datavals = TRUE, collapse_degen = FALSE)[1:10])
print(try(ncvar_get(file, "v_float", start = c(9, 1, 1), count = c(1, 1, 1)), silent = TRUE))
file <- ncvar_rename(file, "bare", "clothed")
file <- ncvar_add(file, ncvar_def("later", "s", list(lat), -5, prec = "integer"))
ncvar_put(file, "later", 11:14)
nc_redef(file)
ncatt_put(file, "later", "note", "added later", definemode = TRUE)
nc_enddef(file)
print(ncvar_get(file, "later"))
print(ncatt_get(file, "later", "note"))
nc_close(file)
