//! Number, instructions and priorities of processors. A program for every x86-64 processor is limited to SSE2; loops
//! that gain from newer instructions are compiled for several generations, and the best one is chosen at run time.

/// Instructions that this processor has, so that code compiled for them may run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instructions(Generation);

/// Generations of instructions, oldest first.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Those for which the whole program is compiled.
    Baseline,
    /// Haswell (2013), Excavator, Zen and later: x86-64-v3.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Ice Lake (2019), Zen 4 and later. Older processors with AVX-512 lower their clock when it is used.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// All generations that can be chosen on this processor, the best one last.
    pub fn available() -> Vec<Instructions> {
        std::iter::once(Generation::Baseline).chain(newer()).map(Instructions).collect()
    }

    /// The best on this processor.
    pub fn best() -> Instructions {
        Instructions::available().pop().unwrap_or(Instructions(Generation::Baseline))
    }

    /// Their generation.
    pub(crate) fn generation(self) -> Generation {
        self.0
    }
}

/// Number of threads that the machine can run at the same time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Gives this thread the lowest priority, if the system has priorities for single threads.
pub fn lower_thread_priority() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::nice(19);
}

/// The generations after the baseline that processor and system support, oldest first.
#[cfg(target_arch = "x86_64")]
fn newer() -> Vec<Generation> {
    macro_rules! all {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
    }
    let avx2 = all!("avx2" "bmi1" "bmi2" "fma" "lzcnt" "movbe" "popcnt");
    let avx512 = all!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vbmi2" "avx512vnni");
    match (avx2, avx512) {
        (true, true) => vec![Generation::Avx2, Generation::Avx512],
        (true, false) => vec![Generation::Avx2],
        (false, _) => Vec::new(),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn newer() -> Vec<Generation> {
    Vec::new()
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Generation::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Generation::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Generation::Avx512 => "AVX-512",
        })
    }
}

/// Makes a function that takes [`Instructions`] before its own arguments and runs its body compiled for them. Functions
/// that the body calls are compiled for them too if they are inlined: mark them `#[inline(always)]`.
macro_rules! compiled_for_generations {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block) => {
        $(#[$attribute])*
        #[allow(unsafe_code)]
        $visibility fn $name(instructions: $crate::processor::Instructions, $($argument: $type),*) -> $result {
            use $crate::processor::Generation;

            #[inline(always)]
            fn baseline($($argument: $type),*) -> $result $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,movbe,popcnt")]
            fn avx2($($argument: $type),*) -> $result {
                baseline($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,movbe,popcnt")]
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,avx512vnni")]
            fn avx512($($argument: $type),*) -> $result {
                baseline($($argument),*)
            }

            match instructions.generation() {
                Generation::Baseline => baseline($($argument),*),
                // SAFETY: `Instructions` of a generation are only made where `newer` has found all of these features.
                #[cfg(target_arch = "x86_64")]
                Generation::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: the same.
                #[cfg(target_arch = "x86_64")]
                Generation::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
}

pub(crate) use compiled_for_generations;

/// The sum of the squares of numbers, each clipped to 0 to `most` before, times their weights: `most` is at most 127, a
/// clipped number times its weight fits into 16 bits, and the numbers, at most 4,096, are a multiple of 128.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn weighted_squares(
    instructions: Instructions,
    numbers: &[i16],
    weights: &[i16],
    most: i16,
) -> i64 {
    match instructions.0 {
        Generation::Baseline => weighted_squares_baseline(numbers, weights, most),
        // SAFETY: `newer` has found the features.
        #[cfg(target_arch = "x86_64")]
        Generation::Avx2 => unsafe { weighted_squares_avx2(numbers, weights, most) },
        // SAFETY: the same.
        #[cfg(target_arch = "x86_64")]
        Generation::Avx512 => unsafe { weighted_squares_avx512(numbers, weights, most) },
    }
}

#[inline(always)]
fn weighted_squares_baseline(numbers: &[i16], weights: &[i16], most: i16) -> i64 {
    // So many products of 15 and 7 bits fit into 32 bits.
    const PART: usize = 128;
    let mut total = 0;
    for (numbers, weights) in numbers.as_chunks::<PART>().0.iter().zip(weights.as_chunks::<PART>().0) {
        let mut sum = 0_i32;
        for (&number, &weight) in numbers.iter().zip(weights) {
            let clipped = number.clamp(0, most);
            sum = sum.wrapping_add(i32::from(clipped.wrapping_mul(weight)) * i32::from(clipped));
        }
        total += i64::from(sum);
    }
    total
}

/// [`weighted_squares`] with instructions by name: of the plain loop the compiler makes one that uses half of each
/// register.
#[cfg(target_arch = "x86_64")]
macro_rules! weighted_squares_by_name {
    ($name:ident, $features:literal, $lanes:literal, $load:ident, $store:ident, $zero:ident, $all:ident,
     $max:ident, $min:ident, $multiply:ident, |$sum:ident, $first:ident, $second:ident| $add_products:expr) => {
        #[target_feature(enable = $features)]
        #[allow(unsafe_code)]
        fn $name(numbers: &[i16], weights: &[i16], most: i16) -> i64 {
            use std::arch::x86_64::*;

            // SAFETY: it reads as many bytes as the array has.
            let load = |numbers: &[i16; $lanes]| unsafe { $load(numbers.as_ptr().cast()) };
            let (zero, most) = ($zero(), $all(most));
            // Four independent sums, so that an addition need not wait for the last one.
            let mut sums = [zero; 4];
            let (numbers, weights) = (numbers.as_chunks::<$lanes>().0, weights.as_chunks::<$lanes>().0);
            for (numbers, weights) in numbers.as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0) {
                for (($sum, numbers), weights) in sums.iter_mut().zip(numbers).zip(weights) {
                    let $second = $min($max(load(numbers), zero), most);
                    let $first = $multiply($second, load(weights));
                    *$sum = $add_products;
                }
            }
            let mut lanes = [[0_i32; $lanes / 2]; 4];
            for (lanes, sum) in lanes.iter_mut().zip(sums) {
                // SAFETY: it writes as many bytes as the array has.
                unsafe { $store(lanes.as_mut_ptr().cast(), sum) };
            }
            // A lane has at most 512 products of 15 and 7 bits.
            (0..$lanes / 2).map(|lane| i64::from(lanes.iter().map(|lanes| lanes[lane]).sum::<i32>())).sum()
        }
    };
}

#[cfg(target_arch = "x86_64")]
weighted_squares_by_name!(
    weighted_squares_avx2,
    "avx2",
    16,
    _mm256_loadu_si256,
    _mm256_storeu_si256,
    _mm256_setzero_si256,
    _mm256_set1_epi16,
    _mm256_max_epi16,
    _mm256_min_epi16,
    _mm256_mullo_epi16,
    |sum, first, second| _mm256_add_epi32(*sum, _mm256_madd_epi16(first, second))
);

#[cfg(target_arch = "x86_64")]
weighted_squares_by_name!(
    weighted_squares_avx512,
    "avx512f,avx512bw,avx512vnni",
    32,
    _mm512_loadu_si512,
    _mm512_storeu_si512,
    _mm512_setzero_si512,
    _mm512_set1_epi16,
    _mm512_max_epi16,
    _mm512_min_epi16,
    _mm512_mullo_epi16,
    |sum, first, second| _mm512_dpwssd_epi32(*sum, first, second)
);

/// From now on an instruction that this processor does not have ends the process with a message and exit code 1. That
/// happens only to a program compiled for a newer processor (`-C target-cpu`).
pub extern "C" fn explain_illegal_instructions() {
    #[cfg(unix)]
    // SAFETY: `illegal_instruction` does only what is allowed in a handler (`write` and `_exit`).
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGILL, illegal_instruction as *const () as libc::sighandler_t);
    }
}

#[cfg(unix)]
extern "C" fn illegal_instruction(_: libc::c_int) {
    const SENTENCE: &[u8] = b"engram: this program was compiled for a newer processor; \
        take a generic build, or compile it without -C target-cpu\n";
    // SAFETY: both calls are async-signal-safe, and the text is static.
    #[allow(unsafe_code)]
    unsafe {
        libc::write(2, SENTENCE.as_ptr().cast(), SENTENCE.len());
        libc::_exit(1);
    }
}

/// Calls `handler` at Ctrl-C, and at the signals that ask a process to end. What whoever started it made it ignore
/// (`nohup`, a background job of a script) stays ignored.
///
/// # Errors
/// The system refuses, or there is a handler already.
pub fn on_interrupt(handler: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    #[cfg(unix)]
    let ignored: Vec<libc::c_int> = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM]
        .into_iter()
        .filter(|&signal| is_ignored(signal))
        .collect();
    ctrlc::set_handler(handler)?;
    #[cfg(unix)]
    for signal in ignored {
        // SAFETY: no code of this program runs when the signal comes.
        #[allow(unsafe_code)]
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: nothing is set, and what is there now is written to `action`, for which all zeros are valid.
    #[allow(unsafe_code)]
    let (answer, action) = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action), action)
    };
    answer == 0 && action.sa_sigaction == libc::SIG_IGN
}
