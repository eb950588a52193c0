//! Gives the library the name by which the dynamic linker knows netCDF-C 4.9.3 and later.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetcdf.so.22");
}
