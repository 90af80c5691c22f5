//! What is inside a type: the fields of structs, the elements of lists.
//!
//! Engines name a type in full (`STRUCT(city VARCHAR, tags VARCHAR[])`, `ARRAY<STRUCT<sku STRING>>`). This reads such a
//! name, so that paths into a column can be checked against it and schemas can show it.

use crate::{Column, FieldType};

/// Nobody nests types deeper; a longer name is of a type that we do not look into.
const MAX_DEPTH: usize = 16;
const MAX_BYTES: usize = 64 * 1024;

/// A type, as far as paths into it go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    Scalar(FieldType),
    List(Box<Self>),
    Struct(Vec<(String, Self)>),
}

impl Shape {
    /// The shape of a column: what the engine calls its type, or its plain kind where that says nothing more.
    pub fn of(column: &Column) -> Self {
        let nested = matches!(column.kind, FieldType::Struct | FieldType::List);
        let parsed = if nested { Self::parse(&column.native) } else { None };
        parsed.unwrap_or(Self::Scalar(column.kind))
    }

    /// Reads a type's name as DuckDB or BigQuery writes it.
    pub fn parse(native: &str) -> Option<Self> {
        if native.len() > MAX_BYTES {
            return None;
        }
        let mut reader = Reader { rest: native };
        let shape = reader.shape(0)?;
        reader.rest.trim().is_empty().then_some(shape)
    }

    /// The field of a struct. Names are compared without case, as the engines do.
    pub fn field(&self, name: &str) -> Option<(&str, &Self)> {
        let Self::Struct(fields) = self else { return None };
        fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(n, shape)| (n.as_str(), shape))
    }

    pub fn kind(&self) -> FieldType {
        match self {
            Self::Scalar(kind) => *kind,
            Self::List(_) => FieldType::List,
            Self::Struct(_) => FieldType::Struct,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn shape(&mut self, depth: usize) -> Option<Shape> {
        if depth > MAX_DEPTH {
            return None;
        }
        let word = self.word()?.to_ascii_uppercase();
        let mut shape = match word.as_str() {
            "STRUCT" | "RECORD" => Shape::Struct(self.fields(depth)?),
            "ARRAY" if self.eat('<') => {
                let element = self.shape(depth + 1)?;
                self.eat('>').then(|| Shape::List(Box::new(element)))?
            }
            scalar => {
                self.skip_arguments()?;
                self.skip_more_words();
                Shape::Scalar(kind(scalar))
            }
        };
        // `INTEGER[][3]`: lists of lists, or of fixed length.
        while self.eat('[') {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
            self.eat(']').then_some(())?;
            shape = Shape::List(Box::new(shape));
        }
        Some(shape)
    }

    fn fields(&mut self, depth: usize) -> Option<Vec<(String, Shape)>> {
        let close = if self.eat('(') { ')' } else { self.eat('<').then_some('>')? };
        let mut fields = Vec::new();
        loop {
            let name = self.name()?;
            fields.push((name, self.shape(depth + 1)?));
            if self.eat(close) {
                return Some(fields);
            }
            self.eat(',').then_some(())?;
        }
    }

    fn eat(&mut self, expected: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(expected) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        (!word.is_empty()).then_some(word)
    }

    fn name(&mut self) -> Option<String> {
        for quote in ['"', '`'] {
            if self.eat(quote) {
                return self.quoted(quote);
            }
        }
        self.word().map(str::to_owned)
    }

    /// The rest of a quoted name; a doubled quote stands for itself.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut name = String::new();
        loop {
            let (part, after) = self.rest.split_once(quote)?;
            name.push_str(part);
            self.rest = after;
            match after.strip_prefix(quote) {
                Some(more) => {
                    name.push(quote);
                    self.rest = more;
                }
                None => return Some(name),
            }
        }
    }

    /// `(12,2)` of DECIMAL, `('a', 'b')` of ENUM, `(VARCHAR, INTEGER)` of MAP: nothing that a path goes into.
    fn skip_arguments(&mut self) -> Option<()> {
        let open = if self.eat('(') { Some(('(', ')')) } else { self.eat('<').then_some(('<', '>')) };
        let Some((open, close)) = open else { return Some(()) };
        let (mut depth, mut in_text) = (1, false);
        for (at, c) in self.rest.char_indices() {
            match c {
                '\'' => in_text = !in_text,
                _ if in_text => {}
                c if c == open => depth += 1,
                c if c == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = self.rest.get(at + 1..)?;
                return Some(());
            }
        }
        None
    }

    /// `TIMESTAMP WITH TIME ZONE`, `INT64 NOT NULL`.
    fn skip_more_words(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    }
}

/// The word of the house for a scalar type of DuckDB or BigQuery.
fn kind(native: &str) -> FieldType {
    match native {
        "BOOLEAN" | "BOOL" => FieldType::Boolean,
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "HUGEINT" | "UTINYINT" | "USMALLINT" | "UINTEGER"
        | "UBIGINT" | "UHUGEINT" | "INT64" => FieldType::Integer,
        "FLOAT" | "DOUBLE" | "FLOAT64" => FieldType::Number,
        "DECIMAL" | "NUMERIC" | "BIGNUMERIC" => FieldType::Decimal,
        "VARCHAR" | "STRING" | "ENUM" => FieldType::String,
        "DATE" => FieldType::Date,
        "TIME" => FieldType::Time,
        "DATETIME" => FieldType::Timestamp,
        "UUID" => FieldType::Uuid,
        "JSON" => FieldType::Json,
        "BLOB" | "BYTES" => FieldType::Bytes,
        "MAP" => FieldType::Struct,
        word if word.starts_with("TIMESTAMP") => FieldType::Timestamp,
        _ => FieldType::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(shape: &Shape) -> String {
        match shape {
            Shape::Scalar(kind) => format!("{kind:?}"),
            Shape::List(element) => format!("[{}]", shown(element)),
            Shape::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, s)| format!("{name}: {}", shown(s))).collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }

    #[test]
    fn types_of_both_engines_are_read() {
        for (native, expected) in [
            ("INTEGER", "Integer"),
            ("DECIMAL(12,2)", "Decimal"),
            ("TIMESTAMP WITH TIME ZONE", "Timestamp"),
            ("VARCHAR[]", "[String]"),
            ("INTEGER[3][]", "[[Integer]]"),
            ("STRUCT(city VARCHAR, zip INTEGER)", "{city: String, zip: Integer}"),
            ("STRUCT(\"a b\" DATE, \"q\"\"\" ENUM('x)', 'y'))[]", "[{a b: Date, q\": String}]"),
            ("STRUCT(at TIMESTAMP WITH TIME ZONE, geo STRUCT(lat DOUBLE))", "{at: Timestamp, geo: {lat: Number}}"),
            ("MAP(VARCHAR, STRUCT(a INTEGER))", "Struct"),
            ("ARRAY<STRUCT<sku STRING, price NUMERIC(10, 2)>>", "[{sku: String, price: Decimal}]"),
            ("STRUCT<`a` INT64, b ARRAY<STRING>>", "{a: Integer, b: [String]}"),
        ] {
            assert_eq!(Shape::parse(native).map(|s| shown(&s)).as_deref(), Some(expected), "{native}");
        }
    }

    #[test]
    fn what_is_no_type_is_none() {
        let deep = "STRUCT(a ".repeat(1000);
        for native in ["", "STRUCT", "STRUCT(", "STRUCT()", "STRUCT(a)", "ARRAY<", "INTEGER[", "INTEGER)", "(", &deep] {
            assert_eq!(Shape::parse(native), None, "{native}");
        }
    }
}
