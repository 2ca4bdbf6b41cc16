// Coordinate descent over the non-zero codes of the tiles of one colour, and the synthesis of residuals. LPC lanes share a code, so a
// warp updates several needles of a layer at once.

#define NEEDLES_AT_ONCE (SUPPORT_WARPS * (32 / LPC))

// A tile's codes where they are worked on.
struct Desk {
    float* residual;
    float* weights;
    Code* codes;
    u32* start;  // first code of every needle, and the end
};

// How the lanes of a group own the samples of a patch.
struct Lanes {
    int group;  // among all groups of the tile
    int lane;   // in the group
#if NPL <= 16
    int offset[NPL];
#endif
    __device__ __forceinline__ Lanes(int thread) : group(thread / LPC), lane(thread % LPC) {
#if NPL <= 16
        for (int j = 0; j < NPL; j++) offset[j] = lane + j * LPC < N ? patch_offset(lane + j * LPC) : 0;
#endif
    }
    __device__ __forceinline__ int at(int j) const {
#if NPL <= 16
        return offset[j];
#else
        return lane + j * LPC < N ? patch_offset(lane + j * LPC) : 0;
#endif
    }
    __device__ __forceinline__ bool owns(int j) const { return N % LPC == 0 || lane + j * LPC < N; }
};

__device__ __forceinline__ float part(const float4& four, int i) { return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w; }

// Adds `by` times an atom to the patch at `offset`.
__device__ __forceinline__ void add_atom(
    const Desk& desk, const Lanes& lanes, const float4 (&atom)[NPL4], int offset, bool cut, float by) {
    UNROLL_SAMPLES
    for (int j = 0; j < NPL; j++) {
        if (lanes.owns(j)) {
            const int at = offset + lanes.at(j);
            const float x = by * part(atom[j / 4], j % 4);
            desk.residual[at] += CUT && cut ? x * desk.weights[at] : x;
        }
    }
}

// First code of every needle of the tile, from the codes in order.
__device__ __forceinline__ void find_starts(const Code* codes, int count, u32* start, int needles, int thread, int threads) {
    for (int i = thread; i <= count; i += threads) {
        const u32 from = i == 0 ? 0 : codes[i - 1].needle + 1, to = i == count ? (u32)needles : codes[i].needle;
        for (u32 q = from; q <= to; q++) start[q] = i;
    }
}

// Calls f(number of the code or -1, may be repeated) for the codes of a tile, layer after layer; codes of different needles of a
// layer at once, each by one group of lanes. All lanes of a warp call it together.
template <typename F>
__device__ __forceinline__ void each_code(
    const World& w, const Shape& shape, const Desk& desk, const Lanes& lanes, int tile_group, F f) {
    const int* layers = w.layers + shape.layers_at;
    int first = layers[0];
    u32 from = desk.start[first];
    for (int l = 0; l < shape.layer_count; l++) {
        const int last = layers[l + 1];
        const u32 to = desk.start[last];
        if (from != to) {
            const int each = (last - first + NEEDLES_AT_ONCE - 1) / NEEDLES_AT_ONCE;
            u32 i = desk.start[min(first + lanes.group * each, last)];
            const u32 end = desk.start[min(first + (lanes.group + 1) * each, last)];
            while (__any_sync(FULL, i < end)) {
                f(i < end ? (int)i : -1);
                i++;
            }
            group_sync<SUPPORT_WARPS>(tile_group);
        }
        first = last;
        from = to;
    }
}

__device__ __forceinline__ Desk desk_of(const World& w, int t, char* chip, int on_chip, int count, const Shape& shape, Code* codes) {
    Desk desk;
    float* base = SHARED ? reinterpret_cast<float*>(chip) : w.scratch + (i64)t * w.scratch_size;
    desk.codes = SHARED && count <= on_chip ? reinterpret_cast<Code*>(base) : codes;
    if (SHARED) base += on_chip * 4;
    desk.residual = base;
    desk.weights = base + FIELD;
    desk.start = reinterpret_cast<u32*>(base + FIELD * (w.weighted ? 2 : 1));
    return desk;
}

__device__ __forceinline__ void load_atom(const float4* rows, int atom, int lane, float4 (&into)[NPL4]) {
    UNROLL_SAMPLES
    for (int j = 0; j < NPL4; j++) into[j] = __ldg(rows + (atom * NPL4 + j) * LPC + lane);
}

// One round over the codes, layer after layer, whatever the tile: gives the largest change of this thread's codes.
__device__ __forceinline__ float plain_round(
    const World& w, const Plane& plane, const Tile& tile, const Shape& shape, const Desk& desk, const Lanes& lanes, float penalty, int group) {
    const u32* needles = w.needles + shape.needles_at;
    float largest = 0.0f;
    each_code(w, shape, desk, lanes, group, [&](int i) {
        const bool active = i >= 0;
        const Code code = desk.codes[active ? i : 0];
        const int atom = code.atom & ~CUT_BIT, offset = needles[code.needle];
        const bool cut = code.atom & CUT_BIT;
        float4 samples[NPL4];
        load_atom(w.packed_rows, atom, lanes.lane, samples);
        float c = 0.0f;
        UNROLL_SAMPLES
        for (int j = 0; j < NPL; j++) c = fmaf(part(samples[j / 4], j % 4), desk.residual[offset + lanes.at(j)], c);
        for (int s = LPC / 2; s; s >>= 1) c += __shfl_xor_sync(FULL, c, s);
        float scale = penalty;
        if (w.position_weights) scale *= w.position_weights[position_at(plane, tile, offset)];
        const float threshold = w.atom_weights[atom] * scale, q = code.curvature;
        // An atom that the mask hides wholly does nothing for the patch: its code is zero.
        const float value = q > 0.0f ? shrink(c + q * code.value, threshold, w.nonnegative) / q : 0.0f;
        const float back = code.value - value;
        if (active && back != 0.0f) {
            if (lanes.lane == 0) desk.codes[i].value = value;
            add_atom(desk, lanes, samples, offset, cut, back);
            largest = fmaxf(largest, fabsf(back) * q / threshold);
            if (plane.wraps_any) {
                __syncwarp(__activemask());
                repeat_wrapped(plane, tile, offset, desk.residual, lanes.lane, LPC);
            }
        }
    });
    return largest;
}

#if NPL <= 16 && SUPPORT_WARPS == 1
#define GROUPS (32 / LPC)
#define NOTHING 0xffffu

// Which code every group of lanes has in every step: needles of a layer side by side, the codes of a needle one after the other.
// Gives the number of steps.
__device__ __forceinline__ int list_steps(const World& w, const Shape& shape, const u32* start, unsigned short* steps, int lane) {
    const int* layers = w.layers + shape.layers_at;
    int done = 0;
    for (int from = 0; from < shape.layer_count; from += 32) {
        const int l = from + lane;
        const bool any = l < shape.layer_count;
        const int first = any ? layers[l] : 0, last = any ? layers[l + 1] : 0, each = (last - first + GROUPS - 1) / GROUPS;
        int longest = 0;
        for (int g = 0; g < GROUPS; g++) {
            longest = max(longest, (int)start[min(first + (g + 1) * each, last)] - (int)start[min(first + g * each, last)]);
        }
        int sum = longest;
        for (int s = 1; s < 32; s <<= 1) {
            const int other = __shfl_up_sync(FULL, sum, s);
            if (lane >= s) sum += other;
        }
        const int at = done + sum - longest;
        for (int g = 0; g < GROUPS; g++) {
            const u32 begin = start[min(first + g * each, last)], end = start[min(first + (g + 1) * each, last)];
            for (int j = 0; j < longest; j++) steps[(at + j) * GROUPS + g] = begin + j < end ? begin + j : NOTHING;
        }
        done += __shfl_sync(FULL, sum, 31);
    }
    return done;
}

// What stands at a step for a group of lanes: number of a code, or NOTHING behind the last step too.
__device__ __forceinline__ u32 code_at(const unsigned short* steps, int count, int s, int group) {
    return s < count ? steps[s * GROUPS + group] : NOTHING;
}

__device__ __forceinline__ float approximate_inverse(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Brings all atoms near: a load for every line of memory.
__device__ __forceinline__ void warm_atoms(const float4* rows, int lane) {
    if (M * NPL4 * LPC * 16 > 48 * 1024) return;
    for (int i = lane * 8; i < M * NPL4 * LPC; i += 32 * 8) {
        asm volatile("{ .reg .f32 unused; ld.global.nc.f32 unused, [%0]; }" ::"l"(rows + i));
    }
}

// The same round by one warp whose codes lie on chip, their needles replaced by offsets. While a step is worked on, the atoms of the
// next one are on their way, the code of the one after, and the number of the one after that.
__device__ __forceinline__ float piped_round(
    const World& w, const Desk& desk, Code* codes, const Lanes& lanes, const unsigned short* steps, int count, float penalty) {
    float largest = 0.0f;
    u32 number = code_at(steps, count, 0, lanes.group), next_number = code_at(steps, count, 1, lanes.group);
    u32 third_number = code_at(steps, count, 2, lanes.group);
    Code code = codes[number == NOTHING ? 0 : number], next = codes[next_number == NOTHING ? 0 : next_number];
    float4 atom[NPL4], coming[NPL4];
    load_atom(w.packed_rows, code.atom & ~CUT_BIT, lanes.lane, atom);
#pragma unroll 2
    for (int s = 0; s < count; s++) {
        load_atom(w.packed_rows, next.atom & ~CUT_BIT, lanes.lane, coming);
        const Code third = codes[third_number == NOTHING ? 0 : third_number];
        const u32 fourth_number = code_at(steps, count, s + 3, lanes.group);
#if UNIT_WEIGHTS
        const float threshold = penalty;
#else
        const float threshold = penalty * __ldg(w.atom_weights + (code.atom & ~CUT_BIT));
#endif
        float samples[NPL], c = 0.0f, d = 0.0f;
#pragma unroll
        for (int j = 0; j < NPL; j++) samples[j] = desk.residual[(int)code.needle + lanes.at(j)];
#pragma unroll
        for (int j = 0; j < NPL; j += 2) {
            c = fmaf(part(atom[j / 4], j % 4), samples[j], c);
            if (j + 1 < NPL) d = fmaf(part(atom[(j + 1) / 4], (j + 1) % 4), samples[j + 1 < NPL ? j + 1 : j], d);
        }
        c += d;
#pragma unroll
        for (int s = LPC / 2; s; s >>= 1) c += __shfl_xor_sync(FULL, c, s);
        // An atom that the mask hides wholly does nothing for the patch: its code is zero.
        const float q = code.curvature, over_q = q > 0.0f ? approximate_inverse(q) : 0.0f;
        const float value = shrink(fmaf(q, code.value, c), threshold, w.nonnegative) * over_q;
        const float back = code.value - value;
        if (number != NOTHING && back != 0.0f) {
#pragma unroll
            for (int j = 0; j < NPL; j++) {
                if (lanes.owns(j)) {
                    const int at = (int)code.needle + lanes.at(j);
                    float x = part(atom[j / 4], j % 4);
                    if (CUT && (code.atom & CUT_BIT)) x *= desk.weights[at];
                    desk.residual[at] = fmaf(back, x, samples[j]);
                }
            }
            if (lanes.lane == 0) codes[number].value = value;
#if UNIT_WEIGHTS
            largest = fmaxf(largest, fabsf(back) * q);
#else
            largest = fmaxf(largest, fabsf(back) * q * __ldg(w.inverse_weights + (code.atom & ~CUT_BIT)));
#endif
        }
        __syncwarp();
        number = next_number;
        next_number = third_number;
        third_number = fourth_number;
        code = next;
        next = third;
#pragma unroll
        for (int j = 0; j < NPL4; j++) atom[j] = coming[j];
    }
    return largest / penalty;
}

// Takes all codes off the residual, step by step.
__device__ __forceinline__ void piped_synthesis(
    const World& w, const Desk& desk, const Code* codes, const u32* needles, const Lanes& lanes, const unsigned short* steps, int count,
    const float4* rows, bool weighted) {
    for (int s = 0; s < count; s++) {
        const u32 number = code_at(steps, count, s, lanes.group);
        if (number != NOTHING) {
            const Code code = codes[number];
            float4 atom[NPL4];
            load_atom(rows, code.atom & ~CUT_BIT, lanes.lane, atom);
            add_atom(desk, lanes, atom, needles[code.needle], weighted, -code.value);
        }
        __syncwarp();
    }
}
#define PIPED 1
#else
#define PIPED 0
#endif

extern "C" __global__ void __launch_bounds__(512, 1) support(
    World w, const int* list, int list_count, float penalty, int rounds, float tolerance, int group_bytes, int on_chip) {
    extern __shared__ float4 memory[];
    const int threads = SUPPORT_WARPS * 32;
    const int group = threadIdx.x / threads, thread = threadIdx.x % threads, lane = thread % 32, warp = thread / 32;
    const int index = blockIdx.x * (blockDim.x / threads) + group;
    if (index >= list_count) return;
    const int t = list[index];
    const int count = w.counts[t];
    if (count == 0) return;
    const Tile& tile = w.tiles[t];
    const double around = changes_around(w, tile, lane);
    if (!(w.own[t] + (around - w.seen[t]) >= (double)tolerance)) return;
    const Plane& plane = w.planes[tile.plane];
    const Shape& shape = w.shapes[tile.shape];
    char* chip = reinterpret_cast<char*>(memory) + (i64)group * group_bytes;
    float* shares = reinterpret_cast<float*>(chip);  // of the warps: largest changes
    Code* codes = codes_of(w, t, w.slot[t]);
    const Desk desk = desk_of(w, t, chip + 16 * ((SUPPORT_WARPS + 3) / 4), on_chip, count, shape, codes);
#if PIPED
    warm_atoms(w.packed_rows, lane);
#endif
    load_footprint(w, plane, tile, desk.residual, desk.weights, thread, threads);
    find_starts(codes, count, desk.start, shape.needle_count, thread, threads);
    const bool kept = desk.codes != codes;
#if PIPED
    const bool piped = kept && !w.position_weights && !plane.wraps_any;
    Code* chip_codes = reinterpret_cast<Code*>(chip + 16);
    const u32* needles = w.needles + shape.needles_at;
    unsigned short* steps = reinterpret_cast<unsigned short*>(desk.start + shape.needle_count + 1);
#else
    const bool piped = false;
#endif
    if (kept) {
        for (int i = thread; i < count; i += threads) {
            Code code = codes[i];
#if PIPED
            if (piped) code.needle = needles[code.needle];
#endif
            desk.codes[i] = code;
        }
    }
    group_sync<SUPPORT_WARPS>(group);
#if PIPED
    const int step_count = piped ? list_steps(w, shape, desk.start, steps, lane) : 0;
    __syncwarp();
#endif
    const Lanes lanes(thread);
    float largest = 0.0f, last = 0.0f;
    int visited = 0;
    for (int round = 0; round < rounds; round++) {
        float mine;
#if PIPED
        if (piped) mine = piped_round(w, desk, chip_codes, lanes, steps, step_count, penalty);
        else
#endif
            mine = plain_round(w, plane, tile, shape, desk, lanes, penalty, group);
        mine = warp_max(mine);
        if (SUPPORT_WARPS > 1) {
            group_sync<SUPPORT_WARPS>(group);
            if (lane == 0) shares[warp] = mine;
            group_sync<SUPPORT_WARPS>(group);
            for (int i = 0; i < SUPPORT_WARPS; i++) mine = fmaxf(mine, shares[i]);
        }
        visited += count;
        last = mine;
        largest = fmaxf(largest, mine);
        if (mine < tolerance) break;
    }
    group_sync<SUPPORT_WARPS>(group);
    if (largest > 0.0f) store_footprint(w, plane, tile, desk.residual, thread, threads);
    if (warp != 0) return;
    // Codes that became zero go.
    int left = 0;
    if (largest > 0.0f) {
        for (int from = 0; from < count; from += 32) {
            const int i = min(from + lane, count - 1);
            Code code = codes[i];
            code.value = desk.codes[i].value;
            const bool stays = from + lane < count && code.value != 0.0f;
            const u32 mask = __ballot_sync(FULL, stays);
            if (stays) codes[left + __popc(mask & ((1u << lane) - 1u))] = code;
            left += __popc(mask);
            __syncwarp();
        }
    } else {
        left = count;
    }
    if (lane == 0) {
        w.counts[t] = left;
        w.own[t] = (double)last;
        w.seen[t] = around;
        w.total[t] += (double)largest;
        atomicMax(w.mail + MAIL_CHANGE, (u64)__float_as_uint(largest));
        atomicAdd(w.mail + MAIL_VISITED, (u64)visited);
    }
}

// Takes what the codes make of the atoms in `rows` off the residuals of the tiles of one colour.
extern "C" __global__ void __launch_bounds__(512) synthesise(
    World w, const int* list, int list_count, const float4* rows, int group_bytes, int most_steps) {
    extern __shared__ float4 memory[];
    const int threads = SUPPORT_WARPS * 32;
    const int group = threadIdx.x / threads, thread = threadIdx.x % threads;
    const int index = blockIdx.x * (blockDim.x / threads) + group;
    if (index >= list_count) return;
    const int t = list[index];
    const int count = w.counts[t];
    if (count == 0) return;
    const Tile& tile = w.tiles[t];
    const Plane& plane = w.planes[tile.plane];
    const Shape& shape = w.shapes[tile.shape];
    Code* codes = codes_of(w, t, w.slot[t]);
    char* chip = reinterpret_cast<char*>(memory) + (i64)group * group_bytes;
    const Desk desk = desk_of(w, t, chip, 0, count, shape, codes);
    load_footprint(w, plane, tile, desk.residual, desk.weights, thread, threads);
    find_starts(codes, count, desk.start, shape.needle_count, thread, threads);
    group_sync<SUPPORT_WARPS>(group);
    const Lanes lanes(thread);
    const u32* needles = w.needles + shape.needles_at;
    const bool weighted = is_weighted(plane, tile);
#if PIPED
    if (count <= most_steps && !plane.wraps_any) {
        unsigned short* steps = reinterpret_cast<unsigned short*>(desk.start + shape.needle_count + 1);
        const int step_count = list_steps(w, shape, desk.start, steps, thread);
        __syncwarp();
        piped_synthesis(w, desk, codes, needles, lanes, steps, step_count, rows, weighted);
        store_footprint(w, plane, tile, desk.residual, thread, threads);
        return;
    }
#endif
    each_code(w, shape, desk, lanes, group, [&](int i) {
        if (i >= 0) {
            const Code code = codes[i];
            const int offset = needles[code.needle];
            float4 samples[NPL4];
            load_atom(rows, code.atom & ~CUT_BIT, lanes.lane, samples);
            add_atom(desk, lanes, samples, offset, weighted, -code.value);
            if (plane.wraps_any) {
                __syncwarp(__activemask());
                repeat_wrapped(plane, tile, offset, desk.residual, lanes.lane, LPC);
            }
        }
    });
    store_footprint(w, plane, tile, desk.residual, thread, threads);
}

// The residual of all-zero codes, or zero.
extern "C" __global__ void reset_residual(World w, i64 samples, int to_zero) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < samples; i += (i64)gridDim.x * blockDim.x) {
        w.residual[i] = to_zero ? 0.0f : w.weights ? w.target[i] * w.weights[i] : w.target[i];
    }
}
