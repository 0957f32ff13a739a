//! Values written out as Python writes them, and as JSON.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

/// Deepest nesting of a value that is written out; tool schemas, the deepest real ones, have about ten.
const NESTING: usize = 64;

/// `json.dumps(value, ensure_ascii=False, indent=...)`, not escaped for web pages.
pub(crate) fn tojson(
    state: &State<'_, '_>,
    value: &Value,
    args: Rest<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    if !args.is_empty() {
        return Err(Error::new(ErrorKind::TooManyArguments, "tojson takes its options by name"));
    }
    let indent: Option<usize> = kwargs.get::<Option<usize>>("indent")?.map(|n| n.min(16));
    let ascii = kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    let sorted = kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let separators: Option<Vec<String>> = kwargs.get("separators")?;
    kwargs.assert_all_used()?;
    let mut pair = [if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()];
    if let Some([item, key]) = separators.as_deref() {
        pair = [item.clone(), key.clone()];
    }
    let mut out = Notation {
        state,
        out: String::new(),
        indent,
        separators: pair,
        style: Style::Json { ascii, sorted },
    };
    out.value(value, 0)?;
    Ok(Value::from(out.out))
}

/// `str(value)`.
pub(crate) fn shown(state: &State<'_, '_>, value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    if value.is_undefined() {
        return Ok(String::new());
    }
    let separators = [", ".to_owned(), ": ".to_owned()];
    let mut out = Notation { state, out: String::new(), indent: None, separators, style: Style::Python };
    out.value(value, 0)?;
    Ok(out.out)
}

/// Fuel for work that the engine does not see; containers can be shared and so be exponentially large to walk.
pub(crate) fn pay(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    state.consume_fuel(1 + bytes as u64 / 64)
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Json { ascii: bool, sorted: bool },
    Python,
}

/// Writes a value out, paying as it goes.
struct Notation<'a, 'b, 'c> {
    state: &'a State<'b, 'c>,
    out: String,
    indent: Option<usize>,
    separators: [String; 2],
    style: Style,
}

impl Notation<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > NESTING {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "a value is nested too deeply to be written",
            ));
        }
        pay(self.state, value.as_str().map_or(16, str::len))?;
        let python = self.style == Style::Python;
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => self.out.push_str(if python { "None" } else { "null" }),
            ValueKind::Bool => self.out.push_str(match (value.is_true(), python) {
                (true, true) => "True",
                (false, true) => "False",
                (true, false) => "true",
                (false, false) => "false",
            }),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Map => self.map(value, depth)?,
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth)?,
            ValueKind::Number if !value.is_integer() => {
                let number = f64::try_from(value.clone())?;
                self.out.push_str(&float(number, python));
            }
            _ => self.out.push_str(&value.to_string()),
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let tuple = self.style == Style::Python && value.is_tuple();
        self.out.push(if tuple { '(' } else { '[' });
        let mut count = 0;
        for item in value.try_iter()? {
            self.next_item(count, depth)?;
            self.value(&item, depth + 1)?;
            count += 1;
        }
        if tuple && count == 1 {
            self.out.push(',');
        }
        self.close(if tuple { ')' } else { ']' }, count, depth);
        Ok(())
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('{');
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        pay(self.state, 16 * keys.len())?;
        if matches!(self.style, Style::Json { sorted: true, .. }) {
            keys.sort();
        }
        let count = keys.len();
        for (place, key) in keys.into_iter().enumerate() {
            self.next_item(place, depth)?;
            match (key.as_str(), self.style) {
                (Some(text), _) => self.text(text),
                (None, Style::Python) => self.value(&key, depth + 1)?,
                (None, Style::Json { .. }) => self.text(&key.to_string()),
            }
            self.out.push_str(&self.separators[1]);
            self.value(&value.get_item(&key)?, depth + 1)?;
        }
        self.close('}', count, depth);
        Ok(())
    }

    fn next_item(&mut self, count: usize, depth: usize) -> Result<(), Error> {
        pay(self.state, self.indent.unwrap_or(0) * (depth + 1))?;
        if count > 0 {
            self.out.push_str(&self.separators[0]);
        }
        self.new_line(depth + 1);
        Ok(())
    }

    fn close(&mut self, bracket: char, count: usize, depth: usize) {
        if count > 0 {
            self.new_line(depth);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn text(&mut self, text: &str) {
        let quote = match self.style {
            Style::Python if !text.contains('\'') || text.contains('"') => '\'',
            _ => '"',
        };
        self.out.push(quote);
        for c in text.chars() {
            match (c, self.style) {
                ('\\', _) => self.out.push_str("\\\\"),
                ('\n', _) => self.out.push_str("\\n"),
                ('\r', _) => self.out.push_str("\\r"),
                ('\t', _) => self.out.push_str("\\t"),
                ('\u{8}', Style::Json { .. }) => self.out.push_str("\\b"),
                ('\u{c}', Style::Json { .. }) => self.out.push_str("\\f"),
                (c, _) if c == quote => self.out.extend(['\\', c]),
                (c, Style::Python) if c < ' ' || c == '\u{7f}' => {
                    self.out.push_str(&format!("\\x{:02x}", c as u32))
                }
                (c, Style::Json { ascii, .. }) if c < ' ' || ascii && !c.is_ascii() => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                (c, _) => self.out.push(c),
            }
        }
        self.out.push(quote);
    }
}

/// The shortest digits that give the number back; an exponent from 16 digits on and below 0.0001, as in Python.
fn float(number: f64, python: bool) -> String {
    if !number.is_finite() {
        let infinite = if python { "inf" } else { "Infinity" };
        return match (number.is_nan(), number > 0.0) {
            (true, _) => if python { "nan" } else { "NaN" }.to_owned(),
            (false, true) => infinite.to_owned(),
            (false, false) => format!("-{infinite}"),
        };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..16).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => format!("{number:?}"),
    }
}
