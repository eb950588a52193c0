% Octave's netcdf package: defines, writes and reads a file of the format named; prints what it is told.
pkg load netcdf
import_netcdf
form = argv(){1};
modes = struct("classic", "CLOBBER", "64bit-offset", "64BIT_OFFSET", "64bit-data", "64BIT_DATA", ...
               "netcdf4", "NETCDF4", "netcdf4-classic", "CLASSIC_MODEL");
mode = netcdf.getConstant(modes.(form));
if strcmp(form, "netcdf4-classic")
  mode = bitor(mode, netcdf.getConstant("NETCDF4"));
end
types = {"byte", "short", "int", "float", "double"};
if any(strcmp(form, {"netcdf4", "64bit-data"}))
  types = [types, {"ubyte", "ushort", "uint", "int64", "uint64"}];
end
four = strncmp(form, "netcdf4", 7);

file = netcdf.create("out.nc", mode);
x = netcdf.defDim(file, "x", 6);
y = netcdf.defDim(file, "y", 4);
t = netcdf.defDim(file, "t", netcdf.getConstant("NC_UNLIMITED"));
for i = 1:numel(types)
  v(i) = netcdf.defVar(file, ["v_" types{i}], types{i}, [x y]);
  r(i) = netcdf.defVar(file, ["r_" types{i}], types{i}, [x t]);
  netcdf.putAtt(file, v(i), "numbers", [1 2 3]);
  if four
    netcdf.defVarChunking(file, v(i), "CHUNKED", [3 2]);
    netcdf.defVarDeflate(file, v(i), true, true, 5);
    netcdf.defVarFletcher32(file, v(i), "FLETCHER32");
  end
  netcdf.defVarFill(file, v(i), false, 9);
end
text = netcdf.defVar(file, "text", "char", [x y]);
netcdf.putAtt(file, netcdf.getConstant("NC_GLOBAL"), "title", "made in Octave");
netcdf.putAtt(file, netcdf.getConstant("NC_GLOBAL"), "half", single(0.5));
netcdf.endDef(file);
for i = 1:numel(types)
  netcdf.putVar(file, v(i), reshape(1:24, 6, 4));
  netcdf.putVar(file, v(i), [1 1], [2 2], [50 51; 52 53]);
  netcdf.putVar(file, v(i), [0 1], [3 2], [2 2], 70 + reshape(1:6, 3, 2));
  netcdf.putVar(file, r(i), [0 0], [6 3], 2 * reshape(1:18, 6, 3));
end
netcdf.putVar(file, text, reshape("abcdefghijklmnopqrstuvwx", 6, 4));
netcdf.sync(file);
netcdf.close(file);

file = netcdf.open("out.nc", "WRITE");
[dimensions, variables, attributes, unlimited] = netcdf.inq(file)
netcdf.inqFormat(file)
netcdf.inqUnlimDims(file)
for id = 0:variables - 1
  [name, type, dimids, count] = netcdf.inqVar(file, id)
  netcdf.getVar(file, id)
  for number = 0:count - 1
    attribute = netcdf.inqAttName(file, id, number)
    [type, len] = netcdf.inqAtt(file, id, attribute)
    netcdf.getAtt(file, id, attribute)
  end
  if four
    [storage, chunks] = netcdf.inqVarChunking(file, id)
    [shuffle, deflate, level] = netcdf.inqVarDeflate(file, id)
    netcdf.inqVarFletcher32(file, id)
  end
  [off, fill] = netcdf.inqVarFill(file, id)
end
netcdf.getVar(file, 0, [1 1])
netcdf.getVar(file, 0, [1 1], [3 2])
netcdf.getVar(file, 0, [1 0], [3 2], [2 3])
for wrong = {@() netcdf.getVar(file, 0, [9 9]), @() netcdf.inqVarID(file, "none"), ...
             @() netcdf.getAtt(file, 0, "none"), @() netcdf.inqDim(file, 77), @() netcdf.endDef(file)}
  try
    wrong{1}()
  catch problem
    disp(problem.message)
  end
end
netcdf.reDef(file);
netcdf.renameVar(file, 0, "renamed");
netcdf.renameDim(file, 1, "rows");
netcdf.renameAtt(file, 0, "numbers", "zahlen");
netcdf.copyAtt(file, 0, "zahlen", file, netcdf.getConstant("NC_GLOBAL"));
netcdf.delAtt(file, netcdf.getConstant("NC_GLOBAL"), "half");
old = netcdf.setFill(file, "NOFILL")
netcdf.endDef(file);
netcdf.close(file);

% The functions of whole files.
names = struct("classic", "classic", "64bit-offset", "64bit", "64bit-data", "64bit", ...
               "netcdf4", "netcdf4", "netcdf4-classic", "netcdf4_classic");
nccreate("high.nc", "temp", "Dimensions", {"lon", 5, "lat", 3, "time", Inf}, "Datatype", "single", ...
         "Format", names.(form));
ncwrite("high.nc", "temp", reshape(1:30, 5, 3, 2));
ncwrite("high.nc", "temp", [100; 200], [2 2 1]);
ncwriteatt("high.nc", "temp", "units", "K");
ncwriteatt("high.nc", "/", "version", int16(3));
ncread("high.nc", "temp", [1 1 1], [Inf 2 Inf], [2 1 1])
ncreadatt("high.nc", "temp", "units")
ncdisp("high.nc");
info = ncinfo("high.nc", "temp")
