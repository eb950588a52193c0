//! What the corpus does not show by itself: layouts in memory, comparison of types, and that little
//! is looked at.

use std::sync::Arc;

use isotach_format::hdf5::message::datatype::{
    ByteOrder, CharacterSet, Datatype, EnumMember, FixedPoint, Member, StringPadding,
};
use isotach_model::selection::Selection;
use isotach_model::{Atomic, DataType, UserClass};

use super::{reserved, types};
use crate::{Attribute, Dimension, ErrorKind, File, Format, Group};

fn integer(size: u32, byte_order: ByteOrder) -> Datatype {
    let precision = u16::try_from(size * 8).unwrap();
    Datatype::FixedPoint(FixedPoint { size, byte_order, signed: true, bit_offset: 0, precision })
}

fn compound(size: u32, members: &[(&str, u32, Datatype)]) -> Datatype {
    let member = |(name, offset, datatype): &(&str, u32, Datatype)| Member {
        name: name.as_bytes().into(),
        offset: *offset,
        datatype: datatype.clone(),
    };
    Datatype::Compound { size, members: members.iter().map(member).collect() }
}

fn text(size: u32) -> Datatype {
    let (padding, charset) = (StringPadding::NullPadded, CharacterSet::Ascii);
    Datatype::String { size, padding, charset }
}

/// A file of the corpus; `None`, said aloud, where there is no corpus.
fn corpus(name: &str) -> Option<File> {
    Some(File::open(isotach_testkit::corpus()?.join(name)).unwrap())
}

#[test]
fn members_stand_where_a_c_compiler_puts_them() {
    // Packed in the file: 1 + 8 + 3 + 2 bytes.
    let packed = compound(
        14,
        &[
            ("flag", 0, integer(1, ByteOrder::Little)),
            ("count", 1, integer(8, ByteOrder::Big)),
            ("name", 9, text(3)),
            ("last", 12, integer(2, ByteOrder::Little)),
        ],
    );
    let found = types::data_type(&packed, &mut |_| Ok(None)).unwrap();
    let DataType::User(user) = found else { panic!() };
    let UserClass::Compound(fields) = &user.class else { panic!() };
    let offsets: Vec<usize> = fields.iter().map(|field| field.offset).collect();
    assert_eq!(offsets, [0, 8, 16, 20]);
    assert_eq!(user.size, 24);
    assert_eq!(fields[2].data_type, Atomic::Char.into());
    assert_eq!(fields[2].shape, [3]);
    assert_eq!(types::stored_type(&packed).size(), 14);
}

#[test]
fn types_are_the_same_in_any_byte_order_and_at_any_offset() {
    let one = compound(8, &[("a", 0, integer(4, ByteOrder::Little))]);
    let other = compound(4, &[("a", 0, integer(4, ByteOrder::Big))]);
    assert!(types::are_same(&one, &other));
    assert!(!types::are_same(&one, &compound(4, &[("b", 0, integer(4, ByteOrder::Big))])));
    assert!(!types::are_same(&one, &compound(8, &[("a", 0, integer(8, ByteOrder::Big))])));
}

#[test]
fn enumerations_are_the_same_in_any_order_of_members() {
    let enumeration = |members: [(&str, i128); 2]| Datatype::Enumeration {
        base: Arc::new(integer(1, ByteOrder::Little)),
        members: members
            .map(|(name, value)| EnumMember { name: name.as_bytes().into(), value })
            .into(),
    };
    let one = enumeration([("off", 0), ("on", 1)]);
    assert!(types::are_same(&one, &enumeration([("on", 1), ("off", 0)])));
    assert!(!types::are_same(&one, &enumeration([("on", 0), ("off", 1)])));
}

#[test]
fn an_integer_that_does_not_use_all_its_bits_is_a_number_of_its_size() {
    let integer = |size, precision| {
        Datatype::FixedPoint(FixedPoint {
            size,
            byte_order: ByteOrder::Little,
            signed: true,
            bit_offset: 4,
            precision,
        })
    };
    let found = types::data_type(&integer(4, 17), &mut |_| Ok(None)).unwrap();
    assert_eq!(found, Atomic::Int.into());
    assert_eq!(types::stored_type(&integer(4, 17)).number(), Some(Atomic::Int));
    let wide = types::data_type(&integer(16, 17), &mut |_| Ok(None)).unwrap();
    let DataType::Foreign(foreign) = wide else { panic!("{wide:?}") };
    assert_eq!((foreign.description.as_str(), foreign.size), ("i16le{prec=17,off=4}", 16));
}

#[test]
fn hides_what_libnetcdf_hides() {
    for hidden in ["CLASS", "NAME", "REFERENCE_LIST", "_NCProperties", "_nc3_strict"] {
        assert!(reserved::is_hidden(hidden), "{hidden}");
    }
    for shown in ["_FillValue", "units", "name", "_Unsigned"] {
        assert!(!reserved::is_hidden(shown), "{shown}");
    }
}

#[test]
fn special_attributes_are_there_by_name_only() {
    let Some(file) = corpus("derived/nc_netcdf4_classic.nc") else { return };
    assert_eq!(file.format().unwrap(), Format::NetCdf4Classic);
    let root = file.root();
    for name in ["_NCProperties", "_IsNetcdf4", "_SuperblockVersion"] {
        assert!(root.attribute(name).unwrap().is_some(), "{name}");
        assert!(root.attributes().unwrap().iter().all(|listed| listed.name() != name));
    }
    // libnetcdf says so of every file of the classic model, whoever wrote it.
    let is_netcdf4 = root.attribute("_IsNetcdf4").unwrap().unwrap().values().unwrap();
    assert_eq!(is_netcdf4.as_slice::<i32>(), Some(&[0][..]));
}

#[test]
fn an_attribute_needs_no_open_file() {
    let Some(file) = corpus("derived/nc_netcdf4.nc") else { return };
    let listed = file.root().attributes().unwrap();
    let string = |attribute: &&Attribute| attribute.data_type() == &Atomic::String.into();
    let kept = listed.iter().find(string).unwrap().clone();
    let found = file.root().attribute(kept.name()).unwrap().unwrap();
    drop((listed, file));
    for attribute in [kept, found] {
        let values = attribute.values().unwrap();
        assert_eq!(values.len() as u64, attribute.len());
        assert_eq!(values, attribute.values().unwrap());
    }
}

#[test]
fn a_plain_hdf5_file_is_not_from_netcdf4() {
    let Some(file) = corpus("derived/chunks_latest.h5") else { return };
    let is_netcdf4 = file.root().attribute("_IsNetcdf4").unwrap().unwrap().values().unwrap();
    assert_eq!(is_netcdf4.as_slice::<i32>(), Some(&[0][..]));
}

#[test]
fn one_odd_object_does_not_cost_the_file() {
    // Holds dangling links and links of unknown classes, for which libnetcdf refuses it.
    let Some(file) = corpus("derived/groups_latest.h5") else { return };
    let mut groups = vec![file.root()];
    let (mut variables, mut left_out) = (0, Vec::new());
    while let Some(group) = groups.pop() {
        variables += group.variables().unwrap().len();
        left_out.extend(group.left_out().unwrap().iter().cloned());
        groups.extend(group.groups().unwrap());
    }
    assert!(variables > 0);
    assert!(left_out.iter().any(|left| matches!(left.reason.kind, ErrorKind::NotFound { .. })));
}

/// Of every group of a file, itself first.
fn groups_of(file: &File) -> Vec<Group> {
    let mut groups = vec![file.root()];
    for index in 0.. {
        let Some(group) = groups.get(index) else { break };
        groups.extend(group.groups().unwrap());
    }
    groups
}

#[test]
fn a_number_that_two_dimensions_have_becomes_two() {
    // Its writer numbers the dimensions of each group for itself.
    let Some(file) = corpus("netcdf-rust/nc4_groups.nc") else { return };
    let dimensions: Vec<_> =
        groups_of(&file).iter().flat_map(|group| group.dimensions().unwrap().to_vec()).collect();
    let facts: Vec<_> = dimensions
        .iter()
        .map(|found| (found.path(), found.id().unwrap(), found.len().unwrap()))
        .collect();
    assert_eq!(facts, [("/x".to_owned(), 0, 5), ("/obs/time".to_owned(), 1, 3)]);
    let along = file.variable("/obs/temperature").unwrap().dimensions().unwrap();
    assert_eq!(along[0].id().unwrap(), 1);
}

#[test]
fn a_dimension_is_as_long_as_a_variable_outside_its_group() {
    // The scales, which are empty, are in groups below that of the variables.
    let Some(file) = corpus("bmtk/stim_12_pulses.nwb") else { return };
    let variable = file.variable("/processing/trial_0/spike_train/0/data").unwrap();
    assert_eq!(variable.shape().unwrap(), [12]);
    let (values, _) = variable.read_as::<f64>(&Selection::all(&[12])).unwrap();
    assert_eq!(values[..3], [500.0, 600.0, 700.0]);
}

#[test]
fn variables_that_netcdf_does_not_show_get_the_last_dimensions() {
    let Some(file) = corpus("hdf5-1.14.5/trefer_reg.h5") else { return };
    let dimensions = file.root().dimensions().unwrap();
    let facts: Vec<_> = dimensions
        .iter()
        .map(|found| (found.name().to_owned(), found.len().unwrap(), found.is_foreign()))
        .collect();
    let shown = |name: &str, len| (name.to_owned(), len, false);
    let hidden = |name: &str, len| (name.to_owned(), len, true);
    let expected = [
        shown("phony_dim_0", 10),
        shown("phony_dim_1", 10),
        hidden("phony_dim_2", 1),
        hidden("phony_dim_3", 4),
    ];
    assert_eq!(facts, expected);
    let shown = file.variable("/Dataset2").unwrap();
    assert!(!shown.data_type().is_foreign());
    let ids = |all: &[Dimension]| all.iter().map(|it| it.id().unwrap()).collect::<Vec<_>>();
    assert_eq!(ids(&shown.dimensions().unwrap()), ids(&dimensions[..2]));
}

#[test]
fn a_committed_type_without_a_link_is_its_variables_group_s() {
    let Some(file) = corpus("hdf5-1.14.5/h5repack_nested_8bit_enum_deflated.h5") else { return };
    let group = file.group("/tracks/1").unwrap();
    let variable = group.variable("trace").unwrap().unwrap();
    let DataType::User(own) = variable.data_type() else { panic!() };
    assert!(group.types().unwrap().contains(own));
}
