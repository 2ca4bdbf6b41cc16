// A discovery sweep over the tiles of one colour: needles found wanting are solved layer after
// layer. (Codes of the others get a round of the support sweep that the host sends after it.)

enum { VISIT_ALL = 0, VISIT_CANDIDATES = 1, VISIT_SPREAD = 2, VISIT_LAYER = 3 };
#define POOL_BIT 0x80000000u
// Samples of a patch that a lane owns.
#define OWN ((N + 31) / 32)

struct Sweep {
    float penalty;
    float bound;  // a needle whose reach exceeds this is visited
    float tolerance;
    int visit;
    int plane, layer;     // of a visit to one layer
    const int* order;     // of the layers; null: as they come
    const int* order_at;  // where the order of a plane begins
};

// What the warps of a tile share.
struct VisitWorkspace {
    float* residual;
    float* weights;
    uint2* range;  // codes of every needle: first (POOL_BIT: in the pool), count
    u8* awake;
    int* layer_awake;
    int* found;    // codes in the pool
    u32* largest;  // largest change, as the bits of a float
    int* visited;
    int* capacity;  // codes there is room for
    int* sums;      // for the scan over warps
};

__device__ __forceinline__ void visit_needle(
    const KernelArgs& w, const Plane& plane, const Tile& tile, const Sweep& sweep,
    const VisitWorkspace& workspace, const int* patch, const float4* columns, const float* gram,
    const Code* old, Code* pool, float* buffer, int q, int offset, int lane) {
    const bool spread = sweep.visit == VISIT_SPREAD;
    i64 position = 0;
    if (w.position_weights || w.position_caps) position = position_at(plane, tile, offset);
    const float scale = sweep.penalty * (w.position_weights ? w.position_weights[position] : 1.0f);
    // The patch in shares of the least threshold: squares of the samples themselves may be too
    // small for a number.
    const float share = 1.0f / (scale * w.least_weight * (1.0f + sweep.tolerance));
    __syncwarp();
    float energy = 0.0f;
    for (int p = lane; p < N; p += 32) {
        const float x = workspace.residual[offset + patch[p]];
        energy = fmaf(x * share, x * share, energy);
        buffer[p] = x;
    }
    __syncwarp();
    if (!spread && workspace.range[q].y == 0) {
        // Atoms have unit norm: no correlation exceeds the norm of the patch. Its neighbours may
        // already have coded its patch.
        for (int s = 16; s; s >>= 1) energy += __shfl_xor_sync(FULL, energy, s);
        if (energy <= 1.0f) return;
    }
    Needle needle;
    correlate(columns, buffer, needle.c, lane);
    bool clipped = false;
    if (CLIPPED && is_weighted(plane, tile)) {
        bool plain = true;
        for (int p = lane; p < N; p += 32) plain &= workspace.weights[offset + patch[p]] == 1.0f;
        clipped = !__all_sync(FULL, plain);
    }
    float before[MPL];
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        const int k = j * 32 + lane;
        if (spread) needle.c[j] *= 1.0f / (float)BOX;
        needle.code[j] = before[j] = 0.0f;
        needle.threshold[j] = w.atom_weights[k] * scale;
        needle.inverse[j] = 1.0f / needle.threshold[j];
        needle.curvature[j] = !clipped && k < M ? gram[(i64)k * MS + k] : 0.0f;
    }
    const uint2 range = workspace.range[q];
    for (u32 from = 0; from < (spread ? 0 : range.y); from += 32) {
        // The lanes fetch a code each.
        const Code own = old[range.x + min(from + (u32)lane, range.y - 1)];
        for (u32 i = 0; i < min(range.y - from, 32u); i++) {
            const int atom = __shfl_sync(FULL, own.atom, i) & ~CLIPPED_BIT;
            const float value = __shfl_sync(FULL, own.value, i),
                        curvature = __shfl_sync(FULL, own.curvature, i);
            UNROLL_ATOMS
            for (int j = 0; j < MPL; j++) {
                if (j * 32 + lane == atom) {
                    needle.code[j] = before[j] = value;
                    needle.curvature[j] = curvature;
                }
            }
        }
    }
#if CLIPPED
    Columns source = {
        columns, gram, clipped ? workspace.weights + offset : nullptr, patch, buffer, lane, 0, -1};
#else
    Columns source = {columns, gram, nullptr, patch, buffer, lane};
#endif
#if CAPPED
    float c_before[MPL], threshold[MPL];
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        c_before[j] = needle.c[j];
        threshold[j] = needle.threshold[j];
    }
    const u32 cap = w.position_caps ? w.position_caps[position] : w.cap;
#endif
    descend(needle, source, sweep.tolerance, w.nonnegative, lane);
#if CAPPED
    obey_cap(
        needle, before, c_before, threshold, source, cap, sweep.tolerance, w.nonnegative, lane);
#endif
    // The codes found, and the way back of those that moved.
    int count = 0;
    float largest = 0.0f;
    u32 moved = 0;
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        count += __popc(__ballot_sync(FULL, needle.code[j] != 0.0f));
        moved |= __ballot_sync(FULL, needle.code[j] != before[j]);
        largest = fmaxf(
            largest,
            fabsf(needle.code[j] - before[j]) * needle.curvature[j] * fabsf(needle.inverse[j]));
    }
    if (moved && !spread) {
        float back[OWN];
#pragma unroll
        for (int i = 0; i < OWN; i++) back[i] = 0.0f;
        UNROLL_ATOMS
        for (int j = 0; j < MPL; j++) {
            u32 movers = __ballot_sync(FULL, needle.code[j] != before[j]);
            while (movers) {
                const int owner = __ffs(movers) - 1;
                movers &= movers - 1;
                const float by = __shfl_sync(FULL, before[j] - needle.code[j], owner);
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    if (i * 32 + lane < N)
                        back[i] =
                            fmaf(by, sample_of(columns, j * 32 + owner, i * 32 + lane), back[i]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            if (i * 32 + lane < N) {
                const int at = offset + patch[i * 32 + lane];
                workspace.residual[at] += clipped ? back[i] * workspace.weights[at] : back[i];
            }
        }
        if (plane.wraps_any) {
            __syncwarp();
            repeat_wrapped(plane, tile, offset, workspace.residual, lane, 32);
        }
        largest = warp_max(largest);
    }
    int start = 0;
    if (lane == 0) {
        start = count ? atomicAdd(workspace.found, count) : 0;
        workspace.range[q] = make_uint2((u32)start | POOL_BIT, (u32)count);
        if (moved && !spread) atomicMax(workspace.largest, __float_as_uint(largest));
        atomicAdd(workspace.visited, 1);
    }
    start = __shfl_sync(FULL, start, 0);
    if (start + count > *workspace.capacity) return;
    UNROLL_ATOMS
    for (int j = 0; j < MPL; j++) {
        const u32 mask = __ballot_sync(FULL, needle.code[j] != 0.0f);
        if (needle.code[j] != 0.0f) {
            const u32 atom = (u32)(j * 32 + lane) | (clipped ? CLIPPED_BIT : 0u);
            pool[start + __popc(mask & ((1u << lane) - 1u))] = {
                (u32)q, atom, needle.code[j], needle.curvature[j]};
        }
        start += __popc(mask);
    }
}

// Number of codes before those of this thread's needles, and the sum of all.
__device__ __forceinline__ int scan_counts(int mine, int* sums, int& all, int thread, int group) {
    const int lane = thread % 32, warp = thread / 32;
    const int sum = warp_scan(mine, lane);
    if (lane == 31) sums[warp] = sum;
    group_sync<VISIT_WARPS>(group);
    int before = 0;
    all = 0;
    for (int i = 0; i < VISIT_WARPS; i++) {
        if (i < warp) before += sums[i];
        all += sums[i];
    }
    return before + sum - mine;
}

extern "C" __global__ void __launch_bounds__(512, MPL <= 4 && !CLIPPED && !CAPPED ? 2 : 1)
    visit(KernelArgs w, const int* list, int count, Sweep sweep, int group_bytes, int on_chip) {
    extern __shared__ float4 memory[];
    const int threads = VISIT_WARPS * 32;
    const int group = threadIdx.x / threads, thread = threadIdx.x % threads, lane = thread % 32,
              warp = thread / 32;
    // On chip: offsets of a patch, then columns and the Gram matrix as far as they fit.
    int* patch = reinterpret_cast<int*>(memory);
    float4* chip_columns = memory + N4;
    float4* chip_gram = chip_columns + (on_chip > 0 ? N4 * CS : 0);
    char* chip = reinterpret_cast<char*>(chip_gram + (on_chip > 1 ? M * MS / 4 : 0));
    for (int p = threadIdx.x; p < N; p += blockDim.x) patch[p] = patch_offset(p);
    if (on_chip > 0) {
        for (int i = threadIdx.x; i < N4 * CS; i += blockDim.x) chip_columns[i] = w.columns[i];
    }
    if (on_chip > 1) {
        for (int i = threadIdx.x; i < M * MS / 4; i += blockDim.x)
            chip_gram[i] = reinterpret_cast<const float4*>(w.gram)[i];
    }
    __syncthreads();
    const float4* columns = on_chip > 0 ? chip_columns : w.columns;
    const float* gram = on_chip > 1 ? reinterpret_cast<const float*>(chip_gram) : w.gram;
    const int index = blockIdx.x * (blockDim.x / threads) + group;
    if (index >= count) return;
    const int t = list[index];
    const Tile& tile = w.tiles[t];
    const Plane& plane = w.planes[tile.plane];
    const Shape& shape = w.shapes[tile.shape];
    if (sweep.visit == VISIT_LAYER && tile.plane != sweep.plane) return;

    // Memory of the group.
    float* buffers = reinterpret_cast<float*>(chip + (i64)group * group_bytes);
    float* buffer = buffers + warp * N4 * 4;
    int* small = reinterpret_cast<int*>(buffers + VISIT_WARPS * N4 * 4);
    float* large = SHARED ? reinterpret_cast<float*>(small + (4 + VISIT_WARPS + 3) / 4 * 4)
                          : w.scratch + (i64)t * w.scratch_size;
    VisitWorkspace workspace;
    workspace.found = small;
    workspace.largest = reinterpret_cast<u32*>(small + 1);
    workspace.visited = small + 2;
    workspace.capacity = small + 3;
    workspace.sums = small + 4;
    workspace.range = reinterpret_cast<uint2*>(large);
    workspace.layer_awake = reinterpret_cast<int*>(workspace.range + shape.needle_count);
    workspace.residual = reinterpret_cast<float*>(workspace.layer_awake + shape.layer_count);
    workspace.weights = workspace.residual + FIELD;
    workspace.awake = reinterpret_cast<u8*>(workspace.weights + (w.weighted ? FIELD : 0));

    const int slot = w.slot[t], old_count = w.counts[t];
    const Code* old = codes_of(w, t, slot);
    const u32* needles = w.needles + shape.needles_at;
    const int* layers = w.layers + shape.layers_at;
    if (thread < 4) small[thread] = thread < 3 ? 0 : w.stores[t].capacity;
    for (int p = N + lane; p < N4 * 4; p += 32) buffer[p] = 0.0f;
    for (int q = thread; q < shape.needle_count; q += threads)
        workspace.range[q] = make_uint2(0, 0);
    for (int l = thread; l < shape.layer_count; l += threads) workspace.layer_awake[l] = 0;
    load_footprint(w, plane, tile, workspace.residual, workspace.weights, thread, threads);
    group_sync<VISIT_WARPS>(group);
    for (int i = thread; i < old_count; i += threads) {
        const u32 q = old[i].needle;
        if (i == 0 || old[i - 1].needle != q) {
            int end = i + 1;
            while (end < old_count && old[end].needle == q) end++;
            workspace.range[q] = make_uint2(i, end - i);
        }
    }
    group_sync<VISIT_WARPS>(group);
    const u32* layer_of = w.needle_layers + shape.needles_at;
    for (int q = thread; q < shape.needle_count; q += threads) {
        bool awake = sweep.visit == VISIT_SPREAD ||
                     (sweep.visit == VISIT_LAYER && (int)layer_of[q] == sweep.layer);
        if (sweep.visit < VISIT_SPREAD) {
            awake = w.reach[position_at(plane, tile, needles[q])] > sweep.bound;
        }
        workspace.awake[q] = awake;
        if (awake) workspace.layer_awake[layer_of[q]] = 1;
    }
    group_sync<VISIT_WARPS>(group);
    Code* pool = codes_of(w, t, 2);
    const int* order = sweep.order ? sweep.order + sweep.order_at[tile.plane] : nullptr;
    // One warp alone takes all needles one after the other: no layer needs to end before the next,
    // unless an order is requested.
    const bool at_once = VISIT_WARPS == 1 && !order;
    const int listed = at_once ? 1
                       : order ? sweep.order_at[tile.plane + 1] - sweep.order_at[tile.plane]
                               : shape.layer_count;
    for (int i = 0; i < listed; i++) {
        const int l = order ? order[i] : i;
        if (!at_once && (l >= shape.layer_count || !workspace.layer_awake[l])) continue;
        const int first = at_once ? 0 : layers[l],
                  last = at_once ? shape.needle_count : layers[l + 1];
        for (int from = first + warp * 32; from < last; from += VISIT_WARPS * 32) {
            u32 mask = __ballot_sync(FULL, from + lane < last && workspace.awake[from + lane]);
            for (; mask; mask &= mask - 1) {
                const int q = from + __ffs(mask) - 1;
                visit_needle(
                    w, plane, tile, sweep, workspace, patch, columns, gram, old, pool, buffer, q,
                    needles[q], lane);
                __syncwarp();
            }
        }
        group_sync<VISIT_WARPS>(group);
    }
    // Codes of all needles in order.
    const int each = (shape.needle_count + threads - 1) / threads;
    const int from = min(thread * each, shape.needle_count),
              to = min(from + each, shape.needle_count);
    int mine = 0, all = 0;
    for (int q = from; q < to; q++) mine += workspace.range[q].y;
    int at = scan_counts(mine, workspace.sums, all, thread, group);
    const int wanted = max(all, *workspace.found);
    if (thread == 0) w.wanted[t] = wanted;
    if (wanted > *workspace.capacity) {
        if (thread == 0) atomicAdd(w.counters + COUNTER_OVERFLOW, (u64)1);
        return;
    }
    Code* out = codes_of(w, t, 1 - slot);
    for (int q = from; q < to; q++) {
        const uint2 range = workspace.range[q];
        const Code* source = range.x & POOL_BIT ? pool + (range.x & ~POOL_BIT) : old + range.x;
        for (u32 i = 0; i < range.y; i++) out[at++] = source[i];
    }
    const float largest = __uint_as_float(*workspace.largest);
    if (largest > 0.0f) store_footprint(w, plane, tile, workspace.residual, thread, threads);
    if (warp == 0) {
        const double around = changes_around(w, tile, lane);
        if (lane == 0) {
            const bool whole = sweep.visit == VISIT_ALL || sweep.visit == VISIT_SPREAD;
            w.slot[t] = 1 - slot;
            w.counts[t] = all;
            w.own[t] = whole ? (double)largest : w.own[t] + (double)largest;
            if (whole) w.seen[t] = around;
            w.total[t] += (double)largest;
            atomicMax(w.counters + COUNTER_CHANGE, (u64)__float_as_uint(largest));
            atomicAdd(w.counters + COUNTER_VISITED, (u64)*workspace.visited);
        }
    }
}
