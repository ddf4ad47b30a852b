//! A teacher for `engram tune`: the mean of plain networks (768 inputs mirrored by the king, 1,024 units a view, squared
//! clipped activation, one output), such as those of Reckless before its version of June 2025. It reads one FEN a line and
//! answers centipawns; an empty line asks for the answers so far.
//!
//!     rustc --edition 2024 -C opt-level=3 -C target-cpu=native benches/train/plain_teacher.rs
//!     plain_teacher FACTOR NETWORK…

use std::{
    env, fs,
    io::{self, BufRead, Write},
};

const UNITS: usize = 1024;
const INPUTS: usize = 768;
/// Bytes of a network, padded to a multiple of 64: rows, biases, and the weights and the bias of the output.
const LENGTH: usize = 2 * (INPUTS * UNITS + UNITS + 2 * UNITS + 1);
/// Units summed at a time: so many stay in registers.
const BLOCK: usize = 128;
/// 1.0 as an activation and as an output weight, and the output's scale.
const ONE_UNIT: i32 = 384;
const ONE_WEIGHT: i32 = 64;
const SCALE: i32 = 400;
/// Pawn to king, for the factor by which an output grows with material.
const VALUES: [i32; 6] = [132, 414, 432, 661, 1217, 0];
const MATERIAL_BASE: i32 = 21682;
const MATERIAL_DIVISOR: f64 = 28993.0;

/// A number for each unit.
type Units = [[i16; BLOCK]; UNITS / BLOCK];

struct Network {
    rows: Vec<Units>,
    biases: Units,
    weights: [Units; 2],
    bias: i16,
}

impl Network {
    fn read(path: &str) -> Network {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let is_one = (LENGTH..=LENGTH.next_multiple_of(64)).contains(&bytes.len());
        assert!(is_one, "{path}: it is not a plain network of {UNITS} units, which has {LENGTH} bytes");
        let mut numbers = bytes.as_chunks::<2>().0.iter().map(|&pair| i16::from_le_bytes(pair));
        let mut number = || numbers.next().expect("a whole network");
        let mut units = || -> Units { std::array::from_fn(|_| std::array::from_fn(|_| number())) };
        let rows = (0..INPUTS).map(|_| units()).collect();
        let (biases, weights) = (units(), [units(), units()]);
        Network { rows, biases, weights, bias: number() }
    }

    /// `views` are the inputs of the mover and of the opponent.
    fn evaluate(&self, views: &[Vec<usize>; 2]) -> i32 {
        let mut total = 0;
        for (inputs, weights) in views.iter().zip(&self.weights) {
            for (block, weights) in weights.iter().enumerate() {
                let mut sums = self.biases[block];
                for &input in inputs {
                    let row = &self.rows[input][block];
                    sums = std::array::from_fn(|unit| sums[unit].wrapping_add(row[unit]));
                }
                for (&sum, &weight) in sums.iter().zip(weights) {
                    let clipped = i32::from(sum).clamp(0, ONE_UNIT);
                    total += clipped * i32::from((clipped as i16).wrapping_mul(weight));
                }
            }
        }
        (total / ONE_UNIT + i32::from(self.bias)) * SCALE / (ONE_UNIT * ONE_WEIGHT)
    }
}

/// The inputs of both views, the mover's first, and the material; none if the text is no position.
fn inputs(fen: &str) -> Option<([Vec<usize>; 2], i32)> {
    let (board, rest) = fen.split_once(' ')?;
    let mover = usize::from(rest.starts_with('b'));
    let (mut pieces, mut kings, mut material, mut square) = (Vec::new(), [0; 2], 0, 0);
    for symbol in board.chars().filter(|&symbol| symbol != '/') {
        if let Some(empty) = symbol.to_digit(10) {
            square += empty as usize;
            continue;
        }
        let kind = "pnbrqk".find(symbol.to_ascii_lowercase())?;
        let color = usize::from(symbol.is_ascii_lowercase());
        // A FEN begins with the eighth rank.
        pieces.push((color, kind, square ^ 56));
        if kind == 5 {
            kings[color] = square;
        }
        material += VALUES[kind];
        square += 1;
    }
    let view = |side: usize| {
        let mirror = if kings[side] % 8 >= 4 { 7 } else { 0 };
        let flip = mirror ^ (56 * side);
        pieces
            .iter()
            .map(|&(color, kind, square)| 384 * (color ^ side) + 64 * kind + (square ^ flip))
            .collect()
    };
    Some(([view(mover), view(1 - mover)], material))
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [factor, paths @ ..] = words.as_slice() else { panic!("plain_teacher FACTOR NETWORK…") };
    assert!(!paths.is_empty(), "plain_teacher FACTOR NETWORK…: name a network");
    let factor: f64 = factor.parse().expect("a number");
    let networks: Vec<Network> = paths.iter().map(|path| Network::read(path)).collect();
    let mut answers = String::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if line.is_empty() {
            print!("{}", std::mem::take(&mut answers));
            io::stdout().flush().expect("a reader");
            continue;
        }
        let (views, material) = inputs(&line).unwrap_or_else(|| panic!("{line}: no FEN"));
        let sum: i32 = networks.iter().map(|network| network.evaluate(&views)).sum();
        let mean = f64::from(sum) / networks.len() as f64;
        let grown = mean * f64::from(MATERIAL_BASE + material) / MATERIAL_DIVISOR;
        answers += &format!("{}\n", (grown * factor) as i32);
    }
    print!("{answers}");
}
