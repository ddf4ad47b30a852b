//! The options: a table with one row each (`options/table.rs`), and the functions that rows are made with.

mod table;

use std::{fmt::Display, ops::RangeInclusive, sync::LazyLock};

use thiserror::Error;

use super::DebugLog;
use crate::{
    engine::Engine,
    protocol::{OptionDeclaration, OptionKind},
};

static OPTIONS: LazyLock<Vec<UciOption>> = LazyLock::new(table::options);

/// The targets of the options.
pub(super) struct Target<'a> {
    pub engine: &'a mut Engine,
    pub settings: &'a mut SessionSettings,
    pub debug_log: &'a DebugLog,
}

/// The options of the session itself.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionSettings {
    /// Is castling written as king takes rook?
    pub chess960: bool,
    /// Are the chances of win, draw and loss printed beside each score?
    pub show_wdl: bool,
}

/// A `setoption` that cannot be carried out. The text says which values are valid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum OptionError {
    #[error("there is no option `{0}`; `uci` lists the options")]
    Unknown(String),
    #[error("option {name} needs a value: setoption name {name} value {example}")]
    NoValue { name: String, example: String },
    #[error("option {name} takes {expected}, not `{found}`; it stays as it was")]
    Value { name: String, expected: String, found: String },
    #[error("{0}")]
    Failed(String),
}

/// A row of the table.
struct UciOption {
    declaration: OptionDeclaration,
    read: Box<ReadValue>,
}

/// Reads a value; the error says which values are valid.
type ReadValue = dyn Fn(&str) -> Result<OptionSetting, String> + Send + Sync;
type Apply = dyn FnOnce(&mut Target<'_>) -> Result<(), String>;

/// A valid setting to be applied.
pub(super) struct OptionSetting(Box<Apply>);

impl OptionSetting {
    /// Applies the setting. Waits for a running search where the engine does.
    pub(super) fn apply(self, target: &mut Target<'_>) -> Result<(), OptionError> {
        (self.0)(target).map_err(OptionError::Failed)
    }
}

/// The declarations of all options.
pub(super) fn declarations() -> impl Iterator<Item = OptionDeclaration> {
    OPTIONS.iter().map(|option| option.declaration.clone())
}

/// Looks up an option, ignoring case, and checks its value.
pub(super) fn parse(name: &str, value: Option<&str>) -> Result<OptionSetting, OptionError> {
    let option = OPTIONS
        .iter()
        .find(|option| option.declaration.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| OptionError::Unknown(shortened(name)))?;
    let name = || option.declaration.name.clone();
    let example = match &option.declaration.kind {
        OptionKind::Check { default } => (!default).to_string(),
        OptionKind::Spin { default, .. } => default.to_string(),
        OptionKind::Combo { default, .. } => default.clone(),
        // These need no value.
        OptionKind::Button | OptionKind::String { .. } => String::new(),
    };
    let value = match value {
        None if !example.is_empty() => return Err(OptionError::NoValue { name: name(), example }),
        value => value.unwrap_or_default().trim(),
    };
    (option.read)(value).map_err(|expected| OptionError::Value {
        name: name(),
        expected,
        found: shortened(value),
    })
}

/// The result of a setter: nothing, or a result whose error is reported to the user.
trait SetterResult {
    fn result(self) -> Result<(), String>;
}

impl SetterResult for () {
    fn result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> SetterResult for Result<(), E> {
    fn result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// A row whose values are read by `read` and set by `set`.
fn row<T: 'static, R: SetterResult>(
    name: &str,
    kind: OptionKind,
    read: impl Fn(&str) -> Result<T, String> + Send + Sync + 'static,
    set: impl Fn(&mut Target<'_>, T) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    UciOption {
        declaration: OptionDeclaration { name: name.to_owned(), kind },
        read: Box::new(move |value| {
            let value = read(value)?;
            Ok(OptionSetting(Box::new(move |target| set(target, value).result())))
        }),
    }
}

/// A whole number.
fn spin<T: TryFrom<i64> + 'static, R: SetterResult>(
    name: &str,
    default: i64,
    range: RangeInclusive<i64>,
    set: impl Fn(&mut Target<'_>, T) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let (min, max) = (*range.start(), *range.end());
    let read = move |value: &str| {
        let number = value.parse().ok().filter(|number| (min..=max).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| format!("{min} to {max}"))
    };
    row(name, OptionKind::Spin { default, min, max }, read, set)
}

/// On or off.
fn check<R: SetterResult>(
    name: &str,
    default: bool,
    set: impl Fn(&mut Target<'_>, bool) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let read = |value: &str| value.to_ascii_lowercase().parse().map_err(|_| "true or false".to_owned());
    row(name, OptionKind::Check { default }, read, set)
}

/// One of several words, each for a value.
fn combo<T: Copy + PartialEq + Send + Sync + 'static, R: SetterResult, const N: usize>(
    name: &str,
    default: T,
    values: [(&'static str, T); N],
    set: impl Fn(&mut Target<'_>, T) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let words = values.map(|(word, _)| word);
    let default = values.iter().find(|(_, value)| *value == default).map_or("", |(word, _)| word);
    let kind = OptionKind::Combo { default: default.to_owned(), values: words.map(str::to_owned).to_vec() };
    let read = move |text: &str| {
        let known = values.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        known.map(|&(_, value)| value).ok_or_else(|| words.join(", "))
    };
    row(name, kind, read, set)
}

/// An action without a value.
fn button<R: SetterResult>(
    name: &str,
    press: impl Fn(&mut Target<'_>) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    row(name, OptionKind::Button, |_| Ok(()), move |target, ()| press(target))
}

/// Any text, by default empty.
fn text<R: SetterResult>(
    name: &str,
    set: impl Fn(&mut Target<'_>, &str) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let kind = OptionKind::String { default: String::new() };
    row(name, kind, |value| Ok(value.to_owned()), move |target, value: String| set(target, &value))
}

/// A read-only text.
fn about(name: &str, shown: &str) -> UciOption {
    row(name, OptionKind::String { default: shown.to_owned() }, |_| Ok(()), |_, ()| ())
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_values_of_their_options() {
        for option in declarations() {
            let value = match &option.kind {
                OptionKind::Check { default } => Some(default.to_string()),
                OptionKind::Spin { default, .. } => Some(default.to_string()),
                OptionKind::Button => None,
                OptionKind::Combo { default, .. } | OptionKind::String { default } => Some(default.clone()),
            };
            assert!(parse(&option.name.to_uppercase(), value.as_deref()).is_ok(), "{option}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let bad = [
            ("Hash", "0"),
            ("Hash", "262145"),
            ("Hash", "-1"),
            ("Hash", "99999999999999999999999"),
            ("Hash", ""),
            ("Threads", "0"),
            ("Threads", "two"),
            ("Ponder", "maybe"),
            ("Move Overhead", "5001"),
            ("Learning", "always"),
            ("LearnDrop", "0"),
            ("PathHash", "fifty 80"),
        ];
        for (name, value) in bad {
            assert!(matches!(parse(name, Some(value)), Err(OptionError::Value { .. })), "{name} {value}");
        }
        assert!(matches!(parse("Hash", None), Err(OptionError::NoValue { .. })));
        assert!(matches!(parse("Hush", Some("1")), Err(OptionError::Unknown(_))));
    }
}
