//! `isotach info`: what is in a file, as tables or as JSON.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::Args;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Table, TableComponent, presets,
};
use isotach::model::{UserClass, UserType};
use isotach::plan::layout::Placement;
use isotach::{Dimension, FilterUse, Format, Group, Readable, StorageKind, Variable};
use serde_json::{Value, json};

use crate::error::Result;
use crate::reading::ReadOptions;
use crate::size;

/// Lists of names are broken into lines of about this length.
const WIDTH: usize = 80;
/// Columns of the table of variables; those without anything in them are not shown.
const COLUMNS: [&str; 8] =
    ["variable", "type", "dimensions", "shape", "storage", "filters", "size", "ratio"];
/// Those of them that hold numbers.
const NUMBERS: std::ops::Range<usize> = 6..8;

/// Options of `isotach info`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InfoOptions {
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
    /// The file
    pub(crate) file: OsString,
}

/// What a table says of a variable.
struct Row {
    name: String,
    type_name: String,
    /// What its numbers are where the type does not say so.
    number_name: Option<&'static str>,
    dimensions: Vec<Dimension>,
    shape: Vec<u64>,
    kind: &'static str,
    chunk_shape: Option<Vec<u64>>,
    filters: Vec<FilterUse>,
    stored_bytes: Option<u64>,
    logical_bytes: Option<u64>,
}

/// Shows the file on `sink`.
pub(crate) fn run(options: &InfoOptions, sink: &mut dyn Write) -> Result<()> {
    let file = options.read.open(&options.file)?;
    let format = format_name(file.format()?);
    let file_bytes = std::fs::metadata(&options.file).map_or(0, |metadata| metadata.len());
    if options.json {
        let root = group_json(&file.root())?;
        let told =
            json!({ "file": file.name(), "format": format, "bytes": file_bytes, "root": root });
        serde_json::to_writer_pretty(&mut *sink, &told).map_err(io::Error::from)?;
        writeln!(sink)?;
        return Ok(());
    }
    writeln!(sink, "{}: {format}, {}", file.name(), size::shown(file_bytes))?;
    let mut waiting = vec![file.root()];
    while let Some(group) = waiting.pop() {
        show_group(&group, sink)?;
        waiting.extend(group.groups()?.into_iter().rev());
    }
    Ok(())
}

/// The format for people.
pub(crate) fn format_name(format: Format) -> &'static str {
    match format {
        Format::Classic => "classic netCDF (CDF-1)",
        Format::Offset64Bit => "classic netCDF, 64-bit offset (CDF-2)",
        Format::Data64Bit => "classic netCDF, 64-bit data (CDF-5)",
        Format::NetCdf4 => "netCDF-4/HDF5",
        Format::NetCdf4Classic => "netCDF-4/HDF5, classic model",
    }
}

fn show_group(group: &Group, sink: &mut dyn Write) -> Result<()> {
    let rows = group.variables()?.iter().map(Row::new).collect::<isotach::Result<Vec<Row>>>()?;
    let dimensions = group.dimensions()?;
    let attribute_count = group.attributes()?.len();
    let left_out = group.left_out()?;
    writeln!(sink)?;
    let attributes = size::counted(attribute_count as u64, "attribute");
    writeln!(sink, "{}  ({attributes})", group.path())?;
    if !dimensions.is_empty() {
        let shown = dimensions.iter().map(dimension_text);
        let shown = shown.collect::<isotach::Result<Vec<String>>>()?;
        write_wrapped(sink, "  dimensions: ", &shown)?;
    }
    let types = group.types()?;
    if !types.is_empty() {
        let shown: Vec<String> = types.iter().map(|user| type_text(user)).collect();
        write_wrapped(sink, "  types: ", &shown)?;
    }
    if !rows.is_empty() {
        for line in table(&rows).to_string().lines() {
            writeln!(sink, "{}", line.trim_end())?;
        }
    }
    for left_out in left_out.iter() {
        writeln!(sink, "  left out: {}: {}", left_out.path, left_out.reason.kind)?;
    }
    Ok(())
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header(COLUMNS);
    let rows: Vec<_> = rows.iter().map(Row::cells).collect();
    table.add_rows(&rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 0 }, 2));
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if rows.iter().all(|cells| cells[index].is_empty()) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
    table
}

impl Row {
    /// What can be told of a variable. What is broken is left empty: `isotach check` says why.
    ///
    /// # Errors
    /// Storage failed.
    fn new(variable: &Variable) -> isotach::Result<Self> {
        let storage = variable.storage().readable()?;
        let array = variable.array().readable()?;
        let dimensions =
            variable.dimensions().readable()?.map_or_else(Vec::new, |all| all.to_vec());
        let stored_bytes = match &array {
            Some(array) => size::stored_bytes(array).readable()?,
            None => None,
        };
        let is_external = array
            .as_ref()
            .is_some_and(|array| matches!(array.layout.placement, Placement::External { .. }));
        let kind = storage.as_ref().map_or("?", |storage| match storage.kind {
            StorageKind::Contiguous if is_external => "external",
            StorageKind::Contiguous => "contiguous",
            StorageKind::Chunked => "chunked",
            StorageKind::Compact => "compact",
            StorageKind::Virtual => "virtual",
            StorageKind::Unknown => "unknown",
        });
        Ok(Self {
            name: variable.name().to_owned(),
            type_name: variable.data_type().name().to_owned(),
            number_name: variable.number_name().readable()?.flatten(),
            shape: dimensions.iter().map(Dimension::len).collect::<isotach::Result<_>>()?,
            dimensions,
            kind,
            chunk_shape: storage.as_ref().and_then(|storage| storage.chunk_shape.clone()),
            filters: storage.map_or_else(Vec::new, |storage| storage.filters.clone()),
            stored_bytes,
            logical_bytes: array.as_ref().and_then(|array| size::logical_bytes(array)),
        })
    }

    /// How many times smaller the stored bytes are.
    fn ratio(&self) -> Option<f64> {
        match (self.logical_bytes?, self.stored_bytes?) {
            (_, 0) => None,
            (logical, stored) => Some(logical as f64 / stored as f64),
        }
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let storage = match &self.chunk_shape {
            Some(chunk_shape) => format!("chunks {}", size::by(chunk_shape)),
            None => self.kind.to_owned(),
        };
        let filters: Vec<String> = self.filters.iter().map(filter_text).collect();
        let ratio = self.ratio().filter(|_| !self.filters.is_empty());
        let dimensions: Vec<&str> = self.dimensions.iter().map(Dimension::name).collect();
        [
            self.name.clone(),
            match self.number_name {
                Some(number) => format!("{} ({number})", self.type_name),
                None => self.type_name.clone(),
            },
            dimensions.join(", "),
            size::by(&self.shape),
            storage,
            filters.join(", "),
            self.stored_bytes.map_or_else(|| "?".to_owned(), size::shown),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}")),
        ]
    }

    fn json(&self) -> Value {
        let filters = self.filters.iter().map(|filter| {
            json!({ "id": filter.id, "name": filter.name, "parameters": filter.parameters })
        });
        json!({
            "name": self.name,
            "type": self.type_name,
            "number": self.number_name,
            "dimensions": self.dimensions.iter().map(Dimension::path).collect::<Vec<_>>(),
            "shape": self.shape,
            "storage": self.kind,
            "chunk_shape": self.chunk_shape,
            "filters": filters.collect::<Vec<_>>(),
            "bytes": self.logical_bytes,
            "stored_bytes": self.stored_bytes,
            "ratio": self.ratio(),
        })
    }
}

fn group_json(root: &Group) -> Result<Value> {
    let variables = root.variables()?;
    let variables = variables.iter().map(|variable| Ok(Row::new(variable)?.json()));
    let variables = variables.collect::<Result<Vec<Value>>>()?;
    let dimensions = root.dimensions()?;
    let dimensions = dimensions.iter().map(|dimension| {
        let (len, unlimited) = (dimension.len()?, dimension.is_unlimited());
        Ok(json!({ "name": dimension.name(), "length": len, "unlimited": unlimited }))
    });
    let dimensions = dimensions.collect::<Result<Vec<Value>>>()?;
    let types = root.types()?;
    let types = types.iter().map(|user| json!({ "name": user.name, "class": class_name(user) }));
    let left_out = root.left_out()?;
    let left_out = left_out.iter().map(
        |left_out| json!({ "path": left_out.path, "reason": left_out.reason.kind.to_string() }),
    );
    let attributes = root.attributes()?;
    let groups = root.groups()?;
    let groups: Result<Vec<Value>> = groups.iter().map(group_json).collect();
    Ok(json!({
        "path": root.path(),
        "attributes": attributes.iter().map(|attribute| attribute.name()).collect::<Vec<_>>(),
        "dimensions": dimensions,
        "types": types.collect::<Vec<_>>(),
        "variables": variables,
        "left_out": left_out.collect::<Vec<_>>(),
        "groups": groups?,
    }))
}

fn class_name(user: &UserType) -> &'static str {
    match user.class {
        UserClass::Compound(_) => "compound",
        UserClass::Enum { .. } => "enum",
        UserClass::Opaque => "opaque",
        UserClass::Vlen(_) => "vlen",
    }
}

fn type_text(user: &UserType) -> String {
    format!("{} ({})", user.name, class_name(user))
}

fn dimension_text(dimension: &Dimension) -> isotach::Result<String> {
    let unlimited = if dimension.is_unlimited() { " (unlimited)" } else { "" };
    Ok(format!("{} = {}{unlimited}", dimension.name(), dimension.len()?))
}

fn filter_text(filter: &FilterUse) -> String {
    const DEFLATE: u16 = 1;
    match filter.parameters.first() {
        Some(level) if filter.id == DEFLATE => format!("{} {level}", filter.name),
        _ => filter.name.clone(),
    }
}

/// Writes a list with commas, broken into lines at commas.
fn write_wrapped(sink: &mut dyn Write, title: &str, items: &[String]) -> io::Result<()> {
    write!(sink, "{title}")?;
    let mut position = title.len();
    for (index, item) in items.iter().enumerate() {
        let comma = if index + 1 == items.len() { "" } else { "," };
        let len = item.chars().count() + 2;
        if index > 0 && position + len > WIDTH {
            write!(sink, "\n{:1$}", "", title.len())?;
            position = title.len();
        } else if index > 0 {
            write!(sink, " ")?;
        }
        write!(sink, "{item}{comma}")?;
        position += len;
    }
    writeln!(sink)
}
