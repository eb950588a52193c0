//! Types, dimensions, variables: what stands before the data.

use isotach::model::{DataType, Field, UserClass, UserType};
use isotach::{Dimension, Group, Variable};

use super::attribute::Owner;
use super::{Dump, name};
use crate::error::Result;

/// Groups nested deeper than this are not shown: each level takes some of the stack.
pub(super) const DEEPEST_GROUP: usize = 400;

impl Dump<'_, '_> {
    /// A group and all that is in it.
    pub(super) fn group(&mut self, group: &Group, depth: usize) -> Result<()> {
        self.types(group)?;
        self.dimensions(group)?;
        let variables = group.variables()?;
        if !variables.is_empty() {
            self.out.begin_line()?;
            self.out.put("variables:\n")?;
        }
        for variable in &variables {
            self.declaration(group, variable)?;
        }
        self.group_attributes(group)?;
        if !self.options.header && self.wanted.group(group) {
            self.data(group, &variables)?;
        }
        for child in group.groups()? {
            self.out.put("\n")?;
            self.out.begin_line()?;
            self.out.put("group: ")?;
            self.out.put(name::escaped(child.name()))?;
            self.out.put(" {\n")?;
            self.out.indent_more();
            if depth < DEEPEST_GROUP {
                self.group(&child, depth + 1)?;
            } else {
                self.incomplete = true;
                self.out.put("// more groups, too deep to be shown\n")?;
            }
            self.out.begin_line()?;
            self.out.put("} // group ")?;
            self.out.put(name::escaped(child.name()))?;
            self.out.put("\n")?;
            self.out.indent_less();
        }
        Ok(())
    }

    fn types(&mut self, group: &Group) -> Result<()> {
        let types = group.types()?;
        if types.is_empty() {
            return Ok(());
        }
        self.out.begin_line()?;
        self.out.put("types:\n")?;
        self.out.indent_more();
        for user in types.iter() {
            self.type_declaration(group, user)?;
        }
        self.out.indent_less();
        Ok(())
    }

    fn type_declaration(&mut self, group: &Group, user: &UserType) -> Result<()> {
        self.out.begin_line()?;
        let type_name = name::escaped(&user.name);
        match &user.class {
            UserClass::Vlen(base) => {
                self.type_name(group, base)?;
                self.out.put("(*) ")?;
                self.out.put(&type_name)?;
                self.out.put(" ;\n")?;
            }
            UserClass::Opaque => {
                self.out.put(format!("opaque({}) ", user.size))?;
                self.out.put(&type_name)?;
                self.out.put(" ;\n")?;
            }
            UserClass::Enum { base, members } => {
                let begin = [base.name().as_bytes(), b" enum ", &type_name, b" {"].concat();
                self.out.item(begin)?;
                for (index, (member, value)) in members.iter().enumerate() {
                    let end = if index + 1 == members.len() { "} ;\n" } else { ", " };
                    let mut text = name::escaped(member);
                    // ncdump shows all values as signed.
                    text.extend(format!(" = {}{end}", *value as i64).bytes());
                    self.out.item(text)?;
                }
            }
            UserClass::Compound(fields) => {
                self.out.put("compound ")?;
                self.out.put(&type_name)?;
                self.out.put(" {\n")?;
                for field in fields {
                    self.field(group, field)?;
                }
                self.out.begin_line()?;
                self.out.put("}; // ")?;
                self.out.put(&type_name)?;
                self.out.put("\n")?;
            }
        }
        Ok(())
    }

    fn field(&mut self, group: &Group, field: &Field) -> Result<()> {
        self.out.begin_line()?;
        self.out.put("  ")?;
        self.type_name(group, &field.data_type)?;
        self.out.put(" ")?;
        self.out.put(name::escaped(&field.name))?;
        if !field.shape.is_empty() {
            let lengths: Vec<String> = field.shape.iter().map(usize::to_string).collect();
            self.out.put(format!("({})", lengths.join(", ")))?;
        }
        Ok(self.out.put(" ;\n")?)
    }

    /// The name of a type as it is used in `group`: with the path of its own group where the name means
    /// nothing in `group`, or, which ncdump does not see, another type.
    pub(super) fn type_name(&mut self, group: &Group, data_type: &DataType) -> Result<()> {
        if let DataType::User(user) = data_type {
            let mut above = Some(group);
            let mut meant = None;
            while let Some(group) = above
                && meant.is_none()
            {
                meant = group.types()?.iter().find(|known| known.name == user.name).cloned();
                above = group.parent();
            }
            let needs_path = match &meant {
                Some(meant) => meant.group != user.group,
                // A type of the root group that is not among its types has no name there.
                None => user.group != "/",
            };
            if needs_path {
                self.out.put(name::escaped_path(user.group.trim_end_matches('/')))?;
                self.out.put("/")?;
            }
        }
        Ok(self.out.put(name::escaped(data_type.name()))?)
    }

    fn dimensions(&mut self, group: &Group) -> Result<()> {
        let dimensions = group.dimensions()?;
        if dimensions.is_empty() {
            return Ok(());
        }
        self.out.begin_line()?;
        self.out.put("dimensions:\n")?;
        for dimension in dimensions.iter() {
            self.out.begin_line()?;
            self.out.put("\t")?;
            self.out.put(name::escaped(dimension.name()))?;
            let len = dimension.len()?;
            self.out.put(if dimension.is_unlimited() {
                format!(" = UNLIMITED ; // ({len} currently)\n")
            } else {
                format!(" = {len} ;\n")
            })?;
        }
        Ok(())
    }

    fn declaration(&mut self, group: &Group, variable: &Variable) -> Result<()> {
        self.out.begin_line()?;
        self.out.put("\t")?;
        self.type_name(group, variable.data_type())?;
        self.out.put(" ")?;
        self.out.put(name::escaped(variable.name()))?;
        let dimensions = variable.dimensions()?;
        for (axis, dimension) in dimensions.iter().enumerate() {
            self.out.put(if axis == 0 { "(" } else { ", " })?;
            self.dimension_name(group, dimension)?;
        }
        self.out.put(if dimensions.is_empty() { " ;" } else { ") ;" })?;
        if let Some(number) = variable.number_name()? {
            self.out.put(format!(" // {number}"))?;
        }
        self.out.put("\n")?;
        for attribute in variable.attributes()?.iter() {
            self.attribute(Owner::Variable(group, variable), attribute)?;
        }
        if self.options.special {
            self.special_attributes(variable, dimensions.len())?;
        }
        Ok(())
    }

    /// A dimension's name as it is used in `group`: with the path of the group from which the
    /// name means this dimension, where in `group` it means another or none.
    fn dimension_name(&mut self, group: &Group, dimension: &Dimension) -> Result<()> {
        let mut from = Some(group);
        while let Some(group) = from {
            let meant = group.find_dimension(dimension.name())?;
            if let Some(meant) = meant
                && meant.id()? == dimension.id()?
            {
                break;
            }
            from = group.parent();
        }
        let path = from.map_or(dimension.group(), Group::path);
        if path != group.path() {
            self.out.put(name::escaped_path(path))?;
            if path != "/" {
                self.out.put("/")?;
            }
        }
        Ok(self.out.put(name::escaped(dimension.name()))?)
    }

    fn group_attributes(&mut self, group: &Group) -> Result<()> {
        let attributes = group.attributes()?;
        let is_root = group.parent().is_none();
        if attributes.is_empty() && !self.options.special {
            return Ok(());
        }
        self.out.put("\n")?;
        self.out.begin_line()?;
        self.out.put(if is_root { "// global attributes:\n" } else { "// group attributes:\n" })?;
        for attribute in attributes.iter() {
            self.attribute(Owner::Group(group), attribute)?;
        }
        if is_root && self.options.special {
            self.special_global_attributes(group)?;
        }
        Ok(())
    }
}
