//! Samples in random order from files that are read in order: a rolling buffer from which each sample is drawn
//! once, its place taken by the next one of the files. Files may grow meanwhile; after the last one the first
//! is read again. Samples held out of training are skipped.

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

/// Samples in a block. Neighbouring samples come from one game, so blocks are held out as a whole.
const BLOCK: u64 = 1 << 14;
/// One block in this many is held out.
const HELD_OUT: u64 = 256;
/// Samples read at a time.
const CHUNK: usize = 1 << 12;

fn is_held_out(number: u64) -> bool {
    number / BLOCK % HELD_OUT == HELD_OUT / 2
}

/// Files of samples, read in an endless cycle.
pub struct Stream {
    paths: Vec<PathBuf>,
    /// Which file is read, and the number of its next record.
    place: (usize, u64),
    file: BufReader<File>,
    buffer: Vec<Sample>,
    waiting: Vec<Sample>,
}

impl Stream {
    /// Opens the files and fills a buffer of `capacity` samples, or as many as there are, after `skip` samples were passed
    /// over.
    pub fn open(paths: &[PathBuf], capacity: usize, skip: u64) -> Result<Stream, CliError> {
        let first = paths.first().ok_or_else(no_data)?;
        let file = open(first)?;
        let mut stream =
            Stream { paths: paths.to_vec(), place: (0, 0), file, buffer: Vec::new(), waiting: Vec::new() };
        let capacity = capacity.min(stream.skip(skip)?);
        stream.buffer.reserve_exact(capacity);
        while stream.buffer.len() < capacity {
            let sample = stream.next()?.ok_or_else(no_data)?;
            stream.buffer.push(sample);
        }
        Ok(stream)
    }

    /// Draws a sample.
    pub fn draw(&mut self, random: &mut Rng) -> Result<Sample, CliError> {
        let Some(next) = self.next()? else { return Err(no_data()) };
        let index = random.usize(..self.buffer.len());
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
            let mut start = HELD_OUT / 2 * BLOCK;
            let mut bytes = [0; SIZE];
            while samples.len() < most {
                file.seek(SeekFrom::Start(start * SIZE as u64)).map_err(file_error(path))?;
                let before = samples.len();
                // A few of each block: neighbouring samples are alike.
                for _ in 0..BLOCK / 8 {
                    if file.read_exact(&mut bytes).is_err() {
                        break;
                    }
                    samples.extend(Sample::from_bytes(&bytes));
                }
                if samples.len() == before {
                    break;
                }
                start += HELD_OUT * BLOCK;
            }
        }
        samples.truncate(most);
        Ok(samples)
    }

    /// Returns how many samples there are.
    fn skip(&mut self, mut samples: u64) -> Result<usize, CliError> {
        let mut lengths = Vec::new();
        for path in &self.paths {
            let length = path.metadata().map_err(file_error(path))?.len();
            lengths.push(length / SIZE as u64);
        }
        let total: u64 = lengths.iter().sum();
        if total == 0 {
            return Err(no_data());
        }
        samples %= total;
        for (index, &length) in lengths.iter().enumerate() {
            if samples < length {
                self.go_to(index, samples)?;
                break;
            }
            samples -= length;
        }
        Ok(total as usize)
    }

    fn go_to(&mut self, index: usize, number: u64) -> Result<(), CliError> {
        let path = &self.paths[index];
        self.file = open(path)?;
        self.file.seek(SeekFrom::Start(number * SIZE as u64)).map_err(file_error(path))?;
        self.place = (index, number);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Sample>, CliError> {
        let mut dry = 0;
        while self.waiting.is_empty() {
            let (index, number) = self.place;
            let mut bytes = Vec::with_capacity(CHUNK * SIZE);
            let chunk = &mut self.file.by_ref().take((CHUNK * SIZE) as u64);
            chunk.read_to_end(&mut bytes).map_err(file_error(&self.paths[index]))?;
            let records = bytes.as_chunks::<SIZE>().0;
            let count = records.len();
            for (offset, record) in records.iter().enumerate() {
                if !is_held_out(number + offset as u64) {
                    self.waiting.extend(Sample::from_bytes(record));
                }
            }
            self.waiting.reverse();
            self.place.1 += count as u64;
            if count < CHUNK {
                let next = (index + 1) % self.paths.len();
                self.go_to(next, 0)?;
                dry += 1;
                if dry > 2 * self.paths.len() {
                    return Ok(None);
                }
            }
        }
        Ok(self.waiting.pop())
    }
}

fn open(path: &Path) -> Result<BufReader<File>, CliError> {
    File::open(path).map(BufReader::new).map_err(file_error(path))
}
