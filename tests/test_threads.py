"""Many threads, one file or several: values as one thread gets them, and no waiting for ever."""

import concurrent.futures
import faulthandler
import io
import subprocess
import sys
import sysconfig
import threading

import isotach
import netCDF4
import numpy as np
import pytest

THREADS = 8
FILES = 3
VARIABLES = 12
SHAPE = (40, 32, 24)
SMALL_READS = 1_000_000
#: Rounds of each thread over its variables.
ROUNDS = 4


def expected(number, variable):
    values = np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE)
    return values * (variable + 1) + number


@pytest.fixture(autouse=True)
def end_in_time():
    """A deadlock ends the tests with a traceback of all threads."""
    faulthandler.dump_traceback_later(240, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files with deflated, plain and classic variables."""
    folder = tmp_path_factory.mktemp("threads")
    paths = []
    for number in range(FILES):
        path = folder / f"{number}.nc"
        classic = number == FILES - 1
        model = "NETCDF3_64BIT_OFFSET" if classic else "NETCDF4"
        with netCDF4.Dataset(path, "w", format=model) as dataset:
            for name, length in zip("tyx", SHAPE, strict=True):
                dataset.createDimension(name, length)
            for variable in range(VARIABLES):
                filtered = not classic and variable % 2 == 0
                options = {"zlib": True, "chunksizes": (7, 16, 10)} if filtered else {}
                made = dataset.createVariable(f"v{variable}", "f4", tuple("tyx"), **options)
                made.setncatts({"number": number, "units": f"unit {variable}"})
                made[:] = expected(number, variable)
        paths.append(path)
    return paths


def in_threads(work):
    """`work(n)` in threads that all start at once; their results."""
    start = threading.Barrier(THREADS)

    def one(number):
        start.wait()
        return work(number)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def read_much(datasets, seed):
    random = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        for number in random.permutation(len(datasets)):
            for variable in random.permutation(VARIABLES):
                found = datasets[number][f"v{variable}"]
                whole = expected(number, variable)
                t, y, x = (int(random.integers(0, length)) for length in SHAPE)
                np.testing.assert_array_equal(found[t], whole[t])
                np.testing.assert_array_equal(found[:, y, x], whole[:, y, x])
                np.testing.assert_array_equal(found[::-3, [y], x:], whole[::-3, [y], x:])
                assert found.units == f"unit {variable}"
    return True


def test_one_file_for_all(paths):
    with isotach.Dataset(paths[0]) as dataset:
        assert all(in_threads(lambda seed: read_much([dataset], seed)))


def test_several_files_for_all(paths):
    datasets = [isotach.Dataset(path) for path in paths]
    assert all(in_threads(lambda seed: read_much(datasets, seed)))
    for dataset in datasets:
        dataset.close()


def test_files_of_their_own(paths):
    def work(seed):
        for path in paths:
            with isotach.Dataset(path) as dataset:
                assert list(dataset.variables) == [f"v{n}" for n in range(VARIABLES)]
        datasets = [isotach.Dataset(path) for path in paths]
        return read_much(datasets, seed)

    assert all(in_threads(work))


def test_one_file_object_for_all(paths):
    """`seek` and `read` belong together, whoever calls them."""
    with isotach.Dataset(io.BytesIO(paths[0].read_bytes())) as dataset:
        assert all(in_threads(lambda seed: read_much([dataset], seed)))


def test_a_small_cache_for_all(paths):
    budget = isotach.cache_statistics()["budget_bytes"]
    isotach.set_cache_budget(100_000)
    try:
        with isotach.Dataset(paths[0]) as dataset:
            assert all(in_threads(lambda seed: read_much([dataset], seed)))
    finally:
        isotach.set_cache_budget(budget)


def test_the_same_object_for_the_same_name(paths):
    with isotach.Dataset(paths[0]) as dataset:
        found = in_threads(lambda _: [dataset.variables[f"v{n}"] for n in range(VARIABLES)])
        assert all(other == found[0] for other in found)
        assert all(a is b for other in found for a, b in zip(found[0], other, strict=True))


def test_closing_while_others_read(paths):
    """Whoever comes too late is told so; nobody gets wrong values."""
    dataset = isotach.Dataset(paths[0])
    whole = expected(0, 1)

    def work(number):
        if number == 0:
            dataset.close()
            return 0
        done = 0
        try:
            for t in range(SHAPE[0]):
                np.testing.assert_array_equal(dataset["v1"][t], whole[t])
                done += 1
        except RuntimeError as error:
            assert "Not a valid ID" in str(error)
        return done

    in_threads(work)
    assert not dataset.isopen()


def test_a_million_small_reads(paths):
    """Counted over all threads: single elements, alternately of plain and deflated variables."""
    datasets = [isotach.Dataset(path) for path in paths]
    for dataset in datasets:
        dataset.set_auto_mask(False)
    variables = [dataset[f"v{n}"] for dataset in datasets for n in (0, 1)]
    wholes = [expected(number, n) for number in range(FILES) for n in (0, 1)]

    def work(thread):
        each = SMALL_READS // THREADS
        picks = np.random.default_rng(thread).integers(0, np.prod(SHAPE), 997)
        places = [
            tuple(map(int, place)) for place in zip(*np.unravel_index(picks, SHAPE), strict=True)
        ]
        total = 0.0
        wanted = 0.0
        for number in range(each):
            which, place = number % len(variables), places[number % len(places)]
            total += float(variables[which][place])
            if number < 20_000:
                wanted += float(wholes[which][place])
                if number == 19_999:
                    assert total == wanted
        return each

    assert sum(in_threads(work)) == SMALL_READS
    for dataset in datasets:
        dataset.close()


def test_the_package_alone_leaves_the_interpreter_without_a_lock(paths):
    """Free-threaded Python takes its lock again when a module is loaded that asks for it."""
    code = (
        "import sys, isotach; isotach.Dataset(sys.argv[1])['v0'][:]\n"
        "locked = getattr(sys, '_is_gil_enabled', lambda: True)()\n"
        "print(locked, 'cftime' in sys.modules, isotach.num2date(0, 'days since 2000-01-01').year)"
    )
    command = [sys.executable, "-c", code, paths[0]]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    locked = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert printed.split() == [str(locked), "False", "2000"]
