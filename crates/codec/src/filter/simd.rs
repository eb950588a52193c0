//! Room for unsafe code: vector instructions for the shuffle filters.
//!
//! Interleaving the two halves of a sequence byte by byte rotates the bits of every byte's index
//! by one. So `log2 N` interleavings of `N` rows turn row-major into column-major: which is what
//! shuffle needs, whatever the width of the registers.
//!
//! The other way, `N` vectors of whole elements become `N` rows after as many interleavings as the
//! index in a register of 16 bytes has bits: then every bit has come round to its place.
//!
//! The contract of every kernel of the way back:
//! - It reads row `j` of the run at `input[j * total + first + i]` for `i < count`, no further.
//! - It writes `out` from the front, whole elements, and returns how many elements; those bytes are
//!   all initialised, the others untouched.
//! - It runs only where the processor has the instructions it is compiled for.
//! - What it stores past the caches is in order with all that follows when it returns.
//! - [`shuffle::unshuffle_bytes`] is its oracle; [`shuffle::unshuffle_portable`] restores what it
//!   leaves over.
//!
//! The contract of every kernel of the way there:
//! - It reads `elements`, whose length is a multiple of `N`, from the front, whole elements, and
//!   returns how many.
//! - It writes byte `j` of element `i` to `out[j * total + first + i]`, and nothing else; `out` has
//!   `N * total` bytes, and `elements` no more than `total - first` elements.
//! - [`shuffle::shuffle_bytes`] is its oracle; [`shuffle::shuffle_portable`] does what it leaves over.

use std::mem::MaybeUninit;

use super::shuffle::{self, InRows, Run};
use crate::uninit::assume_written;

/// Restores a run of elements, and gives `out` back, every byte of it written.
pub(super) fn unshuffle<'o>(run: Run<'_>, out: &'o mut [MaybeUninit<u8>]) -> &'o mut [u8] {
    let last_row = (run.element_size - 1) * run.total;
    assert!(run.count == 0 || last_row + run.first + run.count <= run.input.len());
    assert_eq!(out.len(), run.count * run.element_size);
    let done = unshuffle_vectors(run, out);
    let left = Run { first: run.first + done, count: run.count - done, ..run };
    shuffle::unshuffle_portable(left, &mut out[done * run.element_size..]);
    // SAFETY: the kernel has written the first `done` elements, the portable way all others.
    unsafe { assume_written(out) }
}

/// Shuffles whole elements, and gives `out` back, every byte of it written.
pub(super) fn shuffle<'o>(
    elements: &[u8],
    size: usize,
    out: &'o mut [MaybeUninit<u8>],
) -> &'o mut [u8] {
    assert_eq!(elements.len(), out.len());
    let mut rows = Rows::new(size, out);
    rows.add(elements);
    rows.finish().expect("as many elements as places")
}

/// Elements that are shuffled piece by piece: there is a row for each byte of an element.
pub(super) struct Rows<'o> {
    out: &'o mut [MaybeUninit<u8>],
    size: usize,
    /// How many elements there are to be.
    total: usize,
    /// How many there are: so many bytes at the front of each row are written.
    done: usize,
}

impl<'o> Rows<'o> {
    /// For elements of `size` bytes, as many as `out` has places for.
    pub(super) fn new(size: usize, out: &'o mut [MaybeUninit<u8>]) -> Self {
        assert!(out.len().is_multiple_of(size));
        let total = out.len() / size;
        Self { out, size, total, done: 0 }
    }

    /// Shuffles the next elements.
    pub(super) fn add(&mut self, elements: &[u8]) {
        let Self { size, total, .. } = *self;
        let count = elements.len() / size;
        assert!(elements.len().is_multiple_of(size) && count <= total - self.done);
        let at = InRows { total, first: self.done };
        let by_vectors = shuffle_vectors(elements, size, at, self.out);
        let left = InRows { first: at.first + by_vectors, ..at };
        shuffle::shuffle_portable(&elements[by_vectors * size..], size, left, self.out);
        self.done += count;
    }

    /// The place, every byte of it written; `None` where elements are missing.
    pub(super) fn finish(self) -> Option<&'o mut [u8]> {
        // SAFETY: of all elements that were added, the kernel has written the bytes of some, the
        // portable way those of all others; together they are as many as there are places.
        (self.done == self.total).then(|| unsafe { assume_written(self.out) })
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn shuffle_vectors(_: &[u8], _: usize, _: InRows, _: &mut [MaybeUninit<u8>]) -> usize {
    0
}

/// Shuffles as many elements as fill registers, where there is a kernel for their size.
#[cfg(target_arch = "x86_64")]
fn shuffle_vectors(elements: &[u8], size: usize, at: InRows, out: &mut [MaybeUninit<u8>]) -> usize {
    let wide = elements.len() / size >= 32 && is_x86_feature_detected!("avx2");
    // SAFETY: `Rows` has checked that these are whole elements, with a place for each; the AVX2
    // kernels are called only where the processor has AVX2, and SSE2 is part of x86-64.
    unsafe {
        match (size, wide) {
            (2, true) => x86::shuffle_avx2::<2>(elements, at, out),
            (4, true) => x86::shuffle_avx2::<4>(elements, at, out),
            (8, true) => x86::shuffle_avx2::<8>(elements, at, out),
            (16, true) => x86::shuffle_avx2::<16>(elements, at, out),
            (2, false) => x86::shuffle_sse2::<2>(elements, at, out),
            (4, false) => x86::shuffle_sse2::<4>(elements, at, out),
            (8, false) => x86::shuffle_sse2::<8>(elements, at, out),
            (16, false) => x86::shuffle_sse2::<16>(elements, at, out),
            _ => 0,
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn unshuffle_vectors(_: Run<'_>, _: &mut [MaybeUninit<u8>]) -> usize {
    0
}

/// Restores as many elements as fill registers, where there is a kernel for their size.
#[cfg(target_arch = "x86_64")]
fn unshuffle_vectors(run: Run<'_>, out: &mut [MaybeUninit<u8>]) -> usize {
    let wide = run.count >= 32 && is_x86_feature_detected!("avx2");
    // SAFETY: `unshuffle` has checked that all rows of the run and all places are within the slices;
    // the AVX2 kernels are called only where the processor has AVX2, and SSE2 is part of x86-64.
    unsafe {
        match (run.element_size, wide) {
            (2, true) => x86::unshuffle_avx2::<2>(run, out),
            (4, true) => x86::unshuffle_avx2::<4>(run, out),
            (8, true) => x86::unshuffle_avx2::<8>(run, out),
            (16, true) => x86::unshuffle_avx2::<16>(run, out),
            (2, false) => x86::unshuffle_sse2::<2>(run, out),
            (4, false) => x86::unshuffle_sse2::<4>(run, out),
            (8, false) => x86::unshuffle_sse2::<8>(run, out),
            (16, false) => x86::unshuffle_sse2::<16>(run, out),
            _ => 0,
        }
    }
}

/// Transposes each run of 8 bytes as a matrix of 8 by 8 bits; a rest shorter than 8 stays.
pub(super) fn transpose_bits(bytes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; the function is the portable one, compiled for it.
        unsafe { x86::transpose_bits_avx2(bytes) };
        return;
    }
    transpose_bits_portable(bytes);
}

/// Swaps blocks of 1, 2, then 4 bits across the diagonal; bit 0 is each row's first.
#[inline(always)]
fn transpose_bits_portable(bytes: &mut [u8]) {
    for group in bytes.as_chunks_mut::<8>().0 {
        let mut bits = u64::from_le_bytes(*group);
        let swap = (bits ^ (bits >> 7)) & 0x00AA_00AA_00AA_00AA;
        bits ^= swap ^ (swap << 7);
        let swap = (bits ^ (bits >> 14)) & 0x0000_CCCC_0000_CCCC;
        bits ^= swap ^ (swap << 14);
        let swap = (bits ^ (bits >> 28)) & 0x0000_0000_F0F0_F0F0;
        bits ^= swap ^ (swap << 28);
        *group = bits.to_le_bytes();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::{InRows, Run};

    /// From this size on, memory is written past the caches: they have no room for what a thread
    /// reads and what it writes, and would first read all that is then overwritten.
    const PAST_CACHES_FROM: usize = 4 << 20;

    /// See the room's contract; `N` is the element size, a power of two.
    pub(super) unsafe fn unshuffle_sse2<const N: usize>(
        run: Run<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        let rows = run.input.as_ptr().wrapping_add(run.first);
        let places = out.as_mut_ptr().cast::<u8>();
        let mut done = 0;
        while run.count - done >= 16 {
            // SAFETY: 16 elements are left: 16 bytes in each row, `16 * N` bytes in `out`.
            unsafe {
                let mut vectors = [_mm_setzero_si128(); N];
                for (row, vector) in vectors.iter_mut().enumerate() {
                    *vector = _mm_loadu_si128(rows.add(row * run.total + done).cast());
                }
                for _ in 0..N.trailing_zeros() {
                    let from = vectors;
                    for pair in 0..N / 2 {
                        let (a, b) = (from[pair], from[pair + N / 2]);
                        vectors[2 * pair] = _mm_unpacklo_epi8(a, b);
                        vectors[2 * pair + 1] = _mm_unpackhi_epi8(a, b);
                    }
                }
                for (index, vector) in vectors.into_iter().enumerate() {
                    _mm_storeu_si128(places.add(done * N + index * 16).cast(), vector);
                }
            }
            done += 16;
        }
        done
    }

    /// As `unshuffle_sse2`, with wider registers.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn unshuffle_avx2<const N: usize>(
        run: Run<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        // SAFETY: the caller keeps the same contract.
        unsafe {
            if out.len() < PAST_CACHES_FROM {
                unshuffle_halves::<N, false>(run, out)
            } else {
                unshuffle_halves::<N, true>(run, out)
            }
        }
    }

    /// As `unshuffle_sse2` in each half of the registers, which then change places. `PAST_CACHES`
    /// goes for memory at a multiple of 16, as allocators give it.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn unshuffle_halves<const N: usize, const PAST_CACHES: bool>(
        run: Run<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        let rows = run.input.as_ptr().wrapping_add(run.first);
        let places = out.as_mut_ptr().cast::<u8>();
        let past_caches = PAST_CACHES && places.addr().is_multiple_of(16);
        let mut done = 0;
        while run.count - done >= 32 {
            // SAFETY: 32 elements are left: 32 bytes in each row, `32 * N` bytes in `out`.
            unsafe {
                let mut vectors = [_mm256_setzero_si256(); N];
                for (row, vector) in vectors.iter_mut().enumerate() {
                    *vector = _mm256_loadu_si256(rows.add(row * run.total + done).cast());
                }
                for _ in 0..N.trailing_zeros() {
                    let from = vectors;
                    for pair in 0..N / 2 {
                        let (a, b) = (from[pair], from[pair + N / 2]);
                        vectors[2 * pair] = _mm256_unpacklo_epi8(a, b);
                        vectors[2 * pair + 1] = _mm256_unpackhi_epi8(a, b);
                    }
                }
                let low = places.add(done * N);
                let high = low.add(16 * N);
                for pair in 0..N / 2 {
                    let (a, b) = (vectors[2 * pair], vectors[2 * pair + 1]);
                    let lows = _mm256_permute2x128_si256::<0x20>(a, b);
                    let highs = _mm256_permute2x128_si256::<0x31>(a, b);
                    for (half, bytes) in [(low, lows), (high, highs)] {
                        let place = half.add(32 * pair).cast::<__m128i>();
                        if past_caches {
                            _mm_stream_si128(place, _mm256_castsi256_si128(bytes));
                            _mm_stream_si128(place.add(1), _mm256_extracti128_si256::<1>(bytes));
                        } else {
                            _mm256_storeu_si256(place.cast(), bytes);
                        }
                    }
                }
            }
            done += 32;
        }
        if past_caches {
            // Such stores wait for nobody: another thread may be told of the memory before they are done.
            _mm_sfence();
        }
        done
    }

    /// See the room's contract; `N` is the element size, a power of two.
    pub(super) unsafe fn shuffle_sse2<const N: usize>(
        elements: &[u8],
        InRows { total, first }: InRows,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        let count = elements.len() / N;
        let places = out.as_mut_ptr().cast::<u8>();
        let mut done = 0;
        while count - done >= 16 {
            // SAFETY: 16 elements are left: `16 * N` bytes, and 16 places in each row.
            unsafe {
                let from = elements.as_ptr().add(done * N);
                let mut vectors = [_mm_setzero_si128(); N];
                for (index, vector) in vectors.iter_mut().enumerate() {
                    *vector = _mm_loadu_si128(from.add(index * 16).cast());
                }
                for _ in 0..16_usize.trailing_zeros() {
                    let from = vectors;
                    for pair in 0..N / 2 {
                        let (a, b) = (from[pair], from[pair + N / 2]);
                        vectors[2 * pair] = _mm_unpacklo_epi8(a, b);
                        vectors[2 * pair + 1] = _mm_unpackhi_epi8(a, b);
                    }
                }
                for (row, vector) in vectors.into_iter().enumerate() {
                    _mm_storeu_si128(places.add(row * total + first + done).cast(), vector);
                }
            }
            done += 16;
        }
        done
    }

    /// As `shuffle_sse2`, with 16 elements in the lower halves of the registers and the 16 that
    /// follow in the upper ones.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn shuffle_avx2<const N: usize>(
        elements: &[u8],
        InRows { total, first }: InRows,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        let count = elements.len() / N;
        let places = out.as_mut_ptr().cast::<u8>();
        let mut done = 0;
        while count - done >= 32 {
            // SAFETY: 32 elements are left: `32 * N` bytes, and 32 places in each row.
            unsafe {
                let from = elements.as_ptr().add(done * N);
                let mut vectors = [_mm256_setzero_si256(); N];
                for (index, vector) in vectors.iter_mut().enumerate() {
                    let low = from.add(index * 16);
                    *vector = _mm256_loadu2_m128i(low.add(16 * N).cast(), low.cast());
                }
                for _ in 0..16_usize.trailing_zeros() {
                    let from = vectors;
                    for pair in 0..N / 2 {
                        let (a, b) = (from[pair], from[pair + N / 2]);
                        vectors[2 * pair] = _mm256_unpacklo_epi8(a, b);
                        vectors[2 * pair + 1] = _mm256_unpackhi_epi8(a, b);
                    }
                }
                for (row, vector) in vectors.into_iter().enumerate() {
                    _mm256_storeu_si256(places.add(row * total + first + done).cast(), vector);
                }
            }
            done += 32;
        }
        done
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn transpose_bits_avx2(bytes: &mut [u8]) {
        super::transpose_bits_portable(bytes);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// What was zeros before kernels wrote to it.
    fn zeroed(place: &mut [MaybeUninit<u8>]) -> &[u8] {
        // SAFETY: every byte was a zero to begin with.
        unsafe { assume_written(place) }
    }

    /// Every kernel, at every length about its register's, against the oracle.
    macro_rules! kernel_agrees {
        ($name:ident, $kernel:path, $size:literal, $width:literal) => {
            #[test]
            fn $name() {
                if $width == 32 && !is_x86_feature_detected!("avx2") {
                    println!("left out: this processor has no AVX2");
                    return;
                }
                let total = 150;
                let input: Vec<u8> = (0..total * $size).map(|i| ((i * 167) >> 3) as u8).collect();
                for count in 0..=100 {
                    for first in [0, 1, 13, 50] {
                        let run = Run { input: &input, element_size: $size, total, first, count };
                        let mut expected = vec![MaybeUninit::new(0); count * $size];
                        shuffle::unshuffle_bytes(run, &mut expected);
                        let mut out = vec![MaybeUninit::new(0); count * $size];
                        // SAFETY: the run is within the input and fills `out`; the processor has
                        // the instructions.
                        let done = unsafe { $kernel(run, &mut out) };
                        assert_eq!(done, count / $width * $width);
                        let (out, expected) = (zeroed(&mut out), zeroed(&mut expected));
                        assert_eq!(out[..done * $size], expected[..done * $size]);
                        assert!(out[done * $size..].iter().all(|&byte| byte == 0));
                    }
                }
            }
        };
    }

    /// Called as the kernels are.
    unsafe fn portable(run: Run<'_>, out: &mut [MaybeUninit<u8>]) -> usize {
        shuffle::unshuffle_portable(run, out);
        run.count
    }

    kernel_agrees!(portable_of_2, portable, 2, 1);
    kernel_agrees!(portable_of_3, portable, 3, 1);
    kernel_agrees!(portable_of_4, portable, 4, 1);
    kernel_agrees!(portable_of_8, portable, 8, 1);
    kernel_agrees!(sse2_of_2, x86::unshuffle_sse2::<2>, 2, 16);
    kernel_agrees!(sse2_of_4, x86::unshuffle_sse2::<4>, 4, 16);
    kernel_agrees!(sse2_of_8, x86::unshuffle_sse2::<8>, 8, 16);
    kernel_agrees!(sse2_of_16, x86::unshuffle_sse2::<16>, 16, 16);
    kernel_agrees!(avx2_of_2, x86::unshuffle_avx2::<2>, 2, 32);
    kernel_agrees!(avx2_of_4, x86::unshuffle_avx2::<4>, 4, 32);
    kernel_agrees!(avx2_of_8, x86::unshuffle_avx2::<8>, 8, 32);
    kernel_agrees!(avx2_of_16, x86::unshuffle_avx2::<16>, 16, 32);
    kernel_agrees!(past_caches_of_2, x86::unshuffle_halves::<2, true>, 2, 32);
    kernel_agrees!(past_caches_of_4, x86::unshuffle_halves::<4, true>, 4, 32);
    kernel_agrees!(past_caches_of_8, x86::unshuffle_halves::<8, true>, 8, 32);
    kernel_agrees!(past_caches_of_16, x86::unshuffle_halves::<16, true>, 16, 32);

    /// Every kernel, at every count about its register's and with some places before and behind them,
    /// against the oracle.
    macro_rules! shuffle_kernel_agrees {
        ($name:ident, $kernel:path, $size:literal, $width:literal) => {
            #[test]
            fn $name() {
                if $width == 32 && !is_x86_feature_detected!("avx2") {
                    println!("left out: this processor has no AVX2");
                    return;
                }
                let input: Vec<u8> = (0..150 * $size).map(|i| ((i * 167) >> 3) as u8 | 1).collect();
                for (count, first) in (0..=100).flat_map(|count| [(count, 0), (count, 7)]) {
                    let total = first + count + 5;
                    let at = InRows { total, first };
                    let elements = &input[..count * $size];
                    let mut expected = vec![MaybeUninit::new(0); total * $size];
                    shuffle::shuffle_bytes(elements, $size, at, &mut expected);
                    let mut out = vec![MaybeUninit::new(0); total * $size];
                    // SAFETY: whole elements with a place for each; the processor has the
                    // instructions.
                    let done = unsafe { $kernel(elements, at, &mut out) };
                    assert_eq!(done, count / $width * $width);
                    let (out, expected) = (zeroed(&mut out), zeroed(&mut expected));
                    for (row, expected) in out.chunks(total).zip(expected.chunks(total)) {
                        assert_eq!(row[..first + done], expected[..first + done]);
                        assert!(row[first + done..].iter().all(|&byte| byte == 0));
                    }
                }
            }
        };
    }

    /// Called as the kernels are.
    unsafe fn shuffle_portable<const N: usize>(
        elements: &[u8],
        at: InRows,
        out: &mut [MaybeUninit<u8>],
    ) -> usize {
        shuffle::shuffle_portable(elements, N, at, out);
        elements.len() / N
    }

    shuffle_kernel_agrees!(shuffle_portable_of_2, shuffle_portable::<2>, 2, 1);
    shuffle_kernel_agrees!(shuffle_portable_of_4, shuffle_portable::<4>, 4, 1);
    shuffle_kernel_agrees!(shuffle_portable_of_8, shuffle_portable::<8>, 8, 1);
    shuffle_kernel_agrees!(shuffle_sse2_of_2, x86::shuffle_sse2::<2>, 2, 16);
    shuffle_kernel_agrees!(shuffle_sse2_of_4, x86::shuffle_sse2::<4>, 4, 16);
    shuffle_kernel_agrees!(shuffle_sse2_of_8, x86::shuffle_sse2::<8>, 8, 16);
    shuffle_kernel_agrees!(shuffle_sse2_of_16, x86::shuffle_sse2::<16>, 16, 16);
    shuffle_kernel_agrees!(shuffle_avx2_of_2, x86::shuffle_avx2::<2>, 2, 32);
    shuffle_kernel_agrees!(shuffle_avx2_of_4, x86::shuffle_avx2::<4>, 4, 32);
    shuffle_kernel_agrees!(shuffle_avx2_of_8, x86::shuffle_avx2::<8>, 8, 32);
    shuffle_kernel_agrees!(shuffle_avx2_of_16, x86::shuffle_avx2::<16>, 16, 32);

    #[test]
    fn transposed_bits_change_row_and_column() {
        let bytes: Vec<u8> = (0..83).map(|i| ((i * i * 31) >> 2) as u8).collect();
        let mut transposed = bytes.clone();
        transpose_bits(&mut transposed);
        for (group, from) in transposed.chunks_exact(8).zip(bytes.chunks_exact(8)) {
            for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
                assert_eq!(group[row] >> column & 1, from[column] >> row & 1);
            }
        }
        assert_eq!(transposed[80..], bytes[80..]);
        transpose_bits_portable(&mut transposed);
        assert_eq!(transposed, bytes);
    }
}
