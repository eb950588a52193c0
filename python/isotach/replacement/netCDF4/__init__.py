"""What `import netCDF4` finds where this folder comes before site-packages: Isotach's stand-in."""

from isotach import _stand_in

_stand_in.install()
