macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u64);

        impl std::ops::BitXor<u64> for $name {
            type Output = $name;
            fn bitxor(self, bits: u64) -> $name {
                $name(self.0 ^ bits)
            }
        }

        impl std::ops::BitXorAssign<u64> for $name {
            fn bitxor_assign(&mut self, bits: u64) {
                self.0 ^= bits;
            }
        }
    };
}

key! {
    /// Zobrist key of a position: pieces, side to move, castling rights and the pseudo-legal en-passant file.
    /// The number is the one that Polyglot books use.
    PositionKey
}
key! {
    /// Zobrist key of the pawns alone.
    PawnKey
}
key! {
    /// Zobrist key of one side's pieces other than pawns.
    NonPawnKey
}
key! {
    /// Key of the material balance: how many pieces of each kind each side has, not where they stand.
    MaterialKey
}
key! {
    /// Key of how a position was reached, as far as its score depends on it.
    PathKey
}
