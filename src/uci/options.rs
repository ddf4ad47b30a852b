//! The options: one table of name, kind, range, default and what setting it does.

mod table;

use thiserror::Error;

use self::table::OPTIONS;
use super::DebugLog;
#[cfg(feature = "tune")]
use crate::search::PARAMETERS;
use crate::{
    engine::Engine,
    protocol::{OptionDeclaration, OptionKind},
};

/// What options act on.
pub(super) struct Target<'a> {
    pub engine: &'a mut Engine,
    pub settings: &'a mut Settings,
    pub debug_log: &'a DebugLog,
}

/// The options that the session itself looks at.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// Is castling written as king takes rook?
    pub chess960: bool,
    /// Are the chances of win, draw and loss printed beside each score?
    pub show_wdl: bool,
}

/// One line of the table.
struct Row {
    name: &'static str,
    kind: Kind,
}

type SetCheck = fn(&mut Target<'_>, bool);
type SetSpin = fn(&mut Target<'_>, usize) -> Result<(), OptionError>;
type SetSigned = fn(&mut Target<'_>, i32);
type Press = fn(&mut Target<'_>);
/// Called with one of the values listed.
type Choose = fn(&mut Target<'_>, &str);
type SetText = fn(&mut Target<'_>, &str) -> Result<(), OptionError>;

enum Kind {
    Check { default: bool, set: SetCheck },
    Spin { default: usize, min: usize, max: usize, set: SetSpin },
    Signed { default: i32, min: i32, max: i32, set: SetSigned },
    Button { press: Press },
    Text { default: &'static str, set: SetText },
    Combo { default: fn() -> &'static str, values: fn() -> Vec<&'static str>, set: Choose },
}

/// A `setoption` that cannot be carried out. The text says what would work.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum OptionError {
    #[error("there is no option `{0}`; `uci` lists the options")]
    Unknown(String),
    #[error("option {name} needs a value: setoption name {name} value {example}")]
    NoValue { name: &'static str, example: String },
    #[error("option {name} takes {expected}, not `{found}`; it stays as it was")]
    Value { name: &'static str, expected: String, found: String },
    #[error("{0}")]
    Failed(String),
}

/// A valid setting that waits to be applied.
pub(super) struct Setting(Action);

enum Action {
    Check(SetCheck, bool),
    Spin(SetSpin, usize),
    Signed(SetSigned, i32),
    Press(Press),
    Text(SetText, String),
    Choose(Choose, &'static str),
    #[cfg(feature = "tune")]
    Tune(&'static crate::search::Parameter, i32),
}

/// Looks an option up (capitals do not matter) and checks its value.
pub(super) fn parse(name: &str, value: Option<&str>) -> Result<Setting, OptionError> {
    #[cfg(feature = "tune")]
    if let Some(parameter) = PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name)) {
        let (low, high) = (parameter.low, parameter.high);
        let number = value.and_then(|value| value.trim().parse().ok());
        let number = number.filter(|number| (low..=high).contains(number));
        let wrong = || OptionError::Value {
            name: parameter.name,
            expected: format!("{low} to {high}"),
            found: shortened(value.unwrap_or_default()),
        };
        return Ok(Setting(Action::Tune(parameter, number.ok_or_else(wrong)?)));
    }
    let row = OPTIONS
        .iter()
        .find(|row| row.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| OptionError::Unknown(shortened(name)))?;
    let needed =
        |example: String| value.ok_or(OptionError::NoValue { name: row.name, example }).map(str::trim);
    let wrong = |expected, found| OptionError::Value { name: row.name, expected, found: shortened(found) };
    let action = match row.kind {
        Kind::Button { press } => Action::Press(press),
        Kind::Check { default, set } => {
            let value = needed((!default).to_string())?;
            let on = match value.to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                _ => return Err(wrong("true or false".to_owned(), value)),
            };
            Action::Check(set, on)
        }
        Kind::Spin { default, min, max, set } => {
            let value = needed(default.to_string())?;
            let number = value.parse().ok().filter(|number| (min..=max).contains(number));
            Action::Spin(set, number.ok_or_else(|| wrong(format!("{min} to {max}"), value))?)
        }
        Kind::Combo { default, values, set } => {
            let value = needed(default().to_owned())?;
            let known = values().into_iter().find(|known| known.eq_ignore_ascii_case(value));
            Action::Choose(set, known.ok_or_else(|| wrong(values().join(", "), value))?)
        }
        Kind::Signed { default, min, max, set } => {
            let value = needed(default.to_string())?;
            let number = value.parse().ok().filter(|number| (min..=max).contains(number));
            Action::Signed(set, number.ok_or_else(|| wrong(format!("{min} to {max}"), value))?)
        }
        Kind::Text { set, .. } => Action::Text(set, value.unwrap_or_default().to_owned()),
    };
    Ok(Setting(action))
}

impl Setting {
    /// Makes the setting. Waits for a running search where the engine does.
    pub(super) fn apply(self, target: &mut Target<'_>) -> Result<(), OptionError> {
        match self.0 {
            Action::Check(set, on) => set(target, on),
            Action::Spin(set, number) => set(target, number)?,
            Action::Signed(set, number) => set(target, number),
            Action::Press(press) => press(target),
            Action::Text(set, text) => set(target, &text)?,
            Action::Choose(set, value) => set(target, value),
            #[cfg(feature = "tune")]
            Action::Tune(parameter, value) => parameter.set(value),
        }
        Ok(())
    }
}

/// All options as the GUI is told about them.
pub(super) fn declarations() -> impl Iterator<Item = OptionDeclaration> {
    let options = OPTIONS.iter().map(|row| OptionDeclaration {
        name: row.name.to_owned(),
        kind: match row.kind {
            Kind::Check { default, .. } => OptionKind::Check { default },
            Kind::Spin { default, min, max, .. } => {
                OptionKind::Spin { default: default as i64, min: min as i64, max: max as i64 }
            }
            Kind::Signed { default, min, max, .. } => {
                OptionKind::Spin { default: default.into(), min: min.into(), max: max.into() }
            }
            Kind::Button { .. } => OptionKind::Button,
            Kind::Combo { default, values, .. } => OptionKind::Combo {
                default: default().to_owned(),
                values: values().into_iter().map(str::to_owned).collect(),
            },
            Kind::Text { default, .. } => OptionKind::String { default: default.to_owned() },
        },
    });
    #[cfg(feature = "tune")]
    let options = options.chain(PARAMETERS.iter().map(|parameter| OptionDeclaration {
        name: parameter.name.to_owned(),
        kind: OptionKind::Spin {
            default: parameter.default.into(),
            min: parameter.low.into(),
            max: parameter.high.into(),
        },
    }));
    options
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
