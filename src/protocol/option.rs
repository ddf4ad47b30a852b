use std::fmt;

use super::tokens::{EMPTY, Tokens, parse_integer};

/// An option as an engine declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDeclaration {
    /// The name, words separated by single spaces.
    pub name: String,
    /// The type with its default and range.
    pub kind: OptionKind,
}

/// The types of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Check {
        /// Value at the start.
        default: bool,
    },
    /// A whole number.
    Spin {
        /// Value at the start.
        default: i64,
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// One of several words.
    Combo {
        /// Value at the start.
        default: String,
        /// All values.
        values: Vec<String>,
    },
    /// An action without a value.
    Button,
    /// Any text.
    String {
        /// Value at the start.
        default: String,
    },
}

impl OptionDeclaration {
    /// Reads the rest of the line after the word `option`. Without `min` and `max` the range is unlimited.
    pub(super) fn parse(tokens: &mut Tokens<'_>) -> Option<OptionDeclaration> {
        if tokens.next()? != "name" {
            return None;
        }
        let name = tokens.until("type");
        if name.is_empty() {
            return None;
        }
        let kind = match tokens.next()? {
            "check" => OptionKind::Check { default: tokens.nth(1) == Some("true") },
            "spin" => spin(tokens),
            "combo" => combo(tokens),
            "button" => OptionKind::Button,
            "string" => {
                tokens.next();
                let text = tokens.rest();
                OptionKind::String { default: if text == EMPTY { String::new() } else { text.to_owned() } }
            }
            _ => return None,
        };
        Some(OptionDeclaration { name, kind })
    }
}

fn spin(tokens: &mut Tokens<'_>) -> OptionKind {
    // The smallest number that is parsed as the same number after printing.
    let (mut default, mut min, mut max) = (None, -i64::MAX, i64::MAX);
    while let Some(word) = tokens.next() {
        let Some(number) = tokens.peek().and_then(parse_integer) else { continue };
        match word {
            "default" => default = Some(number),
            "min" => min = number,
            "max" => max = number,
            _ => continue,
        }
        tokens.next();
    }
    OptionKind::Spin { default: default.unwrap_or(0), min, max }
}

fn combo(tokens: &mut Tokens<'_>) -> OptionKind {
    let mut default = Vec::new();
    let mut values: Vec<Vec<&str>> = Vec::new();
    let mut in_default = false;
    for word in tokens {
        match word {
            "default" => in_default = true,
            "var" => {
                in_default = false;
                values.push(Vec::new());
            }
            word if in_default => default.push(word),
            word => {
                if let Some(value) = values.last_mut() {
                    value.push(word);
                }
            }
        }
    }
    OptionKind::Combo {
        default: default.join(" "),
        values: values.into_iter().map(|words| words.join(" ")).collect(),
    }
}

impl fmt::Display for OptionDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match &self.kind {
            OptionKind::Check { default } => write!(f, "check default {default}"),
            OptionKind::Spin { default, min, max } => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            OptionKind::Combo { default, values } => {
                write!(f, "combo default {default}")?;
                values.iter().try_for_each(|value| write!(f, " var {value}"))
            }
            OptionKind::Button => f.write_str("button"),
            OptionKind::String { default } => {
                write!(f, "string default {}", if default.is_empty() { EMPTY } else { default })
            }
        }
    }
}
