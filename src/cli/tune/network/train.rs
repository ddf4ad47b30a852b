//! `engram tune train`: finds the network's parameters from labelled samples by stochastic gradient descent.

use std::{
    f32::consts::PI,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

use clap::Args;
use crossbeam::channel::{Receiver, bounded};
use fastrand::Rng;

use super::{
    super::{TuneError, threads, write},
    model::{self, LIMIT, SCALE, Scratch, Shape},
    optimiser::{self, Moments},
    pawns,
    record::Sample,
    stream::Stream,
};
use crate::{
    eval::net::{HEADS, INPUTS, Layout, ONE_HEAD, ONE_INPUT, PawnLayout},
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// Files of samples, as `sample` writes them; they may still be growing.
    #[arg(required = true)]
    samples: Vec<PathBuf>,
    /// Where the network goes, with each checkpoint.
    #[arg(long, default_value = "engram.net")]
    net: PathBuf,
    /// The state of the training: it goes on from there if interrupted, to the batch.
    #[arg(long, default_value = "train.checkpoint")]
    checkpoint: PathBuf,
    /// Begin with the parameters of this network instead of random ones.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Hidden units of a view.
    #[arg(long, default_value_t = 512)]
    units: usize,
    /// With a pawn part.
    #[arg(long)]
    pawns: bool,
    /// Samples to draw in all: the learning rate falls to zero over them.
    #[arg(long, default_value_t = 1_000_000_000)]
    positions: u64,
    /// First learning rate.
    #[arg(long, default_value_t = 0.0015)]
    rate: f32,
    /// How much of the target is the result of the game, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    result: f32,
    /// Samples a step.
    #[arg(long, default_value_t = 16_384)]
    batch: usize,
    /// Samples in memory, of which each batch is drawn; 32 bytes each.
    #[arg(long, default_value_t = 1 << 23)]
    buffer: usize,
    /// Samples between two checkpoints.
    #[arg(long, default_value_t = 20_000_000)]
    every: u64,
    /// Threads; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
}

/// Samples that a thread takes at a time.
const PORTION: usize = 256;
/// Parameters that a thread takes at a time.
const STRETCH: usize = 1 << 13;
/// Samples that are held out to see how good the network is.
const HELD_OUT: usize = 200_000;

/// Trains until all samples are drawn or it is interrupted.
pub fn print(arguments: &TrainArguments, output: &Output, interrupt: &Interrupt) -> Result<(), TuneError> {
    let shape = Shape { units: arguments.units, pawns: arguments.pawns };
    let mut state = State::begin(arguments, shape)?;
    let held_out = Stream::held_out(&arguments.samples, HELD_OUT)?;
    let stream = Stream::open(&arguments.samples, arguments.buffer, state.batches * arguments.batch as u64)?;
    let batches = arguments.positions.div_ceil(arguments.batch as u64);
    output.line(format_args!(
        "{} parameters, {} samples held out, batch {} of {batches}",
        shape.parameters(),
        held_out.len(),
        state.batches
    ));
    let first = state.batches;
    let stopped = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, drawn) = bounded(4);
        let stopped = &stopped;
        scope.spawn(move || {
            let mut stream = stream;
            let mut random = Rng::with_seed(first);
            let mut batch = || (0..arguments.batch).map(|_| stream.draw(&mut random)).collect();
            // The trainer hangs up when it is done.
            while stopped.load(Relaxed) == 0 && sender.send(batch()).is_ok() {}
        });
        let result = train(arguments, &mut state, &drawn, &held_out, output, interrupt);
        stopped.store(1, Relaxed);
        drop(drawn);
        result
    })
}

type Drawn = Receiver<Result<Vec<Sample>, TuneError>>;

fn train(
    arguments: &TrainArguments,
    state: &mut State,
    drawn: &Drawn,
    held_out: &[Sample],
    output: &Output,
    interrupt: &Interrupt,
) -> Result<(), TuneError> {
    let batches = arguments.positions.div_ceil(arguments.batch as u64);
    let every = (arguments.every / arguments.batch as u64).max(1);
    let threads = threads(arguments.threads);
    let mut learners: Vec<Learner> = (0..threads).map(|_| Learner::new(state.shape)).collect();
    let (mut began, first) = (Instant::now(), state.batches);
    let (mut sum, mut count) = (0.0_f64, 0_u64);
    while state.batches < batches && !interrupt.is_requested() {
        let batch = drawn.recv().map_err(|_| TuneError::NoData)??;
        let rate = arguments.rate * 0.5 * (1.0 + (PI * state.batches as f32 / batches as f32).cos());
        sum += f64::from(state.step(&batch, arguments.result, rate, &mut learners));
        count += batch.len() as u64;
        if state.batches == first + 1 {
            began = Instant::now();
        }
        if state.batches.is_multiple_of(every) || state.batches == batches {
            state.save(&arguments.checkpoint)?;
            write(&arguments.net, &state.layout().to_bytes())?;
            let done = (state.batches - first - 1) * arguments.batch as u64;
            let rate = done as f64 / began.elapsed().as_secs_f64().max(1e-9);
            let left = (arguments.positions
                - (state.batches * arguments.batch as u64).min(arguments.positions))
                as f64
                / rate;
            output.line(format_args!(
                "{:>5} M samples: loss {:.6}, held out {:.6}; {rate:.0} a second, {:.0} min left",
                state.batches * arguments.batch as u64 / 1_000_000,
                sum / count as f64,
                state.loss(held_out, arguments.result, &mut learners),
                left / 60.0
            ));
            (sum, count) = (0.0, 0);
        }
    }
    state.save(&arguments.checkpoint)?;
    write(&arguments.net, &state.layout().to_bytes())
}

/// What a thread works with.
struct Learner {
    gradient: Vec<f32>,
    scratch: Scratch,
    loss: f32,
}

impl Learner {
    fn new(shape: Shape) -> Learner {
        Learner { gradient: vec![0.0; shape.parameters()], scratch: Scratch::new(shape), loss: 0.0 }
    }
}

/// The state of a training.
struct State {
    shape: Shape,
    batches: u64,
    parameters: Vec<f32>,
    moments: Moments,
}

impl State {
    fn begin(arguments: &TrainArguments, shape: Shape) -> Result<State, TuneError> {
        if let Some(state) = State::load(&arguments.checkpoint, shape)? {
            return Ok(state);
        }
        let parameters = match &arguments.from {
            Some(path) => {
                let bytes = fs::read(path).map_err(|error| TuneError::file(path, error))?;
                let layout = Layout::from_bytes(&bytes)
                    .map_err(|error| TuneError::file(path, io::Error::other(error)))?;
                grown(&layout, shape)
            }
            None => shape.random(1),
        };
        Ok(State { shape, batches: 0, moments: Moments::new(parameters.len()), parameters })
    }

    /// Learns from a batch and gives the sum of its losses.
    fn step(&mut self, batch: &[Sample], share: f32, rate: f32, learners: &mut [Learner]) -> f32 {
        let next = AtomicUsize::new(0);
        let (shape, parameters) = (self.shape, &self.parameters);
        std::thread::scope(|scope| {
            for learner in learners.iter_mut() {
                let next = &next;
                scope.spawn(move || {
                    learner.loss = 0.0;
                    // Relaxed: a portion is taken once, whoever takes it.
                    while let Some(portion) = batch.chunks(PORTION).nth(next.fetch_add(1, Relaxed)) {
                        for sample in portion {
                            learner.loss += model::learn(
                                shape,
                                parameters,
                                sample,
                                share,
                                &mut learner.gradient,
                                &mut learner.scratch,
                            );
                        }
                    }
                });
            }
        });
        self.batches += 1;
        self.descend(batch.len(), rate, learners);
        learners.iter().map(|learner| learner.loss).sum()
    }

    /// A step with the mean of the learners' gradients, which are zero afterwards.
    fn descend(&mut self, samples: usize, rate: f32, learners: &mut [Learner]) {
        let (work, works) = crossbeam::channel::unbounded();
        let count = learners.len();
        let mut gradients: Vec<_> =
            learners.iter_mut().map(|learner| learner.gradient.chunks_mut(STRETCH)).collect();
        let moments = self.moments.first.chunks_mut(STRETCH).zip(self.moments.second.chunks_mut(STRETCH));
        for (parameters, moments) in self.parameters.chunks_mut(STRETCH).zip(moments) {
            let gradients: Vec<_> = gradients.iter_mut().filter_map(Iterator::next).collect();
            let _ = work.send((parameters, moments, gradients));
        }
        drop(work);
        let (scale, steps) = (1.0 / samples as f32, self.batches);
        std::thread::scope(|scope| {
            for _ in 0..count {
                let works = works.clone();
                scope.spawn(move || {
                    let mut mean = vec![0.0; STRETCH];
                    for (parameters, moments, gradients) in works {
                        let mean = &mut mean[..parameters.len()];
                        mean.fill(0.0);
                        for gradient in gradients {
                            mean.iter_mut().zip(&*gradient).for_each(|(mean, part)| *mean += scale * part);
                            gradient.fill(0.0);
                        }
                        optimiser::step(parameters, moments, mean, rate, steps, LIMIT);
                    }
                });
            }
        });
    }

    /// The mean loss of samples.
    fn loss(&self, samples: &[Sample], share: f32, learners: &mut [Learner]) -> f64 {
        let portion = samples.len().div_ceil(learners.len()).max(1);
        std::thread::scope(|scope| {
            for (learner, samples) in learners.iter_mut().zip(samples.chunks(portion)) {
                scope.spawn(move || {
                    let mut sum = 0.0;
                    for sample in samples {
                        sum += f64::from(model::loss(
                            self.shape,
                            &self.parameters,
                            sample,
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
    fn layout(&self) -> Layout {
        let shape = self.shape;
        let shorts = |numbers: &[f32], one: i32| -> Vec<i16> {
            numbers.iter().map(|number| (number * one as f32).round() as i16).collect()
        };
        let words = |numbers: &[f32]| -> Vec<i32> {
            numbers.iter().map(|number| (number * (ONE_INPUT * ONE_HEAD) as f32).round() as i32).collect()
        };
        Layout {
            units: shape.units,
            inputs: INPUTS,
            scale: SCALE as u32,
            input_weights: shorts(&self.parameters[..shape.input_biases()], ONE_INPUT),
            input_biases: shorts(&self.parameters[shape.input_biases()..shape.heads()], ONE_INPUT),
            heads: shorts(&self.parameters[shape.heads()..shape.head_biases()], ONE_HEAD),
            head_biases: words(&self.parameters[shape.head_biases()..shape.pawn_part()]),
            pawns: shape.pawns.then(|| {
                let [first, first_biases, second, second_biases, outputs, output_biases] =
                    pawns::parts_of(&self.parameters[shape.pawn_part()..]);
                PawnLayout {
                    first: shorts(first, ONE_INPUT),
                    first_biases: shorts(first_biases, ONE_INPUT),
                    second: shorts(second, ONE_HEAD),
                    second_biases: words(second_biases),
                    outputs: shorts(outputs, ONE_HEAD),
                    output_biases: words(output_biases),
                }
            }),
        }
    }

    fn save(&self, path: &Path) -> Result<(), TuneError> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((self.shape.units as u64).to_le_bytes());
        bytes.extend(self.batches.to_le_bytes());
        for number in self.parameters.iter().chain(&self.moments.first).chain(&self.moments.second) {
            bytes.extend(number.to_le_bytes());
        }
        write(path, &bytes)
    }

    fn load(path: &Path, shape: Shape) -> Result<Option<State>, TuneError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TuneError::file(path, error)),
        };
        let foreign = || TuneError::Checkpoint(path.to_owned());
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
        Ok(Some(State { shape, batches: u64::from_le_bytes(*batches), parameters, moments }))
    }
}

/// How a checkpoint begins.
const MAGIC: [u8; 24] = *b"Engram training, v1\n\0\0\0\0";

/// The parameters of a network in a shape with as many units or more. New units begin with random inputs and no
/// say, and so does a new pawn part.
fn grown(layout: &Layout, shape: Shape) -> Vec<f32> {
    let mut parameters = shape.random(2);
    parameters[shape.heads()..shape.pawn_part()].fill(0.0);
    let copy = |to: &mut [f32], from: &[i16], one: i32| {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = f32::from(from) / one as f32);
    };
    let copy_words = |to: &mut [f32], from: &[i32]| {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32 / (ONE_INPUT * ONE_HEAD) as f32);
    };
    let (inputs, rest) = parameters.split_at_mut(shape.heads());
    // One bucket for all becomes each of them.
    let rows = layout.input_weights.chunks(layout.units).cycle().take(INPUTS);
    for (to, from) in inputs.chunks_mut(shape.units).zip(rows.chain(layout.input_biases.chunks(layout.units)))
    {
        copy(to, from, ONE_INPUT);
    }
    for (to, from) in rest.chunks_mut(shape.units).zip(layout.heads.chunks(layout.units)).take(2 * HEADS) {
        copy(to, from, ONE_HEAD);
    }
    copy_words(&mut parameters[shape.head_biases()..shape.pawn_part()], &layout.head_biases);
    if let (true, Some(layout)) = (shape.pawns, &layout.pawns) {
        let [first, first_biases, second, second_biases, outputs, output_biases] =
            pawns::parts(&mut parameters[shape.pawn_part()..]);
        copy(first, &layout.first, ONE_INPUT);
        copy(first_biases, &layout.first_biases, ONE_INPUT);
        copy(second, &layout.second, ONE_HEAD);
        copy_words(second_biases, &layout.second_biases);
        copy(outputs, &layout.outputs, ONE_HEAD);
        copy_words(output_biases, &layout.output_biases);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            record::SIZE,
            sample::{self, SampleArguments},
        },
        *,
    };
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Sampling {
        #[command(flatten)]
        arguments: SampleArguments,
    }

    #[derive(Debug, Parser)]
    struct Training {
        #[command(flatten)]
        arguments: TrainArguments,
    }

    /// A teacher that counts: it says that each pawn of the mover's is worth a pawn, in a shell's words.
    const TEACHER: &str = r#"while read -r board rest; do
        if [ -n "$board" ]; then
            own=${board//[^P]/}; theirs=${board//[^p]/}
            echo $(( 100 * (${#own} - ${#theirs}) ))
        fi
    done"#;

    #[test]
    #[cfg(unix)]
    fn what_a_teacher_says_of_the_searchs_positions_is_learned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("teacher.sh"), TEACHER).expect("a script");
        let output = Output::new(io::sink());
        let teacher = format!("--teacher=bash {}", path("teacher.sh"));
        let words = ["sample", &path("samples"), &teacher, "--positions=20000", "--threads=1"];
        let sampling = Sampling::try_parse_from(words).expect("arguments");
        sample::print(&sampling.arguments, &output, &Interrupt::default()).expect("samples");
        let bytes = fs::read(path("samples")).expect("a file");
        assert!(bytes.len() >= 20_000 * SIZE && bytes.len().is_multiple_of(SIZE));

        let train = |positions: u64| {
            let (net, checkpoint) =
                (format!("--net={}", path("net")), format!("--checkpoint={}", path("state")));
            let positions = format!("--positions={positions}");
            let words = [
                "train",
                &path("samples"),
                &net,
                &checkpoint,
                &positions,
                "--units=32",
                "--pawns",
                "--batch=256",
                "--buffer=10000",
                "--rate=0.01",
                "--threads=2",
            ];
            let arguments = Training::try_parse_from(words).expect("arguments").arguments;
            print(&arguments, &output, &Interrupt::default()).expect("a training");
            State::load(&arguments.checkpoint, Shape { units: 32, pawns: true })
                .expect("a state")
                .expect("one")
        };
        let samples: Vec<Sample> =
            bytes.as_chunks::<SIZE>().0.iter().filter_map(Sample::from_bytes).take(4000).collect();
        let loss = |state: &State| {
            state.loss(&samples, 0.0, &mut [Learner::new(state.shape), Learner::new(state.shape)])
        };
        let early = train(2_560);
        let late = train(51_200);
        assert_eq!((early.batches, late.batches), (10, 200), "it goes on where it stopped");
        assert!(loss(&late) < 0.2 * loss(&early), "{} after {}", loss(&late), loss(&early));

        // The net that was written says the same in integers.
        let layout = Layout::from_bytes(&fs::read(path("net")).expect("a net")).expect("a net");
        assert_eq!(layout, late.layout());
        let again = State {
            shape: late.shape,
            batches: 0,
            parameters: grown(&layout, late.shape),
            moments: Moments::default(),
        };
        assert_eq!(again.layout(), layout);
        let wider = Shape { units: 64, pawns: true };
        let grown = State {
            shape: wider,
            batches: 0,
            parameters: grown(&layout, wider),
            moments: Moments::default(),
        };
        assert!((loss(&grown) - loss(&again)).abs() < 1e-6, "new units have no say");
    }

    #[test]
    fn a_checkpoint_of_another_shape_is_refused_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        fs::write(&path, b"something else").expect("a file");
        assert!(State::load(&path, Shape { units: 32, pawns: false }).is_err());
        assert_eq!(fs::read(&path).expect("it is left alone"), b"something else");
        assert!(
            State::load(&folder.path().join("none"), Shape { units: 32, pawns: false })
                .expect("none")
                .is_none()
        );
    }
}
