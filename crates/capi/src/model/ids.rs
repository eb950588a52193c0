//! What the ids of a file mean that is only read, held against a later state of the file.

use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use isotach::{Dimension, File};

use super::group::shown_variables;
use super::{GroupNode, OpenFile, number_groups};
use crate::status::Outcome;

/// All ids that a program may have heard of.
pub(super) struct KnownIds {
    groups: Vec<KnownGroup>,
    dimensions: Vec<(c_int, u16, String)>,
    /// Names of user-defined types by number, with their groups'.
    types: Vec<(u16, String)>,
}

struct KnownGroup {
    path: String,
    /// Names of its variables by id, where somebody has asked for them.
    variables: Vec<Arc<str>>,
}

impl OpenFile {
    pub(super) fn known_ids(&self) -> Outcome<KnownIds> {
        let groups = self.groups.read();
        let known = |node: &Arc<GroupNode>| KnownGroup {
            path: node.group().path().to_owned(),
            variables: node.known_names(),
        };
        let groups = groups.nodes.iter().map(known).collect();
        let dimensions = self.dimensions.read().unwrap_or_else(PoisonError::into_inner);
        let dimensions =
            dimensions.iter().map(|(id, node)| (*id, node.group, node.dimension.name().to_owned()));
        Ok(KnownIds { groups, dimensions: dimensions.collect(), types: self.known_types() })
    }
}

impl KnownIds {
    /// Whether each of them is in `file`, and means the same there.
    pub(super) fn mean_the_same(&self, file: &File) -> Outcome<bool> {
        let mut nodes = vec![Arc::new(GroupNode::root(file.root(), None))];
        if self.groups.len() > 1 {
            number_groups(&mut nodes, 0)?;
        }
        for (number, known) in self.groups.iter().enumerate() {
            let Some(node) = nodes.get(number) else { return Ok(false) };
            let group = node.group();
            if group.path() != known.path {
                return Ok(false);
            }
            if !known.variables.is_empty()
                && !shown_variables(&group)?.starts_with(&known.variables)
            {
                return Ok(false);
            }
        }
        for (id, number, name) in &self.dimensions {
            let Some(node) = nodes.get(usize::from(*number)) else { return Ok(false) };
            let found = node.dimensions()?;
            let now = found.iter().find(|now| now.name() == name);
            if now.map(Dimension::id).transpose()? != Some(*id) {
                return Ok(false);
            }
        }
        self.have_types(&nodes)
    }

    fn have_types(&self, nodes: &[Arc<GroupNode>]) -> Outcome<bool> {
        if self.types.is_empty() {
            return Ok(true);
        }
        let mut found = Vec::new();
        for node in nodes {
            let types = node.group().types()?;
            let shown = types.iter().filter(|user| !user.is_foreign());
            found.extend(shown.map(|user| (node.number, user.name.clone())));
        }
        Ok(found.starts_with(&self.types))
    }
}
