// Coordinate descent over the non-zero codes of the tiles of one colour, and the synthesis of
// residuals. LPC lanes share a tile and take its codes one after the other, so a warp works on
// GROUPS tiles at once.

#define GROUPS (32 / LPC)

// The samples of a patch that a lane owns.
struct Lanes {
    int group;
    int lane;  // in the group
#if NPL <= 16
    int offset[NPL];
#endif
    __device__ __forceinline__ explicit Lanes(int lane_of_warp)
        : group(lane_of_warp / LPC), lane(lane_of_warp % LPC) {
#if NPL <= 16
#pragma unroll
        for (int j = 0; j < NPL; j++)
            offset[j] = lane + j * LPC < N ? patch_offset(lane + j * LPC) : 0;
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

__device__ __forceinline__ float part(const float4& four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

__device__ __forceinline__ void load_atom(
    const float4* rows, int atom, int lane, float4 (&into)[NPL4]) {
    UNROLL_SAMPLES
    for (int j = 0; j < NPL4; j++) into[j] = __ldg(rows + ((i64)atom * NPL4 + j) * LPC + lane);
}

// A tile where it is worked on.
struct SupportWorkspace {
    int tile;   // -1: there is nothing to do
    int count;  // codes
    float* residual;
    float* weights;
    Code* codes;         // on chip where they fit
    const u32* needles;  // where the patches of its needles begin
    bool weighted;
    bool wraps;
};

// Memory of tile g of a warp.
__device__ __forceinline__ float* tile_memory(
    const KernelArgs& w, char* chip, int g, int tile_bytes, int t) {
    return SHARED ? reinterpret_cast<float*>(chip + (i64)g * tile_bytes)
                  : w.scratch + (i64)t * w.scratch_size;
}

// The whole warp brings the tiles of its groups to where they are worked on; a group's `tile` is -1
// where it has none.
__device__ __forceinline__ SupportWorkspace open_workspaces(
    const KernelArgs& w, char* chip, int tile_bytes, int kept, int tile, int count, int lane) {
    SupportWorkspace workspace = {tile, count};
    for (int g = 0; g < GROUPS; g++) {
        const int t = __shfl_sync(FULL, tile, g * LPC), codes = __shfl_sync(FULL, count, g * LPC);
        if (t < 0) continue;
        const Tile& here = w.tiles[t];
        const Plane& plane = w.planes[here.plane];
        float* memory = tile_memory(w, chip, g, tile_bytes, t);
        Code* chip_codes = reinterpret_cast<Code*>(memory);
        float* residual = memory + kept * 4;
        float* weights = residual + FIELD;
        load_footprint(w, plane, here, residual, weights, lane, 32);
        Code* own = codes_of(w, t, w.slot[t]);
        const bool on_chip = codes <= kept;
        for (int i = lane; on_chip && i < codes; i += 32) chip_codes[i] = own[i];
        if (lane / LPC == g) {
            workspace.residual = residual;
            workspace.weights = weights;
            workspace.codes = on_chip ? chip_codes : own;
            workspace.needles = w.needles + w.shapes[here.shape].needles_at;
            workspace.weighted = is_weighted(plane, here);
            workspace.wraps = plane.wraps_any;
        }
    }
    copies_done();
    __syncwarp();
    return workspace;
}

// Brings all atoms near: a load for every 32 bytes.
__device__ __forceinline__ void warm_atoms(const float4* rows, int lane) {
    if (M * NPL4 * LPC * 16 > 48 * 1024) return;
#pragma unroll 8
    for (int i = lane * 2; i < M * NPL4 * LPC; i += 32 * 2) {
        asm volatile("{ .reg .f32 unused; ld.global.nc.f32 unused, [%0]; }" ::"l"(rows + i));
    }
}

__device__ __forceinline__ float approximate_inverse(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// One round over the codes of the groups' tiles. While a code is worked on, the atom of the next
// one is on its way, the offset of the one after, and the code after that. Gives the largest
// change, in shares of the threshold, of this group's codes.
__device__ __forceinline__ float round_of(
    const KernelArgs& w, const SupportWorkspace& workspace, const Lanes& lanes, int count,
    float penalty) {
    const int steps = (int)warp_max_u32((u32)count);
    const int last = count - 1;
    Code idle = {0, 0, 0.0f, 0.0f};
    auto read = [&](int i) { return last < 0 ? idle : workspace.codes[min(i, last)]; };
    auto place = [&](const Code& code) {
        return last < 0 ? 0 : (int)workspace.needles[code.needle];
    };
    Code code = read(0), next = read(1), third = read(2);
    int offset = place(code), next_offset = place(next);
    float4 atom[NPL4], coming[NPL4];
    load_atom(w.packed_rows, code.atom & ~CLIPPED_BIT, lanes.lane, atom);
    float largest = 0.0f;
#pragma unroll 2
    for (int s = 0; s < steps; s++) {
        load_atom(w.packed_rows, next.atom & ~CLIPPED_BIT, lanes.lane, coming);
        const int third_offset = place(third);
        const Code fourth = read(s + 3);
        float threshold = penalty;
        if (!UNIT_WEIGHTS) threshold *= __ldg(w.atom_weights + (code.atom & ~CLIPPED_BIT));
        if (w.position_weights && s < count) {
            const Tile& tile = w.tiles[workspace.tile];
            threshold *= w.position_weights[position_at(w.planes[tile.plane], tile, offset)];
        }
        float samples[NPL], c = 0.0f, d = 0.0f;
        UNROLL_SAMPLES
        for (int j = 0; j < NPL; j++)
            samples[j] = s < count ? workspace.residual[offset + lanes.at(j)] : 0.0f;
        UNROLL_SAMPLES
        for (int j = 0; j < NPL; j += 2) {
            c = fmaf(part(atom[j / 4], j % 4), samples[j], c);
            if (j + 1 < NPL)
                d = fmaf(part(atom[(j + 1) / 4], (j + 1) % 4), samples[j + 1 < NPL ? j + 1 : j], d);
        }
        c += d;
#pragma unroll
        for (int step = LPC / 2; step; step >>= 1) c += __shfl_xor_sync(FULL, c, step);
        // An atom that the mask hides wholly does nothing for the patch: its code is zero.
        const float q = code.curvature, over_q = q > 0.0f ? approximate_inverse(q) : 0.0f;
        const float value = shrink(fmaf(q, code.value, c), threshold, w.nonnegative) * over_q;
        const float back = code.value - value;
        if (s < count && back != 0.0f) {
            UNROLL_SAMPLES
            for (int j = 0; j < NPL; j++) {
                if (lanes.owns(j)) {
                    const int at = offset + lanes.at(j);
                    float x = part(atom[j / 4], j % 4);
                    if (CLIPPED && (code.atom & CLIPPED_BIT)) x *= workspace.weights[at];
                    workspace.residual[at] = fmaf(back, x, samples[j]);
                }
            }
            if (lanes.lane == 0) workspace.codes[s].value = value;
            largest = fmaxf(largest, fabsf(back) * q / threshold);
            if (workspace.wraps) {
                const Tile& tile = w.tiles[workspace.tile];
                __syncwarp(__activemask());
                repeat_wrapped(
                    w.planes[tile.plane], tile, offset, workspace.residual, lanes.lane, LPC);
            }
        }
        __syncwarp();
        code = next;
        next = third;
        third = fourth;
        offset = next_offset;
        next_offset = third_offset;
        UNROLL_SAMPLES
        for (int j = 0; j < NPL4; j++) atom[j] = coming[j];
    }
    for (int step = LPC / 2; step; step >>= 1)
        largest = fmaxf(largest, __shfl_xor_sync(FULL, largest, step));
    return largest;
}

extern "C" __global__ void __launch_bounds__(512, 1) support(
    KernelArgs w, const int* list, int list_count, float penalty, int rounds, float tolerance,
    int tile_bytes, int kept) {
    extern __shared__ float4 memory[];
    const int lane = threadIdx.x % 32,
              first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * GROUPS;
    if (first >= list_count) return;
    const Lanes lanes(lane);
    char* chip = reinterpret_cast<char*>(memory) + (i64)(threadIdx.x / 32 * GROUPS) * tile_bytes;
    warm_atoms(w.packed_rows, lane);
    // Tiles around which too little has changed are passed over.
    int t = first + lanes.group < list_count ? list[first + lanes.group] : -1;
    int count = t < 0 ? 0 : w.counts[t];
    double around = 0.0;
    if (count > 0) {
        const Tile& tile = w.tiles[t];
        for (int i = lanes.lane; i < tile.neighbour_count; i += LPC)
            around += w.total[w.neighbours[tile.neighbours_at + i]];
    }
    for (int step = LPC / 2; step; step >>= 1) around += __shfl_xor_sync(FULL, around, step);
    if (count > 0 && !(w.own[t] + (around - w.seen[t]) >= (double)tolerance)) count = 0;
    if (count == 0) t = -1;
    if (!__any_sync(FULL, t >= 0)) return;
    const SupportWorkspace workspace = open_workspaces(w, chip, tile_bytes, kept, t, count, lane);
    float largest = 0.0f, last = 0.0f;
    int visited = 0;
    bool running = t >= 0;
    for (int round = 0; round < rounds && __any_sync(FULL, running); round++) {
        const float mine = round_of(w, workspace, lanes, running ? count : 0, penalty);
        if (running) {
            visited += count;
            last = mine;
            largest = fmaxf(largest, mine);
            running = mine >= tolerance;
        }
    }
    __syncwarp();
    for (int g = 0; g < GROUPS; g++) {
        const int tile = __shfl_sync(FULL, t, g * LPC), codes = __shfl_sync(FULL, count, g * LPC);
        const float change = __shfl_sync(FULL, largest, g * LPC);
        if (tile < 0 || change == 0.0f) continue;
        const Tile& here = w.tiles[tile];
        float* memory = tile_memory(w, chip, g, tile_bytes, tile);
        store_footprint(w, w.planes[here.plane], here, memory + kept * 4, lane, 32);
        // Codes that became zero go.
        Code* own = codes_of(w, tile, w.slot[tile]);
        const Code* worked_on = codes <= kept ? reinterpret_cast<const Code*>(memory) : own;
        int left = 0;
        for (int from = 0; from < codes; from += 32) {
            const Code code = worked_on[min(from + lane, codes - 1)];
            const bool stays = from + lane < codes && code.value != 0.0f;
            const u32 mask = __ballot_sync(FULL, stays);
            if (stays) own[left + __popc(mask & ((1u << lane) - 1u))] = code;
            left += __popc(mask);
            __syncwarp();
        }
        if (lane == 0) w.counts[tile] = left;
    }
    if (t >= 0 && lanes.lane == 0) {
        w.own[t] = (double)last;
        w.seen[t] = around;
        w.total[t] += (double)largest;
        atomicMax(w.counters + COUNTER_CHANGE, (u64)__float_as_uint(largest));
        atomicAdd(w.counters + COUNTER_VISITED, (u64)visited);
    }
}

// Takes what the codes make of the atoms in `rows` off the residuals of the tiles of one colour.
extern "C" __global__ void __launch_bounds__(512, 1) synthesise(
    KernelArgs w, const int* list, int list_count, const float4* rows, int tile_bytes, int kept) {
    extern __shared__ float4 memory[];
    const int lane = threadIdx.x % 32,
              first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * GROUPS;
    if (first >= list_count) return;
    const Lanes lanes(lane);
    char* chip = reinterpret_cast<char*>(memory) + (i64)(threadIdx.x / 32 * GROUPS) * tile_bytes;
    int t = first + lanes.group < list_count ? list[first + lanes.group] : -1;
    const int count = t < 0 ? 0 : w.counts[t];
    if (count == 0) t = -1;
    if (!__any_sync(FULL, t >= 0)) return;
    warm_atoms(rows, lane);
    const SupportWorkspace workspace = open_workspaces(w, chip, tile_bytes, kept, t, count, lane);
    for (int s = 0; s < count; s++) {
        const Code code = workspace.codes[s];
        const int offset = workspace.needles[code.needle];
        float4 atom[NPL4];
        load_atom(rows, code.atom & ~CLIPPED_BIT, lanes.lane, atom);
        UNROLL_SAMPLES
        for (int j = 0; j < NPL; j++) {
            if (lanes.owns(j)) {
                const int at = offset + lanes.at(j);
                float x = part(atom[j / 4], j % 4);
                if (CLIPPED && workspace.weighted) x *= workspace.weights[at];
                workspace.residual[at] = fmaf(-code.value, x, workspace.residual[at]);
            }
        }
        __syncwarp(__activemask());
        if (workspace.wraps) {
            const Tile& tile = w.tiles[t];
            repeat_wrapped(w.planes[tile.plane], tile, offset, workspace.residual, lanes.lane, LPC);
            __syncwarp(__activemask());
        }
    }
    __syncwarp();
    for (int g = 0; g < GROUPS; g++) {
        const int tile = __shfl_sync(FULL, t, g * LPC);
        if (tile < 0) continue;
        const Tile& here = w.tiles[tile];
        store_footprint(
            w, w.planes[here.plane], here, tile_memory(w, chip, g, tile_bytes, tile) + kept * 4,
            lane, 32);
    }
}

// The residual of all-zero codes, or zero.
extern "C" __global__ void reset_residual(KernelArgs w, i64 samples, int to_zero) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < samples;
         i += (i64)gridDim.x * blockDim.x) {
        w.residual[i] = to_zero ? 0.0f : w.weights ? w.target[i] * w.weights[i] : w.target[i];
    }
}
