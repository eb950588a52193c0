//! Groups, dimensions, types, variables and attributes of a file, defined in another.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_model::{Atomic, DataType, Field, UserClass, UserType};

use super::{CopyOptions, CutChunks, storage};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{File, Format, Group, LeftOut};
use crate::variable::Variable;
use crate::writer::{DimensionHandle, GroupWriter, VariableWriter, Writer};

/// What was defined so far, by its path.
pub(super) struct Definitions<'o> {
    options: &'o CopyOptions,
    /// The new file's name, for errors.
    file: Arc<str>,
    /// Of the file that is copied, and of the new one.
    formats: [Format; 2],
    groups: HashMap<String, GroupWriter>,
    dimensions: HashMap<String, DimensionHandle>,
    types: HashMap<String, DataType>,
    /// Each with its copy, in the order of their definition.
    pub(super) variables: Vec<Copied>,
    /// What could not be defined.
    pub(super) left_out: Vec<LeftOut>,
    /// Whose chunks are not as they were asked for.
    pub(super) cut_chunks: Vec<CutChunks>,
    /// Whose numbers are larger.
    pub(super) widened: Vec<Widened>,
}

/// A variable or attribute whose numbers are larger in the copy, where its format has none as small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widened {
    /// Its path.
    pub path: String,
    /// What they were, such as `float16`.
    pub from: &'static str,
    /// What they are.
    pub to: Atomic,
}

/// A variable and its copy.
pub(super) struct Copied {
    pub(super) from: Variable,
    pub(super) to: VariableWriter,
}

impl<'o> Definitions<'o> {
    pub(super) fn new(from: &File, into: &Writer, options: &'o CopyOptions) -> Result<Self> {
        let new = into.file();
        Ok(Self {
            options,
            file: new.name().into(),
            formats: [from.format()?, new.format()?],
            groups: HashMap::from([("/".to_owned(), into.root())]),
            dimensions: HashMap::new(),
            types: HashMap::new(),
            variables: Vec::new(),
            left_out: Vec::new(),
            cut_chunks: Vec::new(),
            widened: Vec::new(),
        })
    }

    /// Defines all that is in the file of this root group. Dimensions are numbered across groups, and
    /// variables may have types of any group: so each kind of thing is defined in all groups before
    /// the next.
    pub(super) fn define(&mut self, root: Group) -> Result<()> {
        let groups = self.define_groups(root)?;
        self.define_dimensions(&groups)?;
        for (group, _) in &groups {
            for user in group.types()?.iter() {
                let path = DataType::User(Arc::clone(user)).path();
                let defined = self.type_of(&DataType::User(Arc::clone(user)));
                self.attempt(&path, defined)?;
            }
        }
        for (group, new) in &groups {
            for attribute in group.attributes()?.iter() {
                let path = attribute_path(group.path(), attribute);
                let set = self.attribute(&path, attribute, |name, data_type, values| {
                    new.set_typed_attribute(name, data_type, values)
                });
                self.attempt(&path, set)?;
            }
            for variable in group.variables()? {
                let path = variable.path();
                let defined = self.define_variable(&variable, new);
                if let Some(to) = self.attempt(&path, defined)? {
                    self.variables.push(Copied { from: variable, to });
                }
            }
        }
        Ok(())
    }

    /// All groups with their copies, each before those in it.
    fn define_groups(&mut self, root: Group) -> Result<Vec<(Group, GroupWriter)>> {
        let mut defined = Vec::new();
        let mut waiting = vec![root];
        while let Some(group) = waiting.pop() {
            let new = match group.parent() {
                None => self.group(group.path()),
                Some(parent) => {
                    self.group(parent.path()).and_then(|parent| parent.define_group(group.name()))
                }
            };
            let Some(new) = self.attempt(group.path(), new)? else { continue };
            self.groups.insert(group.path().to_owned(), new.clone());
            for left_out in group.left_out()?.iter() {
                self.attempt(&left_out.path, Err::<(), _>(left_out.reason.clone()))?;
            }
            waiting.extend(group.groups()?.into_iter().rev());
            defined.push((group, new));
        }
        Ok(defined)
    }

    fn define_dimensions(&mut self, groups: &[(Group, GroupWriter)]) -> Result<()> {
        let mut dimensions: Vec<(i32, Dimension, &GroupWriter)> = Vec::new();
        for (group, new) in groups {
            for own in group.dimensions()?.iter() {
                dimensions.push((own.id()?, own.clone(), new));
            }
        }
        dimensions.sort_by_key(|(id, ..)| *id);
        for (_, dimension, new) in dimensions {
            let is_fixed = !self.options.keeps_unlimited(&dimension);
            let len = is_fixed.then(|| dimension.len()).transpose()?;
            let path = dimension.path();
            if let Some(defined) =
                self.attempt(&path, new.define_dimension(dimension.name(), len))?
            {
                self.dimensions.insert(path, defined);
            }
        }
        Ok(())
    }

    fn define_variable(
        &mut self,
        variable: &Variable,
        group: &GroupWriter,
    ) -> Result<VariableWriter> {
        let data_type = self.noted_type_of(variable.data_type(), || variable.path())?;
        let along = variable.dimensions()?;
        let along = along.iter().map(|dimension| {
            let path = dimension.path();
            let found = self.dimensions.get(&path).copied();
            found.ok_or_else(|| self.not_found("dimension", path))
        });
        let along = along.collect::<Result<Vec<_>>>()?;
        let options = storage::options(
            &self.file,
            variable,
            self.formats,
            self.options,
            &mut self.cut_chunks,
        )?;
        let attributes = variable.attributes()?;
        let new = group.define_variable(variable.name(), data_type, &along, options)?;
        for attribute in attributes.iter() {
            let path = attribute_path(&variable.path(), attribute);
            let set = self.attribute(&path, attribute, |name, data_type, values| {
                new.set_typed_attribute(name, data_type, values)
            });
            self.attempt(&path, set)?;
        }
        if storage::is_hdf5(self.formats[1]) {
            // The attribute that tells a fill value and what the file has as one need not be equal.
            if let Some(fill) = storage::fill(variable)? {
                new.change_options(|options| options.fill = fill)?;
            }
        }
        Ok(new)
    }

    fn attribute(
        &mut self,
        path: &str,
        attribute: &Attribute,
        set: impl FnOnce(&str, DataType, isotach_model::Values) -> Result<()>,
    ) -> Result<()> {
        let data_type = self.noted_type_of(attribute.data_type(), || path.to_owned())?;
        set(attribute.name(), data_type, attribute.values()?)
    }

    /// The type that something at `path` has in the new file; noted where its numbers become larger.
    fn noted_type_of(
        &mut self,
        data_type: &DataType,
        path: impl FnOnce() -> String,
    ) -> Result<DataType> {
        if let DataType::SmallFloat(format) = data_type
            && self.formats[1] != Format::NetCdf4
        {
            let to = Atomic::Float;
            self.widened.push(Widened { path: path(), from: format.name(), to });
            return Ok(to.into());
        }
        self.type_of(data_type)
    }

    /// The new file's type for one of the old; defined now where it was not yet, after those that it is
    /// made of.
    fn type_of(&mut self, data_type: &DataType) -> Result<DataType> {
        let DataType::User(user) = data_type else { return Ok(data_type.clone()) };
        let path = data_type.path();
        if let Some(defined) = self.types.get(&path) {
            return Ok(defined.clone());
        }
        let class = match &user.class {
            UserClass::Compound(fields) => {
                let fields = fields.iter().map(|field| {
                    Ok(Field { data_type: self.type_of(&field.data_type)?, ..field.clone() })
                });
                UserClass::Compound(fields.collect::<Result<_>>()?)
            }
            UserClass::Vlen(base) => UserClass::Vlen(self.type_of(base)?),
            class @ (UserClass::Enum { .. } | UserClass::Opaque) => class.clone(),
        };
        let new = UserType { class, ..UserType::clone(user) };
        let defined = self.group(&user.group)?.define_type(new)?;
        self.types.insert(path, defined.clone());
        Ok(defined)
    }

    fn group(&self, path: &str) -> Result<GroupWriter> {
        let found = self.groups.get(path).cloned();
        found.ok_or_else(|| self.not_found("group", path.to_owned()))
    }

    /// What was done at `path`; `None` where it failed and what fails is to be left out.
    fn attempt<T>(&mut self, path: &str, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(done) => Ok(Some(done)),
            Err(reason) if self.options.leave_out && !reason.fault().is_failure() => {
                self.left_out.push(LeftOut { path: path.to_owned(), reason });
                Ok(None)
            }
            Err(error) => Err(error.at(path)),
        }
    }

    fn not_found(&self, what: &'static str, name: String) -> Error {
        Error::new(&self.file, ErrorKind::NotFound { what, name })
    }
}

/// As CDL writes it.
fn attribute_path(owner: &str, attribute: &Attribute) -> String {
    format!("{}:{}", owner.trim_end_matches('/'), attribute.name())
}
