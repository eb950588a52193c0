use proptest::prelude::*;

use super::*;

/// Indices, the shape NumPy gives, and its first six elements of `arange(210).reshape(5, 6, 7)`.
const NUMPY: &[(&str, &[u64], &[u64])] = &[
    ("", &[5, 6, 7], &[0, 1, 2, 3, 4, 5]),
    ("2", &[6, 7], &[84, 85, 86, 87, 88, 89]),
    ("-1,3", &[7], &[189, 190, 191, 192, 193, 194]),
    ("1:4", &[3, 6, 7], &[42, 43, 44, 45, 46, 47]),
    ("::2,::-1", &[3, 6, 7], &[35, 36, 37, 38, 39, 40]),
    ("...,0", &[5, 6], &[0, 7, 14, 21, 28, 35]),
    ("0,...,-1", &[6], &[6, 13, 20, 27, 34, 41]),
    ("8:2:-3", &[1, 6, 7], &[168, 169, 170, 171, 172, 173]),
    ("-100:100,100:", &[5, 0, 7], &[]),
    ("4:1:-2,None,5", &[2, 1, 7], &[203, 204, 205, 206, 207, 208]),
    ("newaxis,...", &[1, 5, 6, 7], &[0, 1, 2, 3, 4, 5]),
    ("3:3", &[0, 6, 7], &[]),
    ("::-7", &[1, 6, 7], &[168, 169, 170, 171, 172, 173]),
    ("[0,2,4]", &[3, 6, 7], &[0, 1, 2, 3, 4, 5]),
    ("[4,1],...", &[2, 6, 7], &[168, 169, 170, 171, 172, 173]),
    ("-3:,:-2,::3", &[3, 4, 3], &[84, 87, 90, 91, 94, 97]),
    ("1,2,3", &[], &[59]),
    ("5:0:-1,0:6:4", &[4, 2, 7], &[168, 169, 170, 171, 172, 173]),
    (":,newaxis,1:3,...", &[5, 1, 2, 7], &[7, 8, 9, 10, 11, 12]),
];

/// The row-major numbers of the selected elements.
fn elements(selection: &Selection, shape: &[u64]) -> Vec<u64> {
    let mut elements = vec![0];
    for (axis, &len) in selection.axes.iter().zip(shape) {
        elements = elements
            .iter()
            .flat_map(|&outer| axis.positions().map(move |position| outer * len + position))
            .collect();
    }
    elements
}

fn indexed(text: &str, shape: &[u64]) -> Indexed {
    Selection::from_indices(&parse_indices(text).unwrap(), shape).unwrap()
}

#[test]
fn indexes_as_numpy() {
    let shape = [5, 6, 7];
    for (text, result_shape, first) in NUMPY {
        let indexed = indexed(text, &shape);
        assert_eq!(indexed.result_shape, *result_shape, "{text}");
        assert!(indexed.selection.fits(&shape), "{text}");
        let all = elements(&indexed.selection, &shape);
        assert_eq!(all.iter().take(6).copied().collect::<Vec<_>>(), *first, "{text}");
        assert_eq!(all.len() as u64, result_shape.iter().product::<u64>(), "{text}");
        assert_eq!(indexed.selection.element_count(), Some(all.len() as u64), "{text}");
    }
}

#[test]
fn keeps_the_origin_of_axes() {
    assert_eq!(indexed(":,newaxis,1,...", &[5, 6, 7]).kept_axes, [Some(0), None, Some(2)]);
}

#[test]
fn lists_select_orthogonally_and_become_ranges() {
    let indexed = indexed("[4,2,0],[1,2],[0,0,3]", &[5, 6, 7]);
    assert_eq!(indexed.result_shape, [3, 2, 3]);
    assert_eq!(
        indexed.selection.axes,
        [
            Axis::Range { start: 4, count: 3, stride: -2 },
            Axis::Range { start: 1, count: 2, stride: 1 },
            Axis::Indices(vec![0, 0, 3]),
        ]
    );
    assert_eq!(indexed.selection.to_string(), "[4::-2, 1:3, [0, 0, 3]]");
    let mask = Index::Mask(vec![false, true, true, false, true]);
    let masked = Selection::from_indices(&[mask], &[5]).unwrap();
    assert_eq!(masked.selection.axes, [Axis::Indices(vec![1, 2, 4])]);
}

#[test]
fn bad_indices_are_told() {
    let error =
        |text: &str| Selection::from_indices(&parse_indices(text).unwrap(), &[5, 6]).unwrap_err();
    assert_eq!(error("5"), SelectionError::Index { axis: 0, index: 5, len: 5 });
    assert_eq!(error("0,-7"), SelectionError::Index { axis: 1, index: -7, len: 6 });
    assert_eq!(error(":,[0,6]"), SelectionError::Index { axis: 1, index: 6, len: 6 });
    assert_eq!(error("::0"), SelectionError::Step { axis: 0 });
    assert_eq!(error("0,0,0"), SelectionError::TooManyIndices { given: 3, rank: 2 });
    assert_eq!(error("...,..."), SelectionError::SeveralEllipses);
    let mask = [Index::Mask(vec![true; 4])];
    assert_eq!(
        Selection::from_indices(&mask, &[5]).unwrap_err(),
        SelectionError::Mask { axis: 0, mask_len: 4, len: 5 }
    );
}

#[test]
fn bad_texts_are_told() {
    use ParseIndexError::{Brackets, Colons, Empty, Integer};
    assert_eq!(parse_indices("  "), Ok(vec![]));
    assert_eq!(parse_indices("1,,2"), Err(Empty));
    assert_eq!(parse_indices("1,"), Err(Empty));
    assert_eq!(parse_indices("a:2"), Err(Integer("a".into())));
    assert_eq!(parse_indices("99999999999999999999"), Err(Integer("99999999999999999999".into())));
    assert_eq!(parse_indices("1:2:3:4"), Err(Colons("1:2:3:4".into())));
    assert_eq!(parse_indices("[1,2"), Err(Brackets("[1,2".into())));
    assert_eq!(parse_indices("[1]2"), Err(Brackets("[1]2".into())));
    assert_eq!(parse_indices("[]"), Ok(vec![Index::Integers(vec![])]));
}

#[test]
fn hyperslabs_keep_netcdfs_rules() {
    let shape = [10, 4];
    let slab = |start, count, stride| Selection::hyperslab(start, count, stride, &shape);
    assert_eq!(
        slab(&[1, 0], &[3, 4], Some(&[4, 1])).unwrap().axes,
        [Axis::Range { start: 1, count: 3, stride: 4 }, Axis::all(4)]
    );
    assert!(slab(&[10, 0], &[0, 4], None).unwrap().is_empty());
    assert_eq!(
        slab(&[10, 0], &[1, 4], None),
        Err(SelectionError::Coordinates { axis: 0, start: 10, len: 10 })
    );
    assert_eq!(
        slab(&[11, 0], &[0, 4], None),
        Err(SelectionError::Coordinates { axis: 0, start: 11, len: 10 })
    );
    assert_eq!(
        slab(&[0, 1], &[10, 4], None),
        Err(SelectionError::Edge { axis: 1, start: 1, count: 4, stride: 1, len: 4 })
    );
    assert_eq!(
        slab(&[99, 0], &[1, 1], Some(&[1, 0])),
        Err(SelectionError::Stride { axis: 1, stride: 0 })
    );
    assert_eq!(slab(&[0], &[1, 1], None), Err(SelectionError::Rank { given: 1, rank: 2 }));
    let huge = Selection::hyperslab(&[u64::MAX - 1], &[u64::MAX], Some(&[i64::MAX]), &[u64::MAX]);
    assert!(matches!(huge, Err(SelectionError::Edge { .. })));
    assert_eq!(Selection::hyperslab(&[], &[], None, &[]).unwrap().element_count(), Some(1));
}

#[test]
fn contiguity_is_seen() {
    let shape = [5, 6, 7];
    let run = |text: &str| indexed(text, &shape).selection.contiguous_run(&shape);
    assert_eq!(run(""), 210);
    assert_eq!(run("1:3"), 84);
    assert_eq!(run("1:3,2:4"), 14);
    assert_eq!(run("2,3,1:5"), 4);
    assert_eq!(run("...,::2"), 1);
    assert_eq!(run("::-1"), 42);
    assert_eq!(run("0:0"), 0);
    assert!(indexed("3,1:4", &shape).selection.is_contiguous(&shape));
    assert!(!indexed("1:3,2:4", &shape).selection.is_contiguous(&shape));
    assert!(indexed("0:5,...", &shape).selection.is_all(&shape));
    assert!(!indexed("::-1", &shape).selection.is_all(&shape));
}

fn bound() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![Just(None), (-15i64..15).prop_map(Some), Just(Some(i64::MIN)), Just(Some(i64::MAX)),]
}

/// Python's slice, as its documentation describes it, one position after the other.
fn naive_slice(start: Option<i64>, stop: Option<i64>, step: i64, len: i64) -> Vec<u64> {
    let clip = |end: i64| {
        let end = if end < 0 { end.saturating_add(len) } else { end };
        if step > 0 { end.clamp(0, len) } else { end.clamp(-1, len - 1) }
    };
    let mut at = start.map_or(if step > 0 { 0 } else { len - 1 }, clip);
    let stop = stop.map_or(if step > 0 { len } else { -1 }, clip);
    let mut positions = Vec::new();
    while if step > 0 { at < stop } else { at > stop } {
        positions.push(at.cast_unsigned());
        at = at.saturating_add(step);
    }
    positions
}

proptest! {
    #[test]
    fn slices_as_python(start in bound(), stop in bound(), step in bound(), len in 0i64..12) {
        prop_assume!(step != Some(0));
        let index = Index::Slice { start, stop, step };
        let indexed = Selection::from_indices(&[index], &[len.cast_unsigned()]).unwrap();
        let axis = &indexed.selection.axes[0];
        let expected = naive_slice(start, stop, step.unwrap_or(1), len);
        prop_assert!(axis.fits(len.cast_unsigned()));
        prop_assert_eq!(axis.positions().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn positions_survive_as_an_axis(
        positions in prop_oneof![
            prop::collection::vec(0u64..20, 0..6),
            (0u64..5, 1u64..4, 0usize..6).prop_map(|(start, step, count)| {
                (0..count as u64).map(|i| start + i * step).rev().collect()
            }),
            prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 0..4),
        ],
        block_len in 1u64..9,
    ) {
        let axis = Axis::from_positions(positions.clone());
        let even = positions.windows(3).all(|w| {
            w[1].wrapping_sub(w[0]) == w[2].wrapping_sub(w[1])
        });
        if positions.iter().all(|&p| p < 100) {
            let still = positions.len() > 1 && positions[0] == positions[1];
            prop_assert_eq!(matches!(axis, Axis::Range { .. }), even && !still);
        }
        prop_assert_eq!(axis.positions().collect::<Vec<_>>(), positions.clone());
        let min_max = positions.iter().min().zip(positions.iter().max());
        prop_assert_eq!(axis.bounds(), min_max.map(|(&min, &max)| (min, max)));
        let len = positions.iter().max().map_or(0, |max| max.saturating_add(1));
        prop_assert_eq!(axis.fits(len), positions.iter().all(|&p| p < len));

        let mut at = 0;
        let mut previous = None;
        for run in axis.block_runs(block_len) {
            prop_assert!(run.count > 0);
            prop_assert_eq!(run.first, at);
            prop_assert_ne!(previous, Some(run.block));
            for index in run.first..run.first + run.count {
                prop_assert_eq!(positions[usize::try_from(index).unwrap()] / block_len, run.block);
            }
            at += run.count;
            previous = Some(run.block);
        }
        prop_assert_eq!(at, axis.len());
    }

    #[test]
    fn hyperslabs_accept_what_fits(
        start in 0u64..12, count in 0u64..12, stride in -2i64..5, len in 0u64..12,
    ) {
        let slab = Selection::hyperslab(&[start], &[count], Some(&[stride]), &[len]);
        let positions = || (0..count).map(|i| start + i * stride.unsigned_abs());
        let expected = if stride <= 0 {
            Err(SelectionError::Stride { axis: 0, stride })
        } else if start > len || (start == len && count > 0) {
            Err(SelectionError::Coordinates { axis: 0, start, len })
        } else if positions().any(|position| position >= len) {
            Err(SelectionError::Edge { axis: 0, start, count, stride, len })
        } else {
            Ok(positions().collect::<Vec<_>>())
        };
        prop_assert_eq!(slab.map(|slab| slab.axes[0].positions().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn contiguous_runs_hold_neighbours(
        picks in prop::collection::vec((1u64..4, prop::collection::vec(0u64..3, 1..4)), 1..4),
    ) {
        let shape: Vec<u64> = picks.iter().map(|(len, _)| *len).collect();
        let axes = picks.iter().map(|(len, positions)| {
            Axis::from_positions(positions.iter().map(|position| position % len).collect())
        });
        let selection = Selection { axes: axes.collect() };
        let elements = elements(&selection, &shape);
        let run = usize::try_from(selection.contiguous_run(&shape)).unwrap();
        prop_assert!(run > 0 && elements.len().is_multiple_of(run));
        for piece in elements.chunks(run) {
            prop_assert!(piece.windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
        let one_run = elements.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(selection.is_contiguous(&shape), one_run);
        let all = elements.iter().copied().eq(0..shape.iter().product());
        prop_assert_eq!(selection.is_all(&shape), all);
    }

    #[test]
    fn no_text_panics(text in "[-0-9:,.\\[\\] a]{0,24}") {
        if let Ok(indices) = parse_indices(&text) {
            let _ = Selection::from_indices(&indices, &[4, 5, 6]);
        }
    }
}
