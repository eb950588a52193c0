//! What has attributes: a group or a variable.

use std::borrow::Cow;
use std::ffi::c_int;
use std::ops::Deref;
use std::sync::Arc;

use isotach::Attribute;
use isotach::model::names::normalized;
use isotach::model::{DataType, Values};

use crate::handle;
use crate::model::{AttributeList, GroupNode, OpenFile, VariableNode, is_by_netcdf};
use crate::status::Outcome;
use crate::variable::NC_GLOBAL;

/// Attributes of the file itself that netCDF-4 tells by name only.
pub(super) const SPECIAL: [&str; 3] = ["_NCProperties", "_IsNetcdf4", "_SuperblockVersion"];

/// A group, or a variable of it.
pub(crate) struct Holder {
    pub(super) file: Arc<OpenFile>,
    group: Arc<GroupNode>,
    pub(super) variable: Option<Arc<VariableNode>>,
}

/// The attributes of a holder: those that are kept, or as they are at the moment.
pub(crate) enum Attributes<'a> {
    Kept(&'a AttributeList),
    Current(AttributeList),
}

impl Deref for Attributes<'_> {
    type Target = AttributeList;

    fn deref(&self) -> &AttributeList {
        match self {
            Self::Kept(list) => list,
            Self::Current(list) => list,
        }
    }
}

impl Holder {
    /// The group, or the variable of it, that two ids mean.
    ///
    /// # Errors
    /// `NC_EBADID`, `NC_ENOTVAR`.
    pub(crate) fn find(group: c_int, variable: c_int) -> Outcome<Self> {
        let (file, group) = handle::group(group)?;
        Self::of(file, group, variable)
    }

    /// The group, or the variable of it that an id means.
    ///
    /// # Errors
    /// `NC_ENOTVAR`.
    pub(super) fn of(file: Arc<OpenFile>, group: Arc<GroupNode>, id: c_int) -> Outcome<Self> {
        let variable = match id {
            NC_GLOBAL => None,
            _ => Some(group.variable(id)?),
        };
        Ok(Self { file, group, variable })
    }

    /// All attributes. Where the file is only read, they are looked at once.
    pub(crate) fn attributes(&self) -> Outcome<Attributes<'_>> {
        if self.file.writer.is_some() {
            return Ok(Attributes::Current(self.look_at_all()?));
        }
        self.kept().map(Attributes::Kept)
    }

    /// Those of a file that is only read.
    fn kept(&self) -> Outcome<&AttributeList> {
        let kept = match &self.variable {
            Some(variable) => &variable.attributes,
            None => &self.group.attributes,
        };
        if let Some(known) = kept.get() {
            return Ok(known);
        }
        let found = self.look_at_all()?;
        Ok(kept.get_or_init(|| found))
    }

    fn look_at_all(&self) -> Outcome<AttributeList> {
        let all = match &self.variable {
            Some(variable) => variable.variable.attributes()?,
            None => self.group.group().attributes()?,
        };
        let all = match all.iter().all(|attribute| self.is_shown(attribute)) {
            true => all,
            false => all.iter().filter(|attribute| self.is_shown(attribute)).cloned().collect(),
        };
        Ok(AttributeList::new(all))
    }

    /// Attributes of types that netCDF has no number for are as good as not there.
    fn is_shown(&self, attribute: &Attribute) -> bool {
        self.file.type_id(attribute.data_type()).is_ok()
    }

    /// How many attributes.
    pub(crate) fn count(&self) -> Outcome<usize> {
        let is_unknown = self.file.writer.is_none() && self.group.attributes.get().is_none();
        let group = self.group.group();
        if self.variable.is_none() && is_unknown && is_by_netcdf(&group)? {
            return Ok(group.attribute_count()?);
        }
        Ok(self.attributes()?.len())
    }

    /// The attribute of that name.
    pub(super) fn attribute(&self, name: &str) -> Outcome<Option<Cow<'_, Attribute>>> {
        if self.is_special(name) {
            return Ok(self.file.group(0)?.group().attribute(name)?.map(Cow::Owned));
        }
        if self.file.writer.is_none() {
            let all = self.kept()?;
            let found = number_of(all, name).and_then(|number| all.at(number));
            return Ok(found.map(Cow::Borrowed));
        }
        let found = match &self.variable {
            Some(variable) => variable.variable.attribute(name)?,
            None => self.group.group().attribute(name)?,
        };
        Ok(found.filter(|attribute| self.is_shown(attribute)).map(Cow::Owned))
    }

    /// Its number among the others.
    pub(super) fn number(&self, name: &str) -> Outcome<Option<usize>> {
        Ok(number_of(&*self.attributes()?, name))
    }

    /// True for what a netCDF-4 file tells of itself, whichever of its groups is asked.
    pub(super) fn is_special(&self, name: &str) -> bool {
        self.variable.is_none() && self.file.is_hdf5() && SPECIAL.contains(&name)
    }

    /// Sets an attribute.
    pub(super) fn set(&self, name: &str, data_type: DataType, values: Values) -> Outcome {
        match &self.variable {
            Some(variable) => variable.writer()?.set_typed_attribute(name, data_type, values)?,
            None => self.group.writing()?.set_typed_attribute(name, data_type, values)?,
        }
        Ok(())
    }

    /// Deletes an attribute.
    pub(super) fn delete(&self, name: &str) -> Outcome {
        match &self.variable {
            Some(variable) => variable.writer()?.delete_attribute(name)?,
            None => self.group.writing()?.delete_attribute(name)?,
        }
        Ok(())
    }

    /// Renames an attribute.
    pub(super) fn rename(&self, from: &str, to: &str) -> Outcome {
        match &self.variable {
            Some(variable) => variable.writer()?.rename_attribute(from, to)?,
            None => self.group.writing()?.rename_attribute(from, to)?,
        }
        Ok(())
    }
}

/// Files may have names that are not in composed form.
fn number_of(all: &AttributeList, name: &str) -> Option<usize> {
    all.number(name).or_else(|| all.number(&normalized(name)))
}
