//! Damage: valid input with a few changes of the kinds that break readers.

use crate::random::Random;

/// Numbers at which readers err.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "99",
    "100",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "65536",
    "2147483648",
    "4294967295",
    "18446744073709551616",
];

/// Makes damaged input of valid input.
pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    words: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub fn new(seeds: &'a [Vec<u8>], words: &'a [&'a str]) -> Mutator<'a> {
        Mutator { seeds, words }
    }

    /// The case of this number.
    pub fn case(&self, number: u64) -> Vec<u8> {
        let mut random = Random(number);
        let mut bytes = self.seed(&mut random).to_vec();
        for _ in 0..1 + random.below(6) {
            self.damage(&mut bytes, &mut random);
        }
        bytes.truncate(1 << 16);
        bytes
    }

    fn seed(&self, random: &mut Random) -> &'a [u8] {
        &self.seeds[random.below(self.seeds.len())]
    }

    fn damage(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(12)).min(bytes.len());
        match random.below(11) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 if at < bytes.len() => bytes[at] = [0, 0xFF, 0x80, b' ', b'\n', b'\t', 0xC3][random.below(7)],
            3 if at < bytes.len() => drop(bytes.drain(at..end)),
            4 if at < bytes.len() => {
                let part = bytes[at..end].to_vec();
                let copies = 1 + random.below(4);
                for _ in 0..copies {
                    bytes.splice(at..at, part.iter().copied());
                }
            }
            5 => bytes.truncate(at),
            6 => {
                // The end of another valid input.
                let other = self.seed(random);
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            7 if !self.words.is_empty() => {
                let word = self.words[random.below(self.words.len())];
                bytes.splice(at..at, format!(" {word} ").bytes());
            }
            8 => replace_word(bytes, at, NUMBERS[random.below(NUMBERS.len())]),
            9 if !self.words.is_empty() => {
                replace_word(bytes, at, self.words[random.below(self.words.len())])
            }
            _ => swap_lines(bytes, random),
        }
    }
}

/// Puts another word where one is.
fn replace_word(bytes: &mut Vec<u8>, at: usize, word: &str) {
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let start = bytes[..at].iter().rposition(is_space).map_or(0, |space| space + 1);
    let end = bytes[at..].iter().position(is_space).map_or(bytes.len(), |space| at + space);
    bytes.splice(start..end, word.bytes());
}

fn swap_lines(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(one, other);
    *bytes = lines.join(&b'\n');
}
