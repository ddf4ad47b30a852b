//! `engram tune train`: finds the network's parameters from labelled samples by stochastic gradient descent.

use std::{
    f32::consts::PI,
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use clap::Args;
use crossbeam::channel::{Receiver, bounded};

use super::{
    super::common::{no_data, threads, write},
    parameters::{NetworkShape, TILE},
    record::Sample,
    state::{Learner, Training},
    stream::Stream,
};
use crate::{
    cli::{CliError, refuse_input},
    eval::net::{UNITS, View},
    files::with_suffix,
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// Files of samples, as `sample` writes them; they may still be growing.
    #[arg(required = true)]
    samples: Vec<PathBuf>,
    /// Samples of other games for validation; if absent, some of each file are held out.
    #[arg(long)]
    held_out: Option<PathBuf>,
    /// The file to write the network to, with each checkpoint.
    #[arg(long, default_value = "engram.net")]
    net: PathBuf,
    /// The checkpoint, from which an interrupted training resumes; if absent, `.checkpoint` is added to the name of the
    /// network.
    #[arg(long)]
    checkpoint: Option<PathBuf>,
    /// Begin with the parameters of this network instead of random ones.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Hidden units of a view, a multiple of 32.
    #[arg(long, default_value_t = UNITS, value_parser = whole_tiles)]
    units: usize,
    /// Samples to draw in all: the learning rate falls to zero over them.
    #[arg(long, default_value_t = 1_000_000_000)]
    positions: u64,
    /// First learning rate.
    #[arg(long, default_value_t = 0.0015, value_parser = rate)]
    rate: f32,
    /// The share of the game's result in the target, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    result: f32,
    /// Samples a step; the same when a training resumes.
    #[arg(long, default_value = "16384")]
    batch: NonZeroUsize,
    /// Samples in memory, of which each batch is drawn; 32 bytes each.
    #[arg(long, default_value = "8388608")]
    buffer: NonZeroUsize,
    /// Samples between two checkpoints.
    #[arg(long, default_value_t = 20_000_000)]
    every: u64,
    /// Threads; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
}

fn whole_tiles(text: &str) -> Result<usize, String> {
    let units = text.parse().ok().filter(|units| *units > 0 && units % TILE == 0);
    units.ok_or_else(|| format!("the number of units is a multiple of {TILE}"))
}

fn rate(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate: &f32| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "a learning rate is a number above 0".to_owned())
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

impl TrainArguments {
    fn checkpoint(&self) -> PathBuf {
        self.checkpoint.clone().unwrap_or_else(|| with_suffix(&self.net, ".checkpoint"))
    }
}

/// Validation samples.
const VALIDATION_SAMPLES: usize = 200_000;

/// Trains until all samples are drawn or it is interrupted.
pub fn print(arguments: &TrainArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    let inputs = || arguments.samples.iter().chain(&arguments.held_out).chain(&arguments.from);
    refuse_input(&arguments.net, inputs())?;
    let checkpoint = arguments.checkpoint();
    refuse_input(&checkpoint, inputs())?;
    if let Some(path) = &arguments.held_out
        && refuse_input(path, &arguments.samples).is_err()
    {
        let reason = "is trained on as well; without --held-out some samples of each file are held out";
        return Err(CliError::Task(format!("--held-out: {} {reason}", path.display())));
    }
    let shape = NetworkShape { units: arguments.units };
    let batch = arguments.batch.get() as u64;
    let mut state = Training::begin(&checkpoint, arguments.from.as_deref(), shape, batch)?;
    let held_out = match &arguments.held_out {
        Some(path) => Stream::first(path, VALIDATION_SAMPLES)?,
        None => Stream::held_out(&arguments.samples, VALIDATION_SAMPLES)?,
    };
    let mut stream = Stream::open(&arguments.samples, arguments.buffer.get())?;
    let batches = arguments.positions.div_ceil(batch);
    let mut learners: Vec<Learner> = (0..threads(arguments.threads)).map(|_| Learner::new(shape)).collect();
    let validation = match held_out.len() {
        0 => "nothing is held out, for want of samples (see --held-out)".to_owned(),
        count => {
            let loss = state.loss(&held_out, arguments.result, &mut learners);
            format!("{count} samples held out with a loss of {loss:.6}")
        }
    };
    let parameters = shape.parameters();
    output.line(format_args!("{parameters} parameters, batch {} of {batches}, {validation}", state.batches));
    // What was drawn before is drawn again, so that a resumed training is the same; one that is finished draws nothing.
    let drawn_before = if state.batches < batches { state.batches } else { 0 };
    for _ in 0..drawn_before {
        if interrupt.is_requested() {
            return Ok(());
        }
        for _ in 0..batch {
            stream.draw()?;
        }
    }
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, drawn) = bounded(4);
        let stopped = &stopped;
        scope.spawn(move || {
            let mut next = || -> Result<Vec<Sample>, CliError> {
                let mut batch: Vec<Sample> = (0..batch).map(|_| stream.draw()).collect::<Result<_, _>>()?;
                // By king buckets, so that neighbours share rows of the first layer, then by the number of pieces, so that
                // the branch at the end of the loop over rows is predicted.
                batch.sort_by_cached_key(|sample| {
                    (sample.views().map(View::frame), sample.occupied.count_ones())
                });
                Ok(batch)
            };
            // Fails when the trainer has ended.
            while !stopped.load(Relaxed) && sender.send(next()).is_ok() {}
        });
        let result = train(arguments, &mut state, &mut learners, &drawn, &held_out, output, interrupt);
        stopped.store(true, Relaxed);
        drop(drawn);
        result
    })
}

type Drawn = Receiver<Result<Vec<Sample>, CliError>>;

fn train(
    arguments: &TrainArguments,
    state: &mut Training,
    learners: &mut [Learner],
    drawn: &Drawn,
    held_out: &[Sample],
    output: &Output,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let size = arguments.batch.get() as u64;
    let batches = arguments.positions.div_ceil(size);
    let checkpoint = arguments.checkpoint();
    let every = (arguments.every / size).max(1);
    let (mut began, first) = (Instant::now(), state.batches);
    let (mut sum, mut count) = (0.0_f64, 0_u64);
    while state.batches < batches && !interrupt.is_requested() {
        let batch = drawn.recv().map_err(|_| no_data())??;
        let rate = arguments.rate * 0.5 * (1.0 + (PI * state.batches as f32 / batches as f32).cos());
        sum += state.step(&batch, arguments.result, rate, learners);
        count += batch.len() as u64;
        if state.batches == first + 1 {
            began = Instant::now();
        }
        if state.batches.is_multiple_of(every) || state.batches == batches {
            state.save(&checkpoint)?;
            write(&arguments.net, &state.layout().to_bytes())?;
            let done = (state.batches - first - 1) * size;
            let rate = done as f64 / began.elapsed().as_secs_f64().max(1e-9);
            let left = arguments.positions.saturating_sub(state.batches * size) as f64 / rate;
            let validation = match held_out {
                [] => String::new(),
                held_out => format!(", held out {:.6}", state.loss(held_out, arguments.result, learners)),
            };
            output.line(format_args!(
                "{:>5} M samples: loss {:.6}{validation}; {rate:.0} a second, {:.0} min left",
                state.batches * size / 1_000_000,
                sum / count as f64,
                left / 60.0
            ));
            (sum, count) = (0.0, 0);
        }
    }
    state.save(&checkpoint)?;
    write(&arguments.net, &state.layout().to_bytes())
}

#[cfg(all(test, unix))]
mod tests {
    use super::{
        super::{
            optimiser::Moments,
            record::SIZE,
            sample::{self, SampleArguments},
            state::grown,
        },
        *,
    };
    use std::{
        fs,
        io::{self, Write},
    };

    use super::super::super::{common::is_quiet, generate::random_moves};
    use crate::{eval::net::Layout, position::Position};
    use clap::Parser;
    use fastrand::Rng;

    #[derive(Debug, Parser)]
    struct Sampling {
        #[command(flatten)]
        arguments: SampleArguments,
    }

    #[derive(Debug, Parser)]
    struct TrainCommand {
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
    fn what_a_teacher_says_of_the_searchs_positions_is_learned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("teacher.sh"), TEACHER).expect("a script");
        let output = Output::new(io::sink());
        let teacher = format!("--teacher=bash {}", path("teacher.sh"));
        // Of many short searches, so that there are many kinds of positions.
        let searches = ["--least-nodes=40", "--most-nodes=120", "--every=20"];
        let words = ["sample", &path("samples"), &teacher, "--positions=20000", "--threads=1", "--seed=1"];
        let sampling = Sampling::try_parse_from(words.into_iter().chain(searches)).expect("arguments");
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
                "--units=64",
                "--batch=256",
                "--buffer=10000",
                "--rate=0.01",
                "--threads=2",
            ];
            let arguments = TrainCommand::try_parse_from(words).expect("arguments").arguments;
            print(&arguments, &output, &Interrupt::default()).expect("a training");
            Training::load(&arguments.checkpoint(), NetworkShape { units: 64 })
                .expect("a state")
                .expect("one")
        };
        // Castling rights and en passant are not in a sample; without them no position is less quiet.
        let is_quiet_sample = |sample: &Sample| {
            let mut fen = String::new();
            sample.write_fen(&mut fen);
            Position::from_fen(fen.trim()).is_some_and(|position| is_quiet(&position))
        };
        let samples: Vec<Sample> =
            bytes.as_chunks::<SIZE>().0.iter().filter_map(Sample::from_bytes).take(4000).collect();
        assert!(samples.iter().take(1000).all(is_quiet_sample));
        let loss = |state: &Training| {
            state.loss(&samples, 0.0, &mut [Learner::new(state.shape), Learner::new(state.shape)])
        };
        let early = train(2_560);
        let late = train(51_200);
        assert_eq!((early.batches, late.batches), (10, 200), "it goes on where it stopped");
        assert!(loss(&late) < 0.2 * loss(&early), "{} after {}", loss(&late), loss(&early));

        // The written net gives the same values in integers.
        let layout = Layout::from_bytes(&fs::read(path("net")).expect("a net")).expect("a net");
        assert_eq!(layout, late.layout());
        let begun = |layout: &Layout, units: usize| {
            let shape = NetworkShape { units };
            let moments = Moments::default();
            Training { shape, batch: 256, batches: 0, parameters: grown(layout, shape), moments }
        };
        assert_eq!(begun(&layout, 64).layout(), layout);
        let change = loss(&begun(&layout, 128)) - loss(&begun(&layout, 64));
        assert!(change.abs() < 1e-6, "new units have no say: {change}");
    }

    /// Copies a file when the first line is written after it is there.
    struct CopyOnce {
        from: PathBuf,
        to: PathBuf,
    }

    impl Write for CopyOnce {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.from.exists() && !self.to.exists() {
                fs::copy(&self.from, &self.to)?;
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_resumed_training_ends_with_the_same_network() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut random = Rng::with_seed(1);
        let mut sample = |score: i16| {
            let (position, _) = random_moves(&Position::default(), &mut random, 12)?;
            Some(Sample { score, ..Sample::new(&position)? }.to_bytes())
        };
        fs::write(path("samples"), (0..500).filter_map(&mut sample).collect::<Vec<_>>().concat())
            .expect("samples");
        let samples = path("samples").display().to_string();
        let arguments = |name: &str, more: &[&str]| {
            let net = format!("--net={}", path(name).display());
            let words = ["train", &samples, &net, "--units=32", "--positions=640"];
            let sizes = ["--batch=64", "--buffer=100", "--every=128", "--threads=1"];
            TrainCommand::try_parse_from([&words[..], &sizes, more].concat()).map(|command| command.arguments)
        };
        let first_checkpoint = CopyOnce { from: path("whole.checkpoint"), to: path("resumed.checkpoint") };
        for (name, output) in [("whole", Output::new(first_checkpoint)), ("resumed", Output::new(io::sink()))]
        {
            print(&arguments(name, &[]).expect("arguments"), &output, &Interrupt::default())
                .expect("a training");
        }
        let net = |name: &str| fs::read(path(name)).expect("a network");
        assert!(net("whole") == net("resumed"), "the networks differ");

        let trained_on = arguments("other", &[&format!("--held-out={samples}")]).expect("arguments");
        let output = Output::new(io::sink());
        let error = print(&trained_on, &output, &Interrupt::default()).expect_err("it is both");
        assert!(error.to_string().contains("trained on as well"), "{error}");
        for (share, is_one) in [("1", true), ("5", false), ("-0.1", false), ("nan", false)] {
            assert_eq!(arguments("other", &[&format!("--result={share}")]).is_ok(), is_one, "{share}");
        }
        for (rate, is_one) in [("0.1", true), ("0", false), ("-0.1", false), ("nan", false), ("inf", false)] {
            assert_eq!(arguments("other", &[&format!("--rate={rate}")]).is_ok(), is_one, "{rate}");
        }
    }
}
