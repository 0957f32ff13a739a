//! What Hugging Face's renderer offers to templates beyond plain Jinja, and values shown as Python shows them.

use minijinja::value::{Kwargs, Tuple, ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use super::notation::{pay, shown, tojson};
use super::paid;

/// The day that templates are told it is: prompts must not change from one day to the next. It is the day that
/// templates of the Llama family fall back to.
pub const TODAY: &str = "2024-07-26";
const YEAR: &str = "2024";

/// Registers functions, filters, tests and methods.
pub(crate) fn register(env: &mut Environment<'_>) {
    env.add_function("raise_exception", |state: &State<'_, '_>, message: &Value| -> Result<Value, Error> {
        let message = shown(state, message)?;
        Err(Error::new(ErrorKind::InvalidOperation, format!("it refuses: {message}")))
    });
    env.add_function("strftime_now", |format: &str| strftime(format));
    env.add_filter("tojson", tojson);
    env.add_filter("string", |state: &State<'_, '_>, value: &Value| shown(state, value));
    env.add_filter("join", join);
    // Python strings and mappings have a length and can be indexed, so Jinja calls them sequences.
    env.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map)
    });
    env.add_test("iterable", |value: &Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map | ValueKind::Iterable)
    });
    paid::register(env);
    // They show values without charging for it, and no chat template needs them.
    env.remove_filter("pprint");
    env.remove_global("debug");
    env.set_unknown_method_callback(method);
    env.set_formatter(|out, state, value| {
        let text = match value.as_str() {
            Some(text) => return Ok(out.write_str(text)?),
            None if value.is_undefined() => return Ok(()),
            None => shown(state, value)?,
        };
        Ok(out.write_str(&text)?)
    });
}

/// Methods of Python's types that the engine does not have.
fn method(state: &mut State<'_, '_>, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let text = value.as_str();
    match (name, text) {
        ("join", Some(separator)) => {
            let (items,): (&Value,) = from_args(args)?;
            joined(state, items, separator, None).map(Value::from)
        }
        ("format", Some(format)) => {
            paid::pay_format(state, format, args)?;
            minijinja_contrib::pycompat::unknown_method_callback(state, value, name, args)
        }
        ("removeprefix", Some(text)) => {
            let (prefix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_prefix(prefix).unwrap_or(text)))
        }
        ("removesuffix", Some(text)) => {
            let (suffix,): (&str,) = from_args(args)?;
            Ok(Value::from(text.strip_suffix(suffix).unwrap_or(text)))
        }
        ("index" | "rindex", Some(text)) => {
            let (part,): (&str,) = from_args(args)?;
            let found = if name == "index" { text.find(part) } else { text.rfind(part) };
            let at = found.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "substring not found"))?;
            Ok(Value::from(text[..at].chars().count()))
        }
        ("partition" | "rpartition", Some(text)) => {
            let (separator,): (&str,) = from_args(args)?;
            let parts = match (name, separator) {
                (_, "") => return Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
                ("partition", _) => text.split_once(separator).ok_or([text, "", ""]),
                _ => text.rsplit_once(separator).ok_or(["", "", text]),
            };
            let parts = parts.map_or_else(|none| none, |(before, after)| [before, separator, after]);
            Ok(Value::from(Tuple::from(parts.map(Value::from))))
        }
        ("rsplit", Some(text)) => {
            let (separator, limit): (&str, Option<i64>) = from_args(args)?;
            if separator.is_empty() {
                return Err(Error::new(ErrorKind::InvalidOperation, "empty separator"));
            }
            let count = limit.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX - 1);
            let mut parts: Vec<Value> = text.rsplitn(count + 1, separator).map(Value::from).collect();
            parts.reverse();
            Ok(Value::from(parts))
        }
        _ => minijinja_contrib::pycompat::unknown_method_callback(state, value, name, args),
    }
}

fn join(
    state: &State<'_, '_>,
    items: &Value,
    separator: Option<&str>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let separator = separator.or(kwargs.get("d")?).unwrap_or_default();
    let attribute: Option<&str> = kwargs.get("attribute")?;
    kwargs.assert_all_used()?;
    joined(state, items, separator, attribute)
}

fn joined(
    state: &State<'_, '_>,
    items: &Value,
    separator: &str,
    attribute: Option<&str>,
) -> Result<String, Error> {
    let mut out = String::new();
    for (index, item) in items.try_iter()?.enumerate() {
        let item = attribute.map_or(Ok(item.clone()), |name| item.get_attr(name))?;
        let text = shown(state, &item)?;
        pay(state, separator.len() + text.len())?;
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&text);
    }
    Ok(out)
}

/// `strftime` of the fixed day, at midnight.
fn strftime(format: &str) -> Result<String, Error> {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut directive = chars.next();
        let bare = directive == Some('-');
        if bare {
            directive = chars.next();
        }
        let part = match directive {
            Some('Y') => YEAR,
            Some('y') => &YEAR[2..],
            Some('m') => "07",
            Some('d') => "26",
            Some('B') => "July",
            Some('b' | 'h') => "Jul",
            Some('A') => "Friday",
            Some('a') => "Fri",
            Some('j') => "208",
            Some('H' | 'M' | 'S') => "00",
            Some('I') => "12",
            Some('p') => "AM",
            Some('Z' | 'z') => "",
            Some('F') => TODAY,
            Some('T') => "00:00:00",
            Some('%') => "%",
            other => {
                let shown = other.map(String::from).unwrap_or_default();
                let message = format!("strftime_now does not know %{shown}");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        };
        let short = part.trim_start_matches('0');
        out.push_str(if bare && !short.is_empty() { short } else { part });
    }
    Ok(out)
}
