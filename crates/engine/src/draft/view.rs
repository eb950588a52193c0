//! The draft through the ordinary reading face.

use std::sync::Arc;

use isotach_model::names::normalized;
use isotach_model::{DataType, UserType, Values, fill};

use super::{AttributeOwner, DimensionId, Draft, GroupId, ROOT, VariableDraft, VariableId};
use crate::attribute::{Attribute, Source};
use crate::dimension::Dimension;
use crate::error::Result;
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
    let view = session.look(|draft| {
        let variable = draft.variable(id)?;
        Ok(VariableView {
            session: Arc::clone(session),
            id,
            name: Arc::clone(&variable.name),
            group: Arc::clone(&draft.group(variable.group)?.path),
            data_type: variable.data_type.clone(),
        })
    })?;
    Ok(Variable::new(Arc::new(view)))
}

/// A dimension as it is now.
pub(crate) fn dimension_of(session: &Arc<Session>, id: DimensionId) -> Result<Dimension> {
    session.look(|draft| dimension(session, draft, id))
}

struct FileView {
    session: Arc<Session>,
}

impl FileMapping for FileView {
    fn root(&self) -> Arc<dyn GroupMapping> {
        Arc::new(GroupView { session: Arc::clone(&self.session), id: ROOT, path: "/".into() })
    }

    fn format(&self) -> Result<Format> {
        self.session.look(|draft| Ok(draft.format))
    }
}

struct GroupView {
    session: Arc<Session>,
    id: GroupId,
    path: Arc<str>,
}

impl GroupView {
    fn listed(&self) -> Result<Vec<Dimension>> {
        self.session.look(|draft| {
            let ids = draft.group(self.id)?.dimensions.values();
            ids.map(|&id| dimension(&self.session, draft, id)).collect()
        })
    }
}

impl GroupMapping for GroupView {
    fn path(&self) -> &str {
        &self.path
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        let mut found = self.listed()?;
        // Most are in their order: new ones have the next numbers.
        found.sort_by_key(Dimension::id);
        Ok(found.into())
    }

    fn listed_dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.listed().map(Into::into)
    }

    fn types(&self) -> Result<Arc<[Arc<UserType>]>> {
        self.session.look(|draft| {
            let ids = draft.group(self.id)?.types.values();
            ids.map(|&id| Ok(Arc::clone(&draft.user_type(id)?.user))).collect()
        })
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        attributes(&self.session, AttributeOwner::Group(self.id))
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        if self.id == ROOT
            && let Some(special) = self.session.look(|draft| Ok(special(draft, name)))?
        {
            return Ok(Some(special));
        }
        attribute(&self.session, AttributeOwner::Group(self.id), name)
    }

    fn variable_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.session
            .look(|draft| Ok(draft.group(self.id)?.variables.keys().map(Arc::clone).collect()))
    }

    fn variable(&self, name: &str) -> Result<Option<Arc<dyn VariableMapping>>> {
        let found = self.session.look(|draft| {
            let variables = &draft.group(self.id)?.variables;
            Ok(variables.get(name).or_else(|| variables.get(&*normalized(name))).copied())
        })?;
        found.map(|id| variable(&self.session, id).map(|found| found.mapping)).transpose()
    }

    fn group_names(&self) -> Result<Arc<[Arc<str>]>> {
        self.session.look(|draft| Ok(draft.group(self.id)?.groups.keys().map(Arc::clone).collect()))
    }

    fn group(&self, name: &str) -> Result<Option<Arc<dyn GroupMapping>>> {
        self.session.look(|draft| {
            let groups = &draft.group(self.id)?.groups;
            let found = groups.get(name).or_else(|| groups.get(&*normalized(name))).copied();
            let view = |id| {
                let path = Arc::clone(&draft.group(id)?.path);
                let session = Arc::clone(&self.session);
                Ok(Arc::new(GroupView { session, id, path }) as Arc<dyn GroupMapping>)
            };
            found.map(view).transpose()
        })
    }

    fn left_out(&self) -> Result<Arc<[LeftOut]>> {
        Ok(Arc::default())
    }
}

struct VariableView {
    session: Arc<Session>,
    id: VariableId,
    name: Arc<str>,
    group: Arc<str>,
    data_type: DataType,
}

impl VariableMapping for VariableView {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> &str {
        &self.group
    }

    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.session.look(|draft| {
            let along = draft.variable(self.id)?.dimensions.iter();
            along.map(|&id| dimension(&self.session, draft, id)).collect()
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

    fn len(&self) -> u64 {
        if !self.is_unlimited {
            return self.len;
        }
        self.session.look(|draft| Ok(draft.dimension(self.id)?.len)).unwrap_or(self.len)
    }

    fn is_unlimited(&self) -> bool {
        self.is_unlimited
    }

    fn id(&self) -> i32 {
        self.number
    }

    fn is_foreign(&self) -> bool {
        self.is_foreign
    }
}

fn dimension(session: &Arc<Session>, draft: &Draft, id: DimensionId) -> super::Defined<Dimension> {
    let dimension = draft.dimension(id)?;
    let mapping = Arc::new(DimensionView {
        session: Arc::clone(session),
        id,
        name: Arc::clone(&dimension.name),
        group: Arc::clone(&draft.group(dimension.group)?.path),
        is_unlimited: dimension.is_unlimited,
        number: dimension.number,
        is_foreign: dimension.is_foreign,
        len: dimension.len,
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
