//! `engram tree add`.

use std::{ffi::OsString, fs::File, io::Read as _, path::Path, sync::Arc};

use clap::Args;
use shakmaty::{Color, Move};

use super::{Side, names};
use crate::{
    book::Book,
    cli::{
        CliError, Completion,
        analyse::{
            AnalysisInput, Item, input_files,
            variations::{Branch, Variation},
        },
        check_player, complain, pgn, refuse_input,
    },
    learn::{self, LearnFile, Mode, Ring, kept_games},
    position::{Position, PositionPath},
    search::unpack_line,
    tree::{Access, ForSides, PlayedLine, Tree, TreeError, TreeSearch},
    tt::{
        RootResult,
        file::{self, HashOrigin, Map},
    },
    types::{Ply, ScoredLine},
    uci::{Output, counted},
};

/// The tags that tell games with the same moves apart. Others may be those of a copy with comments.
const IDENTITY: [&str; 8] = ["Event", "Site", "Date", "Round", "White", "Black", "UTCDate", "UTCTime"];
/// Plies of a book that are taken.
const BOOK_PLIES: usize = 40;

#[derive(Clone, Debug, Args)]
pub(super) struct AddArguments {
    /// A FEN or `startpos`, moves after it, or moves from the start alone; or files: positions (.epd, .fen), games (.pgn),
    /// Polyglot books (.bin), learning files and hash files; folders of games and positions; `-` for the standard input.
    #[arg(required = true, num_args = 1.., value_name = "FEN | MOVES | FILE | FOLDER | -")]
    input: Vec<OsString>,
    /// Whose moves the tree is to find: `white` or `black` makes it, from there on, that side's alone, even if it was the
    /// other side's. If not given, those of the side that the tree is for; of both sides in a new tree, and of the player
    /// with --player.
    #[arg(long = "for", value_enum, value_name = "SIDE")]
    side: Option<Side>,
    /// Only games of this player, and only for the player's side; the opponent's moves in games that the player lost count
    /// three times. Whole words of the name are enough: Kim is "Kim, Bo", but not "Kimura".
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Plies of each game and its variations that are taken.
    #[arg(long, default_value_t = 24, value_name = "PLIES")]
    plies: usize,
}

impl AddArguments {
    /// Checks that a player who is named has a game, before a tree is made.
    ///
    /// # Errors
    /// There are games, and none of that player.
    fn check_player(&self) -> Result<(), CliError> {
        let Some(player) = &self.player else { return Ok(()) };
        let games =
            input_files(&self.input, &[])?.into_iter().filter_map(|path| match BinaryKind::of(&path) {
                None => Some(path),
                Some(BinaryKind::Learning) => Some(kept_games::path(&path)),
                Some(BinaryKind::Hash | BinaryKind::Book) => None,
            });
        check_player(games, player)
    }

    /// Opens the input in the order in which it is added.
    ///
    /// # Errors
    /// Something of it cannot be read.
    fn open(&self) -> Result<Vec<Input>, CliError> {
        let (mut texts, mut inputs, mut hash_files) = (Vec::new(), Vec::new(), Vec::new());
        for word in &self.input {
            let path = Path::new(word);
            match BinaryKind::of(path) {
                None => texts.push(word.clone()),
                Some(BinaryKind::Learning) => {
                    let (_, ring, _): (_, Ring, _) = LearnFile::open(path, Mode::Read)?;
                    inputs.push(Input::Learned(ring));
                    let games = kept_games::path(path);
                    if games.is_file() {
                        inputs.push(Input::Items(AnalysisInput::open(
                            &[games.into_os_string()],
                            false,
                            &[],
                        )?));
                    }
                }
                Some(BinaryKind::Hash) => hash_files.push(open_hash_file(path)?),
                Some(BinaryKind::Book) => inputs.push(open_book(path)?),
            }
        }
        if !texts.is_empty() {
            inputs.insert(0, Input::Items(AnalysisInput::open(&texts, false, &[])?));
        }
        // Last: they know positions by their keys alone, and have to be asked for each.
        inputs.extend(hash_files);
        Ok(inputs)
    }

    /// These arguments for a tree: where no side is named, with the sides that the tree is for.
    fn in_tree(&self, tree: &Tree) -> Result<AddArguments, TreeError> {
        let mut resolved = self.clone();
        if self.side.is_none() && self.player.is_none() {
            resolved.side = match sides_of(tree)?[..] {
                [Color::White] => Some(Side::White),
                [Color::Black] => Some(Side::Black),
                _ => None,
            };
        }
        Ok(resolved)
    }

    fn sides(&self) -> ForSides {
        self.side.unwrap_or(Side::Both).sides()
    }

    /// Ends the growth from a position for the side that `--for` leaves out: it may have been added for that one too.
    fn restrict(&self, tree: &mut Tree, root: &Position) -> Result<(), TreeError> {
        match self.side {
            None | Some(Side::Both) => Ok(()),
            Some(side) => tree.restrict_root(root, side.sides()),
        }
    }
}

/// Something to be added, which could be opened.
enum Input {
    Items(AnalysisInput),
    Learned(Ring),
    Hash(Map),
    Book(Book),
}

/// What was added.
#[derive(Default)]
struct Count {
    games: usize,
    known: usize,
    /// Games of the player, but with the side that `--for` leaves out.
    other_side: usize,
    others: usize,
    variations: usize,
    searches: usize,
    skipped: usize,
}

/// Adds the input; partial if some of it was skipped.
///
/// # Errors
/// A file cannot be read, or the tree cannot be written.
pub(super) fn run(file: &Path, arguments: &AddArguments, output: &Output) -> Result<Completion, CliError> {
    refuse_input(file, &arguments.input)?;
    // No tree is made for an input that cannot be read.
    arguments.check_player()?;
    let inputs = arguments.open()?;
    let tree = &mut Tree::open(file, Access::Create)?;
    let mut count = Count::default();
    let before = tree.size()?.positions;
    let added = arguments
        .in_tree(tree)
        .map_err(CliError::from)
        .and_then(|arguments| inputs.iter().try_for_each(|input| add(tree, input, &arguments, &mut count)));
    let size = tree.size();
    // What came before an error is in the tree.
    if let Ok(size) = &size
        && let new = size.positions.saturating_sub(before)
        && (added.is_ok() || new > 0)
    {
        let Count { games, known, other_side, others, variations, searches, skipped } = count;
        let mut parts = Vec::new();
        parts.extend((games > 0).then(|| counted(games, "game")));
        parts.extend((known > 0).then(|| format!("{} known before", counted(known, "game"))));
        parts
            .extend((other_side > 0).then(|| format!("{} with the other side", counted(other_side, "game"))));
        parts.extend((others > 0).then(|| format!("{} of other players", counted(others, "game"))));
        parts.extend((variations > 0).then(|| counted(variations, "variation")));
        parts.extend((searches > 0).then(|| counted(searches, "search")));
        parts.extend((skipped > 0).then(|| format!("{skipped} skipped")));
        let sides = sides_of(tree)?;
        output.line(format_args!(
            "{} added{}; the tree{} has {}, {} searched",
            counted(new, "position"),
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) },
            if sides.is_empty() { String::new() } else { format!(" for {}", names(&sides)) },
            counted(size.positions, "position"),
            size.searched
        ));
    }
    added?;
    size?;
    Ok(if count.skipped > 0 { Completion::Partial } else { Completion::Complete })
}

/// The sides that the tree is for.
fn sides_of(tree: &Tree) -> Result<Vec<Color>, TreeError> {
    let roots = tree.roots()?;
    let is_for = |side: &Color| roots.iter().any(|(_, sides)| sides.contains(side));
    Ok(Color::ALL.into_iter().filter(is_for).collect())
}

fn add(tree: &mut Tree, input: &Input, arguments: &AddArguments, count: &mut Count) -> Result<(), CliError> {
    match input {
        Input::Items(input) => add_items(tree, input, arguments, count),
        Input::Learned(ring) => add_learned(tree, ring, count),
        Input::Hash(map) => add_hash_file(tree, map, count),
        Input::Book(book) => add_book(tree, book, arguments),
    }
}

fn add_items(
    tree: &mut Tree,
    input: &AnalysisInput,
    arguments: &AddArguments,
    count: &mut Count,
) -> Result<(), CliError> {
    for item in input.items(&Arc::default()) {
        match item? {
            Ok(Item::Position(record)) => {
                tree.add_root(&record.position, arguments.sides())?;
                arguments.restrict(tree, &record.position)?;
                // From a position of the tree the moves lead there too.
                if let Some((start, moves)) = &record.before
                    && tree.look(start)?.is_some()
                {
                    tree.add_moves(start, moves)?;
                }
            }
            Ok(Item::Game(game, variations, _)) => add_game(tree, &game, &variations, arguments, count)?,
            // They come with their game.
            Ok(Item::Variation(_)) => {}
            Err(reason) => {
                count.skipped += 1;
                complain(reason);
            }
        }
    }
    Ok(())
}

fn add_game(
    tree: &mut Tree,
    game: &pgn::Game,
    variations: &[Variation],
    arguments: &AddArguments,
    count: &mut Count,
) -> Result<(), CliError> {
    let mut sides = arguments.sides();
    if let Some(name) = &arguments.player {
        let plays = game.sides_of(name);
        sides = ForSides { white: sides.white && plays.white, black: sides.black && plays.black };
        if !sides.white && !sides.black {
            let is_player = plays.white || plays.black;
            *(if is_player { &mut count.other_side } else { &mut count.others }) += 1;
            return Ok(());
        }
    }
    let tags = IDENTITY.map(|name| game.tag(name).unwrap_or_default().to_owned());
    let rest = [game.start.fen(), game.outcome.to_string()];
    let whole: Vec<String> =
        tags.into_iter().chain(rest).chain(game.moves.iter().map(Move::to_string)).collect();
    let moves = &game.moves[..game.moves.len().min(arguments.plies)];
    let line = PlayedLine { start: &game.start, moves, outcome: game.outcome };
    if tree.add_line(&line, sides, Some(fnv(&whole.join("\n"))))? {
        count.known += 1;
    } else {
        count.games += 1;
    }
    for Branch { start, moves, before } in Branch::all(game, variations) {
        let own = moves.get(before..moves.len().min(arguments.plies)).unwrap_or_default();
        if let Some(left) = start.along(&moves[..before]).pop().filter(|_| !own.is_empty()) {
            tree.add_moves(&left, own)?;
            count.variations += 1;
        }
    }
    Ok(arguments.restrict(tree, &game.start)?)
}

/// FNV-1a (Fowler, Noll and Vo) with 64 bits: the number of a game in a tree must be the same for ever.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// A file that is no text.
enum BinaryKind {
    Learning,
    Hash,
    Book,
}

impl BinaryKind {
    /// The kind of a file; none for a text, and for what is no file.
    fn of(path: &Path) -> Option<BinaryKind> {
        // A pipe would lose what is read here.
        if !path.is_file() {
            return None;
        }
        let mut magic = [0; learn::header::MAGIC.len()];
        let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok();
        match magic {
            learn::header::MAGIC if is_read => Some(BinaryKind::Learning),
            file::MAGIC if is_read => Some(BinaryKind::Hash),
            _ => path.extension().filter(|extension| *extension == "bin").map(|_| BinaryKind::Book),
        }
    }
}

fn open_hash_file(path: &Path) -> Result<Input, CliError> {
    let map = Map::look(path)?;
    if !map.origin()?.fifty_rule {
        let reason =
            "it was written with Syzygy50MoveRule false, so its wins may be draws: nothing of it was added";
        return Err(CliError::Task(format!("{}: {reason}", path.display())));
    }
    Ok(Input::Hash(map))
}

/// Adds the analyses in a hash file whose positions the tree has, or reaches by moves between such positions.
fn add_hash_file(tree: &mut Tree, map: &Map, count: &mut Count) -> Result<(), CliError> {
    let HashOrigin { evaluation: evaluation_id, path_mode, .. } = map.origin()?;
    count.searches += tree.add_searches(|position| {
        let mut path = PositionPath::new(position);
        path.begin_search(path_mode);
        let RootResult { hit, line } = map.find_root(position.key(), &path, Ply::ROOT)?;
        let score = hit.window(&path, Ply::ROOT)?.exact()?;
        let line = ScoredLine { score, is_drawn: false, moves: unpack_line(position, &line) };
        let lines = (!line.moves.is_empty()).then(|| vec![line])?;
        Some(TreeSearch { depth: hit.depth, evaluation_id, lines, ..TreeSearch::default() })
    })?;
    Ok(())
}

/// Adds the searches of a learning file.
fn add_learned(tree: &mut Tree, ring: &Ring, count: &mut Count) -> Result<(), CliError> {
    for (_, record) in ring.iter() {
        if let Some((position, search)) = TreeSearch::of_record(&record) {
            count.searches += usize::from(tree.add_search(&position, &search)?);
        }
    }
    Ok(())
}

fn open_book(path: &Path) -> Result<Input, CliError> {
    let book = Book::open(path)?;
    book.check(path)?;
    if book.ways_on(&Position::default()).is_empty() {
        let reason = "no move from the start position leads into the book: nothing of it was added";
        return Err(CliError::Task(format!("{}: {reason}", path.display())));
    }
    Ok(Input::Book(book))
}

/// Adds the lines of a Polyglot book, from the start position.
fn add_book(tree: &mut Tree, book: &Book, arguments: &AddArguments) -> Result<(), CliError> {
    let start = Position::default();
    tree.add_root(&start, arguments.sides())?;
    arguments.restrict(tree, &start)?;
    for position in book.layers(&start).take(BOOK_PLIES).flatten() {
        for m in book.ways_on(&position) {
            tree.add_moves(&position, &[m])?;
        }
    }
    Ok(())
}
