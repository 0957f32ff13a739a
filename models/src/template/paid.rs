//! Makes templates pay where the engine turns a container into text, or makes room, without counting it.
//!
//! Containers can share their parts and so be exponentially long when written. Operators are out of reach (`~`, `==`,
//! `in`, keys of mappings): they are left to the limits of time and memory.

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};

use super::notation::{pay, shown};

/// Most digits of a number in a format specification: real ones pad to a few columns.
const FORMAT_DIGITS: usize = 4;

/// Puts paying filters in place of those that take any value as a text.
pub(crate) fn register(env: &mut Environment<'_>) {
    for (name, filter) in [
        ("capitalize", Value::from_function(filters::capitalize)),
        ("e", Value::from_function(filters::escape)),
        ("escape", Value::from_function(filters::escape)),
        ("format", Value::from_function(filters::format)),
        ("lower", Value::from_function(filters::lower)),
        ("replace", Value::from_function(filters::replace)),
        ("split", Value::from_function(filters::split)),
        ("title", Value::from_function(filters::title)),
        ("trim", Value::from_function(filters::trim)),
        ("upper", Value::from_function(filters::upper)),
    ] {
        env.add_filter(name, move |state: &mut State<'_, '_>, args: Rest<Value>| {
            let args = texts(state, &args)?;
            filter.call(state, &args)
        });
    }
}

/// The arguments with containers written as Python writes them, and paid for.
fn texts(state: &State<'_, '_>, args: &[Value]) -> Result<Vec<Value>, Error> {
    let text = |arg: &Value| match contains(arg) && !arg.is_kwargs() {
        true => shown(state, arg).map(Value::from),
        false => Ok(arg.clone()),
    };
    args.iter().map(text).collect()
}

fn contains(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable)
}

/// Pays for `str.format` before the engine makes room for it: every field may hold the longest argument, and every
/// number may be a width.
pub(crate) fn pay_format(state: &State<'_, '_>, format: &str, args: &[Value]) -> Result<(), Error> {
    let mut longest = 40; // a number written out
    for arg in args {
        let bytes = if contains(arg) { shown(state, arg)?.len() } else { arg.as_str().map_or(0, str::len) };
        longest = longest.max(bytes);
    }
    let mut bytes = format.len() + format.matches('{').count() * longest;
    for digits in format.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
        if digits.len() > FORMAT_DIGITS {
            let message = format!("the format has a number of more than {FORMAT_DIGITS} digits");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        bytes += digits.parse::<usize>().unwrap_or(0);
    }
    pay(state, bytes)
}
