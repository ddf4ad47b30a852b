//! A row of the table of options, and the functions that make rows.

use std::{fmt::Display, ops::RangeInclusive};

use crate::{
    engine::Engine,
    protocol::{OptionDeclaration, OptionKind},
    uci::DebugLog,
};

/// The targets of the options.
pub struct Target<'a> {
    pub engine: &'a mut Engine,
    pub settings: &'a mut SessionSettings,
    pub debug_log: &'a DebugLog,
}

/// The options of the session itself.
#[derive(Clone, Debug, Default)]
pub struct SessionSettings {
    /// Is castling written as king takes rook?
    pub chess960: bool,
    /// Are the chances of win, draw and loss printed beside each score?
    pub show_wdl: bool,
}

/// A row of the table.
pub struct UciOption {
    pub declaration: OptionDeclaration,
    pub read: Box<ReadValue>,
}

/// Reads a value; the error says which values are valid.
pub type ReadValue = dyn Fn(&str) -> Result<OptionSetting, String> + Send + Sync;

/// A valid setting. Calling it applies it, and waits for a running search where the engine does.
pub type OptionSetting = Box<dyn FnOnce(&mut Target<'_>) -> Result<(), String>>;

/// The return value of a setter: nothing, or a result whose error is reported to the user.
pub trait SetterResult {
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
            Ok(Box::new(move |target| set(target, value).result()))
        }),
    }
}

/// A whole number.
pub fn spin<T: TryFrom<i64> + 'static, R: SetterResult>(
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
pub fn check<R: SetterResult>(
    name: &str,
    default: bool,
    set: impl Fn(&mut Target<'_>, bool) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let read = |value: &str| value.to_ascii_lowercase().parse().map_err(|_| "true or false".to_owned());
    row(name, OptionKind::Check { default }, read, set)
}

/// One of several words, each for a value.
pub fn combo<T: Copy + PartialEq + Send + Sync + 'static, R: SetterResult, const N: usize>(
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
pub fn button<R: SetterResult>(
    name: &str,
    press: impl Fn(&mut Target<'_>) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    row(name, OptionKind::Button, |_| Ok(()), move |target, ()| press(target))
}

/// Any text, by default empty.
pub fn text<R: SetterResult>(
    name: &str,
    set: impl Fn(&mut Target<'_>, &str) -> R + Copy + Send + Sync + 'static,
) -> UciOption {
    let kind = OptionKind::String { default: String::new() };
    row(name, kind, |value| Ok(value.to_owned()), move |target, value: String| set(target, &value))
}

/// A read-only text.
pub fn about(name: &str, shown: &str) -> UciOption {
    row(name, OptionKind::String { default: shown.to_owned() }, |_| Ok(()), |_, ()| ())
}
