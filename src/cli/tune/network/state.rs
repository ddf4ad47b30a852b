//! The state of a training: parameters and moments, a step with a batch, checkpoints, and the network in integers.

use std::{
    fs, io,
    ops::Range,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{
    super::common::{file_error, write},
    aligned::Aligned,
    model::{self, Scratch},
    optimiser::{self, Moments},
    parameters::{LIMIT, NetworkShape, ROW_LIMIT, Rounded, TILE},
    pawns,
    record::Sample,
};
use crate::{
    cli::CliError,
    eval::net::{HEADS, INPUTS, Layout, ONE_HEAD, ONE_INPUT, PawnLayout},
};

/// Most samples that a thread takes at a time: the more there are, the fewer times each row of weights is fetched.
const PORTION: usize = 4096;
/// Parameters that a thread takes at a time.
const STRETCH: usize = 1 << 13;
const _: () = assert!((INPUTS * TILE).is_multiple_of(STRETCH));

/// The data of a thread.
pub struct Learner {
    gradient: Aligned<f32>,
    scratch: Scratch,
    loss: f64,
}

impl Learner {
    pub fn new(shape: NetworkShape) -> Learner {
        Learner { gradient: Aligned::zeros(shape.parameters()), scratch: Scratch::default(), loss: 0.0 }
    }
}

/// The state of a training.
pub struct Training {
    pub shape: NetworkShape,
    /// Samples of a batch.
    pub batch: u64,
    /// Batches processed.
    pub batches: u64,
    pub parameters: Vec<f32>,
    pub moments: Moments,
}

impl Training {
    /// The state in a checkpoint, or a new one: `from` another network or random.
    pub fn begin(
        checkpoint: &Path,
        from: Option<&Path>,
        shape: NetworkShape,
        batch: u64,
    ) -> Result<Training, CliError> {
        match Training::load(checkpoint, shape)? {
            Some(state) if state.batch == batch => return Ok(state),
            Some(state) => {
                let (path, found) = (checkpoint.display(), state.batch);
                return Err(CliError::Task(format!(
                    "{path} goes on only with --batch {found}; remove it to begin anew"
                )));
            }
            None => (),
        }
        let parameters = match from {
            Some(path) => {
                let bytes = fs::read(path).map_err(file_error(path))?;
                let layout =
                    Layout::from_bytes(&bytes).map_err(io::Error::other).map_err(file_error(path))?;
                if !(1..=shape.units).contains(&layout.units) {
                    let (path, found) = (path.display(), layout.units);
                    return Err(CliError::Task(format!(
                        "{path} has {found} units, not 1 to {}",
                        shape.units
                    )));
                }
                grown(&layout, shape)
            }
            None => shape.random(1),
        };
        Ok(Training { shape, batch, batches: 0, moments: Moments::new(parameters.len()), parameters })
    }

    /// Learns from a batch and returns the sum of its losses.
    pub fn step(&mut self, batch: &[Sample], share: f32, rate: f32, learners: &mut [Learner]) -> f64 {
        let rounded = &Rounded::new(self.shape, &self.parameters);
        let loss = sum_of_losses(batch, learners, |portion, learner| {
            model::learn(rounded, portion, share, &mut learner.gradient, &mut learner.scratch)
        });
        self.batches += 1;
        self.descend(batch.len(), rate, learners);
        loss
    }

    /// Steps with the mean of the learners' gradients, and resets them.
    fn descend(&mut self, samples: usize, rate: f32, learners: &mut [Learner]) {
        let (work, works) = crossbeam::channel::unbounded();
        let count = learners.len();
        let mut gradients: Vec<_> =
            learners.iter_mut().map(|learner| learner.gradient.chunks_mut(STRETCH)).collect();
        let moments = self.moments.first.chunks_mut(STRETCH).zip(self.moments.second.chunks_mut(STRETCH));
        let rows = self.shape.input_biases() / STRETCH;
        for (stretch, (parameters, moments)) in self.parameters.chunks_mut(STRETCH).zip(moments).enumerate() {
            let gradients: Vec<_> = gradients.iter_mut().filter_map(Iterator::next).collect();
            let limit = if stretch < rows { ROW_LIMIT } else { LIMIT };
            let _ = work.send((parameters, moments, gradients, limit));
        }
        drop(work);
        let (scale, steps) = (1.0 / samples as f32, self.batches);
        std::thread::scope(|scope| {
            for _ in 0..count {
                let works = works.clone();
                scope.spawn(move || {
                    let mut mean = vec![0.0; STRETCH];
                    for (parameters, moments, gradients, limit) in works {
                        let mean = &mut mean[..parameters.len()];
                        mean.fill(0.0);
                        for gradient in gradients {
                            mean.iter_mut().zip(&*gradient).for_each(|(mean, part)| *mean += scale * part);
                            gradient.fill(0.0);
                        }
                        optimiser::step(parameters, moments, mean, rate, steps, limit);
                    }
                });
            }
        });
    }

    /// The mean loss of samples.
    pub fn loss(&self, samples: &[Sample], share: f32, learners: &mut [Learner]) -> f64 {
        let rounded = &Rounded::new(self.shape, &self.parameters);
        let sum = sum_of_losses(samples, learners, |portion, learner| {
            model::loss(rounded, portion, share, &mut learner.scratch)
        });
        sum / samples.len().max(1) as f64
    }

    /// The parameters in the engine's integers.
    fn in_integers(&self) -> Vec<i32> {
        let integers = |(part, one): (Range<usize>, i32)| {
            self.parameters[part].iter().map(move |number| (number * one as f32).round() as i32)
        };
        self.shape.scales().into_iter().flat_map(integers).collect()
    }

    /// The network in the engine's integers.
    pub fn layout(&self) -> Layout {
        let shape = self.shape;
        let integers = self.in_integers();
        let shorts = |numbers: &[i32]| -> Vec<i16> { numbers.iter().map(|&number| number as i16).collect() };
        let [weights, biases, outputs, output_biases] = pawns::parts_of(&integers[shape.pawn_part()..]);
        Layout {
            units: shape.units,
            input_weights: (0..INPUTS)
                .flat_map(|input| (0..shape.units / TILE).map(move |tile| shape.row(input, tile)))
                .flat_map(|row| integers[row].iter().map(|&number| number as i8))
                .collect(),
            input_biases: shorts(&integers[shape.input_biases()..shape.heads()]),
            heads: shorts(&integers[shape.heads()..shape.head_biases()]),
            head_biases: integers[shape.head_biases()..shape.pawn_part()].to_vec(),
            pawns: PawnLayout {
                input_weights: shorts(weights),
                input_biases: shorts(biases),
                outputs: shorts(outputs),
                output_biases: output_biases.to_vec(),
            },
        }
    }

    pub fn save(&self, path: &Path) -> Result<(), CliError> {
        let mut bytes = MAGIC.to_vec();
        for number in [self.shape.units as u64, self.batch, self.batches] {
            bytes.extend(number.to_le_bytes());
        }
        for number in self.parameters.iter().chain(&self.moments.first).chain(&self.moments.second) {
            bytes.extend(number.to_le_bytes());
        }
        write(path, &bytes)
    }

    pub fn load(path: &Path, shape: NetworkShape) -> Result<Option<Training>, CliError> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // What cannot be read must not be overwritten.
            read => read.map_err(file_error(path))?,
        };
        let foreign = || {
            let reason = "does not fit what is trained here; remove it to begin anew";
            CliError::Task(format!("{} {reason}", path.display()))
        };
        let rest = bytes.strip_prefix(&MAGIC).ok_or_else(foreign)?;
        let (head, rest) = rest.split_first_chunk::<24>().ok_or_else(foreign)?;
        let [units, batch, batches] = [0, 1, 2].map(|index| u64::from_le_bytes(head.as_chunks().0[index]));
        let numbers: Vec<f32> =
            rest.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let count = shape.parameters();
        if units != shape.units as u64 || numbers.len() != 3 * count {
            return Err(foreign());
        }
        let moments =
            Moments { first: numbers[count..2 * count].to_vec(), second: numbers[2 * count..].to_vec() };
        let parameters = numbers[..count].to_vec();
        Ok(Some(Training { shape, batch, batches, parameters, moments }))
    }
}

/// The sum of what `loss` says of portions of the samples, which the learners share among them.
fn sum_of_losses(
    samples: &[Sample],
    learners: &mut [Learner],
    loss: impl Fn(&[Sample], &mut Learner) -> f32 + Sync,
) -> f64 {
    let (next, loss) = (&AtomicUsize::new(0), &loss);
    let portion = samples.len().div_ceil(2 * learners.len()).clamp(1, PORTION);
    std::thread::scope(|scope| {
        for learner in learners.iter_mut() {
            scope.spawn(move || {
                learner.loss = 0.0;
                // Relaxed: each portion is taken once, no matter by which thread.
                while let Some(portion) = samples.chunks(portion).nth(next.fetch_add(1, Relaxed)) {
                    learner.loss += f64::from(loss(portion, learner));
                }
            });
        }
    });
    learners.iter().map(|learner| learner.loss).sum()
}

/// The beginning of a checkpoint.
const MAGIC: [u8; 24] = *b"Engram training, v4\n\0\0\0\0";

/// The parameters of a network in a shape with at least as many units. New units begin with random inputs and zero
/// outputs.
pub fn grown(layout: &Layout, shape: NetworkShape) -> Vec<f32> {
    let mut parameters = shape.random(2);
    parameters[shape.heads()..shape.pawn_part()].fill(0.0);
    fn copy<T: Copy + Into<f32>>(to: &mut [f32], from: &[T], one: i32) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = (from.into() / one as f32).clamp(-LIMIT, LIMIT));
    }
    let copy_words = |to: &mut [f32], from: &[i32]| {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32 / (ONE_INPUT * ONE_HEAD) as f32);
    };
    for (input, from) in layout.input_weights.chunks(layout.units).enumerate() {
        for (tile, from) in from.chunks(TILE).enumerate() {
            copy(&mut parameters[shape.row(input, tile)], from, ONE_INPUT);
        }
    }
    let (biases, rest) = parameters[shape.input_biases()..].split_at_mut(shape.units);
    copy(biases, &layout.input_biases, ONE_INPUT);
    for (to, from) in rest.chunks_mut(shape.units).zip(layout.heads.chunks(layout.units)).take(2 * HEADS) {
        copy(to, from, ONE_HEAD);
    }
    copy_words(&mut parameters[shape.head_biases()..shape.pawn_part()], &layout.head_biases);
    let [weights, biases, outputs, output_biases] = pawns::parts(&mut parameters[shape.pawn_part()..]);
    copy(weights, &layout.pawns.input_weights, ONE_INPUT);
    copy(biases, &layout.pawns.input_biases, ONE_INPUT);
    copy(outputs, &layout.pawns.outputs, ONE_HEAD);
    copy_words(output_biases, &layout.pawns.output_biases);
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;

    #[test]
    fn the_loss_does_not_depend_on_the_number_of_threads() {
        let (shape, start) = (NetworkShape { units: TILE }, Position::default());
        let training = Training::begin(Path::new("none"), None, shape, 64).expect("a new one");
        let sample = Sample::new(&start).expect("a sample");
        let samples = [0, 100, 200, 300, 3000].map(|score| Sample { score, ..sample });
        let loss = |threads| {
            let mut learners: Vec<Learner> = (0..threads).map(|_| Learner::new(shape)).collect();
            training.loss(&samples, 0.0, &mut learners)
        };
        let alone = loss(1);
        assert!(
            (loss(2) - alone).abs() < 1e-6 && (loss(3) - alone).abs() < 1e-6,
            "{alone} {} {}",
            loss(2),
            loss(3)
        );
    }

    #[test]
    fn a_checkpoint_of_another_shape_or_batch_is_refused_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        fs::write(&path, b"something else").expect("a file");
        assert!(Training::load(&path, NetworkShape { units: TILE }).is_err());
        assert_eq!(fs::read(&path).expect("it is left alone"), b"something else");
        let (path, shape) = (folder.path().join("other"), NetworkShape { units: TILE });
        Training::begin(&path, None, shape, 64).expect("a new one").save(&path).expect("saved");
        assert!(Training::load(&path, shape).expect("read").is_some());
        assert!(Training::begin(&path, None, shape, 64).is_ok());
        let error = Training::begin(&path, None, shape, 32).err().expect("another batch").to_string();
        assert!(error.contains("--batch 64"), "{error}");
        let larger = NetworkShape { units: 2 * TILE };
        assert!(Training::load(&path, larger).is_err());
        let (net, none) = (folder.path().join("net"), folder.path().join("none"));
        let begun = Training::begin(&none, None, larger, 64).expect("a new one");
        fs::write(&net, begun.layout().to_bytes()).expect("written");
        assert!(Training::begin(&none, Some(&net), larger, 64).is_ok());
        assert!(Training::begin(&none, Some(&net), shape, 64).is_err(), "it has more units");
        assert!(
            Training::load(&folder.path().join("none"), NetworkShape { units: TILE })
                .expect("none")
                .is_none()
        );
    }
}
