//! The options: a table with one row each (`options/table.rs`), declared to the GUI and looked up by name.

mod row;
mod table;

use std::sync::LazyLock;

use thiserror::Error;

use self::row::{OptionSetting, UciOption};
pub(super) use self::row::{SessionSettings, Target};
use crate::protocol::{OptionDeclaration, OptionKind, quote};

static OPTIONS: LazyLock<Vec<UciOption>> = LazyLock::new(table::options);

/// A `setoption` that cannot be carried out. The text says which values are valid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum OptionError {
    #[error("there is no option `{0}`; `uci` lists the options")]
    Unknown(String),
    #[error("option {name} needs a value: setoption name {name} value {example}")]
    NoValue { name: String, example: String },
    #[error("option {name} takes {expected}, not `{found}`; it stays as it was")]
    Value { name: String, expected: String, found: String },
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
        .ok_or_else(|| OptionError::Unknown(quote(name)))?;
    let name = || option.declaration.name.clone();
    let example = match &option.declaration.kind {
        OptionKind::Check { default } => (!default).to_string(),
        OptionKind::Spin { default, .. } => default.to_string(),
        OptionKind::Combo { default, .. } => default.clone(),
        // These may come without a value.
        OptionKind::Button | OptionKind::String { .. } => String::new(),
    };
    let value = match value {
        None if !example.is_empty() => return Err(OptionError::NoValue { name: name(), example }),
        value => value.unwrap_or_default().trim(),
    };
    (option.read)(value).map_err(|expected| OptionError::Value {
        name: name(),
        expected,
        found: quote(value),
    })
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
}
