//! C memory to values and back: what a program sees.

use std::ffi::CString;
use std::sync::Arc;

use isotach::model::UserType;

use super::*;

/// A structure as a program may have it, with everything that a type can be made of.
#[derive(Clone, Copy)]
#[repr(C)]
struct Row {
    flag: i8,
    pairs: [[Pair; 2]; 3],
    name: *mut c_char,
    list: Sequence,
    opaque: [u8; 5],
    text: [u8; 3],
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
struct Pair {
    small: i16,
    large: f64,
}

fn user(user: UserType) -> DataType {
    DataType::User(Arc::new(user))
}

/// The type of `Row`; its list is one of lists of strings.
fn row_type() -> DataType {
    let pair = [Field::new("small", Atomic::Short), Field::new("large", Atomic::Double)];
    let inner = user(UserType::vlen("inner", Atomic::String).unwrap());
    let row = UserType::compound(
        "row",
        [
            Field::new("flag", Atomic::Byte),
            Field::new("pairs", user(UserType::compound("pair", pair).unwrap())).with_shape([3, 2]),
            Field::new("name", Atomic::String),
            Field::new("list", user(UserType::vlen("list", inner).unwrap())),
            Field::new("opaque", user(UserType::opaque("opaque", 5).unwrap())),
            Field::new("text", Atomic::Char).with_shape([3]),
        ],
    );
    let row = row.unwrap();
    assert_eq!(row.size, size_of::<Row>());
    user(row)
}

fn row(number: i8, name: *mut c_char, list: &mut [Sequence]) -> Row {
    let pair = |small| Pair { small, large: f64::from(small) / 4.0 };
    let pairs =
        [0, 1, 2].map(|row| [0, 1].map(|column| pair(100 * i16::from(number) + 2 * row + column)));
    let list = Sequence { len: list.len(), p: list.as_mut_ptr().cast() };
    Row { flag: number, pairs, name, list, opaque: [number as u8; 5], text: *b"abc" }
}

#[test]
fn a_structure_goes_to_values_and_back() {
    let words = ["one", "", "three"].map(|word| CString::new(word).unwrap());
    let mut strings = words.each_ref().map(|word| word.as_ptr().cast_mut());
    let inner = Sequence { len: 3, p: strings.as_mut_ptr().cast() };
    let mut list = [inner, Sequence { len: 0, p: 8 as *mut c_void }];
    let rows = [row(1, strings[0], &mut list), row(2, std::ptr::null_mut(), &mut [])];
    let data_type = row_type();
    let from: *const u8 = rows.as_ptr().cast();

    // SAFETY: `rows` is what `row_type` says.
    let values = unsafe { unpack(&data_type, from, 2) }.unwrap();
    let Values::Compound { count: 2, members } = &values else { panic!("{values:?}") };
    assert_eq!(members[0].1, Values::I8(vec![1, 2]));
    let Values::Array { len: 6, count: 2, elements } = &members[1].1 else { panic!("{members:?}") };
    let Values::Compound { count: 12, members: pair } = &**elements else { panic!("{elements:?}") };
    let small = [100, 101, 102, 103, 104, 105, 200, 201, 202, 203, 204, 205];
    assert_eq!(pair[0].1, Values::I16(small.to_vec()));
    assert_eq!(members[2].1, Values::String(vec![Some((*b"one").into()), None]));
    assert_eq!(members[5].1.as_text(), None);

    let mut copies = [[0xff_u8; 2 * size_of::<Row>()]; 2];
    let [packed, copied] = copies.each_mut().map(|copy| copy.as_mut_ptr());
    // SAFETY: there is room for two rows each; what is freed was made here.
    unsafe {
        pack(&data_type, &values, packed).unwrap();
        copy(&data_type, packed, 2, copied).unwrap();
        free(&data_type, packed, 2).unwrap();
        assert_eq!(unpack(&data_type, copied, 2).unwrap(), values);
        let [first, second] = copied.cast::<[Row; 2]>().read_unaligned();
        assert_eq!((first.pairs, second.text), (rows[0].pairs, *b"abc"));
        assert!(second.name.is_null() && second.list.p.is_null());
        free(&data_type, copied, 2).unwrap();
        // A second time there is nothing left.
        free(&data_type, copied, 2).unwrap();
        assert!(copied.cast::<Row>().read_unaligned().name.is_null());
    }
}

#[test]
fn values_of_another_type_are_not_packed() {
    let fault = |data_type: &DataType, values: Values| {
        let mut to = [0_u64; 64];
        // SAFETY: room enough for everything here.
        unsafe { pack(data_type, &values, to.as_mut_ptr().cast()) }.unwrap_err()
    };
    let row = row_type();
    assert_eq!(fault(&Atomic::Int.into(), Values::F64(vec![1.0])), Status::EINTERNAL);
    assert_eq!(fault(&row, Values::I32(vec![1])), Status::EINTERNAL);
    let mut few = Values::zeros(&row, 1);
    if let Values::Compound { members, .. } = &mut few {
        members[2].1 = Values::String(vec![Some((*b"freed").into())]);
        members[5].1 = Values::I8(vec![1]);
    }
    assert_eq!(fault(&row, few), Status::EINTERNAL);
}

#[test]
fn what_points_nowhere_is_told() {
    let list = user(UserType::vlen("list", Atomic::Int).unwrap());
    let mut broken = [Sequence { len: 3, p: std::ptr::null_mut() }];
    let at: *mut u8 = broken.as_mut_ptr().cast();
    let mut to = [Sequence::EMPTY];
    // SAFETY: one sequence; one that points nowhere is not followed.
    unsafe {
        assert_eq!(unpack(&list, at, 1).unwrap_err(), Status::EINVAL);
        assert_eq!(free(&list, at, 1).unwrap_err(), Status::EINVAL);
        assert_eq!(copy(&list, at, 1, to.as_mut_ptr().cast()).unwrap_err(), Status::EINVAL);
        assert_eq!(unpack(&list, at, usize::MAX).unwrap_err(), Status::EINVAL);
    }
    assert!(to[0].p.is_null());
}
