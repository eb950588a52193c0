// netCDF-C++ version 4: all types, groups, attributes, storage, strides, maps and what is refused.
#include <netcdf>

#include <iostream>
#include <numeric>

using namespace netCDF;
using std::cout;
using std::size_t;
using std::string;
using std::vector;

struct Pair {
    double first;
    float second[2];
};

template <typename Value> void show(const char *what, const vector<Value> &values)
{
    cout << what;
    for (auto value : values)
        cout << ' ' << +value;
    cout << '\n';
}

template <typename Call> void attempt(const char *what, Call call)
{
    try {
        call();
        cout << what << ": done\n";
    } catch (const exceptions::NcException &error) {
        cout << what << ": " << error.errorCode() << '\n';
    }
}

template <typename Value> void write_and_read(const NcVar &variable)
{
    vector<Value> values(24);
    std::iota(values.begin(), values.end(), Value(1));
    const vector<size_t> start{1, 1}, count{2, 3};
    const vector<ptrdiff_t> stride{2, 2}, map{1, 2};
    attempt("all", [&] { variable.putVar(values.data()); });
    attempt("one", [&] { variable.putVar(vector<size_t>{0, 5}, values[9]); });
    attempt("part", [&] { variable.putVar(start, count, values.data()); });
    attempt("strided", [&] { variable.putVar({0, 0}, count, stride, values.data() + 3); });
    attempt("mapped", [&] { variable.putVar({2, 3}, count, {1, 1}, map, values.data() + 5); });
    attempt("all back", [&] { variable.getVar(values.data()); });
    show("values", values);
    vector<Value> part(6);
    attempt("part back", [&] { variable.getVar(start, count, part.data()); });
    show("values", part);
    attempt("strided back", [&] { variable.getVar({0, 1}, count, stride, part.data()); });
    show("values", part);
    attempt("mapped back", [&] { variable.getVar({0, 0}, count, stride, map, part.data()); });
    show("values", part);
    Value one{};
    attempt("one back", [&] { variable.getVar({3, 5}, &one); });
    cout << +one << '\n';
    attempt("too far", [&] { variable.getVar({3, 5}, {2, 2}, part.data()); });
    variable.putAtt("same", variable.getType(), 3, values.data());
    variable.getAtt("same").getValues(part.data());
    show("attribute", part);
}

void write_all(const NcVar &variable)
{
    cout << variable.getName() << '\n';
    write_and_read<signed char>(variable);
    write_and_read<unsigned char>(variable);
    write_and_read<short>(variable);
    write_and_read<unsigned short>(variable);
    write_and_read<int>(variable);
    write_and_read<unsigned>(variable);
    write_and_read<long long>(variable);
    write_and_read<unsigned long long>(variable);
    write_and_read<float>(variable);
    write_and_read<double>(variable);
}

void define(NcFile &file, NcFile::FileFormat format)
{
    const bool four = format == NcFile::nc4 || format == NcFile::nc4classic;
    NcDim x = file.addDim("x", 6), y = file.addDim("y", 4), t = file.addDim("t");
    vector<NcType> types{ncByte, ncShort, ncInt, ncFloat, ncDouble};
    if (format == NcFile::nc4)
        for (const NcType &type : {NcType(ncUbyte), NcType(ncUshort), NcType(ncUint), NcType(ncInt64), NcType(ncUint64)})
            types.push_back(type);
    for (const NcType &type : types) {
        NcVar variable = file.addVar("v_" + type.getName(), type, vector<NcDim>{y, x});
        if (four) {
            vector<size_t> chunks{2, 3};
            variable.setChunking(NcVar::nc_CHUNKED, chunks);
            variable.setCompression(true, true, 4);
            variable.setChecksum(NcVar::nc_FLETCHER32);
            variable.setEndianness(NcVar::nc_ENDIAN_BIG);
        }
        variable.putAtt("units", "grams");
        variable.putAtt("number", ncInt, 5);
        file.addVar("r_" + type.getName(), type, vector<NcDim>{t, x});
    }
    file.putAtt("title", "made in C++");
    file.putAtt("numbers", ncDouble, 2, vector<double>{1.5, -2}.data());
    attempt("a name in use", [&] { file.addDim("x", 3); });
    attempt("a type that is not there", [&] { file.addVar("bad", NcType(), x); });
    file.enddef();
    for (const NcType &type : types) {
        write_all(file.getVar("v_" + type.getName()));
        vector<int> record{1, 2, 3, 4, 5, 6};
        for (size_t step : {0, 2})
            file.getVar("r_" + type.getName()).putVar({step, 0}, {1, 6}, record.data());
    }
}

void user_types(NcFile &file)
{
    NcGroup inner = file.addGroup("inner"), deeper = inner.addGroup("deeper");
    NcDim n = inner.addDim("n", 3);
    NcEnumType colour = inner.addEnumType("colour", NcEnumType::nc_BYTE);
    colour.addMember("red", static_cast<signed char>(1));
    colour.addMember("green", static_cast<signed char>(5));
    NcOpaqueType blob = inner.addOpaqueType("blob", 4);
    NcType base = ncInt;
    NcVlenType rows = inner.addVlenType("rows", base);
    NcCompoundType pair = inner.addCompoundType("pair", sizeof(Pair));
    pair.addMember("first", ncDouble, offsetof(Pair, first));
    pair.addMember("second", ncFloat, offsetof(Pair, second), {2});
    const signed char colours[] = {1, 5, 1};
    deeper.addVar("colours", colour, n).putVar(colours);
    deeper.addVar("blobs", blob, n).putVar("abcdefghijkl");
    int numbers[] = {1, 2, 3, 4, 5};
    nc_vlen_t lists[] = {{2, numbers}, {3, numbers + 1}, {1, numbers}};
    deeper.addVar("rows", rows, n).putVar(lists);
    const Pair pairs[] = {{1, {2, 3}}, {4, {5, 6}}, {7, {8, 9}}};
    deeper.addVar("pairs", pair, n).putVar(pairs);
    const char *words[] = {"one", "", "three"};
    deeper.addVar("words", ncString, n).putVar(words);
    file.putAtt("words", 3, words);
}

void describe(const NcGroup &group)
{
    cout << "group " << group.getName(true) << ' ' << group.getVarCount() << ' ' << group.getDimCount()
         << ' ' << group.getTypeCount() << ' ' << group.getAttCount() << ' ' << group.getGroupCount() << '\n';
    for (const auto &[name, dimension] : group.getDims())
        cout << name << ' ' << dimension.getSize() << ' ' << dimension.isUnlimited() << '\n';
    for (const auto &[name, type] : group.getTypes())
        cout << name << ' ' << type.getSize() << ' ' << type.getTypeClassName() << '\n';
    for (const auto &[name, variable] : group.getVars()) {
        cout << name << ' ' << variable.getType().getName();
        cout << '\n';
        attempt("storage", [&variable = variable] {
            NcVar::ChunkMode mode;
            vector<size_t> chunks;
            bool shuffle, deflate;
            int level = 0;
            variable.getChunkingParameters(mode, chunks);
            variable.getCompressionParameters(shuffle, deflate, level);
            cout << mode << ' ' << shuffle << ' ' << deflate << ' ' << (deflate ? level : 0) << ' '
                 << variable.getChecksum() << ' ' << variable.getEndianness();
            show(" chunks", chunks);
        });
        for (const auto &[attribute, held] : variable.getAtts())
            cout << attribute << ' ' << held.getType().getName() << ' ' << held.getAttLength() << '\n';
    }
    for (const auto &[name, attribute] : group.getAtts()) {
        string text;
        cout << name << ' ' << attribute.getType().getName() << ' ' << attribute.getAttLength() << '\n';
        if (attribute.getType() == ncChar) {
            attribute.getValues(text);
            cout << text << '\n';
        }
    }
    for (const auto &[name, child] : group.getGroups())
        describe(child);
}

void read_user_types(const NcGroup &group)
{
    Pair pairs[3] = {};
    group.getVar("pairs").getVar(pairs);
    nc_vlen_t lists[3] = {};
    group.getVar("rows").getVar(lists);
    char *words[3] = {};
    group.getVar("words").getVar(words);
    for (int i = 0; i < 3; i++) {
        cout << pairs[i].first << ' ' << pairs[i].second[1] << ' ' << words[i];
        show(" row", vector<int>((int *)lists[i].p, (int *)lists[i].p + lists[i].len));
    }
    nc_free_vlens(3, lists);
    nc_free_string(3, words);
}

int main(int, char **arguments)
{
    const string name = arguments[1];
    const auto format = name == "netcdf4"           ? NcFile::nc4
                        : name == "netcdf4-classic" ? NcFile::nc4classic
                        : name == "64bit-offset"    ? NcFile::classic64
                                                    : NcFile::classic;
    {
        NcFile file("out.nc", NcFile::replace, format);
        define(file, format);
        if (format == NcFile::nc4)
            user_types(file);
    }
    attempt("a file that is there", [&] { NcFile("out.nc", NcFile::newFile, format); });
    attempt("a file that is not", [] { NcFile("none.nc", NcFile::read); });
    {
        NcFile file("out.nc", NcFile::read);
        describe(file);
        cout << file.getVar("none").isNull() << '\n';
        if (format == NcFile::nc4)
            read_user_types(file.getGroup("inner").getGroup("deeper"));
        attempt("a file that is only read", [&] { file.getVar("v_int").putVar({0, 0}, 1); });
    }
    NcFile file("out.nc", NcFile::write);
    attempt("rename", [&] { file.redef(); });
    attempt("rename", [&] { file.getVar("v_short").getAtt("units"); });
    attempt("rename", [&] { file.getVar("r_short").rename("renamed"); });
    file.putAtt("more", "text");
    return 0;
}
