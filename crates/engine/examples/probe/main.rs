use isotach::model::selection::{Axis, Selection};
use isotach::model::*;
use isotach::*;
fn sel(axes: &[(u64, u64)]) -> Selection {
    Selection { axes: axes.iter().map(|&(s, c)| Axis::range(s, c, 1)).collect() }
}
fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap();
    let kind = std::env::args().nth(2).unwrap();
    let plain = VariableOptions::default;
    if kind == "edit" {
        let w = Writer::open(&path)?;
        let root = w.root();
        root.set_attribute("edited", "by isotach")?;
        let z = root.define_dimension("zz_new", Some(2))?;
        let v = root.define_variable("zz_var", Atomic::Int, &[z], plain())?;
        v.write_as(&sel(&[(0, 2)]), &[7, 8])?;
        return w.close();
    }
    if kind == "many" {
        let t = std::time::Instant::now();
        let w = CreateOptions::default().create(&path)?;
        let root = w.root();
        let dims: Vec<_> = ["a", "b", "c", "d"]
            .iter()
            .map(|n| root.define_dimension(n, Some(4)).unwrap())
            .collect();
        for i in 0..10_000 {
            let v =
                root.define_variable(&format!("variable_{i}"), Atomic::Float, &dims, plain())?;
            for a in 0..10 {
                v.set_attribute(&format!("attribute_{a}"), f64::from(a))?;
            }
        }
        let d = t.elapsed();
        w.close()?;
        println!("define {d:?} total {:?}", t.elapsed());
        return Ok(());
    }
    let w = CreateOptions::default().create(&path)?;
    let root = w.root();
    root.set_attribute("title", "hello")?;
    root.set_attribute("n", 3)?;
    root.set_attribute("f", vec![1.0, 2.0])?;
    root.set_attribute("empty", "")?;
    root.set_attribute("strings", vec!["a".to_owned(), "bc".to_owned()])?;
    let time = root.define_dimension("time", None)?;
    let lat = root.define_dimension("lat", Some(3))?;
    let bnd = root.define_dimension("bnd", Some(2))?;
    let t = root.define_variable("time", Atomic::Double, &[time], plain())?;
    t.set_attribute("units", "days since 2000-01-01")?;
    let o = VariableOptions {
        filters: vec![
            FilterRequest::Fletcher32,
            FilterRequest::Shuffle,
            FilterRequest::Deflate { level: 1 },
        ],
        ..plain()
    };
    let v = root.define_variable("v", Atomic::Float, &[time, lat, bnd], o)?;
    let i = root.define_variable(
        "w",
        Atomic::Int,
        &[lat],
        VariableOptions { fill: Fill::Value(Values::I32(vec![-1])), ..plain() },
    )?;
    root.define_variable("s", Atomic::Short, &[], plain())?;
    root.define_variable("bnd", Atomic::Int, &[time, bnd], plain())?;
    root.define_variable(
        "big",
        Atomic::Double,
        &[lat],
        VariableOptions { endianness: Some(Endianness::Big), ..plain() },
    )?
    .write_as(&sel(&[(0, 3)]), &[1.5, 2.5, 3.5])?;
    let st = root.define_variable("st", Atomic::String, &[lat], plain())?;
    st.write(
        &sel(&[(0, 2)]),
        &Values::String(vec![Some(b"x".to_vec().into()), Some(b"longer".to_vec().into())]),
    )?;
    v.write_as(&sel(&[(0, 2), (0, 3), (0, 2)]), &[1.0f32; 12])?;
    t.write_as(&sel(&[(0, 2)]), &[1.0, 2.0])?;
    i.write_as(&sel(&[(1, 1)]), &[5])?;
    let g = root.define_group("g")?;
    let k = g.define_dimension("k", Some(4))?;
    let q = g.define_variable("q", Atomic::Int64, &[k, lat], plain())?;
    q.write_as(&sel(&[(0, 4), (0, 3)]), &(0..12).collect::<Vec<i64>>())?;
    let ct = root.define_type(UserType {
        name: "ct".into(),
        group: String::new(),
        size: 24,
        class: UserClass::Compound(vec![
            Field { name: "a".into(), offset: 0, data_type: Atomic::Int.into(), shape: vec![] },
            Field { name: "b".into(), offset: 8, data_type: Atomic::Double.into(), shape: vec![2] },
        ]),
    })?;
    let cv = root.define_variable("cv", ct, &[lat], plain())?;
    cv.write(
        &sel(&[(0, 1)]),
        &Values::Compound {
            count: 1,
            members: vec![
                ("a".into(), Values::I32(vec![4])),
                (
                    "b".into(),
                    Values::Array {
                        len: 2,
                        count: 1,
                        elements: Box::new(Values::F64(vec![0.5, 0.25])),
                    },
                ),
            ],
        },
    )?;
    let vl = root.define_type(UserType {
        name: "vl".into(),
        group: String::new(),
        size: 16,
        class: UserClass::Vlen(Atomic::Int.into()),
    })?;
    let vv = root.define_variable("vv", vl, &[lat], plain())?;
    vv.write(
        &sel(&[(0, 2)]),
        &Values::Sequence(vec![Values::I32(vec![1, 2, 3]), Values::I32(vec![4])]),
    )?;
    let en = root.define_type(UserType {
        name: "en".into(),
        group: String::new(),
        size: 1,
        class: UserClass::Enum {
            base: Atomic::UByte,
            members: vec![("A".into(), 0), ("B".into(), 5)],
        },
    })?;
    root.define_variable("ev", en, &[lat], plain())?;
    for n in 0..20 {
        root.define_variable(&format!("more_{n}"), Atomic::Byte, &[lat], plain())?;
    }
    w.close()
}
