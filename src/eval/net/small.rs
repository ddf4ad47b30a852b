//! The small layers beside the linear heads: a little network for each head over the activations of both views.
//!
//! ```text
//!  activations of both views -> FIRST units -> these and their squares -> SECOND units -> added to the head's output
//! ```
//! An activation is the square of a clipped sum, a unit's output its sum clipped to the range 0 to 1; both are 0 to
//! [`ONE_SMALL`] as integers, so that two products with a byte fit into 16 bits. AVX2 and AVX-512 have instructions that
//! multiply and add neighbours; the plain loops are the definition, and `tests/net.rs` compares them all.

use super::{
    file::{FIRST, HEADS, Layout, ONE_FIRST, ONE_HEAD, ONE_INPUT, ONE_SECOND, ONE_SMALL, SECOND},
    network::{UNITS, Units},
};
use crate::processor::{Generation, Instructions};

/// Inputs of the first layer that are multiplied together, and how many such groups there are.
const GROUP: usize = 4;
const GROUPS: usize = 2 * UNITS / GROUP;
/// The weights of a group for each unit.
type Group = [[i8; GROUP]; FIRST];
/// The inputs of the second layer from a unit of the first: its output in the lower 16 bits, the square of it in the upper.
type Pair = i32;
/// The weights of a pair for each unit, in the same order.
type PairWeights = [[i16; 2]; SECOND];

/// The small layers of all heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallLayers(Box<[Head]>);

/// The small layers of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
struct Head {
    first: [Group; GROUPS],
    first_biases: [i32; FIRST],
    second: [PairWeights; FIRST],
    second_biases: [i32; SECOND],
    outputs: [i16; SECOND],
    output_bias: i32,
}

impl SmallLayers {
    /// The small layers of a file with [`UNITS`] units.
    pub fn new(layout: &Layout) -> SmallLayers {
        let small = &layout.small;
        let heads = (0..HEADS).map(|index| {
            let mut head = Head {
                first: [[[0; GROUP]; FIRST]; GROUPS],
                first_biases: [0; FIRST],
                second: [[[0; 2]; SECOND]; FIRST],
                second_biases: [0; SECOND],
                outputs: [0; SECOND],
                output_bias: small.output_biases[index],
            };
            let units = index * FIRST..(index + 1) * FIRST;
            for (unit, from) in small.first.as_chunks::<{ 2 * UNITS }>().0[units.clone()].iter().enumerate() {
                for (group, from) in head.first.iter_mut().zip(from.as_chunks().0) {
                    group[unit] = *from;
                }
            }
            head.first_biases.copy_from_slice(&small.first_biases[units]);
            let units = index * SECOND..(index + 1) * SECOND;
            // In a file the squares follow all outputs.
            for (input, from) in small.second.as_chunks::<SECOND>().0[units.clone()].iter().enumerate() {
                for (to, from) in head.second[input % FIRST].iter_mut().zip(from) {
                    to[input / FIRST] = *from;
                }
            }
            head.second_biases.copy_from_slice(&small.second_biases[units.clone()]);
            head.outputs.copy_from_slice(&small.outputs[units]);
            head
        });
        SmallLayers(heads.collect())
    }

    /// What they add to the output of a head, in units of 1 / ([`ONE_INPUT`] * [`ONE_HEAD`]), from the accumulators of
    /// the mover and the opponent.
    #[inline]
    pub fn output(&self, instructions: Instructions, head: usize, sums: [&Units; 2]) -> i64 {
        let head = &self.0[head];
        match instructions.generation() {
            // SAFETY: `Instructions` of a generation are only made where the processor has all of these features.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Generation::Avx512 => unsafe { avx512::output(head, sums) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Generation::Avx2 => unsafe { avx2::output(head, sums) },
            Generation::Baseline => head.output(sums, plain::first_layer, plain::second_layer),
        }
    }
}

impl Head {
    /// The output with these functions for the sums of both layers without their biases; each fits into 32 bits.
    #[inline(always)]
    fn output(
        &self,
        sums: [&Units; 2],
        first_layer: impl Fn(&[u8; 2 * UNITS], &[Group; GROUPS]) -> [i32; FIRST],
        second_layer: impl Fn(&[Pair; FIRST], &[PairWeights; FIRST]) -> [i32; SECOND],
    ) -> i64 {
        const ONE: i32 = ONE_SMALL;
        // A shift rounds down; what is below 0 is clipped anyway.
        const FIRST_SHIFT: u32 = ONE_FIRST.ilog2();
        const SECOND_SHIFT: u32 = ONE_SECOND.ilog2();
        let first = first_layer(&activations(sums), &self.first);
        let mut pairs = [0; FIRST];
        for unit in 0..FIRST {
            let sum = first[unit].wrapping_add(self.first_biases[unit]);
            let clipped = (sum >> FIRST_SHIFT).clamp(0, ONE);
            pairs[unit] = clipped | (clipped * clipped / ONE) << 16;
        }
        let second = second_layer(&pairs, &self.second);
        let mut output = self.output_bias;
        for ((&sum, &bias), &weight) in second.iter().zip(&self.second_biases).zip(&self.outputs) {
            let clipped = (sum.wrapping_add(bias) >> SECOND_SHIFT).clamp(0, ONE);
            output = output.wrapping_add(clipped * i32::from(weight));
        }
        i64::from(output) * i64::from(ONE_INPUT * ONE_HEAD) / i64::from(ONE * ONE_SECOND)
    }
}

/// The activations of both views.
#[inline(always)]
fn activations(sums: [&Units; 2]) -> [u8; 2 * UNITS] {
    const _: () = assert!(ONE_INPUT * ONE_INPUT / 512 == ONE_SMALL && ONE_INPUT * ONE_INPUT + 256 < 1 << 16);
    let mut active = [0; 2 * UNITS];
    for (active, sums) in active.as_chunks_mut::<UNITS>().0.iter_mut().zip(sums) {
        for (active, &sum) in active.iter_mut().zip(&sums.0) {
            let clipped = sum.clamp(0, ONE_INPUT as i16) as u16;
            *active = ((clipped * clipped + 256) >> 9) as u8;
        }
    }
    active
}

/// The layers by their definition.
mod plain {
    use super::{FIRST, GROUP, GROUPS, Group, Pair, PairWeights, SECOND, UNITS};

    pub fn first_layer(active: &[u8; 2 * UNITS], weights: &[Group; GROUPS]) -> [i32; FIRST] {
        let mut sums = [0_i32; FIRST];
        for (active, group) in active.as_chunks::<GROUP>().0.iter().zip(weights) {
            for unit in 0..FIRST {
                for place in 0..GROUP {
                    sums[unit] += i32::from(active[place]) * i32::from(group[unit][place]);
                }
            }
        }
        sums
    }

    pub fn second_layer(pairs: &[Pair; FIRST], weights: &[PairWeights; FIRST]) -> [i32; SECOND] {
        let mut sums = [0_i32; SECOND];
        for (pair, weights) in pairs.iter().zip(weights) {
            let (output, square) = (pair & 0xffff, pair >> 16);
            for (sum, [of_output, of_square]) in sums.iter_mut().zip(weights) {
                *sum += output * i32::from(*of_output) + square * i32::from(*of_square);
            }
        }
        sums
    }
}

/// The layers with 16 sums in a vector.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::{
        arch::x86_64::{
            __m512i, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_dpwssd_epi32, _mm512_set1_epi32,
            _mm512_setzero_si512,
        },
        mem::transmute,
    };

    use super::{FIRST, GROUP, GROUPS, Group, Head, Pair, PairWeights, SECOND, UNITS, Units};

    // A function of its own, so that its caller holds no vectors for the other generations.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    #[inline(never)]
    pub fn output(head: &Head, sums: [&Units; 2]) -> i64 {
        head.output(
            sums,
            |active, weights| first_layer(active, weights),
            |pairs, weights| second_layer(pairs, weights),
        )
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    #[inline]
    fn first_layer(active: &[u8; 2 * UNITS], weights: &[Group; GROUPS]) -> [i32; FIRST] {
        // Four sums, since a multiply-add takes four cycles and one can begin in each.
        let mut sums = [_mm512_setzero_si512(); 4];
        for (active, groups) in
            active.as_chunks::<GROUP>().0.as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0)
        {
            for part in 0..4 {
                // SAFETY: both are 64 bytes of which every bit pattern is valid.
                let weights = unsafe { transmute::<Group, __m512i>(groups[part]) };
                let active = _mm512_set1_epi32(i32::from_le_bytes(active[part]));
                sums[part] = _mm512_dpbusd_epi32(sums[part], active, weights);
            }
        }
        let [a, b, c, d] = sums;
        let sum = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
        // SAFETY: the same.
        unsafe { transmute::<__m512i, [i32; FIRST]>(sum) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    #[inline]
    fn second_layer(pairs: &[Pair; FIRST], weights: &[PairWeights; FIRST]) -> [i32; SECOND] {
        let mut sums = [_mm512_setzero_si512(); 2];
        for (pair, weights) in pairs.iter().zip(weights) {
            // SAFETY: the same.
            let weights = unsafe { transmute::<PairWeights, [__m512i; 2]>(*weights) };
            for part in 0..2 {
                sums[part] = _mm512_dpwssd_epi32(sums[part], _mm512_set1_epi32(*pair), weights[part]);
            }
        }
        // SAFETY: the same.
        unsafe { transmute::<[__m512i; 2], [i32; SECOND]>(sums) }
    }
}

/// The layers with eight sums in a vector.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::{
        arch::x86_64::{
            __m256i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
            _mm256_set1_epi32, _mm256_setzero_si256,
        },
        mem::transmute,
    };

    use super::{FIRST, GROUP, GROUPS, Group, Head, Pair, PairWeights, SECOND, UNITS, Units};

    // A function of its own, so that its caller holds no vectors for the other generations.
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    pub fn output(head: &Head, sums: [&Units; 2]) -> i64 {
        head.output(
            sums,
            |active, weights| first_layer(active, weights),
            |pairs, weights| second_layer(pairs, weights),
        )
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn first_layer(active: &[u8; 2 * UNITS], weights: &[Group; GROUPS]) -> [i32; FIRST] {
        let mut sums = [_mm256_setzero_si256(); 2];
        for (active, group) in active.as_chunks::<GROUP>().0.iter().zip(weights) {
            // SAFETY: both are 64 bytes of which every bit pattern is valid.
            let weights = unsafe { transmute::<Group, [__m256i; 2]>(*group) };
            let active = _mm256_set1_epi32(i32::from_le_bytes(*active));
            for part in 0..2 {
                let products = _mm256_maddubs_epi16(active, weights[part]);
                sums[part] = _mm256_add_epi32(sums[part], _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
            }
        }
        // SAFETY: the same.
        unsafe { transmute::<[__m256i; 2], [i32; FIRST]>(sums) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn second_layer(pairs: &[Pair; FIRST], weights: &[PairWeights; FIRST]) -> [i32; SECOND] {
        let mut sums = [_mm256_setzero_si256(); 4];
        for (pair, weights) in pairs.iter().zip(weights) {
            // SAFETY: the same.
            let weights = unsafe { transmute::<PairWeights, [__m256i; 4]>(*weights) };
            for part in 0..4 {
                let products = _mm256_madd_epi16(_mm256_set1_epi32(*pair), weights[part]);
                sums[part] = _mm256_add_epi32(sums[part], products);
            }
        }
        // SAFETY: the same.
        unsafe { transmute::<[__m256i; 4], [i32; SECOND]>(sums) }
    }
}
