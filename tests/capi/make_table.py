"""Writes C that calls every function of netcdf.h, with arguments picked by name and type.

make_table.py netcdf.h > table.c
"""

import re
import sys
from pathlib import Path

#: Functions that other tests call, or none can.
ELSEWHERE = {
    "nc_inq_libvers": "which.c: must differ",
    "nc_advise": "prints and may end the program",
    "nc_def_user_format": "no dispatch tables of the caller's",
    "nc_inq_user_format": "no dispatch tables of the caller's",
    "nc_show_metadata": "prints, where the library was built with logging",
    "nc_dump_data": "prints in no agreed form",
    "nc_finalize": "ends the library",
    "nc_free_vlen": "memory.c",
    "nc_free_vlens": "memory.c",
    "nc_free_string": "memory.c",
    "nc_put_vlen_element": "memory.c",
    "nc_get_vlen_element": "memory.c",
    "nc_reclaim_data": "memory.c",
    "nc_reclaim_data_all": "memory.c",
    "nc_copy_data": "memory.c",
    "nc_copy_data_all": "memory.c",
    "ncrecput": "memory.c",
    "ncrecget": "memory.c",
}

#: C types of values in memory: netCDF's type.
MEMORY = {
    "char": "NC_CHAR",
    "signed char": "NC_BYTE",
    "unsigned char": "NC_UBYTE",
    "short": "NC_SHORT",
    "unsigned short": "NC_USHORT",
    "int": "NC_INT",
    "unsigned int": "NC_UINT",
    "long": "NC_INT64",
    "float": "NC_FLOAT",
    "double": "NC_DOUBLE",
    "long long": "NC_INT64",
    "unsigned long long": "NC_UINT64",
    "size_t": "NC_UINT64",
    "void": "NC_NAT",
    "char *": "NC_STRING",
}

#: Integers by what they mean; all others are numbers from the list of their name.
IDS = {
    r"(ncid|grpid|parent_ncid|ncid1|ncid2|ncid_in|ncid_out)": "pick_ncid",
    r"(varid|varid_in|varid_out)": "pick_varid",
    r"dimid": "pick_dimid",
}
#: Lists of the caller's.
LISTS = {
    r"(startp|indexp)": "pick_starts",
    r"countp": "pick_counts",
    r"stridep": "pick_strides",
    r"imapp": "pick_map",
    r"chunksizesp": "pick_chunks",
    r"dimidsp": "pick_dimids",
    r"dim_sizes": "pick_sizes",
    r"parms": "pick_parameters",
}


def prototypes(header):
    """The return type, name and parameters of each function; a parameter is its type and name."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*?$", "", text, flags=re.MULTILINE)
    for declared in re.findall(r"EXTERNL\s+([^;]+\))\s*;", text):
        returns, name, parameters = re.fullmatch(
            r"(.*?)(\w+)\s*\((.*)\)", " ".join(declared.split())
        ).groups()
        yield returns.strip(), name, [parameter(p) for p in parameters.split(",") if p != "void"]


def parameter(text):
    text = text.replace("[]", "")
    found = re.fullmatch(r"\s*(.*?)(\w+)\s*", text)
    return (re.sub(r"\s*\*", " *", found[1]).strip(), found[2]) if found else (text, "")


def matching(table, name):
    return next((value for pattern, value in table.items() if re.fullmatch(pattern, name)), None)


def argument(kind, name):
    """The C expression that picks an argument."""
    quoted = f'"{name}"'
    if kind == "int" and name.startswith("typeid"):
        return f"pick_type({quoted})"
    if kind == "int":
        return f"{matching(IDS, name) or 'pick_int'}({quoted})"
    if kind == "nc_type":
        return f"pick_type({quoted})"
    if kind in ("size_t", "unsigned int", "float", "long", "long long"):
        return f"pick_{kind.replace(' ', '_')}({quoted})"
    constant, pointed = re.fullmatch(r"(const )?(.*?) ?\*", kind).groups()
    if pointed == "char" and constant and name != "op":
        return f"pick_{'path' if name == 'path' else 'name'}({quoted})"
    if constant and (choice := matching(LISTS, name)):
        return f"(const {pointed} *){choice}({quoted}, sizeof({pointed}))"
    memory = MEMORY["int" if pointed == "nc_type" else pointed]
    if pointed == "char" and not constant and name != "ip":
        return f"gives_text({quoted})"
    if constant:
        return f"values_in({quoted}, {memory})"
    return f"gives({quoted}, {memory})"


def caller(returns, name, parameters):
    lines = [f"static void call_{name}(void)", "{"]
    for index, (kind, what) in enumerate(parameters):
        space = "" if kind.endswith("*") else " "
        lines.append(f"    {kind}{space}a{index} = {argument(kind, what)};")
    arguments = ", ".join(f"a{index}" for index in range(len(parameters)))
    ended = "ended" if returns == "int" else "ended_text"
    lines += ["    called();", f"    {ended}({name}({arguments}));", "}", ""]
    return "\n".join(lines)


def main():
    header = Path(sys.argv[1]).read_text(encoding="utf-8")
    functions = [f for f in prototypes(header) if f[1] not in ELSEWHERE]
    print('#include "arguments.h"\n')
    for function in functions:
        print(caller(*function))
    print("const struct function functions[] = {")
    for _, name, _ in functions:
        print(f'    {{"{name}", call_{name}}},')
    print("};\nconst size_t function_count = sizeof functions / sizeof *functions;")


if __name__ == "__main__":
    main()
