//! A group and its variables by id.

use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use indexmap::IndexMap;
use isotach::sync::{OnceLock, RwLock};
use isotach::{Dimension, Format, Group, GroupWriter, Readable, VariableWriter};

use super::{AttributeList, VariableNode};
use crate::status::{Outcome, Status};
use crate::variable::Said;

/// A group of an open file.
pub(crate) struct GroupNode {
    /// Its number in the file: the lower half of its id.
    pub(crate) number: u16,
    /// The number of the group above it.
    pub(crate) parent: Option<u16>,
    /// What it is; another handle after a rename, which has another path.
    handles: std::sync::RwLock<Handles>,
    /// By varid and by name, where the file is only read: they stay what they are, and need no lock.
    fixed_variables: OnceLock<Variables>,
    /// The same where the file may be changed; `None` before anybody asked.
    variables: RwLock<Option<Variables>>,
    /// Kept where the file is only read.
    pub(crate) attributes: OnceLock<AttributeList>,
    is_writable: bool,
}

#[derive(Clone)]
struct Handles {
    group: Group,
    writer: Option<GroupWriter>,
}

type Variables = IndexMap<Arc<str>, OnceLock<Arc<VariableNode>>>;

impl GroupNode {
    /// The root group of a file.
    pub(crate) fn root(group: Group, writer: Option<GroupWriter>) -> Self {
        Self::new(0, None, group, writer)
    }

    pub(crate) fn new(
        number: u16,
        parent: Option<u16>,
        group: Group,
        writer: Option<GroupWriter>,
    ) -> Self {
        let is_writable = writer.is_some();
        Self {
            number,
            parent,
            handles: std::sync::RwLock::new(Handles { group, writer }),
            fixed_variables: OnceLock::new(),
            variables: RwLock::default(),
            attributes: OnceLock::new(),
            is_writable,
        }
    }

    /// The group of that name in this one, as the group of that number.
    pub(crate) fn below(&self, name: &str, number: u16) -> Outcome<Option<Self>> {
        let Handles { group, writer } = self.handles();
        let Some(group) = group.group(name)? else { return Ok(None) };
        let writer = match writer {
            Some(writer) => writer.group(name)?,
            None => None,
        };
        Ok(Some(Self::new(number, Some(self.number), group, writer)))
    }

    fn handles(&self) -> Handles {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The group as a reader has it.
    pub(crate) fn group(&self) -> Group {
        self.handles().group
    }

    /// Its writer, where the file may be changed.
    pub(crate) fn writer(&self) -> Option<GroupWriter> {
        self.handles().writer
    }

    /// Its writer.
    ///
    /// # Errors
    /// `NC_EPERM` where the file was opened for reading.
    pub(crate) fn writing(&self) -> Outcome<GroupWriter> {
        self.writer().ok_or(Status::EPERM)
    }

    /// Its dimensions by ascending id, but for those that only variables have which are not shown.
    pub(crate) fn dimensions(&self) -> Outcome<Vec<Dimension>> {
        let found = self.group().dimensions()?;
        Ok(found.iter().filter(|dimension| !dimension.is_foreign()).cloned().collect())
    }

    /// The id of its dimension of that name.
    pub(crate) fn dimension_id(&self, name: &str) -> Outcome<Option<c_int>> {
        let found = self.dimensions()?.into_iter().find(|dimension| dimension.name() == name);
        Ok(found.map(|found| found.id()).transpose()?)
    }

    /// How many variables it has: their ids are the numbers below.
    pub(crate) fn variable_count(&self) -> Outcome<usize> {
        self.with_variables(|variables| Ok(variables.len()))
    }

    /// The variable of that id.
    ///
    /// # Errors
    /// `NC_ENOTVAR`.
    pub(crate) fn variable(&self, id: c_int) -> Outcome<Arc<VariableNode>> {
        let index = usize::try_from(id).map_err(|_| Status::ENOTVAR)?;
        self.with_variables(|variables| {
            let (name, node) = variables.get_index(index).ok_or(Status::ENOTVAR)?;
            match node.get() {
                Some(node) => Ok(Arc::clone(node)),
                None => {
                    let found = Arc::new(self.look_up(name, id)?);
                    Ok(Arc::clone(node.get_or_init(|| found)))
                }
            }
        })
    }

    /// Names of its variables by id, where the file is only read and somebody has asked for one.
    pub(super) fn known_names(&self) -> Vec<Arc<str>> {
        self.fixed_variables.get().map_or_else(Vec::new, |known| known.keys().cloned().collect())
    }

    /// The variable of that id, where the file is only read and somebody has asked for it before.
    pub(crate) fn known_variable(&self, id: c_int) -> Option<&VariableNode> {
        let (_, node) = self.fixed_variables.get()?.get_index(usize::try_from(id).ok()?)?;
        node.get().map(Arc::as_ref)
    }

    /// The id of the variable of that name, which is in composed form.
    pub(crate) fn variable_id(&self, name: &str) -> Outcome<Option<c_int>> {
        self.with_variables(|variables| {
            Ok(variables.get_index_of(name).and_then(|index| c_int::try_from(index).ok()))
        })
    }

    /// Takes in a variable that was just defined.
    pub(crate) fn add_variable(
        &self,
        writer: VariableWriter,
        said: Said,
    ) -> Outcome<Arc<VariableNode>> {
        let variable = writer.variable()?;
        let name: Arc<str> = variable.name().into();
        self.with_variables(|_| Ok(()))?;
        let mut variables = self.variables.write().unwrap_or_else(PoisonError::into_inner);
        let variables = variables.get_or_insert_default();
        // The one that was just defined may have been among those that were looked up.
        let next = variables.get_index_of(&name).unwrap_or(variables.len());
        let id = c_int::try_from(next).map_err(|_| Status::EMAXVARS)?;
        let node = Arc::new(VariableNode::defined(id, variable, writer, said));
        variables.insert(name, OnceLock::from(Arc::clone(&node)));
        Ok(node)
    }

    /// Looks at the variables again: one of them was renamed, or a group that they lie in. Their ids stay.
    pub(crate) fn renew_variables(&self) -> Outcome {
        let mut variables = self.variables.write().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = variables.take() else { return Ok(()) };
        let names = shown_variables(&self.group())?;
        let renewed = names.iter().zip(known.into_values()).map(|(name, node)| {
            let renewed = node.get().map(|node| node.renewed()).transpose()?;
            let node = renewed.map_or_else(OnceLock::new, |node| OnceLock::from(Arc::new(node)));
            Ok((Arc::clone(name), node))
        });
        *variables = Some(renewed.collect::<Outcome<_>>()?);
        Ok(())
    }

    /// Takes other handles for this group, which has that name in the one above: one of the two was
    /// renamed.
    pub(crate) fn renew_handles(&self, parent: &GroupNode, name: &str) -> Outcome {
        let renewed = parent.below(name, self.number)?.ok_or(Status::EINTERNAL)?;
        *self.handles.write().unwrap_or_else(PoisonError::into_inner) = renewed.handles();
        self.renew_variables()
    }

    fn look_up(&self, name: &str, id: c_int) -> Outcome<VariableNode> {
        let Handles { group, writer } = self.handles();
        let variable = group.variable(name)?.ok_or(Status::ENOTVAR)?;
        let writer = match writer {
            Some(writer) => writer.variable(name)?,
            None => None,
        };
        Ok(VariableNode::existing(id, variable, writer))
    }

    fn with_variables<T>(&self, look: impl FnOnce(&Variables) -> Outcome<T>) -> Outcome<T> {
        if !self.is_writable {
            return match self.fixed_variables.get() {
                Some(variables) => look(variables),
                None => {
                    let found = self.find_variables()?;
                    look(self.fixed_variables.get_or_init(|| found))
                }
            };
        }
        let known = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(variables) = &*known {
            return look(variables);
        }
        drop(known);
        let found = self.find_variables()?;
        let mut variables = self.variables.write().unwrap_or_else(PoisonError::into_inner);
        look(variables.get_or_insert(found))
    }

    fn find_variables(&self) -> Outcome<Variables> {
        let names = shown_variables(&self.group())?;
        Ok(names.iter().map(|name| (Arc::clone(name), OnceLock::new())).collect())
    }
}

/// The variables whose types netCDF can say: to netCDF-C others are not there.
pub(super) fn shown_variables(group: &Group) -> Outcome<Arc<[Arc<str>]>> {
    let names = group.variable_names()?;
    if is_by_netcdf(group)? {
        return Ok(names);
    }
    let mut shown = Vec::with_capacity(names.len());
    for name in names.iter() {
        // Of one that is damaged, who asks for it gets the error.
        let found = group.variable(name).readable()?.flatten();
        if found.is_none_or(|variable| !variable.data_type().is_foreign()) {
            shown.push(Arc::clone(name));
        }
    }
    Ok(shown.into())
}

/// Whether netCDF wrote the file, so that everything in it is of types that it can say. Nothing else has
/// to be looked at then.
pub(crate) fn is_by_netcdf(group: &Group) -> Outcome<bool> {
    let file = group.file();
    let is_hdf5 = matches!(file.format()?, Format::NetCdf4 | Format::NetCdf4Classic);
    Ok(!is_hdf5 || file.root().attribute("_NCProperties")?.is_some())
}
