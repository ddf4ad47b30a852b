//! The small layers beside the linear heads: a little network for each head over the activations of both views.
//!
//! ```text
//!  activations of both views -> FIRST units -> these and their squares -> SECOND units -> added to the head's output
//! ```
//! Activations are squares of clipped sums in a byte, a unit's is its sum clipped to the range 0 to 1.

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

/// The small layers of all heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallLayers(Box<[Head]>);

/// The small layers of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
struct Head {
    first: [Group; GROUPS],
    first_biases: [i32; FIRST],
    /// By input.
    second: [[i16; SECOND]; SECOND],
    second_biases: [i32; SECOND],
    outputs: [i16; SECOND],
    output_bias: i32,
}

impl SmallLayers {
    /// The small layers of a file with [`UNITS`] units, if it has any.
    pub fn new(layout: &Layout) -> Option<SmallLayers> {
        let small = layout.small.as_ref()?;
        let mut heads = vec![
            Head {
                first: [[[0; GROUP]; FIRST]; GROUPS],
                first_biases: [0; FIRST],
                second: [[0; SECOND]; SECOND],
                second_biases: [0; SECOND],
                outputs: [0; SECOND],
                output_bias: 0,
            };
            HEADS
        ];
        for (index, head) in heads.iter_mut().enumerate() {
            let units = index * FIRST..(index + 1) * FIRST;
            for (unit, from) in small.first.as_chunks::<{ 2 * UNITS }>().0[units.clone()].iter().enumerate() {
                for (group, from) in head.first.iter_mut().zip(from.as_chunks().0) {
                    group[unit] = *from;
                }
            }
            head.first_biases.copy_from_slice(&small.first_biases[units]);
            let units = index * SECOND..(index + 1) * SECOND;
            for (to, from) in head.second.iter_mut().zip(&small.second.as_chunks().0[units.clone()]) {
                *to = *from;
            }
            head.second_biases.copy_from_slice(&small.second_biases[units.clone()]);
            head.outputs.copy_from_slice(&small.outputs[units]);
            head.output_bias = small.output_biases[index];
        }
        Some(SmallLayers(heads.into()))
    }

    /// What they add to the output of a head, in units of 1 / ([`ONE_INPUT`] * [`ONE_HEAD`]), from the accumulators of
    /// the mover and the opponent.
    #[inline(always)]
    pub fn output(&self, instructions: Instructions, head: usize, sums: [&Units; 2]) -> i64 {
        const ONE: i32 = ONE_SMALL;
        let head = &self.0[head];
        let active = activations(sums);
        let mut inputs = [0_i16; SECOND];
        let first = first_layer(instructions, &active, &head.first);
        for unit in 0..FIRST {
            let sum = first[unit].wrapping_add(head.first_biases[unit]);
            let clipped = (sum / ONE_FIRST).clamp(0, ONE);
            inputs[unit] = clipped as i16;
            inputs[FIRST + unit] = (clipped * clipped / ONE) as i16;
        }
        let mut second = head.second_biases;
        for (&input, weights) in inputs.iter().zip(&head.second) {
            for unit in 0..SECOND {
                second[unit] = second[unit].wrapping_add(i32::from(input) * i32::from(weights[unit]));
            }
        }
        let mut output = head.output_bias;
        for unit in 0..SECOND {
            let clipped = (second[unit] / ONE_SECOND).clamp(0, ONE);
            output = output.wrapping_add(clipped.wrapping_mul(i32::from(head.outputs[unit])));
        }
        i64::from(output) * i64::from(ONE_INPUT * ONE_HEAD) / i64::from(ONE * ONE_SECOND)
    }
}

/// The activations of both views, [`ONE_SMALL`] for 1.0.
#[inline(always)]
fn activations(sums: [&Units; 2]) -> [u8; 2 * UNITS] {
    const _: () = assert!(ONE_INPUT * ONE_INPUT / 256 == ONE_SMALL && ONE_INPUT * ONE_INPUT + 128 < 1 << 16);
    let mut active = [0; 2 * UNITS];
    for (active, sums) in active.as_chunks_mut::<UNITS>().0.iter_mut().zip(sums) {
        for unit in 0..UNITS {
            let clipped = sums.0[unit].clamp(0, ONE_INPUT as i16) as u16;
            active[unit] = ((clipped * clipped + 128) >> 8) as u8;
        }
    }
    active
}

/// The sums of the activations times their weights for each unit, which fit into 32 bits.
#[inline(always)]
fn first_layer(
    instructions: Instructions,
    active: &[u8; 2 * UNITS],
    weights: &[Group; GROUPS],
) -> [i32; FIRST] {
    match instructions.generation() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Instructions` of this generation are only made where the processor has these features.
        #[allow(unsafe_code)]
        Generation::Avx512 => unsafe { first_layer_avx512(active, weights) },
        _ => first_layer_plain(active, weights),
    }
}

#[inline(always)]
fn first_layer_plain(active: &[u8; 2 * UNITS], weights: &[Group; GROUPS]) -> [i32; FIRST] {
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

/// The same with one multiply-add of all units and a group at a time, in four independent sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
#[allow(unsafe_code)]
fn first_layer_avx512(active: &[u8; 2 * UNITS], weights: &[Group; GROUPS]) -> [i32; FIRST] {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    };
    let add = |sum: __m512i, active: &[u8; GROUP], group: &Group| {
        // SAFETY: a group has the size of the vector, and every bit pattern is one.
        let weights = unsafe { std::mem::transmute_copy::<Group, __m512i>(group) };
        _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(i32::from_le_bytes(*active)), weights)
    };
    let [mut a, mut b, mut c, mut d] = [_mm512_setzero_si512(); 4];
    let active = active.as_chunks::<GROUP>().0.as_chunks::<4>().0;
    for (active, groups) in active.iter().zip(weights.as_chunks::<4>().0) {
        a = add(a, &active[0], &groups[0]);
        b = add(b, &active[1], &groups[1]);
        c = add(c, &active[2], &groups[2]);
        d = add(d, &active[3], &groups[3]);
    }
    let sum = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    // SAFETY: both are 16 numbers of 32 bits.
    unsafe { std::mem::transmute::<__m512i, [i32; FIRST]>(sum) }
}
