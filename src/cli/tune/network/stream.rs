//! Samples in random order from files: a rolling buffer from which each sample is drawn once, its place taken by the
//! next one of the files. A part of a file is read at a time, now from one file, now from another, so that they mix; when
//! all are read, they are read again, and what was added to them meanwhile. Samples held out of training are skipped.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use fastrand::Rng;

use super::{
    super::common::{file_error, no_data},
    record::{SIZE, Sample},
};
use crate::cli::CliError;

/// Samples in a block. Neighbouring samples come from one game, so blocks are held out as a whole, and only the middle of
/// one is for validation: the games at its ends have samples outside.
const BLOCK: u64 = 1 << 14;
/// One block in this many is held out.
const HELD_OUT_EVERY: u64 = 256;
/// Samples of a block for validation: a few of each, for neighbouring samples are alike.
const MIDDLE: u64 = BLOCK / 8;
/// Samples read at a time.
const CHUNK: u64 = 1 << 12;

fn is_held_out(number: u64) -> bool {
    number / BLOCK % HELD_OUT_EVERY == HELD_OUT_EVERY / 2
}

/// Files of samples, read in an endless cycle.
pub struct Stream {
    files: Vec<SampleFile>,
    random: Rng,
    /// Up to `capacity` samples, or as many as the files have.
    buffer: Vec<Sample>,
    capacity: usize,
    waiting: Vec<Sample>,
}

/// A file, the number of its next record, and the number of records that are read.
struct SampleFile {
    path: PathBuf,
    reader: BufReader<File>,
    next: u64,
    count: u64,
}

impl Stream {
    /// Opens the files, to draw from a buffer of `capacity` samples. What is drawn is the same whenever the files are.
    pub fn open(paths: &[PathBuf], capacity: usize) -> Result<Stream, CliError> {
        let files = paths
            .iter()
            .map(|path| Ok(SampleFile { path: path.clone(), reader: open(path)?, next: 0, count: 0 }));
        let files = files.collect::<Result<Vec<_>, CliError>>()?;
        let random = Rng::with_seed(0);
        Ok(Stream { files, random, buffer: Vec::new(), capacity, waiting: Vec::new() })
    }

    /// Draws a sample.
    pub fn draw(&mut self) -> Result<Sample, CliError> {
        let next = self.next()?;
        // At first, and when the files have grown.
        let wanted = self.capacity.min(self.count() as usize);
        self.buffer.reserve_exact(wanted.saturating_sub(self.buffer.len()));
        while self.buffer.len() < wanted {
            let sample = self.next()?;
            self.buffer.push(sample);
        }
        let index = self.random.usize(..self.buffer.len());
        Ok(std::mem::replace(&mut self.buffer[index], next))
    }

    /// Up to `most` samples of the beginning of a file.
    pub fn first(path: &Path, most: usize) -> Result<Vec<Sample>, CliError> {
        let mut bytes = Vec::new();
        open(path)?.take((most * SIZE) as u64).read_to_end(&mut bytes).map_err(file_error(path))?;
        let samples: Vec<Sample> = bytes.as_chunks().0.iter().filter_map(Sample::from_bytes).collect();
        if samples.is_empty() { Err(no_data()) } else { Ok(samples) }
    }

    /// Up to `most` of the samples that are held out of training.
    pub fn held_out(paths: &[PathBuf], most: usize) -> Result<Vec<Sample>, CliError> {
        let mut samples = Vec::new();
        for path in paths {
            let mut file = open(path)?;
            let mut start = HELD_OUT_EVERY / 2 * BLOCK + (BLOCK - MIDDLE) / 2;
            let mut bytes = [0; SIZE];
            while samples.len() < most {
                file.seek(SeekFrom::Start(start * SIZE as u64)).map_err(file_error(path))?;
                let before = samples.len();
                for _ in 0..MIDDLE {
                    if file.read_exact(&mut bytes).is_err() {
                        break;
                    }
                    samples.extend(Sample::from_bytes(&bytes));
                }
                if samples.len() == before {
                    break;
                }
                start += HELD_OUT_EVERY * BLOCK;
            }
        }
        samples.truncate(most);
        Ok(samples)
    }

    /// How many samples the files had when they were last begun.
    fn count(&self) -> u64 {
        self.files.iter().map(|file| file.count).sum()
    }

    /// Goes back to the beginning of all files.
    fn begin_again(&mut self) -> Result<(), CliError> {
        for SampleFile { path, reader, next, count } in &mut self.files {
            reader.rewind().map_err(file_error(path))?;
            let length = path.metadata().map_err(file_error(path))?.len();
            (*next, *count) = (0, length / SIZE as u64);
        }
        Ok(())
    }

    /// The next sample that is not held out.
    fn next(&mut self) -> Result<Sample, CliError> {
        let mut has_begun_again = false;
        loop {
            if let Some(sample) = self.waiting.pop() {
                return Ok(sample);
            }
            let left: u64 = self.files.iter().map(|file| file.count - file.next).sum();
            if left > 0 {
                self.read(left)?;
            } else if std::mem::replace(&mut has_begun_again, true) {
                return Err(no_data());
            } else {
                self.begin_again()?;
            }
        }
    }

    /// Reads a part of a file, which is drawn by the samples that are `left` in each.
    fn read(&mut self, left: u64) -> Result<(), CliError> {
        let mut drawn = self.random.u64(..left);
        for SampleFile { path, reader, next, count } in &mut self.files {
            let here = *count - *next;
            if drawn >= here {
                drawn -= here;
                continue;
            }
            let mut bytes = vec![0; here.min(CHUNK) as usize * SIZE];
            reader.read_exact(&mut bytes).map_err(file_error(path))?;
            for record in bytes.as_chunks::<SIZE>().0 {
                if !is_held_out(*next) {
                    self.waiting.extend(Sample::from_bytes(record));
                }
                *next += 1;
            }
            break;
        }
        self.waiting.reverse();
        Ok(())
    }
}

fn open(path: &Path) -> Result<BufReader<File>, CliError> {
    File::open(path).map(BufReader::new).map_err(file_error(path))
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, fs};

    use super::*;
    use crate::position::Position;

    #[test]
    fn files_are_mixed_and_each_of_their_samples_is_drawn_as_often() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = 5 * CHUNK as i16;
        let file = |score: i16| {
            let path = folder.path().join(score.to_string());
            let sample = |index: i16| scored(score * index);
            let bytes: Vec<u8> = (1..=count).flat_map(|index| sample(index).to_bytes()).collect();
            fs::write(&path, bytes).expect("written");
            path
        };
        let paths = [file(1), file(-1)];
        let drawn = || {
            let mut stream = Stream::open(&paths, 100).expect("a stream");
            (0..4 * i32::from(count)).map(|_| stream.draw().expect("a sample").score).collect::<Vec<i16>>()
        };
        let scores = drawn();
        let half = &scores[..usize::from(count as u16)];
        assert!(half.iter().any(|&score| score > 0) && half.iter().any(|&score| score < 0), "they mix");
        let mut times = HashMap::new();
        scores.iter().for_each(|score| *times.entry(score).or_insert(0) += 1);
        // All but those in the buffer, twice.
        assert_eq!(times.len(), 2 * usize::from(count as u16));
        assert!(times.values().filter(|&&times| times != 2).count() <= 200);
        assert_eq!(drawn(), scores, "each time alike");
    }

    fn scored(score: i16) -> Sample {
        Sample { score, ..Sample::new(&Position::default()).expect("a sample") }
    }

    #[test]
    fn the_buffer_grows_with_the_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let write = |count: i16| {
            let bytes: Vec<u8> = (0..count).flat_map(|score| scored(score).to_bytes()).collect();
            fs::write(&path, bytes).expect("written");
        };
        write(0);
        let mut stream = Stream::open(std::slice::from_ref(&path), 100).expect("a stream");
        assert!(stream.draw().is_err(), "there is none yet");
        for (count, held) in [(10, 10), (50, 50), (300, 100)] {
            write(count);
            // All that were there before are read.
            for _ in 0..200 {
                stream.draw().expect("a sample");
            }
            assert_eq!(stream.buffer.len(), held);
        }
    }

    #[test]
    fn what_is_held_out_is_not_trained_on() {
        use std::io::Write;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let start = HELD_OUT_EVERY / 2 * BLOCK;
        // The rest of the file is a hole, which holds no position.
        let mut file = File::create(&path).expect("a file");
        for (number, score) in [(start - 1, 1), (start + BLOCK / 2, 2), (start + BLOCK, 3)] {
            file.seek(SeekFrom::Start(number * SIZE as u64)).expect("a place");
            file.write_all(&scored(score).to_bytes()).expect("written");
        }
        let held_out = Stream::held_out(std::slice::from_ref(&path), 10).expect("samples");
        assert_eq!(held_out, [scored(2)]);
        let mut stream = Stream::open(&[path], 1).expect("a stream");
        let drawn = [(); 3].map(|()| stream.draw().expect("a sample").score);
        assert!(!drawn.contains(&2), "{drawn:?}");
    }
}
