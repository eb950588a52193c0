//! Definitions into a file.

use std::ops::Range;

use isotach::model::Values;
use isotach::model::selection::{Axis, Selection};
use isotach::{
    DimensionHandle, Fill, FilterRequest, Format, GroupWriter, Result, VariableOptions,
    VariableWriter, Writer,
};

use super::definitions::{Attribute, Definitions, Settings, Variable};
use super::error::Refused;
use super::syntax::Position;

type Written<T> = std::result::Result<T, Refused>;

/// Defines and writes all that the text defines.
pub(super) fn write(all: &Definitions, format: Format, to: &Writer) -> Written<()> {
    let groups = define_groups(all, to)?;
    for defined in &all.types {
        groups[defined.group].define_type((*defined.user).clone()).at(defined.at)?;
    }
    let dimension = |dimension: &super::definitions::Dimension| {
        let len = (!dimension.is_unlimited).then_some(dimension.len);
        groups[dimension.group].define_dimension(&dimension.name, len).at(dimension.at)
    };
    let dimensions = all.dimensions.iter().map(dimension).collect::<Written<Vec<_>>>()?;
    for (group, writer) in all.groups.iter().zip(&groups) {
        for Attribute { at, name, data_type, values } in &group.attributes {
            writer.set_typed_attribute(name, data_type.clone(), values.clone()).at(*at)?;
        }
    }
    let variable = |variable| define_variable(variable, format, &groups, &dimensions);
    let variables = all.variables.iter().map(variable).collect::<Written<Vec<_>>>()?;
    for (variable, writer) in all.variables.iter().zip(&variables) {
        if let Some(data) = &variable.data {
            write_data(writer, &all.shape(variable), data).at(variable.at)?;
        }
    }
    Ok(())
}

/// All groups, with nothing in them.
fn define_groups(all: &Definitions, to: &Writer) -> Written<Vec<GroupWriter>> {
    let mut groups: Vec<GroupWriter> = Vec::with_capacity(all.groups.len());
    for group in &all.groups {
        groups.push(match group.parent {
            None => to.root(),
            Some(parent) => groups[parent].define_group(&group.name).at(group.at)?,
        });
    }
    Ok(groups)
}

fn define_variable(
    variable: &Variable,
    format: Format,
    groups: &[GroupWriter],
    dimensions: &[DimensionHandle],
) -> Written<VariableWriter> {
    let along: Vec<_> = variable.dimensions.iter().map(|&index| dimensions[index]).collect();
    let options = match format {
        Format::NetCdf4 | Format::NetCdf4Classic => options(&variable.settings),
        // Classic files have no choice.
        Format::Classic | Format::Offset64Bit | Format::Data64Bit => VariableOptions::default(),
    };
    let data_type = variable.data_type.clone();
    let group = &groups[variable.group];
    let writer =
        group.define_variable(&variable.name, data_type, &along, options).at(variable.at)?;
    for Attribute { at, name, data_type, values } in &variable.attributes {
        writer.set_typed_attribute(name, data_type.clone(), values.clone()).at(*at)?;
    }
    if variable.settings.no_fill == Some(true) {
        // Also where there is a `_FillValue`, which then says nothing of what was never written.
        writer.change_options(|options| options.fill = Fill::None).at(variable.at)?;
    }
    Ok(writer)
}

/// Filters stand in the order in which libnetcdf applies those of a text.
fn options(settings: &Settings) -> VariableOptions {
    let mut filters = Vec::new();
    if settings.fletcher32 == Some(true) {
        filters.push(FilterRequest::Fletcher32);
    }
    if settings.shuffle == Some(true) {
        filters.push(FilterRequest::Shuffle);
    }
    filters.extend(settings.deflate_level.map(|level| FilterRequest::Deflate { level }));
    let registered = settings.filters.iter().map(|(id, parameters)| FilterRequest::Registered {
        id: *id,
        parameters: parameters.clone(),
    });
    filters.extend(registered);
    VariableOptions {
        layout: settings.storage,
        chunk_shape: settings.chunk_shape.clone(),
        filters,
        endianness: settings.endianness,
        quantization: settings.quantization,
        ..VariableOptions::default()
    }
}

/// The first elements of a variable, row-major.
fn write_data(writer: &VariableWriter, shape: &[u64], data: &Values) -> Result<()> {
    for (selection, range) in boxes(shape, data.len()) {
        if range == (0..data.len()) {
            writer.write(&selection, data)?;
        } else {
            writer.write(&selection, &data.slice(range))?;
        }
    }
    Ok(())
}

/// Boxes that the first `count` elements of a shape fill, each with its place among the elements:
/// whole rows along the first axis, those of the row after them along the second, and so on.
fn boxes(shape: &[u64], count: usize) -> Vec<(Selection, Range<usize>)> {
    if shape.is_empty() {
        return (count > 0).then(|| (Selection::all(shape), 0..1)).into_iter().collect();
    }
    let mut boxes = Vec::new();
    let (mut begin, mut corner) = (0, Vec::with_capacity(shape.len()));
    for inner in 1..=shape.len() {
        let row_len = shape[inner..].iter().fold(1_u64, |len, &next| len.saturating_mul(next));
        let rows = ((count - begin) as u64).checked_div(row_len).unwrap_or(0);
        if rows > 0 {
            let before = corner.iter().map(|&at| Axis::range(at, 1, 1));
            let behind = shape[inner..].iter().map(|&len| Axis::range(0, len, 1));
            let axes = before.chain([Axis::range(0, rows, 1)]).chain(behind).collect();
            // So many elements are in memory.
            let end = begin + (rows * row_len) as usize;
            boxes.push((Selection { axes }, begin..end));
            begin = end;
        }
        corner.push(rows);
    }
    boxes
}

/// Says where in the text is what the engine refuses.
trait At<T> {
    fn at(self, at: Position) -> Written<T>;
}

impl<T> At<T> for Result<T> {
    fn at(self, at: Position) -> Written<T> {
        self.map_err(|source| Refused { at, source: Box::new(source) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_the_first_elements() {
        let shown = |shape: &[u64], count| -> Vec<(String, Range<usize>)> {
            let boxes = boxes(shape, count).into_iter();
            boxes.map(|(selection, range)| (selection.to_string(), range)).collect()
        };
        let text = |selection: &str, range| (selection.to_owned(), range);
        assert_eq!(shown(&[], 0), []);
        assert_eq!(shown(&[], 1), [text("[]", 0..1)]);
        assert_eq!(shown(&[4], 0), []);
        assert_eq!(shown(&[4], 3), [text("[0:3]", 0..3)]);
        assert_eq!(shown(&[2, 3], 6), [text("[0:2, 0:3]", 0..6)]);
        assert_eq!(shown(&[0, 3], 0), []);
        assert_eq!(shown(&[3, 0], 0), []);
        let three = [
            text("[0:1, 0:3, 0:4]", 0..12),
            text("[1:2, 0:2, 0:4]", 12..20),
            text("[1:2, 2:3, 0:1]", 20..21),
        ];
        assert_eq!(shown(&[2, 3, 4], 21), three);
    }
}
