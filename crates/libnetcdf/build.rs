//! Gives the library the name by which the dynamic linker knows netCDF-C 4.9.3 and later. Once loaded it stays:
//! its threads and what it does at the end of the program outlive a `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetcdf.so.22");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
