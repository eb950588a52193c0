//! A file as plain lists, for comparing what operations should have made of it with what a reader finds.

use std::collections::{BTreeMap, HashSet};

use isotach::model::selection::Selection;
use isotach::model::{Atomic, Values};
use isotach::{Attribute, File, Group, Result, Variable};

/// Attributes by name: integers are all they have here.
pub(super) type Attributes = BTreeMap<String, Vec<i32>>;

/// What is to be seen in a file, by what it is and its path.
pub(super) type View = BTreeMap<String, String>;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainFile {
    /// By path: `/`, `/a`, `/a/b`.
    pub(super) groups: BTreeMap<String, Attributes>,
    /// Never removed from the list, as variables refer to them by their index.
    pub(super) dimensions: Vec<PlainDimension>,
    pub(super) variables: Vec<PlainVariable>,
}

#[derive(Debug, Clone)]
pub(super) struct PlainDimension {
    /// The path of its group; `None` where it is gone.
    pub(super) group: Option<String>,
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) is_unlimited: bool,
}

#[derive(Debug, Clone)]
pub(super) struct PlainVariable {
    pub(super) group: String,
    pub(super) name: String,
    pub(super) kind: Atomic,
    pub(super) dimensions: Vec<usize>,
    /// How far it was written along each dimension.
    pub(super) extent: Vec<u64>,
    pub(super) fill: f64,
    /// What was written, by position.
    pub(super) elements: BTreeMap<Vec<u64>, f64>,
    pub(super) attributes: Attributes,
    /// Whether each of its values has one place: the first that is written there is seen before its commit.
    pub(super) shows_first: bool,
}

impl PlainFile {
    pub(super) fn new() -> Self {
        Self { groups: BTreeMap::from([("/".into(), Attributes::new())]), ..Self::default() }
    }

    pub(super) fn shape(&self, variable: &PlainVariable) -> Vec<u64> {
        variable.dimensions.iter().map(|&index| self.dimensions[index].len).collect()
    }

    /// What a reader should see; without values that no commit protects where they are left out.
    pub(super) fn view(&self, without_loose: bool) -> View {
        let mut view = View::new();
        for (path, attributes) in &self.groups {
            view.insert(format!("group {path}"), format!("{attributes:?}"));
        }
        for dimension in &self.dimensions {
            if let Some(group) = &dimension.group {
                let path = join(group, &dimension.name);
                let about = (dimension.len, dimension.is_unlimited);
                view.insert(format!("dimension {path}"), format!("{about:?}"));
            }
        }
        for variable in &self.variables {
            let along = variable.dimensions.iter().filter_map(|&index| {
                let dimension = &self.dimensions[index];
                dimension.group.as_ref().map(|group| join(group, &dimension.name))
            });
            let along: Vec<String> = along.collect();
            let attributes = &variable.attributes;
            let mut about = format!("{} {along:?} {attributes:?}", variable.kind.name());
            if !(without_loose && self.is_loose(variable)) {
                about += &format!(" {:?}", self.padded(variable));
            }
            view.insert(format!("variable {}", join(&variable.group, &variable.name)), about);
        }
        view
    }

    /// All elements in their order.
    fn padded(&self, variable: &PlainVariable) -> Vec<f64> {
        let element = |position| variable.elements.get(&position).copied().unwrap_or(variable.fill);
        positions(&self.shape(variable)).into_iter().map(element).collect()
    }

    /// Whether something was never written that no commit protects.
    fn is_loose(&self, variable: &PlainVariable) -> bool {
        let is_new = |position| !variable.elements.contains_key(&position);
        variable.shows_first && positions(&self.shape(variable)).into_iter().any(is_new)
    }

    /// Paths of the variables some of whose values no commit protects.
    pub(super) fn loose(&self) -> HashSet<String> {
        let loose = self.variables.iter().filter(|variable| self.is_loose(variable));
        loose.map(|variable| join(&variable.group, &variable.name)).collect()
    }

    /// Takes the values that no commit protects as they are.
    pub(super) fn adopt_loose(&mut self, file: &File) -> Result<()> {
        for index in 0..self.variables.len() {
            let variable = &self.variables[index];
            if self.is_loose(variable) {
                let found = file.variable(&join(&variable.group, &variable.name))?;
                let shape = self.shape(variable);
                self.variables[index].elements =
                    positions(&shape).into_iter().zip(numbers(&found)?).collect();
            }
        }
        Ok(())
    }
}

/// What a reader sees; of the variables in `without_values` not the values.
pub(super) fn seen(file: &File, without_values: &HashSet<String>) -> Result<View> {
    let mut view = View::new();
    look(&file.root(), without_values, &mut view)?;
    Ok(view)
}

fn look(group: &Group, without_values: &HashSet<String>, into: &mut View) -> Result<()> {
    let about = format!("{:?}", attributes(&group.attributes()?)?);
    into.insert(format!("group {}", group.path()), about);
    for dimension in group.dimensions()?.iter() {
        let about = (dimension.len()?, dimension.is_unlimited());
        into.insert(format!("dimension {}", dimension.path()), format!("{about:?}"));
    }
    for variable in group.variables()? {
        let kind = variable.data_type().name().to_owned();
        let along: Vec<String> =
            variable.dimensions()?.iter().map(isotach::Dimension::path).collect();
        let mut about = format!("{kind} {along:?} {:?}", attributes(&variable.attributes()?)?);
        if !without_values.contains(&variable.path()) {
            about += &format!(" {:?}", numbers(&variable)?);
        }
        into.insert(format!("variable {}", variable.path()), about);
    }
    assert!(group.left_out()?.is_empty(), "{:?} left out", group.left_out()?);
    group.groups()?.iter().try_for_each(|below| look(below, without_values, into))
}

fn attributes(found: &[Attribute]) -> Result<Attributes> {
    let mut all = Attributes::new();
    for attribute in found.iter().filter(|attribute| attribute.name() != "_FillValue") {
        let Values::I32(numbers) = attribute.values()? else {
            panic!("{} is {:?}", attribute.name(), attribute.values()?)
        };
        assert!(all.insert(attribute.name().to_owned(), numbers).is_none(), "an attribute twice");
    }
    Ok(all)
}

/// All elements as numbers: strings begin with theirs.
fn numbers(variable: &Variable) -> Result<Vec<f64>> {
    let all = Selection::all(&variable.shape()?);
    if variable.data_type().atomic() != Some(Atomic::String) {
        return Ok(variable.read_as::<f64>(&all)?.0);
    }
    let Values::String(strings) = variable.read(&all)? else { panic!("strings are no strings") };
    let number = |string: &Option<Box<[u8]>>| {
        let text = String::from_utf8_lossy(string.as_deref().unwrap_or(b"null"));
        match text.split_once(' ').map_or(&*text, |(number, _)| number) {
            "" => EMPTY,
            number => number.parse().unwrap_or_else(|_| panic!("{text:?} was never written")),
        }
    };
    Ok(strings.iter().map(number).collect())
}

/// What an empty string, the fill value of strings, stands for.
const EMPTY: f64 = -1.0;

/// A string that stands for a number, now and then a long one.
pub(super) fn string_of(number: f64) -> Option<Box<[u8]>> {
    let text = format!("{number} {}", "long ".repeat(number as usize % 5 * 40));
    Some(text.into_bytes().into())
}

/// netCDF's fill value of a type.
pub(super) fn default_fill(kind: Atomic) -> f64 {
    match kind {
        Atomic::Byte => -127.0,
        Atomic::Char => 0.0,
        Atomic::Short => -32767.0,
        Atomic::Int => -2_147_483_647.0,
        Atomic::Float | Atomic::Double => f64::from_bits(0x479e_0000_0000_0000),
        Atomic::UByte => 255.0,
        Atomic::UShort => 65535.0,
        Atomic::UInt => 4_294_967_295.0,
        Atomic::Int64 => -9_223_372_036_854_775_806.0,
        Atomic::UInt64 => 18_446_744_073_709_551_614.0,
        Atomic::String => EMPTY,
    }
}

/// All positions of a shape, the last axis fastest.
pub(super) fn positions(shape: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for &len in shape {
        let longer = |position: &Vec<u64>| {
            let position = position.clone();
            (0..len).map(move |last| [&position[..], &[last]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The path of what is called `name` in a group.
pub(super) fn join(group: &str, name: &str) -> String {
    format!("{}/{name}", group.trim_end_matches('/'))
}
