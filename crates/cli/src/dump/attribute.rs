//! Attributes in CDL.

use isotach::model::{Atomic, DataType, UserClass, Values};
use isotach::{Attribute, Format, Group, Variable};

use super::text::{self, Place};

use super::time;
use super::value::{self, as_i128};
use super::{Dump, name, number};
use crate::error::Result;

/// Whose attribute it is.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    Group(&'a Group),
    Variable(&'a Group, &'a Variable),
}

impl Owner<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Group(_) => "",
            Self::Variable(_, variable) => variable.name(),
        }
    }

    fn group(&self) -> &Group {
        match self {
            Self::Group(group) | Self::Variable(group, _) => group,
        }
    }
}

/// Words of CDL that, before a colon, begin a section.
const SECTIONS: [&str; 5] = ["variable", "dimension", "data", "group", "types"];

impl Dump<'_, '_> {
    /// A line with the attribute.
    pub(super) fn attribute(&mut self, owner: Owner<'_>, attribute: &Attribute) -> Result<()> {
        self.out.begin_line()?;
        self.out.put("\t\t")?;
        let data_type = attribute.data_type();
        if data_type.atomic().is_none_or(|atomic| atomic == Atomic::String) {
            self.type_name(owner.group(), data_type)?;
            self.out.put(" ")?;
        }
        self.out.put(name::escaped(owner.name()))?;
        if SECTIONS.contains(&owner.name()) {
            self.out.put(" ")?;
        }
        self.out.put(":")?;
        self.out.put(name::escaped(attribute.name()))?;
        self.out.put(" = ")?;
        match attribute.values() {
            Ok(_) if attribute.is_empty() => self.out.put("\"\" ;")?,
            Ok(values) => {
                self.attribute_values(data_type, &values)?;
                self.out.put(" ;")?;
                if let (Owner::Variable(_, variable), Some(separator)) =
                    (owner, self.options.time_separator())
                {
                    self.attribute_times(variable, &values, separator)?;
                    self.note_bounds(variable, attribute, &values);
                }
            }
            Err(error) => {
                self.out.put("\"\" ;")?;
                self.gap(&error)?;
            }
        }
        Ok(self.out.put("\n")?)
    }

    fn attribute_values(&mut self, data_type: &DataType, values: &Values) -> Result<()> {
        let breaks_lines = self.format != Format::NetCdf4;
        if let Values::Char(chars) = values {
            return Ok(self.out.put(text::quoted(chars, Place::Attribute { breaks_lines }))?);
        }
        let breaks_items = match data_type {
            DataType::User(user) => {
                matches!(user.class, UserClass::Compound(_) | UserClass::Vlen(_))
            }
            _ => false,
        };
        for index in 0..values.len() {
            let mut shown = self.attribute_element(data_type, values, index, breaks_lines);
            if index + 1 < values.len() {
                shown.extend(b", ");
            }
            if breaks_items {
                self.out.item(shown)?;
            } else {
                self.out.put(shown)?;
            }
        }
        Ok(())
    }

    fn attribute_element(
        &self,
        data_type: &DataType,
        values: &Values,
        index: usize,
        breaks_lines: bool,
    ) -> Vec<u8> {
        let digits = self.options.precision.digits;
        match (data_type, values) {
            (DataType::Atomic(atomic), Values::String(strings)) if *atomic == Atomic::String => {
                match &strings[index] {
                    Some(string) => {
                        let string = text::until_zero(string);
                        text::quoted(string, Place::Attribute { breaks_lines })
                    }
                    None => b"NIL".to_vec(),
                }
            }
            (DataType::Atomic(_) | DataType::SmallFloat(_), Values::F32(numbers)) => {
                float(numbers[index], digits.float).into_bytes()
            }
            (DataType::Atomic(_), Values::F64(numbers)) => {
                double(numbers[index], digits.double).into_bytes()
            }
            (DataType::Atomic(atomic), _) if as_i128(values, index).is_some() => {
                let number = as_i128(values, index).unwrap_or_default();
                format!("{number}{}", suffix(*atomic)).into_bytes()
            }
            (DataType::User(user), _) => {
                let mut shown = Vec::new();
                match &user.class {
                    UserClass::Enum { members, .. } => {
                        let number = as_i128(values, index).unwrap_or_default();
                        shown = name::escaped(value::enum_name(members, number));
                    }
                    _ => value::push_element(&mut shown, values, index, data_type, digits),
                }
                shown
            }
            _ => {
                let mut shown = Vec::new();
                value::push_element(&mut shown, values, index, data_type, digits);
                shown
            }
        }
    }

    /// The dates that the numbers mean, as a comment behind them.
    fn attribute_times(
        &mut self,
        variable: &Variable,
        values: &Values,
        separator: char,
    ) -> Result<()> {
        if value::as_f64(values, 0).is_none() {
            return Ok(());
        }
        let Some(units) = time::units_of(variable)? else { return Ok(()) };
        let wrap = values.len() > 2;
        let mut position = 0;
        for index in 0..values.len() {
            let Some(mut shown) = time::shown(&units, values, index, separator) else { continue };
            if index + 1 < values.len() {
                shown.push(',');
            }
            position += 1 + shown.len();
            let new_line = wrap && (index == 0 || position > self.out.line_length());
            if new_line {
                self.out.put("\n")?;
                self.out.begin_line()?;
                self.out.put("\t\t  ")?;
                position = 16 + 2 + shown.len();
            } else {
                self.out.put(" ")?;
            }
            if new_line || index == 0 {
                self.out.put("// ")?;
                position += 3;
            }
            self.out.put(shown)?;
        }
        Ok(())
    }

    /// Remembers which variable holds this one's bounds: its times are shown as dates too.
    fn note_bounds(&mut self, variable: &Variable, attribute: &Attribute, values: &Values) {
        if attribute.name() == "bounds"
            && let Values::Char(chars) = values
        {
            let name = String::from_utf8_lossy(text::until_zero(chars)).into_owned();
            self.bounds = Some((name, variable.clone()));
        }
    }
}

/// What tells an integer's type.
fn suffix(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "b",
        Atomic::Short => "s",
        Atomic::UByte => "UB",
        Atomic::UShort => "US",
        Atomic::UInt => "U",
        Atomic::Int64 => "LL",
        Atomic::UInt64 => "ULL",
        Atomic::Int | Atomic::Char | Atomic::Float | Atomic::Double | Atomic::String => "",
    }
}

fn float(value: f32, digits: usize) -> String {
    match () {
        () if value.is_nan() => "NaNf".to_owned(),
        () if value.is_infinite() && value < 0.0 => "-Infinityf".to_owned(),
        () if value.is_infinite() => "Infinityf".to_owned(),
        () => {
            let text = number::general(f64::from(value), digits, true);
            number::without_zeros(&format!("{text}f"))
        }
    }
}

fn double(value: f64, digits: usize) -> String {
    match () {
        () if value.is_nan() => "NaN".to_owned(),
        () if value.is_infinite() && value < 0.0 => "-Infinity".to_owned(),
        () if value.is_infinite() => "Infinity".to_owned(),
        () => number::without_zeros(&number::general(value, digits, true)),
    }
}
