//! The draft through the ordinary reading face.

use std::sync::Arc;

use isotach_model::names::normalized;
use isotach_model::{DataType, UserType, Values, fill};

use super::{
    AttributeOwner, Defined, DimensionId, Draft, GroupId, ROOT, VariableDraft, VariableId,
    path_below,
};
use crate::attribute::{Attribute, Source};
use crate::dimension::Dimension;
use crate::error::Result;
use crate::fault::Fault;
use crate::file::{File, Format, LeftOut};
use crate::mapping::{DimensionMapping, FileMapping, GroupMapping, VariableMapping, netcdf4};
use crate::read::Array;
use crate::variable::{FillValue, StorageInfo, Variable};
use crate::write::session::Session;
use crate::writer::Fill;

/// The file as it is now.
pub(crate) fn file(session: &Arc<Session>) -> File {
    let name = Arc::clone(session.name());
    File::new(name, Arc::new(FileView { session: Arc::clone(session) }))
}

/// A variable as it is now.
pub(crate) fn variable(session: &Arc<Session>, id: VariableId) -> Result<Variable> {
    session.look(|draft| {
        let shown = Shown::of(draft, draft.variable(id)?.group)?;
        Ok(Variable::new(variable_in(session, draft, &shown, id)?))
    })
}

/// The same as a variable of a group that is shown.
fn variable_in(
    session: &Arc<Session>,
    draft: &Draft,
    shown: &Arc<Shown>,
    id: VariableId,
) -> Defined<Arc<dyn VariableMapping>> {
    let variable = draft.variable(id)?;
    Ok(Arc::new(VariableView {
        session: Arc::clone(session),
        id,
        name: Arc::clone(&variable.name),
        group: Arc::clone(shown),
        data_type: variable.data_type.clone(),
    }))
}

/// A dimension as it is now.
pub(crate) fn dimension_of(session: &Arc<Session>, id: DimensionId) -> Result<Dimension> {
    session.look(|draft| {
        let path = &draft.group(draft.dimension(id)?.group)?.path;
        dimension(session, draft, id, path)
    })
}

/// A group by one of the paths that lead to it.
struct Shown {
    id: GroupId,
    path: Arc<str>,
    /// The group above it on that path.
    above: Option<Arc<Shown>>,
}

impl Shown {
    /// A group by the path at which it was defined.
    fn of(draft: &Draft, id: GroupId) -> Defined<Arc<Self>> {
        let group = draft.group(id)?;
        let above = group.parent.map(|parent| Self::of(draft, parent)).transpose()?;
        Ok(Arc::new(Self { id, path: Arc::clone(&group.path), above }))
    }

    /// The path of a group, by this one where that is the same object as this or one above it.
    fn path_of(&self, draft: &Draft, id: GroupId) -> Defined<Arc<str>> {
        let object = draft.group(id)?;
        let on_the_path = std::iter::successors(Some(self), |shown| shown.above.as_deref());
        for shown in on_the_path {
            if std::ptr::eq(draft.with_members_of(shown.id)?, object) {
                return Ok(Arc::clone(&shown.path));
            }
        }
        Ok(Arc::clone(&object.path))
    }
}

struct FileView {
    session: Arc<Session>,
}

impl FileMapping for FileView {
    fn root(&self) -> Arc<dyn GroupMapping> {
        let shown = Arc::new(Shown { id: ROOT, path: "/".into(), above: None });
        Arc::new(GroupView { session: Arc::clone(&self.session), shown })
    }

    fn format(&self) -> Result<Format> {
        self.session.look(|draft| Ok(draft.format))
    }
}

struct GroupView {
    session: Arc<Session>,
    shown: Arc<Shown>,
}

impl GroupView {
    fn listed(&self) -> Result<Vec<Dimension>> {
        self.session.look(|draft| {
            let ids = draft.with_members_of(self.shown.id)?.dimensions.values();
            ids.map(|&id| dimension(&self.session, draft, id, &self.shown.path)).collect()
        })
    }
}

impl GroupMapping for GroupView {
    fn path(&self) -> &str {
        &self.shown.path
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        let numbered = |found: Dimension| Ok((found.id()?, found));
        let mut found = self.listed()?.into_iter().map(numbered).collect::<Result<Vec<_>>>()?;
        // Most are in their order: new ones have the next numbers.
        found.sort_by_key(|(id, _)| *id);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    fn listed_dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.listed().map(Into::into)
    }

    fn types(&self) -> Result<Arc<[Arc<UserType>]>> {
        self.session.look(|draft| {
            let ids = draft.with_members_of(self.shown.id)?.types.values();
            ids.map(|&id| Ok(Arc::clone(&draft.user_type(id)?.user))).collect()
        })
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        attributes(&self.session, AttributeOwner::Group(self.shown.id))
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        if self.shown.id == ROOT
            && let Some(special) = self.session.look(|draft| Ok(special(draft, name)))?
        {
            return Ok(Some(special));
        }
        attribute(&self.session, AttributeOwner::Group(self.shown.id), name)
    }

    fn variable_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.session.look(|draft| {
            Ok(draft.with_members_of(self.shown.id)?.variables.keys().map(Arc::clone).collect())
        })
    }

    fn variable(&self, name: &str) -> Result<Option<Arc<dyn VariableMapping>>> {
        self.session.look(|draft| {
            let variables = &draft.with_members_of(self.shown.id)?.variables;
            let found = variables.get(name).or_else(|| variables.get(&*normalized(name)));
            found.map(|&id| variable_in(&self.session, draft, &self.shown, id)).transpose()
        })
    }

    fn group_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.session.look(|draft| {
            let groups = draft.groups_in(self.shown.id)?.into_iter();
            Ok(groups.map(|(name, _)| Arc::clone(name)).collect())
        })
    }

    fn group(&self, name: &str) -> Result<Option<Arc<dyn GroupMapping>>> {
        self.session.look(|draft| {
            let composed = normalized(name);
            let mut found = (name, draft.group_in(self.shown.id, name)?);
            if found.1.is_none() {
                found = (&composed, draft.group_in(self.shown.id, &composed)?);
            }
            let (name, Some(id)) = found else { return Ok(None) };
            let path = path_below(&self.shown.path, name).into();
            let shown = Shown { id, path, above: Some(Arc::clone(&self.shown)) };
            let view = Self { session: Arc::clone(&self.session), shown: Arc::new(shown) };
            Ok(Some(Arc::new(view) as Arc<dyn GroupMapping>))
        })
    }

    fn left_out(&self) -> Result<Arc<[LeftOut]>> {
        self.session.look(|draft| Ok(Arc::clone(&draft.group(self.shown.id)?.left_out)))
    }
}

struct VariableView {
    session: Arc<Session>,
    id: VariableId,
    name: Arc<str>,
    group: Arc<Shown>,
    data_type: DataType,
}

impl VariableMapping for VariableView {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> &str {
        &self.group.path
    }

    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.session.look(|draft| {
            let along = draft.variable(self.id)?.dimensions.iter();
            let one = |&id: &DimensionId| {
                let path = self.group.path_of(draft, draft.dimension(id)?.group)?;
                dimension(&self.session, draft, id, &path)
            };
            along.map(one).collect()
        })
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        attributes(&self.session, AttributeOwner::Variable(self.id))
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        attribute(&self.session, AttributeOwner::Variable(self.id), name)
    }

    fn storage(&self) -> Result<Arc<StorageInfo>> {
        self.session.storage_info(self.id).map(Arc::new)
    }

    fn settled_storage(&self) -> Result<Arc<StorageInfo>> {
        self.session.settled_storage_info(self.id).map(Arc::new)
    }

    fn fill_value(&self) -> Result<FillValue> {
        let stated = self.session.look(|draft| {
            let variable = draft.variable(self.id)?;
            Ok(variable.stated_fill())
        })?;
        match stated {
            Some(stated) => Ok(stated),
            None => {
                let origin =
                    self.session.look(|draft| Ok(draft.variable(self.id)?.origin.clone()))?;
                let value = Values::Bytes { size: 0, bytes: Vec::new() };
                origin.map_or(Ok(FillValue { fill: true, value }), |origin| origin.fill_value())
            }
        }
    }

    fn array(&self) -> Result<Arc<Array>> {
        self.session.array(self.id).map(Arc::new)
    }

    fn is_being_written(&self) -> bool {
        true
    }
}

impl VariableDraft {
    /// The fill value that the options say; `None` where only the file knows it.
    fn stated_fill(&self) -> Option<FillValue> {
        let default = fill::default_fill_of(&self.data_type);
        match (&self.options.fill, default) {
            _ if self.origin.is_some() => None,
            (Fill::Value(value) | Fill::Unstated(value), _) => {
                Some(FillValue { fill: true, value: value.clone() })
            }
            (Fill::Default, Some(value)) => Some(FillValue { fill: true, value }),
            (Fill::None, Some(value)) => Some(FillValue { fill: false, value }),
            (_, None) => None,
        }
    }
}

struct DimensionView {
    session: Arc<Session>,
    id: DimensionId,
    name: Arc<str>,
    group: Arc<str>,
    is_unlimited: bool,
    number: i32,
    is_foreign: bool,
    /// Its length when it was looked at; that of an unlimited dimension is asked for again.
    len: u64,
}

impl DimensionMapping for DimensionView {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> &str {
        &self.group
    }

    fn len(&self) -> Result<u64> {
        if !self.is_unlimited {
            return Ok(self.len);
        }
        let visible = |len| self.session.visible(self.id, len);
        match self.session.look(|draft| draft.dimension(self.id).map(|found| visible(found.len))) {
            // Of a file that was closed, or a dimension that was deleted, the last that was known.
            Err(error) if error.fault() == Fault::Request => Ok(self.len),
            len => len,
        }
    }

    fn is_unlimited(&self) -> bool {
        self.is_unlimited
    }

    fn id(&self) -> Result<i32> {
        Ok(self.number)
    }

    fn is_foreign(&self) -> bool {
        self.is_foreign
    }
}

/// A dimension of the group at `path`.
fn dimension(
    session: &Arc<Session>,
    draft: &Draft,
    id: DimensionId,
    path: &Arc<str>,
) -> Defined<Dimension> {
    let dimension = draft.dimension(id)?;
    let mapping = Arc::new(DimensionView {
        session: Arc::clone(session),
        id,
        name: Arc::clone(&dimension.name),
        group: Arc::clone(path),
        is_unlimited: dimension.is_unlimited,
        number: dimension.number,
        is_foreign: dimension.is_foreign,
        len: session.visible(id, dimension.len),
    });
    Ok(Dimension { mapping })
}

fn attributes(session: &Session, owner: AttributeOwner) -> Result<Arc<[Attribute]>> {
    session.look(|draft| Ok(draft.attributes(owner)?.all()))
}

fn attribute(session: &Session, owner: AttributeOwner, name: &str) -> Result<Option<Attribute>> {
    session.look(|draft| {
        let list = draft.attributes(owner)?;
        Ok(list.get(name).or_else(|| list.get(&normalized(name))).cloned())
    })
}

/// The attributes that the root group of a netCDF-4 file has without showing them in the list.
fn special(draft: &Draft, name: &str) -> Option<Attribute> {
    if !matches!(draft.format, Format::NetCdf4 | Format::NetCdf4Classic) {
        return None;
    }
    if name == netcdf4::PROPERTIES {
        return draft.properties.clone();
    }
    let (name, value) = netcdf4::about_new_file(name)?;
    Some(Attribute { source: Source::AboutFile { name, value } })
}
