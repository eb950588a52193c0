use isotach::model::{Atomic, NameFault, Values};
use isotach::{Endianness, Format, Quantization, StorageKind};

use super::*;

fn text(declarations: &str, data: &str) -> String {
    format!(
        "netcdf a {{ types: int(*) list; byte enum e {{one = 1, two = 2}}; opaque(3) raw;
        compound pair {{ int n; char t(3); double d(2); }};
        dimensions: n = 2; m = 3; r = UNLIMITED; u = unlimited;
        variables: {declarations} data: {data} }}"
    )
}

fn defined(text: &str) -> Definitions {
    definitions(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The shape and data of the variable `x`.
fn data(declarations: &str, values: &str) -> (Vec<u64>, Values) {
    let all = defined(&text(declarations, &format!("x = {values};")));
    let x = all.variables.iter().find(|variable| variable.name == "x").unwrap();
    (all.shape(x), x.data.clone().unwrap())
}

fn fault(text: &str) -> (u32, u32, CdlFault) {
    let CdlError { at, fault } = definitions(text.as_bytes()).unwrap_err();
    (at.line, at.column, fault)
}

fn data_fault(declarations: &str, values: &str) -> CdlFault {
    fault(&text(declarations, &format!("x = {values};"))).2
}

#[test]
fn times_are_hours_since_1970() {
    let hours = |text: &str| data("double x(n);", &format!("time({text}), 5.")).1;
    assert_eq!(hours("\"2000-01-02\""), Values::from([262_992.0, 5.0]));
    assert_eq!(hours(" \"1969-12-31 12:30:15.5\" "), Values::from([-11.495_694_444_444_444, 5.0]));
    assert_eq!(hours("\"1582-10-04\""), Values::from([-3_394_512.0, 5.0]));
    assert_eq!(data("int x(n);", "time(\"2000-1-2 6\")").1, Values::from([262_998]));
    assert_eq!(data_fault("double x(n);", "time(\"noon\")"), CdlFault::Time);
    assert_eq!(data_fault("double x(n);", "time(\"2000-13-01\")"), CdlFault::Time);
    let fault = data_fault("double x(n);", "time(2000)");
    assert!(matches!(fault, CdlFault::Expected { .. }), "{fault}");
    // It is no word of its own.
    assert_eq!(data("double time(n), x(n);", "1.").1, Values::from([1.0]));
}

#[test]
fn compounds_without_constants_are_filled() {
    let (shape, values) = data("pair x(m);", "{1, {\"abc\"}, {2., 3.}}, {4}");
    let Values::Compound { count, members } = values else { panic!("{values:?}") };
    assert_eq!((shape, count), (vec![3], 3));
    let none = isotach::model::fill::DOUBLE;
    assert_eq!(members[0].1, Values::from([1, 4, isotach::model::fill::INT]));
    let Values::Array { elements, .. } = &members[2].1 else { panic!("{:?}", members[2]) };
    assert_eq!(**elements, Values::from([2.0, 3.0, none, none, none, none]));
}

#[test]
fn lists_of_unlimited_dimensions_nest() {
    const NONE: i32 = isotach::model::fill::INT;
    let (shape, values) = data("int x(r, n);", "1, 2, 3");
    assert_eq!((shape, values), (vec![2, 2], Values::from([1, 2, 3])));
    let (shape, values) = data("int x(r, n, u);", "{1}, {}, {3}, {4, 5}");
    assert_eq!(shape, [2, 2, 2]);
    assert_eq!(values, Values::from([1, NONE, NONE, NONE, 3, NONE, 4, 5]));
    let (shape, values) = data("int x(n, r); x:_FillValue = 7;", "{1}, {_, 2}");
    assert_eq!((shape, values), (vec![2, 2], Values::from([1, 7, 7, 2])));
    assert_eq!(data_fault("int x(n, r);", "1, 2"), CdlFault::Braces { wanted: true });
    assert_eq!(data_fault("int x(n);", "{1, 2}"), CdlFault::Braces { wanted: false });
    assert_eq!(data_fault("int x(n);", "1, 2, 3"), CdlFault::TooMany { room: 2 });
    // Another variable makes the dimension longer.
    let (shape, values) = data("int y(r); int x(r);", "1; y = 1, 2, 3");
    assert_eq!((shape, values), (vec![3], Values::from([1])));
}

#[test]
fn texts_fill_rows() {
    let chars = |declarations: &str, values: &str| match data(declarations, values) {
        (shape, Values::Char(chars)) => (shape, String::from_utf8(chars).unwrap()),
        other => panic!("{other:?}"),
    };
    let x = |shape: &[u64], chars: &str| (shape.to_vec(), chars.to_owned());
    assert_eq!(chars("char x(n, m);", "\"a\", \"bcd\""), x(&[2, 3], "a\0\0bcd"));
    assert_eq!(chars("char x(n, m); x:_FillValue = \"-\";", "\"a\""), x(&[2, 3], "a--"));
    assert_eq!(chars("char x(n, n);", "'a', 'b', 'c'"), x(&[2, 2], "abc\0"));
    assert_eq!(chars("char x(r, m);", "\"\", \"ab\""), x(&[2, 3], "\0\0\0ab\0"));
    assert_eq!(chars("char x(r, u);", "{\"a\"}, {\"bc\", \"d\"}"), x(&[2, 3], "a\0\0bcd"));
    assert_eq!(chars("char x(m);", "\"a\\n\",\n \"b\""), x(&[3], "a\nb"));
    assert_eq!(chars("char x(n, m);", "\"a\\n\",\n \"b\", \"c\""), x(&[2, 3], "a\nbc\0\0"));
    assert_eq!(chars("char x;", "\"\\x41\""), x(&[], "A"));
    assert_eq!(data_fault("char x(n);", "\"abc\""), CdlFault::TooMany { room: 2 });
    let data_type = "char".to_owned();
    assert_eq!(data_fault("char x(n);", "1.5"), CdlFault::Constant { data_type });
}

#[test]
fn values_of_user_types() {
    let (_, lists) = data("list x(n);", "{1, 2}, _");
    let none = Values::from([isotach::model::fill::INT]);
    assert_eq!(lists, Values::Sequence(vec![Values::from([1, 2]), none]));
    assert_eq!(data("e x(n);", "two, e.one").1, Values::from([2_i8, 1]));
    let (_, raw) = data("raw x(n);", "0x1, 0XaBcdEF99");
    assert_eq!(raw, Values::Bytes { size: 3, bytes: vec![0x10, 0, 0, 0xab, 0xcd, 0xef] });
    let (_, pairs) = data("pair x;", "{-0, {\"ab\"}, {-0}}");
    let double = |elements: [f64; 2]| Values::Array {
        len: 2,
        count: 1,
        elements: Box::new(Values::from(elements)),
    };
    let chars =
        Values::Array { len: 3, count: 1, elements: Box::new(Values::Char(b"ab\0".to_vec())) };
    let Values::Compound { count: 1, members } = pairs else { panic!("{pairs:?}") };
    assert_eq!(members[0], ("n".into(), Values::from([0])));
    assert_eq!(members[1], ("t".into(), chars));
    assert_eq!(members[2], ("d".into(), double([0.0, isotach::model::fill::DOUBLE])));
    assert!(members[2].1.canonical_bytes().starts_with(&(-0.0_f64).to_le_bytes()));
    let (_, strings) = data("string x(m);", "\"a\", NIL, _");
    assert_eq!(strings, Values::String(vec![Some(b"a"[..].into()), None, Some(Box::default())]));
    let what = "member of the enumeration";
    let name = "three".to_owned();
    assert_eq!(data_fault("e x(n);", "three"), CdlFault::Unknown { what, name });
    assert_eq!(data_fault("pair x;", "{1, {\"a\"}, {1}, 2}"), CdlFault::TooMany { room: 3 });
    assert_eq!(data_fault("pair x;", "{1, 2}"), CdlFault::Braces { wanted: true });
    assert_eq!(data_fault("int x;", "NIL"), CdlFault::NoFill);
}

#[test]
fn attributes_have_the_widest_type() {
    let values = |constants: &str| {
        let all = defined(&format!("netcdf a {{ :x = {constants}; }}"));
        all.groups[0].attributes[0].values.clone()
    };
    assert_eq!(values("1b, 2s, 3"), Values::from([1, 2, 3]));
    assert_eq!(values("1us, 2s"), Values::from([1_i16, 2]));
    assert_eq!(values("1, 2.5f"), Values::from([1.0_f32, 2.5]));
    assert_eq!(values("1.f, 2."), Values::from([1.0, 2.0]));
    assert_eq!(values("1ull, -1"), Values::from([1, u64::MAX]));
    assert_eq!(values("18446744073709551615, 1."), Values::from([u64::MAX, 1]));
    assert_eq!(values("'a', 1b"), Values::from([97_i8, 1]));
    assert_eq!(values("\"a\", \"b\""), Values::from("ab"));
    assert_eq!(values(""), Values::Char(vec![0]));
    let mixed = |constants: &str| fault(&format!("netcdf a {{ :x = {constants}; }}"));
    assert_eq!(mixed("\"a\", 1"), (1, 22, CdlFault::MixedAttribute));
    assert_eq!(mixed("{1}"), (1, 17, CdlFault::MixedAttribute));
    assert_eq!(fault("netcdf a { int :x = 1, _; }"), (1, 24, CdlFault::NoFill));
}

#[test]
fn one_word_before_an_attribute_is_a_variable_or_a_type() {
    let all = defined(&text(
        "int list(n), e(n), raw(n), pair(n); double other(n);
        list:a = 1, 2; e:a = 5b; pair:a = \"text\"; other:a = 2.;
        list :b = {1, 2}, {3}; e :b = two, one; pair :b = {1, {\"abc\"}, {1., 2.}};",
        "",
    ));
    let of_group: Vec<_> =
        all.groups[0].attributes.iter().map(|one| (&*one.name, one.data_type.name())).collect();
    assert_eq!(of_group, [("b", "list"), ("b", "e"), ("b", "pair")]);
    for variable in &all.variables {
        let count = if variable.name == "raw" { 0 } else { 1 };
        assert_eq!(variable.attributes.len(), count, "{}", variable.name);
        assert!(variable.attributes.iter().all(|one| one.name == "a"), "{}", variable.name);
    }
    // Without a type of that name it is the variable, which needs another.
    let (_, _, error) = fault(&text("int x(n); x:a = {1, 2};", ""));
    assert_eq!(error, CdlFault::MixedAttribute);
}

#[test]
fn names_are_looked_up_in_groups() {
    let all = defined(
        "netcdf \\2 {{ dimensions: \\1st = 2; variables: int data(\\1st); data :a\\ b = 1;
            string data :s = \"x\"; double :t = 1; // comment
         group: g { types: opaque(2) o; dimensions: n = 3; variables: o v(\\1st, n), data; /* * */
            group: h { variables: /g/o v(/g/n); data: v = 0x1; } :late = 1; } }"
            .replace("{{", "{")
            .as_str(),
    );
    let paths: Vec<&str> = all.groups.iter().map(|group| group.path.as_str()).collect();
    assert_eq!(paths, ["/", "/g", "/g/h"]);
    assert_eq!(all.variables[0].attributes[0].name, "a b");
    assert_eq!(all.variables[0].attributes[1].data_type, Atomic::String.into());
    assert_eq!(all.groups[0].attributes[0].values, Values::from([1.0]));
    assert_eq!((all.variables[1].group, &all.variables[1].dimensions[..]), (1, &[0, 1][..]));
    assert_eq!((all.variables[3].group, &all.variables[3].dimensions[..]), (2, &[1][..]));
    assert_eq!(all.variables[3].data_type.path(), "/g/o");
    assert_eq!(all.groups[1].attributes[0].name, "late");
}

#[test]
fn variables_can_be_called_like_sections() {
    let all = defined(
        "netcdf a { variables: int data, group; data:x = 1; string data:y = \"a\"; group:z = 2;
         data: data = 3; group = 4; }",
    );
    let names = |index: usize| -> Vec<&str> {
        all.variables[index].attributes.iter().map(|attribute| attribute.name.as_str()).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["x", "y"], vec!["z"]));
    assert_eq!(all.variables[0].data, Some(Values::from([3])));
    let all = defined("netcdf a { variables: int x; data:x = 1; }");
    assert_eq!(all.variables[0].data, Some(Values::from([1])));
}

#[test]
fn special_attributes_are_settings() {
    let all = defined(&text(
        "int x(n, m); x:_ChunkSizes = 1, 2; x:_DeflateLevel = 4; x:_Shuffle = \"true\";
         x:_Fletcher32 = 0; x:_Endianness = \"big\"; x:_NoFill = \"false\"; x:_Codecs = \"[]\";
         x:_QuantizeBitRoundNumberOfSignificantBits = 7;
         x:_Filter = \"307,9|40000\"; :_Format = \"netCDF-4\"; :_NCProperties = \"v\";",
        "",
    ));
    let expected = Settings {
        storage: Some(StorageKind::Chunked),
        chunk_shape: Some(vec![1, 2]),
        deflate_level: Some(4),
        shuffle: Some(true),
        fletcher32: Some(false),
        endianness: Some(Endianness::Big),
        no_fill: Some(false),
        quantization: Some(Quantization::BitRound(7)),
        filters: vec![(307, vec![9]), (40000, vec![])],
    };
    assert_eq!(all.variables[0].settings, expected);
    assert_eq!(all.format, Some(Format::NetCdf4));
    assert!(all.variables[0].attributes.is_empty() && all.groups[0].attributes.is_empty());
    let digits = "_QuantizeBitGroomNumberOfSignificantDigits = -1";
    for wrong in
        [digits, "_DeflateLevel = 10", "_Storage = \"loose\"", "_Shuffle = 2", "_Filter = \"a\""]
    {
        let text = text(&format!("int x; x:{wrong};"), "");
        assert!(matches!(fault(&text).2, CdlFault::Special { .. }), "{wrong}");
    }
}

#[test]
fn faults_have_a_place() {
    let expected = |expected, found: &str| CdlFault::Expected { expected, found: found.into() };
    let cases = [
        ("", 1, 1, expected("\"netcdf\"", "the end of the text")),
        ("netcdf a {\n dimensions:\n\tn 2 ;", 3, 4, expected("\":\"", "a constant")),
        ("netcdf a { :x = 1 }", 1, 19, expected("\";\"", "'}'")),
        ("netcdf a { } x", 1, 14, expected("the end of the text", "\"x\"")),
        ("netcdf a { :x = \"y", 1, 17, CdlFault::Unterminated { what: "text" }),
        ("netcdf a { /* x", 1, 12, CdlFault::Unterminated { what: "comment" }),
        ("netcdf a { :x = 'ab'; }", 1, 17, CdlFault::Char),
        ("netcdf a { :x = 1e; }", 1, 17, CdlFault::Number { text: "1e".into() }),
        ("netcdf a { :x = 300b; }", 1, 17, CdlFault::NumberRange { text: "300b".into() }),
        ("netcdf a { ? }", 1, 12, CdlFault::Byte { byte: b'?' }),
    ];
    for (text, line, column, expected) in cases {
        assert_eq!(fault(text), (line, column, expected), "{text}");
    }
    let unknown = |what, name: &str| CdlFault::Unknown { what, name: name.into() };
    let duplicate = |what, name: &str| CdlFault::Duplicate { what, name: name.into() };
    let cases = [
        ("int x(k);", unknown("dimension", "k")),
        ("int x(/g/n);", unknown("group", "g")),
        ("thing x;", unknown("type", "thing")),
        ("int x; float x;", duplicate("variable", "x")),
        ("int x; y:a = 1;", unknown("type", "y")),
        ("int x; x:_FillValue = 1, 2;", CdlFault::FillCount { variable: "x".into() }),
        ("char x; x:_FillValue = \"ab\";", CdlFault::FillCount { variable: "x".into() }),
        ("int x; list x:_FillValue = {1};", CdlFault::FillType { variable: "x".into() }),
        ("int x\\ ;", CdlFault::Name { name: "x ".into(), fault: NameFault::TrailingSpace }),
    ];
    for (declarations, expected) in cases {
        assert_eq!(fault(&text(declarations, "")).2, expected, "{declarations}");
    }
    let deep = format!("netcdf a {{ int :x = {}", "{".repeat(1000));
    assert_eq!(fault(&deep).2, CdlFault::TooDeep { limit: 128 });
}

#[test]
fn lengths_alone_cost_nothing() {
    let huge = "netcdf a { dimensions: n = 1000000000000; variables: int x(n); data: x = 1; }";
    assert_eq!(defined(huge).variables[0].data, Some(Values::from([1])));
    let lists = "netcdf a { dimensions: n = 1000000000000; u = UNLIMITED;
        variables: int x(n, u); data: x = {1}; }";
    assert_eq!(fault(lists).2, CdlFault::TooLarge);
    let member =
        "netcdf a { types: compound c { byte b(4000000000); }; variables: c x; data: x = _; }";
    assert_eq!(fault(member).2, CdlFault::TooLarge);
}

/// Damaged texts are refused or mean something else; nothing panics.
#[test]
fn damaged_texts_are_survived() {
    let whole = text(
        "int x(r, n, u); char c(r, m); pair p(n); list l; e f; string s; x:a = 1b, 0x1fs, 'a';",
        "x = {1}, {2, -3.5e2}; c = \"a\\n\", \"b\"; p = {1, {\"a\"}, {1, 2}}; l = {1}; f = e.two;",
    );
    for at in 0..whole.len() {
        for byte in *b"{}(),;:=*\"'\\/0_ \xff" {
            let mut damaged = whole.clone().into_bytes();
            damaged[at] = byte;
            let _either = definitions(&damaged);
        }
        let _either = definitions(&whole.as_bytes()[..at]);
    }
}
