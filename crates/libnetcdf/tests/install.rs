//! The library as `make install-capi` leaves it: programs find it by every road, and run on it.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{is_there, library, run, run_program, scratch};

/// Defines a dimension, and asks for it in the file that is there then.
const PROGRAM: &str = r#"
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_mem.h>
#include <netcdf_meta.h>
#include <stdio.h>

#define CHECK(call) do { int status = (call); if (status) { \
    fprintf(stderr, "%s: %d\n", #call, status); return 1; } } while (0)

int main(int count, char **arguments)
{
    int file, dimension;
    size_t length = 0;
    const char *path = count > 1 ? arguments[1] : "program.nc";
    CHECK(nc_create(path, NC_NETCDF4, &file));
    CHECK(nc_def_dim(file, "x", 42, &dimension));
    CHECK(nc_close(file));
    CHECK(nc_open(path, NC_NOWRITE, &file));
    CHECK(nc_inq_dimid(file, "x", &dimension));
    CHECK(nc_inq_dimlen(file, dimension, &length));
    CHECK(nc_close(file));
    printf("%zu of %s\n", length, NC_VERSION);
    return 0;
}
"#;

const SAYS: &str = "42 of 4.10.0\n";

/// The library under a prefix of its own.
fn install(name: &str) -> PathBuf {
    let prefix = scratch(name).join("prefix");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/install-capi");
    run(Command::new(script)
        .arg(library())
        .arg(&prefix)
        .env_remove("DESTDIR")
        .env_remove("LIBDIR"));
    prefix
}

fn write_program(prefix: &Path) -> PathBuf {
    let file = prefix.with_file_name("program.c");
    std::fs::write(&file, PROGRAM).expect("the scratch folder can be written");
    file
}

/// Compiles the program with flags as a configuration program prints them, and runs it.
fn compile_and_run(prefix: &Path, flags: &str) -> String {
    let source = write_program(prefix);
    let program = prefix.with_file_name("program");
    let mut compiler = Command::new("cc");
    compiler.arg(source).args(flags.split_whitespace()).arg("-o").arg(&program);
    run(&mut compiler);
    run_installed(prefix, &program)
}

/// Runs a program on the installed library.
fn run_installed(prefix: &Path, program: &Path) -> String {
    let file = prefix.with_file_name("program.nc");
    run(Command::new(program).arg(file).env("LD_LIBRARY_PATH", prefix.join("lib")))
}

#[test]
fn names_of_the_library_are_one_file() {
    let libraries = install("install_names").join("lib");
    let real = |name: &str| std::fs::canonicalize(libraries.join(name)).expect("it is installed");
    let version = concat!("libnetcdf.so.22.", env!("CARGO_PKG_VERSION"));
    for name in ["libnetcdf.so", "libnetcdf.so.19", "libnetcdf.so.22"] {
        assert_eq!(real(name).file_name().and_then(|name| name.to_str()), Some(version));
    }
    if is_there("readelf") {
        let dynamic = run_program("readelf", &[Path::new("-d"), &real("libnetcdf.so")]);
        assert!(dynamic.contains("soname: [libnetcdf.so.22]"), "{dynamic}");
        assert!(dynamic.contains("NODELETE"), "{dynamic}");
    }
}

#[test]
fn pkg_config_leads_to_it() {
    if !is_there("pkg-config") || !is_there("cc") {
        return;
    }
    let prefix = install("install_pkg_config");
    let ask = |what: &[&str]| {
        let mut program = Command::new("pkg-config");
        program.env("PKG_CONFIG_LIBDIR", prefix.join("lib/pkgconfig")).args(what).arg("netcdf");
        run(&mut program)
    };
    assert_eq!(ask(&["--modversion"]), "4.10.0\n");
    assert_eq!(compile_and_run(&prefix, &ask(&["--cflags", "--libs"])), SAYS);
}

#[test]
fn nc_config_leads_to_it() {
    if !is_there("cc") {
        return;
    }
    let prefix = install("install_nc_config");
    let program = prefix.join("bin/nc-config");
    let ask = |options: &[&str]| run_program(&program, options);
    let flags = ask(&["--cflags", "--libs"]);
    assert_eq!(flags, format!("-I{0}/include\n-L{0}/lib -lnetcdf\n", prefix.display()));
    assert_eq!(compile_and_run(&prefix, &flags), SAYS);
    for (option, answer) in [
        ("--version", "netCDF 4.10.0\n"),
        ("--has-nc2", "yes\n"),
        ("--has-nc4", "yes\n"),
        ("--has-hdf5", "yes\n"),
        ("--has-dap", "no\n"),
        ("--has-parallel", "no\n"),
        ("--has-stdfilters", "bz2 deflate szip blosc zstd\n"),
    ] {
        assert_eq!(ask(&[option]), answer, "{option}");
    }
    assert_eq!(ask(&["--libs", "--static"]), ask(&["--libs"]));
    let unknown = Command::new(&program).arg("--nothing").output().expect("it can be run");
    assert_eq!(unknown.status.code(), Some(1));
}

/// A library of another language, which names libnetcdf as Debian's do, runs on ours where a program is linked with
/// the flags told for that language, whatever else is on the linker's path.
#[test]
fn programs_of_other_languages_run_on_it() {
    if !is_there("cc") {
        return;
    }
    let prefix = install("install_nc_config_languages");
    let folder = prefix.with_file_name("languages");
    std::fs::create_dir_all(&folder).expect("the scratch folder can be written");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the scratch folder can be written");
        path
    };
    // It wants libnetcdf.so.19, as libnetcdff does.
    let older = write("older.c", "const char *nc_inq_libvers(void) { return \"another\"; }");
    let stub = folder.join("libnetcdf.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wl,-soname,libnetcdf.so.19"]).arg(older);
    run(compiler.arg("-o").arg(&stub));
    let source =
        "const char *nc_inq_libvers(void); const char *told(void) { return nc_inq_libvers(); }";
    let language = write("language.c", source);
    let search = format!("-L{}", folder.display());
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC"]).arg(language).arg("-o").arg(folder.join("liblanguage.so"));
    run(compiler.args([&search, "-lnetcdf"]));
    let found = format!("{search} -Wl,-rpath,{} -llanguage -lnetcdf", folder.display());
    for name in ["nf-config", "ncxx-config", "ncxx4-config"] {
        let path = write(name, &format!("#!/bin/sh\necho '{found}'\n"));
        run(Command::new("chmod").arg("755").arg(path));
    }
    let main = write(
        "main.c",
        "#include <stdio.h>\nconst char *told(void);\nint main(void) { puts(told()); }",
    );
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let package = format!(
        "Name: language\nDescription: -\nVersion: 1\nRequires: netcdf\n\
         Libs: {search} -Wl,-rpath,{} -llanguage\n",
        folder.display()
    );
    write("language.pc", &package);
    let packages = format!("{}:{}", folder.display(), prefix.join("lib/pkgconfig").display());
    for option in ["--flibs", "--cxxlibs", "--cxx4libs", "language"] {
        let flags = match option.strip_prefix("--") {
            Some(_) => {
                let mut config = Command::new(prefix.join("bin/nc-config"));
                run(config.arg(option).env("PATH", &path))
            }
            None if is_there("pkg-config") => {
                let mut config = Command::new("pkg-config");
                run(config.args(["--libs", option]).env("PKG_CONFIG_LIBDIR", &packages))
            }
            None => continue,
        };
        let program = folder.join("program");
        let mut compiler = Command::new("cc");
        compiler.arg(&main).args(flags.split_whitespace()).arg("-o").arg(&program);
        run(&mut compiler);
        let said = run(Command::new(&program).env_remove("LD_LIBRARY_PATH"));
        assert!(said.contains("isotach"), "{option}: {flags} {said}");
    }
}

/// Every option that the original knows is answered; other languages are not there more often than with it.
#[test]
fn nc_config_knows_the_options_of_the_original() {
    let original = Path::new("/usr/bin/nc-config");
    if !original.exists() {
        eprintln!("LEFT OUT: libnetcdf-dev is not installed");
        return;
    }
    let prefix = install("install_nc_config_options");
    let help = run_program(original, &["--help"]);
    let options: Vec<_> = help.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let options: Vec<_> = options.into_iter().filter(|word| word.starts_with("--")).collect();
    assert!(options.len() > 20, "{options:?}");
    let ours = prefix.join("bin/nc-config");
    // netCDF-C has the last three since 4.9.1, and a spelling that is not theirs in its help.
    let later = ["--has-quantize", "--libs-ac-syntax", "--build-system"];
    for option in options.iter().chain(&later) {
        run_program(&ours, &[option]);
    }
    let told = |program: &Path| -> Vec<String> {
        let all = run_program(program, &["--all"]);
        let lines = all.lines().filter_map(|line| line.split_once("->"));
        lines.map(|(option, _)| option.trim().to_owned()).collect()
    };
    let (theirs, ours) = (told(original), told(&ours));
    assert!(theirs.len() > 20, "{theirs:?}");
    let missing: Vec<_> = theirs.iter().filter(|option| !ours.contains(option)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The fields of the original's description of the package, and the variables that it has.
#[test]
fn pkg_config_tells_as_much_as_of_the_original() {
    let original = Path::new("/usr/lib/x86_64-linux-gnu/pkgconfig");
    if !original.join("netcdf.pc").exists() || !is_there("pkg-config") {
        eprintln!("LEFT OUT: libnetcdf-dev is not installed");
        return;
    }
    let ours = install("install_pkg_config_fields").join("lib/pkgconfig");
    let told = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("netcdf.pc")).expect("it is installed");
        let starts = text.lines().filter_map(|line| line.find([':', '=']).map(|end| &line[..=end]));
        starts.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&ours), told(original));
    let ask = |what: &[&str]| {
        let mut program = Command::new("pkg-config");
        run(program.env("PKG_CONFIG_LIBDIR", &ours).args(what).arg("netcdf"))
    };
    // There is no static library that would need others.
    assert_eq!(ask(&["--libs", "--static"]), ask(&["--libs"]));
    assert!(ask(&["--print-requires"]).is_empty() && ask(&["--print-requires-private"]).is_empty());
}

/// What the package for CMake says of itself: the variables of the original's, and the target.
#[test]
fn cmake_is_told_as_much_as_of_the_original() {
    if !Path::new("/usr/lib/x86_64-linux-gnu/cmake/netCDF").exists() || !is_there("cmake") {
        eprintln!("LEFT OUT: libnetcdf-dev or cmake is not installed");
        return;
    }
    let prefix = install("install_cmake_variables");
    let project = prefix.with_file_name("project");
    std::fs::create_dir_all(&project).expect("the scratch folder can be written");
    std::fs::write(project.join("CMakeLists.txt"), TELL).expect("as above");
    let told = |package: &Path, build: &str| -> BTreeMap<String, String> {
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project).arg("-B").arg(project.join(build));
        let said = run(configure.arg(format!("-DnetCDF_DIR={}", package.display())));
        let lines = said.lines().filter_map(|line| line.strip_prefix("-- told "));
        let pairs = lines.filter_map(|line| line.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let original = told(Path::new("/usr/lib/x86_64-linux-gnu/cmake/netCDF"), "original");
    let ours = told(&prefix.join("lib/cmake/netCDF"), "ours");
    assert!(original.len() > 25, "{original:?}");
    let missing: Vec<_> = original.keys().filter(|name| !ours.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let features = |told: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        // No remote files here.
        let all = told.iter().filter(|(name, _)| name.starts_with("netCDF_HAS"));
        let kept = all.filter(|(name, _)| !name.starts_with("netCDF_HAS_DAP"));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    assert_eq!(features(&ours), features(&original));
    assert_eq!(ours["netCDF_LIBRARIES"], original["netCDF_LIBRARIES"]);
    assert_eq!(ours["netCDF_INCLUDE_DIR"], prefix.join("include").display().to_string());
    assert_eq!(ours["type"], "SHARED_LIBRARY");
    assert_eq!(ours["location"], prefix.join("lib/libnetcdf.so.22").display().to_string());
}

/// Says what the package defines.
const TELL: &str = "\
cmake_minimum_required(VERSION 3.10)
project(tell NONE)
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
find_package(netCDF 4.9.0 REQUIRED CONFIG)
get_cmake_property(names VARIABLES)
foreach(name IN LISTS names)
  if(name MATCHES \"^[nN]et[cC][dD][fF]\")
    message(STATUS \"told ${name}=${${name}}\")
  endif()
endforeach()
get_target_property(type netCDF::netcdf TYPE)
get_target_property(location netCDF::netcdf LOCATION)
message(STATUS \"told type=${type}\")
message(STATUS \"told location=${location}\")
";

/// As the original has it: no version is asked for when a program is linked, and none given.
#[test]
fn symbols_have_no_versions() {
    if !is_there("readelf") {
        return;
    }
    let original = Path::new("/usr/lib/x86_64-linux-gnu/libnetcdf.so.19");
    for library in [original.to_owned(), library()].iter().filter(|library| library.exists()) {
        let versions = run_program("readelf", &[Path::new("-V"), library]);
        assert!(versions.contains("Version needs"), "{versions}");
        assert!(!versions.contains("Version definition"), "{versions}");
    }
}

#[test]
fn cmake_finds_it() {
    if !is_there("cmake") || !is_there("cc") {
        return;
    }
    let prefix = install("install_cmake");
    let project = prefix.with_file_name("project");
    std::fs::create_dir_all(&project).expect("the scratch folder can be written");
    let source = write_program(&prefix);
    let lists = format!(
        "cmake_minimum_required(VERSION 3.10)\nproject(program C)\n\
         find_package(netCDF 4.9 REQUIRED CONFIG)\n\
         add_executable(program {})\n\
         target_link_libraries(program netCDF::netcdf)\n",
        source.display()
    );
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("as above");
    let build = project.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(&build);
    run(configure.env("CMAKE_PREFIX_PATH", &prefix));
    let cached = std::fs::read_to_string(build.join("CMakeCache.txt")).expect("it was configured");
    let found = format!("netCDF_DIR:PATH={}/lib/cmake/netCDF", prefix.display());
    assert!(cached.contains(&found), "another netCDF was found");
    run(Command::new("cmake").arg("--build").arg(&build));
    assert_eq!(run_installed(&prefix, &build.join("program")), SAYS);
}
