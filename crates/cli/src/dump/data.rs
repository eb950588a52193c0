//! The data section: rows of values, read in pieces and written as they come.

use isotach::model::{Atomic, DataType, Values, fill};
use isotach::{Dimension, Group, Readable, Variable};

use super::options::Language;
use super::printf::Format;
use super::text::Row;
use super::time::{char_attribute, units_of};
use super::value::Style;
use super::{Dump, name};
use crate::error::Result;
use crate::slabs::Slabs;

/// A longer attribute is no `C_format`.
const LONGEST_FORMAT: usize = 99;

/// A variable whose values are being written.
struct Written<'v> {
    variable: &'v Variable,
    shape: Vec<u64>,
    /// For each axis whether braces stand around its values: unlimited ones but the outermost.
    braces: Vec<bool>,
    style: Style,
    /// The row of chars under way, where rows are shown as text.
    text: Option<Row>,
}

impl Written<'_> {
    fn data_type(&self) -> &DataType {
        self.variable.data_type()
    }

    /// Values of a row.
    fn columns(&self) -> u64 {
        self.shape.last().copied().unwrap_or(1)
    }

    fn row_count(&self) -> u64 {
        self.shape.iter().rev().skip(1).product()
    }

    /// The indices of a row along all axes but the last.
    fn indices(&self, row: u64) -> Vec<u64> {
        let mut indices = vec![0; self.shape.len().saturating_sub(1)];
        let mut rest = row;
        for (index, &len) in indices.iter_mut().zip(&self.shape).rev() {
            *index = rest % len;
            rest /= len;
        }
        indices
    }

    /// How many braces stand at a row: one for each axis with braces, as long as the row is at
    /// the edge of all axes inside of it.
    fn brace_count(&self, indices: &[u64], is_edge: impl Fn(u64, u64) -> bool) -> usize {
        let mut count = 0;
        for axis in (1..self.shape.len()).rev() {
            count += usize::from(self.braces[axis]);
            if !is_edge(indices[axis - 1], self.shape[axis - 1]) {
                break;
            }
        }
        count
    }
}

impl Dump<'_, '_> {
    /// The values of those variables of a group that are wanted.
    pub(super) fn data(&mut self, group: &Group, variables: &[Variable]) -> Result<()> {
        if !variables.is_empty() {
            self.out.begin_line()?;
            self.out.put("data:\n")?;
        }
        for variable in variables {
            let dimensions = variable.dimensions()?;
            if self.wants_values(group, variable, &dimensions)? && !has_empty(&dimensions)? {
                self.values(variable, &dimensions)?;
            }
        }
        Ok(())
    }

    /// Whether the options ask for the values of a variable of this group.
    pub(super) fn wants_values(
        &self,
        group: &Group,
        variable: &Variable,
        dimensions: &[Dimension],
    ) -> Result<bool> {
        Ok(!self.options.header
            && self.wanted.group(group)
            && self.wanted.variable(group, variable.name())?
            && (!self.options.coordinates || is_coordinate(group, variable, dimensions)?))
    }

    fn values(&mut self, variable: &Variable, dimensions: &[Dimension]) -> Result<()> {
        let style = self.style(variable)?;
        let is_text = variable.data_type() == &DataType::Atomic(Atomic::Char)
            && style.format.as_ref().is_none_or(Format::is_string);
        let mut written = Written {
            variable,
            shape: dimensions.iter().map(Dimension::len).collect::<isotach::Result<_>>()?,
            braces: dimensions.iter().map(Dimension::is_unlimited).collect(),
            style,
            text: is_text.then(Row::default),
        };
        self.out.put("\n")?;
        self.out.begin_line()?;
        self.out.put(" ")?;
        self.out.put(name::escaped(variable.name()))?;
        if dimensions.len() <= 1 {
            self.out.put(" = ")?;
            self.out.list_at(variable.name().len() + 4);
        } else {
            self.out.put(" =\n  ")?;
            self.out.list_at(2);
        }
        match variable.array() {
            Ok(array) => {
                self.progress.message(&variable.path());
                self.pieces(&mut written, array.layout.element_size, Slabs::new(array))
            }
            Err(error) => self.values_gap(&error),
        }
    }

    fn pieces(
        &mut self,
        written: &mut Written<'_>,
        element_size: usize,
        slabs: Slabs,
    ) -> Result<()> {
        let mut position = 0;
        for (_, values) in slabs {
            match values {
                Ok(values) => {
                    self.piece(written, &values, &mut position)?;
                    self.progress.advance(values.len() as u64 * element_size as u64);
                }
                Err(error) => return self.values_gap(&error),
            }
        }
        Ok(())
    }

    /// Ends the values of a variable where the rest cannot be read.
    fn values_gap(&mut self, error: &isotach::Error) -> Result<()> {
        self.gap(error)?;
        Ok(self.out.put("\n")?)
    }

    /// Writes a piece of a variable that begins at the element `position`.
    fn piece(
        &mut self,
        written: &mut Written<'_>,
        values: &Values,
        position: &mut u64,
    ) -> Result<()> {
        let columns = written.columns();
        let mut row = *position / columns;
        let mut column = *position % columns;
        *position += values.len() as u64;
        let mut shown = Vec::new();
        for index in 0..values.len() {
            if column == 0 {
                self.begin_row(written, row)?;
            }
            let is_last = column + 1 == columns;
            shown.clear();
            if let (Some(text), Values::Char(chars)) = (&mut written.text, values) {
                text.push_next(&mut shown, chars[index]);
                if is_last {
                    shown.extend(text.end());
                }
                self.out.put(&shown)?;
                shown.clear();
            } else {
                written.style.push_element(&mut shown, values, index, written.data_type());
            }
            if is_last {
                self.end_row(written, row, &mut shown)?;
                (row, column) = (row + 1, 0);
                continue;
            }
            if written.text.is_none() {
                shown.extend_from_slice(b", ");
                self.element(written, row, column, &shown)?;
            }
            column += 1;
        }
        Ok(())
    }

    /// An element that is not the last of its row.
    fn element(
        &mut self,
        written: &Written<'_>,
        row: u64,
        column: u64,
        shown: &[u8],
    ) -> Result<()> {
        if !self.options.annotations.elements {
            return Ok(self.out.item(shown)?);
        }
        self.out.put(shown)?;
        self.annotate(written, row, column)
    }

    fn begin_row(&mut self, written: &Written<'_>, row: u64) -> Result<()> {
        let indices = written.indices(row);
        for _ in 0..written.brace_count(&indices, |index, _| index == 0) {
            self.out.item("{")?;
        }
        if self.options.annotations.rows && written.shape.len() > 1 {
            self.annotate_row(written, &indices)?;
        }
        Ok(())
    }

    /// The last element of a row, if it was not written yet, and what stands behind it.
    fn end_row(&mut self, written: &Written<'_>, row: u64, last: &mut Vec<u8>) -> Result<()> {
        let indices = written.indices(row);
        let braces = written.brace_count(&indices, |index, len| index + 1 == len);
        last.extend(std::iter::repeat_n(b'}', braces));
        let is_last_row = row + 1 == written.row_count();
        if self.options.annotations.elements {
            last.push(if is_last_row { b';' } else { b',' });
            self.out.put(last)?;
            return self.annotate(written, row, written.columns() - 1);
        }
        self.out.item(last)?;
        if is_last_row {
            self.out.item(" ;")?;
            self.out.item("\n")?;
        } else {
            self.out.item(",\n")?;
            self.out.item("  ")?;
        }
        Ok(())
    }

    /// The comment behind an element.
    fn annotate(&mut self, written: &Written<'_>, row: u64, column: u64) -> Result<()> {
        let mut indices = written.indices(row);
        indices.push(column);
        if self.options.annotations.language == Language::F {
            indices.reverse();
            indices.iter_mut().for_each(|index| *index += 1);
        }
        let shown: Vec<String> = indices.iter().map(u64::to_string).collect();
        self.out.put("  // ")?;
        self.out.put(name::escaped(written.variable.name()))?;
        Ok(self.out.put(format!("({})\n    ", shown.join(",")))?)
    }

    /// The comment before a row.
    fn annotate_row(&mut self, written: &Written<'_>, indices: &[u64]) -> Result<()> {
        let columns = written.columns();
        let shown = if self.options.annotations.language == Language::F {
            let begin = if columns == 1 { "1".to_owned() } else { format!("1-{columns} ") };
            let outer = indices.iter().rev().map(|index| format!(",{}", index + 1));
            begin + &outer.collect::<String>()
        } else {
            let outer: String = indices.iter().map(|index| format!("{index},")).collect();
            outer + &if columns == 1 { "0".to_owned() } else { format!(" 0-{}", columns - 1) }
        };
        self.out.put("// ")?;
        self.out.put(name::escaped(written.variable.name()))?;
        self.out.put(format!("({shown})\n"))?;
        self.out.begin_line()?;
        self.out.put("    ")?;
        self.out.list_at(4);
        Ok(())
    }

    fn style(&self, variable: &Variable) -> Result<Style> {
        let time = match self.options.time_separator() {
            Some(separator) => {
                let parent = self.bounds.as_ref().filter(|(name, _)| name == variable.name());
                let units = units_of(parent.map_or(variable, |(_, parent)| parent))?;
                units.map(|units| (units, separator))
            }
            None => None,
        };
        let precision = self.options.precision;
        let is_overridden = precision.overrides_format_of(variable.data_type().atomic());
        let format = if is_overridden { None } else { c_format(variable)? };
        let fill = fill_value(variable)?;
        Ok(Style { digits: precision.digits, format, time, fill })
    }
}

fn c_format(variable: &Variable) -> Result<Option<Format>> {
    let text = char_attribute(variable, "C_format")?;
    let text = text.filter(|text| text.len() <= LONGEST_FORMAT);
    Ok(text
        .and_then(|text| Format::parse(std::str::from_utf8(super::text::until_zero(&text)).ok()?)))
}

/// Whether no element is along one of them.
pub(super) fn has_empty(dimensions: &[Dimension]) -> isotach::Result<bool> {
    for dimension in dimensions {
        if dimension.is_empty()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is shown as `_`: the attribute, or the default fill value, except of bytes and of
/// user-defined types.
fn fill_value(variable: &Variable) -> Result<Option<Values>> {
    let own = variable
        .attribute("_FillValue")?
        .filter(|attribute| attribute.len() == 1 && attribute.data_type() == variable.data_type());
    if let Some(own) = own
        && let Some(values) = own.values().readable()?
    {
        return Ok(Some(values));
    }
    Ok(match variable.data_type().atomic() {
        None | Some(Atomic::Byte | Atomic::UByte) => None,
        Some(atomic) => Some(fill::default_fill(atomic)),
    })
}

/// Whether the variable has one dimension, and a dimension that can be used here has its name.
fn is_coordinate(group: &Group, variable: &Variable, dimensions: &[Dimension]) -> Result<bool> {
    Ok(dimensions.len() == 1 && group.find_dimension(variable.name())?.is_some())
}
