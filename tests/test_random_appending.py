"""Random data sets with random encodings, written in pieces with `append_dim`.

A seed makes the data set or tree, its encodings and where it is cut. What xarray writes at once
with netCDF4 and what we write piece by piece read equal. `ISOTACH_ENCODINGS` says how many seeds.
"""

import copy
import itertools
import warnings

import h5py
import isotach
import pytest
import xarray as xr
from test_random_encodings import COUNT, Maker, check_same

#: What grows.
ALONG = "d0"
#: As long as any text that is made, so that the first piece says how wide its characters are.
WIDEST = {"O": "längs", "S": b"bcd"}


class PieceMaker(Maker):
    """Makes data sets whose encodings depend on no more than their first element."""

    def __init__(self, seed):
        super().__init__(seed)
        self.is_wild = False

    def values(self, kind, shape):
        found = super().values(kind, shape)
        if kind in ("text", "bytes") and shape:
            found.flat[0] = WIDEST[found.dtype.kind]
        return found

    def dataset(self, suffix=""):
        dataset, asked = super().dataset(suffix)
        for name, variable in dataset.variables.items():
            kind = variable.dtype.kind
            if kind in "Mm" or (kind == "O" and not isinstance(variable.values.flat[0], str)):
                # Else the units are those that the values at hand have.
                units = "seconds" if kind == "m" else "seconds since 1990-01-01"
                asked.setdefault(name, {}).update(units=units, dtype=self.pick(["i4", "i8", "f8"]))
        return dataset, asked

    def encoding_of_floats(self, kind):
        found = super().encoding_of_floats(kind)
        if found.get("quantize_mode") == "BitGroom":
            # What comes of a number depends on how many were written before it.
            found["quantize_mode"] = "GranularBitRound"
        return found

    def cut(self, dataset, along):
        """The pieces, of which later ones may be without what does not grow."""
        length = dataset.sizes[along]
        inner = [at for at in range(1, length) if self.chance(60)]
        pieces = []
        for start, end in zip([0, *inner], [*inner, length], strict=True):
            piece = dataset.isel({along: slice(start, end)})
            if pieces and self.chance(50):
                piece = piece.drop_vars([n for n in piece.variables if along not in piece[n].dims])
            if self.chance(30):
                piece = piece.chunk({name: self.number(1, 3) for name in piece.dims})
            pieces.append(piece)
        return pieces


def write_whole(path, data, options):
    """Whether netCDF4 can write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data.to_netcdf(path, engine="netcdf4", **copy.deepcopy(options))
        except (OSError, RuntimeError, TypeError, ValueError):
            return False
    return True


def write_pieces(path, pieces, options, first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first(pieces[0], path, **copy.deepcopy(options))
        for piece in pieces[1:]:
            isotach.to_netcdf(piece, path, append_dim=ALONG)


def check_pieces(path, whole, group, asked):
    """Every engine sees the same in both."""
    check_same(path, whole, group, asked)
    for engine in ("isotach", "h5netcdf"):
        if engine == "h5netcdf" and not h5py.is_hdf5(whole):
            continue
        options = {"engine": engine, "group": group}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xr.open_dataset(path, **options) as one, xr.open_dataset(whole, **options) as two:
                xr.testing.assert_identical(one.load(), two.load())


def with_netcdf4(data, path, **options):
    data.to_netcdf(path, engine="netcdf4", **options)


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_pieces(tmp_path, seed):
    maker = PieceMaker(seed)
    dataset, asked = maker.dataset()
    formats = ["NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT"]
    options = {"encoding": asked, "unlimited_dims": [ALONG], "format": maker.pick(formats)}
    whole, path = tmp_path / "whole.nc", tmp_path / "pieces.nc"
    if ALONG not in dataset.dims or not write_whole(whole, dataset, options):
        return
    first = maker.pick([isotach.to_netcdf, isotach.to_netcdf, with_netcdf4])
    write_pieces(path, maker.cut(dataset, ALONG), options, first)
    check_pieces(path, whole, None, asked)


@pytest.mark.parametrize("seed", range(COUNT // 3))
def test_random_pieces_of_trees(tmp_path, seed):
    maker = PieceMaker(seed)
    made = {path: maker.dataset() for path in ("/a", "/b/c", "/d")}
    made = {path: found for path, found in made.items() if ALONG in found[0].dims}
    options = {
        "encoding": {path: asked for path, (_, asked) in made.items()},
        "unlimited_dims": {path: [ALONG] for path in made},
    }
    whole, path = tmp_path / "whole.nc", tmp_path / "pieces.nc"
    tree = xr.DataTree.from_dict({path: dataset for path, (dataset, _) in made.items()})
    if not made or not write_whole(whole, tree, options):
        return
    pieces = [maker.cut(dataset, ALONG) for dataset, _ in made.values()]
    # One that is cut into fewer has none in the last.
    trees = [
        xr.DataTree.from_dict(
            {group: piece for group, piece in zip(made, row, strict=True) if piece is not None}
        )
        for row in itertools.zip_longest(*pieces)
    ]
    write_pieces(path, trees, options, isotach.to_netcdf)
    for group, (_, asked) in made.items():
        check_pieces(path, whole, group, asked)
