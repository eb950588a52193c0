//! The one group of a classic file.

use std::sync::Arc;

use isotach_model::UserType;

use super::variable::ClassicVariable;
use super::{Contents, attribute};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::Result;
use crate::file::LeftOut;
use crate::mapping::{GroupMapping, VariableMapping};

pub(super) struct Root {
    pub(super) contents: Arc<Contents>,
}

impl GroupMapping for Root {
    fn path(&self) -> &str {
        "/"
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        Ok(Arc::clone(&self.contents.dimensions))
    }

    fn types(&self) -> Result<Arc<[Arc<UserType>]>> {
        Ok(Arc::default())
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        Ok(attribute::list(&self.contents.name, &self.contents.header.attributes))
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        Ok(attribute::find(&self.contents.name, &self.contents.header.attributes, name))
    }

    fn variable_names(&self) -> Result<Arc<[Arc<str>]>> {
        Ok(self.contents.variable_names().in_order())
    }

    fn variable(&self, name: &str) -> Result<Option<Arc<dyn VariableMapping>>> {
        let found = self.contents.variable_names().find(name);
        Ok(found.map(|index| {
            let contents = Arc::clone(&self.contents);
            Arc::new(ClassicVariable { contents, index }) as Arc<dyn VariableMapping>
        }))
    }

    fn group_names(&self) -> Result<Arc<[Arc<str>]>> {
        Ok(Arc::default())
    }

    fn group(&self, _name: &str) -> Result<Option<Arc<dyn GroupMapping>>> {
        Ok(None)
    }

    fn left_out(&self) -> Result<Arc<[LeftOut]>> {
        Ok(Arc::default())
    }
}
