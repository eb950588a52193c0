//! From CDL's words to its statements.

use super::error::{CdlError, CdlFault};
use super::lexer::{Lexer, Section, Token};
use super::number;
use super::syntax::{
    Attribute, Body, Constant, Field, Item, Len, Name, Position, Reference, Scalar, Statement,
    TypeClass,
};
use crate::dump::hours_since_1970;

/// Groups in groups and braces in braces: parsing recurses.
const MAX_DEPTH: usize = 128;

type Parsed<T> = Result<T, CdlError>;

/// The name of the data set that the text describes, and its root group.
pub(super) fn parse(text: &[u8]) -> Parsed<(String, Body)> {
    let mut lexer = Lexer::new(text);
    let (at, token) = lexer.next()?;
    let mut parser = Parser { lexer, at, token, depth: 0 };
    match &parser.token {
        Token::Word(word) if word.eq_ignore_ascii_case("netcdf") => {}
        _ => return Err(parser.expected("\"netcdf\"")),
    }
    let name = String::from_utf8_lossy(parser.lexer.skip_to_brace()).replace('\\', "");
    parser.advance()?;
    let root = parser.body()?;
    match parser.token {
        Token::End => Ok((name.trim().to_owned(), root)),
        _ => Err(parser.expected("the end of the text")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    at: Position,
    token: Token,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<Token> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn expected(&self, expected: &'static str) -> CdlError {
        let found = match &self.token {
            Token::Word(word) => format!("{word:?}"),
            Token::Path(names) => format!("{:?}", format!("/{}", names.join("/"))),
            Token::Section(section) => format!("{section:?}:").to_lowercase(),
            Token::Constant(_) => "a constant".to_owned(),
            Token::Mark(mark) => format!("{:?}", char::from(*mark)),
            Token::End => "the end of the text".to_owned(),
        };
        CdlFault::Expected { expected, found }.at(self.at)
    }

    fn is_mark(&self, mark: u8) -> bool {
        self.token == Token::Mark(mark)
    }

    /// Goes on behind a mark where it is the next word.
    fn skip_mark(&mut self, mark: u8) -> Parsed<bool> {
        let is_next = self.is_mark(mark);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn mark(&mut self, mark: u8, expected: &'static str) -> Parsed<()> {
        match self.skip_mark(mark)? {
            true => Ok(()),
            false => Err(self.expected(expected)),
        }
    }

    fn semicolon(&mut self) -> Parsed<()> {
        self.mark(b';', "\";\"")
    }

    fn name(&mut self, expected: &'static str) -> Parsed<Name> {
        let at = self.at;
        match &self.token {
            Token::Word(_) => {}
            _ => return Err(self.expected(expected)),
        }
        match self.advance()? {
            Token::Word(text) => Ok(Name { at, text }),
            _ => Err(self.expected(expected)),
        }
    }

    fn reference(&mut self, expected: &'static str) -> Parsed<Reference> {
        let at = self.at;
        match self.token {
            Token::Word(_) | Token::Path(_) => {}
            // What is called like a section is none here, and its colon is an attribute's.
            Token::Section(section) => {
                self.token = Token::Mark(b':');
                return Ok(Reference { at, groups: None, name: section.word().to_owned() });
            }
            _ => return Err(self.expected(expected)),
        }
        match self.advance()? {
            Token::Word(name) => Ok(Reference { at, groups: None, name }),
            Token::Path(mut names) => {
                // The lexer gives no path without a name.
                let name = names.pop().unwrap_or_default();
                Ok(Reference { at, groups: Some(names), name })
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(CdlFault::TooDeep { limit: MAX_DEPTH }.at(self.at));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// A group with its braces.
    fn body(&mut self) -> Parsed<Body> {
        self.mark(b'{', "\"{\"")?;
        let mut body = Body::default();
        let mut section = None;
        loop {
            match self.token {
                Token::Mark(b'}') => break,
                Token::Section(next) if self.is_variable(next, &body) => {
                    self.statement(section, &mut body.statements)?;
                }
                Token::Section(Section::Group) => {
                    self.advance()?;
                    let name = self.name("the name of a group")?;
                    let group = self.nested(Self::body)?;
                    body.groups.push((name, group));
                    section = None;
                }
                Token::Section(next) => {
                    self.advance()?;
                    section = Some(next);
                }
                _ => self.statement(section, &mut body.statements)?,
            }
        }
        self.advance()?;
        Ok(body)
    }

    /// `data:units` is an attribute where there is a variable `data`; `data: units` never is.
    fn is_variable(&self, section: Section, body: &Body) -> bool {
        let is_named = |statement: &Statement| match statement {
            Statement::Variable { name, .. } => name.text == section.word(),
            _ => false,
        };
        self.lexer.begins_name() && body.statements.iter().rev().any(is_named)
    }

    fn statement(&mut self, section: Option<Section>, into: &mut Vec<Statement>) -> Parsed<()> {
        if self.is_mark(b':') {
            let attribute = self.attribute(None, None)?;
            into.push(attribute);
            return self.semicolon();
        }
        let first = self.reference("a declaration")?;
        if self.is_mark(b':') {
            let attribute = self.attribute(None, Some(first))?;
            into.push(attribute);
            return self.semicolon();
        }
        match section {
            Some(Section::Types) => self.type_or_attribute(first, into),
            Some(Section::Dimensions) if self.is_mark(b'=') => {
                self.dimensions(first, into)?;
                self.semicolon()
            }
            Some(Section::Variables) => {
                let second = self.reference("the name of a variable")?;
                match self.is_mark(b':') {
                    true => into.push(self.attribute(Some(first), Some(second))?),
                    false => self.variables(&first, second, into)?,
                }
                self.semicolon()
            }
            Some(Section::Data) => {
                self.mark(b'=', "\"=\"")?;
                let items = self.items(b';')?;
                into.push(Statement::Data { variable: first, items });
                self.semicolon()
            }
            _ => {
                let owner = self.reference("\":\"")?;
                let attribute = self.attribute(Some(first), Some(owner))?;
                into.push(attribute);
                self.semicolon()
            }
        }
    }

    /// From the colon on.
    fn attribute(
        &mut self,
        data_type: Option<Reference>,
        owner: Option<Reference>,
    ) -> Parsed<Statement> {
        self.mark(b':', "\":\"")?;
        let name = self.name("the name of an attribute")?;
        self.mark(b'=', "\"=\"")?;
        let items = self.items(b';')?;
        Ok(Statement::Attribute(Attribute { data_type, owner, name, items }))
    }

    fn dimensions(&mut self, first: Reference, into: &mut Vec<Statement>) -> Parsed<()> {
        let mut name = self.declared(first)?;
        loop {
            self.mark(b'=', "\"=\"")?;
            let len = match &self.token {
                Token::Word(word) if word.eq_ignore_ascii_case("unlimited") => Len::Unlimited,
                _ => Len::Fixed(self.peek_len()?),
            };
            self.advance()?;
            into.push(Statement::Dimension { name, len });
            if !self.skip_mark(b',')? {
                return Ok(());
            }
            name = self.name("the name of a dimension")?;
        }
    }

    /// What is declared has a name, no path.
    fn declared(&self, reference: Reference) -> Parsed<Name> {
        let Reference { at, groups, name } = reference;
        match groups {
            None => Ok(Name { at, text: name }),
            Some(_) => {
                let found = "a path".to_owned();
                Err(CdlFault::Expected { expected: "a name", found }.at(at))
            }
        }
    }

    /// The length that the next word is.
    fn peek_len(&self) -> Parsed<u64> {
        let number = match &self.token {
            Token::Constant(Constant::Number(number)) => number.integer(),
            _ => None,
        };
        let len = number.and_then(|number| u64::try_from(number).ok());
        len.ok_or_else(|| self.expected("a length"))
    }

    fn variables(
        &mut self,
        data_type: &Reference,
        first: Reference,
        into: &mut Vec<Statement>,
    ) -> Parsed<()> {
        let mut name = self.declared(first)?;
        loop {
            let mut dimensions = Vec::new();
            if self.skip_mark(b'(')? && !self.skip_mark(b')')? {
                dimensions.push(self.reference("a dimension")?);
                while self.skip_mark(b',')? {
                    dimensions.push(self.reference("a dimension")?);
                }
                self.mark(b')', "\")\"")?;
            }
            into.push(Statement::Variable { name, data_type: data_type.clone(), dimensions });
            if !self.skip_mark(b',')? {
                return Ok(());
            }
            name = self.name("the name of a variable")?;
        }
    }

    fn type_or_attribute(&mut self, first: Reference, into: &mut Vec<Statement>) -> Parsed<()> {
        let is = |word: &str| first.groups.is_none() && first.name == word;
        if self.skip_mark(b'(')? {
            let class = match self.skip_mark(b'*')? {
                true => TypeClass::Vlen { base: first },
                false if is("opaque") => {
                    let size = self.peek_len()?;
                    self.advance()?;
                    TypeClass::Opaque { size }
                }
                false => return Err(self.expected("\"*\"")),
            };
            self.mark(b')', "\")\"")?;
            let name = self.name("the name of a type")?;
            return self.end_of_type(name, class, into);
        }
        let second = self.reference("the name of a type")?;
        if self.is_mark(b':') {
            let attribute = self.attribute(Some(first), Some(second))?;
            into.push(attribute);
            return self.semicolon();
        }
        if second.groups.is_none() && second.name == "enum" {
            let name = self.name("the name of a type")?;
            let members = self.enum_members()?;
            return self.end_of_type(name, TypeClass::Enum { base: first, members }, into);
        }
        if !["compound", "struct", "structure"].into_iter().any(is) {
            return Err(CdlFault::Unknown { what: "kind of type", name: first.name }.at(first.at));
        }
        let name = self.declared(second)?;
        let fields = self.fields()?;
        self.end_of_type(name, TypeClass::Compound { fields }, into)
    }

    fn end_of_type(
        &mut self,
        name: Name,
        class: TypeClass,
        into: &mut Vec<Statement>,
    ) -> Parsed<()> {
        into.push(Statement::Type { name, class });
        self.skip_mark(b';').map(|_| ())
    }

    fn enum_members(&mut self) -> Parsed<Vec<(Name, Item)>> {
        self.mark(b'{', "\"{\"")?;
        let mut members = Vec::new();
        loop {
            let name = self.name("the name of a member")?;
            self.mark(b'=', "\"=\"")?;
            members.push((name, self.item()?));
            if !self.skip_mark(b',')? {
                break;
            }
        }
        self.mark(b'}', "\"}\"")?;
        Ok(members)
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        self.mark(b'{', "\"{\"")?;
        let mut fields = Vec::new();
        while !self.is_mark(b'}') {
            let data_type = self.reference("the type of a member")?;
            loop {
                let name = self.name("the name of a member")?;
                let mut shape = Vec::new();
                if self.skip_mark(b'(')? {
                    loop {
                        shape.push(self.peek_len()?);
                        self.advance()?;
                        if !self.skip_mark(b',')? {
                            break;
                        }
                    }
                    self.mark(b')', "\")\"")?;
                }
                fields.push(Field { name, data_type: data_type.clone(), shape });
                if !self.skip_mark(b',')? {
                    break;
                }
            }
            self.semicolon()?;
        }
        self.advance()?;
        Ok(fields)
    }

    /// Constants with commas between them, up to what ends them.
    fn items(&mut self, end: u8) -> Parsed<Vec<Item>> {
        let mut items = Vec::new();
        if self.is_mark(end) {
            return Ok(items);
        }
        items.push(self.item()?);
        while self.skip_mark(b',')? {
            items.push(self.item()?);
        }
        Ok(items)
    }

    fn item(&mut self) -> Parsed<Item> {
        let at = self.at;
        let constant = match &self.token {
            Token::Mark(b'{') => {
                self.advance()?;
                let items = self.nested(|parser| parser.items(b'}'))?;
                self.mark(b'}', "\"}\"")?;
                Constant::List(items.into())
            }
            Token::Constant(_) => match self.advance()? {
                Token::Constant(constant) => constant,
                _ => return Err(self.expected("a constant")),
            },
            Token::Word(word) if word == "time" => self.time(at)?,
            Token::Word(_) | Token::Path(_) => word_constant(self.reference("a constant")?),
            _ => return Err(self.expected("a constant")),
        };
        Ok(Item { at, constant })
    }

    /// `time("2000-01-01 06:00")`, hours since 1970; without brackets a name like others.
    fn time(&mut self, at: Position) -> Parsed<Constant> {
        let reference = self.reference("a constant")?;
        if !self.skip_mark(b'(')? {
            return Ok(word_constant(reference));
        }
        let Token::Constant(Constant::Text(text)) = self.advance()? else {
            return Err(self.expected("a time in double quotes"));
        };
        self.mark(b')', "\")\"")?;
        let hours = std::str::from_utf8(&text).ok().and_then(hours_since_1970);
        let hours = hours.ok_or(CdlFault::Time.at(at))?;
        Ok(Constant::Number(Scalar::F64(hours)))
    }
}

fn word_constant(reference: Reference) -> Constant {
    if reference.groups.is_some() {
        return Constant::Name(Box::new(reference));
    }
    match (reference.name.as_str(), number::special(&reference.name)) {
        ("_", _) => Constant::Fill,
        ("NIL" | "Nil" | "nil", _) => Constant::Nil,
        (_, Some(number)) => Constant::Number(number),
        (_, None) => Constant::Name(Box::new(reference)),
    }
}
