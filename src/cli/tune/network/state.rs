//! The state of a training: parameters and moments, a step with a batch, checkpoints, and the network in integers.

use std::{
    fs, io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{
    super::common::{file_error, foreign_checkpoint, read_state, write},
    model::{self, LIMIT, NetworkShape, SCALE, Scratch, TILE},
    optimiser::{self, Moments},
    pawns,
    record::Sample,
    small,
};
use crate::{
    cli::CliError,
    eval::net::{
        FIRST, HEADS, INPUTS, Layout, ONE_FIRST, ONE_HEAD, ONE_INPUT, ONE_SECOND, ONE_SMALL, PawnLayout,
        SECOND, SmallLayout,
    },
};

/// Samples that a thread takes at a time.
const PORTION: usize = 2048;
/// Parameters that a thread takes at a time.
const STRETCH: usize = 1 << 13;

/// The data of a thread.
pub struct Learner {
    gradient: Vec<f32>,
    scratch: Scratch,
    loss: f32,
}

impl Learner {
    pub fn new(shape: NetworkShape) -> Learner {
        Learner { gradient: vec![0.0; shape.parameters()], scratch: Scratch::default(), loss: 0.0 }
    }
}

/// The state of a training.
pub struct Training {
    pub shape: NetworkShape,
    /// Batches processed.
    pub batches: u64,
    pub parameters: Vec<f32>,
    pub moments: Moments,
}

impl Training {
    /// The state in a checkpoint, or a new one: `from` another network or random.
    pub fn begin(checkpoint: &Path, from: Option<&Path>, shape: NetworkShape) -> Result<Training, CliError> {
        if let Some(state) = Training::load(checkpoint, shape)? {
            return Ok(state);
        }
        let parameters = match from {
            Some(path) => {
                let bytes = fs::read(path).map_err(file_error(path))?;
                let layout =
                    Layout::from_bytes(&bytes).map_err(io::Error::other).map_err(file_error(path))?;
                grown(&layout, shape)
            }
            None => shape.random(1),
        };
        Ok(Training { shape, batches: 0, moments: Moments::new(parameters.len()), parameters })
    }

    /// Learns from a batch and returns the sum of its losses; the rates are that of the small layers and, before it,
    /// that of all other parameters.
    pub fn step(&mut self, batch: &[Sample], share: f32, rates: (f32, f32), learners: &mut [Learner]) -> f32 {
        let next = AtomicUsize::new(0);
        let (shape, parameters) = (self.shape, &self.parameters);
        std::thread::scope(|scope| {
            for learner in learners.iter_mut() {
                let next = &next;
                scope.spawn(move || {
                    learner.loss = 0.0;
                    // Relaxed: each portion is taken once, no matter by which thread.
                    while let Some(portion) = batch.chunks(PORTION).nth(next.fetch_add(1, Relaxed)) {
                        learner.loss += model::learn(
                            shape,
                            parameters,
                            portion,
                            share,
                            &mut learner.gradient,
                            &mut learner.scratch,
                        );
                    }
                });
            }
        });
        self.batches += 1;
        self.descend(batch.len(), rates, learners);
        learners.iter().map(|learner| learner.loss).sum()
    }

    /// Steps with the mean of the learners' gradients, and resets them.
    fn descend(&mut self, samples: usize, (old, new): (f32, f32), learners: &mut [Learner]) {
        let (work, works) = crossbeam::channel::unbounded();
        let count = learners.len();
        let first = small::first_weights(self.shape.units);
        let mut parameters = self.parameters.as_mut_slice();
        let mut moments = [self.moments.first.as_mut_slice(), self.moments.second.as_mut_slice()];
        let mut gradients: Vec<&mut [f32]> =
            learners.iter_mut().map(|learner| learner.gradient.as_mut_slice()).collect();
        for (part, rate, limit) in [
            (self.shape.small_part(), old, LIMIT),
            (first, new, small::FIRST_LIMIT),
            (usize::MAX, new, LIMIT),
        ] {
            let mut left = part.min(parameters.len());
            while left > 0 {
                let length = left.min(STRETCH);
                left -= length;
                let gradients: Vec<_> = gradients.iter_mut().map(|gradient| cut(gradient, length)).collect();
                let moments = moments.each_mut().map(|moments| cut(moments, length));
                let _ = work.send((cut(&mut parameters, length), moments, gradients, rate, limit));
            }
        }
        drop(work);
        let (scale, steps) = (1.0 / samples as f32, self.batches);
        std::thread::scope(|scope| {
            for _ in 0..count {
                let works = works.clone();
                scope.spawn(move || {
                    let mut mean = vec![0.0; STRETCH];
                    for (parameters, [first, second], gradients, rate, limit) in works {
                        let mean = &mut mean[..parameters.len()];
                        mean.fill(0.0);
                        for gradient in gradients {
                            mean.iter_mut().zip(&*gradient).for_each(|(mean, part)| *mean += scale * part);
                            gradient.fill(0.0);
                        }
                        optimiser::step(parameters, (first, second), mean, rate, steps, limit);
                    }
                });
            }
        });
    }

    /// The mean loss of samples.
    pub fn loss(&self, samples: &[Sample], share: f32, learners: &mut [Learner]) -> f64 {
        let portion = samples.len().div_ceil(learners.len()).max(1);
        std::thread::scope(|scope| {
            for (learner, samples) in learners.iter_mut().zip(samples.chunks(portion)) {
                scope.spawn(move || {
                    let mut sum = 0.0;
                    for portion in samples.chunks(PORTION) {
                        sum += f64::from(model::loss(
                            self.shape,
                            &self.parameters,
                            portion,
                            share,
                            &mut learner.scratch,
                        ));
                    }
                    learner.loss = (sum / samples.len() as f64) as f32;
                });
            }
        });
        let used = samples.chunks(portion).len();
        learners[..used].iter().map(|learner| f64::from(learner.loss)).sum::<f64>() / used.max(1) as f64
    }

    /// The network in the engine's integers.
    pub fn layout(&self) -> Layout {
        let shape = self.shape;
        let shorts = |numbers: &[f32], one: i32| -> Vec<i16> {
            numbers.iter().map(|number| (number * one as f32).round() as i16).collect()
        };
        let words = |numbers: &[f32], one: i32| -> Vec<i32> {
            numbers.iter().map(|number| (number * one as f32).round() as i32).collect()
        };
        const ONE_OUTPUT: i32 = ONE_INPUT * ONE_HEAD;
        Layout {
            units: shape.units,
            inputs: INPUTS,
            scale: SCALE as u32,
            input_weights: (0..INPUTS)
                .flat_map(|input| (0..shape.units / TILE).map(move |tile| shape.row(input, tile)))
                .flat_map(|row| shorts(&self.parameters[row], ONE_INPUT))
                .collect(),
            input_biases: shorts(&self.parameters[shape.input_biases()..shape.heads()], ONE_INPUT),
            heads: shorts(&self.parameters[shape.heads()..shape.head_biases()], ONE_HEAD),
            head_biases: words(&self.parameters[shape.head_biases()..shape.pawn_part()], ONE_OUTPUT),
            pawns: {
                let [weights, biases, outputs, output_biases] =
                    pawns::parts_of(&self.parameters[shape.pawn_part()..shape.small_part()]);
                PawnLayout {
                    input_weights: shorts(weights, ONE_INPUT),
                    input_biases: shorts(biases, ONE_INPUT),
                    outputs: shorts(outputs, ONE_HEAD),
                    output_biases: words(output_biases, ONE_OUTPUT),
                }
            },
            small: {
                let (first, heads) = small::parts(&self.parameters[shape.small_part()..], shape.units);
                let mut layout = SmallLayout { first: vec![0; first.len()], ..SmallLayout::default() };
                for (to, from) in small::places(shape.units, shape.units) {
                    let weights = shorts(&first[from..from + TILE], ONE_FIRST).into_iter();
                    layout.first[to..].iter_mut().zip(weights).for_each(|(to, from)| *to = from as i8);
                }
                for [first_biases, second, second_biases, outputs, bias] in heads {
                    layout.first_biases.extend(words(first_biases, ONE_SMALL * ONE_FIRST));
                    layout.second.extend(shorts(second, ONE_SECOND));
                    layout.second_biases.extend(words(second_biases, ONE_SMALL * ONE_SECOND));
                    layout.outputs.extend(shorts(outputs, ONE_SECOND));
                    layout.output_biases.extend(words(bias, ONE_SMALL * ONE_SECOND));
                }
                layout
            },
        }
    }

    pub fn save(&self, path: &Path) -> Result<(), CliError> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((self.shape.units as u64).to_le_bytes());
        bytes.extend(self.batches.to_le_bytes());
        for number in self.parameters.iter().chain(&self.moments.first).chain(&self.moments.second) {
            bytes.extend(number.to_le_bytes());
        }
        write(path, &bytes)
    }

    pub fn load(path: &Path, shape: NetworkShape) -> Result<Option<Training>, CliError> {
        let Some(bytes) = read_state(path)? else { return Ok(None) };
        let foreign = || foreign_checkpoint(path);
        let rest = bytes.strip_prefix(&MAGIC).ok_or_else(foreign)?;
        let (units, rest) = rest.split_first_chunk::<8>().ok_or_else(foreign)?;
        let (batches, rest) = rest.split_first_chunk::<8>().ok_or_else(foreign)?;
        let numbers: Vec<f32> =
            rest.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let count = shape.parameters();
        if u64::from_le_bytes(*units) != shape.units as u64 || numbers.len() != 3 * count {
            return Err(foreign());
        }
        let moments =
            Moments { first: numbers[count..2 * count].to_vec(), second: numbers[2 * count..].to_vec() };
        let parameters = numbers[..count].to_vec();
        Ok(Some(Training { shape, batches: u64::from_le_bytes(*batches), parameters, moments }))
    }
}

/// Takes numbers from the beginning of a slice.
fn cut<'a>(numbers: &mut &'a mut [f32], length: usize) -> &'a mut [f32] {
    numbers.split_off_mut(..length).unwrap_or_default()
}

/// The beginning of a checkpoint.
const MAGIC: [u8; 24] = *b"Engram training, v2\n\0\0\0\0";

/// The parameters of a network in a shape with at least as many units. New units begin with random inputs and zero
/// outputs.
pub fn grown(layout: &Layout, shape: NetworkShape) -> Vec<f32> {
    let mut parameters = shape.random(2);
    parameters[shape.heads()..shape.pawn_part()].fill(0.0);
    let copy = |to: &mut [f32], from: &[i16], one: i32| {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = f32::from(from) / one as f32);
    };
    let copy_words = |to: &mut [f32], from: &[i32], one: i32| {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32 / one as f32);
    };
    const ONE_OUTPUT: i32 = ONE_INPUT * ONE_HEAD;
    // A single bucket is copied to all.
    for (input, from) in layout.input_weights.chunks(layout.units).cycle().take(INPUTS).enumerate() {
        for (tile, from) in from.chunks(TILE).enumerate() {
            copy(&mut parameters[shape.row(input, tile)], from, ONE_INPUT);
        }
    }
    let (biases, rest) = parameters[shape.input_biases()..].split_at_mut(shape.units);
    copy(biases, &layout.input_biases, ONE_INPUT);
    for (to, from) in rest.chunks_mut(shape.units).zip(layout.heads.chunks(layout.units)).take(2 * HEADS) {
        copy(to, from, ONE_HEAD);
    }
    copy_words(&mut parameters[shape.head_biases()..shape.pawn_part()], &layout.head_biases, ONE_OUTPUT);
    let (old, new) = parameters.split_at_mut(shape.small_part());
    let [weights, biases, outputs, output_biases] = pawns::parts(&mut old[shape.pawn_part()..]);
    copy(weights, &layout.pawns.input_weights, ONE_INPUT);
    copy(biases, &layout.pawns.input_biases, ONE_INPUT);
    copy(outputs, &layout.pawns.outputs, ONE_HEAD);
    copy_words(output_biases, &layout.pawns.output_biases, ONE_OUTPUT);
    let small = &layout.small;
    let (first, heads) = small::parts_mut(new, shape.units);
    first.fill(0.0);
    for (from, to) in small::places(layout.units, shape.units) {
        let weights = first[to..to + TILE].iter_mut().zip(&small.first[from..from + TILE]);
        weights.for_each(|(to, &from)| *to = f32::from(from) / ONE_FIRST as f32);
    }
    for (head, [first_biases, second, second_biases, outputs, bias]) in heads.enumerate() {
        let place = |size: usize| head * size..(head + 1) * size;
        copy_words(first_biases, &small.first_biases[place(FIRST)], ONE_SMALL * ONE_FIRST);
        copy(second, &small.second[place(SECOND * SECOND)], ONE_SECOND);
        copy_words(second_biases, &small.second_biases[place(SECOND)], ONE_SMALL * ONE_SECOND);
        copy(outputs, &small.outputs[place(SECOND)], ONE_SECOND);
        copy_words(bias, &small.output_biases[place(1)], ONE_SMALL * ONE_SECOND);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_of_another_shape_is_refused_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        fs::write(&path, b"something else").expect("a file");
        let shape = NetworkShape { units: TILE };
        assert!(Training::load(&path, shape).is_err());
        assert_eq!(fs::read(&path).expect("it is left alone"), b"something else");
        assert!(Training::load(&folder.path().join("none"), shape).expect("none").is_none());
    }
}
