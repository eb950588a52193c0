//! Chunks of files that are written: found again after every commit, whichever index leads to them
//! and whatever filters they went through.

use std::collections::HashMap;
use std::path::Path;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{
    CreateOptions, DefinitionFault, ErrorKind, File, Fill, FilterRequest, Format, Layout,
    VariableOptions, Writer,
};

const LAYOUTS: [Layout; 2] = [Layout::Compatible, Layout::Latest];

/// Lengths of dimensions, `None` for unlimited ones, and a chunk shape.
const SHAPES: [(&[Option<u64>], &[u64]); 8] = [
    (&[Some(8), Some(8)], &[8, 8]),
    (&[Some(9), Some(20)], &[2, 3]),
    (&[Some(2000)], &[1]),
    (&[None], &[1]),
    (&[None, Some(7)], &[1, 2]),
    (&[Some(5), None, Some(3)], &[2, 1, 2]),
    (&[None, None], &[2, 1]),
    (&[None, Some(4), None], &[1, 3, 2]),
];

fn filters() -> Vec<FilterRequest> {
    vec![FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }]
}

/// Numbers that look random, the same at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn create(path: &Path, layout: Layout) -> Writer {
    let mut options = CreateOptions { layout, ..CreateOptions::new(Format::NetCdf4) };
    options.edit.commit_interval = None;
    options.create(path).unwrap()
}

/// Holds what a reader finds in the file against what was put into it.
fn assert_values(path: &Path, shape: &[u64], expected: &HashMap<Vec<u64>, i32>) {
    let file = File::open(path).unwrap();
    let variable = file.variable("v").unwrap();
    assert_eq!(variable.shape().unwrap(), shape);
    let (values, _) = variable.read_as::<i32>(&Selection::all(shape)).unwrap();
    let mut at = vec![0; shape.len()];
    for value in values {
        assert_eq!(value, expected.get(&at).copied().unwrap_or(-1), "{shape:?} {at:?}");
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            if at[axis] < shape[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
}

#[test]
fn every_index_after_every_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(1);
    for (number, (lens, chunk_shape)) in SHAPES.iter().enumerate() {
        for (layout, filters) in
            LAYOUTS.iter().flat_map(|layout| [(layout, vec![]), (layout, filters())])
        {
            let path = folder.path().join(format!("{number}-{layout:?}-{}.nc", filters.len()));
            let mut writer = create(&path, *layout);
            let dimensions: Vec<_> = lens
                .iter()
                .enumerate()
                .map(|(axis, len)| {
                    writer.root().define_dimension(&format!("d{axis}"), *len).unwrap()
                })
                .collect();
            let options = VariableOptions {
                chunk_shape: Some(chunk_shape.to_vec()),
                filters,
                fill: Fill::Value(Values::I32(vec![-1])),
                ..VariableOptions::default()
            };
            let mut variable =
                writer.root().define_variable("v", Atomic::Int, &dimensions, options).unwrap();
            let mut shape: Vec<u64> = lens.iter().map(|len| len.unwrap_or(0)).collect();
            let mut expected = HashMap::new();
            for commit in 0..8 {
                for _ in 0..random.below(200) {
                    let reach = if lens.len() == 1 { 300 } else { 12 } * (commit + 1);
                    let at: Vec<u64> =
                        lens.iter().map(|len| random.below(len.unwrap_or(reach))).collect();
                    let value = random.below(1 << 30) as i32;
                    let axes = at.iter().map(|&index| Axis::range(index, 1, 1)).collect();
                    variable.write_as(&Selection { axes }, &[value]).unwrap();
                    shape.iter_mut().zip(&at).for_each(|(len, at)| *len = (*len).max(at + 1));
                    expected.insert(at, value);
                }
                writer.commit().unwrap();
                assert_values(&path, &shape, &expected);
                if commit % 3 == 2 {
                    drop(variable);
                    writer.close().unwrap();
                    writer = Writer::open(&path).unwrap();
                    variable = writer.root().variable("v").unwrap().unwrap();
                }
            }
            writer.close().unwrap();
            assert_values(&path, &shape, &expected);
        }
    }
}

#[test]
fn chunks_far_apart() {
    let folder = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let path = folder.path().join("far.nc");
        let writer = create(&path, layout);
        let time = writer.root().define_dimension("time", None).unwrap();
        let options = VariableOptions { chunk_shape: Some(vec![1]), ..VariableOptions::default() };
        let variable = writer.root().define_variable("v", Atomic::Byte, &[time], options).unwrap();
        for at in [3_u64, 1 << 33, 1 << 31] {
            variable.write_as(&Selection { axes: vec![Axis::range(at, 1, 1)] }, &[7_i8]).unwrap();
            writer.commit().unwrap();
        }
        writer.close().unwrap();
        assert!(path.metadata().unwrap().len() < 1 << 20, "{layout:?}");
        let file = File::open(&path).unwrap();
        let axes = vec![Axis::Indices(vec![3, 1 << 31, 1 << 33])];
        let (values, _) = file.variable("v").unwrap().read_as::<i8>(&Selection { axes }).unwrap();
        assert_eq!(values, [7, 7, 7], "{layout:?}");
    }
}

#[test]
fn every_filter() {
    let registered = |id, parameters: &[u32]| {
        vec![FilterRequest::Registered { id, parameters: parameters.to_vec() }]
    };
    let requests = [
        filters(),
        vec![FilterRequest::Fletcher32],
        vec![FilterRequest::Szip { option_mask: 32, pixels_per_block: 8 }],
        vec![FilterRequest::ScaleOffset { scale_type: 2, scale_factor: 0 }],
        vec![FilterRequest::NBit],
        registered(307, &[9]),
        registered(32_000, &[]),
        registered(32_001, &[0, 0, 0, 0, 5, 1, 1]),
        registered(32_004, &[0]),
        registered(32_008, &[0, 2]),
        registered(32_015, &[3]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<i32> = (0..1000).map(|index| index * index % 10_007).collect();
    for (layout, request) in
        LAYOUTS.iter().flat_map(|layout| requests.iter().map(move |request| (layout, request)))
    {
        let path = folder.path().join("filters.nc");
        let writer = create(&path, *layout);
        let x = writer.root().define_dimension("x", Some(1000)).unwrap();
        let options = VariableOptions {
            chunk_shape: Some(vec![300]),
            filters: request.clone(),
            ..VariableOptions::default()
        };
        let variable = writer.root().define_variable("v", Atomic::Int, &[x], options).unwrap();
        variable.write_as(&Selection::all(&[1000]), &numbers).unwrap();
        writer.close().unwrap();
        let file = File::open(&path).unwrap();
        let variable = file.variable("v").unwrap();
        let (values, _) = variable.read_as::<i32>(&Selection::all(&[1000])).unwrap();
        assert_eq!(values, numbers, "{request:?}");
        assert_eq!(variable.storage().unwrap().filters.len(), request.len());
    }
}

#[test]
fn filters_that_cannot_be_applied_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (FilterRequest::Szip { option_mask: 4, pixels_per_block: 7 }, "szip"),
        (FilterRequest::Registered { id: 32_013, parameters: vec![] }, "zfp"),
        (FilterRequest::ScaleOffset { scale_type: 2, scale_factor: 0 }, "scaleoffset"),
    ];
    for (request, name) in cases {
        let writer = create(&folder.path().join("refused.nc"), Layout::Compatible);
        let x = writer.root().define_dimension("x", Some(10)).unwrap();
        let options = VariableOptions { filters: vec![request], ..VariableOptions::default() };
        // What no type allows is refused when it is defined, the rest when the type's part is known.
        let words = Values::String(vec![None; 10]);
        let error = writer
            .root()
            .define_variable("v", Atomic::String, &[x], options)
            .and_then(|variable| variable.write(&Selection::all(&[10]), &words))
            .unwrap_err();
        let ErrorKind::Definition(DefinitionFault::Filter(fault)) = error.kind else {
            panic!("{error}")
        };
        assert_eq!(fault.filter_name, name);
        writer.discard().unwrap();
    }
}
