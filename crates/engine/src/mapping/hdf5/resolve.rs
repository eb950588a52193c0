//! From links and paths to objects: soft and external links followed.

use std::sync::Arc;

use super::context::Context;
use super::group::Group;
use super::link::{Link, LinkTarget};
use super::node::Object;
use super::other_files::ReferenceKind;
use crate::error::{Error, ErrorKind, Result};

/// Soft and external links that one look-up follows. libhdf5 stops at 16.
const LINKS_FOLLOWED: u32 = 32;

impl Group {
    /// The object that `link`, one of this group, leads to.
    ///
    /// # Errors
    /// Storage failed; a soft or external link that leads nowhere, or around in circles; another file that may
    /// not be opened or cannot be; a link of a class that a program registered. That the object
    /// itself cannot be read is no error: it is [`Object::Unknown`].
    pub fn resolve(&self, link: &Link) -> Result<Object> {
        let path = self.child_path(link.name());
        follow(self, link, &path, &mut LINKS_FOLLOWED.clone()).map_err(|error| error.at(&path))
    }

    /// The object whose header stands at `address` of the group's file, without a path.
    ///
    /// # Errors
    /// Storage failed. That there is no object that can be read is none: see [`Object::Unknown`].
    pub fn object_at(&self, address: u64) -> Result<Object> {
        Object::open(self.context(), address, Arc::default())
    }

    /// The object at `path` from this group (or from the root for a path with `/` in front),
    /// links followed on the way; `None` where a name is not there.
    pub fn object(&self, path: &str) -> Result<Option<Object>> {
        lookup(self, path, &mut LINKS_FOLLOWED.clone())
    }

    /// The path of the object called `name` in this group.
    pub fn child_path(&self, name: &str) -> Arc<str> {
        let own = self.node().path().trim_end_matches('/');
        let mut path = String::with_capacity(own.len() + 1 + name.len());
        path.push_str(own);
        path.push('/');
        path.push_str(name);
        path.into()
    }
}

fn follow(group: &Group, link: &Link, path: &Arc<str>, left: &mut u32) -> Result<Object> {
    let context = group.context();
    match &link.target {
        LinkTarget::Hard { address } => Object::open(context, *address, Arc::clone(path)),
        LinkTarget::Soft { path: target } => {
            count_link(context, left)?;
            let found = lookup(group, target, left)?;
            found.map(|object| object.renamed(path)).ok_or_else(|| not_found(context, target))
        }
        LinkTarget::External { file, path: target } => {
            count_link(context, left)?;
            let other = context.other_file(file, ReferenceKind::ExternalLink)?;
            let found = lookup(&other.root()?, target, left)?;
            found.map(|object| object.renamed(path)).ok_or_else(|| not_found(&other, target))
        }
        LinkTarget::User { class, .. } => {
            // What such a link means is known to the program alone that defined it.
            let (feature, value) = ("user-defined class", u64::from(*class));
            let kind = isotach_format::ErrorKind::Unsupported { feature, value };
            let (structure, address) = ("link message", group.node().address());
            Err(context.structure_error(isotach_format::Error { structure, address, kind }))
        }
    }
}

/// Recursion is as deep as links are followed: `left` bounds it.
fn lookup(from: &Group, path: &str, left: &mut u32) -> Result<Option<Object>> {
    let start = match path.starts_with('/') {
        true => from.context().root()?,
        false => from.clone(),
    };
    let mut object = Object::Group(start);
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        let Object::Group(group) = &object else {
            return match object {
                Object::Unknown(unknown) => Err(unknown.error),
                _ => Ok(None),
            };
        };
        let Some(link) = group.link(name)? else { return Ok(None) };
        let child = group.child_path(name);
        object = follow(group, &link, &child, left).map_err(|error| error.at(&child))?;
    }
    Ok(Some(object))
}

fn count_link(context: &Context, left: &mut u32) -> Result<()> {
    match left.checked_sub(1) {
        Some(fewer) => {
            *left = fewer;
            Ok(())
        }
        None => Err(context.error(ErrorKind::Limit {
            what: "soft and external links in a row",
            value: u64::from(LINKS_FOLLOWED) + 1,
            limit: u64::from(LINKS_FOLLOWED),
        })),
    }
}

fn not_found(context: &Context, path: &str) -> Error {
    context.error(ErrorKind::NotFound { what: "object", name: path.to_owned() })
}
