"""Debian's programs, unmodified, on our library by the library path.

What they print and the files they leave are what they give on the original.
"""

import itertools
import re
import shlex
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor

import netCDF4
import numpy as np
import pytest
from capi_programs import CLASSIC, HDF5_FILE, check, differences, magic, need, text_of
from conftest import CORPUS, corpus_files

FORMATS = {
    "classic": "NETCDF3_CLASSIC",
    "64bit-offset": "NETCDF3_64BIT_OFFSET",
    "64bit-data": "NETCDF3_64BIT_DATA",
    "netcdf4": "NETCDF4",
    "netcdf4-classic": "NETCDF4_CLASSIC",
}
#: Each command reads in.nc (and in2.nc, in3.nc: other times and values) and leaves out*. What ncpdq
#: packs of temp keeps a float as its fill value, of which the original gives some bytes as a short.
#: What fails in CDO is left out: its other threads run on while it ends, and it dies of that now
#: and then.
COMMANDS = """
ncdump in.nc
ncdump -h in.nc
ncdump -c -t in.nc
ncdump -s -h in.nc
ncdump -k in.nc
ncdump -x in.nc
ncdump -v temp,lat -p 4,5 -f c in.nc
nccopy in.nc out.nc
nccopy -k classic in.nc out.nc
nccopy -k 64-bit-offset in.nc out.nc
nccopy -k cdf5 in.nc out.nc
nccopy -k nc4 in.nc out.nc
nccopy -k nc7 in.nc out.nc
nccopy -k nc4 -d 2 -s in.nc out.nc
nccopy -k nc4 -u -c time/1,lat/5,lon/7 in.nc out.nc
nccopy -k nc4 -w in.nc out.nc
nccopy -V time,temp in.nc out.nc
nccopy -h 100 -e 10 -m 1000 in.nc out.nc
ncks -h in.nc
ncks -m in.nc
ncks -O -h -v temp in.nc out.nc
ncks -O -h -d time,1,4,2 -d lon,3,20 in.nc out.nc
ncks -O -h -d lat,-30.0,30.0 in.nc out.nc
ncks -O -h -x -v pr in.nc out.nc
ncks -O -h -3 in.nc out.nc
ncks -O -h -4 -L 3 in.nc out.nc
ncks -O -h -4 -L 1 --cnk_dmn time,1 --cnk_dmn lat,6 --cnk_dmn lon,9 in.nc out.nc
ncks -O -h -5 in.nc out.nc
ncks -O -h -6 in.nc out.nc
ncks -O -h -7 --ppc temp=3 in.nc out.nc
ncks -O -h --fix_rec_dmn time in.nc out.nc
ncks -O -h --mk_rec_dmn lat in.nc out.nc
ncks --cdl -m in.nc
ncks --xml in.nc
ncks --json -v lat,time in.nc
ncra -O -h in.nc in2.nc in3.nc out.nc
ncra -O -h -y max -d time,0,,2 in.nc in2.nc out.nc
ncrcat -O -h in.nc in2.nc in3.nc out.nc
ncrcat -O -h -d time,2,9 in.nc in2.nc out.nc
ncrcat -O -h -4 -L 2 in.nc in2.nc out.nc
ncecat -O -h in.nc in2.nc in3.nc out.nc
ncecat -O -h -u member in.nc in2.nc out.nc
nces -O -h in.nc in2.nc in3.nc out.nc
ncwa -O -h -a lat,lon in.nc out.nc
ncwa -O -h -a time -y rms -v temp in.nc out.nc
ncwa -O -h -w weight -a lat in.nc out.nc
ncpdq -O -h -a lon,lat,time -v temp in.nc out.nc
ncpdq -O -h -a -lat in.nc out.nc
ncpdq -O -h -P all_new -v pr,weight in.nc out.nc
ncpdq -O -h -U in.nc out.nc
ncbo -O -h --op_typ=sub in.nc in2.nc out.nc
ncbo -O -h --op_typ=mlt in.nc in2.nc out.nc
ncflint -O -h -w 0.25,0.75 in.nc in2.nc out.nc
ncap2 -O -h -s twice=temp*2.0f in.nc out.nc
ncap2 -O -h -s mean=temp.avg($lat,$lon);where(temp>280)temp=0.0f; in.nc out.nc
ncap2 -O -h -s defdim("z",4);z[$z]={1,2,3,4};cube[$z,$lat]=1.5; in.nc out.nc
ncatted -O -h -a units,temp,m,c,degC -a long,global,c,d,1.5 -a history,global,d,, in.nc out.nc
ncatted -O -h -a units,,a,c,_and_a_much_longer_text in.nc out.nc
ncrename -O -h -v temp,ta -d lat,lines in.nc out.nc
ncrename -O -h -v temp,ta -v lat,lines in.nc out.nc
ncrename -O -h -v temp,ta -d lat,latitude -v lat,latitude in.nc out.nc
ncrename -O -h -a temp@units,unit -a .comment,remark in.nc out.nc
cdo --no_history info in.nc
cdo --no_history sinfo in.nc
cdo --no_history infon in.nc
cdo --no_history griddes in.nc
cdo --no_history showtimestamp in.nc
cdo --no_history outputf,%8.3f -timmean -selname,temp in.nc
cdo --no_history copy in.nc out.nc
cdo --no_history select,name=temp in.nc out.nc
cdo --no_history seltimestep,2/4 in.nc out.nc
cdo --no_history sellonlatbox,0,90,-30,30 in.nc out.nc
cdo --no_history timmean in.nc out.nc
cdo --no_history fldmean in.nc out.nc
cdo --no_history zonmean in.nc out.nc
cdo --no_history remapbil,r18x9 -selname,temp in.nc out.nc
cdo --no_history remapcon,r9x6 -selname,pr in.nc out.nc
cdo --no_history merge -chname,temp,t2 -selname,temp in.nc -selname,pr in.nc out.nc
cdo --no_history mergetime in.nc in2.nc in3.nc out.nc
cdo --no_history cat in.nc in2.nc out.nc
cdo --no_history add in.nc in2.nc out.nc
cdo --no_history -z zip_4 copy in.nc out.nc
cdo --no_history -f nc copy in.nc out.nc
cdo --no_history -f nc2 copy in.nc out.nc
cdo --no_history -f nc4 copy in.nc out.nc
cdo --no_history -f nc4c -z zip copy in.nc out.nc
cdo --no_history -f nc5 copy in.nc out.nc
cdo --no_history -k grid -f nc4 copy in.nc out.nc
cdo --no_history splitname in.nc out
gdalinfo in.nc
gdalinfo -stats NETCDF:in.nc:temp
gdal_translate -q NETCDF:in.nc:temp out.tif
gdal_translate -q -of netCDF NETCDF:in.nc:temp out.nc
gdal_translate -q -of netCDF -co FORMAT=NC4 -co COMPRESS=DEFLATE NETCDF:in.nc:pr out.nc
gdalinfo -mdd all -checksum NETCDF:in.nc:pr
gdalinfo -json -hist NETCDF:in.nc:temp
gdal_translate -q -of netCDF -b 2 -b 5 NETCDF:in.nc:temp out.nc
gdal_translate -q -of netCDF -co FORMAT=NC2 -srcwin 3 4 20 10 NETCDF:in.nc:temp out.nc
gdal_translate -q -of netCDF -co FORMAT=NC4C -co ZLEVEL=6 -ot Float64 NETCDF:in.nc:temp out.nc
gdal_translate -q -unscale -ot Float32 -of netCDF NETCDF:in.nc:pr out.nc
gdalwarp -q -of netCDF -t_srs EPSG:3857 -ts 20 10 NETCDF:in.nc:temp out.nc
gdalmdimtranslate -array temp in.nc out.nc
gdalmdimtranslate -array name=temp,view=[::2,1:9:2,:] in.nc out.nc
gdalmdiminfo in.nc
gdalmdiminfo -array temp -detailed -stats in.nc
""".strip().splitlines()

RENAMED = "ncrename -O -h -v temp,ta -d lat,latitude -v lat,latitude in.nc out.nc"


def make_input(path, form, first):
    """A small model's output: times, a grid, packed and plain numbers, missing values."""
    with netCDF4.Dataset(path, "w", format=form) as file:
        chosen = np.random.default_rng(first)
        sizes = {"time": None, "lat": 18, "lon": 36}
        for name, size in sizes.items():
            file.createDimension(name, size)
        file.setncatts({"title": "made by the tests", "Conventions": "CF-1.8", "version": 3})
        time = file.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2001-01-01", "calendar": "standard"})
        time.standard_name = "time"
        lat = file.createVariable("lat", "f8", ("lat",))
        lat.setncatts({"units": "degrees_north", "standard_name": "latitude"})
        lon = file.createVariable("lon", "f8", ("lon",))
        lon.setncatts({"units": "degrees_east", "standard_name": "longitude"})
        options = {"zlib": True, "shuffle": True} if form.startswith("NETCDF4") else {}
        temp = file.createVariable("temp", "f4", tuple(sizes), fill_value=-999.0, **options)
        temp.setncatts({"units": "K", "long_name": "temperature"})
        pr = file.createVariable("pr", "i2", tuple(sizes), fill_value=-32768)
        pr.setncatts({"units": "mm", "scale_factor": 0.1, "add_offset": 5.0})
        weight = file.createVariable("weight", "f8", ("lat",))
        lat[:] = np.linspace(-85, 85, 18)
        lon[:] = np.arange(36) * 10
        weight[:] = np.cos(np.radians(lat[:]))
        time[:] = np.arange(first, first + 6)
        values = 280 + 20 * chosen.random((6, 18, 36), dtype="f4")
        temp[:] = np.ma.masked_where(values > 299, values)
        pr[:] = 5 + 0.1 * chosen.integers(0, 500, (6, 18, 36))


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Folders with the files that commands read, by format."""
    made = {}
    for name, form in FORMATS.items():
        made[name] = tmp_path_factory.mktemp(name)
        for index, file in enumerate(("in.nc", "in2.nc", "in3.nc")):
            make_input(made[name] / file, form, 6 * index)
    return made


def command_parameters():
    for (number, command), form in itertools.product(enumerate(COMMANDS), FORMATS):
        # Each command on one of the formats, the programs' own ones on those that matter most.
        quick = list(FORMATS)[(number * 3) % 5] == form
        # GDAL does not give CDF-5 to the library.
        if command.startswith("gdal") and form == "64bit-data":
            continue
        # See test_renamed_coordinate.
        if command == RENAMED and form.startswith("netcdf4"):
            continue
        marks = [] if quick else [pytest.mark.long]
        yield pytest.param(command.split(), form, id=f"{form}: {command}", marks=marks)


@pytest.mark.parametrize(("command", "form"), list(command_parameters()))
def test_program(libraries, c_program, inputs, tmp_path, command, form):
    check(libraries, c_program("read"), tmp_path, command, inputs[form])


@pytest.mark.parametrize("form", ["netcdf4", "netcdf4-classic"])
def test_renamed_coordinate(libraries, inputs, tmp_path, form):
    """The original loses the values of a coordinate variable that is renamed with its dimension."""
    need("ncrename")
    made = tmp_path / "made"
    shutil.copytree(inputs[form], made)
    found = {}
    for ours in (False, True):
        done = libraries.run(RENAMED.split(), ours, made)
        assert (done.returncode, done.stderr) == (0, b"")
        with netCDF4.Dataset(made / "out.nc") as file:
            assert file["ta"].dimensions == ("time", "latitude", "lon")
            assert file["latitude"].dimensions == ("latitude",)
            found[ours] = file["latitude"][:]
    assert found[False].mask.all()
    np.testing.assert_array_equal(found[True], np.linspace(-85, 85, 18))


KINDS = ["classic", "64-bit offset", "netCDF-4", "netCDF-4 classic model", "5"]


#: CDL of which ncgen makes something else with ours, by name, and why.
NCGEN_DIFFERENCES = {
    "bzip2|filtered|ref_multi|ref_nccopyF|ref_ncgenF": "bzip2 is built in, the original has none",
    "test10_2": "the hash of many values counts the bytes between members, which are nobody's",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_ncgen(libraries, c_program, tmp_path, kind):
    """Every CDL of the corpus that ncgen takes."""
    need("ncgen")
    sources = sorted(CORPUS.rglob("*.cdl"))
    if not sources:
        pytest.skip(f"LEFT OUT: there is no corpus at {CORPUS}")
    found = []
    for number, source in enumerate(sources):
        made = tmp_path / str(number) / "made"
        made.mkdir(parents=True)
        shutil.copy(source, made / "in.cdl")
        # Those of 4 GB are left without fill values, so that the files have gaps in their place.
        without_fill = ["-x"] if re.search("big[fr]", source.name) else []
        command = ["ncgen", *without_fill, "-k", kind, "-o", "out.nc", "in.cdl"]
        try:
            check(libraries, c_program("read"), made.parent, command, made)
        except AssertionError as error:
            if any(re.search(names, source.name) for names in NCGEN_DIFFERENCES):
                continue
            found.append(f"{source.relative_to(CORPUS)}: {str(error)[:800]}")
        finally:
            shutil.rmtree(made.parent)
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def told_alike(libraries, c_program, tmp_path_factory):
    """What both libraries tell of files of the corpus, where that is the same: so do programs then.

    Of the others test_calls.py says how they differ, and that ours tells them as 4.10 does.
    """
    if not CORPUS.is_dir():
        pytest.skip(f"LEFT OUT: there is no corpus at {CORPUS}")
    reader, folder = c_program("read"), tmp_path_factory.mktemp("told")

    def what_is_told(file):
        theirs, ours = (libraries.run([reader, file], which, folder) for which in (False, True))
        lines = text_of(theirs.stdout)
        alike = theirs.returncode == ours.returncode == 0
        return lines if alike and not differences(lines, text_of(ours.stdout)) else None

    files = list(corpus_files("classic", "netcdf4", "hdf5"))
    with ThreadPoolExecutor() as pool:
        told = dict(zip(files, pool.map(what_is_told, files), strict=True))
    return {file: lines for file, lines in told.items() if lines is not None}


#: Files of a few kilobytes whose values would be gigabytes, written one by one.
LARGE = {
    "hdf5-1.10.8/bounds_sel_latest_latest.h5": "17 GB",
    "hdf5-1.14.5/tbigdims.h5": "4 GB",
}
ON_CORPUS = ["ncdump", "ncdump -s -h", "nccopy", "ncks -h", "cdo -s sinfo", "gdalinfo"]
#: What programs tell otherwise of files that the libraries tell alike: program, files, why.
CORPUS_DIFFERENCES = [
    (
        "ncdump|ncks|nccopy",
        "f03tst_open_mem",
        "values that were never written: what was in memory, and zeros",
    ),
    ("ncdump -s", "netcdf-rust/", "the original prints memory for _NCProperties that are no chars"),
]


def is_given_to_library(command, file):
    """CDO looks at how a file begins, behind which HDF5 may stand; GDAL reads no CDF-5."""
    if command.startswith("cdo"):
        return magic(file) in (*CLASSIC, HDF5_FILE)
    return not (command == "gdalinfo" and magic(file) == CLASSIC[2])


def why_left_out(command, file, told_alike):
    """Why a program's outcome on a file of the corpus is not compared; None where it is."""
    name = str(file.relative_to(CORPUS))
    if name in LARGE and command in ("ncdump", "nccopy", "ncks -h"):
        return f"holds {LARGE[name]}"
    if file not in told_alike:
        return "is told otherwise by the original"
    if command.startswith("cdo"):
        root = "\n".join(told_alike[file]).split("\ngroup ")[1]
        ids = re.findall(r"^ dimension (\d+) ", root, re.MULTILINE)
        if ids != [str(id_) for id_ in range(len(ids))]:
            return "has dimensions whose numbers lead CDO to memory that is not its own"
    return None


@pytest.mark.parametrize("command", ON_CORPUS)
@pytest.mark.parametrize("flavour", ["classic", "netcdf4", "hdf5"])
@pytest.mark.long
def test_program_on_corpus(libraries, c_program, told_alike, tmp_path, command, flavour):
    found, compared, left_out = [], 0, {}
    for number, file in enumerate(corpus_files(flavour)):
        name = str(file.relative_to(CORPUS))
        if reason := why_left_out(command, file, told_alike):
            left_out.setdefault(reason, []).append(name)
            continue
        folder = tmp_path / str(number)
        made = folder / "made"
        made.mkdir(parents=True)
        (made / "in.nc").symlink_to(file)
        arguments = [*command.split(), "in.nc", *(["out.nc"] if command == "nccopy" else [])]
        opens = is_given_to_library(command, file)
        try:
            check(libraries, c_program("read"), folder, arguments, made, opens)
        except AssertionError as error:
            if not any(
                re.search(program, command) and re.search(files, name)
                for program, files, _ in CORPUS_DIFFERENCES
            ):
                found.append(f"{name}: {str(error)[:800]}")
        shutil.rmtree(folder)
        compared += 1
    for reason, names in left_out.items():
        text = f"{len(names)} files, such as {names[0]}, each of which {reason}"
        warnings.warn(f"LEFT OUT: {command} of {text}; {compared} are compared", stacklevel=1)
    assert not found, "\n".join(found)


def test_gdal_there_and_back(libraries, c_program, inputs, tmp_path):
    """A raster of another format as netCDF, and that as the other format again."""
    for number, form in enumerate(("NC", "NC2", "NC4", "NC4C")):
        made = tmp_path / form
        shutil.copytree(inputs["classic"], made)
        need("gdal_translate")
        first = ["gdal_translate", "-q", "NETCDF:in.nc:temp", "raster.tif"]
        assert libraries.run(first, False, made).returncode == 0
        options = ["-co", f"FORMAT={form}", "-co", "WRITE_GDAL_TAGS=YES"]
        script = [
            ["gdal_translate", "-q", "-of", "netCDF", *options, "raster.tif", "out.nc"],
            ["gdal_translate", "-q", "-of", "GTiff", "out.nc", f"out{number}.tif"],
            ["gdalinfo", "-checksum", f"out{number}.tif"],
        ]
        command = ["sh", "-ec", "\n".join(map(shlex.join, script))]
        check(libraries, c_program("read"), tmp_path / f"{form} on both", command, made)


#: Waits until a map of many colours is on the screen and nothing moves any more. What begins the
#: screen are times.
NCVIEW = """
ncview one.nc & viewer=$!
still=0
for second in $(seq 90); do
    sleep 1
    tail -c +110 Xvfb_screen0 >next
    colours=$(od -An -v -w4 -tx4 next | sort -u | wc -l)
    if test $colours -gt 50 && cmp -s next out; then still=$((still + 1)); else still=0; fi
    mv next out
    if test $still -eq 3; then break; fi
done
exec 2>/dev/null
kill $viewer
wait $viewer
"""


def with_one_variable(libraries, inputs, folder):
    need("ncview")
    need("nccopy")
    shutil.copytree(inputs["netcdf4"], folder)
    command = ["nccopy", "-V", "time,lat,lon,temp", "in.nc", "one.nc"]
    assert libraries.run(command, False, folder).returncode == 0
    return folder


def test_ncview_without_display(libraries, c_program, inputs, tmp_path):
    """It says that there is no display, and ends, before it opens the file."""
    made = with_one_variable(libraries, inputs, tmp_path / "made")
    command = ["env", "-u", "DISPLAY", "ncview", "one.nc"]
    check(libraries, c_program("read"), tmp_path, command, made, opens=False)


@pytest.mark.long
def test_ncview_on_display(libraries, c_program, inputs, tmp_path):
    """The map of the first variable is on the screen, the same to the last pixel."""
    need("xvfb-run")
    made = with_one_variable(libraries, inputs, tmp_path / "made")
    # Each has a number of its own, as `xvfb-run -a` gives two that start at once the same.
    screen = 'exec xvfb-run -n $(($$ % 50000 + 100)) -s "-screen 0 1024x768x24 -fbdir ." sh -c "$1"'
    command = ["sh", "-c", screen, "sh", NCVIEW]
    check(libraries, c_program("read"), tmp_path, command, made)
    pixels = (tmp_path / "ours" / "out").read_bytes()
    assert len({pixels[i : i + 3] for i in range(0, len(pixels) - 3, 4)}) > 50, "no map is seen"
