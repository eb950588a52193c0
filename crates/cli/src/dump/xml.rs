//! `-x`: NcML instead of CDL, without values.

use isotach::model::Values;
use isotach::{Attribute, Dimension, File, Group, Variable};

use super::value::{as_f64, as_i128};
use super::{Dump, number};
use crate::error::Result;

impl Dump<'_, '_> {
    pub(super) fn xml(&mut self, file: &File, path: &[u8]) -> Result<()> {
        let root = file.root();
        self.out.put(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netcdf \
             xmlns=\"https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\" location=\"",
        )?;
        self.out.put(path)?;
        self.out.put("\">\n")?;
        let mut has_unlimited = false;
        for dimension in root.dimensions()?.iter() {
            // The classic model has one unlimited dimension.
            let unlimited = dimension.is_unlimited() && !has_unlimited;
            has_unlimited |= unlimited;
            let (name, len) = (dimension.name(), dimension.len()?);
            let mark = if unlimited { " isUnlimited=\"true\"" } else { "" };
            self.out.put(format!("  <dimension name=\"{name}\" length=\"{len}\"{mark} />\n"))?;
        }
        for attribute in root.attributes()?.iter() {
            self.xml_attribute("  ", attribute)?;
        }
        for variable in root.variables()? {
            self.xml_variable(&root, &variable)?;
        }
        Ok(self.out.put("</netcdf>\n")?)
    }

    fn xml_variable(&mut self, root: &Group, variable: &Variable) -> Result<()> {
        self.out.put(format!("  <variable name=\"{}\"", variable.name()))?;
        let dimensions = variable.dimensions()?;
        if !dimensions.is_empty() {
            let names: Vec<&str> = dimensions.iter().map(Dimension::name).collect();
            self.out.put(format!(" shape=\"{}\"", names.join(" ")))?;
        }
        let type_name = variable.data_type().name();
        let attributes = variable.attributes()?;
        if attributes.is_empty() && self.is_one_line(root, variable, &dimensions)? {
            return Ok(self.out.put(format!(" type=\"{type_name}\" />\n"))?);
        }
        self.out.put(format!(" type=\"{type_name}\">\n"))?;
        for attribute in attributes.iter() {
            self.xml_attribute("    ", attribute)?;
        }
        Ok(self.out.put("  </variable>\n")?)
    }

    /// Whether an element without attributes ends where it begins. `ncdump` once wanted to put
    /// values into the others.
    fn is_one_line(
        &self,
        root: &Group,
        variable: &Variable,
        dimensions: &[Dimension],
    ) -> Result<bool> {
        let is_coordinate = dimensions.len() == 1 && dimensions[0].name() == variable.name();
        let mut has_no_records = false;
        for dimension in dimensions.iter().filter(|dimension| dimension.is_unlimited()) {
            has_no_records |= dimension.is_empty()?;
        }
        Ok(self.options.header
            || (self.options.coordinates && !is_coordinate)
            || !self.wanted.variable(root, variable.name())?
            || has_no_records)
    }

    fn xml_attribute(&mut self, indent: &str, attribute: &Attribute) -> Result<()> {
        let name = attribute.name();
        let values = match attribute.values() {
            Ok(values) => values,
            Err(error) => {
                self.incomplete = true;
                eprintln!("isotach: {error}");
                return Ok(());
            }
        };
        if let Values::Char(text) = &values {
            self.out.put(format!("{indent}<attribute name=\"{name}\" value=\""))?;
            self.out.put(escaped(text))?;
            return Ok(self.out.put("\" />\n")?);
        }
        let type_name = attribute.data_type().name();
        self.out
            .put(format!("{indent}<attribute name=\"{name}\" type=\"{type_name}\" value=\""))?;
        if let Values::String(strings) = &values {
            let text = strings.first().and_then(Option::as_deref).unwrap_or_default();
            self.out.put(escaped(text))?;
        } else {
            let numbers: Vec<String> =
                (0..values.len()).map(|index| self.xml_number(&values, index)).collect();
            self.out.put(numbers.join(" "))?;
        }
        Ok(self.out.put("\" />\n")?)
    }

    fn xml_number(&self, values: &Values, index: usize) -> String {
        if let Some(number) = as_i128(values, index) {
            return number.to_string();
        }
        let digits = self.options.precision.digits;
        let precision = match values {
            Values::F32(_) => digits.float,
            _ => digits.double,
        };
        match as_f64(values, index) {
            Some(number) if number.is_nan() && number.is_sign_negative() => "-nan".to_owned(),
            Some(number) if number.is_nan() => "nan".to_owned(),
            Some(f64::INFINITY) => "inf".to_owned(),
            Some(f64::NEG_INFINITY) => "-inf".to_owned(),
            Some(number) => number::without_zeros(&number::general(number, precision, true)),
            None => String::new(),
        }
    }
}

/// The text with entities; zero bytes at its end are left out.
fn escaped(text: &[u8]) -> Vec<u8> {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut shown = Vec::with_capacity(end);
    for &byte in &text[..end] {
        match byte {
            b'"' => shown.extend(b"&quot;"),
            b'<' => shown.extend(b"&lt;"),
            b'>' => shown.extend(b"&gt;"),
            b'&' => shown.extend(b"&amp;"),
            b'\n' => shown.extend(b"&#xA;"),
            b'\r' => shown.extend(b"&#xD;"),
            b'\t' => shown.extend(b"&#x9;"),
            _ if byte.is_ascii_control() => shown.extend(format!("&#{byte};").bytes()),
            _ => shown.push(byte),
        }
    }
    shown
}
