//! `--json`: a file as JSON, as `ncks --json` writes it.
//!
//! ```text
//! { "types", "dimensions", "variables": { NAME: { "shape", "type", "attributes", "data" } },
//!   "attributes", "groups": { NAME: the same again } }     each only where there is one
//! nested    brackets around the elements that come one by one
//! element   one element, string escapes
//! ```

mod element;
mod nested;
mod string;

use isotach::model::{Atomic, DataType, Field, UserClass, UserType, Values};
use isotach::{Attribute, File, Group, Variable};

use self::element::push_element;
use self::nested::Nested;
use self::string::{Growing, push_string};
use super::Dump;
use super::data::has_empty;
use super::header::DEEPEST_GROUP;
use super::value::Digits;
use crate::error::{CliError, Result};
use crate::slabs::Slabs;

/// Text that is collected before it is written.
const COLLECTED_BYTES: usize = 1 << 16;

/// JSON under way.
struct Json<'d, 'a, 'w> {
    dump: &'d mut Dump<'a, 'w>,
    /// For each object that is open whether it has a member yet.
    has_members: Vec<bool>,
}

impl Dump<'_, '_> {
    pub(super) fn json(&mut self, file: &File) -> Result<()> {
        let mut json = Json { dump: self, has_members: Vec::new() };
        json.open()?;
        json.group(&file.root(), 0)?;
        json.close()?;
        json.put("\n")
    }
}

impl Json<'_, '_, '_> {
    /// The members of an object. Where one of them cannot be read, `error` says why in place of
    /// those that are missing, and the rest of the file follows.
    fn guarded(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let level = self.has_members.len();
        match write(self) {
            Err(CliError::File(error)) => {
                while self.has_members.len() > level {
                    self.close()?;
                }
                self.error(&error)
            }
            outcome => outcome,
        }
    }

    fn group(&mut self, group: &Group, depth: usize) -> Result<()> {
        self.guarded(|json| json.group_members(group, depth))
    }

    fn group_members(&mut self, group: &Group, depth: usize) -> Result<()> {
        self.object("types", &group.types()?, |json, user| {
            json.member(&user.name, type_json(user))
        })?;
        self.object("dimensions", &group.dimensions()?, |json, dimension| {
            json.member(dimension.name(), dimension.len()?.to_string())
        })?;
        self.object("variables", &group.variables()?, |json, variable| {
            json.variable(group, variable)
        })?;
        self.attributes(&group.attributes()?)?;
        let groups = group.groups()?;
        if depth >= DEEPEST_GROUP && !groups.is_empty() {
            self.dump.incomplete = true;
            return self.member("error", "\"more groups, too deep to be shown\"");
        }
        self.object("groups", &groups, |json, child| {
            json.key(child.name())?;
            json.open()?;
            json.group(child, depth + 1)?;
            json.close()
        })
    }

    fn variable(&mut self, group: &Group, variable: &Variable) -> Result<()> {
        self.key(variable.name())?;
        self.open()?;
        self.guarded(|json| json.variable_members(group, variable))?;
        self.close()
    }

    fn variable_members(&mut self, group: &Group, variable: &Variable) -> Result<()> {
        let dimensions = variable.dimensions()?;
        if !dimensions.is_empty() {
            let names = dimensions.iter().map(|dimension| string(dimension.name()));
            self.member("shape", list(names))?;
        }
        self.member("type", string(variable.data_type().name()))?;
        self.attributes(&variable.attributes()?)?;
        if self.dump.wants_values(group, variable, &dimensions)? {
            if has_empty(&dimensions)? {
                return self.member("data", "[]");
            }
            return self.data(variable);
        }
        Ok(())
    }

    fn attributes(&mut self, attributes: &[Attribute]) -> Result<()> {
        self.object("attributes", attributes, |json, attribute| {
            let values = match attribute.values() {
                Ok(values) => values,
                Err(error) => {
                    json.dump.tell(&error);
                    return json.member(attribute.name(), "null");
                }
            };
            let digits = json.dump.options.precision.digits;
            json.member(attribute.name(), attribute_json(&values, attribute.data_type(), digits))
        })
    }

    /// The values of a variable without empty dimensions. Those behind the first that cannot be
    /// read are left out, and `error` says why.
    fn data(&mut self, variable: &Variable) -> Result<()> {
        let array = variable.array()?;
        let mut data = Data::new(
            array.shape.clone(),
            variable.data_type(),
            self.dump.options.precision.digits,
        );
        let element_size = array.layout.element_size;
        self.dump.progress.message(&variable.path());
        let mut is_first = true;
        for (_, values) in Slabs::new(array) {
            let values = match values {
                Ok(values) => values,
                Err(error) => {
                    if !is_first {
                        data.cut();
                        self.put(&data.json)?;
                    }
                    return self.error(&error);
                }
            };
            if std::mem::take(&mut is_first) {
                self.key("data")?;
            }
            let mut begin = 0;
            while begin < values.len() {
                begin = data.push(&values, begin);
                self.put(&data.json)?;
                data.json.clear();
            }
            self.dump.progress.advance(values.len() as u64 * element_size as u64);
        }
        Ok(())
    }

    fn error(&mut self, error: &isotach::Error) -> Result<()> {
        self.dump.tell(error);
        self.member("error", string(&error.kind.to_string()))
    }

    /// A member that is an object, where it has any members itself.
    fn object<T>(
        &mut self,
        key: &str,
        members: &[T],
        mut write: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        if members.is_empty() {
            return Ok(());
        }
        self.key(key)?;
        self.open()?;
        for member in members {
            write(self, member)?;
        }
        self.close()
    }

    fn member(&mut self, key: &str, value: impl AsRef<[u8]>) -> Result<()> {
        self.key(key)?;
        self.put(value)
    }

    fn key(&mut self, key: &str) -> Result<()> {
        let had_members =
            self.has_members.last_mut().is_some_and(|had| std::mem::replace(had, true));
        self.put(if had_members { ",\n" } else { "\n" })?;
        self.indent()?;
        self.put(string(key))?;
        self.put(": ")
    }

    fn open(&mut self) -> Result<()> {
        self.has_members.push(false);
        self.put("{")
    }

    fn close(&mut self) -> Result<()> {
        if self.has_members.pop() == Some(true) {
            self.put("\n")?;
            self.indent()?;
        }
        self.put("}")
    }

    fn indent(&mut self) -> Result<()> {
        for _ in 0..self.has_members.len() {
            self.put("  ")?;
        }
        Ok(())
    }

    fn put(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        Ok(self.dump.out.put(text)?)
    }
}

/// The values of a variable under way.
struct Data<'v> {
    data_type: &'v DataType,
    digits: Digits,
    nested: Nested,
    /// Rows of chars are strings: the row under way, the chars of a row, those that are missing.
    row: Growing,
    columns: u64,
    missing_columns: u64,
    /// What is not written yet.
    json: Vec<u8>,
}

impl<'v> Data<'v> {
    fn new(mut shape: Vec<u64>, data_type: &'v DataType, digits: Digits) -> Self {
        let is_text = data_type.atomic() == Some(Atomic::Char);
        let columns = if is_text { shape.pop().unwrap_or(1) } else { 1 };
        Self {
            data_type,
            digits,
            nested: Nested::new(shape),
            row: Growing::default(),
            columns,
            missing_columns: columns,
            json: Vec::with_capacity(COLLECTED_BYTES),
        }
    }

    /// Collects values from `begin` on, and gives back where the next ones begin.
    fn push(&mut self, values: &Values, mut begin: usize) -> usize {
        while begin < values.len() && self.json.len() < COLLECTED_BYTES {
            if self.missing_columns == self.columns {
                self.nested.begin(&mut self.json);
            }
            let Values::Char(chars) = values else {
                push_element(&mut self.json, values, begin, self.data_type, self.digits);
                self.nested.end(&mut self.json);
                begin += 1;
                continue;
            };
            let missing = usize::try_from(self.missing_columns).unwrap_or(usize::MAX);
            let count = missing.min(chars.len() - begin).min(COLLECTED_BYTES);
            self.row.push(&mut self.json, &chars[begin..begin + count]);
            begin += count;
            self.missing_columns -= count as u64;
            if self.missing_columns == 0 {
                self.missing_columns = self.columns;
                self.row.end(&mut self.json);
                self.nested.end(&mut self.json);
            }
        }
        begin
    }

    /// Ends the values before they are complete.
    fn cut(&mut self) {
        if self.missing_columns < self.columns {
            self.row.end(&mut self.json);
        }
        self.nested.cut(&mut self.json);
    }
}

/// One value stands for itself, several as a list.
fn attribute_json(values: &Values, data_type: &DataType, digits: Digits) -> Vec<u8> {
    let mut json = Vec::new();
    match values {
        Values::Char(chars) => push_string(&mut json, chars),
        _ if values.len() == 1 => push_element(&mut json, values, 0, data_type, digits),
        _ => {
            let elements = (0..values.len()).map(|index| {
                let mut json = Vec::new();
                push_element(&mut json, values, index, data_type, digits);
                json
            });
            json = list(elements);
        }
    }
    json
}

fn type_json(user: &UserType) -> Vec<u8> {
    match &user.class {
        UserClass::Opaque => format!("{{\"class\": \"opaque\", \"size\": {}}}", user.size).into(),
        UserClass::Vlen(base) => {
            [b"{\"class\": \"vlen\", \"type\": ", &string(base.name())[..], b"}"].concat()
        }
        UserClass::Enum { base, members } => {
            let mut json = b"{\"class\": \"enum\", \"type\": ".to_vec();
            json.extend(string(base.name()));
            json.extend(b", \"members\": {");
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    json.extend(b", ");
                }
                json.extend(string(name));
                json.extend(format!(": {value}").bytes());
            }
            json.extend(b"}}");
            json
        }
        UserClass::Compound(fields) => {
            let fields = fields.iter().map(field_json).collect::<Vec<_>>().join(&b", "[..]);
            [b"{\"class\": \"compound\", \"members\": {", &fields[..], b"}}"].concat()
        }
    }
}

fn field_json(field: &Field) -> Vec<u8> {
    let shape = match &field.shape[..] {
        [] => Vec::new(),
        shape => {
            let lengths = list(shape.iter().map(|len| len.to_string().into_bytes()));
            [b"\"shape\": ", &lengths[..], b", "].concat()
        }
    };
    let (name, type_name) = (string(&field.name), string(field.data_type.name()));
    [&name[..], b": {", &shape, b"\"type\": ", &type_name, b"}"].concat()
}

fn list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.collect();
    [b"[", &items.join(&b", "[..])[..], b"]"].concat()
}

fn string(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + 2);
    push_string(&mut json, text.as_bytes());
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: Digits = Digits { float: 7, double: 15 };

    /// What is written of pieces, and ended if it is cut.
    fn shown(shape: &[u64], atomic: Atomic, pieces: &[Values], cut: bool) -> String {
        let data_type = atomic.into();
        let mut data = Data::new(shape.to_vec(), &data_type, DIGITS);
        for values in pieces {
            assert_eq!(data.push(values, 0), values.len());
        }
        if cut {
            data.cut();
        }
        String::from_utf8(data.json).unwrap()
    }

    #[test]
    fn pieces_become_one() {
        let numbers = [Values::I64(vec![i64::MIN, 2, 3]), Values::I64(vec![i64::MAX])];
        let expected = "[[-9223372036854775808, 2], [3, 9223372036854775807]]";
        assert_eq!(shown(&[2, 2], Atomic::Int64, &numbers, false), expected);
        assert_eq!(
            shown(&[2, 3], Atomic::Int64, &numbers[..1], true),
            "[[-9223372036854775808, 2, 3]]"
        );
        let chars = [&b"a\xc3"[..], b"\xa9\0\0\0d"].map(|chars| Values::Char(chars.to_vec()));
        assert_eq!(
            shown(&[2, 4], Atomic::Char, &chars, true),
            "[\"a\u{e9}\", \"\\u0000\\u0000d\"]"
        );
        assert_eq!(shown(&[], Atomic::Char, &[Values::Char(b"x".to_vec())], false), "\"x\"");
    }

    #[test]
    fn one_value_stands_for_itself() {
        let double = Atomic::Double.into();
        for (values, expected) in
            [(vec![0.5], "0.5"), (vec![], "[]"), (vec![1.0, 1e30], "[1, 1e+30]")]
        {
            assert_eq!(attribute_json(&Values::F64(values), &double, DIGITS), expected.as_bytes());
        }
        let text = Values::Char(b"K\0".to_vec());
        assert_eq!(attribute_json(&text, &Atomic::Char.into(), DIGITS), b"\"K\"");
    }
}
