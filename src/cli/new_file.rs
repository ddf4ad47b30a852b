//! A file that bears its name only when it is complete.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// A new file while it is written, under another name beside its own; gone if it is not finished.
pub struct NewFile {
    path: PathBuf,
    unfinished: PathBuf,
    writer: BufWriter<File>,
}

impl NewFile {
    /// Begins a file at `path`.
    ///
    /// # Errors
    /// Something lies there already, or the system refuses.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        if path.symlink_metadata().is_ok() {
            return Err(is_taken());
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".new-{}", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        let writer = BufWriter::new(File::create(&unfinished)?);
        Ok(NewFile { path: path.to_owned(), unfinished, writer })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// What the system says, or another process made a file of this name meanwhile.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        match fs::hard_link(&self.unfinished, &self.path) {
            Ok(()) => Ok(()),
            Err(_) if self.path.symlink_metadata().is_ok() => Err(is_taken()),
            // A file system without links.
            Err(_) => fs::rename(&self.unfinished, &self.path),
        }
    }
}

fn is_taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "there is something already, name another")
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_finished_file_bears_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = NewFile::create(&path).expect("begun");
        file.write_all(b"half").expect("written");
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        let mut file = NewFile::create(&path).expect("begun");
        file.write_all(b"whole").expect("written");
        file.finish().expect("finished");
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
        assert!(NewFile::create(&path).is_err());
        fs::remove_file(&path).expect("removed");
        let late = NewFile::create(&path).expect("begun");
        fs::write(&path, "another").expect("written by another process");
        assert_eq!(late.finish().map_err(|error| error.kind()), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&path).expect("a file"), b"another");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
