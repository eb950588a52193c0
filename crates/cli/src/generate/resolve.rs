//! From statements to definitions: names are looked up, values are made.

use isotach::model::{DataType, Field, UserType};

use super::definitions::{Definitions, Settings, Variable};
use super::error::{CdlError, CdlFault};
use super::scope::{Scope, checked};
use super::syntax::{Attribute, Body, Constant, Item, Len, Name, Reference, Statement, TypeClass};
use super::{attribute, column, shape, special};

/// What the statements of the root group of the file `name` define.
pub(super) fn resolve(name: &str, root: &Body) -> Result<Definitions, CdlError> {
    let mut resolver = Resolver { scope: Scope::new(name), values: Vec::new() };
    resolver.body(0, root)?;
    let Resolver { scope: Scope { mut definitions, .. }, values } = resolver;
    for (index, given) in values.iter().enumerate() {
        if let Some(items) = given.items {
            shape::grow(&mut definitions, index, items)?;
        }
    }
    for (index, given) in values.iter().enumerate() {
        if let Some(items) = given.items {
            let data = shape::data(&definitions, index, items, given.fill)?;
            definitions.variables[index].data = Some(data);
        }
    }
    Ok(definitions)
}

/// The constants that the text has for a variable.
#[derive(Clone, Copy, Default)]
struct Given<'a> {
    items: Option<&'a [Item]>,
    fill: Option<&'a Item>,
}

struct Resolver<'a> {
    scope: Scope,
    /// One for each variable.
    values: Vec<Given<'a>>,
}

impl<'a> Resolver<'a> {
    fn body(&mut self, group: usize, body: &'a Body) -> Result<(), CdlError> {
        for statement in &body.statements {
            self.statement(group, statement)?;
        }
        for (name, body) in &body.groups {
            let child = self.scope.add_group(group, name)?;
            self.body(child, body)?;
        }
        Ok(())
    }

    fn statement(&mut self, group: usize, statement: &'a Statement) -> Result<(), CdlError> {
        match statement {
            Statement::Dimension { name, len } => {
                let len = match len {
                    Len::Fixed(len) => Some(*len),
                    Len::Unlimited => None,
                };
                self.scope.add_dimension(group, name, len)
            }
            Statement::Type { name, class } => {
                let user = self.user_type(group, name, class)?;
                self.scope.add_type(group, name, user)
            }
            Statement::Variable { name, data_type, dimensions } => {
                self.variable(group, name, data_type, dimensions)
            }
            Statement::Attribute(attribute) => self.attribute(group, attribute),
            Statement::Data { variable, items } => {
                let index = self.scope.variable(group, variable)?;
                self.values[index].items = Some(items);
                Ok(())
            }
        }
    }

    fn variable(
        &mut self,
        group: usize,
        name: &Name,
        data_type: &Reference,
        dimensions: &[Reference],
    ) -> Result<(), CdlError> {
        let data_type = self.scope.data_type(group, data_type)?;
        let dimensions: Vec<usize> = dimensions
            .iter()
            .map(|dimension| self.scope.dimension(group, dimension))
            .collect::<Result<_, _>>()?;
        let variable = Variable {
            at: name.at,
            group,
            name: String::new(),
            data_type,
            dimensions,
            attributes: Vec::new(),
            settings: Settings::default(),
            data: None,
        };
        self.scope.add_variable(name, variable)?;
        self.values.push(Given::default());
        Ok(())
    }

    fn user_type(
        &self,
        group: usize,
        name: &Name,
        class: &TypeClass,
    ) -> Result<UserType, CdlError> {
        let defined = match class {
            TypeClass::Opaque { size } => {
                UserType::opaque(&name.text, usize::try_from(*size).unwrap_or(usize::MAX))
            }
            TypeClass::Vlen { base } => {
                UserType::vlen(&name.text, self.scope.data_type(group, base)?)
            }
            TypeClass::Enum { base, members } => {
                let DataType::Atomic(base) = self.scope.data_type(group, base)? else {
                    let name = base.name.clone();
                    return Err(CdlFault::Unknown { what: "integer type", name }.at(base.at));
                };
                let member = |(name, item): &(Name, Item)| {
                    let value = column::integer(item, base)?;
                    Ok((name.text.clone(), value))
                };
                let members = members.iter().map(member).collect::<Result<Vec<_>, CdlError>>()?;
                UserType::enumeration(&name.text, base, members)
            }
            TypeClass::Compound { fields } => {
                let field = |field: &super::syntax::Field| {
                    let data_type = self.scope.data_type(group, &field.data_type)?;
                    let len = |&len: &u64| usize::try_from(len).unwrap_or(usize::MAX);
                    let shape: Vec<usize> = field.shape.iter().map(len).collect();
                    Ok(Field::new(field.name.text.clone(), data_type).with_shape(shape))
                };
                let fields = fields.iter().map(field).collect::<Result<Vec<_>, CdlError>>()?;
                UserType::compound(&name.text, fields)
            }
        };
        defined.map_err(|fault| CdlFault::Definition(fault).at(name.at))
    }

    /// An attribute of a variable or of the group. One word before the colon is a variable where
    /// there is one of that name, and else the type of a group's attribute. It is the type, too, where there
    /// are both and the values need one.
    fn attribute(&mut self, group: usize, stated: &'a Attribute) -> Result<(), CdlError> {
        let (owner, data_type) = match (&stated.data_type, &stated.owner) {
            (None, Some(owner)) => match self.scope.find_variable(group, owner)? {
                Some(_) if self.needs_type(group, owner, stated) => {
                    (None, Some(self.scope.data_type(group, owner)?))
                }
                Some(index) => (Some(index), None),
                None => (None, Some(self.scope.data_type(group, owner)?)),
            },
            (data_type, owner) => {
                let owner = owner.as_ref().map(|owner| self.scope.variable(group, owner));
                let data_type =
                    data_type.as_ref().map(|data_type| self.scope.data_type(group, data_type));
                (owner.transpose()?, data_type.transpose()?)
            }
        };
        match owner {
            Some(index) => self.variable_attribute(index, stated, data_type),
            None if special::is_of_file(&stated.name.text) => {
                special::apply_to_file(stated, &mut self.scope.definitions)
            }
            None => {
                let made = made(stated, data_type)?;
                self.scope.definitions.groups[group].attributes.push(made);
                Ok(())
            }
        }
    }

    /// Whether the values are of no type of their own, and `name` is one. A fill value has its variable's.
    fn needs_type(&self, group: usize, name: &Reference, stated: &Attribute) -> bool {
        stated.name.text != "_FillValue"
            && attribute::inferred_type(stated).is_err()
            && self.scope.data_type(group, name).is_ok()
    }

    fn variable_attribute(
        &mut self,
        index: usize,
        stated: &'a Attribute,
        data_type: Option<DataType>,
    ) -> Result<(), CdlError> {
        let variable = &mut self.scope.definitions.variables[index];
        if special::is_of_variable(&stated.name.text) {
            self.scope.definitions.has_specials = true;
            return special::apply_to_variable(stated, &mut variable.settings);
        }
        if stated.name.text != "_FillValue" {
            variable.attributes.push(made(stated, data_type)?);
            return Ok(());
        }
        // Numbers of another type are what they are as the variable's, as ncgen has it.
        let is_atomic = |data_type: &DataType| data_type.atomic().is_some();
        let fits = |stated: DataType| {
            stated == variable.data_type || is_atomic(&stated) && is_atomic(&variable.data_type)
        };
        if data_type.is_some_and(|data_type| !fits(data_type)) {
            let fault = CdlFault::FillType { variable: variable.name.clone() };
            return Err(fault.at(stated.name.at));
        }
        if let [fill] = &stated.items[..]
            && !matches!(fill.constant, Constant::Fill)
        {
            self.values[index].fill = Some(fill);
        }
        let made = made(stated, Some(variable.data_type.clone()))?;
        if made.values.len() != 1 {
            let fault = CdlFault::FillCount { variable: variable.name.clone() };
            return Err(fault.at(stated.name.at));
        }
        variable.attributes.push(made);
        Ok(())
    }
}

fn made(
    stated: &Attribute,
    data_type: Option<DataType>,
) -> Result<super::definitions::Attribute, CdlError> {
    let name = checked(&stated.name)?;
    let data_type = match data_type {
        Some(data_type) => data_type,
        None => attribute::inferred_type(stated)?.into(),
    };
    let values = attribute::values(&data_type, &stated.items)?;
    Ok(super::definitions::Attribute { at: stated.name.at, name, data_type, values })
}
