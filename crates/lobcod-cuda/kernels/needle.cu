// The LASSO of one needle, solved by one warp. Lane l owns atoms l, l + 32, ...; their
// correlations, codes and thresholds stay in its registers. Greedy coordinate descent: of all codes
// the one that has farthest to go (in shares of its threshold) moves.

#define MOST_STEPS 600
// The key of a code holds the upper bits of its way to go and, below, its atom.
#define ATOM_BITS (M <= 128 ? 7 : M <= 1024 ? 10 : 16)
#define ATOM_MASK ((1u << ATOM_BITS) - 1u)
// Masked Gram columns a needle remembers: about as many as dense codes ask for. At most 32, one for
// every lane to know of.
#define KEPT_COLUMNS (MPL <= 4 ? 24 : 12)

struct Needle {
    float c[MPL];  // correlations at the present codes
    float code[MPL];
    float threshold[MPL];  // infinite: the code is zero
    float inverse[MPL];    // 1 / threshold; negative: the code stays as it is
    float curvature[MPL];  // 0: not known yet
};

// Correlations of all atoms with the N samples at `patch` (in fours, padded by zeros).
__device__ __forceinline__ void correlate(
    const float4* columns, const float* patch, float (&c)[MPL], int lane) {
    // Two chains an atom.
    float even[MPL];
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) c[j] = even[j] = 0.0f;
#pragma unroll 2
    for (int i = 0; i < N4; i++) {
        const float4 x = reinterpret_cast<const float4*>(patch)[i];
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            const float4 d = columns[i * CS + j * 32 + lane];
            even[j] = fmaf(d.x, x.x, even[j]);
            c[j] = fmaf(d.y, x.y, c[j]);
            even[j] = fmaf(d.z, x.z, even[j]);
            c[j] = fmaf(d.w, x.w, c[j]);
        }
    }
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) c[j] += even[j];
}

// Sample p of an atom, from the columns.
__device__ __forceinline__ float sample_of(const float4* columns, int atom, int p) {
    return reinterpret_cast<const float*>(columns)[((p / 4) * CS + atom) * 4 + p % 4];
}

// Gives columns of the Gram matrix: the stored one, or that of the weights of a patch, computed
// when first requested.
struct Columns {
    const float4* columns;
    const float* gram;
    const float* weights;  // at the patch; null: all are 1
    const int* patch;
    float* buffer;
    int lane;
#if CLIPPED
    int made;
    int held;  // the atom whose column is kept at the place that is this lane's number; -1: none
    float kept[KEPT_COLUMNS][MPL];
#endif

    __device__ __forceinline__ void get(int atom, float (&column)[MPL]) {
#if CLIPPED
        if (weights) {
            const u32 found = __ballot_sync(FULL, held == atom);
            if (found) {
                UNROLL_ATOMS
                for (int j = 0; j < MPL; j++) column[j] = kept[__ffs(found) - 1][j];
                return;
            }
            __syncwarp();
            for (int p = lane; p < N; p += 32)
                buffer[p] = weights[patch[p]] * sample_of(columns, atom, p);
            __syncwarp();
            correlate(columns, buffer, column, lane);
            const int i = made < KEPT_COLUMNS ? made : KEPT_COLUMNS - 1;
            if (lane == i) held = atom;
            UNROLL_ATOMS
            for (int j = 0; j < MPL; j++) kept[i][j] = column[j];
            made = i + 1;
            return;
        }
#endif
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) column[j] = gram[(i64)atom * MS + j * 32 + lane];
    }
};

// Gives code `atom` another value and keeps the correlations right; `value` counts on the lane that
// owns it. False if it stays.
__device__ __forceinline__ bool move_code(
    Needle& needle, int atom, float delta, const float (&column)[MPL], int lane) {
    delta = __shfl_sync(FULL, delta, atom & 31);
    if (delta == 0.0f) return false;
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        needle.c[j] = fmaf(-delta, column[j], needle.c[j]);
        if (j * 32 + lane == atom) needle.code[j] += delta;
    }
    return true;
}

// Steps until no code has more than `tolerance` of its threshold to go.
__device__ __forceinline__ void descend(
    Needle& needle, Columns& columns, float tolerance, int nonnegative, int lane) {
    for (int step = 0; step < MOST_STEPS; step++) {
        u32 best = 0;
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            const float old = needle.curvature[j] * needle.code[j];
            const float way =
                fabsf(shrink(needle.c[j] + old, needle.threshold[j], nonnegative) - old) *
                needle.inverse[j];
            const u32 key = (__float_as_uint(way) & ~ATOM_MASK) | (u32)(j * 32 + lane);
            if (way > tolerance) best = max(best, key);
        }
        best = warp_max_u32(best);
        if (best == 0) return;
        const int atom = best & ATOM_MASK;
        float column[MPL];
        columns.get(atom, column);
        float delta = 0.0f;
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            if (j * 32 + lane == atom) {
                const float q = needle.curvature[j] = column[j];
                // An atom that the mask hides wholly does nothing for the patch: its code is zero.
                const float value = q > 0.0f ? shrink(
                                                   needle.c[j] + q * needle.code[j],
                                                   needle.threshold[j], nonnegative) *
                                                   __frcp_rn(q)
                                             : 0.0f;
                delta = value - needle.code[j];
                // Its way may be nothing but rounding: then it is left alone.
                if (delta == 0.0f) needle.inverse[j] = -fabsf(needle.inverse[j]);
            }
        }
        move_code(needle, atom, delta, column, lane);
    }
}

#if CAPPED
// Keeps the `cap` codes of largest gain and solves again on them; takes the old codes back if the
// objective would rise.
__device__ __noinline__ void obey_cap(
    Needle& needle, const float (&before)[MPL], const float (&c_before)[MPL],
    const float (&threshold)[MPL], Columns& columns, u32 cap, float tolerance, int nonnegative,
    int lane) {
    u32 nonzeros = 0, allowed = 0;
    bool negative = false;
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        nonzeros += __popc(__ballot_sync(FULL, needle.code[j] != 0.0f));
        allowed += __popc(__ballot_sync(FULL, before[j] != 0.0f));
        negative |= __any_sync(FULL, before[j] < 0.0f);
    }
    if (nonzeros <= cap) return;
    bool kept[MPL];
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) kept[j] = false;
    for (u32 i = 0; i < cap; i++) {
        u32 best = 0;
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            // The root of the gain, which is in order where squares are too small for a number.
            const float gain = sqrtf(needle.curvature[j]) * fabsf(needle.code[j]);
            const u32 key =
                (__float_as_uint(gain) & ~ATOM_MASK) | (ATOM_MASK - (u32)(j * 32 + lane));
            if (needle.code[j] != 0.0f && !kept[j]) best = max(best, key);
        }
        const u32 atom = ATOM_MASK - (warp_max_u32(best) & ATOM_MASK);
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) kept[j] |= j * 32 + lane == (int)atom;
    }
    for (int atom = 0; atom < M; atom++) {
        float delta = 0.0f;
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            if (j * 32 + lane == atom) {
                needle.threshold[j] = kept[j] ? threshold[j] : INFINITE;
                delta = kept[j] ? 0.0f : -needle.code[j];
            }
        }
        if (__shfl_sync(FULL, delta, atom & 31) != 0.0f) {
            float column[MPL];
            columns.get(atom, column);
            move_code(needle, atom, delta, column, lane);
        }
    }
    descend(needle, columns, tolerance, nonnegative, lane);
    double change = 0.0;
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        const double delta = (double)needle.code[j] - (double)before[j];
        if (needle.code[j] != 0.0f || before[j] != 0.0f) {
            change +=
                (double)threshold[j] * (fabs((double)needle.code[j]) - fabs((double)before[j])) -
                delta * 0.5 * ((double)c_before[j] + (double)needle.c[j]);
        }
    }
    change = warp_sum(change);
    if (allowed <= cap && !(nonnegative && negative) && change > 0.0) {
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) needle.code[j] = before[j];
    }
}
#endif
