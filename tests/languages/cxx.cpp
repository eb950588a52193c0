// The older netCDF-C++: types, attributes, records, fill mode and what is refused.
#include <netcdfcpp.h>

#include <iostream>
#include <string>

using std::cout;

template <typename Value> void write_and_read(NcVar *variable, NcVar *record)
{
    Value values[24];
    for (int i = 0; i < 24; i++)
        values[i] = Value(i * 4);
    cout << variable->put(values, 4, 6) << variable->set_cur(1, 2) << variable->put(values + 5, 2, 3)
         << variable->set_cur(0, 0) << record->put_rec(values, 1) << record->put_rec(values + 6, 0)
         << variable->get(values, 4, 6);
    for (Value value : values)
        cout << ' ' << double(value);
    cout << variable->set_cur(2, 3) << variable->get(values, 2, 2) << ' ' << double(values[3])
         << variable->set_cur(0, 0) << ' ' << variable->put(values, 5, 6) << '\n';
}

static void describe(const NcFile &file)
{
    cout << file.num_dims() << ' ' << file.num_vars() << ' ' << file.num_atts() << ' ' << file.get_format()
         << ' ' << file.rec_dim()->name() << ' ' << file.rec_dim()->size() << '\n';
    for (int i = 0; i < file.num_vars(); i++) {
        NcVar *variable = file.get_var(i);
        cout << variable->name() << ' ' << variable->type() << ' ' << variable->num_vals() << '\n';
        NcValues *values = variable->values();
        cout << *values << '\n';
        delete values;
        for (int j = 0; j < variable->num_atts(); j++) {
            NcAtt *attribute = variable->get_att(j);
            char *text = attribute->as_string(0);
            cout << attribute->name() << ' ' << attribute->type() << ' ' << attribute->num_vals() << ' ' << text
                 << ' ' << attribute->as_double(0) << '\n';
            delete[] text;
            delete attribute;
        }
    }
}

int main(int, char **arguments)
{
    const std::string name = arguments[1];
    const auto format = name == "netcdf4"           ? NcFile::Netcdf4
                        : name == "netcdf4-classic" ? NcFile::Netcdf4Classic
                        : name == "64bit-offset"    ? NcFile::Offset64Bits
                                                    : NcFile::Classic;
    NcError quiet(NcError::silent_nonfatal);
    {
        NcFile file("out.nc", NcFile::Replace, NULL, 0, format);
        cout << file.is_valid() << file.set_fill(NcFile::NoFill) << file.get_fill() << '\n';
        NcDim *x = file.add_dim("x", 6), *y = file.add_dim("y", 4), *t = file.add_dim("t");
        const NcType types[] = {ncByte, ncShort, ncInt, ncFloat, ncDouble};
        for (NcType type : types) {
            NcVar *variable = file.add_var(("v_" + std::to_string(type)).c_str(), type, y, x);
            NcVar *record = file.add_var(("r_" + std::to_string(type)).c_str(), type, t, x);
            const double numbers[] = {1.5, -2.5};
            cout << variable->add_att("units", "grams") << variable->add_att("numbers", 2, numbers)
                 << variable->add_att("short", short(3)) << variable->add_att("byte", ncbyte(7)) << '\n';
            write_and_read<ncbyte>(variable, record);
            write_and_read<short>(variable, record);
            write_and_read<int>(variable, record);
            write_and_read<long>(variable, record);
            write_and_read<float>(variable, record);
            write_and_read<double>(variable, record);
        }
        cout << (file.add_dim("x", 3) != NULL) << (file.get_var("none") != NULL) << quiet.get_err() << '\n';
        NcVar *text = file.add_var("text", ncChar, t, x);
        cout << text->put_rec("abcdef", 0) << text->set_cur(1, 2) << text->put("XY", 1, 2);
        cout << file.add_att("title", "made in C++") << file.get_var("v_3")->rename("shorts")
             << file.get_dim("x")->rename("places") << file.sync() << '\n';
    }
    NcFile file("out.nc", NcFile::ReadOnly);
    describe(file);
    const short three = 3;
    cout << file.get_var("shorts")->put(&three, 1, 1) << file.abort() << '\n';
    NcFile none("none.nc", NcFile::ReadOnly);
    cout << none.is_valid() << quiet.get_err() << '\n';
    return 0;
}
